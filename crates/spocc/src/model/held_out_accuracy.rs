//! The held-out accuracy that a model carries; [`evaluate`](crate::evaluate) computes it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The accuracy of a method on rows that it was not fitted to, with its 95 % interval.
///
/// Its text is one line: `held-out accuracy 98.0 % (95 % interval 96.1 .. 99.1), by 5-fold cross-validation`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HeldOutAccuracy {
    /// Which fits decided the held-out rows.
    pub by: HeldOutBy,
    /// Number of folds that the labelled rows were split into.
    pub folds: usize,
    /// Number of held-out rows.
    pub n_rows: u64,
    /// Share of the held-out rows that were decided correctly.
    pub accuracy: f64,
    /// The same with rows weighted by class; none if class weights are equal.
    pub weighted_accuracy: Option<f64>,
    /// The 95 % interval of the weighted accuracy if there is one, else of the accuracy.
    pub interval: [f64; 2],
}

/// Which fits decided the held-out rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum HeldOutBy {
    /// Every fold is decided by a fit of the whole method to the other folds, as in a comparison with one repetition.
    Refits,
    /// One fold is decided by a fit to the other folds.
    OneFold,
}

impl HeldOutAccuracy {
    /// Refuses numbers that no evaluation gives.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let [low, high] = self.interval;
        let shares = [self.accuracy, self.weighted_accuracy.unwrap_or(0.0), low, high];
        if shares.iter().all(|share| (0.0..=1.0).contains(share))
            && low <= high
            && self.folds >= 2
            && self.n_rows >= 1
        {
            return Ok(());
        }
        let found = format!("{shares:?} of {} rows in {} folds", self.n_rows, self.folds);
        Err(Error::Inconsistent { expected: "a held-out accuracy with its interval", found })
    }
}

impl fmt::Display for HeldOutAccuracy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| share * 100.0 + 0.0;
        write!(out, "held-out accuracy {:.1} %", percent(self.accuracy))?;
        if let Some(weighted) = self.weighted_accuracy {
            write!(out, ", weighted accuracy {:.1} %", percent(weighted))?;
        }
        let [low, high] = self.interval.map(percent);
        write!(out, " (95 % interval {low:.1} .. {high:.1}), ")?;
        let (folds, n_rows) = (self.folds, self.n_rows);
        match self.by {
            HeldOutBy::Refits if folds as u64 == n_rows => {
                write!(out, "by leave-one-out cross-validation (only {n_rows} rows)")
            }
            HeldOutBy::Refits => write!(out, "by {folds}-fold cross-validation"),
            HeldOutBy::OneFold => write!(out, "on {n_rows} held-out rows (one fold of {folds})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> HeldOutAccuracy {
        HeldOutAccuracy {
            by: HeldOutBy::Refits,
            folds: 5,
            n_rows: 400,
            accuracy: 0.98,
            weighted_accuracy: None,
            interval: [0.961, 0.991],
        }
    }

    #[test]
    fn numbers_that_no_evaluation_gives_are_refused() {
        assert_eq!(usual().check(), Ok(()));
        let wrong = [
            HeldOutAccuracy { accuracy: f64::NAN, ..usual() },
            HeldOutAccuracy { accuracy: -0.1, ..usual() },
            HeldOutAccuracy { weighted_accuracy: Some(1.1), ..usual() },
            HeldOutAccuracy { interval: [0.9, 0.8], ..usual() },
            HeldOutAccuracy { interval: [0.9, f64::INFINITY], ..usual() },
            HeldOutAccuracy { folds: 1, ..usual() },
            HeldOutAccuracy { n_rows: 0, ..usual() },
        ];
        for accuracy in wrong {
            assert!(matches!(accuracy.check(), Err(Error::Inconsistent { .. })), "{accuracy:?}");
        }
    }

    #[test]
    fn the_text_says_which_rows_were_held_out() {
        let usual = usual();
        let figure = "held-out accuracy 98.0 % (95 % interval 96.1 .. 99.1)";
        assert_eq!(usual.to_string(), format!("{figure}, by 5-fold cross-validation"));
        let few = HeldOutAccuracy { folds: 3, n_rows: 3, ..usual.clone() };
        assert_eq!(few.to_string(), format!("{figure}, by leave-one-out cross-validation (only 3 rows)"));
        let many = HeldOutAccuracy { by: HeldOutBy::OneFold, n_rows: 1200, ..usual.clone() };
        assert_eq!(many.to_string(), format!("{figure}, on 1200 held-out rows (one fold of 5)"));
        let weighted = HeldOutAccuracy { weighted_accuracy: Some(0.975), ..usual };
        let text =
            "held-out accuracy 98.0 %, weighted accuracy 97.5 % (95 % interval 96.1 .. 99.1), by 5-fold";
        assert!(weighted.to_string().starts_with(text), "{weighted}");
    }
}
