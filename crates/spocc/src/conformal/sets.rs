//! PredictionSets: every label that the calibration rows do not speak against, and always the one decided.

use std::ops::Range;

use crate::{
    conformal::{Coverage, scores::Ranks},
    data::{Predictions, Row},
    decision,
    error::Error,
    hash,
    math::{exp, ln, ln_1p},
    methods::Scratch,
    model::Model,
    parallel,
    predict::{AlignedTable, Rewritten},
};

/// What a row draws, from 0 to below 1: how many of the calibration rows with its very score count as more surprising.
///
/// Scores made of labels are few, so most have equals; counting all of those would make every set too large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowDraw(f64);

impl RowDraw {
    /// The lot of a row that is known by its number.
    pub fn of_number(seed: u64, row: u64) -> Self {
        Self(hash::unit(hash::mix(hash::mix(seed, 0x107), row)))
    }

    /// The lot of a row that is known by a name of one or more parts.
    pub fn of_name<'a>(seed: u64, parts: impl IntoIterator<Item = &'a str>) -> Self {
        Self(hash::unit(parts.into_iter().fold(hash::mix(seed, 0x107e), hash::text)))
    }
}

/// A set of classes for each of some rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PredictionSets {
    ends: Vec<usize>,
    classes: Vec<u16>,
}

impl PredictionSets {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Numbers of the classes in a row's set, ascending, at least one; none if there is no such row.
    pub fn get(&self, row: usize) -> Option<&[u16]> {
        let start = if row == 0 { 0 } else { *self.ends.get(row - 1)? };
        self.classes.get(start..*self.ends.get(row)?)
    }

    /// The sets in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u16]> {
        (0..self.len()).map_while(|row| self.get(row))
    }

    fn append(&mut self, other: &Self) {
        let start = self.classes.len();
        self.ends.extend(other.ends.iter().map(|end| start + end));
        self.classes.extend(&other.classes);
    }
}

impl Model {
    /// A set of classes for every row that holds the truth as often as `coverage` says.
    ///
    /// Rows draw lots by `seed` and their number from 0; [`AlignedTable::sets`] lets them draw by something else.
    ///
    /// # Errors
    ///
    /// As [`AlignedTable::sets`] and [`Model::align`].
    pub fn predict_sets(
        &self,
        predictions: &Predictions,
        coverage: Coverage,
        seed: u64,
    ) -> Result<PredictionSets, Error> {
        let lot = |row: usize| RowDraw::of_number(seed, row as u64);
        self.align(predictions)?.sets(0..predictions.n_rows(), coverage, lot)
    }

    /// Refuses a coverage for which the model holds too few scores.
    ///
    /// # Errors
    ///
    /// [`Error::NotCalibrated`], [`Error::TooFewScores`].
    pub fn check_coverage(&self, coverage: Coverage) -> Result<(), Error> {
        let calibration = self.calibration.as_ref().ok_or(Error::NotCalibrated)?;
        let needed = coverage.n_needed();
        let n_rows = calibration.n_rows();
        let Some(list) = n_rows.iter().position(|found| *found < needed) else { return Ok(()) };
        let of = if calibration.how.per_class {
            format!(" of class `{}`", self.classes()[list])
        } else {
            String::new()
        };
        Err(Error::TooFewScores { coverage: coverage.get(), of, needed, found: n_rows[list] })
    }

    /// The normalised surprisal of every class, into `work.out`; the decided class is returned.
    pub(super) fn scores_of(&self, row: Row<'_>, work: &mut Scratch) -> usize {
        if !self.rule.surprisals(row, work) {
            self.prior_surprisals(&mut work.out);
        }
        let (class, _) =
            decision::decide(&work.out, decision::tolerance(1.0), self.ties, |seed| row.hash(seed));
        normalise(&mut work.out);
        class
    }
}

