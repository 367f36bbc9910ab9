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
    let agreement = |table: &[u64]| {
        let same: u64 = table.iter().step_by(s + 1).sum();
        [panel.rows_of(same), panel.rows_of(table.iter().sum())]
    };
    let pairs = map_tables(panel.pairs(), tally, s, control, agreement)?;
    // Scaled so that the product of two leaves is their chance of agreement.
    let total = panel.total() as f64;
    let roots: Vec<f64> = panel.class_counts().iter().map(|&count| (count as f64 / total).sqrt()).collect();
    let scaled: Vec<f64> = likelihoods.iter().enumerate().map(|(at, p)| p * roots[at % l]).collect();
    let of = |leaf: usize| &scaled[leaf * s * l..(leaf + 1) * s * l];
    let relation = |a: usize, b: usize| {
        let [same, both] = pairs[pair_index(n, a.min(b), a.max(b))];
        if both == 0.0 {
            return 0.0;
        }
        let expected = both * of(a).iter().zip(of(b)).map(|(a, b)| a * b).sum::<f64>();
        let excess = (same - expected) / (both - expected + INDEPENDENT_ROWS);
        let excess = excess.max(0.0);
        excess * excess
    };
    let relations = parallel::map(n, |a| (0..n).filter(|&b| b != a).map(|b| relation(a, b)).sum::<f64>());
    Ok(relations.into_iter().map(|related| 1.0 / (1.0 + related)).collect())
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
}
