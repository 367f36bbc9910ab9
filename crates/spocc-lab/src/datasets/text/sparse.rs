//! Matrices that are mostly zero, row by row, multiplied by dense ones.

use ndarray::{Array2, ArrayView2};

/// A sparse matrix.
pub(super) struct Sparse {
    n_columns: usize,
    /// Where every row starts among the entries, and after the last where it ends.
    starts: Vec<usize>,
    /// The columns and values of the entries.
    entries: Vec<(u32, f64)>,
}

impl Sparse {
    pub(super) fn from_rows(rows: &[Vec<(u32, f64)>], n_columns: usize) -> Self {
        let ends = rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        });
        let starts = std::iter::once(0).chain(ends).collect();
        Self { n_columns, starts, entries: rows.concat() }
    }

    pub(super) fn dim(&self) -> (usize, usize) {
        (self.starts.len() - 1, self.n_columns)
    }

    pub(super) fn row(&self, row: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[row]..self.starts[row + 1]]
    }

    pub(super) fn transposed(&self) -> Self {
        let (n_rows, n_columns) = self.dim();
        let mut starts = vec![0; n_columns + 1];
        for &(column, _) in &self.entries {
            starts[column as usize + 1] += 1;
        }
        for column in 0..n_columns {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); self.entries.len()];
        for row in 0..n_rows {
            for &(column, value) in self.row(row) {
                entries[next[column as usize]] = (row as u32, value);
                next[column as usize] += 1;
            }
        }
        Self { n_columns: n_rows, starts, entries }
    }

    /// The product with a dense matrix.
    pub(super) fn times(&self, dense: ArrayView2<'_, f64>) -> Array2<f64> {
        let (n_rows, width) = (self.dim().0, dense.ncols());
        let mut product = Array2::zeros((n_rows, width));
        let dense = dense.as_standard_layout();
        let dense = dense.as_slice().expect("the standard layout is one slice");
        for (row, mut sums) in product.rows_mut().into_iter().enumerate() {
            let sums = sums.as_slice_mut().expect("rows of a new matrix are slices");
            for &(column, value) in self.row(row) {
                let addends = &dense[column as usize * width..][..width];
                sums.iter_mut().zip(addends).for_each(|(sum, addend)| *sum += value * addend);
            }
        }
        product
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn products_and_transposes_equal_the_dense_ones() {
        let dense: Array2<f64> = array![[0.0, 2.0, 0.0, 1.0], [0.0; 4], [3.0, 0.0, 0.0, -1.0]];
        let rows = vec![vec![(1, 2.0), (3, 1.0)], vec![], vec![(0, 3.0), (3, -1.0)]];
        let sparse = Sparse::from_rows(&rows, 4);
        let right = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]];
        assert_eq!(sparse.times(right.view()), dense.dot(&right));
        let left = array![[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]];
        assert_eq!(sparse.transposed().times(left.t()), dense.t().dot(&left.t()));
        assert_eq!(sparse.transposed().dim(), (4, 3));
    }
}
