//! Conformal prediction sets over the rows of a table.

use std::ops::Range;

use crate::{
    conformal::{Coverage, PredictionSets, RowDraw},
    data::Predictions,
    error::Error,
    methods::Scratch,
    model::Model,
    parallel,
    predict::{AlignedTable, Rewritten},
};

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
}

impl AlignedTable<'_> {
    /// A conformal prediction set of classes for each of some rows; `draw` gives the [`RowDraw`] of a row by its number
    /// in the table.
    ///
    /// A class is in the set if its p-value among the calibration scores exceeds `1 - coverage`. The decided class is
    /// always in it, so no set is empty. A set at a larger coverage contains the set at a smaller one.
    ///
    /// # Errors
    ///
    /// [`Error::NotCalibrated`], [`Error::TooFewScores`], [`Error::NoSuchRow`].
    pub fn sets(
        &self,
        rows: Range<usize>,
        coverage: Coverage,
        draw: impl Fn(usize) -> RowDraw + Sync,
    ) -> Result<PredictionSets, Error> {
        rows.end.checked_sub(1).map_or(Ok(()), |last| self.check_row(last))?;
        self.model.check_coverage(coverage)?;
        let ranks = self.model.calibration.as_ref().ok_or(Error::NotCalibrated)?.ranks();
        let least = 1.0 - coverage.get();
        let parts = parallel::map_ranges(rows.len(), 1024, |range| {
            let (mut buffer, mut work, mut sets) =
                (Rewritten::default(), Scratch::default(), PredictionSets::default());
            for row in range.map(|at| rows.start + at) {
                let decided = self.model.class_scores(self.row(row, &mut buffer), &mut work);
                let draw = draw(row);
                let is_in = |(class, score): (usize, &f64)| {
                    let ranks = &ranks[if ranks.len() == 1 { 0 } else { class }];
                    (class == decided || ranks.p_value(*score, draw) > least).then_some(class as u16)
                };
                sets.push(work.out.iter().enumerate().filter_map(is_in));
            }
            sets
        });
        let mut sets = PredictionSets::default();
        parts.iter().for_each(|part| sets.append(part));
        Ok(sets)
    }
}
