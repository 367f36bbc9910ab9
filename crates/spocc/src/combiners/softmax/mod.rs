//! Softmax regression with an L2 penalty: the solver behind `stacking`.
//!
//! In come weighted patterns: rows of sparse features, each with the classes seen on it and their weights.
//! Out go one coefficient per feature and output and one free intercept per output, the minimum of
//!
//! ```text
//! 0.5 * |coefficients|^2 + C * sum over rows and classes of weight * -ln p(class | row)
//! ```
//!
//! Two classes need a single output, the log-odds of the second. Three or more have an output each, which is
//! one too many: adding a constant to all outputs changes nothing, so they are kept centred on zero.
//!
//! The method is Newton's. A step is solved by conjugate gradients, where a product with the curvature is one
//! pass over the rows. What makes a handful of passes enough is to precondition with the curvature of each
//! output taken alone, which sees how the features overlap (the answers of one classifier add up to the
//! intercept) and misses only how the outputs do; on two classes it is the whole curvature. A step that fails
//! is solved again with every row stiffened by a damping. Sums run in a fixed order on one thread: same input,
//! same bits.

mod preconditioner;

use preconditioner::Blocks;

/// Largest error that may remain, in the norm of the curvature; that norm is at least the plain norm of the
/// coefficients, so no coefficient is further than this from its optimum.
const TOLERANCE: f64 = 1e-8;

/// Newton steps before giving up: four are normal, forty if a weight of 1e12 is separable.
const MAX_STEPS: usize = 300;

/// Steps in a row without a lower objective, after which rounding is all there is.
const MAX_FLAT_STEPS: usize = 12;

/// Passes for one Newton step; left unfinished, it still goes down.
const MAX_PASSES: usize = 500;

/// Passes above which the preconditioner is out of date.
const STALE_PASSES: usize = 15;

/// Weighted patterns to be explained.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    n_features: usize,
    n_classes: usize,
    /// Where each row ends in `entries` and in `outcomes`, after a first zero.
    ends: Vec<(usize, usize)>,
    /// Parameter and value: 0 for the constant that carries the intercept, `f + 1` for feature `f`.
    entries: Vec<(u32, f64)>,
    /// Class and weight.
    outcomes: Vec<(u16, f64)>,
}

/// Entries and outcomes of one row.
type Row<'a> = (&'a [(u32, f64)], &'a [(u16, f64)]);

/// A fitted regression; the score of an output is its intercept plus coefficients times features.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Softmax {
    /// All outputs of the first feature, then of the second, and so on.
    pub(crate) coef: Vec<f64>,
    /// One per output: a single one for two classes, else one per class.
    pub(crate) intercept: Vec<f64>,
}

impl Problem {
    /// An empty problem.
    pub(crate) fn new(n_features: usize, n_classes: usize) -> Self {
        Self { n_features, n_classes, ends: vec![(0, 0)], entries: Vec::new(), outcomes: Vec::new() }
    }

    /// Adds a row: its features, none named twice, and the weight of each class seen on it.
    pub(crate) fn push(
        &mut self,
        features: impl Iterator<Item = (u32, f64)>,
        outcomes: impl Iterator<Item = (u16, f64)>,
    ) {
        self.entries.push((0, 1.0));
        self.entries.extend(features.map(|(feature, value)| (feature + 1, value)));
        self.outcomes.extend(outcomes);
        self.ends.push((self.entries.len(), self.outcomes.len()));
    }

    /// The minimum for one strength of the data against the penalty, C.
    ///
    /// A start, say the solution of a neighbouring C, saves passes and leaves the answer alone. Every class is
    /// meant to have a positive weight; with fewer than two classes there is nothing to learn and all is zero.
    pub(crate) fn solve(&self, c: f64, start: Option<&Softmax>) -> Softmax {
        let n_outputs = self.n_outputs();
        let mut at = vec![0.0; (self.n_features + 1) * n_outputs];
        if self.n_classes > 1 {
            let (intercept, coef) = at.split_at_mut(n_outputs);
            if let Some(start) = start.filter(|start| start.coef.len() == coef.len()) {
                intercept.copy_from_slice(&start.intercept);
                coef.copy_from_slice(&start.coef);
            }
            centre(&mut at, n_outputs);
            at = Descent::new(self, c).minimise(at);
            centre(&mut at, n_outputs);
        }
        let coef = at.split_off(n_outputs);
        Softmax { coef, intercept: at }
    }

