//! Counts confusions: few labels in tables that stay in cache, many labels by sorting.
//!
//! In: rows with their classes. Out: class counts, and counts by classifier, predicted, true.

use crate::{
    data::{CellQuads, Row, bits_for},
    evidence::{confusions::Confusions, counted_rows::Counter, key_counts::KeyCounts},
};

/// Class counts and confusion tables while they are being counted, under the ids of the rows.
pub(super) struct ConfusionCounter {
    /// Numbers of classifiers, labels and classes.
    size: [usize; 3],
    class_counts: Vec<u64>,
    tables: Tables,
}

enum Tables {
    /// By classifier, predicted, true.
    Single(Vec<u64>),
    /// Where labels are so few that it stays in cache, several neighbouring classifiers are counted with one addition in a
    /// table of their joint predictions; single tables are sums over it.
    Joint(JointCounter),
    /// Where labels are so many that tables would mostly be empty, by [key](Confusions::key).
    Keys(KeyCounts),
}

/// Joint predictions of `size` neighbours at a time (4 or 2). The last quad of a row is its last four cells, even if some
/// of them belong to the quad before.
struct JointCounter {
    quads: CellQuads,
    bits: u32,
    size: usize,
    /// Entries of the tables of one quad.
    stride: usize,
    /// Neighbours, true, code of their predictions.
    counts: Vec<u64>,
}

impl ConfusionCounter {
    /// Largest number of entries of one joint table.
    const MAX_ENTRIES: usize = 1 << 15;
    /// Number of rows from which joint tables are faster, the sums over them included.
    const MIN_ROWS: usize = 1 << 14;
    /// Largest number of cells of all tables that are not counted by key.
    const MAX_CELLS: usize = 1 << 22;

    /// Whether `n` classifiers, `s` labels and `l` classes are counted in tables with a place for every cell.
    pub(super) fn has_every_cell(size: [usize; 3]) -> bool {
        size.into_iter().try_fold(1usize, usize::checked_mul).is_some_and(|cells| cells <= Self::MAX_CELLS)
    }

    /// For `n` classifiers, `s` labels and `l` classes; `n_rows` rows are expected, all of them dense or none.
    pub(super) fn new([n, s, l]: [usize; 3], n_rows: usize, is_dense: bool) -> Self {
        let bits = bits_for(s);
        let entries = |size: usize| l << (bits as usize * size);
        let size = [4, 2]
            .into_iter()
            .find(|&size| bits <= CellQuads::MAX_BITS && entries(size) <= Self::MAX_ENTRIES);
        let pays = is_dense && n >= 4 && n_rows >= Self::MIN_ROWS;
        let joint = size.filter(|_| pays).and_then(|size| {
            let stride = entries(size) * (4 / size);
            let counts = vec![0; stride * n.div_ceil(4)];
            Some(JointCounter { quads: CellQuads::new(bits)?, bits, size, stride, counts })
        });
        let tables = match joint {
            Some(joint) => Tables::Joint(joint),
            None if Self::has_every_cell([n, s, l]) => Tables::Single(vec![0; n * s * l]),
            None => Tables::Keys(KeyCounts::new(Confusions::key_bits(n))),
        };
        Self { size: [n, s, l], class_counts: vec![0; l], tables }
    }

    /// The class counts, and the tables of all classifiers.
    pub(super) fn finish(mut self) -> (Vec<u64>, Confusions) {
        let [n, s, l] = self.size;
        let counts = match self.tables {
            Tables::Keys(keys) => {
                return (self.class_counts, Confusions::from_keys(n, keys.finish().into_iter()));
            }
            Tables::Single(counts) => counts,
            Tables::Joint(joint) => {
                let mut counts = vec![0; n * s * l];
                joint.for_each(n, |k, j, i, count| counts[(k * s + j) * l + i] += count);
                // The first joint table counts every row once, missing cells included.
                let of_class = joint.counts.chunks_exact(1 << joint.shift());
                self.class_counts = of_class.take(l).map(|counts| counts.iter().sum()).collect();
                counts
            }
        };
        let confusions = Confusions::from_dense(&counts, self.size);
        (self.class_counts, confusions.expect("as many counts as cells"))
    }
}

impl Counter for ConfusionCounter {
    fn add_all<'a>(&mut self, rows: impl Iterator<Item = (Row<'a>, u16, u64)>) {
        let [_, s, l] = self.size;
        let class_counts = &mut self.class_counts;
        let joint = match &mut self.tables {
            Tables::Joint(joint) => joint,
            Tables::Single(counts) => {
                return rows.for_each(|(row, class, units)| {
                    let i = usize::from(class);
                    class_counts[i] += units;
                    row.for_each(|k, j| counts[(k * s + usize::from(j)) * l + i] += units);
                });
            }
            Tables::Keys(keys) => {
                return rows.for_each(|(row, class, units)| {
                    class_counts[usize::from(class)] += units;
                    row.for_each(|k, j| keys.add(Confusions::key(k, j, class), units));
                    keys.sum_if_full();
                });
            }
        };
        // A loop over a constant number of quads is twice as fast.
        match (joint.counts.len() / joint.stride, joint.size) {
            (1, 4) => joint.add_all::<1, true>(rows),
            (2, 4) => joint.add_all::<2, true>(rows),
            (3, 4) => joint.add_all::<3, true>(rows),
            (4, 4) => joint.add_all::<4, true>(rows),
            (3, _) => joint.add_all::<3, false>(rows),
            (4, _) => joint.add_all::<4, false>(rows),
            _ => joint.add_any(rows),
        }
    }
}

