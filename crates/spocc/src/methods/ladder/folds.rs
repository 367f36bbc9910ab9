//! Folds on which the experts are scored.
//!
//! A row's fold is a hash of how often each of its predictions occurred with each truth. It depends neither on the names
//! nor on the order of labels, classes and classifiers, so renaming them changes no choice. Duplicate rows are assigned to
//! folds independently: spread evenly, each held-out row would have a duplicate among the training rows, and patterns
//! seen twice would look more reliable than they are.

use crate::{
    data::NONE,
    evidence::{Evidence, Splitter, Tally},
    hash::{self, mix},
    methods::ladder::cells::PatternCell,
};

/// Number of folds.
pub(in crate::methods) const FOLDS: usize = 5;

/// Duplicate rows that are assigned one by one.
const MAX_ASSIGNED: f64 = 1000.0;

/// Cells above which a single fold is held out.
const MAX_CELLS_FOR_ALL: usize = 1 << 13;

/// Hashes that identify a cell by its counts, without any name.
pub(in crate::methods) struct CellKeys<'a> {
    evidence: &'a Evidence,
    tally: &'a Tally,
    /// Hash of the counts of every label that a classifier predicts.
    labels: Vec<Vec<u64>>,
}

impl<'a> CellKeys<'a> {
    pub(in crate::methods) fn new(evidence: &'a Evidence, tally: &'a Tally) -> Self {
        // A sum over classes, so that their order does not matter.
        let of_class = |count: u64, truth: usize| mix(mix(17, count), evidence.class_counts()[truth]);
        let of_no_rows = (0..evidence.n_classes()).map(|i| of_class(0, i)).fold(0, u64::wrapping_add);
        let of_label = |k: usize, j: usize| {
            let cells = evidence.confusions().of_prediction(k, j as u16).iter();
            cells.fold(of_no_rows, |sum, cell| {
                let truth = usize::from(cell.truth);
                sum.wrapping_sub(of_class(0, truth)).wrapping_add(of_class(cell.count, truth))
            })
        };
        // Candidate numbers of open answers mean something else on every row: all have the hash of the classifier.
        let of_candidates = |k: usize| {
            let own = mix(mix(19, evidence.answered(k)), evidence.correct(k));
            vec![own; evidence.n_labels()]
        };
        let is_open = evidence.is_open();
        let of_classifier = |k: usize| {
            if is_open {
                of_candidates(k)
            } else {
                (0..evidence.n_labels()).map(|j| of_label(k, j)).collect()
            }
        };
        let labels = (0..evidence.n_classifiers()).map(of_classifier).collect();
        Self { evidence, tally, labels }
    }

    /// A number from 0 to below 1 for a pattern.
    pub(in crate::methods) fn draw(&self, pattern: usize) -> f64 {
        if self.evidence.is_open() {
            return hash::unit(mix(self.of_candidates(pattern, NONE), 29));
        }
        let mut sum = 0u64;
        self.tally.pattern(pattern).for_each(|k, j| sum = sum.wrapping_add(self.labels[k][usize::from(j)]));
        hash::unit(mix(sum, 29))
    }

    /// Which classifiers agree on a row of open answers, and whether they are right; whatever the candidates' numbers.
    fn of_candidates(&self, pattern: usize, truth: u16) -> u64 {
        let mut sums: Vec<u64> = Vec::new();
        self.tally.pattern(pattern).for_each(|k, j| {
            sums.resize(sums.len().max(usize::from(j) + 1), 0);
            sums[usize::from(j)] = sums[usize::from(j)].wrapping_add(self.labels[k][usize::from(j)]);
        });
        let of_candidate = |(j, sum): (u16, &u64)| mix(*sum, u64::from(j == truth && truth != NONE));
        mix((0..).zip(&sums).skip(1).map(of_candidate).fold(0, u64::wrapping_add), 31)
    }

    fn of(&self, cell: &PatternCell) -> u64 {
        let truth = usize::from(cell.truth);
        if self.evidence.is_open() {
            return self.of_candidates(cell.pattern as usize, cell.truth);
        }
        let mut hash = 0u64;
        self.tally.pattern(cell.pattern as usize).for_each(|k, j| {
            let count = self.evidence.confusions().get(k, j, cell.truth);
            let counts = mix(self.labels[k][usize::from(j)], count);
            hash = hash.wrapping_add(counts);
        });
        mix(hash, self.evidence.class_counts()[truth])
    }

