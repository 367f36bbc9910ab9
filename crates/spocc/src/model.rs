//! Model: a fitted rule with everything needed to decide new rows.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    aligned::{Aligned, Decisions},
    combiners::{Combiner, Fitted, Kind, Method},
    decision::{self, Basis, Decision, TieBreak},
    error::{Error, choose},
    evidence::Evidence,
    fusion::{Work, surprisal},
    grid::Row,
    labels::{Label, Labels},
    possibility::Possibility,
    predictions::Predictions,
    watch::Watch,
};

/// What an empty cell means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Missing {
    /// The classifier was not asked: it has no opinion.
    #[default]
    Silent,
    /// It declined to answer: silence is one more thing it can say, so that even a row of nothing but
    /// silence is decided by the panel.
    Symbol,
}

impl fmt::Display for Missing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Silent => "silent",
            Self::Symbol => "symbol",
        })
    }
}

impl FromStr for Missing {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        choose("missing", &[Self::Silent, Self::Symbol], word)
    }
}

/// Choices that every method shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What an empty cell means.
    pub missing: Missing,
    /// What to do when several labels are equally good.
    pub ties: TieBreak,
}

/// A fitted combiner: complete, immutable, cheap to share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Model {
    pub(crate) method: Method,
    pub(crate) classifiers: Vec<String>,
    /// The labels the rule knows; silence is one of them where it counts as an answer.
    pub(crate) labels: Labels,
    pub(crate) missing: Missing,
    pub(crate) ties: TieBreak,
    /// How often each class was true or, where no truth was known, decided; for rows on which nobody speaks.
    pub(crate) prior: Vec<u64>,
    pub(crate) rule: Kind,
    pub(crate) evidence: Option<Evidence>,
}

impl Model {
    /// Fits a combiner to evidence.
    ///
    /// # Errors
    ///
    /// [`Error::NoLabelledRows`], [`Error::LevelTooLow`] and whatever the combiner refuses.
    pub fn fit<C: Combiner + ?Sized>(
        combiner: &C,
        evidence: &Evidence,
        options: &Options,
        watch: &Watch<'_>,
    ) -> Result<Self, Error> {
        let uses_all = combiner.uses_unlabelled(evidence);
        let evidence = if uses_all { Cow::Borrowed(evidence) } else { evidence.labelled(watch)? };
        if evidence.total() == 0 && (evidence.unlabelled_rows().is_none() || evidence.n_classes() == 0) {
            return Err(Error::NoLabelledRows);
        }
        evidence.require(combiner.method(), combiner.needs())?;
        let as_read = read(&evidence, options.missing, watch)?;
        let rule = combiner.learn(&as_read, watch)?.0;
        let prior = if evidence.total() > 0 {
            evidence.class_counts().to_vec()
        } else {
            decided(&rule, &as_read).ok_or(Error::NoLabelledRows)?
        };
        Ok(Self {
            method: combiner.method(),
            classifiers: evidence.classifiers().to_vec(),
            missing: options.missing,
            ties: options.ties,
            labels: as_read.labels().clone(),
            prior,
            rule,
            evidence: Some(evidence.into_owned()),
        })
    }

    /// The method it was fitted with.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The parameters it was fitted with.
    pub fn fitted(&self) -> Fitted {
        self.rule.fitted()
    }

    /// The classifiers it listens to.
    pub fn classifiers(&self) -> &[String] {
        &self.classifiers
    }

    /// The classes it decides between.
    pub fn classes(&self) -> &[Label] {
        self.labels.classes()
    }

    /// What an empty cell means to it.
    pub fn missing(&self) -> Missing {
        self.missing
    }

    /// What it does with ties.
    pub fn ties(&self) -> TieBreak {
        self.ties
    }

    /// The evidence it was fitted to, unless it is slim.
    pub fn evidence(&self) -> Option<&Evidence> {
        self.evidence.as_ref()
    }

