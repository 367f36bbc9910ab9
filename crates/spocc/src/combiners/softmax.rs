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
//! intercept) and misses only how the outputs do; on two classes it is the whole curvature. Sums run in a
//! fixed order on one thread: same input, same bits.

/// Largest error that may remain, in the norm of the curvature; that norm is at least the plain norm of the
/// coefficients, so no coefficient is further than this from its optimum.
const TOLERANCE: f64 = 1e-8;

/// Newton steps before giving up; some ten are normal and some forty needed when a weight of 1e12 is separable.
const MAX_STEPS: usize = 300;

/// Conjugate-gradient passes for one Newton step; a step left unfinished is still downhill.
const MAX_PASSES: usize = 500;

/// Passes for one step above which the preconditioner is out of date and is made again.
const STALE_PASSES: usize = 15;

const DAMPING_MIN: f64 = 1e-12;
const DAMPING_MAX: f64 = 0.5;

/// Weighted patterns to be explained.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    n_features: usize,
    n_classes: usize,
    /// Where the entries of each row start in `index` and `value`, and a last end.
    starts: Vec<usize>,
    /// Zero for the constant that carries the intercept, else one more than the feature.
    index: Vec<u32>,
    value: Vec<f64>,
    /// Where the outcomes of each row start in `class` and `weight`, and a last end.
    outcome_starts: Vec<usize>,
    class: Vec<u16>,
    weight: Vec<f64>,
    /// Sum of the outcome weights of each row.
    row_weight: Vec<f64>,
}

/// A fitted regression: a score per output is its intercept plus the coefficients of the features times their
/// values.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Softmax {
    /// Coefficients, all outputs of the first feature, then of the second, and so on.
    pub(crate) coef: Vec<f64>,
    /// One intercept per output: one output for two classes, else one per class.
    pub(crate) intercept: Vec<f64>,
}

impl Problem {
    /// An empty problem.
    pub(crate) fn new(n_features: usize, n_classes: usize) -> Self {
        Self {
            n_features,
            n_classes,
            starts: vec![0],
            index: Vec::new(),
            value: Vec::new(),
            outcome_starts: vec![0],
            class: Vec::new(),
            weight: Vec::new(),
            row_weight: Vec::new(),
        }
    }

    /// Adds a row: its features, none named twice, and the weight of each class seen on it.
    pub(crate) fn push(
        &mut self,
        features: impl Iterator<Item = (u32, f64)>,
        outcomes: impl Iterator<Item = (u16, f64)>,
    ) {
        let first = self.index.len();
        self.index.push(0);
        self.value.push(1.0);
        for (feature, value) in features {
            debug_assert!((feature as usize) < self.n_features, "feature {feature} is out of range");
            self.index.push(feature + 1);
            self.value.push(value);
        }
        // The preconditioner fills the upper half of its blocks only, hence wants ascending entries.
        if !self.index[first..].is_sorted() {
            let mut entries: Vec<_> = self.index.drain(first..).zip(self.value.drain(first..)).collect();
            entries.sort_unstable_by_key(|&(index, _)| index);
            for (index, value) in entries {
                self.index.push(index);
                self.value.push(value);
            }
        }
        self.starts.push(self.index.len());
        let mut row_weight = 0.0;
        for (class, weight) in outcomes {
            debug_assert!(usize::from(class) < self.n_classes, "class {class} is out of range");
            self.class.push(class);
            self.weight.push(weight);
            row_weight += weight;
        }
        self.outcome_starts.push(self.class.len());
        self.row_weight.push(row_weight);
    }

    /// The minimum for one strength of the data against the penalty, C.
    ///
    /// A start, say the solution of a neighbouring C, saves passes and leaves the answer alone. Every class is
    /// meant to have a positive weight; with fewer than two classes there is nothing to learn and all is zero.
    pub(crate) fn solve(&self, c: f64, start: Option<&Softmax>) -> Softmax {
        let n_outputs = self.n_outputs();
        let mut totals = vec![0.0; self.n_classes];
        for (&class, weight) in self.class.iter().zip(&self.weight) {
            totals[usize::from(class)] += weight;
        }
        let mut at = self.starting_point(start, &totals);
        if self.n_classes > 1 {
            // Rows of little weight move the objective little, and are to be solved all the same.
            let tolerance = TOLERANCE * TOLERANCE * (c * totals.iter().sum::<f64>()).min(1.0);
            at = Descent::new(self, c).minimise(at, tolerance);
            centre(&mut at, n_outputs);
        }
        let coef = at.split_off(n_outputs);
        Softmax { coef, intercept: at }
    }

