//! Paired differences between one method and every other, with p-values corrected for their number.

use super::document::{ReportCell, ReportTable, p_value};
use crate::{
    aggregate::ResultSet,
    results::Results,
    statistics::{PairedTest, differences, holm},
};

/// The significance level.
const LEVEL: f64 = 0.05;

/// The method that the others are compared with: the paper's proposal, or the first there is.
fn baseline<'a>(all: &'a ResultSet<'_>) -> Option<&'a str> {
    let methods = || all.methods.iter().map(String::as_str);
    methods().find(|method| *method == "adaspocc").or_else(|| methods().next())
}

/// The baseline minus every other method, one column per experiment: differences, then p-values.
pub(super) fn tables(all: &ResultSet<'_>, experiments: &[(&str, &Results)]) -> Option<[ReportTable; 2]> {
    let baseline = baseline(all)?;
    let others: Vec<&String> = all.methods.iter().filter(|method| *method != baseline).collect();
    let tests: Vec<Vec<Option<PairedTest>>> = others
        .iter()
        .map(|other| experiments.iter().map(|(_, results)| test(results, baseline, other)).collect())
        .collect();
    let p_values: Vec<f64> = tests.iter().flatten().flatten().map(|test| test.p).collect();
    if p_values.is_empty() {
        return None;
    }
    let mut corrected = holm(&p_values).into_iter();
    let columns = || experiments.iter().map(|(name, _)| *name);
    let differences = format!(
        "{baseline} minus each other method, in percentage points of accuracy. An asterisk: significant at 5 % after Holm's correction for {} comparisons.",
        p_values.len()
    );
    let mut differences = ReportTable::new(differences, columns());
    let mut p_table = ReportTable::new("p-values of these differences after Holm's correction.", columns());
    for (other, tests) in others.iter().zip(&tests) {
        let cells = |test: &Option<PairedTest>| {
            let Some(test) = test else { return (ReportCell::none(), ReportCell::none()) };
            let p = corrected.next().expect("one p-value for every test");
            (ReportCell::difference(test.difference, 2, p < LEVEL), ReportCell::new(p_value(p)))
        };
        let (differing, p_cells) = tests.iter().map(cells).unzip();
        differences.add(*other, differing);
        p_table.add(*other, p_cells);
    }
    Some([differences, p_table])
}

/// A test over independent repetitions, or over the folds of a repeated cross-validation.
fn test(results: &Results, first: &str, second: &str) -> Option<PairedTest> {
    let differences = differences(&results.outcomes, first, second);
    // By the kind of experiment: a first fold without its second is still one of two.
    let has_folds = ["real-", "robustness-"].iter().any(|kind| results.header.experiment.starts_with(kind));
    if has_folds { PairedTest::across_folds(&differences) } else { PairedTest::independent(&differences) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::simulated;

    #[test]
    fn every_other_method_is_compared_with_the_baseline() {
        let results = [simulated::experiment("synthetic-faults", 2, &[0.0, 1.0], 30)];
        let all = ResultSet::new(&results);
        let tables = tables(&all, &[("faults", &results[0])]).expect("thirty repetitions");
        for table in &tables {
            assert_eq!(table.rows.len(), all.methods.len() - 1);
            assert!(table.rows.iter().all(|row| row.name != "adaspocc"));
        }
        // The simulated selection is fifteen points below: significant after any correction.
        let cell = |table: &ReportTable| {
            table.rows.iter().find(|row| row.name == "selection").expect("a row").cells[0].text.clone()
        };
        let [difference, p] = tables.each_ref().map(cell);
        assert!(difference.starts_with('+') && difference.ends_with(" *"), "{difference}");
        assert_eq!(p, "< 0.001");
    }

    #[test]
    fn a_difference_is_marked_only_when_the_corrected_p_value_is_small() {
        let results = [simulated::experiment("synthetic-faults", 2, &[0.0, 1.0], 5)];
        let all = ResultSet::new(&results);
        let [differences, p_values] = tables(&all, &[("faults", &results[0])]).expect("five repetitions");
        for (row, p) in differences.rows.iter().zip(&p_values.rows) {
            let p = &p.cells[0].text;
            let is_small = p.starts_with('<') || p.parse::<f64>().expect("a p-value") < LEVEL;
            assert_eq!(row.cells[0].text.ends_with('*'), is_small, "{} {p}", row.name);
        }
    }

    #[test]
    fn first_folds_without_their_second_are_still_tested_as_folds() {
        let mut real = simulated::experiment("real-wine", 2, &[0.0], 9);
        real.outcomes.retain(|outcome| outcome.fold == 0);
        let differences = differences(&real.outcomes, "adaspocc", "bayes");
        assert_eq!(test(&real, "adaspocc", "bayes"), PairedTest::across_folds(&differences));
        real.header.experiment = "synthetic-faults".into();
        assert_eq!(test(&real, "adaspocc", "bayes"), PairedTest::independent(&differences));
    }

    #[test]
    fn one_repetition_is_not_tested() {
        let results = [simulated::experiment("synthetic-faults", 2, &[0.0, 1.0], 1)];
        assert!(tables(&ResultSet::new(&results), &[("faults", &results[0])]).is_none());
    }
}
