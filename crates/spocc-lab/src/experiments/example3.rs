//! Example 3 of the paper: what the exponent of a t-norm does to three possibilities on three classes.

use spocc::fusion::{Exponent, t_norm};

/// Possibility degrees of three classes, in the distribution of three classifiers of which the last two agree.
const OPINIONS: [[f64; 3]; 3] = [[0.1, 0.25, 1.0], [0.4, 1.0, 0.4], [0.4, 1.0, 0.4]];

/// The paper's curve: exponents from 1 to 10, and the fused possibility of every class at each.
pub(crate) fn curve() -> Vec<(f64, [f64; 3])> {
    (0..=90).map(|step| at(1.0 + f64::from(step) / 10.0)).collect()
}

/// The product, the minimum, and some of what lies between.
pub(crate) fn landmarks() -> Vec<(f64, [f64; 3])> {
    [1.0, 2.0, 5.0, 10.0, f64::INFINITY].into_iter().map(at).collect()
}

fn at(exponent: f64) -> (f64, [f64; 3]) {
    let x = Exponent::try_from(exponent).expect("no exponent here is below 1");
    (exponent, [0, 1, 2].map(|class| t_norm(&OPINIONS.map(|distribution| distribution[class]), x)))
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
        // The first and third class gain, the second has one doubter only and stays.
        assert!(curve.windows(2).all(|pair| pair[0].1[0] < pair[1].1[0]));
        assert!(curve.iter().all(|(_, fused)| (fused[1] - 0.25).abs() < 1e-12));
        let third_wins = |fused: [f64; 3]| fused[2] > fused[1];
        assert!(!third_wins(curve[0].1) && third_wins(curve[90].1));
    }
}
