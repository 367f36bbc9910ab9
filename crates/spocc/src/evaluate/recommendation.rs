//! Which method to use, and the conclusions from a comparison in sentences.

use serde::Serialize;

use crate::{
    Method,
    evaluate::{comparison::MethodResult, paired_test::Difference},
};

/// The conclusions from a comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recommendation {
    /// The method with the highest accuracy.
    pub leader: Option<Method>,
    /// The one with the next highest.
    pub runner_up: Option<Method>,
    /// Whether the leader is significantly better than the next.
    pub is_lead_beyond_noise: bool,
    /// Whether the leader is significantly better than the best single classifier.
    pub beats_best_classifier: bool,
    /// Whether the leader is significantly better than the majority vote.
    pub beats_majority: bool,
    /// Methods whose difference from the leader is within noise.
    pub level_with_leader: Vec<Method>,
    /// What to use: the simplest method whose accuracy is close to that of the leader.
    pub recommended: Option<Method>,
    /// The same in sentences.
    pub lines: Vec<String>,
}

/// A simpler method is preferred if its accuracy is at most one percentage point lower.
const SIMPLICITY_TOLERANCE: f64 = 0.01;

/// Rank of a method by simplicity: fewest classifiers, fewest parameters, then the default.
pub(super) fn complexity(method: Method) -> usize {
    const ORDER: [Method; 12] = [
        Method::Selection,
        Method::Majority,
        Method::Ladder,
        Method::AdaSpocc,
        Method::WeightedVote,
        Method::Spocc,
        Method::NaiveBayes,
        Method::OneCoin,
        Method::DawidSkene,
        Method::ExpVote,
        Method::Stacking,
        Method::Bayes,
    ];
    ORDER.iter().position(|known| *known == method).unwrap_or(ORDER.len())
}

/// With fewer labelled rows no method is recommended.
const MIN_ROWS_TO_RECOMMEND: u64 = 20;

impl Recommendation {
    /// From the results of the methods, the best first. Where predictions are missing, the best single classifier is the
    /// best of those with a prediction.
    pub(super) fn new(results: &[MethodResult], n_rows: u64, has_missing: bool) -> Self {
        let Some(leader) = results.first() else {
            return Self { lines: vec!["No method could be fitted.".to_owned()], ..Self::default() };
        };
        let beats =
            |method: Method| results.iter().any(|result| result.method == method && result.is_behind());
        let level = results[1..].iter().filter(|result| !result.is_behind()).map(|result| result.method);
        let recommended = results.iter().filter(|result| is_close(result)).map(|result| result.method);
        let mut recommendation = Self {
            leader: Some(leader.method),
            runner_up: results.get(1).map(|result| result.method),
            is_lead_beyond_noise: results.get(1).is_some_and(MethodResult::is_behind),
            beats_best_classifier: beats(Method::Selection),
            beats_majority: beats(Method::Majority),
            level_with_leader: level.collect(),
            recommended: recommended.min_by_key(|method| complexity(*method)),
            lines: Vec::new(),
        };
        recommendation.lines = vec![
            lead(results),
            references(results, has_missing),
            recommendation.advice(leader.method, has_missing),
        ];
        if n_rows < MIN_ROWS_TO_RECOMMEND {
            recommendation.recommended = None;
            recommendation.lines = vec![format!("{n_rows} labelled rows are too few to recommend a method.")];
        }
        recommendation.lines.retain(|line| !line.is_empty());
        recommendation
    }

    fn advice(&self, leader: Method, has_missing: bool) -> String {
        let advised = self.recommended.unwrap_or(leader);
        if self.level_with_leader.is_empty() {
            return format!("Use {leader}.");
        }
        let level = names(&[&[leader], &self.level_with_leader[..]].concat());
        let why = match advised {
            Method::Selection if has_missing => "which needs one classifier per row",
            Method::Selection => "which needs only one classifier",
            Method::Majority => "which has no parameters to fit",
            Method::Ladder => "the default",
            _ if advised == leader => "which has the highest accuracy",
            _ => "the simplest method close to the best",
        };
        format!("On these rows {level} cannot be distinguished; use {advised}, {why}.")
    }
}

/// Whether a simpler method may replace the leader: it is within noise, and behind by at most a point or half a
/// standard error.
fn is_close(result: &MethodResult) -> bool {
    result.behind.is_none_or(|Difference { by, error, is_beyond_noise, .. }| {
        !is_beyond_noise && by <= (error / 2.0).max(SIMPLICITY_TOLERANCE)
    })
}

/// Which method leads, and by how much.
fn lead(results: &[MethodResult]) -> String {
    let [leader, next, ..] = results else { return String::new() };
    let Some(behind) = next.behind else { return String::new() };
    let (first, second, by) = (leader.method, next.method, points(behind.by));
    if behind.is_beyond_noise {
        format!("{first} leads, {by} ahead of {second}; the difference is significant.")
    } else if behind.by == 0.0 {
        let weighted = if leader.weighted_accuracy.is_some() { "weighted " } else { "" };
        format!("{first} and {second} lead with the same {weighted}accuracy.")
    } else {
        format!("{first} leads, {by} ahead of {second}; the difference is within noise.")
    }
}

