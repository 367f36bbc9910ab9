//! The label ids of a table, rows x classifiers: dense or sparse, whichever is smaller.

use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
};

use serde::{Deserialize, Serialize};

use crate::{data::MISSING, error::Error, hash};

/// Bytes of a cell with a prediction in a sparse matrix: column and id.
const SPARSE_CELL: usize = 6;
/// Bytes of any cell in a dense matrix.
const DENSE_CELL: usize = 2;
/// Bytes of a row in a sparse matrix: where it starts.
const SPARSE_ROW: usize = 8;

/// A matrix of label ids, or [`MISSING`]. Its form is a function of its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LabelMatrix {
    width: usize,
    cells: MatrixCells,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum MatrixCells {
    /// Row after row, missing cells included.
    Dense(Vec<u16>),
    /// Only the predictions: `columns` and `ids` of row t are at `starts[t]..starts[t + 1]`, columns ascending.
    Sparse { starts: Vec<usize>, columns: Vec<u32>, ids: Vec<u16> },
}

/// One row of a matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row<'a> {
    Dense(&'a [u16]),
    Sparse(&'a [u32], &'a [u16]),
}

impl<'a> Row<'a> {
    /// Calls `f(classifier, predicted)` for every prediction, classifiers ascending.
    #[inline]
    pub(crate) fn for_each(self, mut f: impl FnMut(usize, u16)) {
        match self {
            Row::Dense(cells) => {
                for (k, &j) in cells.iter().enumerate() {
                    if j != MISSING {
                        f(k, j);
                    }
                }
            }
            Row::Sparse(columns, ids) => columns.iter().zip(ids).for_each(|(&k, &j)| f(k as usize, j)),
        }
    }

    /// Number of classifiers that answered the row.
    pub(crate) fn n_answered(self) -> usize {
        match self {
            Row::Dense(cells) => cells.iter().filter(|&&j| j != MISSING).count(),
            Row::Sparse(_, ids) => ids.len(),
        }
    }

    /// The prediction of classifier `k`, or none if it is missing.
    pub(crate) fn get(self, k: usize) -> Option<u16> {
        match self {
            Row::Dense(cells) => Some(cells[k]).filter(|&j| j != MISSING),
            Row::Sparse(columns, ids) => columns.binary_search(&(k as u32)).ok().map(|at| ids[at]),
        }
    }

    /// The row with its missing cells.
    pub(crate) fn to_dense(self, width: usize) -> Vec<u16> {
        let mut cells = vec![MISSING; width];
        self.for_each(|k, j| cells[k] = j);
        cells
    }

    /// A hash of all (classifier, predicted) of the row, the same for both forms and on every machine.
    pub(crate) fn fixed_hash(self, seed: u64) -> u64 {
        let mut hash = seed;
        self.for_each(|k, j| hash = hash::mix(hash, (k as u64) << 16 | u64::from(j)));
        hash
    }

    /// The order of dense rows, in which a missing cell comes after every id.
    pub(crate) fn cmp(self, other: Row<'a>) -> Ordering {
        match (self, other) {
            (Row::Dense(a), Row::Dense(b)) => a.cmp(b),
            (Row::Sparse(ak, aj), Row::Sparse(bk, bj)) => {
                let a = ak.iter().zip(aj);
                let b = bk.iter().zip(bj);
                for (x, y) in a.zip(b) {
                    match x.cmp(&y) {
                        Ordering::Equal => {}
                        unequal => return unequal,
                    }
                }
                // The longer row has a prediction where the other has none.
                bk.len().cmp(&ak.len())
            }
            (Row::Dense(cells), sparse @ Row::Sparse(..)) => {
                cells.cmp(sparse.to_dense(cells.len()).as_slice())
            }
            (sparse @ Row::Sparse(..), Row::Dense(cells)) => {
                sparse.to_dense(cells.len()).as_slice().cmp(cells)
            }
        }
    }
}

impl PartialEq for Row<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(*other).is_eq()
    }
}

impl Eq for Row<'_> {}

impl Hash for Row<'_> {
    /// The same for both forms.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.for_each(|k, j| state.write_u64((k as u64) << 16 | u64::from(j)));
    }
}

/// Sorts the cells of a sparse row and adds those of `if_missing`, (column, id) of missing cells that are answers, in
/// the columns that have no cell.
pub(crate) fn sort_with_missing(cells: &mut Vec<(u32, u16)>, if_missing: &[(u32, u16)]) {
    cells.sort_unstable();
    let n_predictions = cells.len();
    for cell in if_missing {
        if cells[..n_predictions].binary_search_by_key(&cell.0, |cell| cell.0).is_err() {
            cells.push(*cell);
        }
    }
    if cells.len() > n_predictions {
        cells.sort_unstable();
    }
}

