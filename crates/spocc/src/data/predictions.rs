//! Predictions: a table of rows x classifiers, with missing cells.
//!
//! In: rows of labels, ids of labels, or single cells in any order. Out: a checked matrix of label ids.

use std::collections::HashSet;

use crate::{
    data::{
        Label, LabelMatrix, Normalise, PredictionsBuilder, Row,
        interner::{LabelInterner, check_ids, distinct},
    },
    error::Error,
};

/// A table of predictions: rows x classifiers, where a cell may be missing.
///
/// ```
/// use spocc::Predictions;
/// let mut rows = Predictions::builder(["ann", "bob"])?;
/// rows.push([Some("cat"), Some("dog")])?;
/// rows.push([None, Some("cat")])?;
/// let predictions = rows.finish();
/// assert_eq!((predictions.n_rows(), predictions.n_classifiers()), (2, 2));
/// # Ok::<(), spocc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Predictions {
    classifiers: Vec<String>,
    labels: Vec<Label>,
    matrix: LabelMatrix,
    /// How answers were compared if labels are the candidate numbers of [open answers](crate::data::Answers).
    candidates: Option<Normalise>,
}

impl Predictions {
    /// Starts an empty table for these classifiers.
    ///
    /// # Errors
    ///
    /// [`Error::NoClassifiers`], [`Error::DuplicateName`].
    pub fn builder<S: Into<String>>(
        classifiers: impl IntoIterator<Item = S>,
    ) -> Result<PredictionsBuilder, Error> {
        distinct(classifiers).map(PredictionsBuilder::new)
    }

    /// Takes a whole table of ids, row after row: positions in `labels`, or [`u16::MAX`] for a missing cell.
    ///
    /// Nothing is copied. A label that is written in two ways may have two ids.
    ///
    /// # Errors
    ///
    /// As [`builder`](Self::builder); [`Error::RowWidth`] if the last row is not whole, [`Error::LabelId`]
    /// for an id without a label, [`Error::DuplicateName`] for a repeated label.
    pub fn from_ids<S: Into<String>>(
        classifiers: impl IntoIterator<Item = S>,
        labels: Vec<Label>,
        ids: Vec<u16>,
    ) -> Result<Self, Error> {
        let classifiers = distinct(classifiers)?;
        let width = classifiers.len();
        let labels = LabelInterner::of(labels)?.labels;
        check_ids(&ids, width, labels.len())?;
        if !ids.len().is_multiple_of(width) {
            let row = ids.len() / width + 1;
            return Err(Error::RowWidth { row, expected: width, found: ids.len() % width });
        }
        Ok(Self::from_matrix(classifiers, labels, LabelMatrix::from_cells(width, ids)))
    }

    /// Takes single cells `(row, classifier, label)` in any order, all three counted from 0; the label is a position in
    /// `labels`. Cells that are not given are missing, and labels without a cell are dropped.
    ///
    /// # Errors
    ///
    /// As [`builder`](Self::builder); [`Error::UnknownClassifier`], [`Error::RowCount`] for a row past `n_rows`,
    /// [`Error::LabelId`] for a position without a label, [`Error::RepeatedCell`].
    pub fn from_cells<S: Into<String>>(
        classifiers: impl IntoIterator<Item = S>,
        n_rows: usize,
        labels: &[Label],
        cells: impl IntoIterator<Item = (usize, usize, usize)>,
    ) -> Result<Self, Error> {
        let classifiers = distinct(classifiers)?;
        let mut interner = LabelInterner::default();
        let mut known: Vec<Option<u16>> = vec![None; labels.len()];
        let mut taken: Vec<(usize, u32, u16)> = Vec::new();
        for (row, k, at) in cells {
            if row >= n_rows {
                let found = row.saturating_add(1);
                return Err(Error::RowCount { what: "cells", expected: n_rows, found });
            }
            if k >= classifiers.len() {
                let known = crate::error::list(&classifiers);
                return Err(Error::UnknownClassifier { name: format!("number {k}"), known });
            }
            let id = match known.get_mut(at) {
                Some(Some(id)) => *id,
                Some(unknown) => *unknown.insert(interner.intern(labels[at].clone())?),
                None => return Err(Error::LabelId { row: row + 1, expected: labels.len(), found: at }),
            };
            taken.push((row, k as u32, id));
        }
        let matrix = matrix_of_cells(&classifiers, n_rows, taken)?;
        Ok(Self::from_matrix(classifiers, interner.labels, matrix))
    }

    /// A table whose parts fit together by construction.
    pub(crate) fn from_matrix(classifiers: Vec<String>, labels: Vec<Label>, matrix: LabelMatrix) -> Self {
        Self { classifiers, labels, matrix, candidates: None }
    }

