//! One confusion table per classifier: what it said against what was true.

use crate::{
    evidence::counting::Counter,
    grid::Row,
    packed::{Quads, bits_for},
};

/// Class counts and confusion tables while they are being counted, under the ids of the rows.
///
/// Several neighbouring classifiers are counted with one addition, in a table of their joint answers, where
/// labels are so few that the joint table stays in cache; single tables are sums over it.
pub(super) struct Confusions {
    n_labels: usize,
    n_classes: usize,
    class_counts: Vec<u64>,
    /// Classifier, said, true.
    single: Vec<u64>,
    joint: Option<Joint>,
}

/// Joint answers of `size` neighbours at a time (4 or 2). The last quad of a row is its last four cells, whether or
/// not some of them belong to the quad before.
struct Joint {
    quads: Quads,
    bits: u32,
    size: usize,
    /// Entries of the tables of one quad.
    stride: usize,
    counts: Vec<u64>,
}

impl Confusions {
    /// Entries of one joint table.
    const MOST: usize = 1 << 15;
    /// Rows that pay for adding joint tables up.
    const ENOUGH_ROWS: usize = 1 << 14;

    /// For so many classifiers, labels and classes; `n_rows` are expected.
    pub(super) fn new([n, s, l]: [usize; 3], n_rows: usize) -> Self {
        let bits = bits_for(s);
        let entries = |size: usize| l << (bits as usize * size);
        let size = [4, 2].into_iter().find(|&size| bits <= Quads::BITS && entries(size) <= Self::MOST);
        let joint = size.filter(|_| n >= 4 && n_rows >= Self::ENOUGH_ROWS).and_then(|size| {
            let stride = entries(size) * (4 / size);
            Some(Joint {
                quads: Quads::new(bits)?,
                bits,
                size,
                stride,
                counts: vec![0; stride * n.div_ceil(4)],
            })
        });
        Self { n_labels: s, n_classes: l, class_counts: vec![0; l], single: vec![0; n * s * l], joint }
    }

    pub(super) fn open(&mut self) -> Open<'_> {
        let Self { n_labels, n_classes, class_counts, single, joint } = self;
        let joint = joint.as_mut().map(Joint::open);
        Open { n_labels: *n_labels, n_classes: *n_classes, class_counts, single, joint }
    }

    /// How often each class was true, and the table of every classifier.
    pub(super) fn finish(mut self) -> (Vec<u64>, Vec<u64>) {
        if let Some(joint) = &self.joint {
            let (s, l) = (self.n_labels, self.n_classes);
            let n = self.single.len() / (s * l).max(1);
            joint.for_each(n, l, |k, j, i, count| self.single[(k * s + j) * l + i] += count);
        }
        (self.class_counts, self.single)
    }
}

/// Tables with their fields at hand: they are not looked up again after every count.
pub(super) struct Open<'a> {
    n_labels: usize,
    n_classes: usize,
    class_counts: &'a mut [u64],
    single: &'a mut [u64],
    joint: Option<OpenJoint<'a>>,
}

impl Counter for Open<'_> {
    #[expect(clippy::inline_always, reason = "as for every counter")]
    #[inline(always)]
    fn add(&mut self, row: Row<'_>, class: u16, units: u64) {
        let (s, l, i) = (self.n_labels, self.n_classes, usize::from(class));
        self.class_counts[i] += units;
        match (&mut self.joint, row) {
            (Some(joint), Row::Dense(cells)) => joint.add(cells, l, i, units),
            (_, row) => row.for_each(|k, j| self.single[(k * s + usize::from(j)) * l + i] += units),
        }
    }
}

struct OpenJoint<'a> {
    quads: Quads,
    bits: u32,
    is_whole: bool,
    stride: usize,
    counts: &'a mut [u64],
}

impl OpenJoint<'_> {
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn add(&mut self, cells: &[u16], l: usize, i: usize, units: u64) {
        let (fours, rest) = cells.as_chunks::<4>();
        let mut start = i;
        for four in fours {
            self.add_code(start, self.quads.code(*four) as usize, l, units);
            start += self.stride;
        }
        if let (false, Some(four)) = (rest.is_empty(), cells.last_chunk::<4>()) {
            self.add_code(start, self.quads.code(*four) as usize, l, units);
        }
    }

    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn add_code(&mut self, start: usize, code: usize, l: usize, units: u64) {
        if self.is_whole {
            self.counts[start + code * l] += units;
        } else {
            let half = 2 * self.bits;
            self.counts[start + (code >> half) * l] += units;
            self.counts[start + self.stride / 2 + (code & ((1 << half) - 1)) * l] += units;
        }
    }
}

impl Joint {
    fn open(&mut self) -> OpenJoint<'_> {
        let Self { quads, bits, size, stride, counts } = self;
        OpenJoint { quads: *quads, bits: *bits, is_whole: *size == 4, stride: *stride, counts }
    }

    /// Shows (classifier, said, true, count) of every joint count, for `n` classifiers.
    fn for_each(&self, n: usize, l: usize, mut show: impl FnMut(usize, usize, usize, u64)) {
        let gap = (1 << self.bits) - 1;
        for (group, counts) in self.counts.chunks_exact(self.stride * self.size / 4).enumerate() {
            let owed = group * self.size;
            // The last quad may reach back to classifiers already shown.
            let quad = (owed / 4 * 4).min(n - 4);
            let first = quad + owed % 4;
            for (at, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                for member in (0..self.size).filter(|member| first + member >= owed / 4 * 4) {
                    let said = (at / l) >> ((self.size - 1 - member) * self.bits as usize) & gap;
                    if said != gap {
                        show(first + member, said, at % l, count);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{hash, labels::MISSING};

    #[test]
    fn joint_counts_are_single_counts() {
        for [n, s, l] in [[4, 2, 2], [9, 5, 5], [11, 8, 7], [6, 15, 12], [3, 4, 4], [8, 20, 20]] {
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
                let mut counting = Confusions::new([n, s, l], n_rows);
                let mut open = counting.open();
                for (t, row) in rows.iter().enumerate() {
                    open.add(Row::Dense(row), draw(t, n, l), 1 + t as u64 % 3);
                }
                counting.finish()
            };
            assert_eq!(count(Confusions::ENOUGH_ROWS), count(1), "{n} {s} {l}");
        }
    }
}
