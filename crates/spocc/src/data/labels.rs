//! Labels: what a classifier can say and what can be true.
//!
//! In: texts, integers, booleans, whole-number floats. Out: one canonical text each, so that the text
//! `1` of a CSV file, the integer 1 and the float 1.0 of a data frame are the same label, with a memory
//! of how the user wrote it.

use std::{
    borrow::Cow,
    cmp::Ordering,
    collections::{HashMap, HashSet},
    fmt,
};

use serde::{Deserialize, Serialize, Serializer};

use crate::error::{Error, list};

/// Largest number of distinct labels; the id above them means "no answer".
pub(crate) const MAX_LABELS: usize = u16::MAX as usize;

/// The id of a cell in which nobody said anything.
pub(crate) const MISSING: u16 = u16::MAX;

/// The canonical text of the answer that stands for silence, where silence counts as one. No word has it: the
/// canonical text of a word that begins with this character has one more of them.
const SILENCE: &str = "\0";

/// One label: equal to another when their canonical texts are equal, however they were written.
///
/// ```
/// use spocc::Label;
/// assert_eq!(Label::from("1"), Label::from(1));
/// assert_eq!(Label::from("True"), Label::from(true));
/// assert_ne!(Label::from("007"), Label::from(7));
/// assert_eq!(Label::from("True").to_string(), "True");
/// ```
#[derive(Clone, Debug, Deserialize)]
pub struct Label {
    canonical: String,
    written: Written,
}

/// How the user wrote a label.
///
/// Of a label that was written in several ways the writing of its truths is kept, and among several the first in
/// this order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Written {
    /// As a boolean.
    Boolean,
    /// As an integer.
    Integer,
    /// As a floating-point number without a fraction.
    Float,
    /// As this text.
    Text(String),
}

impl Label {
    /// The text by which labels are compared: `1` for 1, 1.0 and "1"; `true` for true, "True" and "TRUE".
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// The label of an integer that may be larger than `Label::from` takes.
    pub fn from_integer(value: i128) -> Self {
        Self { canonical: value.to_string(), written: Written::Integer }
    }

    /// How the user wrote it.
    pub fn written(&self) -> &Written {
        &self.written
    }

    /// The same label in the kind of `other`, if there is such a label.
    fn like(&self, other: &Written) -> Option<Self> {
        let exact = |value: f64| format!("{value:.0}") == self.canonical;
        let is_possible = match other {
            Written::Text(_) => true,
            Written::Integer => self.is_integer() && self.canonical.parse::<i128>().is_ok(),
            Written::Float => self.is_integer() && self.canonical.parse().is_ok_and(exact),
            Written::Boolean => self.canonical == "true" || self.canonical == "false",
        };
        let written = match (other, &self.written) {
            (Written::Text(_), Written::Text(text)) => Written::Text(text.clone()),
            (Written::Text(_), _) => Written::Text(self.canonical.clone()),
            _ => other.clone(),
        };
        is_possible.then(|| Self { canonical: self.canonical.clone(), written })
    }

    /// Whether two labels are the same and were written the same way.
    pub(crate) fn is_identical(&self, other: &Self) -> bool {
        self == other && self.written == other.written
    }

    fn missing() -> Self {
        Self { canonical: SILENCE.to_owned(), written: Written::Text(SILENCE.to_owned()) }
    }

    fn is_integer(&self) -> bool {
        is_integer(&self.canonical)
    }

    /// Refuses a label whose writing contradicts its canonical text.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let holds = match &self.written {
            Written::Text(text) => {
                canonical(text) == self.canonical || text == SILENCE && self.canonical == SILENCE
            }
            Written::Integer | Written::Float => self.is_integer(),
            Written::Boolean => self.canonical == "true" || self.canonical == "false",
        };
        if holds {
            return Ok(());
        }
        Err(Error::Inconsistent {
            expected: "labels that are what they were written as",
            found: self.canonical.clone(),
        })
    }
}