    /// Parameters to start from; without a solution nearby, those of rows that tell nothing.
    fn starting_point(&self, start: Option<&Softmax>, totals: &[f64]) -> Vec<f64> {
        let n_outputs = self.n_outputs();
        let mut at = vec![0.0; (self.n_features + 1) * n_outputs];
        let (intercept, coef) = at.split_at_mut(n_outputs);
        if let Some(start) = start.filter(|s| s.coef.len() == coef.len() && s.intercept.len() == n_outputs) {
            intercept.copy_from_slice(&start.intercept);
            coef.copy_from_slice(&start.coef);
        } else if self.n_classes > 1 {
            let log = |total: f64| total.max(f64::MIN_POSITIVE).ln();
            let reference = if n_outputs == 1 { log(totals[0]) } else { 0.0 };
            for (intercept, &total) in intercept.iter_mut().rev().zip(totals.iter().rev()) {
                *intercept = log(total) - reference;
            }
        }
        centre(&mut at, n_outputs);
        at
    }

    fn n_outputs(&self) -> usize {
        if self.n_classes == 2 { 1 } else { self.n_classes }
    }

    fn entries(&self, row: usize) -> (&[u32], &[f64]) {
        let range = self.starts[row]..self.starts[row + 1];
        (&self.index[range.clone()], &self.value[range])
    }

    fn outcomes(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.outcome_starts[row]..self.outcome_starts[row + 1];
        self.class[range.clone()]
            .iter()
            .map(|&class| usize::from(class))
            .zip(self.weight[range].iter().copied())
    }
}

impl Softmax {
    /// Writes `ln p` of every class for one row; `out` has a place per class.
    pub(crate) fn log_probabilities(&self, features: impl Iterator<Item = (u32, f64)>, out: &mut [f64]) {
        let n_outputs = self.intercept.len();
        // With a single output the first of two classes has a score of zero.
        let (reference, scores) = out.split_at_mut(out.len() - n_outputs);
        reference.fill(0.0);
        scores.copy_from_slice(&self.intercept);
        for (feature, value) in features {
            axpy(value, &self.coef[feature as usize * n_outputs..][..n_outputs], scores);
        }
        let max = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let log_sum = max + out.iter().map(|score| (score - max).exp()).sum::<f64>().ln();
        out.iter_mut().for_each(|score| *score -= log_sum);
    }
}

/// The descent to one minimum. Parameters are the intercepts, then the coefficients as in [`Softmax`].
struct Descent<'a> {
    problem: &'a Problem,
    c: f64,
    n_outputs: usize,
    damping: f64,
    /// Probability of every output on every row, at the point last evaluated.
    probabilities: Vec<f64>,
}

/// Parameters, with the objective and its gradient there.
struct Point {
    at: Vec<f64>,
    objective: f64,
    gradient: Vec<f64>,
}

impl<'a> Descent<'a> {
    fn new(problem: &'a Problem, c: f64) -> Self {
        let n_outputs = problem.n_outputs();
        Self {
            problem,
            c,
            n_outputs,
            damping: 0.0,
            probabilities: vec![0.0; problem.row_weight.len() * n_outputs],
        }
    }

    /// Goes down until the decrement, twice what is left to gain, is within the tolerance or drowns in rounding.
    ///
    /// Close to the minimum the objective no longer resolves what the gradient still does: a step that leaves
    /// the objective level is then good if it flattens the slope.
    fn minimise(&mut self, start: Vec<f64>, tolerance: f64) -> Vec<f64> {
        let mut point = self.evaluate(start);
        let mut blocks = Blocks::new(self);
        let mut flat = 0;
        for _ in 0..MAX_STEPS {
            let (direction, passes) = self.direction(&point.gradient, &blocks, tolerance);
            let decrement = -dot(&point.gradient, &direction);
            let damping = self.damping;
            let mut at = point.at.clone();
            axpy(1.0, &direction, &mut at);
            if decrement <= tolerance {
                if damping == 0.0 {
                    break;
                }
                self.damping = 0.0;
            } else {
                let next = self.evaluate(at);
                let gain = point.objective - next.objective;
                let level = gain.abs() <= 1e-12 * point.objective;
                flat = if level { flat + 1 } else { 0 };
                if flat > 12 {
                    break;
                }
                if gain >= 1e-4 * decrement
                    || level && dot(&next.gradient, &direction).abs() <= 0.9 * decrement
                {
                    point = next;
                    if gain >= 0.4 * decrement {
                        self.damping = if damping > DAMPING_MIN { damping / 10.0 } else { 0.0 };
                    } else if gain < 0.1 * decrement && !level {
                        self.damping = (damping * 4.0).clamp(DAMPING_MIN, DAMPING_MAX);
                    }
                } else if damping < DAMPING_MAX {
                    self.damping = (damping * 8.0).clamp(1e-3, DAMPING_MAX);
                    point = self.evaluate(point.at);
                } else {
                    break;
                }
            }
            if passes > STALE_PASSES || self.damping != damping {
                blocks = Blocks::new(self);
            }
        }
        point.at
    }

