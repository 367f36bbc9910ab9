//! Input that is refused: one line that says where, what was expected and what was found.

use std::fs;

use crate::test_dir::TestDir;

#[test]
fn tables_that_are_none_are_refused() {
    let dir = TestDir::with_model();
    let fit = "--label truth -o m.spocc";
    dir.refused(&format!("fit absent.csv {fit}"), "absent.csv: expected a file to read, found no such file");
    dir.write("empty.csv", "");
    dir.refused(
        &format!("fit empty.csv {fit}"),
        "empty.csv: expected a table with a header line, found an empty file",
    );
    dir.write("blank.csv", "\n\n");
    dir.refused(
        &format!("fit blank.csv {fit}"),
        "blank.csv: expected a table with a header line, found an empty file",
    );
    dir.refused(
        &format!("fit - {fit}"),
        "standard input: expected a table with a header line, found an empty file",
    );
    fs::create_dir(dir.path("folder")).expect("a fresh name");
    dir.refused(&format!("fit folder {fit}"), "folder: expected a directory of data files, found none in it");
    dir.refused(&format!("fit panel.spocc {fit}"), "panel.spocc: expected a table or a tally, found a model");
    dir.refused(
        "predict panel.spocc panel.spocc",
        "panel.spocc: expected a table, found a model or a tally of spocc",
    );
    assert!(!dir.names().contains(&"m.spocc".to_owned()));
}

#[test]
fn headers_that_do_not_help_are_refused() {
    let dir = TestDir::with_model();
    dir.refused(
        "fit gold.csv --label Turth -o m.spocc",
        "gold.csv: line 1: expected a column `Turth` (did you mean `truth`?), \
         found `item`, `ann`, `bob`, `eve`, `truth`",
    );
    dir.refused(
        "predict panel.spocc gold.csv --id number",
        "gold.csv: line 1: expected a column `number`, found `item`, `ann`, `bob`, `eve`, `truth`",
    );
    dir.write("twice.csv", "ann,bob,ann,truth\n");
    dir.refused(
        "fit twice.csv --label truth -o m.spocc",
        "twice.csv: line 1: expected distinct column names, found `ann` twice",
    );
    dir.write("bytes.csv", b"ann,\xff\xfe,truth\n");
    dir.refused(
        "fit bytes.csv --label truth -o m.spocc",
        "bytes.csv: line 1: expected column names in UTF-8, found `\\xff\\xfe`",
    );
    dir.write("alone.csv", "item,truth\n1,cat\n");
    dir.refused(
        "fit alone.csv --label truth --id item -o m.spocc",
        "alone.csv: line 1: expected at least one column with predictions, found only `item`, `truth`",
    );
}

#[test]
fn the_column_that_was_meant_is_suggested_whatever_else_is_in_the_header() {
    let dir = TestDir::new();
    let names: Vec<String> = (0..8).map(|k| format!("a-classifier-with-a-rather-long-name-{k}")).collect();
    dir.write("wide.csv", format!("{},truth\n", names.join(",")));
    let found = format!("{} ..", &format!("`{}`", names.join("`, `"))[..250]);
    dir.refused(
        "fit wide.csv --label Truht -o m.spocc",
        &format!("wide.csv: line 1: expected a column `Truht` (did you mean `truth`?), found {found}"),
    );
    let run = dir.run(&format!("fit wide.csv --label {} -o m.spocc", "x".repeat(1000)));
    let expected = format!("expected a column `{}..`, found `a-classifier", "x".repeat(60));
    assert!(run.stderr.contains(&expected), "{}", run.stderr);
}

