//! Principal components by subspace iteration with Chebyshev filters and Rayleigh-Ritz projection.

use linfa_linalg::eigh::{EigSort, Eigh};
use ndarray::{Array1, Array2, ArrayView2, Axis, Slice};
use rand::Rng;
use rand_distr::StandardNormal;

use crate::random::stream;

/// Largest residual of an eigenvector, relative to the largest eigenvalue.
const TOLERANCE: f64 = 1e-10;

/// The largest number of iterations.
const MAX_ROUNDS: usize = 500;

/// The largest amplification of the first direction over the last; more would lose their angle to rounding.
const MAX_LIFT: f64 = 1e7;

/// The direction of unit length along which rows vary most, its entry of largest magnitude positive.
pub(crate) fn first_component(rows: ArrayView2<'_, f64>) -> Array1<f64> {
    let centred = match rows.mean_axis(Axis(0)) {
        Some(mean) => &rows - &mean,
        None => rows.to_owned(),
    };
    let spread = |block: ArrayView2<'_, f64>| centred.t().dot(&centred.dot(&block));
    leading(rows.ncols(), 1, 0, spread).1.column(0).to_owned()
}

/// The `k` largest eigenvalues of a symmetric operator without negative ones, and their vectors as columns.
///
/// `apply` gives the operator's value on every column of a block of `dim` rows. Vectors have unit length and their
/// entry of largest magnitude is positive.
pub(crate) fn leading(
    dim: usize,
    k: usize,
    seed: u64,
    apply: impl Fn(ArrayView2<'_, f64>) -> Array2<f64>,
) -> (Vec<f64>, Array2<f64>) {
    let k = k.min(dim);
    // More directions than requested, because the eigenvalue gap after the last one determines convergence.
    let width = (k + k / 4 + 4).min(dim);
    let mut draws = stream(seed, &[]);
    let mut basis = orthonormal(Array2::from_shape_simple_fn((dim, width), || draws.sample(StandardNormal)));
    let mut values = Array1::zeros(width);
    for _ in 0..MAX_ROUNDS {
        let image = apply(basis.view());
        let (sorted, turn) = principal_axes(&basis.t().dot(&image));
        values = sorted;
        basis = basis.dot(&turn);
        let image = image.dot(&turn);
        let missed = &image - &(&basis * &values);
        let worst =
            missed.axis_iter(Axis(1)).take(k).map(|column| column.dot(&column).sqrt()).fold(0.0, f64::max);
        if worst <= TOLERANCE * values[0] {
            break;
        }
        basis = orthonormal(filter(&basis, image, &values, &apply));
    }
    let mut vectors = basis.slice_axis(Axis(1), Slice::from(..k)).to_owned();
    vectors.axis_iter_mut(Axis(1)).for_each(|mut column| {
        let largest =
            column.iter().fold(0.0f64, |best, &entry| if entry.abs() > best.abs() { entry } else { best });
        if largest < 0.0 {
            column.mapv_inplace(|entry| -entry);
        }
    });
    (values.iter().take(k).copied().collect(), vectors)
}

/// A Chebyshev polynomial of the operator, on a basis whose image is known.
///
/// It stays between -1 and 1 on eigenvalues up to the least of the block and grows steeply above.
fn filter(
    basis: &Array2<f64>,
    image: Array2<f64>,
    values: &Array1<f64>,
    apply: impl Fn(ArrayView2<'_, f64>) -> Array2<f64>,
) -> Array2<f64> {
    let first = values[0];
    let bound = values.iter().fold(first, |least, &value| least.min(value)).max(first / MAX_LIFT);
    let degree = (MAX_LIFT.acosh() / (2.0 * first / bound - 1.0).max(1.0).acosh()).clamp(1.0, 10.0) as usize;
    let mut before = basis.clone();
    let mut now = image * (2.0 / bound) - basis;
    for _ in 1..degree {
        let next = (apply(now.view()) * (2.0 / bound) - &now) * 2.0 - &before;
        before = std::mem::replace(&mut now, next);
    }
    now
}

/// An orthonormal basis of the same space.
///
/// By the eigenvectors of the products of the columns; twice, because the first pass squares their condition.
fn orthonormal(mut block: Array2<f64>) -> Array2<f64> {
    for _ in 0..2 {
        block.axis_iter_mut(Axis(1)).for_each(|mut column| {
            let length = column.dot(&column).sqrt();
            if length > 0.0 {
                column /= length;
            }
        });
        let (values, turn) = principal_axes(&block.t().dot(&block));
        let least = values[0] * f64::EPSILON;
        block = block.dot(&turn) / &values.mapv(|value| value.max(least).sqrt());
    }
    block
}

/// Eigenvalues of a small symmetric matrix, largest first, and their vectors.
fn principal_axes(matrix: &Array2<f64>) -> (Array1<f64>, Array2<f64>) {
    let symmetric = (matrix + &matrix.t()) / 2.0;
    symmetric.eigh().expect("the matrix is square").sort_eig_desc()
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn the_first_component_follows_the_spread_and_points_up() {
        let rows = array![[0.0, 10.0], [1.0, 8.0], [2.0, 6.0], [3.0, 4.0]];
        let found = first_component(rows.view());
        let expected = array![-1.0, 2.0] / 5.0f64.sqrt();
        assert!((&found - &expected).iter().all(|miss| miss.abs() < 1e-12), "{found}");
    }

    #[test]
    fn eigenvalues_of_a_slowly_falling_spectrum_are_found() {
        let dim = 300;
        let spectrum = Array1::from_shape_fn(dim, |at| 0.98f64.powi(at as i32));
        // A reflection, so that the vectors are known and have no zeros.
        let mirror = Array1::from_shape_fn(dim, |at| 1.0 + (at % 7) as f64);
        let mirror = &mirror / mirror.dot(&mirror).sqrt();
        let reflect = |block: ArrayView2<'_, f64>| {
            let along = mirror.dot(&block);
            &block - &(&mirror.view().insert_axis(Axis(1)) * &along.insert_axis(Axis(0)) * 2.0)
        };
        let apply = |block: ArrayView2<'_, f64>| {
            reflect((reflect(block) * spectrum.view().insert_axis(Axis(1))).view())
        };
        let (values, vectors) = leading(dim, 20, 7, apply);
        for (at, value) in values.iter().enumerate() {
            assert!((value - spectrum[at]).abs() < 1e-12, "{at}: {value}");
        }
        let expected = reflect(Array2::eye(dim).slice_axis(Axis(1), Slice::from(..20)));
        let overlap = vectors.t().dot(&expected);
        for at in 0..20 {
            assert!((overlap[[at, at]].abs() - 1.0).abs() < 1e-12, "{at}: {}", overlap[[at, at]]);
        }
    }

    #[test]
    fn an_operator_of_low_rank_is_solved() {
        let direction = Array1::from_shape_fn(50, |at| (at as f64).sin());
        let column = direction.view().insert_axis(Axis(1));
        let (values, vectors) = leading(50, 2, 1, |block| column.dot(&column.t().dot(&block)));
        let length = direction.dot(&direction);
        assert!((values[0] - length).abs() < 1e-10 && values[1].abs() < 1e-10, "{values:?}");
        assert!((vectors.column(0).dot(&direction).abs() - length.sqrt()).abs() < 1e-10);
    }

    #[test]
    fn rows_without_spread_still_have_a_direction() {
        let found = first_component(Array2::ones((3, 4)).view());
        assert!((found.dot(&found) - 1.0).abs() < 1e-12, "{found}");
    }
}
