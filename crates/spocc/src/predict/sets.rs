//! Conformal prediction sets over the rows of a table.

use std::ops::Range;

use crate::{
    conformal::{Coverage, PredictionSets, RowDraw},
    data::Predictions,
    error::Error,
    model::Model,
    parallel,
    predict::{AlignedTable, DecisionColumns, Decisions},
    progress::Control,
};

/// Scores held at a time.
const SCORES_HELD: usize = 1 << 22;

impl Model {
    /// A conformal prediction set of classes for every row.
    ///
    /// Each row has a [`RowDraw`] of `seed` and its number from 0; [`AlignedTable::sets`] accepts other draws.
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
        let draw = |row: usize| RowDraw::of_number(seed, row as u64);
        self.align(predictions)?.sets(0..predictions.n_rows(), coverage, draw)
    }

    /// Refuses a coverage for which the model holds too few calibration scores.
    ///
    /// # Errors
    ///
    /// [`Error::NotCalibrated`], [`Error::TooFewScores`].
    pub fn check_coverage(&self, coverage: Coverage) -> Result<(), Error> {
        let calibration = self.calibration.as_ref().ok_or(Error::NotCalibrated)?;
        let needed = coverage.n_needed();
        let n_rows = calibration.n_rows();
        let Some(list) = n_rows.iter().position(|found| *found < needed) else { return Ok(()) };
        let of = if calibration.settings().per_class {
            format!(" of class `{}`", self.classes()[list])
        } else {
            String::new()
        };
        Err(Error::TooFewScores { coverage: coverage.get(), of, needed, found: n_rows[list] })
    }

    /// The conformal prediction sets of decided rows, from their [scores](DecisionColumns::scores); `draw` gives the
    /// [`RowDraw`] of a row by its place among them.
    ///
    /// A class is in the set if its p-value among the calibration scores exceeds `1 - coverage`. The decided class is
    /// always in it, so no set is empty. A set at a larger coverage contains the set at a smaller one. Without the
    /// column of scores there are no sets.
    ///
    /// # Errors
    ///
    /// [`Error::NotCalibrated`], [`Error::TooFewScores`].
    pub fn sets(
        &self,
        decisions: &Decisions,
        coverage: Coverage,
        draw: impl Fn(usize) -> RowDraw + Sync,
    ) -> Result<PredictionSets, Error> {
        self.check_coverage(coverage)?;
        let ranks = self.calibration.as_ref().ok_or(Error::NotCalibrated)?.ranks();
        let least = 1.0 - coverage.get();
        let parts = parallel::map_ranges(decisions.len(), 1024, |rows| {
            let mut sets = PredictionSets::default();
            for row in rows {
                let (decided, draw) = (decisions.class[row], draw(row));
                let scores = decisions.of_row(&decisions.scores, row).unwrap_or_default();
                sets.push((0u16..).zip(scores).filter_map(|(class, &score)| {
                    // Of open answers, this is no candidate of the row.
                    if score.is_nan() {
                        return None;
                    }
                    let ranks = &ranks[if ranks.len() == 1 { 0 } else { usize::from(class) }];
                    (class == decided || ranks.p_value(score, draw) > least).then_some(class)
                }));
            }
            sets
        });
        let mut sets = PredictionSets::default();
        parts.iter().for_each(|part| sets.append(part));
        Ok(sets)
    }
}

impl AlignedTable<'_> {
    /// A conformal prediction set of classes for each of some rows; `draw` gives the [`RowDraw`] of a row by its number
    /// in the table.
    ///
    /// # Errors
    ///
    /// As [`Model::sets`]; [`Error::NoSuchRow`].
    pub fn sets(
        &self,
        rows: Range<usize>,
        coverage: Coverage,
        draw: impl Fn(usize) -> RowDraw + Sync,
    ) -> Result<PredictionSets, Error> {
        self.model.check_coverage(coverage)?;
        let columns = DecisionColumns { scores: true, ..DecisionColumns::default() };
        let step = (SCORES_HELD / self.model.classes().len().max(1)).max(1);
        let mut sets = PredictionSets::default();
        for first in rows.clone().step_by(step) {
            let part = first..rows.end.min(first + step);
            let decisions = self.decide_rows(part, columns, &Control::default())?;
            sets.append(&self.model.sets(&decisions, coverage, |row| draw(first + row))?);
        }
        Ok(sets)
    }
}