#[test]
fn a_column_that_has_a_use_is_not_suggested_for_another() {
    let dir = TestDir::with_model();
    let (line, found) = ("gold.csv: line 1: expected", "found `item`, `ann`, `bob`, `eve`, `truth`");
    for (options, expected) in [
        ("--label truth --weight trut", "a column `trut`"),
        ("--label truth --id trut", "a column `trut`"),
        ("--label truth --classifiers trut", "a classifier `trut`"),
        ("--label truth --ignore trut", "a column `trut` to ignore"),
        ("--label truth --classifiers ann,anne", "a classifier `anne`"),
        ("--label truth --classifiers ann --ignore anne", "a column `anne` to ignore"),
        ("--classifiers ann --label anne", "a column `anne`"),
        ("--label truth --id itm", "a column `itm` (did you mean `item`?)"),
        ("--label truth --classifiers ann,bbo", "a classifier `bbo` (did you mean `bob`?)"),
    ] {
        dir.refused(&format!("fit gold.csv {options} -o m.spocc"), &format!("{line} {expected}, {found}"));
    }
    for command in ["predict", "explain --row 1"] {
        dir.refused(
            &format!("{command} panel.spocc gold.csv --id anne"),
            &format!("{line} a column `anne`, {found}"),
        );
    }
    dir.write("new.csv", "bo,ann,eve\ncat,cat,dog\n");
    let run = dir.run("predict panel.spocc new.csv --id bo");
    assert!(
        run.stderr.contains("found no column for `bob`") && !run.stderr.contains("mean"),
        "{}",
        run.stderr
    );
    dir.write("long.csv", "item,worker,answer\n1,ann,cat\n");
    for command in [
        "fit long.csv --long item,worker,answer --label answe -o m.spocc",
        "predict panel.spocc long.csv --long item,answer,answe",
    ] {
        dir.refused(command, "long.csv: line 1: expected a column `answe`, found `item`, `worker`, `answer`");
    }
}

#[test]
fn rows_that_do_not_fit_are_refused_with_their_line() {
    let dir = TestDir::new();
    dir.write("ragged.csv", "ann,bob,truth\ncat,cat,cat\n\ndog,dog\n");
    dir.refused("fit ragged.csv --label truth -o m.spocc", "ragged.csv: line 4: expected 3 cells, found 2");
    dir.write("ragged.csv", "ann,truth\r\n\"c\r\nat\",cat\r\ndog,dog,dog");
    dir.refused("fit ragged.csv --label truth -o m.spocc", "ragged.csv: line 4: expected 2 cells, found 3");
    dir.write("one.csv", "ann\ncat\n\ndog\n");
    dir.write("gold.csv", "ann,truth\ncat,cat\ndog,dog\n");
    dir.done("fit gold.csv --label truth -o one.spocc");
    dir.refused(
        "predict one.spocc one.csv",
        "one.csv: line 3: expected a cell, or \"\" for a missing one, found an empty line",
    );
    dir.write("one.csv", "ann\ncat\n\"\"\ndog\n\n");
    assert_eq!(dir.done("predict one.spocc one.csv").stdout.lines().count(), 4);
    dir.write("half.csv", "ann,bob,truth\ncat,cat,cat\ndog,dog,\"dog\ncat,cat,cat\n");
    dir.refused(
        "fit half.csv --label truth -o m.spocc",
        "half.csv: line 3: expected a closing quote, found the end of the table",
    );
    dir.write("bytes.csv", b"ann,bob,truth\ncat,cat,cat\ncat,c\xe9,cat\n");
    dir.refused(
        "fit bytes.csv --label truth -o m.spocc",
        "bytes.csv: line 3: expected UTF-8 text in column `bob`, found `c\\xe9`",
    );
    dir.write("classes.csv", "ann,truth\n,\ncat,cat\ncat,cow\n");
    dir.refused(
        "fit classes.csv --label truth --classes cat,dog -o m.spocc",
        "classes.csv: line 4: expected a truth among the classes cat, dog, found `cow`",
    );
    for bad in ["-1", "x", "NaN", "inf", ""] {
        dir.write("weights.csv", format!("w,ann,truth\n1,cat,cat\n{bad},cat,cat\n"));
        dir.refused(
            "fit weights.csv --label truth --weight w -o m.spocc",
            &format!("weights.csv: line 3: expected a weight from 0 in column `w`, found `{bad}`"),
        );
    }
    for bad in ["-1", "x", "0.5"] {
        dir.write("counts.csv", format!("n,ann,truth\n{bad},cat,cat\n"));
        dir.refused(
            "fit counts.csv --label truth --count n -o m.spocc",
            &format!("counts.csv: line 2: expected a whole count from 0 in column `n`, found `{bad}`"),
        );
    }
}

#[test]
fn nothing_to_learn_from_is_refused() {
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
         (--method dawid-skene and majority need no labelled rows if --label is not given)",
    );
}

