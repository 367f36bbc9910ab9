//! The ladder: models of growing richness, each pulled towards the one below it as far as the evidence asks.
//!
//! Rung 0 is the class frequencies. Rung 1, the [`norm_tree`], joins possibilistic possibilities along the dendrogram and
//! has hardly more parameters than there are classifiers. Rung 2, the [`residual`], adds what the answers say
//! beyond that. Rung 3, the [`pattern_table`], listens to what exactly this combination of answers meant before. How
//! strongly each is pulled to the one below is decided by rows left out ([`selection`]), and where those prefer a
//! plain vote or a single classifier, that is what the ladder stands on ([`fallback`]).
//!
//! All is a function of the tally: the order of rows, their partition and, ties apart, the names of answers, classes
//! and classifiers change nothing. [`deduplication`] of a classifier count once.

mod lbfgsb;
mod selection;
mod deduplication;
mod norm_tree;
mod fallback;
mod folds;
mod shrinkage;
mod pattern_table;
mod residual;

use serde::{Deserialize, Serialize};

use crate::{
    data::{MISSING, Row},
    dendrogram::Dendrogram,
    dependence::Dissimilarities,
    error::Error,
    evidence::{Evidence, Level, Tally},
    math::exp,
    methods::{Combiner, DawidSkene, Fitted, Judge, Kind, Method, Rule, Scratch, check_numbers},
    progress::Control,
};

use deduplication::Copies;
use fallback::{Fallback, Voters};
use norm_tree::{Cell, Core, Nodes, log_normalise};
use pattern_table::Patterns;
use residual::{PENALTIES, Residual};
use selection::{Climb, RIVALS, answers};
use shrinkage::{Counts, Leaves, Weights};

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

    fn uses_unlabelled(&self, _evidence: &Evidence) -> bool {
        true
    }

    fn learn(&self, evidence: &Evidence, control: &Control<'_>) -> Result<Rule, Error> {
        let everyone = evidence.tally_for(Method::Ladder)?;
        let Heard { copies, speakers, weights } = Heard::new(evidence, everyone);
        let names: Vec<&String> = copies.speakers.iter().map(|&k| &evidence.classifiers()[k]).collect();
        let panel = evidence.select(&names, control)?;
        let tally = panel.tally_for(Method::Ladder)?;
        let (s, l) = (panel.n_labels(), panel.n_classes());
        let entries = tally.n_cells().saturating_mul(panel.n_classifiers());
        control.allow(|| format!("ladder on {} patterns", tally.n_patterns()), &[entries, 24])?;

        let everyone_heard: Vec<usize> = (0..panel.n_classifiers()).collect();
        let counts = Counts::of(&panel, &everyone_heard);
        let altered = counts.n_altered().saturating_mul(1 + folds::FOLDS);
        control.allow(
            || format!("ladder's possibilities of {} classifiers", panel.n_classifiers()),
            &[altered, 8],
        )?;
        let leaves = Leaves::new(&counts, &weights, true);
        // Of a row on which nobody speaks there is nothing to learn but the class frequencies.
        let cells: Vec<Cell> = (0..tally.n_patterns())
            .filter(|&p| tally.pattern(p).n_answered() > 0)
            .flat_map(|p| {
                tally.outcomes(p).map(move |(truth, count)| Cell {
                    pattern: p as u32,
                    truth,
                    rows: evidence.rows_of(count),
                })
            })
            .collect();
        let mut silent = vec![0.0; l];
        for p in (0..tally.n_patterns()).filter(|&p| tally.pattern(p).n_answered() == 0) {
            tally.outcomes(p).for_each(|(class, count)| silent[usize::from(class)] = evidence.rows_of(count));
        }
        let mut core = Core::new(&Dendrogram::ward(&Dissimilarities::new(&panel, control)?));
        let sample = folds::sample(&panel, tally, &cells, MOST_CELLS);
        core.fit(sample.as_deref().unwrap_or(&cells), |p| answers(tally, p), &leaves, control)?;

        let parts = folds::deal(&panel, tally, &cells);
        let design = residual::design(tally, panel.n_classifiers(), s);
        let mut majority = vec![false; evidence.n_classifiers()];
        speakers.iter().for_each(|&k| majority[k] = true);
        let voters = Voters::Majority(majority);
        let rights = rights_of(&voters, evidence, everyone, &copies, tally, &cells);
        let climb = Climb {
            panel: &panel,
            tally,
            cells: &cells,
            silent: &silent,
            majority: &rights,
            parts: &parts,
            counts: &counts,
            weights: &weights,
            core: &core,
            design: &design,
        };
        let choice = climb.choose(control)?;

        let mut fitted = None;
        if let Some(at) = choice.residual {
            let rows: Vec<f64> = cells.iter().map(|cell| cell.rows).collect();
            let mut nodes = Nodes::default();
            let log_core = |cell: &Cell, logs: &mut [f64]| {
                let truth = Some(cell.truth);
                logs.copy_from_slice(leaves.log_prior(truth));
                let said = answers(tally, cell.pattern);
                core.judge(
                    said.map(|(leaf, j)| (leaf, leaves.distribution(leaf, j, truth))),
                    logs,
                    &mut nodes,
                );
            };
            residual::path(
                &design,
                &cells,
                &rows,
                [panel.n_classifiers(), s, l],
                &PENALTIES[..=at],
                log_core,
                |residual| {
                    fitted = Some(residual.clone());
                    control.report("ladder: residual", at, at)
                },
            )?;
        }
        let fallback = match choice.rival {
            None => None,
            Some(0) => Some(Fallback::votes(voters, evidence)),
            Some(1) => Some(Fallback::votes(best_of(evidence, &copies.speakers), evidence)),
            Some(_) => Some(Fallback::Crowd(DawidSkene::likelihoods(&panel, control)?)),
        };
        Ok(Rule(Kind::Ladder(Box::new(FittedLadder {
            n_labels: s,
            n_classes: l,
            copies,
            log_prior: shrinkage::log_prior(&counts.classes),
            possibilities: leaves.into_whole(),
            core,
            residual: fitted,
            patterns: choice.table.map(|at| Patterns::new(pattern_table::PULLS[at], evidence.unit(), tally)),
            fallback,
            n_rows: cells.iter().map(|cell| cell.rows).sum(),
            right: choice.right,
        }))))
    }
}

