//! Class weights: how much the rows of each class count when a method is fitted.
//!
//! In: a word or a weight per class. Out: the setting [`ClassWeights`], which evidence resolves to a weight per class.

use std::{collections::HashSet, fmt, str::FromStr};

use crate::{data::Label, error::Error};

/// How much the rows of each class count, as scikit-learn's `class_weight`.
///
/// ```
/// use spocc::data::ClassWeights;
/// let given: ClassWeights = "urgent=5,other=1".parse()?;
/// assert_eq!(given, ClassWeights::Given(vec![("urgent".into(), 5.0), ("other".into(), 1.0)]));
/// assert_eq!("balanced".parse::<ClassWeights>()?, ClassWeights::Balanced);
/// # Ok::<(), spocc::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum ClassWeights {
    /// Every row has the same weight.
    #[default]
    Equal,
    /// Every class has the same total weight: a row weighs `rows / (classes * rows of the class)`.
    Balanced,
    /// Rows of these classes have these weights, all others 1.
    Given(Vec<(Label, f64)>),
}

impl ClassWeights {
    /// The smallest and the largest weight of a class.
    pub const RANGE: [f64; 2] = [1e-6, 1e6];

    /// Whether a class may have this weight.
    pub(crate) fn is_valid(weight: f64) -> bool {
        let [least, most] = Self::RANGE;
        (least..=most).contains(&weight)
    }

    /// The same weights without those of classes that are not among `labels`.
    #[must_use]
    pub(crate) fn of_labels(&self, labels: &[Label]) -> Self {
        match self {
            Self::Given(given) => {
                let labels: HashSet<&Label> = labels.iter().collect();
                Self::Given(given.iter().filter(|(class, _)| labels.contains(class)).cloned().collect())
            }
            other => other.clone(),
        }
    }
}

/// Refuses weights read from a file that no fit can have used.
pub(crate) fn check(weights: &[f64], n_classes: usize) -> Result<(), Error> {
    let usable = |weight: &f64| *weight > 0.0 && weight.is_finite();
    if weights.is_empty() || (weights.len() == n_classes && weights.iter().all(usable)) {
        return Ok(());
    }
    let found = format!("{} weights", weights.len());
    Err(Error::Inconsistent { expected: "no weights or one above 0 per class", found })
}

impl fmt::Display for ClassWeights {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal => out.write_str("equal"),
            Self::Balanced => out.write_str("balanced"),
            Self::Given(given) => {
                let pairs: Vec<String> =
                    given.iter().map(|(class, weight)| format!("{class}={weight}")).collect();
                out.write_str(&pairs.join(","))
            }
        }
    }
}

impl FromStr for ClassWeights {
    type Err = Error;

    /// `equal`, `balanced`, or a weight per class such as `urgent=5,other=1`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let pair = |part: &str| {
            let (class, weight) = part.rsplit_once('=')?;
            Some((Label::from(class.trim()), weight.trim().parse().ok()?))
        };
        let wrong = |part: &str| Error::UnknownWord {
            what: "class weights",
            expected: "equal, balanced, or weights such as urgent=5,other=1".to_owned(),
            found: part.to_owned(),
        };
        match text {
            "equal" => Ok(Self::Equal),
            "balanced" => Ok(Self::Balanced),
            _ => {
                let given = text.split(',').map(|part| pair(part).ok_or_else(|| wrong(part)));
                Ok(Self::Given(given.collect::<Result<_, Error>>()?))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_weights_are_displayed_as_they_are_parsed() {
        for word in ["equal", "balanced", "a=2,b=0.5", "a=b=3"] {
            assert_eq!(word.parse::<ClassWeights>().expect("weights").to_string(), word);
        }
        let refused = "a=2,b".parse::<ClassWeights>().expect_err("no weight of b").to_string();
        let expected =
            "class weights: expected one of equal, balanced, or weights such as urgent=5,other=1, found `b`";
        assert_eq!(refused, expected);
    }
}
