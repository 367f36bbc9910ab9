//! `fit` and `predict`: from a table with truths to decisions.

use std::{fs, path::Path};

use crate::test_dir::{GOLD, TestDir, without_sizes};

#[test]
fn a_table_becomes_a_model_and_the_model_decides_a_table() {
    let dir = TestDir::new();
    dir.write("gold.csv", GOLD);
    let fitted = dir.done("fit gold.csv --label truth --id item -o panel.spocc");
    assert_eq!(fitted.stdout, "");
    assert_eq!(
        without_sizes(&fitted.stderr),
        "fitted ladder to 5 labelled and 1 unlabelled row: 3 classifiers, 2 classes (cat, dog)\n\
         held-out accuracy #, by leave-one-out cross-validation (only 5 rows)\n\
         weights of the experts: votes 36 %, confusions 25 %, unlabelled rows 21 %, best classifier (ann) 10 %, regression 8 %\n\
         wrote panel.spocc # bytes)\n"
    );

    let decided = dir.done("predict panel.spocc gold.csv --id item");
    assert_eq!(decided.stdout, "item,decision\n1,cat\n2,dog\n3,cat\n4,dog\n5,cat\n6,dog\n");
    assert_eq!(decided.stderr, "decided 6 rows with ladder: 0 tied, 0 decided by the class prior alone\n");

    let to_file = dir.done("predict panel.spocc gold.csv --id item -o decided.csv");
    assert_eq!((to_file.stdout.as_str(), dir.read("decided.csv")), ("", decided.stdout.into_bytes()));
    assert_eq!(dir.names(), ["decided.csv", "gold.csv", "panel.spocc"]);
}

#[test]
fn fit_and_inspect_show_the_experts_that_carry_weight() {
    let dir = TestDir::new();
    // No two of the three classifiers are wrong on the same row, so the vote is always correct.
    let row = |t: usize| {
        let label = |is_correct: bool| if is_correct == t.is_multiple_of(2) { "x" } else { "y" };
        let [a, b, c] = [t % 10 != 1, t % 10 != 4, t % 10 != 7].map(label);
        format!("{a},{b},{c},{}\n", label(true))
    };
    dir.write("votes.csv", format!("a,b,c,t\n{}", (0..12).map(row).collect::<String>()));
    let printed = dir.done("fit votes.csv --label t -o votes.spocc").stderr;
    assert!(printed.contains("weights of the experts: votes "), "{printed}");
    let facts = dir.done("inspect votes.spocc").stdout;
    assert!(facts.contains("  parameters   experts: votes "), "{facts}");
    let json: serde_json::Value =
        serde_json::from_str(&dir.done("inspect votes.spocc --json").stdout).expect("JSON");
    let experts: Vec<&str> = json["fitted"]["experts"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|fitted| fitted["expert"].as_str().expect("a word"))
        .collect();
    assert_eq!(experts, ["confusions", "votes", "best-classifier", "regression"]);

    dir.write("empty.csv", "a,b,t\n,,x\n,,y\n,,x\n");
    dir.done("fit empty.csv --label t --classes x,y -o empty.spocc");
    dir.write("new.csv", "a,b\ny,\n,\n");
    assert_eq!(dir.done("predict empty.spocc new.csv").stdout, "decision\ny\nx\n");
}

#[test]
fn standard_input_is_a_table_too() {
    let dir = TestDir::with_model();
    let fitted = dir.run_with_input("fit - --label truth --id item -o again.spocc", GOLD.as_bytes());
    assert_eq!(fitted.code, Some(0), "{}", fitted.stderr);
    assert_eq!(dir.read("again.spocc"), dir.read("panel.spocc"));
    let decided = dir.run_with_input("predict panel.spocc - -o -", b"eve,ann,bob\ndog,cat,cat\n");
    assert_eq!(decided.stdout, "decision\ncat\n");
}

