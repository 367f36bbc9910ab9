//! Aggregates of recorded outcomes: accuracies in percent by experiment and method, grouped by repetition.

use std::collections::{BTreeMap, BTreeSet};

use spocc::Method;

use crate::{
    coverage::SetCounts,
    results::{Results, RunOutcome},
    statistics::{AccuracySummary, mean},
};

/// Reference accuracies, in the order of the paper's tables.
const REFERENCES: [&str; 3] = ["best-base", "centralised", "optimal"];

/// The experiments of the paper's Table 1.
pub(crate) const DIFFICULTIES: [&str; 3] = ["adversaries", "faults", "redundancy"];

/// All results of a folder, and the methods in them.
pub(crate) struct ResultSet<'a> {
    pub(crate) results: &'a [Results],
    /// In the order of the engine's list, then any others.
    pub(crate) methods: Vec<String>,
    pub(crate) seed: u64,
}

impl<'a> ResultSet<'a> {
    pub(crate) fn new(results: &'a [Results]) -> Self {
        let found: BTreeSet<&str> = results
            .iter()
            .flat_map(|results| &results.outcomes)
            .flat_map(|outcome| outcome.confusion.keys().map(String::as_str))
            .collect();
        let mut methods: Vec<String> = Method::ALL.map(|method| method.to_string()).to_vec();
        methods.retain(|method| found.contains(method.as_str()));
        let others: Vec<_> =
            found.iter().filter(|name| !methods.iter().any(|method| method == *name)).collect();
        methods.extend(others.into_iter().map(ToString::to_string));
        Self { results, methods, seed: results.first().map_or(0, |results| results.header.seed) }
    }

    /// The results of an experiment, if there are any.
    pub(crate) fn experiment(&self, name: &str) -> Option<&'a Results> {
        self.results.iter().find(|results| results.header.experiment == name && !results.outcomes.is_empty())
    }

    /// Experiments whose names have a prefix: the rest of the name, and the results.
    pub(crate) fn named(&self, prefix: &str) -> Vec<(&'a str, &'a Results)> {
        self.results
            .iter()
            .filter(|results| !results.outcomes.is_empty())
            .filter_map(|results| Some((results.header.experiment.strip_prefix(prefix)?, results)))
            .collect()
    }

    /// The three experiments of Table 1, if all were run.
    pub(crate) fn all_difficulties(&self) -> Option<Vec<&'a Results>> {
        DIFFICULTIES.iter().map(|name| self.experiment(&format!("synthetic-{name}"))).collect()
    }

    /// Methods and references with figures in these results, and whether each is a reference.
    pub(crate) fn rows(&self, results: &[&Results]) -> Vec<(String, bool)> {
        let has = |name: &str| {
            results
                .iter()
                .flat_map(|results| &results.outcomes)
                .any(|outcome| accuracy(outcome, name).is_some())
        };
        let methods = self.methods.iter().filter(|name| has(name)).map(|name| (name.clone(), false));
        let references = REFERENCES.iter().filter(|name| has(name)).map(|name| (name.to_string(), true));
        methods.chain(references).collect()
    }

    /// The accuracy of a method or reference over all outcomes of one experiment.
    pub(crate) fn summary(&self, results: &Results, name: &str) -> Option<AccuracySummary> {
        AccuracySummary::of(&groups(results.outcomes.iter().map(|outcome| (outcome, name))), self.seed)
    }

    /// The accuracy at one point of the experiment.
    pub(crate) fn summary_at(&self, results: &Results, name: &str, at: f64) -> Option<AccuracySummary> {
        let here = results.outcomes.iter().filter(|outcome| outcome.at == at);
        AccuracySummary::of(&groups(here.map(|outcome| (outcome, name))), self.seed)
    }

    /// The accuracy over several experiments, from the runs that all of them have: the mean of their means.
    pub(crate) fn pooled(&self, experiments: &[&Results], name: &str) -> Option<AccuracySummary> {
        let outcomes = shared(experiments);
        AccuracySummary::of(&groups(outcomes.into_iter().map(|outcome| (outcome, name))), self.seed)
    }
}

/// The outcomes of runs (repetition, fold and point) that all of several experiments have.
pub(crate) fn shared<'a>(experiments: &[&'a Results]) -> Vec<&'a RunOutcome> {
    let run = |outcome: &RunOutcome| (outcome.rep, outcome.fold, outcome.at.to_bits());
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for outcome in experiments.iter().flat_map(|results| &results.outcomes) {
        *counts.entry(run(outcome)).or_default() += 1;
    }
    let outcomes = experiments.iter().flat_map(|results| &results.outcomes);
    outcomes.filter(|outcome| counts[&run(outcome)] == experiments.len()).collect()
}

/// The distinct values of the varied quantity, ascending.
pub(crate) fn points(results: &Results) -> Vec<f64> {
    let mut points: Vec<f64> = results.outcomes.iter().map(|outcome| outcome.at).collect();
    points.sort_by(f64::total_cmp);
    points.dedup();
    points
}

/// The number of repetitions of an experiment.
pub(crate) fn repetitions(results: &Results) -> usize {
    results.outcomes.iter().map(|outcome| outcome.rep).collect::<BTreeSet<_>>().len()
}

