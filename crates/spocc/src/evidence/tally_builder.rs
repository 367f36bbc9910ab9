//! Building a tally: from cells in any order, or from cells in the order of their patterns.

use crate::{
    data::{LabelMatrix, MISSING, Row},
    error::Error,
    evidence::Tally,
    hash,
    index_table::IndexTable,
    progress::Control,
};

/// Builds a tally of which the patterns are added in order.
pub(super) struct TallyWriter {
    tally: Tally,
}

impl TallyWriter {
    pub(super) fn new(width: usize) -> Self {
        Self { tally: Tally { starts: Vec::new(), ..Tally::empty(width) } }
    }

    /// Adds a cell; a pattern different from the last one starts a new entry.
    pub(super) fn add(&mut self, row: Row<'_>, class: u16, count: u64) -> Result<(), Error> {
        let tally = &mut self.tally;
        let last = tally.patterns.n_rows();
        if last == 0 || tally.patterns.row(last - 1).cmp(row).is_ne() {
            tally.patterns.push(row);
            tally.starts.push(tally.counts.len());
        }
        self.add_to_last([(class, count)].into_iter())
    }

    /// Adds (class, count) pairs to the last pattern.
    pub(super) fn add_to_last(&mut self, outcomes: impl Iterator<Item = (u16, u64)>) -> Result<(), Error> {
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

    pub(super) fn finish(mut self) -> Tally {
        self.tally.starts.push(self.tally.counts.len());
        self.tally.patterns = self.tally.patterns.settled();
        self.tally
    }
}

/// The distinct (pattern, truth) cells of rows that come in any order, found by hash.
pub(super) struct TallyTable {
    pub(super) rows: LabelMatrix,
    truths: Vec<u16>,
    counts: Vec<u64>,
    index: IndexTable,
}

impl TallyTable {
    pub(super) fn new(width: usize) -> Self {
        let rows = LabelMatrix::empty(width);
        Self { rows, truths: Vec::new(), counts: Vec::new(), index: IndexTable::default() }
    }

