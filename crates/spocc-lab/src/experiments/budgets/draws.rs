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
