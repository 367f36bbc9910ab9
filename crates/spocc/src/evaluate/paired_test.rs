//! Paired comparison of two methods on the same rows: the difference of their accuracies, with an interval.

use serde::Serialize;
use statrs::function::{beta::inv_beta_reg, erf::erfc_inv};

/// With fewer discordant rows than this no difference is significant: the sign test of five rows that agree has a
/// p-value of 6 %.
const MIN_DISCORDANT: f64 = 6.0;

/// Rows on which two methods were evaluated, and those on which exactly one of them is correct.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PairedCounts {
    /// All rows.
    pub(super) rows: f64,
    /// Rows on which only the first method is correct.
    pub(super) first: f64,
    /// Rows on which only the second is.
    pub(super) second: f64,
}

/// The difference between the accuracies of two methods.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The difference, as a share of the rows.
    pub by: f64,
    /// Its 95 % interval; simultaneous where a method is compared with several others.
    pub interval: [f64; 2],
    /// Whether the difference is significant.
    pub is_beyond_noise: bool,
    /// Its standard error.
    #[serde(skip)]
    pub(super) error: f64,
}

impl PairedCounts {
    fn by(&self) -> f64 {
        if self.rows > 0.0 { (self.first - self.second) / self.rows } else { 0.0 }
    }

    /// All counts divided by a number.
    fn over(self, times: f64) -> Self {
        Self { rows: self.rows / times, first: self.first / times, second: self.second / times }
    }

    fn sum(all: &[Self]) -> Self {
        all.iter().fold(Self::default(), |sum, one| Self {
            rows: sum.rows + one.rows,
            first: sum.first + one.first,
            second: sum.second + one.second,
        })
    }

    /// Centre and standard error with half a row added to each of the four outcomes (Agresti and Min 2005).
    ///
    /// ```text
    /// d = (b - c) / n,   variance = ((b + c) - (b - c)^2 / n) / n^2,   with b + 1/2, c + 1/2 and n + 2
    /// ```
    fn adjusted(&self) -> (f64, f64) {
        let (first, second, rows) = (self.first + 0.5, self.second + 0.5, self.rows + 2.0);
        let gap = first - second;
        (gap / rows, (first + second - gap * gap / rows).max(0.0).sqrt() / rows)
    }
}

impl Difference {
    /// From test rows, or from several models evaluated on the same test rows, whose spread adds to the error. For
    /// `rivals` see [`tail`].
    pub(super) fn on_test(draws: &[PairedCounts], rivals: usize) -> Self {
        let n = draws.len().max(1) as f64;
        let mean = PairedCounts::sum(draws).over(n);
        let (centre, error) = mean.adjusted();
        let spread: f64 = draws.iter().map(|draw| (draw.by() - mean.by()).powi(2)).sum();
        let error = (error * error + spread / (n - 1.0).max(1.0) / n).sqrt();
        Self::new(mean, centre, normal(rivals) * error, error)
    }

    /// From folds, all repetitions in one list: the corrected resampled t interval (Nadeau and Bengio 2003).
    ///
    /// ```text
    /// variance = (1/J + n_test / n_train) * sample variance of the J differences;   J - 1 degrees of freedom
    /// ```
    ///
    /// The correction is for training rows that the folds share. Few folds may agree by chance, so the interval is never
    /// narrower than that of the same rows evaluated once as a test set.
    pub(super) fn across_folds(folds: &[PairedCounts], repeats: usize, rivals: usize) -> Self {
        let n = folds.len() as f64;
        let mean = PairedCounts::sum(folds).over(repeats.max(1) as f64);
        let (_, least) = mean.adjusted();
        if folds.len() < 2 {
            return Self::new(mean, mean.by(), normal(rivals) * least, least);
        }
        let size = mean.rows * repeats.max(1) as f64 / n;
        // Larger folds count for more, so that the mean is the difference of the accuracies.
        let spread = |fold: &PairedCounts| fold.rows / size * (fold.by() - mean.by()).powi(2);
        let variance = folds.iter().map(spread).sum::<f64>() / (n - 1.0);
        let error = (variance * (1.0 / n + size / (mean.rows - size))).sqrt();
        let half = (student(n - 1.0, rivals) * error).max(normal(rivals) * least);
        Self::new(mean, mean.by(), half, error.max(least))
    }

    /// Difference and ends of the interval in percentage points, to a tenth, none of them a negative zero.
    pub(super) fn points(&self) -> [f64; 3] {
        let [low, high] = self.interval;
        [self.by, low, high].map(|share| (share * 1000.0).round() / 10.0 + 0.0)
    }

    fn new(mean: PairedCounts, centre: f64, half: f64, error: f64) -> Self {
        let interval = [(centre - half).max(-1.0), (centre + half).min(1.0)];
        let excludes_zero = interval[0] > 0.0 || interval[1] < 0.0;
        let is_beyond_noise = excludes_zero && mean.first + mean.second >= MIN_DISCORDANT;
        Self { by: mean.by(), interval, is_beyond_noise, error }
    }
}

