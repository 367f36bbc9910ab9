//! Average ranks and worst shortfalls over the real datasets, beside those of the paper.

use super::{
    critical_difference,
    document::{ReportCell, ReportTable, p_value},
};
use crate::{
    aggregate::ResultSet,
    paper::Paper,
    statistics::{Friedman, average_ranks, critical_difference, discrepancies},
};

/// The methods ranked over the real datasets.
pub(super) struct MethodRanking {
    pub(super) ranks: ReportTable,
    pub(super) shortfalls: ReportTable,
    /// The outcome of Friedman's test, in words.
    pub(super) verdict: String,
    /// The critical-difference diagram and its caption; nothing with fewer than two datasets or methods.
    pub(super) diagram: Option<(String, String)>,
    /// Datasets ranked on, and how many of them the paper has.
    pub(super) n_datasets: [usize; 2],
    /// The method with the best average rank, and the one with the smallest worst shortfall.
    pub(super) leaders: Option<[(String, f64); 2]>,
}

/// The level of Friedman's test.
const LEVEL: f64 = 0.05;

const RANK: &str = "Average rank by mean accuracy (1 is best; a method without a figure ranks last).";
const SHORTFALL: &str =
    "Worst shortfall: the largest distance from the best method of a dataset, in percentage points.";
const COLUMNS: [&str; 4] = [
    "paper, as printed",
    "paper, shared datasets",
    "ours, shared datasets",
    "ours, all datasets and methods",
];

/// Mean accuracies by dataset, then by method.
type DatasetMeans = Vec<Vec<Option<f64>>>;

impl MethodRanking {
    /// Ranks all methods on all real datasets found; nothing without any.
    pub(super) fn new(all: &ResultSet<'_>, paper: &Paper) -> Option<Self> {
        let datasets = all.named("real-");
        if datasets.is_empty() {
            return None;
        }
        let means = means(all, &all.methods);
        let (ranks, shortfalls) = (average_ranks(&means), discrepancies(&means));
        let known: Vec<String> =
            all.methods.iter().filter(|method| paper.real.knows(method)).cloned().collect();
        let (theirs, ours) = shared(all, paper, &known);
        let friedman = Friedman::of(&ranks, datasets.len());
        let difference =
            critical_difference(all.methods.len(), datasets.len()).filter(|_| friedman.is_some());
        let test = RankTest::new(friedman, &ranks, difference);
        let worst: Vec<f64> = shortfalls.iter().map(|figure| figure.unwrap_or(f64::INFINITY)).collect();
        let known_ranks = |means: &DatasetMeans| average_ranks(means).into_iter().map(Some).collect();
        let all_ranks: Vec<Option<f64>> = ranks.iter().copied().map(Some).collect();
        Some(Self {
            ranks: side_by_side(
                RANK,
                &all.methods,
                &known,
                |method| paper.average_rank(method),
                [known_ranks(&theirs), known_ranks(&ours), all_ranks],
            ),
            shortfalls: side_by_side(
                SHORTFALL,
                &all.methods,
                &known,
                |method| paper.discrepancy(method),
                [discrepancies(&theirs), discrepancies(&ours), shortfalls],
            ),
            verdict: verdict(friedman, test, datasets.len()),
            diagram: difference.map(|difference| {
                (test.caption(), critical_difference::diagram(&all.methods, &ranks, difference))
            }),
            n_datasets: [datasets.len(), theirs.len()],
            leaders: least(&all.methods, &ranks).zip(least(&all.methods, &worst)).map(|(a, b)| [a, b]),
        })
    }
}

