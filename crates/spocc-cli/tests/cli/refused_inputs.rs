//! Valid tables and models that do not fit the command: missing columns, unknown labels, too little memory.

use crate::test_dir::TestDir;

#[test]
fn tables_without_labelled_rows_are_refused() {
    let dir = TestDir::new();
    dir.write("header.csv", "ann,bob,truth\n");
    dir.refused(
        "fit header.csv --label truth -o m.spocc",
        "header.csv: expected a true label in column `truth` of some row, found no rows below the header",
    );
    dir.write("unlabelled.csv", "ann,bob,truth\ncat,cat,\ndog,dog,null\n");
    dir.refused(
        "fit unlabelled.csv --label truth -o m.spocc",
        "unlabelled.csv: expected a true label in column `truth` of some row, found none in 2 rows \
         (named by --method, ladder, dawid-skene, one-coin and majority need no labelled rows)",
    );
}

#[test]
fn files_that_are_not_models_are_refused() {
    let dir = TestDir::with_model();
    dir.refused(
        "predict absent.spocc gold.csv",
        "absent.spocc: expected a model written by `spocc fit`, found no such file",
    );
    dir.refused(
        "predict gold.csv panel.spocc",
        "gold.csv: expected a model written by `spocc fit`, found a table (the first argument is the model)",
    );
    let mut model = dir.read("panel.spocc");
    let half = model.len() / 2;
    dir.write("half.spocc", &model[..half]);
    let run = dir.run("predict half.spocc gold.csv");
    assert!(run.stderr.starts_with("spocc: half.spocc: file length: expected "), "{}", run.stderr);
    assert_eq!((run.stderr.lines().count(), run.code), (1, Some(1)));
    model[half] ^= 1;
    dir.write("flipped.spocc", &model);
    let run = dir.run("predict flipped.spocc gold.csv");
    assert!(run.stderr.starts_with("spocc: flipped.spocc: checksum: expected "), "{}", run.stderr);
    assert_eq!((run.stderr.lines().count(), run.code), (1, Some(1)));
}

#[test]
fn missing_columns_of_classifiers_are_named() {
    let dir = TestDir::with_model();
    let refused = |table: &str, message: &str| {
        dir.write("new.csv", table);
        let message =
            format!("new.csv: line 1: expected a column for each of the model's 3 classifiers{message}");
        dir.refused("predict panel.spocc new.csv --id item", &message);
        dir.refused("explain panel.spocc new.csv --id item --row 1", &message);
    };
    refused(
        "item,ann,eve\n1,cat,dog\n",
        " (--allow-missing counts them as missing), found no column for `bob` among `item`, `ann`, `eve`",
    );
    refused(
        "item,ann,Eve\n1,cat,cat\n",
        " (did you mean `Eve`? --allow-missing counts them as missing), \
         found no column for `bob`, `eve` among `item`, `ann`, `Eve`",
    );
    refused("item,y\n1,2\n", ", found no column for `ann`, `bob`, `eve` among `item`, `y`");
    dir.refused(
        "predict panel.spocc new.csv --id item --allow-missing",
        "new.csv: line 1: expected a column for each of the model's 3 classifiers, \
         found no column for `ann`, `bob`, `eve` among `item`, `y`",
    );
}

#[test]
fn predictions_are_made_without_a_classifier_if_that_is_allowed() {
    let dir = TestDir::with_model();
    dir.write("new.csv", "item,eve,ann\n1,dog,cat\n2,cat,dog\n");
    dir.write("empty.csv", "item,eve,ann,bob\n1,dog,cat,\n2,cat,dog,\n");
    let columns = "--id item --columns possibility,answered";
    let printed = "note: no column for 1 of 3 classifiers, whose predictions count as missing: `bob`\n";
    let without = dir.done(&format!("predict panel.spocc new.csv {columns} --allow-missing"));
    let empty = dir.done(&format!("predict panel.spocc empty.csv {columns} --allow-missing"));
    assert_eq!(without.stdout, empty.stdout);
    assert_eq!(without.stderr, format!("{}{printed}", empty.stderr));
    let without = dir.done("explain panel.spocc new.csv --row 2 --allow-missing");
    assert_eq!((without.stdout.contains("2 of 3 answered"), without.stderr.as_str()), (true, printed));
    assert_eq!(without.stdout, dir.done("explain panel.spocc empty.csv --row 2").stdout);
    dir.misused("predict panel.spocc new.csv --long a,b,c --allow-missing", "cannot be used with");
    // The sets were calibrated with all classifiers.
    dir.done("fit gold.csv --label truth --id item --calibrate cross -o cross.spocc");
    let sets = dir.done("predict cross.spocc new.csv --coverage 0.8 --allow-missing").stderr;
    assert!(
        sets.contains("note: the sets were calibrated with all classifiers, so coverage may be lower here\n"),
        "{sets}"
    );
}

