//! The tables of all pairs of classifiers from a tally, several pairs with one addition.
//!
//! Neighbouring classifiers form groups, and the predictions of a group for a pattern are one code. Counting the codes of
//! two groups against each other counts all pairs between them at once. The table of a pair is a sum over that joint
//! table, which is small enough to stay in cache. Bit sets, with a count of common bits for every two predictions, are
//! faster for two labels without missing cells, as fast for four and slower for ten.

use crate::{error::Error, evidence::Tally, parallel, progress::Control};

/// The code of every group of classifiers for every pattern.
pub(super) struct PairBlocks {
    n: usize,
    n_labels: usize,
    n_patterns: usize,
    /// Number of labels, plus one for missing cells if there are any.
    radix: usize,
    /// Classifiers of a group.
    size: usize,
    /// Group after group, a code per pattern.
    codes: Vec<u16>,
    weights: PatternWeights,
}

/// The count of each pattern.
enum PatternWeights {
    /// All are 1.
    Ones,
    /// Their sum fits into 32 bits.
    Small(Vec<u32>),
    Large(Vec<u64>),
}

/// Largest number of entries of a joint table, which stays in cache.
const MAX_ENTRIES: usize = 1 << 14;

impl PairBlocks {
    pub(super) fn new(tally: &Tally, n_labels: usize, control: &Control<'_>) -> Result<Self, Error> {
        let (n, n_patterns) = (tally.patterns().width(), tally.n_patterns());
        let has_missing = tally.patterns().rows().any(|row| row.n_answered() < n);
        let radix = n_labels + usize::from(has_missing);
        // A joint table is cleared and summed for every two groups, which pays only for many patterns.
        let fits = |size: usize| {
            let entries = radix.checked_pow(2 * size as u32);
            entries.is_some_and(|entries| entries <= MAX_ENTRIES.min(2 * n_patterns))
        };
        let size = (2..=4.min(n)).rev().find(|&size| fits(size)).unwrap_or(1);
        let n_groups = n.div_ceil(size);
        control.allow(|| "predictions by classifier".to_owned(), &[n_patterns, n_groups, 2])?;
        let table = [radix, radix, 16, parallel::threads()];
        control.allow(|| format!("pair counts of {n_labels} labels"), &table)?;
        let mut codes = vec![0u16; n_groups * n_patterns];
        for (p, row) in tally.patterns().rows().enumerate() {
            for (group, members) in row.to_dense(n).chunks(size).enumerate() {
                let digit = |id: u16| usize::from(id).min(n_labels);
                let code = members.iter().fold(0, |code, &id| code * radix + digit(id));
                // The unused digits of a last group that is not full are never read.
                let empty = radix.pow((size - members.len()) as u32);
                codes[group * n_patterns + p] = (code * empty) as u16;
            }
        }
        let weights: Vec<u64> = (0..n_patterns).map(|p| tally.weight(p)).collect();
        let total = weights.iter().map(|&weight| u128::from(weight)).sum::<u128>();
        let weights = if weights.iter().all(|&weight| weight == 1) {
            PatternWeights::Ones
        } else if total <= u128::from(u32::MAX) {
            PatternWeights::Small(weights.into_iter().map(|weight| weight as u32).collect())
        } else {
            PatternWeights::Large(weights)
        };
        Ok(Self { n, n_labels, n_patterns, radix, size, codes, weights })
    }

    pub(super) fn n_groups(&self) -> usize {
        self.n.div_ceil(self.size)
    }

    fn codes(&self, group: usize) -> &[u16] {
        &self.codes[group * self.n_patterns..(group + 1) * self.n_patterns]
    }

    /// `f(table)` of every pair (a, b), a < b, for each a of a group, in order.
    pub(super) fn rows_of<R>(&self, group: usize, f: impl Fn(&[u64]) -> R) -> Vec<R> {
        match &self.weights {
            PatternWeights::Ones => self.tables::<u32, R>(group, None, f),
            PatternWeights::Small(weights) => self.tables(group, Some(weights), f),
            PatternWeights::Large(weights) => self.tables(group, Some(weights), f),
        }
    }

    fn tables<T, R>(&self, group: usize, weights: Option<&[T]>, f: impl Fn(&[u64]) -> R) -> Vec<R>
    where
        T: Copy + Default + From<bool> + Into<u64> + std::ops::AddAssign,
    {
        let first = group * self.size;
        let members = self.size.min(self.n - first);
        let mut rows: Vec<Vec<R>> = (0..members).map(|at| Vec::with_capacity(self.n - first - at)).collect();
        let mut joint = JointPairs::<T>::new(self.radix, self.size, self.codes(group));
        let mut table = vec![0u64; self.n_labels * self.n_labels];
        for other in group..self.n_groups() {
            joint.count(self.codes(other), weights);
            let theirs = self.size.min(self.n - other * self.size);
            for (at, row) in rows.iter_mut().enumerate() {
                joint.sum_first(at);
                for with in (0..theirs).filter(|with| other > group || *with > at) {
                    joint.sum_second(with, self.n_labels, &mut table);
                    row.push(f(&table));
                }
            }
        }
        rows.into_iter().flatten().collect()
    }
}

