//! `spocc-lab budgets`: made-up label sets, and those of the data folder.

use std::{fs, path::Path};

use serde_json::Value;

use super::{data, printed, refusal, text};

/// Writes a table of a header and lines.
fn write(dir: &Path, name: &str, head: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = std::iter::once(head.to_owned()).chain(lines).collect();
    fs::write(dir.join(name), lines.join("\n") + "\n").expect("disk space");
}

/// A folder of data with a crowd of 60 items, `fair`, and a panel of 80 rows, `grades`, and one of open answers.
fn made_up_sets() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    ["crowd", "panels"].iter().for_each(|name| fs::create_dir(dir.path().join(name)).expect("disk space"));
    let class = |item: usize| ["cat", "dog", "emu"][item * 7 % 3];
    let label =
        |item: usize, worker: usize| if (item * 5 + worker).is_multiple_of(4) { "cat" } else { class(item) };
    let cells = (0..60).flat_map(|item| (0..6).map(move |worker| (item, worker)));
    let cells = cells.filter(|(item, worker)| (item + worker) % 3 > 0);
    let labels = cells.map(|(item, worker)| format!("{item},w{worker},{}", label(item, worker)));
    write(dir.path(), "crowd/fair.label.csv", "item,worker,label", labels);
    // The last ten items have no truth.
    let truths = (0..50).map(|item| format!("{item},{}", class(item)));
    write(dir.path(), "crowd/fair.truth.csv", "item,truth", truths);
    let grades = (0..80).map(|row| {
        let class = row * 7 % 3 % 2;
        let other = if row % 4 == 0 { String::new() } else { (1 - class).to_string() };
        format!("{row},{class},{}.5,{other}", 3 * class + row % 3)
    });
    write(dir.path(), "panels/grades.csv", "item,gold,a,b", grades);
    write(dir.path(), "panels/open.csv", "item,gold,a", (0..80).map(|row| format!("{row},{row},{row}")));
    dir
}

#[test]
fn budgets_are_reproducible_and_later_methods_are_added() {
    let data = made_up_sets();
    let [whole, pieces] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let run = |dir: &Path, threads: &str, draws: &str, methods: &[&str]| {
        let mut words = vec!["budgets", "all", "--data", text(data.path()), "--out", text(dir)];
        words.extend(["--threads", threads, "--draws", draws, "--budgets", "0,10,half"]);
        words.extend(methods);
        printed(&words)
    };
    let expected = run(whole.path(), "2", "3", &[]);
    for part in ["budgets-fair, seed 1: 3 draws", "budgets-grades", "dawid-skene+u", "ladder+u"] {
        assert!(expected.contains(part), "{part}: {expected}");
    }
    run(pieces.path(), "1", "2", &["--methods", "majority,ladder+u"]);
    assert_eq!(run(pieces.path(), "1", "3", &[]), expected);
    let [page, other] = [&whole, &pieces].map(|dir| {
        printed(&["report", text(dir.path())]);
        fs::read_to_string(dir.path().join("report.md")).expect("a page")
    });
    assert_eq!(page, other);
    assert!(
        page.contains("## Gap to the best rival") && page.contains("| fair | 3 | 50 | 0, 10, 25 |"),
        "{page}"
    );
    assert!(!page.contains("## Reported and measured accuracy"));
    // Accuracies that models report are added to the outcomes that are there.
    assert_eq!(run(pieces.path(), "2", "3", &["--reported"]), expected);
    printed(&["report", text(pieces.path())]);
    let page = fs::read_to_string(pieces.path().join("report.md")).expect("a page");
    assert!(page.contains("## Reported and measured accuracy"), "{page}");
}

