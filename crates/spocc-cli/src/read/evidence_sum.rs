//! Evidence added up over the batches of a table.

use spocc::{Control, Evidence, evidence::Counting};
use spocc_table::{Error, Location, RowLocations};

use crate::read::{CountOptions, IdSet};

/// The evidence of all batches so far.
pub(super) struct EvidenceSum<'a> {
    pub(super) place: &'a Location,
    pub(super) options: CountOptions<'a>,
    pub(super) classes: Option<Vec<spocc::Label>>,
    pub(super) control: &'a Control<'a>,
    /// Partial sums with their numbers of batches. Equal numbers are merged, so that adding a batch costs a logarithmic
    /// number of merges.
    pub(super) parts: Vec<(usize, Evidence)>,
    /// The ids of the rows, if they are kept.
    pub(super) ids: IdSet,
}

/// Rows that are read and not yet counted.
pub(super) struct CountBatch {
    pub(super) predictions: spocc::Predictions,
    pub(super) truth: spocc::Truth,
    pub(super) weights: Option<Vec<f64>>,
    pub(super) counts: Option<Vec<u64>>,
    pub(super) lines: RowLocations,
}

impl EvidenceSum<'_> {
    /// Counts a batch and adds it.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`].
    pub(super) fn add(&mut self, batch: &CountBatch) -> Result<(), Error> {
        let counting = Counting {
            level: self.options.level,
            unlabelled: self.options.filter.has_unlabelled(),
            classes: self.classes.clone(),
            counts: batch.counts.as_deref(),
            weights: batch.weights.as_deref(),
        };
        let locate = |error| batch.lines.locate(self.place, error);
        let part =
            Evidence::count(&batch.predictions, &batch.truth, &counting, self.control).map_err(locate)?;
        self.parts.push((1, part));
        while let [.., (earlier, _), (later, _)] = &self.parts[..]
            && earlier == later
        {
            self.merge_last()?;
        }
        Ok(())
    }

    /// The evidence of all batches; none without a batch.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`].
    pub(super) fn finish(mut self) -> Result<Option<Evidence>, Error> {
        while self.parts.len() > 1 {
            self.merge_last()?;
        }
        Ok(self.parts.pop().map(|(_, evidence)| evidence))
    }

    fn merge_last(&mut self) -> Result<(), Error> {
        if let (Some((later, more)), Some((earlier, sum))) = (self.parts.pop(), self.parts.pop()) {
            let sum = sum.merge(&more, self.control).map_err(|error| self.place.engine(error))?;
            self.parts.push((earlier + later, sum));
        }
        Ok(())
    }
}
