//! Scores rounded up to numbers that stand for many rows, so that no score points at a few of them.
//!
//! A score s has the place `s / (1 + s)` between 0 and 1. The places are cut in the middle, the halves in their middles and
//! so on. A cut is used where at least n rows lie in either of the two halves that it makes, or where at least n lie below
//! and no row lies above it; of the latter only the lowest. So between neighbouring cuts are at least n rows or none, and
//! which cuts are used says nothing about fewer than n rows. Every score becomes that of the next cut above it, or infinite.

use crate::conformal::Score;

/// Number of times that places are halved: scores from about 1e-18 to 1e18 are told apart.
const MAX_DEPTH: u32 = 60;

/// The scores rounded up, for scores in ascending order; none if there are fewer than `n` rows.
pub(super) fn round_up(scores: impl Iterator<Item = Score>, n: u64) -> Vec<Score> {
    let rows: Vec<Score> = scores.map(|(score, count)| (place(score), count)).collect();
    if rows.iter().map(|row| row.1).sum::<u64>() < n {
        return Vec::new();
    }
    let mut cuts = Vec::new();
    add_cuts(&rows, [0.0, 1.0], true, n, MAX_DEPTH, &mut cuts);
    rows.iter().map(|&(place, count)| (score(next_cut(&cuts, place)), count)).collect()
}

/// Adds the cuts between two places in ascending order, given the rows there; `is_last` if no row lies above them.
fn add_cuts(rows: &[Score], [from, to]: [f64; 2], is_last: bool, n: u64, depth: u32, cuts: &mut Vec<f64>) {
    let middle = from.midpoint(to);
    let (low, high) = rows.split_at(rows.partition_point(|row| row.0 < middle));
    let [n_low, n_high] = [low, high].map(|rows| rows.iter().map(|row| row.1).sum::<u64>());
    if depth == 0 || n_low + n_high < n {
        return;
    }
    let is_cap = is_last && high.is_empty();
    add_cuts(low, [from, middle], is_cap, n, depth - 1, cuts);
    let has_cap = is_cap && cuts.last().is_some_and(|cut| rows.iter().all(|row| row.0 < *cut));
    if n_low >= n && (n_high >= n || is_cap && !has_cap) {
        cuts.push(middle);
    }
    add_cuts(high, [middle, to], is_last, n, depth - 1, cuts);
}

/// The first cut above a place, or the end of all places.
fn next_cut(cuts: &[f64], place: f64) -> f64 {
    cuts.get(cuts.partition_point(|cut| *cut <= place)).copied().unwrap_or(1.0)
}

fn place(score: f64) -> f64 {
    if score.is_infinite() { 1.0 } else { score / (1.0 + score) }
}

/// The score of a place; infinite at the end.
fn score(place: f64) -> f64 {
    place / (1.0 - place)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rounded(scores: &[Score], n: u64) -> Vec<Score> {
        round_up(scores.iter().copied(), n)
    }

    #[test]
    fn scores_are_rounded_up_to_cuts_with_enough_rows_on_either_side() {
        // Places 1/3, 2/3 and 3/4 are cut at 1/2 alone: 3/4 would part two rows from one.
        assert_eq!(
            rounded(&[(0.5, 2), (2.0, 1), (3.0, 1)], 2),
            [(1.0, 2), (f64::INFINITY, 1), (f64::INFINITY, 1)]
        );
        // No row lies above the places 2/7 and 1/3, so the next cut with all of them in its lower half, 3/8, is their score.
        assert_eq!(rounded(&[(0.4, 2), (0.5, 3)], 5), [(0.6, 2), (0.6, 3)]);
        assert_eq!(rounded(&[(0.5, 4)], 5), []);
        assert_eq!(rounded(&[], 1), []);
    }

    proptest! {
        #[test]
        fn no_rounded_score_stands_for_a_few_rows(
            mut scores in prop::collection::vec((prop_oneof![0.0..8.0, 0.0..1e-9, Just(0.0), Just(f64::INFINITY)], 1..4u64), 1..80),
            n in 1..12u64,
        ) {
            scores.sort_by(|a: &Score, b| a.0.total_cmp(&b.0));
            let total: u64 = scores.iter().map(|score| score.1).sum();
            let rounded = rounded(&scores, n);
            if total < n {
                prop_assert!(rounded.is_empty());
                return Ok(());
            }
            prop_assert_eq!(rounded.len(), scores.len());
            for (new, old) in rounded.iter().zip(&scores) {
                // Places are rounded to 53 bits.
                prop_assert!(new.0 >= old.0 * (1.0 - 1e-15) && new.1 == old.1);
            }
            for group in rounded.chunk_by(|a, b| a.0 == b.0) {
                prop_assert!(group.iter().map(|score| score.1).sum::<u64>() >= n);
            }
        }
    }
}
