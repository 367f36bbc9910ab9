//! Tallies: merged, fitted, audited and inspected; and models with an appended classifier.

use std::fs;

use serde_json::{Value, json};

use crate::test_dir::{GOLD, TestDir};

/// The columns of the small table.
const PANEL: &str = "--label truth --id item";

/// The model of the small panel, its tally, and the tallies of three parts of it.
fn dir() -> TestDir {
    let dir = TestDir::with_model();
    let lines: Vec<&str> = GOLD.lines().collect();
    for (name, rows) in [("north", 1..4), ("south", 4..5), ("west", 5..7)] {
        dir.write(&format!("{name}.csv"), [&lines[..1], &lines[rows]].concat().join("\n"));
        dir.done(&format!("tally {name}.csv {PANEL} -o {name}.tally"));
    }
    dir.done(&format!("tally gold.csv {PANEL} -o all.tally"));
    dir.done(&format!("tally gold.csv {PANEL} --marginals -o marginals.tally"));
    dir
}

fn facts(dir: &TestDir, arguments: &str) -> Value {
    serde_json::from_str(&dir.done(&format!("{arguments} --json")).stdout).expect("JSON")
}

#[test]
fn tallies_of_parts_add_up_to_the_tally_of_all_in_any_order() {
    let dir = dir();
    for order in ["north south west", "west north south", "south west north"] {
        let parts: Vec<String> = order.split(' ').map(|part| format!("{part}.tally")).collect();
        let run = dir.done(&format!("merge {} -o sum.tally", parts.join(" ")));
        assert_eq!(dir.read("sum.tally"), dir.read("all.tally"), "{order}");
        assert!(run.stderr.starts_with(
            "merged 3 tallies: 5 labelled and 1 unlabelled row, 3 classifiers\nwrote sum.tally ("
        ));
    }
    dir.done("merge north.tally south.tally -o half.tally");
    dir.done("merge west.tally half.tally -o sum.tally");
    assert_eq!(dir.read("sum.tally"), dir.read("all.tally"), "a sum of sums");
    dir.done("merge all.tally -o sum.tally");
    assert_eq!(dir.read("sum.tally"), dir.read("all.tally"), "a sum of one");
}

#[test]
fn a_tally_gives_the_model_of_its_table() {
    let dir = dir();
    for method in ["spocc", "adaspocc", "selection", "majority", "naive-bayes", "bayes", "stacking"] {
        let fit = |input: &str| {
            dir.done(&format!("fit {input} --method {method} -o m.spocc"));
            dir.read("m.spocc")
        };
        assert_eq!(fit("all.tally"), fit(&format!("gold.csv {PANEL}")), "{method}");
    }
    dir.done("fit all.tally --ignore e* -o two.spocc");
    dir.done(&format!("fit gold.csv {PANEL} --classifiers ann,bob -o named.spocc"));
    assert_eq!(dir.read("two.spocc"), dir.read("named.spocc"));
    dir.refused(
        "fit all.tally --ignore zoe -o m.spocc",
        "all.tally: expected a column `zoe` to ignore, found `ann`, `bob`, `eve`",
    );
    dir.refused(
        "fit north.tally south.tally -o m.spocc",
        "north.tally: expected tables, found a model or a tally of spocc (`spocc merge` adds tallies up)",
    );
    dir.refused("fit panel.spocc -o m.spocc", "panel.spocc: expected a table or a tally, found a model");
}

#[test]
fn unlabelled_rows_are_skipped_and_reported() {
    let dir = TestDir::with_model();
    dir.write(
        "gaps.csv",
        "item,ann,bob,eve,truth\n1,cat,cat,dog,cat\n2,cow,pig,hen,\n3,dog,dog,cat,null\n4,dog,dog,cat,dog\n",
    );
    for command in [
        "fit gaps.csv --label truth --id item --unlabelled none -o m.spocc",
        "tally gaps.csv --label truth --id item --unlabelled none -o m.tally",
        "tally gaps.csv --label truth --id item --marginals -o m.tally",
        "audit gaps.csv --label truth --id item",
    ] {
        let printed = dir.done(command).stderr;
        assert!(printed.contains("skipped 2 unlabelled rows\n"), "{command}: {printed}");
    }
    let printed = dir.done("fit gaps.csv --label truth --id item --unlabelled none -o m.spocc").stderr;
    assert!(
        printed.starts_with("fitted ladder to 2 labelled rows: 3 classifiers, 2 classes (cat, dog)"),
        "{printed}"
    );
}

