//! Example 3 of the paper: what the exponent of a t-norm does to three opinions on three classes.

use serde::Serialize;
use spocc::{Exponent, t_norm};

use crate::error::Error;

/// Possibility degrees of three classes, in the opinion of three classifiers of which the last two agree.
const OPINIONS: [[f64; 3]; 3] = [[0.1, 0.25, 1.0], [0.4, 1.0, 0.4], [0.4, 1.0, 0.4]];

/// The fused possibility of every class at one exponent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Fused {
    /// From 1, the product, towards infinity, the minimum.
    pub(crate) exponent: f64,
    pub(crate) possibility: [f64; 3],
}

/// The paper's curve: exponents from 1 to 10.
pub(crate) fn curve() -> Result<Vec<Fused>, Error> {
    (0..=90).map(|step| at(1.0 + f64::from(step) / 10.0)).collect()
}

/// The product, the paper's 5, and the minimum.
pub(crate) fn landmarks() -> Result<Vec<Fused>, Error> {
    [1.0, 2.0, 5.0, 10.0, f64::INFINITY].into_iter().map(at).collect()
}

fn at(exponent: f64) -> Result<Fused, Error> {
    let x = Exponent::try_from(exponent)?;
    let fuse = |class: usize| t_norm(&OPINIONS.map(|opinion| opinion[class]), x);
    Ok(Fused { exponent, possibility: [fuse(0), fuse(1), fuse(2)] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_runs_from_the_product_towards_the_minimum() {
        let curve = curve().expect("exponents are at least 1");
        let product = [0.016, 0.25, 0.16];
        for (degree, expected) in curve[0].possibility.into_iter().zip(product) {
            assert!((degree - expected).abs() < 1e-12);
        }
        assert_eq!(landmarks().expect("exponents")[4].possibility, [0.1, 0.25, 0.4]);
        // The first and third class gain, the second has one doubter only and stays.
        assert!(curve.windows(2).all(|pair| pair[0].possibility[0] < pair[1].possibility[0]));
        assert!(curve.iter().all(|fused| (fused.possibility[1] - 0.25).abs() < 1e-12));
        let winner = |fused: &Fused| fused.possibility[2] > fused.possibility[1];
        assert!(!winner(&curve[0]) && winner(&curve[90]));
    }
}
