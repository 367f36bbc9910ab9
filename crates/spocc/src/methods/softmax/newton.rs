//! Newton's method with conjugate gradients, all outputs of a feature side by side.
//!
//! Outputs are held in chunks of `N`, the last one padded. Padded outputs have probability 0, so their gradient and
//! coefficients stay 0.

use super::{
    Softmax, SoftmaxProblem,
    preconditioner::Blocks,
    vector::{add, axpy, dot},
};
use crate::math::{exp, exponentials, ln};

/// Largest error of a solution, in the norm of the curvature. That norm is at least the Euclidean norm of the coefficients,
/// so no coefficient is further than this from its optimum.
pub(super) const TOLERANCE: f64 = 1e-8;

/// Newton steps before giving up. Four are typical; separable classes with a weight of 1e12 take forty.
const MAX_STEPS: usize = 300;

/// Consecutive steps without a lower objective, after which only rounding is left.
const MAX_FLAT_STEPS: usize = 12;

/// Passes of conjugate gradients for one Newton step; an unfinished step still descends.
const MAX_PASSES: usize = 500;

/// Scaled versions of the naive Bayes start that are tried.
const MAX_STARTS: usize = 10;

/// Scores this far below the best are raised to it, so that every probability is positive.
const LEAST_SCORE: f64 = -200.0;

/// Passes above which the preconditioner is computed anew.
const STALE_PASSES: usize = 15;

/// The solver of one problem at one strength after another. Parameters are the intercepts, then the coefficients, each
/// with a value per output, padded.
pub(super) struct NewtonSolver<'a, const N: usize> {
    pub(super) problem: &'a SoftmaxProblem,
    pub(super) n_outputs: usize,
    /// Chunks of outputs per feature.
    pub(super) chunks: usize,
    c: f64,
    /// C times the weight of every row.
    pub(super) row_weight: Vec<f64>,
    /// Probability of every output on every row, at the last point evaluated.
    pub(super) probabilities: Vec<[f64; N]>,
    /// Added to the curvature of a row, in units of its weight. At one half no step can overshoot.
    pub(super) damping: f64,
    /// Sums of the nodes of the design.
    sums: Vec<[f64; N]>,
    /// The preconditioner and the C that it was computed for.
    blocks: Option<(f64, Blocks)>,
}

/// A point of the search, with its objective and gradient.
pub(super) struct Iterate {
    pub(super) at: Vec<f64>,
    pub(super) objective: f64,
    pub(super) gradient: Vec<f64>,
}

impl<'a, const N: usize> NewtonSolver<'a, N> {
    pub(super) fn new(problem: &'a SoftmaxProblem) -> Self {
        let n_outputs = problem.n_outputs();
        let chunks = n_outputs.div_ceil(N);
        let probabilities = vec![[0.0; N]; problem.rows.len() * chunks];
        let row_weight = vec![0.0; problem.rows.len()];
        let (sums, blocks) = (Vec::new(), None);
        Self { problem, n_outputs, chunks, c: 0.0, row_weight, probabilities, damping: 0.0, sums, blocks }
    }

    /// The minimum for one strength of the data against the penalty, C.
    ///
    /// A start, such as an extrapolation of the solutions at neighbouring C, saves passes and does not change the solution.
    pub(super) fn solve(&mut self, c: f64, start: Option<&Softmax>) -> Softmax {
        self.set_strength(c);
        let (n, stride) = (self.n_outputs, self.stride());
        let mut at = match start {
            Some(start) => start.padded(stride),
            None => self.start(),
        };
        self.centre(&mut at);
        at = self.minimise(at);
        self.centre(&mut at);
        let mut coef: Vec<f64> = at.chunks_exact(stride).flat_map(|outputs| &outputs[..n]).copied().collect();
        let intercept = coef.drain(..n).collect();
        Softmax { coef, intercept }
    }

    pub(super) fn set_strength(&mut self, c: f64) {
        self.c = c;
        self.damping = 0.0;
        for (weight, (_, outcomes)) in self.row_weight.iter_mut().zip(self.problem.rows()) {
            *weight = c * outcomes.iter().map(|&(_, weight)| weight).sum::<f64>();
        }
    }

    /// Values per feature: its outputs, padded.
    pub(super) fn stride(&self) -> usize {
        self.chunks * N
    }

    /// Subtracts the mean over the outputs from each feature; a single output is left as it is.
    pub(super) fn centre(&self, parameters: &mut [f64]) {
        let n = self.n_outputs;
        if n > 1 {
            for outputs in parameters.chunks_exact_mut(self.stride()) {
                let outputs = &mut outputs[..n];
                let mean = outputs.iter().sum::<f64>() / n as f64;
                outputs.iter_mut().for_each(|output| *output -= mean);
            }
        }
    }

