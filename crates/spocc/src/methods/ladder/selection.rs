//! How high to climb: every rung judged on rows that it did not learn from, by one rule.
//!
//! The log score of rows left out, fold by fold, decides how strongly the residual is pulled back to the core and
//! the pattern table to the residual; no residual and no table are among the choices. The core's few parameters stay
//! those of all rows, its counts are those of the other folds. In the same folds the whole is compared with the
//! majority and with the classifier that was best in the other folds.

use std::sync::Arc;

use crate::{
    decision::first_best,
    error::Error,
    evidence::{Evidence, Tally},
    math::{exp, ln},
    methods::{
        DawidSkene, Judge, Scratch,
        ladder::{
            fallback::Voters,
            folds::FOLDS,
            norm_tree::{Cell, Core, Nodes, log_normalise},
            pattern_table,
            residual::{self, PENALTIES},
            shrinkage::{Counts, Leaves, Weights},
        },
        naive_bayes::Likelihoods,
        softmax::Design,
    },
    parallel,
    progress::Control,
};

/// Cells above which one fold is enough to judge on.
const MANY_CELLS: usize = 1 << 16;
/// Numbers of a residual per labelled row above which none is tried.
const MOST_NUMBERS: f64 = 64.0;
/// The core alone and one residual per penalty.
const RESIDUALS: usize = 1 + PENALTIES.len();
/// No table and one per pull.
const TABLES: usize = 1 + pattern_table::PULLS.len();
/// Logarithmic score that a table must gain to be worth its many numbers.
const WORTH: f64 = 2.0;
/// Majority, best one and, where there are rows without truth, what those say among themselves.
pub(super) const RIVALS: usize = 3;

/// Everything a fold looks at.
pub(super) struct Climb<'a> {
    /// Of the leaves.
    pub(super) panel: &'a Evidence,
    pub(super) tally: &'a Tally,
    pub(super) cells: &'a [Cell],
    /// Rows of each class on which nobody speaks: nobody is judged on them.
    pub(super) silent: &'a [f64],
    /// Share of the rows of every cell on which the majority of all classifiers is right.
    pub(super) majority: &'a [f64],
    pub(super) parts: &'a [[f64; FOLDS]],
    pub(super) counts: &'a Counts,
    pub(super) weights: &'a [Weights],
    pub(super) core: &'a Core,
    pub(super) design: &'a Arc<Design>,
}

/// What rows left out say of one choice.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    log: f64,
    right: f64,
    /// Rows on which a rival is right and this is not, and the other way round.
    lost: [f64; RIVALS],
    won: [f64; RIVALS],
    /// Variance of their difference, as rows come one by one, each with its weight.
    noise: [f64; RIVALS],
}

impl Score {
    /// Takes its rows for so many times as many. They are no more certain for that: noise grows with the square.
    fn stand_for(&mut self, times: f64) {
        self.log *= times;
        self.right *= times;
        [&mut self.lost, &mut self.won].into_iter().flatten().for_each(|rows| *rows *= times);
        self.noise.iter_mut().for_each(|noise| *noise *= times * times);
    }
}

/// What rows left out decided.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// Place among [`PENALTIES`].
    pub(super) residual: Option<usize>,
    /// Place among the pulls of tables.
    pub(super) table: Option<usize>,
    /// Rows decided rightly by the ladder and by each rival.
    pub(super) right: [f64; 1 + RIVALS],
    /// Which rival the evidence prefers.
    pub(super) rival: Option<usize>,
}

