//! Stage 2, the residual: a log-linear correction of the norm tree, `q(y) e^R(y)` with `R` a sum over predictions.
//!
//! A softmax regression on the one-hot predictions whose scores start from the norm tree's log probabilities.

use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    methods::{check_numbers, check_sum, largest, largest_of_parts},
};

/// The fitted correction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Residual {
    pub(super) penalty: f64,
    n_labels: usize,
    /// By class.
    intercepts: Vec<f64>,
    /// By leaf, predicted label and class.
    coefficients: Vec<f64>,
}

impl Residual {
    /// Adds the intercepts to scores.
    pub(super) fn add_intercepts(&self, scores: &mut [f64]) {
        scores.iter_mut().zip(&self.intercepts).for_each(|(score, intercept)| *score += intercept);
    }

    /// Adds a share of the coefficients of a prediction to scores.
    #[inline]
    pub(super) fn add(&self, leaf: usize, predicted: u16, share: f64, scores: &mut [f64]) {
        let l = scores.len();
        let added = &self.coefficients[(leaf * self.n_labels + usize::from(predicted)) * l..][..l];
        scores.iter_mut().zip(added).for_each(|(score, added)| *score += share * added);
    }

    pub(super) fn check(&self, [n_leaves, s, l]: [usize; 3]) -> Result<(), Error> {
        check_numbers("an intercept per class", &self.intercepts, Some(l), f64::is_finite)?;
        let size = n_leaves.checked_mul(s).and_then(|size| size.checked_mul(l));
        check_numbers("a coefficient per prediction and class", &self.coefficients, size, f64::is_finite)?;
        check_sum(largest_of_parts(&self.coefficients, n_leaves).chain([largest(&self.intercepts)]))?;
        check_numbers("a penalty", &[self.penalty], Some(1), |m| m > 0.0 && m.is_finite())?;
        if self.n_labels == s {
            return Ok(());
        }
        Err(Error::Inconsistent { expected: "a residual on the model's labels", found: "others".to_owned() })
    }
}
