//! One confusion table per classifier: predicted against true (paper, section 2.2, M^(k)), without the empty cells.
//!
//! Where there are many labels, most cells are empty: the size follows the number of predictions, not the square of the
//! number of labels.

use serde::{Deserialize, Serialize};

use crate::{
    data::{MISSING, Row, bits_for},
    error::Error,
    evidence::key_counts::{KeyCount, KeyCounts},
};

/// A cell of a confusion table that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConfusionCell {
    pub(crate) predicted: u16,
    pub(crate) truth: u16,
    pub(crate) count: u64,
}

impl ConfusionCell {
    fn place(&self) -> (u16, u16) {
        (self.predicted, self.truth)
    }
}

/// The confusion tables of all classifiers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Confusions {
    /// Where the cells of each classifier end.
    ends: Vec<usize>,
    /// Of every classifier by predicted, then by true label.
    cells: Vec<ConfusionCell>,
}

impl Confusions {
    /// The empty tables of `n` classifiers.
    pub(crate) fn empty(n: usize) -> Self {
        Self { ends: vec![0; n], cells: Vec::new() }
    }

    /// From a list of cells per classifier, each in order.
    pub(crate) fn collect(tables: impl Iterator<Item = impl Iterator<Item = ConfusionCell>>) -> Self {
        let (mut ends, mut cells) = (Vec::new(), Vec::new());
        for table in tables {
            cells.extend(table.filter(|cell| cell.count > 0));
            ends.push(cells.len());
        }
        Self { ends, cells }
    }

    /// From counts by classifier, predicted and true, if there are as many as `n` classifiers, `s` labels and `l` classes
    /// have.
    pub(crate) fn from_dense(counts: &[u64], [n, s, l]: [usize; 3]) -> Option<Self> {
        let size = s.checked_mul(l)?;
        (n.checked_mul(size)? == counts.len()).then(|| {
            Self::collect((0..n).map(|k| {
                let table = &counts[k * size..(k + 1) * size];
                table.iter().enumerate().map(move |(at, &count)| {
                    let (predicted, truth) = ((at / l) as u16, (at % l) as u16);
                    ConfusionCell { predicted, truth, count }
                })
            }))
        })
    }

    /// The counts by classifier, predicted and true, unless most of them are 0.
    pub(crate) fn to_dense(&self, [n, s, l]: [usize; 3]) -> Option<Vec<u64>> {
        /// A cell alone takes about as many bytes in a file as this number of zeros.
        const ZEROS_PER_CELL: usize = 8;
        let size = n.checked_mul(s)?.checked_mul(l)?;
        (size / ZEROS_PER_CELL <= self.cells.len()).then(|| {
            let mut counts = vec![0; size];
            for k in 0..n {
                for cell in self.of_classifier(k) {
                    let at = (k * s + usize::from(cell.predicted)) * l + usize::from(cell.truth);
                    counts[at] = cell.count;
                }
            }
            counts
        })
    }

    /// From the counts of [keys](Self::key) of `n` classifiers, in order.
    pub(super) fn from_keys(n: usize, keys: impl Iterator<Item = KeyCount>) -> Self {
        let mut confusions = Self { ends: Vec::with_capacity(n), cells: Vec::new() };
        for (key, count) in keys {
            let k = (key >> 32) as usize;
            while confusions.ends.len() < k {
                confusions.ends.push(confusions.cells.len());
            }
            let (predicted, truth) = ((key >> 16) as u16, key as u16);
            confusions.cells.push(ConfusionCell { predicted, truth, count });
        }
        confusions.ends.resize(n, confusions.cells.len());
        confusions
    }

