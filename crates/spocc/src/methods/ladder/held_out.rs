//! Scoring one fold: every choice of model selection, fitted to the other folds and applied to the held-out rows.

use crate::{
    decision::first_best,
    error::Error,
    math::{exp, ln},
    methods::{
        DawidSkene, FittedRule, Scratch,
        ladder::{
            cells::{PatternCell, leaf_predictions},
            fallback::Voting,
            folds::FOLDS,
            leaf_distributions::LeafDistributions,
            norm_tree::{NodeValues, log_normalise},
            pattern_table, residual,
            selection::{ModelSelection, N_FALLBACKS, N_RESIDUALS, N_TABLES},
            shrinkage::LeafCounts,
        },
        naive_bayes::Likelihoods,
    },
    progress::Control,
};

/// The score of one choice on held-out rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldOutScore {
    /// Sum of the log probabilities of the truths.
    pub(super) log: f64,
    /// Rows decided correctly.
    pub(super) correct: f64,
    /// Rows that each fallback decides correctly and this choice does not.
    pub(super) lost: [f64; N_FALLBACKS],
    /// Rows that this choice decides correctly and each fallback does not.
    pub(super) won: [f64; N_FALLBACKS],
    /// Variance of `lost - won`: the sum of squared row weights.
    pub(super) variance: [f64; N_FALLBACKS],
}

/// The scores of all choices, residuals by tables, and the rows that each fallback decides correctly.
pub(super) struct FoldScores {
    pub(super) choices: Vec<HeldOutScore>,
    pub(super) fallbacks: [f64; N_FALLBACKS],
}

impl Default for FoldScores {
    fn default() -> Self {
        Self { choices: vec![HeldOutScore::default(); N_RESIDUALS * N_TABLES], fallbacks: [0.0; N_FALLBACKS] }
    }
}

impl FoldScores {
    /// Adds the scores of other rows.
    pub(super) fn add(&mut self, other: &Self) {
        for (sum, part) in self.choices.iter_mut().zip(&other.choices) {
            sum.log += part.log;
            sum.correct += part.correct;
            for at in 0..N_FALLBACKS {
                sum.lost[at] += part.lost[at];
                sum.won[at] += part.won[at];
                sum.variance[at] += part.variance[at];
            }
        }
        self.fallbacks.iter_mut().zip(other.fallbacks).for_each(|(sum, correct)| *sum += correct);
    }

    /// Scales to `times` as many rows. These are no more certain: the variance grows with the square.
    pub(super) fn scale(&mut self, times: f64) {
        for score in &mut self.choices {
            score.log *= times;
            score.correct *= times;
            [&mut score.lost, &mut score.won].into_iter().flatten().for_each(|rows| *rows *= times);
            score.variance.iter_mut().for_each(|variance| *variance *= times * times);
        }
        self.fallbacks.iter_mut().for_each(|correct| *correct *= times);
    }
}

