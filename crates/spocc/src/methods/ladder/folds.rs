//! Folds that know no names: which rows judge and which are learned from.
//!
//! A row's fold depends on how often each of its answers was given to each truth, never on what answers, classes
//! or classifiers are called or in which order they come; so renaming them changes no choice. Equal rows draw their
//! folds one by one: were they spread evenly, each would find its twin among those learned from, and patterns seen
//! twice would look more reliable than they are.

use crate::{
    evidence::{Evidence, Tally},
    hash::mix,
    methods::ladder::norm_tree::Cell,
};

/// Number of folds.
pub(super) const FOLDS: usize = 5;

/// Equal rows that draw their folds; a multiple of the folds.
const MOST_DRAWN: f64 = 1000.0;

/// What tells one cell from another without naming anything.
struct Keys<'a> {
    evidence: &'a Evidence,
    tally: &'a Tally,
    /// Of every classifier's answers.
    answers: Vec<Vec<u64>>,
}

impl<'a> Keys<'a> {
    fn new(evidence: &'a Evidence, tally: &'a Tally) -> Self {
        // An answer is known by its counts, whatever the order of the classes.
        let of_answer = |k: usize, j: usize| {
            let of_class = |(&count, &class): (&u64, &u64)| mix(mix(17, count), class);
            let counts = evidence.row(k, j as u16).iter().zip(evidence.class_counts());
            counts.map(of_class).fold(0, u64::wrapping_add)
        };
        let of_classifier = |k: usize| (0..evidence.n_labels()).map(|j| of_answer(k, j)).collect();
        let answers = (0..evidence.n_classifiers()).map(of_classifier).collect();
        Self { evidence, tally, answers }
    }

    fn of(&self, cell: &Cell) -> u64 {
        let truth = usize::from(cell.truth);
        let mut hash = 0u64;
        self.tally.pattern(cell.pattern as usize).for_each(|k, j| {
            let counts = mix(self.answers[k][usize::from(j)], self.evidence.row(k, j)[truth]);
            hash = hash.wrapping_add(counts);
        });
        mix(hash, self.evidence.class_counts()[truth])
    }

    /// What one row of a cell counts.
    fn one(&self, cell: &Cell) -> f64 {
        self.evidence.rows_of(self.evidence.row_unit(cell.truth))
    }
}

/// Rows of every cell in each fold.
pub(super) fn deal(evidence: &Evidence, tally: &Tally, cells: &[Cell]) -> Vec<[f64; FOLDS]> {
    let keys = Keys::new(evidence, tally);
    let spread = |cell: &Cell| {
        let mut folds = [0.0; FOLDS];
        let one = keys.one(cell);
        let rows = cell.rows / one;
        // Of many equal rows every fold has its share, whatever is drawn.
        let drawn = rows.floor() % MOST_DRAWN;
        folds.fill((rows.floor() - drawn) / FOLDS as f64);
        let key = keys.of(cell);
        (0..drawn as u64).for_each(|row| folds[(mix(key, row) % FOLDS as u64) as usize] += 1.0);
        // What weights leave over of a row stays together.
        folds[(mix(key, u64::MAX) % FOLDS as u64) as usize] += rows - rows.floor();
        folds.map(|rows| rows * one)
    };
    cells.iter().map(spread).collect()
}

/// Rows that stand for all: about `most` cells, the frequent ones with their share of the rows, of the rare ones some
/// with more. None if there are no more cells than that.
pub(super) fn sample(evidence: &Evidence, tally: &Tally, cells: &[Cell], most: usize) -> Option<Vec<Cell>> {
    if cells.len() <= most {
        return None;
    }
    let keys = Keys::new(evidence, tally);
    let each = cells.len().div_ceil(most) as u64;
    let drawn = |cell: &Cell| {
        let one = keys.one(cell);
        let rows = (cell.rows / one).round() as u64;
        let kept = rows / each + u64::from(mix(keys.of(cell), 23) % each < rows % each);
        (kept > 0).then(|| Cell { rows: (kept * each) as f64 * one, ..*cell })
    };
    Some(cells.iter().filter_map(drawn).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        data::{Predictions, Truth},
        hash,
    };

    /// Evidence of a panel whose classes are called by a function, and its cells.
    fn evidence(name: impl Fn(u64) -> String) -> Evidence {
        let mut rows = Predictions::builder(["a", "b", "c", "d", "e", "f"]).expect("distinct names");
        let mut truths = Vec::new();
        for t in 0..20_000 {
            let truth = hash::draw(t, 3);
            let said = |k: u64| {
                let draw = hash::draw(hash::mix(t, k), 10);
                name(if draw < 6 + k % 3 { truth } else { draw % 3 })
            };
            rows.push((0..6).map(|k| Some(said(k)))).expect("a row");
            truths.push(Some(name(truth)));
        }
        Evidence::new(&rows.finish(), &Truth::new(truths).expect("labels")).expect("rows")
    }

    fn cells(evidence: &Evidence, tally: &Tally) -> Vec<Cell> {
        let of = |p: usize| {
            tally.outcomes(p).map(move |(truth, count)| Cell {
                pattern: p as u32,
                truth,
                rows: evidence.rows_of(count),
            })
        };
        (0..tally.n_patterns()).flat_map(of).collect()
    }

    #[test]
    fn a_sample_has_the_rows_of_all_and_its_share_of_every_frequent_cell() {
        let evidence = evidence(|class| class.to_string());
        let tally = evidence.tally_for(crate::Method::Ladder).expect("a tally");
        let cells = cells(&evidence, tally);
        assert!(sample(&evidence, tally, &cells, cells.len()).is_none());
        let (most, each) = (cells.len() / 8, 9.0);
        let sample = sample(&evidence, tally, &cells, most).expect("more cells than that");
        assert!(sample.len() < cells.len() * 2 / 3, "{} of {}", sample.len(), cells.len());
        let rows = |cells: &[Cell]| cells.iter().map(|cell| cell.rows).sum::<f64>();
        assert!((rows(&sample) / rows(&cells) - 1.0).abs() < 0.03, "{} {}", rows(&sample), rows(&cells));
        for cell in &cells {
            let is_same = |other: &&Cell| (other.pattern, other.truth) == (cell.pattern, cell.truth);
            let kept = sample.iter().find(is_same).map_or(0.0, |cell| cell.rows);
            assert!((kept - cell.rows).abs() < each, "{kept} of {}", cell.rows);
        }
    }

    #[test]
    fn names_do_not_change_a_sample() {
        let sizes = |name: fn(u64) -> String| {
            let evidence = evidence(name);
            let tally = evidence.tally_for(crate::Method::Ladder).expect("a tally");
            let sample = sample(&evidence, tally, &cells(&evidence, tally), 100).expect("many cells");
            let mut rows: Vec<u64> = sample.iter().map(|cell| cell.rows as u64).collect();
            rows.sort_unstable();
            rows
        };
        assert_eq!(sizes(|class| class.to_string()), sizes(|class| format!("{}", 2 - class)));
    }
}
