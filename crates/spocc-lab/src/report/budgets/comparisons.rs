//! Log-losses, wins and losses by paired tests, and the accuracies that models report of themselves.

use super::{
    BudgetColumn, DEFAULTS, RIVALS,
    gaps::{gap_cell, sets, table_of},
    points::{BudgetPoint, Figure},
};
use crate::{
    aggregate::ResultSet,
    report::document::{ReportCell, ReportSection, ReportTable, signed},
    statistics::{PairedTest, mean},
};

/// The level of each test.
const LEVEL: f64 = 0.05;

pub(super) fn sections(all: &ResultSet<'_>, columns: &[BudgetColumn<'_>]) -> Vec<ReportSection> {
    let wins = ReportSection::new("Wins, ties and losses")
        .paragraph("Label sets on which the default is significantly more accurate than a rival, not significantly different, and significantly less accurate: paired t tests over the draws at 5 %, not corrected for their number.")
        .tables(DEFAULTS.iter().map(|method| wins(columns, method)));
    let losses = ReportSection::new("Log-loss")
        .paragraph("The quality of the probabilities, for methods that give them. The best calibrated rival of a set and budget is the one with the lowest mean log-loss over the draws.")
        .table(mean_losses(all, columns))
        .tables(DEFAULTS.iter().map(|method| loss_gaps(columns, method)));
    let mut sections = vec![wins, losses];
    sections.extend(reported(all, columns));
    sections
}

fn wins(columns: &[BudgetColumn<'_>], method: &str) -> ReportTable {
    let mut table =
        table_of(format!("{method} against each rival: wins / ties / losses over the label sets."), columns);
    for rival in RIVALS {
        let cell = |column: &BudgetColumn<'_>| {
            let test = |point: &BudgetPoint<'_>| {
                PairedTest::independent(&point.differences(method, rival, Figure::Accuracy)?)
            };
            let tests: Vec<PairedTest> = column.points.iter().filter_map(test).collect();
            let count = |is_counted: &dyn Fn(&PairedTest) -> bool| {
                tests.iter().filter(|test| is_counted(test)).count()
            };
            let wins = count(&|test| test.p < LEVEL && test.difference > 0.0);
            let losses = count(&|test| test.p < LEVEL && test.difference < 0.0);
            let text = format!("{wins} / {} / {losses}", tests.len() - wins - losses);
            if tests.is_empty() { ReportCell::none() } else { ReportCell::new(text) }
        };
        table.add(rival, columns.iter().map(cell).collect());
    }
    table
}

/// Mean log-loss over the sets, of the methods that have it on every set.
fn mean_losses(all: &ResultSet<'_>, columns: &[BudgetColumn<'_>]) -> ReportTable {
    let caption = "Mean log-loss over the label sets, of methods that were run on all of them.";
    let mut table = table_of(caption.to_owned(), columns);
    let mut figures: Vec<Vec<Option<f64>>> = Vec::new();
    for method in &all.methods {
        let figure = |column: &BudgetColumn<'_>| {
            let losses = column.points.iter().map(|point| point.mean(method, Figure::LogLoss));
            losses.collect::<Option<Vec<f64>>>().map(|losses| mean(&losses))
        };
        let losses: Vec<Option<f64>> = columns.iter().map(figure).collect();
        if losses.iter().any(Option::is_some) {
            table.add(method, losses.iter().map(|loss| ReportCell::figure(*loss, 3)).collect());
            figures.push(losses);
        }
    }
    for column in 0..columns.len() {
        let negated: Vec<Option<f64>> =
            figures.iter().map(|losses| losses[column].map(|loss| -loss)).collect();
        table.mark_best(column, &negated);
    }
    table
}

fn loss_gaps(columns: &[BudgetColumn<'_>], method: &str) -> ReportTable {
    let caption = format!(
        "Log-loss of {method} minus that of the best calibrated rival, with the half-width of the paired 95 % interval and the rival: positive where {method} is worse."
    );
    let mut table = table_of(caption, columns);
    for set in sets(columns) {
        let cell = |column: &BudgetColumn<'_>| {
            let point = column.points.iter().find(|point| point.set == set)?;
            point.gap(method, Figure::LogLoss).map(|gap| gap_cell(&gap, 3))
        };
        table.add(set, columns.iter().map(|column| cell(column).unwrap_or_else(ReportCell::none)).collect());
    }
    let mean_of = |column: &BudgetColumn<'_>| {
        let gaps = column.points.iter().filter_map(|point| point.gap(method, Figure::LogLoss));
        let gaps: Vec<f64> = gaps.map(|gap| gap.mean).collect();
        if gaps.is_empty() { ReportCell::none() } else { ReportCell::new(signed(mean(&gaps), 3)) }
    };
    table.add("mean", columns.iter().map(mean_of).collect());
    table
}

