//! The descent to a minimum, with the outputs of a feature side by side.
//!
//! Outputs are held in chunks of `N`, the last one padded: padded outputs have the probability 0, so that all
//! that concerns them stays 0.

use super::{Softmax, SoftmaxProblem, design::add, preconditioner::Blocks};
use crate::math::{exp, ln};

/// Largest error that may remain, in the norm of the curvature; that norm is at least the plain norm of the
/// coefficients, so no coefficient is further than this from its optimum.
pub(super) const TOLERANCE: f64 = 1e-8;

/// Newton steps before giving up: four are normal, forty if a weight of 1e12 is separable.
const MAX_STEPS: usize = 300;

/// Steps in a row without a lower objective, after which rounding is all there is.
const MAX_FLAT_STEPS: usize = 12;

/// Passes for one Newton step; left unfinished, it still goes down.
const MAX_PASSES: usize = 500;

/// How often a guess is weakened at most.
const MAX_GUESSES: usize = 10;

/// Passes above which the preconditioner is out of date.
const STALE_PASSES: usize = 15;

/// The descent to one minimum after another. Parameters are the intercepts, then the coefficients, each with a
/// place for every output and for padding.
pub(super) struct Descent<'a, const N: usize> {
    pub(super) problem: &'a SoftmaxProblem,
    pub(super) n_outputs: usize,
    /// Chunks of outputs.
    pub(super) chunks: usize,
    c: f64,
    /// C times the weight of every row.
    pub(super) row_weight: Vec<f64>,
    /// Probability of every output on every row, at the point last evaluated.
    pub(super) probabilities: Vec<[f64; N]>,
    /// Added to the curvature of a row, in units of its weight; at one half no step can overshoot.
    pub(super) damping: f64,
    /// Sums of the nodes of the design.
    sums: Vec<[f64; N]>,
    /// The preconditioner and the C it was made for.
    blocks: Option<(f64, Blocks)>,
}

/// Parameters, with the objective and its gradient there.
pub(super) struct Point {
    pub(super) at: Vec<f64>,
    pub(super) objective: f64,
    pub(super) gradient: Vec<f64>,
}

impl<'a, const N: usize> Descent<'a, N> {
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
    /// A start, say what the solutions of neighbouring C lead to, saves passes and leaves the answer alone.
    pub(super) fn solve(&mut self, c: f64, start: Option<&Softmax>) -> Softmax {
        self.set_strength(c);
        let (n, stride) = (self.n_outputs, self.stride());
        let mut at = match start {
            Some(start) => start.padded(stride),
            None => self.guess(),
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

    /// Places for the outputs of one feature.
    pub(super) fn stride(&self) -> usize {
        self.chunks * N
    }

    /// Takes the mean over the outputs away from each feature; a single output stands as it is.
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

    /// A start out of nothing: naive Bayes where all features are answers, which is the solution if the answers
    /// are independent and the penalty is small; weakened while that makes it better.
    fn guess(&mut self) -> Vec<f64> {
        let (n, c, stride) = (self.n_outputs, self.c, self.stride());
        let nothing = vec![0.0; (self.problem.design.n_features + 1) * stride];
        if !self.problem.design.is_indicator() || !self.problem.offsets.is_empty() {
            return nothing;
        }
        let (counts, totals) = self.problem.counts::<N>(self.chunks);
        let log = |seen: f64, of: f64| ln((c * seen + 1.0) / (c * of + 2.0));
        let class_counts = counts[..n].to_vec();
        let mut guess = nothing.clone();
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
        for _ in 0..MAX_GUESSES {
            let point = self.evaluate(guess);
            guess = point.at.iter().map(|value| 0.7 * value).collect();
            if point.objective < best {
                best = point.objective;
                start = Some(point.at);
            } else if start.is_some() {
                break;
            }
        }
        start.unwrap_or(nothing)
    }

    /// Goes down until the decrement, twice what is left to gain, is within the tolerance or lost in rounding.
    fn minimise(&mut self, start: Vec<f64>) -> Vec<f64> {
        let weight: f64 = self.row_weight.iter().sum();
        // Rows of little weight move the objective little, and are to be solved all the same.
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
                // Close to the minimum the gradient still resolves what the objective no longer does: a step
                // that leaves the objective level is then good if it flattens the slope.
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
            // A damping that is slight beside the penalty is not worth another preconditioner.
            let is_damped_otherwise = self.damping != damping && self.damping.max(damping) * weight > 1.0;
            if passes > STALE_PASSES || is_damped_otherwise {
                (made_for, blocks) = (self.c, Blocks::new(self));
            }
        }
        self.blocks = Some((made_for, blocks));
        point.at
    }

    /// The objective and its gradient; keeps the probabilities for the curvature.
    pub(super) fn evaluate(&mut self, at: Vec<f64>) -> Point {
        let (c, n, chunks) = (self.c, self.n_outputs, self.chunks);
        let problem = self.problem;
        let hidden = problem.n_classes - n;
        // Two classes: the first has no output, and a score of zero.
        let floor = if hidden == 1 { 0.0 } else { f64::NEG_INFINITY };
        let mut objective = 0.5 * dot(&at[self.stride()..], &at[self.stride()..]);
        let mut gradient = at.clone();
        gradient[..self.stride()].fill(0.0);
        let mut sums = std::mem::take(&mut self.sums);
        problem.design.spread(at.as_chunks::<N>().0, chunks, &mut sums);
        let mut pulls = vec![[0.0; N]; sums.len()];
        let rows = problem.rows().zip(&self.row_weight);
        let mut offsets = problem.offsets.chunks_exact(n.max(1));
        for (((leaves, outcomes), weight), p) in rows.zip(self.probabilities.chunks_exact_mut(chunks)) {
            let from = offsets.next().unwrap_or(&[]);
            for (chunk, p) in p.iter_mut().enumerate() {
                *p = [0.0; N];
                let from = from.iter().skip(chunk * N);
                p.iter_mut().zip(from).for_each(|(p, from)| *p = *from);
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
            p.iter_mut().for_each(|p| *p = exponentials(p.map(|p| p - max)));
            let p = p.as_flattened_mut();
            p[n..].fill(0.0);
            sum += p.iter().sum::<f64>();
            objective += weight * ln(sum);
            let (p, _) = p.as_chunks_mut::<N>();
            for (chunk, p) in p.iter_mut().enumerate() {
                *p = p.map(|p| p / sum);
                let mut pull = p.map(|p| weight * p);
                for &(class, w) in outcomes {
                    if let Some(output) = usize::from(class).checked_sub(hidden + chunk * N)
                        && output < N
                    {
                        pull[output] -= c * w;
                    }
                }
                for &leaf in leaves {
                    add(1.0, &pull, &mut pulls[leaf as usize * chunks + chunk]);
                }
            }
        }
        problem.design.collect(&mut pulls, chunks, gradient.as_chunks_mut::<N>().0);
        self.sums = sums;
        Point { at, objective, gradient }
    }

    /// Product of the curvature at the point last evaluated with a direction: one pass over the rows.
    pub(super) fn curvature_times(&self, direction: &[f64], out: &mut [f64], work: &mut Scratch<N>) {
        let chunks = self.chunks;
        let design = &self.problem.design;
        out.copy_from_slice(direction);
        out[..self.stride()].fill(0.0);
        design.spread(direction.as_chunks::<N>().0, chunks, &mut work.sums);
        work.pulls.clear();
        work.pulls.resize(work.sums.len(), [0.0; N]);
        let (sums, pulls) = (work.sums.as_slice(), work.pulls.as_mut_slice());
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
                let pull: [f64; N] = std::array::from_fn(|at| {
                    weight * (p[at] * (change[at] - mean) + self.damping * change[at])
                });
                for &leaf in leaves {
                    add(1.0, &pull, &mut pulls[leaf as usize * chunks + chunk]);
                }
            }
        }
        design.collect(pulls, chunks, out.as_chunks_mut::<N>().0);
    }

