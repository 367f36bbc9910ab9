//! Verdict: the conclusion from the figures, in sentences.

use serde::Serialize;
use spocc::Method;

use crate::compare::{Entry, difference::Difference};

/// What to make of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Verdict {
    /// The method with the highest accuracy.
    pub(crate) leader: Option<Method>,
    /// The one with the next highest.
    pub(crate) runner_up: Option<Method>,
    /// Whether the leader is significantly better than the next.
    pub(crate) is_lead_beyond_noise: bool,
    /// Whether the leader is significantly better than the best single classifier.
    pub(crate) beats_best_classifier: bool,
    /// Whether the leader is significantly better than the majority vote.
    pub(crate) beats_majority: bool,
    /// Methods whose difference from the leader is within noise.
    pub(crate) level_with_leader: Vec<Method>,
    /// What to use: the simplest method whose accuracy is close to that of the leader.
    pub(crate) recommended: Option<Method>,
    /// The same in sentences.
    pub(crate) lines: Vec<String>,
}

/// A simpler method may be a point behind.
const WORTH_OF_SIMPLICITY: f64 = 0.01;

/// The simpler of two methods that are equally good has the lower number: fewest classifiers, fewest parameters, then
/// the default.
pub(super) fn complexity(method: Method) -> usize {
    const ORDER: [Method; 11] = [
        Method::Selection,
        Method::Majority,
        Method::Ladder,
        Method::AdaSpocc,
        Method::WeightedVote,
        Method::Spocc,
        Method::NaiveBayes,
        Method::DawidSkene,
        Method::ExpVote,
        Method::Stacking,
        Method::Bayes,
    ];
    ORDER.iter().position(|known| *known == method).unwrap_or(ORDER.len())
}

/// Labelled rows below which nothing is recommended.
const FEW: u64 = 20;

impl Verdict {
    /// On methods that were evaluated, the best first. Where predictions are missing, the best single classifier is the
    /// best of those with a prediction.
    pub(super) fn new(entries: &[Entry], n_rows: u64, has_gaps: bool) -> Self {
        let Some(leader) = entries.first() else {
            return Self { lines: vec!["No method could be fitted.".to_owned()], ..Self::default() };
        };
        let beats = |method: Method| entries.iter().any(|entry| entry.method == method && entry.is_behind());
        let level = entries[1..].iter().filter(|entry| !entry.is_behind()).map(|entry| entry.method);
        let recommended = entries.iter().filter(|entry| is_close(entry)).map(|entry| entry.method);
        let mut verdict = Self {
            leader: Some(leader.method),
            runner_up: entries.get(1).map(|entry| entry.method),
            is_lead_beyond_noise: entries.get(1).is_some_and(Entry::is_behind),
            beats_best_classifier: beats(Method::Selection),
            beats_majority: beats(Method::Majority),
            level_with_leader: level.collect(),
            recommended: recommended.min_by_key(|method| complexity(*method)),
            lines: Vec::new(),
        };
        verdict.lines =
            vec![lead(entries), references(entries, has_gaps), verdict.advice(leader.method, has_gaps)];
        if n_rows < FEW {
            verdict.recommended = None;
            verdict.lines = vec![format!("{n_rows} labelled rows are too few to recommend a method.")];
        }
        verdict.lines.retain(|line| !line.is_empty());
        verdict
    }

    fn advice(&self, leader: Method, has_gaps: bool) -> String {
        let advised = self.recommended.unwrap_or(leader);
        if self.level_with_leader.is_empty() {
            return format!("Use {leader}.");
        }
        let level = names(&[&[leader], &self.level_with_leader[..]].concat());
        let why = match advised {
            Method::Selection if has_gaps => "which needs one classifier per row",
            Method::Selection => "which needs only one classifier",
            Method::Majority => "which has no parameters to fit",
            Method::Ladder => "the default",
            _ if advised == leader => "which has the highest accuracy",
            _ => "the simplest method close to the best",
        };
        format!("On these rows {level} cannot be told apart; use {advised}, {why}.")
    }
}

/// Whether a simpler method may replace the leader: it is within noise, and behind by at most a point or half a
/// standard error.
fn is_close(entry: &Entry) -> bool {
    entry.behind.is_none_or(|Difference { by, error, is_beyond_noise, .. }| {
        !is_beyond_noise && by <= (error / 2.0).max(WORTH_OF_SIMPLICITY)
    })
}

