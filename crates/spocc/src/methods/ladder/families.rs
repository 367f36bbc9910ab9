//! Families: how many near-copies a leaf has, so that a family counts about as much as one classifier.
//!
//! Two leaves are related as far as they agree more often than their confusions explain: errors of independent
//! classifiers agree by chance alone. The weight of a leaf is 1 over the effective size of its family.

use crate::{
    error::Error,
    evidence::{Evidence, Tally, map_tables, pair_index},
    parallel,
    progress::Control,
};

/// Pseudo-rows of independent predictions that shrink the agreement of two leaves.
const INDEPENDENT_ROWS: f64 = 3.0;
/// Common rows from which two leaves can be related. In a large crowd nearly all pairs have fewer, and their agreement is
/// chance.
const MIN_COMMON_ROWS: f64 = 5.0;

/// Rows on which two leaves have the same prediction, and on which both have one.
type Agreement = [f64; 2];

/// The weight of every leaf, from `1 / n_leaves` to 1; `likelihoods` are `p(leaf predicts j | i)`.
pub(super) fn weights(
    panel: &Evidence,
    tally: &Tally,
    likelihoods: &[f64],
    control: &Control<'_>,
) -> Result<Vec<f64>, Error> {
    let (n, s, l) = (panel.n_classifiers(), panel.n_labels(), panel.n_classes());
    if n < 2 || panel.total() == 0 {
        return Ok(vec![1.0; n]);
    }
    // Scaled so that the product of two leaves is their chance of agreement.
    let total = panel.total() as f64;
    let roots: Vec<f64> = panel.class_counts().iter().map(|&count| (count as f64 / total).sqrt()).collect();
    let scaled: Vec<f64> = likelihoods.iter().enumerate().map(|(at, p)| p * roots[at % l]).collect();
    let of = |leaf: usize| &scaled[leaf * s * l..(leaf + 1) * s * l];
    let relation = |a: usize, b: usize, [same, both]: Agreement| {
        if both < MIN_COMMON_ROWS {
            return 0.0;
        }
        let expected = both * of(a).iter().zip(of(b)).map(|(a, b)| a * b).sum::<f64>();
        let excess = (same - expected) / (both - expected + INDEPENDENT_ROWS);
        let excess = excess.max(0.0);
        excess * excess
    };
    let relations = if tally.patterns().is_dense() {
        dense_sums(panel, tally, control, relation)?
    } else {
        sparse_sums(panel, tally, relation)
    };
    Ok(relations.into_iter().map(|related| 1.0 / (1.0 + related)).collect())
}

/// The sum of every leaf's relations, from the table of every pair.
fn dense_sums(
    panel: &Evidence,
    tally: &Tally,
    control: &Control<'_>,
    relation: impl Fn(usize, usize, Agreement) -> f64 + Sync,
) -> Result<Vec<f64>, Error> {
    let (n, s) = (panel.n_classifiers(), panel.n_labels());
    control.allow(|| format!("agreement of {n} classifiers"), &[n, n, 8])?;
    let agreement = |table: &[u64]| {
        let same: u64 = table.iter().step_by(s + 1).sum();
        [panel.rows_of(same), panel.rows_of(table.iter().sum())]
    };
    let pairs = map_tables(panel.pairs(), tally, s, control, agreement)?;
    let pair = |a: usize, b: usize| relation(a, b, pairs[pair_index(n, a.min(b), a.max(b))]);
    Ok(parallel::map(n, |a| (0..n).filter(|&b| b != a).map(|b| pair(a, b)).sum()))
}

