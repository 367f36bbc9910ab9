//! Results: a file per experiment, a line per outcome, appended as they come.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What an experiment is and with what settings it runs: the first line of its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Heading {
    /// Form of the file.
    pub(crate) lab: u32,
    /// `synthetic-adversaries`, `real-wine`, `robustness-wine-copies`.
    pub(crate) experiment: String,
    /// `authors` or `honest`.
    #[serde(rename = "as")]
    pub(crate) setting: String,
    pub(crate) seed: u64,
    /// Version of the engine.
    pub(crate) version: String,
    /// Number of classes.
    pub(crate) classes: usize,
    /// Whether the dataset is less than what the paper used.
    pub(crate) is_subset: bool,
}

/// What came out of one repetition at one point of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Repetition, from 0.
    pub(crate) rep: u32,
    /// Fold of a cross-validation, 0 or 1; 0 where there are none.
    pub(crate) fold: u32,
    /// What is varied: a number of classifiers, a class balance, a number of validation rows; 0 if nothing is.
    pub(crate) at: f64,
    /// Confusion counts of each method on the test rows: true class after true class, decided class within.
    pub(crate) confusion: BTreeMap<String, Vec<u64>>,
    /// Accuracies, from 0 to 1, of what is shown for reference: `best-base`, `optimal`, `centralised`.
    pub(crate) references: BTreeMap<String, f64>,
}

/// All outcomes of one experiment, sorted by point, repetition and fold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Results {
    pub(crate) heading: Heading,
    pub(crate) outcomes: Vec<Outcome>,
}

impl Outcome {
    /// Share of the test rows decided rightly by a method.
    pub(crate) fn accuracy(&self, method: &str) -> Option<f64> {
        let confusion = self.confusion.get(method)?;
        let n_classes = confusion.len().isqrt();
        let right: u64 = (0..n_classes).map(|class| confusion[class * n_classes + class]).sum();
        Some(right as f64 / confusion.iter().sum::<u64>() as f64)
    }
}
