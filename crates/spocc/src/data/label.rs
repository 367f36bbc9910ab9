//! One label: a value that a classifier can predict and that can be true.
//!
//! In: texts, integers, booleans and floats, which only open answers may have with a fraction. Out: one canonical text
//! each, so that the text `1` of a CSV file, the integer 1 and the float 1.0 of a data frame are the same label, together
//! with how the user wrote it.

use std::{borrow::Cow, cmp::Ordering, fmt};

use serde::{Deserialize, Serialize, Serializer};

use crate::error::Error;

/// The canonical text of the missing label: the answer that a missing cell is where [`Missing`](crate::data::Missing)
/// makes it one. No other label has it, since the canonical text of a text that begins with this character has one
/// more of them.
const MISSING_TEXT: &str = "\0";

/// One label. Two labels are equal if their canonical texts are, however they were written.
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
/// If a label was written in several ways, that of the truths is kept, and of several ways among the truths the first
/// in this order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Written {
    /// As a boolean.
    Boolean,
    /// As an integer.
    Integer,
    /// As a floating-point number; only open answers may have a fraction.
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

    /// The label of any finite number, for open answers: a class is a whole number, and `Label::try_from` refuses
    /// fractions. Its text is the shortest decimal number that is read as the same value.
    ///
    /// ```
    /// use spocc::Label;
    /// assert_eq!(Label::from_number(12.5), Some(Label::from("12.5")));
    /// assert_eq!(Label::from_number(70000.0), Some(Label::from(70000)));
    /// assert_eq!(Label::from_number(f64::NAN), None);
    /// ```
    pub fn from_number(value: f64) -> Option<Self> {
        value.is_finite().then(|| Self { canonical: number_text(value), written: Written::Float })
    }

    /// How the user wrote it.
    pub fn written(&self) -> &Written {
        &self.written
    }

    /// The same label written in the kind of `other`, if it can be.
    pub(super) fn written_like(&self, other: &Written) -> Option<Self> {
        let is_possible = match other {
            Written::Text(_) => true,
            Written::Integer => self.is_integer() && self.canonical.parse::<i128>().is_ok(),
            Written::Float => self.is_integer() && self.is_float(),
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

    /// The answer that a missing cell is, where it is one.
    pub(super) fn missing() -> Self {
        Self { canonical: MISSING_TEXT.to_owned(), written: Written::Text(MISSING_TEXT.to_owned()) }
    }

    pub(super) fn is_missing(&self) -> bool {
        self.canonical == MISSING_TEXT
    }

    fn is_integer(&self) -> bool {
        is_integer(&self.canonical)
    }

    /// Whether it is the label of a float.
    fn is_float(&self) -> bool {
        let is_finite = |value: &f64| value.is_finite();
        self.canonical
            .parse()
            .ok()
            .filter(is_finite)
            .is_some_and(|value| number_text(value) == self.canonical)
    }

    /// Refuses a label of which the writing contradicts the canonical text.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let holds = match &self.written {
            Written::Text(text) => {
                canonical(text) == self.canonical || text == MISSING_TEXT && self.is_missing()
            }
            Written::Integer => self.is_integer(),
            Written::Float => self.is_integer() || self.is_float(),
            Written::Boolean => self.canonical == "true" || self.canonical == "false",
        };
        if holds {
            return Ok(());
        }
        Err(Error::Inconsistent {
            expected: "labels that match how they were written",
            found: self.canonical.clone(),
        })
    }
}

/// Whether a text is digits without leading zeros, perhaps after a minus sign.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain && (!digits.starts_with('0') || text == "0")
}

/// The canonical text of a finite number: all digits of a whole number, the shortest decimal form of any other.
fn number_text(value: f64) -> String {
    // Adding zero turns -0.0 into 0.0.
    if value.fract() == 0.0 { format!("{:.0}", value + 0.0) } else { value.to_string() }
}

fn canonical(text: &str) -> Cow<'_, str> {
    match text {
        "True" | "TRUE" => "true".into(),
        "False" | "FALSE" => "false".into(),
        _ if text.starts_with(MISSING_TEXT) => [MISSING_TEXT, text].concat().into(),
        // Data frames write an integer column with missing values as 1.0, 2.0, ..
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
        Ok(Self { canonical: number_text(value), written: Written::Float })
    }
}

impl fmt::Display for Label {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.written {
            Written::Text(text) => out.write_str(text),
            Written::Float if self.is_integer() => write!(out, "{}.0", self.canonical),
            Written::Integer | Written::Float | Written::Boolean => out.write_str(&self.canonical),
        }
    }
}

impl Serialize for Label {
    /// In model and evidence files, the canonical text and how it was written; in text such as JSON, the value as the
    /// user would write it there.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return (&self.canonical, &self.written).serialize(serializer);
        }
        let fraction = || self.canonical.parse::<f64>().ok().filter(|_| !self.is_integer());
        match &self.written {
            Written::Text(text) => serializer.serialize_str(text),
            Written::Boolean => serializer.serialize_bool(self.canonical == "true"),
            Written::Integer | Written::Float => match (self.canonical.parse::<i64>(), fraction()) {
                (Ok(value), _) => serializer.serialize_i64(value),
                (_, Some(value)) => serializer.serialize_f64(value),
                _ => serializer.serialize_str(&self.canonical),
            },
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
    /// Integers first, by value; then all others, bytewise.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_equal_however_they_are_written() {
        for same in [Label::from("1"), Label::from("1.0"), Label::try_from(1.0).expect("whole")] {
            assert_eq!(same, Label::from(1));
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
    fn labels_are_displayed_as_they_were_written() {
        let written = [Label::from("True"), Label::from(true), Label::from(-3), Label::from("1.0")];
        assert_eq!(written.map(|label| label.to_string()), ["True", "true", "-3", "1.0"]);
        assert_eq!(Label::try_from(1e20).expect("whole").to_string(), "100000000000000000000.0");
    }

    #[test]
    fn fractions_are_labels_of_open_answers_alone() {
        for bad in [0.5, f64::NAN, f64::INFINITY] {
            assert!(matches!(Label::try_from(bad), Err(Error::LabelNotWhole { .. })));
        }
        let number = |value| Label::from_number(value).expect("finite");
        for (value, text) in
            [(0.5, "0.5"), (-12.25, "-12.25"), (0.1 + 0.2, "0.30000000000000004"), (1e-7, "0.0000001")]
        {
            let label = number(value);
            assert_eq!((label.to_string().as_str(), &label), (text, &Label::from(text)));
            assert_eq!(label.canonical().parse(), Ok(value));
            assert_eq!(serde_json::to_string(&label).expect("a number").parse(), Ok(value));
            assert!(label.check().is_ok());
            assert!(Label::from(text).written_like(&Written::Float).is_none(), "no class has a fraction");
        }
        for whole in [1.0, -0.0, 70000.0, 1e23] {
            assert!(number(whole).is_identical(&Label::try_from(whole).expect("whole")));
        }
        assert_eq!(serde_json::to_string(&number(70000.0)).expect("a number"), "70000");
        assert_eq!((Label::from_number(f64::NAN), Label::from_number(f64::INFINITY)), (None, None));
        for text in ["0.50", ".5", "5e-1", "inf", "x"] {
            let label = Label { canonical: text.to_owned(), written: Written::Float };
            assert!(label.check().is_err(), "{text}");
        }
    }
}
