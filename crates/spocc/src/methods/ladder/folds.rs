//! Folds of the model selection, and the sample that the norm tree is fitted to.
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

/// A weighted sample of about `max_cells` cells that represents all rows; none if there are no more cells than that.
///
/// Frequent cells keep about their number of rows; of the rare ones some are drawn, with more weight.
pub(super) fn sample(
    evidence: &Evidence,
    tally: &Tally,
    cells: &[PatternCell],
    max_cells: usize,
) -> Option<Vec<PatternCell>> {
    if cells.len() <= max_cells {
        return None;
    }
    let keys = CellKeys::new(evidence, tally);
    let step = cells.len().div_ceil(max_cells) as u64;
    let draw = |cell: &PatternCell| {
        let weight = keys.row_weight(cell);
        let rows = (cell.rows / weight).round() as u64;
        let drawn = rows / step + u64::from(mix(keys.of(cell), 23) % step < rows % step);
        (drawn > 0).then(|| PatternCell { rows: (drawn * step) as f64 * weight, ..*cell })
    };
    Some(cells.iter().filter_map(draw).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        data::{Predictions, Truth},
        hash,
        methods::ladder::cells::pattern_cells,
    };

    /// Evidence of a panel whose classes are named by a function.
    fn evidence(name: impl Fn(u64) -> String) -> Evidence {
        let mut rows = Predictions::builder(["a", "b", "c", "d", "e", "f"]).expect("distinct names");
        let mut truths = Vec::new();
        for t in 0..20_000 {
            let truth = hash::draw(t, 3);
            let predicted = |k: u64| {
                let draw = hash::draw(hash::mix(t, k), 10);
                name(if draw < 6 + k % 3 { truth } else { draw % 3 })
            };
            rows.push((0..6).map(|k| Some(predicted(k)))).expect("a row");
            truths.push(Some(name(truth)));
        }
        Evidence::new(&rows.finish(), &Truth::new(truths).expect("labels")).expect("rows")
    }

    #[test]
    fn a_sample_represents_all_rows_and_keeps_the_frequent_cells() {
        let evidence = evidence(|class| class.to_string());
        let tally = evidence.tally_for(crate::Method::Ladder).expect("a tally");
        let (cells, _) = pattern_cells(&evidence, tally);
        assert!(sample(&evidence, tally, &cells, cells.len()).is_none());
        let (max_cells, step) = (cells.len() / 8, 9.0);
        let sample = sample(&evidence, tally, &cells, max_cells).expect("more cells than that");
        assert!(sample.len() < cells.len() * 2 / 3, "{} of {}", sample.len(), cells.len());
        let rows = |cells: &[PatternCell]| cells.iter().map(|cell| cell.rows).sum::<f64>();
        assert!((rows(&sample) / rows(&cells) - 1.0).abs() < 0.03, "{} {}", rows(&sample), rows(&cells));
        for cell in &cells {
            let is_same = |other: &&PatternCell| (other.pattern, other.truth) == (cell.pattern, cell.truth);
            let kept = sample.iter().find(is_same).map_or(0.0, |cell| cell.rows);
            assert!((kept - cell.rows).abs() < step, "{kept} of {}", cell.rows);
        }
    }

    #[test]
    fn names_do_not_change_a_sample() {
        let sizes = |name: fn(u64) -> String| {
            let evidence = evidence(name);
            let tally = evidence.tally_for(crate::Method::Ladder).expect("a tally");
            let sample =
                sample(&evidence, tally, &pattern_cells(&evidence, tally).0, 100).expect("many cells");
            let mut rows: Vec<u64> = sample.iter().map(|cell| cell.rows as u64).collect();
            rows.sort_unstable();
            rows
        };
        assert_eq!(sizes(|class| class.to_string()), sizes(|class| format!("{}", 2 - class)));
    }
}