    /// The same model without its evidence: smaller, reveals less, decides alike, but cannot be appended to.
    #[must_use]
    pub fn slim(&self) -> Self {
        Self { evidence: None, ..self.clone() }
    }

    /// Decides every row.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownClassifier`] if a classifier of the model has no column.
    pub fn predict(&self, predictions: &Predictions) -> Result<Decisions, Error> {
        self.align(predictions)?.decide_all(&Watch::default())
    }

    /// Finds the model's classifiers and labels in a table, once for all its rows.
    ///
    /// Columns of other classifiers are left alone.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownClassifier`] if a classifier of the model has no column.
    pub fn align<'a>(&'a self, predictions: &'a Predictions) -> Result<Aligned<'a>, Error> {
        Aligned::new(self, predictions)
    }

    /// Decides one row in full; the surprisals behind it stay in `work.out`.
    pub(crate) fn decision(&self, row: Row<'_>, work: &mut Work) -> Decision {
        let silence = self.labels.silence();
        let mut answered = 0;
        row.for_each(|_, j| answered += usize::from(j != silence));
        let basis = if self.rule.surprisals(row, work) { Basis::Panel } else { Basis::Prior };
        if basis == Basis::Prior {
            self.prior_surprisals(&mut work.out);
        }
        let surprisals = &work.out;
        let (class, _) =
            decision::decide(surprisals, decision::tolerance(1.0), self.ties, |seed| row.hash(seed));
        let ties = decision::tied(surprisals);
        let is_fused = basis == Basis::Panel && self.rule.opinions().is_some();
        let (possibility, margin) = if is_fused {
            // Fused possibilities stay as they are; the margin is taken where nothing underflows.
            let degrees = surprisals.iter().map(|s| (-s).exp()).collect();
            (Possibility::new(degrees), decision::margin(surprisals))
        } else {
            let least = surprisals.iter().copied().fold(f64::INFINITY, f64::min);
            let mut shares: Vec<f64> = surprisals.iter().map(|s| (least - s).exp()).collect();
            // What is tied is equally possible, whatever the rounding.
            ties.iter().for_each(|&tied| shares[tied] = 1.0);
            let possibility = Possibility::from_probabilities(&shares);
            let degrees = possibility.as_ref().map_or(&[][..], Possibility::degrees);
            let margin =
                decision::margin(&degrees.iter().map(|&degree| surprisal(degree)).collect::<Vec<f64>>());
            (possibility, margin)
        };
        Decision {
            class,
            label: self.classes()[class].clone(),
            possibility: possibility
                .expect("surprisals are from 0 to infinity, so their exponentials are from 0 to 1"),
            margin: if ties.len() > 1 { 0.0 } else { margin },
            ties,
            answered,
            basis,
        }
    }

    /// `-ln` of the class frequencies.
    pub(crate) fn prior_surprisals(&self, out: &mut Vec<f64>) {
        let total = self.prior.iter().sum::<u64>() as f64;
        out.clear();
        out.extend(self.prior.iter().map(|&count| -(count as f64 / total).ln() + 0.0));
    }
}

/// How often the rule decides for each class among rows without truth; none if nobody spoke on any of them.
fn decided(rule: &Kind, evidence: &Evidence) -> Option<Vec<u64>> {
    let mut counts = vec![0; evidence.n_classes()];
    let mut work = Work::default();
    for (row, count) in evidence.unlabelled_rows().iter().flat_map(|rows| rows.rows()) {
        if rule.surprisals(row, &mut work) {
            counts[decision::first_best(&work.out)] += count;
        }
    }
    counts.iter().any(|count| *count > 0).then_some(counts)
}

/// Evidence as a model reads it: with silence as an answer, or not.
pub(crate) fn read<'a>(
    evidence: &'a Evidence,
    missing: Missing,
    watch: &Watch<'_>,
) -> Result<Cow<'a, Evidence>, Error> {
    Ok(match missing {
        Missing::Silent => Cow::Borrowed(evidence),
        Missing::Symbol => Cow::Owned(evidence.with_silence_as_answer(watch)?),
    })
}
