//! Out-of-fold scores: every expert fitted to the other folds and applied to the held-out rows.

use crate::{
    data::Row,
    error::Error,
    evidence::{Evidence, Tally},
    math::log_normalise,
    methods::ladder::{
        cells::PatternCell,
        experts::{self, Expert},
        folds::Folds,
        hierarchy::Hierarchy,
        leaf_counts::LeafCounts,
        pool::HeldOutCase,
        regression::{PENALTIES, RegressionRows},
        score_table::ScoreTable,
        semi_supervised::LabelledFit,
    },
    parallel,
    progress::Control,
};

/// Gain of held-out log score, in nats, below which no weaker penalty is tried in a single fold.
const MIN_PENALTY_GAIN: f64 = 1.0;
/// Coefficients per labelled row above which there is no regression.
const MAX_COEFFICIENTS_PER_ROW: f64 = 64.0;
/// Labels of all leaves above which there is none: its cost grows with their square.
const MAX_INPUTS: usize = 4096;

/// What all fits share: those of the folds and that of all rows.
pub(super) struct ExpertFits<'a> {
    pub(super) panel: &'a Evidence,
    pub(super) tally: &'a Tally,
    pub(super) cells: &'a [PatternCell],
    /// Rows of each class without any prediction; they count in the class frequencies and are never held out.
    pub(super) unanswered: &'a [f64],
    pub(super) names_classes: bool,
    /// Whether classes look exchangeable, so that one accuracy per leaf says more than its confusions.
    pub(super) exchangeable: bool,
    /// Weights of the leaves, from all labelled rows: family weight times probability of being informative.
    pub(super) leaf_weights: &'a [f64],
    /// None where there is no regression.
    pub(super) regression: Option<&'a RegressionRows>,
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
        let mut experts = vec![if self.exchangeable { Expert::Accuracies } else { Expert::Confusions }];
        if self.panel.unlabelled_rows().is_some() {
            experts.push(Expert::Unlabelled);
        }
        if self.panel.total() == 0 {
            return experts;
        }
        experts.extend([Expert::Votes, Expert::BestClassifier]);
        if self.regression.is_some() {
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
    pub(super) fn out_of_fold(&self, folds: &Folds, control: &Control<'_>) -> Result<OutOfFold, Error> {
        let parts = parallel::map(folds.n_held_out, |fold| self.score_fold(fold, folds, control));
        let (mut cases, mut paths) = (Vec::new(), Vec::new());
        for part in parts {
            let (of_fold, of_path) = part?;
            cases.extend(of_fold);
            paths.extend(of_path);
        }
        let penalty = self.choose_penalty(&mut cases, &paths);
        Ok(OutOfFold { cases, penalty, share: folds.share })
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
        // All cases have as many penalties. Of equal ones the first, which is shrunk most.
        let n_tried = paths.first().map_or(0, |path| path.len() / l);
        let best = (1..n_tried).fold(0, |best, at| if sums[at] > sums[best] { at } else { best });
        for (case, path) in cases.iter_mut().zip(paths).filter(|(_, path)| !path.is_empty()) {
            case.scores.extend_from_slice(&path[best * l..(best + 1) * l]);
        }
        best
    }

    /// Held-out cases of one fold, with the scores of the regression at every penalty beside them.
    fn score_fold(
        &self,
        fold: usize,
        folds: &Folds,
        control: &Control<'_>,
    ) -> Result<(Vec<HeldOutCase>, Vec<Vec<f64>>), Error> {
        let [training, held_out] = folds.split(fold);
        let cells: Vec<usize> = (0..self.cells.len()).filter(|&at| held_out[at] > 0.0).collect();
        let row = |at: usize| self.tally.pattern(self.cells[at].pattern as usize);
        let l = self.panel.n_classes();
        let mut paths = vec![Vec::new(); cells.len()];
        let (mut scores, mut last) = (vec![0.0; l], f64::NEG_INFINITY);
        let tables = self.fit(&training, Some(&held_out), &PENALTIES, control, |table| {
            let mut log_score = 0.0;
            for (path, &at) in paths.iter_mut().zip(&cells) {
                table.score(row(at), &mut scores);
                path.extend_from_slice(&scores);
                log_normalise(&mut scores);
                log_score += held_out[at] * scores[usize::from(self.cells[at].truth)];
            }
            // Several folds must try the same penalties.
            let goes_on = folds.n_held_out > 1 || log_score > last + MIN_PENALTY_GAIN;
            last = log_score;
            goes_on
        })?;
        let case = |&at: &usize| {
            let mut scores = vec![0.0; tables.len() * l];
            for (table, scores) in tables.iter().zip(scores.chunks_exact_mut(l.max(1))) {
                table.score(row(at), scores);
            }
            let PatternCell { pattern, truth, .. } = self.cells[at];
            let same = |at: &usize| self.cells[*at].pattern == pattern;
            let first = (0..at).rev().take_while(same).last().unwrap_or(at);
            let mut pattern_rows = vec![0.0; l];
            for at in (first..self.cells.len()).take_while(same) {
                pattern_rows[usize::from(self.cells[at].truth)] = training[at];
            }
            HeldOutCase { truth, rows: held_out[at], scores, pattern_rows }
        };
        Ok((cells.iter().map(case).collect(), paths))
    }

    /// The tables of all experts, fitted to all rows.
    pub(super) fn tables(&self, chosen: &OutOfFold, control: &Control<'_>) -> Result<Vec<ScoreTable>, Error> {
        let all: Vec<f64> = self.cells.iter().map(|cell| cell.rows).collect();
        let mut regression = None;
        let mut tables =
            self.fit(&all, None, &PENALTIES[chosen.penalty..=chosen.penalty], control, |table| {
                regression = Some(table);
                true
            })?;
        tables.extend(regression);
        Ok(tables)
    }

    /// Fits every expert to some rows of every cell. Held-out rows join the unlabelled rows, without their truth, as the
    /// rows to be decided do. The regression at each penalty is passed to `visit`, until it returns false.
    fn fit(
        &self,
        training: &[f64],
        held_out: Option<&[f64]>,
        penalties: &[f64],
        control: &Control<'_>,
        mut visit: impl FnMut(ScoreTable) -> bool,
    ) -> Result<Vec<ScoreTable>, Error> {
        let (n, s) = (self.panel.n_classifiers(), self.panel.n_labels());
        let mut counts = LeafCounts::empty(n, s, self.unanswered);
        for (cell, &rows) in self.cells.iter().zip(training).filter(|(_, rows)| **rows > 0.0) {
            counts.add_class(self.tally.pattern(cell.pattern as usize), cell.truth, rows);
        }
        if self.exchangeable {
            counts.average_over_classes();
        }
        let hierarchy = Hierarchy::fit(&counts, self.names_classes);
        let likelihoods = hierarchy.likelihoods(&counts);
        let scores = experts::leaf_scores(&counts, &likelihoods, self.leaf_weights);
        let expert = |counts: &LeafCounts, scores: ScoreTable| {
            if self.exchangeable { experts::contrasts(counts, self.leaf_weights) } else { scores }
        };
        let mut with_unlabelled = None;
        if let Some(unlabelled) = self.panel.unlabelled_rows() {
            let unit = self.panel.unit() as f64;
            let mut rows: Vec<(Row<'_>, f64)> =
                unlabelled.rows().map(|(row, count)| (row, count as f64 / unit)).collect();
            for (cell, &weight) in self.cells.iter().zip(held_out.unwrap_or(&[])) {
                if weight > 0.0 {
                    rows.push((self.tally.pattern(cell.pattern as usize), weight));
                }
            }
            let labelled = LabelledFit {
                counts: &counts,
                hierarchy: &hierarchy,
                scores: &scores,
                leaf_weights: self.leaf_weights,
                exchangeable: self.exchangeable,
            };
            let (expected, scores) = labelled.with_unlabelled(&rows, control)?;
            with_unlabelled = Some(expert(&expected, scores));
        }
        let mut simple = vec![expert(&counts, scores)];
        simple.extend(with_unlabelled);
        if self.panel.total() > 0 {
            simple.push(experts::votes(&counts, self.leaf_weights));
            simple.push(experts::best_classifier(&counts, &likelihoods));
        }
        if let Some(regression) = self.regression {
            let mut n_fitted = 0;
            control.report("ladder: regression", 0, penalties.len())?;
            regression.fit_path(self.cells, training, &counts.log_prior(), penalties, |table| {
                n_fitted += 1;
                control.report("ladder: regression", n_fitted, penalties.len())?;
                Ok(visit(table))
            })?;
        }
        Ok(simple)
    }
}

/// Whether there is a regression: not with too many coefficients for the labelled rows.
pub(super) fn has_regression(panel: &Evidence, cells: &[PatternCell]) -> bool {
    let n_rows: f64 = cells.iter().map(|cell| cell.rows).sum();
    let n_inputs = panel.n_classifiers() * panel.n_labels();
    let n_coefficients = n_inputs * panel.n_classes();
    n_rows > 0.0 && n_inputs <= MAX_INPUTS && n_coefficients as f64 <= MAX_COEFFICIENTS_PER_ROW * n_rows
}
