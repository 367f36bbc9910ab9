//! Small panels for the tests.

use crate::{Evidence, Predictions, Truth, evaluate::split::mix};

/// A table of rows `[predictions .., truth]`; an empty prediction is missing.
pub(super) fn table<const K: usize, const W: usize>(
    names: [&str; K],
    rows: &[[&str; W]],
) -> (Predictions, Truth) {
    let mut predictions = Predictions::builder(names).expect("distinct names");
    let predicted = |label: &str| (!label.is_empty()).then(|| label.to_owned());
    for row in rows {
        predictions.push(row[..K].iter().map(|label| predicted(label))).expect("one prediction per name");
    }
    (predictions.finish(), Truth::new(rows.iter().map(|row| Some(row[K]))).expect("few labels"))
}

/// The tally of rows `[predictions .., truth]`.
pub(super) fn evidence<const K: usize, const W: usize>(names: [&str; K], rows: &[[&str; W]]) -> Evidence {
    let (predictions, truth) = table(names, rows);
    Evidence::new(&predictions, &truth).expect("equally long")
}

/// Draws rows of a panel: every classifier predicts the truth with its own probability, else any of `classes`.
pub(super) fn drawn<const K: usize, const W: usize>(
    n_rows: u64,
    classes: &[&'static str],
    probabilities: [f64; K],
    seed: u64,
) -> Vec<[&'static str; W]> {
    let row = |t: u64| {
        let truth = classes[(mix(mix(seed, t), 0) % classes.len() as u64) as usize];
        let mut row = [truth; W];
        for (k, (predicted, probability)) in row.iter_mut().zip(probabilities).enumerate() {
            let hash = mix(mix(seed, t), k as u64 + 1);
            if (hash >> 40) as f64 / (1u64 << 24) as f64 >= probability {
                *predicted = classes[(mix(hash, 1) % classes.len() as u64) as usize];
            }
        }
        row
    };
    (0..n_rows).map(row).collect()
}
