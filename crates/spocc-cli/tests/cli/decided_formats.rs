//! The formats of decided tables.

#[cfg(unix)]
use std::fs;

use serde_json::{Value, json};

use crate::test_dir::TestDir;

fn gunzip(packed: &[u8]) -> String {
    std::io::read_to_string(flate2::read::GzDecoder::new(packed)).expect("whole gzip data of text")
}

fn unzstd(packed: &[u8]) -> String {
    String::from_utf8(zstd::decode_all(packed).expect("whole zstd data")).expect("text")
}

#[test]
fn format_and_compression_follow_the_file_name() {
    let dir = TestDir::with_model();
    let csv = dir.done("predict panel.spocc gold.csv --id item").stdout;
    let json = dir.done("predict panel.spocc gold.csv --id item --format json").stdout;
    let rows: Vec<Value> = serde_json::from_str(&json).expect("a JSON array");
    assert_eq!((rows.len(), &rows[1]), (6, &json!({"item": "2", "decision": "dog"})));
    let written = |name: &str, options: &str| {
        dir.done(&format!("predict panel.spocc gold.csv --id item -o {name} {options}"));
        dir.read(name)
    };
    let text = |name: &str| String::from_utf8(written(name, "")).expect("text");
    assert_eq!([text("out.csv"), text("out"), text("out.json")], [&*csv, &*csv, &*json]);
    assert_eq!(gunzip(&written("out.csv.gz", "")), csv);
    assert_eq!(gunzip(&written("out.JSON.gz", "")), json);
    assert_eq!(unzstd(&written("out.csv.zst", "")), csv);
    assert_eq!(unzstd(&written("out.json.zstd", "")), json);
    assert_eq!(unzstd(&written("out.zst", "--format json")), json);
    assert_eq!(written("forced.json", "--format csv"), csv.as_bytes());
    dir.write("header.csv", "item,ann,bob,eve\n");
    let empty = dir.done("predict panel.spocc header.csv --format json").stdout;
    assert_eq!(serde_json::from_str::<Value>(&empty).expect("JSON"), json!([]));
    if !cfg!(feature = "arrow") {
        dir.misused("predict panel.spocc gold.csv -o out.parquet", "this spocc cannot write Parquet; ");
    }
}

#[test]
fn ids_and_labels_are_kept_as_written() {
    let dir = TestDir::new();
    let labels = ["007", "7.50", "Größe, groß", "say \"no\"", " padded ", "two\nlines", "TRUE", "=1+1"];
    let field = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let rows: Vec<String> = labels.iter().map(|label| format!("{0},{0},{0}\n", field(label))).collect();
    dir.write("gold.csv", format!("\"the, id\",a,t\n{}", rows.concat()));
    let run = |arguments: &str| {
        let mut command = dir.command(arguments);
        command.args(["--id", "\"the, id\""]).output().expect("the command is built").stdout
    };
    run("fit gold.csv --label t -o m.spocc");
    let json = run("predict m.spocc gold.csv --format json");
    let expected: Value = labels.iter().map(|label| json!({"the, id": label, "decision": label})).collect();
    assert_eq!(serde_json::from_slice::<Value>(&json).expect("JSON"), expected);
    let decided = run("predict m.spocc gold.csv");
    let mut decided = csv::Reader::from_reader(&*decided);
    assert_eq!(decided.headers().expect("a header"), vec!["the, id", "decision"]);
    let decided: Vec<[String; 2]> = decided.deserialize().map(|row| row.expect("two cells")).collect();
    assert_eq!(decided, labels.map(|label| [label.to_owned(), label.to_owned()]));
}

#[test]
fn columns_come_in_the_order_asked() {
    let dir = TestDir::new();
    dir.write("gold.csv", "a,b,t\nx,x,x\ny,y,y\n");
    dir.done("fit gold.csv --label t --method majority -o m.spocc");
    dir.write("new.csv", "n,a,b\n1,x,y\n");
    let decided = |options: &str| dir.done(&format!("predict m.spocc new.csv --id n {options}")).stdout;
    assert_eq!(
        decided("--columns answered,possibility,decision,margin,ties"),
        "n,decision,answered,possibility:x,possibility:y,margin,ties\n1,x,2,1.0,1.0,0.0,x|y\n"
    );
    assert_eq!(decided("--columns ties,margin"), "n,decision,ties,margin\n1,x,x|y,0.0\n");
    assert_eq!(
        decided("--columns answered,possibility,decision,margin,ties --format json"),
        "[\n{\"n\":\"1\",\"decision\":\"x\",\"answered\":2,\"possibility\":{\"x\":1.0,\"y\":1.0},\
         \"margin\":0.0,\"ties\":[\"x\",\"y\"]}\n]\n"
    );
}

#[test]
fn a_lone_quote_inside_a_cell_is_a_character_like_any_other() {
    let dir = TestDir::with_model();
    dir.write("inches.csv", "item,ann,bob,eve\n5\" disk,cat,cat,dog\n2,dog,dog,cat\n");
    let run = dir.done("predict panel.spocc inches.csv --id item");
    assert_eq!(run.stdout, "item,decision\n\"5\"\" disk\",cat\n2,dog\n");
}

#[test]
fn no_id_may_have_the_name_of_a_possibility() {
    let dir = TestDir::with_model();
    dir.write("new.csv", "possibility:cat,ann,bob,eve\n1,cat,cat,dog\n");
    dir.misused(
        "predict panel.spocc new.csv --id possibility:cat --columns possibility",
        "the output would have two columns `possibility:cat`",
    );
}

/// Writes decisions to a symbolic link, which must stay a link.
#[cfg(unix)]
fn decide_into_link(dir: &TestDir) {
    std::os::unix::fs::symlink("real.csv", dir.path("link.csv")).expect("a fresh name");
    dir.done("predict panel.spocc gold.csv --id item -o link.csv");
    assert!(fs::symlink_metadata(dir.path("link.csv")).expect("a link").is_symlink());
    assert!(dir.read("real.csv").starts_with(b"item,decision\n1,cat\n"));
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_stays() {
    let dir = TestDir::with_model();
    dir.write("real.csv", "old");
    decide_into_link(&dir);
}

#[cfg(unix)]
#[test]
fn a_dangling_link_is_followed_too() {
    decide_into_link(&TestDir::with_model());
}
