//! The formats of input tables.

use std::{fs, io::Write, process::Stdio};

use serde_json::{Value, json};

use crate::test_dir::{GOLD, TestDir};

/// The columns of the small table.
const PANEL: &str = "--label truth --id item";

/// The header and rows of the small panel, without their line ends.
fn gold() -> (&'static str, Vec<&'static str>) {
    let mut lines = GOLD.lines();
    (lines.next().expect("a header"), lines.collect())
}

/// A table of these rows.
fn table(header: &str, rows: &[&str]) -> String {
    [&[header], rows].concat().join("\n") + "\n"
}

pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(content).expect("memory takes it");
    packed.finish().expect("memory takes it")
}

pub(crate) fn zstd(content: &[u8]) -> Vec<u8> {
    zstd::encode_all(content, 1).expect("memory takes it")
}

/// The model fitted to these inputs.
fn fitted(dir: &TestDir, input_and_options: &str) -> Vec<u8> {
    dir.done(&format!("fit {input_and_options} -o fitted.spocc"));
    dir.read("fitted.spocc")
}

#[test]
fn the_same_rows_give_the_same_model_whatever_file_holds_them() {
    let dir = TestDir::with_model();
    let expected = dir.read("panel.spocc");
    let marked = |text: &str| ["\u{feff}", text].concat();
    let windows = GOLD.replace('\n', "\r\n");
    let quoted = |line: &str| format!("\"{}\"\n", line.replace(',', "\",\""));
    let quoted = GOLD.lines().map(quoted).collect::<Vec<_>>().concat();
    let gold = GOLD.as_bytes();
    let half = GOLD.find("3,").expect("a third row");
    let ways: [(&str, Vec<u8>); 17] = [
        ("tabs", GOLD.replace(',', "\t").into()),
        ("semicolons", GOLD.replace(',', ";").into()),
        ("pipes", GOLD.replace(',', "|").into()),
        ("mark", marked(GOLD).into()),
        ("windows", windows.clone().into()),
        ("mark-windows", marked(&windows).into()),
        ("old-mac", GOLD.replace('\n', "\r").into()),
        ("no-last-line-end", GOLD.trim_end_matches('\n').into()),
        ("empty-lines", GOLD.replace('\n', "\n\n").into()),
        ("quoted", quoted.clone().into()),
        ("mark-quoted", marked(&quoted).into()),
        ("spelt-out", GOLD.replace("6,dog,,cat,", "6,dog,null,cat,null").into()),
        ("gzip", gzip(gold)),
        ("gzip-of-mark", gzip(marked(GOLD).as_bytes())),
        ("gzip-in-two-parts", [gzip(&gold[..half]), gzip(&gold[half..])].concat()),
        ("zstd", zstd(gold)),
        ("zstd-of-windows", zstd(windows.as_bytes())),
    ];
    for (name, content) in &ways {
        dir.write(name, content);
        assert_eq!(fitted(&dir, &format!("{name} {PANEL}")), expected, "{name}");
        let piped = dir.run_with_input(&format!("fit - {PANEL} -o piped.spocc"), content);
        assert_eq!((piped.code, dir.read("piped.spocc")), (Some(0), expected.clone()), "{name} piped");
    }
}

#[test]
fn the_same_rows_give_the_same_model_in_one_file_or_in_many() {
    let dir = TestDir::with_model();
    let expected = dir.read("panel.spocc");
    let (header, rows) = gold();
    fs::create_dir(dir.path("folder")).expect("a fresh name");
    for (at, name) in ["part-1.csv", "part-2.csv", "part-3.csv"].into_iter().enumerate() {
        let part = table(header, &rows[2 * at..2 * at + 2]);
        dir.write(name, &part);
        dir.write(&format!("folder/{name}"), if at == 1 { gzip(part.as_bytes()) } else { part.into() });
    }
    dir.write("part-4.csv", format!("{header}\n"));
    let back: Vec<&str> = rows.iter().rev().copied().collect();
    dir.write("back.csv", table(header, &back));
    let ways = [
        "part-1.csv part-2.csv part-3.csv",
        "part-3.csv part-1.csv part-2.csv",
        "back.csv",
        "part-*.csv",
        "part-[123].csv",
        "part-?.csv",
        "part-1.csv part-[2-9].csv",
        "folder",
        "fol*",
        "folder/part-*",
    ];
    for way in ways {
        assert_eq!(fitted(&dir, &format!("{way} {PANEL}")), expected, "{way}");
    }
    let piped = dir.run_with_input(
        &format!("fit part-1.csv - part-3.csv {PANEL} -o piped.spocc"),
        &fs::read(dir.path("part-2.csv")).expect("just written"),
    );
    assert_eq!((piped.code, dir.read("piped.spocc")), (Some(0), expected), "{}", piped.stderr);
}

