//! Average ranks and worst shortfalls over datasets.
//!
//! The input is a table of mean accuracies: a row per dataset, an optional figure per method.

/// The average rank of every method: 1 is best, ties share their mean rank, a missing figure ranks last.
pub(crate) fn average_ranks(datasets: &[Vec<Option<f64>>]) -> Vec<f64> {
    let n_methods = datasets.first().map_or(0, Vec::len);
    let mut sums = vec![0.0; n_methods];
    for dataset in datasets {
        sums.iter_mut().zip(ranks(dataset)).for_each(|(sum, rank)| *sum += rank);
    }
    sums.into_iter().map(|sum| sum / datasets.len() as f64).collect()
}

fn ranks(figures: &[Option<f64>]) -> Vec<f64> {
    // A missing figure is below every accuracy, and missing figures tie.
    let figures: Vec<f64> = figures.iter().map(|figure| figure.unwrap_or(f64::NEG_INFINITY)).collect();
    let count = |test: &dyn Fn(f64) -> bool| figures.iter().filter(|&&figure| test(figure)).count() as f64;
    figures
        .iter()
        .map(|&own| count(&|other| other > own) + f64::midpoint(1.0, count(&|other| other == own)))
        .collect()
}

/// The largest shortfall of each method from the best one of a dataset; nothing without any figure.
pub(crate) fn discrepancies(datasets: &[Vec<Option<f64>>]) -> Vec<Option<f64>> {
    let n_methods = datasets.first().map_or(0, Vec::len);
    (0..n_methods)
        .map(|method| {
            let shortfall = |dataset: &Vec<Option<f64>>| {
                let own = dataset[method]?;
                Some(dataset.iter().flatten().fold(own, |best, &figure| best.max(figure)) - own)
            };
            datasets.iter().filter_map(shortfall).reduce(f64::max)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_mean_rank_and_missing_figures_rank_last() {
        assert_eq!(ranks(&[Some(80.0), Some(90.0), Some(80.0)]), [2.5, 1.0, 2.5]);
        assert_eq!(ranks(&[None, Some(1.0), None, Some(2.0)]), [3.5, 2.0, 3.5, 1.0]);
    }

    #[test]
    fn ranks_are_averaged_over_datasets() {
        let datasets = [vec![Some(3.0), Some(2.0)], vec![Some(1.0), Some(2.0)], vec![Some(5.0), Some(4.0)]];
        let found = average_ranks(&datasets);
        assert!((found[0] - 4.0 / 3.0).abs() < 1e-12 && (found[1] - 5.0 / 3.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn the_discrepancy_is_the_largest_shortfall_over_datasets_with_a_figure() {
        let datasets = [vec![Some(90.0), Some(85.0), None], vec![Some(70.0), Some(72.0), None]];
        assert_eq!(discrepancies(&datasets), [Some(2.0), Some(5.0), None]);
    }
}