/// Mean log-loss of a method over all outcomes of an experiment; nothing if none has it.
pub(crate) fn log_loss(results: &Results, method: &str) -> Option<f64> {
    mean_of(results, |outcome| outcome.log_loss.get(method))
}

/// Mean fit time of a method.
pub(crate) fn fit_seconds(results: &Results, method: &str) -> Option<f64> {
    mean_of(results, |outcome| outcome.fit_seconds.get(method))
}

fn mean_of<'b>(results: &'b Results, figure: impl Fn(&'b RunOutcome) -> Option<&'b f64>) -> Option<f64> {
    let figures: Vec<f64> = results.outcomes.iter().filter_map(figure).copied().collect();
    (!figures.is_empty()).then(|| mean(&figures))
}

/// Set counts by method and coverage, summed over all outcomes of an experiment.
pub(crate) fn sets(results: &Results) -> BTreeMap<String, BTreeMap<String, SetCounts>> {
    let mut sums: BTreeMap<String, BTreeMap<String, SetCounts>> = BTreeMap::new();
    for (method, by_coverage) in results.outcomes.iter().flat_map(|outcome| &outcome.sets) {
        let sums = sums.entry(method.clone()).or_default();
        for (coverage, counts) in by_coverage {
            sums.entry(coverage.clone()).and_modify(|sum| *sum = sum.plus(*counts)).or_insert(*counts);
        }
    }
    sums
}

/// Accuracy of a method or reference in percent.
pub(crate) fn accuracy(outcome: &RunOutcome, name: &str) -> Option<f64> {
    let share = outcome.accuracy(name).or_else(|| outcome.references.get(name).copied())?;
    share.is_finite().then_some(100.0 * share)
}

/// Whether a method is one of the paper's proposals or a successor of them.
pub(crate) fn is_family(method: &str) -> bool {
    method.contains("spocc") || method.contains("ladder")
}

fn groups<'b>(outcomes: impl Iterator<Item = (&'b RunOutcome, &'b str)>) -> Vec<Vec<f64>> {
    let mut by_repetition: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (outcome, name) in outcomes {
        if let Some(accuracy) = accuracy(outcome, name) {
            by_repetition.entry(outcome.rep).or_default().push(accuracy);
        }
    }
    by_repetition.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::simulated;

    #[test]
    fn methods_come_in_the_order_of_the_engine_and_unknown_ones_last() {
        let mut results = [simulated::experiment("real-wine", 2, &[0.0], 3)];
        results[0].outcomes[0].confusion.insert("unknown".into(), vec![1, 0, 0, 1]);
        let all = ResultSet::new(&results);
        assert_eq!(all.methods[..3], ["ladder", "spocc", "adaspocc"]);
        assert_eq!(all.methods.last().map(String::as_str), Some("unknown"));
    }

    #[test]
    fn the_mean_of_several_experiments_is_the_mean_of_their_means() {
        let mut experiments = DIFFICULTIES
            .map(|name| simulated::experiment(&format!("synthetic-{name}"), 2, &[0.0, 1.0], 4))
            .to_vec();
        let all = ResultSet::new(&experiments);
        let three = all.all_difficulties().expect("all three are there");
        let means = three.iter().map(|results| all.summary(results, "spocc").expect("a method").mean);
        let expected = means.sum::<f64>() / 3.0;
        let pooled = |results: &[Results]| {
            let all = ResultSet::new(results);
            all.pooled(&all.all_difficulties()?, "spocc").map(|summary| summary.mean)
        };
        assert!((pooled(&experiments).expect("all three are there") - expected).abs() < 1e-9);

        // A run that one experiment lacks is counted in none.
        experiments[1].outcomes.pop();
        let kept = ResultSet::new(&experiments).all_difficulties().map(|three| shared(&three).len());
        assert_eq!(kept, Some(3 * 7));
        experiments.pop();
        assert_eq!(pooled(&experiments), None);
    }

    #[test]
    fn losses_and_set_counts_are_aggregated_over_the_outcomes_that_have_them() {
        let mut results = simulated::experiment("real-wine", 2, &[0.0], 3);
        for (outcome, loss) in results.outcomes.iter_mut().zip([0.25, 0.75]) {
            outcome.log_loss = BTreeMap::from([("ladder".into(), loss)]);
            let counts = SetCounts::from([10, 9, if loss < 0.5 { 12 } else { 20 }]);
            outcome.sets = BTreeMap::from([("ladder".into(), BTreeMap::from([("0.9".into(), counts)]))]);
        }
        results.outcomes.truncate(3);
        results.outcomes[2].log_loss.clear();
        results.outcomes[2].sets.clear();
        assert_eq!(log_loss(&results, "ladder"), Some(0.5));
        assert_eq!(log_loss(&results, "majority"), None);
        let counts = sets(&results)["ladder"]["0.9"];
        assert_eq!((counts.coverage(), counts.mean_size()), (0.9, 1.6));
    }

    #[test]
    fn the_papers_proposals_are_recognised_by_name() {
        assert!(is_family("adaspocc") && is_family("spocc") && is_family("ladder-two"));
        assert!(!is_family("stacking"));
    }
}
