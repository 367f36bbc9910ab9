//! Class weights, weighted rows, and informative missing predictions.

use crate::test_dir::TestDir;

/// Rows of which one in ten is urgent; `a` predicts half of those correctly, the predictions of `b` are missing for half
/// of them.
fn table() -> String {
    let row = |t: usize| {
        let truth = if t.is_multiple_of(10) { "urgent" } else { "other" };
        let a = if t.is_multiple_of(20) || t % 10 == 7 { "urgent" } else { "other" };
        let b = match (truth, t % 4) {
            ("urgent", 0 | 2) => "",
            (_, 1) => "urgent",
            _ => "other",
        };
        format!("{a},{b},{},{truth}\n", if t.is_multiple_of(2) { "0.5" } else { "1.25" })
    };
    format!("a,b,w,t\n{}", (0..200).map(row).collect::<String>())
}

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("gold.csv", table());
    dir
}

fn n_urgent(dir: &TestDir, options: &str) -> usize {
    dir.done(&format!("fit gold.csv --label t --ignore w --method naive-bayes {options} -o m.spocc"));
    let decided = dir.done("predict m.spocc gold.csv").stdout;
    decided.lines().filter(|line| *line == "urgent").count()
}

#[test]
fn a_class_with_more_weight_is_decided_more_often() {
    let dir = dir();
    let plain = n_urgent(&dir, "--missing ignore");
    let weighed = n_urgent(&dir, "--missing ignore --class-weight urgent=50");
    assert!(weighed > plain, "{plain} {weighed}");
    let balanced = n_urgent(&dir, "--missing ignore --class-weight balanced");
    assert_eq!(balanced, n_urgent(&dir, "--missing ignore --class-weight other=1,urgent=9"));
    let printed = dir.done("inspect m.spocc").stdout;
    assert!(printed.contains("  weights      other 1.000, urgent 9.000\n"), "{printed}");
}

#[test]
fn the_range_of_row_weights_is_reported() {
    let dir = TestDir::new();
    let refused = |weights: [&str; 2], message: &str| {
        dir.write("w.csv", format!("w,a,t\n{},x,x\n{},y,y\n", weights[0], weights[1]));
        dir.refused("fit w.csv --label t --weight w -o m.spocc", &format!("w.csv: line 3: {message}"));
    };
    refused(["1", "1e19"], "expected a whole weight of at most 9.2e18, found 1e19");
    refused(["0.5", "1e19"], "expected a weight of 0 or between 9.3e-10 and 8.5e9, found 1e19");
    refused(["1", "1e-12"], "expected a weight of 0 or between 9.3e-10 and 8.5e9, found 1e-12");
}

#[test]
fn weights_that_make_no_sense_are_refused() {
    let dir = dir();
    let refused = |weights: &str, message: &str| {
        dir.refused(
            &format!("fit gold.csv --label t --ignore w --class-weight {weights} -o m.spocc"),
            message,
        );
        dir.refused(&format!("compare gold.csv --label t --ignore w --class-weight {weights}"), message);
    };
    refused("cow=2", "gold.csv: class weights: expected one of other, urgent, found `cow`");
    refused("urgent=2,urgent=3", "gold.csv: class weights: expected distinct names, found `urgent` twice");
    let range = "expected a number from 0.000001 to 1000000";
    for bad in ["0", "-1", "NaN", "inf", "10000000"] {
        refused(
            &format!("urgent={bad}"),
            &format!("gold.csv: weight of class `urgent`: {range}, found {bad}"),
        );
    }
    dir.misused("fit gold.csv --label t --class-weight urgent -o m.spocc", "such as urgent=5,other=1");
    assert_eq!(dir.names(), ["gold.csv"]);
}

#[test]
fn missing_predictions_count_where_they_are_informative() {
    let dir = dir();
    let fit = "fit gold.csv --label t --ignore w --method naive-bayes -o m.spocc";
    let printed = dir.done(fit).stderr;
    assert!(
        printed.contains("missing predictions are informative, so they count as a label, for `b`\n"),
        "{printed}"
    );
    let facts = dir.done("inspect m.spocc").stdout;
    assert!(facts.contains("  missing      counts as a label for b, ignored for the others\n"), "{facts}");
    assert!(n_urgent(&dir, "") > n_urgent(&dir, "--missing ignore"));
    let printed = dir.done(&format!("{fit} --missing ignore")).stderr;
    assert!(!printed.contains("missing"), "{printed}");
    let whole = |missing: &str, file: &str| {
        dir.done(&format!("fit gold.csv --label t --classifiers a --missing {missing} -o {file}"));
        dir.read(file)
    };
    assert_eq!(whole("auto", "x.spocc"), whole("ignore", "y.spocc"), "no prediction is missing");
    assert_eq!(whole("silent", "x.spocc"), whole("ignore", "y.spocc"), "the word of version 0.1");
}

#[test]
fn compare_takes_weights_of_rows_and_of_classes() {
    let dir = dir();
    let compare = "compare gold.csv --label t --no-curve --rounds 1 --methods naive-bayes,stacking --json";
    let report = |options: &str| -> serde_json::Value {
        serde_json::from_str(&dir.done(&format!("{compare} {options}")).stdout).expect("JSON")
    };
    let weighted = report("--weight w");
    assert_eq!(weighted["methods"].as_array().map(Vec::len), Some(4), "{weighted}");
    assert!(weighted["methods"][0]["weighted_accuracy"].is_null());
    let balanced = report("--ignore w --class-weight balanced");
    assert_eq!(balanced["class_weights"], "balanced");
    let of = |report: &serde_json::Value, method: &str, key: &str| {
        let entries = report["methods"].as_array().expect("methods").clone();
        entries.iter().find(|entry| entry["method"] == method).and_then(|entry| entry[key].as_f64())
    };
    // The recall of the vote is higher for the frequent class.
    let majority = of(&balanced, "majority", "weighted_accuracy").expect("a share");
    let plain = of(&balanced, "majority", "accuracy").expect("a share");
    assert!(majority < plain, "{majority} {plain}");
    let text = dir.done("compare gold.csv --label t --ignore w --no-curve --class-weight balanced").stdout;
    assert!(text.contains("method          accuracy balanced accuracy        95 %"), "{text}");
}