impl ModelSelection<'_> {
    /// Scores all choices on one fold, fitted to the others.
    pub(super) fn score_fold(&self, fold: usize, control: &Control<'_>) -> Result<FoldScores, Error> {
        let (counts, training) = self.training_counts(fold);
        let leaves = LeafDistributions::new(&counts, self.weights, !self.penalties().is_empty());
        let mut nodes = NodeValues::default();
        let mut tree_scores = |cell: &PatternCell, without: Option<u16>, logs: &mut [f64]| {
            logs.copy_from_slice(leaves.log_prior(without));
            let distributions = leaf_predictions(self.tally, cell.pattern)
                .map(|(leaf, j)| (leaf, leaves.distribution(leaf, j, without)));
            self.norm_tree.apply(distributions, logs, &mut nodes);
        };
        let mut held_out = self.held_out_cells(fold, &training, control)?;
        let mut scores = FoldScores::default();
        for case in &mut held_out {
            tree_scores(case.cell, None, &mut case.tree_scores);
            case.score(&case.tree_scores, &mut scores.choices[..N_TABLES]);
            (0..N_FALLBACKS).for_each(|at| scores.fallbacks[at] += case.rows * case.fallbacks[at]);
        }
        let mut at = 0;
        control.report("ladder: residual", 0, N_RESIDUALS)?;
        let l = counts.n_classes();
        let mut logs = vec![0.0; l];
        residual::fit_path(
            self.design,
            self.cells,
            &training,
            [self.weights.len(), counts.n_labels, l],
            self.penalties(),
            |cell, logs| tree_scores(cell, Some(cell.truth), logs),
            |residual| {
                at += 1;
                for case in &held_out {
                    logs.copy_from_slice(&case.tree_scores);
                    residual.add_intercepts(&mut logs);
                    leaf_predictions(self.tally, case.cell.pattern)
                        .for_each(|(leaf, j)| residual.add(leaf, j, 1.0, &mut logs));
                    log_normalise(&mut logs);
                    case.score(&logs, &mut scores.choices[at * N_TABLES..][..N_TABLES]);
                }
                control.report("ladder: residual", at, N_RESIDUALS)
            },
        )?;
        Ok(scores)
    }

    /// The counts of all folds but one, and the rows of every cell among them.
    ///
    /// Counted afresh, because a difference of weights would not be exactly zero where no row is left.
    fn training_counts(&self, fold: usize) -> (LeafCounts, Vec<f64>) {
        let mut counts = self.counts.clone();
        counts.confusions.fill(0.0);
        counts.classes.copy_from_slice(self.unanswered);
        let mut training = Vec::with_capacity(self.cells.len());
        for (cell, folds) in self.cells.iter().zip(self.folds) {
            let rows = (0..FOLDS).filter(|&other| other != fold).map(|other| folds[other]).sum::<f64>();
            training.push(rows);
            let truth = usize::from(cell.truth);
            counts.classes[truth] += rows;
            self.tally.pattern(cell.pattern as usize).for_each(|k, j| {
                let at = counts.at(k, j) + truth;
                counts.confusions[at] += rows;
            });
        }
        (counts, training)
    }

    /// The cells of a fold, with the training rows of their patterns and the decisions of the fallbacks.
    fn held_out_cells(
        &self,
        fold: usize,
        training: &[f64],
        control: &Control<'_>,
    ) -> Result<Vec<HeldOutCell<'_>>, Error> {
        let l = self.counts.n_classes();
        let most_accurate = self.most_accurate(training);
        let dawid_skene = self.dawid_skene(training, control)?;
        let mut scratch = Scratch::default();
        let mut votes = vec![0.0; l];
        let (mut cases, mut start) = (Vec::new(), 0);
        for cells in self.cells.chunk_by(|a, b| a.pattern == b.pattern) {
            let range = start..start + cells.len();
            start = range.end;
            if self.folds[range.clone()].iter().all(|folds| folds[fold] == 0.0) {
                continue;
            }
            let mut pattern_rows = vec![0.0; l];
            cells
                .iter()
                .zip(&training[range.clone()])
                .for_each(|(cell, &rows)| pattern_rows[usize::from(cell.truth)] = rows);
            let row = self.tally.pattern(cells[0].pattern as usize);
            let by_most_accurate = most_accurate.count(row, &mut votes).then(|| first_largest(&votes));
            let fitted = dawid_skene.as_ref().filter(|fitted| fitted.surprisals(row, &mut scratch));
            let by_dawid_skene = fitted.map(|_| first_best(&scratch.out));
            for (at, cell) in range.zip(cells).filter(|(at, _)| self.folds[*at][fold] > 0.0) {
                cases.push(HeldOutCell {
                    cell,
                    rows: self.folds[at][fold],
                    row_weight: self.counts.row_weights[usize::from(cell.truth)],
                    tree_scores: vec![0.0; l],
                    pattern_rows: pattern_rows.clone(),
                    fallbacks: [
                        self.majority_accuracy[at],
                        f64::from(by_most_accurate == Some(cell.truth.into())),
                        f64::from(by_dawid_skene == Some(cell.truth.into())),
                    ],
                });
            }
        }
        Ok(cases)
    }

    /// The most accurate leaf on the training rows.
    fn most_accurate(&self, training: &[f64]) -> Voting {
        let n = self.weights.len();
        let (mut correct, mut n_answered, mut total) = (vec![0.0; n], vec![0.0; n], 0.0);
        for (cell, &rows) in self.cells.iter().zip(training) {
            total += rows;
            self.tally.pattern(cell.pattern as usize).for_each(|k, j| {
                n_answered[k] += rows;
                correct[k] += if j == cell.truth { rows } else { 0.0 };
            });
        }
        let leaves: Vec<usize> = (0..n).collect();
        Voting::most_accurate(&leaves, &correct, &n_answered, total, n)
    }

    /// Dawid-Skene fitted to the training rows and the unlabelled rows; none without unlabelled rows.
    fn dawid_skene(&self, training: &[f64], control: &Control<'_>) -> Result<Option<Likelihoods>, Error> {
        if self.panel.unlabelled_rows().is_none() {
            return Ok(None);
        }
        let unit = self.panel.unit() as f64;
        // The tally's last cells, rows without predictions, are not among the training rows.
        let count = |cell: usize| training.get(cell).map_or(0, |rows| (rows * unit).round() as u64);
        let tally = self.tally.keeping(|cell, _| count(cell));
        Ok(Some(DawidSkene::likelihoods(&self.panel.with_labelled(tally), control)?))
    }
}

