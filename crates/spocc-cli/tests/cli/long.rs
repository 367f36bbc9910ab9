//! Long tables, and true labels in another table.

use std::{collections::HashMap, fs, path::Path};

use crate::test_dir::{GOLD, TestDir, without_sizes};

const LONG: &str = "--long item,worker,answer";

/// The small table with a row per prediction, and its true labels in another table.
fn dir() -> TestDir {
    let dir = TestDir::with_model();
    let (mut answers, mut truths) = (vec!["item,worker,answer".to_owned()], vec!["item,truth".to_owned()]);
    for row in GOLD.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>()) {
        let predicted =
            ["ann", "bob", "eve"].into_iter().zip(&row[1..4]).filter(|(_, answer)| !answer.is_empty());
        answers.extend(predicted.map(|(worker, answer)| format!("{},{worker},{answer}", row[0])));
        truths.push(format!("{},{}", row[0], row[4]));
    }
    let text = |lines: Vec<String>| lines.join("\n") + "\n";
    dir.write("long.csv", text(answers));
    dir.write("truth.csv", text(truths));
    dir
}

fn lines(dir: &TestDir, name: &str) -> Vec<String> {
    String::from_utf8(dir.read(name)).expect("text").lines().map(str::to_owned).collect()
}

#[test]
fn a_long_table_gives_the_model_of_the_wide_one() {
    let dir = dir();
    let expected = dir.read("panel.spocc");
    let fit = |arguments: &str| {
        dir.done(&format!("fit {arguments} {LONG} --label truth -o long.spocc"));
        dir.read("long.spocc")
    };
    let fitted = dir.done(&format!("fit long.csv {LONG} --gold truth.csv --label truth -o long.spocc"));
    assert_eq!(
        without_sizes(&fitted.stderr),
        "fitted ladder to 5 labelled and 1 unlabelled row: 3 classifiers, 2 classes (cat, dog)\n\
         held-out accuracy #, by leave-one-out cross-validation (only 5 rows)\n\
         weights of the experts: votes 36 %, confusions 25 %, unlabelled rows 21 %, best classifier (ann) 10 %, regression 8 %\n\
         wrote long.spocc # bytes)\n"
    );
    assert_eq!(dir.read("long.spocc"), expected);

    let all = lines(&dir, "long.csv");
    let back: Vec<&str> = all[..1].iter().chain(all[1..].iter().rev()).map(String::as_str).collect();
    dir.write("back.csv", back.join("\n"));
    assert_eq!(fit("back.csv --gold truth.csv"), expected, "the order of the answers does not matter");
    dir.write("one.csv", all[..9].join("\n"));
    dir.write("two.csv", [&all[..1], &all[9..]].concat().join("\r\n"));
    assert_eq!(fit("one.csv two.csv --gold truth.csv"), expected, "nor in how many files they are");

    // True labels beside the predictions: one cell of an item is enough.
    let beside: Vec<String> = all
        .iter()
        .enumerate()
        .map(|(at, line)| match line.split_once(",ann,") {
            _ if at == 0 => format!("{line},truth,note"),
            Some((item @ ("1" | "3" | "5"), _)) => format!("{line},cat,{item}"),
            Some((item @ ("2" | "4"), _)) => format!("{line},dog,{item}"),
            _ => format!("{line},,x"),
        })
        .collect();
    dir.write("beside.csv", beside.join("\n"));
    assert_eq!(fit("beside.csv"), expected);
}