#[test]
fn several_files_are_decided_as_one_table_with_columns_in_any_order() {
    let dir = TestDir::with_model();
    dir.write("one.csv", "item,ann,bob,eve\n1,cat,cat,dog\n");
    dir.write("two.csv", "eve;item;bob;ann\r\ncat;2;dog;dog\r\n");
    dir.write("three.csv", zstd(b"bob\tann\teve\titem\ncat\tcat\tdog\t3\n"));
    let run = dir.done("predict panel.spocc one.csv two.csv three.csv --id item");
    assert_eq!(run.stdout, "item,decision\n1,cat\n2,dog\n3,cat\n");
    let explained = dir.done("explain panel.spocc one.csv two.csv three.csv --row 2 --id item");
    assert!(explained.stdout.starts_with("row 2, item 2\ndecided: dog"), "{}", explained.stdout);
}

#[test]
fn files_with_other_columns_are_refused_by_name() {
    let dir = TestDir::with_model();
    let fit = |second: &str| format!("fit gold.csv {second} {PANEL} -o m.spocc");
    dir.write("fewer.csv", "item,truth,eve,bob\n7,cat,dog,cat\n");
    let columns = "line 1: expected the columns of gold.csv, found";
    dir.refused(&fit("fewer.csv"), &format!("fewer.csv: {columns} no `ann`"));
    dir.write("more.csv", "item,truth,eve,bob,ann,zoe\n7,cat,dog,cat,cat,cat\n");
    dir.refused(&fit("more.csv"), &format!("more.csv: {columns} `zoe` too"));
    dir.write("other.csv", "item,truth,eve,bob,Ann\n7,cat,dog,cat,cat\n");
    dir.refused(&fit("other.csv"), &format!("other.csv: {columns} `Ann` too"));
    dir.write("twice.csv", "item,truth,eve,eve,ann\n7,cat,dog,cat,cat\n");
    dir.refused(&fit("twice.csv"), "twice.csv: line 1: expected distinct column names, found `eve` twice");
    dir.write("empty.csv", "");
    dir.refused(&fit("empty.csv"), "empty.csv: expected a table with a header line, found an empty file");
    dir.refused(&fit("absent.csv"), "absent.csv: expected a file to read, found no such file");
    dir.refused(&fit("panel.spocc"), "panel.spocc: expected a table, found a model or a tally of spocc");
    assert!(!dir.names().contains(&"m.spocc".to_owned()));
}

#[test]
fn a_delimiter_can_be_forced() {
    let dir = TestDir::with_model();
    // Both delimiters fit every line; the one with more cells is detected.
    dir.write("both.csv", "a;b,c;t\nx;y,u;x\ny;y,y;y\n");
    let columns = |options: &str| -> Value {
        let inspected = dir.done(&format!("inspect both.csv --json {options}")).stdout;
        let inspected: Value = serde_json::from_str(&inspected).expect("JSON");
        inspected["columns"]
            .as_array()
            .expect("columns")
            .iter()
            .map(|column| column["name"].clone())
            .collect()
    };
    assert_eq!(columns(""), json!(["a", "b,c", "t"]));
    assert_eq!(columns("--delimiter ;"), json!(["a", "b,c", "t"]));
    assert_eq!(columns("--delimiter ,"), json!(["a;b", "c;t"]));
    assert_eq!(columns("--delimiter tab"), json!(["a;b,c;t"]));
    dir.refused(
        "fit gold.csv --label truth --delimiter ; -o m.spocc",
        "gold.csv: line 1: expected a column `truth`, found `item,ann,bob,eve,truth`",
    );
    for bad in [",,", "\"", "é", "tabs"] {
        dir.misused(
            &format!("inspect gold.csv --delimiter {bad}"),
            "expected one ASCII character other than a quote, or `tab`",
        );
    }
    // `command` splits its arguments at spaces, so the delimiter is added on its own.
    let mut command = dir.command("fit spaces.txt --label truth --id item -o m.spocc --delimiter");
    dir.write("spaces.txt", GOLD.replace(',', " "));
    assert!(command.arg(" ").stderr(Stdio::null()).status().expect("it runs").success());
    assert_eq!(dir.read("m.spocc"), dir.read("panel.spocc"));
}