#[test]
fn every_method_and_option_fits_and_decides() {
    let dir = TestDir::new();
    dir.write("gold.csv", GOLD);
    let choices = [
        "--method spocc --exponent inf",
        "--method spocc --exponent 1.5 --missing answer",
        "--method spocc --exponent tuned --tuning resubstitution",
        "--method adaspocc --tuning k-fold --ties random --seed 7",
        "--method selection --slim",
        "--method majority --classes dog,cat",
        "--method weighted-vote --ignore eve",
        "--method exp-vote --tuning leave-one-out",
        "--method naive-bayes --classifiers bob,ann",
        "--method bayes --threads 1",
        "--method stacking --inputs ordinal --tuning resubstitution",
        "--method stacking --strength 1",
        "--method stacking --strength tuned --tuning k-fold",
    ];
    for choice in choices {
        dir.done(&format!("fit gold.csv --label truth --id item {choice} -o m.spocc"));
        let decided = dir.done("predict m.spocc gold.csv --id item");
        assert_eq!(decided.stdout.lines().count(), 7, "{choice}");
    }
}

#[test]
fn a_model_without_evidence_from_which_rows_can_be_read_says_so() {
    let dir = TestDir::with_model();
    let fit = |options: &str| {
        let fitted = dir.done(&format!("fit gold.csv --label truth --id item {options} -o m.spocc"));
        (fitted.stderr, dir.done("inspect m.spocc").stdout)
    };
    for (options, parts) in [
        ("--method bayes", "a table of patterns"),
        ("--method majority --calibrate cross", "conformal scores"),
        ("--method bayes --calibrate cross", "a table of patterns and conformal scores"),
    ] {
        let (fitted, inspected) = fit(&format!("{options} --without-evidence"));
        let warning =
            format!("warning: rows can be read from this model without its evidence: it has {parts} ");
        assert!(fitted.contains(&warning), "{fitted}");
        let line =
            format!("no evidence, but {parts}, from which rows can be read (`fit --slim` drops these)\n");
        assert!(inspected.ends_with(&line), "{inspected}");
    }
    for form in ["--slim", "--without-evidence"] {
        for method in ["ladder", "spocc", "adaspocc", "naive-bayes", "stacking", "dawid-skene"] {
            let (fitted, inspected) = fit(&format!("--method {method} {form}"));
            assert!(!fitted.contains("rows can be read"), "{fitted}");
            let line = "no evidence, and no counts of patterns or scores of rows\n";
            assert!(inspected.ends_with(line), "{inspected}");
        }
    }
}

#[test]
fn a_slim_model_has_no_count_of_a_few_rows_and_says_what_it_decides_differently() {
    let dir = TestDir::with_model();
    let patterns = ["x,x,x", "y,y,y", "x,y,x", "y,x,y"];
    // The last pattern has three rows, the others have nine.
    let rows: Vec<String> = (0..30).map(|row| format!("{},{row}\n", patterns[(row / 9).min(3)])).collect();
    let rows = rows.concat();
    dir.write("rows.csv", format!("a,b,truth,item\n{rows}"));
    let fit = |options: &str| {
        let options = format!("--method bayes --no-evaluate {options} -o m.spocc");
        dir.done(&format!("fit rows.csv --label truth --id item {options}")).stderr
    };
    let fitted = fit("--slim");
    let line = "slim: 3 of 30 rows of the fit are decided differently without counts of fewer than 5 rows\n";
    assert!(fitted.contains(line) && !fitted.contains("below 5"), "{fitted}");
    let inspected = dir.done("inspect m.spocc").stdout;
    assert!(inspected.ends_with("no evidence, and no counts of fewer than 5 rows (slim)\n"), "{inspected}");
    assert!(inspected.contains("3 patterns of predictions"), "{inspected}");
    let facts = dir.done("inspect m.spocc --json").stdout;
    assert!(facts.contains("\"min_count\": 5"), "{facts}");
    assert!(fit("--slim=10").contains("slim: 12 of 30 rows"), "the most frequent class, x, is decided");
    let fitted = fit("--slim=3");
    assert!(
        fitted.contains("slim: 0 of 30 rows") && fitted.contains("warning: with --slim below 5"),
        "{fitted}"
    );
    let fitted = fit("--slim --calibrate cross");
    assert!(fitted.contains("slim: conformal scores are rounded up, so sets can be larger"), "{fitted}");
    let all = "rows.csv --label truth --id item --method bayes -o m.spocc";
    dir.misused(&format!("fit {all} --slim=1"), "expected a whole number from 2");
    dir.misused(&format!("fit {all} --slim --without-evidence"), "cannot be used with");
    dir.write("weighted.csv", format!("a,b,truth,weight\n{rows}"));
    dir.refused(
        "fit weighted.csv --label truth --weight weight --method bayes -o m.spocc --slim",
        "weighted.csv: slim: expected rows that count as whole numbers, found weights",
    );
}

