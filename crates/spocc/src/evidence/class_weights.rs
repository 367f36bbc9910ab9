//! Class weights applied to counts.
//!
//! In: evidence as it was counted, and [`ClassWeights`]. Out: a weight per class, and the same evidence with the rows of
//! every class weighted, so that counts, class frequencies and tuning see the weights. Only ratios of weights matter:
//! rows of the class with the smallest weight count once.

use std::collections::{HashMap, HashSet};

use crate::{
    data::{ClassWeights, Label},
    error::{Error, list},
    evidence::{Evidence, Unlabelled},
    math::log2,
};

impl Evidence {
    /// The weight of every class; empty where every row has the same weight.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownWord`] for a class that does not occur, [`Error::DuplicateName`] for one that is named twice,
    /// [`Error::ClassWeight`] for a weight outside [`ClassWeights::RANGE`].
    pub fn class_weights(&self, weights: &ClassWeights) -> Result<Vec<f64>, Error> {
        let labels = self.labels();
        let classes = labels.classes();
        match weights {
            ClassWeights::Equal => Ok(Vec::new()),
            ClassWeights::Balanced => {
                let counts = self.class_counts();
                let occurring = counts.iter().filter(|count| **count > 0).count() as f64;
                let total = self.total() as f64;
                let weight = |&count: &u64| if count > 0 { total / (occurring * count as f64) } else { 1.0 };
                Ok(counts.iter().map(weight).collect())
            }
            ClassWeights::Given(given) => {
                let mut weights = vec![None; classes.len()];
                let places: HashMap<&Label, usize> = classes.iter().zip(0..).collect();
                for (class, weight) in given {
                    let Some(&i) = places.get(class) else {
                        return Err(unknown_class(classes, class));
                    };
                    if !ClassWeights::is_valid(*weight) {
                        let [least, most] = ClassWeights::RANGE;
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

    /// The weight of each of these candidate classes; empty where every row has the same weight.
    ///
    /// # Errors
    ///
    /// As [`class_weights`](Self::class_weights), and for a label that is not a candidate.
    pub(crate) fn candidate_weights(
        &self,
        weights: &ClassWeights,
        classes: &[Label],
    ) -> Result<Vec<f64>, Error> {
        if let ClassWeights::Given(given) = weights {
            let known: HashSet<&Label> = classes.iter().collect();
            if let Some((class, _)) = given.iter().find(|(class, _)| !known.contains(class)) {
                return Err(unknown_class(classes, class));
            }
        }
        let weights = self.class_weights(&weights.of_labels(self.labels().classes()))?;
        if weights.is_empty() {
            return Ok(weights);
        }
        let places = self.labels().translate(classes);
        // A class that these rows do not have weighs 1.
        Ok(places.into_iter().map(|i| weights.get(usize::from(i)).copied().unwrap_or(1.0)).collect())
    }

    /// The weights that apply to these rows, among which some classes may not occur: only those of candidate classes.
    #[must_use]
    pub fn applicable_weights(&self, weights: &ClassWeights) -> ClassWeights {
        weights.of_labels(&self.candidate_classes())
    }

    /// The same rows with the weights of their classes; rows without truth weigh as the lightest class. Pair counts,
    /// which have no classes, are dropped.
    pub(crate) fn with_class_weights(&self, weights: &[f64]) -> Result<Self, Error> {
        let n_unlabelled = self.unlabelled.as_ref().map_or(0, Unlabelled::total);
        let (factors, bits) = factors(weights, &self.class_counts, n_unlabelled)?;
        let mut weighted = Self { pairs: None, ..self.clone() };
        weighted.class_counts.iter_mut().zip(&factors).for_each(|(count, factor)| *count *= factor);
        weighted.confusions.scale(|class| factors[usize::from(class)]);
        weighted.tally.iter_mut().for_each(|tally| tally.scale_classes(&factors));
        weighted.unlabelled.iter_mut().try_for_each(|rows| rows.scale(1 << bits))?;
        weighted.row_units = factors.iter().map(|factor| factor.saturating_mul(self.unit())).collect();
        weighted.fraction_bits += bits;
        Ok(weighted)
    }
}

fn unknown_class(classes: &[Label], class: &Label) -> Error {
    Error::UnknownWord { what: "class weights", expected: list(classes), found: class.to_string() }
}

/// The factor by which the count of each class is multiplied, in fixed point, and the number of fraction bits.
///
/// Whole ratios to the smallest weight need no fraction bits. Other ratios have as many, up to 30, as the sum of all
/// rows leaves room for in 64 bits.
fn factors(weights: &[f64], class_counts: &[u64], n_unlabelled: u64) -> Result<(Vec<u64>, u32), Error> {
    /// Fraction bits of a ratio where there is room.
    const DIGITS: u32 = 30;
    /// With fewer bits the weights would differ visibly from those given.
    const FEWEST: u32 = 8;
    let occurs = |i: &usize| class_counts[*i] > 0;
    let least = (0..weights.len()).filter(occurs).map(|i| weights[i]).fold(f64::INFINITY, f64::min);
    let scale = f64::from(1u32 << DIGITS);
    // A class that does not occur has no rows to weight.
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
    fn whole_ratios_of_weights_need_no_fraction_bits() {
        assert_eq!(factors(&[5.0, 1.0], &[3, 9], 0), Ok((vec![5, 1], 0)));
        assert_eq!(factors(&[0.5, 0.1], &[3, 9], 0), Ok((vec![5, 1], 0)));
        assert_eq!(factors(&[1.0, 4.0, 0.001], &[3, 9, 0], 0), Ok((vec![1, 4, 1], 0)));
        assert_eq!(factors(&[1.5, 1.0], &[3, 9], 0), Ok((vec![3 << 29, 1 << 30], 30)));
    }

    #[test]
    fn fraction_bits_are_dropped_for_many_rows_until_too_many_are_refused() {
        let (factors_of_many, bits) =
            factors(&[1.5, 1.0], &[1 << 40, 1 << 40], 0).expect("room for fraction bits");
        assert_eq!((factors_of_many, bits), (vec![3 << 20, 1 << 21], 21));
        // Rows without truth count towards the sum.
        let (factors_beside_many, bits) =
            factors(&[1.5, 1.0], &[3, 9], 1 << 41).expect("room for fraction bits");
        assert_eq!((factors_beside_many, bits), (vec![3 << 20, 1 << 21], 21));
        for counts in [[1 << 60, 1 << 60], [u64::MAX / 2, 1]] {
            assert_eq!(factors(&[1.5, 1.0], &counts, 0), Err(Error::Overflow { what: "class weights" }));
        }
    }
}