#[test]
fn globs_without_a_match_are_refused_and_names_come_before_globs() {
    let dir = TestDir::with_model();
    dir.refused(
        &format!("fit gold.csv none-*.csv {PANEL} -o m.spocc"),
        "none-*.csv: expected files of that pattern, found none",
    );
    dir.write("part[1].csv", GOLD);
    dir.write("part1.csv", "item,ann,truth\n1,cat,cat\n");
    assert_eq!(fitted(&dir, &format!("part[1].csv {PANEL}")), dir.read("panel.spocc"));
    let run = dir.run(&format!("fit part[.csv {PANEL} -o m.spocc"));
    assert!(run.stderr.starts_with("spocc: part[.csv: expected a pattern of file names, found "));
    assert_eq!((run.code, run.stderr.lines().count()), (Some(1), 1), "{}", run.stderr);
}

#[test]
fn a_directory_is_its_data_files() {
    let dir = TestDir::with_model();
    let fit = format!("fit folder {PANEL} -o m.spocc");
    fs::create_dir(dir.path("folder")).expect("a fresh name");
    let none = "folder: expected a directory of data files, found none in it";
    dir.refused(&fit, none);
    for mark in ["_SUCCESS", "_metadata", ".hidden", ".part-0.csv.crc", "part-0.csv.crc"] {
        dir.write(&format!("folder/{mark}"), "no,table\n");
    }
    dir.refused(&fit, none);
    dir.write("folder/part-0.csv", GOLD);
    dir.done(&fit);
    assert_eq!(dir.read("m.spocc"), dir.read("panel.spocc"));
    fs::create_dir(dir.path("folder/deeper")).expect("a fresh name");
    dir.refused(&fit, "folder: expected a directory of data files, found a directory `deeper` in it");
}

#[cfg(unix)]
#[test]
fn a_pipe_or_socket_in_a_directory_of_data_is_refused() {
    use std::os::unix::{fs::symlink, net::UnixListener};
    let dir = TestDir::with_model();
    fs::create_dir(dir.path("folder")).expect("a fresh name");
    dir.write("folder/part-0.csv", GOLD);
    dir.make_pipe("folder/part-1.csv");
    let expected = "expected a directory of data files, found a named pipe `part-1.csv` in it";
    for arguments in [
        "fit folder --label truth -o m.spocc",
        "predict panel.spocc folder",
        "inspect folder",
        "merge folder -o m",
    ] {
        dir.refused(arguments, &format!("folder: {expected}"));
    }
    let pattern = "expected a pattern of data files, found a named pipe `folder/part-1.csv`";
    dir.refused("inspect folder/*.csv", &format!("folder/*.csv: {pattern}"));
    fs::remove_file(dir.path("folder/part-1.csv")).expect("ours");
    symlink("/dev/zero", dir.path("folder/zero")).expect("a fresh name");
    dir.refused("inspect folder", "folder: expected a directory of data files, found a device `zero` in it");
    fs::remove_file(dir.path("folder/zero")).expect("ours");
    let _listener = UnixListener::bind(dir.path("folder/s")).expect("a short path");
    dir.refused("inspect folder", "folder: expected a directory of data files, found a socket `s` in it");
}

#[test]
fn a_pattern_matches_no_hidden_files() {
    let dir = TestDir::with_model();
    fs::create_dir(dir.path("folder")).expect("a fresh name");
    dir.write("folder/part-0.csv", GOLD);
    dir.write("folder/.spocc-part-1.csv-0123456789ab", "half a ta");
    dir.done("fit folder/* --label truth --id item -o m.spocc");
    assert_eq!(dir.read("m.spocc"), dir.read("panel.spocc"));
}

