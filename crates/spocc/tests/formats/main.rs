//! Files of every released version of the format (`testdata/format2`, `testdata/format3`) are read and decide as they did.

mod format2;
mod format3;

use std::{fs, path::PathBuf};

use spocc::{
    Control, Evidence, Label, Model, Predictions, Truth,
    conformal::{Coverage, RowDraw},
    data::Answers,
    evidence::{Counting, Level},
};

const CLASSIFIERS: [&str; 5] = ["a", "b", "c", "d", "e"];

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    fs::read(file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn version(bytes: &[u8]) -> u8 {
    bytes[8]
}

/// The names of the files of a folder with this ending, without it.
fn names(folder: &str, ending: &str) -> Vec<String> {
    let entries = fs::read_dir(file(folder)).expect("the folder is in the repository");
    let names = entries.map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8"));
    let mut names: Vec<String> =
        names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect();
    names.sort();
    names
}

/// The cells under the header of a small table without quotes.
fn cells(name: &str) -> Vec<Vec<String>> {
    let text = String::from_utf8(bytes(name)).expect("UTF-8");
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// The labelled rows from which the files were made.
fn gold() -> Vec<Vec<String>> {
    cells("format2/gold.csv")
}

/// The rows that the models decide.
fn new_rows() -> Vec<Vec<String>> {
    cells("format2/new.csv")
}

fn predictions(rows: &[Vec<String>]) -> Predictions {
    let mut builder = Predictions::builder(CLASSIFIERS).expect("five names");
    for row in rows {
        let predicted = row[1..6].iter().map(|cell| (!cell.is_empty()).then_some(cell.as_str()));
        builder.push(predicted).expect("five predictions");
    }
    builder.finish()
}

/// The evidence of the labelled rows; columns 6 and 7 of the table are their weights and their truths.
fn counted(counting: &Counting<'_>) -> Evidence {
    let rows = gold();
    let truth = Truth::new(rows.iter().map(|row| Some(row[7].as_str()))).expect("few labels");
    Evidence::count(&predictions(&rows), &truth, counting, &Control::default()).expect("rows")
}

/// Evidence of every level, of weighted rows and with a list of classes, by the names of its files.
fn evidence() -> [(&'static str, Evidence); 5] {
    let weights: Vec<f64> = gold().iter().map(|row| row[6].parse().expect("a weight")).collect();
    let classes = ["cow", "bee", "ant"].map(Label::from).to_vec();
    [
        ("classes", counted(&Counting { classes: Some(classes), ..Counting::default() })),
        ("marginals", counted(&Counting { level: Level::Marginals, ..Counting::default() })),
        ("pairs", counted(&Counting { level: Level::Pairs, ..Counting::default() })),
        ("tally", counted(&Counting::default())),
        ("weighted", counted(&Counting { weights: Some(&weights), ..Counting::default() })),
    ]
}

/// The rows as open answers, with the truths of their last column if they have one.
fn answers(rows: &[Vec<String>]) -> Answers {
    let mut builder = Answers::builder(CLASSIFIERS).expect("five names");
    for row in rows {
        let cells = row[1..6].iter().map(|cell| (!cell.is_empty()).then_some(cell.as_str()));
        builder.push(cells, row.get(7).map(String::as_str)).expect("five answers");
    }
    builder.finish()
}

/// What the model decides on the new rows.
fn decisions(model: &Model) -> Vec<String> {
    if model.is_open() {
        let rows = answers(&new_rows());
        let decided = model.predict(rows.predictions()).expect("all classifiers are there");
        let text = |row: usize| rows.answer(row, decided.class[row]).map(ToString::to_string);
        return (0..rows.n_rows()).map(|row| text(row).unwrap_or_default()).collect();
    }
    let decisions = model.predict(&predictions(&new_rows())).expect("all classifiers are there");
    decisions.labels().map(ToString::to_string).collect()
}

/// The conformal sets of the new rows at coverage 0.8, if the model has scores for them.
fn sets(model: &Model) -> Option<Vec<String>> {
    model.calibration()?;
    let rows = new_rows();
    let predictions = predictions(&rows);
    let aligned = model.align(&predictions).expect("all classifiers are there");
    let row_draw = |row: usize| RowDraw::of_name(0, [rows[row][0].as_str()]);
    let coverage = Coverage::try_from(0.8).expect("a coverage");
    let sets = aligned.sets(0..rows.len(), coverage, row_draw).expect("scores enough");
    let label = |class: &u16| model.classes()[usize::from(*class)].to_string();
    Some(sets.iter().map(|set| set.iter().map(label).collect::<Vec<String>>().join("|")).collect())
}