#[test]
fn an_error_names_its_file_among_several() {
    let dir = TestDir::with_model();
    let header = "n,ann,bob,eve,truth\n";
    dir.write("one.csv", format!("{header}1,cat,cat,dog,cat\n2,dog,dog,cat,dog\n"));
    let refused = |options: &str, rows: &[u8], message: &str| {
        dir.write("two.csv", [header.as_bytes(), b"1,cat,cat,dog,cat\n", rows].concat());
        let arguments = format!("fit one.csv two.csv --label truth {options} -o m.spocc");
        dir.refused(&arguments, &format!("two.csv: line {message}"));
    };
    refused("", b"1,cat,cat,dog\n", "3: expected 5 cells, found 4");
    refused("", b"1,cat,\xe4,dog,cat\n", "3: expected UTF-8 text in column `bob`, found `\\xe4`");
    let count = "3: expected a whole count from 0 in column `n`, found `-1`";
    refused("--count n", b"-1,cat,cat,dog,cat\n", count);
    refused("--weight n", b"\nx,cat,cat,dog,cat\n", "4: expected a weight from 0 in column `n`, found `x`");
    let truth = "3: expected a truth among the classes cat, dog, found `cow`";
    refused("--id n --classes cat,dog", b"3,cat,cat,dog,cow\n", truth);
    dir.write("two.csv", format!("{header}1,cat,cow,dog,\n"));
    dir.refused(
        "predict panel.spocc one.csv two.csv --strict",
        "two.csv: line 2: expected `bob` to predict a label of the model, found `cow`",
    );
    assert!(!dir.names().contains(&"m.spocc".to_owned()));
}

#[test]
fn rows_past_the_end_cannot_be_explained() {
    let dir = TestDir::with_model();
    let explain = |row: &str| format!("explain panel.spocc gold.csv --row {row}");
    dir.done(&explain("6"));
    dir.refused(&explain("7"), "gold.csv: expected a row 7 below the header, found 6 rows");
    dir.refused(
        &explain("18446744073709551615"),
        "gold.csv: expected a row 18446744073709551615 below the header, found 6 rows",
    );
    dir.misused(&explain("0"), "invalid value '0' for '--row <N>': expected a whole number from 1\n");
    dir.misused(&explain("x"), "invalid value 'x' for '--row <N>'");
    dir.misused("explain panel.spocc gold.csv", "--row <N>");
    dir.write("copy.csv", dir.read("gold.csv"));
    dir.refused(
        "explain panel.spocc gold.csv copy.csv --row 13",
        "gold.csv: expected a row 13 below the header, found 12 rows",
    );
}

#[test]
fn too_little_memory_is_refused_with_the_need() {
    let dir = TestDir::with_model();
    let panel = "--label truth --id item";
    let message = "gold.csv: confusion of 3 classifiers, 2 labels, 2 classes: \
                   expected at most 1 bytes of memory, found a need of about 192";
    for command in [format!("fit gold.csv {panel} -o m.spocc"), format!("audit gold.csv {panel}")] {
        dir.refused(&format!("{command} --memory 1"), message);
    }
    dir.done(&format!("fit gold.csv {panel} --memory 10K -o m.spocc"));
    for bad in ["0", "1X", "-1", "1.5G"] {
        dir.misused(
            &format!("fit gold.csv {panel} -o m.spocc --memory={bad}"),
            "expected a size such as 512M or 16G",
        );
    }
}

