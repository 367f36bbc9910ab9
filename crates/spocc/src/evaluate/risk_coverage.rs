//! Risk against coverage: the accuracy of a method on the rows with the largest margins.
//!
//! In: held-out rows decided by a model, with the margins of its decisions. Out: the accuracy on the part of them with
//! the largest margins, for smaller and smaller parts, and the mean error rate over all parts.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    Error, Model, evaluate::evaluation_rows::EvaluationRows, evidence::RowSubset, math::ln, parallel,
};

/// Shares of the rows for which the accuracy is reported.
const SHARES: [f64; 5] = [1.0, 0.9, 0.8, 0.7, 0.5];

/// The accuracy of a method where its margins are largest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RiskCoverage {
    /// From all rows to the most certain half.
    pub most_certain: Vec<MostCertain>,
    /// Area under the risk-coverage curve: the error rate among the most certain rows, averaged over all numbers of them.
    pub area: f64,
}

/// The most certain part of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MostCertain {
    /// How large a part.
    pub share: f64,
    /// The accuracy there.
    pub accuracy: f64,
}

/// Rows by the margin of their decision, the largest first: how many, and how many of them correct.
#[derive(Clone, Debug, Default)]
pub(super) struct MarginCounts(BTreeMap<i64, [f64; 2]>);

impl MarginCounts {
    /// Adds the rows of a subset, which a model decided, given whether its decision is correct on each cell.
    ///
    /// # Errors
    ///
    /// [`Error::MissingClassifier`].
    pub(super) fn add(
        &mut self,
        model: &Model,
        rows: &EvaluationRows,
        subset: &RowSubset,
        is_correct: &[bool],
    ) -> Result<(), Error> {
        let aligned = model.align(rows.predictions())?;
        let margin = |at: usize| aligned.decide(subset[at].0).map(|decision| decision.margin);
        let margins = parallel::map(subset.len(), margin);
        for ((cell, count), margin) in subset.iter().zip(margins) {
            self.push(margin?, *count as f64, is_correct[*cell]);
        }
        Ok(())
    }

    fn push(&mut self, margin: f64, rows: f64, is_correct: bool) {
        // The logarithm of the distance from 1 separates margins near 1; margins that differ by rounding are equal.
        let key = (ln(1.0 - margin) * 1e9).round() as i64;
        let sums = self.0.entry(key).or_default();
        sums[0] += rows;
        sums[1] += if is_correct { rows } else { 0.0 };
    }

    /// The curve; none without rows. Of rows with equal margins every share is taken alike.
    pub(super) fn risk(&self) -> Option<RiskCoverage> {
        let total: f64 = self.0.values().map(|sums| sums[0]).sum();
        let accuracy = |share: f64| {
            let (mut left, mut correct) = (share * total, 0.0);
            for [rows, correct_rows] in self.0.values() {
                let taken = left.clamp(0.0, *rows);
                correct += correct_rows * taken / rows;
                left -= taken;
            }
            correct / (share * total)
        };
        let select = |share: f64| MostCertain { share, accuracy: accuracy(share) };
        (total > 0.0)
            .then(|| RiskCoverage { most_certain: SHARES.map(select).to_vec(), area: self.area() / total })
    }

    /// The error rate among the first t rows, summed over all t.
    fn area(&self) -> f64 {
        let (mut before, mut wrong, mut area) = (0.0, 0.0, 0.0);
        for [rows, correct] in self.0.values() {
            // Within a group, the first t rows have `wrong + (t - before) * rate` errors.
            let rate = 1.0 - correct / rows;
            let harmonics = harmonic(before + rows) - harmonic(before);
            area += rows * rate + (wrong - before * rate) * harmonics;
            before += rows;
            wrong += rows * rate;
        }
        area
    }
}

/// `1 + 1/2 + .. + 1/n`.
fn harmonic(n: f64) -> f64 {
    const EULER: f64 = 0.577_215_664_901_532_9;
    if n < 64.0 {
        return (1..=n as u32).map(|i| f64::from(i).recip()).sum();
    }
    // The next term of the series is below 1e-9.
    ln(n) + EULER + 0.5 / n - 1.0 / (12.0 * n * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[(f64, f64, bool)]) -> MarginCounts {
        let mut counts = MarginCounts::default();
        rows.iter().for_each(|(margin, count, is_correct)| counts.push(*margin, *count, *is_correct));
        counts
    }

    #[test]
    fn large_margins_come_first_and_equal_margins_share() {
        // Five correct at a large margin, then two of four correct at one margin, then one error.
        let certain = of(&[(0.1, 1.0, false), (0.9, 5.0, true), (0.5, 2.0, false), (0.5, 2.0, true)]);
        let risk = certain.risk().expect("rows");
        let accuracies: Vec<f64> = risk.most_certain.iter().map(|selected| selected.accuracy).collect();
        assert_eq!(accuracies, [0.7, 7.0 / 9.0, 6.5 / 8.0, 6.0 / 7.0, 1.0]);
        // Errors among the first t rows: 0 five times, then 0.5, 1, 1.5, 2, 3.
        let area = (0.5 / 6.0 + 1.0 / 7.0 + 1.5 / 8.0 + 2.0 / 9.0 + 3.0 / 10.0) / 10.0;
        assert!((risk.area - area).abs() < 1e-15, "{} {area}", risk.area);
        assert_eq!(MarginCounts::default().risk(), None);
    }

    #[test]
    fn margins_near_1_differ_and_rounding_does_not() {
        let certain =
            of(&[(1.0 - 1e-12, 1.0, false), (1.0, 1.0, true), (0.3, 1.0, true), (0.1 + 0.2, 1.0, false)]);
        let risk = certain.risk().expect("rows");
        assert_eq!(certain.0.len(), 3);
        assert_eq!(risk.most_certain[4].accuracy, 0.5);
        assert_eq!(risk.most_certain[3].accuracy, (1.0 + 0.8 / 2.0) / 2.8);
    }

    #[test]
    fn sums_of_many_rows_are_those_of_few() {
        let direct = (1..=1000).map(|i| f64::from(i).recip()).sum::<f64>();
        assert!((harmonic(1000.0) - direct).abs() < 1e-11);
        let direct = (1..=64).map(|i| f64::from(i).recip()).sum::<f64>();
        assert!((harmonic(64.0) - direct).abs() < 1e-9);
        let billions = of(&[(0.9, 3e9, true), (0.5, 1e9, false)]).risk().expect("rows");
        // The integral of (t - 3/4) / t from 3/4 to 1.
        assert!((billions.area - (0.25 + 0.75 * 0.75f64.ln())).abs() < 1e-9, "{}", billions.area);
    }
}
