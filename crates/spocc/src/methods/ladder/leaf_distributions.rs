//! The leaves of the ladder: the possibility distribution behind every prediction, as a surprisal per class.
//!
//! The possibility of a class given a prediction is its frequency among the rows with that prediction over its
//! frequency among all rows, scaled to a maximum of 1. The frequencies are [shrunk](super::shrinkage) towards neutrality.
//! Counts that are exactly independent of the truth are exactly neutral, whatever the class balance.

use crate::{
    math::ln,
    methods::ladder::shrinkage::{LeafCounts, SHRINKAGE_GRID, ShrinkageWeights},
};

/// The distribution of every leaf and predicted label, over all rows and over all rows but one.
///
/// A row of class i takes one row out of the confusion cell (leaf, predicted, i) of every leaf that has a prediction on
/// it, and out of the frequency of i. So there is one leave-one-out distribution per such cell, computed once and looked
/// up for every row.
#[derive(Clone, Debug)]
pub(super) struct LeafDistributions {
    n_labels: usize,
    n_classes: usize,
    /// Logarithms of surprisals by leaf, predicted label and class.
    full: Vec<f64>,
    /// Number of the leave-one-out distribution of each cell, by leaf, predicted label and class; [`EMPTY_CELL`] where
    /// the cell has no row.
    leave_one_out_of: Vec<u32>,
    leave_one_out: Vec<f64>,
    /// Logarithms of the class frequencies, then of those without a row of each class.
    log_priors: Vec<f64>,
}

const EMPTY_CELL: u32 = u32::MAX;

impl LeafDistributions {
    /// From all rows; with `leave_one_out`, also without one row of each class.
    pub(super) fn new(counts: &LeafCounts, weights: &[ShrinkageWeights], leave_one_out: bool) -> Self {
        let (l, s) = (counts.n_classes(), counts.n_labels);
        let mut full = vec![0.0; counts.confusions.len()];
        let cells = counts.confusions.chunks_exact(l.max(1)).zip(full.chunks_exact_mut(l.max(1)));
        for (row, (counted, out)) in cells.enumerate() {
            log_surprisals(counted, &counts.classes, &weights[row / s], out);
        }
        let mut leaves = Self {
            n_labels: s,
            n_classes: l,
            full,
            leave_one_out_of: Vec::new(),
            leave_one_out: Vec::new(),
            log_priors: log_prior(&counts.classes),
        };
        if leave_one_out {
            leaves.leave_one_out(counts, weights);
        }
        leaves
    }

    /// Adds the distributions without one row of each class.
    fn leave_one_out(&mut self, counts: &LeafCounts, weights: &[ShrinkageWeights]) {
        let l = counts.n_classes();
        self.leave_one_out_of = vec![EMPTY_CELL; counts.confusions.len()];
        let mut classes = counts.classes.clone();
        let mut without = vec![0.0; l];
        for class in 0..l {
            let one = counts.row_weights[class];
            classes[class] -= one.min(classes[class]);
            self.log_priors.extend(log_prior(&classes));
            let cells = counts.confusions.chunks_exact(l).enumerate();
            for (row, counted) in cells.filter(|(_, counted)| counted[class] > 0.0) {
                without.copy_from_slice(counted);
                without[class] -= one.min(counted[class]);
                let start = self.leave_one_out.len();
                self.leave_one_out_of[row * l + class] = (start / l) as u32;
                self.leave_one_out.resize(start + l, 0.0);
                let weights = &weights[row / counts.n_labels];
                log_surprisals(&without, &classes, weights, &mut self.leave_one_out[start..]);
            }
            classes[class] = counts.classes[class];
        }
    }

    /// Logarithms of the surprisals that a prediction gives the classes, perhaps without one row of a class.
    #[inline]
    pub(super) fn distribution(&self, leaf: usize, predicted: u16, without: Option<u16>) -> &[f64] {
        let l = self.n_classes;
        let row = leaf * self.n_labels + usize::from(predicted);
        match without.map(|class| self.leave_one_out_of[row * l + usize::from(class)]) {
            Some(number) if number != EMPTY_CELL => &self.leave_one_out[number as usize * l..][..l],
            _ => &self.full[row * l..][..l],
        }
    }

