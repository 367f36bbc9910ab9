//! Dealing rows out at random: into folds, into halves, into halves of halves.
//!
//! In: how many rows each cell of a grouped table holds. Out: how many of them go to each part. Chance is a
//! hash of a seed and of what a row says, never of where it stands, so the same rows are dealt alike in any
//! order, from any number of files, on any machine.

/// Cells of which a part holds rows, by number, and how many.
pub(super) type Part = Vec<(usize, u64)>;

/// Cells of which a part holds rows, by number, what these rows count in all, and what they weigh.
pub(super) type Weighed = Vec<(usize, [f64; 2])>;

/// Up to so many rows are dealt like cards, into parts as equal as can be; of more, each draws its part.
const SHUFFLED: u64 = 1 << 16;

/// Of a cell with more rows than this, only their numbers per part are drawn.
const DRAWN: u64 = 4096;

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

/// Deals the rows of all cells into `parts`, every row into exactly one, each on its own.
///
/// Equal rows are not spread evenly: twins must sometimes end in the same part, as they would had they not
/// been grouped, or a method that learns by heart looks better than it is and folds more alike than they are.
pub(super) fn deal(keys: &[u64], counts: &[u64], parts: usize, salt: u64) -> Vec<Part> {
    let total = counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count));
    if total <= SHUFFLED { shuffle(keys, counts, parts, salt) } else { draw(keys, counts, parts, salt) }
}

/// One part of two: a random half of the rows.
pub(super) fn half(keys: &[u64], counts: &[u64], salt: u64) -> Vec<u64> {
    let mut kept = vec![0; counts.len()];
    deal(keys, counts, 2, salt).into_iter().take(1).flatten().for_each(|(cell, count)| kept[cell] = count);
    kept
}

/// Shuffles the rows and deals them round the parts.
fn shuffle(keys: &[u64], counts: &[u64], parts: usize, salt: u64) -> Vec<Part> {
    let mut rows: Vec<(u64, usize)> = Vec::new();
    for (cell, (&key, &count)) in keys.iter().zip(counts).enumerate() {
        rows.extend((0..count).map(|unit| (mix(mix(key, salt), unit), cell)));
    }
    rows.sort_unstable();
    let mut hands = vec![Vec::new(); parts];
    rows.iter().enumerate().for_each(|(place, (_, cell))| hands[place % parts].push(*cell));
    let count = |mut hand: Vec<usize>| {
        hand.sort_unstable();
        hand.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect()
    };
    hands.into_iter().map(count).collect()
}

/// Lets every row draw its part.
fn draw(keys: &[u64], counts: &[u64], parts: usize, salt: u64) -> Vec<Part> {
    let mut dealt: Vec<Part> = vec![Vec::new(); parts];
    let mut here = vec![0; parts];
    for (cell, (&key, &count)) in keys.iter().zip(counts).enumerate() {
        here.fill(0);
        let key = mix(key, salt);
        if count <= DRAWN {
            (0..count).for_each(|unit| here[(mix(key, unit) % parts as u64) as usize] += 1);
        } else {
            draw_numbers(count, key, &mut here);
        }
        let met = here.iter().zip(&mut dealt).filter(|(count, _)| **count > 0);
        met.for_each(|(count, part)| part.push((cell, *count)));
    }
    dealt
}

/// Draws how many of `count` equal rows fall to each part, as if each had drawn: equal shares would make the
/// folds more alike than chance does, and every interval too narrow.
fn draw_numbers(count: u64, key: u64, parts: &mut [u64]) {
    let (n, mut left) = (parts.len(), count);
    for (at, part) in parts.iter_mut().enumerate() {
        let share = 1.0 / (n - at) as f64;
        *part = if at + 1 == n { left } else { binomial(left, share, mix(key, at as u64)) };
        left -= *part;
    }
}

/// A binomial number of many trials, by the normal distribution; that by a sum of uniforms, which is the same
/// on every machine.
fn binomial(trials: u64, share: f64, key: u64) -> u64 {
    let uniform = |at: u64| (mix(key, at) >> 11) as f64 / (1u64 << 53) as f64;
    let normal = (0..12).map(uniform).sum::<f64>() - 6.0;
    let mean = trials as f64 * share;
    ((mean + normal * (mean * (1.0 - share)).sqrt()).round() as u64).min(trials)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(n: usize) -> Vec<u64> {
        (0..n).map(|cell| text(&cell.to_string())).collect()
    }

    fn sums(dealt: &[Part], n_cells: usize) -> Vec<u64> {
        let mut sums = vec![0; n_cells];
        dealt.iter().flatten().for_each(|(cell, count)| sums[*cell] += count);
        sums
    }

    #[test]
    fn every_row_goes_to_exactly_one_part() {
        let tables =
            [vec![1, 2, 3, 0, 50], vec![5000, 1, 60_000, 4096, 7], vec![1_000_000_000; 3], vec![1, 1]];
        for counts in tables {
            for parts in [2, 5, 7] {
                let dealt = deal(&keys(counts.len()), &counts, parts, 9);
                assert_eq!(dealt.len(), parts);
                assert_eq!(sums(&dealt, counts.len()), counts);
            }
        }
    }

    #[test]
    fn few_rows_make_equal_folds_and_as_many_folds_as_rows_leave_one_out() {
        let sizes = |counts: &[u64], parts: usize| -> Vec<u64> {
            let dealt = deal(&keys(counts.len()), counts, parts, 1);
            dealt.iter().map(|part| part.iter().map(|cell| cell.1).sum()).collect()
        };
        assert_eq!(sizes(&[10, 1, 1, 10], 5), [5, 5, 4, 4, 4]);
        assert_eq!(sizes(&[2, 1, 1], 4), [1, 1, 1, 1]);
    }

    #[test]
    fn twins_share_a_fold_as_often_as_chance_has_it() {
        // Of two rows dealt into halves of 50, the second finds 49 of 99 places beside the first.
        let n = 2000;
        let mut counts = vec![1; 98];
        counts.push(2);
        let together = |salt: &u64| deal(&keys(99), &counts, 2, *salt)[0].iter().all(|cell| *cell != (98, 1));
        let share = (0..n).filter(together).count() as f64 / n as f64;
        // Four standard errors of 2000 trials are 0.045.
        assert!((share - 49.0 / 99.0).abs() < 0.045, "{share}");
    }

    #[test]
    fn drawn_numbers_spread_like_drawn_rows() {
        // Of 5000 rows one of five parts gets 1000, give or take sqrt(5000 * 0.2 * 0.8) = 28.3.
        let drawn: Vec<f64> = (0..2000)
            .map(|key| {
                let mut parts = [0; 5];
                draw_numbers(5000, key, &mut parts);
                parts[3] as f64
            })
            .collect();
        let mean = drawn.iter().sum::<f64>() / 2000.0;
        let spread = (drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1999.0).sqrt();
        assert!((mean - 1000.0).abs() < 3.0 && (spread - 28.3).abs() < 2.0, "{mean} {spread}");
    }

    #[test]
    fn halves_are_halves_and_other_salts_deal_otherwise() {
        let counts = vec![3; 100];
        let kept = |salt: u64| half(&keys(100), &counts, salt);
        assert_eq!(kept(1).iter().sum::<u64>(), 150);
        assert!(kept(1) == kept(1) && kept(1) != kept(2));
        assert!(kept(1).iter().zip(&counts).all(|(part, whole)| part <= whole));
    }
}