impl Climb<'_> {
    /// Judges all choices on all folds, or on one that stands for all.
    pub(super) fn choose(&self, control: &Control<'_>) -> Result<Choice, Error> {
        let judging = if self.cells.len() > MANY_CELLS { 1 } else { FOLDS };
        let parts = parallel::map(judging, |fold| self.fold(fold, control));
        let mut scores = vec![Score::default(); RESIDUALS * TABLES];
        let mut rivals = [0.0; RIVALS];
        for part in parts {
            let (part, rights) = part?;
            for (sum, part) in scores.iter_mut().zip(part) {
                sum.log += part.log;
                sum.right += part.right;
                for at in 0..RIVALS {
                    sum.lost[at] += part.lost[at];
                    sum.won[at] += part.won[at];
                    sum.noise[at] += part.noise[at];
                }
            }
            rivals.iter_mut().zip(rights).for_each(|(sum, right)| *sum += right);
        }
        let all = (FOLDS / judging) as f64;
        scores.iter_mut().for_each(|score| score.stand_for(all));
        rivals.iter_mut().for_each(|right| *right *= all);
        let tried = (1 + self.penalties().len()) * TABLES;
        let worth = |at: usize| scores[at].log - if at.is_multiple_of(TABLES) { 0.0 } else { WORTH };
        // The first of equals is the one pulled most.
        let best = (1..tried).fold(0, |best, at| if worth(at) > worth(best) { at } else { best });
        let score = scores[best];
        // In a crowd of whom each answers a few rows, many rows are little evidence of anyone.
        let answers: f64 = self.counts.said.iter().sum();
        let rows_each = answers / self.weights.len().max(1) as f64;
        // A rival is preferred if it is clearly ahead: by a row and two standard errors, for there are several and
        // one is lucky. The majority, which needs no evidence to be good, has to be ahead by one, and with hardly any
        // rows it has the benefit of the doubt unless it is behind.
        let doubt = [60.0 / (rows_each + 10.0), 0.0, 0.0];
        let errors = [1.0, 2.0, 2.0];
        let ahead = |at: usize| {
            let [lost, won] = [score.lost[at], score.won[at]];
            let doubt = if lost >= won { doubt[at] } else { 0.0 };
            lost - won + doubt - errors[at] * score.noise[at].sqrt() - 1.0
        };
        let rival = (0..RIVALS)
            .filter(|&at| ahead(at) >= 0.0)
            .max_by(|&a, &b| rivals[a].total_cmp(&rivals[b]).then(b.cmp(&a)));
        Ok(Choice {
            residual: (best / TABLES).checked_sub(1),
            table: (best % TABLES).checked_sub(1),
            right: [score.right, rivals[0], rivals[1], rivals[2]],
            rival,
        })
    }

    /// Penalties worth trying: none where every row would have to teach more numbers than it can.
    fn penalties(&self) -> &'static [f64] {
        let n_rows: f64 = self.cells.iter().map(|cell| cell.rows).sum();
        if self.counts.said.len() as f64 > MOST_NUMBERS * n_rows { &[] } else { &PENALTIES }
    }

    /// Judges all choices on one fold by what the others teach.
    fn fold(&self, fold: usize, control: &Control<'_>) -> Result<(Vec<Score>, [f64; RIVALS]), Error> {
        let l = self.counts.n_classes();
        let s = self.counts.n_labels;
        // Counted anew: what is left after subtracting weights would not be exactly nothing.
        let mut counts = self.counts.clone();
        counts.said.fill(0.0);
        counts.classes.copy_from_slice(self.silent);
        let mut kept = Vec::with_capacity(self.cells.len());
        for (cell, part) in self.cells.iter().zip(self.parts) {
            let rows = (0..FOLDS).filter(|&other| other != fold).map(|other| part[other]).sum::<f64>();
            kept.push(rows);
            let truth = usize::from(cell.truth);
            counts.classes[truth] += rows;
            self.tally.pattern(cell.pattern as usize).for_each(|k, j| {
                let at = counts.at(k, j) + truth;
                counts.said[at] += rows;
            });
        }
        let leaves = Leaves::new(&counts, self.weights, !self.penalties().is_empty());
        let mut nodes = Nodes::default();
        let mut judge = |cell: &Cell, without: Option<u16>, logs: &mut [f64]| {
            logs.copy_from_slice(leaves.log_prior(without));
            let said = answers(self.tally, cell.pattern);
            self.core.judge(
                said.map(|(leaf, j)| (leaf, leaves.distribution(leaf, j, without))),
                logs,
                &mut nodes,
            );
        };
        let mut held = self.held(fold, &kept, control)?;
        for case in &mut held {
            judge(case.cell, None, &mut case.log_core);
        }
        let mut scores = vec![Score::default(); RESIDUALS * TABLES];
        for case in &held {
            case.judge(&case.log_core, &mut scores[..TABLES]);
        }
        let mut at = 0;
        control.report("ladder: residual", 0, RESIDUALS)?;
        let mut logs = vec![0.0; l];
        residual::path(
            self.design,
            self.cells,
            &kept,
            [self.weights.len(), s, l],
            self.penalties(),
            |cell, logs| judge(cell, Some(cell.truth), logs),
            |residual| {
                at += 1;
                for case in &held {
                    logs.copy_from_slice(&case.log_core);
                    residual.begin(&mut logs);
                    answers(self.tally, case.cell.pattern)
                        .for_each(|(leaf, j)| residual.add(leaf, j, 1.0, &mut logs));
                    log_normalise(&mut logs);
                    case.judge(&logs, &mut scores[at * TABLES..][..TABLES]);
                }
                control.report("ladder: residual", at, RESIDUALS)
            },
        )?;
        let mut rights = [0.0; RIVALS];
        for case in &held {
            (0..RIVALS).for_each(|rival| rights[rival] += case.rows * case.rivals[rival]);
        }
        Ok((scores, rights))
    }

    /// The cells of a fold, with what the other folds know of their patterns.
    fn held(&self, fold: usize, kept: &[f64], control: &Control<'_>) -> Result<Vec<Case<'_>>, Error> {
        let l = self.counts.n_classes();
        let n = self.weights.len();
        let members: Vec<usize> = (0..n).collect();
        let (mut right, mut spoken) = (vec![0.0; n], vec![0.0; n]);
        let mut total = 0.0;
        for (cell, &rows) in self.cells.iter().zip(kept) {
            total += rows;
            self.tally.pattern(cell.pattern as usize).for_each(|k, j| {
                spoken[k] += rows;
                right[k] += if j == cell.truth { rows } else { 0.0 };
            });
        }
        let crowd = self.crowd(kept, control)?;
        let mut work = Scratch::default();
        let best = Voters::best(&members, &right, &spoken, total, n);
        let mut votes = vec![0.0; l];
        let (mut cases, mut start) = (Vec::new(), 0);
        for cells in self.cells.chunk_by(|a, b| a.pattern == b.pattern) {
            let range = start..start + cells.len();
            start = range.end;
            if self.parts[range.clone()].iter().all(|part| part[fold] == 0.0) {
                continue;
            }
            let mut known = vec![0.0; l];
            cells
                .iter()
                .zip(&kept[range.clone()])
                .for_each(|(cell, &rows)| known[usize::from(cell.truth)] = rows);
            let row = self.tally.pattern(cells[0].pattern as usize);
            let decided = best.votes(row, &mut votes).then(|| largest(&votes));
            let by_crowd = crowd.as_ref().filter(|crowd| crowd.surprisals(row, &mut work));
            let by_crowd = by_crowd.map(|_| first_best(&work.out));
            for (at, cell) in range.zip(cells).filter(|(at, _)| self.parts[*at][fold] > 0.0) {
                cases.push(Case {
                    cell,
                    one: self.counts.ones[usize::from(cell.truth)],
                    rows: self.parts[at][fold],
                    log_core: vec![0.0; l],
                    known: known.clone(),
                    rivals: [
                        self.majority[at],
                        f64::from(decided == Some(cell.truth.into())),
                        f64::from(by_crowd == Some(cell.truth.into())),
                    ],
                });
            }
        }
        Ok(cases)
    }

    /// What rows without truth and the rows kept say among themselves.
    fn crowd(&self, kept: &[f64], control: &Control<'_>) -> Result<Option<Likelihoods>, Error> {
        if self.panel.unlabelled_rows().is_none() {
            return Ok(None);
        }
        let unit = self.panel.unit() as f64;
        // Rows of silence, the last, have no part in it.
        let rows = |cell: usize| kept.get(cell).map_or(0, |rows| (rows * unit).round() as u64);
        let kept = self.tally.keeping(|cell, _| rows(cell));
        Ok(Some(DawidSkene::likelihoods(&self.panel.with_labelled(kept), control)?))
    }
}

