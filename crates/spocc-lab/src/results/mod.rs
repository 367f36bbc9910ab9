//! Recorded outcomes: one file per experiment, one JSON line per outcome, appended as they are computed.

mod read;
mod store;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::coverage::SetCounts;

pub(crate) use read::read_all;
pub(crate) use store::Store;

/// Version of the file format.
const FORMAT: u32 = 1;

/// The first line of a file: the experiment and its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct ResultsHeader {
    /// Version of the file format.
    pub(crate) lab: u32,
    /// `synthetic-adversaries`, `real-wine`, `robustness-wine-copies`.
    pub(crate) experiment: String,
    /// `authors` or `honest`.
    #[serde(rename = "as")]
    pub(crate) protocol: String,
    pub(crate) seed: u64,
    /// Version of the engine.
    pub(crate) version: String,
    /// Number of classes.
    pub(crate) classes: usize,
    /// Whether the dataset is a subset of the paper's.
    pub(crate) is_subset: bool,
    /// A hash of the dataset; empty for synthetic data.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) data: String,
    /// Number of rows with a truth in a label set; none for other experiments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rows: Option<usize>,
}

/// The outcome of one repetition at one point of an experiment. A file may have it in several lines, with other methods in
/// each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunOutcome {
    /// Repetition, from 0.
    pub(crate) rep: u32,
    /// Fold of a cross-validation, 0 or 1; 0 without folds.
    pub(crate) fold: u32,
    /// The varied quantity: a number of classifiers, a class balance, a number of validation rows; else 0.
    pub(crate) at: f64,
    /// Confusion counts of each method on the test rows: by true class, then by decided class.
    pub(crate) confusion: BTreeMap<String, Vec<u64>>,
    /// Accuracies, from 0 to 1, of the references `best-base`, `optimal` and `centralised`.
    pub(crate) references: BTreeMap<String, f64>,
    /// Mean log-loss of each method that gives probabilities.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) log_loss: BTreeMap<String, f64>,
    /// The accuracy, from 0 to 1, that a fitted model reports of itself.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) reported: BTreeMap<String, f64>,
    /// Fit time of each method in seconds, on one core; the only figures that differ from run to run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) fit_seconds: BTreeMap<String, f64>,
    /// Prediction sets by method and requested coverage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) sets: BTreeMap<String, BTreeMap<String, SetCounts>>,
}

/// All outcomes of one experiment, sorted by point, repetition and fold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Results {
    pub(crate) header: ResultsHeader,
    pub(crate) outcomes: Vec<RunOutcome>,
}

/// Repetition, fold and the bits of the point.
type OutcomeKey = (u32, u32, u64);

impl ResultsHeader {
    pub(crate) fn new(
        experiment: String,
        protocol: &str,
        seed: u64,
        classes: usize,
        is_subset: bool,
    ) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let (protocol, data) = (protocol.to_owned(), String::new());
        Self { lab: FORMAT, experiment, protocol, seed, version, classes, is_subset, data, rows: None }
    }

    /// What all experiments of one folder share.
    fn run(&self) -> (&str, u64, &str) {
        (&self.protocol, self.seed, &self.version)
    }

    /// A description for error messages.
    fn description(&self) -> String {
        let subset = if self.is_subset { " (a subset)" } else { "" };
        let data = if self.data.is_empty() { String::new() } else { format!(", data {}", self.data) };
        format!(
            "{}{subset} as {}, seed {}, {} classes{data}, version {}",
            self.experiment, self.protocol, self.seed, self.classes, self.version
        )
    }
}

impl RunOutcome {
    /// The accuracy of a method on the test rows.
    pub(crate) fn accuracy(&self, method: &str) -> Option<f64> {
        let confusion = self.confusion.get(method)?;
        let n_classes = confusion.len().isqrt();
        let correct: u64 = (0..n_classes).map(|class| confusion[class * n_classes + class]).sum();
        Some(correct as f64 / confusion.iter().sum::<u64>() as f64)
    }

    pub(crate) fn key(&self) -> OutcomeKey {
        (self.rep, self.fold, self.at.to_bits())
    }

    /// Adds the figures of another line of the same outcome; false, and no change, if the two have different figures of
    /// the same method, fit times apart.
    #[must_use]
    fn absorb(&mut self, other: &Self) -> bool {
        let agree = agree(&self.confusion, &other.confusion)
            && agree(&self.references, &other.references)
            && agree(&self.log_loss, &other.log_loss)
            && agree(&self.reported, &other.reported)
            && agree(&self.sets, &other.sets);
        if agree {
            add_missing(&mut self.confusion, &other.confusion);
            add_missing(&mut self.references, &other.references);
            add_missing(&mut self.log_loss, &other.log_loss);
            add_missing(&mut self.reported, &other.reported);
            add_missing(&mut self.sets, &other.sets);
            add_missing(&mut self.fit_seconds, &other.fit_seconds);
        }
        agree
    }
}

impl Results {
    fn sort(&mut self) {
        self.outcomes.sort_by(|a, b| a.at.total_cmp(&b.at).then((a.rep, a.fold).cmp(&(b.rep, b.fold))));
    }

    /// Drops repetitions that lack a point or fold that others have, and returns their number.
    fn drop_unfinished(&mut self) -> usize {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        self.outcomes.iter().for_each(|outcome| *counts.entry(outcome.rep).or_insert(0) += 1);
        let expected: HashSet<(u32, u64)> =
            self.outcomes.iter().map(|outcome| (outcome.fold, outcome.at.to_bits())).collect();
        self.outcomes.retain(|outcome| counts[&outcome.rep] == expected.len());
        counts.values().filter(|count| **count != expected.len()).count()
    }
}

/// Whether two maps have equal values for the keys that both have.
fn agree<T: PartialEq>(a: &BTreeMap<String, T>, b: &BTreeMap<String, T>) -> bool {
    b.iter().all(|(key, value)| a.get(key).is_none_or(|own| own == value))
}

fn add_missing<T: Clone>(to: &mut BTreeMap<String, T>, from: &BTreeMap<String, T>) {
    for (key, value) in from {
        to.entry(key.clone()).or_insert_with(|| value.clone());
    }
}

fn line_of(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("maps of text and numbers become JSON");
    line.push(b'\n');
    line
}