#[test]
fn slim_models_are_smaller_and_decide_alike() {
    let dir = TestDir::with_model();
    dir.done("fit gold.csv --label truth --id item --slim -o slim.spocc");
    assert!(dir.read("slim.spocc").len() < dir.read("panel.spocc").len());
    let decided = |model: &str| dir.done(&format!("predict {model} gold.csv")).stdout;
    assert_eq!(decided("slim.spocc"), decided("panel.spocc"));
}

#[test]
fn columns_are_written_beside_each_decision() {
    let dir = TestDir::new();
    dir.write("gold.csv", "a,b,t\nx,x,x\ny,y,y\n");
    dir.done("fit gold.csv --label t --method majority -o m.spocc");
    dir.write("new.csv", "n,part,a,b\n1,\"p, q\",x,y\n2,r,y,y\n3,s,,null\n");
    let run =
        dir.done("predict m.spocc new.csv --id n,part --columns decision,ties,answered,margin,possibility");
    assert_eq!(
        run.stdout,
        "n,part,decision,ties,answered,margin,possibility:x,possibility:y\n\
         1,\"p, q\",x,x|y,2,0.0,1.0,1.0\n\
         2,r,y,,2,1.0,0.0,1.0\n\
         3,s,x,x|y,0,0.0,1.0,1.0\n"
    );
    assert_eq!(run.stderr, "decided 3 rows with majority: 2 tied, 1 decided by the class prior alone\n");
}

#[test]
fn labels_come_back_as_they_were_written() {
    let dir = TestDir::new();
    let cases = [("1", "0"), ("1.0", "0.0"), ("True", "False"), ("true", "false"), ("a b", "é"), ("01", "1")];
    for (yes, no) in cases {
        dir.write("gold.csv", format!("a,t\n{yes},{yes}\n{no},{no}\n{yes},{yes}\n"));
        dir.done("fit gold.csv --label t -o m.spocc");
        let decided = dir.done("predict m.spocc gold.csv").stdout;
        assert_eq!(decided, format!("decision\n{yes}\n{no}\n{yes}\n"));
    }
    // A model fitted to whole numbers understands a data frame's floats.
    dir.write("gold.csv", "a,t\n1,1\n0,0\n");
    dir.done("fit gold.csv --label t -o m.spocc");
    dir.write("new.csv", "a\n1.0\n0.0\n");
    assert_eq!(dir.done("predict m.spocc new.csv").stdout, "decision\n1\n0\n");
}

#[test]
fn neither_the_order_of_the_rows_nor_the_threads_change_the_model() {
    let dir = TestDir::new();
    let rows: Vec<String> = (0..2000u32)
        .map(|row| {
            let noise = |k: u32| (row * 7 + k * 13 + row * row * (k + 3) % 11) % 17;
            let predict = |k: u32| if noise(k) < 11 { row % 3 } else { noise(k) % 3 };
            format!("{},{},{},{},{}\n", predict(1), predict(2), predict(3), predict(4), row % 3)
        })
        .collect();
    let header = "a,b,c,d,truth\n".to_owned();
    dir.write("there.csv", header.clone() + &rows.concat());
    dir.write("back.csv", header + &rows.iter().rev().cloned().collect::<String>());
    dir.done("fit there.csv --label truth --threads 1 -o one.spocc");
    dir.done("fit there.csv --label truth --threads 2 -o two.spocc");
    dir.done("fit back.csv --label truth --threads 2 -o back.spocc");
    assert_eq!(dir.read("one.spocc"), dir.read("two.spocc"));
    assert_eq!(dir.read("one.spocc"), dir.read("back.spocc"));
    let decided = |threads: u32| dir.done(&format!("predict one.spocc there.csv --threads {threads}")).stdout;
    assert_eq!(decided(1), decided(2));
}