    /// Those of rows, given as (row, class, count).
    pub(crate) fn of<'a>(n: usize, rows: impl Iterator<Item = (Row<'a>, u16, u64)>) -> Self {
        let mut keys = KeyCounts::new(Self::key_bits(n));
        for (row, class, count) in rows {
            row.for_each(|k, j| keys.add(Self::key(k, j, class), count));
            keys.sum_if_full();
        }
        Self::from_keys(n, keys.finish().into_iter())
    }

    /// The number of a cell: cells in order have ascending numbers.
    pub(super) fn key(k: usize, predicted: u16, truth: u16) -> u64 {
        (k as u64) << 32 | u64::from(predicted) << 16 | u64::from(truth)
    }

    /// Bits of the keys of `n` classifiers.
    pub(super) fn key_bits(n: usize) -> u32 {
        32 + bits_for(n)
    }

    pub(crate) fn n_classifiers(&self) -> usize {
        self.ends.len()
    }

    /// The cells of a classifier, by predicted, then by true label.
    pub(crate) fn of_classifier(&self, k: usize) -> &[ConfusionCell] {
        let start = if k == 0 { 0 } else { self.ends[k - 1] };
        &self.cells[start..self.ends[k]]
    }

    /// The cells of a prediction, by true label.
    pub(crate) fn of_prediction(&self, k: usize, predicted: u16) -> &[ConfusionCell] {
        let cells = self.of_classifier(k);
        let start = cells.partition_point(|cell| cell.predicted < predicted);
        let length = cells[start..].partition_point(|cell| cell.predicted == predicted);
        &cells[start..start + length]
    }

    /// The count of a cell.
    pub(crate) fn get(&self, k: usize, predicted: u16, truth: u16) -> u64 {
        let cells = self.of_classifier(k);
        cells.binary_search_by_key(&(predicted, truth), ConfusionCell::place).map_or(0, |at| cells[at].count)
    }

    /// All cells, whatever their classifier.
    pub(crate) fn cells(&self) -> &[ConfusionCell] {
        &self.cells
    }

    /// Multiplies every count by the factor of its class; the caller has checked that the sum of all counts fits.
    pub(super) fn scale(&mut self, factor: impl Fn(u16) -> u64) {
        self.cells.iter_mut().for_each(|cell| cell.count *= factor(cell.truth));
    }

    /// The tables of these classifiers.
    pub(super) fn select(&self, kept: &[usize]) -> Self {
        Self::collect(kept.iter().map(|&k| self.of_classifier(k).iter().copied()))
    }

    /// The same counts under other labels.
    pub(super) fn relabelled(&self, map: &[u16]) -> Self {
        self.renamed(|predicted| map[usize::from(predicted)], |truth| map[usize::from(truth)])
    }

    /// The same counts with other names of the predictions, some of which may be [`MISSING`].
    pub(super) fn with_predictions(&self, map: &[u16]) -> Self {
        self.renamed(|predicted| map[usize::from(predicted)], |truth| truth)
    }

    fn renamed(&self, predicted: impl Fn(u16) -> u16, truth: impl Fn(u16) -> u16) -> Self {
        let renamed = |cell: &ConfusionCell| ConfusionCell {
            predicted: predicted(cell.predicted),
            truth: truth(cell.truth),
            ..*cell
        };
        Self::collect((0..self.n_classifiers()).map(|k| {
            let cells = self.of_classifier(k).iter().map(renamed);
            sum_equal(cells.filter(|cell| cell.predicted != MISSING).collect()).into_iter()
        }))
    }

    /// The sum of the tables of the same classifiers.
    pub(super) fn plus(&self, other: &Self) -> Self {
        Self::collect((0..self.n_classifiers()).map(|k| {
            let both = [self, other].map(|side| side.of_classifier(k)).concat();
            sum_equal(both).into_iter()
        }))
    }

    /// Refuses cells that no `n` classifiers with `s` labels and these class counts can have.
    pub(super) fn check(&self, [n, s]: [usize; 2], class_counts: &[u64]) -> Result<(), Error> {
        let wrong = |expected, found: &str| Err(Error::Inconsistent { expected, found: found.to_owned() });
        if self.ends.len() != n || !self.ends.is_sorted() || self.ends.last() != Some(&self.cells.len()) {
            return wrong("one confusion table per classifier", "another size");
        }
        for k in 0..n {
            let cells = self.of_classifier(k);
            let is_known = |cell: &ConfusionCell| {
                usize::from(cell.predicted) < s
                    && usize::from(cell.truth) < class_counts.len()
                    && cell.count > 0
            };
            if !cells.iter().all(is_known) || !cells.is_sorted_by(|a, b| a.place() < b.place()) {
                return wrong("confusion cells in order", "others");
            }
            let mut left = class_counts.to_vec();
            for cell in cells {
                let left = &mut left[usize::from(cell.truth)];
                match left.checked_sub(cell.count) {
                    Some(rest) => *left = rest,
                    None => return wrong("no more predictions than rows of a class", "more"),
                }
            }
        }
        Ok(())
    }
}

