//! The label sets of a folder of data: crowds, panels in wide tables, and panels trained on the paper's datasets.

use std::path::Path;

use spocc::Label;

use crate::{
    datasets::{self, Dataset, State},
    error::{Error, choose},
    experiments::{
        ExperimentSettings, Unit,
        real::{self, FoldPredictions},
    },
    label_sets::{self, LabelSet},
    protocol::Protocol,
};

/// Large datasets: fits to half of their rows are slow. They run where they are named, not as part of `all`.
const LARGE: [&str; 3] = ["20newsgroup", "mnist", "particle"];

/// The label set named, or for `all` those with a closed list of classes without the large ones, and a remark on what is
/// left out.
pub(crate) fn names(name: &str, data: &Path) -> Result<(Vec<String>, Option<String>), Error> {
    let files = label_sets::find(data)?;
    let present = datasets::NAMES.into_iter().filter(|name| datasets::state(name, data) != State::Absent);
    let present: Vec<&str> = present.collect();
    let known: Vec<&str> =
        files.iter().map(|(name, _)| name.as_str()).chain(present.iter().copied()).collect();
    if known.is_empty() {
        let expected = "label sets in crowd/ or panels/, or datasets".to_owned();
        return Err(Error::BadFile { path: data.to_owned(), expected, found: "none of them".to_owned() });
    }
    if name != "all" {
        let known: Vec<&str> = known.into_iter().chain(["all"]).collect();
        return choose("label set", &known, name).map(|_| (vec![name.to_owned()], None));
    }
    let (mut chosen, mut left_out) = (Vec::new(), Vec::new());
    for (name, files) in &files {
        let list = if files.is_open()? { &mut left_out } else { &mut chosen };
        list.push(name.clone());
    }
    for name in present {
        let list = if LARGE.contains(&name) { &mut left_out } else { &mut chosen };
        list.push(name.to_owned());
    }
    let remark = (!left_out.is_empty()).then(|| {
        let most = label_sets::MAX_CLASSES;
        format!(
            "{} left out: more than {most} different truths, or large; name a large one to run it",
            left_out.join(", ")
        )
    });
    Ok((chosen, remark))
}

/// Reads a label set, or trains the panel of a dataset.
pub(crate) fn load(name: &str, data: &Path, seed: u64, is_open: bool) -> Result<LabelSet, Error> {
    match label_sets::find(data)?.iter().find(|(found, _)| found == name) {
        Some((_, files)) if is_open => files.load_open(name),
        Some((_, files)) => files.load(name),
        None => Ok(trained(&datasets::load(name, data)?, seed)),
    }
}

/// The panel of the first fold of `real` with this seed, under the honest protocol. Its rows are the validation rows, which
/// no classifier was trained on, and the test half.
fn trained(dataset: &Dataset, seed: u64) -> LabelSet {
    let settings = ExperimentSettings { protocol: Protocol::Honest, seed, reps: 1, out: Path::new("") };
    let unit = Unit { rep: 0, fold: 0, points: Vec::new() };
    let FoldPredictions { validation, test } = real::prepare(&settings, dataset, &unit);
    let labels: Vec<Label> = (0..dataset.n_classes as i64).map(Label::from).collect();
    let mut rows = Vec::new();
    let mut truth = Vec::new();
    for panel in [&validation, &test] {
        for row in 0..panel.n_rows() {
            rows.push(panel.columns.iter().map(|column| usize::from(column[row])).enumerate().collect());
            truth.push(Some(panel.truth[row]));
        }
    }
    let classifiers = (1..=test.columns.len()).map(|k| format!("c{k}")).collect();
    LabelSet { name: dataset.name.to_owned(), classifiers, classes: labels.clone(), labels, rows, truth }
}
