//! Tuning: the choice of exponents, severities and rates by their accuracy on labelled rows.
//!
//! In: evidence. Out: the value on a grid with the most correct decisions (paper, section 3.5 and appendix A). The rows
//! are those that were counted, each row without its own count, or held-out folds.

mod exponents;
mod severity;
mod sweep;
mod validation_cases;

use crate::math::pow;
use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::error::Error;

pub(crate) use exponents::{Search, choose};
pub(crate) use severity::{discount, search_severity};
pub(crate) use sweep::{Trees, sweep};
pub(crate) use validation_cases::{ValidationCases, fold_counts};

/// The rows on which the accuracy of a setting is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Tuning {
    /// The rows that were counted, with the grids of the paper's authors.
    Resubstitution,
    /// Each row with the counts of all others; the dendrogram and the class frequencies do not change.
    LeaveOneOut,
    /// Each fold with the counts of the other folds. The fold of a row depends on a hash of its predictions and truth, not
    /// on the order of the rows.
    KFold(u16),
}

impl Tuning {
    /// The default number of folds.
    pub const FOLDS: u16 = 5;

    /// Refuses fewer than two folds.
    pub(crate) fn check(self) -> Result<(), Error> {
        match self {
            Self::KFold(folds @ (0 | 1)) => {
                Err(Error::OutOfRange { what: "folds", expected: "at least 2", found: folds.into() })
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Tuning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Resubstitution => "resubstitution",
            Self::LeaveOneOut => "leave-one-out",
            Self::KFold(_) => "k-fold",
        })
    }
}

impl FromStr for Tuning {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        let all = [Self::Resubstitution, Self::LeaveOneOut, Self::KFold(Self::FOLDS)];
        crate::error::choose("tuning", &all, word)
    }
}

/// `10^(from + step * i)` for i = 0..n.
pub(crate) fn grid(from: f64, step: f64, n: usize) -> Vec<f64> {
    (0..n).map(|i| pow(10f64, from + step * i as f64)).collect()
}

/// The grid of exponents, from 1 to 10.
pub(crate) fn exponent_grid() -> Vec<f64> {
    (0..=100).map(|i| pow(10f64, f64::from(i) / 100.0)).collect()
}

/// The plain median of the grid values tied for the best score: the mean of the middle two of an even number.
pub(crate) fn median_of_best(grid: &[f64], scores: &[u64]) -> f64 {
    let best = scores.iter().max();
    let tied: Vec<f64> =
        grid.iter().zip(scores).filter(|(_, score)| Some(*score) == best).map(|(x, _)| *x).collect();
    let middle = tied.len() / 2;
    match tied.len() {
        0 => 1.0,
        n if n % 2 == 1 => tied[middle],
        _ => f64::midpoint(tied[middle - 1], tied[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_tied_values_may_lie_off_the_grid() {
        assert_eq!(median_of_best(&[1.0, 2.0, 4.0, 8.0], &[3, 5, 5, 1]), 3.0);
        assert_eq!(median_of_best(&[1.0, 2.0, 4.0], &[5, 5, 5]), 2.0);
    }

    #[test]
    fn grids_are_those_of_the_authors() {
        let golden: serde_json::Value =
            serde_json::from_str(include_str!("../../../../testdata/golden/functions.json"))
                .expect("golden files are JSON");
        let ours = [
            ("lambda_grid", exponent_grid()),
            ("rho_grid", grid(-2.0, 1.0 / 25.0, 101)),
            ("r_grid", grid(-1.0, 3.0 / 200.0, 201)),
            ("C_grid", grid(-2.0, 1.0 / 25.0, 101)),
        ];
        for (name, ours) in ours {
            let theirs = golden["grids"][name].as_array().expect("a list");
            assert_eq!(ours.len(), theirs.len(), "{name}");
            for (a, b) in ours.iter().zip(theirs) {
                let b = b.as_f64().expect("a number");
                assert!((a - b).abs() <= 1e-9 * b, "{name}: {a} {b}");
            }
        }
    }

    #[test]
    fn tunings_are_displayed_as_they_are_parsed() {
        for word in ["resubstitution", "leave-one-out", "k-fold"] {
            assert_eq!(word.parse::<Tuning>().expect("a tuning").to_string(), word);
        }
        assert!(matches!("bootstrap".parse::<Tuning>(), Err(Error::UnknownWord { .. })));
    }
}
