//! Open answers: the candidates of a row are the answers given on it.

use std::fmt::Write as _;

use crate::test_dir::{TestDir, without_sizes};

/// Answers of three models to `n` problems: ann is right on 9 in 10, bob on 2 in 3, eve on 1 in 3; of `n` truths the
/// first `n_labelled` are known.
fn rows(n: usize, n_labelled: usize) -> Vec<[String; 5]> {
    let row = |t: usize| {
        let right = 17 * t + 3;
        let answer = |is_right: bool, k: usize| if is_right { right } else { right + 1 + k };
        let [ann, bob, eve] = [(!t.is_multiple_of(10), 0), (!t.is_multiple_of(3), t % 2), (t % 3 == 1, 1)]
            .map(|(is, k)| answer(is, k));
        let truth = if t < n_labelled { right.to_string() } else { String::new() };
        [format!("p{t}"), ann.to_string(), bob.to_string(), eve.to_string(), truth]
    };
    (0..n).map(row).collect()
}

fn wide(rows: &[[String; 5]]) -> String {
    let mut text = "item,ann,bob,eve,truth\n".to_owned();
    rows.iter().for_each(|row| writeln!(text, "{}", row.join(",")).expect("memory"));
    text
}

fn long(rows: &[[String; 5]]) -> String {
    let mut text = "item,model,answer,truth\n".to_owned();
    for [item, ann, bob, eve, truth] in rows {
        for (name, answer) in [("eve", eve), ("ann", ann), ("bob", bob)] {
            writeln!(text, "{item},{name},{answer},{truth}").expect("memory");
        }
    }
    text
}

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("gold.csv", wide(&rows(90, 60)));
    dir
}

const FIT: &str = "fit gold.csv --open --label truth --id item";

#[test]
fn answers_that_were_never_true_before_are_decided() {
    let dir = dir();
    let fitted = dir.done(&format!("{FIT} -o m.spocc"));
    let status = without_sizes(&fitted.stderr);
    let first = "fitted ladder to 60 labelled and 30 unlabelled rows: 3 classifiers, open answers\n";
    assert!(status.starts_with(first), "{status}");
    assert!(status.contains("weights of the experts: "), "{status}");
    let decided = dir.done("predict m.spocc gold.csv --id item --columns probability,margin,ties,answered");
    let mut lines = decided.stdout.lines();
    assert_eq!(lines.next(), Some("item,decision,probability,probability_none,margin,ties,answered"));
    let mut n_right = 0;
    for (t, line) in lines.enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        n_right += usize::from(cells[1] == (17 * t + 3).to_string());
        let numbers: Vec<f64> = cells[2..5].iter().map(|cell| cell.parse().expect("a number")).collect();
        assert!(numbers.iter().all(|number| (0.0..=1.0).contains(number)), "{line}");
        assert_eq!((cells[5], cells[6]), ("", "3"));
    }
    assert!(n_right >= 81, "as good as the best model: {n_right}");
}

#[test]
fn a_long_table_a_tally_and_merged_tallies_give_the_same_model() {
    let dir = dir();
    dir.done(&format!("{FIT} -o wide.spocc"));
    dir.write("long.csv", long(&rows(90, 60)));
    dir.done("fit long.csv --long item,model,answer --open --label truth -o long.spocc");
    assert_eq!(dir.read("wide.spocc"), dir.read("long.spocc"));
    let all = rows(90, 60);
    dir.write("one.csv", wide(&all[..40]));
    dir.write("two.csv", wide(&all[40..]));
    for name in ["one", "two"] {
        dir.done(&format!("tally {name}.csv --open --label truth --id item -o {name}.tally"));
    }
    dir.done("merge two.tally one.tally -o both.tally");
    dir.done("fit both.tally -o merged.spocc");
    assert_eq!(dir.read("wide.spocc"), dir.read("merged.spocc"));
    let inspected = dir.done("inspect both.tally").stdout;
    assert!(inspected.contains("none: open answers; no answer is stored"), "{inspected}");
    dir.write("wide-again.csv", wide(&all));
    let from_wide = dir.done("predict wide.spocc wide-again.csv --id item").stdout;
    let from_long = dir.done("predict wide.spocc long.csv --long item,model,answer").stdout;
    assert_eq!(from_wide, from_long);
}