/// glibc selects its exponentials and logarithms by the features of the processor; the variable disables some of them.
#[test]
fn the_processor_does_not_change_a_byte() {
    let dir = TestDir::new();
    dir.done("demo --save .");
    for method in spocc::Method::ALL {
        let [here, elsewhere] = ["", "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2"].map(|lacks| {
            let run = |arguments: &str| {
                let output = dir.command(arguments).env("GLIBC_TUNABLES", lacks).output().expect("a run");
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                output.stdout
            };
            run(&format!("fit gold.csv --label truth --id item --method {method} -o m.spocc"));
            let columns = "margin,possibility";
            (dir.read("m.spocc"), run(&format!("predict m.spocc new.csv --id item --columns {columns}")))
        });
        assert!(here == elsewhere, "{method} depends on the processor");
    }
}

#[test]
fn a_grouped_table_counts_as_its_rows_do() {
    let dir = TestDir::new();
    dir.write("rows.csv", "a,b,t\nx,x,x\nx,x,x\ny,x,y\nx,y,y\n");
    dir.write("grouped.csv", "n,a,b,t\n2,x,x,x\n1,y,x,y\n1,x,y,y\n0,y,y,x\n");
    dir.done("fit rows.csv --label t -o rows.spocc");
    dir.done("fit grouped.csv --label t --count n -o grouped.spocc");
    assert_eq!(dir.read("rows.spocc"), dir.read("grouped.spocc"));
    // Evidence records that its counts are sums of weights.
    dir.done("fit rows.csv --label t --slim -o rows.spocc");
    dir.done("fit grouped.csv --label t --weight n --slim -o weighted.spocc");
    assert_eq!(dir.read("rows.spocc"), dir.read("weighted.spocc"));
}

#[test]
fn golden_decisions_come_through_the_command() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden/case_39.json");
    let text = fs::read_to_string(path).expect("golden files are part of the repository");
    let golden: serde_json::Value = serde_json::from_str(&text).expect("golden files are JSON");
    let numbers = |value: &serde_json::Value| -> Vec<String> {
        value.as_array().expect("a list").iter().map(ToString::to_string).collect()
    };
    let columns = |value: &serde_json::Value| -> Vec<Vec<String>> {
        value.as_array().expect("a list").iter().map(numbers).collect()
    };
    let csv = |columns: &[Vec<String>], names: &[String]| {
        let row =
            |t: usize| columns.iter().map(|column| column[t].as_str()).collect::<Vec<_>>().join(",") + "\n";
        names.join(",") + "\n" + &(0..columns[0].len()).map(row).collect::<String>()
    };
    let mut names: Vec<String> =
        (0..golden["K"].as_u64().expect("a number")).map(|k| format!("c{k}")).collect();
    let dir = TestDir::new();
    dir.write("test.csv", csv(&columns(&golden["preds_test"]), &names));
    let mut labelled = columns(&golden["preds_val"]);
    labelled.push(numbers(&golden["y_val"]));
    names.push("truth".into());
    dir.write("val.csv", csv(&labelled, &names));

    let classes: Vec<String> = (0..golden["l"].as_u64().expect("a number")).map(|i| i.to_string()).collect();
    dir.done(&format!(
        "fit val.csv --label truth --method adaspocc --tuning resubstitution --classes {} -o m.spocc",
        classes.join(",")
    ));
    let decided = dir.done("predict m.spocc test.csv").stdout;
    let reference = &golden["ref"]["adaspocc"];
    assert_eq!(reference["tied_rows"], serde_json::json!([]), "no row of this case may be decided otherwise");
    let decided: Vec<&str> = decided.lines().skip(1).collect();
    assert_eq!(decided, numbers(&reference["pred_test"]));
}

