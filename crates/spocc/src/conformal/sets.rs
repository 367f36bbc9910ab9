//! Prediction sets and the draws that break ties of conformal scores.

use crate::{
    hash,
    math::{exp, ln, ln_1p},
};

/// The uniform draw of a row, from 0 to below 1: the share of the calibration rows with an equal score that counts as
/// greater.
///
/// Scores computed from labels take few values, so that ties are frequent. Counting all ties as greater would make every
/// set too large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowDraw(pub(super) f64);

impl RowDraw {
    /// The draw of a row that is identified by its number.
    pub fn of_number(seed: u64, row: u64) -> Self {
        Self(hash::unit(hash::mix(hash::mix(seed, 0x107), row)))
    }

    /// The draw of a row that is identified by a name of one or more parts.
    pub fn of_name<'a>(seed: u64, parts: impl IntoIterator<Item = &'a str>) -> Self {
        Self(hash::unit(parts.into_iter().fold(hash::mix(seed, 0x107e), hash::text)))
    }
}

/// The prediction set of each of some rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PredictionSets {
    ends: Vec<usize>,
    classes: Vec<u16>,
}

impl PredictionSets {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Numbers of the classes in a row's set, ascending, at least one; none if there is no such row.
    pub fn get(&self, row: usize) -> Option<&[u16]> {
        let start = if row == 0 { 0 } else { *self.ends.get(row - 1)? };
        self.classes.get(start..*self.ends.get(row)?)
    }

    /// The sets in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u16]> {
        (0..self.len()).map_while(|row| self.get(row))
    }

    /// Adds the set of one more row.
    pub(crate) fn push(&mut self, classes: impl Iterator<Item = u16>) {
        self.classes.extend(classes);
        self.ends.push(self.classes.len());
    }

    /// Adds the sets of later rows.
    pub(crate) fn append(&mut self, other: &Self) {
        let start = self.classes.len();
        self.ends.extend(other.ends.iter().map(|end| start + end));
        self.classes.extend(&other.classes);
    }
}

/// `s + ln sum exp(-s)`, which is `-ln p` where surprisals are `-ln p` up to a constant.
pub(crate) fn normalise(surprisals: &mut [f64]) {
    let least = surprisals.iter().copied().fold(f64::INFINITY, f64::min);
    if least.is_infinite() {
        let equal = ln(surprisals.len() as f64);
        return surprisals.fill(equal);
    }
    let best = surprisals.iter().position(|s| *s == least);
    // The best class has a share of 1. It is added by `ln_1p`, so that the smallest shares of the others count.
    let others = surprisals.iter().enumerate().filter(|(at, _)| Some(*at) != best);
    let sum = ln_1p(others.map(|(_, s)| exp(least - s)).sum::<f64>());
    surprisals.iter_mut().for_each(|s| *s = *s - least + sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalised_surprisals_are_those_of_probabilities() {
        let mut surprisals = [0.2f64, 0.5, 0.3].map(|p| 7.0 - p.ln());
        normalise(&mut surprisals);
        for (s, p) in surprisals.iter().zip([0.2f64, 0.5, 0.3]) {
            assert!((s + p.ln()).abs() < 1e-14, "{s} {p}");
        }
        let mut sure = [0.0, 60.0];
        normalise(&mut sure);
        assert_eq!(sure[0], (-60.0f64).exp(), "a nearly certain class keeps a positive score");
        let mut excluded = [f64::INFINITY; 4];
        normalise(&mut excluded);
        assert_eq!(excluded, [4.0f64.ln(); 4]);
        let mut one = [0.0, f64::INFINITY];
        normalise(&mut one);
        assert_eq!(one, [0.0, f64::INFINITY]);
    }

    #[test]
    fn draws_are_uniform_and_follow_seed_and_name() {
        let n = 10_000;
        let mean = (0..n).map(|row| RowDraw::of_number(5, row).0).sum::<f64>() / n as f64;
        // A standard error is 0.29 / 100.
        assert!((mean - 0.5).abs() < 0.012, "{mean}");
        assert_eq!(RowDraw::of_name(1, ["a", "b"]), RowDraw::of_name(1, ["a", "b"]));
        let others =
            [RowDraw::of_name(1, ["ab"]), RowDraw::of_name(1, ["b", "a"]), RowDraw::of_name(2, ["a", "b"])];
        assert!(others.iter().all(|other| *other != RowDraw::of_name(1, ["a", "b"])));
    }
}
