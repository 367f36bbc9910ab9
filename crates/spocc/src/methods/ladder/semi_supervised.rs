//! Confusions estimated from labelled and unlabelled rows together, by expectation-maximisation.
//!
//! The E step computes the class probabilities of every unlabelled row, the M step fits the hierarchy to the labelled
//! rows and to these probabilities. Families of near-copies count as in the expert without unlabelled rows, so that a
//! family that agrees with itself does not confirm its own errors. The probabilities are not tempered by the gain of the
//! pool: at a low gain every row would count as nearly unknown.

use crate::{
    data::Row,
    error::Error,
    math::exp,
    methods::ladder::{
        experts::leaf_scores, hierarchy::Hierarchy, leaf_counts::LeafCounts, score_table::ScoreTable,
    },
    parallel,
    progress::Control,
};

/// Steps of expectation-maximisation at most.
const MAX_STEPS: usize = 30;
/// Change of the class probabilities below which the iteration has converged.
const TOLERANCE: f64 = 1e-3;
/// Rows of one parallel task.
const ROWS_PER_TASK: usize = 512;

/// The fit to the labelled rows alone, from which the iteration starts.
pub(super) struct LabelledFit<'a> {
    pub(super) counts: &'a LeafCounts,
    pub(super) hierarchy: &'a Hierarchy,
    pub(super) scores: &'a ScoreTable,
    pub(super) leaf_weights: &'a [f64],
    /// Whether counts are averaged over the classes.
    pub(super) exchangeable: bool,
}

impl LabelledFit<'_> {
    /// The expected counts and the scores after expectation-maximisation.
    pub(super) fn with_unlabelled(
        &self,
        rows: &[(Row<'_>, f64)],
        control: &Control<'_>,
    ) -> Result<(LeafCounts, ScoreTable), Error> {
        let l = self.counts.n_classes().max(1);
        let mut shares = expectation(self.scores, rows, l);
        let mut hierarchy = self.hierarchy.clone();
        let (mut counts, mut table) = (self.counts.clone(), self.scores.clone());
        for step in 0..MAX_STEPS {
            control.report("ladder: unlabelled rows", step, MAX_STEPS)?;
            counts.clone_from(self.counts);
            let mut expected = vec![0.0; l];
            for (&(row, weight), shares) in rows.iter().zip(shares.chunks_exact(l)) {
                expected.iter_mut().zip(shares).for_each(|(rows, share)| *rows = weight * share);
                counts.add_expected(row, &expected);
            }
            if self.exchangeable {
                counts.average_over_classes();
            }
            hierarchy.refit(&counts);
            table = leaf_scores(&counts, &hierarchy.likelihoods(&counts), self.leaf_weights);
            let next = expectation(&table, rows, l);
            let change = next.iter().zip(&shares).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            shares = next;
            if change < TOLERANCE {
                break;
            }
        }
        Ok((counts, table))
    }
}

/// The class probabilities of every row.
fn expectation(table: &ScoreTable, rows: &[(Row<'_>, f64)], l: usize) -> Vec<f64> {
    let mut shares = vec![0.0; rows.len() * l];
    parallel::fill(&mut shares, ROWS_PER_TASK * l, |start, piece| {
        for (at, shares) in (start / l..).zip(piece.chunks_exact_mut(l)) {
            table.score(rows[at].0, shares);
            let best = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            shares.iter_mut().for_each(|score| *score = exp(*score - best));
            let total: f64 = shares.iter().sum();
            shares.iter_mut().for_each(|share| *share /= total);
        }
    });
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_without_labelled_rows_is_understood_by_its_agreement_with_the_others() {
        // Three leaves are right on 9 of 10 labelled rows of each class; the fourth has no labelled row and, on 80
        // unlabelled rows, predicts the opposite of what the others agree on.
        let known = [9.0, 1.0, 1.0, 9.0];
        let counts = LeafCounts {
            n_labels: 2,
            classes: vec![10.0; 2],
            confusions: [known, known, known, [0.0; 4]].concat(),
        };
        let hierarchy = Hierarchy::fit(&counts, true);
        let start = leaf_scores(&counts, &hierarchy.likelihoods(&counts), &[1.0; 4]);
        let rows = [(Row::Dense(&[0, 0, 0, 1]), 40.0), (Row::Dense(&[1, 1, 1, 0]), 40.0)];
        let labelled = LabelledFit {
            counts: &counts,
            hierarchy: &hierarchy,
            scores: &start,
            leaf_weights: &[1.0; 4],
            exchangeable: false,
        };
        let (_, fitted) = labelled.with_unlabelled(&rows, &Control::default()).expect("not cancelled");
        let odds = |table: &ScoreTable, cells: &[u16]| {
            let mut scores = [0.0; 2];
            table.score(Row::Dense(cells), &mut scores);
            scores[0] - scores[1]
        };
        let missing = crate::data::MISSING;
        let alone = [missing, missing, missing, 0];
        assert!(odds(&start, &alone) > 1.0, "its label is taken to mean what it says");
        assert!(odds(&fitted, &alone) < -1.0, "{}", odds(&fitted, &alone));
        assert!(odds(&fitted, &[0, missing, missing, missing]) > 1.0);
    }
}
