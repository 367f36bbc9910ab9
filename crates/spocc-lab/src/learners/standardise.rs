//! Standardisation of features.

use ndarray::{Array2, Axis};

/// Gives every column zero mean and unit variance; a constant column becomes 0.
pub(crate) fn standardise(rows: &mut Array2<f64>) {
    let n_rows = rows.nrows() as f64;
    for mut column in rows.axis_iter_mut(Axis(1)) {
        let Some(&first) = column.first() else { continue };
        // Tested on the values, since rounding makes the variance of a constant column slightly positive.
        if column.iter().all(|&value| value == first) {
            column.fill(0.0);
            continue;
        }
        let mean = column.sum() / n_rows;
        column -= mean;
        let deviation = (column.dot(&column) / n_rows).sqrt();
        column /= deviation;
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn columns_are_centred_and_scaled_and_constants_become_zero() {
        let mut rows = array![[1.0, 0.1, -4.0], [3.0, 0.1, 0.0], [1.0, 0.1, 4.0], [3.0, 0.1, 0.0]];
        standardise(&mut rows);
        let side = 2.0f64.sqrt();
        let expected = array![[-1.0, 0.0, -side], [1.0, 0.0, 0.0], [-1.0, 0.0, side], [1.0, 0.0, 0.0]];
        assert!((&rows - &expected).iter().all(|miss| miss.abs() < 1e-15), "{rows}");
    }

    #[test]
    fn an_empty_matrix_is_unchanged() {
        let mut rows = Array2::zeros((0, 3));
        standardise(&mut rows);
        assert_eq!(rows.dim(), (0, 3));
    }
}
