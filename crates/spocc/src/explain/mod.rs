//! Explanation: why one row was decided as it was.
//!
//! In: a model and a row. Out: each classifier's prediction, the possibility distribution it gives and its contribution
//! to the decision; the t-norms of the tree on this row; and the single changes of a prediction that would change the
//! decision.

mod text;

use serde::Serialize;

use crate::{
    data::{Answers, Label, MISSING, NONE, Row},
    decision::Decision,
    error::Error,
    fusion::{Exponent, Operand},
    math::exp,
    methods::Scratch,
    model::Model,
    predict::{AlignedTable, RowBuffer},
};

/// Why one row was decided as it was.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The decision.
    pub decision: Decision,
    /// The classes, in the order of all distributions here; of open answers, "none of these" and the answers given on the
    /// row.
    pub classes: Vec<Label>,
    /// The second best class; none if there is only one class.
    pub runner_up: Option<usize>,
    /// What the margin of the decision compares: `possibility`, `probability` or `vote share`.
    pub margin_of: &'static str,
    /// Every classifier, in the order of the model.
    pub contributions: Vec<Contribution>,
    /// The t-norms of the tree on this row, lowest first; empty for methods without a tree.
    pub joins: Vec<Join>,
    /// Every single change of a prediction that would change the decision; none if there are too many to try.
    pub flips: Option<Vec<Flip>>,
    /// Whether the answers are open.
    pub is_open: bool,
}

/// What one classifier contributes to the decision of a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Contribution {
    /// Its name.
    pub classifier: String,
    /// Its prediction; none if missing.
    pub prediction: Option<String>,
    /// The possibility of each class given its prediction, discount included; for possibilistic methods.
    pub possibility: Option<Vec<f64>>,
    /// Its contribution to the log-odds of the decision against the runner-up: the log-odds minus those without its
    /// prediction. None where that is not finite.
    pub contribution: Option<f64>,
}

/// One t-norm of the tree, applied to the predictions of the row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Join {
    /// Names of classifiers, and earlier joins as `#1`, `#2`, ..
    pub members: Vec<String>,
    /// Its exponent.
    pub exponent: Exponent,
    /// The possibility of each class after joining.
    pub possibility: Vec<f64>,
}

/// A change of one prediction that would change the decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Flip {
    /// The classifier.
    pub classifier: String,
    /// Its other prediction; none for a missing one.
    pub instead: Option<Label>,
    /// The decision that would follow.
    pub becomes: Label,
}

impl AlignedTable<'_> {
    /// Explains the decision of one row, counted from 0.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchRow`].
    pub fn explain(&self, row: usize) -> Result<Explanation, Error> {
        self.check_row(row)?;
        let mut buffer = RowBuffer::default();
        let cells = self.row(row, &mut buffer).to_dense(self.model.classifiers.len());
        Ok(explain(&self.model, &cells, |k| self.written(row, k)))
    }
}

impl Answers {
    /// Explains the decision of one row of open answers, counted from 0. Classifiers of the model may lack a column if
    /// `present` is true; their answers are then missing.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchRow`], and those of [`Model::align`] or [`Model::align_present`].
    pub fn explain(&self, model: &Model, row: usize, present: bool) -> Result<Explanation, Error> {
        let table = self.predictions();
        let aligned = if present { model.align_present(table)? } else { model.align(table)? };
        let mut explained = aligned.explain(row)?;
        let n = self.n_candidates(row) + 1;
        let number = |label: &Label| label.canonical().parse::<usize>().unwrap_or(0);
        let names: Vec<Label> = (0..n as u16)
            .map(|candidate| self.answer(row, candidate).cloned().unwrap_or_else(|| NONE_OF_THESE.into()))
            .collect();
        let name = |label: &Label| names.get(number(label)).unwrap_or(&names[0]).clone();
        let decision = &mut explained.decision;
        decision.label = names[decision.class].clone();
        decision.possibility = decision.possibility.truncated(n);
        decision.probability.iter_mut().for_each(|shares| shares.truncate(n));
        explained.runner_up = explained.runner_up.filter(|&next| next < n);
        for contribution in &mut explained.contributions {
            let answer = contribution.prediction.as_ref().map(|text| name(&text.as_str().into()).to_string());
            contribution.prediction = answer;
        }
        // Without any answer a row is not decided, which is no other decision.
        explained.flips.iter_mut().for_each(|flips| flips.retain(|flip| number(&flip.becomes) > 0));
        for flip in explained.flips.iter_mut().flatten() {
            flip.instead = flip.instead.as_ref().map(name);
            flip.becomes = name(&flip.becomes);
        }
        explained.classes = names;
        Ok(explained)
    }
}