    /// Logarithms of the class frequencies, perhaps without one row of a class.
    #[inline]
    pub(super) fn log_prior(&self, without: Option<u16>) -> &[f64] {
        let at = without.map_or(0, |class| 1 + usize::from(class));
        &self.log_priors[at * self.n_classes..][..self.n_classes]
    }

    /// The distributions over all rows.
    pub(super) fn into_full(self) -> Vec<f64> {
        self.full
    }
}

/// Logarithms of the class frequencies, with half a pseudo-row per class.
pub(super) fn log_prior(classes: &[f64]) -> Vec<f64> {
    let total = classes.iter().sum::<f64>() + 0.5 * classes.len() as f64;
    classes.iter().map(|count| ln((count + 0.5) / total)).collect()
}

/// Logarithm of the surprisal of every class, from the class counts of one predicted label and of all rows.
fn log_surprisals(counted: &[f64], classes: &[f64], weights: &ShrinkageWeights, out: &mut [f64]) {
    let total: f64 = classes.iter().sum();
    let rows: f64 = counted.iter().sum();
    // The ratio of the frequencies is `(count / share + strength) / (rows + strength)`, averaged over the strengths.
    let (mut slope, mut start) = (0.0, 0.0);
    for (weight, strength) in weights.iter().zip(SHRINKAGE_GRID) {
        if strength.is_infinite() {
            start += weight;
        } else {
            slope += weight / (rows + strength);
            start += weight * strength / (rows + strength);
        }
    }
    for ((out, &count), &class) in out.iter_mut().zip(counted).zip(classes) {
        // Nothing is known about a class without rows: its ratio is 1.
        *out = if class > 0.0 { count * total / class * slope + start } else { 1.0 };
    }
    let best = out.iter().copied().fold(0.0, f64::max);
    for out in out {
        // Ratios equal up to rounding count as equal, so that a neutral prediction is exactly neutral.
        let ratio = *out / best;
        *out = if ratio > 1.0 - 1e-12 { f64::NEG_INFINITY } else { ln(-ln(ratio)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_independent_of_the_truth_are_exactly_neutral() {
        // Two labels, predicted on one and on two thirds of the rows of each of three very unequal classes.
        let classes = vec![30.0, 6.0, 300.0];
        let confusions: Vec<f64> =
            [1.0 / 3.0, 2.0 / 3.0].iter().flat_map(|s| classes.iter().map(move |c| c * s)).collect();
        let counts = LeafCounts { n_labels: 2, row_weights: vec![1.0; classes.len()], classes, confusions };
        let leaves = LeafDistributions::new(&counts, &counts.weights(), false);
        assert!(leaves.full.iter().all(|&s| s == f64::NEG_INFINITY), "{:?}", leaves.full);
    }

    #[test]
    fn a_distribution_without_a_row_is_that_of_the_other_rows() {
        let counts = LeafCounts {
            n_labels: 2,
            classes: vec![5.0, 3.0],
            row_weights: vec![1.0; 2],
            confusions: vec![4.0, 1.0, 1.0, 2.0],
        };
        let weights = counts.weights();
        let leaves = LeafDistributions::new(&counts, &weights, true);
        let other = LeafCounts {
            n_labels: 2,
            classes: vec![4.0, 3.0],
            row_weights: vec![1.0; 2],
            confusions: vec![3.0, 1.0, 1.0, 2.0],
        };
        let other = LeafDistributions::new(&other, &weights, false);
        assert_eq!(leaves.distribution(0, 0, Some(0)), other.distribution(0, 0, None));
        assert_eq!(leaves.log_prior(Some(0)), other.log_prior(None));
        assert_ne!(leaves.distribution(0, 0, None), other.distribution(0, 0, None));
    }
}
