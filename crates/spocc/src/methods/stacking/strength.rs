//! Tuning the strength of stacking: the accuracy of the regression at every strength of a grid.

use std::sync::Arc;

use crate::{
    data::MISSING,
    decision::first_best,
    error::Error,
    evidence::{Evidence, Tally},
    methods::{
        Stacking,
        softmax::{Design, SoftmaxProblem},
        stacking::InputEncoding,
    },
    parallel,
    progress::Control,
    tuning::{Tuning, fold_counts, grid, median_of_best},
};

/// The median of the strengths that decide most rows correctly.
pub(super) fn tune_strength(
    tuning: Tuning,
    evidence: &Evidence,
    encoding: &InputEncoding,
    design: &Arc<Design>,
    tally: &Tally,
    control: &Control<'_>,
) -> Result<f64, Error> {
    let strengths = grid(-2.0, 1.0 / 25.0, 101);
    let correct = match tuning {
        Tuning::Resubstitution => {
            let all = |p: usize| tally.outcomes(p).collect::<Vec<_>>();
            correct_at_each(encoding, design, tally, &strengths, all, all, control)?
        }
        Tuning::KFold(folds) => {
            let folds = usize::from(folds);
            let parts = parallel::map(folds, |fold| {
                let inside = |p: usize| outcomes_in(evidence, tally, p, folds, |other| other == fold);
                let outside = |p: usize| outcomes_in(evidence, tally, p, folds, |other| other != fold);
                correct_at_each(encoding, design, tally, &strengths, outside, inside, control)
            });
            let mut correct = vec![0; strengths.len()];
            for part in parts {
                correct.iter_mut().zip(part?).for_each(|(sum, count)| *sum += count);
            }
            correct
        }
        Tuning::LeaveOneOut => {
            return Err(Stacking::refuse(tuning));
        }
    };
    Ok(median_of_best(&strengths, &correct))
}

/// The outcomes of a pattern in the folds that `is_kept` selects.
fn outcomes_in(
    evidence: &Evidence,
    tally: &Tally,
    p: usize,
    folds: usize,
    is_kept: impl Fn(usize) -> bool,
) -> Vec<(u16, u64)> {
    let count = |(class, count)| {
        let kept =
            fold_counts(evidence, tally.pattern(p), (class, count), folds).filter(|(fold, _)| is_kept(*fold));
        (class, kept.map(|(_, part)| part).sum())
    };
    tally.outcomes(p).map(count).filter(|(_, count)| *count > 0).collect()
}

/// The number of rows of `evaluated` that the regression on `trained` decides correctly, at each strength.
fn correct_at_each(
    encoding: &InputEncoding,
    design: &Arc<Design>,
    tally: &Tally,
    strengths: &[f64],
    trained: impl Fn(usize) -> Vec<(u16, u64)>,
    evaluated: impl Fn(usize) -> Vec<(u16, u64)>,
    control: &Control<'_>,
) -> Result<Vec<u64>, Error> {
    let training = TrainingSet::new(encoding, design, tally, trained);
    let evaluated: Vec<(u32, Vec<(u16, u64)>)> = (0..tally.n_patterns())
        .map(|p| (p as u32, evaluated(p)))
        .filter(|(_, outcomes)| !outcomes.is_empty())
        .collect();
    let rows: Vec<u32> = evaluated.iter().map(|(p, _)| *p).collect();
    let mut correct = Vec::with_capacity(strengths.len());
    let (mut features, mut surprisals) = (Vec::new(), Vec::new());
    control.report("stacking", 0, strengths.len())?;
    training.problem.solve_path(strengths, |softmax| {
        let (mut count, mut rest) = (0, evaluated.iter());
        softmax.leaders(design, &rows, |leader| {
            let (p, outcomes) = rest.next().expect("a leader per row");
            let decided = leader.map_or_else(
                || {
                    let pattern = tally.pattern(*p as usize);
                    encoding.surprisals(softmax, &training.classes, pattern, &mut features, &mut surprisals);
                    first_best(&surprisals)
                },
                |leader| training.classes[leader].into(),
            );
            let correct = outcomes.iter().filter(|(class, _)| usize::from(*class) == decided);
            count += correct.map(|cell| cell.1).sum::<u64>();
        });
        correct.push(count);
        control.report("stacking", correct.len(), strengths.len())
    })?;
    Ok(correct)
}

