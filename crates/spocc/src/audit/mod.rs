//! Audit: which classifiers are useful, and which are guessers, adversaries, copies or constant.
//!
//! In: evidence, and a model if influence is wanted. Out: accuracy, information and a verdict for each classifier, and the
//! dependence and agreement of the panel.

mod copies;
mod influence;
mod open;
mod report;
mod statistics;
mod verdict;

use serde::Serialize;

use crate::{
    data::Label,
    dendrogram::Dendrogram,
    dependence::{Dependence, Dissimilarities},
    error::Error,
    evidence::{Evidence, Level},
    methods::{Ladder, Method},
    model::{Model, Options},
    progress::Control,
};

pub use statistics::clopper_pearson;
pub use verdict::Verdict;

use copies::{families, originals};
use influence::influences;
use statistics::{PairStatistics, agreement, pair_statistics};
use verdict::{figures, verdict};

/// Rows without which no classifier is called constant, and expected disagreements without which none is called a copy.
const MIN_ROWS: f64 = 10.0;

/// The audit of a panel of classifiers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Audit {
    /// Number of labelled rows, or the sum of their weights.
    #[serde(serialize_with = "whole")]
    pub n_rows: f64,
    /// The candidate classes and the number of rows of each; none of open answers.
    #[serde(serialize_with = "as_objects")]
    pub classes: Vec<(Label, f64)>,
    /// Of open answers, the share of the labelled rows whose true answer some classifier gives; none for classes.
    pub answerable_share: Option<f64>,
    /// Whether the classes look exchangeable, as the letters of multiple-choice questions do, so that open answers may be
    /// decided more accurately; none where that makes no sense.
    pub exchangeable: Option<bool>,
    /// One entry per classifier.
    pub classifiers: Vec<ClassifierAudit>,
    /// Dependence and agreement of the classifiers.
    pub panel: PanelAudit,
    /// The method that influence is measured for; none without influence.
    pub influence_on: Option<Method>,
}

/// A number of rows as an integer; only weights have a fraction.
#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn whole<S: serde::Serializer>(rows: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if rows.fract() == 0.0 { serializer.serialize_u64(*rows as u64) } else { serializer.serialize_f64(*rows) }
}

/// Pairs as JSON objects, so that both values have a name.
fn as_objects<S: serde::Serializer>(classes: &[(Label, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct ClassRows<'a> {
        label: &'a Label,
        #[serde(serialize_with = "whole")]
        n_rows: f64,
    }
    serializer.collect_seq(classes.iter().map(|(label, n_rows)| ClassRows { label, n_rows: *n_rows }))
}

/// The audit of one classifier.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClassifierAudit {
    /// The name of the classifier.
    pub name: String,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Share of its predictions that are correct.
    pub accuracy: f64,
    /// 95 % Clopper-Pearson interval of the accuracy.
    pub interval: [f64; 2],
    /// Accuracy after each of its labels is replaced by the class that is most often true with it, where that is
    /// significantly not the class of the same name. Never below the accuracy.
    pub relabelled_accuracy: f64,
    /// Share of the rows with a prediction.
    pub coverage: f64,
    /// Mutual information of predictions and truth, in bits, over the rows with a prediction; not a number for open answers,
    /// as are the figures of the test below.
    pub information: f64,
    /// The G statistic of the test of independence of predictions and truth.
    pub g_statistic: f64,
    /// Degrees of freedom of that test.
    pub degrees_of_freedom: usize,
    /// p value of that test.
    pub p_value: f64,
    /// Share of the rows for which the decision changes when its prediction is missing, with the same parameters; needs
    /// a model and a tally.
    pub influence: Option<f64>,
}

/// Dependence and agreement of a panel; figures that need a higher level of evidence are none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PanelAudit {
    /// Dependence of every pair, from 0 (independent) to 1 (copies); needs pair counts.
    pub dependence: Option<Dependence>,
    /// Average linkage of `1 - dependence`; needs pair counts.
    pub dendrogram: Option<Dendrogram>,
    /// The paper's dissimilarity `exp(-mutual information)` of every pair, which the methods use; needs pair counts.
    pub dissimilarities: Option<Dissimilarities>,
    /// Groups of copies, each with its most accurate member first; needs a tally.
    pub families: Vec<Vec<String>>,
    /// Fleiss' kappa of the predictions; needs a tally.
    pub fleiss_kappa: Option<f64>,
    /// Krippendorff's alpha of the predictions, for nominal data; needs a tally.
    pub krippendorff_alpha: Option<f64>,
    /// Mean correlation of errors over all pairs, not below 0; needs a tally, and a pair in which both are sometimes
    /// correct and sometimes wrong.
    pub error_correlation: Option<f64>,
    /// Effective number of votes, that is, of independent classifiers: `K / (1 + (K - 1) * error_correlation)`.
    pub effective_votes: Option<f64>,
    /// Why figures about pairs are missing: the level of the evidence is too low, or they do not fit into memory.
    pub left_out: Option<String>,
}

