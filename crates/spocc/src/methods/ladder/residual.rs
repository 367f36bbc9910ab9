//! Stage 2, the residual: a log-linear correction of the norm tree, `q(y) e^R(y)` with `R` a sum over predictions.
//!
//! A softmax regression on the one-hot predictions whose scores start from the norm tree's log probabilities. An L2
//! penalty shrinks it towards the norm tree; intercepts are not penalised. While the regression is fitted, the norm tree
//! scores every row by the counts of all others. With the row's own count included, the tree would look more certain than
//! it is on new rows, and the regression would trust it too much.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    evidence::Tally,
    methods::{
        check_numbers,
        ladder::cells::PatternCell,
        softmax::{Design, Softmax, SoftmaxProblem},
    },
};

/// Penalties that model selection tries, the strongest first; before them it tries no residual.
pub(super) const PENALTIES: [f64; 7] = [320.0, 100.0, 32.0, 10.0, 3.2, 1.0, 0.32];

/// The fitted correction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Residual {
    pub(super) penalty: f64,
    n_labels: usize,
    /// By class.
    intercepts: Vec<f64>,
    /// By leaf, predicted label and class.
    coefficients: Vec<f64>,
}

impl Residual {
    /// Adds the intercepts to scores.
    pub(super) fn add_intercepts(&self, scores: &mut [f64]) {
        scores.iter_mut().zip(&self.intercepts).for_each(|(score, intercept)| *score += intercept);
    }

    /// Adds a share of the coefficients of a prediction to scores.
    #[inline]
    pub(super) fn add(&self, leaf: usize, predicted: u16, share: f64, scores: &mut [f64]) {
        let l = scores.len();
        let added = &self.coefficients[(leaf * self.n_labels + usize::from(predicted)) * l..][..l];
        scores.iter_mut().zip(added).for_each(|(score, added)| *score += share * added);
    }

    /// Expands a regression on the classes that occur to all `l` classes.
    fn new(softmax: &Softmax, classes: &[u16], penalty: f64, [n_features, n_labels, l]: [usize; 3]) -> Self {
        let outputs = softmax.intercept.len();
        let mut expand = |from: &[f64]| {
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
        let intercepts = expand(&softmax.intercept);
        let coefficients = match outputs {
            // Without training rows there are no outputs.
            0 => vec![0.0; n_features * l],
            _ => softmax.coef.chunks_exact(outputs).flat_map(&mut expand).collect(),
        };
        Self { penalty, n_labels, intercepts, coefficients }
    }

    pub(super) fn check(&self, [n_leaves, s, l]: [usize; 3]) -> Result<(), Error> {
        check_numbers("an intercept per class", &self.intercepts, Some(l), f64::is_finite)?;
        let size = n_leaves.checked_mul(s).and_then(|size| size.checked_mul(l));
        check_numbers("a coefficient per prediction and class", &self.coefficients, size, f64::is_finite)?;
        check_numbers("a penalty", &[self.penalty], Some(1), |m| m > 0.0 && m.is_finite())?;
        if self.n_labels == s {
            return Ok(());
        }
        Err(Error::Inconsistent { expected: "a residual on the model's labels", found: "others".to_owned() })
    }
}

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

/// Fits the residual at every penalty, the strongest first, and passes each to `visit`.
///
/// `rows` are the rows of every cell to train on, perhaps 0; `tree_scores` writes the norm tree's log probabilities of
/// a cell.
pub(super) fn fit_path(
    design: &Arc<Design>,
    cells: &[PatternCell],
    rows: &[f64],
    [n_leaves, n_labels, l]: [usize; 3],
    penalties: &[f64],
    mut tree_scores: impl FnMut(&PatternCell, &mut [f64]),
    mut visit: impl FnMut(&Residual) -> Result<(), Error>,
) -> Result<(), Error> {
    if penalties.is_empty() {
        return Ok(());
    }
    let mut occurs = vec![false; l];
    let training = || cells.iter().zip(rows).filter(|(_, rows)| **rows > 0.0);
    training().for_each(|(cell, _)| occurs[usize::from(cell.truth)] = true);
    let classes: Vec<u16> = (0..l as u16).filter(|&class| occurs[usize::from(class)]).collect();
    let mut number = vec![0u16; l];
    (0..).zip(&classes).for_each(|(at, &class)| number[usize::from(class)] = at);
    let mut problem = SoftmaxProblem::new(design.clone(), classes.len());
    let mut scores = vec![0.0; l];
    for (cell, &rows) in training() {
        tree_scores(cell, &mut scores);
        let offset = classes.iter().map(|&class| scores[usize::from(class)]).collect();
        problem.push_from(cell.pattern, offset, number[usize::from(cell.truth)], rows);
    }
    let strengths: Vec<f64> = penalties.iter().map(|penalty| 1.0 / penalty).collect();
    let mut remaining = penalties.iter();
    problem.solve_path(&strengths, |softmax| {
        let penalty = *remaining.next().expect("a solution per penalty");
        visit(&Residual::new(softmax, &classes, penalty, [n_leaves * n_labels, n_labels, l]))
    })
}
