//! The ladder, the default method: models of growing flexibility, each shrunk towards the one below it.
//!
//! In: evidence with a tally. Out: a probability per class. The method is ours; it extends the fusion of adaSPOCC
//! (paper §3.4) by two data-driven corrections.
//!
//! 1. [`deduplication`] joins exact duplicates, [`screening`] drops classifiers without information about the truth.
//!    What remains are the *leaves*, each with a shrunk possibility distribution per predicted label
//!    ([`leaf_distributions`], [`shrinkage`]).
//! 2. Stage 0 is the class frequencies. Stage 1, the [`norm_tree`], fuses the distributions along the dendrogram and has
//!    about as many parameters as there are classifiers. Stage 2, the [`residual`], is a log-linear correction with a
//!    coefficient per prediction and class. Stage 3, the [`pattern_table`], corrects patterns that recur by their own
//!    counts.
//! 3. Model [`selection`] chooses how strongly stages 2 and 3 are shrunk, or drops them, by the log score of
//!    [held-out](held_out) rows. Where a plain vote, a single classifier or Dawid-Skene is clearly more accurate on those
//!    rows, it decides instead ([`fallback`]).
//!
//! The result is a function of the tally: it does not depend on the order of rows, their partition and, ties apart, the
//! names of labels, classes and classifiers.

mod cells;
mod deduplication;
mod fallback;
mod fitted;
mod folds;
mod held_out;
mod lbfgsb;
mod leaf_distributions;
mod norm_tree;
mod norm_tree_fit;
mod pattern_table;
mod residual;
mod screening;
mod selection;
mod shrinkage;

use std::sync::Arc;

use crate::{
    dendrogram::Dendrogram,
    dependence::Dissimilarities,
    error::Error,
    evidence::{Evidence, Level, Tally},
    methods::{Combiner, DawidSkene, Learn, Method, Rule, softmax::Design},
    progress::Control,
};

use cells::{PatternCell, leaf_predictions, pattern_cells};
use fallback::{Fallback, Voting};
use leaf_distributions::LeafDistributions;
use norm_tree::{NodeValues, NormTree};
use pattern_table::PatternTable;
use residual::{PENALTIES, Residual};
use screening::ScreenedPanel;
use selection::ModelSelection;
use shrinkage::LeafCounts;

pub(crate) use fitted::FittedLadder;
pub(super) use fitted::LadderScratch;

/// The ladder: norm tree, log-linear residual and pattern table, each shrunk towards the model below it; it has no
/// settings.
///
/// The shrinkage is chosen by held-out log score. Where a simpler method (majority, best classifier, Dawid-Skene) is
/// clearly more accurate on held-out rows, that method decides. This method is not in the paper; `docs/method.md` has its
/// formulas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ladder;

/// Cells above which the norm tree is fitted to a sample: it has few parameters.
const MAX_NORM_TREE_CELLS: usize = 1 << 14;

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
        let full_tally = evidence.tally_for(Method::Ladder)?;
        let ScreenedPanel { groups, all_representatives, weights } = ScreenedPanel::new(evidence, full_tally);
        let names: Vec<&String> =
            groups.representatives.iter().map(|&k| &evidence.classifiers()[k]).collect();
        let panel = evidence.select(&names, control)?;
        let tally = panel.tally_for(Method::Ladder)?;
        let counts = LeafCounts::of(&panel, &(0..panel.n_classifiers()).collect::<Vec<usize>>());
        check_memory(&panel, tally, &counts, control)?;
        let leaves = LeafDistributions::new(&counts, &weights, true);
        let (cells, unanswered) = pattern_cells(&panel, tally);
        let norm_tree = fit_norm_tree(&panel, tally, &cells, &leaves, control)?;

        let majority = majority(evidence.n_classifiers(), &all_representatives);
        let design = residual::design(tally, panel.n_classifiers(), panel.n_labels());
        let selection = ModelSelection {
            panel: &panel,
            tally,
            cells: &cells,
            unanswered: &unanswered,
            majority_accuracy: &majority.accuracy_by_cell(evidence, full_tally, &groups, tally, &cells),
            folds: &folds::split(&panel, tally, &cells),
            counts: &counts,
            weights: &weights,
            norm_tree: &norm_tree,
            design: &design,
        };
        let selected = selection.select(control)?;

        let residual = match selected.residual {
            None => None,
            Some(at) => fit_residual(&panel, tally, &cells, &leaves, &norm_tree, &design, at, control)?,
        };
        let fallback = match selected.fallback {
            None => None,
            Some(0) => Some(Fallback::vote(majority, evidence)),
            Some(1) => Some(Fallback::vote(most_accurate(evidence, &groups.representatives), evidence)),
            Some(_) => Some(Fallback::DawidSkene(DawidSkene::likelihoods(&panel, control)?)),
        };
        Ok(Rule::Ladder(Box::new(FittedLadder {
            n_labels: panel.n_labels(),
            n_classes: panel.n_classes(),
            groups,
            log_prior: leaf_distributions::log_prior(&counts.classes),
            log_surprisals: leaves.into_full(),
            norm_tree,
            residual,
            pattern_table: selected
                .table
                .map(|at| PatternTable::new(pattern_table::SHRINKAGE_GRID[at], evidence.unit(), tally)),
            fallback,
            n_rows: cells.iter().map(|cell| cell.rows).sum(),
            correct: selected.correct,
        })))
    }
}

