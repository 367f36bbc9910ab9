//! Folds on which the experts are scored.
//!
//! A row's fold is a hash of how often each of its predictions occurred with each truth. It depends neither on the names
//! nor on the order of labels, classes and classifiers, so renaming them changes no choice. Duplicate rows are assigned to
//! folds independently: spread evenly, each held-out row would have a duplicate among the training rows, and patterns
//! seen twice would look more reliable than they are.

use crate::{
    evidence::{Evidence, Splitter, Tally},
    hash::mix,
    methods::ladder::cells::PatternCell,
};

/// Number of folds.
pub(super) const FOLDS: usize = 5;

/// Duplicate rows that are assigned one by one; a multiple of the number of folds.
const MAX_ASSIGNED: f64 = 1000.0;

/// Hashes that identify a cell by its counts, without any name.
struct CellKeys<'a> {
    evidence: &'a Evidence,
    tally: &'a Tally,
    /// Hash of the counts of every label that a classifier predicts.
    labels: Vec<Vec<u64>>,
}

impl<'a> CellKeys<'a> {
    fn new(evidence: &'a Evidence, tally: &'a Tally) -> Self {
        // A sum over classes, so that their order does not matter.
        let of_label = |k: usize, j: usize| {
            let of_class = |(&count, &class): (&u64, &u64)| mix(mix(17, count), class);
            let counts = evidence.row(k, j as u16).iter().zip(evidence.class_counts());
            counts.map(of_class).fold(0, u64::wrapping_add)
        };
        let of_classifier = |k: usize| (0..evidence.n_labels()).map(|j| of_label(k, j)).collect();
        let labels = (0..evidence.n_classifiers()).map(of_classifier).collect();
        Self { evidence, tally, labels }
    }

    fn of(&self, cell: &PatternCell) -> u64 {
        let truth = usize::from(cell.truth);
        let mut hash = 0u64;
        self.tally.pattern(cell.pattern as usize).for_each(|k, j| {
            let counts = mix(self.labels[k][usize::from(j)], self.evidence.row(k, j)[truth]);
            hash = hash.wrapping_add(counts);
        });
        mix(hash, self.evidence.class_counts()[truth])
    }

    /// Weight of one row of a cell.
    fn row_weight(&self, cell: &PatternCell) -> f64 {
        self.evidence.rows_of(self.evidence.row_unit(cell.truth))
    }
}

/// Rows of every cell in each fold.
pub(super) fn split(evidence: &Evidence, tally: &Tally, cells: &[PatternCell]) -> Vec<[f64; FOLDS]> {
    let keys = CellKeys::new(evidence, tally);
    let splitter = Splitter::new(FOLDS, mix);
    let split_cell = |cell: &PatternCell| {
        let mut folds = [0.0; FOLDS];
        let weight = keys.row_weight(cell);
        let rows = cell.rows / weight;
        // Beyond the rows assigned one by one, every fold gets an equal part.
        let assigned = rows.floor() % MAX_ASSIGNED;
        folds.fill((rows.floor() - assigned) / FOLDS as f64);
        let key = keys.of(cell);
        (0..assigned as u64).for_each(|row| folds[splitter.part_of(key, row)] += 1.0);
        // The fraction of a row that weights leave over goes to one fold.
        folds[splitter.part_of(key, u64::MAX)] += rows - rows.floor();
        folds.map(|rows| rows * weight)
    };
    cells.iter().map(split_cell).collect()
}
