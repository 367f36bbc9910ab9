//! Unlabelled rows: the count of each pattern of predictions.
//!
//! They are counted next to the tally and merge like it. Of many distinct patterns a sample is kept. Most methods ignore
//! these rows; `dawid-skene`, `one-coin` and `ladder` learn from both.

use std::borrow::Cow;

use crate::{
    data::{LabelMatrix, Row},
    error::Error,
    evidence::{
        Confusions, Evidence, RowSubset,
        tally::Tally,
        unlabelled_sample::{PatternHash, sample},
    },
    progress::Control,
};

/// At least one unlabelled row: counts of patterns, and the number of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unlabelled {
    /// A tally in which the class of every pattern is 0, which has no meaning. Of too many patterns it is a
    /// [sample](super::unlabelled_sample).
    patterns: Tally,
    /// The count of all rows, also of those whose patterns are not kept.
    total: u64,
}

impl Unlabelled {
    /// None if the tally has no rows.
    pub(super) fn of(tally: Tally, hash: &PatternHash) -> Option<Self> {
        let rows = Self::stored(tally, None);
        (rows.total > 0).then(|| Self { patterns: sample(rows.patterns, hash), ..rows })
    }

    /// The rows of a tally as it was stored, which is still to be [checked](Self::check); without a number of rows it
    /// has all of them.
    pub(crate) fn stored(patterns: Tally, total: Option<u64>) -> Self {
        let total = total.unwrap_or_else(|| patterns.counts().fold(0u64, u64::saturating_add));
        Self { patterns, total }
    }

    /// What is stored: the tally and, of a sample, the number of rows.
    pub(crate) fn to_store(&self) -> (&Tally, Option<u64>) {
        (&self.patterns, self.is_sample().then_some(self.total))
    }

    pub(crate) fn patterns(&self) -> &LabelMatrix {
        self.patterns.patterns()
    }

    /// Every pattern with its count, in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (Row<'_>, u64)> {
        self.patterns.cells().map(|(row, _, count)| (row, count))
    }

    /// The count of all rows, also of those whose patterns are not kept.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Whether there are rows whose patterns are not kept.
    pub(crate) fn is_sample(&self) -> bool {
        self.patterns.counts().sum::<u64>() < self.total
    }

    /// The rows of both sides.
    pub(super) fn sum(a: Option<Self>, b: Option<Self>, hash: &PatternHash) -> Result<Option<Self>, Error> {
        let (a, b) = match (a, b) {
            (Some(a), Some(b)) => (a, b),
            (a, b) => return Ok(a.or(b)),
        };
        let total = a.total.checked_add(b.total).ok_or(Error::Overflow { what: "merged rows" })?;
        Ok(Some(Self { patterns: sample(a.patterns.plus(&b.patterns)?, hash), total }))
    }

    /// Replaces predictions by `map`, which must keep their order.
    pub(super) fn relabel(&mut self, map: &[u16]) {
        self.patterns.relabel_predictions(map);
    }

    pub(super) fn scale(&mut self, factor: u64) -> Result<(), Error> {
        self.total = self.total.checked_mul(factor).ok_or(Error::Overflow { what: "weights" })?;
        self.patterns.scale(factor)
    }

    /// As [`Tally::project`].
    pub(super) fn project(
        &self,
        kept: &[usize],
        replace: impl Fn(usize, Option<u16>) -> u16,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        Ok(Self { patterns: self.patterns.project(kept, replace, control)?, total: self.total })
    }

    /// The same rows with other patterns.
    pub(super) fn map_patterns(
        &self,
        map: impl FnOnce(&Tally) -> Result<Tally, Error>,
    ) -> Result<Self, Error> {
        Ok(Self { patterns: map(&self.patterns)?, total: self.total })
    }

    /// Only the patterns with at least this count.
    pub(super) fn at_least(&self, min_count: u64) -> Option<Self> {
        let patterns = self.patterns.keeping(|_, count| if count < min_count { 0 } else { count });
        let n_dropped = self.patterns.counts().sum::<u64>() - patterns.counts().sum::<u64>();
        (patterns.n_patterns() > 0).then(|| Self { patterns, total: self.total - n_dropped })
    }

    /// Refuses counts that no rows can have given.
    pub(super) fn check(&self, width: usize, n_labels: usize) -> Result<(), Error> {
        self.patterns.check(width, n_labels, 1)?;
        let kept = self.patterns.counts().try_fold(0u64, u64::checked_add);
        if kept.is_some_and(|kept| (1..=self.total).contains(&kept)) {
            return Ok(());
        }
        let found = match kept {
            Some(kept) => format!("{kept} of {}", self.total),
            None => "more".to_owned(),
        };
        Err(Error::Inconsistent { expected: "from 1 to below 2^64 unlabelled rows", found })
    }
}

