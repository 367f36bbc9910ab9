//! What makes few passes enough: the curvature of each output on its own, inverted.

use super::{Descent, axpy, centre, dot};

/// The preconditioner: the curvature of each output on its own, factored.
pub(super) struct Blocks {
    n_outputs: usize,
    /// Side of a block: all features, or 1 where that would cost more than it saves.
    pub(super) side: usize,
    /// Per output its blocks: the upper triangle `U` of `U' D^-1 U`, its diagonal `D` inverted.
    factors: Vec<f64>,
}

impl Blocks {
    pub(super) fn new(descent: &Descent<'_>) -> Self {
        let (problem, n_outputs) = (descent.problem, descent.n_outputs);
        let n = problem.n_features + 1;
        // Factoring grows with the cube of the side, the passes saved with the entries; 2^22 floats are 32 MB.
        let affordable = n.saturating_pow(3) <= 800 * problem.entries.len()
            && n.saturating_pow(2).saturating_mul(n_outputs) <= 1 << 22;
        let side = if affordable { n } else { 1 };
        let mut factors = vec![0.0; n_outputs * n * side];
        for (output, blocks) in factors.chunks_exact_mut(n * side).enumerate() {
            let probabilities = descent.probabilities[output..].iter().step_by(n_outputs);
            for (((entries, _), weight), p) in problem.rows().zip(&descent.row_weight).zip(probabilities) {
                // A probability of one is known to rounding only, and the intercept needs a mass.
                let mass = weight * (p * (1.0 - p).max(f64::EPSILON) + descent.damping);
                for (k, &(i, x)) in entries.iter().enumerate() {
                    let partners = if side == 1 { &entries[k..=k] } else { &entries[k..] };
                    for &(j, y) in partners {
                        blocks[i.min(j) as usize * side + i.max(j) as usize % side] += mass * x * y;
                    }
                }
            }
            // The penalty spares the intercept, which comes first and lacks mass only by underflow.
            blocks[0] = blocks[0].max(f64::MIN_POSITIVE.sqrt());
            for i in 1..n {
                blocks[i * side + i % side] += 1.0;
            }
            for block in blocks.chunks_exact_mut(side * side) {
                factor(block, side);
            }
        }
        Self { n_outputs, side, factors }
    }

    /// Solves each block for its part of a right-hand side, all outputs centred.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let (n, side) = (self.n_outputs, self.side);
        let mut out = right.to_vec();
        centre(&mut out, n);
        for (output, blocks) in self.factors.chunks_exact(right.len() / n * side).enumerate() {
            let mut x: Vec<f64> = out[output..].iter().step_by(n).copied().collect();
            for (x, block) in x.chunks_exact_mut(side).zip(blocks.chunks_exact(side * side)) {
                for (k, row) in block.chunks_exact(side).enumerate() {
                    axpy(-x[k] * row[k], &row[k + 1..], &mut x[k + 1..]);
                }
                for (k, row) in block.chunks_exact(side).enumerate().rev() {
                    x[k] = (x[k] - dot(&row[k + 1..], &x[k + 1..])) * row[k];
                }
            }
            for (out, x) in out[output..].iter_mut().step_by(n).zip(x) {
                *out = x;
            }
        }
        centre(&mut out, n);
        out
    }
}

/// Factors a symmetric matrix, given by its upper half, in place.
///
/// The penalty makes every pivot after the first at least one. Smaller is rounding, of weights so large that
/// they hide the penalty; so is what has lost thirteen digits.
fn factor(block: &mut [f64], side: usize) {
    for k in 0..side {
        let (above, row) = block.split_at_mut(k * side);
        let row = &mut row[k..side];
        let least = if k == 0 { row[0] } else { (1e-13 * row[0]).max(1.0) };
        for (i, above) in above.chunks_exact(side).enumerate() {
            axpy(-above[k] * above[i], &above[k..], row);
        }
        row[0] = 1.0 / row[0].max(least);
    }
}
