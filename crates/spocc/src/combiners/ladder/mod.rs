//! The ladder: models of growing richness, each pulled towards the one below it as far as the evidence asks.
//!
//! Rung 0 is the class frequencies. Rung 1, the [`core`], joins possibilistic opinions along the dendrogram and
//! has hardly more parameters than there are classifiers. Rung 2, the [`residual`], adds what the answers say
//! beyond that. Rung 3, the [`patterns`], listens to what exactly this combination of answers meant before. How
//! strongly each is pulled to the one below is decided by rows left out ([`climb`]), and where those prefer a
//! plain vote or a single classifier, that is what the ladder stands on ([`fallback`]).
//!
//! All is a function of the tally: the order of rows, their partition and the names of answers, classes and
//! classifiers change nothing. [`copies`] of a classifier count once.

mod bounded;
mod climb;
mod copies;
mod core;
mod fallback;
mod folds;
mod leaves;
mod patterns;
mod residual;

use serde::{Deserialize, Serialize};

use crate::{
    combiners::{Combiner, Fitted, Judge, Kind, Method, Rule, check_numbers},
    dendrogram::Dendrogram,
    dependence::Dissimilarities,
    error::Error,
    evidence::{Evidence, Level},
    fusion::Work,
    grid::Row,
    labels::MISSING,
    watch::Watch,
};

use climb::{Climb, answers};
use copies::Copies;
use core::{Cell, Core, Nodes, log_normalise};
use fallback::{Fallback, Voters};
use leaves::{Counts, Leaves};
use patterns::Patterns;
use residual::{PENALTIES, Residual};

/// The ladder; it has no settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ladder;

impl Combiner for Ladder {
    fn method(&self) -> Method {
        Method::Ladder
    }

    fn needs(&self) -> Level {
        Level::Tally
    }

    fn learn(&self, evidence: &Evidence, watch: &Watch<'_>) -> Result<Rule, Error> {
        let everyone = evidence.tally_for(Method::Ladder)?;
        let copies = Copies::find(everyone, evidence.n_classifiers(), evidence.n_labels());
        let names: Vec<&String> = copies.firsts.iter().map(|&k| &evidence.classifiers()[k]).collect();
        let panel = evidence.select(&names, watch)?;
        let tally = panel.tally_for(Method::Ladder)?;
        let (s, l) = (panel.n_labels(), panel.n_classes());
        let entries = tally.n_cells().saturating_mul(panel.n_classifiers());
        watch.allow(|| format!("ladder on {} patterns", tally.n_patterns()), &[entries, 24])?;

        let counts = Counts::of(&panel);
        let weights = counts.weights();
        let leaves = Leaves::new(&counts, &weights, true);
        let cells: Vec<Cell> = (0..tally.n_patterns())
            .flat_map(|p| {
                tally.outcomes(p).map(move |(truth, count)| Cell {
                    pattern: p as u32,
                    truth,
                    rows: evidence.rows_of(count),
                })
            })
            .collect();
        let mut core = Core::new(&Dendrogram::ward(&Dissimilarities::new(&panel, watch)?));
        core.fit(&cells, |p| answers(tally, p), &leaves, watch)?;

        let parts = folds::deal(&panel, tally, &cells);
        let design = residual::design(tally, panel.n_classifiers(), s);
        let climb = Climb {
            everyone,
            tally,
            n_classifiers: evidence.n_classifiers(),
            cells: &cells,
            parts: &parts,
            counts: &counts,
            weights: &weights,
            core: &core,
            design: &design,
        };
        let choice = climb.choose(watch)?;

        let mut fitted = None;
        if let Some(at) = choice.residual {
            let rows: Vec<f64> = cells.iter().map(|cell| cell.rows).collect();
            let mut nodes = Nodes::default();
            let log_core = |cell: &Cell, logs: &mut [f64]| {
                let truth = Some(cell.truth);
                logs.copy_from_slice(leaves.log_prior(truth));
                let said = answers(tally, cell.pattern);
                core.judge(said.map(|(leaf, j)| (leaf, leaves.opinion(leaf, j, truth))), logs, &mut nodes);
            };
            residual::path(&design, &cells, &rows, [s, l], &PENALTIES[..=at], log_core, |residual| {
                fitted = Some(residual.clone());
                watch.report("ladder: residual", at, at)
            })?;
        }
        let fallback = choice.rival.map(|rival| {
            let voters = if rival == 0 {
                Voters::Everyone
            } else {
                let rows = |count: u64| evidence.rows_of(count);
                let right: Vec<f64> =
                    (0..evidence.n_classifiers()).map(|k| rows(evidence.right(k))).collect();
                let spoken: Vec<f64> =
                    (0..evidence.n_classifiers()).map(|k| rows(evidence.spoken(k))).collect();
                Voters::best(&right, &spoken, rows(evidence.total()))
            };
            Fallback::fit(voters, evidence)
        });
        Ok(Rule(Kind::Ladder(Box::new(FittedLadder {
            n_labels: s,
            n_classes: l,
            copies,
            log_prior: leaves::log_prior(&counts.classes),
            opinions: leaves.into_whole(),
            core,
            residual: fitted,
            patterns: choice.table.map(|at| Patterns::new(patterns::PULLS[at], evidence.unit(), tally)),
            fallback,
            n_rows: evidence.n_rows(),
            right: choice.right,
        }))))
    }
}

