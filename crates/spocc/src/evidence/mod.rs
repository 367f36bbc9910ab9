//! Evidence: counts that add up.
//!
//! In: predictions and truth. Out: everything any combiner learns from, as sums over rows (paper, section 2.2).
//! The evidence of two halves is the sum of their evidence, exactly, in integers, so rows may come in any
//! order, in any number of pieces, from any number of machines.
//!
//! Index order, here and everywhere: classifier `k`, what it said `j`, what was true `i`.

mod candidates;
mod class_weights;
mod column_warnings;
mod confusions;
mod count;
mod disclosure;
mod grouped;
mod informative_missing;
mod key_counts;
mod pair_blocks;
mod pairs;
mod relabel;
mod split;
mod tally;
mod unlabelled;
mod validate;

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use serde::{Deserialize, Serialize};

use crate::{
    data::{Label, Labels, MISSING},
    error::{Error, list},
    progress::Control,
};

pub use column_warnings::{ColumnIssue, ColumnWarning};
pub use count::Counting;
pub(crate) use count::WEIGHT_BITS;
pub use disclosure::SmallCounts;
pub use grouped::GroupedRows;
pub(crate) use pairs::{Pairs, map_tables, pair_index, weight as pattern_weight};
pub(crate) use split::{RowSubset, Splitter, dense_counts};
pub(crate) use tally::Tally;
pub(crate) use unlabelled::Unlabelled;

/// How much of the rows the evidence keeps; each level holds what the ones before it hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Level {
    /// Class counts and one confusion table per classifier; its size does not depend on the rows.
    Marginals,
    /// Marginals and one table per pair of classifiers: needed to see who depends on whom.
    Pairs,
    /// How often each pattern of answers occurred with each truth: everything there is to know.
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

/// Mergeable counts of how a panel answered rows whose truth is known and, where asked for, rows whose truth is not.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Evidence {
    classifiers: Vec<String>,
    labels: Labels,
    /// Counts are in units of 2^-fraction_bits rows: 0 for whole counts, [`WEIGHT_BITS`] for weights.
    fraction_bits: u32,
    class_counts: Vec<u64>,
    confusion: Vec<u64>,
    pairs: Option<Pairs>,
    tally: Option<Tally>,
    /// Only beside a tally.
    unlabelled: Option<Unlabelled>,
    /// What one row of each class counts where classes are weighed; empty where every row counts a unit.
    #[serde(skip)]
    row_units: Vec<u64>,
}

impl Evidence {
    /// No rows yet: the zero of [`merge`](Self::merge).
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

