//! Folds that know no names: which rows judge and which are learned from.
//!
//! A row's fold depends on how often each of its answers was given to each truth, never on what answers, classes
//! or classifiers are called or in which order they come; so renaming them changes no choice. Rows alike in all
//! that are dealt to the folds in turn.

use crate::{
    combiners::ladder::core::Cell,
    evidence::{Evidence, Tally},
    hash::mix,
};

/// Number of folds.
pub(super) const FOLDS: usize = 5;

/// Rows of every cell in each fold.
pub(super) fn deal(evidence: &Evidence, tally: &Tally, cells: &[Cell]) -> Vec<[f64; FOLDS]> {
    let classes = evidence.class_counts();
    // An answer is known by its counts, whatever the order of the classes.
    let of_answer = |k: usize, j: u16| {
        let of_class = |(&count, &class): (&u64, &u64)| mix(mix(17, count), class);
        evidence.row(k, j).iter().zip(classes).map(of_class).fold(0, u64::wrapping_add)
    };
    let answers: Vec<Vec<u64>> = (0..evidence.n_classifiers())
        .map(|k| (0..evidence.n_labels()).map(|j| of_answer(k, j as u16)).collect())
        .collect();
    let place = |cell: &Cell| {
        let truth = usize::from(cell.truth);
        let mut hash = 0u64;
        tally.pattern(cell.pattern as usize).for_each(|k, j| {
            let counts = mix(answers[k][usize::from(j)], evidence.row(k, j)[truth]);
            hash = hash.wrapping_add(counts);
        });
        mix(mix(hash, classes[truth]), 5) % FOLDS as u64
    };
    let spread = |cell: &Cell| {
        let mut folds = [0.0; FOLDS];
        let whole = cell.rows.floor();
        let each = (whole / FOLDS as f64).floor();
        folds.fill(each);
        let first = place(cell) as usize;
        let rest = (whole - each * FOLDS as f64) as usize;
        (0..rest).for_each(|at| folds[(first + at) % FOLDS] += 1.0);
        // What weights leave over of a row stays together.
        folds[(first + rest) % FOLDS] += cell.rows - whole;
        folds
    };
    cells.iter().map(spread).collect()
}
