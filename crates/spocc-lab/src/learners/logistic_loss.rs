//! The objective of logistic regression and its gradient.
//!
//! Rows are processed in blocks of a fixed size whose sums are added in order, so that results do not depend on the
//! number of threads.

use ndarray::{Array2, ArrayView2, Axis, Slice, Zip, linalg::general_mat_mul};
use rayon::prelude::*;

/// Rows in a block.
const BLOCK_ROWS: usize = 1024;

/// Lower bound of a row's curvature, or the intercepts would be unbounded.
const MIN_CURVATURE: f64 = 1e-6;

/// A logistic regression problem.
pub(super) struct LogisticProblem {
    /// Features of every row, and last a column of ones for the intercept.
    pub(super) design: Array2<f64>,
    /// The class of every row, as its position among those that occur.
    pub(super) targets: Vec<u16>,
    /// One if there are two classes, else one per class.
    pub(super) n_outputs: usize,
    /// Weight of the losses against the penalty.
    pub(super) strength: f64,
}

/// Loss and derivatives at a point on a line of scores.
pub(super) struct LineEvaluation {
    /// Sum of losses.
    pub(super) loss: f64,
    /// Derivative of that sum along the line.
    pub(super) slope: f64,
    /// Probability minus truth of every row and output.
    pub(super) residuals: Array2<f64>,
}

impl LogisticProblem {
    /// The scores that weights give every row.
    pub(super) fn scores(&self, weights: &Array2<f64>) -> Array2<f64> {
        let mut scores = Array2::zeros((self.design.nrows(), self.n_outputs));
        let pieces: Vec<_> =
            pieces(&self.design).zip(scores.axis_chunks_iter_mut(Axis(0), BLOCK_ROWS)).collect();
        pieces
            .into_par_iter()
            .for_each(|(rows, mut scores)| general_mat_mul(1.0, &rows, weights, 0.0, &mut scores));
        scores
    }

    /// Losses and residuals at `scores + length * towards`.
    pub(super) fn evaluate(
        &self,
        scores: &Array2<f64>,
        towards: &Array2<f64>,
        length: f64,
    ) -> LineEvaluation {
        let mut residuals = scores.clone();
        residuals.scaled_add(length, towards);
        let pieces: Vec<_> = residuals
            .axis_chunks_iter_mut(Axis(0), BLOCK_ROWS)
            .zip(pieces(towards))
            .zip(self.targets.chunks(BLOCK_ROWS))
            .collect();
        let parts: Vec<(f64, f64)> = pieces
            .into_par_iter()
            .map(|((mut residuals, towards), targets)| {
                let (mut loss, mut slope) = (0.0, 0.0);
                for ((mut row, towards), &target) in
                    residuals.outer_iter_mut().zip(towards.outer_iter()).zip(targets)
                {
                    let row = row.as_slice_mut().expect("rows of a fresh matrix are contiguous");
                    loss += loss_and_residuals(row, usize::from(target));
                    slope +=
                        row.iter().zip(&towards).map(|(residual, towards)| residual * towards).sum::<f64>();
                }
                (loss, slope)
            })
            .collect();
        let (loss, slope) = parts.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        LineEvaluation { loss, slope, residuals }
    }

    /// Penalty and losses together.
    pub(super) fn objective(&self, weights: &Array2<f64>, loss: f64) -> f64 {
        let penalised = penalised_part(weights);
        self.strength * loss + 0.5 * inner(penalised, penalised)
    }

    /// The curvature of every row's loss in its scores, averaged over outputs.
    pub(super) fn curvatures(&self, residuals: &Array2<f64>) -> Vec<f64> {
        let rows = residuals.outer_iter().zip(&self.targets);
        rows.map(|(row, &target)| {
            let outputs = row.iter().enumerate();
            let curvatures = outputs.map(|(output, residual)| {
                let is_target = if self.n_outputs == 1 { target == 1 } else { output == usize::from(target) };
                let probability = residual + f64::from(u8::from(is_target));
                probability * (1.0 - probability)
            });
            (curvatures.sum::<f64>() / self.n_outputs as f64).max(MIN_CURVATURE)
        })
        .collect()
    }