/// Cells from which the few numbers of the core are learned; of more a sample is enough.
const MOST_CELLS: usize = 1 << 14;

/// Classifiers pulled further than this are not heard.
const DEAF: f64 = 0.6;

/// Who spoke on fewer labelled rows is hardly known.
const STRANGER: f64 = 20.0;

/// Who is heard.
struct Heard {
    copies: Copies,
    /// Who speaks for each set of copies, heard or not.
    speakers: Vec<usize>,
    /// How far each leaf that is heard is pulled to neutrality.
    weights: Vec<Weights>,
}

impl Heard {
    fn new(evidence: &Evidence, tally: &Tally) -> Self {
        let mut copies = Copies::find(evidence, tally);
        let speakers = copies.speakers.clone();
        let counts = Counts::of(evidence, &speakers);
        let mut weights = counts.weights();
        let is_heard: Vec<bool> = weights
            .iter()
            .enumerate()
            .map(|(leaf, weights)| {
                // Whom only rows without truth know may be worth hearing there.
                let is_stranger = evidence.n_unlabelled() > 0.0 && counts.spoken(leaf) < STRANGER;
                is_stranger || counts.neutrality(leaf, weights) <= DEAF
            })
            .collect();
        // Where everyone guesses there is nobody else to hear.
        if is_heard.contains(&true) {
            copies.retain(&is_heard);
            let mut heard = is_heard.iter();
            weights.retain(|_| *heard.next().expect("a word for every leaf"));
        }
        Self { copies, speakers, weights }
    }
}

/// The classifiers, the most accurate first; copies have no place.
fn best_of(evidence: &Evidence, members: &[usize]) -> Voters {
    let rows = |counts: fn(&Evidence, usize) -> u64| -> Vec<f64> {
        members.iter().map(|&k| evidence.rows_of(counts(evidence, k))).collect()
    };
    let [right, spoken] = [rows(Evidence::correct), rows(Evidence::answered)];
    Voters::best(members, &right, &spoken, evidence.n_rows(), evidence.n_classifiers())
}