    fn n_outputs(&self) -> usize {
        if self.n_classes == 2 { 1 } else { self.n_classes }
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let row = |ends: &[(usize, usize)]| {
            let [start, end] = [ends[0], ends[1]];
            (&self.entries[start.0..end.0], &self.outcomes[start.1..end.1])
        };
        self.ends.windows(2).map(row)
    }
}

impl Softmax {
    /// Writes `ln p` of every class for one row; `out` has a place per class.
    pub(crate) fn log_probabilities(&self, features: impl Iterator<Item = (u32, f64)>, out: &mut [f64]) {
        let n_outputs = self.intercept.len();
        // With a single output the first of two classes has a score of zero.
        let (hidden, scores) = out.split_at_mut(out.len() - n_outputs);
        hidden.fill(0.0);
        scores.copy_from_slice(&self.intercept);
        for (feature, value) in features {
            axpy(value, &self.coef[feature as usize * n_outputs..][..n_outputs], scores);
        }
        let max = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let log_sum = max + out.iter().map(|score| (score - max).exp()).sum::<f64>().ln();
        for score in out {
            *score -= log_sum;
        }
    }
}

/// The descent to one minimum. Parameters are the intercepts, then the coefficients as in [`Softmax`].
struct Descent<'a> {
    problem: &'a Problem,
    n_outputs: usize,
    c: f64,
    /// C times the weight of every row.
    row_weight: Vec<f64>,
    /// Probability of every output on every row, at the point last evaluated.
    probabilities: Vec<f64>,
    /// Added to the curvature of a row, in units of its weight; at one half no step can overshoot.
    damping: f64,
}

/// Parameters, with the objective and its gradient there.
struct Point {
    at: Vec<f64>,
    objective: f64,
    gradient: Vec<f64>,
}

impl<'a> Descent<'a> {
    fn new(problem: &'a Problem, c: f64) -> Self {
        let weight = |outcomes: &[(u16, f64)]| c * outcomes.iter().map(|&(_, weight)| weight).sum::<f64>();
        let row_weight: Vec<f64> = problem.rows().map(|(_, outcomes)| weight(outcomes)).collect();
        let n_outputs = problem.n_outputs();
        let probabilities = vec![0.0; row_weight.len() * n_outputs];
        Self { problem, n_outputs, c, row_weight, probabilities, damping: 0.0 }
    }

    /// Goes down until the decrement, twice what is left to gain, is within the tolerance or lost in rounding.
    fn minimise(&mut self, start: Vec<f64>) -> Vec<f64> {
        let weight: f64 = self.row_weight.iter().sum();
        // Rows of little weight move the objective little, and are to be solved all the same.
        let tolerance = TOLERANCE * TOLERANCE * weight.min(1.0);
        let mut point = self.evaluate(start);
        let mut blocks = Blocks::new(self);
        let mut flat_steps = 0;
        for _ in 0..MAX_STEPS {
            let (direction, passes) = self.direction(&point.gradient, &blocks, tolerance);
            let decrement = -dot(&point.gradient, &direction);
            let damping = self.damping;
            flat_steps += 1;
            if decrement > tolerance {
                let mut at = point.at.clone();
                axpy(1.0, &direction, &mut at);
                let next = self.evaluate(at);
                let gain = point.objective - next.objective;
                // Close to the minimum the gradient still resolves what the objective no longer does: a step
                // that leaves the objective level is then good if it flattens the slope.
                let level = gain.abs() <= 1e-12 * point.objective + 1e-15 * weight;
                let flattens = dot(&next.gradient, &direction).abs() <= 0.9 * decrement;
                if gain >= 1e-4 * decrement || level && flattens {
                    point = next;
                    flat_steps *= usize::from(level);
                    if gain >= 0.4 * decrement {
                        self.damping = if damping > 1e-12 { 0.1 * damping } else { 0.0 };
                    }
                } else {
                    point = self.evaluate(point.at);
                    self.damping = (8.0 * damping).max(1e-3);
                }
            } else if damping > 0.0 {
                self.damping = 0.0;
            } else {
                break;
            }
            if flat_steps > MAX_FLAT_STEPS || self.damping > 1.0 {
                break;
            }
            if passes > STALE_PASSES || self.damping.to_bits() != damping.to_bits() {
                blocks = Blocks::new(self);
            }
        }
        point.at
    }

