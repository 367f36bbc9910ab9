//! Example 3 of the paper: the effect of the t-norm exponent on three possibility distributions over three classes.

use spocc::fusion::{Exponent, t_norm};

/// The possibility distributions of three classifiers, of which the last two are equal.
const DISTRIBUTIONS: [[f64; 3]; 3] = [[0.1, 0.25, 1.0], [0.4, 1.0, 0.4], [0.4, 1.0, 0.4]];

/// The paper's curve: exponents from 1 to 10, each with the fused possibility of every class.
pub(crate) fn curve() -> Vec<(f64, [f64; 3])> {
    (0..=90).map(|step| at(1.0 + f64::from(step) / 10.0)).collect()
}

/// The product, the minimum, and some exponents in between.
pub(crate) fn landmarks() -> Vec<(f64, [f64; 3])> {
    [1.0, 2.0, 5.0, 10.0, f64::INFINITY].into_iter().map(at).collect()
}

fn at(exponent: f64) -> (f64, [f64; 3]) {
    let x = Exponent::try_from(exponent).expect("no exponent here is below 1");
    (exponent, [0, 1, 2].map(|class| t_norm(&DISTRIBUTIONS.map(|distribution| distribution[class]), x)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_runs_from_the_product_towards_the_minimum() {
        let curve = curve();
        for (fused, expected) in [(curve[0].1, [0.016, 0.25, 0.16]), (landmarks()[4].1, [0.1, 0.25, 0.4])] {
            assert!(fused.iter().zip(expected).all(|(degree, expected)| (degree - expected).abs() < 1e-12));
        }
        // The first and third class gain; the second is constant, because only one classifier gives it less than 1.
        assert!(curve.windows(2).all(|pair| pair[0].1[0] < pair[1].1[0]));
        assert!(curve.iter().all(|(_, fused)| (fused[1] - 0.25).abs() < 1e-12));
        let third_is_largest = |fused: [f64; 3]| fused[2] > fused[1];
        assert!(!third_is_largest(curve[0].1) && third_is_largest(curve[90].1));
    }
}