/// Digits without leading zeros, perhaps after a minus sign.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain && (!digits.starts_with('0') || text == "0")
}

fn canonical(text: &str) -> Cow<'_, str> {
    match text {
        "True" | "TRUE" => "true".into(),
        "False" | "FALSE" => "false".into(),
        _ if text.starts_with(SILENCE) => [SILENCE, text].concat().into(),
        // Data frames write an integer column with gaps as 1.0, 2.0, ..
        _ => text.strip_suffix(".0").filter(|whole| is_integer(whole)).unwrap_or(text).into(),
    }
}

impl From<&str> for Label {
    fn from(text: &str) -> Self {
        Self { canonical: canonical(text).into_owned(), written: Written::Text(text.to_owned()) }
    }
}

impl From<String> for Label {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<i64> for Label {
    fn from(value: i64) -> Self {
        Self::from_integer(value.into())
    }
}

impl From<bool> for Label {
    fn from(value: bool) -> Self {
        Self { canonical: value.to_string(), written: Written::Boolean }
    }
}

impl TryFrom<f64> for Label {
    type Error = Error;

    fn try_from(value: f64) -> Result<Self, Error> {
        if !value.is_finite() || value.fract() != 0.0 {
            return Err(Error::LabelNotWhole { found: value });
        }
        // Adding zero turns -0.0 into 0.0.
        Ok(Self { canonical: format!("{:.0}", value + 0.0), written: Written::Float })
    }
}

impl fmt::Display for Label {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.written {
            Written::Text(text) => out.write_str(text),
            Written::Float => write!(out, "{}.0", self.canonical),
            Written::Integer | Written::Boolean => out.write_str(&self.canonical),
        }
    }
}

impl Serialize for Label {
    /// In our files with everything known of it; in text such as JSON as the user would write it there.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return (&self.canonical, &self.written).serialize(serializer);
        }
        match (&self.written, self.canonical.parse::<i64>()) {
            (Written::Text(text), _) => serializer.serialize_str(text),
            (Written::Boolean, _) => serializer.serialize_bool(self.canonical == "true"),
            (Written::Integer | Written::Float, Ok(value)) => serializer.serialize_i64(value),
            (Written::Integer | Written::Float, Err(_)) => serializer.serialize_str(&self.canonical),
        }
    }
}

impl PartialEq for Label {
    fn eq(&self, other: &Self) -> bool {
        self.canonical == other.canonical
    }
}

impl Eq for Label {}

impl std::hash::Hash for Label {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.canonical.hash(state);
    }
}

impl Ord for Label {
    /// IntegerTable first, by value; then everything else, bytewise.
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (&self.canonical, &other.canonical);
        match (self.is_integer(), other.is_integer()) {
            (true, true) => match (a.strip_prefix('-'), b.strip_prefix('-')) {
                (None, None) => (a.len(), a).cmp(&(b.len(), b)),
                (Some(a), Some(b)) => (b.len(), b).cmp(&(a.len(), a)),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
            },
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => a.cmp(b),
        }
    }
}

impl PartialOrd for Label {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Everything a panel can say: first the classes, which can be decided, then other answers, which cannot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Labels {
    names: Vec<Label>,
    n_classes: usize,
    /// Whether the user gave the classes; if not, every label seen is a class.
    closed: bool,
}

impl Labels {
    /// Every label is a class; sorted, each once. A label that is among the truths is written as it is there.
    pub(crate) fn open(
        truths: impl IntoIterator<Item = Label>,
        said: impl IntoIterator<Item = Label>,
    ) -> Result<Self, Error> {
        let truths = sorted(truths.into_iter().collect())?;
        let known: HashSet<&str> = truths.iter().map(Label::canonical).collect();
        let others: Vec<Label> =
            said.into_iter().filter(|label| !known.contains(label.canonical())).collect();
        let names = sorted([truths, others].concat())?;
        Ok(Self { n_classes: names.len(), names, closed: false })
    }

