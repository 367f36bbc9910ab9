//! Model: a fitted rule with everything needed to decide new rows.

mod conformal;
mod held_out_accuracy;
mod slim;

use std::borrow::Cow;

use crate::{
    conformal::{Calibration, ConformalSettings},
    data::{ClassWeights, Label, Labels, Missing, Normalise, Row},
    decision::{self, Basis, TieBreak},
    error::Error,
    evidence::{Evidence, Level},
    math::ln,
    methods::{Combiner, Method, Parameters, Rule, Scratch},
    progress::Control,
};

pub use held_out_accuracy::{HeldOutAccuracy, HeldOutBy};

/// Choices that every method shares.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// What a missing prediction means.
    pub missing: Missing,
    /// What to do when several labels are equally good.
    pub ties: TieBreak,
    /// How much the rows of each class count.
    pub class_weights: ClassWeights,
    /// Whether and how to calibrate conformal prediction sets.
    pub calibrate: Option<ConformalSettings>,
    /// Whether to measure the accuracy on held-out rows, which takes up to five more fits.
    pub evaluate: bool,
}

impl Options {
    /// How much evidence a fit of this method needs: to calibrate or evaluate it, a tally.
    pub fn needs(&self, combiner: &dyn Combiner) -> Level {
        if self.calibrate.is_some() || self.evaluate { Level::Tally } else { combiner.needs() }
    }

    /// Refuses a method and options that make no sense for open answers.
    fn check_open(&self, method: Method) -> Result<(), Error> {
        method.check_open()?;
        if self.missing == Missing::Answer {
            let found = "missing answers that are one themselves".to_owned();
            return Err(Error::OpenAnswers { expected: "missing answers that are ignored", found });
        }
        if self.class_weights != ClassWeights::Equal {
            let found = "class weights".to_owned();
            return Err(Error::OpenAnswers {
                expected: "rows that count alike, since there are no classes",
                found,
            });
        }
        if self.calibrate.is_some_and(|settings| settings.per_class) {
            let found = "a coverage per class".to_owned();
            return Err(Error::OpenAnswers {
                expected: "one coverage for all rows, since there are no classes",
                found,
            });
        }
        Ok(())
    }
}

/// A fitted method: complete, immutable, cheap to share.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) method: Method,
    pub(crate) classifiers: Vec<String>,
    /// The labels of the rule; a missing prediction is one of them where it is an answer.
    pub(crate) labels: Labels,
    pub(crate) missing: Missing,
    /// Whether a missing prediction of each classifier is an answer.
    pub(crate) missing_is_answer: Vec<bool>,
    pub(crate) ties: TieBreak,
    /// A weight per class, or none.
    pub(crate) class_weights: Vec<f64>,
    /// Weighted class counts or, where no truth was known, counts of decisions; for rows without a usable prediction.
    pub(crate) prior: Vec<u64>,
    pub(crate) rule: Rule,
    pub(crate) evidence: Option<Evidence>,
    pub(crate) calibration: Option<Calibration>,
    pub(crate) held_out_accuracy: Option<HeldOutAccuracy>,
    /// The least number of rows behind each count of a slim model that holds counts.
    pub(crate) min_count: Option<u64>,
    /// Why it has no held-out accuracy although one was asked for; not stored in files.
    pub(crate) no_accuracy_reason: Option<String>,
}