    /// Solves for the Newton step by conjugate gradients; says how many passes it took.
    ///
    /// Far from the minimum the step is solved roughly, for it will be corrected; near it, ever more exactly.
    fn direction(&self, gradient: &[f64], blocks: &Blocks, tolerance: f64) -> (Vec<f64>, usize) {
        let mut step = vec![0.0; gradient.len()];
        let mut product = step.clone();
        let mut work = Scratch::default();
        let mut rest: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut search = blocks.solve(self, &rest);
        let mut error = dot(&rest, &search);
        let target = (error * error.min(4e-4)).max(0.01 * tolerance);
        let mut passes = 0;
        while error > target && passes < MAX_PASSES {
            passes += 1;
            self.curvature_times(&search, &mut product, &mut work);
            let curvature = dot(&search, &product);
            if curvature.is_nan() || curvature <= 0.0 {
                // Rounding has eaten it: go straight down, and let the damping see to the length.
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

/// Sums over the nodes of the design, kept for their memory.
#[derive(Default)]
pub(super) struct Scratch<const N: usize> {
    sums: Vec<[f64; N]>,
    pulls: Vec<[f64; N]>,
}

/// The exponentials of numbers that are at most zero, to within two units in the last place; below e^-200 it
/// is e^-200.
///
/// Written so that vector instructions apply: `x = k ln 2 + r`, where adding a large number rounds to k and leaves
/// it in the last bits, and Taylor's series of `e^r`.
#[inline]
fn exponentials<const N: usize>(x: [f64; N]) -> [f64; N] {
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const LN_2: [f64; 2] = [0.693_145_751_953_125, 1.428_606_820_309_417_2e-6];
    const TAYLOR: [f64; 13] = {
        // From 1 / 13! to 1 / 1!.
        let mut taylor = [1.0; 13];
        let mut k = 12;
        while k > 0 {
            k -= 1;
            taylor[k] = taylor[k + 1] / (13 - k) as f64;
        }
        taylor
    };
    x.map(|x| {
        let x = if x > -200.0 { x } else { -200.0 };
        let rounded = x * std::f64::consts::LOG2_E + ROUND;
        let k = rounded - ROUND;
        let r = x - k * LN_2[0] - k * LN_2[1];
        let series = TAYLOR.iter().fold(0.0, |sum, term| sum * r + term) * r + 1.0;
        series * f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52)
    })
}

/// Adds a multiple of one vector to another.
pub(super) fn axpy(factor: f64, from: &[f64], to: &mut [f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

/// Inner product, in four interleaved sums so that vector instructions apply.
pub(super) fn dot(left: &[f64], right: &[f64]) -> f64 {
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

    #[test]
    fn exponentials_are_right_to_the_last_places() {
        let numbers = (0..200_000).map(|i| -f64::from(i) / 1_003.7);
        for x in numbers.chain([-0.0, -1e-300, -std::f64::consts::LN_2]) {
            let [found] = exponentials([x]);
            assert!((found - x.exp()).abs() <= 2.0 * f64::EPSILON * x.exp(), "{x}: {found}");
        }
        let [far, infinite] = exponentials([-1e9, f64::NEG_INFINITY]);
        assert!(far < 1e-80 && infinite < 1e-80 && far > 0.0);
    }
}