/// Refuses a fit that would need more memory than allowed.
fn check_memory(
    panel: &Evidence,
    tally: &Tally,
    counts: &LeafCounts,
    control: &Control<'_>,
) -> Result<(), Error> {
    let n = panel.n_classifiers();
    let entries = tally.n_cells().saturating_mul(n);
    control.allow(|| format!("ladder on {} patterns", tally.n_patterns()), &[entries, 24])?;
    let leave_one_out = counts.n_leave_one_out().saturating_mul(1 + folds::FOLDS);
    control.allow(|| format!("ladder's possibilities of {n} classifiers"), &[leave_one_out, 8])
}

/// Stage 1, fitted to all cells or to a sample of them.
fn fit_norm_tree(
    panel: &Evidence,
    tally: &Tally,
    cells: &[PatternCell],
    leaves: &LeafDistributions,
    control: &Control<'_>,
) -> Result<NormTree, Error> {
    let mut tree = NormTree::new(&Dendrogram::ward(&Dissimilarities::new(panel, control)?));
    let sample = folds::sample(panel, tally, cells, MAX_NORM_TREE_CELLS);
    tree.fit(sample.as_deref().unwrap_or(cells), |p| leaf_predictions(tally, p), leaves, control)?;
    Ok(tree)
}

/// Stage 2 at the selected penalty, fitted to all rows; the stronger penalties on the way are warm starts.
#[expect(clippy::too_many_arguments, reason = "the stages below")]
fn fit_residual(
    panel: &Evidence,
    tally: &Tally,
    cells: &[PatternCell],
    leaves: &LeafDistributions,
    norm_tree: &NormTree,
    design: &Arc<Design>,
    selected: usize,
    control: &Control<'_>,
) -> Result<Option<Residual>, Error> {
    let rows: Vec<f64> = cells.iter().map(|cell| cell.rows).collect();
    let mut nodes = NodeValues::default();
    let tree_scores = |cell: &PatternCell, logs: &mut [f64]| {
        let without = Some(cell.truth);
        logs.copy_from_slice(leaves.log_prior(without));
        let distributions = leaf_predictions(tally, cell.pattern)
            .map(|(leaf, j)| (leaf, leaves.distribution(leaf, j, without)));
        norm_tree.apply(distributions, logs, &mut nodes);
    };
    let mut fitted = None;
    residual::fit_path(
        design,
        cells,
        &rows,
        [panel.n_classifiers(), panel.n_labels(), panel.n_classes()],
        &PENALTIES[..=selected],
        tree_scores,
        |residual| {
            fitted = Some(residual.clone());
            control.report("ladder: residual", selected, selected)
        },
    )?;
    Ok(fitted)
}

/// The majority vote, in which every duplicate group has one vote.
fn majority(n_classifiers: usize, representatives: &[usize]) -> Voting {
    let mut is_voter = vec![false; n_classifiers];
    representatives.iter().for_each(|&k| is_voter[k] = true);
    Voting::Majority(is_voter)
}

/// The most accurate of the representatives.
fn most_accurate(evidence: &Evidence, representatives: &[usize]) -> Voting {
    let rows = |counts: fn(&Evidence, usize) -> u64| -> Vec<f64> {
        representatives.iter().map(|&k| evidence.rows_of(counts(evidence, k))).collect()
    };
    let [correct, n_answered] = [rows(Evidence::correct), rows(Evidence::answered)];
    let (n_rows, n) = (evidence.n_rows(), evidence.n_classifiers());
    Voting::most_accurate(representatives, &correct, &n_answered, n_rows, n)
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
        let Ok(Rule::Ladder(fitted)) = Ladder.learn(&evidence, &Control::default()) else {
            panic!("a ladder");
        };
        assert_eq!(fitted.n_rows, 200.0);
        let share = |correct: f64| correct / fitted.n_rows;
        assert!(share(fitted.correct[0]) > 0.6 && share(fitted.correct[0]) <= 1.0, "{:?}", fitted.correct);
        assert!(share(fitted.correct[1]) > 0.6, "{:?}", fitted.correct);
    }
}
