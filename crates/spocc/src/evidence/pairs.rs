//! Pair counts: how often two classifiers predicted each pair of labels for the same row (paper, section 3.4).
//!
//! In: rows, or a tally. Out: for every pair of classifiers a table of counts, from which dependence is computed.

use serde::{Deserialize, Serialize};

use crate::{
    data::{MISSING, Row},
    error::Error,
    evidence::{
        pair_blocks::PairBlocks,
        tally::{self, Tally},
    },
    parallel,
    progress::Control,
};

/// For every two classifiers a < b, a table of the predictions of a (rows) against those of b (columns).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pairs {
    n_classifiers: usize,
    n_labels: usize,
    counts: Vec<u64>,
}

/// Number of pairs of `n` things.
pub(crate) fn n_pairs(n: usize) -> usize {
    n * n.saturating_sub(1) / 2
}

/// Position of the pair (a, b), a < b, in the upper triangle read row by row.
#[inline]
pub(crate) fn pair_index(n: usize, a: usize, b: usize) -> usize {
    debug_assert!(a < b && b < n);
    a * (2 * n - a - 1) / 2 + (b - a - 1)
}

impl Pairs {
    pub(crate) fn empty(n_classifiers: usize, n_labels: usize, control: &Control<'_>) -> Result<Self, Error> {
        let cells = [n_pairs(n_classifiers), n_labels, n_labels];
        let what = || format!("pair counts of {n_classifiers} classifiers and {n_labels} labels");
        control.allow(what, &[cells[0], cells[1], cells[2], 8])?;
        Ok(Self { n_classifiers, n_labels, counts: vec![0; cells.iter().product()] })
    }

    /// Counts every pair of predictions of one row.
    pub(crate) fn add(&mut self, row: Row<'_>, count: u64) {
        let Self { n_classifiers, n_labels, counts } = self;
        let (n, s) = (*n_classifiers, *n_labels);
        let mut add = |a: usize, u: u16, b: usize, w: u16| {
            counts[(pair_index(n, a, b) * s + usize::from(u)) * s + usize::from(w)] += count;
        };
        match row {
            Row::Dense(cells) => {
                for (a, &u) in cells.iter().enumerate().filter(|(_, u)| **u != MISSING) {
                    let later = cells.iter().enumerate().skip(a + 1).filter(|(_, w)| **w != MISSING);
                    later.for_each(|(b, &w)| add(a, u, b, w));
                }
            }
            Row::Sparse(columns, ids) => {
                for (at, (&a, &u)) in columns.iter().zip(ids).enumerate() {
                    let later = columns[at + 1..].iter().zip(&ids[at + 1..]);
                    later.for_each(|(&b, &w)| add(a as usize, u, b as usize, w));
                }
            }
        }
    }

    /// The table of the pair (a, b), a < b.
    pub(crate) fn table(&self, a: usize, b: usize) -> &[u64] {
        let size = self.n_labels * self.n_labels;
        let at = pair_index(self.n_classifiers, a, b) * size;
        &self.counts[at..at + size]
    }

