//! The solver of logistic regression: preconditioned L-BFGS.
//!
//! A step costs two products with the rows: the change of the scores, which makes the line search cheap, and the new
//! gradient.

use std::collections::VecDeque;

use ndarray::Array2;

use super::{
    logistic_loss::{LineEvaluation, LogisticProblem, inner, penalised_part},
    preconditioner::Metric,
};

/// Number of past steps in the curvature estimate.
const MEMORY: usize = 20;

/// Stops where the predicted decrease is below this share of the objective. The error of the weights is then about 1e-8
/// times its square root, because the penalty has curvature one.
const TOLERANCE: f64 = 1e-16;

/// The largest number of steps; the last point is the best, since no step increases the objective.
const MAX_STEPS: usize = 5000;

/// Share of the slope that may remain at the end of a step.
const MAX_SLOPE_LEFT: f64 = 0.5;

/// Share of the objective that may be rounding.
const NOISE: f64 = 1e-13;

/// The largest number of evaluations in a line search.
const MAX_TRIALS: usize = 40;

/// A step and the change of the gradient over it.
struct CurvaturePair {
    step: Array2<f64>,
    change: Array2<f64>,
    /// The preconditioned change.
    preconditioned: Array2<f64>,
    /// Inner product of step and change.
    curvature: f64,
}

/// A line through the current scores, in units of a full step.
struct SearchLine<'a> {
    scores: &'a Array2<f64>,
    towards: &'a Array2<f64>,
    /// First and second derivative of the penalty at the start.
    penalty_slope: f64,
    penalty_curvature: f64,
    /// Sum of losses at the start.
    loss: f64,
    /// Slope of the objective at the start.
    slope: f64,
    /// The rise that may be rounding error.
    noise: f64,
}

impl LogisticProblem {
    /// The weights at the minimum: a row per column of the design, a column per output.
    pub(super) fn minimise(&self) -> Array2<f64> {
        let mut weights = Array2::zeros((self.design.ncols(), self.n_outputs));
        let mut scores = Array2::zeros((self.design.nrows(), self.n_outputs));
        let mut seen = self.evaluate(&scores, &scores, 0.0);
        let mut gradient = self.gradient(&weights, &seen.residuals);
        let mut metric = self.metric(&seen.residuals);
        let mut steepest = metric.steepest(&gradient);
        let mut pairs = VecDeque::with_capacity(MEMORY);
        for n_steps in 0..MAX_STEPS {
            if is_refreshed_after(n_steps) {
                metric = self.metric(&seen.residuals);
                steepest = metric.steepest(&gradient);
                pairs.clear();
            }
            let direction = descend(&pairs, &gradient, &steepest);
            let objective = self.objective(&weights, seen.loss);
            let slope = inner(&gradient, &direction);
            if -slope <= TOLERANCE * objective {
                break;
            }
            let towards = self.scores(&direction);
            let line = SearchLine {
                scores: &scores,
                towards: &towards,
                penalty_slope: inner(penalised_part(&weights), penalised_part(&direction)),
                penalty_curvature: inner(penalised_part(&direction), penalised_part(&direction)),
                loss: seen.loss,
                slope,
                noise: NOISE * objective,
            };
            let Some((length, next)) = self.search(&line) else { break };
            seen = next;
            let step = direction * length;
            weights += &step;
            scores.scaled_add(length, &towards);
            let next = self.gradient(&weights, &seen.residuals);
            let next_steepest = metric.steepest(&next);
            let (change, preconditioned) = (&next - &gradient, &next_steepest - &steepest);
            (gradient, steepest) = (next, next_steepest);
            let curvature = inner(&step, &change);
            if curvature > 0.0 {
                pairs.truncate(MEMORY - 1);
                pairs.push_front(CurvaturePair { step, change, preconditioned, curvature });
            }
        }
        weights
    }

    /// The preconditioner at a point with these residuals.
    fn metric(&self, residuals: &Array2<f64>) -> Metric {
        let intercept = self.design.ncols() - 1;
        let weights: Vec<f64> =
            self.curvatures(residuals).iter().map(|curvature| self.strength * curvature).collect();
        Metric::new(&self.design, &weights, |at| f64::from(u8::from(at != intercept)))
    }

    /// The length of a step and the evaluation there; nothing if no step decreases the objective measurably.
    ///
    /// The objective is convex, so slopes bracket the minimum; they remain distinguishable when values no longer are.
    fn search(&self, line: &SearchLine<'_>) -> Option<(f64, LineEvaluation)> {
        let evaluate_at = |length: f64| self.evaluate(line.scores, line.towards, length);
        let (mut low, mut high) = ((0.0, line.slope), None);
        let mut length = 1.0;
        for _ in 0..MAX_TRIALS {
            let found = evaluate_at(length);
            let slope = self.strength * found.slope + line.penalty_slope + length * line.penalty_curvature;
            let rise = self.strength * (found.loss - line.loss)
                + length * (line.penalty_slope + 0.5 * length * line.penalty_curvature);
            if slope.abs() <= MAX_SLOPE_LEFT * line.slope.abs() && rise <= line.noise {
                return Some((length, found));
            }
            if slope < 0.0 {
                low = (length, slope);
            } else {
                high = Some((length, slope));
            }
            length = match high {
                None => 3.0 * length,
                Some((end, end_slope)) => {
                    let share: f64 = low.1 / (low.1 - end_slope);
                    low.0 + share.clamp(0.1, 0.9) * (end - low.0)
                }
            };
        }
        (low.0 > 0.0).then(|| (low.0, evaluate_at(low.0)))
    }
}

/// Whether the preconditioner is recomputed: after 10, 20, 40 steps and so on, because it changes most at first.
fn is_refreshed_after(n_steps: usize) -> bool {
    n_steps.is_multiple_of(10) && (n_steps / 10).is_power_of_two()
}

/// The L-BFGS direction: preconditioned steepest descent, corrected by the curvature of past steps.
fn descend(pairs: &VecDeque<CurvaturePair>, gradient: &Array2<f64>, steepest: &Array2<f64>) -> Array2<f64> {
    // The preconditioner is linear, so the corrected gradient and its image are computed together.
    let (mut rest, mut direction) = (gradient.clone(), steepest.clone());
    let mut shares = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let share = inner(&pair.step, &rest) / pair.curvature;
        rest.scaled_add(-share, &pair.change);
        direction.scaled_add(-share, &pair.preconditioned);
        shares.push(share);
    }
    if let Some(last) = pairs.front() {
        direction *= last.curvature / inner(&last.change, &last.preconditioned);
    }
    for (pair, share) in pairs.iter().zip(shares).rev() {
        let again = inner(&pair.change, &direction) / pair.curvature;
        direction.scaled_add(share - again, &pair.step);
    }
    direction.mapv_into(|entry| -entry)
}