    /// Exactly these classes in this order; whatever else is said is an answer that is never decided.
    pub(crate) fn closed(classes: &[Label], said: impl IntoIterator<Item = Label>) -> Result<Self, Error> {
        let mut names: Vec<Label> = Vec::with_capacity(classes.len());
        let mut seen = HashSet::new();
        for class in classes {
            if !seen.insert(class.canonical()) {
                return Err(Error::DuplicateName { what: "classes", name: class.to_string() });
            }
            names.push(class.clone());
        }
        let others = said.into_iter().filter(|label| !seen.contains(label.canonical())).collect();
        names.extend(sorted(others)?);
        if names.len() > MAX_LABELS {
            return Err(Error::TooManyLabels { limit: MAX_LABELS });
        }
        Ok(Self { names, n_classes: classes.len(), closed: true })
    }

    /// The classes, in the order in which ties are resolved.
    pub fn classes(&self) -> &[Label] {
        &self.names[..self.n_classes]
    }

    /// Classes and other answers.
    pub fn all(&self) -> &[Label] {
        &self.names
    }

    /// Whether the user gave the classes.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    pub(crate) fn n_classes(&self) -> usize {
        self.n_classes
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The id of each of `labels` here, or [`MISSING`] for one that is not.
    pub(crate) fn translate(&self, labels: &[Label]) -> Vec<u16> {
        let ids: HashMap<&str, u16> = self.names.iter().map(Label::canonical).zip(0..).collect();
        labels.iter().map(|label| ids.get(label.canonical()).copied().unwrap_or(MISSING)).collect()
    }

    /// The labels of two sides, each with its class counts; refuses class lists that differ.
    ///
    /// Whether a label is true of some row and how it is written there are known on each side, so that the union
    /// of any number of sides is the same in whatever order.
    pub(crate) fn union(sides: [(&Self, &[u64]); 2]) -> Result<Self, Error> {
        let [(one, _), (other, _)] = sides;
        let all = || one.names.iter().chain(&other.names).cloned();
        match (one.closed, other.closed) {
            (false, false) => {
                let true_of = |(labels, counts): (&Self, &[u64])| labels.of_rows(counts).cloned().collect();
                let truths: Vec<Vec<Label>> = sides.into_iter().map(true_of).collect();
                Self::open(truths.concat(), all())
            }
            (true, true) if one.classes() == other.classes() => {
                let pairs = one.classes().iter().zip(other.classes());
                let classes: Vec<Label> = pairs.map(|(a, b)| first_written(a, b).clone()).collect();
                Self::closed(&classes, all())
            }
            (true, true) => Err(Error::DifferentClasses {
                difference: format!("{} and {}", list(one.classes()), list(other.classes())),
            }),
            _ => Err(Error::DifferentClasses {
                difference: "a given list of classes and classes as met".to_owned(),
            }),
        }
    }

    /// The classes that are true of some row.
    fn of_rows<'a>(&'a self, class_counts: &'a [u64]) -> impl Iterator<Item = &'a Label> {
        self.classes().iter().zip(class_counts).filter(|(_, count)| **count > 0).map(|(label, _)| label)
    }

    /// The same labels in the kind of the truths, if those have one: a label that was only an answer becomes a
    /// text among texts and an integer among integers, unless it cannot. A given list of classes is kept as it is.
    pub(crate) fn in_kind_of_truths(&self, class_counts: &[u64]) -> Cow<'_, Self> {
        let kind = |label: &Label| std::mem::discriminant(&label.written);
        let mut truths = self.of_rows(class_counts);
        let Some(first) = truths.next().filter(|_| !self.closed) else { return Cow::Borrowed(self) };
        let is_other = |label: &Label| kind(label) != kind(first);
        if truths.any(is_other) || !self.names.iter().any(is_other) {
            return Cow::Borrowed(self);
        }
        let rewrite = |label: &Label| label.like(&first.written).unwrap_or_else(|| label.clone());
        Cow::Owned(Self { names: self.names.iter().map(rewrite).collect(), ..*self })
    }

