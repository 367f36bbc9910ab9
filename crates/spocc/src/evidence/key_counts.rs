//! Cells of a tally that fit into one number each: counted where they were last met, the rest sorted.

use crate::{error::Error, parallel, progress::Control};

/// A cell as a number, and how often it occurred.
pub(crate) type Numbered = (u64, u64);

/// Counts numbers that come in any order.
///
/// A small table holds the numbers met last, each in the one place its hash gives it, so that frequent numbers
/// are counted in cache; what is pushed out goes to a log, which is sorted and added up when it has grown.
/// Written by hand because a hash table of all numbers is several times slower where most of them are new.
pub(super) struct Numbers {
    recent: Vec<Numbered>,
    log: Vec<Numbered>,
    /// Length of the log at which it is added up.
    full: usize,
    bits: u32,
}

impl Numbers {
    /// Numbers of the recent table: what a core's own cache holds.
    const RECENT_BITS: u32 = 12;
    const SMALLEST_LOG: usize = 1 << 20;

    /// For numbers of so many bits.
    pub(super) fn new(bits: u32) -> Self {
        let recent = vec![(0, 0); 1 << Self::RECENT_BITS];
        Self { recent, log: Vec::new(), full: Self::SMALLEST_LOG, bits }
    }

    /// Counts a number; the sum of all counts is known to fit.
    #[inline]
    pub(super) fn add(&mut self, number: u64, count: u64) {
        let place = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - Self::RECENT_BITS);
        let met = &mut self.recent[place as usize];
        if met.0 == number {
            met.1 += count;
            return;
        }
        let pushed_out = std::mem::replace(met, (number, count));
        if pushed_out.1 > 0 {
            self.log.push(pushed_out);
        }
    }

    /// Adds the log up if it is full; refuses if the whole, at the pace so far, would not fit.
    pub(super) fn settle(
        &mut self,
        seen: usize,
        total: usize,
        pieces: usize,
        control: &Control<'_>,
    ) -> Result<(), Error> {
        if self.log.len() >= self.full {
            add_up(&mut self.log, self.bits);
            self.full = Self::SMALLEST_LOG.max(2 * self.log.len());
        }
        let bytes = pieces * self.log.len() * 2 * size_of::<Numbered>();
        if bytes as u64 <= control.memory_limit() {
            return Ok(());
        }
        let whole = (bytes as f64 * total.max(seen) as f64 / seen.max(1) as f64) as usize;
        control.allow(|| format!("tally of {} distinct patterns in {seen} rows", self.log.len()), &[whole])
    }

    /// All numbers in order, each with its count.
    pub(super) fn finish(mut self) -> Vec<Numbered> {
        self.log.extend(self.recent.into_iter().filter(|met| met.1 > 0));
        add_up(&mut self.log, self.bits);
        self.log
    }
}

/// The sum of sorted lists, in order and in pieces that are made side by side; numbers that differ only in
/// their last `together` bits stay in one piece.
pub(super) fn merge_all(parts: Vec<Vec<Numbered>>, together: u32) -> Vec<Vec<Numbered>> {
    if parts.len() == 1 {
        return parts;
    }
    let longest = parts.iter().max_by_key(|part| part.len()).map_or(&[][..], Vec::as_slice);
    let n_pieces = parallel::threads().min(longest.len()).max(1);
    let place = |part: &[Numbered], piece: usize| {
        let bound = || longest[piece * longest.len() / n_pieces].0 >> together << together;
        if piece == n_pieces { part.len() } else { part.partition_point(|cell| cell.0 < bound()) }
    };
    parallel::map(n_pieces, |piece| {
        let from = |part: &[Numbered]| if piece == 0 { 0 } else { place(part, piece) };
        let slices = parts.iter().map(|part| &part[from(part)..place(part, piece + 1)]);
        slices.fold(Vec::new(), |sum, slice| merge(&sum, slice))
    })
}

/// The sum of two sorted lists.
fn merge(a: &[Numbered], b: &[Numbered]) -> Vec<Numbered> {
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

/// Sorts numbers of so many bits and adds up the counts of equal ones.
fn add_up(cells: &mut Vec<Numbered>, bits: u32) {
    sort(cells, bits);
    cells.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 += if is_same { next.1 } else { 0 };
        is_same
    });
}

/// Radix sort, least digit first; a few numbers are left to the standard sort.
fn sort(cells: &mut Vec<Numbered>, bits: u32) {
    const DIGIT: u32 = 11;
    const FEW: usize = 1 << 13;
    if cells.len() < FEW {
        return cells.sort_unstable_by_key(|cell| cell.0);
    }
    let mut other = vec![(0, 0); cells.len()];
    for shift in (0..bits).step_by(DIGIT as usize) {
        let digit = |cell: &Numbered| (cell.0 >> shift) as usize & ((1 << DIGIT) - 1);
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
    fn numbers_are_counted_as_a_map_counts_them() {
        for (n, different, bits) in
            [(100u64, 7u64, 3), (50_000, 60_000, 64), (3_000_000, 1 << 40, 40), (100_000, 300, 33)]
        {
            let (mut numbers, mut map) = (Numbers::new(bits), BTreeMap::new());
            for t in 0..n {
                let number = (hash::draw(t, different)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits);
                let count = 1 + t % 3;
                numbers.add(number, count);
                *map.entry(number).or_insert(0) += count;
                if t % 65_536 == 0 {
                    numbers
                        .settle(t as usize + 1, n as usize, 1, &Control::default())
                        .expect("little memory");
                }
            }
            assert!(numbers.finish().into_iter().eq(map), "{n} {different}");
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
            parts.iter().flatten().for_each(|(&number, count)| *whole.entry(number).or_insert(0) += count);
            let lists: Vec<Vec<Numbered>> =
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