#[test]
fn a_table_without_rows_is_decided_in_no_rows() {
    let dir = TestDir::with_model();
    dir.write("header.csv", "item,ann,bob,eve\n");
    assert_eq!(dir.done("predict panel.spocc header.csv --id item").stdout, "item,decision\n");
}

#[test]
fn unknown_labels_count_as_missing_or_are_refused() {
    let dir = TestDir::with_model();
    dir.write("new.csv", "ann,bob,eve\ncat,cat,dog\ncow,dog,cat\ncow,cow,cow\n");
    let run = dir.done("predict panel.spocc new.csv");
    assert_eq!(run.stdout, "decision\ncat\ndog\ncat\n");
    assert_eq!(
        run.stderr,
        "decided 3 rows with ladder: 0 tied, 1 decided by the class prior alone\n\
         note: `ann` predicts `cow` in 2 rows; the model does not know this label and counts it as missing\n\
         note: `bob` predicts `cow` in 1 row; the model does not know this label and counts it as missing\n\
         note: `eve` predicts `cow` in 1 row; the model does not know this label and counts it as missing\n"
    );
    dir.refused(
        "predict panel.spocc new.csv --strict",
        "new.csv: line 3: expected `ann` to predict a label of the model, found `cow`",
    );
}

#[test]
fn words_for_missing_values_can_be_set() {
    let dir = TestDir::new();
    dir.write("gold.csv", "a,b,t\nx,x,x\nNA,y,y\ny,?,y\nx,x,NA\n");
    let run = dir.done("fit gold.csv --label t --na NA,? -o m.spocc");
    assert!(run.stderr.contains("2 classes (x, y)"), "{}", run.stderr);
    assert!(run.stderr.contains("to 3 labelled and 1 unlabelled row"), "{}", run.stderr);
    let run = dir.done("predict m.spocc gold.csv --na NA,? --columns answered");
    assert_eq!(run.stdout, "decision,answered\nx,2\ny,1\ny,1\nx,2\n");
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
}

#[test]
fn columns_that_are_not_classifiers_are_warned_about_with_the_option_to_exclude_them() {
    let dir = TestDir::new();
    let row = |row: usize| {
        let truth = ["no", "yes"][row % 2];
        format!("m{row},{},{truth},{truth},{}\n", ["dev", "train"][row % 3 / 2], ["no", "yes"][row % 4 / 2])
    };
    dir.write("gold.csv", format!("item,subset,copy,truth,ann\n{}", (0..40).map(row).collect::<String>()));
    let seen = "warning: column `item` has a different label in nearly every row (40 labels in 40 rows)\n\
                warning: column `subset` shares no label with the truth\n\
                warning: column `copy` equals the truth in all of its 40 rows\n";
    let fix = "warning: if they are not classifiers, use --id 'item' --ignore 'subset,copy'\n";
    for command in ["fit gold.csv -o m.spocc", "audit gold.csv", "compare gold.csv --no-curve"] {
        let run = dir.done(&format!("{command} --label truth"));
        assert!(run.stderr.contains(&[seen, fix].concat()), "{command}: {}", run.stderr);
        let run = dir.done(&format!("{command} --label truth --id item --ignore subset,copy"));
        assert!(!run.stderr.contains("warning"), "{command}: {}", run.stderr);
    }
    // Nothing is dropped, and what is no class is never decided.
    let fitted = dir.done("fit gold.csv --label truth -o m.spocc").stderr;
    assert!(fitted.contains("4 classifiers, 2 classes (no, yes)"), "{fitted}");
    dir.done("tally gold.csv --label truth -o all.tally");
    let of_tally = dir.done("fit all.tally -o m2.spocc").stderr;
    let fix = "warning: if they are not classifiers, use --ignore 'item,subset,copy'\n";
    assert!(of_tally.contains(&[seen, fix].concat()), "{of_tally}");
    assert_eq!(dir.read("m.spocc"), dir.read("m2.spocc"));
}

