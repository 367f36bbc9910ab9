//! Fitting: every method with the labelled rows of a draw, and with its unlabelled rows where it can use them.

use std::{collections::BTreeMap, fmt};

use spocc::{
    Control, Evidence, Method, Model, Options,
    evidence::Counting,
    methods::UnlabelledRows,
    predict::{DecisionColumns, Decisions},
};

use super::draws::Draw;
use crate::{
    error::{Error, choose},
    label_sets::LabelSet,
    results::RunOutcome,
};

/// Probabilities are floored at this value in the log-loss.
pub(crate) const MIN_PROBABILITY: f64 = 1e-6;

/// A method, and whether it is given the unlabelled rows; written with the suffix `+u`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MethodVariant {
    method: Method,
    with_unlabelled: bool,
}

impl MethodVariant {
    fn all() -> Vec<Self> {
        let both = Method::ALL
            .into_iter()
            .flat_map(|method| [false, true].map(|with_unlabelled| Self { method, with_unlabelled }));
        both.filter(|variant| !variant.with_unlabelled || variant.uses() != UnlabelledRows::Ignored).collect()
    }

    fn uses(self) -> UnlabelledRows {
        self.method.capabilities().unlabelled
    }

    /// Whether so many labelled rows allow a fit that no other variant has.
    pub(super) fn can_fit(self, n_labelled: usize) -> bool {
        match (self.with_unlabelled, self.uses()) {
            (true, UnlabelledRows::WithoutTruth) => n_labelled == 0,
            (true, _) => true,
            (false, _) => n_labelled > 0,
        }
    }
}

impl fmt::Display for MethodVariant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.method, if self.with_unlabelled { "+u" } else { "" })
    }
}

/// The methods named, with `+u` for those that see the unlabelled rows; all without names.
pub(crate) fn variants(names: &[String]) -> Result<Vec<MethodVariant>, Error> {
    let all = MethodVariant::all();
    let words: Vec<String> = all.iter().map(ToString::to_string).collect();
    if names.is_empty() {
        return Ok(all);
    }
    names.iter().map(|name| choose("method", &words, name).map(|at| all[at])).collect()
}

/// The figures of methods that are fitted to one draw. The classes are given to all of them.
pub(super) fn evaluate(set: &LabelSet, draw: &Draw, methods: &[MethodVariant]) -> Result<RunOutcome, Error> {
    let control = Control::default();
    let sees_all = methods.iter().any(|method| method.with_unlabelled);
    let unlabelled: &[usize] = if sees_all { &draw.unlabelled } else { &[] };
    let rows = [draw.labelled.as_slice(), unlabelled].concat();
    let counting = Counting { classes: Some(set.classes.clone()), unlabelled: true, ..Counting::default() };
    let truth = set.truths(&draw.labelled, unlabelled.len())?;
    let whole = Evidence::count(&set.predictions(&rows)?, &truth, &counting, &control)?;
    let labelled = whole.labelled(&control)?;
    let test = set.predictions(&draw.test)?;
    let (mut confusion, mut log_loss) = (BTreeMap::new(), BTreeMap::new());
    for variant in methods {
        let evidence = if variant.with_unlabelled { &whole } else { &*labelled };
        let model = Model::fit(&*variant.method.combiner(), evidence, &Options::default(), &control)?;
        let columns = DecisionColumns { probability: true, ..DecisionColumns::default() };
        let decisions = model.decide_all(&test, columns, &control)?;
        let truths: Vec<usize> =
            draw.test.iter().filter_map(|&row| set.truth[row]).map(usize::from).collect();
        confusion.insert(variant.to_string(), count_confusion(&decisions, &truths));
        log_loss.extend(mean_loss(&decisions, &truths).map(|loss| (variant.to_string(), loss)));
    }
    // The engine reports no accuracy of a model yet; `reported` is its place.
    Ok(RunOutcome { confusion, log_loss, ..RunOutcome::default() })
}

/// Counts by true class, then by decided class.
fn count_confusion(decisions: &Decisions, truths: &[usize]) -> Vec<u64> {
    let l = decisions.classes().len();
    let mut counts = vec![0; l * l];
    for (class, truth) in decisions.class.iter().zip(truths) {
        counts[truth * l + usize::from(*class)] += 1;
    }
    counts
}

/// The mean of `-ln p(truth)`; nothing if the method gives no probabilities.
fn mean_loss(decisions: &Decisions, truths: &[usize]) -> Option<f64> {
    let probability = decisions.probability.as_ref()?;
    let l = decisions.classes().len();
    let loss = |(row, truth): (usize, &usize)| -probability[row * l + truth].max(MIN_PROBABILITY).ln();
    Some(truths.iter().enumerate().map(loss).sum::<f64>() / truths.len() as f64)
}
