//! Reports as JSON: every key is documented, and every documented key occurs.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::test_dir::TestDir;

const PAGE: &str = include_str!("../../../../docs/reports.md");

/// The keys documented under a heading: whatever stands in backticks in the first column of its tables.
fn documented(section: &str) -> BTreeSet<String> {
    let start = PAGE.find(&format!("\n## {section}\n")).expect("the section is there") + 4;
    let end = PAGE[start..].find("\n## ").map_or(PAGE.len(), |at| start + at);
    let end = PAGE[start..end].find("\nParameters").map_or(end, |at| start + at);
    let rows = PAGE[start..end].lines().filter(|line| line.starts_with("| `"));
    let first = rows.filter_map(|row| row.split(" | ").next());
    first.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned)).collect()
}

/// The paths to all values; a list of plain values is a value.
fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(object) => object.iter().for_each(|(key, value)| keys(value, &join(key), found)),
        Value::Array(list) if list.iter().any(Value::is_object) => {
            list.iter().for_each(|value| keys(value, &format!("{path}[]"), found));
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

/// Documented keys and those of these reports are the same; below `apart` they are documented elsewhere.
fn agree(section: &str, reports: &[Value], apart: &[&str]) {
    let documented = documented(section);
    let mut found = BTreeSet::new();
    reports.iter().for_each(|report| keys(report, "", &mut found));
    let is_covered = |key: &String| {
        documented.contains(key)
            // A key that is null here has parts in another report.
            || documented.iter().any(|known| known.starts_with(&format!("{key}.")) || known.starts_with(&format!("{key}[]")))
            || apart.iter().any(|top| key.starts_with(top))
    };
    let unknown: Vec<&String> = found.iter().filter(|key| !is_covered(key)).collect();
    assert!(unknown.is_empty(), "{section}: not documented: {unknown:?}");
    let occurs =
        |key: &String| found.contains(key) || found.iter().any(|there| there.starts_with(&format!("{key}.")));
    let absent: Vec<&String> = documented.iter().filter(|key| !occurs(key)).collect();
    assert!(absent.is_empty(), "{section}: documented and never met: {absent:?}");
}

fn report(dir: &TestDir, arguments: &str) -> Value {
    let run = dir.done(&format!("{arguments} --json"));
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{arguments}: {error}: {}", run.stdout))
}

#[test]
fn every_key_of_a_report_is_documented_and_the_reverse() {
    let dir = TestDir::new();
    dir.done("demo --save .");
    let gold = "gold.csv --label truth --id item";
    dir.done(&format!("fit {gold} --method adaspocc -o panel.spocc"));
    agree("audit", &[report(&dir, &format!("audit {gold}"))], &[]);
    agree("explain", &[report(&dir, "explain panel.spocc new.csv --row 2 --id item")], &["id."]);

    // Once by folds; once on other rows, with so little memory that a method cannot be fitted.
    let few = "--methods adaspocc,naive-bayes,bayes";
    let folds = report(&dir, &format!("compare {gold} {few} --rounds 1"));
    let text = |name: &str| String::from_utf8(dir.read(name)).expect("text");
    let (new, truth) = (text("new.csv"), text("truth.csv"));
    let truths = truth.lines().filter_map(|line| line.split(',').nth(1));
    let joined: Vec<String> =
        new.lines().zip(truths).take(200).map(|(row, truth)| format!("{row},{truth}")).collect();
    dir.write("test.csv", joined.join("\n"));
    let test = report(&dir, &format!("compare {gold} --test test.csv --no-curve --threads 2 --memory 24K"));
    assert_eq!((&folds["held_out"]["by"], &test["held_out"]["by"]), (&"folds".into(), &"test".into()));
    agree("compare", &[folds, test], &[]);

    dir.done(&format!("tally {gold} -o gold.tally"));
    dir.done(&format!("fit {gold} --method majority --calibrate split -o sure.spocc"));
    let inspected = ["panel.spocc", "sure.spocc", "gold.tally", gold]
        .map(|what| report(&dir, &format!("inspect {what}")));
    agree("inspect", &inspected, &["fitted.", "evidence.", "tally."]);
}

#[test]
fn compare_prints_the_same_bytes_every_time() {
    let dir = TestDir::new();
    dir.done("demo --save .");
    let text = |name: &str| String::from_utf8(dir.read(name)).expect("text");
    let few: Vec<String> = text("gold.csv").lines().take(121).map(str::to_owned).collect();
    dir.write("few.csv", few.join("\n"));
    let (new, truth) = (text("new.csv"), text("truth.csv"));
    let truths = truth.lines().filter_map(|line| line.split(',').nth(1));
    let joined: Vec<String> =
        new.lines().zip(truths).take(81).map(|(row, truth)| format!("{row},{truth}")).collect();
    dir.write("test.csv", joined.join("\n"));
    for options in ["", "--json", "--class-weight balanced", "--test test.csv", "--test test.csv --json"] {
        let compare = format!("compare few.csv --label truth --id item {options}");
        let first = dir.done(&compare);
        for threads in [1, 3] {
            let again = dir.done(&format!("{compare} --threads {threads}"));
            assert_eq!(
                (again.stdout, again.stderr),
                (first.stdout.clone(), first.stderr.clone()),
                "{compare}"
            );
        }
    }
}

#[test]
fn text_and_json_have_the_same_figures() {
    let dir = TestDir::new();
    dir.done("demo --save .");
    let audit = "audit gold.csv --label truth --id item";
    let (text, json) = (dir.done(audit).stdout, report(&dir, audit));
    for classifier in json["classifiers"].as_array().expect("a list") {
        let share = classifier["accuracy"].as_f64().expect("a number") * 100.0;
        let name = classifier["name"].as_str().expect("a name");
        let line = text.lines().find(|line| line.starts_with(&format!("{name} "))).expect("a line each");
        assert!(line.contains(&format!("{share:.1}%")), "{line}");
    }
}
