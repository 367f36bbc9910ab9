//! The regression expert: softmax regression on the one-hot predictions of the leaves.
//!
//! Its scores start from the class frequencies, and an L2 penalty shrinks it towards them; intercepts are not penalised.

use std::sync::Arc;

use crate::{
    error::Error,
    evidence::Tally,
    methods::{
        ladder::{cells::PatternCell, score_table::ScoreTable},
        softmax::{Design, Softmax, SoftmaxProblem},
    },
};

/// Penalties that are tried, the strongest first.
pub(super) const PENALTIES: [f64; 7] = [320.0, 100.0, 32.0, 10.0, 3.2, 1.0, 0.32];

/// The one-hot predictions of every pattern, as the inputs of a regression.
pub(super) fn design(tally: &Tally, n_leaves: usize, n_labels: usize) -> Arc<Design> {
    let mut entries = Vec::new();
    for p in 0..tally.n_patterns() {
        tally.pattern(p).for_each(|k, j| {
            entries.push((p as u32, (k * n_labels + usize::from(j)) as u32, 1.0));
        });
    }
    Arc::new(Design::new(n_leaves * n_labels, n_labels, tally.n_patterns(), &entries))
}

/// Fits the regression at every penalty, the strongest first, and passes each to `visit`.
///
/// `rows` are the rows of every cell to train on, perhaps 0.
pub(super) fn fit_path(
    design: &Arc<Design>,
    cells: &[PatternCell],
    rows: &[f64],
    log_prior: &[f64],
    [n_leaves, n_labels]: [usize; 2],
    penalties: &[f64],
    mut visit: impl FnMut(ScoreTable) -> Result<(), Error>,
) -> Result<(), Error> {
    let l = log_prior.len();
    let training = || cells.iter().zip(rows).filter(|(_, rows)| **rows > 0.0);
    let mut occurs = vec![false; l];
    training().for_each(|(cell, _)| occurs[usize::from(cell.truth)] = true);
    let classes: Vec<u16> = (0..l as u16).filter(|&class| occurs[usize::from(class)]).collect();
    let mut number = vec![0u16; l];
    (0..).zip(&classes).for_each(|(at, &class)| number[usize::from(class)] = at);
    let mut problem = SoftmaxProblem::new(design.clone(), classes.len());
    let offset: Vec<f64> = classes.iter().map(|&class| log_prior[usize::from(class)]).collect();
    for (cell, &rows) in training() {
        problem.push_from(cell.pattern, offset.clone(), number[usize::from(cell.truth)], rows);
    }
    let strengths: Vec<f64> = penalties.iter().map(|penalty| 1.0 / penalty).collect();
    problem.solve_path(&strengths, |softmax| {
        visit(score_table(softmax, &classes, log_prior, n_leaves, n_labels))
    })
}

/// Expands a regression on the classes that occur to all classes; the others keep their frequency.
fn score_table(
    softmax: &Softmax,
    classes: &[u16],
    log_prior: &[f64],
    n_leaves: usize,
    n_labels: usize,
) -> ScoreTable {
    let (outputs, l) = (softmax.intercept.len(), log_prior.len());
    let expand = |from: &[f64]| {
        let mut to = vec![0.0; l];
        match (classes, from) {
            // The single output of two classes is the log-odds of the second.
            (&[first, second], &[odds]) => {
                to[usize::from(first)] = -0.5 * odds;
                to[usize::from(second)] = 0.5 * odds;
            }
            _ => classes.iter().zip(from).for_each(|(&class, &value)| to[usize::from(class)] = value),
        }
        to
    };
    let mut start = expand(&softmax.intercept);
    start.iter_mut().zip(log_prior).for_each(|(score, log)| *score += log);
    let scores = match outputs {
        // Without training rows there are no outputs.
        0 => vec![0.0; n_leaves * n_labels * l],
        _ => softmax.coef.chunks_exact(outputs).flat_map(expand).collect(),
    };
    ScoreTable { n_labels, start, scores }
}
