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

/// Labelled rows above which the search is coarse: powers of ten on one held-out fold, of which all within one standard error
/// of the best are as good. So many rows outweigh the penalty, and the accuracy hardly depends on it.
const MANY_ROWS: u64 = 1 << 14;

/// The median of the strengths that decide most rows correctly.
pub(super) fn tune_strength(
    tuning: Tuning,
    evidence: &Evidence,
    encoding: &InputEncoding,
    design: &Arc<Design>,
    tally: &Tally,
    control: &Control<'_>,
) -> Result<f64, Error> {
    let fine = grid(-2.0, 1.0 / 25.0, 101);
    let held_out = |strengths: &[f64], fold: usize, folds: usize| {
        let inside = |p: usize| outcomes_in(evidence, tally, p, folds, |other| other == fold);
        let outside = |p: usize| outcomes_in(evidence, tally, p, folds, |other| other != fold);
        correct_at_each(encoding, design, tally, strengths, outside, inside, control)
    };
    match tuning {
        Tuning::Resubstitution => {
            let all = |p: usize| tally.outcomes(p).collect::<Vec<_>>();
            let correct = correct_at_each(encoding, design, tally, &fine, all, all, control)?;
            Ok(median_of_best(&fine, &correct))
        }
        Tuning::KFold(folds) if evidence.total() / evidence.unit() > MANY_ROWS => {
            let coarse = grid(-2.0, 1.0, 5);
            let correct = held_out(&coarse, 0, folds.into())?;
            let n_rows = evidence.total() as f64 / f64::from(folds);
            Ok(median_of_best(&coarse, &as_good_as_best(&correct, n_rows, evidence.unit() as f64)))
        }
        Tuning::KFold(folds) => {
            let folds = usize::from(folds);
            let mut correct = vec![0; fine.len()];
            for part in parallel::map(folds, |fold| held_out(&fine, fold, folds)) {
                correct.iter_mut().zip(part?).for_each(|(sum, count)| *sum += count);
            }
            Ok(median_of_best(&fine, &correct))
        }
        Tuning::LeaveOneOut => Err(Stacking::refuse(tuning)),
    }
}

/// Numbers of correct rows among `n_rows`, counted in `unit`s, where all that are within one standard error of the largest
/// equal it.
fn as_good_as_best(correct: &[u64], n_rows: f64, unit: f64) -> Vec<u64> {
    let best = correct.iter().copied().max().unwrap_or(0);
    let (right, wrong) = (best as f64 / unit, (n_rows - best as f64).max(0.0) / unit);
    let error = (right * wrong / (right + wrong).max(1.0)).sqrt() * unit;
    correct.iter().map(|&count| if (best - count) as f64 <= error { best } else { count }).collect()
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

    #[test]
    fn strengths_within_a_standard_error_are_as_good() {
        // 900 of 1000 rows: one standard error is 9.5 rows.
        assert_eq!(as_good_as_best(&[880, 891, 900, 889], 1_000.0, 1.0), [880, 900, 900, 889]);
        assert_eq!(as_good_as_best(&[8_800, 8_910, 9_000], 10_000.0, 10.0), [8_800, 9_000, 9_000]);
        assert_eq!(as_good_as_best(&[5, 4], 5.0, 1.0), [5, 4]);
    }

    #[test]
    fn the_coarse_search_chooses_a_strength_as_good_as_the_full_one() {
        let n_rows = 2 * MANY_ROWS as usize;
        let cell = |t: usize, k: usize| (t * t + t * (k + 3) / 7 + k) % 11;
        let predicted = |t: usize, k: usize| if cell(t, k) < 6 { t % 3 } else { cell(t, k) % 3 };
        let ids = (0..n_rows).flat_map(|t| (0..4).map(move |k| predicted(t, k) as u16)).collect();
        let labels: Vec<Label> = (0..3).map(Label::from).collect();
        let rows = Predictions::from_ids(["a", "b", "c", "d"], labels, ids).expect("classes");
        let truth = Truth::new((0..n_rows).map(|t| Some((t % 3) as i64))).expect("few labels");
        let evidence = Evidence::new(&rows, &truth).expect("rows");
        let tally = evidence.tally().expect("a tally");
        let encoding = InputEncoding::new(&evidence, Inputs::OneHot);
        let design = Arc::new(encoding.design(tally));
        let control = Control::default();
        let tuning = Tuning::KFold(Tuning::FOLDS);
        let strength =
            tune_strength(tuning, &evidence, &encoding, &design, tally, &control).expect("not cancelled");
        assert!(grid(-2.0, 1.0, 5).contains(&strength));
        let all = |p: usize| tally.outcomes(p).collect::<Vec<_>>();
        let mut strengths = grid(-2.0, 1.0 / 25.0, 101);
        let full = correct_at_each(&encoding, &design, tally, &strengths, all, all, &control);
        let most = full.expect("not cancelled").into_iter().max().expect("a hundred strengths");
        strengths = vec![strength];
        let own = correct_at_each(&encoding, &design, tally, &strengths, all, all, &control);
        let own = own.expect("not cancelled")[0];
        assert_eq!(as_good_as_best(&[most, own], n_rows as f64, 1.0), [most, most]);
    }

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
