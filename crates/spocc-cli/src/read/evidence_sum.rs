//! Evidence added up over the batches of a table.

use spocc::{
    Control, Evidence, Label,
    evidence::{Counting, Level, RepeatedIds},
};
use spocc_table::{Error, Location, RowLocations};

use crate::read::{CountOptions, IdSet, TableRows, label_text::LabelText};

/// The evidence of all batches so far.
pub(super) struct EvidenceSum<'a> {
    pub(super) place: &'a Location,
    pub(super) options: CountOptions<'a>,
    pub(super) classes: Option<Vec<Label>>,
    pub(super) control: &'a Control<'a>,
    /// Partial sums with their numbers of batches. Equal numbers are merged, so that adding a batch costs a logarithmic
    /// number of merges.
    pub(super) parts: Vec<(usize, Evidence)>,
    /// The ids of the rows, if they are kept.
    pub(super) ids: IdSet,
    pub(super) repeated_ids: RepeatedIds,
    pub(super) label_text: LabelText,
}

/// Rows that are read and not yet counted.
pub(super) struct CountBatch {
    pub(super) rows: TableRows,
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
        let part = self.or_reduced(|sum| sum.count(batch))?;
        self.parts.push((1, part));
        while let [.., (earlier, _), (later, _)] = &self.parts[..]
            && earlier == later
        {
            self.or_reduced(Self::merge_last)?;
        }
        Ok(())
    }

    /// Refuses labels whose texts do not fit in memory.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`].
    pub(super) fn allow_labels<'l>(&mut self, labels: impl Iterator<Item = &'l Label>) -> Result<(), Error> {
        labels.for_each(|label| self.label_text.add(label));
        self.place.allow("the texts of the labels", self.label_text.n_bytes(), self.control.memory_limit())
    }

    /// Refuses more ids than fit in memory.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`].
    pub(super) fn allow_ids(&self) -> Result<(), Error> {
        self.place.allow("the ids of the rows", self.ids.n_bytes(), self.control.memory_limit())
    }

    fn count(&self, batch: &CountBatch) -> Result<Evidence, Error> {
        let counting = Counting {
            // Of open answers nothing less than the patterns has a meaning.
            level: if batch.rows.answers().is_some() { Level::Tally } else { self.options.level },
            unlabelled: self.options.filter.has_unlabelled(),
            classes: self.classes.clone(),
            counts: batch.counts.as_deref(),
            weights: batch.weights.as_deref(),
        };
        let locate = |error| batch.lines.locate(self.place, error);
        Evidence::count(batch.rows.predictions(), batch.rows.truth(), &counting, self.control).map_err(locate)
    }

    /// The evidence of all batches; none without a batch.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`].
    pub(super) fn finish(mut self) -> Result<Option<Evidence>, Error> {
        while self.parts.len() > 1 {
            self.or_reduced(Self::merge_last)?;
        }
        Ok(self.parts.pop().map(|(_, evidence)| evidence))
    }

    /// Merges the last two parts; both remain if that fails.
    fn merge_last(&mut self) -> Result<(), Error> {
        if let [.., (earlier, sum), (later, more)] = &self.parts[..] {
            let n = earlier + later;
            let sum = sum.merge(more, self.control).map_err(|error| self.place.engine(error))?;
            self.parts.truncate(self.parts.len() - 2);
            self.parts.push((n, sum));
        }
        Ok(())
    }

    /// Takes a step, or takes it again in less detail if the counts do not fit into memory.
    fn or_reduced<T>(&mut self, step: impl Fn(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        let enough = self.options.enough;
        match step(self) {
            Err(Error::Engine { source: spocc::Error::MemoryLimit { .. }, .. })
                if enough < self.options.level =>
            {
                self.options.level = enough;
                for (_, part) in &mut self.parts {
                    *part = part.reduce_to(enough, self.control).map_err(|error| self.place.engine(error))?;
                }
                step(self)
            }
            result => result,
        }
    }
}
