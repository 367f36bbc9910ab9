//! The metric of a regression: a matrix that its curvature never exceeds.
//!
//! The curvature of a softmax loss is at most half of the rows' products, whatever the weights, that of a logistic loss
//! at most a quarter (Böhning's bounds). Descent measured by the bound plus the penalty does not feel in which
//! units the features come.

use linfa_linalg::{
    cholesky::CholeskyInplace,
    triangular::{SolveTriangular, UPLO},
};
use ndarray::{Array2, Axis, Slice};
use rayon::prelude::*;

/// Columns whose products are taken together; a fixed number, so that sums do not depend on threads.
const BLOCK: usize = 64;

/// A factor of the inverse of the metric.
pub(super) struct Metric {
    /// The inverse of the lower triangle whose product with its transpose is the metric.
    inverse: Array2<f64>,
}

impl Metric {
    /// The metric `diag(penalty) + bound * design' design`.
    pub(super) fn new(design: &Array2<f64>, bound: f64, penalty: impl Fn(usize) -> f64) -> Self {
        let mut matrix = lower_products(design);
        matrix *= bound;
        for (at, entry) in matrix.diag_mut().iter_mut().enumerate() {
            // A little more than the bound, so that rounding in the products cannot make it indefinite.
            *entry = *entry * (1.0 + 1e-10) + penalty(at);
        }
        let factor = matrix.cholesky_into().expect("products of columns with a raised diagonal are positive");
        let inverse = factor.solve_triangular(&Array2::eye(factor.nrows()), UPLO::Lower);
        Self { inverse: inverse.expect("a factor is square and its diagonal positive") }
    }

    /// The direction of steepest ascent in this metric: its inverse times a gradient.
    pub(super) fn steepest(&self, gradient: &Array2<f64>) -> Array2<f64> {
        self.inverse.t().dot(&self.inverse.dot(gradient))
    }
}

/// The lower triangle of a matrix's products of columns.
fn lower_products(design: &Array2<f64>) -> Array2<f64> {
    let n_columns = design.ncols();
    let starts: Vec<usize> = (0..n_columns).step_by(BLOCK).collect();
    let strips: Vec<Array2<f64>> = starts
        .par_iter()
        .map(|&start| {
            let block = design.slice_axis(Axis(1), Slice::from(start..n_columns.min(start + BLOCK)));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::uniform;

    #[test]
    fn the_steepest_direction_undoes_the_metric() {
        let design =
            Array2::from_shape_fn((150, 70), |(row, column)| uniform(1, &[row as u64, column as u64]));
        let metric = Metric::new(&design, 0.5, |_| 1.0);
        let whole = design.t().dot(&design) * 0.5 + Array2::<f64>::eye(70);
        let steps =
            Array2::from_shape_fn((70, 2), |(row, column)| (row as f64 - 30.0) * (column as f64 + 1.0));
        let found = metric.steepest(&whole.dot(&steps));
        assert!((&found - &steps).iter().all(|miss| miss.abs() < 1e-6), "{}", &found - &steps);
    }
}
