//! Paired tests of the difference between two methods on the same data.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{deviation, mean};
use crate::results::RunOutcome;

/// Test rows over training rows in a 2-fold cross-validation.
const TWO_FOLD_RATIO: f64 = 1.0;

/// A mean difference and its two-sided p-value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairedTest {
    pub(crate) difference: f64,
    pub(crate) p: f64,
}

/// First minus second, in percentage points of accuracy, for every repetition and fold that has both.
///
/// Points of one experiment (numbers of added classifiers, for example) share the data of their repetition and are
/// not independent: their differences are averaged first.
pub(crate) fn differences(outcomes: &[RunOutcome], first: &str, second: &str) -> Vec<f64> {
    let mut by_run: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    for outcome in outcomes {
        if let (Some(first), Some(second)) = (outcome.accuracy(first), outcome.accuracy(second)) {
            by_run.entry((outcome.rep, outcome.fold)).or_default().push(100.0 * (first - second));
        }
    }
    by_run.values().map(|run| mean(run)).collect()
}

/// First minus second, in percentage points of accuracy, averaged over each repetition that has both.
pub(crate) fn by_repetition(outcomes: &[RunOutcome], first: &str, second: &str) -> Vec<f64> {
    let mut by_repetition: BTreeMap<u32, Vec<RunOutcome>> = BTreeMap::new();
    for outcome in outcomes {
        by_repetition.entry(outcome.rep).or_default().push(outcome.clone());
    }
    let means = by_repetition.values().map(|outcomes| mean(&differences(outcomes, first, second)));
    means.filter(|mean| mean.is_finite()).collect()
}

impl PairedTest {
    /// A t test of differences from independent repetitions; nothing with fewer than two.
    pub(crate) fn independent(differences: &[f64]) -> Option<Self> {
        Self::test(differences, 0.0)
    }

    /// A t test of differences from the folds of repeated 2-fold cross-validation.
    ///
    /// Training halves of different repetitions overlap, so the plain test rejects too often.
    /// Nadeau and Bengio (2003) add the ratio of test to training rows, here 1, to the variance:
    ///
    /// ```text
    /// t = mean / sqrt((1/J + n_test/n_train) * sample variance),   J - 1 degrees of freedom
    /// ```
    pub(crate) fn across_folds(differences: &[f64]) -> Option<Self> {
        Self::test(differences, TWO_FOLD_RATIO)
    }

    /// Half of the width of the 95 % interval of the mean difference; nothing with fewer than two differences.
    ///
    /// ```text
    /// t(0.975, J - 1) * sample deviation / sqrt(J)
    /// ```
    pub(crate) fn half_width(differences: &[f64]) -> Option<f64> {
        let n = differences.len() as f64;
        let law = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
        Some(law.inverse_cdf(0.975) * deviation(differences) / n.sqrt())
    }

    fn test(differences: &[f64], ratio: f64) -> Option<Self> {
        let n = differences.len() as f64;
        let law = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
        let difference = mean(differences);
        let error = (1.0 / n + ratio).sqrt() * deviation(differences);
        let p = match (error == 0.0, difference == 0.0) {
            (_, true) => 1.0,
            (true, false) => 0.0,
            (false, false) => 2.0 * law.sf((difference / error).abs()),
        };
        Some(Self { difference, p })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(rep: u32, at: f64, correct: [u64; 2]) -> RunOutcome {
        let confusion = |correct: u64| vec![correct, 10 - correct, 0, 0];
        RunOutcome {
            rep,
            at,
            confusion: BTreeMap::from([
                ("a".into(), confusion(correct[0])),
                ("b".into(), confusion(correct[1])),
            ]),
            ..RunOutcome::default()
        }
    }

    #[test]
    fn points_of_one_repetition_are_averaged() {
        let outcomes = [outcome(0, 0.0, [9, 8]), outcome(0, 1.0, [9, 6]), outcome(1, 0.0, [5, 5])];
        let differences = differences(&outcomes, "a", "b");
        assert_eq!(differences.len(), 2);
        assert!((differences[0] - 20.0).abs() < 1e-9 && differences[1] == 0.0, "{differences:?}");
    }

    #[test]
    fn the_folds_of_a_repetition_are_averaged() {
        let fold = |rep, fold, correct| RunOutcome { fold, ..outcome(rep, 0.0, correct) };
        let outcomes = [fold(0, 0, [9, 8]), fold(0, 1, [9, 6]), fold(1, 0, [5, 5]), fold(1, 1, [6, 7])];
        let means = by_repetition(&outcomes, "a", "b");
        assert!(
            means.len() == 2 && (means[0] - 20.0).abs() < 1e-9 && (means[1] + 5.0).abs() < 1e-9,
            "{means:?}"
        );
        assert!(by_repetition(&outcomes, "a", "absent").is_empty());
    }

    #[test]
    fn the_plain_test_is_that_of_the_textbook() {
        // Mean 2, deviation sqrt(2.5), t = 2 / (1.5811 / sqrt(5)) = 2.8284 with 4 degrees of freedom: p = 0.0474.
        let paired = PairedTest::independent(&[0.0, 1.0, 2.0, 3.0, 4.0]).expect("five differences");
        assert_eq!(paired.difference, 2.0);
        assert!((paired.p - 0.0474).abs() < 1e-4, "{paired:?}");
    }

    #[test]
    fn folds_have_a_larger_p_value_than_independent_repetitions() {
        // The same with 1/5 + 1 in place of 1/5: t = 2 / (1.5811 * sqrt(1.2)) = 1.1547, p = 0.3125.
        let paired = PairedTest::across_folds(&[0.0, 1.0, 2.0, 3.0, 4.0]).expect("five differences");
        assert!((paired.p - 0.3125).abs() < 1e-3, "{paired:?}");
    }

    #[test]
    fn the_interval_is_that_of_the_textbook() {
        // t(0.975, 4) = 2.7764, times 1.5811 / sqrt(5).
        let half = PairedTest::half_width(&[0.0, 1.0, 2.0, 3.0, 4.0]).expect("five differences");
        assert!((half - 1.9632).abs() < 1e-4, "{half}");
        assert_eq!((PairedTest::half_width(&[1.0]), PairedTest::half_width(&[])), (None, None));
    }

    #[test]
    fn a_constant_difference_has_p_value_0_or_1() {
        assert_eq!(PairedTest::independent(&[0.0, 0.0]), Some(PairedTest { difference: 0.0, p: 1.0 }));
        assert_eq!(PairedTest::independent(&[1.0, 1.0]), Some(PairedTest { difference: 1.0, p: 0.0 }));
        assert_eq!(PairedTest::independent(&[1.0]), None);
        assert_eq!(PairedTest::independent(&[]), None);
    }
}
