//! Rows without truth: the count of each pattern of predictions.
//!
//! They are counted next to the tally and merge like it. Most methods ignore them; `dawid-skene` and `ladder` learn from
//! both.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{
    data::{LabelMatrix, Row},
    error::Error,
    evidence::{Evidence, tally::Tally},
    progress::Control,
};

/// At least one row without truth: a tally in which the class of every pattern is 0, which has no meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unlabelled(Tally);

impl Unlabelled {
    /// None if the tally has no rows.
    pub(crate) fn of(tally: Tally) -> Option<Self> {
        (tally.n_patterns() > 0).then_some(Self(tally))
    }

    pub(crate) fn patterns(&self) -> &LabelMatrix {
        self.0.patterns()
    }

    /// Every pattern with its count, in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (Row<'_>, u64)> {
        self.0.cells().map(|(row, _, count)| (row, count))
    }

    pub(super) fn total(&self) -> u64 {
        self.rows().map(|(_, count)| count).sum()
    }

    /// The rows of both sides.
    pub(super) fn sum(a: Option<&Self>, b: Option<&Self>) -> Result<Option<Self>, Error> {
        let (Some(a), Some(b)) = (a, b) else { return Ok(a.or(b).cloned()) };
        a.total().checked_add(b.total()).ok_or(Error::Overflow { what: "merged rows" })?;
        a.0.plus(&b.0).map(|sum| Some(Self(sum)))
    }

    /// Replaces predictions by `map`, which must keep their order.
    pub(super) fn relabel(&mut self, map: &[u16]) {
        self.0.relabel_predictions(map);
    }

    pub(super) fn scale(&mut self, factor: u64) -> Result<(), Error> {
        self.0.scale(factor)?;
        let total = self.rows().try_fold(0u64, |sum, (_, count)| sum.checked_add(count));
        total.map(|_| ()).ok_or(Error::Overflow { what: "weights" })
    }

    /// As [`Tally::project`].
    pub(super) fn project(
        &self,
        kept: &[usize],
        replace: impl Fn(usize, Option<u16>) -> u16,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        self.0.project(kept, replace, control).map(Self)
    }

    /// Only the patterns with at least this count.
    pub(super) fn at_least(&self, min_count: u64) -> Option<Self> {
        Self::of(self.0.keeping(|_, count| if count < min_count { 0 } else { count }))
    }

    /// Refuses counts that no rows can have given.
    pub(super) fn check(&self, width: usize, n_labels: usize) -> Result<(), Error> {
        self.0.check(width, n_labels, 1)?;
        let total = self.rows().try_fold(0u64, |sum, (_, count)| sum.checked_add(count));
        if total.is_some_and(|total| total > 0) {
            return Ok(());
        }
        let found = if total.is_none() { "more" } else { "none" };
        Err(Error::Inconsistent {
            expected: "from 1 to below 2^64 rows without truth",
            found: found.to_owned(),
        })
    }
}

impl Evidence {
    /// Number of rows without truth, or the sum of their weights.
    pub fn n_unlabelled(&self) -> f64 {
        self.unlabelled.as_ref().map_or(0.0, |rows| self.rows_of(rows.total()))
    }

    pub(crate) fn unlabelled_rows(&self) -> Option<&Unlabelled> {
        self.unlabelled.as_ref()
    }

    /// The evidence of the labelled rows alone.
    ///
    /// # Errors
    ///
    /// [`Error::MemoryLimit`].
    pub fn labelled(&self, control: &Control<'_>) -> Result<Cow<'_, Self>, Error> {
        if self.unlabelled.is_none() {
            return Ok(Cow::Borrowed(self));
        }
        Self { unlabelled: None, ..self.clone() }.without_unseen_labels(control).map(Cow::Owned)
    }

    /// The evidence of the rows without truth alone; [merged](Self::merge) with [`labelled`](Self::labelled) it is the
    /// whole.
    ///
    /// # Errors
    ///
    /// [`Error::LevelTooLow`] without a tally, [`Error::MemoryLimit`].
    pub fn unlabelled(&self, control: &Control<'_>) -> Result<Self, Error> {
        self.tally_for("rows without truth")?;
        Self {
            classifiers: self.classifiers.clone(),
            labels: self.labels.clone(),
            fraction_bits: self.fraction_bits,
            class_counts: vec![0; self.class_counts.len()],
            confusion: vec![0; self.confusion.len()],
            pairs: None,
            tally: Some(Tally::empty(self.n_classifiers())),
            row_units: Vec::new(),
            unlabelled: self.unlabelled.clone(),
        }
        .without_unseen_labels(control)
    }
}
