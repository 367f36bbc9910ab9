//! The sections of a model, and whether its parts fit together.

use crate::{
    data::{MISSING, Missing, class_weights},
    error::{Error, list},
    format::{
        evidence, rules,
        sections::{SectionWriter, Sections},
    },
    methods::{Method, Rule},
    model::{HeldOutAccuracy, Model},
};

/// The sections beside that of the rule.
const SECTIONS: [&str; 7] =
    ["Panel", "Prior", "Settings", "conformal", "evidence", "held-out-accuracy", "min-count"];

pub(super) fn write(model: &Model, bytes: &mut Vec<u8>) {
    let mut sections = SectionWriter::new(bytes);
    let Model { missing, missing_is_answer, ties, class_weights, .. } = model;
    sections.value("Panel", &(&model.classifiers, &model.labels));
    sections.value("Prior", &model.prior);
    rules::write(&model.rule, &mut sections);
    sections.value("Settings", &(model.method.to_string(), missing, missing_is_answer, ties, class_weights));
    sections.optional("conformal", model.calibration.as_ref());
    if let Some(counts) = &model.evidence {
        sections.content("evidence", |bytes| evidence::write(counts, bytes));
    }
    sections.optional("held-out-accuracy", model.held_out_accuracy.as_ref());
    sections.optional("min-count", model.min_count.as_ref());
}

pub(super) fn read(payload: &[u8]) -> Result<Model, Error> {
    let sections = Sections::split(payload, |name| SECTIONS.contains(&name) || rules::is_rule(name))?;
    let (classifiers, labels) = sections.value("Panel")?;
    let settings = sections.value("Settings")?;
    let (method, missing, missing_is_answer, ties, class_weights): (String, _, _, _, _) = settings;
    // A word, and no number, so that a method of a later spocc can be named.
    let method: Method = method.parse().map_err(|_| Error::Inconsistent {
        expected: "a method that this spocc knows",
        found: format!("`{:.32}` (written by a newer spocc)", method.escape_default().to_string()),
    })?;
    Ok(Model {
        method,
        classifiers,
        labels,
        missing,
        missing_is_answer,
        ties,
        class_weights,
        prior: sections.value("Prior")?,
        rule: rules::read(&sections)?,
        evidence: sections.content("evidence").map(evidence::read).transpose()?,
        calibration: sections.optional("conformal")?,
        held_out_accuracy: sections.optional("held-out-accuracy")?,
        min_count: sections.optional("min-count")?,
        no_accuracy_reason: None,
    })
}

impl Model {
    /// Refuses a model whose parts do not fit together.
    pub(super) fn check(&self) -> Result<(), Error> {
        let wrong = |expected, found: String| Err(Error::Inconsistent { expected, found });
        crate::Predictions::builder(self.classifiers.iter().cloned())?;
        self.labels.check()?;
        let size = [self.classifiers.len(), self.labels.len(), self.labels.n_classes()];
        self.rule.check(size)?;
        let is_over_candidates = self.rule.with_candidates(self.labels.len()).is_some();
        if self.is_open() && !is_over_candidates || !self.is_open() && matches!(self.rule, Rule::Open(_)) {
            return wrong("a rule over open answers exactly if these are open", self.method.to_string());
        }
        if !self.rule.fits(self.method) {
            return wrong("the rule of the method", self.method.to_string());
        }
        let total = self.prior.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
        if self.prior.len() != self.labels.n_classes() || total.is_none_or(|total| total == 0) {
            return wrong("a count per class", format!("{} counts", self.prior.len()));
        }
        class_weights::check(&self.class_weights, self.labels.n_classes())?;
        self.check_missing_label()?;
        self.calibration.as_ref().map_or(Ok(()), |calibration| calibration.check(size[2]))?;
        if self.is_open() && self.calibration.as_ref().is_some_and(|found| found.settings().per_class) {
            return wrong("one list of scores for open answers", "one per class".to_owned());
        }
        self.held_out_accuracy.as_ref().map_or(Ok(()), HeldOutAccuracy::check)?;
        self.check_min_count()?;
        let Some(evidence) = &self.evidence else { return Ok(()) };
        evidence.check()?;
        if evidence.labels().normalise() != self.normalise() {
            return wrong(
                "evidence of open answers exactly if the model is of these",
                "the other".to_owned(),
            );
        }
        if evidence.classifiers() != self.classifiers {
            return wrong("evidence about the model's classifiers", list(evidence.classifiers()));
        }
        // Labels that are no candidates are classes of the evidence and other predictions of the model.
        let classes = self.labels.classes();
        let places = self.labels.translate(evidence.labels().all());
        let truths = evidence.class_counts().iter().zip(&places).filter(|(count, _)| **count > 0);
        let has_truths = truths.into_iter().all(|(_, place)| usize::from(*place) < classes.len());
        let is_class = |id: &u16| usize::from(*id) < evidence.n_classes();
        let has_classes = evidence.labels().translate(classes).iter().all(is_class);
        // A model that grew may know answers that came with a later classifier.
        if has_truths && has_classes && !places.contains(&MISSING) {
            return Ok(());
        }
        wrong("evidence about the model's labels", list(evidence.labels().all()))
    }

    /// Refuses treatments of missing predictions that contradict the setting, or that have no label.
    fn check_missing_label(&self) -> Result<(), Error> {
        let fits = match self.missing {
            Missing::Ignore => !self.missing_is_answer.contains(&true),
            Missing::Answer => !self.missing_is_answer.contains(&false),
            Missing::Auto => true,
        };
        let has_label = self.labels.missing_label() != MISSING;
        if fits
            && self.missing_is_answer.len() == self.classifiers.len()
            && has_label == self.missing_is_answer.contains(&true)
        {
            return Ok(());
        }
        let found =
            format!("{} treatments of {} classifiers", self.missing_is_answer.len(), self.classifiers.len());
        Err(Error::Inconsistent {
            expected: "a label for missing predictions exactly if they are an answer",
            found,
        })
    }
}
