//! Open answers: the ladder's pool of experts where the candidates of a row are the answers given on it.
//!
//! In: open evidence, a tally of patterns of agreement. Out: a probability of every candidate of a row and of "none of
//! these". All answers are treated alike, so every expert is one weight per classifier: the score of a candidate is the sum
//! of the weights of the classifiers that give it.
//!
//! 1. [`leaves`] joins exact copies and leaves out classifiers whose answers no other gives. Near-copies, which share wrong
//!    answers, divide their weight.
//! 2. The [`experts`] are accuracies shrunk towards the panel's, the same with unlabelled rows, votes, the best classifier,
//!    and a [conditional logit](conditional_logit).
//! 3. They are scored [out of fold](out_of_fold), and pooled as by the ladder, with the least held-out log-loss over the candidates.

mod conditional_logit;
mod experts;
mod fitted;
mod leaves;
mod out_of_fold;

use crate::{
    error::Error,
    evidence::Evidence,
    methods::{
        FittedExpert, Method, Rule,
        ladder::{CellKeys, Folds, NoneOfThese, Pool, pattern_cells},
    },
    progress::Control,
};

use conditional_logit::LogitRows;
use experts::{CandidateScores, LeafAccuracies};
use leaves::Leaves;
use out_of_fold::CandidateFits;

pub(crate) use fitted::FittedOpen;

/// Which experts are pooled.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Experts {
    /// All that the evidence supports.
    All,
    /// The conditional logit alone: with this penalty or, if there is none, with that of the best held-out log score.
    Regression(Option<f64>),
}

/// Fits the pool to open evidence.
pub(super) fn learn(evidence: &Evidence, which: Experts, control: &Control<'_>) -> Result<Rule, Error> {
    let full_tally = evidence.tally_for(Method::Ladder)?;
    let leaves = Leaves::find(evidence, full_tally);
    let names: Vec<&String> = leaves.representatives().map(|k| &evidence.classifiers()[k]).collect();
    let panel = evidence.select(&names, control)?;
    let tally = panel.tally_for(Method::Ladder)?;
    let (cells, _) = pattern_cells(&panel, tally);
    let keys = CellKeys::new(&panel, tally);
    let leaf_weights = leaves::family_weights(&panel, tally, control)?;
    let fits = CandidateFits {
        panel: &panel,
        tally,
        cells: &cells,
        leaf_weights: &leaf_weights,
        regression: LogitRows::new(&panel, tally, &cells, &keys),
        which,
    };
    let folds = Folds::new(&keys, &cells);
    let (pool, penalty) = match which {
        Experts::Regression(Some(penalty)) => (Pool::of_one(), penalty),
        Experts::Regression(None) => (Pool::of_one(), fits.out_of_fold(&folds, control)?.penalty),
        Experts::All => {
            let mut held_out = fits.out_of_fold(&folds, control)?;
            (Pool::fit(&mut held_out.cases, &fits.prior_weights(), NoneOfThese::Last), held_out.penalty)
        }
    };
    let scores = fits.scores(penalty, control)?;
    let pooled = pooled(&pool, &scores);
    let all: Vec<f64> = cells.iter().map(|cell| cell.rows).collect();
    let counts = LeafAccuracies::count(tally, &cells, &all, &leaf_weights);
    let best = counts.most_accurate().first().copied().filter(|_| evidence.total() > 0);
    let (weights, is_used) = leaves.per_classifier(&pooled.weights, evidence.n_classifiers());
    Ok(Rule::Open(Box::new(FittedOpen {
        n_classes: evidence.n_classes(),
        weights,
        none: pooled.none,
        is_used,
        best_classifier: best.map(|leaf| leaves.groups[leaf][0] as u32),
        leaves: leaves.groups.iter().map(|group| group.iter().map(|&k| k as u32).collect()).collect(),
        experts: fits
            .experts()
            .into_iter()
            .zip(pool.gains.iter().zip(&pool.weights))
            .map(|(expert, (&gain, &weight))| FittedExpert { expert, gain, weight })
            .collect(),
    })))
}

/// The pool as one weight per leaf.
fn pooled(pool: &Pool, experts: &[CandidateScores]) -> CandidateScores {
    let mut pooled = CandidateScores { weights: vec![0.0; experts[0].weights.len()], none: pool.none };
    for (expert, factor) in experts.iter().zip(pool.gains.iter().zip(&pool.weights).map(|(g, w)| g * w)) {
        pooled.none += factor * expert.none;
        pooled.weights.iter_mut().zip(&expert.weights).for_each(|(sum, weight)| *sum += factor * weight);
    }
    pooled
}
