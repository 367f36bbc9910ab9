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
//!
//! Three things make it fast. Rows are sums of parts that many of them share ([`Design`]). The first strength
//! starts from naive Bayes, and every later one where the solutions before it lead. And the preconditioner serves
//! until the strength has doubled.

mod descent;
mod design;
mod preconditioner;

use crate::math::{exp, ln};
use std::{collections::VecDeque, convert::Infallible, sync::Arc};

use descent::{Descent, axpy};

pub(crate) use design::Design;

/// Weighted rows of a design to be explained.
#[derive(Clone, Debug)]
pub(crate) struct SoftmaxProblem {
    design: Arc<Design>,
    n_classes: usize,
    /// Row of the design and where its outcomes end.
    rows: Vec<(u32, usize)>,
    /// Class and weight.
    outcomes: Vec<(u16, f64)>,
    /// Scores that the outputs of each row start from; none if all start from zero.
    offsets: Vec<f64>,
}

/// A fitted regression; the score of an output is its intercept plus coefficients times features.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Softmax {
    /// All outputs of the first feature, then of the second, and so on.
    pub(crate) coef: Vec<f64>,
    /// One per output: a single one for two classes, else one per class.
    pub(crate) intercept: Vec<f64>,
}

impl SoftmaxProblem {
    /// An empty problem.
    pub(crate) fn new(design: Arc<Design>, n_classes: usize) -> Self {
        Self { design, n_classes, rows: Vec::new(), outcomes: Vec::new(), offsets: Vec::new() }
    }

    /// Adds a row of the design with the weight of each class seen on it.
    pub(crate) fn push(&mut self, row: u32, outcomes: impl Iterator<Item = (u16, f64)>) {
        self.outcomes.extend(outcomes);
        self.rows.push((row, self.outcomes.len()));
    }

    /// Adds a row of the design on which one class was seen, and whose scores start from `from`; then all rows do.
    pub(crate) fn push_from(&mut self, row: u32, from: Vec<f64>, class: u16, weight: f64) {
        match *from {
            [first, second] => self.offsets.push(second - first),
            _ => self.offsets.extend(from),
        }
        self.push(row, std::iter::once((class, weight)));
    }

    /// The minimum for one strength of the data against the penalty, C.
    ///
    /// Every class is meant to have a positive weight; with fewer than two classes there is nothing to learn and
    /// all is zero.
    pub(crate) fn solve(&self, c: f64) -> Softmax {
        let mut solved = None;
        let Ok(()) = self.solve_path(&[c], |softmax| {
            solved = Some(softmax.clone());
            Ok::<(), Infallible>(())
        });
        solved.expect("one strength has one solution")
    }

    /// Shows `each` the minima for strengths that grow by equal factors.
    ///
    /// # Errors
    ///
    /// Those of `each`.
    pub(crate) fn solve_path<E>(
        &self,
        strengths: &[f64],
        each: impl FnMut(&Softmax) -> Result<(), E>,
    ) -> Result<(), E> {
        match width(self.n_outputs()) {
            0 | 1 => self.solve_in::<1, E>(strengths, each),
            4 => self.solve_in::<4, E>(strengths, each),
            6 => self.solve_in::<6, E>(strengths, each),
            _ => self.solve_in::<8, E>(strengths, each),
        }
    }

    fn solve_in<const N: usize, E>(
        &self,
        strengths: &[f64],
        mut each: impl FnMut(&Softmax) -> Result<(), E>,
    ) -> Result<(), E> {
        let n_outputs = self.n_outputs();
        let nothing =
            Softmax { coef: vec![0.0; self.design.n_features * n_outputs], intercept: vec![0.0; n_outputs] };
        let mut descent = Descent::<N>::new(self);
        let mut solved: VecDeque<Softmax> = VecDeque::new();
        for &c in strengths {
            let softmax = match self.n_classes {
                0 | 1 => nothing.clone(),
                _ => descent.solve(c, ahead(&solved).as_ref()),
            };
            each(&softmax)?;
            solved.push_front(softmax);
            solved.truncate(LOOKED_BACK);
        }
        Ok(())
    }

    fn n_outputs(&self) -> usize {
        if self.n_classes == 2 { 1 } else { self.n_classes }
    }

