//! Dependence: how much information the predictions of two classifiers have about each other.
//!
//! In: pair counts. Out: the dissimilarity `exp(-mutual information)` of every pair (paper, section 3.4), which the
//! methods use, and a normalised dependence from 0 (independent) to 1 (copies), which reports show.

use serde::Serialize;

use crate::{
    error::Error,
    evidence::{Evidence, Level, Tally, map_tables, pair_index},
    math::{exp, ln},
    progress::Control,
};

/// Dissimilarities of all pairs, 1 for independent classifiers, smaller the more they depend on each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dissimilarities {
    n: usize,
    /// Upper triangle, row by row.
    values: Vec<f64>,
}

impl Dissimilarities {
    /// Of every two classifiers of a panel.
    ///
    /// # Errors
    ///
    /// [`Error::LevelTooLow`] without pair counts or a tally, [`Error::MemoryLimit`] for a matrix that would
    /// not fit, [`Error::Cancelled`].
    pub fn new(evidence: &Evidence, control: &Control<'_>) -> Result<Self, Error> {
        let (s, total) = (evidence.n_labels(), evidence.total());
        let dissimilarity =
            |terms: &EntropyTerms, table: &[u64]| exp(-terms.mutual_information(table, s, total));
        // Bytes per cell of the square: half of it is stored, and copied once to build a tree.
        Ok(Self { n: evidence.n_classifiers(), values: map_pairs(evidence, 8, control, dissimilarity)? })
    }

    /// From the upper triangle of a symmetric matrix, row by row.
    ///
    /// # Errors
    ///
    /// [`Error::NoClassifiers`], [`Error::RowCount`] if there are not n (n - 1) / 2 values,
    /// [`Error::OutOfRange`] for one that is negative, huge or not a number.
    pub fn from_condensed(n: usize, values: Vec<f64>) -> Result<Self, Error> {
        if n == 0 {
            return Err(Error::NoClassifiers);
        }
        let expected = n * (n - 1) / 2;
        if values.len() != expected {
            return Err(Error::RowCount { what: "dissimilarities", expected, found: values.len() });
        }
        // Squares of them are added up.
        match values.iter().find(|value| !(0.0..=1e100).contains(*value)) {
            Some(&found) => {
                Err(Error::OutOfRange { what: "dissimilarity", expected: "a number from 0 to 1e100", found })
            }
            None => Ok(Self { n, values }),
        }
    }

    /// Number of classifiers.
    pub fn n_classifiers(&self) -> usize {
        self.n
    }

    /// Dissimilarity of two classifiers; 0 of one with itself.
    ///
    /// # Panics
    ///
    /// If there are not that many classifiers.
    pub fn get(&self, a: usize, b: usize) -> f64 {
        assert!(a < self.n && b < self.n, "classifier {} of {}", a.max(b), self.n);
        if a == b { 0.0 } else { self.values[pair_index(self.n, a.min(b), a.max(b))] }
    }

    /// The upper triangle, row by row.
    pub fn condensed(&self) -> &[f64] {
        &self.values
    }
}

/// Rows that both classifiers of a pair must have answered for their dependence to be reported.
const MIN_JOINT_ROWS: f64 = 20.0;

/// Normalised dependence of all pairs: 0 for independent classifiers, 1 for copies, also if labels are renamed.
///
/// ```text
/// mutual information / joint entropy, over the rows that both answered
/// ```
///
/// It is none for a pair that answered fewer than 20 common rows, or of which one is constant on them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dependence {
    n: usize,
    /// Upper triangle, row by row.
    values: Vec<Option<f64>>,
}

impl Dependence {
    /// Of every two classifiers of a panel, with their dissimilarities, from one pass over the pair counts.
    ///
    /// # Errors
    ///
    /// As [`Dissimilarities::new`].
    pub(crate) fn with_dissimilarities(
        evidence: &Evidence,
        control: &Control<'_>,
    ) -> Result<(Self, Dissimilarities), Error> {
        let (s, total) = (evidence.n_labels(), evidence.total());
        // Bytes per cell of the square: pairs, their two parts, and distances to build a tree.
        let pairs = map_pairs(evidence, 28, control, |terms, table| {
            let dissimilarity = exp(-terms.mutual_information(table, s, total));
            let both: u64 = table.iter().sum();
            let is_known = evidence.rows_of(both) >= MIN_JOINT_ROWS;
            (dissimilarity, if is_known { terms.normalised(table, s) } else { None })
        })?;
        let n = evidence.n_classifiers();
        let (dissimilarities, values) = pairs.into_iter().unzip();
        Ok((Self { n, values }, Dissimilarities { n, values: dissimilarities }))
    }

