//! Decision: from the fused surprisals to a label, with its ties and its margin (paper, section 3.3).

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{data::Label, error::Error, hash, math::pow, possibility::Possibility};

/// Labels whose surprisal is this close to the best, relatively, are tied with it.
pub(crate) const TIE_TOLERANCE: f64 = 1e-10;

/// What to do when several labels are equally good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TieBreak {
    /// The first of them in the order of the classes.
    #[default]
    First,
    /// One at random, by a hash of this seed and of the row's predictions: equal rows are decided alike in every table
    /// and every run.
    Random(u64),
}

impl fmt::Display for TieBreak {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::First => "first",
            Self::Random(_) => "random",
        })
    }
}

impl FromStr for TieBreak {
    type Err = Error;

    /// `random` has seed 0; [`TieBreak::Random`] takes another.
    fn from_str(word: &str) -> Result<Self, Error> {
        crate::error::choose("ties", &[Self::First, Self::Random(0)], word)
    }
}

/// What a decision is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Basis {
    /// The predictions of the panel.
    Panel,
    /// The class frequencies, because no prediction of the row counts.
    Prior,
}

/// One decided row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Decision {
    /// Number of the class decided.
    pub class: usize,
    /// Its label, as the user writes it.
    pub label: Label,
    /// The fused possibility of each class; not renormalised.
    pub possibility: Possibility,
    /// The probability of each class, from methods that have one; it adds up to 1.
    pub probability: Option<Vec<f64>>,
    /// `1 - runner-up / best` on the method's own scale: possibility for spocc and adaspocc, share of the votes for
    /// the votes, probability for all others. 0 for a tie, 1 if the runner-up's value is 0.
    pub margin: f64,
    /// Numbers of all classes tied for the best, the decided one among them.
    pub ties: Vec<usize>,
    /// Number of classifiers with a prediction that the model knows.
    pub n_answered: usize,
    /// Panel or prior.
    pub basis: Basis,
}

impl Decision {
    /// Whether other labels are as good.
    pub fn is_tie(&self) -> bool {
        self.ties.len() > 1
    }
}

/// The first class whose surprisal is the least, or as good as the least.
#[inline]
pub(crate) fn first_best(surprisals: &[f64]) -> usize {
    let limit = limit(surprisals, 1.0 + TIE_TOLERANCE);
    surprisals.iter().position(|s| *s <= limit).unwrap_or(0)
}

/// All classes tied for the best, within a factor.
pub(crate) fn tied(surprisals: &[f64], tolerance: f64) -> impl Iterator<Item = usize> + Clone {
    let limit = limit(surprisals, tolerance);
    (0..surprisals.len()).filter(move |&i| surprisals[i] <= limit)
}

/// The factor within which surprisals raised to the power `x` are tied.
pub(crate) fn tolerance(x: f64) -> f64 {
    pow(1.0 + TIE_TOLERANCE, x)
}

#[inline]
fn limit(surprisals: &[f64], tolerance: f64) -> f64 {
    let least = surprisals.iter().fold(f64::INFINITY, |least, s| least.min(*s));
    least * tolerance
}

/// The class to decide and whether others are as good. `tolerance` is that of the surprisals' power; `row_hash` is
/// called only to break a tie at random.
#[inline]
pub(crate) fn decide(
    surprisals: &[f64],
    tolerance: f64,
    ties: TieBreak,
    row_hash: impl Fn(u64) -> u64,
) -> (usize, bool) {
    let mut tied = tied(surprisals, tolerance);
    let first = tied.next().unwrap_or(0);
    let others = tied.clone().count();
    if others == 0 {
        return (first, false);
    }
    match ties {
        TieBreak::First => (first, true),
        TieBreak::Random(seed) => {
            let drawn = hash::draw(row_hash(seed), others as u64 + 1);
            (std::iter::once(first).chain(tied).nth(drawn as usize).unwrap_or(first), true)
        }
    }
}

/// `1 - runner-up / best`, from the ratio of each class to the best, of which the largest is 1.
#[inline]
pub(crate) fn margin(ratios: &[f64]) -> f64 {
    let (mut best, mut second) = (0.0, 0.0);
    for &ratio in ratios {
        let less = if ratio < best { ratio } else { best };
        best = if ratio > best { ratio } else { best };
        second = if less > second { less } else { second };
    }
    1.0 - second
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_relative() {
        let tied = |surprisals: &[f64]| tied(surprisals, tolerance(1.0)).collect::<Vec<_>>();
        assert_eq!(tied(&[2.0, 2.0 * (1.0 + 5e-11), 2.1]), [0, 1]);
        assert_eq!(tied(&[0.0, 1e-300]), [0]);
        assert_eq!(tied(&[f64::INFINITY; 2]), [0, 1]);
        assert_eq!(first_best(&[2.0 * (1.0 + 5e-11), 2.0]), 0);
    }

    #[test]
    fn random_ties_follow_seed_and_row_and_reach_all_classes() {
        let draw = |seed, row| {
            decide(&[1.0, 1.0, 2.0, 1.0], tolerance(1.0), TieBreak::Random(seed), |seed| hash::mix(seed, row))
                .0
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        let drawn: std::collections::BTreeSet<usize> = (0..100).map(|row| draw(7, row)).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [0, 1, 3]);
        assert_eq!(decide(&[1.0, 1.0], tolerance(1.0), TieBreak::First, |_| 1), (0, true));
    }

    #[test]
    fn the_margin_runs_from_tie_to_certainty() {
        assert_eq!(margin(&[1.0, 1.0, 0.3]), 0.0);
        assert_eq!(margin(&[0.25, 1.0, 0.5]), 0.5);
        assert_eq!(margin(&[1.0, 0.0]), 1.0);
        assert_eq!(margin(&[1.0]), 1.0);
    }
}
