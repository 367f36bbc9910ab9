//! The tally: how often each pattern of predictions occurred with each truth.
//!
//! In: rows, or integer keys of rows. Out: all that the rows say about the panel, without their order.

use std::{cmp::Ordering, ops::Range};

use serde::{Deserialize, Serialize};

use crate::{
    data::{LabelMatrix, MISSING, Row, RowPacking, sort_with_missing},
    error::Error,
    evidence::{
        key_counts::KeyCount,
        tally_builder::{TallyTable, TallyWriter},
    },
    parallel,
    progress::Control,
};

/// Distinct patterns in ascending order, each with the classes that were true of it and their counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub(super) patterns: LabelMatrix,
    /// Cells of pattern p are `starts[p]..starts[p + 1]`.
    pub(super) starts: Vec<usize>,
    pub(super) classes: Vec<u16>,
    pub(super) counts: Vec<u64>,
}

impl Tally {
    pub(crate) fn empty(width: usize) -> Self {
        Self { patterns: LabelMatrix::empty(width), starts: vec![0], classes: Vec::new(), counts: Vec::new() }
    }

    /// The tally of rows given as (row, truth, count), in any order; `map` turns the ids of the rows into labels.
    /// `pieces` tallies of the same size are made at once.
    pub(crate) fn of<'a>(
        width: usize,
        rows: impl IntoIterator<Item = (Row<'a>, u16, u64)>,
        total_rows: usize,
        pieces: usize,
        map: &[u16],
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let mut table = TallyTable::new(width);
        for (at, (row, truth, count)) in rows.into_iter().enumerate() {
            table.add(row, truth, count)?;
            if at % 65_536 == 65_535 {
                control.report("tallying", at, total_rows)?;
                table.check_memory(at + 1, total_rows, pieces, control)?;
            }
        }
        table.check_memory(total_rows.max(1), total_rows.max(1), pieces, control)?;
        table.rows.relabel(map);
        Ok(table.sorted())
    }

    /// From sorted keys of rows, each with its truth in the lowest `truth_bits` bits. All keys of a row are in one piece.
    pub(crate) fn from_keys(packing: &RowPacking, truth_bits: u32, pieces: &[Vec<KeyCount>]) -> Self {
        let parts = parallel::map(pieces.len(), |piece| {
            let keys = &pieces[piece];
            let mut cells = Vec::with_capacity(keys.len() * packing.width());
            let mut starts = Vec::with_capacity(keys.len() + 1);
            let mut last = None;
            for (at, &(key, _)) in keys.iter().enumerate() {
                let row = key >> truth_bits;
                if last != Some(row) {
                    packing.unpack(row, &mut cells);
                    starts.push(at);
                    last = Some(row);
                }
            }
            (cells, starts)
        });
        let n_cells = pieces.iter().map(Vec::len).sum();
        let (mut starts, mut classes) = (Vec::new(), Vec::with_capacity(n_cells));
        let (mut counts, mut cells) = (Vec::with_capacity(n_cells), Vec::<u16>::new());
        for ((own_cells, own_starts), keys) in parts.into_iter().zip(pieces) {
            starts.extend(own_starts.iter().map(|start| classes.len() + start));
            classes.extend(keys.iter().map(|cell| (cell.0 & ((1 << truth_bits) - 1)) as u16));
            counts.extend(keys.iter().map(|cell| cell.1));
            if cells.is_empty() {
                cells = own_cells;
            } else {
                cells.extend(own_cells);
            }
        }
        starts.push(n_cells);
        Self { patterns: LabelMatrix::from_cells(packing.width(), cells), starts, classes, counts }
    }

    pub(crate) fn n_patterns(&self) -> usize {
        self.patterns.n_rows()
    }

    /// Number of distinct (pattern, truth) cells.
    pub(crate) fn n_cells(&self) -> usize {
        self.counts.len()
    }