/// Joint counts of the codes of two groups, in sums that fit into `T`.
struct JointPairs<T> {
    radix: usize,
    size: usize,
    /// Number of codes of one group.
    n_codes: usize,
    /// Codes of the first group, times the number of codes.
    rows: Vec<u32>,
    /// A count for every two codes.
    counts: Vec<T>,
    /// Predictions of one member of the first group against codes of the second.
    halved: Vec<T>,
}

impl<T: Copy + Default + From<bool> + Into<u64> + std::ops::AddAssign> JointPairs<T> {
    fn new(radix: usize, size: usize, first: &[u16]) -> Self {
        let n_codes = radix.pow(size as u32);
        let rows = first.iter().map(|&code| u32::from(code) * n_codes as u32).collect();
        let zero = T::default();
        let (counts, halved) = (vec![zero; MAX_ENTRIES.max(n_codes * n_codes)], vec![zero; radix * n_codes]);
        Self { radix, size, n_codes, rows, counts, halved }
    }

    /// Counts the codes of the second group; a pattern has its weight, or 1.
    fn count(&mut self, second: &[u16], weights: Option<&[T]>) {
        let n_counts = self.n_codes * self.n_codes;
        self.counts[..n_counts].fill(T::default());
        let both = self.rows.iter().zip(second).map(|(&row, &code)| row as usize + usize::from(code));
        // Indices into an array of fixed size need no bounds checks.
        match (self.counts.first_chunk_mut::<MAX_ENTRIES>(), weights) {
            (Some(counts), Some(weights)) if n_counts <= MAX_ENTRIES => {
                both.zip(weights).for_each(|(at, &weight)| counts[at % MAX_ENTRIES] += weight);
            }
            (Some(counts), None) if n_counts <= MAX_ENTRIES => {
                both.for_each(|at| counts[at % MAX_ENTRIES] += T::from(true));
            }
            (_, weights) => both.enumerate().for_each(|(p, at)| {
                self.counts[at] += weights.map_or(T::from(true), |weights| weights[p]);
            }),
        }
    }

    /// Sums over all but one member of the first group.
    fn sum_first(&mut self, member: usize) {
        let Self { radix, size, n_codes, counts, halved, .. } = self;
        let below = radix.pow((*size - 1 - member) as u32);
        halved.fill(T::default());
        for (code, from) in counts.chunks(*n_codes).take(*n_codes).enumerate() {
            let to = &mut halved[code / below % *radix * *n_codes..][..*n_codes];
            to.iter_mut().zip(from).for_each(|(sum, &count)| *sum += count);
        }
    }

    /// Sums over all but one member of the second group; missing cells are left out.
    fn sum_second(&self, member: usize, n_labels: usize, table: &mut [u64]) {
        let below = self.radix.pow((self.size - 1 - member) as u32);
        table.fill(0);
        for (row, counts) in table.chunks_mut(n_labels.max(1)).zip(self.halved.chunks(self.n_codes)) {
            // Codes in which the member has the same prediction come in runs.
            for turn in counts.chunks(below * self.radix) {
                for (cell, run) in row.iter_mut().zip(turn.chunks(below)) {
                    run.iter().for_each(|&count| *cell += count.into());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        data::{MISSING, Row},
        hash,
    };

    /// The tables of all pairs, counted one by one.
    fn one_by_one(rows: &[(Vec<u16>, u64)], n: usize, n_labels: usize) -> Vec<Vec<u64>> {
        let mut tables = Vec::new();
        for a in 0..n {
            for b in a + 1..n {
                let mut table = vec![0; n_labels * n_labels];
                for (row, count) in rows.iter().filter(|(row, _)| row[a] != MISSING && row[b] != MISSING) {
                    table[usize::from(row[a]) * n_labels + usize::from(row[b])] += count;
                }
                tables.push(table);
            }
        }
        tables
    }

    #[test]
    fn pairs_counted_together_are_pairs_counted_one_by_one() {
        // Groups of four, three, two and one, whole and not; counts of one, small ones, and weights.
        for (n, n_labels) in [(9, 2), (7, 3), (5, 9), (3, 40), (4, 200)] {
            for (has_missing, weight) in [(false, 1), (true, 3), (true, 1 << 40)] {
                let cell = |t: u64, k: usize| {
                    let codes = n_labels as u64 + u64::from(has_missing);
                    let code = hash::draw(hash::mix(t, k as u64), codes) as u16;
                    if usize::from(code) == n_labels { MISSING } else { code }
                };
                let rows: Vec<(Vec<u16>, u64)> = (0..4000)
                    .map(|t| ((0..n).map(|k| cell(t, k)).collect(), 1 + t % 2 * (weight - 1)))
                    .collect();
                let cells = rows.iter().map(|(row, count)| (Row::Dense(row), 0, *count));
                let map: Vec<u16> = (0..n_labels as u16).collect();
                let control = Control::default();
                let tally = Tally::of(n, cells, rows.len(), 1, &map, &control).expect("little memory");
                let blocks = PairBlocks::new(&tally, n_labels, &control).expect("little memory");
                let found: Vec<Vec<u64>> =
                    (0..blocks.n_groups()).flat_map(|group| blocks.rows_of(group, <[u64]>::to_vec)).collect();
                assert!(found == one_by_one(&rows, n, n_labels), "{n} {n_labels} {has_missing} {weight}");
            }
        }
    }
}
