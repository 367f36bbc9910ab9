//! A fitted ladder of the first generation, applied to a row.

use serde::{Deserialize, Serialize};

use crate::{
    data::{MISSING, Row},
    error::Error,
    math::{exp, log_normalise},
    methods::{
        FittedRule, Parameters, Scratch, check_numbers, check_sum,
        first_ladder::{
            fallback::Fallback,
            norm_tree::{NodeValues, NormTree},
            residual::Residual,
        },
        ladder::{DuplicateGroups, PatternTable},
        largest,
    },
};

/// Number of fallbacks: majority, most accurate classifier, Dawid-Skene.
const N_FALLBACKS: usize = 3;

/// The parameters of all stages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FittedFirstLadder {
    pub(super) n_labels: usize,
    pub(super) n_classes: usize,
    pub(super) groups: DuplicateGroups,
    pub(super) log_prior: Vec<f64>,
    /// Logarithms of surprisals, by leaf, predicted label and class.
    pub(super) log_surprisals: Vec<f64>,
    pub(super) norm_tree: NormTree,
    pub(super) residual: Option<Residual>,
    pub(in crate::methods) pattern_table: Option<PatternTable>,
    pub(super) fallback: Option<Fallback>,
    /// Labelled rows with a prediction.
    pub(super) n_rows: f64,
    /// Held-out rows decided correctly by the ladder and by each fallback. Model selection maximised these numbers, so
    /// they overstate the accuracy and are not shown.
    pub(super) correct: [f64; 1 + N_FALLBACKS],
}

/// Buffers for applying a fitted ladder.
#[derive(Clone, Debug, Default)]
pub(in crate::methods) struct FirstLadderScratch {
    nodes: NodeValues,
    /// The predictions of a row, as (leaf, label), sorted and distinct.
    predictions: Vec<(usize, u16)>,
    /// The pattern of the leaves.
    pattern: Vec<u16>,
}

impl FittedFirstLadder {
    pub(crate) fn parameters(&self) -> Parameters {
        Parameters::FirstLadder {
            leaves: self.groups.members(),
            gain: self.norm_tree.gain,
            exponents: self.norm_tree.inverse_exponents.iter().map(|inverse| 1.0 / inverse).collect(),
            penalty: self.residual.as_ref().map(|residual| residual.penalty),
            pattern_shrinkage: self.pattern_table.as_ref().map(|table| table.shrinkage),
            fallback: self.fallback.as_ref().map(Fallback::method),
        }
    }

    /// The possibility distribution of prediction `j` of classifier `k`; none if the classifier is screened out or never
    /// predicted that label.
    pub(crate) fn possibility(&self, k: usize, j: u16) -> Option<Vec<f64>> {
        let (leaf, label) = self.groups.leaf_label(k, j, self.n_labels)?;
        Some(self.distribution(leaf, label).iter().map(|&log| exp(-exp(log))).collect())
    }

    /// Logarithms of the surprisals that a prediction of a leaf gives the classes.
    fn distribution(&self, leaf: usize, label: u16) -> &[f64] {
        let at = (leaf * self.n_labels + usize::from(label)) * self.n_classes;
        &self.log_surprisals[at..at + self.n_classes]
    }

    /// Log probabilities of the classes into `scratch.out`; false if the row has no prediction that counts.
    fn log_probabilities(&self, row: Row<'_>, scratch: &mut Scratch) -> bool {
        scratch.out.clear();
        scratch.out.resize(self.n_classes, 0.0);
        let mut own = std::mem::take(&mut scratch.first_ladder);
        let is_decided = match &self.fallback {
            None => self.apply_stages(row, &mut own, &mut scratch.out),
            Some(Fallback::Vote { voting, gain }) => {
                let has_votes = voting.count(row, &mut scratch.out);
                scratch.out.iter_mut().for_each(|votes| *votes *= gain);
                log_normalise(&mut scratch.out);
                has_votes
            }
            Some(Fallback::DawidSkene(likelihoods)) => {
                // The labels of the representatives, which unlabelled rows may show though no labelled row does.
                let pattern = &mut own.pattern;
                pattern.clear();
                pattern.resize(self.groups.n_leaves(), MISSING);
                self.groups.for_each_representative(row, |leaf, j| pattern[leaf] = j);
                let is_decided = likelihoods.surprisals(Row::Dense(pattern), scratch);
                scratch.out.iter_mut().for_each(|surprisal| *surprisal = -*surprisal);
                log_normalise(&mut scratch.out);
                is_decided
            }
        };
        scratch.first_ladder = own;
        is_decided
    }