    #[inline]
    pub(crate) fn pattern(&self, p: usize) -> Row<'_> {
        self.patterns.row(p)
    }

    pub(crate) fn patterns(&self) -> &LabelMatrix {
        &self.patterns
    }

    pub(crate) fn cell_range(&self, p: usize) -> Range<usize> {
        self.starts[p]..self.starts[p + 1]
    }

    /// The (class, count) pairs of pattern `p`, classes ascending.
    pub(crate) fn outcomes(&self, p: usize) -> impl Iterator<Item = (u16, u64)> + Clone + '_ {
        let range = self.cell_range(p);
        self.classes[range.clone()].iter().copied().zip(self.counts[range].iter().copied())
    }

    /// The count of pattern `p`, whatever was true.
    pub(crate) fn weight(&self, p: usize) -> u64 {
        self.outcomes(p).map(|(_, count)| count).sum()
    }

    /// The position of a pattern, if it occurred.
    pub(crate) fn find(&self, row: Row<'_>) -> Option<usize> {
        let (mut from, mut to) = (0, self.n_patterns());
        while from < to {
            let middle = usize::midpoint(from, to);
            match self.pattern(middle).cmp(row) {
                Ordering::Less => from = middle + 1,
                Ordering::Equal => return Some(middle),
                Ordering::Greater => to = middle,
            }
        }
        None
    }

    /// Every (pattern, class, count) in order.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (Row<'_>, u16, u64)> {
        self.cells_of(0..self.n_patterns())
    }

    /// Every (pattern, class, count) of a range of patterns, in order.
    pub(crate) fn cells_of(&self, patterns: Range<usize>) -> impl Iterator<Item = (Row<'_>, u16, u64)> {
        patterns.flat_map(|p| {
            let row = self.pattern(p);
            self.outcomes(p).map(move |(class, count)| (row, class, count))
        })
    }

    /// The count of every cell, in order.
    pub(crate) fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        self.counts.iter().copied()
    }

    /// Bytes that it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.patterns.bytes() + self.starts.len() * 8 + self.counts.len() * 10
    }

    /// Sum of two tallies over the same classifiers and labels.
    pub(crate) fn plus(&self, other: &Self) -> Result<Self, Error> {
        let mut sum = TallyWriter::new(self.patterns.width());
        let (mut a, mut b) = (0, 0);
        while a < self.n_patterns() || b < other.n_patterns() {
            let order = match (a < self.n_patterns(), b < other.n_patterns()) {
                (true, true) => self.pattern(a).cmp(other.pattern(b)),
                (true, false) => Ordering::Less,
                _ => Ordering::Greater,
            };
            if order.is_le() {
                self.outcomes(a).try_for_each(|(class, count)| sum.add(self.pattern(a), class, count))?;
            }
            if order.is_eq() {
                sum.add_to_last(other.outcomes(b))?;
            } else if order.is_gt() {
                other.outcomes(b).try_for_each(|(class, count)| sum.add(other.pattern(b), class, count))?;
            }
            a += usize::from(order.is_le());
            b += usize::from(order.is_ge());
        }
        Ok(sum.finish())
    }

    /// Replaces labels by `map`, which must keep their order.
    pub(crate) fn relabel(&mut self, map: &[u16]) {
        self.relabel_predictions(map);
        self.classes.iter_mut().for_each(|class| *class = map[usize::from(*class)]);
    }

    /// As [`relabel`](Self::relabel), without replacing truths.
    pub(crate) fn relabel_predictions(&mut self, map: &[u16]) {
        self.patterns.relabel(map);
    }

    /// The same patterns with truths replaced; [`project`](Self::project) puts them in order.
    pub(crate) fn with_classes(&self, map: &[u16]) -> Self {
        let classes = self.classes.iter().map(|class| map[usize::from(*class)]).collect();
        Self { classes, ..self.clone() }
    }

    /// The count of every pattern, whatever was true, as the count of class 0.
    pub(crate) fn without_classes(&self) -> Self {
        let n = self.n_patterns();
        let counts = (0..n).map(|p| self.weight(p)).collect();
        Self { patterns: self.patterns.clone(), starts: (0..=n).collect(), classes: vec![0; n], counts }
    }

    /// Multiplies every count.
    pub(crate) fn scale(&mut self, factor: u64) -> Result<(), Error> {
        scale(&mut self.counts, factor)
    }

    /// Multiplies the counts of every class by its factor.
    pub(crate) fn scale_classes(&mut self, factors: &[u64]) {
        let cells = self.counts.iter_mut().zip(&self.classes);
        cells.for_each(|(count, class)| *count *= factors[usize::from(*class)]);
    }

    /// Bytes that it would take if `n_complete` classifiers more had no missing cells.
    pub(crate) fn bytes_with(&self, n_complete: usize) -> usize {
        let dense = self.patterns.width().saturating_mul(2);
        let more = dense.min(n_complete.saturating_mul(6)).saturating_mul(self.n_patterns());
        self.bytes().saturating_add(more)
    }

    /// The tally of the classifiers `kept`, in that order, with each prediction, or missing cell, of k replaced by
    /// `replace(k, cell)`.
    pub(crate) fn project(
        &self,
        kept: &[usize],
        replace: impl Fn(usize, Option<u16>) -> u16,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let mut table = TallyTable::new(kept.len());
        let if_missing: Vec<(u32, u16)> =
            (0..).zip(kept).map(|(to, &k)| (to, replace(k, None))).filter(|cell| cell.1 != MISSING).collect();
        // A sparse row stays sparse unless too many missing cells become answers.
        let stays_sparse = !self.patterns.is_dense() && if_missing.len() * 3 < kept.len();
        let mut place = vec![u32::MAX; self.patterns.width()];
        (0..).zip(kept).for_each(|(to, &k)| place[k] = to);
        let mut projected = vec![MISSING; kept.len()];
        let (mut cells, mut columns, mut ids): (Vec<(u32, u16)>, Vec<u32>, Vec<u16>) = Default::default();
        for p in 0..self.n_patterns() {
            let row = if stays_sparse {
                cells.clear();
                self.pattern(p).for_each(|k, j| cells.push((place[k], replace(k, Some(j)))));
                cells.retain(|cell| cell.0 != u32::MAX);
                sort_with_missing(&mut cells, &if_missing);
                columns.clear();
                columns.extend(cells.iter().map(|cell| cell.0));
                ids.clear();
                ids.extend(cells.iter().map(|cell| cell.1));
                Row::Sparse(&columns, &ids)
            } else {
                let dense = self.pattern(p).to_dense(self.patterns.width());
                for (cell, &k) in projected.iter_mut().zip(kept) {
                    *cell = replace(k, Some(dense[k]).filter(|&j| j != MISSING));
                }
                Row::Dense(&projected)
            };
            for (class, count) in self.outcomes(p) {
                table.add(row, class, count)?;
            }
            if p % 65_536 == 0 {
                table.check_memory(p + 1, self.n_patterns(), 1, control)?;
            }
        }
        Ok(table.sorted())
    }

    /// Every cell with another pattern and truth: `map` writes the pattern, as (classifier, prediction) in ascending order,
    /// and returns the truth.
    pub(crate) fn map_cells(
        &self,
        width: usize,
        control: &Control<'_>,
        mut map: impl FnMut(Row<'_>, u16, &mut Vec<(u32, u16)>) -> u16,
    ) -> Result<Self, Error> {
        let mut table = TallyTable::new(width);
        let (mut cells, mut columns, mut ids): (Vec<(u32, u16)>, Vec<u32>, Vec<u16>) = Default::default();
        let mut dense = vec![MISSING; width];
        for (at, (row, class, count)) in self.cells().enumerate() {
            let class = map(row, class, &mut cells);
            let row = if self.patterns.is_dense() {
                dense.fill(MISSING);
                cells.iter().for_each(|&(k, j)| dense[k as usize] = j);
                Row::Dense(&dense)
            } else {
                columns.clear();
                columns.extend(cells.iter().map(|cell| cell.0));
                ids.clear();
                ids.extend(cells.iter().map(|cell| cell.1));
                Row::Sparse(&columns, &ids)
            };
            table.add(row, class, count)?;
            if at % 65_536 == 0 {
                table.check_memory(at + 1, self.n_cells(), 1, control)?;
            }
        }
        Ok(table.sorted())
    }

    /// The same cells with other counts: `count(cell, held)` of the position of a cell and its count; cells with 0 are
    /// dropped.
    pub(crate) fn keeping(&self, count: impl Fn(usize, u64) -> u64) -> Self {
        let mut kept = TallyWriter::new(self.patterns.width());
        for (cell, (row, class, held)) in self.cells().enumerate() {
            match count(cell, held) {
                0 => {}
                count => kept.add(row, class, count).expect("the sum of one count"),
            }
        }
        kept.finish()
    }

    /// Only the cells with at least the count of their class in `least`.
    pub(crate) fn at_least(&self, least: &[u64]) -> Self {
        self.keeping(|cell, count| if count < least[usize::from(self.classes[cell])] { 0 } else { count })
    }

    /// Refuses a tally that no rows can have given.
    pub(crate) fn check(&self, width: usize, n_labels: usize, n_classes: usize) -> Result<(), Error> {
        self.patterns.check(width, n_labels)?;
        let sizes = self.starts.len() == self.n_patterns() + 1 && self.classes.len() == self.counts.len();
        let spans = self.starts.first() == Some(&0) && self.starts.last() == Some(&self.counts.len());
        let filled = self.starts.windows(2).all(|at| at[0] < at[1]);
        let ascending = |at: &[usize]| self.classes[at[0]..at[1]].is_sorted_by(|a, b| a < b);
        let holds = sizes
            && spans
            && filled
            && self.starts.windows(2).all(ascending)
            && self.classes.iter().all(|class| usize::from(*class) < n_classes)
            && self.counts.iter().all(|count| *count > 0)
            && (1..self.n_patterns()).all(|p| self.pattern(p - 1).cmp(self.pattern(p)).is_lt());
        if holds {
            return Ok(());
        }
        Err(Error::Inconsistent {
            expected: "a tally of sorted, distinct patterns",
            found: "another".to_owned(),
        })
    }
}

/// Multiplies counts; refuses overflow.
pub(crate) fn scale(counts: &mut [u64], factor: u64) -> Result<(), Error> {
    for count in counts {
        *count = count.checked_mul(factor).ok_or(Error::Overflow { what: "counts" })?;
    }
    Ok(())
}
