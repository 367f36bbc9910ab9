//! The preconditioner: the curvature of each output taken alone, factored.

use super::{
    newton::NewtonSolver,
    vector::{add, axpy, dot},
};

/// The block-diagonal preconditioner.
pub(super) struct Blocks {
    /// Side of a block: all features, or 1 where full blocks would cost more than they save.
    pub(super) side: usize,
    /// The blocks of each output: the upper triangle `U` of `U' D^-1 U`, with the diagonal `D` inverted.
    factors: Vec<f64>,
}

impl Blocks {
    pub(super) fn new<const N: usize>(solver: &NewtonSolver<'_, N>) -> Self {
        let (problem, n_outputs) = (solver.problem, solver.n_outputs);
        let n = problem.design.n_features + 1;
        // Factoring grows with the cube of the side, the passes saved with the entries; 2^22 floats are 32 MB.
        let affordable = n.saturating_pow(3) <= 800 * (problem.design.n_entries + problem.rows.len())
            && n.saturating_pow(2).saturating_mul(n_outputs) <= 1 << 22;
        let side = if affordable { n } else { 1 };
        let sums = curvatures(solver, side);
        let mut factors = vec![0.0; n_outputs * n * side];
        for (output, blocks) in factors.chunks_exact_mut(n * side).enumerate() {
            let own = sums[output / N..].iter().step_by(solver.chunks).map(|sums| sums[output % N]);
            blocks.iter_mut().zip(own).for_each(|(to, sum)| *to = sum);
            // The intercept, which comes first, is not penalised; only underflow can leave it without curvature.
            blocks[0] = blocks[0].max(f64::MIN_POSITIVE.sqrt());
            for i in 1..n {
                blocks[i * side + i % side] += 1.0;
            }
            for block in blocks.chunks_exact_mut(side * side) {
                factor(block, side);
            }
        }
        Self { side, factors }
    }

    /// Solves each block for its part of a right-hand side, all outputs centred.
    pub(super) fn solve<const N: usize>(&self, solver: &NewtonSolver<'_, N>, right: &[f64]) -> Vec<f64> {
        let (n, side) = (solver.stride(), self.side);
        let mut out = right.to_vec();
        solver.centre(&mut out);
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
        solver.centre(&mut out);
        out
    }
}

/// The curvature of every pair of parameters, by its upper half, for all outputs side by side.
fn curvatures<const N: usize>(solver: &NewtonSolver<'_, N>, side: usize) -> Vec<[f64; N]> {
    let (problem, chunks) = (solver.problem, solver.chunks);
    let mut sums = vec![[0.0; N]; (problem.design.n_features + 1) * side * chunks];
    let mut entries = Vec::new();
    for ((row, weight), p) in
        problem.rows.iter().zip(&solver.row_weight).zip(solver.probabilities.chunks_exact(chunks))
    {
        entries.clear();
        entries.extend(problem.design.entries(row.0));
        entries.reverse();
        for (chunk, p) in p.iter().enumerate() {
            // A probability of 1 is exact up to rounding only, and the intercept needs positive curvature.
            let mass = p.map(|p| weight * (p * (1.0 - p).max(f64::EPSILON) + solver.damping));
            for (k, &(i, x)) in entries.iter().enumerate() {
                let sums = &mut sums[i as usize * side * chunks..][..side * chunks];
                let mass = mass.map(|mass| mass * x);
                if side == 1 {
                    add(x, &mass, &mut sums[chunk]);
                    continue;
                }
                for &(j, y) in &entries[k..] {
                    add(y, &mass, &mut sums[j as usize * chunks + chunk]);
                }
            }
        }
    }
    sums
}

/// Factors a symmetric matrix, given by its upper half, in place.
///
/// The penalty makes every pivot after the first at least 1. Smaller pivots come from rounding, of weights so large that
/// they hide the penalty, and so do pivots that have lost thirteen digits.
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
