//! The regression expert: softmax regression on the one-hot predictions of the leaves.
//!
//! An L2 penalty shrinks it towards the class frequencies; intercepts are not penalised. Of very many patterns a sample is
//! enough for the few coefficients of a regression; it is drawn by a hash that does not depend on names.

use std::{ops::Range, sync::Arc};

use crate::{
    error::Error,
    evidence::Tally,
    methods::{
        ladder::{cells::PatternCell, folds::CellKeys, score_table::ScoreTable},
        softmax::{Design, Softmax, SoftmaxProblem},
    },
};

/// Penalties that are tried, the strongest first.
pub(super) const PENALTIES: [f64; 7] = [320.0, 100.0, 32.0, 10.0, 3.2, 1.0, 0.32];

/// Patterns above which a sample of about as many is used, and the same per label of a leaf.
const MAX_PATTERNS: usize = 1 << 14;
const MAX_PATTERNS_PER_LABEL: usize = 64;

/// The patterns that a regression is fitted to.
pub(super) struct RegressionRows {
    design: Arc<Design>,
    /// The cells of every pattern.
    cells: Vec<Range<usize>>,
    n_leaves: usize,
    n_labels: usize,
}

impl RegressionRows {
    /// All patterns, or a sample of many.
    pub(super) fn new(tally: &Tally, cells: &[PatternCell], keys: &CellKeys<'_>, size: [usize; 2]) -> Self {
        let [n_leaves, n_labels] = size;
        let n_patterns = MAX_PATTERNS.max(MAX_PATTERNS_PER_LABEL.saturating_mul(n_leaves * n_labels));
        let share = n_patterns as f64 / tally.n_patterns() as f64;
        let (mut of_patterns, mut entries) = (Vec::new(), Vec::new());
        let mut start = 0;
        for of_pattern in cells.chunk_by(|a, b| a.pattern == b.pattern) {
            let range = start..start + of_pattern.len();
            start = range.end;
            let pattern = of_pattern[0].pattern as usize;
            if share >= 1.0 || keys.draw(pattern) < share {
                let row = of_patterns.len() as u32;
                tally.pattern(pattern).for_each(|k, j| {
                    entries.push((row, (k * n_labels + usize::from(j)) as u32, 1.0));
                });
                of_patterns.push(range);
            }
        }
        let design = Design::new(n_leaves * n_labels, n_labels, of_patterns.len(), &entries);
        Self { design: Arc::new(design), cells: of_patterns, n_leaves, n_labels }
    }

    /// Fits the regression at one penalty after another, the strongest first, until `visit` returns false.
    ///
    /// `rows` are the rows of every cell to train on, perhaps 0.
    pub(super) fn fit_path(
        &self,
        cells: &[PatternCell],
        rows: &[f64],
        log_prior: &[f64],
        penalties: &[f64],
        mut visit: impl FnMut(ScoreTable) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let l = log_prior.len();
        let training = |of_pattern: &Range<usize>| of_pattern.clone().filter(|&cell| rows[cell] > 0.0);
        let mut occurs = vec![false; l];
        self.cells.iter().flat_map(training).for_each(|cell| occurs[usize::from(cells[cell].truth)] = true);
        let classes: Vec<u16> = (0..l as u16).filter(|&class| occurs[usize::from(class)]).collect();
        let mut number = vec![0u16; l];
        (0..).zip(&classes).for_each(|(at, &class)| number[usize::from(class)] = at);
        let mut problem = SoftmaxProblem::new(self.design.clone(), classes.len());
        for (row, of_pattern) in (0..).zip(&self.cells) {
            let outcome = |cell: usize| (number[usize::from(cells[cell].truth)], rows[cell]);
            if training(of_pattern).next().is_some() {
                problem.push(row, training(of_pattern).map(outcome));
            }
        }
        let strengths: Vec<f64> = penalties.iter().map(|penalty| 1.0 / penalty).collect();
        let solved = problem.solve_path(&strengths, |softmax| {
            match visit(score_table(softmax, &classes, log_prior, self.n_leaves, self.n_labels)) {
                Ok(true) => Ok(()),
                Ok(false) => Err(None),
                Err(error) => Err(Some(error)),
            }
        });
        solved.or_else(|stopped: Option<Error>| stopped.map_or(Ok(()), Err))
    }
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
    // Classes that do not occur keep their frequency beside the others, whose intercepts have an arbitrary level.
    let intercepts = expand(&softmax.intercept);
    let above = |class: &u16| intercepts[usize::from(*class)] - log_prior[usize::from(*class)];
    let level = classes.iter().map(above).sum::<f64>() / classes.len().max(1) as f64;
    let mut start = log_prior.to_vec();
    if outputs > 0 {
        classes.iter().for_each(|&class| start[usize::from(class)] = intercepts[usize::from(class)] - level);
    }
    let scores = match outputs {
        // Without training rows there are no outputs.
        0 => vec![0.0; n_leaves * n_labels * l],
        _ => softmax.coef.chunks_exact(outputs).flat_map(expand).collect(),
    };
    ScoreTable { n_labels, start, scores }
}