#[test]
fn very_wide_tables_and_very_long_cells_are_read() {
    let dir = TestDir::new();
    let cells = |cell: fn(usize) -> String| (0..3000).map(cell).collect::<Vec<_>>().join(",");
    let (names, x, y) = (cells(|k| format!("c{k}")), cells(|_| "x".into()), cells(|_| "y".into()));
    dir.write("wide.csv", format!("{names},t\n{x},x\n{y},y\n"));
    dir.done("fit wide.csv --label t --method spocc -o wide.spocc");
    assert_eq!(dir.done("predict wide.spocc wide.csv").stdout, "decision\nx\ny\n");
    dir.refused(
        "fit wide.csv --label truth --method spocc -o m.spocc",
        "wide.csv: line 1: expected a column `truth`, \
         found `c0`, `c1`, `c2`, `c3`, `c4`, `c5`, `c6`, `c7` and 2993 more",
    );
    dir.write("wide.csv", format!("{names},t\n{x},x\n{y}\n"));
    dir.refused("fit wide.csv --label t -o m.spocc", "wide.csv: line 3: expected 3001 cells, found 3000");

    let long = "long ".repeat(200_000);
    dir.write("long.csv", format!("item,a,t\n{long},{long},x\n2,y,{long}\n3,x,x\n"));
    dir.done("fit long.csv --label t --id item --method majority -o long.spocc");
    let decided = dir.done("predict long.spocc long.csv --id item").stdout;
    assert!(
        decided == format!("item,decision\n{long},{long}\n2,y\n3,x\n"),
        "a megabyte goes through unchanged"
    );
}

#[test]
fn more_labels_than_the_engine_takes_are_refused_by_column() {
    let dir = TestDir::new();
    let rows: Vec<String> = (0..66_000).map(|row| format!("{row},x,x\n")).collect();
    dir.write("many.csv", format!("item,a,t\n{}", rows.concat()));
    let message = "expected at most 65535 distinct labels, \
                   found more (if column `item` is not a classifier, use --ignore 'item')";
    dir.refused("fit many.csv --label t -o m.spocc", &format!("many.csv: line 65536: {message}"));
    dir.done("fit many.csv --label t --ignore item -o m.spocc");
}

#[test]
fn a_message_is_one_line_whatever_is_in_the_cells() {
    let dir = TestDir::with_model();
    dir.write("lines.csv", "w,ann,\"tru\nth\"\n\"\u{1b}[31m1\n2\",cat,cat\n");
    for arguments in ["--label truth", "--label w --classifiers ann,zoe", "--label ann --weight w"] {
        let run = dir.run(&format!("fit lines.csv {arguments} -o m.spocc"));
        assert_eq!((run.code, run.stderr.lines().count()), (Some(1), 1), "{}", run.stderr);
        assert!(!run.stderr.contains('\u{1b}'), "{}", run.stderr);
    }
    dir.write("new.csv", "ann,bob,eve\n\"c\nt\",cat,dog\n");
    let run = dir.done("predict panel.spocc new.csv");
    assert_eq!(run.stderr.lines().count(), 2, "{}", run.stderr);
}

#[test]
fn counts_that_are_too_large_are_called_counts() {
    let dir = TestDir::new();
    dir.write("counts.csv", "n,ann,truth\n18446744073709551615,cat,cat\n1,dog,dog\n");
    let run = dir.run("fit counts.csv --label truth --count n -o m.spocc");
    assert_eq!((run.code, run.stderr.lines().count()), (Some(1), 1), "{}", run.stderr);
    assert!(run.stderr.contains("count") && !run.stderr.contains("weight"), "{}", run.stderr);
}

#[test]
fn compare_refuses_to_evaluate_on_the_rows_it_fits_to() {
    let dir = TestDir::with_model();
    dir.refused(
        "compare gold.csv --label truth --id item --test gold.csv",
        "gold.csv: test rows: expected held-out rows, found the rows that the methods are fitted to",
    );
}
