//! Sets and draws for other programs, which can then add their results to those of the laboratory.

use std::{fs, path::PathBuf};

use serde::Serialize;

use super::{BudgetSettings, draws::Draw};
use crate::{error::Error, label_sets::LabelSet, results::ResultsHeader};

/// The first line of a file of draws.
#[derive(Serialize)]
struct DrawsHeader {
    /// The first line of a file of results.
    header: ResultsHeader,
    /// The classes, in the order of confusion counts.
    classes: Vec<String>,
}

/// A line of a file of draws; row numbers count from 0 in the table.
#[derive(Serialize)]
struct DrawnRows {
    rep: u32,
    at: f64,
    labelled: Vec<usize>,
    test: Vec<usize>,
}

/// Writes `NAME.csv` (`truth`, then a column per classifier) and `NAME.draws.jsonl`.
pub(crate) fn write(run: &BudgetSettings<'_>, set: &LabelSet) -> Result<[PathBuf; 2], Error> {
    fs::create_dir_all(run.out).map_err(Error::io(run.out))?;
    let classes = set.classes.iter().map(ToString::to_string).collect();
    let mut lines = vec![json(&DrawsHeader { header: run.header(set), classes })];
    for (rows, rep) in run.units(set) {
        let Draw { labelled, test, .. } = Draw::new(set, run.seed, rep, rows)?;
        lines.push(json(&DrawnRows { rep, at: rows as f64, labelled, test }));
    }
    let paths = [".csv", ".draws.jsonl"].map(|ending| run.out.join(format!("{}{ending}", set.name)));
    for (path, text) in paths.iter().zip([table(set), lines.join("\n") + "\n"]) {
        fs::write(path, text).map_err(Error::io(path))?;
    }
    Ok(paths)
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("text and numbers become JSON")
}

fn table(set: &LabelSet) -> String {
    let mut text = std::iter::once("truth")
        .chain(set.classifiers.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(",");
    for (cells, truth) in set.rows.iter().zip(&set.truth) {
        let mut fields = vec![String::new(); 1 + set.classifiers.len()];
        fields[0] = truth.map_or_else(String::new, |class| set.classes[usize::from(class)].to_string());
        for &(classifier, label) in cells {
            fields[1 + classifier] = set.labels[label].to_string();
        }
        text.extend(["\n", &fields.join(",")]);
    }
    text + "\n"
}
