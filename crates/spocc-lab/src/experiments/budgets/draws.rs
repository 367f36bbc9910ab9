//! Draws: which rows are labelled, which are tested, and which are seen without their truth.

use rand::seq::SliceRandom;

use crate::{error::Error, label_sets::LabelSet, random};

/// Tested rows of a draw, at most.
pub(crate) const MAX_TEST: usize = 2000;
/// Unlabelled rows of a draw, at most; the tested rows are among them.
pub(crate) const MAX_UNLABELLED: usize = 10_000;
/// Attempts to draw rows of two classes.
const MAX_ATTEMPTS: usize = 1000;

/// Purposes of random draws.
const STREAM: u64 = u64::from_be_bytes(*b"budgets\0");
const LABELLED: u64 = 1;
const REST: u64 = 2;

/// Row numbers, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draw {
    /// The rows whose truth is known to the methods.
    pub(crate) labelled: Vec<usize>,
    /// The rows that are decided: a random sample of the other rows with a truth.
    pub(crate) test: Vec<usize>,
    /// The rows that methods may see without their truth: the test rows, and a random sample of the others.
    pub(crate) unlabelled: Vec<usize>,
}

impl Draw {
    /// Draws rows uniformly, without stratification. It depends on the seed, the name of the set, the number of the draw
    /// and the number of labelled rows, not on other budgets. A draw of a single class is repeated.
    ///
    /// # Errors
    ///
    /// [`Error::OneClass`] if a thousand draws have one class each.
    pub(crate) fn new(set: &LabelSet, seed: u64, draw: u32, n_labelled: usize) -> Result<Self, Error> {
        let name = set.name.bytes().fold(0, |hash, byte| random::mix(hash ^ u64::from(byte)));
        let path = |purpose: u64| [STREAM, name, u64::from(draw), n_labelled as u64, purpose];
        let mut rows = set.known();
        let mut numbers = random::stream(seed, &path(LABELLED));
        let is_mixed = |rows: &[usize]| rows.iter().any(|&row| set.truth[row] != set.truth[rows[0]]);
        for attempt in 0.. {
            rows.partial_shuffle(&mut numbers, n_labelled);
            // The shuffled rows are the last ones.
            let drawn = rows.len() - n_labelled;
            if n_labelled == 0 || is_mixed(&rows[drawn..]) {
                rows.rotate_left(drawn);
                break;
            }
            if attempt + 1 == MAX_ATTEMPTS {
                return Err(Error::OneClass { set: set.name.clone(), rows: n_labelled });
            }
        }
        let (labelled, rest) = rows.split_at(n_labelled);
        let place = |row: usize| random::uniform(seed, &[path(REST).as_slice(), &[row as u64]].concat());
        let test = lowest(rest.to_vec(), place, MAX_TEST);
        let mut others: Vec<usize> = (0..set.rows.len()).collect();
        let mut labelled = labelled.to_vec();
        labelled.sort_unstable();
        others.retain(|row| labelled.binary_search(row).is_err() && test.binary_search(row).is_err());
        let others = lowest(others, place, MAX_UNLABELLED - test.len());
        let mut unlabelled = [test.as_slice(), &others].concat();
        unlabelled.sort_unstable();
        Ok(Self { labelled, test, unlabelled })
    }
}

