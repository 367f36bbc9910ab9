//! Ranks and discrepancies: how methods stand across datasets.
//!
//! In comes a table of mean accuracies, dataset after dataset, a figure per method or none where it has none.

/// The rank of every method averaged over datasets: 1 is the best, ties share, and no figure is last.
pub(crate) fn average_ranks(datasets: &[Vec<Option<f64>>]) -> Vec<f64> {
    let n_methods = datasets.first().map_or(0, Vec::len);
    let mut sums = vec![0.0; n_methods];
    for dataset in datasets {
        sums.iter_mut().zip(ranks(dataset)).for_each(|(sum, rank)| *sum += rank);
    }
    sums.into_iter().map(|sum| sum / datasets.len() as f64).collect()
}

fn ranks(figures: &[Option<f64>]) -> Vec<f64> {
    // An absent figure is below every accuracy, and absent figures tie.
    let figures: Vec<f64> = figures.iter().map(|figure| figure.unwrap_or(f64::NEG_INFINITY)).collect();
    let count = |test: &dyn Fn(f64) -> bool| figures.iter().filter(|&&figure| test(figure)).count() as f64;
    figures
        .iter()
        .map(|&own| count(&|other| other > own) + f64::midpoint(1.0, count(&|other| other == own)))
        .collect()
}

/// By how much each method falls short of the best one where it does so most; nothing if it has no figure at all.
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
    fn ties_share_their_places_and_no_figure_is_last() {
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
    fn the_discrepancy_is_the_worst_shortfall_where_a_figure_is_there() {
        let datasets = [vec![Some(90.0), Some(85.0), None], vec![Some(70.0), Some(72.0), None]];
        assert_eq!(discrepancies(&datasets), [Some(2.0), Some(5.0), None]);
    }
}