    /// The objective and its gradient; keeps the probabilities for the curvature.
    fn evaluate(&mut self, at: Vec<f64>) -> Point {
        let (c, n) = (self.c, self.n_outputs);
        let hidden = self.problem.n_classes - n;
        // Two classes: the first has no output, and a score of zero.
        let floor = if hidden == 1 { 0.0 } else { f64::NEG_INFINITY };
        let mut objective = 0.5 * dot(&at[n..], &at[n..]);
        let mut gradient = at.clone();
        gradient[..n].fill(0.0);
        let mut residual = vec![0.0; n];
        let rows = self.problem.rows().zip(&self.row_weight);
        for (((entries, outcomes), weight), p) in rows.zip(self.probabilities.chunks_exact_mut(n)) {
            p.fill(0.0);
            for &(i, x) in entries {
                axpy(x, &at[i as usize * n..][..n], p);
            }
            let max = p.iter().copied().fold(floor, f64::max);
            for &(class, w) in outcomes {
                let output = usize::from(class).checked_sub(hidden);
                objective += c * w * (max - output.map_or(0.0, |output| p[output]));
            }
            let mut sum = (floor - max).exp();
            for p in &mut *p {
                *p = (*p - max).exp();
                sum += *p;
            }
            objective += weight * sum.ln();
            for (p, residual) in p.iter_mut().zip(&mut residual) {
                *p /= sum;
                *residual = weight * *p;
            }
            for &(class, w) in outcomes {
                if let Some(output) = usize::from(class).checked_sub(hidden) {
                    residual[output] -= c * w;
                }
            }
            for &(i, x) in entries {
                axpy(x, &residual, &mut gradient[i as usize * n..][..n]);
            }
        }
        Point { at, objective, gradient }
    }

    /// Product of the curvature at the point last evaluated with a direction: one pass over the rows.
    fn curvature_times(&self, direction: &[f64], out: &mut [f64]) {
        let n = self.n_outputs;
        out.copy_from_slice(direction);
        out[..n].fill(0.0);
        let mut change = vec![0.0; n];
        let rows = self.problem.rows().zip(&self.row_weight);
        for (((entries, _), weight), p) in rows.zip(self.probabilities.chunks_exact(n)) {
            change.fill(0.0);
            for &(i, x) in entries {
                axpy(x, &direction[i as usize * n..][..n], &mut change);
            }
            let mean: f64 = p.iter().zip(&change).map(|(p, change)| p * change).sum();
            for (change, p) in change.iter_mut().zip(p) {
                *change = weight * (p * (*change - mean) + self.damping * *change);
            }
            for &(i, x) in entries {
                axpy(x, &change, &mut out[i as usize * n..][..n]);
            }
        }
    }

    /// Solves for the Newton step by conjugate gradients; says how many passes it took.
    ///
    /// Far from the minimum the step is solved roughly, for it will be corrected; near it, ever more exactly.
    fn direction(&self, gradient: &[f64], blocks: &Blocks, tolerance: f64) -> (Vec<f64>, usize) {
        let mut step = vec![0.0; gradient.len()];
        let mut product = step.clone();
        let mut rest: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut search = blocks.solve(&rest);
        let mut error = dot(&rest, &search);
        let target = (error * error.min(4e-4)).max(0.01 * tolerance);
        let mut passes = 0;
        while error > target && passes < MAX_PASSES {
            passes += 1;
            self.curvature_times(&search, &mut product);
            let curvature = dot(&search, &product);
            if curvature.is_nan() || curvature <= 0.0 {
                // Rounding has eaten it: go straight down, and let the damping see to the length.
                return (if passes == 1 { search } else { step }, passes);
            }
            axpy(error / curvature, &search, &mut step);
            axpy(-error / curvature, &product, &mut rest);
            let solved = blocks.solve(&rest);
            let last = std::mem::replace(&mut error, dot(&rest, &solved));
            for (search, solved) in search.iter_mut().zip(&solved) {
                *search = solved + error / last * *search;
            }
        }
        (step, passes)
    }
}

/// Takes the mean over the outputs away from each feature; a single output stands as it is.
fn centre(parameters: &mut [f64], n_outputs: usize) {
    if n_outputs > 1 {
        for outputs in parameters.chunks_exact_mut(n_outputs) {
            let mean = outputs.iter().sum::<f64>() / n_outputs as f64;
            for output in outputs {
                *output -= mean;
            }
        }
    }
}