/// Cells in order, of which those of the same place are one.
fn sum_equal(mut cells: Vec<ConfusionCell>) -> Vec<ConfusionCell> {
    cells.sort_by_key(ConfusionCell::place);
    cells.dedup_by(|next, kept| {
        let is_same = next.place() == kept.place();
        kept.count += if is_same { next.count } else { 0 };
        is_same
    });
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENSE: [u64; 12] = [3, 0, 0, 2, 0, 1, 0, 0, 5, 0, 0, 4];

    fn tables() -> Confusions {
        Confusions::from_dense(&DENSE, [2, 3, 2]).expect("two tables of three labels and two classes")
    }

    #[test]
    fn cells_are_those_of_the_dense_tables() {
        let tables = tables();
        assert_eq!(tables.cells().len(), 5);
        for (at, &count) in DENSE.iter().enumerate() {
            let (k, j, i) = (at / 6, (at / 2 % 3) as u16, (at % 2) as u16);
            assert_eq!(tables.get(k, j, i), count);
            let row = tables.of_prediction(k, j);
            assert_eq!(row.iter().filter(|cell| cell.truth == i).map(|cell| cell.count).sum::<u64>(), count);
        }
        tables.check([2, 3], &[8, 7]).expect("no more predictions than rows");
        assert!(tables.check([2, 3], &[8, 3]).is_err());
        assert!(tables.check([2, 2], &[8, 7]).is_err());
        assert!(tables.check([3, 3], &[8, 7]).is_err());
        assert_eq!(Confusions::from_dense(&DENSE, [2, 3, 3]), None);
        assert_eq!(tables.to_dense([2, 3, 2]).as_deref(), Some(&DENSE[..]));
        assert_eq!(tables.to_dense([2, 30, 20]), None, "nearly all counts are 0");
    }

    #[test]
    fn sums_and_renamings_keep_every_count() {
        let tables = tables();
        let twice = tables.plus(&tables);
        let mut scaled = tables.clone();
        scaled.scale(|_| 2);
        assert_eq!(twice, scaled);
        assert_eq!(twice.plus(&Confusions::empty(2)), twice);
        let renamed = tables.relabelled(&[1, 0, 2]);
        assert_eq!((renamed.get(0, 1, 1), renamed.get(0, 0, 0), renamed.get(1, 2, 0)), (3, 2, 4));
        assert_eq!(renamed.relabelled(&[1, 0, 2]), tables);
        assert_eq!(tables.select(&[1, 0]).select(&[1, 0]), tables);
    }

    #[test]
    fn rows_are_counted_into_the_cells_of_their_predictions() {
        let rows = [([0, 1], 0, 2), ([0, 2], 1, 1), ([u16::MAX, 1], 0, 4)];
        let counted =
            Confusions::of(2, rows.iter().map(|(row, class, count)| (Row::Dense(row), *class, *count)));
        let cells = [(0, 0, 0, 2), (0, 0, 1, 1), (1, 1, 0, 6), (1, 2, 1, 1)];
        for (k, j, i, count) in cells {
            assert_eq!(counted.get(k, j, i), count);
        }
        assert_eq!(counted.cells().len(), cells.len());
    }
}
