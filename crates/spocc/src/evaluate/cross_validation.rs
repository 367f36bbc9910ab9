//! Cross-validation: which rows are for training, which are held out, and the results on the latter.

use std::{
    collections::HashSet,
    ops::ControlFlow,
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::{
    Combiner, Control, Error, Evidence,
    data::ClassWeights,
    evaluate::{
        accuracy::{Accuracies, CorrectCounts},
        comparison::{CompareSettings, HeldOutRows},
        evaluation_rows::EvaluationRows,
        evaluator::{Evaluator, TrialResult},
        learning_curve::{CurveBuilder, halvings},
        risk_coverage::MarginCounts,
        split::{WeightedSubset, mix, split},
    },
    progress::Progress,
};

/// Learning curves to average with test rows, where there are no folds to average over.
const DRAWS: u64 = 3;

/// Separates the draws of the curve from those of the folds.
const CURVE: u64 = 0xc0de;

/// All results; methods are numbered as given.
pub(super) struct Measurements {
    pub(super) accuracies: Accuracies,
    /// Methods that could not be fitted, and why; perhaps several times.
    pub(super) refused: Vec<(usize, String)>,
    pub(super) curve: CurveBuilder,
    pub(super) margins: Vec<MarginCounts>,
    /// Rows on which every method is evaluated; those of several repetitions count once.
    pub(super) n_evaluated: u64,
}

/// Training rows and held-out rows, with the result on the latter.
pub(super) struct HeldOutTrial<'a> {
    pub(super) labelled: &'a EvaluationRows,
    /// Training rows of each cell.
    pub(super) counts: &'a [u64],
    pub(super) evaluated: &'a EvaluationRows,
    /// Held-out rows among those evaluated.
    pub(super) held_out: &'a WeightedSubset,
    pub(super) result: &'a TrialResult,
}

/// Labelled rows, separate test rows if there are any, and how to evaluate.
pub(super) struct EvaluationPlan<'a> {
    evidence: &'a Evidence,
    labelled: EvaluationRows,
    test: Option<EvaluationRows>,
    folds: usize,
    /// Folds that are held out, one after the other.
    n_held_out: usize,
    repeats: usize,
    halvings: usize,
    settings: &'a CompareSettings,
    /// Rows without truth, for the methods that use them.
    pub(super) unlabelled: Option<Evidence>,
}

impl<'a> EvaluationPlan<'a> {
    /// Checks that there is enough to evaluate.
    ///
    /// # Errors
    ///
    /// [`Error::NoLabelledRows`], [`Error::OutOfRange`] for too few rows, folds or repetitions,
    /// [`Error::LevelTooLow`], [`Error::DifferentClassifiers`], what [`Evidence::class_weights`] refuses.
    pub(super) fn new(
        evidence: &'a Evidence,
        test: Option<&Evidence>,
        settings: &'a CompareSettings,
    ) -> Result<Self, Error> {
        let class_weights = &settings.options.class_weights;
        let labelled = EvaluationRows::new(evidence, class_weights)?;
        let n_rows = labelled.n_rows();
        if n_rows == 0 {
            return Err(Error::NoLabelledRows);
        }
        let test = test.map(|test| test_rows(evidence, test, class_weights)).transpose()?;
        if test.is_none() {
            at_least("labelled rows to fit to and to evaluate on", "at least 2", n_rows >= 2, n_rows as f64)?;
            at_least("folds", "at least 2", settings.folds >= 2, settings.folds.into())?;
            at_least("repetitions", "at least 1", settings.repeats >= 1, settings.repeats.into())?;
        }
        let folds = n_rows.min(settings.folds.into()) as usize;
        // Leave-one-out has only one split.
        let repeats = if folds as u64 == n_rows { 1 } else { settings.repeats.into() };
        let mut plan = Self {
            evidence,
            labelled,
            test,
            folds,
            n_held_out: folds,
            repeats,
            halvings: 0,
            settings,
            unlabelled: None,
        };
        plan.halvings = if settings.curve { halvings(plan.n_training()) } else { 0 };
        Ok(plan)
    }

    /// Holds out the first fold only.
    pub(super) fn with_one_fold(self) -> Self {
        Self { n_held_out: 1, ..self }
    }

    /// The rows that methods are evaluated on.
    pub(super) fn held_out(&self) -> HeldOutRows {
        match &self.test {
            Some(test) => HeldOutRows::Test { n_rows: test.n_rows() },
            None => HeldOutRows::Folds { folds: self.folds, repeats: self.repeats, seed: self.settings.seed },
        }
    }

    /// The same rows as a table.
    pub(super) fn evaluated(&self) -> &EvaluationRows {
        self.test.as_ref().unwrap_or(&self.labelled)
    }