/// Everything the ladder learned.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FittedLadder {
    n_labels: usize,
    n_classes: usize,
    copies: Copies,
    log_prior: Vec<f64>,
    /// Logarithms of surprisals, by leaf, answer and class.
    opinions: Vec<f64>,
    core: Core,
    residual: Option<Residual>,
    patterns: Option<Patterns>,
    fallback: Option<Fallback>,
    /// Labelled rows, and how many of them the ladder, the majority and the best one decided rightly when they were
    /// left out.
    n_rows: f64,
    right: [f64; 3],
}

/// What is needed to judge a row, kept for its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct LadderWork {
    nodes: Nodes,
    /// What each leaf says, as the first of its copies.
    said: Vec<(usize, u16)>,
    row: Vec<u16>,
}

impl FittedLadder {
    pub(crate) fn fitted(&self) -> Fitted {
        let share = |right: f64| right / self.n_rows;
        Fitted::Ladder {
            leaves: self.copies.groups(),
            gain: self.core.gain,
            exponents: self.core.shapes.iter().map(|shape| 1.0 / shape).collect(),
            penalty: self.residual.as_ref().map(|residual| residual.penalty),
            pattern_pull: self.patterns.as_ref().map(|patterns| patterns.pull),
            rests_on: match &self.fallback {
                None => "the ladder",
                Some(Fallback { voters: Voters::Everyone, .. }) => "majority",
                Some(Fallback { voters: Voters::Best(_), .. }) => "selection",
            },
            rows: self.n_rows,
            right: self.right.map(share),
        }
    }

    fn judge(&self, row: Row<'_>, work: &mut LadderWork, scores: &mut [f64]) -> bool {
        if let Some(fallback) = &self.fallback {
            return fallback.judge(row, scores);
        }
        let l = scores.len();
        let LadderWork { nodes, said, row: pattern } = work;
        said.clear();
        self.copies.for_each(row, self.n_labels, |leaf, j| said.push((leaf, j)));
        said.sort_unstable();
        said.dedup();
        scores.copy_from_slice(&self.log_prior);
        let opinion = |&(leaf, j): &(usize, u16)| {
            (leaf, &self.opinions[(leaf * self.n_labels + usize::from(j)) * l..][..l])
        };
        if !self.core.judge(said.iter().map(opinion), scores, nodes) {
            return false;
        }
        if let Some(residual) = &self.residual {
            residual.begin(scores);
            for copies in said.chunk_by(|a, b| a.0 == b.0) {
                let share = 1.0 / copies.len() as f64;
                copies.iter().for_each(|&(leaf, j)| residual.add(leaf, j, share, scores));
            }
            log_normalise(scores);
        }
        if let Some(patterns) = &self.patterns
            && said.windows(2).all(|pair| pair[0].0 < pair[1].0)
        {
            pattern.clear();
            pattern.resize(self.copies.n_leaves(), MISSING);
            said.iter().for_each(|&(leaf, j)| pattern[leaf] = j);
            patterns.mend(Row::Dense(pattern), scores);
        }
        true
    }
}

impl Judge for FittedLadder {
    fn surprisals(&self, row: Row<'_>, work: &mut Work) -> bool {
        let Work { ladder, out, .. } = work;
        out.clear();
        out.resize(self.n_classes, 0.0);
        let speaks = self.judge(row, ladder, out);
        out.iter_mut().for_each(|log| *log = (-*log).max(0.0));
        speaks
    }

    fn check(&self, [n, s, l]: [usize; 3]) -> Result<(), Error> {
        if (self.n_labels, self.n_classes) != (s, l) {
            return Err(Error::Inconsistent {
                expected: "a ladder of the model's labels",
                found: "others".to_owned(),
            });
        }
        self.copies.check(n, s)?;
        let n_leaves = self.copies.n_leaves();
        check_numbers("a frequency per class", &self.log_prior, Some(l), f64::is_finite)?;
        let size = n_leaves.checked_mul(s).and_then(|size| size.checked_mul(l));
        // Surprisals of nothing have the logarithm minus infinity.
        check_numbers("an opinion per answer and class", &self.opinions, size, |log| log < 700.0)?;
        self.core.check(n_leaves)?;
        self.residual.iter().try_for_each(|residual| residual.check([n_leaves, s, l]))?;
        self.patterns.iter().try_for_each(|patterns| patterns.check([n_leaves, s, l]))?;
        self.fallback.iter().try_for_each(|fallback| fallback.check(n))?;
        let rows = [self.right.as_slice(), &[self.n_rows]].concat();
        check_numbers("numbers of rows", &rows, Some(4), |rows| rows >= 0.0 && rows.is_finite())
    }
}