/// The index of the first of the largest values.
fn first_largest(values: &[f64]) -> usize {
    (1..values.len()).fold(0, |best, at| if values[at] > values[best] { at } else { best })
}

/// Held-out rows of one pattern and truth.
struct HeldOutCell<'a> {
    cell: &'a PatternCell,
    rows: f64,
    /// Weight of one of the rows.
    row_weight: f64,
    /// Log probabilities of the norm tree.
    tree_scores: Vec<f64>,
    /// Training rows of the pattern, by class.
    pattern_rows: Vec<f64>,
    /// Share of the rows that each fallback decides correctly.
    fallbacks: [f64; N_FALLBACKS],
}

impl HeldOutCell<'_> {
    /// Adds the score of log probabilities without a pattern table and with each.
    fn score(&self, logs: &[f64], scores: &mut [HeldOutScore]) {
        let truth = usize::from(self.cell.truth);
        let n_rows: f64 = self.pattern_rows.iter().sum();
        let decided = first_largest(logs);
        self.add(logs[truth], decided, &mut scores[0]);
        if n_rows == 0.0 {
            scores[1..].iter_mut().for_each(|score| self.add(logs[truth], decided, score));
            return;
        }
        let probabilities: Vec<f64> = logs.iter().map(|&log| exp(log)).collect();
        for (score, &shrinkage) in scores[1..].iter_mut().zip(&pattern_table::SHRINKAGE_GRID) {
            let pooled: Vec<f64> = probabilities
                .iter()
                .zip(&self.pattern_rows)
                .map(|(probability, rows)| rows + shrinkage * probability)
                .collect();
            self.add(ln(pooled[truth] / (n_rows + shrinkage)), first_largest(&pooled), score);
        }
    }

    /// Adds the log probability of the truth and the class decided to a score.
    fn add(&self, log: f64, decided: usize, score: &mut HeldOutScore) {
        let is_correct = decided == usize::from(self.cell.truth);
        score.log += self.rows * log;
        score.correct += if is_correct { self.rows } else { 0.0 };
        for (at, share) in self.fallbacks.iter().enumerate() {
            let differing = self.rows * if is_correct { 1.0 - share } else { *share };
            let side = if is_correct { &mut score.won } else { &mut score.lost };
            side[at] += differing;
            score.variance[at] += differing * self.row_weight;
        }
    }
}
