//! Out-of-fold scores: every expert fitted to the other folds and applied to the held-out rows.

use std::sync::Arc;

use crate::{
    data::Row,
    error::Error,
    evidence::{Evidence, Tally},
    methods::{
        ladder::{
            cells::PatternCell,
            experts::{self, Expert},
            folds::FOLDS,
            hierarchy::Hierarchy,
            leaf_counts::LeafCounts,
            pool::{HeldOutCase, log_normalise},
            regression::{self, PENALTIES},
            score_table::ScoreTable,
            semi_supervised,
        },
        softmax::Design,
    },
    parallel,
    progress::Control,
};

/// Number of cells above which a single fold is held out.
const MAX_CELLS_FOR_ALL_FOLDS: usize = 1 << 16;
/// Coefficients per labelled row above which there is no regression.
const MAX_COEFFICIENTS_PER_ROW: f64 = 64.0;

/// What all fits share: those of the folds and that of all rows.
pub(super) struct ExpertFits<'a> {
    pub(super) panel: &'a Evidence,
    pub(super) tally: &'a Tally,
    pub(super) cells: &'a [PatternCell],
    /// Rows of each class without any prediction; they count in the class frequencies and are never held out.
    pub(super) unanswered: &'a [f64],
    pub(super) names_classes: bool,
    /// Weights of the leaves, from all labelled rows: family weight times probability of being informative.
    pub(super) leaf_weights: &'a [f64],
    pub(super) design: &'a Arc<Design>,
}

/// The tables of one fit. The regression has one per penalty.
struct ExpertTables {
    simple: Vec<ScoreTable>,
    regressions: Vec<ScoreTable>,
}

/// Held-out cases, and the penalty of the regression that scores best on them.
pub(super) struct OutOfFold {
    pub(super) cases: Vec<HeldOutCase>,
    penalty: usize,
    /// Share of the rows that were held out.
    pub(super) share: f64,
}

