//! Log-losses, coverage and size of prediction sets, and fit times.

use super::document::{ReportCell, ReportTable};
use crate::{
    aggregate::{ResultSet, fit_seconds, log_loss, sets},
    coverage::{COVERAGES, SetCounts},
    results::Results,
};

/// The coverage at which methods are compared.
const COMMON: f64 = 0.95;

/// The method whose sets are shown at every coverage, and the one that its fit time is compared with.
const MAIN: &str = "ladder";
const RIVAL: &str = "stacking";

/// A row of figures, one per experiment.
type NamedFigures = (String, Vec<Option<f64>>);

/// Mean log-loss of every method that gives probabilities; nothing where none does.
pub(super) fn losses(all: &ResultSet<'_>, experiments: &[(&str, &Results)]) -> Option<ReportTable> {
    let caption = "Mean of -ln of the probability of the true class, with probabilities floored at 1e-9. Smaller is better.";
    let figures = |method: &String| -> NamedFigures {
        let losses = experiments.iter().map(|(_, results)| log_loss(results, method));
        (method.clone(), losses.collect())
    };
    let rows: Vec<NamedFigures> = with_figures(all.methods.iter().map(figures));
    let mut table = table(caption, experiments, &rows, 4)?;
    for column in 0..experiments.len() {
        let negated: Vec<Option<f64>> = rows.iter().map(|row| row.1[column].map(|loss| -loss)).collect();
        table.mark_best(column, &negated);
    }
    Some(table)
}

/// Fit times beside the rival's; nothing where no times were recorded.
pub(super) fn times(experiments: &[(&str, &Results)]) -> Option<ReportTable> {
    let caption = "Mean fit time over folds in milliseconds, on one core, and the ladder's as a multiple of stacking's.";
    let milliseconds = |method: &str| -> Vec<Option<f64>> {
        let one =
            |(_, results): &(&str, &Results)| fit_seconds(results, method).map(|seconds| 1000.0 * seconds);
        experiments.iter().map(one).collect()
    };
    let [main, rival] = [MAIN, RIVAL].map(milliseconds);
    let ratio = |(main, rival): (&Option<f64>, &Option<f64>)| Some((*main)? / (*rival).filter(|s| *s > 0.0)?);
    let ratios: Vec<Option<f64>> = main.iter().zip(&rival).map(ratio).collect();
    if ratios.iter().all(Option::is_none) {
        return None;
    }
    let rows = [(MAIN.into(), main), (RIVAL.into(), rival), (format!("{MAIN} / {RIVAL}"), ratios)];
    table(caption, experiments, &rows, 2)
}

/// Coverage and mean size of prediction sets: the main method at every coverage, the others at one.
pub(super) fn coverages(experiments: &[(&str, &Results)]) -> Option<[ReportTable; 2]> {
    let sums: Vec<_> = experiments.iter().map(|(_, results)| sets(results)).collect();
    let mut wanted: Vec<(&str, f64)> = COVERAGES.map(|coverage| (MAIN, coverage)).into();
    wanted.extend([RIVAL, "adaspocc"].map(|method| (method, COMMON)));
    let rows = |figure: fn(SetCounts) -> f64| -> Vec<NamedFigures> {
        with_figures(wanted.iter().map(|(method, coverage)| {
            let key = coverage.to_string();
            let figures = sums.iter().map(|sums| sums.get(*method)?.get(&key).copied().map(figure)).collect();
            (format!("{method} at {:.0} %", 100.0 * coverage), figures)
        }))
    };
    let covered = "Coverage: share of test rows in % whose set contains the true class, all folds together. A random quarter of the validation rows is used for calibration; – where that is too few.";
    let size = "Mean number of classes in a set.";
    let coverage = table(covered, experiments, &rows(|counts| 100.0 * counts.coverage()), 1)?;
    Some([coverage, table(size, experiments, &rows(SetCounts::mean_size), 2)?])
}

/// Rows with at least one figure.
fn with_figures(rows: impl Iterator<Item = NamedFigures>) -> Vec<NamedFigures> {
    rows.filter(|row| row.1.iter().any(Option::is_some)).collect()
}

/// One column per experiment; nothing without rows.
fn table(
    caption: &str,
    experiments: &[(&str, &Results)],
    rows: &[NamedFigures],
    decimals: usize,
) -> Option<ReportTable> {
    let mut table = ReportTable::new(caption, experiments.iter().map(|(name, _)| *name));
    for (name, figures) in rows {
        table.add(name, figures.iter().map(|&figure| ReportCell::figure(figure, decimals)).collect());
    }
    (!table.rows.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::report::simulated;

    fn wine() -> Results {
        simulated::experiment("real-wine", 2, &[0.0], 2)
    }

    fn first_cells(table: &ReportTable) -> Vec<(&str, &str)> {
        table.rows.iter().map(|row| (row.name.as_str(), row.cells[0].text.as_str())).collect()
    }

    #[test]
    fn losses_have_a_row_per_method_with_probabilities_and_the_smallest_is_best() {
        let mut results = [wine()];
        for outcome in &mut results[0].outcomes {
            outcome.log_loss = BTreeMap::from([("bayes".into(), 0.75), ("ladder".into(), 0.25)]);
        }
        let table = losses(&ResultSet::new(&results), &[("wine", &results[0])]).expect("losses");
        assert_eq!(first_cells(&table), [("ladder", "0.2500"), ("bayes", "0.7500")]);
        assert_eq!(table.rows.iter().map(|row| row.cells[0].is_best).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn fit_times_are_compared_with_those_of_the_rival() {
        let mut results = wine();
        for (outcome, seconds) in results.outcomes.iter_mut().zip([1.0, 2.0, 2.0, 3.0]) {
            outcome.fit_seconds = BTreeMap::from([("ladder".into(), seconds), ("stacking".into(), 4.0)]);
        }
        let table = times(&[("wine", &results)]).expect("times");
        assert_eq!(
            table.rows.iter().map(|row| row.cells[0].text.as_str()).collect::<Vec<_>>(),
            ["2000.00", "4000.00", "0.50"]
        );
    }

    #[test]
    fn sets_have_a_row_per_coverage_that_the_calibration_rows_allow() {
        let mut results = wine();
        for outcome in &mut results.outcomes {
            let counts = |covered| BTreeMap::from([("0.95".to_owned(), SetCounts::from([10, covered, 15]))]);
            outcome.sets = BTreeMap::from([("ladder".into(), counts(9)), ("stacking".into(), counts(10))]);
        }
        let [coverage, size] = coverages(&[("wine", &results)]).expect("sets");
        assert_eq!(first_cells(&coverage), [("ladder at 95 %", "90.0"), ("stacking at 95 %", "100.0")]);
        assert_eq!(first_cells(&size), [("ladder at 95 %", "1.50"), ("stacking at 95 %", "1.50")]);
    }

    #[test]
    fn outcomes_without_losses_times_and_sets_give_no_tables() {
        let mut results = [wine()];
        for outcome in &mut results[0].outcomes {
            outcome.log_loss.clear();
            outcome.fit_seconds.clear();
            outcome.sets.clear();
        }
        let found = [("wine", &results[0])];
        assert!(losses(&ResultSet::new(&results), &found).is_none());
        assert!(times(&found).is_none() && coverages(&found).is_none());
    }
}