    /// The objective and its gradient; keeps the probabilities for the curvature.
    fn evaluate(&mut self, at: Vec<f64>) -> Point {
        let (problem, c, n) = (self.problem, self.c, self.n_outputs);
        let hidden = problem.n_classes - n;
        // The first of two classes has no output, and a score of zero.
        let floor = if hidden == 1 { 0.0 } else { f64::NEG_INFINITY };
        let mut gradient = at.clone();
        gradient[..n].fill(0.0);
        let mut residual = vec![0.0; n];
        let mut loss = 0.0;
        for (row, p) in self.probabilities.chunks_exact_mut(n).enumerate() {
            let (index, value) = problem.entries(row);
            p.fill(0.0);
            for (&i, &x) in index.iter().zip(value) {
                axpy(x, &at[i as usize * n..][..n], p);
            }
            let max = p.iter().copied().fold(floor, f64::max);
            for (class, weight) in problem.outcomes(row) {
                loss += weight * (max - if class < hidden { 0.0 } else { p[class - hidden] });
            }
            let mut sum = (floor - max).exp();
            for p in p.iter_mut() {
                *p = (*p - max).exp();
                sum += *p;
            }
            let row_weight = problem.row_weight[row];
            loss += row_weight * sum.ln();
            for (p, residual) in p.iter_mut().zip(&mut residual) {
                *p /= sum;
                *residual = c * row_weight * *p;
            }
            for (class, weight) in problem.outcomes(row) {
                if class >= hidden {
                    residual[class - hidden] -= c * weight;
                }
            }
            for (&i, &x) in index.iter().zip(value) {
                axpy(x, &residual, &mut gradient[i as usize * n..][..n]);
            }
        }
        let objective = c * loss + 0.5 * dot(&at[n..], &at[n..]);
        Point { at, objective, gradient }
    }

    /// Product of the curvature at the point last evaluated with a direction: one pass over the rows.
    fn curvature_times(&self, direction: &[f64], out: &mut [f64]) {
        let n = self.n_outputs;
        out.copy_from_slice(direction);
        out[..n].fill(0.0);
        let mut change = vec![0.0; n];
        for (row, p) in self.probabilities.chunks_exact(n).enumerate() {
            let (index, value) = self.problem.entries(row);
            change.fill(0.0);
            for (&i, &x) in index.iter().zip(value) {
                axpy(x, &direction[i as usize * n..][..n], &mut change);
            }
            let mean: f64 = p.iter().zip(&change).map(|(p, change)| p * change).sum();
            let weight = self.c * self.problem.row_weight[row];
            for (change, p) in change.iter_mut().zip(p) {
                *change = weight * (p * (*change - mean) + self.damping * *change);
            }
            for (&i, &x) in index.iter().zip(value) {
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
                if passes == 1 {
                    step = search;
                }
                break;
            }
            let length = error / curvature;
            axpy(length, &search, &mut step);
            axpy(-length, &product, &mut rest);
            let solved = blocks.solve(&rest);
            let last = std::mem::replace(&mut error, dot(&rest, &solved));
            for (search, solved) in search.iter_mut().zip(&solved) {
                *search = solved + error / last * *search;
            }
        }
        (step, passes)
    }
}

/// The preconditioner: the curvature of each output on its own, factored.
struct Blocks {
    n_outputs: usize,
    /// Side of a block: all features, or 1 where that would cost more than it saves.
    side: usize,
    /// Per output its blocks, each upper triangular `U` of `U' D^-1 U` with the inverse of `D` on the diagonal.
    factors: Vec<f64>,
}