impl Model {
    /// Fits a combiner to evidence: among these classes, where rows are a part of those that say which labels are
    /// candidates, or among the candidates of the evidence.
    ///
    /// # Errors
    ///
    /// As [`Model::fit`].
    pub(crate) fn fit_among<C: Combiner + ?Sized>(
        combiner: &C,
        evidence: &Evidence,
        classes: Option<&[Label]>,
        options: &Options,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let uses_all = combiner.method().uses_unlabelled(evidence);
        let evidence = if uses_all { Cow::Borrowed(evidence) } else { evidence.labelled(control)? };
        let has_rows = evidence.unlabelled_rows().is_some() && evidence.n_classes() > 0;
        if evidence.total() == 0 && (!has_rows || combiner.method().needs_truth()) {
            return Err(Error::NoLabelledRows);
        }
        evidence.require(combiner.method(), combiner.needs())?;
        if evidence.is_open() {
            options.check_open(combiner.method())?;
        }
        if let Some(how) = options.calibrate {
            return Self::fit_calibrated(combiner, &evidence, options, how, control);
        }
        let (missing, missing_is_answer) = if evidence.is_open() {
            (Missing::Ignore, vec![false; evidence.n_classifiers()])
        } else {
            let gains = combiner.method().capabilities().missing_as_answer;
            evidence.missing_as_answer(options.missing, gains)
        };
        let classes = classes.map_or_else(|| evidence.candidate_classes(), <[Label]>::to_vec);
        let class_weights = evidence.candidate_weights(&options.class_weights, &classes)?;
        let as_read = read(&evidence, &classes, &missing_is_answer, &class_weights, control)?;
        let rule = combiner.learn(&as_read, control)?;
        let prior = if evidence.total() > 0 {
            as_read.class_counts().to_vec()
        } else {
            decided(&rule, &as_read).ok_or(Error::NoLabelledRows)?
        };
        Ok(Self {
            method: combiner.method(),
            classifiers: evidence.classifiers().to_vec(),
            labels: as_read.labels().into_owned(),
            missing,
            missing_is_answer,
            ties: options.ties,
            class_weights,
            prior,
            rule,
            evidence: Some(evidence.clone().into_owned()),
            calibration: None,
            held_out_accuracy: None,
            min_count: None,
            no_accuracy_reason: None,
        })
    }

    /// The method it was fitted with.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The parameters it was fitted with.
    pub fn parameters(&self) -> Parameters {
        self.rule.parameters()
    }

    /// The classifiers of the panel.
    pub fn classifiers(&self) -> &[String] {
        &self.classifiers
    }

    /// The classes it decides between.
    pub fn classes(&self) -> &[Label] {
        self.labels.classes()
    }

    /// Whether it decides between [open answers](crate::data::Answers): its classes are then the candidate numbers of a
    /// row, 0 for "none of these".
    pub fn is_open(&self) -> bool {
        self.labels.are_candidates()
    }

    /// How open answers are compared, if it decides between these.
    pub fn normalise(&self) -> Option<Normalise> {
        self.labels.normalise()
    }

    /// What an empty cell means to it.
    pub fn missing(&self) -> Missing {
        self.missing
    }

    /// Whether a missing prediction of each classifier is an answer.
    pub fn missing_is_answer(&self) -> &[bool] {
        &self.missing_is_answer
    }

    /// How much the rows of each class counted; none if all counted alike.
    pub fn class_weights(&self) -> &[f64] {
        &self.class_weights
    }

    /// What it does with ties.
    pub fn ties(&self) -> TieBreak {
        self.ties
    }

    /// The scores of its conformal prediction sets, if it was calibrated.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// The accuracy of its method on held-out rows, if it was fitted with [`Options::evaluate`].
    pub fn held_out_accuracy(&self) -> Option<&HeldOutAccuracy> {
        self.held_out_accuracy.as_ref()
    }

    /// Why it has no held-out accuracy although [`Options::evaluate`] asked for one; files do not store this.
    pub fn no_accuracy_reason(&self) -> Option<&str> {
        self.no_accuracy_reason.as_deref()
    }

    /// The evidence it was fitted to, unless it was left out. The rows that calibrate it are among the unlabelled rows, if
    /// there are any, and otherwise not part of it.
    pub fn evidence(&self) -> Option<&Evidence> {
        self.evidence.as_ref()
    }

    /// Whether an answer means something to it, be it a class or not.
    pub fn knows(&self, label: &Label) -> bool {
        self.labels.all().contains(label)
    }