#[test]
fn a_wide_table_finds_its_truths_elsewhere_by_id() {
    let dir = dir();
    let cut = |line: &str| line.rsplit_once(',').expect("five cells").0.to_owned() + "\n";
    dir.write("answers.csv", GOLD.lines().map(cut).collect::<String>());
    dir.write(
        "truth.csv",
        "truth;item;note\ncat;1;x\ndog;4;\ncat;3;\ndog;2;\ncat;5;\ncow;99;\ncat;1;again\n",
    );
    let run = dir.done("fit answers.csv --id item --gold truth.csv --label truth -o gold.spocc");
    assert!(run.stderr.contains("to 5 labelled and 1 unlabelled row"), "{}", run.stderr);
    assert_eq!(dir.read("gold.spocc"), dir.read("panel.spocc"), "cow is the truth of no row");

    dir.write("parts.csv", "page,line,a,b\n1,11,x,x\n11,1,y,y\n2,1,x,y\n2,2,y,y\n");
    dir.write("truths.csv", "line,t,page\n11,x,1\n1,y,11\n1,x,2\n");
    dir.write("joined.csv", "page,line,a,b,t\n1,11,x,x,x\n11,1,y,y,y\n2,1,x,y,x\n2,2,y,y,\n");
    let run = dir.done("fit parts.csv --id page,line --gold truths.csv --label t -o parts.spocc");
    let fitted = "fitted ladder to 3 labelled and 1 unlabelled row: 2 classifiers";
    assert!(run.stderr.contains(fitted), "{}", run.stderr);
    dir.done("fit joined.csv --id page,line --label t -o joined.spocc");
    assert_eq!(dir.read("parts.spocc"), dir.read("joined.spocc"));
    dir.misused(
        "fit parts.csv --gold truths.csv --label t -o m.spocc",
        "--gold needs --id COL, the columns to join the two tables by",
    );
    dir.misused("fit parts.csv --id page --gold truths.csv -o m.spocc", "--label <COL>");
    dir.refused(
        "fit parts.csv --id page,line --gold truths.csv --label T2 -o m.spocc",
        "truths.csv: line 1: expected a column `T2` (did you mean `t`?), found `line`, `t`, `page`",
    );
    dir.refused(
        "fit parts.csv --id page,a --gold truths.csv --label t -o m.spocc",
        "truths.csv: line 1: expected a column `a`, found `line`, `t`, `page`",
    );
}

#[test]
fn truths_that_contradict_each_other_are_refused() {
    let dir = dir();
    let gold = format!("fit long.csv {LONG} --gold two.csv --label truth -o m.spocc");
    dir.write("two.csv", "item,truth\n1,cat\n2,dog\n1,\n1,dog\n");
    dir.refused(
        &gold,
        "two.csv: line 5: expected one true label for a row, found `cat` before and `dog` here",
    );
    dir.write("beside.csv", "item,worker,answer,truth\n1,ann,cat,cat\n2,ann,dog,dog\n1,eve,dog,dog\n");
    dir.refused(
        &format!("fit beside.csv {LONG} --label truth -o m.spocc"),
        "beside.csv: line 4: expected one true label for an item, found `cat` before and `dog` here",
    );
    dir.write("two.csv", "item,truth\n1,\n");
    dir.refused(&gold, "two.csv: expected a true label in column `truth` of some row, found none");
    dir.refused(
        &format!("fit long.csv {LONG} --gold panel.spocc --label truth -o m.spocc"),
        "panel.spocc: expected a table, found a model or a tally of spocc",
    );
    dir.refused(
        &format!("fit long.csv {LONG} --gold absent.csv --label truth -o m.spocc"),
        "absent.csv: expected a file to read, found no such file",
    );
    dir.refused(
        &format!("fit long.csv {LONG} --label truth -o m.spocc"),
        "long.csv: line 1: expected a column `truth`, found `item`, `worker`, `answer`",
    );
}

#[test]
fn true_labels_without_a_row_are_noted() {
    let dir = dir();
    let mut truths = lines(&dir, "truth.csv");
    truths.extend(["98,cat".to_owned(), "99,dog".to_owned()]);
    dir.write("more.csv", truths.join("\n"));
    let run = dir.done(&format!("fit long.csv {LONG} --gold more.csv --label truth -o m.spocc"));
    assert!(
        run.stderr.contains("note: 2 true labels of --gold have no row in the table\n"),
        "{}",
        run.stderr
    );
    assert_eq!(dir.read("m.spocc"), dir.read("panel.spocc"));
}

