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

/// Labelled rows above which the search is coarse: powers of ten, on a fifth of the rows. The accuracy changes slowly with the
/// strength, and a fifth of so many rows tells apart what matters.
const MANY_ROWS: f64 = 16_384.0;

/// The median of the strengths that decide most rows correctly; of a coarse search, of those that decide about as many.
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
        decisions_at_each(encoding, design, tally, strengths, outside, inside, control)
    };
    match tuning {
        Tuning::Resubstitution => {
            let all = |p: usize| tally.outcomes(p).collect::<Vec<_>>();
            let decisions = decisions_at_each(encoding, design, tally, &fine, all, all, control)?;
            Ok(median_of_best(&fine, &decisions.correct()))
        }
        Tuning::KFold(folds) if n_rows(evidence) > MANY_ROWS => {
            let coarse = grid(-2.0, 1.0, 5);
            let n_held_out = folds.div_ceil(Tuning::FOLDS).into();
            let parts = parallel::map(n_held_out, |fold| held_out(&coarse, fold, folds.into()));
            let parts = parts.into_iter().collect::<Result<Vec<Decided>, Error>>()?;
            Ok(coarse[about_best(&parts, |class| evidence.row_unit(class) as f64)])
        }
        Tuning::KFold(folds) => {
            let folds = usize::from(folds);
            let mut correct = vec![0; fine.len()];
            for part in parallel::map(folds, |fold| held_out(&fine, fold, folds)) {
                correct.iter_mut().zip(part?.correct()).for_each(|(sum, count)| *sum += count);
            }
            Ok(median_of_best(&fine, &correct))
        }
        Tuning::LeaveOneOut => Err(Stacking::refuse(tuning)),
    }
}

/// Labelled rows, each counted once whatever the weight of its class.
fn n_rows(evidence: &Evidence) -> f64 {
    let rows = |(class, count): (u16, &u64)| *count as f64 / evidence.row_unit(class) as f64;
    (0..).zip(evidence.class_counts()).map(rows).sum()
}

/// The middle one of the strengths that are within one standard error of the best. Decisions on the same rows are compared,
/// so the error is that of the rows which only one of two strengths decides correctly.
fn about_best(parts: &[Decided], row_unit: impl Fn(u16) -> f64) -> usize {
    let n_strengths = parts.first().map_or(0, |part| part.classes.len());
    let correct = |strength: usize| parts.iter().map(|part| part.n_correct(strength)).sum::<u64>();
    let best = (0..n_strengths).fold(0, |best, at| if correct(at) > correct(best) { at } else { best });
    let is_about_best = |strength: &usize| {
        let (mut lost, mut squares) = (0.0, 0.0);
        for part in parts {
            for (row, (_, outcomes)) in part.evaluated.iter().enumerate() {
                let (ours, others) = (part.classes[best][row], part.classes[*strength][row]);
                for &(class, count) in outcomes {
                    let sign = f64::from(u8::from(class == ours)) - f64::from(u8::from(class == others));
                    lost += sign * count as f64;
                    squares += sign.abs() * count as f64 * row_unit(class);
                }
            }
        }
        lost <= squares.sqrt()
    };
    let about: Vec<usize> = (0..n_strengths).filter(is_about_best).collect();
    about[(about.len() - 1) / 2]
}

/// A pattern and how often each class was true.
type Outcomes = (u32, Vec<(u16, u64)>);

/// The decisions on evaluated patterns, at every strength.
struct Decided {
    evaluated: Vec<Outcomes>,
    /// The class decided, by strength and pattern.
    classes: Vec<Vec<u16>>,
}

impl Decided {
    fn n_correct(&self, strength: usize) -> u64 {
        let of_pattern = |((_, outcomes), decided): (&Outcomes, &u16)| {
            outcomes.iter().filter(|(class, _)| class == decided).map(|cell| cell.1).sum::<u64>()
        };
        self.evaluated.iter().zip(&self.classes[strength]).map(of_pattern).sum()
    }