    /// The weight of every parameter's rows, by output and in all.
    fn counts<const N: usize>(&self, chunks: usize) -> (Vec<f64>, Vec<f64>) {
        let hidden = self.n_classes - self.n_outputs();
        let n_parameters = self.design.n_features + 1;
        let mut seen = vec![[0.0; N]; self.design.n_nodes() * chunks];
        let mut all = vec![[0.0]; self.design.n_nodes()];
        for (leaves, outcomes) in self.rows() {
            for &(class, weight) in outcomes {
                for &leaf in leaves {
                    all[leaf as usize][0] += weight;
                    if let Some(output) = usize::from(class).checked_sub(hidden) {
                        seen[leaf as usize * chunks + output / N][output % N] += weight;
                    }
                }
            }
        }
        let mut counts = vec![[0.0; N]; n_parameters * chunks];
        let mut totals = vec![[0.0]; n_parameters];
        self.design.collect(&mut seen, chunks, &mut counts);
        self.design.collect(&mut all, 1, &mut totals);
        (counts.into_flattened(), totals.into_flattened())
    }

    /// Nodes and outcomes of each row.
    fn rows(&self) -> impl Iterator<Item = (&[u32], &[(u16, f64)])> {
        let mut start = 0;
        self.rows.iter().map(move |&(row, end)| {
            let outcomes = &self.outcomes[start..end];
            start = end;
            (self.design.leaves(row), outcomes)
        })
    }
}

/// Far more than decides between scores, or between surprisals that are tied.
pub(crate) const LEAD: f64 = 1e-6;

/// Solutions from which the next one is guessed.
const LOOKED_BACK: usize = 6;

/// Where a path leads next that came by `solved`, the latest first: the polynomial through them, one step on.
fn ahead(solved: &VecDeque<Softmax>) -> Option<Softmax> {
    let factors: &[f64] = match solved.len() {
        0 | 1 => &[1.0],
        2 => &[2.0, -1.0],
        3 => &[3.0, -3.0, 1.0],
        4 => &[4.0, -6.0, 4.0, -1.0],
        5 => &[5.0, -10.0, 10.0, -5.0, 1.0],
        _ => &[6.0, -15.0, 20.0, -15.0, 6.0, -1.0],
    };
    let last = solved.front()?;
    let sum = |numbers: fn(&Softmax) -> &[f64]| {
        let mut sum = vec![0.0; numbers(last).len()];
        factors.iter().zip(solved).for_each(|(factor, softmax)| axpy(*factor, numbers(softmax), &mut sum));
        sum
    };
    Some(Softmax { coef: sum(|softmax| &softmax.coef), intercept: sum(|softmax| &softmax.intercept) })
}

/// Outputs in a chunk: as few wasted as possible, then as many together.
fn width(n_outputs: usize) -> usize {
    let widths = if n_outputs < 2 { [n_outputs; 3] } else { [8, 6, 4] };
    widths.into_iter().min_by_key(|&width| n_outputs.next_multiple_of(width.max(1))).expect("three widths")
}

impl Softmax {
    /// Shows `each` the class that clearly leads on each row of the design, if one does.
    pub(crate) fn leaders(&self, design: &Design, rows: &[u32], each: impl FnMut(Option<usize>)) {
        match width(self.intercept.len()) {
            // No class was ever met.
            0 => rows.iter().map(|_| None).for_each(each),
            1 => self.leaders_in::<1>(design, rows, each),
            4 => self.leaders_in::<4>(design, rows, each),
            6 => self.leaders_in::<6>(design, rows, each),
            _ => self.leaders_in::<8>(design, rows, each),
        }
    }