/// Which method leads, and by how much.
fn lead(entries: &[Entry]) -> String {
    let [leader, next, ..] = entries else { return String::new() };
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

/// Whether combining is worth it at all.
fn references(entries: &[Entry], has_gaps: bool) -> String {
    let single =
        if has_gaps { "the best single classifier with a prediction" } else { "the best single classifier" };
    let known = [(Method::Selection, single), (Method::Majority, "the majority vote")];
    let (mut beaten, mut unbeaten) = (Vec::new(), Vec::new());
    for (method, name) in known {
        match entries.iter().find(|entry| entry.method == method) {
            Some(Entry { behind: Some(behind), .. }) if behind.is_beyond_noise => {
                beaten.push(format!("{name} (by {})", points(behind.by)));
            }
            Some(_) => unbeaten.push(name),
            None => {}
        }
    }
    let mut sentences = Vec::new();
    if let (false, Some(leader)) = (beaten.is_empty(), entries.first()) {
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
    use crate::compare::difference::Paired;

    fn entries(ranking: &[(Method, f64)]) -> Vec<Entry> {
        let entry = |(at, &(method, behind)): (usize, &(Method, f64))| {
            let paired = Paired { rows: 1000.0, first: 50.0 + behind * 1000.0, second: 50.0 };
            Entry::of(method, 0.9 - behind, (at > 0).then(|| Difference::on_test(&[paired], 1)))
        };
        ranking.iter().enumerate().map(entry).collect()
    }

    #[test]
    fn a_sure_leader_is_named_with_its_lead() {
        let ranking = [(Method::Stacking, 0.0), (Method::Selection, 0.1), (Method::Majority, 0.2)];
        let verdict = Verdict::new(&entries(&ranking), 400, false);
        assert!(verdict.is_lead_beyond_noise && verdict.beats_best_classifier && verdict.beats_majority);
        assert_eq!(verdict.recommended, Some(Method::Stacking));
        assert_eq!(
            verdict.lines,
            [
                "stacking leads, 10.0 points ahead of selection; the difference is significant.",
                "stacking is significantly better than the best single classifier (by 10.0 points) and the \
                 majority vote (by 20.0 points).",
                "Use stacking."
            ]
        );
    }

    #[test]
    fn no_method_better_than_the_majority_vote_is_said_so() {
        let ranking = [(Method::Bayes, 0.0), (Method::Majority, 0.001), (Method::Selection, 0.1)];
        let verdict = Verdict::new(&entries(&ranking), 400, false);
        assert!(verdict.beats_best_classifier && !verdict.beats_majority && !verdict.is_lead_beyond_noise);
        assert_eq!(verdict.recommended, Some(Method::Majority));
        assert!(verdict.lines[1].ends_with("No method is significantly better than the majority vote."));
    }

    #[test]
    fn of_methods_within_noise_the_simplest_close_one_is_advised() {
        // These differences have a standard error of about 1 point: the vote is within noise but not close.
        let ranking = [
            (Method::Stacking, 0.0),
            (Method::AdaSpocc, 0.005),
            (Method::Majority, 0.015),
            (Method::Bayes, 0.1),
        ];
        let verdict = Verdict::new(&entries(&ranking), 400, false);
        assert_eq!(verdict.recommended, Some(Method::AdaSpocc));
        assert_eq!(verdict.level_with_leader, [Method::AdaSpocc, Method::Majority]);
        assert_eq!(
            verdict.lines[2],
            "On these rows stacking, adaspocc and majority cannot be told apart; use adaspocc, the simplest \
             method close to the best."
        );
    }

    #[test]
    fn methods_with_the_same_accuracy_lead_together() {
        let ranking = [(Method::Ladder, 0.0), (Method::Stacking, 0.0)];
        let verdict = Verdict::new(&entries(&ranking), 400, false);
        assert_eq!(
            verdict.lines,
            [
                "ladder and stacking lead with the same accuracy.",
                "On these rows ladder and stacking cannot be told apart; use ladder, the default.",
            ]
        );
    }

    #[test]
    fn no_method_and_one_method_have_a_verdict_too() {
        assert_eq!(Verdict::new(&[], 400, false).lines, ["No method could be fitted."]);
        let alone = Verdict::new(&entries(&[(Method::Majority, 0.0)]), 400, false);
        assert_eq!(
            alone.lines,
            ["No method is significantly better than the majority vote.", "Use majority."]
        );
    }
}