    /// Labelled rows.
    pub(super) fn n_rows(&self) -> u64 {
        self.labelled.n_rows()
    }

    /// Number of folds that the labelled rows are split into.
    pub(super) fn folds(&self) -> usize {
        self.folds
    }

    /// Number of training rows, in the smallest of the trials.
    pub(super) fn n_training(&self) -> u64 {
        let n_rows = self.n_rows();
        if self.test.is_some() { n_rows } else { n_rows - n_rows.div_ceil(self.folds as u64) }
    }

    fn n_trials(&self) -> u64 {
        let (folds, halvings) = (self.n_held_out as u64, self.halvings as u64);
        match self.test {
            Some(_) => 1 + DRAWS * halvings,
            None => folds * (self.repeats as u64 + halvings),
        }
    }

    /// Fits these methods and evaluates them. Progress is reported in fits, as that of `stage`.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`], [`Error::MemoryLimit`] if not even the rows fit.
    pub(super) fn measure(
        &self,
        combiners: &[&dyn Combiner],
        stage: &'static str,
        control: &Control<'_>,
    ) -> Result<Measurements, Error> {
        let (n_done, total) =
            (AtomicUsize::new(0), self.n_trials().saturating_mul(combiners.len() as u64) as usize);
        // What a fit reports about itself is replaced by the number of fits, so that it can still be cancelled.
        let report = |_: Progress| match control.report(stage, n_done.load(Ordering::Relaxed), total) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        };
        let within = Control::new(&report).with_memory_limit(control.memory_limit());
        let mut evaluator = Evaluator::new(combiners, self.settings, &within, &n_done);
        evaluator.unlabelled = self.unlabelled.as_ref();
        let mut refused = Vec::new();
        let mut curve = CurveBuilder::new(combiners.len(), self.halvings);
        let ((trials, n_evaluated), repeats) = match &self.test {
            Some(test) => (self.on_test(test, &mut evaluator, &mut curve, &mut refused)?, None),
            None => (self.across_folds(&mut evaluator, &mut curve, &mut refused)?, Some(self.repeats)),
        };
        let margins = evaluator.margins;
        let accuracies = Accuracies::new(trials, repeats);
        Ok(Measurements { accuracies, refused, curve, margins, n_evaluated })
    }

    /// One trial, and the number of test rows.
    fn on_test(
        &self,
        test: &EvaluationRows,
        evaluator: &mut Evaluator<'_>,
        curve: &mut CurveBuilder,
        refused: &mut Vec<(usize, String)>,
    ) -> Result<(Vec<CorrectCounts>, u64), Error> {
        let all = test.all();
        let result = &evaluator.evaluate(self.evidence, test, self.settings.curve.then_some(&all))?;
        refused.extend(result.refused.iter().cloned());
        let (labelled, held_out) = (&self.labelled, &test.weighted(&all));
        for draw in 0..DRAWS {
            let trial =
                HeldOutTrial { labelled, counts: labelled.counts(), evaluated: test, held_out, result };
            curve.add(evaluator, &trial, self.salt(CURVE, draw))?;
        }
        Ok((vec![CorrectCounts::new(result, held_out)], test.n_rows()))
    }

    /// One trial per fold and repetition, and the number of rows held out in the first repetition.
    fn across_folds(
        &self,
        evaluator: &mut Evaluator<'_>,
        curve: &mut CurveBuilder,
        refused: &mut Vec<(usize, String)>,
    ) -> Result<(Vec<CorrectCounts>, u64), Error> {
        let (mut trials, mut n_rows) = (Vec::with_capacity(self.folds * self.repeats), 0);
        let labelled = &self.labelled;
        for repetition in 0..self.repeats as u64 {
            let folds = split(&labelled.keys, labelled.counts(), self.folds, self.salt(0, repetition));
            let folds = (0..).zip(&folds).filter(|(_, fold)| !fold.is_empty());
            for (number, fold) in folds.take(self.n_held_out) {
                let counts = &labelled.without(fold);
                let training = labelled.evidence(counts, evaluator.control)?;
                let with_margins = (self.settings.curve && repetition == 0).then_some(fold);
                let result = &evaluator.evaluate(&training, labelled, with_margins)?;
                let held_out = &labelled.weighted(fold);
                refused.extend(result.refused.iter().cloned());
                trials.push(CorrectCounts::new(result, held_out));
                if repetition == 0 {
                    n_rows += fold.iter().map(|(_, count)| count).sum::<u64>();
                    let trial = HeldOutTrial { labelled, counts, evaluated: labelled, held_out, result };
                    curve.add(evaluator, &trial, self.salt(CURVE, number))?;
                }
            }
        }
        Ok((trials, n_rows))
    }

    fn salt(&self, purpose: u64, number: u64) -> u64 {
        mix(mix(self.settings.seed, purpose), number)
    }
}