/// Share of the rows of every cell on which a vote of all classifiers is right.
fn rights_of(
    voters: &Voters,
    evidence: &Evidence,
    everyone: &Tally,
    copies: &Copies,
    tally: &Tally,
    cells: &[Cell],
) -> Vec<f64> {
    // Silence comes last of all patterns, and has no cells.
    let starts: Vec<usize> = std::iter::once(0)
        .chain(cells.chunk_by(|a, b| a.pattern == b.pattern).scan(0, |end, cells| {
            *end += cells.len();
            Some(*end)
        }))
        .collect();
    let mut rights = vec![0.0; cells.len()];
    let (mut votes, mut row) = (vec![0.0; evidence.n_classes()], Vec::new());
    for p in 0..everyone.n_patterns() {
        let pattern = everyone.pattern(p);
        row.clear();
        row.resize(copies.n_leaves(), MISSING);
        copies.for_each(pattern, evidence.n_labels(), |leaf, j| row[leaf] = j);
        let Some(at) = tally.find(Row::Dense(&row)).filter(|at| at + 1 < starts.len()) else { continue };
        if !voters.votes(pattern, &mut votes) {
            continue;
        }
        // Classes that share the lead share what is right.
        let most = votes.iter().copied().fold(0.0, f64::max);
        let share = 1.0 / votes.iter().filter(|votes| **votes == most).count() as f64;
        for (class, count) in everyone.outcomes(p).filter(|(class, _)| votes[usize::from(*class)] == most) {
            for at in (starts[at]..starts[at + 1]).filter(|&at| cells[at].truth == class) {
                rights[at] += share * evidence.rows_of(count) / cells[at].rows;
            }
        }
    }
    rights
}

/// Everything the ladder learned.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FittedLadder {
    n_labels: usize,
    n_classes: usize,
    copies: Copies,
    log_prior: Vec<f64>,
    /// Logarithms of surprisals, by leaf, answer and class.
    possibilities: Vec<f64>,
    core: Core,
    residual: Option<Residual>,
    patterns: Option<Patterns>,
    fallback: Option<Fallback>,
    /// Labelled rows with a prediction, and on how many of them the ladder and each of its rivals were correct when
    /// held out. Model selection maximised these numbers, so they overstate the accuracy and are not shown.
    n_rows: f64,
    right: [f64; 1 + RIVALS],
}

/// What is needed to judge a row, kept for its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct LadderScratch {
    nodes: Nodes,
    /// What each leaf says, as the first of its copies.
    said: Vec<(usize, u16)>,
    row: Vec<u16>,
}

impl FittedLadder {
    pub(crate) fn fitted(&self) -> Fitted {
        Fitted::Ladder {
            leaves: self.copies.groups(),
            gain: self.core.gain,
            exponents: self.core.shapes.iter().map(|shape| 1.0 / shape).collect(),
            penalty: self.residual.as_ref().map(|residual| residual.penalty),
            pattern_pull: self.patterns.as_ref().map(|patterns| patterns.pull),
            fallback: self.fallback.as_ref().map(Fallback::method),
        }
    }

    /// The possibility that an answer leaves to each class; none of those who are not heard.
    pub(crate) fn possibility(&self, k: usize, said: u16) -> Option<Vec<f64>> {
        let (leaf, meant) = self.copies.meaning(k, said, self.n_labels)?;
        let at = (leaf * self.n_labels + usize::from(meant)) * self.n_classes;
        Some(self.possibilities[at..at + self.n_classes].iter().map(|&log| exp(-exp(log))).collect())
    }

