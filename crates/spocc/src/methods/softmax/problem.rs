//! The training rows of a regression, and the solutions along a path of strengths.

use std::{collections::VecDeque, convert::Infallible, sync::Arc};

use super::{Softmax, design::Design, newton::NewtonSolver, vector::axpy, width};

/// Largest weight of all rows times the strength. Beyond it the penalty is lost in rounding, so that a larger strength has
/// the same solution, and the search for it would step about for long.
const MAX_WEIGHT: f64 = 1e16;

/// Past solutions from which the next one is extrapolated.
const EXTRAPOLATED: usize = 6;

/// Weighted rows of a design with the classes that occurred on them.
#[derive(Clone, Debug)]
pub(crate) struct SoftmaxProblem {
    pub(super) design: Arc<Design>,
    pub(super) n_classes: usize,
    /// Row of the design and the end of its outcomes.
    pub(super) rows: Vec<(u32, usize)>,
    /// Class and weight.
    outcomes: Vec<(u16, f64)>,
}

impl SoftmaxProblem {
    /// An empty problem.
    pub(crate) fn new(design: Arc<Design>, n_classes: usize) -> Self {
        Self { design, n_classes, rows: Vec::new(), outcomes: Vec::new() }
    }

    /// Adds a row of the design with the weight of each class that occurred on it.
    pub(crate) fn push(&mut self, row: u32, outcomes: impl Iterator<Item = (u16, f64)>) {
        self.outcomes.extend(outcomes);
        self.rows.push((row, self.outcomes.len()));
    }

    /// The minimum for one strength of the data against the penalty, C.
    ///
    /// Every class should have a positive weight. With fewer than two classes all coefficients are zero.
    pub(crate) fn solve(&self, c: f64) -> Softmax {
        let mut solved = None;
        let Ok(()) = self.solve_path(&[c], |softmax| {
            solved = Some(softmax.clone());
            Ok::<(), Infallible>(())
        });
        solved.expect("one strength has one solution")
    }

    /// Passes the minima for strengths that grow by equal factors to `visit`.
    ///
    /// # Errors
    ///
    /// Those of `visit`.
    pub(crate) fn solve_path<E>(
        &self,
        strengths: &[f64],
        visit: impl FnMut(&Softmax) -> Result<(), E>,
    ) -> Result<(), E> {
        match width(self.n_outputs()) {
            0 | 1 => self.solve_in::<1, E>(strengths, visit),
            4 => self.solve_in::<4, E>(strengths, visit),
            6 => self.solve_in::<6, E>(strengths, visit),
            _ => self.solve_in::<8, E>(strengths, visit),
        }
    }

    fn solve_in<const N: usize, E>(
        &self,
        strengths: &[f64],
        mut visit: impl FnMut(&Softmax) -> Result<(), E>,
    ) -> Result<(), E> {
        let n_outputs = self.n_outputs();
        let zero =
            Softmax { coef: vec![0.0; self.design.n_features * n_outputs], intercept: vec![0.0; n_outputs] };
        let mut solver = NewtonSolver::<N>::new(self);
        let mut solved: VecDeque<Softmax> = VecDeque::new();
        let (limit, mut last) = (self.largest_strength(), f64::NAN);
        for &c in strengths {
            let c = c.min(limit);
            let softmax = match (self.n_classes, solved.front()) {
                (0 | 1, _) => zero.clone(),
                (_, Some(same)) if c == last => same.clone(),
                _ => solver.solve(c, extrapolated(&solved).as_ref()),
            };
            last = c;
            visit(&softmax)?;
            solved.push_front(softmax);
            solved.truncate(EXTRAPOLATED);
        }
        Ok(())
    }

    /// The strength above which solutions do not change.
    fn largest_strength(&self) -> f64 {
        MAX_WEIGHT / self.outcomes.iter().map(|(_, weight)| weight).sum::<f64>()
    }

    pub(super) fn n_outputs(&self) -> usize {
        if self.n_classes == 2 { 1 } else { self.n_classes }
    }

    /// The weight of the rows of every parameter, by output and in total.
    pub(super) fn counts<const N: usize>(&self, chunks: usize) -> (Vec<f64>, Vec<f64>) {
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
    pub(super) fn rows(&self) -> impl Iterator<Item = (&[u32], &[(u16, f64)])> {
        let mut start = 0;
        self.rows.iter().map(move |&(row, end)| {
            let outcomes = &self.outcomes[start..end];
            start = end;
            (self.design.leaves(row), outcomes)
        })
    }
}

/// The next solution of a path, the polynomial through the latest ones (latest first) evaluated one step ahead.
fn extrapolated(solved: &VecDeque<Softmax>) -> Option<Softmax> {
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