    /// The gradient of the objective.
    pub(super) fn gradient(&self, weights: &Array2<f64>, residuals: &Array2<f64>) -> Array2<f64> {
        let pieces: Vec<_> = pieces(&self.design).zip(pieces(residuals)).collect();
        let parts: Vec<Array2<f64>> =
            pieces.into_par_iter().map(|(rows, residuals)| rows.t().dot(&residuals)).collect();
        let mut gradient = Array2::zeros(weights.dim());
        parts.iter().for_each(|part| gradient += part);
        gradient *= self.strength;
        let mut penalised = gradient.slice_axis_mut(Axis(0), Slice::from(..-1));
        penalised += &penalised_part(weights);
        gradient
    }
}

fn pieces(matrix: &Array2<f64>) -> impl Iterator<Item = ArrayView2<'_, f64>> {
    matrix.axis_chunks_iter(Axis(0), BLOCK_ROWS)
}

/// Replaces the scores of one row by its residuals and returns its loss.
fn loss_and_residuals(scores: &mut [f64], target: usize) -> f64 {
    if let [score] = scores {
        let small = (-score.abs()).exp();
        let loss = score.max(0.0) - *score * target as f64 + small.ln_1p();
        let probability = if *score < 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) };
        *score = probability - target as f64;
        return loss;
    }
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let of_target = scores[target] - highest;
    scores.iter_mut().for_each(|score| *score = (*score - highest).exp());
    let sum: f64 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= sum);
    scores[target] -= 1.0;
    sum.ln() - of_target
}

/// All weights but the intercepts.
pub(super) fn penalised_part(weights: &Array2<f64>) -> ArrayView2<'_, f64> {
    weights.slice_axis(Axis(0), Slice::from(..-1))
}

pub(super) fn inner<'a>(a: impl Into<ArrayView2<'a, f64>>, b: impl Into<ArrayView2<'a, f64>>) -> f64 {
    Zip::from(a.into()).and(b.into()).fold(0.0, |sum, a, b| sum + a * b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(n_outputs: usize) -> LogisticProblem {
        let n_classes = n_outputs.max(2);
        LogisticProblem {
            design: Array2::from_shape_fn((1500, 4), |(row, column)| {
                if column == 3 { 1.0 } else { ((row * 5 + column * 3) % 7) as f64 - 3.0 }
            }),
            targets: (0..1500).map(|row| (row % 11 % n_classes) as u16).collect(),
            n_outputs,
            strength: 0.7,
        }
    }

    fn value(problem: &LogisticProblem, weights: &Array2<f64>) -> f64 {
        let scores = problem.scores(weights);
        problem.objective(weights, problem.evaluate(&scores, &scores, 0.0).loss)
    }

    #[test]
    fn the_gradient_agrees_with_finite_differences() {
        for n_outputs in [1, 4] {
            let problem = problem(n_outputs);
            let weights =
                Array2::from_shape_fn((4, n_outputs), |(row, column)| 0.1 * (row as f64 - column as f64));
            let towards =
                Array2::from_shape_fn((4, n_outputs), |(row, column)| 1.0 - 0.3 * (row * column) as f64);
            let gradient = {
                let scores = problem.scores(&weights);
                problem.gradient(&weights, &problem.evaluate(&scores, &scores, 0.0).residuals)
            };
            let step = 1e-5;
            let ahead = value(&problem, &(&weights + &(&towards * step)));
            let behind = value(&problem, &(&weights - &(&towards * step)));
            let difference = (ahead - behind) / (2.0 * step);
            let slope = inner(&gradient, &towards);
            assert!((slope - difference).abs() < 1e-6 * slope.abs(), "{n_outputs}: {slope} {difference}");
        }
    }

    #[test]
    fn the_loss_of_extreme_scores_is_their_margin() {
        let mut one = [800.0];
        assert_eq!((loss_and_residuals(&mut one, 0), one), (800.0, [1.0]));
        let mut one = [-800.0];
        assert_eq!((loss_and_residuals(&mut one, 1), one), (800.0, [-1.0]));
        let mut three = [900.0, 0.0, -900.0];
        assert_eq!((loss_and_residuals(&mut three, 2), three), (1800.0, [1.0, 0.0, -1.0]));
    }
}
