//! The held-out accuracy that `fit` prints and stores, and what it says where rows are too few.

use serde_json::Value;

use crate::test_dir::{GOLD, TestDir, without_sizes};

fn json(dir: &TestDir, arguments: &str) -> Value {
    serde_json::from_str(&dir.done(arguments).stdout).expect("JSON")
}

/// Runs `fit` and `compare` with one repetition and returns what `fit` printed; the figures of both must be equal.
fn assert_as_compared(dir: &TestDir, input: &str, method: &str) -> String {
    let printed = dir.done(&format!("fit {input} --method {method} -o m.spocc")).stderr;
    let stored = &json(dir, "inspect m.spocc --json")["held_out_accuracy"];
    let report = json(dir, &format!("compare {input} --methods {method} --rounds 1 --no-curve --json"));
    let rows = report["methods"].as_array().expect("a list");
    let row = rows.iter().find(|row| row["method"] == method).expect("evaluated");
    for key in ["accuracy", "weighted_accuracy", "interval"] {
        assert_eq!(stored[key], row[key], "{input} {method}: {key}");
    }
    assert_eq!(stored["n_rows"], report["n_rows"]);
    let percent = |share: &Value| 100.0 * share.as_f64().expect("a share");
    let [low, high] = [0, 1].map(|end| percent(&row["interval"][end]));
    let figure = format!("held-out accuracy {:.1} %", percent(&row["accuracy"]));
    let interval = format!(" (95 % interval {low:.1} .. {high:.1}), by ");
    let line = printed.lines().find(|line| line.starts_with(&figure) && line.contains(&interval));
    assert!(line.is_some(), "{figure}{interval}: {printed}");
    let facts = dir.done("inspect m.spocc").stdout;
    assert!(facts.contains(&format!("  evaluation   {}\n", line.expect("found above"))), "{facts}");
    printed
}

#[test]
fn fit_reports_what_compare_reports_with_one_repetition() {
    let dir = TestDir::new();
    dir.done("demo --save .");
    dir.write("few.csv", GOLD);
    let demo = "gold.csv --label truth --id item";
    for method in ["ladder", "majority", "naive-bayes", "adaspocc"] {
        assert_as_compared(&dir, demo, method);
        assert_as_compared(&dir, "few.csv --label truth --id item", method);
    }
    assert_as_compared(&dir, &format!("{demo} --class-weight balanced"), "naive-bayes");
    assert_as_compared(&dir, &format!("{demo} --unlabelled new.csv"), "dawid-skene");
    dir.done(&format!("tally {demo} -o gold.tally"));
    let printed = assert_as_compared(&dir, "gold.tally", "ladder");
    assert!(printed.contains("by 5-fold cross-validation\n"), "{printed}");
}

#[test]
fn weighted_rows_have_the_figures_of_compare_too() {
    let dir = TestDir::new();
    let row = |t: usize| {
        let label = |is_correct: bool| if is_correct == t.is_multiple_of(2) { "x" } else { "y" };
        let [a, b] = [t % 7 != 1, t % 3 != 1].map(label);
        format!("{a},{b},{},{}\n", 0.3 + (t % 4) as f64 / 3.0, label(true))
    };
    dir.write("weights.csv", format!("a,b,w,t\n{}", (0..40).map(row).collect::<String>()));
    assert_as_compared(&dir, "weights.csv --label t --weight w", "ladder");
    assert_as_compared(&dir, "weights.csv --label t --weight w --class-weight x=1.7", "majority");
}

#[test]
fn evaluation_can_be_skipped_and_changes_nothing_else() {
    let dir = TestDir::new();
    dir.write("gold.csv", GOLD);
    let fitted = dir.done("fit gold.csv --label truth --id item --no-evaluate -o plain.spocc").stderr;
    assert!(!fitted.contains("held-out"), "{fitted}");
    assert!(json(&dir, "inspect plain.spocc --json")["held_out_accuracy"].is_null());
    assert!(!dir.done("inspect plain.spocc").stdout.contains("held-out"));
    for method in ["majority", "ladder"] {
        for (option, name) in [("", "with.spocc"), ("--no-evaluate", "without.spocc")] {
            dir.done(&format!("fit gold.csv --label truth --id item --method {method} {option} -o {name}"));
        }
        let [with, mut without] = ["with", "without"].map(|name| {
            let mut facts = json(&dir, &format!("inspect {name}.spocc --json"));
            facts["held_out_accuracy"].take();
            facts
        });
        assert_eq!(with, without.take(), "{method}");
    }
}