#[test]
fn more_rows_than_are_read_at_a_time_count_as_if_they_were_grouped() {
    let dir = TestDir::new();
    let rows = "x,x,x\ny,x,y\nx,,x\n".repeat(350_000);
    dir.write("rows.csv", format!("a,b,t\n{rows}z,z,z\n"));
    dir.write("grouped.csv", "a,b,t,n\nx,x,x,350000\ny,x,y,350000\nx,,x,350000\nz,z,z,1\n");
    dir.done("fit rows.csv --label t -o rows.spocc");
    dir.done("fit grouped.csv --label t --count n -o grouped.spocc");
    assert_eq!(dir.read("rows.spocc"), dir.read("grouped.spocc"));
    let decided = dir.done("predict rows.spocc rows.csv").stdout;
    assert_eq!(decided, format!("decision\n{}z\n", "x\ny\nx\n".repeat(350_000)));
}

#[test]
fn marginals_suffice_for_the_methods_that_need_no_more() {
    let dir = dir();
    dir.done("tally all.tally --marginals -o reduced.tally");
    assert_eq!(dir.read("reduced.tally"), dir.read("marginals.tally"));
    for method in ["spocc", "selection", "majority", "weighted-vote", "naive-bayes"] {
        dir.done(&format!("fit marginals.tally --method {method} -o few.spocc"));
        dir.done(&format!("fit gold.csv {PANEL} --method {method} --no-evaluate -o all.spocc"));
        assert_eq!(dir.read("few.spocc"), dir.read("all.spocc"), "{method}");
    }
    let enough = "enough for spocc, selection, majority, weighted-vote, naive-bayes";
    for method in ["adaspocc", "exp-vote", "bayes", "stacking"] {
        dir.refused(
            &format!("fit marginals.tally --method {method} -o m.spocc"),
            &format!("marginals.tally: expected a tally for {method}, found marginals, {enough}"),
        );
    }
    dir.refused(
        "merge all.tally marginals.tally -o m.tally",
        "marginals.tally: evidence: expected a tally on both sides, found marginals (reduce the richer one first)",
    );
    let audit = facts(&dir, "audit marginals.tally");
    assert_eq!([&audit["n_rows"], &audit["classifiers"][1]["accuracy"]], [&json!(5), &json!(0.8)]);
}

#[test]
fn no_count_below_the_minimum_is_left() {
    let dir = TestDir::new();
    let row = |line: &str, times: usize| format!("{line}\n").repeat(times);
    let rows =
        row("cat,cat,cat", 9) + &row("cat,SECRET,cat", 1) + &row("dog,dog,dog", 7) + &row("dog,,RARE", 2);
    dir.write("gold.csv", format!("a,b,t\n{rows}"));
    for level in ["", "--marginals"] {
        let run = dir.done(&format!("tally gold.csv --label t --min-count 5 {level} -o m.tally"));
        assert!(run.stderr.contains("\ndropped "), "{}", run.stderr);
        let tally = facts(&dir, "inspect m.tally");
        let below = |n: u64| {
            let all = tally["disclosure"].as_array().expect("whole counts");
            all.iter().find(|rare| rare["below"] == n).expect("this number").clone()
        };
        assert_eq!(below(5), json!({"below": 5, "n_counts": 0, "n_rows": 0}), "{level}");
        assert_eq!(tally["classes"], json!(["cat", "dog"]), "{level}");
        let bytes = dir.read("m.tally");
        assert!(
            !["SECRET", "RARE"].iter().any(|word| bytes.windows(word.len()).any(|at| at == word.as_bytes()))
        );
    }
    let refused = |options: &str, message: &str| {
        dir.refused(
            &format!("tally gold.csv --label t {options} -o none.tally"),
            &format!("gold.csv: {message}"),
        );
    };
    refused(
        "--min-count 10",
        "expected a pattern of predictions and true label with at least 10 rows, found none among 19 labelled rows",
    );
    refused(
        "--min-count 11 --marginals",
        "expected a class with at least 11 rows, found none among 19 labelled rows",
    );
    dir.done("tally gold.csv --label t -o all.tally");
    dir.refused(
        "tally all.tally --min-count 10 -o none.tally",
        "all.tally: expected a pattern of predictions and true label with at least 10 rows, found none among 19 labelled rows",
    );
    dir.misused(
        "tally gold.csv --label t --min-count 0 -o none.tally",
        "invalid value '0' for '--min-count <N>': expected a whole number from 1\n",
    );
    dir.misused(
        "tally gold.csv --label t --min-count 2 --weight a -o none.tally",
        "cannot be used with '--weight",
    );
    assert_eq!(dir.names(), ["all.tally", "gold.csv", "m.tally"]);
}