/// The name of the candidate that stands for any other answer.
pub const NONE_OF_THESE: &str = "none of these";

fn explain(model: &Model, cells: &[u16], written: impl Fn(usize) -> Option<String>) -> Explanation {
    let mut scratch = Scratch::default();
    let decision = model.decision(Row::Dense(cells), &mut scratch);
    let surprisals = scratch.out.clone();
    let runner_up = (0..surprisals.len())
        .filter(|&i| i != decision.class)
        .min_by(|&a, &b| surprisals[a].total_cmp(&surprisals[b]));
    let log_odds = |surprisals: &[f64]| runner_up.map(|other| surprisals[other] - surprisals[decision.class]);
    let with_all = log_odds(&surprisals);

    let mut changed = cells.to_vec();
    let mut contribution = |k: usize| {
        // The log-odds of open answers are sums of weights; without its only classifier an answer is no candidate.
        if let Some(weight) = model.rule.candidate_weight(k) {
            let own = usize::from(cells[k]);
            let sign =
                f64::from(u8::from(own == decision.class)) - f64::from(u8::from(Some(own) == runner_up));
            return Some(sign * weight);
        }
        changed[k] = MISSING;
        let without = model.decision(Row::Dense(&changed), &mut scratch);
        changed[k] = cells[k];
        // Where no other prediction counts, the log-odds are all due to this one.
        let without = if without.basis == decision.basis { log_odds(&scratch.out) } else { Some(0.0) };
        with_all.zip(without).map(|(with, without)| with - without).filter(|change| change.is_finite())
    };
    let contributions = cells.iter().enumerate().map(|(k, &label)| Contribution {
        classifier: model.classifiers[k].clone(),
        prediction: written(k),
        possibility: if label == MISSING { None } else { model.rule.possibility(k, label) },
        contribution: if label == MISSING { None } else { contribution(k) },
    });
    Explanation {
        classes: model.classes().to_vec(),
        runner_up,
        margin_of: model.method.capabilities().margin_of,
        contributions: contributions.collect(),
        joins: joins(model, cells),
        flips: flips(model, cells, decision.class),
        is_open: model.is_open(),
        decision,
    }
}

/// Every single change of a prediction that would change the decision; none if trying all would take too long.
fn flips(model: &Model, cells: &[u16], decided: usize) -> Option<Vec<Flip>> {
    // Each prediction that is tried costs a decision.
    // Open answers can change to another answer given on the row.
    let labels = if model.is_open() {
        let most = cells.iter().filter(|cell| **cell != MISSING).max().copied().unwrap_or(NONE);
        NONE + 1..most + 1
    } else {
        0..model.labels.len() as u16
    };
    let cost = cells.len() as f64 * labels.len() as f64 * (cells.len() * model.classes().len()) as f64;
    if cost > FLIP_BUDGET {
        return None;
    }
    let missing_label = model.labels.missing_label();
    let (mut changed, mut scratch) = (cells.to_vec(), Scratch::default());
    let mut flips = Vec::new();
    for (k, &label) in cells.iter().enumerate() {
        let missing_is_answer = model.missing_is_answer[k];
        let others = labels
            .clone()
            .filter(|&other| missing_is_answer || other != missing_label)
            .chain((!missing_is_answer).then_some(MISSING));
        for other in others.filter(|&other| other != label) {
            changed[k] = other;
            let becomes = model.decision(Row::Dense(&changed), &mut scratch);
            if becomes.class != decided {
                let is_missing = other == missing_label || other == MISSING;
                flips.push(Flip {
                    classifier: model.classifiers[k].clone(),
                    instead: (!is_missing).then(|| model.labels.all()[usize::from(other)].clone()),
                    becomes: becomes.label,
                });
            }
        }
        changed[k] = label;
    }
    Some(flips)
}

fn degrees(surprisals: &[f64]) -> Vec<f64> {
    surprisals.iter().map(|s| exp(-s)).collect()
}

fn joins(model: &Model, cells: &[u16]) -> Vec<Join> {
    let Some(possibilities) = model.rule.possibilities() else { return Vec::new() };
    let steps = possibilities.trace(Row::Dense(cells));
    let name = |operand: &Operand| match operand {
        Operand::Leaf(k) => model.classifiers[*k].clone(),
        Operand::Step(at) => format!("#{}", at + 1),
    };
    let join = |step: &crate::fusion::FusionStep| Join {
        members: step.operands.iter().map(name).collect(),
        exponent: step.exponent,
        possibility: degrees(&step.surprisals),
    };
    steps.iter().map(join).collect()
}

/// Additions that the search for flips may cost; beyond that there is none.
const FLIP_BUDGET: f64 = 5e9;