    /// Only the labels for which `keep` holds; the given classes always stay.
    pub(crate) fn retain(&self, keep: impl Fn(usize) -> bool) -> Self {
        let stays = |id: &usize| keep(*id) || (self.closed && *id < self.n_classes);
        let kept: Vec<usize> = (0..self.names.len()).filter(stays).collect();
        Self {
            n_classes: kept.iter().filter(|id| **id < self.n_classes).count(),
            names: kept.into_iter().map(|id| self.names[id].clone()).collect(),
            closed: self.closed,
        }
    }

    /// The same labels and one more answer that stands for silence.
    pub(crate) fn with_missing_label(&self) -> Result<Self, Error> {
        let others = self.names[self.n_classes..].iter().cloned();
        Self::closed(self.classes(), others.chain([Label::missing()]))
    }

    /// The id of silence as an answer, or [`MISSING`] where silence is none.
    pub(crate) fn missing_label(&self) -> u16 {
        // Asked for every decision, and other answers are few: no table of all labels is made for it.
        let others = self.names[self.n_classes..].iter().zip(self.n_classes..);
        others
            .filter(|(label, _)| label.canonical == SILENCE)
            .map(|(_, id)| id as u16)
            .next()
            .unwrap_or(MISSING)
    }

    pub(crate) fn is_identical(&self, other: &Self) -> bool {
        (self.closed, self.n_classes, self.names.len()) == (other.closed, other.n_classes, other.names.len())
            && self.names.iter().zip(&other.names).all(|(a, b)| a.is_identical(b))
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        self.names.iter().try_for_each(Label::check)?;
        let mut remade = if self.closed && self.n_classes <= self.names.len() {
            Self::closed(&self.names[..self.n_classes], self.names[self.n_classes..].iter().cloned())?
        } else {
            Self::open([], self.names.iter().cloned())?
        };
        remade.closed = self.closed;
        if remade.is_identical(self) {
            return Ok(());
        }
        Err(Error::Inconsistent { expected: "labels sorted and distinct", found: list(&self.names) })
    }
}

fn first_written<'a>(a: &'a Label, b: &'a Label) -> &'a Label {
    if a.written <= b.written { a } else { b }
}

