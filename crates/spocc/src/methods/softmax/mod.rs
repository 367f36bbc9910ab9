//! Softmax regression with an L2 penalty: the solver of `stacking` and of the ladder's regression.
//!
//! In: weighted patterns, that is, rows of sparse features, each with the classes that occurred and their weights.
//! Out: one coefficient per feature and output and one unpenalised intercept per output, the minimum of
//!
//! ```text
//! 0.5 * |coefficients|^2 + C * sum over rows and classes of weight * -ln p(class | row)
//! ```
//!
//! Two classes need a single output, the log-odds of the second. Three or more classes have an output each, which is one
//! too many: adding a constant to all outputs changes no probability, so the outputs are centred on zero.
//!
//! The solver is Newton's method ([`newton`]). Each step is solved by conjugate gradients, where a product with the
//! curvature is one pass over the rows. The [`preconditioner`] is the curvature of each output taken alone. It sees how
//! the features overlap (the indicators of one classifier add up to the intercept) and misses only how the outputs
//! do; with two classes it is the whole curvature. So a few passes per step are enough. A step that fails is solved again
//! with damping. Sums run in a fixed order on one thread: the same input gives the same bits.
//!
//! It is fast for three reasons. Rows are sums of parts that many of them share ([`Design`]). The first strength starts
//! from naive Bayes, every later one from an extrapolation of the solutions before it. And one preconditioner serves until
//! the strength has doubled.

mod design;
mod newton;
mod preconditioner;
mod problem;
#[cfg(test)]
mod tests;
mod vector;

use crate::methods::LEAD;

use vector::axpy;

pub(crate) use design::Design;
pub(crate) use problem::SoftmaxProblem;

/// A fitted regression; the score of an output is its intercept plus coefficients times features.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Softmax {
    /// All outputs of the first feature, then of the second, and so on.
    pub(crate) coef: Vec<f64>,
    /// One per output: a single one for two classes, else one per class.
    pub(crate) intercept: Vec<f64>,
}

/// Outputs in a chunk: the width with the least padding, the largest of several.
fn width(n_outputs: usize) -> usize {
    let widths = if n_outputs < 2 { [n_outputs; 3] } else { [8, 6, 4] };
    widths.into_iter().min_by_key(|&width| n_outputs.next_multiple_of(width.max(1))).expect("three widths")
}

impl Softmax {
    /// Passes the class that clearly leads on each row of the design, if one does, to `visit`.
    pub(crate) fn leaders(&self, design: &Design, rows: &[u32], visit: impl FnMut(Option<usize>)) {
        match width(self.intercept.len()) {
            // There is no class.
            0 => rows.iter().map(|_| None).for_each(visit),
            1 => self.leaders_in::<1>(design, rows, visit),
            4 => self.leaders_in::<4>(design, rows, visit),
            6 => self.leaders_in::<6>(design, rows, visit),
            _ => self.leaders_in::<8>(design, rows, visit),
        }
    }

    fn leaders_in<const N: usize>(
        &self,
        design: &Design,
        rows: &[u32],
        mut visit: impl FnMut(Option<usize>),
    ) {
        let n = self.intercept.len();
        let chunks = n.div_ceil(N);
        let mut sums = Vec::new();
        design.spread::<N>(self.padded(chunks * N).as_chunks().0, chunks, &mut sums);
        let mut scores = vec![[0.0; N]; chunks];
        for &row in rows {
            scores.fill([0.0; N]);
            for &leaf in design.leaves(row) {
                let sums = &sums[leaf as usize * chunks..][..chunks];
                scores.iter_mut().zip(sums).for_each(|(score, sum)| vector::add(1.0, sum, score));
            }
            // With a single output the first of two classes has a score of zero.
            let (mut best, mut second, mut leader) = (f64::NEG_INFINITY, f64::NEG_INFINITY, 0);
            let hidden = if n == 1 { Some(0.0) } else { None };
            for (class, score) in
                hidden.into_iter().chain(scores.as_flattened()[..n].iter().copied()).enumerate()
            {
                if score > best {
                    (second, best, leader) = (best, score, class);
                } else if score > second {
                    second = score;
                }
            }
            visit((best - second > LEAD * (1.0 + best.abs())).then_some(leader));
        }
    }

    /// Intercepts and coefficients, the outputs of each padded to `stride` values.
    fn padded(&self, stride: usize) -> Vec<f64> {
        let n = self.intercept.len();
        let mut padded = vec![0.0; stride * (1 + self.coef.len() / n)];
        let outputs = self.intercept.chunks_exact(n).chain(self.coef.chunks_exact(n));
        padded.chunks_exact_mut(stride).zip(outputs).for_each(|(to, from)| to[..n].copy_from_slice(from));
        padded
    }

    /// Writes `ln p` of every class for one row, up to a constant, to `out`.
    pub(crate) fn scores(&self, features: impl Iterator<Item = (u32, f64)>, out: &mut [f64]) {
        let n_outputs = self.intercept.len();
        // With a single output the first of two classes has a score of zero.
        let (hidden, scores) = out.split_at_mut(out.len() - n_outputs);
        hidden.fill(0.0);
        scores.copy_from_slice(&self.intercept);
        for (feature, value) in features {
            axpy(value, &self.coef[feature as usize * n_outputs..][..n_outputs], scores);
        }
    }
}