    /// From the upper triangle of a symmetric matrix, row by row.
    pub(crate) fn from_condensed(n: usize, values: Vec<Option<f64>>) -> Self {
        debug_assert_eq!(values.len(), n * n.saturating_sub(1) / 2);
        Self { n, values }
    }

    /// Number of classifiers.
    pub fn n_classifiers(&self) -> usize {
        self.n
    }

    /// Dependence of two different classifiers; none if it is not known.
    ///
    /// # Panics
    ///
    /// If there are not that many classifiers, or both are the same.
    pub fn get(&self, a: usize, b: usize) -> Option<f64> {
        assert!(a < self.n && b < self.n && a != b, "classifiers {a} and {b} of {}", self.n);
        self.values[pair_index(self.n, a.min(b), a.max(b))]
    }

    /// The upper triangle, row by row.
    pub fn condensed(&self) -> &[Option<f64>] {
        &self.values
    }
}

/// Maps the table of every pair of classifiers; `bytes` are needed for each cell of the square matrix of pairs.
fn map_pairs<T: Send>(
    evidence: &Evidence,
    bytes: usize,
    control: &Control<'_>,
    map: impl Fn(&EntropyTerms, &[u64]) -> T + Sync,
) -> Result<Vec<T>, Error> {
    evidence.require("dependence", Level::Pairs)?;
    let (n, s, total) = (evidence.n_classifiers(), evidence.n_labels(), evidence.total());
    control.allow(|| format!("dependence of {n} x {n} classifiers"), &[n, n, bytes])?;
    let nothing = Tally::empty(n);
    let tally = evidence.tally().unwrap_or(&nothing);
    let n_tables = n * n.saturating_sub(1) / 2;
    let terms = EntropyTerms::new(total, n_tables.saturating_mul(s));
    map_tables(evidence.pairs(), tally, s, control, |table: &[u64]| map(&terms, table))
}

/// Dissimilarities of the last classifier to all others, from one pass over the tally.
pub(crate) fn dissimilarities_of_last(
    evidence: &Evidence,
    tally: &Tally,
    control: &Control<'_>,
) -> Result<Vec<f64>, Error> {
    let (n, s, total) = (evidence.n_classifiers(), evidence.n_labels(), evidence.total());
    control.allow(|| format!("pair counts of an appended classifier and {} others", n - 1), &[n, s, s, 8])?;
    let mut tables = vec![0u64; (n - 1) * s * s];
    for p in 0..tally.n_patterns() {
        let weight = tally.weight(p);
        if let Some(w) = tally.pattern(p).get(n - 1) {
            tally.pattern(p).for_each(|k, u| {
                if k + 1 < n {
                    tables[(k * s + usize::from(u)) * s + usize::from(w)] += weight;
                }
            });
        }
    }
    Ok(tables.chunks((s * s).max(1)).map(|table| exp(-mutual_information(table, s, total))).collect())
}

/// As [`EntropyTerms::mutual_information`], for single tables.
pub(crate) fn mutual_information(table: &[u64], n_labels: usize, total: u64) -> f64 {
    EntropyTerms::default().mutual_information(table, n_labels, total)
}

/// A table of the terms `c ln c` of small counts.
#[derive(Default)]
struct EntropyTerms(Vec<i64>);

impl EntropyTerms {
    /// For counts up to `total`, of which about `n_counts` will be looked up.
    fn new(total: u64, n_counts: usize) -> Self {
        const MAX_TERMS: u64 = 1 << 16;
        // The largest term of so many rows fits into 60 bits.
        let known = total.saturating_add(1).min(MAX_TERMS).min(n_counts as u64);
        Self((0..known).map(|count| entropy_term(count) as i64).collect())
    }

    #[inline]
    fn of(&self, count: u64) -> i128 {
        match self.0.get(count as usize) {
            Some(&term) => term.into(),
            None => entropy_term(count),
        }
    }