    /// A cold start. If all features are indicators it is naive Bayes, which is the solution for independent predictions
    /// and a small penalty, scaled down while that lowers the objective; otherwise it is zero.
    fn start(&mut self) -> Vec<f64> {
        let (n, c, stride) = (self.n_outputs, self.c, self.stride());
        let zero = vec![0.0; (self.problem.design.n_features + 1) * stride];
        if !self.problem.design.is_indicator() {
            return zero;
        }
        let (counts, totals) = self.problem.counts::<N>(self.chunks);
        let log = |seen: f64, of: f64| ln((c * seen + 1.0) / (c * of + 2.0));
        let class_counts = counts[..n].to_vec();
        let mut guess = zero.clone();
        for (at, ((to, seen), total)) in
            guess.chunks_exact_mut(stride).zip(counts.chunks_exact(stride)).zip(&totals).enumerate()
        {
            for ((to, &seen), &of) in to.iter_mut().zip(seen).zip(&class_counts).filter(|_| *total > 0.0) {
                let [of, rest] = if at == 0 { [totals[0]; 2] } else { [of, totals[0] - of] };
                *to = log(seen, of) - if n == 1 { log(total - seen, rest) } else { 0.0 };
            }
        }
        self.centre(&mut guess);
        let mut best = self.row_weight.iter().sum::<f64>() * ln(self.problem.n_classes as f64);
        let mut start = None;
        for _ in 0..MAX_STARTS {
            let point = self.evaluate(guess);
            guess = point.at.iter().map(|value| 0.7 * value).collect();
            if point.objective < best {
                best = point.objective;
                start = Some(point.at);
            } else if start.is_some() {
                break;
            }
        }
        start.unwrap_or(zero)
    }

