//! Counts of integer keys, one per cell of a tally: recent keys are counted in cache, the others by sorting.
//!
//! In: keys in any order. Out: distinct keys in ascending order, each with its count.

use crate::{error::Error, parallel, progress::Control};

/// A key and its count.
pub(crate) type KeyCount = (u64, u64);

/// Counts keys that come in any order.
///
/// A small direct-mapped table holds the most recent keys, so that frequent keys are counted in cache. Evicted keys go
/// to a log, which is sorted and summed when it is full. A hash table of all keys is several times slower where most
/// keys are new.
pub(super) struct KeyCounts {
    recent: Vec<KeyCount>,
    log: Vec<KeyCount>,
    /// Length of the log at which it is summed.
    full: usize,
    bits: u32,
}

impl KeyCounts {
    /// Logarithm of the size of the recent table, which fits in the cache of a core.
    const RECENT_BITS: u32 = 12;
    const SMALLEST_LOG: usize = 1 << 20;

    /// For keys of `bits` bits.
    pub(super) fn new(bits: u32) -> Self {
        let recent = vec![(0, 0); 1 << Self::RECENT_BITS];
        Self { recent, log: Vec::new(), full: Self::SMALLEST_LOG, bits }
    }

    /// Counts a key; the caller has checked that the sum of all counts fits.
    #[inline]
    pub(super) fn add(&mut self, key: u64, count: u64) {
        let place = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - Self::RECENT_BITS);
        let recent = &mut self.recent[place as usize];
        if recent.0 == key {
            recent.1 += count;
            return;
        }
        let evicted = std::mem::replace(recent, (key, count));
        if evicted.1 > 0 {
            self.log.push(evicted);
        }
    }

    /// Sums the log if it is full.
    #[inline]
    pub(super) fn sum_if_full(&mut self) {
        if self.log.len() >= self.full {
            sum_equal(&mut self.log, self.bits);
            self.full = Self::SMALLEST_LOG.max(2 * self.log.len());
        }
    }

    /// Sums the log if it is full; refuses if the whole, extrapolated from the rows so far, would not fit in memory.
    pub(super) fn settle(
        &mut self,
        seen: usize,
        total: usize,
        pieces: usize,
        control: &Control<'_>,
    ) -> Result<(), Error> {
        self.sum_if_full();
        let bytes = pieces * self.log.len() * 2 * size_of::<KeyCount>();
        if bytes as u64 <= control.memory_limit() {
            return Ok(());
        }
        let whole = (bytes as f64 * total.max(seen) as f64 / seen.max(1) as f64) as usize;
        control.allow(|| format!("tally of {} distinct patterns in {seen} rows", self.log.len()), &[whole])
    }

    /// All keys in order, each with its count.
    pub(super) fn finish(mut self) -> Vec<KeyCount> {
        self.log.extend(self.recent.into_iter().filter(|recent| recent.1 > 0));
        sum_equal(&mut self.log, self.bits);
        self.log
    }
}

/// The sum of sorted lists, in order, in pieces that are made in parallel. Keys that differ only in their lowest
/// `together` bits are in one piece.
pub(super) fn merge_all(parts: Vec<Vec<KeyCount>>, together: u32) -> Vec<Vec<KeyCount>> {
    if parts.len() == 1 {
        return parts;
    }
    let longest = parts.iter().max_by_key(|part| part.len()).map_or(&[][..], Vec::as_slice);
    let n_pieces = parallel::threads().min(longest.len()).max(1);
    let place = |part: &[KeyCount], piece: usize| {
        let bound = || longest[piece * longest.len() / n_pieces].0 >> together << together;
        if piece == n_pieces { part.len() } else { part.partition_point(|cell| cell.0 < bound()) }
    };
    parallel::map(n_pieces, |piece| {
        let from = |part: &[KeyCount]| if piece == 0 { 0 } else { place(part, piece) };
        let slices = parts.iter().map(|part| &part[from(part)..place(part, piece + 1)]);
        slices.fold(Vec::new(), |sum, slice| merge(&sum, slice))
    })
}