#[test]
fn counts_of_weights_are_no_counts_of_rows() {
    let dir = TestDir::new();
    dir.write("gold.csv", "a,b,t,w\nx,y,x,7\ny,y,y,9\n");
    dir.done("tally gold.csv --label t --weight w -o weighted.tally");
    for level in ["", "--marginals"] {
        let run = dir.run(&format!("tally weighted.tally --min-count 5 {level} -o rows.tally"));
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(run.stderr.contains("found weights"), "{}", run.stderr);
    }
    dir.done("tally gold.csv --label t --ignore w -o rows.tally");
    dir.done("merge weighted.tally rows.tally -o sum.tally");
    assert_eq!(dir.run("tally sum.tally --min-count 5 -o none.tally").code, Some(1), "a sum of both");
    let warned = dir.done("tally rows.tally --min-count 1 -o all.tally").stderr;
    assert!(warned.contains("warning: with --min-count below 5"), "{warned}");
    let rows = format!("a,b,t\n{}", "x,y,x\n".repeat(6));
    dir.write("six.csv", rows);
    let quiet = dir.done("tally six.csv --label t --min-count 5 -o six.tally").stderr;
    assert!(!quiet.contains("min-count"), "{quiet}");
}

#[test]
fn the_same_rows_with_other_columns_first_are_not_added_twice() {
    let dir = TestDir::new();
    dir.write("gold.csv", "a,b,t\nx,y,x\ny,y,y\ny,,x\n");
    dir.write("other.csv", "b,t,a\ny,x,x\ny,y,y\n,x,y\n");
    for (level, open) in [("", ""), ("--marginals", ""), ("", "--open")] {
        dir.done(&format!("tally gold.csv --label t {level} {open} -o one.tally"));
        dir.done(&format!("tally other.csv --label t {level} {open} -o two.tally"));
        dir.refused(
            "merge one.tally two.tally -o sum.tally",
            "two.tally: expected a different tally, found the same counts as one.tally (--allow-equal adds them anyway)",
        );
    }
}

#[test]
fn the_same_tally_is_not_added_twice() {
    let dir = dir();
    dir.write("copy.tally", dir.read("north.tally"));
    dir.write("packed.tally", crate::table_formats::gzip(&dir.read("north.tally")));
    let mut again = vec!["north.tally", "./north.tally", "copy.tally", "packed.tally"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("north.tally", dir.path("link.tally")).expect("a fresh name");
        again.push("link.tally");
    }
    for twice in again {
        let run = dir.run(&format!("merge north.tally south.tally {twice} -o m.tally"));
        let copy = "expected a different tally, found the same counts as north.tally (--allow-equal adds them anyway)";
        let is_copy = ["copy.tally", "packed.tally"].contains(&twice);
        let message = if is_copy { copy } else { "expected every file once, found it again" };
        assert_eq!((run.code, run.stderr), (Some(1), format!("spocc: {twice}: {message}\n")));
    }
    assert!(!dir.names().contains(&"m.tally".to_owned()));
    dir.done("merge north.tally south.tally copy.tally --allow-equal -o m.tally");
}

#[test]
fn only_tallies_of_the_same_classifiers_are_merged() {
    let dir = dir();
    let merge = |other: &str| format!("merge north.tally {other} -o m.tally");
    let expected = "expected a tally written by `spocc tally`, found";
    dir.refused(&merge("gold.csv"), &format!("gold.csv: {expected} a table"));
    dir.refused(&merge("panel.spocc"), &format!("panel.spocc: {expected} a model"));
    dir.refused(&merge("absent.tally"), &format!("absent.tally: {expected} no such file"));
    dir.done(&format!("tally south.csv {PANEL} --ignore eve -o two.tally"));
    dir.refused(
        &merge("two.tally"),
        "two.tally: evidence: expected the same classifiers on both sides, found `eve` on one side only",
    );
    dir.write("eva.csv", String::from_utf8(dir.read("south.csv")).expect("text").replace("eve", "eva"));
    dir.done(&format!("tally eva.csv {PANEL} -o eva.tally"));
    dir.refused(
        &merge("eva.tally"),
        "eva.tally: evidence: expected the same classifiers on both sides, found `eve`, `eva` on one side only",
    );
    dir.done(&format!("tally south.csv {PANEL} --classes dog,cat -o closed.tally"));
    dir.refused(
        &merge("closed.tally"),
        "closed.tally: evidence: expected the same classes on both sides, \
         found a given list of classes and classes as they occur",
    );
    assert!(!dir.names().contains(&"m.tally".to_owned()));
}

