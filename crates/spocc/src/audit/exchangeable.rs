//! Whether classes look exchangeable, as the letters of multiple-choice questions do: an error for one class says as much
//! about a classifier as an error for any other.

use crate::{
    evidence::Evidence,
    math::{ln, ln_gamma},
};

/// Classes below which one accuracy per classifier is hardly simpler than its confusions.
const MIN_CLASSES: usize = 4;
/// Log of the Bayes factor per classifier from which the classes look exchangeable.
const MIN_LOG_FACTOR: f64 = 3.0;
/// Pseudo-rows of a right and of a wrong prediction.
const PRIOR: [f64; 2] = [1.0, 1.0];
/// Pseudo-rows with which the confusions of a class are spread around one accuracy, by their own marginal likelihood.
const CONCENTRATIONS: [f64; 6] = [2.0, 5.0, 10.0, 20.0, 50.0, 100.0];

/// The mean over the classifiers of the log Bayes factor of one accuracy, with wrong predictions spread evenly, against a
/// confusion per class; none with too few classes, or where predictions do not name classes.
pub(super) fn log_bayes_factor(evidence: &Evidence) -> Option<f64> {
    let l = evidence.class_counts().iter().filter(|count| **count > 0).count();
    if l < MIN_CLASSES || evidence.n_labels() > evidence.n_classes() {
        return None;
    }
    let used: Vec<usize> = (0..evidence.n_classifiers()).filter(|&k| evidence.correct(k) > 0).collect();
    let sum: f64 = used.iter().map(|&k| of_classifier(evidence, k)).sum();
    (!used.is_empty()).then(|| sum / used.len() as f64)
}

/// Whether classes look exchangeable.
pub(super) fn is_exchangeable(log_factor: f64) -> bool {
    log_factor >= MIN_LOG_FACTOR
}

fn of_classifier(evidence: &Evidence, k: usize) -> f64 {
    let (s, l) = (evidence.n_labels(), evidence.n_classes());
    let count = |j: usize, i: usize| evidence.rows_of(evidence.row(k, j as u16)[i]);
    let right: f64 = (0..l).map(|i| count(i, i)).sum();
    let wrong: f64 = evidence.rows_of(evidence.answered(k)) - right;
    let others = (s - 1) as f64;
    let [a, b] = PRIOR;
    let beta = |x: f64, y: f64| ln_gamma(x) + ln_gamma(y) - ln_gamma(x + y);
    let one_accuracy = beta(a + right, b + wrong) - beta(a, b) - wrong * ln(others);
    // A Dirichlet prior per class around the one accuracy; the best concentration costs the logarithm of their number.
    let accuracy = (right + a) / (right + wrong + a + b);
    let per_class = |concentration: &f64| -> f64 {
        let of_class = |i: usize| {
            let total: f64 = (0..s).map(|j| count(j, i)).sum();
            let cell = |j: usize| {
                let mean = if i == j { accuracy } else { (1.0 - accuracy) / others };
                ln_gamma(concentration * mean + count(j, i)) - ln_gamma(concentration * mean)
            };
            (0..s).map(cell).sum::<f64>() + ln_gamma(*concentration) - ln_gamma(concentration + total)
        };
        (0..l).map(of_class).sum()
    };
    let logs: Vec<f64> = CONCENTRATIONS.iter().map(per_class).collect();
    let best = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    one_accuracy - (best - ln(CONCENTRATIONS.len() as f64))
}
