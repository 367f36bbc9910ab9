//! The `spocc-lab` command: small versions of every experiment, interrupted, repeated and refused.
#![allow(missing_docs)]

mod budgets;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use serde_json::Value;

fn lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_spocc-lab")).args(arguments).output().expect("the binary runs")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary folders have plain names")
}

/// The standard output of a command that must succeed.
fn printed(arguments: &[&str]) -> String {
    let output = lab(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// The one line of standard error of a command that must fail.
fn refusal(arguments: &[&str]) -> String {
    let output = lab(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    let errors = String::from_utf8(output.stderr).expect("text");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    errors
}

/// The folder of datasets, if the environment names one.
fn data() -> Option<PathBuf> {
    let data = std::env::var_os("SPOCC_DATA").map(PathBuf::from);
    if data.is_none() {
        eprintln!("skipped: SPOCC_DATA names no folder of datasets");
    }
    data
}

/// The lines of a results file, sorted.
fn sorted_lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("results");
    let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
    lines.sort();
    lines
}

fn mean(json: &Value, method: &str) -> f64 {
    json["means"][method].as_f64().unwrap_or_else(|| panic!("no mean of {method} in {json}"))
}

#[test]
fn every_synthetic_experiment_runs_under_both_protocols() {
    for protocol in ["authors", "honest"] {
        let dir = tempfile::tempdir().expect("a folder");
        for name in ["adversaries", "faults", "redundancy", "heterogeneous", "imbalance"] {
            let arguments =
                ["synthetic", name, "--reps", "1", "--as", protocol, "--out", text(dir.path()), "--json"];
            let json: Value = serde_json::from_str(&printed(&arguments)).expect("JSON");
            assert_eq!(json["experiment"], format!("synthetic-{name}"));
            let points = if name == "imbalance" { 10 } else { 11 };
            assert_eq!(json["by_point"].as_array().map(Vec::len), Some(points));
            for method in ["spocc", "adaspocc", "majority", "stacking", "bayes"] {
                assert!((40.0..95.0).contains(&mean(&json, method)), "{protocol} {name} {method}");
            }
            assert!(
                json["log_loss"]["ladder"].as_f64().is_some_and(|loss| (0.1..2.0).contains(&loss)),
                "{json}"
            );
        }
        printed(&["report", text(dir.path())]);
        let page = fs::read_to_string(dir.path().join("report.html")).expect("a page");
        assert!(page.contains("adaspocc") && page.contains("</html>") && !page.contains("http://"));
        assert!(dir.path().join("report.md").exists());
    }
}

#[test]
fn threads_and_interruptions_change_no_figure() {
    let [whole, pieces] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let run = |dir: &Path, reps: &str, threads: &str| {
        let words = ["synthetic", "faults", "--reps", reps, "--out", text(dir), "--threads", threads];
        printed(&words)
    };
    let expected = run(whole.path(), "2", "2");
    run(pieces.path(), "1", "1");
    let file = pieces.path().join("synthetic-faults.jsonl");
    let bytes = fs::read(&file).expect("results");
    // An incomplete last line, as after a power failure.
    fs::write(&file, &bytes[..bytes.len() - 40]).expect("disk space");
    assert_eq!(run(pieces.path(), "2", "1"), expected);
    assert_eq!(sorted_lines(&file), sorted_lines(&whole.path().join("synthetic-faults.jsonl")));
}

#[test]
fn a_killed_run_continues() {
    let dir = tempfile::tempdir().expect("a folder");
    let words = ["synthetic", "redundancy", "--reps", "3", "--out", text(dir.path()), "--threads", "1"];
    let file = dir.path().join("synthetic-redundancy.jsonl");
    let mut child = Command::new(env!("CARGO_BIN_EXE_spocc-lab"))
        .args(words)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let lines = || fs::read_to_string(&file).map_or(0, |text| text.lines().count());
    while lines() < 3 && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let before = fs::read_to_string(&file).expect("results");
    printed(&words);
    let after = fs::read_to_string(&file).expect("results");
    let whole = &before[..before.rfind('\n').map_or(0, |at| at + 1)];
    assert!(after.starts_with(whole), "finished outcomes are kept");
    assert_eq!(after.lines().count(), 1 + 3 * 11);
    let whole = tempfile::tempdir().expect("a folder");
    printed(&["synthetic", "redundancy", "--reps", "3", "--out", text(whole.path())]);
    assert_eq!(sorted_lines(&file), sorted_lines(&whole.path().join("synthetic-redundancy.jsonl")));
}

#[test]
fn unknown_words_and_folders_of_other_runs_are_refused_in_one_line() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = text(dir.path());
    let line = refusal(&["synthetic", "adversary", "--out", out]);
    assert!(line.contains("did you mean adversaries?"), "{line}");
    let line = refusal(&["real", "winee", "--data", out, "--out", out]);
    assert!(line.contains("did you mean wine?"), "{line}");
    let line = refusal(&["real", "wine", "--data", out, "--out", out]);
    assert!(line.contains("winequality-red.csv"), "{line}");
    let line = refusal(&["panels", "winee", "--data", out, "--out", out]);
    assert!(line.contains("did you mean wine?"), "{line}");
    let line = refusal(&["real", "all", "--data", out, "--out", out]);
    assert!(line.contains("none of them"), "{line}");
    let line = refusal(&["synthetic", "faults", "--as", "honestly", "--out", out]);
    assert!(line.contains("did you mean honest?"), "{line}");
    let line = refusal(&["report", out]);
    assert!(line.contains("expected results"), "{line}");
    printed(&["synthetic", "imbalance", "--reps", "1", "--out", out]);
    for other in [["--seed", "2"], ["--as", "authors"]] {
        let line = refusal(&["synthetic", "imbalance", "--reps", "1", "--out", out, other[0], other[1]]);
        assert!(line.contains("name another folder"), "{line}");
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_loses_no_recorded_outcome() {
    let [full, free] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let words =
        |dir: &Path| ["synthetic", "imbalance", "--reps", "1", "--out", text(dir)].map(ToOwned::to_owned);
    // Writing fails after a few kilobytes, within a line.
    let limited = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_spocc-lab")])
        .args(words(full.path()))
        .output()
        .expect("a shell");
    let errors = String::from_utf8_lossy(&limited.stderr);
    assert_eq!(limited.status.code(), Some(1), "{errors}");
    assert!(errors.lines().count() == 1 && errors.contains("synthetic-imbalance.jsonl"), "{errors}");
    let [saved, whole] = [&full, &free].map(|dir| dir.path().join("synthetic-imbalance.jsonl"));
    let before = fs::read_to_string(&saved).expect("results");
    assert!(before.lines().count() > 2, "{before}");
    for dir in [&full, &free] {
        let words = words(dir.path());
        printed(&words.each_ref().map(String::as_str));
    }
    let kept = &before[..before.rfind('\n').map_or(0, |at| at + 1)];
    assert!(fs::read_to_string(&saved).expect("results").starts_with(kept));
    assert_eq!(sorted_lines(&saved), sorted_lines(&whole));
}

#[test]
fn example_3_runs_from_the_product_to_the_minimum() {
    let text = printed(&["example3"]);
    assert!(text.contains("0.0160    0.2500    0.1600"), "{text}");
    assert!(text.contains("0.1000    0.2500    0.4000"), "{text}");
    let curve: Value = serde_json::from_str(&printed(&["example3", "--json"])).expect("JSON");
    assert_eq!(curve.as_array().map(Vec::len), Some(91));
}

#[test]
fn real_experiments_run_on_real_data() {
    let Some(data) = data() else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let words = |kind: &'static str| {
        [kind, "breast", "--data", text(&data), "--reps", "1", "--out", text(dir.path()), "--json"]
            .map(ToOwned::to_owned)
    };
    let run = |kind: &'static str| {
        let words = words(kind);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        serde_json::from_str::<Value>(&printed(&words)).expect("JSON")
    };
    let json = run("real");
    for method in ["adaspocc", "stacking", "naive-bayes"] {
        assert!((85.0..100.0).contains(&mean(&json, method)), "{json}");
    }
    assert!(json["references"]["centralised"].as_f64().is_some_and(|mean| mean > 90.0), "{json}");
    for method in ["ladder", "stacking"] {
        assert!(json["log_loss"][method].as_f64().is_some_and(|loss| (0.01..0.5).contains(&loss)), "{json}");
        assert!(json["fit_seconds"][method].as_f64().is_some_and(|seconds| seconds > 0.0), "{json}");
        let sets = &json["sets"][method]["0.8"];
        assert!(sets["coverage"].as_f64().is_some_and(|coverage| coverage > 60.0), "{json}");
        assert!(sets["size"].as_f64().is_some_and(|size| (1.0..=2.0).contains(&size)), "{json}");
    }
    assert_eq!(json["log_loss"].get("majority"), None);
    // A quarter of its validation rows is too few to calibrate for 99 %.
    assert_eq!(json["sets"]["ladder"].get("0.99"), None, "{json}");
    let json = run("robustness");
    assert_eq!(json["experiments"].as_array().map(Vec::len), Some(4));
    printed(&["report", text(dir.path())]);
    let page = fs::read_to_string(dir.path().join("report.md")).expect("a page");
    for text in ["breast", "Real data: log-loss", "| ladder at 80 % |", "| ladder / stacking |"] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

#[test]
fn panels_are_written_as_csv_and_reproducible() {
    let Some(data) = data() else { return };
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let tables = folders.each_ref().map(|dir| {
        printed(&["panels", "breast", "--data", text(&data), "--out", text(dir.path()), "--seed", "3"]);
        ["0-validation", "0-test", "1-validation", "1-test"]
            .map(|name| fs::read_to_string(dir.path().join(format!("breast-0-{name}.csv"))).expect("a table"))
    });
    assert_eq!(tables[0], tables[1]);
    for table in &tables[0] {
        assert!(table.starts_with("row,truth,c1,c2,c3,c4,c5,c6,c7,c8\n"), "{table}");
    }
    let n_tested = |table: &String| table.lines().count() - 1;
    assert_eq!(n_tested(&tables[0][1]) + n_tested(&tables[0][3]), 569, "each row is tested once");
}

#[test]
fn missing_datasets_are_listed_with_their_sources() {
    let dir = tempfile::tempdir().expect("a folder");
    let text = printed(&["datasets", "--data", text(dir.path())]);
    for name in ["20newsgroup", "mnist", "particle", "doi.org"] {
        assert!(text.contains(name), "{name}: {text}");
    }
}

/// The blocks of consecutive table lines.
fn tables(text: &str) -> Vec<String> {
    let mut tables: Vec<String> = Vec::new();
    let mut is_inside = false;
    for line in text.lines() {
        let is_row = line.starts_with('|');
        if is_row && !is_inside {
            tables.push(String::new());
        }
        if let Some(table) = tables.last_mut().filter(|_| is_row) {
            table.push_str(line);
            table.push('\n');
        }
        is_inside = is_row;
    }
    tables
}

#[test]
fn the_tables_of_the_docs_are_those_of_the_committed_outcomes() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut reported = String::new();
    for folder in ["honest", "authors", "ladder", "budgets"] {
        let dir = tempfile::tempdir().expect("a folder");
        for file in fs::read_dir(here.join("results").join(folder)).expect("outcomes") {
            let file = file.expect("a file").path();
            if file.extension().is_some_and(|extension| extension == "gz") {
                fs::copy(&file, dir.path().join(file.file_name().expect("a name"))).expect("disk space");
            }
        }
        printed(&["report", text(dir.path())]);
        reported += &fs::read_to_string(dir.path().join("report.md")).expect("a page");
    }
    let reported = tables(&reported);
    let docs = fs::read_to_string(here.join("../../docs/RESULTS.md")).expect("the docs");
    let (_, part) = docs.split_once("## Agreement with the paper").expect("a part of tables");
    let shown = tables(part);
    assert!(shown.iter().map(|table| table.lines().count()).sum::<usize>() > 100);
    for table in shown {
        assert!(reported.contains(&table), "no report has\n{table}");
    }
}
