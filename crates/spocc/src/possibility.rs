//! Possibility distributions: how possible each class is, given a prediction.
//!
//! In: class counts of the rows with one prediction of a classifier. Out: a possibility distribution, by add-one
//! smoothing and the Dubois-Prade transform (paper, section 3.2 and appendix B).

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A possibility distribution over the classes: 1 is fully possible, 0 is excluded.
///
/// ```
/// use spocc::possibility::Possibility;
/// let distribution = Possibility::from_probabilities(&[0.1, 0.15, 0.75])?; // paper, example 2
/// assert_eq!(distribution.degrees(), [0.1, 0.25, 1.0]);
/// assert_eq!(distribution.possibility(&[0, 1]), 0.25);
/// assert_eq!(distribution.necessity(&[2]), 0.75);
/// # Ok::<(), spocc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Possibility {
    degrees: Vec<f64>,
}

impl Possibility {
    /// From degrees in [0, 1] as they are, for instance the result of a fusion.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] for a degree outside [0, 1].
    pub fn new(degrees: Vec<f64>) -> Result<Self, Error> {
        match degrees.iter().find(|degree| !(0.0..=1.0).contains(*degree)) {
            Some(&found) => {
                Err(Error::OutOfRange { what: "possibility", expected: "a number from 0 to 1", found })
            }
            None => Ok(Self { degrees }),
        }
    }

    /// The first degrees alone.
    pub(crate) fn truncated(&self, n: usize) -> Self {
        Self { degrees: self.degrees[..n.min(self.degrees.len())].to_vec() }
    }

    /// The Dubois-Prade transform of frequencies; equal counts are exactly equally possible.
    ///
    /// The most frequent classes get 1; any other class gets the share of all rows of classes that are no more
    /// frequent than itself. Without counts every class is fully possible.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] if the counts do not add up below 2^64.
    pub fn from_counts(counts: &[u64]) -> Result<Self, Error> {
        let total = counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
        total.ok_or(Error::Overflow { what: "counts" })?;
        let mut degrees = vec![0.0; counts.len()];
        Transform::default().smoothed(counts, 0, &mut degrees);
        Ok(Self { degrees })
    }

    /// The same after adding one row to every class, so that no class is excluded.
    ///
    /// # Errors
    ///
    /// [`Error::Overflow`] if the counts do not add up below 2^64.
    pub fn from_counts_smoothed(counts: &[u64]) -> Result<Self, Error> {
        let one_more: Option<Vec<u64>> = counts.iter().map(|count| count.checked_add(1)).collect();
        Self::from_counts(&one_more.ok_or(Error::Overflow { what: "counts" })?)
    }

    /// The Dubois-Prade transform of probabilities; they need not add up to one.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] for a negative or non-finite probability.
    pub fn from_probabilities(probabilities: &[f64]) -> Result<Self, Error> {
        if let Some(&found) = probabilities.iter().find(|p| !(p.is_finite() && **p >= 0.0)) {
            return Err(Error::OutOfRange { what: "probability", expected: "a finite number from 0", found });
        }
        let mut degrees = vec![0.0; probabilities.len()];
        Transform::default().probabilities(probabilities, &mut degrees);
        Ok(Self { degrees })
    }

    /// Possibility of each class.
    pub fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    /// Possibility that the truth is among these classes (by number): that of the most possible one.
    ///
    /// Numbers beyond the last class are ignored.
    pub fn possibility(&self, classes: &[usize]) -> f64 {
        classes.iter().filter_map(|&i| self.degrees.get(i)).fold(0.0, |most, &degree| most.max(degree))
    }

    /// Necessity that the truth is among these classes: 1 minus the possibility of all others.
    pub fn necessity(&self, classes: &[usize]) -> f64 {
        let others: Vec<usize> = (0..self.degrees.len()).filter(|i| !classes.contains(i)).collect();
        1.0 - self.possibility(&others)
    }

    /// Discounts the distribution: with 0 it does not change, with 1 every class becomes fully possible.
    #[must_use]
    pub fn discounted(&self, discount: Discount) -> Self {
        Self { degrees: self.degrees.iter().map(|&degree| discount.apply(degree)).collect() }
    }
}