    /// A table of candidate numbers: the id of a prediction is the number of its candidate.
    pub(crate) fn of_candidates(
        classifiers: Vec<String>,
        labels: Vec<Label>,
        matrix: LabelMatrix,
        normalise: Normalise,
    ) -> Self {
        Self { classifiers, labels, matrix, candidates: Some(normalise) }
    }

    /// How answers were compared if the labels are the candidate numbers of [open answers](crate::data::Answers).
    pub(crate) fn candidates(&self) -> Option<Normalise> {
        self.candidates
    }

    /// The classifiers' names.
    pub fn classifiers(&self) -> &[String] {
        &self.classifiers
    }

    /// Number of classifiers.
    pub fn n_classifiers(&self) -> usize {
        self.classifiers.len()
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.matrix.n_rows()
    }

    /// For each classifier, the number of distinct labels that it predicts.
    pub fn n_distinct_labels(&self) -> Vec<usize> {
        const FEW: usize = u64::BITS as usize - 1;
        if let Some(cells) = self.matrix.dense_cells().filter(|_| self.labels.len() <= FEW) {
            // A missing cell sets the last bit, which no label has.
            let mut seen = vec![0u64; self.n_classifiers()];
            for row in cells.chunks_exact(self.n_classifiers()) {
                seen.iter_mut().zip(row).for_each(|(seen, id)| *seen |= 1 << (id & 63));
            }
            return seen.iter().map(|seen| (seen << 1).count_ones() as usize).collect();
        }
        let mut n_distinct = vec![0; self.n_classifiers()];
        // A bit per classifier and label, unless these are more than the cells.
        let words = self.labels.len().div_ceil(64);
        let is_small = words.saturating_mul(self.n_classifiers()) <= self.bytes();
        let mut bits = vec![0u64; if is_small { words * self.n_classifiers() } else { 0 }];
        let mut pairs = HashSet::new();
        for row in self.matrix.rows() {
            row.for_each(|k, id| {
                let is_new = if is_small {
                    let (word, bit) = (&mut bits[k * words + usize::from(id) / 64], 1 << (id % 64));
                    let is_new = *word & bit == 0;
                    *word |= bit;
                    is_new
                } else {
                    pairs.insert((k, id))
                };
                n_distinct[k] += usize::from(is_new);
            });
        }
        n_distinct
    }

    /// Bytes that the predictions take in memory.
    pub fn bytes(&self) -> usize {
        self.matrix.bytes()
    }

    /// The prediction of `classifier` for `row` (both from 0), or none if it is missing.
    pub fn get(&self, row: usize, classifier: usize) -> Option<&Label> {
        (row < self.n_rows() && classifier < self.n_classifiers())
            .then(|| self.matrix.row(row).get(classifier))
            .flatten()
            .map(|id| &self.labels[usize::from(id)])
    }

    /// Calls `show(classifier, label)` for every prediction of a row (from 0), classifiers ascending. In a sparse table,
    /// missing cells cost nothing.
    pub fn for_each_prediction<'a>(&'a self, row: usize, mut show: impl FnMut(usize, &'a Label)) {
        if row < self.n_rows() {
            self.matrix.row(row).for_each(|k, id| show(k, &self.labels[usize::from(id)]));
        }
    }

    pub(crate) fn labels(&self) -> &[Label] {
        &self.labels
    }

    pub(crate) fn matrix(&self) -> &LabelMatrix {
        &self.matrix
    }

    pub(crate) fn into_matrix(self) -> LabelMatrix {
        self.matrix
    }
}

