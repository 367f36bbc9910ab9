//! The main findings, in a few sentences.

use super::{paper_comparison::PaperComparison, ranking::MethodRanking};
use crate::{
    aggregate::{DIFFICULTIES, ResultSet},
    paper::Paper,
    results::Results,
    statistics::AccuracySummary,
};

/// Datasets below which an average rank is not reported here.
const MIN_DATASETS: usize = 3;

/// Methods named beside the leader; further ones are counted.
const MAX_NAMED: usize = 3;

/// Agreement with the paper, then the best methods.
pub(super) fn findings(
    all: &ResultSet<'_>,
    paper: &Paper,
    synthetic: &PaperComparison,
    real: &PaperComparison,
    ranking: Option<&MethodRanking>,
) -> Vec<String> {
    let mut found = Vec::new();
    for (name, agreement) in [("synthetic", &synthetic.methods), ("real", &real.methods)] {
        if let Some(median) = agreement.median_difference() {
            found.push(format!(
                "On {name} data {} of {} compared figures agree with the paper's (overlapping 95 % intervals); the median absolute difference is {median:.2} points.",
                agreement.agreeing,
                agreement.compared(),
            ));
        }
    }
    found.extend(leaders(all));
    found.extend(ranking.and_then(|ranking| ranks(ranking, paper.real.columns.len())));
    found
}

fn ranks(ranking: &MethodRanking, n_printed: usize) -> Option<String> {
    let [n_datasets, n_shared] = ranking.n_datasets;
    let [(first, rank), (steady, shortfall)] = ranking.leaders.as_ref()?;
    (n_datasets >= MIN_DATASETS).then(|| {
        format!(
            "Over {n_datasets} real datasets, {n_shared} of them among the paper's {n_printed}, {first} has the best average rank ({rank:.2}); {steady} has the smallest worst shortfall from the best method ({shortfall:.2} points)."
        )
    })
}

/// The best method of every synthetic experiment; the paper's three difficulties are pooled if all were run.
fn leaders(all: &ResultSet<'_>) -> Option<String> {
    let one = |name: &&str| Some(((*name).to_owned(), vec![all.experiment(&format!("synthetic-{name}"))?]));
    let mut experiments: Vec<(String, Vec<&Results>)> = match all.all_difficulties() {
        Some(three) => vec![("adversaries, faults and redundancy pooled".into(), three)],
        None => DIFFICULTIES.iter().filter_map(one).collect(),
    };
    experiments.extend(["heterogeneous", "imbalance"].iter().filter_map(one));
    let sentence = |(name, experiments): &(String, Vec<&Results>)| {
        let summary = |method: &'_ String| Some((method.clone(), all.pooled(experiments, method)?));
        let summaries: Vec<_> = all.methods.iter().filter_map(summary).collect();
        Some(format!("{name}: {}", leader(&summaries)?))
    };
    let sentences: Vec<String> = experiments.iter().filter_map(sentence).collect();
    (!sentences.is_empty())
        .then(|| format!("Best mean accuracy on synthetic data. {}.", capitalised(&sentences.join("; "))))
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The method with the largest mean, and those whose intervals overlap with its own.
fn leader(methods: &[(String, AccuracySummary)]) -> Option<String> {
    let (best, summary) = methods.iter().reduce(|a, b| if b.1.mean > a.1.mean { b } else { a })?;
    let mean = summary.mean;
    let Some(interval) = summary.interval else {
        return Some(format!("{best}, {mean:.2} % (too few repetitions for an interval)"));
    };
    let mut near: Vec<&(String, AccuracySummary)> = methods
        .iter()
        .filter(|(name, other)| name != best && other.overlaps(interval) != Some(false))
        .collect();
    near.sort_by(|a, b| b.1.mean.total_cmp(&a.1.mean));
    let names: Vec<&str> = near.iter().take(MAX_NAMED).map(|(name, _)| name.as_str()).collect();
    let more = match near.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    Some(match names.as_slice() {
        [] => format!("{best}, {mean:.2} %"),
        names => format!("{best}, {mean:.2} % (its interval overlaps with {}{more})", names.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::simulated;

    fn method(name: &str, mean: f64, half: Option<f64>) -> (String, AccuracySummary) {
        let interval = half.map(|half| [mean - half, mean + half]);
        (name.into(), AccuracySummary { mean, deviation: 1.0, interval })
    }

    #[test]
    fn methods_whose_intervals_overlap_with_the_leaders_are_named() {
        let methods =
            [method("a", 80.0, Some(0.5)), method("b", 82.0, Some(0.5)), method("c", 81.5, Some(0.1))];
        assert_eq!(leader(&methods).as_deref(), Some("b, 82.00 % (its interval overlaps with c)"));
        assert_eq!(leader(&methods[..2]).as_deref(), Some("b, 82.00 %"));
        let few = leader(&[method("a", 80.0, None)]).expect("a method");
        assert!(few.contains("too few repetitions"), "{few}");
        assert_eq!(leader(&[]), None);
    }

    #[test]
    fn ranks_are_not_reported_below_three_datasets() {
        let results =
            ["real-wine", "real-spam", "real-digits"].map(|name| simulated::experiment(name, 2, &[0.0], 3));
        let paper = Paper::read();
        let sentence = |results: &[Results]| {
            let ranking = MethodRanking::new(&ResultSet::new(results), &paper).expect("datasets");
            ranks(&ranking, paper.real.columns.len())
        };
        assert_eq!(sentence(&results[..2]), None);
        let three = sentence(&results).expect("three datasets");
        assert!(three.starts_with("Over 3 real datasets, 2 of them among the paper's 8"), "{three}");
    }
}