    /// Descends until the Newton decrement, twice the remaining gain, is within the tolerance or lost in rounding.
    fn minimise(&mut self, start: Vec<f64>) -> Vec<f64> {
        let weight: f64 = self.row_weight.iter().sum();
        // Rows of small total weight change the objective little, but must be solved as exactly.
        let tolerance = TOLERANCE * TOLERANCE * weight.min(1.0);
        let mut point = self.evaluate(start);
        let is_near = |made_for: f64| (0.5..2.0).contains(&(self.c / made_for));
        let known = self.blocks.take().filter(|(made_for, _)| is_near(*made_for));
        let (mut made_for, mut blocks) = known.unwrap_or_else(|| (self.c, Blocks::new(self)));
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
                // Close to the minimum the gradient resolves what the objective no longer does: a step that leaves the
                // objective level is accepted if it flattens the slope.
                let level = gain.abs() <= 1e-12 * point.objective + 1e-15 * weight;
                let flattens = dot(&next.gradient, &direction).abs() <= 0.9 * decrement;
                if gain >= 1e-4 * decrement || level && flattens {
                    point = next;
                    flat_steps *= usize::from(level);
                    if gain >= 0.4 * decrement {
                        self.damping = if damping > 1e-11 { 0.01 * damping } else { 0.0 };
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
            // A damping that is small beside the penalty does not need another preconditioner.
            let is_damped_otherwise = self.damping != damping && self.damping.max(damping) * weight > 1.0;
            if passes > STALE_PASSES || is_damped_otherwise {
                (made_for, blocks) = (self.c, Blocks::new(self));
            }
        }
        self.blocks = Some((made_for, blocks));
        point.at
    }

    /// The objective and its gradient; stores the probabilities for the curvature.
    pub(super) fn evaluate(&mut self, at: Vec<f64>) -> Iterate {
        let (c, n, chunks) = (self.c, self.n_outputs, self.chunks);
        let problem = self.problem;
        let hidden = problem.n_classes - n;
        // Of two classes the first has no output and a score of zero.
        let floor = if hidden == 1 { 0.0 } else { f64::NEG_INFINITY };
        let mut objective = 0.5 * dot(&at[self.stride()..], &at[self.stride()..]);
        let mut gradient = at.clone();
        gradient[..self.stride()].fill(0.0);
        let mut sums = std::mem::take(&mut self.sums);
        problem.design.spread(at.as_chunks::<N>().0, chunks, &mut sums);
        let mut slopes = vec![[0.0; N]; sums.len()];
        let rows = problem.rows().zip(&self.row_weight);
        for (((leaves, outcomes), weight), p) in rows.zip(self.probabilities.chunks_exact_mut(chunks)) {
            for (chunk, p) in p.iter_mut().enumerate() {
                *p = [0.0; N];
                for &leaf in leaves {
                    add(1.0, &sums[leaf as usize * chunks + chunk], p);
                }
            }
            let scores = p.as_flattened();
            let larger = |a: f64, b: f64| if a > b { a } else { b };
            let max = scores[..n].iter().copied().fold(floor, larger);
            for &(class, w) in outcomes {
                let output = usize::from(class).checked_sub(hidden);
                objective += c * w * (max - output.map_or(0.0, |output| scores[output]));
            }
            let mut sum = if hidden == 1 { exp(floor - max) } else { 0.0 };
            for p in p.iter_mut() {
                p.iter_mut().for_each(|p| *p = larger(*p - max, LEAST_SCORE));
                exponentials(p);
            }
            let p = p.as_flattened_mut();
            p[n..].fill(0.0);
            sum += p.iter().sum::<f64>();
            objective += weight * ln(sum);
            let (p, _) = p.as_chunks_mut::<N>();
            for (chunk, p) in p.iter_mut().enumerate() {
                *p = p.map(|p| p / sum);
                let mut slope = p.map(|p| weight * p);
                for &(class, w) in outcomes {
                    if let Some(output) = usize::from(class).checked_sub(hidden + chunk * N)
                        && output < N
                    {
                        slope[output] -= c * w;
                    }
                }
                for &leaf in leaves {
                    add(1.0, &slope, &mut slopes[leaf as usize * chunks + chunk]);
                }
            }
        }
        problem.design.collect(&mut slopes, chunks, gradient.as_chunks_mut::<N>().0);
        self.sums = sums;
        Iterate { at, objective, gradient }
    }

    /// The curvature at the last point evaluated times a direction: one pass over the rows.
    pub(super) fn curvature_times(
        &self,
        direction: &[f64],
        out: &mut [f64],
        scratch: &mut CurvatureScratch<N>,
    ) {
        let chunks = self.chunks;
        let design = &self.problem.design;
        out.copy_from_slice(direction);
        out[..self.stride()].fill(0.0);
        design.spread(direction.as_chunks::<N>().0, chunks, &mut scratch.sums);
        scratch.slopes.clear();
        scratch.slopes.resize(scratch.sums.len(), [0.0; N]);
        let (sums, slopes) = (scratch.sums.as_slice(), scratch.slopes.as_mut_slice());
        let mut change = vec![[0.0; N]; chunks];
        let rows = self.problem.rows().zip(&self.row_weight);
        for (((leaves, _), weight), p) in rows.zip(self.probabilities.chunks_exact(chunks)) {
            let mut mean = 0.0;
            for ((chunk, change), p) in change.iter_mut().enumerate().zip(p) {
                let mut sum = [0.0; N];
                for &leaf in leaves {
                    add(1.0, &sums[leaf as usize * chunks + chunk], &mut sum);
                }
                mean += sum.iter().zip(p).map(|(sum, p)| sum * p).sum::<f64>();
                *change = sum;
            }
            for ((chunk, change), p) in change.iter().enumerate().zip(p) {
                let slope: [f64; N] = std::array::from_fn(|at| {
                    weight * (p[at] * (change[at] - mean) + self.damping * change[at])
                });
                for &leaf in leaves {
                    add(1.0, &slope, &mut slopes[leaf as usize * chunks + chunk]);
                }
            }
        }
        design.collect(slopes, chunks, out.as_chunks_mut::<N>().0);
    }

    /// The Newton step by conjugate gradients, and the passes that it took.
    ///
    /// Far from the minimum the step is solved roughly, near it ever more exactly.
    fn direction(&self, gradient: &[f64], blocks: &Blocks, tolerance: f64) -> (Vec<f64>, usize) {
        let mut step = vec![0.0; gradient.len()];
        let mut product = step.clone();
        let mut scratch = CurvatureScratch::default();
        let mut rest: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut search = blocks.solve(self, &rest);
        let mut error = dot(&rest, &search);
        let target = (error * error.min(4e-4)).max(0.01 * tolerance);
        let mut passes = 0;
        while error > target && passes < MAX_PASSES {
            passes += 1;
            self.curvature_times(&search, &mut product, &mut scratch);
            let curvature = dot(&search, &product);
            if curvature.is_nan() || curvature <= 0.0 {
                // The curvature is lost in rounding: take the preconditioned gradient and let the damping limit its length.
                return (if passes == 1 { search } else { step }, passes);
            }
            axpy(error / curvature, &search, &mut step);
            axpy(-error / curvature, &product, &mut rest);
            let solved = blocks.solve(self, &rest);
            let last = std::mem::replace(&mut error, dot(&rest, &solved));
            for (search, solved) in search.iter_mut().zip(&solved) {
                *search = solved + error / last * *search;
            }
        }
        (step, passes)
    }
}

/// Buffers of [`NewtonSolver::curvature_times`]: values per node of the design.
#[derive(Default)]
pub(super) struct CurvatureScratch<const N: usize> {
    sums: Vec<[f64; N]>,
    slopes: Vec<[f64; N]>,
}
