//! Headlines: what came out, in a few sentences.

use super::{standing::Standing, tables::Comparison};
use crate::{
    measured::{DIFFICULTIES, Measured},
    paper::Paper,
    results::Results,
    statistics::Summary,
};

/// Datasets below which an average rank is no headline.
const LEAST_DATASETS: usize = 3;

/// Rivals named; more are counted.
const NAMED: usize = 3;

/// Agreement with the paper, then who leads where, and how surely.
pub(super) fn headlines(
    measured: &Measured<'_>,
    paper: &Paper,
    synthetic: &Comparison,
    real: &Comparison,
    standing: Option<&Standing>,
) -> Vec<String> {
    let mut found = Vec::new();
    for (name, agreement) in [("synthetic", &synthetic.methods), ("real", &real.methods)] {
        if let Some(median) = agreement.median_difference() {
            found.push(format!(
                "On {name} data {} of {} compared figures agree with the paper's; half of the compared figures differ by less than {median:.2} points.",
                agreement.agreeing,
                agreement.compared(),
            ));
        }
    }
    found.extend(leaders(measured));
    found.extend(standing.and_then(|standing| ranks(standing, paper.real.columns.len())));
    found
}

fn ranks(standing: &Standing, n_printed: usize) -> Option<String> {
    let [n_datasets, n_shared] = standing.n_datasets;
    let [(first, rank), (steady, shortfall)] = standing.leaders.as_ref()?;
    (n_datasets >= LEAST_DATASETS).then(|| {
        format!(
            "Over {n_datasets} real datasets, {n_shared} of the paper's {n_printed} among them, {first} has the best average rank, {rank:.2}; {steady} falls least behind the best method, by at most {shortfall:.2} points."
        )
    })
}

/// The best method of every synthetic experiment, the paper's three difficulties taken together if all were run.
fn leaders(measured: &Measured<'_>) -> Option<String> {
    let one =
        |name: &&str| Some(((*name).to_owned(), vec![measured.experiment(&format!("synthetic-{name}"))?]));
    let mut sides: Vec<(String, Vec<&Results>)> = match measured.all_difficulties() {
        Some(three) => vec![("adversaries, faults and redundancy together".into(), three)],
        None => DIFFICULTIES.iter().filter_map(one).collect(),
    };
    sides.extend(["heterogeneous", "imbalance"].iter().filter_map(one));
    let said = |(name, experiments): &(String, Vec<&Results>)| {
        let summary = |method: &'_ String| Some((method.clone(), measured.pooled(experiments, method)?));
        Some(format!(
            "with {name} {}",
            leader(&measured.methods.iter().filter_map(summary).collect::<Vec<_>>())?
        ))
    };
    let said: Vec<String> = sides.iter().filter_map(said).collect();
    (!said.is_empty()).then(|| format!("Best mean accuracy on synthetic data: {}.", said.join("; ")))
}

/// The method with the largest mean, and those whose intervals meet its own.
fn leader(methods: &[(String, Summary)]) -> Option<String> {
    let (best, summary) = methods.iter().reduce(|a, b| if b.1.mean > a.1.mean { b } else { a })?;
    let mean = summary.mean;
    let Some(interval) = summary.interval else {
        return Some(format!("{best}, {mean:.2} %, from too few repetitions to say how surely"));
    };
    let mut near: Vec<&(String, Summary)> = methods
        .iter()
        .filter(|(name, other)| name != best && other.overlaps(interval) != Some(false))
        .collect();
    near.sort_by(|a, b| b.1.mean.total_cmp(&a.1.mean));
    let names: Vec<&str> = near.iter().take(NAMED).map(|(name, _)| name.as_str()).collect();
    let more = match near.len().saturating_sub(NAMED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    Some(match names.as_slice() {
        [] => format!("{best}, {mean:.2} %"),
        names => format!("{best}, {mean:.2} %, not surely ahead of {}{more}", names.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::invented;

    fn method(name: &str, mean: f64, half: Option<f64>) -> (String, Summary) {
        let interval = half.map(|half| [mean - half, mean + half]);
        (name.into(), Summary { mean, deviation: 1.0, interval })
    }

    #[test]
    fn a_leader_is_not_surely_ahead_of_those_whose_intervals_meet_its_own() {
        let methods =
            [method("a", 80.0, Some(0.5)), method("b", 82.0, Some(0.5)), method("c", 81.5, Some(0.1))];
        assert_eq!(leader(&methods).as_deref(), Some("b, 82.00 %, not surely ahead of c"));
        assert_eq!(leader(&methods[..2]).as_deref(), Some("b, 82.00 %"));
        let few = leader(&[method("a", 80.0, None)]).expect("a method");
        assert!(few.contains("too few repetitions"), "{few}");
        assert_eq!(leader(&[]), None);
    }

    #[test]
    fn ranks_are_no_headline_below_three_datasets() {
        let results =
            ["real-wine", "real-spam", "real-digits"].map(|name| invented::experiment(name, 2, &[0.0], 3));
        let paper = Paper::read();
        let said = |results: &[Results]| {
            let standing = Standing::new(&Measured::new(results), &paper).expect("datasets");
            ranks(&standing, paper.real.columns.len())
        };
        assert_eq!(said(&results[..2]), None);
        let three = said(&results).expect("three datasets");
        assert!(three.starts_with("Over 3 real datasets, 2 of the paper's 8 among them"), "{three}");
    }
}
