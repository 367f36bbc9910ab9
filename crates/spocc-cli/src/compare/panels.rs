//! Small panels for the tests.

use spocc::{Evidence, Predictions, Truth};

use crate::compare::deal::mix;

/// A table of rows `[answers .., truth]`; an empty answer is silence.
pub(super) fn table<const K: usize, const W: usize>(
    names: [&str; K],
    rows: &[[&str; W]],
) -> (Predictions, Truth) {
    let mut answers = Predictions::builder(names).expect("distinct names");
    let said = |label: &str| (!label.is_empty()).then(|| label.to_owned());
    for row in rows {
        answers.push(row[..K].iter().map(|label| said(label))).expect("one answer per name");
    }
    (answers.finish(), Truth::new(rows.iter().map(|row| Some(row[K]))).expect("few labels"))
}

/// The tally of rows `[answers .., truth]`.
pub(super) fn evidence<const K: usize, const W: usize>(names: [&str; K], rows: &[[&str; W]]) -> Evidence {
    let (answers, truth) = table(names, rows);
    Evidence::new(&answers, &truth).expect("equally long")
}

/// Draws rows of a panel: every classifier is right with its own chance, else says any of `classes`.
pub(super) fn drawn<const K: usize, const W: usize>(
    n_rows: u64,
    classes: &[&'static str],
    right: [f64; K],
    seed: u64,
) -> Vec<[&'static str; W]> {
    let row = |t: u64| {
        let truth = classes[(mix(mix(seed, t), 0) % classes.len() as u64) as usize];
        let mut row = [truth; W];
        for (k, (said, chance)) in row.iter_mut().zip(right).enumerate() {
            let hash = mix(mix(seed, t), k as u64 + 1);
            if (hash >> 40) as f64 / (1u64 << 24) as f64 >= chance {
                *said = classes[(mix(hash, 1) % classes.len() as u64) as usize];
            }
        }
        row
    };
    (0..n_rows).map(row).collect()
}