/// Whether any method is better than the best classifier and the majority vote.
fn references(results: &[MethodResult], has_missing: bool) -> String {
    let single = if has_missing {
        "the best single classifier with a prediction"
    } else {
        "the best single classifier"
    };
    let known = [(Method::Selection, single), (Method::Majority, "the majority vote")];
    let (mut beaten, mut unbeaten) = (Vec::new(), Vec::new());
    for (method, name) in known {
        match results.iter().find(|result| result.method == method) {
            Some(MethodResult { behind: Some(behind), .. }) if behind.is_beyond_noise => {
                beaten.push(format!("{name} (by {})", points(behind.by)));
            }
            Some(_) => unbeaten.push(name),
            None => {}
        }
    }
    let mut sentences = Vec::new();
    if let (false, Some(leader)) = (beaten.is_empty(), results.first()) {
        sentences.push(format!("{} is significantly better than {}.", leader.method, beaten.join(" and ")));
    }
    if !unbeaten.is_empty() {
        sentences.push(format!("No method is significantly better than {}.", unbeaten.join(" or ")));
    }
    sentences.join(" ")
}

fn points(share: f64) -> String {
    format!("{:.1} points", share * 100.0)
}

/// A list of methods in a sentence, shortened when it is long.
fn names(methods: &[Method]) -> String {
    const SHOWN: usize = 4;
    let mut names: Vec<String> = methods.iter().map(ToString::to_string).collect();
    if names.len() > SHOWN + 1 {
        let more = names.len() - SHOWN;
        names.truncate(SHOWN);
        names.push(format!("{more} more"));
    }
    match &names[..] {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::paired_test::PairedCounts;

    fn results(ranking: &[(Method, f64)]) -> Vec<MethodResult> {
        let result = |(at, &(method, behind)): (usize, &(Method, f64))| {
            let paired = PairedCounts { rows: 1000.0, first: 50.0 + behind * 1000.0, second: 50.0 };
            MethodResult::of(method, 0.9 - behind, (at > 0).then(|| Difference::on_test(&[paired], 1)))
        };
        ranking.iter().enumerate().map(result).collect()
    }

    #[test]
    fn a_significant_leader_is_named_with_its_lead() {
        let ranking = [(Method::Stacking, 0.0), (Method::Selection, 0.1), (Method::Majority, 0.2)];
        let found = Recommendation::new(&results(&ranking), 400, false);
        assert!(found.is_lead_beyond_noise && found.beats_best_classifier && found.beats_majority);
        assert_eq!(found.recommended, Some(Method::Stacking));
        assert_eq!(
            found.lines,
            [
                "stacking leads, 10.0 points ahead of selection; the difference is significant.",
                "stacking is significantly better than the best single classifier (by 10.0 points) and the \
                 majority vote (by 20.0 points).",
                "Use stacking."
            ]
        );
    }

    #[test]
    fn no_method_better_than_the_majority_vote_is_reported() {
        let ranking = [(Method::Bayes, 0.0), (Method::Majority, 0.001), (Method::Selection, 0.1)];
        let found = Recommendation::new(&results(&ranking), 400, false);
        assert!(found.beats_best_classifier && !found.beats_majority && !found.is_lead_beyond_noise);
        assert_eq!(found.recommended, Some(Method::Majority));
        assert!(found.lines[1].ends_with("No method is significantly better than the majority vote."));
    }

    #[test]
    fn of_methods_within_noise_the_simplest_close_one_is_recommended() {
        // These differences have a standard error of about 1 point: the vote is within noise but not close.
        let ranking = [
            (Method::Stacking, 0.0),
            (Method::AdaSpocc, 0.005),
            (Method::Majority, 0.015),
            (Method::Bayes, 0.1),
        ];
        let found = Recommendation::new(&results(&ranking), 400, false);
        assert_eq!(found.recommended, Some(Method::AdaSpocc));
        assert_eq!(found.level_with_leader, [Method::AdaSpocc, Method::Majority]);
        assert_eq!(
            found.lines[2],
            "On these rows stacking, adaspocc and majority cannot be distinguished; use adaspocc, the \
             simplest method close to the best."
        );
    }

    #[test]
    fn methods_with_the_same_accuracy_lead_together() {
        let ranking = [(Method::Ladder, 0.0), (Method::Stacking, 0.0)];
        let found = Recommendation::new(&results(&ranking), 400, false);
        assert_eq!(
            found.lines,
            [
                "ladder and stacking lead with the same accuracy.",
                "On these rows ladder and stacking cannot be distinguished; use ladder, the default.",
            ]
        );
    }

    #[test]
    fn no_method_and_one_method_have_a_recommendation_too() {
        assert_eq!(Recommendation::new(&[], 400, false).lines, ["No method could be fitted."]);
        let alone = Recommendation::new(&results(&[(Method::Majority, 0.0)]), 400, false);
        assert_eq!(
            alone.lines,
            ["No method is significantly better than the majority vote.", "Use majority."]
        );
    }
}
