//! The labels of a table or a model, each with an id: first the classes, then other predictions.
//!
//! In: the labels that occur among truths and predictions, or a given list of classes. Out: ids from 0, in an order that
//! does not depend on the order of the rows.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use serde::{Deserialize, Serialize};

use crate::{
    data::{Label, Normalise},
    error::{Error, list},
};

/// Largest number of distinct labels; the id above them is that of a missing cell.
pub(crate) const MAX_LABELS: usize = u16::MAX as usize;

/// The id of a missing cell.
pub(crate) const MISSING: u16 = u16::MAX;

/// All labels that a panel can predict: first the classes, which can be decided, then others, which cannot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Labels {
    names: Vec<Label>,
    n_classes: usize,
    source: ClassSource,
}

/// Where the classes come from. Files store the position in this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum ClassSource {
    /// Every label that occurs is a class.
    Occurring,
    /// The user gave the classes.
    Given,
    /// They are numbers of the candidates of a row: the distinct [open answers](crate::data::Answers) given on it, compared
    /// in this form.
    Candidates(Normalise),
}

impl Labels {
    /// Every label is a class; sorted, each once. A label that is among the truths is written as it is there.
    pub(crate) fn open(
        truths: impl IntoIterator<Item = Label>,
        predicted: impl IntoIterator<Item = Label>,
    ) -> Result<Self, Error> {
        let truths = sorted(truths.into_iter().collect())?;
        let known: HashSet<&str> = truths.iter().map(Label::canonical).collect();
        let others: Vec<Label> =
            predicted.into_iter().filter(|label| !known.contains(label.canonical())).collect();
        let names = sorted([truths, others].concat())?;
        Ok(Self { n_classes: names.len(), names, source: ClassSource::Occurring })
    }

    /// Exactly these classes in this order; any other predicted label is never decided.
    pub(crate) fn closed(
        classes: &[Label],
        predicted: impl IntoIterator<Item = Label>,
    ) -> Result<Self, Error> {
        let mut names: Vec<Label> = Vec::with_capacity(classes.len());
        let mut seen = HashSet::new();
        for class in classes {
            if !seen.insert(class.canonical()) {
                return Err(Error::DuplicateName { what: "classes", name: class.to_string() });
            }
            names.push(class.clone());
        }
        let others = predicted.into_iter().filter(|label| !seen.contains(label.canonical())).collect();
        names.extend(sorted(others)?);
        if names.len() > MAX_LABELS {
            return Err(Error::TooManyLabels { limit: MAX_LABELS });
        }
        Ok(Self { names, n_classes: classes.len(), source: ClassSource::Given })
    }

    /// The numbers of up to `n` candidates of a row, from 1, after 0 for "none of these".
    pub(crate) fn candidates(n: usize, normalise: Normalise) -> Result<Self, Error> {
        if n >= MAX_LABELS {
            return Err(Error::TooManyLabels { limit: MAX_LABELS });
        }
        let names: Vec<Label> = (0..=n as i128).map(Label::from_integer).collect();
        Ok(Self { n_classes: names.len(), names, source: ClassSource::Candidates(normalise) })
    }

    /// The classes, in the order in which ties are resolved.
    pub fn classes(&self) -> &[Label] {
        &self.names[..self.n_classes]
    }

    /// Classes and other predictions.
    pub fn all(&self) -> &[Label] {
        &self.names
    }

    /// Whether the user gave the classes.
    pub fn is_closed(&self) -> bool {
        self.source == ClassSource::Given
    }

    /// Whether classes are numbers of the candidates of a row, 0 for "none of these".
    pub fn are_candidates(&self) -> bool {
        self.normalise().is_some()
    }

    /// How open answers were compared; none for classes.
    pub fn normalise(&self) -> Option<Normalise> {
        match self.source {
            ClassSource::Candidates(normalise) => Some(normalise),
            _ => None,
        }
    }