    /// Logarithms of the probabilities of the classes into `work.out`; false if nobody says anything that counts.
    fn judge(&self, row: Row<'_>, work: &mut Scratch) -> bool {
        let l = self.n_classes;
        work.out.clear();
        work.out.resize(l, 0.0);
        if let Some(Fallback::Votes { voters, gain }) = &self.fallback {
            let speaks = voters.votes(row, &mut work.out);
            work.out.iter_mut().for_each(|votes| *votes *= gain);
            log_normalise(&mut work.out);
            return speaks;
        }
        let mut own = std::mem::take(&mut work.ladder);
        let LadderScratch { nodes, said, row: pattern } = &mut own;
        said.clear();
        self.copies.for_each(row, self.n_labels, |leaf, j| said.push((leaf, j)));
        said.sort_unstable();
        said.dedup();
        pattern.clear();
        pattern.resize(self.copies.n_leaves(), MISSING);
        said.iter().for_each(|&(leaf, j)| pattern[leaf] = j);
        let speaks = if let Some(Fallback::Crowd(likelihoods)) = &self.fallback {
            // The crowd may know answers that were never given to a row with a truth.
            pattern.fill(MISSING);
            self.copies.for_each_speaker(row, |leaf, j| pattern[leaf] = j);
            let speaks = likelihoods.surprisals(Row::Dense(pattern), work);
            work.out.iter_mut().for_each(|surprisal| *surprisal = -*surprisal);
            log_normalise(&mut work.out);
            speaks
        } else {
            self.climb(said, pattern, nodes, &mut work.out)
        };
        work.ladder = own;
        speaks
    }

    /// All rungs.
    fn climb(&self, said: &[(usize, u16)], pattern: &[u16], nodes: &mut Nodes, scores: &mut [f64]) -> bool {
        let l = self.n_classes;
        scores.copy_from_slice(&self.log_prior);
        let distribution = |&(leaf, j): &(usize, u16)| {
            (leaf, &self.possibilities[(leaf * self.n_labels + usize::from(j)) * l..][..l])
        };
        if !self.core.judge(said.iter().map(distribution), scores, nodes) {
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
            patterns.mend(Row::Dense(pattern), scores);
        }
        true
    }
}

impl Judge for FittedLadder {
    fn surprisals(&self, row: Row<'_>, work: &mut Scratch) -> bool {
        let speaks = self.judge(row, work);
        work.out.iter_mut().for_each(|log| *log = (-*log).max(0.0));
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
        check_numbers("an distribution per answer and class", &self.possibilities, size, |log| log < 700.0)?;
        self.core.check(n_leaves)?;
        self.residual.iter().try_for_each(|residual| residual.check([n_leaves, s, l]))?;
        self.patterns.iter().try_for_each(|patterns| patterns.check([n_leaves, s, l]))?;
        self.fallback.iter().try_for_each(|fallback| fallback.check([n, n_leaves, s, l]))?;
        let rows = [self.right.as_slice(), &[self.n_rows]].concat();
        check_numbers("numbers of rows", &rows, Some(2 + RIVALS), |rows| rows >= 0.0 && rows.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        data::{Predictions, Truth},
        hash,
    };

    #[test]
    fn rows_without_any_prediction_do_not_count_in_model_selection() {
        const NAMES: [&str; 3] = ["x", "y", "z"];
        let mut rows = Predictions::builder(["a", "b", "c", "d", "e"]).expect("distinct names");
        let mut truths = Vec::new();
        for t in 0..500 {
            let truth = hash::draw(t, 3);
            let label = |k: u64| {
                let draw = hash::draw(hash::mix(t, k), 10);
                Some(NAMES[if draw < 7 { truth } else { draw % 3 } as usize])
            };
            rows.push((1..=5).map(|k| label(k).filter(|_| t < 200))).expect("labels");
            truths.push(Some(NAMES[truth as usize]));
        }
        let evidence = Evidence::new(&rows.finish(), &Truth::new(truths).expect("labels")).expect("rows");
        let Ok(Rule(Kind::Ladder(fitted))) = Ladder.learn(&evidence, &Control::default()) else {
            panic!("a ladder");
        };
        assert_eq!(fitted.n_rows, 200.0);
        let share = |correct: f64| correct / fitted.n_rows;
        assert!(share(fitted.right[0]) > 0.6 && share(fitted.right[0]) <= 1.0, "{:?}", fitted.right);
        assert!(share(fitted.right[1]) > 0.6, "{:?}", fitted.right);
    }
}
