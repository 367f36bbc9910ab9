//! Conformal prediction sets and abstention.

use std::fmt::Write as _;

use crate::test_dir::{TestDir, without_sizes};

/// Three classifiers of different accuracy on `n` rows with ids and true labels.
fn table(n: u64, seed: u64) -> String {
    let mut state = seed;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut text = "id,ann,bob,eve,truth\n".to_owned();
    for id in 0..n {
        let truth = draw(3);
        let mut predict =
            |right: u64| ["x", "y", "z|"][if draw(10) < right { truth } else { draw(3) } as usize];
        let (ann, bob, eve) = (predict(7), predict(5), predict(4));
        writeln!(text, "r{id},{ann},{bob},{eve},{}", ["x", "y", "z|"][truth as usize]).expect("memory");
    }
    text
}

fn dir() -> TestDir {
    let dir = TestDir::new();
    dir.write("gold.csv", table(200, 1));
    dir.write("new.csv", table(500, 2));
    dir
}

#[test]
fn a_calibrated_model_gives_sets_and_states_their_coverage() {
    let dir = dir();
    let fitted = dir.done(
        "fit gold.csv --label truth --id id --method naive-bayes --calibrate split --no-evaluate -o m.spocc",
    );
    let coverage = "split conformal, 50 calibration rows: coverage guaranteed, on average over splits\n";
    assert_eq!(
        without_sizes(&fitted.stderr),
        format!(
            "fitted naive-bayes to 150 labelled rows: 3 classifiers, 3 classes (x, y, z|)\n{coverage}wrote m.spocc # bytes)\n"
        )
    );
    let decided = dir.done("predict m.spocc new.csv --id id --coverage 0.9");
    let lines: Vec<&str> = decided.stdout.lines().collect();
    assert_eq!((lines[0], lines.len()), ("id,decision,set,set_size", 501));
    let truths: Vec<String> = table(500, 2)
        .lines()
        .skip(1)
        .map(|line| line[line.rfind(',').expect("five") + 1..].to_owned())
        .collect();
    let mut held = 0;
    for (line, truth) in lines[1..].iter().zip(&truths) {
        let cells: Vec<&str> = line.split(',').collect();
        let set: Vec<String> =
            cells[2].replace("\\|", "\0").split('|').map(|class| class.replace('\0', "|")).collect();
        assert_eq!(set.len().to_string(), cells[3], "{line}");
        assert!(set.contains(&cells[1].to_owned()), "the decision is in the set: {line}");
        held += usize::from(set.contains(truth));
    }
    // Three standard deviations of 50 calibration rows are 0.13.
    assert!(held > 380 && held < 500, "{held}");
    assert!(decided.stderr.contains("\nprediction sets at coverage 0.9 ± 0.042: "), "{}", decided.stderr);
    assert!(decided.stderr.ends_with(coverage), "{}", decided.stderr);
    let inspected = dir.done("inspect m.spocc").stdout;
    assert!(inspected.contains("  sets         split conformal, 50 calibration rows: "), "{inspected}");
    let json = dir.done("inspect m.spocc --json").stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let expected = serde_json::json!({"scheme": "split", "per_class": false, "seed": 0, "n_rows": [50]});
    assert_eq!(json["conformal"], expected);
}

#[test]
fn fit_notes_a_coverage_that_cannot_be_reached() {
    let dir = TestDir::new();
    let note = |n: u64, options: &str| {
        dir.write("few.csv", table(n, 1));
        let fit = format!("fit few.csv --label truth --id id --method naive-bayes --calibrate {options}");
        let printed = dir.done(&format!("{fit} -o m.spocc")).stderr;
        printed.lines().find(|line| line.starts_with("note: ")).map(str::to_owned)
    };
    assert_eq!(
        note(30, "split").as_deref(),
        Some(
            "note: 8 calibration rows support a coverage of at most 0.88 (0.95 needs 19): \
             use --calibrate cross or more labelled rows"
        )
    );
    // As it says: 0.88 is possible, more is not.
    dir.done("predict m.spocc few.csv --coverage 0.88");
    dir.refused(
        "predict m.spocc few.csv --coverage 0.89",
        "m.spocc: coverage 0.89: expected at least 9 calibration rows, found 8",
    );
    assert_eq!(
        note(12, "split").as_deref(),
        Some(
            "note: 3 calibration rows support a coverage of at most 0.75 (0.95 needs 19): use more labelled rows"
        )
    );
    assert_eq!(
        note(2, "cross").as_deref(),
        Some(
            "note: 2 calibration rows support a coverage of at most 0.66 (0.95 needs 19): use more labelled rows"
        )
    );
    let per_class = note(100, "split --per-class").unwrap_or_default();
    assert!(per_class.contains(" calibration rows of class `"), "{per_class}");
    let helps =
        " (0.95 needs 19 of each class): use --calibrate cross or no --per-class or more labelled rows";
    assert!(per_class.ends_with(helps), "{per_class}");
    assert_eq!([note(76, "split"), note(19, "cross")], [None, None]);
}