    pub(crate) fn n_classes(&self) -> usize {
        self.n_classes
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The id of each of `labels` here, or [`MISSING`] for one that is not among them.
    pub(crate) fn translate(&self, labels: &[Label]) -> Vec<u16> {
        let ids: HashMap<&str, u16> = self.names.iter().map(Label::canonical).zip(0..).collect();
        labels.iter().map(|label| ids.get(label.canonical()).copied().unwrap_or(MISSING)).collect()
    }

    /// The labels of two sides, each with its class counts; refuses class lists that differ.
    ///
    /// Each side knows whether a label is true of some row and how it is written there, so that the union of any number
    /// of sides does not depend on their order.
    pub(crate) fn union(sides: [(&Self, &[u64]); 2]) -> Result<Self, Error> {
        let [(one, _), (other, _)] = sides;
        let all = || one.names.iter().chain(&other.names).cloned();
        match (one.source, other.source) {
            (ClassSource::Occurring, ClassSource::Occurring) => {
                let true_of = |(labels, counts): (&Self, &[u64])| labels.of_rows(counts).cloned().collect();
                let truths: Vec<Vec<Label>> = sides.into_iter().map(true_of).collect();
                Self::open(truths.concat(), all())
            }
            (ClassSource::Candidates(one_form), ClassSource::Candidates(other_form))
                if one_form == other_form =>
            {
                Ok(if one.len() >= other.len() { one } else { other }.clone())
            }
            (ClassSource::Given, ClassSource::Given) if one.classes() == other.classes() => {
                let pairs = one.classes().iter().zip(other.classes());
                let classes: Vec<Label> = pairs.map(|(a, b)| first_written(a, b).clone()).collect();
                Self::closed(&classes, all())
            }
            (ClassSource::Given, ClassSource::Given) => Err(Error::DifferentClasses {
                difference: format!("{} and {}", list(one.classes()), list(other.classes())),
            }),
            (one, other) => {
                let [first, second] = [one.max(other), one.min(other)].map(ClassSource::describe);
                Err(Error::DifferentClasses { difference: format!("{first} and {second}") })
            }
        }
    }

    /// The classes that are true of some row.
    fn of_rows<'a>(&'a self, class_counts: &'a [u64]) -> impl Iterator<Item = &'a Label> {
        self.classes().iter().zip(class_counts).filter(|(_, count)| **count > 0).map(|(label, _)| label)
    }

    /// The same labels in the kind of the truths, if those are of one kind: a label that was only predicted becomes a
    /// text among texts and an integer among integers, if it can. A given list of classes is kept as it is.
    pub(crate) fn in_kind_of_truths(&self, class_counts: &[u64]) -> Cow<'_, Self> {
        let kind = |label: &Label| std::mem::discriminant(label.written());
        let mut truths = self.of_rows(class_counts);
        let Some(first) = truths.next().filter(|_| self.source == ClassSource::Occurring) else {
            return Cow::Borrowed(self);
        };
        let is_other = |label: &Label| kind(label) != kind(first);
        if truths.any(is_other) || !self.names.iter().any(is_other) {
            return Cow::Borrowed(self);
        }
        let rewrite = |label: &Label| label.written_like(first.written()).unwrap_or_else(|| label.clone());
        Cow::Owned(Self { names: self.names.iter().map(rewrite).collect(), ..*self })
    }

    /// Only the labels for which `keep` holds; given classes always stay, and candidates below one that stays.
    pub(crate) fn retain(&self, keep: impl Fn(usize) -> bool) -> Self {
        let last = (0..self.names.len()).rev().find(|id| keep(*id)).unwrap_or(0);
        let stays = |id: &usize| match self.source {
            ClassSource::Occurring => keep(*id),
            ClassSource::Given => keep(*id) || *id < self.n_classes,
            ClassSource::Candidates(_) => *id <= last,
        };
        let kept: Vec<usize> = (0..self.names.len()).filter(stays).collect();
        Self {
            n_classes: kept.iter().filter(|id| **id < self.n_classes).count(),
            names: kept.into_iter().map(|id| self.names[id].clone()).collect(),
            source: self.source,
        }
    }

    /// The same labels and the missing label.
    pub(crate) fn with_missing_label(&self) -> Result<Self, Error> {
        let others = self.names[self.n_classes..].iter().cloned();
        Self::closed(self.classes(), others.chain([Label::missing()]))
    }

    /// The id of the missing label, or [`MISSING`] where missing cells are not answers.
    pub(crate) fn missing_label(&self) -> u16 {
        // Called for every decision, and labels that are not classes are few: no table of all labels is made for it.
        let others = self.names[self.n_classes..].iter().zip(self.n_classes..);
        others.filter(|(label, _)| label.is_missing()).map(|(_, id)| id as u16).next().unwrap_or(MISSING)
    }