#[test]
fn an_appended_model_has_no_accuracy() {
    let dir = TestDir::new();
    dir.write("gold.csv", GOLD);
    dir.done("fit gold.csv --label truth --id item --ignore eve -o two.spocc");
    let printed =
        dir.done("append two.spocc gold.csv --label truth --id item --name eve -o three.spocc").stderr;
    let note = "note: the new model has no held-out accuracy; see spocc compare, or fit the whole panel\n";
    assert!(printed.contains(note), "{printed}");
    assert!(json(&dir, "inspect three.spocc --json")["held_out_accuracy"].is_null());
}

#[test]
fn rows_that_cannot_be_held_out_give_a_reason() {
    let dir = TestDir::new();
    dir.write("gold.csv", GOLD);
    dir.done("tally gold.csv --label truth --id item --marginals -o gold.tally");
    let printed = dir.done("fit gold.tally --method majority -o m.spocc").stderr;
    let reason = "no held-out accuracy: marginals cannot be split into training rows and held-out rows\n";
    assert!(printed.contains(reason), "{printed}");
    let printed = dir.done("fit gold.csv --id item --ignore truth --method dawid-skene -o m.spocc").stderr;
    assert!(printed.contains("no held-out accuracy: no row has a truth\n"), "{printed}");
}

#[test]
fn a_method_that_needs_no_tally_is_fitted_where_a_tally_exceeds_the_memory() {
    let dir = TestDir::new();
    let row = |t: usize| {
        let cells: Vec<String> = (0..40).map(|k| (t * (2 * k + 3) / (k + 7) % 5).to_string()).collect();
        format!("{},{}\n", cells.join(","), t % 5)
    };
    let names: Vec<String> = (0..40).map(|k| format!("c{k}")).collect();
    dir.write("wide.csv", format!("{},t\n{}", names.join(","), (0..4000).map(row).collect::<String>()));
    let printed = dir.done("fit wide.csv --label t --method majority --memory 100K -o m.spocc").stderr;
    let reason = "no held-out accuracy: the tally of all rows, from which rows are held out, needs more than --memory\n";
    assert!(printed.contains(reason), "{printed}");
    dir.done("fit wide.csv --label t --method majority --no-evaluate -o plain.spocc");
    assert_eq!(dir.read("m.spocc"), dir.read("plain.spocc"));
    assert_eq!(dir.run("fit wide.csv --label t --method ladder --memory 100K -o m.spocc").code, Some(1));
}

#[test]
fn too_few_rows_of_a_class_are_noted() {
    let dir = TestDir::new();
    dir.write("few.csv", "a,b,t\nx,x,x\ny,x,y\nz,z,z\nx,x,x\n");
    let printed = dir.done("fit few.csv --label t --method majority -o m.spocc").stderr;
    assert!(printed.contains("held-out accuracy 50.0 % (95 % interval 6.8 .. 93.2), by"), "{printed}");
    assert_eq!(
        without_sizes(&printed),
        "fitted majority to 4 labelled rows: 2 classifiers, 3 classes (x, y, z)\n\
         held-out accuracy #, by leave-one-out cross-validation (only 4 rows)\n\
         note: classes y, z have a single labelled row each: these are used to fit; held out, each is decided by a fit \
         without a row of its class\n\
         wrote m.spocc # bytes)\n"
    );
    dir.write("one.csv", "a,b,t\nx,x,x\n");
    let printed = dir.done("fit one.csv --label t --classes x,y,z --method majority -o m.spocc").stderr;
    assert_eq!(
        without_sizes(&printed),
        "fitted majority to 1 labelled row: 2 classifiers, 3 classes (x, y, z)\n\
         no held-out accuracy: labelled rows to fit to and to evaluate on: expected at least 2, found 1\n\
         note: fewer labelled rows (1) than classes (3): the classes without a row (y, z) are decided, if at all, by the \
         prior assumptions of the method\n\
         note: class x has a single labelled row: it is used to fit; held out, it is decided by a fit without a row of \
         its class\n\
         wrote m.spocc # bytes)\n"
    );
}
