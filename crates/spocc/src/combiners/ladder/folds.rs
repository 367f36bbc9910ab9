//! Folds that know no names: which rows judge and which are learned from.
//!
//! A row's fold depends on how often each of its answers was given to each truth, never on what answers, classes
//! or classifiers are called or in which order they come; so renaming them changes no choice. Equal rows draw their
//! folds one by one: were they spread evenly, each would find its twin among those learned from, and patterns seen
//! twice would look more reliable than they are.

use crate::{
    combiners::ladder::core::Cell,
    evidence::{Evidence, Tally},
    hash::mix,
};

/// Number of folds.
pub(super) const FOLDS: usize = 5;

/// Equal rows that draw their folds; a multiple of the folds.
const MOST_DRAWN: f64 = 1000.0;

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
    let key = |cell: &Cell| {
        let truth = usize::from(cell.truth);
        let mut hash = 0u64;
        tally.pattern(cell.pattern as usize).for_each(|k, j| {
            let counts = mix(answers[k][usize::from(j)], evidence.row(k, j)[truth]);
            hash = hash.wrapping_add(counts);
        });
        mix(hash, classes[truth])
    };
    let spread = |cell: &Cell| {
        let mut folds = [0.0; FOLDS];
        let one = evidence.rows_of(evidence.row_unit(cell.truth));
        let rows = cell.rows / one;
        // Of many equal rows every fold has its share, whatever is drawn.
        let drawn = rows.floor() % MOST_DRAWN;
        folds.fill((rows.floor() - drawn) / FOLDS as f64);
        let key = key(cell);
        (0..drawn as u64).for_each(|row| folds[(mix(key, row) % FOLDS as u64) as usize] += 1.0);
        // What weights leave over of a row stays together.
        folds[(mix(key, u64::MAX) % FOLDS as u64) as usize] += rows - rows.floor();
        folds.map(|rows| rows * one)
    };
    cells.iter().map(spread).collect()
}