impl Evidence {
    /// Number of unlabelled rows that were counted, or the sum of their weights.
    pub fn n_unlabelled(&self) -> f64 {
        self.unlabelled.as_ref().map_or(0.0, |rows| self.rows_of(rows.total()))
    }

    /// Number of distinct patterns of unlabelled rows. Of more than 65 536 a sample of as many is kept: those with the
    /// smallest hashes, each with its whole count.
    pub fn n_unlabelled_patterns(&self) -> usize {
        self.unlabelled.as_ref().map_or(0, |rows| rows.patterns().n_rows())
    }

    /// Whether some patterns of unlabelled rows are not kept.
    pub fn samples_unlabelled(&self) -> bool {
        self.unlabelled.as_ref().is_some_and(Unlabelled::is_sample)
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

    /// The evidence of the unlabelled rows alone; [merged](Self::merge) with [`labelled`](Self::labelled) it is the
    /// whole.
    ///
    /// # Errors
    ///
    /// [`Error::LevelTooLow`] without a tally, [`Error::MemoryLimit`].
    pub fn unlabelled(&self, control: &Control<'_>) -> Result<Self, Error> {
        self.tally_for("unlabelled rows")?;
        // A label that occurs in no pattern that is kept is one of the other unlabelled rows.
        let of_labelled = Self { unlabelled: None, ..self.clone() }.seen_labels();
        let is_sample = self.samples_unlabelled();
        let unlabelled = Self {
            classifiers: self.classifiers.clone(),
            labels: self.labels.clone(),
            fraction_bits: self.fraction_bits,
            whole_weights: self.whole_weights,
            class_counts: vec![0; self.class_counts.len()],
            confusions: Confusions::empty(self.n_classifiers()),
            pairs: None,
            tally: Some(Tally::empty(self.n_classifiers())),
            row_units: Vec::new(),
            unlabelled: self.unlabelled.clone(),
        };
        let seen = unlabelled.seen_labels();
        unlabelled.with_labels_of(|id| seen[id] || (is_sample && !of_labelled[id]), control)
    }

    /// The same with a sample of the unlabelled rows, where a file has more patterns than are kept.
    pub(crate) fn with_sample(mut self) -> Self {
        let hash = PatternHash::new(&self.classifiers, &self.labels);
        if let Some(rows) = &mut self.unlabelled {
            rows.patterns = sample(std::mem::replace(&mut rows.patterns, Tally::empty(0)), &hash);
        }
        self
    }

    /// The same rows, of which some of the labelled ones become unlabelled.
    pub(crate) fn hiding_truths(&self, rows: &RowSubset) -> Result<Self, Error> {
        let hash = PatternHash::new(&self.classifiers, &self.labels);
        let hidden = self.subset(rows)?;
        let hidden = Unlabelled::of(hidden.tally_for("hidden truths")?.without_classes(), &hash);
        let unlabelled = Unlabelled::sum(self.unlabelled.clone(), hidden, &hash)?;
        Ok(Self { unlabelled, ..self.without(rows)? })
    }
}
