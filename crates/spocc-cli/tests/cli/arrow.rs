//! Parquet, in a build with it: files that `predict` writes are read again.

use serde_json::json;

use crate::test_dir::{GOLD, TestDir};

#[test]
fn parquet_comes_back_with_ids_and_labels() {
    let dir = TestDir::with_model();
    dir.done("predict panel.spocc gold.csv --id item,ann,bob,eve -o all.parquet");
    // A CSV and a Parquet file with the same cells give the same model.
    dir.done("predict panel.spocc gold.csv --id item,ann,bob,eve -o all.csv");
    for table in ["all.parquet", "all.csv"] {
        dir.done(&format!("fit {table} --label decision --id item -o {table}.spocc"));
    }
    assert_eq!(dir.read("all.parquet.spocc"), dir.read("all.csv.spocc"));

    let full = "--id item --columns margin,possibility,ties,answered";
    dir.done(&format!("predict panel.spocc gold.csv {full} -o full.parquet"));
    let run = dir.done("inspect full.parquet --json");
    let facts: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let names: Vec<&str> = facts["columns"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|column| column["name"].as_str())
        .collect();
    let expected = ["item", "decision", "margin", "possibility:cat", "possibility:dog", "ties", "answered"];
    assert_eq!(names, expected);
    assert_eq!((&facts["n_rows"], &facts["delimiter"]), (&json!(6), &json!(null)));
    assert_eq!(facts["columns"][5]["n_missing"], 6, "no ties, no text");
}

#[test]
fn parquet_is_read_from_directories_and_standard_input() {
    let dir = TestDir::with_model();
    let (head, rows) = GOLD.split_once('\n').expect("a header");
    std::fs::create_dir(dir.path("parts")).expect("a fresh name");
    for (at, rows) in rows.lines().collect::<Vec<&str>>().chunks(4).enumerate() {
        dir.write("part.csv", format!("{head}\n{}\n", rows.join("\n")));
        let ids = "item,ann,bob,eve,truth";
        dir.done(&format!("predict panel.spocc part.csv --id {ids} -o parts/{at}.parquet"));
    }
    dir.write("parts/_SUCCESS", "");
    dir.done("fit parts --label truth --id item --ignore decision -o again.spocc");
    assert_eq!(dir.read("again.spocc"), dir.read("panel.spocc"));
    let piped = dir.run_with_input("predict panel.spocc - --id item", &dir.read("parts/1.parquet"));
    assert_eq!(piped.stdout, "item,decision\n5,cat\n6,dog\n", "{}", piped.stderr);
}

#[test]
fn damaged_parquet_files_are_refused_in_a_line() {
    let dir = TestDir::with_model();
    dir.done("predict panel.spocc gold.csv --id item,ann,bob,eve -o all.parquet");
    let whole = dir.read("all.parquet");
    for length in (8..whole.len()).step_by(97) {
        let mut cut = whole[..length].to_vec();
        dir.write("cut.parquet", &cut);
        let run = dir.run("fit cut.parquet --label decision -o m.spocc");
        assert_eq!((run.code, run.stderr.lines().count()), (Some(1), 1), "{length}: {}", run.stderr);
        cut = whole.clone();
        cut[length] ^= 0x55;
        dir.write("flipped.parquet", &cut);
        let run = dir.run("fit flipped.parquet --label decision --id item -o m.spocc");
        assert!(matches!(run.code, Some(0 | 1)), "{length}: {}", run.stderr);
    }
    assert_eq!(dir.run("predict panel.spocc gold.csv -o out.parquet.gz").code, Some(2));
}
