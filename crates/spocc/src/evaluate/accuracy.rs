//! Accuracies of the methods, from counts that keep which methods are correct together, so that any two methods can be
//! compared row by row.

use std::collections::BTreeMap;

use crate::{
    audit::clopper_pearson,
    evaluate::{
        evaluator::TrialResult,
        paired_test::{Difference, PairedCounts},
        split::WeightedSubset,
    },
};

/// Fraction bits of a sum of rows. Sums of integers do not depend on their order, so the figures of a method do not depend
/// on the methods that it is compared with.
const FRACTION_BITS: u32 = 40;

/// One trial: the effective number and the weight of the rows, by the set of methods that are correct on them, a bit
/// per method.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CorrectCounts(BTreeMap<u64, [u128; 2]>);

impl CorrectCounts {
    /// Counts the rows of a subset.
    pub(super) fn new(result: &TrialResult, subset: &WeightedSubset) -> Self {
        let unit = (1u64 << FRACTION_BITS) as f64;
        let mut rows: BTreeMap<u64, [u128; 2]> = BTreeMap::new();
        for (cell, own) in subset {
            let sums = rows.entry(result.correct[*cell]).or_default();
            sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += (own * unit).round() as u128);
        }
        Self(rows)
    }

    /// Effective number of rows.
    pub(super) fn rows(&self) -> f64 {
        self.sum(|_| true)[0]
    }

    /// Effective number of rows on which method `m` is correct.
    pub(super) fn correct(&self, m: usize) -> f64 {
        self.sum(|methods| methods >> m & 1 == 1)[0]
    }

    fn paired(&self, a: usize, b: usize) -> PairedCounts {
        let only = |m: usize, other: usize| {
            self.sum(|methods| methods >> m & 1 == 1 && methods >> other & 1 == 0)[0]
        };
        PairedCounts { rows: self.rows(), first: only(a, b), second: only(b, a) }
    }

    fn sum(&self, is_counted: impl Fn(u64) -> bool) -> [f64; 2] {
        let rows = self.0.iter().filter(|(methods, _)| is_counted(**methods));
        let sums = rows.fold([0; 2], |sum, (_, own)| [sum[0] + own[0], sum[1] + own[1]]);
        sums.map(|sum| sum as f64 / (1u64 << FRACTION_BITS) as f64)
    }
}

/// All trials of a comparison.
pub(super) struct Accuracies {
    /// One per fold of every repetition, or the one of the test rows.
    trials: Vec<CorrectCounts>,
    /// Repetitions of the cross-validation; none for test rows.
    repeats: Option<usize>,
}

impl Accuracies {
    /// From folds, which together have every row `repeats` times, or from test rows.
    pub(super) fn new(trials: Vec<CorrectCounts>, repeats: Option<usize>) -> Self {
        Self { trials, repeats }
    }

    /// Accuracy of method `m` with rows weighted by class, averaged over repetitions.
    pub(super) fn accuracy(&self, m: usize) -> f64 {
        self.mean(|trial| trial.correct(m)) / self.mean(CorrectCounts::rows).max(f64::MIN_POSITIVE)
    }

    /// The same with equal class weights.
    pub(super) fn plain_accuracy(&self, m: usize) -> f64 {
        let correct = self.mean(|trial| trial.sum(|methods| methods >> m & 1 == 1)[1]);
        correct / self.mean(|trial| trial.sum(|_| true)[1]).max(f64::MIN_POSITIVE)
    }

    /// The 95 % interval of [`accuracy`](Self::accuracy). A row that is evaluated in three repetitions counts once.
    pub(super) fn interval(&self, m: usize) -> [f64; 2] {
        clopper_pearson(self.mean(|trial| trial.correct(m)), self.mean(CorrectCounts::rows))
    }

    /// The accuracy of method `a` minus that of method `b`, which is one of several `rivals`.
    pub(super) fn difference(&self, a: usize, b: usize, rivals: usize) -> Difference {
        let paired: Vec<PairedCounts> = self.trials.iter().map(|trial| trial.paired(a, b)).collect();
        match self.repeats {
            Some(repeats) => Difference::across_folds(&paired, repeats, rivals),
            None => Difference::on_test(&paired, rivals),
        }
    }

    fn mean(&self, figure: impl Fn(&CorrectCounts) -> f64) -> f64 {
        self.trials.iter().map(figure).sum::<f64>() / self.repeats.unwrap_or(1).max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(correct: &[u64], counts: &[u64]) -> CorrectCounts {
        let result = TrialResult { correct: correct.to_vec(), refused: Vec::new() };
        let weighted =
            counts.iter().enumerate().map(|(cell, &count)| (cell, [count as f64, 2.0 * count as f64]));
        CorrectCounts::new(&result, &weighted.collect())
    }

    #[test]
    fn a_trial_counts_which_methods_are_correct_together() {
        // Method 0 is correct on 5 + 2 rows, method 1 on 5 + 3; on 4 neither is.
        let trial = trial(&[0b11, 0b01, 0b10, 0b00], &[5, 2, 3, 4]);
        assert_eq!((trial.rows(), trial.correct(0), trial.correct(1)), (14.0, 7.0, 8.0));
        assert_eq!(trial.paired(0, 1), PairedCounts { rows: 14.0, first: 2.0, second: 3.0 });
    }

    #[test]
    fn repetitions_are_averaged_and_add_no_rows() {
        let once = Accuracies::new(vec![trial(&[1, 0], &[8, 2])], Some(1));
        let thrice = Accuracies::new(vec![trial(&[1, 0], &[8, 2]); 3], Some(3));
        assert_eq!((once.accuracy(0), thrice.accuracy(0)), (0.8, 0.8));
        assert_eq!(once.interval(0), thrice.interval(0));
        assert_eq!(once.interval(0), clopper_pearson(8.0, 10.0));
    }

    #[test]
    fn a_difference_has_a_sign_and_no_rows_no_accuracy() {
        let scores = Accuracies::new(vec![trial(&[0b11, 0b01, 0b10], &[80, 15, 5])], None);
        assert_eq!(scores.difference(0, 1, 1).by, 0.1);
        assert_eq!(scores.difference(1, 0, 1).by, -0.1);
        assert_eq!(Accuracies::new(Vec::new(), None).accuracy(0), 0.0);
    }
}
