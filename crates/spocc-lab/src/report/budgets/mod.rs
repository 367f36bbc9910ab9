//! The report of `spocc-lab budgets`: how far the default method is behind the best rival with few labelled rows.
//!
//! `points` groups the outcomes by number of labelled rows, `gaps` compares accuracies, `comparisons` compares log-losses,
//! counts wins and checks reported accuracies.

mod comparisons;
mod gaps;
mod points;

use super::{
    document::{Document, PictureSize, ReportCell, ReportSection, ReportTable},
    line_chart,
};
use crate::{
    aggregate::{ResultSet, points as rows_of, repetitions},
    experiments::budgets::{MAX_TEST, MAX_UNLABELLED, MIN_PROBABILITY, PROTOCOL},
    results::Results,
};

use points::BudgetColumn;

/// The default method, with labelled rows alone and with unlabelled rows, too.
const DEFAULTS: [&str; 2] = ["ladder", "ladder+u"];

/// The methods that the default is compared with.
const RIVALS: [&str; 8] = [
    "majority",
    "weighted-vote",
    "selection",
    "naive-bayes",
    "stacking",
    "dawid-skene+u",
    "sklearn-logistic",
    "sklearn-forest",
];

/// Whether results are those of budgets.
pub(super) fn is_budgets(results: &[Results]) -> bool {
    results.first().is_some_and(|results| results.header.protocol == PROTOCOL)
}

/// Arranges all results as a report.
pub(super) fn arrange(results: &[Results]) -> Document {
    let mut all = ResultSet::new(results);
    // A method and the same with unlabelled rows are listed together.
    all.methods.sort_by_key(|method| {
        let place = |name: &str| spocc::Method::ALL.iter().position(|method| method.to_string() == name);
        (place(method.trim_end_matches("+u")).unwrap_or(usize::MAX), method.clone())
    });
    let columns = points::columns(results);
    let mut sections = vec![protocol(&all), gaps::section(&columns)];
    sections.push(gaps::all_methods(&all, &columns));
    sections.extend(comparisons::sections(&all, &columns));
    sections.push(sets(&all));
    Document {
        title: "Few labelled rows".into(),
        settings: settings(&all),
        findings: gaps::findings(&columns),
        sections,
    }
}

fn settings(all: &ResultSet<'_>) -> Vec<(&'static str, String)> {
    let counts = || all.results.iter().map(repetitions);
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let draws = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let absent: Vec<&str> =
        RIVALS.into_iter().filter(|rival| !all.methods.iter().any(|method| method == rival)).collect();
    let absent = if absent.is_empty() { "none".to_owned() } else { absent.join(", ") };
    let version = all.results.first().map_or_else(String::new, |results| results.header.version.clone());
    vec![
        ("seed", all.seed.to_string()),
        ("label sets", all.results.len().to_string()),
        ("draws of each budget", draws),
        ("engine version", version),
        ("rivals without results", absent),
    ]
}

fn protocol(all: &ResultSet<'_>) -> ReportSection {
    let mut table = ReportTable::new(
        "The label sets. Half of the rows with a truth is the largest budget.",
        ["classes", "rows with a truth", "budgets"],
    );
    for (name, results) in all.named(&format!("{PROTOCOL}-")) {
        let budgets: Vec<String> = rows_of(results).iter().map(ToString::to_string).collect();
        let rows =
            results.header.rows.map_or_else(ReportCell::none, |rows| ReportCell::new(rows.to_string()));
        let classes = ReportCell::new(results.header.classes.to_string());
        table.add(name, vec![classes, rows, ReportCell::new(budgets.join(", "))]);
    }
    ReportSection::new("What was run")
        .paragraph(format!("The labelled rows are drawn uniformly from the rows with a truth, without stratification; a draw of a single class is drawn again. At most {MAX_TEST} of the other rows, sampled at random, are tested. Methods marked +u also see up to {MAX_UNLABELLED} other rows without their truth, the tested rows among them. The classes are given to every method. Missing predictions are treated as the engine does by default."))
        .paragraph(format!("Rivals: {}. Methods that begin with sklearn or crowdkit were run by bench/budgets.py on the same draws. Seed 1 is the seed of development; figures that are reported have another one.", RIVALS.join(", ")))
        .paragraph(format!("Log-losses floor probabilities at {MIN_PROBABILITY:e}. Intervals are plain 95 % t intervals of paired differences over the draws. Draws share their rows, so the intervals apply to other draws from the same set and not to new sets."))
        .table(table)
}

/// Accuracies of every method on every set, with a picture of the main ones.
fn sets(all: &ResultSet<'_>) -> ReportSection {
    let mut section = ReportSection::new("Every label set");
    let shown: Vec<String> = DEFAULTS.iter().chain(&RIVALS).map(ToString::to_string).collect();
    for (name, results) in all.named(&format!("{PROTOCOL}-")) {
        let points = rows_of(results);
        let heads: Vec<String> = points.iter().map(ToString::to_string).collect();
        let caption = "Mean accuracy in % by number of labelled rows.";
        let mut table = ReportTable::new(caption, heads.iter().map(String::as_str));
        let mut figures: Vec<Vec<Option<f64>>> = Vec::new();
        for (method, _) in all.rows(&[results]) {
            let means: Vec<Option<f64>> =
                points.iter().map(|at| Some(all.summary_at(results, &method, *at)?.mean)).collect();
            table.add(method, means.iter().map(|mean| ReportCell::figure(*mean, 1)).collect());
            figures.push(means);
        }
        for column in 0..points.len() {
            table.mark_best(column, &figures.iter().map(|means| means[column]).collect::<Vec<_>>());
        }
        let picture = line_chart::accuracy(all, results, &shown, name, "labelled rows");
        let caption = format!(
            "{name}: mean accuracy of the default (orange) and its rivals, with bootstrap intervals over the draws."
        );
        section = section.heading(name).pictures(caption, PictureSize::Wide, vec![picture]).table(table);
    }
    section
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{html, markdown};

    #[test]
    fn the_report_has_every_set_every_table_and_a_picture_of_each_set() {
        let results = points::simulated(&[("one", 1000), ("two", 60)], 5);
        let document = arrange(&results);
        assert_eq!(document.findings.len(), 2 * 3, "{:?}", document.findings);
        let text = markdown::render(&document);
        for expected in
            ["| 25 | 50 | half |", "### one", "### two", "- rivals without results: weighted-vote, "]
        {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        assert!(!text.contains("NaN"), "{text}");
        let page = html::render(&document);
        assert_eq!(page.matches("<svg").count(), 2);
    }
}