#[test]
fn a_table_its_tally_and_its_model_are_audited_alike() {
    let dir = dir();
    let table = facts(&dir, &format!("audit gold.csv {PANEL}"));
    assert_eq!(table, facts(&dir, "audit all.tally"));
    // Of a table, influence is that on the model which is fitted to it by default.
    dir.done(&format!("fit gold.csv {PANEL} -o panel.spocc"));
    assert_eq!(table, facts(&dir, "audit panel.spocc"));
    let text = |input: &str| dir.done(&format!("audit {input}")).stdout;
    assert_eq!(text(&format!("gold.csv {PANEL}")), text("panel.spocc"));
    assert!(text("all.tally").starts_with("3 classifiers, 5 labelled rows: cat 3, dog 2\n"));
    dir.done("fit all.tally --slim -o slim.spocc");
    dir.refused(
        "audit slim.spocc",
        "slim.spocc: audit: expected a model that holds its evidence, found one without",
    );
}

#[test]
fn every_kind_of_file_is_inspected() {
    let dir = dir();
    let table = facts(&dir, &format!("inspect gold.csv {PANEL}"));
    let tally = facts(&dir, "inspect all.tally");
    let model = facts(&dir, "inspect panel.spocc");
    assert_eq!([&table["kind"], &tally["kind"], &model["kind"]], ["table", "tally", "model"]);
    assert_eq!([&table["n_rows"], &tally["n_rows"]], [&json!(6), &json!(5.0)]);
    let without_kind = |facts: &Value| {
        let mut facts = facts.clone();
        facts.as_object_mut().expect("an object").remove("kind");
        facts
    };
    assert_eq!(without_kind(&tally), table["tally"]);
    assert_eq!(without_kind(&tally), model["evidence"]);
    let bob = json!({"name": "bob", "n_missing": 1, "n_distinct": 2, "examples": ["cat", "dog"]});
    assert_eq!([&table["columns"][2], &table["delimiter"]], [&bob, &json!(",")]);
    let first = |input: &str| dir.done(&format!("inspect {input}")).stdout.lines().next().map(str::to_owned);
    assert_eq!(first("panel.spocc").as_deref(), Some("model of method ladder"));
    assert_eq!(first("all.tally").as_deref(), Some("tally"));
    assert_eq!(first("gold.csv").as_deref(), Some("table of 6 rows, delimiter `,`"));
    assert_eq!(first("north.csv south.csv").as_deref(), Some("table of 4 rows, delimiter `,`"));
    let piped = dir.run_with_input("inspect -", &dir.read("all.tally"));
    assert_eq!(piped.stdout, dir.done("inspect all.tally").stdout);
}

#[test]
fn options_about_columns_are_refused_for_tallies_and_models() {
    let dir = dir();
    let options = ["--label truth", "--id item", "--classes cat,dog", "--count n", "--delimiter ,", PANEL];
    for (command, end) in [("fit", "-o m.spocc"), ("tally", "-o m.tally"), ("audit", ""), ("inspect", "")] {
        for option in options {
            let first = option.split(' ').next().unwrap_or_default();
            let message = format!("error: {first} describes a table, but the input is a tally\n");
            dir.misused(&format!("{command} all.tally {option} {end}"), &message);
        }
    }
    for command in ["audit", "inspect"] {
        let message = "error: --label describes a table, but the input is a model\n";
        dir.misused(&format!("{command} panel.spocc --label truth"), message);
    }
    dir.misused("fit gold.csv -o m.spocc", "a table needs --label COL");
}