fn test_rows(
    evidence: &Evidence,
    test: &Evidence,
    class_weights: &ClassWeights,
) -> Result<EvaluationRows, Error> {
    let given: HashSet<&String> = test.classifiers().iter().collect();
    let missing = evidence.classifiers().iter().find(|name| !given.contains(name));
    if let Some(name) = missing {
        return Err(Error::DifferentClassifiers { difference: format!("no `{name}` among the test rows") });
    }
    let rows = EvaluationRows::new(test, &test.applicable_weights(class_weights))?;
    at_least("labelled test rows", "at least 1", rows.n_rows() >= 1, 0.0)?;
    Ok(rows)
}

fn at_least(what: &'static str, expected: &'static str, holds: bool, found: f64) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::OutOfRange { what, expected, found }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        evaluate::test_panels::{drawn, evidence},
        methods::{Majority, Stacking},
    };

    fn rows(n: u64) -> Evidence {
        evidence(["a", "b"], &drawn::<2, 3>(n, &["x", "y"], [0.9, 0.5], 7))
    }

    #[test]
    fn fewer_rows_than_folds_give_leave_one_out() {
        let settings = CompareSettings::default();
        let held_out = |n: u64| EvaluationPlan::new(&rows(n), None, &settings).map(|plan| plan.held_out());
        let folds = |folds, repeats| Ok(HeldOutRows::Folds { folds, repeats, seed: 0 });
        assert_eq!(held_out(2), folds(2, 1));
        assert_eq!(held_out(5), folds(5, 1));
        assert_eq!(held_out(6), folds(5, 3));
    }

    #[test]
    fn too_few_rows_are_refused() {
        let refusal = |n: u64, test: Option<u64>, settings: &CompareSettings| {
            let test = test.map(rows);
            EvaluationPlan::new(&rows(n), test.as_ref(), settings).err().map(|error| error.to_string())
        };
        let usual = CompareSettings::default();
        assert_eq!(refusal(0, None, &usual), Some(Error::NoLabelledRows.to_string()));
        let one = "labelled rows to fit to and to evaluate on: expected at least 2, found 1";
        assert_eq!(refusal(1, None, &usual).as_deref(), Some(one));
        assert_eq!(refusal(1, Some(1), &usual), None);
        let none = "labelled test rows: expected at least 1, found 0";
        assert_eq!(refusal(9, Some(0), &usual).as_deref(), Some(none));
        for bad in
            [CompareSettings { folds: 1, ..usual.clone() }, CompareSettings { repeats: 0, ..usual.clone() }]
        {
            assert!(refusal(9, None, &bad).is_some_and(|message| message.contains("at least")));
            assert_eq!(refusal(9, Some(9), &bad), None, "folds are not needed with test rows");
        }
    }

    #[test]
    fn test_rows_of_another_panel_are_refused() {
        let (ours, settings) = (rows(9), CompareSettings::default());
        let others = evidence(["a", "c"], &[["x", "x", "x"]]);
        let refused = EvaluationPlan::new(&ours, Some(&others), &settings).err();
        assert!(matches!(refused, Some(Error::DifferentClassifiers { .. })), "{refused:?}");
        let more = evidence(["c", "b", "a"], &[["x", "x", "x", "x"]]);
        assert!(EvaluationPlan::new(&ours, Some(&more), &settings).is_ok());
    }

    #[test]
    fn progress_ends_at_its_total() {
        let (ours, test, settings) = (rows(60), rows(40), CompareSettings::default());
        for test in [None, Some(&test)] {
            let plan = EvaluationPlan::new(&ours, test, &settings).expect("enough rows");
            let last = std::sync::Mutex::new((0, 0));
            let progress = |at: Progress| {
                if let Ok(mut last) = last.lock() {
                    *last = (at.done, at.total);
                }
                ControlFlow::Continue(())
            };
            plan.measure(&[&Majority], "test", &Control::new(&progress)).expect("evaluated");
            let (done, total) = *last.lock().expect("no thread panicked");
            assert!(done == total && total > 1, "{done} of {total}");
        }
    }

    #[test]
    fn a_callback_can_cancel_between_fits_and_within_one() {
        let (ours, settings) = (rows(60), CompareSettings::default());
        let plan = EvaluationPlan::new(&ours, None, &settings).expect("enough rows");
        let half_way = |at: Progress| {
            if at.done * 2 < at.total { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let at_once = |_: Progress| ControlFlow::Break(());
        for control in [Control::new(&half_way), Control::new(&at_once)] {
            let cancelled = plan.measure(&[&Majority, &Stacking::default()], "test", &control);
            assert!(matches!(cancelled, Err(Error::Cancelled)));
        }
    }
}
