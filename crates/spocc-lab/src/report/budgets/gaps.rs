//! Gaps: how far a method is behind the best rival of each label set, in percentage points of accuracy.

use super::{
    BudgetColumn, DEFAULTS,
    points::{BudgetPoint, Figure, Gap},
};
use crate::{
    aggregate::ResultSet,
    report::document::{CellTone, ReportCell, ReportSection, ReportTable, signed},
    statistics::mean,
};

/// The gaps of a method at one budget, by label set.
type SetGaps<'a> = Vec<(&'a str, Gap)>;

fn gaps<'a>(column: &'a BudgetColumn<'a>, method: &str) -> SetGaps<'a> {
    let gap = |point: &BudgetPoint<'a>| Some((point.set, point.gap(method, Figure::Accuracy)?));
    column.points.iter().filter_map(gap).collect()
}

/// The largest by some measure.
fn worst<'a>(gaps: &'a [(&'a str, Gap)], measure: impl Fn(&Gap) -> f64) -> Option<(&'a str, f64)> {
    let measured = gaps.iter().map(|(set, gap)| (*set, measure(gap)));
    measured.reduce(|worst, other| if other.1 > worst.1 { other } else { worst })
}

fn mean_gap(gaps: &[(&str, Gap)]) -> f64 {
    mean(&gaps.iter().map(|(_, gap)| gap.mean).collect::<Vec<_>>())
}

/// One sentence for each variant of the default and each budget.
pub(super) fn findings(columns: &[BudgetColumn<'_>]) -> Vec<String> {
    let mut findings = Vec::new();
    for method in DEFAULTS {
        for column in columns {
            let gaps = gaps(column, method);
            if let Some((set, most)) = worst(&gaps, |gap| gap.mean) {
                findings.push(format!(
                    "{method}, {} labelled: mean gap {} points (label sets: {}), largest {} ({set}).",
                    column.name,
                    signed(mean_gap(&gaps), 2),
                    gaps.len(),
                    signed(most, 2)
                ));
            }
        }
    }
    findings
}

/// The table of budgets, and the gaps by set.
pub(super) fn section(columns: &[BudgetColumn<'_>]) -> ReportSection {
    let section = ReportSection::new("Gap to the best rival")
        .paragraph("The gap is the mean accuracy of the best rival minus that of the default, in percentage points: positive where the default is behind. The best rival of a set and budget is the one with the highest mean over the draws; since it is chosen on these draws, the gap is slightly too large.")
        .table(by_budget(columns));
    DEFAULTS.iter().fold(section, |section, method| section.table(by_set(columns, method)))
}

/// An empty table with a column per budget.
pub(super) fn table_of(caption: String, columns: &[BudgetColumn<'_>]) -> ReportTable {
    ReportTable::new(caption, columns.iter().map(|column| column.name.as_str()))
}

fn by_budget(columns: &[BudgetColumn<'_>]) -> ReportTable {
    let caption = "Gap by number of labelled rows: mean over the label sets, the largest of a set, and the largest lower end of an interval of a set.";
    let mut table = table_of(caption.to_owned(), columns);
    let named = |worst: Option<(&str, f64)>| {
        worst.map_or_else(ReportCell::none, |(set, gap)| {
            ReportCell::new(format!("{} ({set})", signed(gap, 2)))
        })
    };
    for method in DEFAULTS {
        let all: Vec<SetGaps<'_>> = columns.iter().map(|column| gaps(column, method)).collect();
        if all.iter().all(Vec::is_empty) {
            continue;
        }
        let cells = |cell: &dyn Fn(&SetGaps<'_>) -> ReportCell| all.iter().map(cell).collect();
        table.add(
            format!("{method}: mean"),
            cells(&|gaps| {
                if gaps.is_empty() { ReportCell::none() } else { ReportCell::new(signed(mean_gap(gaps), 2)) }
            }),
        );
        table.add(format!("{method}: largest"), cells(&|gaps| named(worst(gaps, |gap| gap.mean))));
        table.add(format!("{method}: largest lower end"), cells(&|gaps| named(worst(gaps, Gap::lower))));
        table.add(format!("{method}: label sets"), cells(&|gaps| ReportCell::new(gaps.len().to_string())));
    }
    table
}

/// The gap of every set, its interval and the best rival.
fn by_set(columns: &[BudgetColumn<'_>], method: &str) -> ReportTable {
    let caption = format!(
        "Best rival minus {method}, in percentage points, with the half-width of the paired 95 % interval and the rival. Coloured and starred where the interval excludes 0."
    );
    let mut table = table_of(caption, columns);
    for set in sets(columns) {
        let cell = |column: &BudgetColumn<'_>| {
            let point = column.points.iter().find(|point| point.set == set)?;
            point.gap(method, Figure::Accuracy).map(|gap| gap_cell(&gap, 2))
        };
        let cells: Vec<Option<ReportCell>> = columns.iter().map(cell).collect();
        if cells.iter().any(Option::is_some) {
            table.add(set, cells.into_iter().map(|cell| cell.unwrap_or_else(ReportCell::none)).collect());
        }
    }
    table
}

/// A gap with its interval and rival: good where it is negative.
pub(super) fn gap_cell(gap: &Gap, decimals: usize) -> ReportCell {
    let mean = signed(gap.mean, decimals);
    let Some(half) = gap.half_width else { return ReportCell::new(format!("{mean} {}", gap.rival)) };
    let (star, tone) = match (gap.mean.abs() > half, gap.mean < 0.0) {
        (false, _) => ("", CellTone::Plain),
        (true, true) => (" *", CellTone::Good),
        (true, false) => (" *", CellTone::Bad),
    };
    ReportCell { tone, ..ReportCell::new(format!("{mean} ± {half:.decimals$}{star} {}", gap.rival)) }
}

/// The label sets of all budgets, by name.
pub(super) fn sets<'a>(columns: &[BudgetColumn<'a>]) -> Vec<&'a str> {
    let mut sets: Vec<&str> =
        columns.iter().flat_map(|column| &column.points).map(|point| point.set).collect();
    sets.sort_unstable();
    sets.dedup();
    sets
}

/// The mean gap of every method.
pub(super) fn all_methods(all: &ResultSet<'_>, columns: &[BudgetColumn<'_>]) -> ReportSection {
    let caption = "Mean over the label sets of the best rival's accuracy minus the method's, in percentage points: 0 for a rival that is the best on every set. In parentheses: the number of label sets, where a method was not run on all.";
    let mut table = table_of(caption.to_owned(), columns);
    let mut figures: Vec<Vec<Option<f64>>> = Vec::new();
    for method in &all.methods {
        let cell = |column: &BudgetColumn<'_>| {
            let gaps = gaps(column, method);
            let is_complete = gaps.len() == column.points.len();
            let figure = (!gaps.is_empty()).then(|| mean_gap(&gaps));
            let rest = if is_complete { String::new() } else { format!(" ({})", gaps.len()) };
            let text = figure.map(|gap| signed(gap, 2) + &rest);
            (text.map_or_else(ReportCell::none, ReportCell::new), figure.filter(|_| is_complete))
        };
        let (cells, means): (Vec<ReportCell>, Vec<Option<f64>>) = columns.iter().map(cell).unzip();
        table.add(method, cells);
        figures.push(means);
    }
    for column in 0..columns.len() {
        // The smallest gap is the best.
        let negated: Vec<Option<f64>> = figures.iter().map(|means| means[column].map(|gap| -gap)).collect();
        table.mark_best(column, &negated);
    }
    ReportSection::new("Every method").table(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::budgets::points::{columns, simulated};

    fn rows(table: &ReportTable) -> Vec<(String, Vec<String>)> {
        let texts = |cells: &[ReportCell]| cells.iter().map(|cell| cell.text.clone()).collect();
        table.rows.iter().map(|row| (row.name.clone(), texts(&row.cells))).collect()
    }

    #[test]
    fn the_table_of_budgets_is_that_computed_by_hand() {
        let mut results = simulated(&[("one", 1000), ("two", 60)], 2);
        // On `two` majority is right on 90 %: it leads the ladder by 14 and 13, and at half by 0 and -1.
        for outcome in &mut results[1].outcomes {
            outcome.confusion.insert("majority".into(), vec![90, 10, 0, 0]);
        }
        let columns = columns(&results);
        let table = by_budget(&columns);
        let rows = rows(&table);
        // 4 and 3 on `one`, 14 and 13 on `two`: means 3.5 and 13.5, half-widths 12.706 * 0.7071 / sqrt(2) = 6.353.
        assert_eq!(rows[0], ("ladder: mean".into(), ["+8.50", "−2.50", "−0.50"].map(String::from).to_vec()));
        assert_eq!(rows[1].1, ["+13.50 (two)", "−2.50 (one)", "−0.50 (one)"]);
        assert_eq!(rows[2].1, ["+7.15 (two)", "−8.85 (one)", "−6.85 (one)"]);
        assert_eq!(rows[3].1, ["2", "1", "2"]);
        assert_eq!(rows[4].1[0], "+6.50");
    }

    #[test]
    fn a_gap_of_a_set_has_its_interval_its_rival_and_a_star_where_it_is_not_zero() {
        let results = simulated(&[("one", 1000), ("two", 60)], 4);
        let columns = columns(&results);
        let table = by_set(&columns, "ladder");
        let rows = rows(&table);
        assert_eq!(
            rows[0].1,
            ["+3.50 ± 0.92 * majority", "−2.50 ± 0.92 * majority", "−0.50 ± 0.92 stacking"]
        );
        assert_eq!((rows[1].0.as_str(), rows[1].1[1].as_str()), ("two", "–"));
        let tones: Vec<bool> = table.rows[0].cells.iter().map(|cell| cell.tone == CellTone::Bad).collect();
        assert_eq!(tones, [true, false, false]);
    }

    #[test]
    fn a_method_that_was_run_on_some_sets_only_has_their_number() {
        let mut results = simulated(&[("one", 1000), ("two", 60)], 2);
        results[1].outcomes.iter_mut().for_each(|outcome| drop(outcome.confusion.remove("ladder+u")));
        let section = all_methods(&ResultSet::new(&results), &columns(&results));
        let Some(crate::report::document::DocumentBlock::Table(table)) = section.blocks.first() else {
            panic!("a table")
        };
        let rows = rows(table);
        let of = |name: &str| rows.iter().find(|row| row.0 == name).expect("a row").1.clone();
        assert_eq!(of("ladder+u"), ["+1.50 (1)", "−2.50", "−0.50 (1)"]);
        assert_eq!(of("stacking"), ["+10.00", "+10.00", "0.00"]);
    }
}
