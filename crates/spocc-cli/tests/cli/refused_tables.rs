//! Files that are not valid tables: one line with the location, what was expected and what was found.

use std::fs;

use crate::test_dir::TestDir;

#[test]
fn missing_and_empty_tables_are_refused() {
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
fn headers_without_the_needed_columns_are_refused() {
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
fn invalid_ids_are_refused_only_if_they_are_used() {
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
fn other_kinds_of_files_are_named_in_the_message() {
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
    for binary in [&junk, b"ann,b\0b,truth\ncat,cat,cat\n".as_slice(), &crate::table_formats::gzip(b"ann\0")]
    {
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
fn truncated_archives_are_refused() {
    let dir = TestDir::with_model();
    let gold = dir.read("gold.csv");
    for (kind, packed) in
        [("gzip", crate::table_formats::gzip(&gold)), ("zstd", crate::table_formats::zstd(&gold))]
    {
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
    dir.write("cut", crate::table_formats::gzip(b""));
    dir.refused("inspect cut", "cut: expected a table with a header line, found an empty file");
}

#[test]
fn an_open_quote_in_the_header_is_refused() {
    let dir = TestDir::new();
    dir.write("open.csv", "item,ann,\"truth\n1,cat,cat\n2,dog,dog\n");
    dir.refused(
        "fit open.csv --label truth -o m.spocc",
        "open.csv: line 1: expected a closing quote, found the end of the table",
    );
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
fn a_long_truncated_archive_is_refused_like_a_short_one() {
    let dir = TestDir::new();
    let rows: Vec<String> = (0..60_000u64).map(|row| format!("{row},{0},{0}\n", row * row % 7)).collect();
    for (kind, pack) in
        [("gzip", crate::table_formats::gzip as fn(&[u8]) -> Vec<u8>), ("zstd", crate::table_formats::zstd)]
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
