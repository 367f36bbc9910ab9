//! The preconditioner of a regression: an approximation of the Hessian at the current point.
//!
//! Outputs are treated as independent with equal curvature, the mean over outputs. The preconditioned descent does not
//! depend on the units of the features.

use linfa_linalg::{
    cholesky::CholeskyInplace,
    triangular::{SolveTriangular, UPLO},
};
use ndarray::{Array2, ArrayView2, Axis, Slice, concatenate};
use rayon::prelude::*;

/// Columns whose products are computed together; fixed, so that sums do not depend on the number of threads.
const BLOCK: usize = 64;

/// A factor of the inverse of the approximate Hessian.
pub(super) struct Metric {
    /// The inverse of the lower triangle whose product with its transpose is the approximate Hessian.
    inverse: Array2<f64>,
}

impl Metric {
    /// The metric `diag(penalty) + design' diag(weights) design`.
    pub(super) fn new(design: &Array2<f64>, weights: &[f64], penalty: impl Fn(usize) -> f64) -> Self {
        let mut matrix = lower_products(design, weights);
        for (at, entry) in matrix.diag_mut().iter_mut().enumerate() {
            // Slightly enlarged, so that rounding in the products cannot make it indefinite.
            *entry = *entry * (1.0 + 1e-10) + penalty(at);
        }
        Self { inverse: inverse_factor(matrix.view()) }
    }

    /// The direction of steepest ascent in this metric: its inverse times a gradient.
    pub(super) fn steepest(&self, gradient: &Array2<f64>) -> Array2<f64> {
        self.inverse.t().dot(&self.inverse.dot(gradient))
    }
}

/// The lower triangle of a matrix's weighted products of columns.
fn lower_products(design: &Array2<f64>, weights: &[f64]) -> Array2<f64> {
    let n_columns = design.ncols();
    let starts: Vec<usize> = (0..n_columns).step_by(BLOCK).collect();
    let strips: Vec<Array2<f64>> = starts
        .par_iter()
        .map(|&start| {
            let end = n_columns.min(start + BLOCK);
            let mut block = design.slice_axis(Axis(1), Slice::from(start..end)).to_owned();
            block.outer_iter_mut().zip(weights).for_each(|(mut row, &weight)| row *= weight);
            design.slice_axis(Axis(1), Slice::from(start..)).t().dot(&block)
        })
        .collect();
    let mut products = Array2::zeros((n_columns, n_columns));
    for (start, strip) in starts.into_iter().zip(strips) {
        let mut columns = products.slice_axis_mut(Axis(1), Slice::from(start..start + strip.ncols()));
        columns.slice_axis_mut(Axis(0), Slice::from(start..)).assign(&strip);
    }
    products
}

/// The inverse of the lower Cholesky factor of a positive matrix, of which only the lower triangle is read.
///
/// Recursive by halves, so that nearly all work is in matrix products.
fn inverse_factor(matrix: ArrayView2<'_, f64>) -> Array2<f64> {
    let size = matrix.nrows();
    if size <= BLOCK {
        let factor = matrix.to_owned().cholesky_into().expect("a matrix with a raised diagonal is positive");
        let inverse = factor.solve_triangular(&Array2::eye(size), UPLO::Lower);
        return inverse.expect("a factor is square and its diagonal positive");
    }
    let (upper, lower) = matrix.split_at(Axis(0), size / 2);
    let (first, _) = upper.split_at(Axis(1), size / 2);
    let (across, last) = lower.split_at(Axis(1), size / 2);
    let first = inverse_factor(first);
    let across = across.dot(&first.t());
    let last = inverse_factor((&last - &across.dot(&across.t())).view());
    let across = -last.dot(&across.dot(&first));
    let upper = concatenate![Axis(1), first, Array2::zeros((first.nrows(), last.ncols()))];
    concatenate![Axis(0), upper, concatenate![Axis(1), across, last]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::uniform;

    #[test]
    fn the_preconditioner_inverts_the_approximate_hessian() {
        let draw = |row: usize, column: usize| uniform(1, &[row as u64, column as u64]);
        let design =
            Array2::from_shape_fn((250, 201), |(row, column)| draw(row, column) * (column + 1) as f64);
        let weights: Vec<f64> = (0..250).map(|row| draw(row, 999)).collect();
        let metric = Metric::new(&design, &weights, |at| f64::from(u8::from(at > 0)));
        let weighted = &design.t() * &ndarray::aview1(&weights);
        let mut whole = weighted.dot(&design) + Array2::<f64>::eye(201);
        whole[[0, 0]] -= 1.0;
        let steps =
            Array2::from_shape_fn((201, 2), |(row, column)| (row as f64 - 30.0) * (column as f64 + 1.0));
        let found = metric.steepest(&whole.dot(&steps));
        assert!((&found - &steps).iter().all(|miss| miss.abs() < 1e-4), "{}", &found - &steps);
    }
}
