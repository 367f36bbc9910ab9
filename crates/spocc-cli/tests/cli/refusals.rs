//! Input that is refused: one line that says where, what was expected and what was found.

use std::fs;

use crate::desk::Desk;

#[test]
fn tables_that_are_none_are_refused() {
    let desk = Desk::with_model();
    let fit = "--label truth -o m.spocc";
    desk.refused(&format!("fit absent.csv {fit}"), "absent.csv: expected a file to read, found no such file");
    desk.write("empty.csv", "");
    desk.refused(
        &format!("fit empty.csv {fit}"),
        "empty.csv: expected a table with a header line, found an empty file",
    );
    desk.write("blank.csv", "\n\n");
    desk.refused(
        &format!("fit blank.csv {fit}"),
        "blank.csv: expected a table with a header line, found an empty file",
    );
    desk.refused(
        &format!("fit - {fit}"),
        "standard input: expected a table with a header line, found an empty file",
    );
    fs::create_dir(desk.path("folder")).expect("a fresh name");
    desk.refused(
        &format!("fit folder {fit}"),
        "folder: expected a directory of data files, found none in it",
    );
    desk.refused(
        &format!("fit panel.spocc {fit}"),
        "panel.spocc: expected a table or a tally, found a model",
    );
    desk.refused(
        "predict panel.spocc panel.spocc",
        "panel.spocc: expected a table, found a model or a tally of spocc",
    );
    assert!(!desk.names().contains(&"m.spocc".to_owned()));
}

#[test]
fn headers_that_do_not_help_are_refused() {
    let desk = Desk::with_model();
    desk.refused(
        "fit gold.csv --label Turth -o m.spocc",
        "gold.csv: line 1: expected a column `Turth`, \
         found `item`, `ann`, `bob`, `eve`, `truth` (did you mean `truth`?)",
    );
    desk.refused(
        "predict panel.spocc gold.csv --id number",
        "gold.csv: line 1: expected a column `number`, found `item`, `ann`, `bob`, `eve`, `truth`",
    );
    desk.write("twice.csv", "ann,bob,ann,truth\n");
    desk.refused(
        "fit twice.csv --label truth -o m.spocc",
        "twice.csv: line 1: expected distinct column names, found `ann` twice",
    );
    desk.write("bytes.csv", b"ann,\xff\xfe,truth\n");
    desk.refused(
        "fit bytes.csv --label truth -o m.spocc",
        "bytes.csv: line 1: expected column names in UTF-8, found `\\xff\\xfe`",
    );
    desk.write("alone.csv", "item,truth\n1,cat\n");
    desk.refused(
        "fit alone.csv --label truth --id item -o m.spocc",
        "alone.csv: line 1: expected at least one column that is a classifier, found only `item`, `truth`",
    );
}

