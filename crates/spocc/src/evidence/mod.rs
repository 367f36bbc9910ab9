//! Evidence: counts of predictions and truths, from which every method is fitted.
//!
//! In: predictions and truth. Out: sums over rows (paper, section 2.2). The evidence of two halves of a table adds up
//! to the evidence of the whole, exactly, in integers, so that rows may come in any order, in any number of pieces, from
//! any number of machines.
//!
//! Index order, here and everywhere: classifier `k`, predicted `j`, true `i`.

mod candidates;
mod class_weights;
mod column_warnings;
mod confusion_counter;
mod confusions;
mod count;
mod counted_rows;
mod disclosure;
mod exchangeable;
mod grouped;
mod informative_missing;
mod key_counts;
mod merge;
mod open;
mod pair_blocks;
mod pairs;
mod relabel;
mod repeated_ids;
mod row_shortages;
mod select;
mod split;
mod tally;
mod tally_builder;
mod unlabelled;
mod unlabelled_sample;
mod validate;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{
    data::{Label, Labels, MISSING},
    error::Error,
    progress::Control,
};

pub use column_warnings::{ColumnIssue, ColumnWarning};
pub(crate) use confusions::{ConfusionCell, Confusions};
pub use count::Counting;
pub(crate) use count::WEIGHT_BITS;
pub use disclosure::{ADVISED_MIN_COUNT, SmallCounts};
pub use grouped::GroupedRows;
pub(crate) use informative_missing::{log_marginal, log_odds};
pub(crate) use pairs::{Pairs, map_tables, pair_index};
pub use repeated_ids::{RepeatedIds, RepeatedRows};
pub use row_shortages::RowShortage;
pub(crate) use split::{RowSubset, Splitter, dense_counts};
pub(crate) use tally::Tally;
pub(crate) use unlabelled::Unlabelled;
#[cfg(test)]
pub(crate) use unlabelled_sample::tests::with_at_most;

/// How much the evidence holds of the rows; each level includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Level {
    /// Class counts and one confusion table per classifier; the size does not depend on the number of rows.
    Marginals,
    /// Marginals and one table per pair of classifiers, from which dependence is computed.
    Pairs,
    /// The count of each pattern of predictions with each truth: all that the rows say, without their order.
    #[default]
    Tally,
}

impl std::fmt::Display for Level {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Marginals => "marginals",
            Self::Pairs => "pair counts",
            Self::Tally => "a tally",
        })
    }
}

/// Mergeable counts of the predictions of a panel of classifiers for labelled and unlabelled rows.
#[derive(Clone, Debug)]
pub struct Evidence {
    pub(crate) classifiers: Vec<String>,
    pub(crate) labels: Labels,
    /// Counts are in units of 2^-fraction_bits rows: 0 for whole counts, [`WEIGHT_BITS`] for weights.
    pub(crate) fraction_bits: u32,
    /// Whether counts are sums of whole weights, so that they do not say how many rows there are.
    pub(crate) whole_weights: bool,
    pub(crate) class_counts: Vec<u64>,
    pub(crate) confusions: Confusions,
    pub(crate) pairs: Option<Pairs>,
    pub(crate) tally: Option<Tally>,
    /// Rows without truth, only beside a tally.
    pub(crate) unlabelled: Option<Unlabelled>,
    /// The count of one row of each class where classes have weights; empty where every row counts a unit.
    pub(crate) row_units: Vec<u64>,
}

impl Evidence {
    /// The evidence of no rows: the neutral element of [`merge`](Self::merge).
    ///
    /// # Errors
    ///
    /// [`Error::NoClassifiers`], [`Error::DuplicateName`].
    pub fn empty<S: Into<String>>(
        classifiers: impl IntoIterator<Item = S>,
        classes: Option<&[Label]>,
        level: Level,
    ) -> Result<Self, Error> {
        let nothing = crate::Predictions::builder(classifiers)?.finish();
        let options = Counting { level, classes: classes.map(<[Label]>::to_vec), ..Counting::default() };
        Self::count(&nothing, &crate::Truth::default(), &options, &Control::default())
    }

    /// The classifiers' names.
    pub fn classifiers(&self) -> &[String] {
        &self.classifiers
    }

