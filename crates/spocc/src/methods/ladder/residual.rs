//! Rung 2, the residual: what the answers say beyond the core, `q(y) e^R(y)` with `R` a sum over answers.
//!
//! A softmax regression on the answers that starts from the core instead of from nothing, and is pulled back to it
//! by a penalty: the stronger, the closer, but for the intercepts, which are free. While it is fitted, the core judges every row by the counts of all
//! others; judged by counts that hold the row itself, the core would look surer than it is on new rows, and the
//! residual would learn to trust it too much.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    evidence::Tally,
    methods::{
        check_numbers,
        ladder::norm_tree::Cell,
        softmax::{Design, Problem, Softmax},
    },
};

/// Penalties tried, the strongest first; before them comes the core alone.
pub(super) const PENALTIES: [f64; 7] = [320.0, 100.0, 32.0, 10.0, 3.2, 1.0, 0.32];

/// What every answer adds to the scores of the classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Residual {
    pub(super) penalty: f64,
    n_labels: usize,
    start: Vec<f64>,
    /// By leaf, answer and class.
    table: Vec<f64>,
}

impl Residual {
    /// Adds what an answer says to scores.
    #[inline]
    pub(super) fn add(&self, leaf: usize, said: u16, share: f64, scores: &mut [f64]) {
        let l = scores.len();
        let added = &self.table[(leaf * self.n_labels + usize::from(said)) * l..][..l];
        scores.iter_mut().zip(added).for_each(|(score, added)| *score += share * added);
    }

    /// Adds what is the same on all rows.
    pub(super) fn begin(&self, scores: &mut [f64]) {
        scores.iter_mut().zip(&self.start).for_each(|(score, start)| *score += start);
    }

    fn of(softmax: &Softmax, classes: &[u16], penalty: f64, [n_features, n_labels, l]: [usize; 3]) -> Self {
        let outputs = softmax.intercept.len();
        let mut spread = |from: &[f64]| {
            let mut to = vec![0.0; l];
            match (classes, from) {
                // One output is the second class against the first.
                (&[first, second], &[odds]) => {
                    to[usize::from(first)] = -0.5 * odds;
                    to[usize::from(second)] = 0.5 * odds;
                }
                _ => classes.iter().zip(from).for_each(|(&class, &value)| to[usize::from(class)] = value),
            }
            to
        };
        let start = spread(&softmax.intercept);
        let table = match outputs {
            // Without a row to learn from, no answer adds anything.
            0 => vec![0.0; n_features * l],
            _ => softmax.coef.chunks_exact(outputs).flat_map(&mut spread).collect(),
        };
        Self { penalty, n_labels, start, table }
    }

    pub(super) fn check(&self, [n_leaves, s, l]: [usize; 3]) -> Result<(), Error> {
        check_numbers("a penalty and a number per class", &self.start, Some(l), f64::is_finite)?;
        let size = n_leaves.checked_mul(s).and_then(|size| size.checked_mul(l));
        check_numbers("a number per answer and class", &self.table, size, f64::is_finite)?;
        check_numbers("a penalty", &[self.penalty], Some(1), |m| m > 0.0 && m.is_finite())?;
        if self.n_labels == s {
            return Ok(());
        }
        Err(Error::Inconsistent { expected: "a residual of the model's answers", found: "others".to_owned() })
    }
}

/// The answers of every pattern as inputs of a regression.
pub(super) fn design(tally: &Tally, n_leaves: usize, n_labels: usize) -> Arc<Design> {
    let mut entries = Vec::new();
    for p in 0..tally.n_patterns() {
        tally.pattern(p).for_each(|k, j| {
            entries.push((p as u32, (k * n_labels + usize::from(j)) as u32, 1.0));
        });
    }
    Arc::new(Design::new(n_leaves * n_labels, n_labels, tally.n_patterns(), &entries))
}

/// Shows `each` the residual at every penalty, the strongest first.
///
/// `log_core` writes the core's distribution of a cell; cells count with `rows`, those of none are left out.
pub(super) fn path(
    design: &Arc<Design>,
    cells: &[Cell],
    rows: &[f64],
    [n_leaves, n_labels, l]: [usize; 3],
    penalties: &[f64],
    mut log_core: impl FnMut(&Cell, &mut [f64]),
    mut each: impl FnMut(&Residual) -> Result<(), Error>,
) -> Result<(), Error> {
    if penalties.is_empty() {
        return Ok(());
    }
    let mut is_met = vec![false; l];
    let used = || cells.iter().zip(rows).filter(|(_, rows)| **rows > 0.0);
    used().for_each(|(cell, _)| is_met[usize::from(cell.truth)] = true);
    let classes: Vec<u16> = (0..l as u16).filter(|&class| is_met[usize::from(class)]).collect();
    let mut number = vec![0u16; l];
    (0..).zip(&classes).for_each(|(at, &class)| number[usize::from(class)] = at);
    let mut problem = Problem::new(design.clone(), classes.len());
    let mut scores = vec![0.0; l];
    for (cell, &rows) in used() {
        log_core(cell, &mut scores);
        let offset = classes.iter().map(|&class| scores[usize::from(class)]).collect();
        problem.push_from(cell.pattern, offset, number[usize::from(cell.truth)], rows);
    }
    let strengths: Vec<f64> = penalties.iter().map(|penalty| 1.0 / penalty).collect();
    let mut left = penalties.iter();
    problem.solve_all(&strengths, |softmax| {
        let penalty = *left.next().expect("a solution per penalty");
        each(&Residual::of(softmax, &classes, penalty, [n_leaves * n_labels, n_labels, l]))
    })
}