/// What the leaves said of a pattern.
pub(super) fn answers(tally: &Tally, pattern: u32) -> impl Iterator<Item = (usize, u16)> {
    let mut said = Vec::new();
    tally.pattern(pattern as usize).for_each(|k, j| said.push((k, j)));
    said.into_iter()
}

/// The first of the largest.
pub(super) fn largest(values: &[f64]) -> usize {
    (1..values.len()).fold(0, |best, at| if values[at] > values[best] { at } else { best })
}

/// Rows to be judged.
struct Case<'a> {
    cell: &'a Cell,
    rows: f64,
    /// What one of the rows weighs.
    one: f64,
    log_core: Vec<f64>,
    /// What was true of the pattern in other folds.
    known: Vec<f64>,
    /// Share of the rows on which each rival is right.
    rivals: [f64; RIVALS],
}

impl Case<'_> {
    /// Adds what is made of these rows with no table and with each.
    fn judge(&self, logs: &[f64], scores: &mut [Score]) {
        let truth = usize::from(self.cell.truth);
        let known: f64 = self.known.iter().sum();
        let mut add = |at: usize, log: f64, decided: usize| {
            let score = &mut scores[at];
            let is_right = decided == truth;
            score.log += self.rows * log;
            score.right += if is_right { self.rows } else { 0.0 };
            for (rival, share) in self.rivals.iter().enumerate() {
                let parted = self.rows * if is_right { 1.0 - share } else { *share };
                let side = if is_right { &mut score.won } else { &mut score.lost };
                side[rival] += parted;
                score.noise[rival] += parted * self.one;
            }
        };
        let decided = largest(logs);
        add(0, logs[truth], decided);
        if known == 0.0 {
            (1..TABLES).for_each(|at| add(at, logs[truth], decided));
            return;
        }
        let shares: Vec<f64> = logs.iter().map(|&log| exp(log)).collect();
        for (at, &pull) in pattern_table::PULLS.iter().enumerate() {
            let mended: Vec<f64> =
                shares.iter().zip(&self.known).map(|(share, rows)| rows + pull * share).collect();
            add(1 + at, ln(mended[truth] / (known + pull)), largest(&mended));
        }
    }
}