    pub(crate) fn plus(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, count)| *sum += count);
    }

    pub(crate) fn scale(&mut self, factor: u64) -> Result<(), Error> {
        tally::scale(&mut self.counts, factor)
    }

    /// The same counts for the classifiers `kept`, in that order, and labels replaced by `map`.
    pub(crate) fn project(
        &self,
        kept: &[usize],
        map: &[u16],
        n_labels: usize,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let mut projected = Self::empty(kept.len(), n_labels, control)?;
        let s = self.n_labels;
        for (a, &old_a) in kept.iter().enumerate() {
            for (b, &old_b) in kept.iter().enumerate().skip(a + 1) {
                let table = self.table(old_a.min(old_b), old_a.max(old_b));
                let to = pair_index(kept.len(), a, b) * n_labels * n_labels;
                for (at, &count) in table.iter().enumerate().filter(|(_, count)| **count > 0) {
                    let (u, w) = if old_a < old_b { (at / s, at % s) } else { (at % s, at / s) };
                    projected.counts[to + usize::from(map[u]) * n_labels + usize::from(map[w])] += count;
                }
            }
        }
        Ok(projected)
    }

    /// Counts the missing cells of classifiers k with `missing_is_answer[k]` as the label `missing`;
    /// `predicted_counts[k][u]` is how often k predicted u, of `total` rows.
    pub(crate) fn fill_missing(
        &mut self,
        missing: usize,
        missing_is_answer: &[bool],
        predicted_counts: &[Vec<u64>],
        total: u64,
    ) {
        let (n, s) = (self.n_classifiers, self.n_labels);
        for a in 0..n {
            for b in a + 1..n {
                let at = pair_index(n, a, b) * s * s;
                let table = &mut self.counts[at..at + s * s];
                for u in (0..s).filter(|u| missing_is_answer[b] && *u != missing) {
                    let row: u64 = (0..s).map(|w| table[u * s + w]).sum();
                    table[u * s + missing] = predicted_counts[a][u] - row;
                }
                for w in (0..s).filter(|w| missing_is_answer[a] && *w != missing) {
                    let column: u64 = (0..s).filter(|u| *u != missing).map(|u| table[u * s + w]).sum();
                    table[missing * s + w] = predicted_counts[b][w] - column;
                }
                if missing_is_answer[a] && missing_is_answer[b] {
                    table[missing * s + missing] = total - table.iter().sum::<u64>();
                }
            }
        }
    }

    /// Refuses counts that contradict `predicted_counts[k][u]`, how often k predicted u.
    pub(crate) fn check(
        &self,
        predicted_counts: &[Vec<u64>],
        n_labels: usize,
        total: u64,
    ) -> Result<(), Error> {
        let (n, s) = (predicted_counts.len(), n_labels);
        let sum = |counts: &mut dyn Iterator<Item = u64>| counts.map(u128::from).sum::<u128>();
        let fits = |a: usize, b: usize| {
            let table = self.table(a, b);
            let [counts_a, counts_b] = [a, b].map(|k| &predicted_counts[k]);
            let rows = (0..s).all(|u| sum(&mut (0..s).map(|w| table[u * s + w])) <= counts_a[u].into());
            let columns = (0..s).all(|w| sum(&mut (0..s).map(|u| table[u * s + w])) <= counts_b[w].into());
            // Rows that either answered: the predictions of both, less the rows that both answered.
            let predictions = sum(&mut counts_a.iter().chain(counts_b).copied());
            rows && columns && predictions <= u128::from(total) + sum(&mut table.iter().copied())
        };
        let size = n_pairs(n).checked_mul(s).and_then(|size| size.checked_mul(s));
        let same_size = (self.n_classifiers, self.n_labels, Some(self.counts.len())) == (n, s, size);
        if same_size && (0..n).all(|a| (a + 1..n).all(|b| fits(a, b))) {
            return Ok(());
        }
        Err(Error::Inconsistent {
            expected: "pair counts that fit the marginals",
            found: "others".to_owned(),
        })
    }
}

/// `f(table)` for the table of every pair a < b of classifiers, in order.
///
/// Pair counts hold the tables; from a tally they are counted when they are needed, so that only a few per thread are
/// in memory.
pub(crate) fn map_tables<T: Send>(
    pairs: Option<&Pairs>,
    tally: &Tally,
    n_labels: usize,
    control: &Control<'_>,
    f: impl Fn(&[u64]) -> T + Sync,
) -> Result<Vec<T>, Error> {
    let n = pairs.map_or(tally.patterns().width(), |pairs| pairs.n_classifiers);
    if let Some(pairs) = pairs {
        return map_rows(n, control, |a| (a + 1..n).map(|b| f(pairs.table(a, b))).collect());
    }
    // In a sparse tally few pairs have both predictions.
    if !tally.patterns().is_dense()
        && let Ok(mut pairs) = Pairs::empty(n, n_labels, control)
    {
        (0..tally.n_patterns()).for_each(|p| pairs.add(tally.pattern(p), tally.weight(p)));
        return map_tables(Some(&pairs), tally, n_labels, control, f);
    }
    let blocks = PairBlocks::new(tally, n_labels, control)?;
    map_rows(blocks.n_groups(), control, |group| blocks.rows_of(group, &f))
}

/// Runs `row(a)` for every row a of the triangle of pairs, a block at a time, with a progress report after each.
fn map_rows<T: Send>(
    n: usize,
    control: &Control<'_>,
    row: impl Fn(usize) -> Vec<T> + Sync,
) -> Result<Vec<T>, Error> {
    const BLOCK: usize = 64;
    let mut all = Vec::new();
    for start in (0..n).step_by(BLOCK) {
        control.report("pairs", start, n)?;
        let block = parallel::map(BLOCK.min(n - start), |at| row(start + at));
        block.into_iter().for_each(|results| all.extend(results));
    }
    Ok(all)
}