impl Blocks {
    fn new(descent: &Descent<'_>) -> Self {
        let (problem, n_outputs) = (descent.problem, descent.n_outputs);
        let n = problem.n_features + 1;
        // Factoring grows with the cube of the side, the passes saved with the entries; 2^22 floats are 32 MB.
        let affordable = n.pow(3) <= 800 * problem.index.len() && n_outputs * n * n <= 1 << 22;
        let side = if affordable { n } else { 1 };
        let mut factors = vec![0.0; n_outputs * n * side];
        for (output, blocks) in factors.chunks_exact_mut(n * side).enumerate() {
            let probabilities = descent.probabilities[output..].iter().step_by(n_outputs);
            for (row, (p, weight)) in probabilities.zip(&problem.row_weight).enumerate() {
                let (index, value) = problem.entries(row);
                // A probability of one is known to rounding only, and the intercept needs a mass.
                let mass = descent.c * weight * (p * (1.0 - p).max(f64::EPSILON) + descent.damping);
                for (k, (&i, x)) in index.iter().zip(value).enumerate() {
                    let target = &mut blocks[i as usize * side..][..side];
                    if side == 1 {
                        target[0] += mass * x * x;
                    } else {
                        for (&j, y) in index[k..].iter().zip(&value[k..]) {
                            target[j as usize] += mass * x * y;
                        }
                    }
                }
            }
            // The penalty spares the intercept, which comes first and lacks mass only by underflow.
            for i in 1..n {
                blocks[i * side + i % side] += 1.0;
            }
            blocks[0] = blocks[0].max(f64::MIN_POSITIVE.sqrt());
            blocks.chunks_exact_mut(side * side).for_each(|block| factor(block, side));
        }
        Self { n_outputs, side, factors }
    }

    /// Solves each block for its part of the right-hand side, and centres the outputs.
    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let (n, side) = (self.n_outputs, self.side);
        let mut out = vec![0.0; right.len()];
        let mut x = vec![0.0; right.len() / n];
        for (output, blocks) in self.factors.chunks_exact(x.len() * side).enumerate() {
            x.iter_mut().zip(right[output..].iter().step_by(n)).for_each(|(x, right)| *x = *right);
            for (x, block) in x.chunks_exact_mut(side).zip(blocks.chunks_exact(side * side)) {
                for (k, row) in block.chunks_exact(side).enumerate() {
                    axpy(-x[k] * row[k], &row[k + 1..], &mut x[k + 1..]);
                }
                for (k, row) in block.chunks_exact(side).enumerate().rev() {
                    x[k] = (x[k] - dot(&row[k + 1..], &x[k + 1..])) * row[k];
                }
            }
            out[output..].iter_mut().step_by(n).zip(&x).for_each(|(out, x)| *out = *x);
        }
        centre(&mut out, n);
        out
    }
}

/// Factors a symmetric matrix, given by its upper half, in place.
///
/// The penalty makes every pivot after the first at least one; smaller is rounding, of weights so large that
/// they hide the penalty, and is put right.
fn factor(block: &mut [f64], side: usize) {
    for k in 0..side {
        let (above, row) = block.split_at_mut(k * side);
        let row = &mut row[k..side];
        for (i, above) in above.chunks_exact(side).enumerate() {
            axpy(-above[k] * above[i], &above[k..], row);
        }
        row[0] = 1.0 / if k == 0 { row[0] } else { row[0].max(1.0) };
    }
}

/// Takes the mean over the outputs away from each feature; a single output stands as it is.
fn centre(parameters: &mut [f64], n_outputs: usize) {
    if n_outputs > 1 {
        for outputs in parameters.chunks_exact_mut(n_outputs) {
            let mean = outputs.iter().sum::<f64>() / n_outputs as f64;
            outputs.iter_mut().for_each(|output| *output -= mean);
        }
    }
}

/// Adds a multiple of one vector to another.
fn axpy(factor: f64, from: &[f64], to: &mut [f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

/// Inner product, in four interleaved sums so that it can use vector instructions.
fn dot(left: &[f64], right: &[f64]) -> f64 {
    let (lefts, left_rest) = left.as_chunks::<4>();
    let (rights, right_rest) = right.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (left, right) in lefts.iter().zip(rights) {
        for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += left * right;
        }
    }
    let rest: f64 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f64>() + rest
}