    /// The number of rows decided correctly, by strength.
    fn correct(&self) -> Vec<u64> {
        (0..self.classes.len()).map(|strength| self.n_correct(strength)).collect()
    }
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

/// The decisions on `evaluated` rows of the regression on `trained` ones, at each strength.
fn decisions_at_each(
    encoding: &InputEncoding,
    design: &Arc<Design>,
    tally: &Tally,
    strengths: &[f64],
    trained: impl Fn(usize) -> Vec<(u16, u64)>,
    evaluated: impl Fn(usize) -> Vec<(u16, u64)>,
    control: &Control<'_>,
) -> Result<Decided, Error> {
    let training = TrainingSet::new(encoding, design, tally, trained);
    let evaluated: Vec<Outcomes> = (0..tally.n_patterns())
        .map(|p| (p as u32, evaluated(p)))
        .filter(|(_, outcomes)| !outcomes.is_empty())
        .collect();
    let rows: Vec<u32> = evaluated.iter().map(|(p, _)| *p).collect();
    let mut classes = Vec::with_capacity(strengths.len());
    let (mut features, mut surprisals) = (Vec::new(), Vec::new());
    control.report("stacking", 0, strengths.len())?;
    training.problem.solve_path(strengths, |softmax| {
        let mut decided = Vec::with_capacity(rows.len());
        softmax.leaders(design, &rows, |leader| {
            decided.push(leader.map_or_else(
                || {
                    let pattern = tally.pattern(rows[decided.len()] as usize);
                    encoding.surprisals(softmax, &training.classes, pattern, &mut features, &mut surprisals);
                    first_best(&surprisals) as u16
                },
                |leader| training.classes[leader],
            ));
        });
        classes.push(decided);
        control.report("stacking", classes.len(), strengths.len())
    })?;
    Ok(Decided { evaluated, classes })
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
    fn strengths_are_compared_on_the_same_rows() {
        // A hundred rows of each of four patterns, all of class 0. The second strength decides the first pattern wrongly,
        // the third as well, but the last one only it decides correctly.
        let evaluated: Vec<Outcomes> = (0..4).map(|p| (p, vec![(0, 100)])).collect();
        let classes = vec![vec![0, 0, 0, 1], vec![1, 0, 0, 1], vec![1, 0, 0, 0]];
        let part = Decided { evaluated, classes };
        assert_eq!(part.correct(), [300, 200, 300]);
        // The first and the third differ on 200 rows, by none.
        assert_eq!(about_best(std::slice::from_ref(&part), |_| 1.0), 0);
        // A row that counts 100 is a single row: one standard error.
        assert_eq!(about_best(&[part], |_| 100.0), 1);
    }

    /// One classifier with a thousand labels, each of one class; a fifth of the rows has the second class. A strong penalty
    /// leaves the frequencies to decide.
    fn rare_labels(n_rows: usize) -> Evidence {
        let label = |t: usize| t * 7 % 1000;
        let labels: Vec<Label> = (0..1000).map(Label::from).collect();
        let ids = (0..n_rows).map(|t| label(t) as u16).collect();
        let rows = Predictions::from_ids(["a"], labels, ids).expect("labels");
        let truth = Truth::new((0..n_rows).map(|t| Some(i64::from(label(t) % 5 == 0)))).expect("two classes");
        Evidence::new(&rows, &truth).expect("rows")
    }

    #[test]
    fn the_coarse_search_finds_what_the_full_one_finds() {
        let tuned = |evidence: &Evidence| {
            let tally = evidence.tally().expect("a tally");
            let encoding = InputEncoding::new(evidence, Inputs::OneHot);
            let design = Arc::new(encoding.design(tally));
            let tuning = Tuning::KFold(Tuning::FOLDS);
            tune_strength(tuning, evidence, &encoding, &design, tally, &Control::default()).expect("rows")
        };
        let (few, many) = (tuned(&rare_labels(4_000)), tuned(&rare_labels(17_000)));
        assert!(few > 1.0, "the full search: {few}");
        assert!(many > 0.5 && grid(-2.0, 1.0, 5).contains(&many), "the coarse search: {many}");
    }

    #[test]
    fn weighted_rows_are_counted_as_rows() {
        let evidence = rare_labels(1_000);
        assert_eq!(n_rows(&evidence), 1_000.0);
        let weighted = evidence.with_class_weights(&[1.0, 1_000.0]).expect("two weights");
        assert_eq!(n_rows(&weighted), 1_000.0);
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
        let decisions = decisions_at_each(&encoding, &design, tally, &strengths, all, all, &control);
        let correct = decisions.expect("not cancelled").correct();
        let expected = golden["ref"]["stacking_converged"]["val_acc_grid"].as_array().expect("a list");
        for (count, accuracy) in correct.iter().zip(expected) {
            let accuracy = accuracy.as_f64().expect("a number");
            assert!((*count as f64 / truth.len() as f64 - accuracy).abs() < 1e-9, "{count} {accuracy}");
        }
        assert_eq!(correct.len(), expected.len());
    }
}
