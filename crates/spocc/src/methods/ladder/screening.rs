//! Screening: which classifiers the ladder uses.
//!
//! In: the evidence of all classifiers. Out: duplicate groups without those whose predictions are shrunk almost to
//! neutrality, that is, classifiers whose predictions hold next to no information about the truth.

use crate::{
    evidence::{Evidence, Tally},
    methods::ladder::{
        deduplication::DuplicateGroups,
        shrinkage::{LeafCounts, ShrinkageWeights},
    },
};

/// Classifiers shrunk further towards neutrality than this are screened out.
const MAX_NEUTRALITY: f64 = 0.6;

/// With unlabelled rows at hand, classifiers with predictions on fewer labelled rows than this are never screened out.
const MIN_LABELLED_ROWS: f64 = 20.0;

/// The leaves of the ladder: duplicate groups that passed the screening.
pub(super) struct ScreenedPanel {
    pub(super) groups: DuplicateGroups,
    /// The representative of every duplicate group, screened out or not: the voters of the majority fallback.
    pub(super) all_representatives: Vec<usize>,
    /// Posterior weights of the shrinkage strengths of each retained leaf.
    pub(super) weights: Vec<ShrinkageWeights>,
}

impl ScreenedPanel {
    pub(super) fn new(evidence: &Evidence, tally: &Tally) -> Self {
        let mut groups = DuplicateGroups::find(evidence, tally);
        let all_representatives = groups.representatives.clone();
        let counts = LeafCounts::of(evidence, &all_representatives);
        let mut weights = counts.weights();
        let is_retained: Vec<bool> = weights
            .iter()
            .enumerate()
            .map(|(leaf, weights)| {
                // Labelled rows say little about such a classifier, but unlabelled rows may show that it is useful.
                let is_barely_labelled =
                    evidence.n_unlabelled() > 0.0 && counts.n_answered(leaf) < MIN_LABELLED_ROWS;
                is_barely_labelled || counts.neutrality(leaf, weights) <= MAX_NEUTRALITY
            })
            .collect();
        // A panel of guessers alone is kept whole: a model needs at least one leaf.
        if is_retained.contains(&true) {
            groups.retain(&is_retained);
            let mut retained = is_retained.iter();
            weights.retain(|_| *retained.next().expect("one flag per leaf"));
        }
        Self { groups, all_representatives, weights }
    }
}
