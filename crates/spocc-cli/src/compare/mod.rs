//! Comparing: every method on the user's own rows, each judged on rows it did not learn from.
//!
//! In: the tally of the labelled rows, and perhaps of test rows about the same panel. Out: how often each
//! method is right, how sure that is, how much better where it is most certain, whether more labelled rows would help, and all of it in
//! words.

mod cells;
mod deal;
mod contest;
mod difference;
mod scores;
mod risk;
mod curve;
mod measure;
mod verdict;
mod report;
#[cfg(test)]
mod panels;
#[cfg(test)]
mod tests;

use serde::{Serialize, Serializer};
use spocc::{Control, Error, Evidence, Method, Options, data::ClassWeights};

use cells::BestClassifier;
use curve::Curve;
use difference::Difference;
use measure::{Measured, Plan};
use risk::Risk;
use verdict::Verdict;

pub(crate) use contest::Progress;

/// Methods against which all others have to prove themselves: the best classifier alone, and one vote each.
const REFERENCES: [Method; 2] = [Method::Selection, Method::Majority];

/// How to compare.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Parts of the labelled rows, each judged by what was learned from the others; unused with test rows.
    pub(crate) folds: u16,
    /// How often the parts are drawn anew.
    pub(crate) repeats: u16,
    /// Where the draws begin.
    pub(crate) seed: u64,
    /// The methods to compare; the references are measured in any case.
    pub(crate) methods: Vec<Method>,
    /// What every method is told.
    pub(crate) options: Options,
    /// Whether to measure what fewer labelled rows would do, and how much certainty is worth.
    pub(crate) curve: bool,
    /// Whether the ladder learns from rows without truth; it does where it is told to, as in `fit`.
    pub(crate) ladder_learns_all: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let methods = Method::ALL.to_vec();
        let options = Options::default();
        Self { folds: 5, repeats: 3, seed: 0, methods, options, curve: true, ladder_learns_all: false }
    }
}

/// How the methods did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Comparison {
    /// Labelled rows to learn from.
    pub(crate) n_rows: u64,
    pub(crate) n_classifiers: usize,
    pub(crate) n_classes: usize,
    /// How much rows of each class count, in learning and in judging.
    #[serde(serialize_with = "in_words")]
    pub(crate) class_weights: ClassWeights,
    /// On which rows the methods were judged.
    pub(crate) judged: Judged,
    /// Methods that were measured, the best first.
    pub(crate) methods: Vec<Entry>,
    /// Methods that were not.
    pub(crate) refused: Vec<Refusal>,
    /// The classifier that is right on most of the judged rows.
    pub(crate) best_classifier: Option<BestClassifier>,
    /// What fewer labelled rows would do.
    pub(crate) curve: Option<Curve>,
    /// Why there is no curve, although one was wanted.
    pub(crate) curve_left_out: Option<String>,
    pub(crate) verdict: Verdict,
}

fn in_words<S: Serializer>(class_weights: &ClassWeights, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(class_weights)
}

/// On which rows methods were judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub(crate) enum Judged {
    /// On the labelled rows, part by part.
    Folds { folds: usize, repeats: usize, seed: u64 },
    /// On other rows.
    Test { n_rows: u64 },
}

/// One method that was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Entry {
    pub(crate) method: Method,
    /// Whether it is there to be compared with, unasked.
    pub(crate) is_reference: bool,
    /// Share of the judged rows on which it was right.
    pub(crate) accuracy: f64,
    /// The same with rows weighed by class, by which methods are ranked; none where all classes weigh alike.
    pub(crate) weighted_accuracy: Option<f64>,
    /// The 95 % interval of what methods are ranked by.
    pub(crate) interval: [f64; 2],
    /// How much more often the best method was right on the same rows; none for the best.
    pub(crate) behind: Option<Difference>,
    /// How often it was right where it was most certain; none if curves were not wanted.
    pub(crate) risk: Option<Risk>,
}

/// One method that refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Refusal {
    pub(crate) method: Method,
    pub(crate) reason: String,
}