/// Nothing if no model reports an accuracy.
fn reported(all: &ResultSet<'_>, columns: &[BudgetColumn<'_>]) -> Option<ReportSection> {
    let has = |method: &&String| {
        columns.iter().flat_map(|column| &column.points).any(|point| !point.optimism(method).is_empty())
    };
    let tables: Vec<ReportTable> =
        all.methods.iter().filter(has).map(|method| optimism(columns, method)).collect();
    (!tables.is_empty()).then(|| {
        ReportSection::new("Reported and measured accuracy")
            .paragraph("The accuracy that a model reports of itself minus its accuracy on the test rows: positive where it promises too much.")
            .tables(tables)
    })
}

fn optimism(columns: &[BudgetColumn<'_>], method: &str) -> ReportTable {
    let caption = format!(
        "{method}: reported minus measured accuracy in percentage points, with the half-width of its 95 % interval over the draws."
    );
    let mut table = table_of(caption, columns);
    let text = |differences: &[f64]| {
        let half =
            PairedTest::half_width(differences).map_or_else(String::new, |half| format!(" ± {half:.2}"));
        ReportCell::new(format!("{}{half}", signed(mean(differences), 2)))
    };
    for set in sets(columns) {
        let cell = |column: &BudgetColumn<'_>| {
            let point = column.points.iter().find(|point| point.set == set)?;
            Some(point.optimism(method))
                .filter(|differences| !differences.is_empty())
                .map(|found| text(&found))
        };
        table.add(set, columns.iter().map(|column| cell(column).unwrap_or_else(ReportCell::none)).collect());
    }
    let mean_of = |column: &BudgetColumn<'_>| {
        let means =
            column.points.iter().map(|point| point.optimism(method)).filter(|found| !found.is_empty());
        let means: Vec<f64> = means.map(|found| mean(&found)).collect();
        if means.is_empty() { ReportCell::none() } else { ReportCell::new(signed(mean(&means), 2)) }
    };
    table.add("mean", columns.iter().map(mean_of).collect());
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::budgets::points::{columns, simulated};

    fn texts(table: &ReportTable, name: &str) -> Vec<String> {
        let row = table.rows.iter().find(|row| row.name == name).expect("a row");
        row.cells.iter().map(|cell| cell.text.clone()).collect()
    }

    #[test]
    fn wins_ties_and_losses_are_counted_by_paired_tests() {
        let results = simulated(&[("one", 1000), ("two", 60)], 6);
        let table = wins(&columns(&results), "ladder");
        assert_eq!(texts(&table, "majority"), ["0 / 0 / 2", "1 / 0 / 0", "2 / 0 / 0"]);
        // At half it is ahead of stacking in every other draw: t = 2.24, p = 0.076.
        assert_eq!(texts(&table, "stacking"), ["2 / 0 / 0", "1 / 0 / 0", "0 / 2 / 0"]);
        assert_eq!(texts(&table, "sklearn-forest"), ["–"; 3]);
    }

    #[test]
    fn log_losses_are_compared_with_the_best_calibrated_rival() {
        let results = simulated(&[("one", 1000), ("two", 60)], 3);
        let table = loss_gaps(&columns(&results), "ladder");
        assert_eq!(texts(&table, "mean"), ["+0.100", "−0.100", "−0.100"]);
        assert_eq!(texts(&table, "two"), ["+0.100 ± 0.000 * stacking", "–", "−0.100 ± 0.000 * stacking"]);
        let means = mean_losses(&ResultSet::new(&results), &columns(&results));
        assert_eq!(texts(&means, "ladder"), ["0.600", "0.400", "0.400"]);
        assert_eq!(means.rows.len(), 2);
    }

    #[test]
    fn reported_accuracies_are_compared_with_measured_ones() {
        let results = simulated(&[("one", 1000)], 2);
        let table = optimism(&columns(&results), "ladder");
        // 84 reported; 76 and 77 measured at 25 labelled rows.
        assert_eq!(texts(&table, "one")[0], "+7.50 ± 6.35");
        assert_eq!(texts(&table, "mean"), ["+7.50", "+1.50", "−6.50"]);
        assert!(reported(&ResultSet::new(&results), &columns(&results)).is_some());
        let mut silent = results;
        silent[0].outcomes.iter_mut().for_each(|outcome| outcome.reported.clear());
        assert!(reported(&ResultSet::new(&silent), &columns(&silent)).is_none());
    }
}