    /// Classes and other answers, as they come back: in the kind of the truths (texts, integers, ..), if those are
    /// of one kind, and otherwise as they were written.
    ///
    /// The counts keep the writing of an answer that is never true, since rows that are merged later may tell
    /// another kind.
    pub fn labels(&self) -> Cow<'_, Labels> {
        self.labels.in_kind_of_truths(&self.class_counts)
    }

    /// How much it holds.
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
        if known { self.rows_of(self.row(k, ids[0])[usize::from(ids[1])]) } else { 0.0 }
    }

    /// Number of rows, or sum of weights, of every answer of classifier `k` with every truth: a row per label, a
    /// column per class, both in the order of [`labels`](Self::labels); none if there is no such classifier.
    pub fn confusion_of(&self, k: usize) -> Option<Vec<f64>> {
        (k < self.n_classifiers())
            .then(|| self.confusion(k).iter().map(|&count| self.rows_of(count)).collect())
    }

    /// Number of rows, or sum of weights, on which classifier `k` answered.
    pub fn n_answered(&self, k: usize) -> f64 {
        if k < self.n_classifiers() { self.rows_of(self.answered(k)) } else { 0.0 }
    }

    /// Whether weights other than whole numbers were counted.
    pub fn is_weighted(&self) -> bool {
        self.fraction_bits > 0
    }

    /// Number of distinct patterns of answers, if there is a tally.
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

    /// What one row of a class counts.
    #[inline]
    pub(crate) fn row_unit(&self, class: u16) -> u64 {
        self.row_units.get(usize::from(class)).copied().unwrap_or(self.unit())
    }

    /// What one row of weight 1 counts.
    pub(crate) fn unit(&self) -> u64 {
        1 << self.fraction_bits
    }

    pub(crate) fn rows_of(&self, count: u64) -> f64 {
        count as f64 / self.unit() as f64
    }

    pub(crate) fn total(&self) -> u64 {
        self.class_counts.iter().sum()
    }

    pub(crate) fn class_counts(&self) -> &[u64] {
        &self.class_counts
    }

    /// Counts of the classes among rows of which classifier `k` said `j`.
    pub(crate) fn row(&self, k: usize, j: u16) -> &[u64] {
        let at = (k * self.n_labels() + usize::from(j)) * self.n_classes();
        &self.confusion[at..at + self.n_classes()]
    }

    /// The whole table of classifier `k`, answer after answer.
    pub(crate) fn confusion(&self, k: usize) -> &[u64] {
        let size = self.n_labels() * self.n_classes();
        &self.confusion[k * size..(k + 1) * size]
    }

    /// The tables of all classifiers, one after the other.
    pub(crate) fn confusions(&self) -> &[u64] {
        &self.confusion
    }

    /// How often classifier `k` gave each answer.
    pub(crate) fn predicted_counts(&self, k: usize) -> Vec<u64> {
        (0..self.n_labels()).map(|j| self.row(k, j as u16).iter().sum()).collect()
    }

    pub(crate) fn answered(&self, k: usize) -> u64 {
        self.confusion(k).iter().sum()
    }

    pub(crate) fn correct(&self, k: usize) -> u64 {
        (0..self.n_classes()).map(|i| self.row(k, i as u16)[i]).sum()
    }

    /// Accuracy of every classifier; on rows where it was silent it counts as an average member of the panel,
    /// so that a worker who was right once does not outrank everyone.
    pub(crate) fn accuracies(&self) -> Vec<f64> {
        let (right, spoken): (Vec<u64>, Vec<u64>) =
            (0..self.n_classifiers()).map(|k| (self.correct(k), self.answered(k))).unzip();
        let sum = |counts: &[u64]| counts.iter().map(|count| u128::from(*count)).sum::<u128>() as f64;
        let panel = sum(&right) / sum(&spoken).max(1.0);
        let total = self.total();
        let accuracy =
            |(right, spoken): (&u64, &u64)| (*right as f64 + (total - spoken) as f64 * panel) / total as f64;
        right.iter().zip(&spoken).map(accuracy).collect()
    }

    pub(crate) fn pairs(&self) -> Option<&Pairs> {
        self.pairs.as_ref()
    }

    pub(crate) fn tally(&self) -> Option<&Tally> {
        self.tally.as_ref()
    }

    /// The tally, or a refusal in the name of what needs it.
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

    /// Refuses to go on unless the evidence holds `needs`.
    pub(crate) fn require(&self, what: impl std::fmt::Display, needs: Level) -> Result<(), Error> {
        if self.level() >= needs { Ok(()) } else { Err(self.too_low(what, needs)) }
    }

    /// Adds the evidence of other rows about the same panel: exact, in any order, in any grouping.
    ///
    /// Classifiers and classes are aligned by name. Of two orders of the classifiers the alphabetically first
    /// is kept, so that `a + b` and `b + a` are the same bytes.
    ///
    /// # Errors
    ///
    /// [`Error::DifferentClassifiers`], [`Error::DifferentClasses`], [`Error::DifferentLevels`],
    /// [`Error::Overflow`], [`Error::MemoryLimit`].
    pub fn merge(&self, other: &Self, control: &Control<'_>) -> Result<Self, Error> {
        if self.level() != other.level() {
            let [expected, found] = [self, other].map(|side| side.level().to_string());
            return Err(Error::DifferentLevels { expected, found });
        }
        let order =
            if self.classifiers <= other.classifiers { &self.classifiers } else { &other.classifiers };
        let only = |a: &Self, b: &Self| -> Vec<String> {
            let known: HashSet<&String> = b.classifiers.iter().collect();
            a.classifiers
                .iter()
                .filter(|name| !known.contains(name))
                .map(|name| format!("`{name}`"))
                .collect()
        };
        let different = [only(self, other), only(other, self)].concat();
        if !different.is_empty() {
            let difference = format!("{} on one side only", list(different));
            return Err(Error::DifferentClassifiers { difference });
        }
        let sides = [self, other].map(|side| (&side.labels, &side.class_counts[..]));
        let labels = Labels::union(sides)?;
        let bits = self.fraction_bits.max(other.fraction_bits);
        let mut sum = self.aligned(order, &labels, bits, control)?;
        let part = other.aligned(order, &labels, bits, control)?;
        sum.total().checked_add(part.total()).ok_or(Error::Overflow { what: "merged rows" })?;
        let add =
            |to: &mut [u64], from: &[u64]| to.iter_mut().zip(from).for_each(|(sum, count)| *sum += count);
        add(&mut sum.class_counts, &part.class_counts);
        add(&mut sum.confusion, &part.confusion);
        if let (Some(sum), Some(part)) = (&mut sum.pairs, &part.pairs) {
            sum.plus(part);
        }
        if let (Some(tally), Some(part)) = (&sum.tally, &part.tally) {
            let tally = tally.plus(part)?;
            control.allow(|| format!("tally of {} patterns", tally.n_patterns()), &[tally.bytes()])?;
            sum.tally = Some(tally);
        }
        sum.unlabelled = Unlabelled::sum(sum.unlabelled.as_ref(), part.unlabelled.as_ref())?;
        Ok(sum)
    }

    /// The evidence about these classifiers only, in this order.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownClassifier`], [`Error::DuplicateName`], [`Error::NoClassifiers`], [`Error::MemoryLimit`].
    pub fn select<S: AsRef<str>>(&self, classifiers: &[S], control: &Control<'_>) -> Result<Self, Error> {
        // A builder judges a list of names; nothing else of it is used.
        crate::Predictions::builder(classifiers.iter().map(|name| name.as_ref().to_owned()))?;
        let places: HashMap<&str, usize> = self.classifiers.iter().map(String::as_str).zip(0..).collect();
        let find = |name: &S| {
            places.get(name.as_ref()).copied().ok_or_else(|| Error::UnknownClassifier {
                name: name.as_ref().to_owned(),
                known: list(&self.classifiers),
            })
        };
        let kept = classifiers.iter().map(find).collect::<Result<Vec<usize>, Error>>()?;
        let identity: Vec<u16> = (0..self.n_labels() as u16).collect();
        let pairs =
            self.pairs.as_ref().map(|pairs| pairs.project(&kept, &identity, self.n_labels(), control));
        let project = |tally: &Tally| tally.project(&kept, |_, id| id.unwrap_or(MISSING), control);
        let project_rows = |rows: &Unlabelled| rows.project(&kept, |_, id| id.unwrap_or(MISSING), control);
        Ok(Self {
            classifiers: kept.iter().map(|&k| self.classifiers[k].clone()).collect(),
            labels: self.labels.clone(),
            fraction_bits: self.fraction_bits,
            class_counts: self.class_counts.clone(),
            confusion: kept.iter().flat_map(|&k| self.confusion(k).iter().copied()).collect(),
            pairs: pairs.transpose()?,
            tally: self.tally.as_ref().map(project).transpose()?,
            row_units: self.row_units.clone(),
            unlabelled: self.unlabelled.as_ref().map(project_rows).transpose()?,
        })
    }

    /// The same rows with less detail; asking for more than there is changes nothing. Below a tally, rows without
    /// truth are lost.
    ///
    /// # Errors
    ///
    /// [`Error::MemoryLimit`] if pair counts made from a tally would not fit.
    pub fn reduce_to(&self, level: Level, control: &Control<'_>) -> Result<Self, Error> {
        if level >= self.level() {
            return Ok(self.clone());
        }
        self.at_level(level, control)?.without_unseen_labels(control)
    }

    /// The same, and all labels stay.
    pub(crate) fn at_level(&self, level: Level, control: &Control<'_>) -> Result<Self, Error> {
        if level >= self.level() {
            return Ok(self.clone());
        }
        let pairs = match (&self.tally, level) {
            (Some(tally), Level::Pairs) => {
                let mut pairs = Pairs::empty(self.n_classifiers(), self.n_labels(), control)?;
                (0..tally.n_patterns()).for_each(|p| pairs.add(tally.pattern(p), pattern_weight(tally, p)));
                Some(pairs)
            }
            _ => None,
        };
        Ok(Self { pairs, tally: None, unlabelled: None, ..self.clone() })
    }

    /// The evidence of a tally of the same classifiers and labels.
    pub(crate) fn with_tally(&self, tally: Tally) -> Self {
        let (s, l) = (self.n_labels(), self.n_classes());
        let mut class_counts = vec![0; l];
        let mut confusion = vec![0; self.confusion.len()];
        for (row, class, count) in tally.cells() {
            let i = usize::from(class);
            class_counts[i] += count;
            row.for_each(|k, j| confusion[(k * s + usize::from(j)) * l + i] += count);
        }
        Self {
            classifiers: self.classifiers.clone(),
            labels: self.labels.clone(),
            fraction_bits: self.fraction_bits,
            class_counts,
            confusion,
            pairs: None,
            tally: Some(tally),
            row_units: self.row_units.clone(),
            unlabelled: None,
        }
    }

    /// Other labelled rows beside the same rows without truth.
    pub(crate) fn with_labelled(&self, tally: Tally) -> Self {
        Self { unlabelled: self.unlabelled.clone(), ..self.with_tally(tally) }
    }

    /// Whether both hold the same counts about the same labels, classifiers in the same order.
    pub(crate) fn has_counts_of(&self, other: &Self) -> bool {
        self.classifiers == other.classifiers
            && self.labels.all() == other.labels.all()
            && self.fraction_bits == other.fraction_bits
            && self.class_counts == other.class_counts
            && self.confusion == other.confusion
            && self.pairs == other.pairs
            && self.tally == other.tally
            && self.unlabelled == other.unlabelled
    }
}