    /// All rows of one table have the same form, so that the hash may depend on the form.
    fn hash((row, truth): (Row<'_>, u16)) -> u64 {
        match row {
            Row::Dense(cells) => hash::ids(u64::from(truth), cells),
            sparse @ Row::Sparse(..) => sparse.fixed_hash(u64::from(truth)),
        }
    }

    /// Counts a row.
    pub(super) fn add(&mut self, row: Row<'_>, truth: u16, count: u64) -> Result<(), Error> {
        let Self { rows, truths, counts, index } = self;
        let at = |at: u32| (rows.row(at as usize), truths[at as usize]);
        let new = counts.len();
        let next = u32::try_from(new + 1).map_err(|_| Error::Overflow { what: "distinct patterns" })?;
        let found = index.find_or_insert((row, truth), next - 1, Self::hash, at) as usize;
        if found < new {
            let sum = counts[found].checked_add(count);
            counts[found] = sum.ok_or(Error::Overflow { what: "tally" })?;
            return Ok(());
        }
        rows.push(row);
        truths.push(truth);
        counts.push(count);
        Ok(())
    }

    /// Refuses to continue if the whole tally, extrapolated from the rows so far, would not fit in memory.
    pub(super) fn check_memory(
        &self,
        seen: usize,
        total: usize,
        pieces: usize,
        control: &Control<'_>,
    ) -> Result<(), Error> {
        let bytes = pieces * (self.rows.bytes() + self.index.bytes() + self.counts.len() * (10 + 32));
        if bytes as u64 <= control.memory_limit() {
            return Ok(());
        }
        let whole = (bytes as f64 * total.max(seen) as f64 / seen as f64) as usize;
        control.allow(|| format!("tally of {} distinct patterns in {seen} rows", self.counts.len()), &[whole])
    }

    /// The tally, with its patterns in order.
    pub(super) fn sorted(self) -> Tally {
        let order = self.packed_order().unwrap_or_else(|| {
            let mut order: Vec<u32> = (0..self.counts.len() as u32).collect();
            order.sort_unstable_by(|&a, &b| {
                let (a, b) = (a as usize, b as usize);
                self.rows.row(a).cmp(self.rows.row(b)).then(self.truths[a].cmp(&self.truths[b]))
            });
            order
        });
        let mut tally = TallyWriter::new(self.rows.width());
        for at in order {
            let at = at as usize;
            tally
                .add(self.rows.row(at), self.truths[at], self.counts[at])
                .expect("sums were checked when rows were added");
        }
        tally.finish()
    }

    /// The sorted order by keys that hold a whole row and its truth in one integer, if they fit: comparing integers is
    /// far cheaper than comparing rows.
    fn packed_order(&self) -> Option<Vec<u32>> {
        let mut most = self.truths.iter().copied().max().unwrap_or(0);
        self.rows.rows().for_each(|row| row.for_each(|_, j| most = most.max(j)));
        // One more code, above all labels, is a missing cell.
        let bits = (u32::from(most) + 2).next_power_of_two().ilog2();
        if !self.rows.is_dense() || bits as usize * (self.rows.width() + 1) > 128 {
            return None;
        }
        let missing = (1u128 << bits) - 1;
        let mut keys: Vec<(u128, u32)> = Vec::with_capacity(self.counts.len());
        for (at, row) in (0..).zip(self.rows.rows()) {
            let Row::Dense(cells) = row else { return None };
            let key = cells
                .iter()
                .fold(0, |key, &id| key << bits | if id == MISSING { missing } else { u128::from(id) });
            keys.push((key << bits | u128::from(self.truths[at as usize]), at));
        }
        keys.sort_unstable();
        Some(keys.into_iter().map(|(_, at)| at).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four ids that are one word of the hash, at which its multiplication gives 0 whatever came before.
    const ANY: [u16; 4] = [0xd6e8, 0xfeb8, 0x6659, 0xfd93];

    #[test]
    fn rows_whose_hashes_collide_are_counted_as_fast() {
        const N: u16 = 30_000;
        let row = |t: u16| [t % 50, t / 50, t % 7, 0, ANY[0], ANY[1], ANY[2], ANY[3]];
        let hash = |t: u16| TallyTable::hash((Row::Dense(&row(t)), 0));
        assert!((1..N).all(|t| hash(t) == hash(0)), "this is no attack");
        let mut table = TallyTable::new(8);
        // Each row three times, the second time in another order.
        for t in (0..N).chain((0..N).rev()).chain(0..N) {
            table.add(Row::Dense(&row(t)), t % 3, 2).expect("small counts");
        }
        assert!(table.index.is_fast());
        let tally = table.sorted();
        assert!(tally.counts().eq(std::iter::repeat_n(6, N.into())));
        assert!(tally.patterns().rows().is_sorted_by(|a, b| a.cmp(*b).is_lt()));
    }

    /// Rows of few predictions, whose hashes have their upper 12 bits in common: found by trying.
    #[test]
    fn sparse_rows_whose_hashes_collide_are_counted_as_fast() {
        const N: usize = 4_000;
        let rows = (0u32..).map(|t| ([t % 1000, 1000 + t / 1000], [(t % 13) as u16, (t % 11) as u16]));
        let rows = rows.filter(|(columns, ids)| TallyTable::hash((Row::Sparse(columns, ids), 0)) >> 54 == 5);
        let rows: Vec<([u32; 2], [u16; 2])> = rows.take(N).collect();
        let mut table = TallyTable::new(1 << 16);
        for (columns, ids) in rows.iter().chain(&rows) {
            table.add(Row::Sparse(columns, ids), 0, 1).expect("small counts");
        }
        assert!(table.index.is_fast() && !table.rows.is_dense());
        assert!(table.sorted().counts().eq(std::iter::repeat_n(2, N)));
    }
}
