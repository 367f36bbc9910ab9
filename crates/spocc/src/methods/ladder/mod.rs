//! The ladder, the default method: a pool of experts whose gains and weights are chosen by held-out rows.
//!
//! In: evidence with a tally. Out: a probability per class. The method is ours.
//!
//! 1. [`deduplication`] joins exact duplicates. What remains are the *leaves*.
//! 2. Leaves whose predictions say nothing about the truth are not used ([`neutrality`]). The [`hierarchy`] estimates
//!    `p(leaf predicts j | class i)` of the others, shrunk towards what the whole panel shows. The weight of a leaf is the
//!    probability that it is informative, divided among its near-copies ([`families`]).
//! 3. Every one of the [`experts`] is a sum over predictions: confusions of the labelled rows, the same with
//!    [unlabelled rows](semi_supervised), votes, the best classifier and a [`regression`].
//! 4. They are scored [out of fold](out_of_fold); the [`pool`] has the least held-out log-loss. It is again a sum over
//!    predictions. Where patterns recur, a [`pattern_table`] corrects it by their own counts.
//!
//! The result is a function of the tally and of the unlabelled rows: it does not depend on the order of rows, on their
//! partition and, ties apart, on the order of classifiers and on the names of classes.

mod cells;
mod deduplication;
mod experts;
mod families;
mod fitted;
mod folds;
mod hierarchy;
pub(super) mod lbfgsb;
mod leaf_counts;
mod neutrality;
mod out_of_fold;
mod pattern_table;
mod pool;
mod regression;
mod score_table;
mod semi_supervised;

use crate::{
    error::Error,
    evidence::{Evidence, Level, Tally},
    methods::{Combiner, Learn, Method, Rule, open},
    progress::Control,
};

use hierarchy::Hierarchy;
use leaf_counts::LeafCounts;
use out_of_fold::ExpertFits;
use regression::RegressionRows;
use score_table::ScoreTable;

pub(super) use cells::{PatternCell, pattern_cells};
pub(super) use deduplication::DuplicateGroups;
pub use experts::Expert;
pub use fitted::FittedExpert;
pub(crate) use fitted::FittedLadder;
pub(super) use fitted::LadderScratch;
pub(super) use folds::{CellKeys, Folds};
pub(super) use pattern_table::PatternTable;
pub(super) use pool::{HeldOutCase, NoneOfThese, Pool};

/// The ladder: a log-linear pool of shrunk confusions, votes, the best classifier and a regression; it has no settings.
///
/// Confusions are shrunk towards those of the panel, so that a handful of labelled rows is enough; unlabelled rows are
/// used too. Gains and weights are those of least held-out log-loss. This method is not in the paper; `docs/method.md` has
/// its formulas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ladder;

impl Combiner for Ladder {
    fn method(&self) -> Method {
        Method::Ladder
    }

    fn needs(&self) -> Level {
        Level::Tally
    }
}

impl Learn for Ladder {
    fn learn(&self, evidence: &Evidence, control: &Control<'_>) -> Result<Rule, Error> {
        if evidence.is_open() {
            return open::learn(evidence, open::Experts::All, control);
        }
        let full_tally = evidence.tally_for(Method::Ladder)?;
        let names_classes = names_classes(evidence);
        let (n, s, l) = (evidence.n_classifiers(), evidence.n_labels(), evidence.n_classes());
        control.allow(|| format!("ladder's scores of {n} classifiers"), &[n, s, l, 16])?;
        let (groups, informative) = used_leaves(evidence, full_tally);
        let names: Vec<&String> =
            groups.representatives.iter().map(|&k| &evidence.classifiers()[k]).collect();
        let panel = evidence.select(&names, control)?;
        let tally = panel.tally_for(Method::Ladder)?;
        check_memory(&panel, tally, control)?;
        let counts = LeafCounts::of(&panel, &(0..panel.n_classifiers()).collect::<Vec<usize>>());
        let hierarchy = Hierarchy::fit(&counts, names_classes);
        let mut leaf_weights = families::weights(&panel, tally, &hierarchy.likelihoods(&counts), control)?;
        leaf_weights.iter_mut().zip(informative).for_each(|(weight, probability)| *weight *= probability);
        let (cells, unanswered) = pattern_cells(&panel, tally);
        let keys = CellKeys::new(&panel, tally);
        let size = [panel.n_classifiers(), panel.n_labels()];
        let regression = out_of_fold::has_regression(&panel, &cells)
            .then(|| RegressionRows::new(tally, &cells, &keys, size));
        let fits = ExpertFits {
            panel: &panel,
            tally,
            cells: &cells,
            unanswered: &unanswered,
            names_classes,
            exchangeable: names_classes && panel.classes_are_exchangeable() == Some(true),
            leaf_weights: &leaf_weights,
            regression: regression.as_ref(),
        };
        let mut held_out = fits.out_of_fold(&Folds::new(&keys, &cells), control)?;
        let prior_weights = fits.prior_weights();
        let pool = Pool::fit(&mut held_out.cases, &prior_weights, NoneOfThese::Absent);
        let shrinkage = pattern_table::select(&held_out, &pool, panel.n_classes());
        let tables = fits.tables(&held_out, control)?;
        let pooled = pooled(&pool, &tables);
        Ok(Rule::Ladder(Box::new(FittedLadder {
            n_labels: panel.n_labels(),
            scores: per_classifier(&pooled, &groups, evidence),
            start: pooled.start,
            pattern_table: shrinkage.map(|t| PatternTable::new(t, evidence.unit(), tally)),
            best_classifier: experts::most_accurate(&counts)
                .first()
                .filter(|_| evidence.total() > 0)
                .map(|&leaf| groups.representatives[leaf] as u32),
            groups,
            experts: fits
                .experts()
                .into_iter()
                .zip(pool.gains.iter().zip(&pool.weights))
                .map(|(expert, (&gain, &weight))| FittedExpert { expert, gain, weight })
                .collect(),
        })))
    }
}