#[test]
fn models_and_decisions_go_through_pipes() {
    let dir = TestDir::with_model();
    let fit = dir.command(&format!("fit gold.csv {PANEL} -o -")).output().expect("the command is built");
    assert_eq!(fit.stdout, dir.read("panel.spocc"));
    let printed = String::from_utf8(fit.stderr).expect("text");
    assert!(printed.ends_with(&format!("wrote standard output ({} bytes)\n", fit.stdout.len())), "{printed}");
    let decided = dir.run_with_input("predict - gold.csv --id item -o -", &fit.stdout);
    assert_eq!(decided.stdout, dir.done("predict panel.spocc gold.csv --id item").stdout);
    let tally = dir.command(&format!("tally gold.csv {PANEL} -o -")).output().expect("the command is built");
    let refitted = dir.run_with_input("fit - -o again.spocc", &tally.stdout);
    assert_eq!(refitted.code, Some(0), "{}", refitted.stderr);
    assert_eq!(dir.read("again.spocc"), dir.read("panel.spocc"));
}

#[test]
fn classifiers_are_chosen_by_name_and_by_glob() {
    let dir = TestDir::with_model();
    let classifiers = |options: &str| -> Value {
        dir.done(&format!("fit gold.csv {PANEL} {options} -o m.spocc"));
        let facts = dir.done("inspect m.spocc --json").stdout;
        serde_json::from_str::<Value>(&facts).expect("JSON")["classifiers"].clone()
    };
    assert_eq!(classifiers("--classifiers eve,a*"), json!(["eve", "ann"]), "in the order they are named");
    assert_eq!(classifiers("--classifiers *"), json!(["ann", "bob", "eve"]), "never the truth or the id");
    assert_eq!(classifiers("--classifiers * --ignore [ab]*"), json!(["eve"]));
    assert_eq!(classifiers("--ignore ?ob"), json!(["ann", "eve"]));
    let there = "`item`, `ann`, `bob`, `eve`, `truth`";
    dir.refused(
        &format!("fit gold.csv {PANEL} --ignore annn -o m.spocc"),
        &format!("gold.csv: line 1: expected a column `annn` to ignore (did you mean `ann`?), found {there}"),
    );
    dir.refused(
        &format!("fit gold.csv {PANEL} --classifiers ann,z* -o m.spocc"),
        &format!("gold.csv: line 1: expected a classifier `z*`, found {there}"),
    );
    dir.refused(
        &format!("fit gold.csv {PANEL} --ignore * -o m.spocc"),
        &format!("gold.csv: line 1: expected at least one column with predictions, found only {there}"),
    );
    dir.misused(
        &format!("fit gold.csv {PANEL} --classifiers ann,ann -o m.spocc"),
        "--classifiers names column `ann` twice",
    );
}

#[test]
fn words_for_missing_values_replace_the_default() {
    let dir = TestDir::with_model();
    let expected = dir.read("panel.spocc");
    for (word, options) in [("NULL", "--na NULL"), ("n/a", "--na NULL,n/a"), ("-", "--na=-"), ("", "--na x")]
    {
        dir.write("na.csv", GOLD.replace("6,dog,,cat,", &format!("6,dog,{word},cat,{word}")));
        assert_eq!(fitted(&dir, &format!("na.csv {PANEL} {options}")), expected, "{word}");
    }
    dir.write("na.csv", GOLD.replace("6,dog,,cat,", "6,dog,null,cat,dog"));
    let run = dir.done(&format!("fit na.csv {PANEL} --na NA -o m.spocc"));
    assert!(run.stderr.contains("3 classes (cat, dog, null)"), "{}", run.stderr);
}

#[test]
fn counts_may_be_written_as_data_frames_do_and_weights_in_fractions() {
    let dir = TestDir::new();
    dir.write("rows.csv", "a,b,t\nx,x,x\nx,x,x\nx,x,x\ny,x,y\n");
    let expected = fitted(&dir, "rows.csv --label t");
    for (three, one) in [("3", "1"), ("3.0", "1.0"), (" 3", "1 "), ("+3", "01")] {
        dir.write("grouped.csv", format!("a,n,b,t\nx,{three},x,x\ny,{one},x,y\ny,0,y,x\n"));
        assert_eq!(fitted(&dir, "grouped.csv --label t --count n"), expected, "{three}");
    }
    dir.write("weighted.csv", "a,n,b,t\nx,1.5,x,x\ny,0.5,x,y\n");
    dir.done("fit weighted.csv --label t --weight n -o m.spocc");
    let facts = dir.done("inspect m.spocc --json").stdout;
    let facts: Value = serde_json::from_str(&facts).expect("JSON");
    assert_eq!(
        [&facts["evidence"]["n_rows"], &facts["evidence"]["is_weighted"]],
        [&json!(2.0), &json!(true)]
    );
}