    /// Classes and other labels, as a model returns them: in the kind of the truths (texts, integers, ..), if those are
    /// of one kind, and otherwise as they were written.
    ///
    /// The counts keep how a label that is never true was written, since rows that are merged later may have truths of
    /// another kind.
    pub fn labels(&self) -> Cow<'_, Labels> {
        self.labels.in_kind_of_truths(&self.class_counts)
    }

    /// How much it holds of the rows.
    pub fn level(&self) -> Level {
        match (&self.tally, &self.pairs) {
            (Some(_), _) => Level::Tally,
            (None, Some(_)) => Level::Pairs,
            (None, None) => Level::Marginals,
        }
    }

    /// Number of labelled rows, or the sum of their weights.
    pub fn n_rows(&self) -> f64 {
        self.rows_of(self.total())
    }

    /// Number of rows, or sum of weights, in which classifier `k` predicted `predicted` and `truth` was true.
    pub fn count_of(&self, k: usize, predicted: impl Into<Label>, truth: impl Into<Label>) -> f64 {
        let ids = self.labels.translate(&[predicted.into(), truth.into()]);
        let known = k < self.n_classifiers() && ids[0] != MISSING && usize::from(ids[1]) < self.n_classes();
        if known { self.rows_of(self.confusions.get(k, ids[0], ids[1])) } else { 0.0 }
    }

    /// Number of rows, or sum of weights, of every prediction of classifier `k` with every truth: a row per label, a
    /// column per class, both in the order of [`labels`](Self::labels); none if there is no such classifier.
    pub fn confusion_of(&self, k: usize) -> Option<Vec<f64>> {
        let counts = (k < self.n_classifiers()).then(|| self.dense_confusion(k))?;
        Some(counts.into_iter().map(|count| self.rows_of(count)).collect())
    }

    /// Number of rows, or sum of weights, on which classifier `k` answered.
    pub fn n_answered(&self, k: usize) -> f64 {
        if k < self.n_classifiers() { self.rows_of(self.answered(k)) } else { 0.0 }
    }

    /// Whether rows with fractional weights were counted.
    pub fn is_weighted(&self) -> bool {
        self.fraction_bits > 0
    }

    /// Whether counts are numbers of rows: every row was counted with weight 1.
    pub fn counts_rows(&self) -> bool {
        self.fraction_bits == 0 && !self.whole_weights
    }

    /// Whether it counts [open answers](crate::data::Answers): its classes are the candidate numbers of a row, 0 for "none
    /// of these".
    pub fn is_open(&self) -> bool {
        self.labels.are_candidates()
    }

    /// Number of distinct patterns of predictions, if there is a tally.
    pub fn n_patterns(&self) -> Option<usize> {
        self.tally.as_ref().map(Tally::n_patterns)
    }

    pub(crate) fn n_classifiers(&self) -> usize {
        self.classifiers.len()
    }

    pub(crate) fn n_classes(&self) -> usize {
        self.labels.n_classes()
    }

    pub(crate) fn n_labels(&self) -> usize {
        self.labels.len()
    }

    /// The count of one row of a class.
    #[inline]
    pub(crate) fn row_unit(&self, class: u16) -> u64 {
        self.row_units.get(usize::from(class)).copied().unwrap_or(self.unit())
    }

    /// The count of one row of weight 1.
    pub(crate) fn unit(&self) -> u64 {
        1 << self.fraction_bits
    }

    /// A count as a number of rows, or a sum of weights.
    pub(crate) fn rows_of(&self, count: u64) -> f64 {
        count as f64 / self.unit() as f64
    }

    pub(crate) fn total(&self) -> u64 {
        self.class_counts.iter().sum()
    }

    pub(crate) fn class_counts(&self) -> &[u64] {
        &self.class_counts
    }

    /// The confusion tables, without the empty cells.
    pub(crate) fn confusions(&self) -> &Confusions {
        &self.confusions
    }

    /// The cells of the table of classifier `k` that are not empty.
    pub(crate) fn confusion(&self, k: usize) -> &[ConfusionCell] {
        self.confusions.of_classifier(k)
    }

    /// The whole table of classifier `k`: predicted, true.
    pub(crate) fn dense_confusion(&self, k: usize) -> Vec<u64> {
        let l = self.n_classes();
        let mut counts = vec![0; self.n_labels() * l];
        for cell in self.confusion(k) {
            counts[usize::from(cell.predicted) * l + usize::from(cell.truth)] = cell.count;
        }
        counts
    }

    /// The tables of all classifiers: classifier, predicted, true.
    pub(crate) fn dense_confusions(&self) -> Vec<f64> {
        let all = (0..self.n_classifiers()).flat_map(|k| self.dense_confusion(k));
        all.map(|count| count as f64).collect()
    }

    /// The class counts of the rows for which classifier `k` predicted `j`.
    pub(crate) fn classes_of_prediction(&self, k: usize, j: u16, counts: &mut [u64]) {
        counts.fill(0);
        for cell in self.confusions.of_prediction(k, j) {
            counts[usize::from(cell.truth)] = cell.count;
        }
    }

    /// How often classifier `k` predicted each label.
    pub(crate) fn predicted_counts(&self, k: usize) -> Vec<u64> {
        let mut counts = vec![0; self.n_labels()];
        self.confusion(k).iter().for_each(|cell| counts[usize::from(cell.predicted)] += cell.count);
        counts
    }

    /// How often classifier `k` predicted something for a row of each class.
    pub(crate) fn answered_by_class(&self, k: usize) -> Vec<u64> {
        let mut counts = vec![0; self.n_classes()];
        self.confusion(k).iter().for_each(|cell| counts[usize::from(cell.truth)] += cell.count);
        counts
    }

    /// How many labels classifier `k` predicted, and of how many classes the rows with a prediction are.
    pub(crate) fn n_occurring(&self, k: usize) -> [usize; 2] {
        let occurring = |counts: Vec<u64>| counts.iter().filter(|count| **count > 0).count();
        [occurring(self.predicted_counts(k)), occurring(self.answered_by_class(k))]
    }

    /// The count of rows that classifier `k` answered.
    pub(crate) fn answered(&self, k: usize) -> u64 {
        self.confusion(k).iter().map(|cell| cell.count).sum()
    }

    /// The count of rows for which classifier `k` predicted the truth.
    pub(crate) fn correct(&self, k: usize) -> u64 {
        let right = self.confusion(k).iter().filter(|cell| cell.predicted == cell.truth);
        right.map(|cell| cell.count).sum()
    }

    /// Accuracy of every classifier. Rows that it did not answer count with the mean accuracy of the panel, so that a
    /// classifier with a single correct prediction does not outrank all others.
    pub(crate) fn accuracies(&self) -> Vec<f64> {
        let (correct, answered): (Vec<u64>, Vec<u64>) =
            (0..self.n_classifiers()).map(|k| (self.correct(k), self.answered(k))).unzip();
        let sum = |counts: &[u64]| counts.iter().map(|count| u128::from(*count)).sum::<u128>() as f64;
        let mean = sum(&correct) / sum(&answered).max(1.0);
        let total = self.total();
        let accuracy = |(correct, answered): (&u64, &u64)| {
            (*correct as f64 + (total - answered) as f64 * mean) / total as f64
        };
        correct.iter().zip(&answered).map(accuracy).collect()
    }

    pub(crate) fn pairs(&self) -> Option<&Pairs> {
        self.pairs.as_ref()
    }

    pub(crate) fn tally(&self) -> Option<&Tally> {
        self.tally.as_ref()
    }

    /// The tally, or the error that `what` needs one.
    pub(crate) fn tally_for(&self, what: impl std::fmt::Display) -> Result<&Tally, Error> {
        self.tally.as_ref().ok_or_else(|| self.too_low(what, Level::Tally))
    }

    fn too_low(&self, what: impl std::fmt::Display, needs: Level) -> Error {
        Error::LevelTooLow {
            what: what.to_string(),
            needs: needs.to_string(),
            found: self.level().to_string(),
        }
    }

    /// Refuses evidence below the level that `what` needs.
    pub(crate) fn require(&self, what: impl std::fmt::Display, needs: Level) -> Result<(), Error> {
        if self.level() >= needs { Ok(()) } else { Err(self.too_low(what, needs)) }
    }

    /// Whether both hold the same counts of the same labels, with the classifiers in the same order. Of unlabelled rows
    /// that are a sample only the numbers are compared, since another column is another choice of patterns.
    pub(crate) fn has_counts_of(&self, other: &Self) -> bool {
        self.classifiers == other.classifiers
            && self.labels.all() == other.labels.all()
            && self.fraction_bits == other.fraction_bits
            && self.whole_weights == other.whole_weights
            && self.class_counts == other.class_counts
            && self.confusions == other.confusions
            && self.pairs == other.pairs
            && self.tally == other.tally
            && match (&self.unlabelled, &other.unlabelled) {
                (Some(a), Some(b)) if a.is_sample() || b.is_sample() => a.total() == b.total(),
                (a, b) => a == b,
            }
    }
}