impl AlignedTable<'_> {
    /// A set of classes for each of some rows that holds the truth as often as `coverage` says; `lot` is asked for
    /// the lot of each row, by its number in the table.
    ///
    /// A class is in the set if more than a share `1 - coverage` of the calibration rows was as surprising as it would
    /// be; the decided class always is, so that no set is empty. At a larger coverage a set holds at least the same.
    ///
    /// # Errors
    ///
    /// [`Error::NotCalibrated`], [`Error::TooFewScores`], [`Error::NoSuchRow`].
    pub fn sets(
        &self,
        rows: Range<usize>,
        coverage: Coverage,
        lot: impl Fn(usize) -> RowDraw + Sync,
    ) -> Result<PredictionSets, Error> {
        rows.end.checked_sub(1).map_or(Ok(()), |last| self.check_row(last))?;
        self.model.check_coverage(coverage)?;
        let calibration = self.model.calibration.as_ref().ok_or(Error::NotCalibrated)?;
        let ranks: Vec<Ranks<'_>> = calibration.lists.iter().map(super::Scores::ranks).collect();
        let least = 1.0 - coverage.get();
        let parts = parallel::map_ranges(rows.len(), 1024, |range| {
            let (mut buffer, mut work, mut sets) =
                (Rewritten::default(), Scratch::default(), PredictionSets::default());
            for row in range.map(|at| rows.start + at) {
                let decided = self.model.scores_of(self.row(row, &mut buffer), &mut work);
                let RowDraw(lot) = lot(row);
                for (class, &score) in work.out.iter().enumerate() {
                    let ranks = &ranks[if ranks.len() == 1 { 0 } else { class }];
                    if class == decided || ranks.p_value(score, lot) > least {
                        sets.classes.push(class as u16);
                    }
                }
                sets.ends.push(sets.classes.len());
            }
            sets
        });
        let mut sets = PredictionSets::default();
        parts.iter().for_each(|part| sets.append(part));
        Ok(sets)
    }
}

/// `s + ln sum exp(-s)`: what is `-ln p` if surprisals are, up to a constant.
fn normalise(surprisals: &mut [f64]) {
    let least = surprisals.iter().copied().fold(f64::INFINITY, f64::min);
    if least.is_infinite() {
        let equal = ln(surprisals.len() as f64);
        return surprisals.fill(equal);
    }
    let best = surprisals.iter().position(|s| *s == least);
    // The best class has a share of 1; apart from it, even the smallest shares count.
    let others = surprisals.iter().enumerate().filter(|(at, _)| Some(*at) != best);
    let sum = ln_1p(others.map(|(_, s)| exp(least - s)).sum::<f64>());
    surprisals.iter_mut().for_each(|s| *s = *s - least + sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalised_surprisals_are_those_of_probabilities() {
        let mut surprisals = [0.2f64, 0.5, 0.3].map(|p| 7.0 - p.ln());
        normalise(&mut surprisals);
        for (s, p) in surprisals.iter().zip([0.2f64, 0.5, 0.3]) {
            assert!((s + p.ln()).abs() < 1e-14, "{s} {p}");
        }
        let mut sure = [0.0, 60.0];
        normalise(&mut sure);
        assert_eq!(sure[0], (-60.0f64).exp(), "what is nearly certain is not quite");
        let mut nobody = [f64::INFINITY; 4];
        normalise(&mut nobody);
        assert_eq!(nobody, [4.0f64.ln(); 4]);
        let mut one = [0.0, f64::INFINITY];
        normalise(&mut one);
        assert_eq!(one, [0.0, f64::INFINITY]);
    }

    #[test]
    fn lots_are_spread_evenly_and_follow_seed_and_name() {
        let n = 10_000;
        let mean = (0..n).map(|row| RowDraw::of_number(5, row).0).sum::<f64>() / n as f64;
        // A standard error is 0.29 / 100.
        assert!((mean - 0.5).abs() < 0.012, "{mean}");
        assert_eq!(RowDraw::of_name(1, ["a", "b"]), RowDraw::of_name(1, ["a", "b"]));
        let others =
            [RowDraw::of_name(1, ["ab"]), RowDraw::of_name(1, ["b", "a"]), RowDraw::of_name(2, ["a", "b"])];
        assert!(others.iter().all(|other| *other != RowDraw::of_name(1, ["a", "b"])));
    }
}