/// The same from the rows of each leaf: pairs without common rows cost nothing.
fn sparse_sums(
    panel: &Evidence,
    tally: &Tally,
    relation: impl Fn(usize, usize, Agreement) -> f64 + Sync,
) -> Vec<f64> {
    const LEAVES_PER_TASK: usize = 256;
    let n = panel.n_classifiers();
    let mut patterns_of: Vec<Vec<u32>> = vec![Vec::new(); n];
    for p in 0..tally.n_patterns() {
        tally.pattern(p).for_each(|k, _| patterns_of[k].push(p as u32));
    }
    let parts = parallel::map_ranges(n, LEAVES_PER_TASK, |leaves| {
        let mut agreements: Vec<[u64; 2]> = vec![[0; 2]; n];
        let mut met: Vec<usize> = Vec::new();
        let sum = |a: usize| {
            for &p in &patterns_of[a] {
                let row = tally.pattern(p as usize);
                let (by_a, weight) = (row.get(a), tally.weight(p as usize));
                row.for_each(|b, j| {
                    if agreements[b][1] == 0 {
                        met.push(b);
                    }
                    agreements[b][0] += if Some(j) == by_a { weight } else { 0 };
                    agreements[b][1] += weight;
                });
            }
            met.sort_unstable();
            let mut sum = 0.0;
            for b in met.drain(..) {
                let agreement = std::mem::take(&mut agreements[b]).map(|count| panel.rows_of(count));
                if b != a {
                    sum += relation(a, b, agreement);
                }
            }
            sum
        };
        leaves.map(sum).collect::<Vec<f64>>()
    });
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Predictions, Truth, evidence::Counting, hash};

    #[test]
    fn near_copies_share_a_weight_and_independent_leaves_keep_theirs() {
        // All five predict 80 % of 400 rows correctly; the first three on nearly the same rows.
        let draw = |row: u64, of: u64| hash::draw(hash::mix(row, of), 100);
        let mut rows = Predictions::builder(["a", "a2", "a3", "b", "c"]).expect("five names");
        let mut truth = Truth::default();
        for row in 0..400 {
            let class = row % 2;
            let predicts = |correct: bool| if correct { class } else { 1 - class } as i64;
            let copied = draw(row, 0) < 80;
            let copies = [1, 2, 3].map(|of| if draw(row, of) < 3 { draw(row, of + 9) < 80 } else { copied });
            let independent = [4, 5].map(|of| draw(row, of) < 80);
            rows.push(copies.into_iter().chain(independent).map(|correct| Some(predicts(correct))))
                .expect("a row");
            truth.push(Some(class as i64)).expect("two classes");
        }
        let evidence =
            Evidence::count(&rows.finish(), &truth, &Counting::default(), &Control::default()).expect("rows");
        let likelihoods = [0.8, 0.2, 0.2, 0.8].repeat(5);
        let found = weights(&evidence, evidence.tally().expect("a tally"), &likelihoods, &Control::default())
            .expect("rows");
        assert!(found[..3].iter().all(|weight| (0.33..0.45).contains(weight)), "{found:?}");
        assert!(found[3..].iter().all(|weight| *weight > 0.9), "{found:?}");
    }

    #[test]
    fn sums_over_common_rows_are_those_over_all_pairs() {
        let draw = |row: u64, of: u64| hash::draw(hash::mix(row, of), 100);
        let names: Vec<String> = (0..12).map(|k| format!("w{k}")).collect();
        let mut rows = Predictions::builder(names).expect("twelve names");
        let mut truth = Truth::default();
        for row in 0..300 {
            rows.push((0..12).map(|k| (draw(row, k) < 40).then(|| (draw(row, 20 + k) / 35) as i64)))
                .expect("a row");
            truth.push(Some((row % 3) as i64)).expect("three classes");
        }
        let evidence =
            Evidence::count(&rows.finish(), &truth, &Counting::default(), &Control::default()).expect("rows");
        let tally = evidence.tally().expect("a tally");
        let relation = |a: usize, b: usize, [same, both]: Agreement| (a * b) as f64 + same / (1.0 + both);
        let all = dense_sums(&evidence, tally, &Control::default(), relation).expect("small");
        assert_eq!(sparse_sums(&evidence, tally, relation), all);
        assert!(all.iter().all(|sum| *sum > 0.0), "{all:?}");
    }
}
