//! Calibration scores: the sorted scores of true classes, and the p-value of a new score among them.

use serde::{Deserialize, Serialize};

use crate::{
    conformal::{RowDraw, rounding},
    decision::TIE_TOLERANCE,
    error::Error,
};

/// A score and the number of rows with it.
pub(crate) type Score = (f64, u64);

/// Distinct scores in ascending order, each with its number of rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Scores {
    values: Vec<f64>,
    counts: Vec<u64>,
}

impl Scores {
    /// From scores in any order; those that are equal but for rounding become one.
    pub(super) fn new(mut found: Vec<Score>) -> Self {
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut scores = Self { values: Vec::new(), counts: Vec::new() };
        for (value, count) in found {
            match (scores.values.last(), scores.counts.last_mut()) {
                (Some(last), Some(sum)) if value <= upper(*last) => *sum += count,
                _ => {
                    scores.values.push(value);
                    scores.counts.push(count);
                }
            }
        }
        scores
    }

    pub(super) fn n_rows(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Score> + '_ {
        self.values.iter().copied().zip(self.counts.iter().copied())
    }

    /// Number of rows with an infinite score.
    pub(super) fn n_infinite(&self) -> u64 {
        self.iter().filter(|score| score.0.is_infinite()).map(|score| score.1).sum()
    }

    /// The same rows with scores [rounded up](super::rounding) so that each stands for at least `n` rows; none if there are
    /// fewer in all.
    pub(super) fn rounded(&self, n: u64) -> Self {
        Self::new(rounding::round_up(self.iter(), n))
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let wrong = |expected, found: String| Err(Error::Inconsistent { expected, found });
        if self.values.len() != self.counts.len() {
            return wrong("a count per score", format!("{} counts", self.counts.len()));
        }
        if let Some(value) = self.values.iter().find(|value| value.is_nan() || **value < 0.0) {
            return wrong("scores from 0 to infinity", value.to_string());
        }
        if !self.values.is_sorted_by(|a, b| a < b) {
            return wrong("distinct scores in ascending order", "another order".to_owned());
        }
        let total = self.counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
        if total.is_none() || self.counts.contains(&0) {
            return wrong("counts above 0 with a total below 2^64", "others".to_owned());
        }
        Ok(())
    }

    /// The scores with their cumulative counts, for p-values.
    pub(super) fn ranks(&self) -> Ranks<'_> {
        let mut above = vec![0; self.values.len() + 1];
        for (at, count) in self.counts.iter().enumerate().rev() {
            above[at] = above[at + 1] + count;
        }
        Ranks { values: &self.values, above }
    }
}

/// Scores with the number of rows of at least each score.
pub(crate) struct Ranks<'a> {
    values: &'a [f64],
    above: Vec<u64>,
}

impl Ranks<'_> {
    /// The share of rows, the new one included, with a greater score, plus the share with an equal score times the draw.
    pub(crate) fn p_value(&self, score: f64, RowDraw(draw): RowDraw) -> f64 {
        let from = self.values.partition_point(|value| *value < lower(score));
        let to = self.values.partition_point(|value| *value <= upper(score));
        let (greater, equal) = (self.above[to], self.above[from] - self.above[to]);
        (greater as f64 + draw * (equal as f64 + 1.0)) / (self.above[0] as f64 + 1.0)
    }
}

/// The largest score that counts as equal to this one, by a relative and an absolute tolerance: scores are logarithms.
fn upper(score: f64) -> f64 {
    score * (1.0 + TIE_TOLERANCE) + TIE_TOLERANCE
}

/// The smallest score that counts as equal to this one.
fn lower(score: f64) -> f64 {
    score * (1.0 - TIE_TOLERANCE) - TIE_TOLERANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_p_value_counts_the_greater_and_a_part_of_the_equal() {
        let scores = Scores::new(vec![(2.0, 3), (0.5, 4), (f64::INFINITY, 1), (2.0 + 1e-12, 2)]);
        assert_eq!(
            (scores.values.as_slice(), scores.counts.as_slice()),
            (&[0.5, 2.0, f64::INFINITY][..], &[4, 5, 1][..])
        );
        let ranks = scores.ranks();
        assert_eq!(ranks.p_value(0.1, RowDraw(0.5)), 10.5 / 11.0);
        assert_eq!(ranks.p_value(0.5 - 1e-12, RowDraw(0.5)), (6.0 + 0.5 * 5.0) / 11.0);
        assert_eq!(ranks.p_value(2.0, RowDraw(0.25)), (1.0 + 0.25 * 6.0) / 11.0);
        assert_eq!(ranks.p_value(3.0, RowDraw(0.0)), 1.0 / 11.0);
        assert_eq!(ranks.p_value(f64::INFINITY, RowDraw(0.5)), (0.5 * 2.0) / 11.0);
    }

    #[test]
    fn without_scores_the_p_value_is_the_draw() {
        assert_eq!(Scores::new(Vec::new()).ranks().p_value(1.0, RowDraw(0.3)), 0.3);
    }

    #[test]
    fn scores_that_no_rows_can_give_are_refused() {
        let scores =
            |values: &[f64], counts: &[u64]| Scores { values: values.to_vec(), counts: counts.to_vec() };
        let refusal = |scores: Scores| scores.check().map_err(|error| error.to_string());
        let cases = [
            (scores(&[1.0], &[]), "a count per score, found 0 counts"),
            (scores(&[f64::NAN], &[1]), "scores from 0 to infinity, found NaN"),
            (scores(&[-1.0], &[1]), "scores from 0 to infinity, found -1"),
            (scores(&[2.0, 1.0], &[1, 1]), "distinct scores in ascending order, found another order"),
            (scores(&[1.0, 1.0], &[1, 1]), "distinct scores in ascending order, found another order"),
            (scores(&[1.0], &[0]), "counts above 0 with a total below 2^64, found others"),
            (scores(&[1.0, 2.0], &[u64::MAX, 1]), "counts above 0 with a total below 2^64, found others"),
        ];
        for (scores, message) in cases {
            assert_eq!(refusal(scores), Err(format!("file content: expected {message}")));
        }
        assert_eq!(refusal(scores(&[0.0, f64::INFINITY], &[1, u64::MAX - 1])), Ok(()));
    }
}
