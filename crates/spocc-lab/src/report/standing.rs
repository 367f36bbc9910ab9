//! Standing: average ranks and worst shortfalls over the real datasets, beside those of the paper.

use super::{
    critical,
    measured::Measured,
    page::{Cell, Row, Table, p_value},
};
use crate::{
    paper::Paper,
    statistics::{Friedman, average_ranks, critical_difference, discrepancies},
};

/// How methods stand over the real datasets.
pub(super) struct Standing {
    pub(super) table: Table,
    /// What Friedman's test says, in words.
    pub(super) verdict: String,
    /// The diagram, if there are datasets and methods enough.
    pub(super) diagram: Option<String>,
    /// The method with the best average rank, and with the smallest worst shortfall.
    pub(super) leaders: Option<[(String, f64); 2]>,
}

/// Mean accuracies: dataset after dataset, a figure per method.
type Means = Vec<Vec<Option<f64>>>;

impl Standing {
    /// Ranks all methods on all real datasets found; nothing without any.
    pub(super) fn new(measured: &Measured<'_>, paper: &Paper) -> Option<Self> {
        let datasets = measured.named("real-");
        if datasets.is_empty() {
            return None;
        }
        let all = means(measured, &measured.methods, |_| true);
        let (ranks, shortfalls) = (average_ranks(&all), discrepancies(&all));
        let columns = [
            "shortfall, paper",
            "paper, datasets run",
            "ours, same",
            "ours, all",
            "rank, paper",
            "paper, datasets run",
            "ours, same",
            "ours, all",
        ];
        let mut table = Table::new(
            "Maximal shortfall from the best method, in points, and average rank, 1 being the best.",
            columns,
        );
        let known: Vec<String> =
            measured.methods.iter().filter(|method| paper.real.knows(method)).cloned().collect();
        let same = means(measured, &known, |name| paper.real.columns.iter().any(|column| column == name));
        let printed = printed(measured, paper, &known);
        let both = |means: &Means| (discrepancies(means), average_ranks(means));
        let ((their_shortfalls, their_ranks), (same_shortfalls, same_ranks)) = (both(&printed), both(&same));
        for (place, method) in measured.methods.iter().enumerate() {
            let among = known.iter().position(|name| name == method);
            let pick = |list: &[Option<f64>]| *list.get(among?)?;
            let pick_rank = |list: &[f64]| list.get(among?).copied();
            let figures = [
                paper.discrepancy(method),
                pick(&their_shortfalls),
                pick(&same_shortfalls),
                shortfalls[place],
                paper.average_rank(method),
                pick_rank(&their_ranks),
                pick_rank(&same_ranks),
                Some(ranks[place]),
            ];
            let cell = |figure: Option<f64>| figure.map_or_else(Cell::none, |f| Cell::new(format!("{f:.2}")));
            let cells = figures.map(cell).to_vec();
            table.rows.push(Row { name: method.clone(), is_reference: false, cells });
        }
        mark_least(&mut table);
        let friedman = Friedman::of(&ranks, datasets.len());
        let difference =
            critical_difference(measured.methods.len(), datasets.len()).filter(|_| friedman.is_some());
        let worst: Vec<f64> = shortfalls.iter().map(|figure| figure.unwrap_or(f64::INFINITY)).collect();
        Some(Self {
            table,
            verdict: verdict(friedman, datasets.len()),
            diagram: difference.map(|difference| critical::diagram(&measured.methods, &ranks, difference)),
            leaders: least(&measured.methods, &ranks)
                .zip(least(&measured.methods, &worst))
                .map(|(a, b)| [a, b]),
        })
    }
}

fn means(measured: &Measured<'_>, methods: &[String], wanted: impl Fn(&str) -> bool) -> Means {
    let datasets = measured.named("real-").into_iter().filter(|(name, _)| wanted(name));
    datasets
        .map(|(_, results)| {
            methods.iter().map(|method| Some(measured.summary(results, method)?.mean)).collect()
        })
        .collect()
}

/// The paper's own figures on those of its datasets that were run here.
fn printed(measured: &Measured<'_>, paper: &Paper, methods: &[String]) -> Means {
    let columns = paper.real.columns.iter();
    let run = columns.filter(|column| measured.experiment(&format!("real-{column}")).is_some());
    run.map(|column| {
        methods.iter().map(|method| paper.real.figure(method, column).map(|figure| figure.0)).collect()
    })
    .collect()
}

fn verdict(friedman: Option<Friedman>, n_datasets: usize) -> String {
    let Some(Friedman { chi_square, f, p }) = friedman else {
        return "Two datasets and two methods are the least that can be tested.".into();
    };
    let f = if f.is_finite() { format!("{f:.2}") } else { "beyond all bounds".into() };
    let p_words = p_value(p);
    let meaning = if p < 0.05 { "the methods are not all alike" } else { "chance explains the ranks" };
    format!(
        "Friedman's test over {n_datasets} datasets: chi-square {chi_square:.2}, Iman and Davenport's F {f}, {p_words}: {meaning}."
    )
}

fn least(methods: &[String], figures: &[f64]) -> Option<(String, f64)> {
    let pairs = methods.iter().zip(figures);
    pairs.min_by(|a, b| a.1.total_cmp(b.1)).map(|(method, figure)| (method.clone(), *figure))
}

/// Small is good in every column.
fn mark_least(table: &mut Table) {
    for column in 0..table.columns.len() {
        let negated: Vec<Option<f64>> = table
            .rows
            .iter()
            .map(|row| row.cells[column].text.parse().ok().map(|figure: f64| -figure))
            .collect();
        table.mark_best(column, &negated);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::invented;

    #[test]
    fn the_papers_own_figures_are_taken_on_the_datasets_that_were_run() {
        let results = ["real-wine", "real-spam"].map(|name| invented::experiment(name, 2, &[0.0], 3));
        let standing = Standing::new(&Measured::new(&results), &Paper::read()).expect("two datasets");
        let row = standing.table.rows.iter().find(|row| row.name == "adaspocc").expect("a method");
        // Wine: 65.63 - 64.92 = 0.71; Spam: 89.67 - 89.26 = 0.41. Ranks there: 3.5 and 2.
        assert_eq!(row.cells[0].text, "2.25");
        assert_eq!(row.cells[1].text, "0.71");
        assert_eq!([&row.cells[4].text, &row.cells[5].text], ["2.10", "2.75"]);
        let stranger = standing.table.rows.iter().find(|row| row.name == "ladder").expect("a method");
        assert_eq!(stranger.cells[1].text, "–");
        assert_ne!(stranger.cells[7].text, "–");
        assert!(standing.diagram.is_some() && standing.verdict.contains("over 2 datasets"));
    }

    #[test]
    fn one_dataset_is_ranked_but_not_tested() {
        let results = [invented::experiment("real-wine", 2, &[0.0], 3)];
        let standing = Standing::new(&Measured::new(&results), &Paper::read()).expect("a dataset");
        assert!(standing.diagram.is_none() && standing.verdict.starts_with("Two datasets"));
        let [(_, rank), (_, shortfall)] = standing.leaders.expect("methods");
        assert_eq!((rank, shortfall), (1.0, 0.0));
        assert!(Standing::new(&Measured::new(&[]), &Paper::read()).is_none());
    }
}
