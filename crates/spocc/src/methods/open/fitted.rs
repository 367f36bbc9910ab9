//! A fitted pool over open answers, applied to a row.

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    error::Error,
    math::log_normalise,
    methods::{FittedExpert, FittedRule, Parameters, Scratch, check_numbers, check_sum},
};

/// One weight per classifier.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FittedOpen {
    /// The largest number of candidates of a row, and one for "none of these".
    pub(super) n_classes: usize,
    pub(super) weights: Vec<f64>,
    /// Score of "none of these".
    pub(super) none: f64,
    /// Whether each classifier is used: one whose answers no other classifier gives is not.
    pub(super) is_used: Vec<bool>,
    /// The classifiers of every leaf.
    pub(super) leaves: Vec<Vec<u32>>,
    pub(super) experts: Vec<FittedExpert>,
    /// Classifier behind the expert that is one classifier alone.
    pub(super) best_classifier: Option<u32>,
}

impl FittedOpen {
    pub(crate) fn parameters(&self) -> Parameters {
        Parameters::Open {
            leaves: self.leaves.iter().map(|leaf| leaf.iter().map(|&k| k as usize).collect()).collect(),
            experts: self.experts.clone(),
            best_classifier: self.best_classifier.map(|k| k as usize),
            weights: self.weights.clone(),
            none: self.none,
        }
    }

    /// What classifier `k` adds to the score of its answer.
    pub(crate) fn weight(&self, k: usize) -> f64 {
        self.weights[k]
    }

    /// The same for rows with up to this many candidates.
    pub(crate) fn with_classes(&self, n_classes: usize) -> Self {
        Self { n_classes, ..self.clone() }
    }
}

impl FittedRule for FittedOpen {
    /// `-ln` of the probability of each candidate; infinite for one that no used classifier gives.
    fn surprisals(&self, row: Row<'_>, scratch: &mut Scratch) -> bool {
        let out = &mut scratch.out;
        out.clear();
        out.resize(self.n_classes, f64::NEG_INFINITY);
        out[0] = self.none;
        let mut has_answer = false;
        row.for_each(|k, j| {
            if self.is_used[k] {
                let score = &mut out[usize::from(j)];
                *score = if *score == f64::NEG_INFINITY { self.weights[k] } else { *score + self.weights[k] };
                has_answer = true;
            }
        });
        log_normalise(out);
        out.iter_mut().for_each(|log| *log = (-*log).max(0.0));
        has_answer
    }

    fn check(&self, [n, s, l]: [usize; 3]) -> Result<(), Error> {
        let numbers = if self.n_classes == l && s == l && l > 0 { Some(n) } else { None };
        check_numbers("a weight per classifier", &self.weights, numbers, f64::is_finite)?;
        check_numbers("a score of none of these", &[self.none], Some(1), f64::is_finite)?;
        check_sum(self.weights.iter().chain([&self.none]).map(|weight| weight.abs()))?;
        let of_experts: Vec<f64> =
            self.experts.iter().flat_map(|fitted| [fitted.gain, fitted.weight]).collect();
        check_numbers("gains and weights", &of_experts, Some(of_experts.len()), |x| {
            x >= 0.0 && x.is_finite()
        })?;
        let all = self.leaves.iter().flatten().chain(&self.best_classifier);
        if self.is_used.len() == n && all.into_iter().all(|&k| (k as usize) < n) {
            return Ok(());
        }
        Err(Error::Inconsistent { expected: "numbers of classifiers", found: "others".to_owned() })
    }
}