    /// Mutual information of the two predictions in a table of counts, summed over the rows that both classifiers
    /// answered and divided by all `total` rows, so that a tiny overlap does not look like a copy.
    ///
    /// Every term `c ln c` is rounded to a multiple of 2^-40 of a row and added as an integer, so the sum
    /// does not depend on the order or the names of the labels, and copies tie exactly.
    fn mutual_information(&self, table: &[u64], n_labels: usize, total: u64) -> f64 {
        let EntropySums { both, information, .. } = self.sums(table, n_labels);
        if both == 0 { 0.0 } else { information as f64 / FIXED / total as f64 }
    }

    /// Mutual information as a share of the joint entropy of a table of counts; none if one side is constant.
    fn normalised(&self, table: &[u64], n_labels: usize) -> Option<f64> {
        let EntropySums { information, joint, sides, .. } = self.sums(table, n_labels);
        sides.iter().all(|&entropy| entropy > 0).then(|| information as f64 / joint as f64)
    }

    /// Entropies of a table in fixed point: for copies, information and joint entropy are the same integer.
    fn sums(&self, table: &[u64], n_labels: usize) -> EntropySums {
        let mut columns = vec![0u64; n_labels];
        let (mut both, mut cells, mut rows) = (0, 0i128, 0i128);
        for row in table.chunks(n_labels.max(1)) {
            let mut predicted = 0;
            for (&count, column) in row.iter().zip(&mut columns) {
                predicted += count;
                *column += count;
                cells += self.of(count);
            }
            both += predicted;
            rows += self.of(predicted);
        }
        let columns = columns.iter().map(|&count| self.of(count)).sum::<i128>();
        let all = self.of(both);
        let information = cells - rows - columns + all;
        // Values within the rounding errors of the terms are 0: the information of a constant classifier is exactly 0.
        let noise = (table.len() + 2 * n_labels) as i128 + all / (1 << 50);
        EntropySums {
            both,
            information: if information <= noise { 0 } else { information },
            joint: all - cells,
            sides: [all - rows, all - columns],
        }
    }
}

/// Entropies of a table of counts, each times its number of rows, in fixed point.
struct EntropySums {
    /// Rows in the table.
    both: u64,
    /// Mutual information of the two sides.
    information: i128,
    /// Joint entropy.
    joint: i128,
    /// Entropy of each side.
    sides: [i128; 2],
}

const FIXED: f64 = (1u64 << 40) as f64;

/// `c ln c` in fixed point.
fn entropy_term(count: u64) -> i128 {
    if count <= 1 {
        return 0;
    }
    let count = count as f64;
    (count * ln(count) * FIXED).round() as i128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn information_is_0_for_independent_predictions_and_the_entropy_for_copies() {
        assert_eq!(mutual_information(&[4, 8, 2, 4], 2, 18), 0.0);
        let copy = mutual_information(&[6, 0, 0, 2], 2, 8);
        let entropy = -(0.75f64 * 0.75f64.ln() + 0.25 * 0.25f64.ln());
        assert!((copy - entropy).abs() < 1e-12);
    }

    #[test]
    fn information_does_not_depend_on_the_order_of_the_labels() {
        let table = [3, 1, 4, 1, 5, 9, 2, 6, 5];
        let renamed = [9, 1, 5, 4, 3, 1, 5, 2, 6]; // rows 1 0 2, columns 2 0 1
        let information = |table: &[u64]| mutual_information(table, 3, 36).to_bits();
        assert_eq!(information(&table), information(&renamed));
    }

    #[test]
    fn dependence_is_1_for_copies_and_0_for_independence() {
        let normalised = |table: &[u64], s| EntropyTerms::default().normalised(table, s);
        assert_eq!(normalised(&[6, 0, 0, 2], 2), Some(1.0));
        assert_eq!(normalised(&[0, 30, 11, 0], 2), Some(1.0), "copies with renamed labels");
        assert_eq!(normalised(&[4, 8, 2, 4], 2), Some(0.0));
        assert_eq!(normalised(&[4, 8, 0, 0], 2), None, "one side is constant");
        // Information ln 2 - h(1/4), joint entropy ln 2 + h(1/4).
        let h = -(0.75f64 * 0.75f64.ln() + 0.25 * 0.25f64.ln());
        let expected = (2f64.ln() - h) / (2f64.ln() + h);
        assert!((normalised(&[3, 1, 1, 3], 2).expect("two answers each") - expected).abs() < 1e-9);
    }

    #[test]
    fn a_small_overlap_counts_little() {
        let overlap = mutual_information(&[1, 0, 0, 1], 2, 1000);
        assert!((overlap - 2.0 * 2.0f64.ln() / 1000.0).abs() < 1e-15);
    }
}