#[test]
fn normalised_answers_are_the_same_in_every_command() {
    let dir = TestDir::new();
    let mut rows = rows(60, 60);
    for row in &mut rows {
        row[2] = format!("${}.00", row[2]);
    }
    dir.write("gold.csv", wide(&rows));
    let plain = dir.done(&format!("{FIT} -o plain.spocc")).stderr;
    let fitted = dir.done(&format!("{FIT} --normalise number -o m.spocc")).stderr;
    assert!(fitted.contains("3 classifiers, open answers, compared as numbers\n"), "{fitted}");
    assert!(!plain.contains("compared"), "{plain}");
    // The first classifier by name writes the answer.
    let decided = dir.done("predict m.spocc gold.csv --id item").stdout;
    assert!(decided.contains("p1,20\n"), "{decided}");
    let explained = dir.done("explain m.spocc gold.csv --id item --row 2").stdout;
    assert!(explained.contains("decided: 20, "), "{explained}");
    let merged = dir.run("tally gold.csv --open --label truth --id item -o a.tally");
    assert_eq!(merged.code, Some(0));
    dir.done("tally gold.csv --open --normalise text --label truth --id item -o b.tally");
    dir.refused(
        "merge a.tally b.tally -o c.tally",
        "b.tally: evidence: expected the same classes on both sides, found open answers compared as texts and open \
         answers",
    );
}

#[test]
fn sets_are_lists_of_answers_in_every_format() {
    let dir = TestDir::new();
    dir.write("gold.csv", wide(&rows(300, 300)));
    dir.done(&format!("{FIT} --calibrate cross --no-evaluate -o m.spocc"));
    let csv = dir.done("predict m.spocc gold.csv --id item --coverage 0.99").stdout;
    let json = dir.done("predict m.spocc gold.csv --id item --coverage 0.99 --format json").stdout;
    let values: Vec<serde_json::Value> = serde_json::from_str(&json).expect("JSON");
    for (line, value) in csv.lines().skip(1).zip(&values) {
        let cells: Vec<&str> = line.split(',').collect();
        let set: Vec<&str> =
            value["set"].as_array().expect("a list").iter().filter_map(|x| x.as_str()).collect();
        assert_eq!(cells[2], set.join("|"));
        assert_eq!(cells[3], set.len().to_string());
        assert!(set.contains(&cells[1]), "{line}");
    }
}

#[test]
fn a_row_without_answers_is_left_empty_and_a_true_answer_that_nobody_gives_is_a_limit() {
    let dir = TestDir::new();
    let mut rows = rows(60, 60);
    (0..6).for_each(|t| rows[10 * t][4] = "something else".to_owned());
    dir.write("gold.csv", wide(&rows));
    let fitted = dir.done(&format!("{FIT} -o m.spocc")).stderr;
    assert!(
        fitted.contains(
            "some classifier gives the true answer on 90.0 % of the labelled rows; no method is more accurate"
        ),
        "{fitted}"
    );
    dir.write("new.csv", "item,ann,bob,eve\na,,,\nb,,7,\n");
    let decided = dir.done("predict m.spocc new.csv --id item --columns probability");
    let lines: Vec<&str> = decided.stdout.lines().collect();
    assert_eq!(lines[1], "a,,0.0,1.0", "none of these is certain");
    assert!(lines[2].starts_with("b,7,"), "{}", lines[2]);
    assert!(decided.stderr.contains("1 left empty for lack of an answer"), "{}", decided.stderr);
}

