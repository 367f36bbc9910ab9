//! The tally: how often each pattern of answers occurred with each truth.

use std::{cmp::Ordering, ops::Range};

use hashbrown::HashTable;
use serde::{Deserialize, Serialize};

use crate::{
    data::{LabelMatrix, MISSING, Row, RowPacking, sort_with_missing},
    error::Error,
    evidence::key_counts::Numbered,
    hash, parallel,
    progress::Control,
};

/// Distinct patterns in ascending order, each with the classes it occurred with and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    patterns: LabelMatrix,
    /// Cells of pattern p are `starts[p]..starts[p + 1]`.
    starts: Vec<usize>,
    classes: Vec<u16>,
    counts: Vec<u64>,
}

impl Tally {
    pub(crate) fn empty(width: usize) -> Self {
        Self { patterns: LabelMatrix::empty(width), starts: vec![0], classes: Vec::new(), counts: Vec::new() }
    }

    /// Adds up rows that come as (row, truth, count), in any order; `map` turns the rows' ids into labels. As
    /// many as `pieces` of equal size are being made at once.
    pub(crate) fn of<'a>(
        width: usize,
        rows: impl IntoIterator<Item = (Row<'a>, u16, u64)>,
        total_rows: usize,
        pieces: usize,
        map: &[u16],
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let mut found = Found::new(width);
        for (at, (row, truth, count)) in rows.into_iter().enumerate() {
            found.add(row, truth, count)?;
            if at % 65_536 == 65_535 {
                control.report("tallying", at, total_rows)?;
                found.check_memory(at + 1, total_rows, pieces, control)?;
            }
        }
        found.check_memory(total_rows.max(1), total_rows.max(1), pieces, control)?;
        found.rows.relabel(map);
        Ok(found.sorted())
    }