#[test]
fn sets_depend_only_on_ids_or_row_numbers() {
    let dir = dir();
    dir.done("fit gold.csv --label truth --id id --calibrate split --per-class --seed 3 -o m.spocc");
    let predict = |what: &str| dir.done(&format!("predict m.spocc {what} --coverage 0.9")).stdout;
    let whole = predict("new.csv --id id");
    assert!(whole == predict("new.csv --id id --threads 1"));
    let text = table(500, 2);
    let lines: Vec<&str> = text.lines().collect();
    dir.write("one.csv", format!("{}\n{}\n", lines[0], lines[1..300].join("\n")));
    dir.write("two.csv", format!("{}\n{}\n", lines[0], lines[300..].join("\n")));
    assert!(whole == predict("one.csv two.csv --id id"));
    let apart = format!(
        "{}{}",
        predict("one.csv --id id"),
        predict("two.csv --id id").split_once('\n').expect("rows").1
    );
    assert!(whole == apart, "named rows draw alike in whatever table");
    assert!(predict("new.csv") == predict("one.csv two.csv"));
    assert!(whole != predict("new.csv --id id --seed 1"), "the seed draws");
    let slim = "fit gold.csv --label truth --id id --calibrate split --per-class --seed 3 --without-evidence -o m.spocc";
    dir.done(slim);
    assert!(whole == predict("new.csv --id id"));
}

#[test]
fn json_has_sets_as_lists_and_abstentions_as_null() {
    let dir = dir();
    dir.done("fit gold.csv --label truth --id id --method adaspocc --calibrate cross -o m.spocc");
    let run = dir.done(
        "predict m.spocc new.csv --columns margin --coverage 0.9 --abstain-below 0.4 --abstain-above-size 2 --format json",
    );
    let rows: Vec<serde_json::Value> = serde_json::from_str(&run.stdout).expect("JSON");
    let mut n = 0;
    for row in &rows {
        let size = row["set"].as_array().expect("a list").len() as u64;
        assert_eq!(row["set_size"], size);
        let abstains = size > 2 || row["margin"].as_f64().expect("a number") < 0.4;
        assert_eq!(row["decision"].is_null(), abstains, "{row}");
        n += usize::from(abstains);
    }
    assert!(n > 0 && n < rows.len());
    let share = format!("abstained on {n} rows ({:.1} %)\n", n as f64 / 5.0);
    assert!(run.stderr.contains(&share), "{}", run.stderr);
    assert!(run.stderr.contains("approximate coverage, without a guarantee"), "{}", run.stderr);
}

#[test]
fn an_empty_decision_is_an_abstention_and_the_rest_stays() {
    let dir = TestDir::with_model();
    let all = dir.done("predict panel.spocc gold.csv --id item --columns margin").stdout;
    let run = dir.done("predict panel.spocc gold.csv --id item --columns margin --abstain-below 1");
    assert!(run.stderr.contains("abstained on "), "{}", run.stderr);
    assert!(run.stdout.lines().any(|line| line.contains(",,")), "{}", run.stdout);
    for (line, before) in run.stdout.lines().zip(all.lines()).skip(1) {
        let (cells, before): (Vec<&str>, Vec<&str>) =
            (line.split(',').collect(), before.split(',').collect());
        assert!(cells[0] == before[0] && cells[2] == before[2], "{line}");
        let is_sure = before[2].parse::<f64>().expect("a margin") >= 1.0;
        assert_eq!(cells[1], if is_sure { before[1] } else { "" });
    }
    let none = dir.done("predict panel.spocc gold.csv --abstain-below 0");
    assert!(none.stderr.ends_with("abstained on 0 rows (0.0 %)\n"), "{}", none.stderr);
}

#[test]
fn a_coverage_that_cannot_be_guaranteed_is_refused() {
    let dir = TestDir::with_model();
    dir.refused(
        "predict panel.spocc gold.csv --coverage 0.9",
        "panel.spocc: sets: expected a calibrated model, found one fitted without (fit with --calibrate split or --calibrate cross)",
    );
    dir.done("fit gold.csv --label truth --id item --calibrate cross -o m.spocc");
    dir.refused(
        "predict m.spocc gold.csv --coverage 0.9",
        "m.spocc: coverage 0.9: expected at least 9 calibration rows, found 5",
    );
    dir.done("fit gold.csv --label truth --id item --calibrate cross --per-class -o m.spocc");
    dir.refused(
        "predict m.spocc gold.csv --coverage 0.8",
        "m.spocc: coverage 0.8: expected at least 4 calibration rows of class `cat`, found 3",
    );
    dir.done("tally gold.csv --label truth --id item --marginals -o t.tally");
    dir.refused(
        "fit t.tally --method majority --calibrate split -o m.spocc",
        "t.tally: calibration: expected evidence with a tally, found marginals",
    );
    for coverage in ["0", "1", "1.5", "nan", "many"] {
        dir.misused(
            &format!("predict m.spocc gold.csv --coverage {coverage}"),
            "expected a number above 0 and below 1",
        );
    }
    dir.misused("predict m.spocc gold.csv --abstain-below 2", "expected a number from 0 to 1");
    dir.misused("predict m.spocc gold.csv --abstain-above-size 1", "--coverage");
    dir.misused("predict m.spocc gold.csv --seed 1", "--coverage");
    dir.misused("fit gold.csv --label truth --per-class -o m.spocc", "--calibrate");
    dir.misused(
        "fit gold.csv --label truth --seed 1 -o m.spocc",
        "only used by --ties random and --calibrate",
    );
    dir.misused("predict m.spocc gold.csv --columns set", "invalid value");
}