/// Adds a multiple of one vector to another.
fn axpy(factor: f64, from: &[f64], to: &mut [f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

/// Inner product, in four interleaved sums so that vector instructions apply.
fn dot(left: &[f64], right: &[f64]) -> f64 {
    let (lefts, left_rest) = left.as_chunks::<4>();
    let (rights, right_rest) = right.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (left, right) in lefts.iter().zip(rights) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }
    let rest: f64 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two solutions, each within the tolerance.
    const CLOSE: f64 = 2.0 * TOLERANCE;

    /// Features and outcomes.
    type Pattern = (Vec<(u32, f64)>, Vec<(u16, f64)>);

    fn problem(n_features: usize, n_classes: u16, rows: &[Pattern]) -> Problem {
        let mut problem = Problem::new(n_features, n_classes.into());
        for (features, outcomes) in rows {
            problem.push(features.iter().copied(), outcomes.iter().copied());
        }
        problem
    }

    /// Two classifiers of three answers and a number, out of order; every class overlaps with others.
    fn mixed_rows(n_classes: u16) -> Vec<Pattern> {
        let row = |at: u16| {
            let answers = [(6, f64::from(at % 5) - 1.5), (at % 3, 1.0), (3 + at / 3 % 3, 1.0)];
            let features = answers.map(|(feature, value)| (u32::from(feature), value)).to_vec();
            (features, vec![(at % n_classes, f64::from(2 + at % 4)), (2 * at % n_classes, 1.0)])
        };
        (0..18).map(row).collect()
    }

    /// Largest entry of the gradient, from the log-probabilities alone.
    fn steepest(rows: &[Pattern], n_classes: u16, c: f64, model: &Softmax) -> f64 {
        let n = model.intercept.len();
        let mut gradient = [vec![0.0; n], model.coef.clone()].concat();
        let mut p = vec![0.0; n_classes.into()];
        for (features, outcomes) in rows {
            model.log_probabilities(features.iter().copied(), &mut p);
            for (output, (class, p)) in (0..n_classes).zip(&p).skip(p.len() - n).enumerate() {
                let pulls =
                    outcomes.iter().map(|&(seen, weight)| weight * (p.exp() - f64::from(seen == class)));
                let pull = c * pulls.sum::<f64>();
                gradient[output] += pull;
                for &(feature, value) in features {
                    gradient[(feature as usize + 1) * n + output] += pull * value;
                }
            }
        }
        distance(&gradient, &vec![0.0; gradient.len()])
    }

    fn distance(left: &[f64], right: &[f64]) -> f64 {
        assert_eq!(left.len(), right.len());
        left.iter().zip(right).fold(0.0, |max, (l, r)| if (l - r).abs() <= max { max } else { (l - r).abs() })
    }

    fn assert_close(left: &Softmax, right: &Softmax) {
        assert!(
            distance(&left.coef, &right.coef) < CLOSE && distance(&left.intercept, &right.intercept) < CLOSE
        );
    }

    #[test]
    fn gradient_and_curvature_are_the_differences_they_stand_for() {
        const STEP: f64 = 1e-5;
        for n_classes in [2, 3, 5] {
            let problem = problem(7, n_classes, &mixed_rows(n_classes));
            let mut descent = Descent::new(&problem, 0.7);
            let at: Vec<f64> = (0..8 * descent.n_outputs).map(|i| (i as f64).sin()).collect();
            for i in 0..at.len() {
                let [before, here, after] = [-STEP, 0.0, STEP].map(|step| {
                    let mut moved = at.clone();
                    moved[i] += step;
                    descent.evaluate(moved)
                });
                assert!(
                    ((after.objective - before.objective) / (2.0 * STEP) - here.gradient[i]).abs() < 1e-7
                );
                let bend: Vec<f64> = after
                    .gradient
                    .iter()
                    .zip(&before.gradient)
                    .map(|(a, b)| (a - b) / (2.0 * STEP))
                    .collect();
                let mut unit = vec![0.0; at.len()];
                unit[i] = 1.0;
                let mut column = unit.clone();
                descent.evaluate(at.clone());
                descent.curvature_times(&unit, &mut column);
                assert!(distance(&bend, &column) < 1e-7);
            }
        }
    }

    #[test]
    fn the_gradient_is_zero_at_the_optimum() {
        for (n_classes, c) in [(2, 0.01), (2, 100.0), (3, 1.0), (5, 0.01), (5, 100.0)] {
            let rows = mixed_rows(n_classes);
            let model = problem(7, n_classes, &rows).solve(c, None);
            assert!(steepest(&rows, n_classes, c, &model) < 1e-7);
            assert!(n_classes == 2 || model.intercept.iter().sum::<f64>().abs() < 1e-12);
        }
        // Too many features for full blocks.
        let rows: Vec<Pattern> =
            (0..60).map(|i: u16| (vec![(i.into(), 1.0), (60, 0.5)], vec![(i % 3, 1.0)])).collect();
        let wide = problem(61, 3, &rows);
        assert_eq!(Blocks::new(&Descent::new(&wide, 1.0)).side, 1);
        assert!(steepest(&rows, 3, 10.0, &wide.solve(10.0, None)) < 1e-7);
    }

    #[test]
    fn small_cases_have_the_answers_of_pen_and_paper() {
        let two = problem(0, 2, &[(vec![], vec![(0, 3.0), (1, 12.0)])]).solve(1.0, None);
        assert!(distance(&two.intercept, &[4_f64.ln()]) < CLOSE);
        let three = problem(0, 3, &[(vec![], vec![(0, 1.0), (1, 2.0), (2, 4.0)])]).solve(1.0, None);
        assert!(distance(&three.intercept, &[-2_f64.ln(), 0.0, 2_f64.ln()]) < CLOSE);
        // Mirror images: no intercept, and w = 2 C / (1 + e^w), which w = 1 solves at this C.
        let rows = [(vec![(0, 1.0)], vec![(1, 1.0)]), (vec![(0, -1.0)], vec![(0, 1.0)])];
        let mirror = problem(1, 2, &rows).solve(f64::midpoint(1.0, 1_f64.exp()), None);
        assert_close(&mirror, &Softmax { coef: vec![1.0], intercept: vec![0.0] });
        let mut log = [0.0; 2];
        mirror.log_probabilities([(0, 1.0)].into_iter(), &mut log);
        assert!((log[1] + (-1_f64).exp().ln_1p()).abs() < CLOSE && (log[1] - log[0] - 1.0).abs() < CLOSE);
        let certain = problem(1, 1, &[(vec![(0, 1.0)], vec![(0, 5.0)])]).solve(1.0, None);
        assert_eq!(certain, Softmax { coef: vec![0.0], intercept: vec![0.0] });
    }

    #[test]
    fn a_weight_is_a_number_of_repetitions() {
        let rows = mixed_rows(3);
        let mut repeated = Vec::new();
        for (features, outcomes) in &rows {
            for &(class, weight) in outcomes {
                repeated.extend(vec![(features.clone(), vec![(class, 1.0)]); weight as usize]);
            }
        }
        assert_close(&problem(7, 3, &rows).solve(2.0, None), &problem(7, 3, &repeated).solve(2.0, None));
    }

    #[test]
    fn a_warm_start_leads_to_the_same_optimum() {
        for n_classes in [2, 4] {
            let problem = problem(7, n_classes, &mixed_rows(n_classes));
            let cold = problem.solve(3.0, None);
            for c in [0.01, 2.7, 100.0] {
                assert_close(&problem.solve(3.0, Some(&problem.solve(c, None))), &cold);
            }
        }
    }

    #[test]
    fn renaming_classes_renames_the_outputs() {
        let rows = mixed_rows(4);
        let mut renamed = rows.clone();
        renamed.iter_mut().flat_map(|row| &mut row.1).for_each(|outcome| outcome.0 = (outcome.0 + 1) % 4);
        let mut model = problem(7, 4, &renamed).solve(5.0, None);
        model.coef.chunks_exact_mut(4).for_each(|outputs| outputs.rotate_left(1));
        model.intercept.rotate_left(1);
        assert_close(&model, &problem(7, 4, &rows).solve(5.0, None));
    }

    #[test]
    fn extreme_problems_stay_finite() {
        for (n_classes, c) in [(2, 0.01), (2, 100.0), (3, 0.01), (3, 100.0), (40, 0.01), (40, 100.0)] {
            for weights in [[1.0, 1.0], [1e12, 1e12], [1e-9, 1e-9], [1e-9, 1e12]] {
                // A number and its copy, a constant, and a feature never seen; separable, then all alike.
                for spread in [1, 0] {
                    let row = |class: u16| {
                        let number = f64::from(class * spread);
                        let outcome = (class, weights[usize::from(class % 2)]);
                        (vec![(0, number), (1, number), (2, 1.0)], vec![outcome])
                    };
                    let rows: Vec<Pattern> = (0..n_classes).map(row).collect();
                    let model = problem(4, n_classes, &rows).solve(c, None);
                    assert!(model.coef.iter().chain(&model.intercept).all(|value| value.is_finite()));
                    let outputs: Vec<&[f64]> = model.coef.chunks_exact(model.intercept.len()).collect();
                    assert!(
                        distance(outputs[0], outputs[1]) < 1e-6
                            && outputs[3].iter().all(|&value| value == 0.0)
                    );
                    let pull = c * weights[1] * f64::from(n_classes * n_classes);
                    assert!(steepest(&rows, n_classes, c, &model) < 1e-6 + 1e-13 * pull);
                }
            }
        }
    }
}