    /// From the numbers of rows, each followed by its truth in so many bits, in order; a row is within a piece.
    pub(crate) fn of_numbers(packing: &RowPacking, truth_bits: u32, pieces: &[Vec<Numbered>]) -> Self {
        let parts = parallel::map(pieces.len(), |piece| {
            let numbers = &pieces[piece];
            let mut cells = Vec::with_capacity(numbers.len() * packing.width());
            let mut starts = Vec::with_capacity(numbers.len() + 1);
            let mut last = None;
            for (at, &(number, _)) in numbers.iter().enumerate() {
                let row = number >> truth_bits;
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
        for ((own_cells, own_starts), numbers) in parts.into_iter().zip(pieces) {
            starts.extend(own_starts.iter().map(|start| classes.len() + start));
            classes.extend(numbers.iter().map(|cell| (cell.0 & ((1 << truth_bits) - 1)) as u16));
            counts.extend(numbers.iter().map(|cell| cell.1));
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

    /// The number of the pattern, if it was met.
    pub(crate) fn find(&self, row: Row<'_>) -> Option<usize> {
        let (mut from, mut to) = (0, self.n_patterns());
        while from < to {
            let middle = usize::midpoint(from, to);
            match self.pattern(middle).cmp(row) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => to = middle,
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

    /// How often every cell occurred, in order.
    pub(crate) fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        self.counts.iter().copied()
    }

    /// Bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.patterns.bytes() + self.starts.len() * 8 + self.counts.len() * 10
    }

    /// Sum of two tallies over the same classifiers and labels.
    pub(crate) fn plus(&self, other: &Self) -> Result<Self, Error> {
        let mut sum = Appender::new(self.patterns.width());
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
        self.relabel_answers(map);
        self.classes.iter_mut().for_each(|class| *class = map[usize::from(*class)]);
    }

    /// As [`relabel`](Self::relabel), with truths as they are.
    pub(crate) fn relabel_answers(&mut self, map: &[u16]) {
        self.patterns.relabel(map);
    }

    /// The same patterns with truths replaced; a projection puts them in order.
    pub(crate) fn with_classes(&self, map: &[u16]) -> Self {
        let classes = self.classes.iter().map(|class| map[usize::from(*class)]).collect();
        Self { classes, ..self.clone() }
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

    /// Bytes it would take if so many more answered everywhere.
    pub(crate) fn bytes_with(&self, answering: usize) -> usize {
        let dense = self.patterns.width().saturating_mul(2);
        let more = dense.min(answering.saturating_mul(6)).saturating_mul(self.n_patterns());
        self.bytes().saturating_add(more)
    }

    /// The tally of the classifiers `kept`, in that order, with what each said, or did not say, replaced.
    pub(crate) fn project(
        &self,
        kept: &[usize],
        replace: impl Fn(usize, Option<u16>) -> u16,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let mut found = Found::new(kept.len());
        let gaps: Vec<(u32, u16)> =
            (0..).zip(kept).map(|(to, &k)| (to, replace(k, None))).filter(|gap| gap.1 != MISSING).collect();
        // A sparse row is projected by what it says, unless too many silences are to speak.
        let stays_sparse = !self.patterns.is_dense() && gaps.len() * 3 < kept.len();
        let mut place = vec![u32::MAX; self.patterns.width()];
        (0..).zip(kept).for_each(|(to, &k)| place[k] = to);
        let mut projected = vec![MISSING; kept.len()];
        let (mut cells, mut columns, mut ids): (Vec<(u32, u16)>, Vec<u32>, Vec<u16>) = Default::default();
        for p in 0..self.n_patterns() {
            let row = if stays_sparse {
                cells.clear();
                self.pattern(p).for_each(|k, j| cells.push((place[k], replace(k, Some(j)))));
                cells.retain(|cell| cell.0 != u32::MAX);
                sort_with_missing(&mut cells, &gaps);
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
                found.add(row, class, count)?;
            }
            if p % 65_536 == 0 {
                found.check_memory(p + 1, self.n_patterns(), 1, control)?;
            }
        }
        Ok(found.sorted())
    }

    /// The same cells with other counts: `count` is given the number of a cell and what it holds.
    pub(crate) fn keeping(&self, count: impl Fn(usize, u64) -> u64) -> Self {
        let mut kept = Appender::new(self.patterns.width());
        for (cell, (row, class, held)) in self.cells().enumerate() {
            match count(cell, held) {
                0 => {}
                count => kept.add(row, class, count).expect("the sum of one count"),
            }
        }
        kept.finish()
    }

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

pub(crate) fn scale(counts: &mut [u64], factor: u64) -> Result<(), Error> {
    for count in counts {
        *count = count.checked_mul(factor).ok_or(Error::Overflow { what: "counts" })?;
    }
    Ok(())
}

/// Writes a tally whose patterns come in order.
struct Appender {
    tally: Tally,
}

impl Appender {
    fn new(width: usize) -> Self {
        Self { tally: Tally { starts: Vec::new(), ..Tally::empty(width) } }
    }

    /// Adds a cell; a pattern different from the last one starts a new entry.
    fn add(&mut self, row: Row<'_>, class: u16, count: u64) -> Result<(), Error> {
        let tally = &mut self.tally;
        let last = tally.patterns.n_rows();
        if last == 0 || tally.patterns.row(last - 1).cmp(row).is_ne() {
            tally.patterns.push(row);
            tally.starts.push(tally.counts.len());
        }
        self.add_to_last([(class, count)].into_iter())
    }

    fn add_to_last(&mut self, outcomes: impl Iterator<Item = (u16, u64)>) -> Result<(), Error> {
        let tally = &mut self.tally;
        let start = *tally.starts.last().expect("a pattern was added before");
        for (class, count) in outcomes {
            match tally.classes[start..].binary_search(&class) {
                Ok(at) => {
                    let sum = tally.counts[start + at].checked_add(count);
                    tally.counts[start + at] = sum.ok_or(Error::Overflow { what: "tally" })?;
                }
                Err(at) => {
                    tally.classes.insert(start + at, class);
                    tally.counts.insert(start + at, count);
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Tally {
        self.tally.starts.push(self.tally.counts.len());
        self.tally.patterns = self.tally.patterns.settled();
        self.tally
    }
}

/// Cells met so far, unsorted, found again by hash.
struct Found {
    rows: LabelMatrix,
    truths: Vec<u16>,
    counts: Vec<u64>,
    hashes: Vec<u64>,
    index: HashTable<u32>,
}

impl Found {
    fn new(width: usize) -> Self {
        let rows = LabelMatrix::empty(width);
        Self { rows, truths: Vec::new(), counts: Vec::new(), hashes: Vec::new(), index: HashTable::new() }
    }

    /// All rows given to one `Found` come in one form, so its hash may follow the form.
    fn hash(row: Row<'_>, truth: u16) -> u64 {
        match row {
            Row::Dense(cells) => hash::ids(u64::from(truth), cells),
            sparse @ Row::Sparse(..) => sparse.hash(u64::from(truth)),
        }
    }

    fn add(&mut self, row: Row<'_>, truth: u16, count: u64) -> Result<(), Error> {
        let hash = Self::hash(row, truth);
        let Self { rows, truths, counts, hashes, index } = self;
        let same = |&at: &u32| truths[at as usize] == truth && rows.row(at as usize).cmp(row).is_eq();
        if let Some(&at) = index.find(hash, same) {
            let sum = counts[at as usize].checked_add(count);
            counts[at as usize] = sum.ok_or(Error::Overflow { what: "tally" })?;
            return Ok(());
        }
        let at = u32::try_from(counts.len()).map_err(|_| Error::Overflow { what: "distinct patterns" })?;
        rows.push(row);
        truths.push(truth);
        counts.push(count);
        hashes.push(hash);
        index.insert_unique(hash, at, |&at| hashes[at as usize]);
        Ok(())
    }

    /// Refuses to go on when the whole tally, at the pace so far, would not fit.
    fn check_memory(
        &self,
        seen: usize,
        total: usize,
        pieces: usize,
        control: &Control<'_>,
    ) -> Result<(), Error> {
        let bytes = pieces * (self.rows.bytes() + self.counts.len() * (26 + 32));
        if bytes as u64 <= control.memory_limit() {
            return Ok(());
        }
        let whole = (bytes as f64 * total.max(seen) as f64 / seen as f64) as usize;
        control.allow(|| format!("tally of {} distinct patterns in {seen} rows", self.counts.len()), &[whole])
    }

    fn sorted(self) -> Tally {
        let order = self.packed_order().unwrap_or_else(|| {
            let mut order: Vec<u32> = (0..self.counts.len() as u32).collect();
            order.sort_unstable_by(|&a, &b| {
                let (a, b) = (a as usize, b as usize);
                self.rows.row(a).cmp(self.rows.row(b)).then(self.truths[a].cmp(&self.truths[b]))
            });
            order
        });
        let mut tally = Appender::new(self.rows.width());
        for at in order {
            let at = at as usize;
            tally
                .add(self.rows.row(at), self.truths[at], self.counts[at])
                .expect("sums were checked when they were found");
        }
        tally.finish()
    }

    /// The sorted order by keys that hold a whole row and its truth in one number, where they fit: comparing
    /// numbers is far cheaper than comparing rows.
    fn packed_order(&self) -> Option<Vec<u32>> {
        let mut most = self.truths.iter().copied().max().unwrap_or(0);
        self.rows.rows().for_each(|row| row.for_each(|_, j| most = most.max(j)));
        // One more code, above all labels, is a gap.
        let bits = (u32::from(most) + 2).next_power_of_two().ilog2();
        if !self.rows.is_dense() || bits as usize * (self.rows.width() + 1) > 128 {
            return None;
        }
        let gap = (1u128 << bits) - 1;
        let mut keys: Vec<(u128, u32)> = Vec::with_capacity(self.counts.len());
        for (at, row) in (0..).zip(self.rows.rows()) {
            let Row::Dense(cells) = row else { return None };
            let key = cells
                .iter()
                .fold(0, |key, &id| key << bits | if id == MISSING { gap } else { u128::from(id) });
            keys.push((key << bits | u128::from(self.truths[at as usize]), at));
        }
        keys.sort_unstable();
        Some(keys.into_iter().map(|(_, at)| at).collect())
    }
}