/// A table of the paper's figures and ours; the smallest of a column is the best.
///
/// `theirs` and `ours` have a figure per known method, `everything` one per method.
fn side_by_side(
    caption: &str,
    methods: &[String],
    known: &[String],
    printed: impl Fn(&str) -> Option<f64>,
    [theirs, ours, everything]: [Vec<Option<f64>>; 3],
) -> ReportTable {
    let mut table = ReportTable::new(caption, COLUMNS);
    let mut columns: [Vec<Option<f64>>; 4] = Default::default();
    for (method, own) in methods.iter().zip(everything) {
        let place = known.iter().position(|name| name == method);
        let pick = |figures: &[Option<f64>]| *figures.get(place?)?;
        let figures = [printed(method), pick(&theirs), pick(&ours), own];
        table.add(method, figures.map(|figure| ReportCell::figure(figure, 2)).to_vec());
        // Equal to two decimals is equal: the paper prints no more.
        let rounded = |figure: f64| (figure * 100.0).round() / 100.0;
        columns.iter_mut().zip(figures).for_each(|(column, figure)| column.push(figure.map(rounded)));
    }
    for (column, figures) in columns.iter().enumerate() {
        let negated: Vec<Option<f64>> = figures.iter().map(|figure| figure.map(|figure| -figure)).collect();
        table.mark_best(column, &negated);
    }
    table
}

/// What the tests conclude about the ranks.
#[derive(Clone, Copy)]
enum RankTest {
    /// Friedman's test does not reject, or there are too few datasets for it.
    NotRejected,
    /// It rejects, and Nemenyi's test separates no pair of methods.
    NoPair,
    /// It rejects, and at least one pair is separated.
    Separated,
}

impl RankTest {
    fn new(friedman: Option<Friedman>, ranks: &[f64], difference: Option<f64>) -> Self {
        let (low, high) = ranks
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &rank| (low.min(rank), high.max(rank)));
        match friedman {
            Some(friedman) if friedman.p < LEVEL => {
                if difference.is_some_and(|difference| high - low < difference) {
                    Self::NoPair
                } else {
                    Self::Separated
                }
            }
            _ => Self::NotRejected,
        }
    }

    fn caption(self) -> String {
        let meaning = match self {
            Self::NotRejected => {
                "Friedman's test does not reject, so methods without a common bar need not differ either."
            }
            Self::NoPair => {
                "One bar joins all methods: no pair differs significantly, although Friedman's test rejects."
            }
            Self::Separated => "Methods without a common bar differ significantly.",
        };
        format!(
            "Average ranks, best at the left. A bar joins methods whose ranks differ by less than the critical difference (Nemenyi, 5 %). {meaning}"
        )
    }
}

fn means(all: &ResultSet<'_>, methods: &[String]) -> DatasetMeans {
    let datasets = all.named("real-").into_iter();
    datasets
        .map(|(_, results)| methods.iter().map(|method| Some(all.summary(results, method)?.mean)).collect())
        .collect()
}

/// The paper's figures and ours on those of its datasets that were run here, where both have one.
fn shared(all: &ResultSet<'_>, paper: &Paper, methods: &[String]) -> (DatasetMeans, DatasetMeans) {
    let columns = paper.real.columns.iter();
    let run = columns.filter_map(|column| Some((column, all.experiment(&format!("real-{column}"))?)));
    run.map(|(column, results)| {
        let pair = |method: &String| {
            Some((paper.real.figure(method, column)?.0, all.summary(results, method)?.mean))
        };
        methods.iter().map(pair).map(Option::unzip).unzip()
    })
    .unzip()
}

fn verdict(friedman: Option<Friedman>, test: RankTest, n_datasets: usize) -> String {
    let Some(Friedman { chi_square, f, p }) = friedman else {
        return "Friedman's test needs at least two datasets and two methods.".into();
    };
    let f = if f.is_finite() { format!("{f:.2}") } else { "infinite".into() };
    let p = p_value(p);
    let p = if p.starts_with('<') { format!("p {p}") } else { format!("p = {p}") };
    let meaning = match test {
        RankTest::NotRejected => "these datasets show no difference between the methods.",
        RankTest::NoPair => {
            "the methods differ. Nemenyi's test, which compares all pairs, is more conservative and separates none."
        }
        RankTest::Separated => "the methods differ.",
    };
    format!(
        "Friedman's test over {n_datasets} datasets: chi-square {chi_square:.2}, Iman and Davenport's F {f}, {p}: {meaning}"
    )
}