#[test]
fn equal_repeated_predictions_are_accepted_and_different_ones_are_a_choice() {
    let dir = dir();
    let long = String::from_utf8(dir.read("long.csv")).expect("text");
    let fit =
        |options: &str| format!("fit repeats.csv {LONG} --gold truth.csv --label truth {options} -o m.spocc");
    dir.write("repeats.csv", format!("{long}1,ann,cat\n2,eve,cat\n2,eve,\n"));
    let run = dir.done(&fit(""));
    assert!(run.stderr.contains("note: ignored 2 repeated predictions\n"), "{}", run.stderr);
    assert_eq!(dir.read("m.spocc"), dir.read("panel.spocc"));

    dir.write("repeats.csv", format!("{long}\n1,ann,cat\n3,bob,cat\n"));
    let message = "repeats.csv: line 21: expected one prediction of `bob` for `3`, \
                   found `dog` before and `cat` here (--repeats first or last uses one of them)";
    dir.refused(&fit(""), message);
    dir.refused(&fit("--repeats refuse"), message);
    dir.refused(&format!("predict panel.spocc repeats.csv {LONG}"), message);
    dir.refused(&format!("explain panel.spocc repeats.csv {LONG} --row 1"), message);
    dir.done(&fit("--repeats first"));
    assert_eq!(dir.read("m.spocc"), dir.read("panel.spocc"));
    dir.done(&fit("--repeats last"));
    dir.write("corrected.csv", GOLD.replace("3,cat,dog,dog,cat", "3,cat,cat,dog,cat"));
    dir.done("fit corrected.csv --label truth --id item -o corrected.spocc");
    assert_eq!(dir.read("m.spocc"), dir.read("corrected.spocc"));
    dir.misused("fit gold.csv --label truth --repeats first -o m.spocc", "--long <item,classifier,label>");
    // Predictions of ignored classifiers may repeat.
    dir.done(&fit("--ignore bob"));
}

#[test]
fn predictions_without_item_or_classifier_are_refused() {
    let dir = dir();
    let long = String::from_utf8(dir.read("long.csv")).expect("text");
    for (row, column) in [(",ann,dog", "item"), ("7,,dog", "worker"), ("7,null,dog", "worker")] {
        dir.write("broken.csv", format!("{long}{row}\n"));
        let message = format!("broken.csv: line 19: expected a name in column `{column}`, found none");
        dir.refused(&format!("fit broken.csv {LONG} --gold truth.csv --label truth -o m.spocc"), &message);
        dir.refused(&format!("predict panel.spocc broken.csv {LONG}"), &message);
    }
    dir.refused(
        "predict panel.spocc long.csv --long item,wrker,answer",
        "long.csv: line 1: expected a column `wrker` (did you mean `worker`?), found `item`, `worker`, `answer`",
    );
    dir.misused(
        "predict panel.spocc long.csv --long item,worker",
        "expected three columns: item,classifier,label",
    );
    dir.misused("predict panel.spocc long.csv --long item,worker,item", "expected three different columns");
    let fit = format!("fit long.csv {LONG} --label truth -o m.spocc");
    for (option, with) in
        [("--id item", "--id <COL>"), ("--weight w", "--weight <COL>"), ("--count n", "--count <COL>")]
    {
        dir.misused(
            &format!("{fit} {option}"),
            &format!("'--long <item,classifier,label>' cannot be used with '{with}'"),
        );
    }
}

#[test]
fn long_tables_are_decided_and_explained_by_item() {
    let dir = dir();
    let wide = dir.done("predict panel.spocc gold.csv --id item --columns margin,answered").stdout;
    let long = dir.done(&format!("predict panel.spocc long.csv {LONG} --columns margin,answered")).stdout;
    assert_eq!(wide, long);
    let wide = dir.done("explain panel.spocc gold.csv --id item --row 3 --json").stdout;
    let long = dir.done(&format!("explain panel.spocc long.csv {LONG} --row 3 --json")).stdout;
    assert_eq!(wide, long);
    let message = "long.csv: expected item 7, found 6 items";
    dir.refused(&format!("explain panel.spocc long.csv {LONG} --row 7"), message);

    // Items in order of appearance; unknown classifiers are ignored, absent ones have missing predictions.
    dir.write("some.csv", "item,worker,answer\nz,zoe,cat\na,eve,dog\nz,ann,dog\nb,bob,\nz,eve,cat\n");
    let some = dir.done(&format!("predict panel.spocc some.csv {LONG} --columns answered"));
    assert_eq!(some.stdout, "item,decision,answered\nz,dog,2\na,cat,1\nb,cat,0\n");
    dir.write("none.csv", "item,worker,answer\nz,zoe,cat\na,Ann,dog\n");
    let message =
        "none.csv: expected predictions of the model's 3 classifiers, found predictions of `zoe`, `Ann` only";
    dir.refused(&format!("predict panel.spocc none.csv {LONG}"), message);
    dir.refused(&format!("explain panel.spocc none.csv {LONG} --row 1"), message);
}