/// Measures every method on rows it did not learn from.
///
/// The same evidence and seed give the same report, byte for byte, in whatever order and pieces the rows came.
///
/// # Errors
///
/// [`Error::NoLabelledRows`], [`Error::OutOfRange`] for too few rows, folds or repetitions,
/// [`Error::LevelTooLow`] without a tally, what [`Evidence::class_weights`] refuses,
/// [`Error::DifferentClassifiers`] if the test rows are about another panel, [`Error::MemoryLimit`] if not even the rows fit, [`Error::Cancelled`].
pub(crate) fn compare(
    evidence: &Evidence,
    test: Option<&Evidence>,
    settings: &Settings,
    control: &Control<'_>,
    progress: Progress<'_>,
) -> Result<Comparison, Error> {
    let unlabelled = (evidence.n_unlabelled() > 0.0).then(|| evidence.unlabelled(control)).transpose()?;
    let evidence = &*evidence.labelled(control)?;
    let mut plan = Plan::new(evidence, test, settings)?;
    plan.unlabelled = unlabelled;
    let methods = [&settings.methods[..], &REFERENCES].concat();
    let measured = plan.measure(&methods, control, progress)?;
    let ranking = measured.ranking();
    let entries: Vec<Entry> = ranking.iter().filter_map(|m| measured.entry(*m, &ranking, settings)).collect();
    let lines: Vec<(usize, Method)> = ranking.iter().map(|&m| (m, measured.methods[m])).collect();
    let curve = measured.drawing.finish(&lines, test.is_some());
    let is_left_out = settings.curve && curve.is_none();
    Ok(Comparison {
        n_rows: plan.n_rows(),
        n_classifiers: evidence.classifiers().len(),
        n_classes: evidence.candidate_classes().len(),
        class_weights: settings.options.class_weights.clone(),
        judged: plan.judged(),
        verdict: Verdict::new(&entries, plan.n_rows(), plan.judged_cells().has_gaps()),
        methods: entries,
        refused: measured.refusals(),
        best_classifier: plan.judged_cells().best_classifier(),
        curve,
        curve_left_out: is_left_out.then(|| curve::too_few_rows(plan.n_learned())),
    })
}

impl Measured {
    /// The methods that were measured throughout, the best first, of equals the plainer.
    fn ranking(&self) -> Vec<usize> {
        let is_measured = |m: &usize| self.refused.iter().all(|(refused, _)| refused != m);
        let mut ranking: Vec<usize> = (0..self.methods.len()).filter(is_measured).collect();
        ranking.sort_by(|&a, &b| {
            let by_accuracy = self.scores.accuracy(b).total_cmp(&self.scores.accuracy(a));
            by_accuracy
                .then_with(|| verdict::complexity(self.methods[a]).cmp(&verdict::complexity(self.methods[b])))
        });
        ranking
    }

    fn entry(&self, m: usize, ranking: &[usize], settings: &Settings) -> Option<Entry> {
        let best = *ranking.first()?;
        Some(Entry {
            method: self.methods[m],
            is_reference: !settings.methods.contains(&self.methods[m]),
            accuracy: self.scores.plain_accuracy(m),
            weighted_accuracy: (settings.options.class_weights != ClassWeights::Equal)
                .then(|| self.scores.accuracy(m)),
            interval: self.scores.interval(m),
            behind: (m != best).then(|| self.scores.difference(best, m, ranking.len() - 1)),
            risk: self.certainties[m].risk(),
        })
    }

    fn refusals(&self) -> Vec<Refusal> {
        let reason = |m: usize| self.refused.iter().find(|(refused, _)| *refused == m).map(|entry| &entry.1);
        let refusal = |(m, &method)| reason(m).map(|reason| Refusal { method, reason: reason.clone() });
        self.methods.iter().enumerate().filter_map(refusal).collect()
    }
}

impl Entry {
    /// Whether the best method is clearly better.
    fn is_behind(&self) -> bool {
        self.behind.is_some_and(|behind| behind.is_beyond_noise)
    }

    /// A made-up entry for tests of what is said about entries.
    #[cfg(test)]
    fn of(method: Method, accuracy: f64, behind: Option<Difference>) -> Self {
        Self {
            method,
            is_reference: false,
            accuracy,
            weighted_accuracy: None,
            interval: [0.0, 1.0],
            behind,
            risk: None,
        }
    }
}
