//! Stage 1, the norm tree: possibility distributions fused along the dendrogram, `q(y) ~ p(y) exp(-g D(y))`.
//!
//! A merge fuses the surprisals of its two children by the norm `(a^x + b^x)^(1/x)`, the t-norm of exponent x (paper
//! §3.4): at x = 1 they add up, as for independent classifiers; at large x the larger one counts alone, as for
//! duplicates. With all x = 1 and g = 1 the tree is naive Bayes.
//!
//! Everything is computed on logarithms of surprisals, where a norm is the larger child plus a correction:
//! `ln D = max + ln(1 + e^(-x |a - b|)) / x`.

use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    math::{exp, ln_1p, log_normalise},
    methods::check_numbers,
};

/// A tree of binary norms over the leaves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct NormTree {
    pub(super) n_leaves: usize,
    /// The children of every merge: leaves, then earlier merges.
    pub(super) merges: Vec<[u32; 2]>,
    /// The gain g.
    pub(super) gain: f64,
    /// The reciprocal exponent 1/x of every merge.
    pub(super) inverse_exponents: Vec<f64>,
}

/// The state of every node of the tree on one row.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeValues {
    /// Whether any leaf below has a prediction.
    pub(super) has_prediction: Vec<bool>,
    /// Logarithms of surprisals, by node and class.
    pub(super) values: Vec<f64>,
}

impl NormTree {
    /// Turns the log class frequencies in `scores` into log probabilities given the predictions' distributions, which are
    /// logarithms of surprisals by leaf; false if there are none.
    pub(super) fn apply<'o>(
        &self,
        distributions: impl Iterator<Item = (usize, &'o [f64])>,
        scores: &mut [f64],
        nodes: &mut NodeValues,
    ) -> bool {
        let l = scores.len();
        let Some(root) = self.fuse(distributions, l, nodes) else { return false };
        for (score, log) in scores.iter_mut().zip(&nodes.values[root * l..][..l]) {
            *score -= self.gain * exp(*log);
        }
        log_normalise(scores);
        true
    }

    /// Fuses distributions given as logarithms of surprisals; returns the root, or none without any distribution.
    ///
    /// Several distributions of one leaf are fused by the maximum of the surprisals.
    fn fuse<'o>(
        &self,
        distributions: impl Iterator<Item = (usize, &'o [f64])>,
        l: usize,
        nodes: &mut NodeValues,
    ) -> Option<usize> {
        let n = self.n_leaves;
        nodes.has_prediction.clear();
        nodes.has_prediction.resize(n + self.merges.len(), false);
        nodes.values.resize((n + self.merges.len()) * l, 0.0);
        for (leaf, distribution) in distributions {
            let values = &mut nodes.values[leaf * l..][..l];
            if std::mem::replace(&mut nodes.has_prediction[leaf], true) {
                values.iter_mut().zip(distribution).for_each(|(value, other)| *value = value.max(*other));
            } else {
                values.copy_from_slice(distribution);
            }
        }
        for (q, (&[a, b], &inverse)) in self.merges.iter().zip(&self.inverse_exponents).enumerate() {
            let (below, own) = nodes.values.split_at_mut((n + q) * l);
            let [a, b] = [a as usize, b as usize];
            match (nodes.has_prediction[a], nodes.has_prediction[b]) {
                (false, false) => continue,
                (true, false) => own[..l].copy_from_slice(&below[a * l..][..l]),
                (false, true) => own[..l].copy_from_slice(&below[b * l..][..l]),
                (true, true) => {
                    let pairs = below[a * l..][..l].iter().zip(&below[b * l..][..l]);
                    own.iter_mut().zip(pairs).for_each(|(own, (&a, &b))| *own = norm(a, b, inverse));
                }
            }
            nodes.has_prediction[n + q] = true;
        }
        let root = nodes.has_prediction.len().checked_sub(1)?;
        nodes.has_prediction[root].then_some(root)
    }

    pub(super) fn check(&self, n_leaves: usize) -> Result<(), Error> {
        let children = self.merges.iter().enumerate();
        let below = |(q, pair): (usize, &[u32; 2])| pair.iter().all(|&child| (child as usize) < n_leaves + q);
        let mut parents = vec![0usize; n_leaves.saturating_add(self.merges.len())];
        let holds = self.n_leaves == n_leaves
            && self.merges.len() == n_leaves.saturating_sub(1)
            && children.clone().all(below);
        if holds {
            self.merges.iter().flatten().for_each(|&child| parents[child as usize] += 1);
        }
        let is_tree =
            parents.split_last().is_none_or(|(root, rest)| *root == 0 && rest.iter().all(|&n| n == 1));
        if !holds || !is_tree {
            return Err(Error::Inconsistent {
                expected: "a tree of norms",
                found: "another graph".to_owned(),
            });
        }
        check_numbers("a gain above 0", &[self.gain], Some(1), |gain| gain > 0.0 && gain.is_finite())?;
        let in_range = |inverse: f64| inverse > 0.0 && inverse <= 1.0;
        check_numbers(
            "1/x from 0 to 1 of every merge",
            &self.inverse_exponents,
            Some(self.merges.len()),
            in_range,
        )
    }
}

/// The norm of two surprisals, all as logarithms.
#[inline]
fn norm(a: f64, b: f64, inverse_exponent: f64) -> f64 {
    let (large, small) = if a >= b { (a, b) } else { (b, a) };
    if small == f64::NEG_INFINITY {
        return large;
    }
    large + inverse_exponent * ln_1p(exp((small - large) / inverse_exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_norm_is_the_sum_at_exponent_one_and_nearly_the_maximum_at_a_large_one() {
        assert!((norm(2.0_f64.ln(), 3.0_f64.ln(), 1.0) - 5.0_f64.ln()).abs() < 1e-14);
        assert!((norm(1.0, 2.0, 1e-3) - 2.0).abs() < 1e-12);
        assert_eq!(norm(f64::NEG_INFINITY, f64::NEG_INFINITY, 0.5), f64::NEG_INFINITY);
    }
}