fn sorted(mut labels: Vec<Label>) -> Result<Vec<Label>, Error> {
    labels.sort_by(|a, b| a.cmp(b).then_with(|| a.written.cmp(&b.written)));
    labels.dedup_by(|later, earlier| later == earlier);
    if labels.len() > MAX_LABELS {
        return Err(Error::TooManyLabels { limit: MAX_LABELS });
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(labels: &[Label]) -> Vec<String> {
        labels.iter().map(Label::to_string).collect()
    }

    #[test]
    fn one_label_however_it_is_written() {
        for twin in [Label::from("1"), Label::from("1.0"), Label::try_from(1.0).expect("whole")] {
            assert_eq!(twin, Label::from(1));
        }
        assert_eq!(Label::from("FALSE"), Label::from(false));
        assert_eq!(Label::from_integer(u64::MAX.into()), Label::from("18446744073709551615"));
        assert_eq!(Label::try_from(-0.0).expect("whole"), Label::from(0));
        for other in ["01", "+1", "1.", "1.00", "-0", "1e0", " 1"] {
            assert_ne!(Label::from(other), Label::from(1));
            assert_ne!(Label::from(other), Label::from(0));
        }
    }

    #[test]
    fn labels_come_back_as_they_were_written() {
        let written = [Label::from("True"), Label::from(true), Label::from(-3), Label::from("1.0")];
        assert_eq!(texts(&written), ["True", "true", "-3", "1.0"]);
        assert_eq!(Label::try_from(1e20).expect("whole").to_string(), "100000000000000000000.0");
    }

    #[test]
    fn fractions_are_not_labels() {
        for bad in [0.5, f64::NAN, f64::INFINITY] {
            assert!(matches!(Label::try_from(bad), Err(Error::LabelNotWhole { .. })));
        }
    }

    #[test]
    fn integers_sort_by_value_and_before_words() {
        let labels = ["b", "10", "9", "-2", "-10", "B", "123456789012345678901234567890"];
        let sorted = Labels::open([], labels.map(Label::from)).expect("few labels");
        assert_eq!(texts(sorted.all()), ["-10", "-2", "9", "10", "123456789012345678901234567890", "B", "b"]);
    }

    #[test]
    fn a_given_list_keeps_its_order_and_other_answers_are_never_classes() {
        let classes = ["no", "yes"].map(Label::from);
        let labels = Labels::closed(&classes, ["yes", "refuse", "maybe"].map(Label::from)).expect("distinct");
        assert_eq!(texts(labels.classes()), ["no", "yes"]);
        assert_eq!(texts(labels.all()), ["no", "yes", "maybe", "refuse"]);
        let twice = Labels::closed(&["1", "1.0"].map(Label::from), []);
        assert!(matches!(twice, Err(Error::DuplicateName { .. })));
    }

    #[test]
    fn a_union_does_not_depend_on_the_sides() {
        let left = Labels::open([], ["True", "x"].map(Label::from)).expect("few");
        let right = Labels::open([], [Label::from(true), Label::from("y")]).expect("few");
        let union = |sides: [(&Labels, &[u64]); 2]| Labels::union(sides).expect("open");
        let (ab, ba) =
            (union([(&left, &[0; 2]), (&right, &[0; 2])]), union([(&right, &[0; 2]), (&left, &[0; 2])]));
        assert!(ab.is_identical(&ba));
        assert_eq!(texts(ab.all()), ["true", "x", "y"]);
        let ab = union([(&left, &[1, 0]), (&right, &[0; 2])]);
        assert_eq!(texts(ab.all()), ["True", "x", "y"], "a truth outranks an answer");
        let ab = union([(&left, &[1, 0]), (&right, &[1, 0])]);
        assert_eq!(texts(ab.all()), ["true", "x", "y"], "of two truths the first in the order of writings");
    }

    #[test]
    fn labels_that_are_only_answers_take_the_kind_of_the_truths() {
        let float = |value| Label::try_from(value).expect("whole");
        let kinds = |truths: &[Label], said: &[Label]| {
            let labels = Labels::open(truths.to_vec(), said.to_vec()).expect("few");
            let counts: Vec<u64> =
                labels.classes().iter().map(|label| truths.contains(label).into()).collect();
            let shown = labels.in_kind_of_truths(&counts).into_owned();
            shown.check().expect("what a file may hold");
            shown.all().iter().map(|label| label.written().clone()).collect::<Vec<_>>()
        };
        let text = |text: &str| Written::Text(text.to_owned());
        assert_eq!(kinds(&[1.into()], &["1".into(), "3.0".into()]), [Written::Integer, Written::Integer]);
        assert_eq!(
            kinds(&[1.into()], &["na".into(), float(2.0)]),
            [Written::Integer, Written::Integer, text("na")]
        );
        assert_eq!(kinds(&["1".into()], &[1.into(), float(3.0)]), [text("1"), text("3")]);
        assert_eq!(kinds(&["1.0".into()], &[1.into(), "2.0".into()]), [text("1.0"), text("2.0")]);
        assert_eq!(kinds(&[float(1.0)], &[2.into()]), [Written::Float, Written::Float]);
        let odd = (1i64 << 53) + 1;
        assert_eq!(kinds(&[float(1.0)], &[odd.into()]), [Written::Float, Written::Integer], "no such float");
        assert_eq!(
            kinds(&[true.into()], &["False".into(), 1.into()]),
            [Written::Integer, Written::Boolean, Written::Boolean]
        );
        assert_eq!(kinds(&[1.into(), "b".into()], &["3".into()]), [Written::Integer, text("3"), text("b")]);
        assert_eq!(kinds(&[], &["3".into(), 4.into()]), [text("3"), Written::Integer]);
    }
}