/// The tail probability on either side of an interval: 2.5 %, or less where the better method was selected from several
/// by the same figures, since the best of many is partly luck. If all methods are equal, the best is called significantly
/// better than a given one in at most 5 of 100 comparisons (Bonferroni's correction).
fn tail(rivals: usize) -> f64 {
    0.05 / rivals.max(2) as f64
}

/// The normal quantile with that tail.
fn normal(rivals: usize) -> f64 {
    std::f64::consts::SQRT_2 * erfc_inv(2.0 * tail(rivals))
}

/// The quantile of Student's distribution with that tail; beyond 10 000 degrees of freedom it stays.
fn student(freedom: f64, rivals: usize) -> f64 {
    let freedom = freedom.min(1e4);
    let y = inv_beta_reg(freedom / 2.0, 0.5, 2.0 * tail(rivals));
    (freedom * (1.0 - y) / y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of quantiles have six digits.
    const TABLE: f64 = 1e-5;

    fn close(found: [f64; 2], expected: [f64; 2]) {
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < TABLE), "{found:?} {expected:?}");
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, quantile) in
            [(1.0, 12.706_205), (4.0, 2.776_445), (14.0, 2.144_787), (999.0, 1.962_341)]
        {
            assert!((student(freedom, 1) - quantile).abs() < TABLE, "{freedom}: {}", student(freedom, 1));
        }
        assert!((normal(1) - 1.959_964).abs() < TABLE && (normal(2) - 1.959_964).abs() < TABLE);
        // Of eight rivals each has a tail of 0.00625.
        assert!((normal(8) - 2.497_705).abs() < TABLE && (student(14.0, 8) - 2.864_254).abs() < 1e-3);
    }

    #[test]
    fn four_folds_on_paper() {
        // Two repetitions of two folds of 10 rows; differences .1 .2 .3 .2, mean .2, variance .02 / 3,
        // times 1/4 + 10/10: standard error .0912871; with 3 degrees of freedom 3.182446 of it.
        let fold = |first| PairedCounts { rows: 10.0, first, second: 0.0 };
        let found = Difference::across_folds(&[1.0, 2.0, 3.0, 2.0].map(fold), 2, 1);
        assert!((found.by - 0.2).abs() < 1e-12);
        close(found.interval, [0.2 - 0.290_516, 0.2 + 0.290_516]);
        assert!(!found.is_beyond_noise);
    }

    #[test]
    fn agresti_and_min_on_paper() {
        // b = 12, c = 3, n = 100: (12.5 - 3.5) / 102 = .088235; (16 - 81/102) / 102^2 has the root .038230.
        let found = Difference::on_test(&[PairedCounts { rows: 100.0, first: 12.0, second: 3.0 }], 1);
        assert_eq!(found.by, 0.09);
        close(found.interval, [0.088_235 - 0.074_930, 0.088_235 + 0.074_930]);
        assert!(found.is_beyond_noise);
    }

    #[test]
    fn folds_that_agree_by_chance_are_not_significant() {
        let fold = PairedCounts { rows: 1.0, first: 1.0, second: 0.0 };
        let few = Difference::across_folds(&[fold; 3], 1, 1);
        assert!(few.interval[0] < 1.0 && !few.is_beyond_noise, "{few:?}");
        assert!(Difference::across_folds(&[fold; 12], 1, 1).is_beyond_noise);
    }

    #[test]
    fn equal_decisions_differ_by_nothing() {
        let same = PairedCounts { rows: 80.0, first: 0.0, second: 0.0 };
        let found = Difference::across_folds(&[same; 15], 3, 8);
        assert!(found.by == 0.0 && !found.is_beyond_noise);
        let none = Difference { by: -0.0001, interval: [-0.0004, 0.0], ..found };
        assert_eq!(none.points().map(|points| points.to_string()), ["0", "0", "0"]);
        assert!(Difference::across_folds(&[], 1, 1).by == 0.0 && Difference::on_test(&[], 1).by == 0.0);
    }

    #[test]
    fn draws_that_differ_widen_the_interval() {
        let draw = |first: f64, second: f64| PairedCounts { rows: 1000.0, first, second };
        let alike = Difference::on_test(&[draw(40.0, 20.0); 3], 1);
        let unlike = Difference::on_test(&[draw(20.0, 40.0), draw(40.0, 20.0), draw(60.0, 0.0)], 1);
        assert!((alike.by - unlike.by).abs() < 1e-12);
        assert!(unlike.error > alike.error && alike.is_beyond_noise && !unlike.is_beyond_noise);
    }

    #[test]
    fn the_best_of_many_must_lead_by_more() {
        let paired = [PairedCounts { rows: 100.0, first: 12.0, second: 3.0 }];
        let [pair, many] = [1, 8].map(|rivals| Difference::on_test(&paired, rivals));
        assert!(pair.is_beyond_noise && !many.is_beyond_noise);
        assert!(many.interval[0] < pair.interval[0] && many.interval[1] > pair.interval[1]);
    }
}