/// The `n` rows of lowest place, ascending.
fn lowest(mut rows: Vec<usize>, place: impl Fn(usize) -> f64, n: usize) -> Vec<usize> {
    rows.sort_by(|&a, &b| place(a).total_cmp(&place(b)).then(a.cmp(&b)));
    rows.truncate(n);
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use spocc::Label;

    use super::*;

    /// One classifier and `n` rows; the truth of every fifth row is unknown, that of every `rare`-th is 1.
    fn set(n: usize, rare: usize) -> LabelSet {
        let labels = ["0", "1"].map(Label::from).to_vec();
        let truth = |row: usize| (!row.is_multiple_of(5)).then(|| u16::from(row.is_multiple_of(rare)));
        LabelSet {
            name: "made-up".to_owned(),
            classifiers: vec!["a".to_owned()],
            classes: labels.clone(),
            labels,
            rows: vec![vec![(0, 0)]; n],
            truth: (0..n).map(truth).collect(),
        }
    }

    #[test]
    fn labelled_and_tested_rows_are_disjoint_and_unlabelled_rows_are_all_others() {
        let set = set(100, 2);
        let draw = Draw::new(&set, 1, 0, 30).expect("two classes");
        assert_eq!((draw.labelled.len(), draw.test.len(), draw.unlabelled.len()), (30, 50, 70));
        assert!(draw.test.iter().all(|row| !draw.labelled.contains(row) && draw.unlabelled.contains(row)));
        assert!(draw.unlabelled.iter().all(|row| !draw.labelled.contains(row)));
        assert!(
            [&draw.labelled, &draw.test].iter().all(|rows| rows.iter().all(|&row| set.truth[row].is_some()))
        );
        assert!([&draw.labelled, &draw.test, &draw.unlabelled].iter().all(|rows| rows.is_sorted()));
    }

    #[test]
    fn a_draw_depends_on_the_seed_its_number_and_the_number_of_rows() {
        let set = set(200, 3);
        let draw = |seed, number, rows| Draw::new(&set, seed, number, rows).expect("two classes");
        assert_eq!(draw(1, 0, 40), draw(1, 0, 40));
        for other in [draw(2, 0, 40), draw(1, 1, 40)] {
            assert_ne!(draw(1, 0, 40).labelled, other.labelled);
        }
        let larger = draw(1, 0, 41).labelled;
        assert!(draw(1, 0, 40).labelled.iter().any(|row| !larger.contains(row)), "budgets are drawn apart");
    }

    #[test]
    fn every_row_is_drawn_about_equally_often() {
        let set = set(50, 2);
        let mut counts = [0; 50];
        for number in 0..2000 {
            Draw::new(&set, 7, number, 10)
                .expect("two classes")
                .labelled
                .iter()
                .for_each(|&row| counts[row] += 1);
        }
        // 40 rows have a truth: each is drawn 500 times, with a standard deviation of 19.
        for (row, count) in counts.iter().enumerate() {
            let expected = if row.is_multiple_of(5) { 0..=0 } else { 410..=590 };
            assert!(expected.contains(count), "row {row}: {count}");
        }
    }

    #[test]
    fn large_sets_are_sampled_and_the_tested_rows_are_seen_unlabelled() {
        let set = set(20_000, 2);
        let draw = Draw::new(&set, 1, 0, 100).expect("two classes");
        assert_eq!((draw.test.len(), draw.unlabelled.len()), (MAX_TEST, MAX_UNLABELLED));
        assert!(draw.test.iter().all(|row| draw.unlabelled.binary_search(row).is_ok()));
        let next = Draw::new(&set, 1, 1, 100).expect("two classes");
        let shared = next.test.iter().filter(|row| draw.test.binary_search(row).is_ok()).count();
        assert!(shared < 500, "{shared}: each draw tests other rows");
    }

    #[test]
    fn a_draw_of_one_class_is_repeated_and_refused_if_there_is_no_other() {
        // One row in 36 is of class 1: most draws of five rows have one class.
        let rare = set(180, 36);
        for number in 0..50 {
            let draw = Draw::new(&rare, 1, number, 5).expect("two classes");
            assert!(draw.labelled.iter().any(|&row| rare.truth[row] == Some(1)), "{draw:?}");
        }
        let refused = Draw::new(&set(100, 1000), 1, 0, 5).expect_err("one class").to_string();
        assert_eq!(
            refused,
            "made-up: expected two classes among 5 labelled rows, found one in each of 1000 draws"
        );
        assert_eq!(Draw::new(&set(100, 1000), 1, 0, 0).expect("no rows").test.len(), 80);
    }
}