/// The training rows of a regression, on the classes that occur.
pub(super) struct TrainingSet {
    pub(super) problem: SoftmaxProblem,
    pub(super) classes: Vec<u16>,
}

impl TrainingSet {
    pub(super) fn new(
        encoding: &InputEncoding,
        design: &Arc<Design>,
        tally: &Tally,
        outcomes: impl Fn(usize) -> Vec<(u16, u64)>,
    ) -> Self {
        let rows: Vec<Vec<(u16, u64)>> = (0..tally.n_patterns()).map(outcomes).collect();
        let mut number = vec![MISSING; encoding.n_classes];
        rows.iter().flatten().for_each(|(class, _)| number[usize::from(*class)] = 0);
        let classes: Vec<u16> =
            (0..encoding.n_classes as u16).filter(|class| number[usize::from(*class)] == 0).collect();
        (0..).zip(&classes).for_each(|(at, &class)| number[usize::from(class)] = at);
        let mut problem = SoftmaxProblem::new(design.clone(), classes.len());
        for (p, outcomes) in (0..).zip(&rows).filter(|(_, outcomes)| !outcomes.is_empty()) {
            let weight =
                |&(class, count): &(u16, u64)| (number[usize::from(class)], count as f64 / encoding.unit);
            problem.push(p, outcomes.iter().map(weight));
        }
        Self { problem, classes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Label, Predictions, Truth, evidence::Counting, methods::Inputs};

    /// The accuracy at every C of the grid, from which C is chosen, against a golden file.
    #[test]
    fn every_strength_has_the_accuracy_of_the_reference() {
        let text = include_str!("../../../../../testdata/golden/case_34.json");
        let golden: serde_json::Value = serde_json::from_str(text).expect("golden files are JSON");
        let ints = |value: &serde_json::Value| -> Vec<u16> {
            value.as_array().expect("a list").iter().map(|id| id.as_u64().expect("a class") as u16).collect()
        };
        let columns: Vec<Vec<u16>> =
            golden["preds_val"].as_array().expect("columns").iter().map(ints).collect();
        let truth = ints(&golden["y_val"]);
        let classes: Vec<Label> = (0..golden["l"].as_i64().expect("a number")).map(Label::from).collect();
        let cells = (0..truth.len()).flat_map(|t| columns.iter().map(move |column| column[t])).collect();
        let names = (0..columns.len()).map(|k| k.to_string());
        let rows = Predictions::from_ids(names, classes.clone(), cells).expect("classes");
        let options = Counting { classes: Some(classes), ..Counting::default() };
        let truths = Truth::new(truth.iter().map(|&class| Some(i64::from(class)))).expect("few labels");
        let evidence = Evidence::count(&rows, &truths, &options, &Control::default()).expect("rows");
        let tally = evidence.tally().expect("a tally");
        let all = |p: usize| tally.outcomes(p).collect::<Vec<_>>();
        let strengths = grid(-2.0, 1.0 / 25.0, 101);
        let encoding = InputEncoding::new(&evidence, Inputs::Ordinal);
        let design = Arc::new(encoding.design(tally));
        let control = Control::default();
        let correct = correct_at_each(&encoding, &design, tally, &strengths, all, all, &control)
            .expect("not cancelled");
        let expected = golden["ref"]["stacking_converged"]["val_acc_grid"].as_array().expect("a list");
        for (count, accuracy) in correct.iter().zip(expected) {
            let accuracy = accuracy.as_f64().expect("a number");
            assert!((*count as f64 / truth.len() as f64 - accuracy).abs() < 1e-9, "{count} {accuracy}");
        }
        assert_eq!(correct.len(), expected.len());
    }
}
