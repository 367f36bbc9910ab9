//! The description of a tally, and how many rows it could disclose.

use std::{collections::HashSet, fmt};

use serde::Serialize;
use spocc::{
    Evidence, Label,
    data::Normalise,
    evidence::{Level, SmallCounts},
};

use crate::{
    commands::{
        fit::open_answers,
        inspect::{names, write_fact},
    },
    error::count,
};

/// Counts below these numbers are reported as rare.
const RARE: [u64; 3] = [2, 5, 10];

#[derive(Serialize)]
pub(super) struct TallyFacts {
    level: Level,
    n_rows: f64,
    n_unlabelled: f64,
    is_weighted: bool,
    classifiers: Vec<String>,
    /// Empty for open answers.
    classes: Vec<Label>,
    /// How open answers are compared; none for classes.
    open_answers: Option<Normalise>,
    /// Labels that are predicted but never decided.
    other_labels: Vec<Label>,
    n_patterns: Option<usize>,
    /// Distinct patterns of unlabelled rows that are kept.
    n_unlabelled_patterns: usize,
    /// Whether these are a sample.
    samples_unlabelled: bool,
    /// Rows with rare patterns; none for weighted rows.
    disclosure: Option<Vec<RareCounts>>,
}

/// How many counts are below a number, and how many rows they describe.
#[derive(Serialize)]
struct RareCounts {
    below: u64,
    #[serde(flatten)]
    counts: SmallCounts,
}

impl TallyFacts {
    pub(super) fn of(evidence: &Evidence) -> Self {
        let rare = |below: u64| evidence.small_counts(below).ok().map(|counts| RareCounts { below, counts });
        let open_answers = evidence.labels().normalise();
        let classes = if open_answers.is_some() { Vec::new() } else { evidence.candidate_classes() };
        let known: HashSet<&spocc::Label> = classes.iter().collect();
        let is_other = |label: &&spocc::Label| open_answers.is_none() && !known.contains(label);
        let other_labels = evidence.labels().all().iter().filter(is_other).cloned().collect();
        Self {
            level: evidence.level(),
            n_rows: evidence.n_rows(),
            n_unlabelled: evidence.n_unlabelled(),
            is_weighted: evidence.is_weighted(),
            classifiers: evidence.classifiers().to_vec(),
            other_labels,
            classes,
            open_answers,
            n_patterns: evidence.n_patterns(),
            n_unlabelled_patterns: evidence.n_unlabelled_patterns(),
            samples_unlabelled: evidence.samples_unlabelled(),
            disclosure: RARE.into_iter().map(rare).collect(),
        }
    }

    fn describe_rows(&self) -> String {
        let weights = if self.is_weighted { ", sums of weights" } else { "" };
        match self.n_unlabelled {
            0.0 => format!("{} labelled{weights}", self.n_rows),
            n => format!("{} labelled, {n} unlabelled{weights}", self.n_rows),
        }
    }

    fn describe_disclosure(&self) -> String {
        let Some(rare) = &self.disclosure else {
            return "unknown for weighted rows".to_owned();
        };
        let [unique, below_5, below_10] = RARE.map(|below| {
            let found = rare.iter().find(|rare| rare.below == below);
            let counts = found.map(|rare| rare.counts).unwrap_or_default();
            if self.n_patterns.is_some() { counts.n_rows } else { counts.n_counts }
        });
        if self.n_patterns.is_some() {
            let unique = count(unique as usize, "row has", "rows have");
            format!(
                "{unique} a unique pattern and true label; {below_5} in groups of fewer than 5, {below_10} of fewer than 10"
            )
        } else {
            let unique = count(unique as usize, "count", "counts");
            format!("{unique} of a single row; {below_5} of fewer than 5 rows, {below_10} of fewer than 10")
        }
    }
}

impl fmt::Display for TallyFacts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_fact(out, "rows", self.describe_rows())?;
        write_fact(out, "classifiers", names(&self.classifiers))?;
        match self.open_answers {
            Some(form) => {
                write_fact(
                    out,
                    "classes",
                    format_args!("none: {}; no answer is stored", open_answers(form)),
                )?;
            }
            None => write_fact(out, "classes", names(&self.classes))?,
        }
        if !self.other_labels.is_empty() {
            write_fact(out, "other labels", format_args!("{}, never decided", names(&self.other_labels)))?;
        }
        let counts = match self.n_patterns {
            Some(n) if self.open_answers.is_some() => {
                count(n, "pattern of agreement", "patterns of agreement")
            }
            Some(n) => count(n, "pattern of predictions", "patterns of predictions"),
            None => "a confusion matrix per classifier".to_owned(),
        };
        let unlabelled = match (self.n_unlabelled_patterns, self.samples_unlabelled) {
            (0, _) => String::new(),
            (n, false) => format!(" with and {n} without a true label"),
            (n, true) => format!(" with and {n} without a true label, a sample"),
        };
        write_fact(out, "counts", counts + &unlabelled)?;
        write_fact(out, "disclosure", self.describe_disclosure())
    }
}

#[cfg(test)]
mod tests {
    use spocc::Control;

    use super::*;

    #[test]
    fn disclosure_is_unknown_for_weighted_rows() {
        let mut rows = spocc::Predictions::builder(["a"]).expect("a name");
        rows.push([Some("x")]).expect("a prediction");
        let truth = spocc::Truth::new([Some("x")]).expect("a truth");
        let counting =
            spocc::evidence::Counting { weights: Some(&[0.5]), ..spocc::evidence::Counting::default() };
        let evidence =
            Evidence::count(&rows.finish(), &truth, &counting, &Control::default()).expect("a weighted row");
        let facts = TallyFacts::of(&evidence);
        assert!(facts.disclosure.is_none());
        let text = facts.to_string();
        assert!(text.contains("0.5 labelled, sums of weights") && text.contains("unknown"), "{text}");
    }
}
