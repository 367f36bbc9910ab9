//! Scores that are sums over predictions: every expert of the pool, and the pool itself.

use crate::data::Row;

/// A score per class, the sum of a start and of one score per prediction.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ScoreTable {
    pub(super) n_labels: usize,
    /// By class.
    pub(super) start: Vec<f64>,
    /// By leaf, predicted label and class.
    pub(super) scores: Vec<f64>,
}

impl ScoreTable {
    /// Writes the scores of a row.
    pub(super) fn score(&self, row: Row<'_>, out: &mut [f64]) {
        let l = self.start.len();
        out.copy_from_slice(&self.start);
        row.for_each(|leaf, j| {
            let scores = &self.scores[(leaf * self.n_labels + usize::from(j)) * l..][..l];
            out.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
        });
    }

    /// Adds a multiple of another table.
    pub(super) fn add(&mut self, factor: f64, other: &Self) {
        let add = |to: &mut [f64], from: &[f64]| {
            to.iter_mut().zip(from).for_each(|(sum, score)| *sum += factor * score);
        };
        add(&mut self.start, &other.start);
        add(&mut self.scores, &other.scores);
    }
}
