//! Neutral leaves: their predictions say nothing about the truth.
//!
//! A leaf that is more probably neutral than informative is used by no expert; others count by the probability that they are
//! informative.
//!
//! A Bayes factor compares two hypotheses about the truths of the rows with a prediction of the leaf: the class
//! frequencies differ between its predicted labels, or they are the same. Names of labels play no part. The prior odds are
//! shared by the panel: among a hundred guessers the next classifier is expected to be one too.

use crate::{
    evidence::{log_marginal, log_odds},
    math::exp,
    methods::ladder::leaf_counts::LeafCounts,
};

/// Posterior probability of being informative below which a leaf is not used.
pub(super) const LEVEL: f64 = 0.5;
/// Pseudo-counts of informative leaves and of neutral ones: classifiers are taken to be informative until the evidence is
/// against it.
const PRIOR_LEAVES: [f64; 2] = [4.0, 0.5];

/// The posterior probability that each leaf is informative.
pub(super) fn informative(counts: &LeafCounts) -> Vec<f64> {
    let factors: Vec<f64> = (0..counts.n_leaves()).map(|leaf| log_bayes_factor(counts, leaf)).collect();
    let odds = log_odds(&factors, PRIOR_LEAVES);
    factors.iter().map(|factor| 1.0 / (1.0 + exp(-factor - odds))).collect()
}

/// Logarithm of the Bayes factor of dependence against independence.
fn log_bayes_factor(counts: &LeafCounts, leaf: usize) -> f64 {
    let mut all = vec![0.0; counts.n_classes()];
    let mut dependent = 0.0;
    for of_label in counts.confusion(leaf).chunks_exact(counts.n_classes().max(1)) {
        dependent += log_marginal(of_label);
        all.iter_mut().zip(of_label).for_each(|(sum, rows)| *sum += rows);
    }
    dependent - log_marginal(&all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_neutral_of(confusions: &[[f64; 4]]) -> Vec<bool> {
        let counts = LeafCounts { n_labels: 2, classes: vec![50.0, 50.0], confusions: confusions.concat() };
        informative(&counts).iter().map(|&probability| probability < LEVEL).collect()
    }

    #[test]
    fn guessers_are_neutral_whatever_the_balance_and_adversaries_are_not() {
        let [accurate, guesser, adversary] =
            [[40.0, 8.0, 10.0, 42.0], [60.0, 12.0, 40.0, 8.0], [5.0, 44.0, 45.0, 6.0]];
        let found = is_neutral_of(&[[accurate; 3].as_slice(), &[guesser; 20], &[adversary]].concat());
        let expected = [[false; 3].as_slice(), &[true; 20], &[false]].concat();
        assert_eq!(found, expected);
    }

    #[test]
    fn one_right_and_one_wrong_prediction_do_not_make_a_leaf_neutral() {
        let accurate = [40.0, 8.0, 10.0, 42.0];
        assert_eq!(is_neutral_of(&[accurate, accurate, [1.0, 0.0, 1.0, 0.0], [0.0; 4]]), [false; 4]);
    }

    #[test]
    fn class_weights_do_not_make_a_guesser_informative() {
        use crate::{Control, Evidence, Predictions, Truth, evidence::Counting};
        // 6 of 10 rows of the rare class and half of 190 others are predicted as 1: no evidence of anything.
        let mut rows = Predictions::builder(["guesser"]).expect("a name");
        let mut truth = Truth::default();
        for row in 0..200i64 {
            let predicted = if row < 10 { i64::from(row < 6) } else { row % 2 };
            rows.push([Some(predicted)]).expect("a row");
            truth.push(Some(i64::from(row < 10))).expect("two classes");
        }
        let plain =
            Evidence::count(&rows.finish(), &truth, &Counting::default(), &Control::default()).expect("rows");
        let balanced = plain.with_class_weights(&[1.0, 19.0]).expect("two weights");
        let found = |counts: LeafCounts| informative(&counts)[0];
        let expected = found(LeafCounts::of(&plain, &[0]));
        assert!(found(LeafCounts::of(&balanced, &[0])) > expected + 0.01, "weights look like more rows");
        let unweighted = found(LeafCounts::without_class_weights(&balanced, &[0]));
        assert!((unweighted - expected).abs() < 1e-6, "{unweighted} {expected}");
    }
}
