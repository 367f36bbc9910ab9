//! Class weights: which classes count for more when a rule is learned.
//!
//! In: evidence as it was counted. Out: the same evidence with the rows of every class weighed, so that counts,
//! class frequencies and every tuning see the weights. Only their ratios matter: the class that weighs least
//! counts as it is.

use std::{fmt, str::FromStr};

use crate::{
    data::Label,
    error::{Error, list},
    evidence::Evidence,
    math::log2,
};

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
    /// Every row counts alike.
    #[default]
    Equal,
    /// All classes together count alike, however rare: `rows / (classes * rows of the class)`.
    Balanced,
    /// Rows of these classes count so much, all others 1.
    Given(Vec<(Label, f64)>),
}

impl ClassWeights {
    /// The least and the largest weight of a class.
    pub const RANGE: [f64; 2] = [1e-6, 1e6];

    /// The weight of every class of some evidence; none where all count alike.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownWord`] for a class that is not there, [`Error::DuplicateName`] for one named twice,
    /// [`Error::ClassWeight`] for a weight out of [`RANGE`](Self::RANGE).
    pub fn resolve(&self, evidence: &Evidence) -> Result<Vec<f64>, Error> {
        let labels = evidence.labels();
        let classes = labels.classes();
        match self {
            Self::Equal => Ok(Vec::new()),
            Self::Balanced => {
                let counts = evidence.class_counts();
                let occurring = counts.iter().filter(|count| **count > 0).count() as f64;
                let total = evidence.total() as f64;
                let weight = |&count: &u64| if count > 0 { total / (occurring * count as f64) } else { 1.0 };
                Ok(counts.iter().map(weight).collect())
            }
            Self::Given(given) => {
                let mut weights = vec![None; classes.len()];
                for (class, weight) in given {
                    let Some(i) = classes.iter().position(|known| known == class) else {
                        let (expected, found) = (list(classes), class.to_string());
                        return Err(Error::UnknownWord { what: "class weights", expected, found });
                    };
                    if !is_valid(*weight) {
                        let [least, most] = Self::RANGE;
                        return Err(Error::ClassWeight {
                            class: class.to_string(),
                            least,
                            most,
                            found: *weight,
                        });
                    }
                    if weights[i].replace(*weight).is_some() {
                        return Err(Error::DuplicateName { what: "class weights", name: class.to_string() });
                    }
                }
                Ok(weights.into_iter().map(|weight| weight.unwrap_or(1.0)).collect())
            }
        }
    }
}

impl ClassWeights {
    /// The weight of each of these classes, candidates among the labels of some evidence; none where all count alike.
    ///
    /// # Errors
    ///
    /// As [`resolve`](Self::resolve), for a label that is no candidate too.
    pub(crate) fn resolve_among(&self, evidence: &Evidence, classes: &[Label]) -> Result<Vec<f64>, Error> {
        if let Self::Given(given) = self
            && let Some((class, _)) = given.iter().find(|(class, _)| !classes.contains(class))
        {
            let (expected, found) = (list(classes), class.to_string());
            return Err(Error::UnknownWord { what: "class weights", expected, found });
        }
        let weights = self.of_labels(evidence.labels().classes()).resolve(evidence)?;
        if weights.is_empty() {
            return Ok(weights);
        }
        let places = evidence.labels().translate(classes);
        // A class that only other rows have counts as it is.
        Ok(places.into_iter().map(|i| weights.get(usize::from(i)).copied().unwrap_or(1.0)).collect())
    }

    /// The same for rows among which some classes may not occur: weights of labels that are no candidates there are left out.
    #[must_use]
    pub fn among(&self, evidence: &Evidence) -> Self {
        self.of_labels(&evidence.candidate_classes())
    }

    fn of_labels(&self, labels: &[Label]) -> Self {
        match self {
            Self::Given(given) => {
                Self::Given(given.iter().filter(|(class, _)| labels.contains(class)).cloned().collect())
            }
            other => other.clone(),
        }
    }
}