#[test]
fn sets_and_draws_are_exported_and_results_of_others_are_reported() {
    let data = made_up_sets();
    let [draws, results] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let words = ["budgets", "fair", "--data", text(data.path()), "--draws", "2", "--budgets", "10"];
    printed(&[words.as_slice(), &["--export", text(draws.path())]].concat());
    let table = fs::read_to_string(draws.path().join("fair.csv")).expect("a table");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!((lines[0], lines[1], lines.len()), ("truth,w1,w2,w4,w5,w0,w3", "cat,cat,cat,cat,cat,,", 61));
    assert!(lines[51].starts_with(','), "without truth: {}", lines[51]);
    let drawn = fs::read_to_string(draws.path().join("fair.draws.jsonl")).expect("draws");
    let drawn: Vec<Value> = drawn.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(drawn[0]["classes"], serde_json::json!(["cat", "dog", "emu"]));
    let sizes =
        |name: &str| drawn[1..].iter().map(|draw| draw[name].as_array().map(Vec::len)).collect::<Vec<_>>();
    assert_eq!((sizes("labelled"), sizes("test")), (vec![Some(10); 2], vec![Some(40); 2]));
    printed(&[words.as_slice(), &["--out", text(results.path()), "--methods", "ladder"]].concat());
    // Another program is right on 30 rows of class 0 and wrong on 10.
    let outcome = |rep: u32| {
        serde_json::json!({ "rep": rep, "fold": 0, "at": 10.0, "references": {},
            "confusion": { "sklearn-logistic": [30, 10, 0, 0, 0, 0, 0, 0, 0] } })
    };
    let lines = [drawn[0]["header"].clone(), outcome(0), outcome(1)].map(|line| line.to_string() + "\n");
    fs::write(results.path().join("budgets-fair.rivals.jsonl"), lines.concat()).expect("disk space");
    printed(&["report", text(results.path())]);
    let page = fs::read_to_string(results.path().join("report.md")).expect("a page");
    assert!(page.contains("| sklearn-logistic | 75.0 |") && page.contains("sklearn-logistic |\n"), "{page}");
}

#[test]
fn unknown_label_sets_budgets_and_methods_are_refused_in_one_line() {
    let (data, out) = (made_up_sets(), tempfile::tempdir().expect("a folder"));
    let refused = |words: &[&str]| {
        refusal(&[&["budgets"], words, &["--data", text(data.path()), "--out", text(out.path())]].concat())
    };
    assert!(refused(&["fare"]).contains("did you mean fair?"));
    assert!(refused(&["fair", "--budgets", "10,most"]).contains("--budgets most: expected a number"));
    assert!(refused(&["fair", "--methods", "stacking+u"]).contains("expected one of ladder, ladder+u"));
    let line = refused(&["open"]);
    assert!(line.contains("open.csv: expected 2 to 50 different truths, found 80"), "{line}");
    let line = refusal(&["budgets", "all", "--data", text(out.path()), "--out", text(out.path())]);
    assert!(line.contains("expected label sets in crowd/ or panels/, or datasets, found none"), "{line}");
}

#[test]
fn every_label_set_of_the_data_is_read_and_drawn() {
    let Some(data) = data() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let words = ["budgets", "all", "--data", text(&data), "--draws", "1", "--export", text(dir.path())];
    let written = printed(&words);
    let crowds = fs::read_dir(data.join("crowd")).map_or(0, |files| {
        let name = |file: &fs::DirEntry| file.file_name().to_string_lossy().ends_with(".label.csv");
        files.filter_map(Result::ok).filter(name).count()
    });
    assert!(written.lines().count() >= 2 * crowds.max(1), "{written}");
    for line in written.lines().filter(|line| line.ends_with(".draws.jsonl")) {
        let path = line.strip_prefix("wrote ").expect("the name of a file");
        let drawn = fs::read_to_string(path).expect("draws");
        for draw in drawn.lines().skip(1) {
            let draw: Value = serde_json::from_str(draw).expect("JSON");
            let n = |name: &str| draw[name].as_array().map_or(0, Vec::len);
            assert_eq!(Some(n("labelled") as f64), draw["at"].as_f64(), "{path}");
            assert!((n("labelled").min(2000)..=2000).contains(&n("test")), "{path}: {} tested", n("test"));
        }
    }
}