#[test]
fn models_that_are_none_are_refused() {
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
fn columns_the_model_needs_are_asked_for_by_name() {
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
    let told = "note: no column for 1 of 3 classifiers, whose predictions count as missing: `bob`\n";
    let without = dir.done(&format!("predict panel.spocc new.csv {columns} --allow-missing"));
    let empty = dir.done(&format!("predict panel.spocc empty.csv {columns} --allow-missing"));
    assert_eq!(without.stdout, empty.stdout);
    assert_eq!(without.stderr, format!("{}{told}", empty.stderr));
    let without = dir.done("explain panel.spocc new.csv --row 2 --allow-missing");
    assert_eq!((without.stdout.contains("2 of 3 answered"), without.stderr.as_str()), (true, told));
    assert_eq!(without.stdout, dir.done("explain panel.spocc empty.csv --row 2").stdout);
    dir.misused("predict panel.spocc new.csv --long a,b,c --allow-missing", "cannot be used with");
    // What a row without a column of predictions covers is not what was calibrated.
    dir.done("fit gold.csv --label truth --id item --calibrate cross -o cross.spocc");
    let sets = dir.done("predict cross.spocc new.csv --coverage 0.8 --allow-missing").stderr;
    assert!(
        sets.contains("note: the sets were calibrated with all classifiers, so coverage may be lower here\n"),
        "{sets}"
    );
}

#[test]
fn the_file_to_blame_is_named_among_several() {
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
fn ids_that_are_no_text_are_refused_only_if_they_are_asked_for() {
    let dir = TestDir::with_model();
    dir.write("new.csv", b"item,ann,bob,eve\n1,cat,cat,dog\n\xf6,dog,dog,cat\n");
    let message = "new.csv: line 3: expected UTF-8 text in column `item`, found `\\xf6`";
    dir.refused("predict panel.spocc new.csv --id item", message);
    dir.refused("explain panel.spocc new.csv --id item --row 2", message);
    assert_eq!(dir.done("predict panel.spocc new.csv").stdout, "decision\ncat\ndog\n");
    dir.write("long.csv", b"item,worker,answer\n1,ann,cat\n2,\xf6,cat\n");
    dir.refused(
        "predict panel.spocc long.csv --long item,worker,answer",
        "long.csv: line 3: expected UTF-8 text in column `worker`, found `\\xf6`",
    );
}

#[test]
fn files_that_are_no_tables_are_told_for_what_they_are() {
    let dir = TestDir::with_model();
    let utf16 = |mark: [u8; 2], bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        mark.into_iter().chain("ann,truth\ncat,cat\n".encode_utf16().flat_map(bytes)).collect()
    };
    let refused = |content: &[u8], expected: &str, found: &str| {
        dir.write("file", content);
        let message = format!("file: expected {expected}, found {found}");
        dir.refused("fit file --label truth -o m.spocc", &message);
        dir.refused("predict panel.spocc gold.csv file -o out.csv", &message);
        dir.refused("inspect file", &message);
        let message = format!(
            "file: expected a model written by `spocc fit`, found {}",
            found.split(" (").next().unwrap_or_default()
        );
        dir.refused("predict file gold.csv", &message);
    };
    for content in [utf16([0xff, 0xfe], u16::to_le_bytes), utf16([0xfe, 0xff], u16::to_be_bytes)] {
        refused(&content, "a table in UTF-8", "UTF-16 (save it as \"CSV UTF-8\")");
    }
    let zip = "a zip archive or a spreadsheet (save it as CSV)";
    refused(b"PK\x03\x04\x14\0\x06\0", "a table", zip);
    let junk: Vec<u8> = (1..=255).chain([0]).collect();
    for binary in [&junk, b"ann,b\0b,truth\ncat,cat,cat\n".as_slice(), &crate::tables::gzip(b"ann\0")] {
        refused(binary, "a table", "binary data");
    }
    // A build that reads these files says something else about them.
    if !cfg!(feature = "arrow") {
        let how = "(this spocc cannot read it; one built with `--features arrow` can, see the README)";
        let columns =
            |content: &[u8], what: &str| refused(content, "a table of text", &format!("{what} {how}"));
        columns(b"PAR1\x15\x04PAR1", "a Parquet file");
        columns(b"ARROW1\0\0\xff\xff\xff\xff", "an Arrow file");
        columns(b"\xff\xff\xff\xff\x10\0\0\0", "an Arrow stream");
    }
    assert_eq!(dir.names(), ["file", "gold.csv", "panel.spocc"]);
}

#[test]
fn archives_that_are_cut_off_are_refused() {
    let dir = TestDir::with_model();
    let gold = dir.read("gold.csv");
    for (kind, packed) in [("gzip", crate::tables::gzip(&gold)), ("zstd", crate::tables::zstd(&gold))] {
        let message = format!("spocc: cut: expected {kind} data, found ");
        for length in [6, packed.len() / 2, packed.len() - 1] {
            dir.write("cut", &packed[..length]);
            for command in ["fit cut --label truth -o m.spocc", "predict panel.spocc cut", "inspect cut"] {
                let run = dir.run(command);
                assert!(run.stderr.starts_with(&message), "{command}: {length}: {}", run.stderr);
                assert_eq!((run.code, run.stderr.lines().count(), run.stdout.as_str()), (Some(1), 1, ""));
            }
        }
    }
    dir.write("cut", crate::tables::gzip(b""));
    dir.refused("inspect cut", "cut: expected a table with a header line, found an empty file");
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
    dir.done(&format!("fit gold.csv {panel} --memory 1K -o m.spocc"));
    for bad in ["0", "1X", "-1", "1.5G"] {
        dir.misused(
            &format!("fit gold.csv {panel} -o m.spocc --memory={bad}"),
            "expected a size such as 512M or 16G",
        );
    }
}

#[test]
fn very_wide_tables_and_very_long_cells_are_nothing_special() {
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
fn a_quote_left_open_in_the_header_is_told() {
    let dir = TestDir::new();
    dir.write("open.csv", "item,ann,\"truth\n1,cat,cat\n2,dog,dog\n");
    dir.refused(
        "fit open.csv --label truth -o m.spocc",
        "open.csv: line 1: expected a closing quote, found the end of the table",
    );
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
fn nul_bytes_are_refused_wherever_they_are() {
    let dir = TestDir::new();
    let rows = "cat,cat\ndog,dog\n".repeat(5000);
    dir.write("late.csv", format!("ann,truth\n{rows}c\0t,cat\n"));
    let run = dir.run("fit late.csv --label truth -o m.spocc");
    assert!(run.stderr.starts_with("spocc: late.csv: line 10002: expected "), "{}", run.stderr);
    assert_eq!((run.code, run.stderr.lines().count()), (Some(1), 1));
}

#[test]
fn a_long_archive_that_is_cut_off_is_refused_like_a_short_one() {
    let dir = TestDir::new();
    let rows: Vec<String> = (0..60_000u64).map(|row| format!("{row},{0},{0}\n", row * row % 7)).collect();
    for (kind, pack) in [("gzip", crate::tables::gzip as fn(&[u8]) -> Vec<u8>), ("zstd", crate::tables::zstd)]
    {
        let packed = pack(format!("item,ann,truth\n{}", rows.concat()).as_bytes());
        dir.write("cut", &packed[..packed.len() - 5]);
        let run = dir.run("fit cut --label truth --id item -o m.spocc");
        assert_eq!((run.code, run.stderr.lines().count()), (Some(1), 1), "{}", run.stderr);
        assert!(
            run.stderr.starts_with(&format!("spocc: cut: expected {kind} data, found ")),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn lines_are_counted_as_an_editor_counts_them() {
    let dir = TestDir::new();
    let cases = [
        ("\n\nann,ann,truth\n", "line 3: expected distinct column names, found `ann` twice"),
        ("ann,truth\rcat,cat\rdog\r", "line 3: expected 2 cells, found 1"),
        ("ann,truth\ncat,cat\r\n\r\ndog\r\n", "line 4: expected 2 cells, found 1"),
    ];
    for (content, message) in cases {
        dir.write("lines.csv", content);
        dir.refused("fit lines.csv --label truth -o m.spocc", &format!("lines.csv: {message}"));
    }
}

#[test]
fn counts_that_are_too_large_are_told_as_counts() {
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