impl Audit {
    /// Audits the panel of some evidence, with the influence on a model that the default method and settings fit to it;
    /// without influence if there is no tally, or not enough memory to fit a model.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn of_evidence(evidence: &Evidence, control: &Control<'_>) -> Result<Self, Error> {
        let options = Options::default();
        let labelled = evidence.labelled(control)?;
        let model = match evidence.level() {
            // A panel that is too large for a model can be audited without one.
            Level::Tally => match Model::fit_among(&Ladder, &labelled, None, &options, control) {
                Err(Error::MemoryLimit { .. }) => None,
                fitted => Some(fitted?),
            },
            _ => None,
        };
        Self::new(evidence, model.as_ref(), control)
    }

    /// Audits the panel of some evidence; with a model fitted to it, also its influence.
    ///
    /// # Errors
    ///
    /// [`Error::NoLabelledRows`], [`Error::DifferentClassifiers`] if the model has other classifiers,
    /// [`Error::Cancelled`].
    pub fn new(evidence: &Evidence, model: Option<&Model>, control: &Control<'_>) -> Result<Self, Error> {
        let evidence = &*evidence.labelled(control)?;
        if evidence.total() == 0 {
            return Err(Error::NoLabelledRows);
        }
        if evidence.is_open() {
            return open::audit(evidence, model, control);
        }
        let mut left_out = (evidence.level() < Level::Tally)
            .then(|| format!("they need a tally, and these counts are {}", evidence.level()));
        let (dependence, dissimilarities) = match evidence.level() {
            Level::Marginals => None,
            Level::Pairs | Level::Tally => {
                fitting(Dependence::with_dissimilarities(evidence, control), &mut left_out)?
            }
        }
        .unzip();
        let pairs = fitting(pair_statistics(evidence, control), &mut left_out)?.flatten();
        let correlation = pairs.as_ref().and_then(PairStatistics::mean_correlation);
        let kappas = evidence.tally().map(|tally| agreement(evidence, tally));
        let n = evidence.n_classifiers() as f64;
        let s = evidence.n_labels();
        control.allow(|| format!("confusion of {s} labels"), &[s, s, 16])?;
        let figures: Vec<ClassifierAudit> = (0..evidence.n_classifiers())
            .map(|k| {
                control.report("audit", k, evidence.n_classifiers())?;
                Ok(figures(evidence, k))
            })
            .collect::<Result<_, Error>>()?;
        let originals = originals(evidence, pairs.as_ref());
        let panel = PanelAudit {
            dendrogram: dependence.as_ref().map(Dendrogram::average),
            dependence,
            dissimilarities,
            families: families(evidence, &originals),
            fleiss_kappa: kappas.and_then(|kappas| kappas.fleiss),
            krippendorff_alpha: kappas.and_then(|kappas| kappas.krippendorff),
            error_correlation: correlation,
            effective_votes: correlation.map(|r| n / (1.0 + (n - 1.0) * r)),
            left_out,
        };
        let influences = model.map(|model| influences(evidence, model, control)).transpose()?.flatten();
        let mut classifiers = figures;
        for (k, entry) in classifiers.iter_mut().enumerate() {
            entry.influence = influences.as_ref().map(|influences| influences[k]);
            entry.verdict = match originals[k] {
                Some(original) => Verdict::CopyOf(evidence.classifiers()[original].clone()),
                None => verdict(evidence, k, entry),
            };
        }
        let candidates = evidence.candidate_classes();
        let counts = evidence.labels().translate(&candidates).into_iter().map(usize::from);
        let classes = counts.map(|i| evidence.rows_of(evidence.class_counts()[i]));
        let classes = candidates.into_iter().zip(classes).collect();
        let influence_on = model.filter(|_| influences.is_some()).map(Model::method);
        let exchangeable = evidence.classes_are_exchangeable();
        Ok(Self {
            n_rows: evidence.n_rows(),
            classes,
            answerable_share: None,
            exchangeable,
            classifiers,
            panel,
            influence_on,
        })
    }
}

/// The result if it fits into memory; otherwise none, and the reason in `left_out`.
fn fitting<T>(result: Result<T, Error>, left_out: &mut Option<String>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error @ Error::MemoryLimit { .. }) => {
            *left_out = Some(error.to_string());
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