    /// Norm tree, residual and pattern table: log probabilities into `scores`; false without predictions.
    fn apply_stages(&self, row: Row<'_>, scratch: &mut FirstLadderScratch, scores: &mut [f64]) -> bool {
        let FirstLadderScratch { nodes, predictions, pattern } = scratch;
        predictions.clear();
        self.groups.for_each(row, self.n_labels, |leaf, j| predictions.push((leaf, j)));
        predictions.sort_unstable();
        predictions.dedup();
        scores.copy_from_slice(&self.log_prior);
        let distributions = predictions.iter().map(|&(leaf, j)| (leaf, self.distribution(leaf, j)));
        if !self.norm_tree.apply(distributions, scores, nodes) {
            return false;
        }
        if let Some(residual) = &self.residual {
            residual.add_intercepts(scores);
            // Duplicates that disagree share the weight of their leaf.
            for leaf in predictions.chunk_by(|a, b| a.0 == b.0) {
                let share = 1.0 / leaf.len() as f64;
                leaf.iter().for_each(|&(leaf, j)| residual.add(leaf, j, share, scores));
            }
            log_normalise(scores);
        }
        // No row of the evidence has duplicates that disagree, so no pattern of the table does.
        if let Some(table) = &self.pattern_table
            && predictions.windows(2).all(|pair| pair[0].0 < pair[1].0)
        {
            pattern.clear();
            pattern.resize(self.groups.n_leaves(), MISSING);
            predictions.iter().for_each(|&(leaf, j)| pattern[leaf] = j);
            table.apply(Row::Dense(pattern), scores);
        }
        true
    }
}

/// The largest surprisal that each leaf gives a class, from their logarithms.
fn largest_surprisals(logs: &[f64], n_leaves: usize) -> impl Iterator<Item = f64> {
    let of_leaf = logs.chunks((logs.len() / n_leaves.max(1)).max(1));
    of_leaf.map(|logs| exp(logs.iter().copied().fold(f64::NEG_INFINITY, f64::max)))
}

impl FittedRule for FittedFirstLadder {
    fn surprisals(&self, row: Row<'_>, scratch: &mut Scratch) -> bool {
        let is_decided = self.log_probabilities(row, scratch);
        scratch.out.iter_mut().for_each(|log| *log = (-*log).max(0.0));
        is_decided
    }

    fn check(&self, [n, s, l]: [usize; 3]) -> Result<(), Error> {
        if (self.n_labels, self.n_classes) != (s, l) {
            return Err(Error::Inconsistent {
                expected: "a ladder on the model's labels",
                found: "others".to_owned(),
            });
        }
        self.groups.check(n, s)?;
        let n_leaves = self.groups.n_leaves();
        check_numbers("a frequency per class", &self.log_prior, Some(l), f64::is_finite)?;
        let size = n_leaves.checked_mul(s).and_then(|size| size.checked_mul(l));
        // A surprisal of 0 has the logarithm minus infinity.
        check_numbers("a distribution per prediction", &self.log_surprisals, size, |log| log < 700.0)?;
        self.norm_tree.check(n_leaves)?;
        // No norm exceeds the sum of its surprisals.
        let surprisals = largest_surprisals(&self.log_surprisals, n_leaves);
        check_sum(surprisals.map(|s| self.norm_tree.gain * s).chain([largest(&self.log_prior)]))?;
        self.residual.iter().try_for_each(|residual| residual.check([n_leaves, s, l]))?;
        self.pattern_table.iter().try_for_each(|table| table.check([n_leaves, s, l]))?;
        self.fallback.iter().try_for_each(|fallback| fallback.check([n, n_leaves, s, l]))?;
        let rows = [self.correct.as_slice(), &[self.n_rows]].concat();
        check_numbers("numbers of rows", &rows, Some(2 + N_FALLBACKS), |rows| rows >= 0.0 && rows.is_finite())
    }
}