#[test]
fn audits_and_comparisons_have_no_classes() {
    let dir = dir();
    let audit = dir.done("audit gold.csv --open --label truth --id item").stdout;
    assert!(audit.starts_with("3 classifiers, 60 labelled rows, open answers\n"), "{audit}");
    assert!(!audit.contains("relabelled") && !audit.contains("information"), "{audit}");
    assert!(audit.lines().all(|line| line.chars().count() <= 80), "{audit}");
    let json = dir.done("audit gold.csv --open --label truth --id item --json").stdout;
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["classes"], serde_json::json!([]));
    assert!(value["answerable_share"].as_f64().is_some_and(|share| share > 0.9), "{json}");
    assert!(value["classifiers"][0]["information"].is_null());
    let compared = dir.done("compare gold.csv --open --label truth --id item --rounds 1 --no-curve").stdout;
    assert!(compared.starts_with("60 labelled rows, 3 classifiers, open answers\n"), "{compared}");
    for method in ["ladder", "stacking", "selection", "majority", "weighted-vote"] {
        assert!(compared.contains(&format!("\n{method} ")), "{method}: {compared}");
    }
    assert!(!compared.contains("naive-bayes") && !compared.contains("refused"), "{compared}");
    let named = dir
        .done("compare gold.csv --open --label truth --id item --rounds 1 --no-curve --methods naive-bayes");
    assert!(named.stdout.contains("refused: open answers: expected a method"), "{}", named.stdout);
}

#[test]
fn requests_that_need_classes_are_refused() {
    let dir = dir();
    dir.misused(&format!("{FIT} --classes 1,2 -o m.spocc"), "'--open' cannot be used with '--classes");
    dir.misused("fit gold.csv --normalise number --label truth --id item -o m.spocc", "--open");
    dir.misused("tally gold.csv --open --marginals --label truth --id item -o m.tally", "--marginals");
    dir.refused(
        &format!("{FIT} --method naive-bayes -o m.spocc"),
        "gold.csv: open answers: expected a method that treats all answers alike (ladder, selection, majority, \
         weighted-vote or stacking), found naive-bayes",
    );
    let weighted = dir.run(&format!("{FIT} --class-weight balanced -o m.spocc"));
    assert_eq!(weighted.code, Some(1));
    assert!(weighted.stderr.contains("open answers: expected rows that count alike"), "{}", weighted.stderr);
    assert_eq!(dir.names(), ["gold.csv"], "nothing is written");
    dir.done(&format!("{FIT} --method majority -o vote.spocc"));
    dir.done("tally gold.csv --open --label truth --id item -o gold.tally");
    dir.misused("fit gold.tally --open -o x.spocc", "--open describes a table, but the input is a tally");
}

#[test]
fn columns_of_open_answers_without_the_option_are_recognised() {
    let dir = dir();
    let fitted = dir.done("fit gold.csv --label truth --id item --method majority -o m.spocc");
    let hint = "warning: if they are open answers, such as numbers, use --open\n";
    assert!(fitted.stderr.contains(hint), "{}", fitted.stderr);
    assert!(!dir.done(&format!("{FIT} -o open.spocc")).stderr.contains(hint));
}

#[test]
fn more_distinct_answers_than_label_ids_are_counted() {
    let dir = TestDir::new();
    let mut text = "item,ann,bob,fresh,truth\n".to_owned();
    for t in 0..70_000 {
        let bob = if t % 4 == 0 { t + 100_000 } else { t };
        let truth = if t < 500 { t.to_string() } else { String::new() };
        writeln!(text, "{t},{t},{bob},unlike {t},{truth}").expect("memory");
    }
    dir.write("gold.csv", &text);
    dir.done(&format!("{FIT} -o m.spocc"));
    let decided = dir.done("predict m.spocc gold.csv --id item -o out.csv");
    assert!(
        decided.stderr.contains("decided 70000 rows with ladder: 0 tied, 0 left empty"),
        "{}",
        decided.stderr
    );
    let out = String::from_utf8(dir.read("out.csv")).expect("UTF-8");
    assert!(
        out.lines().skip(1).all(|line| line.split_once(',').is_some_and(|(item, answer)| item == answer))
    );
}