/// The sum of two sorted lists.
fn merge(a: &[KeyCount], b: &[KeyCount]) -> Vec<KeyCount> {
    if a.is_empty() || b.is_empty() {
        return [a, b].concat();
    }
    let mut sum = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        let count = if x.0 <= y.0 { x.1 } else { 0 } + if y.0 <= x.0 { y.1 } else { 0 };
        sum.push((x.0.min(y.0), count));
        i += usize::from(x.0 <= y.0);
        j += usize::from(y.0 <= x.0);
    }
    sum.extend_from_slice(&a[i..]);
    sum.extend_from_slice(&b[j..]);
    sum
}

/// Sorts keys of `bits` bits and sums the counts of equal ones.
fn sum_equal(cells: &mut Vec<KeyCount>, bits: u32) {
    sort(cells, bits);
    cells.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 += if is_same { next.1 } else { 0 };
        is_same
    });
}

/// Radix sort, least significant digit first; short lists use the standard sort.
fn sort(cells: &mut Vec<KeyCount>, bits: u32) {
    const DIGIT: u32 = 11;
    const FEW: usize = 1 << 13;
    if cells.len() < FEW {
        return cells.sort_unstable_by_key(|cell| cell.0);
    }
    let mut other = vec![(0, 0); cells.len()];
    for shift in (0..bits).step_by(DIGIT as usize) {
        let digit = |cell: &KeyCount| (cell.0 >> shift) as usize & ((1 << DIGIT) - 1);
        let mut ends = [0usize; 1 << DIGIT];
        cells.iter().for_each(|cell| ends[digit(cell)] += 1);
        if ends.contains(&cells.len()) {
            continue;
        }
        let mut sum = 0;
        ends.iter_mut().for_each(|end| sum += std::mem::replace(end, sum));
        for cell in &*cells {
            let place = &mut ends[digit(cell)];
            other[*place] = *cell;
            *place += 1;
        }
        std::mem::swap(cells, &mut other);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::hash;

    #[test]
    fn keys_are_counted_as_by_a_map() {
        for (n, different, bits) in
            [(100u64, 7u64, 3), (50_000, 60_000, 64), (3_000_000, 1 << 40, 40), (100_000, 300, 33)]
        {
            let (mut keys, mut map) = (KeyCounts::new(bits), BTreeMap::new());
            for t in 0..n {
                let key = (hash::draw(t, different)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits);
                let count = 1 + t % 3;
                keys.add(key, count);
                *map.entry(key).or_insert(0) += count;
                if t % 65_536 == 0 {
                    keys.settle(t as usize + 1, n as usize, 1, &Control::default()).expect("little memory");
                }
            }
            assert!(keys.finish().into_iter().eq(map), "{n} {different}");
        }
    }

    #[test]
    fn sums_of_sorted_lists_are_sorted() {
        let sum = merge(&[(1, 1), (3, 1), (9, 2)], &[(0, 5), (3, 4), (10, 1)]);
        assert_eq!(sum, [(0, 5), (1, 1), (3, 5), (9, 2), (10, 1)]);
        assert_eq!(merge(&[], &[(1, 1)]), [(1, 1)]);
    }

    #[test]
    fn pieces_of_a_sum_are_whole_rows_in_order() {
        for (n, different) in [(0, 1), (1, 1), (50, 7), (3000, 5000)] {
            let mut whole = BTreeMap::new();
            let part = |part: u64| {
                let mut own = BTreeMap::new();
                (0..n).for_each(|t| {
                    *own.entry(hash::draw(hash::mix(part, t), different)).or_insert(0) += t + 1;
                });
                own
            };
            let parts: Vec<BTreeMap<u64, u64>> = (0..3).map(part).collect();
            parts.iter().flatten().for_each(|(&key, count)| *whole.entry(key).or_insert(0) += count);
            let lists: Vec<Vec<KeyCount>> =
                parts.into_iter().map(|part| part.into_iter().collect()).collect();
            let pieces = merge_all(lists, 2);
            let bounds =
                pieces.iter().filter_map(|piece| Some((piece.first()?.0 >> 2, piece.last()?.0 >> 2)));
            let bounds: Vec<(u64, u64)> = bounds.collect();
            assert!(bounds.windows(2).all(|pair| pair[0].1 < pair[1].0), "{n} {bounds:?}");
            assert!(pieces.into_iter().flatten().eq(whole), "{n} {different}");
        }
    }
}