/// Whether a user may give a class this weight.
fn is_valid(weight: f64) -> bool {
    let [least, most] = ClassWeights::RANGE;
    (least..=most).contains(&weight)
}

/// Refuses weights read from a file that no fit could have used.
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

/// What one row of each class counts, and in how many binary digits after the point: whole ratios to the least
/// weight are whole counts, others are as exact as the sum of all rows, with a truth or without, lets them be.
pub(crate) fn factors(
    weights: &[f64],
    class_counts: &[u64],
    n_unlabelled: u64,
) -> Result<(Vec<u64>, u32), Error> {
    /// Digits after the point of a ratio, if there is room for them.
    const DIGITS: u32 = 30;
    /// With fewer digits weights would not be what the user said.
    const FEWEST: u32 = 8;
    let occurs = |i: &usize| class_counts[*i] > 0;
    let least = (0..weights.len()).filter(occurs).map(|i| weights[i]).fold(f64::INFINITY, f64::min);
    let scale = f64::from(1u32 << DIGITS);
    // A class that does not occur has no rows to weigh.
    let ratio = |i: usize| if occurs(&i) { (weights[i] / least * scale).round() / scale } else { 1.0 };
    let ratios: Vec<f64> = (0..weights.len()).map(ratio).collect();
    let total: f64 = ratios.iter().zip(class_counts).map(|(ratio, count)| ratio * *count as f64).sum();
    // Less than 2^63, so that rounding a ratio up cannot reach 2^64.
    let room = (63.0 - log2(total + n_unlabelled as f64)).floor();
    let whole = ratios.iter().all(|ratio| ratio.fract() == 0.0);
    if room < if whole { 0.0 } else { f64::from(FEWEST) } {
        return Err(Error::Overflow { what: "class weights" });
    }
    let bits = if whole { 0 } else { DIGITS.min(room as u32) };
    let unit = (1u64 << bits) as f64;
    Ok((ratios.into_iter().map(|ratio| (ratio * unit).round() as u64).collect(), bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ratios_matter_and_whole_ones_stay_whole() {
        assert_eq!(factors(&[5.0, 1.0], &[3, 9], 0), Ok((vec![5, 1], 0)));
        assert_eq!(factors(&[0.5, 0.1], &[3, 9], 0), Ok((vec![5, 1], 0)));
        assert_eq!(factors(&[1.0, 4.0, 0.001], &[3, 9, 0], 0), Ok((vec![1, 4, 1], 0)));
        assert_eq!(factors(&[1.5, 1.0], &[3, 9], 0), Ok((vec![3 << 29, 1 << 30], 30)));
    }

    #[test]
    fn digits_give_way_to_many_rows_and_too_many_are_refused() {
        let (factors_of_many, bits) = factors(&[1.5, 1.0], &[1 << 40, 1 << 40], 0).expect("room for digits");
        assert_eq!((factors_of_many, bits), (vec![3 << 20, 1 << 21], 21));
        // Rows without truth take their room, too.
        let (factors_beside_many, bits) = factors(&[1.5, 1.0], &[3, 9], 1 << 41).expect("room for digits");
        assert_eq!((factors_beside_many, bits), (vec![3 << 20, 1 << 21], 21));
        for counts in [[1 << 60, 1 << 60], [u64::MAX / 2, 1]] {
            assert_eq!(factors(&[1.5, 1.0], &counts, 0), Err(Error::Overflow { what: "class weights" }));
        }
    }

    #[test]
    fn words_come_back_as_they_were_written() {
        for word in ["equal", "balanced", "a=2,b=0.5", "a=b=3"] {
            assert_eq!(word.parse::<ClassWeights>().expect("weights").to_string(), word);
        }
        let refused = "a=2,b".parse::<ClassWeights>().expect_err("no weight of b").to_string();
        let expected =
            "class weights: expected one of equal, balanced, or weights such as urgent=5,other=1, found `b`";
        assert_eq!(refused, expected);
    }
}
