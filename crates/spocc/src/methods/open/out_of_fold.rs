//! Out-of-fold scores: every expert fitted to the other folds and applied to the held-out rows.

use crate::{
    data::Row,
    error::Error,
    evidence::{Evidence, Tally},
    math::log_normalise,
    methods::{
        ladder::{Expert, Folds, HeldOutCase, PatternCell},
        open::{
            Experts,
            conditional_logit::{LogitRows, PENALTIES},
            experts::{CandidateScores, LeafAccuracies},
        },
    },
    parallel,
    progress::Control,
};

/// What all fits share: those of the folds and that of all rows.
pub(super) struct CandidateFits<'a> {
    pub(super) panel: &'a Evidence,
    pub(super) tally: &'a Tally,
    pub(super) cells: &'a [PatternCell],
    pub(super) leaf_weights: &'a [f64],
    /// None where there is no regression.
    pub(super) regression: Option<LogitRows<'a>>,
    pub(super) which: Experts,
}

/// The scores of the regression on one case, at every penalty.
type ScorePath = Vec<Vec<f64>>;

/// Held-out cases, and the penalty of the regression that scores best on them.
pub(super) struct HeldOutAnswers {
    pub(super) cases: Vec<HeldOutCase>,
    pub(super) penalty: f64,
}

impl CandidateFits<'_> {
    /// The experts that this evidence supports.
    pub(super) fn experts(&self) -> Vec<Expert> {
        if self.which != Experts::All {
            return vec![Expert::Regression];
        }
        let mut experts = vec![Expert::Accuracies];
        if self.panel.unlabelled_rows().is_some() {
            experts.push(Expert::Unlabelled);
        }
        experts.push(Expert::Votes);
        if self.panel.total() > 0 {
            experts.push(Expert::BestClassifier);
        }
        if self.regression.is_some() {
            experts.push(Expert::Regression);
        }
        experts
    }

    /// Prior weights of the experts, which sum to 1.
    pub(super) fn prior_weights(&self) -> Vec<f64> {
        let prior = |expert: &Expert| match expert {
            Expert::Votes => 0.35,
            Expert::BestClassifier => 0.1,
            Expert::Regression => 0.25,
            _ => 0.15,
        };
        let weights: Vec<f64> = self.experts().iter().map(prior).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / total).collect()
    }

    /// Scores all held-out rows.
    pub(super) fn out_of_fold(&self, folds: &Folds, control: &Control<'_>) -> Result<HeldOutAnswers, Error> {
        let of_folds = parallel::map(folds.n_held_out, |fold| self.score_fold(fold, folds, control));
        let mut cases = Vec::new();
        let mut paths: Vec<ScorePath> = Vec::new();
        for of_fold in of_folds {
            let (of_fold, path) = of_fold?;
            cases.extend(of_fold);
            paths.extend(path);
        }
        // Of penalties that score alike, the strongest.
        let log_score = |at: usize| -> f64 {
            let of_case = |(case, path): (&HeldOutCase, &ScorePath)| {
                path.get(at).map_or(0.0, |scores| {
                    let mut scores = scores.clone();
                    log_normalise(&mut scores);
                    case.rows * scores[usize::from(case.truth)]
                })
            };
            cases.iter().zip(&paths).map(of_case).sum()
        };
        let sums: Vec<f64> = (0..PENALTIES.len()).map(log_score).collect();
        let best = (1..sums.len()).fold(0, |best, at| if sums[at] > sums[best] { at } else { best });
        let n_experts = self.experts().len();
        for (case, path) in cases.iter_mut().zip(&paths) {
            if let Some(scores) = path.get(best) {
                case.scores.extend_from_slice(scores);
            }
            // The score of "none of these" is fitted with the pool.
            let n_candidates = case.scores.len() / n_experts;
            case.scores.push(1.0);
            case.scores.resize(case.scores.len() + n_candidates - 1, 0.0);
        }
        Ok(HeldOutAnswers { cases, penalty: PENALTIES[best] })
    }

    /// Held-out cases of one fold, with the scores of the regression at every penalty beside them.
    fn score_fold(
        &self,
        fold: usize,
        folds: &Folds,
        control: &Control<'_>,
    ) -> Result<(Vec<HeldOutCase>, Vec<ScorePath>), Error> {
        let [training, held_out] = folds.split(fold);
        let cells: Vec<usize> = (0..self.cells.len()).filter(|&at| held_out[at] > 0.0).collect();
        let row = |at: usize| self.tally.pattern(self.cells[at].pattern as usize);
        let mut paths = vec![Vec::new(); cells.len()];
        let mut scores = Vec::new();
        let simple = self.fit(&training, Some(&held_out), &PENALTIES, control, |regression| {
            for (path, &at) in paths.iter_mut().zip(&cells) {
                regression.score(row(at), &mut scores);
                path.push(scores.clone());
            }
        })?;
        let case = |&at: &usize| {
            let mut all = Vec::new();
            let mut scores = Vec::new();
            for expert in &simple {
                expert.score(row(at), &mut scores);
                all.extend_from_slice(&scores);
            }
            let truth = self.cells[at].truth;
            HeldOutCase { truth, rows: held_out[at], scores: all, pattern_rows: Vec::new() }
        };
        Ok((cells.iter().map(case).collect(), paths))
    }

    /// The scores of all experts, fitted to all rows.
    pub(super) fn scores(&self, penalty: f64, control: &Control<'_>) -> Result<Vec<CandidateScores>, Error> {
        let all: Vec<f64> = self.cells.iter().map(|cell| cell.rows).collect();
        let mut regression = None;
        let mut scores = self.fit(&all, None, &[penalty], control, |fitted| regression = Some(fitted))?;
        if self.which != Experts::All {
            scores.clear();
        }
        scores.extend(regression);
        if scores.is_empty() {
            let found = self.panel.n_classifiers().to_string();
            let expected = "labelled rows of at most 4096 classifiers for a conditional logit";
            return Err(Error::OpenAnswers { expected, found });
        }
        Ok(scores)
    }

    /// Fits every expert to some rows of every cell. Held-out rows join the unlabelled rows, without their truth, as the
    /// rows to be decided do. The regression at each penalty is passed to `visit`.
    fn fit(
        &self,
        training: &[f64],
        held_out: Option<&[f64]>,
        penalties: &[f64],
        control: &Control<'_>,
        visit: impl FnMut(CandidateScores),
    ) -> Result<Vec<CandidateScores>, Error> {
        let mut simple = Vec::new();
        if self.which == Experts::All {
            let counts = LeafAccuracies::count(self.tally, self.cells, training, self.leaf_weights);
            simple.push(counts.contrasts());
            if let Some(unlabelled) = self.panel.unlabelled_rows() {
                let unit = self.panel.unit() as f64;
                let mut rows: Vec<(Row<'_>, f64)> =
                    unlabelled.rows().map(|(row, count)| (row, count as f64 / unit)).collect();
                for (cell, &weight) in self.cells.iter().zip(held_out.unwrap_or(&[])) {
                    if weight > 0.0 {
                        rows.push((self.tally.pattern(cell.pattern as usize), weight));
                    }
                }
                simple.push(counts.with_unlabelled(&rows, control)?);
            }
            simple.push(counts.votes());
            if self.panel.total() > 0 {
                simple.push(counts.best_classifier());
            }
        }
        if let Some(regression) = &self.regression {
            control.report("ladder: regression", 0, penalties.len())?;
            regression.fit_path(training, penalties, visit);
            control.report("ladder: regression", penalties.len(), penalties.len())?;
        }
        Ok(simple)
    }
}