    pub(crate) fn is_identical(&self, other: &Self) -> bool {
        (self.source, self.n_classes, self.names.len()) == (other.source, other.n_classes, other.names.len())
            && self.names.iter().zip(&other.names).all(|(a, b)| a.is_identical(b))
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        self.names.iter().try_for_each(Label::check)?;
        let remade = match self.source {
            ClassSource::Occurring => Self::open([], self.names.iter().cloned())?,
            ClassSource::Given => {
                let (classes, others) = self.names.split_at(self.n_classes.min(self.names.len()));
                Self::closed(classes, others.iter().cloned())?
            }
            ClassSource::Candidates(form) => Self::candidates(self.names.len().saturating_sub(1), form)?,
        };
        if remade.is_identical(self) {
            return Ok(());
        }
        Err(Error::Inconsistent { expected: "labels sorted and distinct", found: list(&self.names) })
    }
}

impl ClassSource {
    fn describe(self) -> &'static str {
        match self {
            Self::Occurring => "classes as they occur",
            Self::Given => "a given list of classes",
            Self::Candidates(Normalise::None) => "open answers",
            Self::Candidates(Normalise::Number) => "open answers compared as numbers",
            Self::Candidates(Normalise::Text) => "open answers compared as texts",
        }
    }
}

fn first_written<'a>(a: &'a Label, b: &'a Label) -> &'a Label {
    if a.written() <= b.written() { a } else { b }
}

fn sorted(mut labels: Vec<Label>) -> Result<Vec<Label>, Error> {
    labels.sort_by(|a, b| a.cmp(b).then_with(|| a.written().cmp(b.written())));
    labels.dedup_by(|later, earlier| later == earlier);
    if labels.len() > MAX_LABELS {
        return Err(Error::TooManyLabels { limit: MAX_LABELS });
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Written;

    fn texts(labels: &[Label]) -> Vec<String> {
        labels.iter().map(Label::to_string).collect()
    }

    #[test]
    fn integers_sort_by_value_and_before_texts() {
        let labels = ["b", "10", "9", "-2", "-10", "B", "123456789012345678901234567890"];
        let sorted = Labels::open([], labels.map(Label::from)).expect("few labels");
        assert_eq!(texts(sorted.all()), ["-10", "-2", "9", "10", "123456789012345678901234567890", "B", "b"]);
    }

    #[test]
    fn a_given_list_keeps_its_order_and_other_predictions_are_never_classes() {
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
        assert_eq!(texts(ab.all()), ["True", "x", "y"], "a truth comes before a prediction");
        let ab = union([(&left, &[1, 0]), (&right, &[1, 0])]);
        assert_eq!(texts(ab.all()), ["true", "x", "y"], "of two truths, the first in the order of Written");
    }

    #[test]
    fn candidates_are_numbers_of_which_the_longer_list_is_the_union() {
        let [few, many] = [2, 5].map(|n| Labels::candidates(n, Normalise::None).expect("few"));
        assert_eq!(texts(few.classes()), ["0", "1", "2"]);
        for sides in [[(&few, &[0u64; 6][..]), (&many, &[0; 6])], [(&many, &[0; 6]), (&few, &[0; 6])]] {
            assert!(Labels::union(sides).is_ok_and(|union| union.is_identical(&many)));
        }
        assert!(many.retain(|id| id == 2).is_identical(&few), "candidates below one that stays are kept");
        assert_eq!(few.check(), Ok(()));
        let classes = Labels::closed(&["1".into()], []).expect("one");
        let refused = Labels::union([(&classes, &[0]), (&few, &[0; 3])]).map(drop);
        let difference = "open answers and a given list of classes".to_owned();
        assert_eq!(refused, Err(Error::DifferentClasses { difference }));
        let numbers = Labels::candidates(2, Normalise::Number).expect("few");
        let refused = Labels::union([(&few, &[0; 3]), (&numbers, &[0; 3])]).map(drop);
        let difference = "open answers compared as numbers and open answers".to_owned();
        assert_eq!(refused, Err(Error::DifferentClasses { difference }));
    }

    #[test]
    fn labels_that_are_only_predicted_take_the_kind_of_the_truths() {
        let float = |value| Label::try_from(value).expect("whole");
        let kinds = |truths: &[Label], predicted: &[Label]| {
            let labels = Labels::open(truths.to_vec(), predicted.to_vec()).expect("few");
            let counts: Vec<u64> =
                labels.classes().iter().map(|label| truths.contains(label).into()).collect();
            let shown = labels.in_kind_of_truths(&counts).into_owned();
            shown.check().expect("labels that a file may hold");
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
