//! Matrices that are mostly zero, row by row, multiplied by dense ones in panels of a few columns.

use ndarray::{Array2, ArrayView1, ArrayView2, Axis};
use rayon::prelude::*;

/// Columns of a panel: their sums fit the registers.
const WIDTH: usize = 16;

/// A row of a panel.
type PanelRow = [f64; WIDTH];

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

    /// The product with a panel.
    pub(super) fn times(&self, panel: &[PanelRow]) -> Vec<PanelRow> {
        let row = |row| {
            let mut sums = [0.0; WIDTH];
            for &(column, value) in self.row(row) {
                sums.iter_mut().zip(&panel[column as usize]).for_each(|(sum, addend)| *sum += value * addend);
            }
            sums
        };
        (0..self.dim().0).map(row).collect()
    }
}

/// A matrix for another of `n_rows` rows, made panel by panel.
///
/// Every number is one sum in a fixed order, whatever the threads.
pub(super) fn by_panels(
    dense: ArrayView2<'_, f64>,
    n_rows: usize,
    through: impl Fn(&[PanelRow]) -> Vec<PanelRow> + Sync,
) -> Array2<f64> {
    let panels: Vec<ArrayView2<'_, f64>> = dense.axis_chunks_iter(Axis(1), WIDTH).collect();
    let panels: Vec<Vec<PanelRow>> =
        panels.into_par_iter().map(|panel| through(&panel_rows(panel))).collect();
    Array2::from_shape_fn((n_rows, dense.ncols()), |(row, column)| {
        panels[column / WIDTH][row][column % WIDTH]
    })
}

/// The rows of at most [`WIDTH`] columns, zeros behind them.
fn panel_rows(columns: ArrayView2<'_, f64>) -> Vec<PanelRow> {
    let panel_row = |row: ArrayView1<'_, f64>| {
        let mut panel_row = [0.0; WIDTH];
        panel_row.iter_mut().zip(row).for_each(|(to, from)| *to = *from);
        panel_row
    };
    columns.rows().into_iter().map(panel_row).collect()
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
        for width in [0, 1, WIDTH, WIDTH + 3] {
            let right = Array2::from_shape_fn((4, width), |(row, column)| (7 * row + column) as f64);
            assert_eq!(by_panels(right.view(), 3, |panel| sparse.times(panel)), dense.dot(&right));
            let right = Array2::from_shape_fn((width, 3), |(row, column)| (5 * row + column) as f64);
            let turned = sparse.transposed();
            assert_eq!(by_panels(right.t(), 4, |panel| turned.times(panel)), dense.t().dot(&right.t()));
        }
        assert_eq!(sparse.transposed().dim(), (4, 3));
    }
}