#[test]
fn classifiers_of_a_long_table_are_chosen_by_name_too() {
    let dir = dir();
    dir.done("fit gold.csv --label truth --id item --ignore eve -o two.spocc");
    for choice in ["--ignore e*", "--classifiers ann,bob", "--classifiers [ab]*"] {
        dir.done(&format!("fit long.csv {LONG} --gold truth.csv --label truth {choice} -o long.spocc"));
        assert_eq!(dir.read("long.spocc"), dir.read("two.spocc"), "{choice}");
    }
    dir.refused(
        &format!("fit long.csv {LONG} --gold truth.csv --label truth --classifiers zoe -o m.spocc"),
        "long.csv: expected a classifier `zoe`, found `ann`, `bob`, `eve`",
    );
}

#[test]
fn a_truth_is_never_a_classifier() {
    let dir = dir();
    let run = dir.done("fit gold.csv --id item --gold truth.csv --label truth -o m.spocc");
    assert!(run.stderr.contains(": 3 classifiers"), "{}", run.stderr);
    assert_eq!(dir.read("m.spocc"), dir.read("panel.spocc"));
}

#[test]
fn a_long_table_without_rows_is_decided_in_no_rows() {
    let dir = dir();
    dir.write("header.csv", "item,worker,answer\n");
    assert_eq!(dir.done(&format!("predict panel.spocc header.csv {LONG}")).stdout, "item,decision\n");
    dir.refused(
        &format!("fit header.csv {LONG} --gold truth.csv --label truth -o m.spocc"),
        "header.csv: expected a true label in column `truth` of some row, found no rows below the header",
    );
}

#[test]
fn ids_have_no_use_in_a_long_table() {
    let dir = dir();
    for command in ["predict panel.spocc", "explain --row 1 panel.spocc"] {
        dir.misused(&format!("{command} long.csv {LONG} --id nowhere"), "cannot be used with");
    }
}

#[test]
fn a_gold_table_that_matches_no_row_is_refused() {
    let dir = dir();
    dir.write("other.csv", "item,truth\n1.0,cat\n2.0,dog\n");
    dir.refused(
        &format!("fit long.csv {LONG} --gold other.csv --label truth -o m.spocc"),
        "other.csv: expected a true label for some of the 6 rows of long.csv, found no equal value in column `item`",
    );
}

/// The accuracy over items with a true label.
fn accuracy(truths: &str, decided: &str) -> f64 {
    let pairs = |text: &str| -> HashMap<String, String> {
        text.lines()
            .skip(1)
            .filter_map(|line| line.split_once(','))
            .map(|(item, label)| (item.into(), label.into()))
            .collect()
    };
    let (truths, decided) = (pairs(truths), pairs(decided));
    assert!(!truths.is_empty());
    let n_correct = truths.iter().filter(|(item, truth)| decided.get(*item) == Some(truth)).count();
    n_correct as f64 / truths.len() as f64
}

#[test]
fn real_crowds_are_decided_accurately() {
    let Some(data) = std::env::var_os("SPOCC_DATA") else {
        eprintln!("skipped: set SPOCC_DATA to the folder that holds crowd/rte.label.csv and the like");
        return;
    };
    for (set, least) in [("rte", 0.85), ("dog", 0.75), ("zencrowd", 0.75)] {
        let dir = TestDir::new();
        let file = |name: &str| Path::new(&data).join("crowd").join(format!("{set}.{name}.csv"));
        let text = |name: &str| fs::read_to_string(file(name)).expect("a crowd's answers or truths");
        dir.write("label.csv", text("label"));
        dir.write("truth.csv", text("truth"));
        let long = "--long item,worker,label --repeats first";
        dir.done(&format!(
            "fit label.csv {long} --gold truth.csv --label truth --method naive-bayes -o m.spocc"
        ));
        let decided = dir.done(&format!("predict m.spocc label.csv {long}")).stdout;
        let reached = accuracy(&text("truth"), &decided);
        assert!(reached > least && reached < 1.0, "{set}: {reached}");
        eprintln!("{set}: {reached:.3}");
    }
}