#[test]
fn names_of_odd_columns_are_quoted_for_the_shell() {
    let dir = TestDir::new();
    let rows = "p,no,no,q\np,yes,yes,q\n".repeat(20);
    dir.write("gold.csv", format!("\"a,b\",ann,truth,it's\n{rows}"));
    let run = dir.done("fit gold.csv --label truth -o m.spocc");
    let fix = r#"warning: if they are not classifiers, use --ignore '"a,b",ann,it'\''s'"#;
    assert!(run.stderr.contains(fix), "{}", run.stderr);
}

#[test]
fn an_id_column_that_exceeds_memory_is_named() {
    let dir = TestDir::new();
    let rows: Vec<String> = (0..3000).map(|row| format!("m{row},{0},{0}\n", row % 2)).collect();
    dir.write("gold.csv", format!("item,ann,truth\n{}", rows.concat()));
    dir.refused(
        "fit gold.csv --label truth --memory 64M -o m.spocc",
        "gold.csv: expected predictions in column `item`, in memory, found a different label in every row \
         (if it identifies the rows, use --id 'item')",
    );
}

#[test]
fn a_label_that_is_not_a_class_is_never_decided() {
    let dir = TestDir::new();
    let row = |row: usize| {
        let truth = ["cat", "dog"][row % 2];
        let person = if row.is_multiple_of(3) { "na" } else { truth };
        format!("{row},{truth},{person},{person},{truth}\n")
    };
    dir.write("gold.csv", format!("item,model,person,other,truth\n{}", (0..40).map(row).collect::<String>()));
    for method in ["majority", "ladder", "naive-bayes", "adaspocc"] {
        let fitted = dir.done(&format!("fit gold.csv --label truth --id item --method {method} -o m.spocc"));
        assert!(fitted.stderr.contains("2 classes (cat, dog)"), "{}", fitted.stderr);
        let note = "note: one label is predicted but never true, so never decided: `na` (--classes sets the list of classes)\n";
        assert!(fitted.stderr.contains(note), "{}", fitted.stderr);
        let decided = dir.done("predict m.spocc gold.csv --id item").stdout;
        assert!(!decided.contains("na"), "{method}: {decided}");
    }
}

#[test]
fn labels_that_look_like_mistakes_are_noted() {
    let dir = TestDir::new();
    dir.write("gold.csv", "ann,bob,truth\nyes,Yes,yes\nno,NA,no\nno,no,no\n");
    let run = dir.done("fit gold.csv --label truth -o m.spocc");
    let notes = "note: `NA` counts as a label; if it means a missing value, use --na 'null,NA'\n\
                 note: `Yes` and `yes` count as two labels\n";
    assert!(run.stderr.contains(notes), "{}", run.stderr);
    let run = dir.done("fit gold.csv --label truth --na null,NA,Yes -o m.spocc");
    assert!(
        !run.stderr.contains("counts as a label") && !run.stderr.contains("two labels"),
        "{}",
        run.stderr
    );
}

#[test]
fn rows_with_the_same_id_are_warned_about() {
    let dir = TestDir::new();
    dir.write("gold.csv", GOLD);
    let rows = GOLD.split_once('\n').expect("a header").1;
    dir.write("twice.csv", format!("{GOLD}{rows}"));
    let once = dir.done("fit gold.csv --label truth --id item -o m.spocc").stderr;
    assert!(!once.contains("warning"), "{once}");
    let expected = format!(
        "warning: {} rows repeat the id of another row; all of them count, and a held-out accuracy is too high if they \
         are duplicates\n",
        rows.lines().count()
    );
    for command in ["fit twice.csv -o m.spocc", "compare twice.csv --no-curve"] {
        let printed = dir.done(&format!("{command} --label truth --id item")).stderr;
        assert!(printed.contains(&expected), "{printed}");
    }
    let without_ids = dir.done("fit twice.csv --label truth --ignore item -o m.spocc").stderr;
    assert!(!without_ids.contains("repeat the id"), "{without_ids}");
}
