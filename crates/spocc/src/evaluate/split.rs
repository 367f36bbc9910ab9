//! The keys and draws by which rows are split into folds, halves, and halves of halves.
//!
//! A key is a hash of names and labels as they are written, so the same rows give the same folds in any order and from any
//! number of files.

use crate::evidence::{RowSubset, Splitter, dense_counts};

/// Some of the rows: cells by position, and for each the effective number and the weight of its rows.
pub(super) type WeightedSubset = Vec<(usize, [f64; 2])>;

/// Mixes a word into a hash (the finaliser of splitmix64, twice).
pub(super) fn mix(hash: u64, word: u64) -> u64 {
    scramble(scramble(hash) ^ word)
}

fn scramble(word: u64) -> u64 {
    let z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Hash of a text (FNV-1a, to be mixed further).
pub(super) fn text(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Splits the rows of all cells into parts; another salt gives another split.
pub(super) fn split(keys: &[u64], counts: &[u64], n_parts: usize, salt: u64) -> Vec<RowSubset> {
    let uniform = |word: u64| (word >> 11) as f64 / (1u64 << 53) as f64;
    let cells: Vec<(u64, u64)> = keys.iter().map(|key| mix(*key, salt)).zip(counts.iter().copied()).collect();
    Splitter { uniform, ..Splitter::new(n_parts, mix) }.split(&cells)
}

/// A random half of the rows: how many of each cell.
pub(super) fn half(keys: &[u64], counts: &[u64], salt: u64) -> Vec<u64> {
    dense_counts(&split(keys, counts, 2, salt)[0], counts.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(n: usize) -> Vec<u64> {
        (0..n).map(|cell| text(&cell.to_string())).collect()
    }

    fn sums(parts: &[RowSubset], n_cells: usize) -> Vec<u64> {
        let mut sums = vec![0; n_cells];
        parts.iter().flatten().for_each(|(cell, count)| sums[*cell] += count);
        sums
    }

    #[test]
    fn every_row_is_in_exactly_one_part() {
        let tables =
            [vec![1, 2, 3, 0, 50], vec![5000, 1, 60_000, 4096, 7], vec![1_000_000_000; 3], vec![1, 1]];
        for counts in tables {
            for n_parts in [2, 5, 7] {
                let parts = split(&keys(counts.len()), &counts, n_parts, 9);
                assert_eq!(parts.len(), n_parts);
                assert_eq!(sums(&parts, counts.len()), counts);
            }
        }
    }

    #[test]
    fn few_rows_make_equal_folds_and_as_many_folds_as_rows_leave_one_out() {
        let sizes = |counts: &[u64], n_parts: usize| -> Vec<u64> {
            let parts = split(&keys(counts.len()), counts, n_parts, 1);
            parts.iter().map(|part| part.iter().map(|cell| cell.1).sum()).collect()
        };
        assert_eq!(sizes(&[10, 1, 1, 10], 5), [5, 5, 4, 4, 4]);
        assert_eq!(sizes(&[2, 1, 1], 4), [1, 1, 1, 1]);
    }

    #[test]
    fn duplicates_share_a_fold_as_often_as_by_chance() {
        // Of two rows split into halves of 50, the second has 49 of 99 places beside the first.
        let n = 2000;
        let mut counts = vec![1; 98];
        counts.push(2);
        let together =
            |salt: &u64| split(&keys(99), &counts, 2, *salt)[0].iter().all(|cell| *cell != (98, 1));
        let share = (0..n).filter(together).count() as f64 / n as f64;
        // Four standard errors of 2000 trials are 0.045.
        assert!((share - 49.0 / 99.0).abs() < 0.045, "{share}");
    }

    #[test]
    fn drawn_counts_spread_like_drawn_rows() {
        // Of 5000 rows one of five parts receives 1000, give or take sqrt(5000 * 0.2 * 0.8) = 28.3. The other cell makes
        // the rows too many to be shuffled.
        let drawn: Vec<f64> =
            (0..2000).map(|salt| split(&keys(2), &[5000, 1 << 17], 5, salt)[3][0].1 as f64).collect();
        let mean = drawn.iter().sum::<f64>() / 2000.0;
        let spread = (drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1999.0).sqrt();
        assert!((mean - 1000.0).abs() < 3.0 && (spread - 28.3).abs() < 2.0, "{mean} {spread}");
    }

    #[test]
    fn halves_are_halves_and_other_salts_split_otherwise() {
        let counts = vec![3; 100];
        let kept = |salt: u64| half(&keys(100), &counts, salt);
        assert_eq!(kept(1).iter().sum::<u64>(), 150);
        assert!(kept(1) == kept(1) && kept(1) != kept(2));
        assert!(kept(1).iter().zip(&counts).all(|(part, whole)| part <= whole));
    }
}
