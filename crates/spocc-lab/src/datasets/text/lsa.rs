//! Latent semantic analysis: the leading singular directions of the weights.

use ndarray::{Array2, ArrayView2};

use super::sparse::{Sparse, by_panels};
use crate::learners::leading;

/// Starts the search for the directions, which does not depend on it but for rounding.
const SEED: u64 = 20;

/// Every row as seen from the leading right singular vectors, the first ones first: U S of U S V'.
///
/// Rows are not scaled afterwards, as scikit-learn's truncated decomposition leaves them. Works on the smaller
/// of the two Gram matrices, without making it. There are fewer columns than asked for if the matrix has fewer.
pub(super) fn reduce(weights: &Sparse, n_features: usize) -> Array2<f64> {
    let (n_rows, n_columns) = weights.dim();
    let n_features = n_features.min(n_rows).min(n_columns);
    if n_features == 0 {
        return Array2::zeros((n_rows, 0));
    }
    let turned = weights.transposed();
    if n_rows <= n_columns {
        let gram = |block: ArrayView2<'_, f64>| {
            by_panels(block, n_rows, |panel| weights.times(&turned.times(panel)))
        };
        let (squares, mut left) = leading(n_rows, n_features, SEED, gram);
        for (mut direction, square) in left.columns_mut().into_iter().zip(squares) {
            direction *= square.max(0.0).sqrt();
        }
        left
    } else {
        let gram = |block: ArrayView2<'_, f64>| {
            by_panels(block, n_columns, |panel| turned.times(&weights.times(panel)))
        };
        let (_, right) = leading(n_columns, n_features, SEED, gram);
        by_panels(right.view(), n_rows, |panel| weights.times(panel))
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Axis, array};

    use super::*;

    const TOLERANCE: f64 = 1e-6;

    fn sparse(dense: &Array2<f64>) -> Sparse {
        let rows = dense.rows().into_iter().map(|row| (0..).zip(row.iter().copied()).collect());
        Sparse::from_rows(&rows.collect::<Vec<_>>(), dense.ncols())
    }

    #[track_caller]
    fn equal_up_to_sign(found: &Array2<f64>, expected: &Array2<f64>) {
        assert_eq!(found.dim(), expected.dim());
        for (found, expected) in found.columns().into_iter().zip(expected.columns()) {
            let sign = found.dot(&expected).signum();
            let difference = (&found * sign - expected).iter().map(|value| value.abs()).fold(0.0, f64::max);
            assert!(difference < TOLERANCE, "{found} is not {expected}");
        }
    }

    fn first(n_columns: usize, matrix: &Array2<f64>) -> Array2<f64> {
        matrix.slice_axis(Axis(1), (..n_columns).into()).to_owned()
    }

    /// Three singular values, 6, 3 and 1, between orthogonal vectors that can be checked by eye.
    fn known() -> (Array2<f64>, Array2<f64>) {
        let left = array![[1.0, 1.0, 1.0], [1.0, 1.0, -1.0], [1.0, -1.0, 1.0], [1.0, -1.0, -1.0]] / 2.0;
        let right = array![[1.0, 2.0, 2.0], [2.0, 1.0, -2.0], [2.0, -2.0, 1.0]] / 3.0;
        let scaled = left * array![6.0, 3.0, 1.0];
        (scaled.dot(&right), scaled)
    }

    #[test]
    fn a_tall_matrix_is_reduced_to_its_exact_decomposition() {
        let (matrix, scaled) = known();
        equal_up_to_sign(&reduce(&sparse(&matrix), 2), &first(2, &scaled));
        equal_up_to_sign(&reduce(&sparse(&matrix), 100), &scaled);
    }

    #[test]
    fn a_wide_matrix_is_reduced_to_its_exact_decomposition() {
        let right = array![[0.6, 0.8, 0.0, 0.0], [0.0, 0.0, 0.6, 0.8]];
        let scaled = array![[0.8, -0.6], [0.6, 0.8]] * array![5.0, 2.0];
        equal_up_to_sign(&reduce(&sparse(&scaled.dot(&right)), 2), &scaled);
        equal_up_to_sign(&reduce(&sparse(&scaled.dot(&right)), 1), &first(1, &scaled));
    }

    #[test]
    fn a_text_without_words_stays_at_the_origin() {
        let weights = Sparse::from_rows(&[vec![(0, 1.0)], vec![], vec![(1, 0.6), (2, 0.8)]], 3);
        let rows = reduce(&weights, 2);
        assert!(rows.row(1).iter().all(|value| value.abs() < TOLERANCE), "{rows}");
        assert_eq!(reduce(&Sparse::from_rows(&vec![vec![]; 5], 0), 2).dim(), (5, 0));
    }
}