fn least(methods: &[String], figures: &[f64]) -> Option<(String, f64)> {
    let pairs = methods.iter().zip(figures);
    pairs.min_by(|a, b| a.1.total_cmp(b.1)).map(|(method, figure)| (method.clone(), *figure))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::simulated;

    #[test]
    fn the_papers_own_figures_are_taken_on_the_datasets_that_were_run() {
        let results = ["real-wine", "real-spam"].map(|name| simulated::experiment(name, 2, &[0.0], 3));
        let ranking = MethodRanking::new(&ResultSet::new(&results), &Paper::read()).expect("two datasets");
        let texts = |table: &ReportTable, method: &str| -> Vec<String> {
            let row = table.rows.iter().find(|row| row.name == method).expect("a method");
            row.cells.iter().map(|cell| cell.text.clone()).collect()
        };
        // Wine: 65.63 - 64.92 = 0.71; Spam: 89.67 - 89.26 = 0.41. Ranks there: 3.5 and 2.
        assert_eq!(texts(&ranking.shortfalls, "adaspocc")[..2], ["2.25", "0.71"]);
        assert_eq!(texts(&ranking.ranks, "adaspocc")[..2], ["2.10", "2.75"]);
        for table in [&ranking.ranks, &ranking.shortfalls] {
            let new = texts(table, "ladder");
            assert_eq!(new[..3], ["–"; 3], "the paper has no ladder");
            assert_ne!(new[3], "–");
        }
        assert!(ranking.diagram.is_some() && ranking.verdict.contains("over 2 datasets"));
    }

    #[test]
    fn shared_figures_are_those_that_both_have() {
        let results = ["real-mnist", "real-wine"].map(|name| simulated::experiment(name, 2, &[0.0], 3));
        let methods = ["bayes", "adaspocc"].map(String::from);
        let (theirs, ours) = shared(&ResultSet::new(&results), &Paper::read(), &methods);
        // On Mnist the paper calls Bayes intractable, and we do not.
        assert_eq!((theirs[0][0], ours[0][0]), (None, None));
        assert_eq!((theirs[0][1], theirs[1][0]), (Some(79.13), Some(63.89)));
        assert!(ours[0][1].is_some() && ours[1][0].is_some());
    }

    #[test]
    fn a_test_that_does_not_reject_claims_no_difference() {
        let texts = |p, ranks: &[f64]| {
            let friedman = Some(Friedman { chi_square: 1.0, f: 1.0, p });
            let test = RankTest::new(friedman, ranks, Some(1.5));
            (verdict(friedman, test, 8), test.caption())
        };
        let (verdict, caption) = texts(0.05, &[1.0, 3.0]);
        assert!(verdict.ends_with("these datasets show no difference between the methods."), "{verdict}");
        assert!(caption.contains("does not reject"), "{caption}");
        let (verdict, caption) = texts(0.01, &[1.0, 2.0]);
        assert!(verdict.contains("more conservative") && caption.contains("One bar joins all"), "{verdict}");
        let (verdict, _) = texts(0.01, &[1.0, 3.0]);
        assert!(verdict.ends_with("the methods differ."), "{verdict}");
    }

    #[test]
    fn one_dataset_is_ranked_but_not_tested() {
        let results = [simulated::experiment("real-wine", 2, &[0.0], 3)];
        let ranking = MethodRanking::new(&ResultSet::new(&results), &Paper::read()).expect("a dataset");
        assert!(ranking.diagram.is_none() && ranking.verdict.contains("at least two datasets"));
        let [(_, rank), (_, shortfall)] = ranking.leaders.expect("methods");
        assert_eq!((rank, shortfall), (1.0, 0.0));
        assert!(MethodRanking::new(&ResultSet::new(&[]), &Paper::read()).is_none());
    }
}
