//! The shortest way from a row to a decision, for a panel joined at one exponent.
//!
//! Where all opinions meet in one norm, a class's surprisal is a root of a sum of tabulated powers, and no root
//! is needed to compare sums. Rows of the table are padded to a power of two, so that sums are fixed-size
//! arrays and the compiler adds several classes at once.

use crate::{decision::TieBreak, hash, labels::MISSING};

/// Powers of surprisals, `width` to a row: one per class, then infinities.
#[derive(Clone, Debug)]
pub(crate) struct FlatTable {
    n_labels: usize,
    n_classes: usize,
    width: usize,
    powers: Vec<f64>,
}

/// Most classes worth padding.
const WIDEST: usize = 16;

impl FlatTable {
    /// From a table of powers with `n_classes` to a row and `n_labels` rows to a classifier.
    pub(crate) fn new(n_labels: usize, n_classes: usize, powers: &[f64]) -> Option<Self> {
        let width = n_classes.next_power_of_two().max(2);
        if n_classes == 0 || width > WIDEST {
            return None;
        }
        let pad = |row: &[f64]| {
            row.iter()
                .copied()
                .chain(std::iter::repeat_n(f64::INFINITY, width - n_classes))
                .collect::<Vec<f64>>()
        };
        Some(Self { n_labels, n_classes, width, powers: powers.chunks(n_classes).flat_map(pad).collect() })
    }

    /// The class to decide and whether others were as good, or none if nobody spoke.
    #[inline]
    pub(crate) fn decide(
        &self,
        cells: &[u16],
        tolerance: f64,
        ties: TieBreak,
        row_hash: impl Fn(u64) -> u64,
    ) -> Option<(usize, bool)> {
        match self.width {
            2 => self.decide_in::<2>(cells, tolerance, ties, row_hash),
            4 => self.decide_in::<4>(cells, tolerance, ties, row_hash),
            8 => self.decide_in::<8>(cells, tolerance, ties, row_hash),
            _ => self.decide_in::<WIDEST>(cells, tolerance, ties, row_hash),
        }
    }

    #[inline]
    fn decide_in<const WIDTH: usize>(
        &self,
        cells: &[u16],
        tolerance: f64,
        ties: TieBreak,
        row_hash: impl Fn(u64) -> u64,
    ) -> Option<(usize, bool)> {
        let (rows, _) = self.powers.as_chunks::<WIDTH>();
        let mut sums = [0.0f64; WIDTH];
        let mut spoken = false;
        for (&j, own) in cells.iter().zip(rows.chunks_exact(self.n_labels)) {
            if j != MISSING {
                let powers = &own[usize::from(j)];
                for class in 0..WIDTH {
                    sums[class] += powers[class];
                }
                spoken = true;
            }
        }
        if !spoken {
            return None;
        }
        let least = sums.iter().fold(f64::INFINITY, |least, &sum| if sum < least { sum } else { least });
        let limit = least * tolerance;
        let mut tied = 0u32;
        // Padding is no class, even where every sum is infinite.
        for (class, &sum) in sums.iter().enumerate().take(self.n_classes) {
            tied |= u32::from(sum <= limit) << class;
        }
        let first = tied.trailing_zeros() as usize;
        let others = tied.count_ones().saturating_sub(1);
        match ties {
            TieBreak::Random(seed) if others > 0 => {
                let drawn = hash::draw(row_hash(seed), u64::from(others) + 1);
                let class = (0..WIDTH).filter(|class| tied >> class & 1 == 1).nth(drawn as usize);
                Some((class.unwrap_or(first), true))
            }
            _ => Some((first, others > 0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_never_decided() {
        let excluded = FlatTable::new(1, 3, &[f64::INFINITY; 3]).expect("few classes");
        for seed in 0..100 {
            let decided = excluded.decide(&[0], 1.0, TieBreak::Random(seed), |seed| seed);
            assert!(decided.is_some_and(|(class, is_tie)| class < 3 && is_tie));
        }
        assert_eq!(excluded.decide(&[MISSING], 1.0, TieBreak::First, |seed| seed), None);
    }
}