impl ExpertFits<'_> {
    /// The experts that this evidence supports.
    pub(super) fn experts(&self) -> Vec<Expert> {
        let mut experts = vec![Expert::Confusions];
        if self.panel.unlabelled_rows().is_some() {
            experts.push(Expert::Unlabelled);
        }
        if self.panel.total() == 0 {
            return experts;
        }
        experts.extend([Expert::Votes, Expert::BestClassifier]);
        let n_rows: f64 = self.cells.iter().map(|cell| cell.rows).sum();
        let n_coefficients = self.panel.n_classifiers() * self.panel.n_labels() * self.panel.n_classes();
        if n_coefficients as f64 <= MAX_COEFFICIENTS_PER_ROW * n_rows {
            experts.push(Expert::Regression);
        }
        experts
    }

    /// Prior weights of the experts, which sum to 1; the confusions take the place of experts that are not there.
    pub(super) fn prior_weights(&self) -> Vec<f64> {
        let experts = self.experts();
        // Without labelled rows the confusions are those that labels mean what they say, where expectation-maximisation
        // starts.
        if experts == [Expert::Confusions, Expert::Unlabelled] {
            return vec![0.0, 1.0];
        }
        let mut weights: Vec<f64> = experts.iter().map(|expert| expert.prior_weight()).collect();
        weights[0] += 1.0 - weights.iter().sum::<f64>();
        weights
    }

    /// Scores every expert on held-out rows.
    pub(super) fn out_of_fold(
        &self,
        folds: &[[f64; FOLDS]],
        control: &Control<'_>,
    ) -> Result<OutOfFold, Error> {
        let n_held_out = if self.cells.len() > MAX_CELLS_FOR_ALL_FOLDS { 1 } else { FOLDS };
        let parts = parallel::map(n_held_out, |fold| self.score_fold(fold, folds, control));
        let (mut cases, mut paths) = (Vec::new(), Vec::new());
        for part in parts {
            let (of_fold, of_path) = part?;
            cases.extend(of_fold);
            paths.extend(of_path);
        }
        let penalty = self.choose_penalty(&mut cases, &paths);
        Ok(OutOfFold { cases, penalty, share: n_held_out as f64 / FOLDS as f64 })
    }

    /// Chooses the penalty of the regression by its log score and appends its scores to the cases.
    fn choose_penalty(&self, cases: &mut [HeldOutCase], paths: &[Vec<f64>]) -> usize {
        let l = self.panel.n_classes().max(1);
        let mut logs = vec![0.0; l];
        let mut sums = [0.0; PENALTIES.len()];
        for (case, path) in cases.iter().zip(paths) {
            for (sum, scores) in sums.iter_mut().zip(path.chunks_exact(l)) {
                logs.copy_from_slice(scores);
                log_normalise(&mut logs);
                *sum += case.rows * logs[usize::from(case.truth)];
            }
        }
        // Of equal ones the first, which is shrunk most.
        let best = (1..sums.len()).fold(0, |best, at| if sums[at] > sums[best] { at } else { best });
        for (case, path) in cases.iter_mut().zip(paths).filter(|(_, path)| !path.is_empty()) {
            case.scores.extend_from_slice(&path[best * l..(best + 1) * l]);
        }
        best
    }

    /// Held-out cases of one fold, with the scores of the regression at every penalty beside them.
    fn score_fold(
        &self,
        fold: usize,
        folds: &[[f64; FOLDS]],
        control: &Control<'_>,
    ) -> Result<(Vec<HeldOutCase>, Vec<Vec<f64>>), Error> {
        let training: Vec<f64> = folds
            .iter()
            .map(|rows| (0..FOLDS).filter(|&other| other != fold).map(|other| rows[other]).sum())
            .collect();
        let held_out: Vec<f64> = folds.iter().map(|rows| rows[fold]).collect();
        let tables = self.fit(&training, Some(&held_out), &PENALTIES, control)?;
        let l = self.panel.n_classes();
        let (mut cases, mut paths) = (Vec::new(), Vec::new());
        let mut pattern_rows = vec![0.0; l];
        let mut pattern = u32::MAX;
        for (at, (cell, &rows)) in self.cells.iter().zip(&held_out).enumerate() {
            if rows == 0.0 {
                continue;
            }
            if cell.pattern != pattern {
                pattern = cell.pattern;
                pattern_rows.fill(0.0);
                let same = |at: &usize| self.cells[*at].pattern == pattern;
                let first = (0..at).rev().take_while(same).last().unwrap_or(at);
                for at in (first..self.cells.len()).take_while(same) {
                    pattern_rows[usize::from(self.cells[at].truth)] = training[at];
                }
            }
            let row = self.tally.pattern(cell.pattern as usize);
            let score = |tables: &[ScoreTable]| {
                let mut scores = vec![0.0; tables.len() * l];
                for (table, scores) in tables.iter().zip(scores.chunks_exact_mut(l.max(1))) {
                    table.score(row, scores);
                }
                scores
            };
            cases.push(HeldOutCase {
                truth: cell.truth,
                rows,
                scores: score(&tables.simple),
                pattern_rows: pattern_rows.clone(),
            });
            paths.push(score(&tables.regressions));
        }
        Ok((cases, paths))
    }

    /// The tables of all experts, fitted to all rows.
    pub(super) fn tables(&self, chosen: &OutOfFold, control: &Control<'_>) -> Result<Vec<ScoreTable>, Error> {
        let all: Vec<f64> = self.cells.iter().map(|cell| cell.rows).collect();
        let mut tables = self.fit(&all, None, &PENALTIES[..=chosen.penalty], control)?;
        tables.simple.extend(tables.regressions.pop());
        Ok(tables.simple)
    }

    /// Fits every expert to some rows of every cell. Held-out rows join the unlabelled rows, without their truth, as the
    /// rows to be decided do.
    fn fit(
        &self,
        training: &[f64],
        held_out: Option<&[f64]>,
        penalties: &[f64],
        control: &Control<'_>,
    ) -> Result<ExpertTables, Error> {
        let (n, s) = (self.panel.n_classifiers(), self.panel.n_labels());
        let mut counts = LeafCounts::empty(n, s, self.unanswered);
        for (cell, &rows) in self.cells.iter().zip(training).filter(|(_, rows)| **rows > 0.0) {
            counts.add_class(self.tally.pattern(cell.pattern as usize), cell.truth, rows);
        }
        let hierarchy = Hierarchy::fit(&counts, self.names_classes);
        let likelihoods = hierarchy.likelihoods(&counts);
        let mut simple = vec![experts::leaf_scores(&counts, &likelihoods, self.leaf_weights)];
        let kinds = self.experts();
        if let Some(unlabelled) = self.panel.unlabelled_rows() {
            let unit = self.panel.unit() as f64;
            let mut rows: Vec<(Row<'_>, f64)> =
                unlabelled.rows().map(|(row, count)| (row, count as f64 / unit)).collect();
            for (cell, &weight) in self.cells.iter().zip(held_out.unwrap_or(&[])) {
                if weight > 0.0 {
                    rows.push((self.tally.pattern(cell.pattern as usize), weight));
                }
            }
            simple.push(semi_supervised::fit(
                &counts,
                &hierarchy,
                self.leaf_weights,
                &rows,
                &simple[0],
                control,
            )?);
        }
        let mut regressions = Vec::new();
        if kinds.contains(&Expert::Votes) {
            simple.push(experts::votes(&counts, self.leaf_weights));
            simple.push(experts::best_classifier(&counts, &likelihoods));
        }
        if kinds.contains(&Expert::Regression) {
            let log_prior = counts.log_prior();
            control.report("ladder: regression", 0, penalties.len())?;
            regression::fit_path(
                self.design,
                self.cells,
                training,
                &log_prior,
                [n, s],
                penalties,
                |table| {
                    regressions.push(table);
                    control.report("ladder: regression", regressions.len(), penalties.len())
                },
            )?;
        }
        Ok(ExpertTables { simple, regressions })
    }
}
