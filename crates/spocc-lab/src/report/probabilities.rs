//! Probabilities: log-losses, what sets of labels hold, and what it costs to learn to give them.

use super::page::{Cell, Column, Row, Table};
use crate::{
    coverage::{COVERAGES, Held},
    measured::{Measured, fit_seconds, log_loss, sets},
    results::Results,
};

/// The coverage at which methods are set beside each other.
const COMMON: f64 = 0.95;

/// The method that is judged, and the one it has to be worth more than.
const JUDGED: &str = "ladder";
const RIVAL: &str = "stacking";

/// Mean log-loss of every method that gives probabilities; nothing where nobody does.
pub(super) fn losses(measured: &Measured<'_>, experiments: &[(&str, &Results)]) -> Option<Table> {
    let caption = "Mean of -ln of the probability given to the truth, floored at 1e-9; smaller is better.";
    let figures = |method: &str| -> Vec<Option<f64>> {
        experiments.iter().map(|(_, results)| log_loss(results, method)).collect()
    };
    let rows: Vec<(String, Vec<Option<f64>>)> =
        measured.methods.iter().map(|method| (method.clone(), figures(method))).collect();
    let mut table = table(caption, experiments, &rows, |loss| format!("{loss:.4}"))?;
    let rows: Vec<_> = rows.iter().filter(|row| row.1.iter().any(Option::is_some)).collect();
    for column in 0..experiments.len() {
        let negated: Vec<Option<f64>> = rows.iter().map(|row| row.1[column].map(|loss| -loss)).collect();
        table.mark_best(column, &negated);
    }
    Some(table)
}

/// What it costs to learn, beside the rival; nothing where no times were kept.
pub(super) fn times(experiments: &[(&str, &Results)]) -> Option<Table> {
    let caption =
        "Mean milliseconds to learn on one core, over folds, and the ladder's as a multiple of stacking's.";
    let milliseconds = |method: &str| -> Vec<Option<f64>> {
        let one =
            |(_, results): &(&str, &Results)| fit_seconds(results, method).map(|seconds| 1000.0 * seconds);
        experiments.iter().map(one).collect()
    };
    let [judged, rival] = [JUDGED, RIVAL].map(milliseconds);
    let ratio =
        |(judged, rival): (&Option<f64>, &Option<f64>)| Some((*judged)? / (*rival).filter(|s| *s > 0.0)?);
    let ratios: Vec<Option<f64>> = judged.iter().zip(&rival).map(ratio).collect();
    if ratios.iter().all(Option::is_none) {
        return None;
    }
    let rows = [(JUDGED.into(), judged), (RIVAL.into(), rival), (format!("{JUDGED} / {RIVAL}"), ratios)];
    table(caption, experiments, &rows, |figure| format!("{figure:.2}"))
}

/// What sets hold at every coverage for the judged method, and at one for the others; nothing where there are none.
pub(super) fn coverages(experiments: &[(&str, &Results)]) -> Option<Table> {
    let caption = "Share of test rows in % whose set holds the truth, all folds together, and classes in a set on average. A random quarter of the validation rows calibrates; – where that is too few.";
    let sums: Vec<_> = experiments.iter().map(|(_, results)| sets(results)).collect();
    let mut asked: Vec<(&str, f64)> = COVERAGES.map(|coverage| (JUDGED, coverage)).into();
    asked.extend([RIVAL, "adaspocc"].map(|method| (method, COMMON)));
    let rows: Vec<(String, Vec<Option<Held>>)> = asked
        .into_iter()
        .map(|(method, coverage)| {
            let word = coverage.to_string();
            let held = sums.iter().map(|sums| sums.get(method)?.get(&word).copied()).collect();
            (format!("{method} at {:.0} %", 100.0 * coverage), held)
        })
        .collect();
    let shares =
        |held: &Vec<Option<Held>>| held.iter().map(|held| held.map(|held| 100.0 * held.share())).collect();
    let shares: Vec<_> = rows.iter().map(|(name, held)| (name.clone(), shares(held))).collect();
    let mut table = table(caption, experiments, &shares, |share| format!("{share:.1}"))?;
    let rows = rows.iter().filter(|row| row.1.iter().any(Option::is_some));
    for (row, (_, held)) in table.rows.iter_mut().zip(rows) {
        for (cell, held) in row.cells.iter_mut().zip(held) {
            if let Some(held) = held {
                *cell = cell.clone().note(format!("size {:.2}", held.mean_size()));
            }
        }
    }
    Some(table)
}

/// Rows that have a figure, an experiment per column; nothing if none has.
fn table(
    caption: &str,
    experiments: &[(&str, &Results)],
    rows: &[(String, Vec<Option<f64>>)],
    text: impl Fn(f64) -> String,
) -> Option<Table> {
    let cell = |figure: &Option<f64>| figure.map_or_else(Cell::none, |figure| Cell::new(text(figure)));
    let row = |(name, figures): &(String, Vec<Option<f64>>)| {
        let cells = figures.iter().map(cell).collect();
        figures.iter().any(Option::is_some).then(|| Row { name: name.clone(), is_reference: false, cells })
    };
    let rows: Vec<Row> = rows.iter().filter_map(row).collect();
    let column = |(name, _): &(&str, &Results)| Column { name: (*name).to_owned(), note: None };
    let columns = experiments.iter().map(column).collect();
    (!rows.is_empty()).then(|| Table { caption: caption.into(), columns, rows })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::report::invented;

    fn wine() -> Results {
        invented::experiment("real-wine", 2, &[0.0], 2)
    }

    #[test]
    fn losses_have_a_row_per_method_that_gives_probabilities_and_the_least_is_the_best() {
        let mut results = [wine()];
        for outcome in &mut results[0].outcomes {
            outcome.log_loss = BTreeMap::from([("bayes".into(), 0.75), ("ladder".into(), 0.25)]);
        }
        let table = losses(&Measured::new(&results), &[("wine", &results[0])]).expect("losses");
        let cells = table
            .rows
            .iter()
            .map(|row| (row.name.as_str(), row.cells[0].text.as_str(), row.cells[0].is_best));
        assert_eq!(cells.collect::<Vec<_>>(), [("ladder", "0.2500", true), ("bayes", "0.7500", false)]);
    }

    #[test]
    fn times_are_set_beside_those_of_the_rival() {
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
    fn sets_have_a_row_per_coverage_and_what_is_too_much_for_the_rows_is_left_out() {
        let mut results = wine();
        for outcome in &mut results.outcomes {
            let held = |held| BTreeMap::from([("0.95".to_owned(), Held::from([10, held, 15]))]);
            outcome.sets = BTreeMap::from([("ladder".into(), held(9)), ("stacking".into(), held(10))]);
        }
        let table = coverages(&[("wine", &results)]).expect("sets");
        let cells = table.rows.iter().map(|row| (row.name.as_str(), row.cells[0].text.as_str()));
        assert_eq!(cells.collect::<Vec<_>>(), [("ladder at 95 %", "90.0"), ("stacking at 95 %", "100.0")]);
        assert!(table.rows.iter().all(|row| row.cells[0].notes[0].text == "size 1.50"));
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
        assert!(losses(&Measured::new(&results), &found).is_none());
        assert!(times(&found).is_none() && coverages(&found).is_none());
    }
}
