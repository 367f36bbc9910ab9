//! Summaries: a mean, the standard deviation, and a bootstrap interval of the mean.

use rand::Rng;

use crate::random;

/// Bootstrap resamples: the ends of an interval vary by less than a tenth of its width between seeds.
const RESAMPLES: usize = 2000;

/// The smallest number of groups for an interval: two groups have three different resampled means at most.
const MIN_GROUPS: usize = 3;

/// The random stream of the resamples.
const STREAM: u64 = u64::from_be_bytes(*b"resample");

/// The accuracy of one method in one experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AccuracySummary {
    pub(crate) mean: f64,
    /// Standard deviation of the single values.
    pub(crate) deviation: f64,
    /// 95 % percentile-bootstrap interval of the mean; nothing below three groups.
    pub(crate) interval: Option<[f64; 2]>,
}

impl AccuracySummary {
    /// Summarises values in groups, where values of one group share their data; nothing without values.
    ///
    /// Whole groups are resampled: outcomes of one repetition share their data, and resampling single outcomes would
    /// make the interval too narrow. The resamples depend on the seed alone, so they are the same for all methods.
    pub(crate) fn of(groups: &[Vec<f64>], seed: u64) -> Option<Self> {
        let values: Vec<f64> = groups.iter().flatten().copied().collect();
        if values.is_empty() {
            return None;
        }
        Some(Self { mean: mean(&values), deviation: deviation(&values), interval: interval(groups, seed) })
    }

    /// Half of the interval's width.
    pub(crate) fn half_width(&self) -> Option<f64> {
        self.interval.map(|[low, high]| (high - low) / 2.0)
    }

    /// Whether the interval overlaps with another; nothing without an interval.
    pub(crate) fn overlaps(&self, other: [f64; 2]) -> Option<bool> {
        self.interval.map(|[low, high]| low <= other[1] && other[0] <= high)
    }
}

fn interval(groups: &[Vec<f64>], seed: u64) -> Option<[f64; 2]> {
    let groups: Vec<(f64, f64)> = groups
        .iter()
        .filter(|group| !group.is_empty())
        .map(|group| (group.iter().sum(), group.len() as f64))
        .collect();
    if groups.len() < MIN_GROUPS {
        return None;
    }
    let mut draws = random::stream(seed, &[STREAM]);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let (sum, count) = (0..groups.len())
                .map(|_| groups[draws.random_range(0..groups.len())])
                .fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
            sum / count
        })
        .collect();
    means.sort_by(f64::total_cmp);
    Some([quantile(&means, 0.025), quantile(&means, 0.975)])
}

/// The mean; NaN without values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sample standard deviation (n - 1); 0 for a single value.
pub(crate) fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0).max(1.0)).sqrt()
}

/// The quantile of sorted values, with linear interpolation.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_are_those_computed_by_hand() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&values), 5.0);
        assert!((deviation(&values) - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(deviation(&[3.0]), 0.0);
    }

    #[test]
    fn a_quantile_is_interpolated_linearly() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), 2.0);
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 1.0), 4.0);
    }

    #[test]
    fn the_bootstrap_interval_is_close_to_the_normal_interval() {
        // Two hundred values, half 0 and half 1: 1.96 * 0.5 / sqrt(200) = 0.0693.
        let groups: Vec<Vec<f64>> = (0..200).map(|i| vec![f64::from(i % 2)]).collect();
        let summary = AccuracySummary::of(&groups, 1).expect("there are values");
        let [low, high] = summary.interval.expect("two hundred groups");
        assert!(((high - low) / 2.0 - 0.0693).abs() < 0.006, "{summary:?}");
        assert!((f64::midpoint(low, high) - 0.5).abs() < 0.01, "{summary:?}");
    }

    #[test]
    fn repeating_a_value_inside_its_group_does_not_narrow_the_interval() {
        let once: Vec<Vec<f64>> = (0..20).map(|i| vec![f64::from(i)]).collect();
        let often: Vec<Vec<f64>> = (0..20).map(|i| vec![f64::from(i); 11]).collect();
        let half_width =
            |groups: &[Vec<f64>]| AccuracySummary::of(groups, 1).and_then(|summary| summary.half_width());
        let [once, often] = [once, often].map(|groups| half_width(&groups).expect("twenty groups"));
        assert!((once - often).abs() < 1e-9);
    }

    #[test]
    fn the_same_seed_gives_the_same_interval_and_no_values_give_none() {
        let groups: Vec<Vec<f64>> = (0..9).map(|i| vec![f64::from(i * i)]).collect();
        assert_eq!(AccuracySummary::of(&groups, 4), AccuracySummary::of(&groups, 4));
        assert_ne!(AccuracySummary::of(&groups, 4), AccuracySummary::of(&groups, 5));
        assert_eq!(AccuracySummary::of(&[vec![]], 4), None);
    }

    #[test]
    fn two_groups_have_a_mean_but_no_interval() {
        let two = AccuracySummary::of(&[vec![1.0, 2.0], vec![3.0], vec![]], 4).expect("there are values");
        assert_eq!((two.mean, two.interval, two.half_width()), (2.0, None, None));
        assert_eq!(two.overlaps([0.0, 9.0]), None);
        assert!(
            AccuracySummary::of(&[vec![1.0], vec![2.0], vec![3.0]], 4)
                .is_some_and(|three| three.interval.is_some())
        );
    }

    #[test]
    fn intervals_that_touch_overlap() {
        let summary = AccuracySummary { mean: 2.0, deviation: 0.0, interval: Some([1.0, 3.0]) };
        assert_eq!([[3.0, 4.0], [0.0, 9.0]].map(|other| summary.overlaps(other)), [Some(true); 2]);
        assert_eq!([[3.1, 4.0], [0.0, 0.9]].map(|other| summary.overlaps(other)), [Some(false); 2]);
    }
}