    /// The same model for rows with up to `n` candidates; none if it is for as many already.
    pub(crate) fn with_candidates(&self, n: usize) -> Option<Self> {
        let normalise = self.labels.normalise().filter(|_| n >= self.labels.len())?;
        let labels = Labels::candidates(n, normalise).ok()?;
        let mut prior = self.prior.clone();
        prior.resize(labels.len(), 0);
        let rule = self.rule.with_candidates(labels.len())?;
        // The evidence, perhaps large, is not needed to decide.
        Some(Self {
            labels,
            prior,
            rule,
            evidence: None,
            method: self.method,
            classifiers: self.classifiers.clone(),
            missing: self.missing,
            missing_is_answer: self.missing_is_answer.clone(),
            ties: self.ties,
            class_weights: self.class_weights.clone(),
            calibration: self.calibration.clone(),
            held_out_accuracy: self.held_out_accuracy.clone(),
            min_count: self.min_count,
            no_accuracy_reason: None,
        })
    }

    /// The number of the first class that a row can be decided for: "none of these" is not an answer.
    pub(crate) fn first_decided(&self, basis: Basis) -> usize {
        usize::from(self.is_open() && basis == Basis::Panel)
    }

    /// The class to decide from surprisals, and whether others are as good.
    #[inline]
    pub(crate) fn decide_class(
        &self,
        surprisals: &[f64],
        tolerance: f64,
        basis: Basis,
        row: Row<'_>,
    ) -> (usize, bool) {
        let first = self.first_decided(basis);
        let (class, is_tie) =
            decision::decide(&surprisals[first..], tolerance, self.ties, |seed| row.fixed_hash(seed));
        (first + class, is_tie)
    }

    /// `-ln` of the class frequencies; of open answers, all but "none of these" are impossible.
    pub(crate) fn prior_surprisals(&self, out: &mut Vec<f64>) {
        if self.is_open() {
            out.clear();
            out.resize(self.labels.len(), f64::INFINITY);
            out[0] = 0.0;
            return;
        }
        let total = self.prior.iter().sum::<u64>() as f64;
        out.clear();
        out.extend(self.prior.iter().map(|&count| -ln(count as f64 / total) + 0.0));
    }
}

/// How often the rule decides for each class among unlabelled rows; none if no such row has a usable prediction.
fn decided(rule: &Rule, evidence: &Evidence) -> Option<Vec<u64>> {
    let mut counts = vec![0; evidence.n_classes()];
    let mut work = Scratch::default();
    for (row, count) in evidence.unlabelled_rows().iter().flat_map(|rows| rows.rows()) {
        if rule.surprisals(row, &mut work) {
            counts[decision::first_best(&work.out)] += count;
        }
    }
    counts.iter().any(|count| *count > 0).then_some(counts)
}

/// Evidence as a model reads it: labels that are no candidate classes are other labels, some missing predictions are
/// answers, and the rows of every class are weighted.
pub(crate) fn read<'a>(
    evidence: &'a Evidence,
    classes: &[Label],
    missing_is_answer: &[bool],
    class_weights: &[f64],
    control: &Control<'_>,
) -> Result<Cow<'a, Evidence>, Error> {
    let mut as_read = Cow::Borrowed(evidence);
    if evidence.is_open() {
        return Ok(as_read);
    }
    let labels = evidence.labels();
    // Labels that are written in another way are other labels to the reader of a decision.
    if !labels.classes().iter().map(Label::written).eq(classes.iter().map(Label::written))
        || labels.classes() != classes
    {
        let labels = Labels::closed(classes, labels.all().iter().cloned())?;
        as_read = Cow::Owned(evidence.under(labels, control)?);
    }
    if missing_is_answer.contains(&true) {
        as_read = Cow::Owned(as_read.with_missing_as_answer(missing_is_answer, control)?);
    }
    if !class_weights.is_empty() {
        as_read = Cow::Owned(as_read.with_class_weights(class_weights)?);
    }
    Ok(as_read)
}
