//! The held-out accuracy of one fitted method: the row that a comparison with one repetition has for it.
//!
//! In: the tally that a model was fitted to. Out: its [`HeldOutAccuracy`], or why there is none.

use crate::{
    Combiner, Control, Error, Evidence, Model, Options,
    audit::clopper_pearson,
    data::ClassWeights,
    evaluate::{CompareSettings, cross_validation::EvaluationPlan},
    evidence::Level,
    methods::OutOfFoldAccuracy,
    model::{HeldOutAccuracy, HeldOutBy},
};

/// Up to this many labelled rows every fold is held out once; of more rows only one fold is, so that evaluating a model
/// costs about as much as fitting it.
const MAX_REFITTED_ROWS: u64 = 5000;

/// Evaluates the method of a model on held-out rows of the evidence that the model was fitted to. The inner error says
/// why there is no accuracy.
///
/// # Errors
///
/// [`Error::Cancelled`].
pub(crate) fn held_out_accuracy(
    model: &Model,
    combiner: &dyn Combiner,
    evidence: &Evidence,
    options: &Options,
    control: &Control<'_>,
) -> Result<Result<HeldOutAccuracy, String>, Error> {
    match evaluate(model, combiner, evidence, options, control) {
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
    model: &Model,
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
    if let Some(own) = model.rule.out_of_fold_accuracy().filter(|_| !is_refitted) {
        return Ok(Ok(of_selection(own, n_rows, plan.evaluated().effective_rows())));
    }
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

/// The accuracy that model selection measured, with the interval of that many effective rows.
fn of_selection(own: OutOfFoldAccuracy, n_rows: u64, effective_rows: f64) -> HeldOutAccuracy {
    let OutOfFoldAccuracy { folds, accuracy, weighted_accuracy } = own;
    let measure = weighted_accuracy.unwrap_or(accuracy);
    HeldOutAccuracy {
        by: HeldOutBy::SelectionFolds,
        folds,
        n_rows,
        accuracy,
        weighted_accuracy,
        interval: clopper_pearson(measure * effective_rows, effective_rows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_accuracy_of_model_selection_has_the_interval_of_the_effective_rows() {
        let own = OutOfFoldAccuracy { folds: 5, accuracy: 0.9, weighted_accuracy: None };
        let found = of_selection(own, 6000, 6000.0);
        assert_eq!((found.by, found.n_rows, found.accuracy), (HeldOutBy::SelectionFolds, 6000, 0.9));
        assert_eq!(found.interval, clopper_pearson(5400.0, 6000.0));
        let weighted = of_selection(OutOfFoldAccuracy { weighted_accuracy: Some(0.8), ..own }, 6000, 5000.0);
        assert_eq!(weighted.interval, clopper_pearson(4000.0, 5000.0));
    }
}