/// How strongly a distribution is discounted: a number from 0 to 1 (paper, `alpha_k`).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Discount(f64);

impl TryFrom<f64> for Discount {
    type Error = Error;

    fn try_from(value: f64) -> Result<Self, Error> {
        if (0.0..=1.0).contains(&value) {
            return Ok(Self(value));
        }
        Err(Error::OutOfRange { what: "discount", expected: "a number from 0 to 1", found: value })
    }
}

impl From<Discount> for f64 {
    fn from(discount: Discount) -> Self {
        discount.0
    }
}

impl Discount {
    /// `(1 - d) * possibility + d`; 1 stays exactly 1, and a positive possibility stays positive.
    pub(crate) fn apply(self, degree: f64) -> f64 {
        if degree == 1.0 { 1.0 } else { ((1.0 - self.0) * degree + self.0).min(1.0) }
    }
}

/// The Dubois-Prade transform, with a buffer that is reused.
#[derive(Default)]
pub(crate) struct Transform {
    order: Vec<u32>,
}

impl Transform {
    /// Degrees of `counts`, after adding `unit` to each. Sums run in integers: equal counts give equal
    /// degrees, and the order of the classes does not matter.
    pub(crate) fn smoothed(&mut self, counts: &[u64], unit: u64, degrees: &mut [f64]) {
        self.order.clear();
        self.order.extend(0..counts.len() as u32);
        self.order.sort_unstable_by_key(|&i| counts[i as usize]);
        let total = counts.iter().map(|count| u128::from(*count) + u128::from(unit)).sum::<u128>() as f64;
        let top = self.order.last().map_or(0, |&i| counts[i as usize]);
        let mut tail = 0u128;
        for group in self.order.chunk_by(|&a, &b| counts[a as usize] == counts[b as usize]) {
            let count = counts[group[0] as usize];
            tail += (u128::from(count) + u128::from(unit)) * group.len() as u128;
            let degree = if count == top { 1.0 } else { tail as f64 / total };
            group.iter().for_each(|&i| degrees[i as usize] = degree);
        }
    }

    /// Degrees of probabilities, finite and from 0, which need not add up to one.
    pub(crate) fn probabilities(&mut self, probabilities: &[f64], degrees: &mut [f64]) {
        // Ratios to the largest cannot overflow when they are added.
        let top = probabilities.iter().copied().fold(0.0, f64::max);
        let ratio = |p: &f64| if top > 0.0 { p / top } else { 1.0 };
        self.sorted_ratios(&probabilities.iter().map(ratio).collect::<Vec<f64>>(), degrees);
    }

    /// The same, to a few units in the last place, of probabilities that were divided by the largest.
    #[inline]
    pub(crate) fn ratios(&mut self, ratios: &[f64], degrees: &mut [f64]) {
        match ratios.len() {
            0..=2 => few_ratios::<2>(ratios, degrees),
            3..=4 => few_ratios::<4>(ratios, degrees),
            5..=6 => few_ratios::<6>(ratios, degrees),
            7..=8 => few_ratios::<8>(ratios, degrees),
            _ => self.sorted_ratios(ratios, degrees),
        }
    }

    fn sorted_ratios(&mut self, ratios: &[f64], degrees: &mut [f64]) {
        let ratio = |i: u32| ratios[i as usize];
        self.order.clear();
        self.order.extend(0..ratios.len() as u32);
        self.order.sort_unstable_by(|&a, &b| ratio(a).total_cmp(&ratio(b)));
        let total: f64 = self.order.iter().map(|&i| ratio(i)).sum();
        let mut tail = 0.0;
        for group in self.order.chunk_by(|&a, &b| ratio(a) == ratio(b)) {
            tail += group.iter().map(|&i| ratio(i)).sum::<f64>();
            let degree = if ratio(group[0]) < 1.0 { f64::min(tail / total, 1.0) } else { 1.0 };
            group.iter().for_each(|&i| degrees[i as usize] = degree);
        }
    }
}

