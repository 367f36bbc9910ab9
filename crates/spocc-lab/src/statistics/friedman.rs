//! Friedman's test over datasets, and Nemenyi's critical difference of average ranks.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// Quantiles of the studentised range over the square root of 2, at 5 %, for 2 to 20 methods (Nemenyi).
const Q_05: [f64; 19] = [
    1.960, 2.344, 2.569, 2.728, 2.850, 2.948, 3.031, 3.102, 3.164, 3.219, 3.268, 3.313, 3.354, 3.391, 3.426,
    3.458, 3.489, 3.517, 3.544,
];

/// The outcome of Friedman's test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Friedman {
    pub(crate) chi_square: f64,
    /// Iman and Davenport's less conservative statistic.
    pub(crate) f: f64,
    /// The p-value of that statistic.
    pub(crate) p: f64,
}

impl Friedman {
    /// Tests average ranks over a number of datasets; nothing with fewer than two methods or datasets.
    ///
    /// ```text
    /// chi2 = 12 N / (k (k + 1)) * (sum R^2 - k (k + 1)^2 / 4),   F = (N - 1) chi2 / (N (k - 1) - chi2)
    /// ```
    ///
    /// F has k - 1 and (k - 1)(N - 1) degrees of freedom (Demsar 2006).
    pub(crate) fn of(average_ranks: &[f64], n_datasets: usize) -> Option<Self> {
        let (k, n) = (average_ranks.len() as f64, n_datasets as f64);
        let law = FisherSnedecor::new(k - 1.0, (k - 1.0) * (n - 1.0)).ok()?;
        let squares: f64 = average_ranks.iter().map(|rank| rank * rank).sum();
        let chi_square = 12.0 * n / (k * (k + 1.0)) * (squares - k * (k + 1.0).powi(2) / 4.0);
        let rest = n * (k - 1.0) - chi_square;
        // All datasets have the same ranking, up to rounding.
        if rest < 1e-9 {
            return Some(Self { chi_square, f: f64::INFINITY, p: 0.0 });
        }
        let f = (n - 1.0) * chi_square / rest;
        Some(Self { chi_square, f, p: law.sf(f.max(0.0)) })
    }
}

/// The difference of average ranks that is significant at 5 % (Nemenyi); nothing where it is not tabled.
///
/// ```text
/// CD = q * sqrt(k (k + 1) / (6 N))
/// ```
pub(crate) fn critical_difference(n_methods: usize, n_datasets: usize) -> Option<f64> {
    let q = Q_05.get(n_methods.checked_sub(2)?)?;
    let k = n_methods as f64;
    (n_datasets > 0).then(|| q * (k * (k + 1.0) / (6.0 * n_datasets as f64)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Demsar 2006, section 3.2.2: four methods on fourteen datasets.
    const DEMSAR: [f64; 4] = [3.143, 2.000, 2.893, 1.964];

    #[test]
    fn the_worked_example_of_the_literature_is_reproduced() {
        let friedman = Friedman::of(&DEMSAR, 14).expect("four methods, fourteen datasets");
        assert!((friedman.chi_square - 9.28).abs() < 0.01, "{friedman:?}");
        assert!((friedman.f - 3.69).abs() < 0.01, "{friedman:?}");
        // The critical value of F(3, 39) at 5 % is 2.85.
        assert!(friedman.p < 0.05 && friedman.p > 0.01, "{friedman:?}");
        let difference = critical_difference(4, 14).expect("tabled");
        assert!((difference - 1.25).abs() < 0.005, "{difference}");
    }

    #[test]
    fn equal_rankings_on_all_datasets_have_p_value_0() {
        let friedman = Friedman::of(&[1.0, 2.0, 3.0], 6).expect("three methods, six datasets");
        assert!((friedman.chi_square - 12.0).abs() < 1e-9 && friedman.p == 0.0, "{friedman:?}");
    }

    #[test]
    fn equal_average_ranks_have_a_p_value_near_1() {
        let friedman = Friedman::of(&[2.0, 2.0, 2.0], 6).expect("three methods, six datasets");
        assert!(friedman.chi_square.abs() < 1e-9 && friedman.p > 0.999, "{friedman:?}");
    }

    #[test]
    fn one_method_or_one_dataset_is_not_tested() {
        assert_eq!(Friedman::of(&[1.0], 6), None);
        assert_eq!(Friedman::of(&[1.0, 2.0], 1), None);
        assert_eq!(critical_difference(1, 6), None);
        assert_eq!(critical_difference(21, 6), None);
    }
}
