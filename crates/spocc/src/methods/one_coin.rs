//! One-coin Dawid-Skene: a single accuracy per classifier, fitted to labelled and unlabelled rows.
//!
//! A classifier predicts the true class with its accuracy and every other label with the same probability. With so few
//! parameters expectation-maximisation is not misled by workers who share the errors of one class; it cannot model a
//! classifier that prefers a label.

use crate::{
    error::Error,
    evidence::{Evidence, Level},
    methods::{
        Combiner, Learn, Method, Rule,
        dawid_skene::{self, ExpectedCounts},
        naive_bayes::Likelihoods,
    },
    progress::Control,
};

/// Pseudo-rows that shrink the accuracy of a classifier towards that of the panel.
const PANEL_ROWS: f64 = 4.0;
/// Pseudo-rows of the panel itself, and how many of them are right.
const PRIOR_ROWS: [f64; 2] = [20.0, 16.0];
/// Bounds of an accuracy, so that no likelihood is zero.
const ACCURACIES: (f64, f64) = (1e-3, 1.0 - 1e-3);

/// Dawid and Skene's model with one accuracy per classifier, by expectation-maximisation; it has no settings.
///
/// Predicted labels that are no classes are not used. This method is not in the paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OneCoin;

impl Combiner for OneCoin {
    fn method(&self) -> Method {
        Method::OneCoin
    }

    fn needs(&self) -> Level {
        Level::Tally
    }
}

impl Learn for OneCoin {
    fn learn(&self, evidence: &Evidence, control: &Control<'_>) -> Result<Rule, Error> {
        Ok(Rule::NaiveBayes(dawid_skene::estimate(evidence, likelihoods, control)?))
    }
}

/// The M step: the accuracy of every classifier, shrunk towards that of the panel.
fn likelihoods(counts: &ExpectedCounts) -> Likelihoods {
    let [n, s, l] = counts.size;
    // Classes are the first labels; predictions of other labels count neither as right nor as wrong.
    let of_classifier = |k: usize| {
        let confusion = &counts.confusions[k * s * l..(k * s + l) * l];
        let right = confusion.iter().step_by(l + 1).sum::<f64>();
        [confusion.iter().sum::<f64>() / counts.unit, right / counts.unit]
    };
    let rows: Vec<[f64; 2]> = (0..n).map(of_classifier).collect();
    let panel = rows.iter().fold(PRIOR_ROWS, |[all, right], of| [all + of[0], right + of[1]]);
    let shrunk = |[all, right]: [f64; 2]| (right + PANEL_ROWS * panel[1] / panel[0]) / (all + PANEL_ROWS);
    let accuracies: Vec<f64> = rows.iter().map(|&of| shrunk(of).clamp(ACCURACIES.0, ACCURACIES.1)).collect();
    let probability = |at: usize| {
        let (k, j, i) = (at / (s * l), at / l % s, at % l);
        match (j < l, j == i) {
            (true, true) => accuracies[k],
            (true, false) => (1.0 - accuracies[k]) / (l - 1).max(1) as f64,
            (false, _) => 1.0,
        }
    };
    Likelihoods::from_probabilities([n, s, l], &counts.classes, probability)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{MISSING, Row};

    /// `ln p(row | 0) - ln p(row | 1)` of two classifiers and three labels, the last of which is no class.
    fn log_odds(fitted: &Likelihoods, cells: [u16; 2]) -> f64 {
        let mut surprisals = [0.0; 2];
        fitted.add(Row::Dense(&cells), &mut surprisals);
        surprisals[1] - surprisals[0]
    }

    #[test]
    fn accuracies_are_those_computed_by_hand() {
        // Counts are in quarters of a row. The first classifier is right on 9 of 10 rows, the second on 1 of 4.
        let confusions = [[20.0, 4.0], [0.0, 16.0], [8.0, 0.0], [0.0, 4.0], [8.0, 4.0], [0.0, 0.0]].concat();
        let counts = ExpectedCounts { size: [2, 3, 2], unit: 4.0, classes: vec![28.0, 20.0], confusions };
        let fitted = likelihoods(&counts);
        let panel = (16.0 + 9.0 + 1.0) / (20.0 + 10.0 + 4.0);
        for (cells, right, rows) in [([0, MISSING], 9.0, 10.0), ([MISSING, 0], 1.0, 4.0)] {
            let accuracy: f64 = (right + 4.0 * panel) / (rows + 4.0);
            let expected = (accuracy / (1.0 - accuracy)).ln();
            assert!((log_odds(&fitted, cells) - expected).abs() < 1e-12, "{expected}");
        }
        assert_eq!(log_odds(&fitted, [2, 2]), 0.0, "a label that is no class is not used");
    }
}
