//! Model selection: how much of each stage to use, by one rule on held-out rows.
//!
//! The held-out log score, summed over the folds, chooses the penalty of the residual and the shrinkage of the pattern
//! table; no residual and no table are among the choices. On the same rows the chosen model is compared with the
//! [fallbacks](super::fallback), one of which takes over if it is clearly more accurate.

use std::sync::Arc;

use crate::{
    error::Error,
    evidence::{Evidence, Tally},
    methods::{
        ladder::{
            cells::PatternCell,
            folds::FOLDS,
            held_out::{FoldScores, HeldOutScore},
            norm_tree::NormTree,
            pattern_table,
            residual::PENALTIES,
            shrinkage::{LeafCounts, ShrinkageWeights},
        },
        softmax::Design,
    },
    parallel,
    progress::Control,
};

/// Number of cells above which a single fold is held out.
const MAX_CELLS_FOR_ALL_FOLDS: usize = 1 << 16;
/// Coefficients per labelled row above which no residual is tried.
const MAX_COEFFICIENTS_PER_ROW: f64 = 64.0;
/// Choices of stage 2: no residual, and one per penalty.
pub(super) const N_RESIDUALS: usize = 1 + PENALTIES.len();
/// Choices of stage 3: no table, and one per shrinkage.
pub(super) const N_TABLES: usize = 1 + pattern_table::SHRINKAGE_GRID.len();
/// Held-out log score that a pattern table must gain, in nats.
const MIN_TABLE_GAIN: f64 = 2.0;
/// Number of fallbacks: majority, most accurate classifier, Dawid-Skene (with unlabelled rows only).
pub(super) const N_FALLBACKS: usize = 3;

/// Everything that the folds share.
pub(super) struct ModelSelection<'a> {
    /// The evidence of the leaves.
    pub(super) panel: &'a Evidence,
    pub(super) tally: &'a Tally,
    pub(super) cells: &'a [PatternCell],
    /// Rows of each class without any prediction; they count in the class frequencies and are never held out.
    pub(super) unanswered: &'a [f64],
    /// Share of the rows of every cell that the majority of all classifiers decides correctly.
    pub(super) majority_accuracy: &'a [f64],
    /// Rows of every cell in each fold.
    pub(super) folds: &'a [[f64; FOLDS]],
    pub(super) counts: &'a LeafCounts,
    pub(super) weights: &'a [ShrinkageWeights],
    /// Parameters to all rows: its few parameters are not refitted per fold, its distributions are.
    pub(super) norm_tree: &'a NormTree,
    pub(super) design: &'a Arc<Design>,
}

/// What model selection chose.
#[derive(Clone, Debug)]
pub(super) struct SelectedModel {
    /// Index into [`PENALTIES`].
    pub(super) residual: Option<usize>,
    /// Index into [`pattern_table::SHRINKAGE_GRID`].
    pub(super) table: Option<usize>,
    /// Held-out rows decided correctly by the ladder and by each fallback.
    pub(super) correct: [f64; 1 + N_FALLBACKS],
    /// The fallback that decides in place of the ladder.
    pub(super) fallback: Option<usize>,
}

impl ModelSelection<'_> {
    /// Scores all choices on held-out rows and chooses.
    pub(super) fn select(&self, control: &Control<'_>) -> Result<SelectedModel, Error> {
        let FoldScores { choices, fallbacks } = self.held_out_scores(control)?;
        let n_choices = (1 + self.penalties().len()) * N_TABLES;
        let gain =
            |at: usize| choices[at].log - if at.is_multiple_of(N_TABLES) { 0.0 } else { MIN_TABLE_GAIN };
        // Of equal choices the first one, which is shrunk most.
        let best = (1..n_choices).fold(0, |best, at| if gain(at) > gain(best) { at } else { best });
        Ok(SelectedModel {
            residual: (best / N_TABLES).checked_sub(1),
            table: (best % N_TABLES).checked_sub(1),
            correct: [choices[best].correct, fallbacks[0], fallbacks[1], fallbacks[2]],
            fallback: self.preferred_fallback(&choices[best], &fallbacks),
        })
    }

    /// The scores of all folds; with many cells those of the first fold, scaled up to all rows.
    fn held_out_scores(&self, control: &Control<'_>) -> Result<FoldScores, Error> {
        let n_held_out = if self.cells.len() > MAX_CELLS_FOR_ALL_FOLDS { 1 } else { FOLDS };
        let mut sum = FoldScores::default();
        for fold in parallel::map(n_held_out, |fold| self.score_fold(fold, control)) {
            sum.add(&fold?);
        }
        sum.scale((FOLDS / n_held_out) as f64);
        Ok(sum)
    }

    /// The fallback that is clearly more accurate than the ladder on held-out rows, the most accurate of several.
    ///
    /// A fallback must be ahead by one row and two standard errors, because the best of several candidates is partly
    /// luck. The majority needs no labelled rows to be accurate: one standard error is enough, and with few labelled rows
    /// per classifier it is preferred unless it is behind.
    fn preferred_fallback(&self, ladder: &HeldOutScore, fallbacks: &[f64; N_FALLBACKS]) -> Option<usize> {
        // In a crowd each worker labels a few rows only, however many rows there are.
        let n_predictions: f64 = self.counts.confusions.iter().sum();
        let rows_per_classifier = n_predictions / self.weights.len().max(1) as f64;
        let allowance = [60.0 / (rows_per_classifier + 10.0), 0.0, 0.0];
        let standard_errors = [1.0, 2.0, 2.0];
        let lead = |at: usize| {
            let [lost, won] = [ladder.lost[at], ladder.won[at]];
            let allowance = if lost >= won { allowance[at] } else { 0.0 };
            lost - won + allowance - standard_errors[at] * ladder.variance[at].sqrt() - 1.0
        };
        (0..N_FALLBACKS)
            .filter(|&at| lead(at) >= 0.0)
            .max_by(|&a, &b| fallbacks[a].total_cmp(&fallbacks[b]).then(b.cmp(&a)))
    }

    /// Penalties to try: none if there are too many coefficients per labelled row.
    pub(super) fn penalties(&self) -> &'static [f64] {
        let n_rows: f64 = self.cells.iter().map(|cell| cell.rows).sum();
        let n_coefficients = self.counts.confusions.len() as f64;
        if n_coefficients > MAX_COEFFICIENTS_PER_ROW * n_rows { &[] } else { &PENALTIES }
    }
}