#[test]
fn rows_that_do_not_fit_are_refused_with_their_line() {
    let desk = Desk::new();
    desk.write("ragged.csv", "ann,bob,truth\ncat,cat,cat\n\ndog,dog\n");
    desk.refused("fit ragged.csv --label truth -o m.spocc", "ragged.csv: line 4: expected 3 cells, found 2");
    desk.write("ragged.csv", "ann,truth\r\n\"c\r\nat\",cat\r\ndog,dog,dog");
    desk.refused("fit ragged.csv --label truth -o m.spocc", "ragged.csv: line 4: expected 2 cells, found 3");
    desk.write("one.csv", "ann\ncat\n\ndog\n");
    desk.write("gold.csv", "ann,truth\ncat,cat\ndog,dog\n");
    desk.done("fit gold.csv --label truth -o one.spocc");
    desk.refused(
        "predict one.spocc one.csv",
        "one.csv: line 3: expected a cell, or \"\" for a missing one, found an empty line",
    );
    desk.write("one.csv", "ann\ncat\n\"\"\ndog\n\n");
    assert_eq!(desk.done("predict one.spocc one.csv").stdout.lines().count(), 4);
    desk.write("half.csv", "ann,bob,truth\ncat,cat,cat\ndog,dog,\"dog\ncat,cat,cat\n");
    desk.refused(
        "fit half.csv --label truth -o m.spocc",
        "half.csv: line 3: expected a closing quote, found the end of the table",
    );
    desk.write("bytes.csv", b"ann,bob,truth\ncat,cat,cat\ncat,c\xe9,cat\n");
    desk.refused(
        "fit bytes.csv --label truth -o m.spocc",
        "bytes.csv: line 3: expected UTF-8 text in column `bob`, found `c\\xe9`",
    );
    desk.write("classes.csv", "ann,truth\n,\ncat,cat\ncat,cow\n");
    desk.refused(
        "fit classes.csv --label truth --classes cat,dog -o m.spocc",
        "classes.csv: line 4: expected a truth among the classes cat, dog, found `cow`",
    );
    for bad in ["-1", "x", "NaN", "inf", ""] {
        desk.write("weights.csv", format!("w,ann,truth\n1,cat,cat\n{bad},cat,cat\n"));
        desk.refused(
            "fit weights.csv --label truth --weight w -o m.spocc",
            &format!("weights.csv: line 3: expected a weight from 0 in column `w`, found `{bad}`"),
        );
    }
    for bad in ["-1", "x", "0.5"] {
        desk.write("counts.csv", format!("n,ann,truth\n{bad},cat,cat\n"));
        desk.refused(
            "fit counts.csv --label truth --count n -o m.spocc",
            &format!("counts.csv: line 2: expected a whole count from 0 in column `n`, found `{bad}`"),
        );
    }
}

#[test]
fn nothing_to_learn_from_is_refused() {
    let desk = Desk::new();
    desk.write("header.csv", "ann,bob,truth\n");
    desk.refused(
        "fit header.csv --label truth -o m.spocc",
        "header.csv: expected a truth in column `truth` of some row, found no rows under the header",
    );
    desk.write("unlabelled.csv", "ann,bob,truth\ncat,cat,\ndog,dog,null\n");
    desk.refused(
        "fit unlabelled.csv --label truth -o m.spocc",
        "unlabelled.csv: expected a truth in column `truth` of some row, found none in 2 rows",
    );
}

#[test]
fn models_that_are_none_are_refused() {
    let desk = Desk::with_model();
    desk.refused(
        "predict absent.spocc gold.csv",
        "absent.spocc: expected a model written by `spocc fit`, found no such file",
    );
    desk.refused(
        "predict gold.csv panel.spocc",
        "gold.csv: expected a model written by `spocc fit`, found a table (the model comes first)",
    );
    let mut model = desk.read("panel.spocc");
    let half = model.len() / 2;
    desk.write("half.spocc", &model[..half]);
    let run = desk.run("predict half.spocc gold.csv");
    assert!(run.stderr.starts_with("spocc: half.spocc: file length: expected "), "{}", run.stderr);
    assert_eq!((run.stderr.lines().count(), run.code), (1, Some(1)));
    model[half] ^= 1;
    desk.write("flipped.spocc", &model);
    let run = desk.run("predict flipped.spocc gold.csv");
    assert!(run.stderr.starts_with("spocc: flipped.spocc: checksum: expected "), "{}", run.stderr);
    assert_eq!((run.stderr.lines().count(), run.code), (1, Some(1)));
}

#[test]
fn columns_the_model_needs_are_asked_for_by_name() {
    let desk = Desk::with_model();
    desk.write("new.csv", "item,ann,Bob\n1,cat,cat\n");
    desk.refused(
        "predict panel.spocc new.csv",
        "new.csv: line 1: expected a column for each of the model's 3 classifiers, \
         found no `bob`, `eve` (did you mean `Bob`?)",
    );
    desk.write("other.csv", "x,y\n1,2\n");
    desk.refused(
        "predict panel.spocc other.csv",
        "other.csv: line 1: expected a column for each of the model's 3 classifiers, \
         found none of `ann`, `bob`, `eve`",
    );
}