/// Puts the cells (row, classifier, id) in order; refuses two for the same classifier and row.
fn matrix_of_cells(
    classifiers: &[String],
    n_rows: usize,
    cells: Vec<(usize, u32, u16)>,
) -> Result<LabelMatrix, Error> {
    // A counting sort by row, since rows are many and the cells of each are few.
    let mut ends = vec![0; n_rows + 1];
    cells.iter().for_each(|cell| ends[cell.0 + 1] += 1);
    (0..n_rows).for_each(|row| ends[row + 1] += ends[row]);
    let mut by_row = vec![(0, 0); cells.len()];
    for (row, k, id) in cells {
        by_row[ends[row]] = (k, id);
        ends[row] += 1;
    }
    let mut matrix = LabelMatrix::empty(classifiers.len());
    let (mut columns, mut ids) = (Vec::new(), Vec::new());
    let mut start = 0;
    for (row, &end) in ends[..n_rows].iter().enumerate() {
        let cells = &mut by_row[start..end];
        start = end;
        cells.sort_unstable();
        if let Some(twice) = cells.windows(2).find(|two| two[0].0 == two[1].0) {
            let classifier = classifiers[twice[0].0 as usize].clone();
            return Err(Error::RepeatedCell { row: row + 1, classifier });
        }
        columns.clear();
        ids.clear();
        cells.iter().for_each(|&(k, id)| {
            columns.push(k);
            ids.push(id);
        });
        matrix.push(Row::Sparse(&columns, &ids));
    }
    Ok(matrix.settled())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{MISSING, Truth};

    #[test]
    fn cells_in_any_order_make_the_same_table_as_rows() {
        let labels = ["a", "never predicted", "b"].map(Label::from);
        let cells = [(1, 1, 2), (0, 0, 0), (1, 0, 0)];
        let table = Predictions::from_cells(["x", "y"], 3, &labels, cells).expect("distinct cells");
        let mut rows = Predictions::builder(["x", "y"]).expect("two names");
        for row in [[Some("a"), None], [Some("a"), Some("b")], [None, None]] {
            rows.push(row).expect("two cells");
        }
        let same = rows.finish();
        assert_eq!(table.matrix().bytes(), same.matrix().bytes());
        let label = |row, k| table.get(row, k).map(Label::to_string);
        assert!((0..3).all(|row| (0..2).all(|k| table.get(row, k) == same.get(row, k))));
        assert_eq!(label(0, 0).as_deref(), Some("a"));
        assert_eq!(label(0, 1), None);
        assert_eq!(label(1, 1).as_deref(), Some("b"));
        assert_eq!((label(2, 0), table.n_rows()), (None, 3));
        assert_eq!(table.labels().len(), 2, "labels without a cell are dropped");
        let mut shown = Vec::new();
        (0..4).for_each(|row| {
            table.for_each_prediction(row, |k, label| shown.push((row, k, label.to_string())));
        });
        assert_eq!(shown, [(0, 0, "a".to_owned()), (1, 0, "a".to_owned()), (1, 1, "b".to_owned())]);
    }

    #[test]
    fn a_table_of_ids_keeps_two_writings_of_one_label() {
        // The text and the integer are one label in two writings.
        let labels = vec![Label::from("1"), Label::from(1), Label::from("b")];
        let ids = vec![0, 2, MISSING, 1];
        let table = Predictions::from_ids(["x", "y"], labels.clone(), ids).expect("two rows");
        assert_eq!(table.get(0, 1).map(Label::to_string).as_deref(), Some("b"));
        assert_eq!((table.get(1, 0), table.get(1, 1)), (None, Some(&Label::from("1"))));
        let truth = Truth::from_ids(labels.clone(), vec![2, MISSING]).expect("two rows");
        assert_eq!((truth.n_rows(), truth.n_known(), truth.get(0)), (2, 1, Some(&labels[2])));

        let unknown = Predictions::from_ids(["x", "y"], labels.clone(), vec![0, 0, 0, 3]).err();
        assert_eq!(unknown, Some(Error::LabelId { row: 2, expected: 3, found: 3 }));
        let narrow = Predictions::from_ids(["x", "y"], labels.clone(), vec![0, 0, 0]).err();
        assert_eq!(narrow, Some(Error::RowWidth { row: 2, expected: 2, found: 1 }));
        let twice = Truth::from_ids(vec![labels[2].clone(); 2], vec![0]).err();
        assert_eq!(twice, Some(Error::DuplicateName { what: "labels", name: "b".into() }));
    }

    #[test]
    fn bad_tables_are_refused_with_their_place() {
        let labels = [Label::from("a")];
        let mut rows = Predictions::builder(["x", "y"]).expect("two names");
        let narrow = rows.push([Some("a")]);
        assert_eq!(narrow, Err(Error::RowWidth { row: 1, expected: 2, found: 1 }));
        assert_eq!(
            Predictions::builder(["x", "x"]).err(),
            Some(Error::DuplicateName { what: "classifiers", name: "x".into() })
        );
        assert_eq!(Predictions::builder([""; 0]).err(), Some(Error::NoClassifiers));
        let twice = Predictions::from_cells(["x"], 1, &labels, [(0, 0, 0), (0, 0, 0)]).err();
        assert_eq!(twice, Some(Error::RepeatedCell { row: 1, classifier: "x".into() }));
        let without_label = Predictions::from_cells(["x"], 2, &labels, [(1, 0, 1)]).err();
        assert_eq!(without_label, Some(Error::LabelId { row: 2, expected: 1, found: 1 }));
        let unknown = Predictions::from_ids(["x"], labels.to_vec(), vec![0, 1]).err();
        assert_eq!(unknown, Some(Error::LabelId { row: 2, expected: 1, found: 1 }));
    }

    #[test]
    fn a_sparse_table_costs_memory_for_its_cells_only() {
        let cells = (0..10_000).map(|t| (t, (t * 7) % 1_000, 0));
        let names: Vec<String> = (0..1_000).map(|k| k.to_string()).collect();
        let crowd = Predictions::from_cells(names, 10_000, &["a".into()], cells).expect("distinct cells");
        assert!(crowd.bytes() < 200_000, "{} bytes for 10 000 cells", crowd.bytes());
    }
}