/// Whether predicted labels name classes: whether any prediction on a labelled row is a class that is true of some row.
/// Without predictions on labelled rows nothing speaks against it.
fn names_classes(evidence: &Evidence) -> bool {
    let is_true =
        |label: u16| evidence.class_counts().get(usize::from(label)).is_some_and(|count| *count > 0);
    let cells = evidence.confusions().cells();
    cells.is_empty() || cells.iter().any(|cell| is_true(cell.predicted))
}

/// Duplicate groups without the neutral ones, and the probability that each is informative. A panel of neutral classifiers
/// alone is kept whole.
fn used_leaves(evidence: &Evidence, tally: &Tally) -> (DuplicateGroups, Vec<f64>) {
    let mut groups = DuplicateGroups::find(evidence, tally);
    let counts = LeafCounts::without_class_weights(evidence, &groups.representatives);
    let mut informative = neutrality::informative(&counts);
    let is_used: Vec<bool> =
        informative.iter().map(|&probability| probability >= neutrality::LEVEL).collect();
    if is_used.contains(&true) {
        groups.retain(&is_used);
        informative.retain(|&probability| probability >= neutrality::LEVEL);
    }
    (groups, informative)
}

/// Refuses a fit that would need more memory than allowed.
fn check_memory(panel: &Evidence, tally: &Tally, control: &Control<'_>) -> Result<(), Error> {
    let (n, s, l) = (panel.n_classifiers(), panel.n_labels(), panel.n_classes());
    let entries: usize = (0..tally.n_patterns()).map(|p| tally.pattern(p).n_answered()).sum();
    control.allow(|| format!("ladder on {} patterns", tally.n_patterns()), &[entries, 24])?;
    let n_unlabelled = panel.unlabelled_rows().map_or(0, |rows| rows.patterns().n_rows());
    control.allow(|| format!("ladder on {n_unlabelled} unlabelled patterns"), &[n_unlabelled, l, 16])?;
    // Every fold has a table per expert.
    let tables = (1 + folds::FOLDS) * 6;
    control.allow(|| format!("ladder's scores of {n} classifiers"), &[n, s, l, 8, tables])
}

/// The pool as one table.
fn pooled(pool: &Pool, tables: &[ScoreTable]) -> ScoreTable {
    let mut sum = ScoreTable {
        n_labels: tables[0].n_labels,
        start: vec![0.0; tables[0].start.len()],
        scores: vec![0.0; tables[0].scores.len()],
    };
    for ((table, gain), weight) in tables.iter().zip(&pool.gains).zip(&pool.weights) {
        sum.add(gain * weight, table);
    }
    sum
}

/// The scores of every classifier: duplicates share those of their leaf equally, others have none.
fn per_classifier(pooled: &ScoreTable, groups: &DuplicateGroups, evidence: &Evidence) -> Vec<f64> {
    let (n, s, l) = (evidence.n_classifiers(), evidence.n_labels(), evidence.n_classes());
    let members = groups.members();
    let mut scores = vec![0.0; n * s * l];
    for (leaf, group) in members.iter().enumerate() {
        for &k in group {
            for j in 0..s as u16 {
                // A label that a duplicate never predicted has the meaning that it has for the representative.
                let label = groups.leaf_label(k, j, s).map_or(j, |(_, label)| label);
                let from = (leaf * s + usize::from(label)) * l;
                let to = (k * s + usize::from(j)) * l;
                for class in 0..l {
                    scores[to + class] = pooled.scores[from + class] / group.len() as f64;
                }
            }
        }
    }
    scores
}
