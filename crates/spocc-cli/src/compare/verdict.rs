//! Verdict: what the figures say, in plain words.

use serde::Serialize;
use spocc::Method;

use crate::compare::{Entry, difference::Difference};

/// What to make of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Verdict {
    /// Right most often.
    pub(crate) leader: Option<Method>,
    /// Right most often but for the leader.
    pub(crate) runner_up: Option<Method>,
    /// Whether the leader is clearly better than the next.
    pub(crate) is_lead_beyond_noise: bool,
    /// Whether the leader is clearly better than the best single classifier.
    pub(crate) beats_best_classifier: bool,
    /// Whether the leader is clearly better than the majority vote.
    pub(crate) beats_majority: bool,
    /// Methods that cannot be told from the leader on these rows.
    pub(crate) level_with_leader: Vec<Method>,
    /// What to use: the plainest that is as good as the leader for all one can tell.
    pub(crate) recommended: Option<Method>,
    /// All of it in sentences.
    pub(crate) lines: Vec<String>,
}

/// A point that a plainer method may be behind.
const WORTH_OF_PLAINNESS: f64 = 0.01;

/// The plainer of two methods that are equally good has the lower number: least to ask, least to learn, then
/// the default, which is made to withstand copies, guessers and liars.
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

/// Rows below which nothing is recommended.
const FEW: u64 = 20;

impl Verdict {
    /// On methods that were measured, the best first. Where the panel has gaps, the best single classifier is the
    /// best of those that answered a row.
    pub(super) fn new(entries: &[Entry], n_rows: u64, has_gaps: bool) -> Self {
        let Some(leader) = entries.first() else {
            return Self { lines: vec!["No method could be measured.".to_owned()], ..Self::default() };
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
            verdict.lines = vec![format!("{n_rows} rows are too few to recommend anything.")];
        }
        verdict.lines.retain(|line| !line.is_empty());
        verdict
    }

    fn advice(&self, leader: Method, has_gaps: bool) -> String {
        let advised = self.recommended.unwrap_or(leader);
        if self.level_with_leader.is_empty() {
            return format!("Use {leader}.");
        }
        let level = names(&self.level_with_leader);
        let told = format!("On these rows {level} cannot be told from {leader}.");
        let why = match advised {
            Method::Selection if has_gaps => "it asks one classifier at a time, the best first",
            Method::Selection => "then only one classifier has to be asked",
            Method::Majority => "it learns nothing that could be wrong",
            Method::Ladder => "the default withstands copies, guessers and liars",
            _ if advised == leader => "nothing plainer comes as close",
            _ => "the plainest of those that come close",
        };
        format!("{told} Use {advised}: {why}.")
    }
}

/// Whether a plainer method may stand in for the leader: it is within noise, and behind by no more than
/// plainness is worth or a lucky draw explains.
fn is_close(entry: &Entry) -> bool {
    entry.behind.is_none_or(|Difference { by, error, is_beyond_noise, .. }| {
        !is_beyond_noise && by <= (error / 2.0).max(WORTH_OF_PLAINNESS)
    })
}

/// Who leads, and by how much.
fn lead(entries: &[Entry]) -> String {
    let [leader, next, ..] = entries else { return String::new() };
    let Some(behind) = next.behind else { return String::new() };
    let (first, second, by) = (leader.method, next.method, points(behind.by));
    if behind.is_beyond_noise {
        format!("{first} leads: it is clearly better than {second}, the next, by {by}.")
    } else if behind.by == 0.0 {
        format!("{first} and {second} lead, right equally often.")
    } else {
        format!("{first} leads {second} by {by}, which is within noise.")
    }
}

/// Whether combining is worth it at all.
fn references(entries: &[Entry], has_gaps: bool) -> String {
    let single =
        if has_gaps { "the best single classifier that answered" } else { "the best single classifier" };
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
        sentences.push(format!("{} is clearly better than {}.", leader.method, beaten.join(" and ")));
    }
    if !unbeaten.is_empty() {
        sentences.push(format!("Nothing here is clearly better than {}.", unbeaten.join(" or ")));
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
                "stacking leads: it is clearly better than selection, the next, by 10.0 points.",
                "stacking is clearly better than the best single classifier (by 10.0 points) and the majority \
                 vote (by 20.0 points).",
                "Use stacking."
            ]
        );
    }

    #[test]
    fn nothing_better_than_the_plain_ones_is_said_plainly() {
        let ranking = [(Method::Bayes, 0.0), (Method::Majority, 0.001), (Method::Selection, 0.1)];
        let verdict = Verdict::new(&entries(&ranking), 400, false);
        assert!(verdict.beats_best_classifier && !verdict.beats_majority && !verdict.is_lead_beyond_noise);
        assert_eq!(verdict.recommended, Some(Method::Majority));
        assert!(verdict.lines[1].ends_with("Nothing here is clearly better than the majority vote."));
    }

    #[test]
    fn of_methods_within_noise_the_plainest_close_one_is_advised() {
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
    }

    #[test]
    fn no_method_and_one_method_have_a_verdict_too() {
        assert_eq!(Verdict::new(&[], 400, false).lines, ["No method could be measured."]);
        let alone = Verdict::new(&entries(&[(Method::Majority, 0.0)]), 400, false);
        assert_eq!(alone.lines, ["Nothing here is clearly better than the majority vote.", "Use majority."]);
    }
}
