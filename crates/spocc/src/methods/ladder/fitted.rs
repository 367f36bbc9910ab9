//! A fitted ladder, applied to a row.

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    error::Error,
    math::{exp, log_normalise},
    methods::{
        ClassSums, FittedRule, Parameters, Scratch, SumKind, check_numbers, check_sum,
        ladder::{deduplication::DuplicateGroups, experts::Expert, pattern_table::PatternTable},
        largest, largest_of_parts,
    },
};

/// The pool of experts as one table of scores, perhaps corrected by a table of patterns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FittedLadder {
    pub(super) n_labels: usize,
    /// Scores of the classes before any prediction.
    pub(super) start: Vec<f64>,
    /// Scores that a prediction adds, by classifier, predicted label and class.
    pub(super) scores: Vec<f64>,
    pub(super) groups: DuplicateGroups,
    pub(in crate::methods) pattern_table: Option<PatternTable>,
    pub(super) experts: Vec<FittedExpert>,
    /// Classifier behind the expert that is one classifier alone.
    pub(super) best_classifier: Option<u32>,
}

/// Gain and weight of an expert in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FittedExpert {
    /// Which expert.
    pub expert: Expert,
    /// The factor of its scores at which it alone has the least held-out log-loss.
    pub gain: f64,
    /// Its weight in the pool.
    pub weight: f64,
}

/// Buffers for applying a fitted ladder.
#[derive(Clone, Debug, Default)]
pub(in crate::methods) struct LadderScratch {
    /// The predictions of a row, as (leaf, label), sorted and distinct.
    predictions: Vec<(usize, u16)>,
    /// The pattern of the leaves.
    pattern: Vec<u16>,
}

impl FittedLadder {
    pub(crate) fn parameters(&self) -> Parameters {
        Parameters::Ladder {
            leaves: self.groups.members(),
            experts: self.experts.clone(),
            best_classifier: self.best_classifier.map(|k| k as usize),
            pattern_shrinkage: self.pattern_table.as_ref().map(|table| table.shrinkage),
        }
    }

    /// The possibility distribution of prediction `j` of classifier `k`: its scores, scaled to a maximum of 1.
    pub(crate) fn possibility(&self, k: usize, j: u16) -> Vec<f64> {
        let scores = self.scores_of(k, j);
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        scores.iter().map(|score| exp(score - best)).collect()
    }

    fn scores_of(&self, k: usize, j: u16) -> &[f64] {
        let l = self.start.len();
        &self.scores[(k * self.n_labels + usize::from(j)) * l..][..l]
    }

    /// Writes the score of every class to `out`; false if the row has no prediction.
    fn add_scores(&self, row: Row<'_>, out: &mut Vec<f64>) -> bool {
        out.clear();
        out.extend_from_slice(&self.start);
        let mut has_prediction = false;
        row.for_each(|k, j| {
            out.iter_mut().zip(self.scores_of(k, j)).for_each(|(sum, score)| *sum += score);
            has_prediction = true;
        });
        has_prediction
    }

    /// Corrects log probabilities by the counts of the row's pattern.
    fn apply_pattern_table(&self, table: &PatternTable, row: Row<'_>, scratch: &mut Scratch) {
        let LadderScratch { predictions, pattern } = &mut scratch.ladder;
        predictions.clear();
        let mut has_new_label = false;
        row.for_each(|k, j| match self.groups.leaf_label(k, j, self.n_labels) {
            Some(prediction) => predictions.push(prediction),
            None => has_new_label |= self.groups.is_retained(k),
        });
        predictions.sort_unstable();
        predictions.dedup();
        // No labelled row has such a label or duplicates that disagree, so no pattern of the table does.
        if !has_new_label && predictions.windows(2).all(|pair| pair[0].0 < pair[1].0) {
            self.groups.leaf_pattern(row, self.n_labels, pattern);
            table.apply(Row::Dense(pattern), &mut scratch.out);
        }
    }
}

impl FittedRule for FittedLadder {
    fn surprisals(&self, row: Row<'_>, scratch: &mut Scratch) -> bool {
        let has_prediction = self.add_scores(row, &mut scratch.out);
        log_normalise(&mut scratch.out);
        if let Some(table) = &self.pattern_table {
            self.apply_pattern_table(table, row, scratch);
        }
        scratch.out.iter_mut().for_each(|log| *log = (-*log).max(0.0));
        has_prediction
    }

    fn ratios(&self, row: Row<'_>, scratch: &mut Scratch) {
        if self.pattern_table.is_some() {
            return scratch.ratios_of_surprisals();
        }
        self.add_scores(row, &mut scratch.out);
        scratch.ratios_of_scores();
    }

    fn sums(&self, _n_labels: usize) -> Option<ClassSums<'_>> {
        if self.pattern_table.is_some() {
            return None;
        }
        let (start, table) = (Some(self.start.as_slice().into()), self.scores.as_slice().into());
        Some(ClassSums { start, table, kind: SumKind::Scores })
    }

    fn check(&self, [n, s, l]: [usize; 3]) -> Result<(), Error> {
        let labels = if self.n_labels == s { Some(l) } else { None };
        check_numbers("a score per class", &self.start, labels, f64::is_finite)?;
        let size = n.checked_mul(s).and_then(|size| size.checked_mul(l));
        check_numbers("a score per prediction and class", &self.scores, size, f64::is_finite)?;
        check_sum(largest_of_parts(&self.scores, n).chain([largest(&self.start)]))?;
        self.groups.check(n, s)?;
        self.pattern_table.iter().try_for_each(|table| table.check([self.groups.n_leaves(), s, l]))?;
        let numbers: Vec<f64> = self.experts.iter().flat_map(|fitted| [fitted.gain, fitted.weight]).collect();
        check_numbers("gains and weights", &numbers, Some(numbers.len()), |x| x >= 0.0 && x.is_finite())?;
        match self.best_classifier {
            Some(k) if k as usize >= n => {
                Err(Error::Inconsistent { expected: "the number of a classifier", found: k.to_string() })
            }
            _ => Ok(()),
        }
    }
}