    /// Weight of one row of a cell.
    fn row_weight(&self, cell: &PatternCell) -> f64 {
        self.evidence.rows_of(self.evidence.row_unit(cell.truth))
    }
}

/// The rows of every cell in each fold.
pub(in crate::methods) struct Folds {
    pub(in crate::methods) rows: Vec<[f64; FOLDS]>,
    /// Folds to hold out: all, or the first of a large tally.
    pub(in crate::methods) n_held_out: usize,
    /// Share of the rows that are held out in some fold.
    pub(in crate::methods) share: f64,
}

impl Folds {
    /// Splits the rows of all cells. A single fold that is held out has about [`MAX_CELLS_FOR_ALL`] cells of a tally with
    /// many more: enough for the few numbers that it chooses.
    pub(in crate::methods) fn new(keys: &CellKeys<'_>, cells: &[PatternCell]) -> Self {
        let is_large = cells.len() > MAX_CELLS_FOR_ALL;
        let n_parts = if is_large { cells.len().div_ceil(MAX_CELLS_FOR_ALL).max(FOLDS) } else { FOLDS };
        let splitter = Splitter::new(n_parts, mix);
        // With more parts than folds only the first is held out: the fold of any other part does not matter.
        let fold_of = |part: usize| if part < FOLDS { part } else { 1 + part % (FOLDS - 1) };
        let in_folds: [f64; FOLDS] = std::array::from_fn(|fold| {
            (0..n_parts).filter(|&part| fold_of(part) == fold).count() as f64 / n_parts as f64
        });
        let split_cell = |cell: &PatternCell| {
            let weight = keys.row_weight(cell);
            let rows = cell.rows / weight;
            // Beyond the rows assigned one by one, every part gets an equal share.
            let assigned = rows.floor() % MAX_ASSIGNED;
            let mut folds = in_folds.map(|share| (rows.floor() - assigned) * share);
            let key = keys.of(cell);
            (0..assigned as u64).for_each(|row| folds[fold_of(splitter.part_of(key, row))] += 1.0);
            // The fraction of a row that weights leave over goes to one fold.
            folds[fold_of(splitter.part_of(key, u64::MAX))] += rows - rows.floor();
            folds.map(|rows| rows * weight)
        };
        let n_held_out = if is_large { 1 } else { FOLDS };
        Self {
            rows: cells.iter().map(split_cell).collect(),
            n_held_out,
            share: n_held_out as f64 / n_parts as f64,
        }
    }
}

impl Folds {
    /// The rows of every cell outside a fold, and inside it.
    pub(in crate::methods) fn split(&self, fold: usize) -> [Vec<f64>; 2] {
        let others =
            |rows: &[f64; FOLDS]| (0..FOLDS).filter(|&other| other != fold).map(|other| rows[other]).sum();
        [self.rows.iter().map(others).collect(), self.rows.iter().map(|rows| rows[fold]).collect()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Control, Predictions, Truth, evidence::Counting, methods::ladder::cells::pattern_cells};

    #[test]
    fn every_row_is_in_one_fold_and_of_many_cells_few_are_held_out() {
        for (n_rows, is_large) in [(500u64, false), (60_000, true)] {
            let names: Vec<String> = (0..12).map(|k| format!("c{k}")).collect();
            let mut rows = Predictions::builder(names).expect("twelve names");
            let mut truth = Truth::default();
            for row in 0..n_rows {
                rows.push((0..12).map(|k| Some(hash::draw(mix(row, k), 5) as i64))).expect("a row");
                truth.push(Some((row % 3) as i64)).expect("three classes");
            }
            let counting = Counting::default();
            let evidence =
                Evidence::count(&rows.finish(), &truth, &counting, &Control::default()).expect("rows");
            let tally = evidence.tally().expect("a tally");
            let (cells, _) = pattern_cells(&evidence, tally);
            let folds = Folds::new(&CellKeys::new(&evidence, tally), &cells);
            for (cell, rows) in cells.iter().zip(&folds.rows) {
                assert_eq!(rows.iter().sum::<f64>(), cell.rows);
            }
            let held_out: f64 = folds.rows.iter().flat_map(|rows| &rows[..folds.n_held_out]).sum();
            assert!((held_out / n_rows as f64 - folds.share).abs() < 0.01, "{held_out}");
            assert_eq!(
                (folds.n_held_out, folds.share < 0.2),
                if is_large { (1, true) } else { (FOLDS, false) }
            );
        }
    }
}
