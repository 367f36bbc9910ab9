//! The solver of logistic regression: quasi-Newton descent in the metric of the problem (L-BFGS).
//!
//! A step costs two products with the rows: the scores it adds, which make trying its lengths cheap, and the new
//! gradient.

use std::collections::VecDeque;

use ndarray::Array2;

use super::{
    losses::{Look, Problem, inner, penalised_part},
    metric::Metric,
};

/// Steps that the estimate of the curvature remembers.
const MEMORY: usize = 20;

/// Stops where the next step promises less than this share of the objective. Weights are then off by about a
/// hundred-millionth of its square root, because the penalty alone bends the objective by one.
const TOLERANCE: f64 = 1e-16;

/// Steps after which the last point is kept: it is the best, since no step goes up.
const MAX_STEPS: usize = 5000;

/// Share of the slope that may be left at the end of a step.
const MAX_SLOPE_LEFT: f64 = 0.5;

/// Share of the objective that may be rounding.
const NOISE: f64 = 1e-13;

/// Lengths of a step that are tried.
const MAX_TRIALS: usize = 40;

/// A step and the change of the gradient over it.
struct Bend {
    step: Array2<f64>,
    change: Array2<f64>,
    /// The change as the metric sees it.
    steepened: Array2<f64>,
    /// Inner product of step and change.
    curvature: f64,
}

/// A line through the present scores, in units of a whole step.
struct Line<'a> {
    scores: &'a Array2<f64>,
    towards: &'a Array2<f64>,
    /// First and second derivative of the penalty at the start.
    pull: f64,
    bend: f64,
    /// Sum of losses at the start.
    loss: f64,
    /// Slope of the objective at the start.
    slope: f64,
    /// How much of a rise may be rounding.
    noise: f64,
}

impl Problem {
    /// The weights at the minimum: a row per column of the design, a column per output.
    pub(super) fn minimise(&self) -> Array2<f64> {
        let mut weights = Array2::zeros((self.design.ncols(), self.n_outputs));
        let mut scores = Array2::zeros((self.design.nrows(), self.n_outputs));
        let mut seen = self.look(&scores, &scores, 0.0);
        let mut gradient = self.gradient(&weights, &seen.residuals);
        let mut metric = self.metric(&seen.residuals);
        let mut steepest = metric.steepest(&gradient);
        let mut bends = VecDeque::with_capacity(MEMORY);
        for n_steps in 0..MAX_STEPS {
            if is_refreshed_after(n_steps) {
                metric = self.metric(&seen.residuals);
                steepest = metric.steepest(&gradient);
                bends.clear();
            }
            let direction = descend(&bends, &gradient, &steepest);
            let objective = self.objective(&weights, seen.loss);
            let slope = inner(&gradient, &direction);
            if -slope <= TOLERANCE * objective {
                break;
            }
            let towards = self.scores(&direction);
            let line = Line {
                scores: &scores,
                towards: &towards,
                pull: inner(penalised_part(&weights), penalised_part(&direction)),
                bend: inner(penalised_part(&direction), penalised_part(&direction)),
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
            let (change, steepened) = (&next - &gradient, &next_steepest - &steepest);
            (gradient, steepest) = (next, next_steepest);
            let curvature = inner(&step, &change);
            if curvature > 0.0 {
                bends.truncate(MEMORY - 1);
                bends.push_front(Bend { step, change, steepened, curvature });
            }
        }
        weights
    }

    /// The metric at a point with these residuals.
    fn metric(&self, residuals: &Array2<f64>) -> Metric {
        let intercept = self.design.ncols() - 1;
        let weights: Vec<f64> = self.bends(residuals).iter().map(|bend| self.strength * bend).collect();
        Metric::new(&self.design, &weights, |at| f64::from(u8::from(at != intercept)))
    }

    /// How far to go, and what is seen from there; nothing if no step can be told from standing still.
    ///
    /// The objective is convex, so slopes bracket the lowest point; they go on differing long after values stop.
    fn search(&self, line: &Line<'_>) -> Option<(f64, Look)> {
        let look_at = |length: f64| self.look(line.scores, line.towards, length);
        let (mut low, mut high) = ((0.0, line.slope), None);
        let mut length = 1.0;
        for _ in 0..MAX_TRIALS {
            let look = look_at(length);
            let slope = self.strength * look.slope + line.pull + length * line.bend;
            let rise =
                self.strength * (look.loss - line.loss) + length * (line.pull + 0.5 * length * line.bend);
            if slope.abs() <= MAX_SLOPE_LEFT * line.slope.abs() && rise <= line.noise {
                return Some((length, look));
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
        (low.0 > 0.0).then(|| (low.0, look_at(low.0)))
    }
}

/// Whether the metric is taken anew: after 10 steps, 20, 40 and so on, because it changes most at first.
fn is_refreshed_after(n_steps: usize) -> bool {
    n_steps.is_multiple_of(10) && (n_steps / 10).is_power_of_two()
}

/// The way down: the steepest one, corrected by what past steps told of the curvature.
fn descend(bends: &VecDeque<Bend>, gradient: &Array2<f64>, steepest: &Array2<f64>) -> Array2<f64> {
    // The metric's inverse is linear, so the corrected gradient and its image are built side by side.
    let (mut rest, mut direction) = (gradient.clone(), steepest.clone());
    let mut shares = Vec::with_capacity(bends.len());
    for bend in bends {
        let share = inner(&bend.step, &rest) / bend.curvature;
        rest.scaled_add(-share, &bend.change);
        direction.scaled_add(-share, &bend.steepened);
        shares.push(share);
    }
    if let Some(last) = bends.front() {
        direction *= last.curvature / inner(&last.change, &last.steepened);
    }
    for (bend, share) in bends.iter().zip(shares).rev() {
        let again = inner(&bend.change, &direction) / bend.curvature;
        direction.scaled_add(share - again, &bend.step);
    }
    direction.mapv_into(|entry| -entry)
}