    fn leaders_in<const N: usize>(&self, design: &Design, rows: &[u32], mut each: impl FnMut(Option<usize>)) {
        let n = self.intercept.len();
        let chunks = n.div_ceil(N);
        let mut sums = Vec::new();
        design.spread::<N>(self.padded(chunks * N).as_chunks().0, chunks, &mut sums);
        let mut scores = vec![[0.0; N]; chunks];
        for &row in rows {
            scores.fill([0.0; N]);
            for &leaf in design.leaves(row) {
                let sums = &sums[leaf as usize * chunks..][..chunks];
                scores.iter_mut().zip(sums).for_each(|(score, sum)| design::add(1.0, sum, score));
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
            each((best - second > LEAD * (1.0 + best.abs())).then_some(leader));
        }
    }

    /// Intercepts and coefficients, the outputs of each in so many places.
    fn padded(&self, stride: usize) -> Vec<f64> {
        let n = self.intercept.len();
        let mut padded = vec![0.0; stride * (1 + self.coef.len() / n)];
        let outputs = self.intercept.chunks_exact(n).chain(self.coef.chunks_exact(n));
        padded.chunks_exact_mut(stride).zip(outputs).for_each(|(to, from)| to[..n].copy_from_slice(from));
        padded
    }

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
        let log_sum = max + ln(out.iter().map(|score| exp(score - max)).sum::<f64>());
        for score in out {
            *score -= log_sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two solutions, each within the tolerance.
    const CLOSE: f64 = 2.0 * descent::TOLERANCE;

    /// Features and outcomes.
    type Pattern = (Vec<(u32, f64)>, Vec<(u16, f64)>);

    fn problem(n_features: usize, n_classes: u16, rows: &[Pattern]) -> SoftmaxProblem {
        let entries = |(row, (features, _)): (u32, &Pattern)| {
            features.iter().map(|&(feature, value)| (row, feature, value)).collect::<Vec<_>>()
        };
        let entries: Vec<(u32, u32, f64)> = (0..).zip(rows).flat_map(entries).collect();
        let design = Arc::new(Design::new(n_features, 1, rows.len(), &entries));
        let mut problem = SoftmaxProblem::new(design, n_classes.into());
        for (row, (_, outcomes)) in (0..).zip(rows) {
            problem.push(row, outcomes.iter().copied());
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

    fn assert_differences<const N: usize>(n_classes: u16) {
        const STEP: f64 = 1e-5;
        let problem = problem(7, n_classes, &mixed_rows(n_classes));
        let mut descent = Descent::<N>::new(&problem);
        descent.set_strength(0.7);
        let (n, stride) = (problem.n_outputs(), descent.stride());
        let is_output = |i: usize| i % stride < n;
        let at: Vec<f64> =
            (0..8 * stride).map(|i| if is_output(i) { (i as f64).sin() } else { 0.0 }).collect();
        for i in (0..at.len()).filter(|&i| is_output(i)) {
            let [before, here, after] = [-STEP, 0.0, STEP].map(|step| {
                let mut moved = at.clone();
                moved[i] += step;
                descent.evaluate(moved)
            });
            assert!(((after.objective - before.objective) / (2.0 * STEP) - here.gradient[i]).abs() < 1e-7);
            let bend: Vec<f64> =
                after.gradient.iter().zip(&before.gradient).map(|(a, b)| (a - b) / (2.0 * STEP)).collect();
            let mut unit = vec![0.0; at.len()];
            unit[i] = 1.0;
            let mut column = unit.clone();
            descent.evaluate(at.clone());
            descent.curvature_times(&unit, &mut column, &mut descent::Scratch::default());
            assert!(distance(&bend, &column) < 1e-7);
        }
    }

    #[test]
    fn gradient_and_curvature_are_the_differences_they_stand_for() {
        assert_differences::<1>(2);
        assert_differences::<4>(3);
        assert_differences::<4>(5);
        assert_differences::<8>(5);
    }

    #[test]
    fn the_gradient_is_zero_at_the_optimum() {
        for (n_classes, c) in [(2, 0.01), (2, 100.0), (3, 1.0), (5, 0.01), (5, 100.0)] {
            let rows = mixed_rows(n_classes);
            let model = problem(7, n_classes, &rows).solve(c);
            assert!(steepest(&rows, n_classes, c, &model) < 1e-7);
            assert!(n_classes == 2 || model.intercept.iter().sum::<f64>().abs() < 1e-12);
        }
        // Too many features for full blocks.
        let rows: Vec<Pattern> =
            (0..60).map(|i: u16| (vec![(i.into(), 1.0), (60, 0.5)], vec![(i % 3, 1.0)])).collect();
        let wide = problem(61, 3, &rows);
        assert_eq!(preconditioner::Blocks::new(&Descent::<4>::new(&wide)).side, 1);
        assert!(steepest(&rows, 3, 10.0, &wide.solve(10.0)) < 1e-7);
    }

    #[test]
    fn small_cases_have_the_answers_of_pen_and_paper() {
        let two = problem(0, 2, &[(vec![], vec![(0, 3.0), (1, 12.0)])]).solve(1.0);
        assert!(distance(&two.intercept, &[4_f64.ln()]) < CLOSE);
        let three = problem(0, 3, &[(vec![], vec![(0, 1.0), (1, 2.0), (2, 4.0)])]).solve(1.0);
        assert!(distance(&three.intercept, &[-2_f64.ln(), 0.0, 2_f64.ln()]) < CLOSE);
        // Mirror images: no intercept, and w = 2 C / (1 + e^w), which w = 1 solves at this C.
        let rows = [(vec![(0, 1.0)], vec![(1, 1.0)]), (vec![(0, -1.0)], vec![(0, 1.0)])];
        let mirror = problem(1, 2, &rows).solve(f64::midpoint(1.0, 1_f64.exp()));
        assert_close(&mirror, &Softmax { coef: vec![1.0], intercept: vec![0.0] });
        let mut log = [0.0; 2];
        mirror.log_probabilities([(0, 1.0)].into_iter(), &mut log);
        assert!((log[1] + (-1_f64).exp().ln_1p()).abs() < CLOSE && (log[1] - log[0] - 1.0).abs() < CLOSE);
        let certain = problem(1, 1, &[(vec![(0, 1.0)], vec![(0, 5.0)])]).solve(1.0);
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
        assert_close(&problem(7, 3, &rows).solve(2.0), &problem(7, 3, &repeated).solve(2.0));
    }

    #[test]
    fn a_warm_start_leads_to_the_same_optimum() {
        for n_classes in [2, 4] {
            let problem = problem(7, n_classes, &mixed_rows(n_classes));
            let cold = problem.solve(3.0);
            for c in [0.01, 2.7, 100.0] {
                let mut path = Vec::new();
                let Ok(()) = problem.solve_path(&[c, 2.0, 9.0, 0.3, 1.0, 3.0], |softmax| {
                    path.push(softmax.clone());
                    Ok::<(), Infallible>(())
                });
                assert_close(&path[5], &cold);
            }
        }
    }

    #[test]
    fn a_regression_that_starts_from_scores_ends_where_no_step_helps() {
        for n_classes in [2u16, 3] {
            let rows = mixed_rows(n_classes);
            let entries = (0..).zip(&rows).flat_map(|(row, (features, _))| {
                features.iter().map(move |&(feature, value)| (row, feature, value)).collect::<Vec<_>>()
            });
            let design = Design::new(7, 1, rows.len(), &entries.collect::<Vec<_>>());
            let mut problem = SoftmaxProblem::new(Arc::new(design), n_classes.into());
            let from = |row: usize| -> Vec<f64> {
                (0..n_classes).map(|class| ((row * 7 + usize::from(class) * 3) % 5) as f64 - 2.0).collect()
            };
            for (row, (_, outcomes)) in rows.iter().enumerate() {
                outcomes.iter().for_each(|&(class, w)| problem.push_from(row as u32, from(row), class, w));
            }
            let c = 0.7;
            let objective = |model: &Softmax| {
                let hidden = usize::from(n_classes) - model.intercept.len();
                let mut sum = 0.5 * model.coef.iter().map(|value| value * value).sum::<f64>();
                for (row, (features, outcomes)) in rows.iter().enumerate() {
                    let mut scores = from(row);
                    for (output, score) in scores[hidden..].iter_mut().enumerate() {
                        *score += model.intercept[output];
                        let added = |&(feature, value): &(u32, f64)| {
                            value * model.coef[feature as usize * model.intercept.len() + output]
                        };
                        *score += features.iter().map(added).sum::<f64>();
                    }
                    let log_sum = scores.iter().map(|score| score.exp()).sum::<f64>().ln();
                    let loss = |&(class, w): &(u16, f64)| w * (log_sum - scores[usize::from(class)]);
                    sum += c * outcomes.iter().map(loss).sum::<f64>();
                }
                sum
            };
            let model = problem.solve(c);
            let n = model.intercept.len();
            for at in 0..n + model.coef.len() {
                let value = |step: f64| {
                    let mut near = model.clone();
                    *(if at < n { &mut near.intercept[at] } else { &mut near.coef[at - n] }) += step;
                    objective(&near)
                };
                let slope = (value(1e-5) - value(-1e-5)) / 2e-5;
                assert!(slope.abs() < 1e-5, "{n_classes} classes, parameter {at}: {slope}");
            }
        }
    }

    #[test]
    fn renaming_classes_renames_the_outputs() {
        let rows = mixed_rows(4);
        let mut renamed = rows.clone();
        renamed.iter_mut().flat_map(|row| &mut row.1).for_each(|outcome| outcome.0 = (outcome.0 + 1) % 4);
        let mut model = problem(7, 4, &renamed).solve(5.0);
        model.coef.chunks_exact_mut(4).for_each(|outputs| outputs.rotate_left(1));
        model.intercept.rotate_left(1);
        assert_close(&model, &problem(7, 4, &rows).solve(5.0));
    }

    #[test]
    fn extreme_strengths_stay_finite() {
        let rows = mixed_rows(3);
        for c in [f64::MIN_POSITIVE, 1e-100, 1e15, 1e100, f64::MAX] {
            let model = problem(7, 3, &rows).solve(c);
            assert!(model.coef.iter().chain(&model.intercept).all(|value| value.is_finite()), "{c}");
        }
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
                    let model = problem(4, n_classes, &rows).solve(c);
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