/// The degrees of at most `N` ratios, by comparing all pairs, which for so few is faster than sorting. They are added in the
/// order of the classes.
#[inline]
fn few_ratios<const N: usize>(ratios: &[f64], degrees: &mut [f64]) {
    let mut padded = [0.0; N];
    padded.iter_mut().zip(ratios).for_each(|(to, ratio)| *to = *ratio);
    let (mut tails, mut total) = ([0.0; N], 0.0);
    for ratio in padded {
        total += ratio;
        for (tail, own) in tails.iter_mut().zip(&padded) {
            *tail += if ratio <= *own { ratio } else { 0.0 };
        }
    }
    for ((degree, tail), ratio) in degrees.iter_mut().zip(tails).zip(ratios) {
        *degree = if *ratio < 1.0 { tail / total } else { 1.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn example_2_of_the_paper() {
        let second = Possibility::from_probabilities(&[0.2, 0.6, 0.2]).expect("probabilities");
        assert_eq!(second.degrees(), [0.4, 1.0, 0.4]);
        assert_eq!(Possibility::from_counts(&[10, 15, 75]).expect("small").degrees(), [0.1, 0.25, 1.0]);
        assert_eq!(Possibility::from_counts(&[1, 3, 1]).expect("small").degrees(), [0.4, 1.0, 0.4]);
    }

    #[test]
    fn smoothing_adds_one_row_to_each_class() {
        let degrees = Possibility::from_counts_smoothed(&[0, 8, 0]).expect("small");
        assert_eq!(degrees.degrees(), [2.0 / 11.0, 1.0, 2.0 / 11.0]);
    }

    #[test]
    fn without_counts_every_class_is_possible() {
        for degrees in [Possibility::from_counts(&[0; 4]), Possibility::from_counts_smoothed(&[0; 4])] {
            assert_eq!(degrees.expect("small").degrees(), [1.0; 4]);
        }
        assert_eq!(Possibility::from_probabilities(&[0.0; 3]).expect("zeros").degrees(), [1.0; 3]);
    }

    #[test]
    fn counts_that_never_occur_are_excluded_without_smoothing() {
        assert_eq!(Possibility::from_counts(&[0, 5]).expect("small").degrees(), [0.0, 1.0]);
    }

    #[test]
    fn example_1_of_the_paper() {
        let set = Possibility::new(vec![1.0, 1.0, 0.0]).expect("degrees");
        assert_eq!((set.possibility(&[2]), set.possibility(&[0, 2]), set.possibility(&[])), (0.0, 1.0, 0.0));
        assert_eq!((set.necessity(&[0, 1]), set.necessity(&[0]), set.necessity(&[0, 1, 2])), (1.0, 0.0, 1.0));
    }

    #[test]
    fn few_and_sorted_ratios_have_the_same_degrees() {
        // Eighths add up exactly in any order.
        let ratios = [0.125, 1.0, 0.5, 0.125, 1.0, 0.0, 0.25];
        let mut few = [0.0; 7];
        Transform::default().ratios(&ratios, &mut few);
        let mut many = [0.0; 7];
        Transform::default().sorted_ratios(&ratios, &mut many);
        assert_eq!(few, many);
        assert_eq!(few, [0.25 / 3.0, 1.0, 1.0 / 3.0, 0.25 / 3.0, 1.0, 0.0, 0.5 / 3.0]);
    }

    #[test]
    fn discounting_ranges_from_the_distribution_to_ignorance() {
        let distribution = Possibility::from_counts(&[1, 3]).expect("small");
        let at = |d: f64| distribution.discounted(Discount::try_from(d).expect("in range"));
        assert_eq!(at(0.0).degrees(), [0.25, 1.0]);
        assert_eq!(at(0.5).degrees(), [0.625, 1.0]);
        assert_eq!(at(1.0).degrees(), [1.0, 1.0]);
        let faint = Possibility::new(vec![1e-17, 1.0]).expect("degrees");
        assert_eq!(faint.discounted(Discount::default()).degrees(), [1e-17, 1.0]);
        assert!(Discount::try_from(1.5).is_err() && Discount::try_from(f64::NAN).is_err());
    }
}