impl LabelMatrix {
    pub(crate) fn empty(width: usize) -> Self {
        Self { width, cells: MatrixCells::Dense(Vec::new()) }
    }

    /// A matrix from all its cells, row after row.
    pub(crate) fn from_cells(width: usize, cells: Vec<u16>) -> Self {
        Self { width, cells: MatrixCells::Dense(cells) }.settled()
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn n_rows(&self) -> usize {
        match &self.cells {
            MatrixCells::Dense(cells) => cells.len() / self.width,
            MatrixCells::Sparse { starts, .. } => starts.len() - 1,
        }
    }

    /// Bytes that the cells take.
    pub(crate) fn bytes(&self) -> usize {
        match &self.cells {
            MatrixCells::Dense(cells) => cells.len() * DENSE_CELL,
            MatrixCells::Sparse { starts, ids, .. } => ids.len() * SPARSE_CELL + starts.len() * SPARSE_ROW,
        }
    }

    /// All cells, row after row, if the matrix is dense.
    pub(crate) fn dense_cells(&self) -> Option<&[u16]> {
        match &self.cells {
            MatrixCells::Dense(cells) => Some(cells),
            MatrixCells::Sparse { .. } => None,
        }
    }

    pub(crate) fn is_dense(&self) -> bool {
        matches!(self.cells, MatrixCells::Dense(_))
    }

    #[expect(
        clippy::inline_always,
        reason = "lets the compiler move the test of the form out of loops over rows"
    )]
    #[inline(always)]
    pub(crate) fn row(&self, row: usize) -> Row<'_> {
        match &self.cells {
            MatrixCells::Dense(cells) => Row::Dense(&cells[row * self.width..(row + 1) * self.width]),
            MatrixCells::Sparse { starts, columns, ids } => {
                let range = starts[row]..starts[row + 1];
                Row::Sparse(&columns[range.clone()], &ids[range])
            }
        }
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.n_rows()).map(|row| self.row(row))
    }

    /// Appends a row; the form may change on the way.
    pub(crate) fn push(&mut self, row: Row<'_>) {
        match (&mut self.cells, row) {
            (MatrixCells::Dense(cells), Row::Dense(row)) => cells.extend_from_slice(row),
            (MatrixCells::Dense(cells), sparse @ Row::Sparse(..)) => {
                let start = cells.len();
                cells.resize(start + self.width, MISSING);
                sparse.for_each(|k, j| cells[start + k] = j);
            }
            (MatrixCells::Sparse { starts, columns, ids }, row) => {
                row.for_each(|k, j| {
                    columns.push(k as u32);
                    ids.push(j);
                });
                starts.push(ids.len());
            }
        }
        // A wide table with few predictions must not grow dense first and shrink later.
        if self.is_dense() && self.n_rows().is_power_of_two() {
            *self = std::mem::replace(self, Self::empty(1)).settled();
        }
    }

    /// Appends the cells of whole rows.
    pub(crate) fn extend(&mut self, cells: impl ExactSizeIterator<Item = u16>) {
        let rows = self.n_rows();
        if let MatrixCells::Dense(own) = &mut self.cells {
            own.extend(cells);
            // As when rows are appended one by one: choose the form again each time the number of rows doubles.
            if self.n_rows().checked_ilog2() != rows.checked_ilog2() {
                *self = std::mem::replace(self, Self::empty(1)).settled();
            }
            return;
        }
        let (mut row, width) = (Vec::with_capacity(self.width), self.width);
        for cell in cells {
            row.push(cell);
            if row.len() == width {
                self.push(Row::Dense(&row));
                row.clear();
            }
        }
    }

    /// The same matrix in its smaller form.
    pub(crate) fn settled(self) -> Self {
        let rows = self.n_rows();
        let filled: usize = match &self.cells {
            // Counted in pieces so short that 16 bits hold the sum, which vectorises well.
            MatrixCells::Dense(cells) => cells
                .chunks(1 << 14)
                .map(|cells| usize::from(cells.iter().map(|j| u16::from(*j != MISSING)).sum::<u16>()))
                .sum(),
            MatrixCells::Sparse { ids, .. } => ids.len(),
        };
        let sparse_is_smaller =
            filled * SPARSE_CELL + (rows + 1) * SPARSE_ROW < rows * self.width * DENSE_CELL;
        if sparse_is_smaller != self.is_dense() {
            return self;
        }
        let mut cells = if sparse_is_smaller {
            MatrixCells::Sparse {
                starts: vec![0],
                columns: Vec::with_capacity(filled),
                ids: Vec::with_capacity(filled),
            }
        } else {
            MatrixCells::Dense(Vec::with_capacity(rows * self.width))
        };
        for row in self.rows() {
            match &mut cells {
                MatrixCells::Dense(cells) => cells.extend(row.to_dense(self.width)),
                MatrixCells::Sparse { starts, columns, ids } => {
                    row.for_each(|k, j| {
                        columns.push(k as u32);
                        ids.push(j);
                    });
                    starts.push(ids.len());
                }
            }
        }
        Self { width: self.width, cells }
    }

    /// Replaces every id by `map[id]`; a missing cell stays missing.
    pub(crate) fn relabel(&mut self, map: &[u16]) {
        let ids = match &mut self.cells {
            MatrixCells::Dense(cells) => cells,
            MatrixCells::Sparse { ids, .. } => ids,
        };
        ids.iter_mut().filter(|id| **id != MISSING).for_each(|id| *id = map[usize::from(*id)]);
    }

    /// Refuses a matrix of which the parts do not fit together or an id is `n_labels` or more.
    pub(crate) fn check(&self, width: usize, n_labels: usize) -> Result<(), Error> {
        let wrong = |found: &str| {
            Err(Error::Inconsistent { expected: "a matrix of known labels", found: found.to_owned() })
        };
        let known = |id: &u16| usize::from(*id) < n_labels;
        if self.width != width || width == 0 {
            return wrong("another number of classifiers");
        }
        match &self.cells {
            MatrixCells::Dense(cells) if !cells.len().is_multiple_of(width) => return wrong("half a row"),
            MatrixCells::Dense(cells) if !cells.iter().all(|id| *id == MISSING || known(id)) => {
                return wrong("an unknown label");
            }
            MatrixCells::Dense(_) => {}
            MatrixCells::Sparse { starts, columns, ids } => {
                let ordered =
                    starts.first() == Some(&0) && starts.is_sorted() && starts.last() == Some(&ids.len());
                if !ordered || columns.len() != ids.len() || !ids.iter().all(known) {
                    return wrong("an unknown label or a broken row");
                }
                let ascending = |at: &[usize]| columns[at[0]..at[1]].is_sorted_by(|a, b| a < b);
                if !starts.windows(2).all(ascending) || columns.iter().any(|k| *k as usize >= width) {
                    return wrong("an unknown classifier");
                }
            }
        }
        if self.clone().settled() == *self { Ok(()) } else { wrong("the larger of its two forms") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_depends_on_the_number_of_predictions() {
        let full = LabelMatrix::from_cells(4, vec![1; 40]);
        assert!(full.is_dense());
        let mut wide = LabelMatrix::empty(1000);
        for t in 0..200 {
            wide.push(Row::Sparse(&[t, t + 1], &[0, 1]));
        }
        let wide = wide.settled();
        assert!(!wide.is_dense());
        assert_eq!(wide.bytes(), 200 * 2 * SPARSE_CELL + 201 * SPARSE_ROW);
        assert_eq!(wide.row(7).get(8), Some(1));
        assert_eq!(wide.row(7).get(9), None);
    }

    #[test]
    fn both_forms_agree_on_order_and_hash() {
        let rows = [[0, MISSING, 2], [0, 1, MISSING], [MISSING, MISSING, 1], [MISSING, MISSING, MISSING]];
        let sparse: Vec<(Vec<u32>, Vec<u16>)> =
            rows.iter().map(|row| (0..).zip(row).filter(|(_, id)| **id != MISSING).unzip()).collect();
        for (a, (ak, aj)) in rows.iter().zip(&sparse) {
            assert_eq!(Row::Dense(a).fixed_hash(7), Row::Sparse(ak, aj).fixed_hash(7));
            for (b, (bk, bj)) in rows.iter().zip(&sparse) {
                let dense = Row::Dense(a).cmp(Row::Dense(b));
                assert_eq!(dense, Row::Sparse(ak, aj).cmp(Row::Sparse(bk, bj)));
                assert_eq!(dense, Row::Dense(a).cmp(Row::Sparse(bk, bj)));
                assert_eq!(dense, Row::Sparse(ak, aj).cmp(Row::Dense(b)));
            }
        }
    }
}