impl JointCounter {
    /// Bits of the predictions of `size` neighbours.
    fn shift(&self) -> usize {
        self.bits as usize * self.size
    }

    /// Counts dense rows of `QUADS` quads; `WHOLE` if four neighbours share a table.
    fn add_all<'a, const QUADS: usize, const WHOLE: bool>(
        &mut self,
        rows: impl Iterator<Item = (Row<'a>, u16, u64)>,
    ) {
        let (quads, shift) = (self.quads, self.shift());
        let mut tables = self.counts.chunks_exact_mut(self.stride);
        let mut tables: [&mut [u64]; QUADS] = std::array::from_fn(|_| tables.next().unwrap_or_default());
        rows.for_each(|(row, class, units)| {
            let Row::Dense(cells) = row else { return };
            for (quad, table) in tables.iter_mut().enumerate() {
                let four =
                    if quad + 1 < QUADS { cells[4 * quad..].first_chunk() } else { cells.last_chunk() };
                if let Some(four) = four {
                    add::<WHOLE>(table, shift, class, quads.code(*four) as usize, units);
                }
            }
        });
    }

    /// Counts dense rows of any number of quads.
    fn add_any<'a>(&mut self, rows: impl Iterator<Item = (Row<'a>, u16, u64)>) {
        let (quads, shift, is_whole) = (self.quads, self.shift(), self.size == 4);
        rows.for_each(|(row, class, units)| {
            let Row::Dense(cells) = row else { return };
            let (fours, rest) = cells.as_chunks::<4>();
            let last = cells.last_chunk().filter(|_| !rest.is_empty());
            let tables = self.counts.chunks_exact_mut(self.stride);
            for (four, table) in fours.iter().chain(last).zip(tables) {
                let code = quads.code(*four) as usize;
                if is_whole {
                    add::<true>(table, shift, class, code, units);
                } else {
                    add::<false>(table, shift, class, code, units);
                }
            }
        });
    }

    /// Calls `show(classifier, predicted, true, count)` for every joint count, for `n` classifiers.
    fn for_each(&self, n: usize, mut show: impl FnMut(usize, usize, usize, u64)) {
        let missing = (1 << self.bits) - 1;
        for (group, counts) in self.counts.chunks_exact(self.stride * self.size / 4).enumerate() {
            let due = group * self.size;
            // The last quad may reach back to classifiers already shown.
            let quad = (due / 4 * 4).min(n - 4);
            let first = quad + due % 4;
            for (at, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                for member in (0..self.size).filter(|member| first + member >= due / 4 * 4) {
                    let predicted = at >> ((self.size - 1 - member) * self.bits as usize) & missing;
                    if predicted != missing {
                        show(first + member, predicted, at >> self.shift(), count);
                    }
                }
            }
        }
    }
}

/// Counts the predictions of four neighbours in the table they share, or of each two of them in its own half.
#[expect(clippy::inline_always, reason = "a call costs as much as the additions")]
#[inline(always)]
fn add<const WHOLE: bool>(table: &mut [u64], shift: usize, class: u16, code: usize, units: u64) {
    let class = usize::from(class) << shift;
    if WHOLE {
        table[class | code] += units;
    } else {
        let (first, second) = (code >> shift, code & ((1 << shift) - 1));
        table[class | first] += units;
        table[table.len() / 2 + (class | second)] += units;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{data::MISSING, hash};

    #[test]
    fn many_labels_are_counted_as_few() {
        let rows = || (0..3000u16).map(|t| [t % 2100, t % 7 * 300, if t % 5 == 0 { MISSING } else { t % 2 }]);
        let count = |size: [usize; 3]| {
            let mut counting = ConfusionCounter::new(size, 1, true);
            let rows: Vec<[u16; 3]> = rows().collect();
            counting.add_all((0..).zip(&rows).map(|(t, row)| (Row::Dense(row), t % 300, 1)));
            (matches!(counting.tables, Tables::Keys(_)), counting.finish())
        };
        let (few, many) = (count([3, 2100, 300]), count([3, 2100, 3000]));
        assert_eq!((few.0, many.0), (false, true));
        assert_eq!(few.1.1, many.1.1);
        assert_eq!(few.1.0, many.1.0[..300]);
    }

    #[test]
    fn joint_counts_are_single_counts() {
        for [n, s, l] in [
            [4, 2, 2],
            [9, 5, 5],
            [11, 8, 7],
            [6, 15, 12],
            [3, 4, 4],
            [8, 20, 20],
            [13, 3, 4],
            [16, 9, 9],
            [41, 4, 3],
        ] {
            let draw = |t: usize, k: usize, below: usize| {
                hash::draw(hash::mix(t as u64, k as u64), below as u64) as u16
            };
            let rows: Vec<Vec<u16>> = (0..500)
                .map(|t| {
                    (0..n)
                        .map(|k| draw(t, k, s + 1))
                        .map(|j| if usize::from(j) == s { MISSING } else { j })
                        .collect()
                })
                .collect();
            let count = |n_rows: usize| {
                let mut counting = ConfusionCounter::new([n, s, l], n_rows, true);
                let rows = rows.iter().enumerate();
                counting.add_all(rows.map(|(t, row)| (Row::Dense(row), draw(t, n, l), 1 + t as u64 % 3)));
                counting.finish()
            };
            assert_eq!(count(ConfusionCounter::MIN_ROWS), count(1), "{n} {s} {l}");
        }
    }
}