#[test]
fn a_model_after_append_decides_as_if_fitted_to_all_classifiers() {
    let dir = dir();
    let spocc = "--method spocc --exponent 3 --no-evaluate";
    dir.done(&format!("fit gold.csv {PANEL} --ignore eve {spocc} -o two.spocc"));
    dir.done(&format!("fit gold.csv {PANEL} {spocc} -o three.spocc"));
    for rows in [&format!("gold.csv {PANEL}"), "all.tally", "marginals.tally"] {
        let run = dir.done(&format!("append two.spocc {rows} --name eve -o grown.spocc"));
        assert!(run.stderr.starts_with("added `eve`: 3 classifiers\n"), "{}", run.stderr);
        assert_eq!(dir.read("grown.spocc"), dir.read("three.spocc"), "{rows}");
    }
    let decided = |model: &str| dir.done(&format!("predict {model} gold.csv --columns possibility")).stdout;
    assert_eq!(decided("grown.spocc"), decided("three.spocc"));
    fs::copy(dir.path("two.spocc"), dir.path("same.spocc")).expect("a copy");
    dir.done("append same.spocc all.tally --name eve -o same.spocc");
    assert_eq!(dir.read("same.spocc"), dir.read("three.spocc"), "a model may be replaced by itself");
}

#[test]
fn what_cannot_be_appended_is_refused() {
    let dir = dir();
    dir.done("fit all.tally --ignore eve -o two.spocc");
    dir.done("fit all.tally --ignore eve --slim -o slim.spocc");
    dir.done("fit all.tally --ignore eve --method majority -o majority.spocc");
    let refused = |model: &str, name: &str, rows: &str, message: &str| {
        dir.refused(&format!("append {model} --name {name} {rows} {PANEL} -o m.spocc"), message);
    };
    let majority = "majority.spocc: append: expected a spocc, adaspocc or ladder model, found majority";
    refused("majority.spocc", "eve", "gold.csv", majority);
    let slim = "slim.spocc: append: expected a model that holds its evidence, found one without";
    refused("slim.spocc", "eve", "gold.csv", slim);
    let rows = "expected the rows the model was fitted to, found rows with other counts";
    let none = "expected the rows the model was fitted to, found none of the 1 without truth";
    refused("two.spocc", "eve", "north.csv", &format!("north.csv: {none}"));
    refused("two.spocc", "eve", "gold.csv south.csv", &format!("gold.csv: {rows}"));
    refused(
        "two.spocc",
        "bob",
        "gold.csv",
        "two.spocc: expected the name of a new classifier, found `bob`, which the model already has",
    );
    let missing = "gold.csv: line 1: expected a classifier `zoe`, found `item`, `ann`, `bob`, `eve`, `truth`";
    refused("two.spocc", "zoe", "gold.csv", missing);
    dir.write("no-bob.csv", "item,ann,eve,truth\n1,cat,dog,cat\n");
    let missing = "no-bob.csv: line 1: expected a classifier `bob`, found `item`, `ann`, `eve`, `truth`";
    refused("two.spocc", "eve", "no-bob.csv", missing);
    let order =
        "gold.csv: expected a model written by `spocc fit`, found a table (the first argument is the model)";
    refused("gold.csv", "eve", "two.spocc", order);
    assert!(!dir.names().contains(&"m.spocc".to_owned()));
}

#[test]
fn append_reads_no_columns_but_those_of_the_model_and_the_new_one() {
    let dir = dir();
    dir.done(&format!("fit gold.csv {PANEL} --ignore eve -o two.spocc"));
    dir.done(&format!("append two.spocc --name eve gold.csv {PANEL} -o with-id.spocc"));
    dir.done("append two.spocc --name eve gold.csv --label truth -o grown.spocc");
    assert_eq!(facts(&dir, "inspect grown.spocc")["evidence"]["other_labels"], json!([]));
    assert_eq!(dir.read("grown.spocc"), dir.read("with-id.spocc"));
}

#[test]
fn classifiers_of_a_model_cannot_be_selected() {
    let dir = dir();
    for option in ["--ignore ann", "--classifiers ann"] {
        for command in ["audit", "inspect"] {
            dir.misused(
                &format!("{command} panel.spocc {option}"),
                "describes a table, but the input is a model",
            );
        }
    }
}

#[test]
fn globs_of_tallies_are_merged() {
    let dir = dir();
    dir.done("merge *th.tally west.tally -o sum.tally");
    assert_eq!(dir.read("sum.tally"), dir.read("all.tally"));
}
