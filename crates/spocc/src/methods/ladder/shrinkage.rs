//! How strongly the counts of a classifier are shrunk towards neutrality.
//!
//! The class frequencies among the rows with some prediction are shrunk towards those of all rows by adding pseudo-rows
//! of the average kind. How many to add is not chosen but averaged, with posterior weights: the Dirichlet-multinomial
//! marginal likelihood of the classifier's counts times a prior that the whole panel shares (empirical Bayes). So in a
//! panel with a hundred guessers the next classifier is expected to be a guesser too.

use crate::{
    evidence::Evidence,
    math::{exp, ln, ln_gamma},
};

/// Strengths of the shrinkage, as pseudo-rows with the class frequencies of all rows; the last is complete shrinkage.
pub(super) const SHRINKAGE_GRID: [f64; 14] =
    [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, f64::INFINITY];

/// Number of classifiers that the prior over [`SHRINKAGE_GRID`] is worth.
const PRIOR_CLASSIFIERS: f64 = 32.0;

/// Rounds of expectation-maximisation over the weights that the panel shares.
const EM_ROUNDS: usize = 30;

/// Posterior probability of each strength of [`SHRINKAGE_GRID`].
pub(super) type ShrinkageWeights = [f64; SHRINKAGE_GRID.len()];

/// Confusion and class counts of the leaves, in rows.
#[derive(Clone, Debug)]
pub(super) struct LeafCounts {
    pub(super) n_labels: usize,
    /// Rows of each class.
    pub(super) classes: Vec<f64>,
    /// Weight of one row of each class.
    pub(super) row_weights: Vec<f64>,
    /// Rows by leaf, predicted label and class.
    pub(super) confusions: Vec<f64>,
}

impl LeafCounts {
    pub(super) fn of(evidence: &Evidence, classifiers: &[usize]) -> Self {
        let rows = |counts: &[u64]| counts.iter().map(|&count| evidence.rows_of(count)).collect();
        let confusions =
            classifiers.iter().flat_map(|&k| evidence.confusion(k).to_vec()).collect::<Vec<u64>>();
        Self {
            n_labels: evidence.n_labels(),
            classes: rows(evidence.class_counts()),
            row_weights: (0..evidence.n_classes())
                .map(|i| evidence.rows_of(evidence.row_unit(i as u16)))
                .collect(),
            confusions: rows(&confusions),
        }
    }

    pub(super) fn n_classes(&self) -> usize {
        self.classes.len()
    }

    fn n_leaves(&self) -> usize {
        self.confusions.len() / (self.n_labels * self.n_classes()).max(1)
    }

    /// The confusion of a leaf: rows by predicted label and class.
    fn confusion(&self, leaf: usize) -> &[f64] {
        let size = self.n_labels * self.n_classes();
        &self.confusions[leaf * size..(leaf + 1) * size]
    }

    /// Rows on which a leaf has a prediction.
    pub(super) fn n_answered(&self, leaf: usize) -> f64 {
        self.confusion(leaf).iter().sum()
    }

    /// Size of all leave-one-out distributions together.
    pub(super) fn n_leave_one_out(&self) -> usize {
        self.confusions.iter().filter(|count| **count > 0.0).count() * self.n_classes()
    }

    /// Where the counts of a predicted label start in `confusions`.
    #[inline]
    pub(super) fn at(&self, leaf: usize, predicted: u16) -> usize {
        (leaf * self.n_labels + usize::from(predicted)) * self.classes.len()
    }

    /// The posterior weights of the shrinkage strengths, for every leaf.
    pub(super) fn weights(&self) -> Vec<ShrinkageWeights> {
        // The prior falls as 1 / strength; complete shrinkage has the prior weight of 128 pseudo-rows.
        let mut prior: ShrinkageWeights = SHRINKAGE_GRID.map(|strength| 1.0 / strength.min(128.0));
        normalise(&mut prior);
        let likelihoods: Vec<ShrinkageWeights> =
            (0..self.n_leaves()).map(|leaf| self.log_likelihoods(leaf)).collect();
        let mut shared = prior;
        let mut weights = vec![prior; likelihoods.len()];
        for _ in 0..EM_ROUNDS {
            for (weights, logs) in weights.iter_mut().zip(&likelihoods) {
                let best = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                *weights = std::array::from_fn(|at| shared[at] * exp(logs[at] - best));
                normalise(weights);
            }
            shared = std::array::from_fn(|at| {
                PRIOR_CLASSIFIERS * prior[at] + weights.iter().map(|weights| weights[at]).sum::<f64>()
            });
            normalise(&mut shared);
        }
        weights
    }

    /// How far the predictions of a leaf are shrunk on average, from 0 (not at all) to 1 (neutral).
    pub(super) fn neutrality(&self, leaf: usize, weights: &ShrinkageWeights) -> f64 {
        let labels = self.confusion(leaf).chunks_exact(self.n_classes().max(1));
        let (mut shrunk, mut n_answered) = (0.0, 0.0);
        for rows in labels.map(|classes| classes.iter().sum::<f64>()) {
            let share =
                |strength: f64| if strength.is_infinite() { 1.0 } else { strength / (rows + strength) };
            let mean = weights.iter().zip(SHRINKAGE_GRID).map(|(weight, strength)| weight * share(strength));
            shrunk += rows * mean.sum::<f64>();
            n_answered += rows;
        }
        if n_answered > 0.0 { shrunk / n_answered } else { 1.0 }
    }

    /// Logarithm of the Dirichlet-multinomial likelihood of a leaf's counts at each strength.
    fn log_likelihoods(&self, leaf: usize) -> ShrinkageWeights {
        let total: f64 = self.classes.iter().sum();
        let mut logs = [0.0; SHRINKAGE_GRID.len()];
        for counts in self.confusion(leaf).chunks_exact(self.n_classes().max(1)) {
            let rows: f64 = counts.iter().sum();
            if rows == 0.0 {
                continue;
            }
            for (log, &strength) in logs.iter_mut().zip(&SHRINKAGE_GRID) {
                for (&count, &class) in counts.iter().zip(&self.classes).filter(|pair| *pair.0 > 0.0) {
                    let share = class / total;
                    *log += if strength.is_infinite() {
                        count * ln(share)
                    } else {
                        ln_rising(strength * share, count)
                    };
                }
                if strength.is_finite() {
                    *log -= ln_rising(strength, rows);
                }
            }
        }
        logs
    }
}

fn normalise(weights: &mut ShrinkageWeights) {
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
}

/// `ln Gamma(x + n) - ln Gamma(x)`.
fn ln_rising(x: f64, n: f64) -> f64 {
    ln_gamma(x + n) - ln_gamma(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_panel_of_guessers_a_weak_classifier_is_shrunk_further() {
        let good = [40.0, 10.0, 10.0, 40.0];
        let weak = [27.0, 23.0, 23.0, 27.0];
        let guesser = [25.0, 25.0, 25.0, 25.0];
        let complete_shrinkage = |rest: &[f64]| {
            let confusions = [&weak[..], &rest.repeat(60)].concat();
            let counts =
                LeafCounts { n_labels: 2, classes: vec![50.0, 50.0], row_weights: vec![1.0; 2], confusions };
            counts.weights()[0][SHRINKAGE_GRID.len() - 1]
        };
        assert!(
            complete_shrinkage(&guesser) > 2.0 * complete_shrinkage(&good),
            "{} {}",
            complete_shrinkage(&guesser),
            complete_shrinkage(&good)
        );
    }
}
