//! The held-out accuracy of one fitted method: the row that a comparison with one repetition has for it.
//!
//! In: the tally that a model was fitted to. Out: its [`HeldOutAccuracy`], or why there is none.

use crate::{
    Combiner, Control, Error, Evidence, Options,
    data::ClassWeights,
    evaluate::{CompareSettings, cross_validation::EvaluationPlan},
    evidence::Level,
    model::{HeldOutAccuracy, HeldOutBy},
};

/// Up to this many labelled rows every fold is held out once; of more rows only one fold is, so that evaluating a model
/// costs about as much as fitting it.
const MAX_REFITTED_ROWS: u64 = 5000;

/// Evaluates a method on held-out rows of evidence. The inner error says
/// why there is no accuracy.
///
/// # Errors
///
/// [`Error::Cancelled`].
pub(crate) fn held_out_accuracy(
    combiner: &dyn Combiner,
    evidence: &Evidence,
    options: &Options,
    control: &Control<'_>,
) -> Result<Result<HeldOutAccuracy, String>, Error> {
    match evaluate(combiner, evidence, options, control) {
        Err(Error::Cancelled) => Err(Error::Cancelled),
        Err(Error::NoLabelledRows) => Ok(Err("no row has a truth".to_owned())),
        Err(Error::LevelTooLow { found, .. }) => {
            Ok(Err(format!("{found} cannot be split into training rows and held-out rows")))
        }
        Err(error) => Ok(Err(error.to_string())),
        Ok(evaluated) => Ok(evaluated),
    }
}

fn evaluate(
    combiner: &dyn Combiner,
    evidence: &Evidence,
    options: &Options,
    control: &Control<'_>,
) -> Result<Result<HeldOutAccuracy, String>, Error> {
    evidence.require("held-out accuracy", Level::Tally)?;
    let settings = CompareSettings {
        repeats: 1,
        methods: vec![combiner.method()],
        options: Options { calibrate: None, ..options.clone() },
        curve: false,
        ..CompareSettings::default()
    };
    let labelled = &*evidence.labelled(control)?;
    let mut plan = EvaluationPlan::new(labelled, None, &settings)?;
    if evidence.n_unlabelled() > 0.0 {
        plan.unlabelled = Some(evidence.unlabelled(control)?);
    }
    let n_rows = plan.n_rows();
    let is_refitted = n_rows <= MAX_REFITTED_ROWS;
    let folds = plan.folds();
    let (plan, by) =
        if is_refitted { (plan, HeldOutBy::Refits) } else { (plan.with_one_fold(), HeldOutBy::OneFold) };
    let measured = plan.measure(&[combiner], "evaluating", control)?;
    if let Some((_, reason)) = measured.refused.into_iter().next() {
        return Ok(Err(reason));
    }
    let is_weighted = options.class_weights != ClassWeights::Equal;
    Ok(Ok(HeldOutAccuracy {
        by,
        folds,
        n_rows: measured.n_evaluated,
        accuracy: measured.accuracies.plain_accuracy(0),
        weighted_accuracy: is_weighted.then(|| measured.accuracies.accuracy(0)),
        interval: measured.accuracies.interval(0),
    }))
}
