//! Files of format 2 (`testdata/format2`), written by version 0.1.0, are read and decide as they did.

use std::{fs, path::PathBuf};

use spocc::{
    Control, Evidence, Label, Model, Predictions, Truth,
    conformal::{Coverage, RowDraw},
    evidence::{Counting, Level},
};

const CLASSIFIERS: [&str; 5] = ["a", "b", "c", "d", "e"];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/format2")
}

/// The names of the files with this ending, without it.
fn names(ending: &str) -> Vec<String> {
    let entries = fs::read_dir(folder()).expect("the folder is in the repository");
    let names = entries.map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8"));
    let mut names: Vec<String> =
        names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect();
    names.sort();
    names
}

fn bytes(name: &str) -> Vec<u8> {
    fs::read(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The cells under the header of a small table without quotes.
fn cells(name: &str) -> Vec<Vec<String>> {
    let text = String::from_utf8(bytes(name)).expect("UTF-8");
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn predictions(rows: &[Vec<String>]) -> Predictions {
    let mut builder = Predictions::builder(CLASSIFIERS).expect("five names");
    for row in rows {
        let predicted = row[1..6].iter().map(|cell| (!cell.is_empty()).then_some(cell.as_str()));
        builder.push(predicted).expect("five predictions");
    }
    builder.finish()
}

#[test]
fn models_decide_as_they_did() {
    let (rows, models) = (cells("new.csv"), names(".spocc"));
    assert_eq!(
        models.len(),
        39,
        "a model of each of eleven methods, slim, with conformal scores; and six more"
    );
    let predictions = predictions(&rows);
    for name in &models {
        let model = Model::from_bytes(&bytes(&format!("{name}.spocc")))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = cells(&format!("{name}.csv"));
        let decisions = model.predict(&predictions).expect("all classifiers are there");
        let decided: Vec<String> = decisions.labels().map(ToString::to_string).collect();
        let column = |at: usize| expected.iter().map(|row| row[at].clone()).collect::<Vec<String>>();
        assert_eq!(decided, column(1), "{name}");
        assert_eq!(name.contains(".conformal"), model.calibration().is_some(), "{name}");
        if model.calibration().is_some() {
            let aligned = model.align(&predictions).expect("all classifiers are there");
            let row_draw = |row: usize| RowDraw::of_name(0, [rows[row][0].as_str()]);
            let coverage = Coverage::try_from(0.8).expect("a coverage");
            let sets = aligned.sets(0..rows.len(), coverage, row_draw).expect("scores enough");
            let label = |class: &u16| model.classes()[usize::from(*class)].to_string();
            let found: Vec<String> =
                sets.iter().map(|set| set.iter().map(label).collect::<Vec<String>>().join("|")).collect();
            assert_eq!(found, column(2), "{name}");
        }
    }
}

#[test]
fn models_are_written_as_they_were_read() {
    for name in names(".spocc") {
        let bytes = bytes(&format!("{name}.spocc"));
        let model = Model::from_bytes(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(model.to_bytes() == bytes, "{name}");
        assert_eq!(model.evidence().is_none(), name.contains(".slim"), "{name}");
    }
}

#[test]
fn the_same_rows_are_counted_into_the_same_bytes() {
    let rows = cells("gold.csv");
    let truth = Truth::new(rows.iter().map(|row| Some(row[7].as_str()))).expect("few labels");
    let weights: Vec<f64> = rows.iter().map(|row| row[6].parse().expect("a weight")).collect();
    let classes = ["cow", "bee", "ant"].map(Label::from).to_vec();
    let cases = [
        ("tally", Counting::default()),
        ("pairs", Counting { level: Level::Pairs, ..Counting::default() }),
        ("marginals", Counting { level: Level::Marginals, ..Counting::default() }),
        ("weighted", Counting { weights: Some(&weights), ..Counting::default() }),
        ("classes", Counting { classes: Some(classes), ..Counting::default() }),
    ];
    assert_eq!(names(".tally").len(), cases.len());
    for (name, counting) in cases {
        let counted =
            Evidence::count(&predictions(&rows), &truth, &counting, &Control::default()).expect("rows");
        let bytes = bytes(&format!("{name}.tally"));
        assert!(counted.to_bytes() == bytes, "{name}");
        let read = Evidence::from_bytes(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((read.level(), read.to_bytes() == bytes), (counting.level, true), "{name}");
    }
}
