//! Fitting every method to the same training rows and evaluating it on the same held-out rows.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{
    Combiner, Control, Error, Evidence, Model, Options,
    evaluate::{comparison::CompareSettings, evaluation_rows::EvaluationRows, risk_coverage::MarginCounts},
    evidence::RowSubset,
};

/// Which methods are correct on each cell, a bit per method.
#[derive(Clone, Debug)]
pub(super) struct TrialResult {
    pub(super) correct: Vec<u64>,
    /// Methods that cannot be fitted to these rows, and why.
    pub(super) refused: Vec<(usize, String)>,
}

/// The methods, their settings, and how many fits are done.
pub(super) struct Evaluator<'a> {
    combiners: &'a [&'a dyn Combiner],
    settings: &'a CompareSettings,
    pub(super) control: &'a Control<'a>,
    /// Rows without truth, for the methods that use them.
    pub(super) unlabelled: Option<&'a Evidence>,
    /// By method, of the rows whose margins were requested.
    pub(super) margins: Vec<MarginCounts>,
    n_done: &'a AtomicUsize,
}

impl<'a> Evaluator<'a> {
    /// Of these methods with their settings.
    pub(super) fn new(
        combiners: &'a [&'a dyn Combiner],
        settings: &'a CompareSettings,
        control: &'a Control<'a>,
        n_done: &'a AtomicUsize,
    ) -> Self {
        let margins = vec![MarginCounts::default(); combiners.len()];
        Self { combiners, settings, control, unlabelled: None, margins, n_done }
    }

    /// Fits every method to `training` and evaluates it on all cells of `rows`; the margins of the rows in `with_margins`
    /// are counted too.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`], [`Error::MissingClassifier`]; a method that cannot be fitted is recorded as refused.
    pub(super) fn evaluate(
        &mut self,
        training: &Evidence,
        rows: &EvaluationRows,
        with_margins: Option<&RowSubset>,
    ) -> Result<TrialResult, Error> {
        let mut result = TrialResult { correct: vec![0; rows.len()], refused: Vec::new() };
        for m in 0..self.combiners.len() {
            match self.fit(m, training)? {
                Ok(model) => {
                    let is_correct = rows.score(&model, self.control)?;
                    result.record(m, &is_correct);
                    if let Some(subset) = with_margins {
                        self.margins[m].add(&model, rows, subset, &is_correct)?;
                    }
                }
                Err(reason) => result.refused.push((m, reason)),
            }
            self.n_done.fetch_add(1, Ordering::Relaxed);
            // The control of a comparison reports the number of fits itself.
            self.control.report("comparing", 0, 0)?;
        }
        Ok(result)
    }

    /// A model, or why there is none.
    fn fit(&self, m: usize, training: &Evidence) -> Result<Result<Model, String>, Error> {
        // A subset of the rows may have fewer classes.
        let class_weights = training.applicable_weights(&self.settings.options.class_weights);
        let options = Options { class_weights, ..self.settings.options.clone() };
        let combiner = self.combiners[m];
        let fit = |evidence: &Evidence| Model::fit_among(combiner, evidence, None, &options, self.control);
        let fitted = match self.unlabelled.filter(|_| combiner.method().uses_unlabelled(training)) {
            Some(more) => training.merge(more, self.control).and_then(|all| fit(&all)),
            None => fit(training),
        };
        match fitted {
            Err(Error::Cancelled) => Err(Error::Cancelled),
            fitted => Ok(fitted.map_err(|error| error.to_string())),
        }
    }
}

impl TrialResult {
    fn record(&mut self, m: usize, is_correct: &[bool]) {
        let cells = self.correct.iter_mut().zip(is_correct);
        cells.for_each(|(methods, is_correct)| *methods |= u64::from(*is_correct) << m);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Predictions, Truth,
        data::{ClassWeights, Missing},
        evaluate::test_panels::{drawn, evidence},
        methods::{DawidSkene, Ladder, Majority, Selection, Stacking},
    };

    fn panel() -> Evidence {
        evidence(["a", "b", "c"], &drawn::<3, 4>(60, &["x", "y"], [1.0, 0.5, 0.5], 1))
    }

    fn settings() -> CompareSettings {
        let options = Options { missing: Missing::Ignore, ..Options::default() };
        CompareSettings { options, ..CompareSettings::default() }
    }

    #[test]
    fn every_method_has_its_own_bit() {
        let (evidence, control, n_done, settings) =
            (panel(), Control::default(), AtomicUsize::new(0), settings());
        let rows = EvaluationRows::new(&evidence, &ClassWeights::Equal).expect("a tally");
        let mut evaluator = Evaluator::new(&[&Selection, &Majority], &settings, &control, &n_done);
        let result = evaluator.evaluate(&evidence, &rows, None).expect("a tally");
        assert!(
            result.correct.iter().all(|methods| methods & 1 == 1),
            "the first classifier is always correct"
        );
        assert!(result.correct.iter().any(|methods| methods & 2 == 0), "the majority is not");
        assert_eq!(n_done.into_inner(), 2);
    }

    #[test]
    fn every_fold_has_all_unlabelled_rows_for_the_methods_that_use_them() {
        let (evidence, control, settings) = (panel(), Control::default(), settings());
        let rows = Predictions::builder(["a", "b", "c"]).and_then(|mut rows| {
            rows.push(["x", "x", "y"].map(Some))?;
            Ok(rows.finish())
        });
        let unknown = Truth::new([None::<&str>]).expect("a row");
        let more = Evidence::new(&rows.expect("a row"), &unknown).expect("a row");
        let n_done = AtomicUsize::new(0);
        let mut evaluator = Evaluator::new(&[&Ladder, &DawidSkene, &Majority], &settings, &control, &n_done);
        evaluator.unlabelled = Some(&more);
        let unlabelled = [0, 1, 2].map(|m| {
            let model = evaluator.fit(m, &evidence).expect("not cancelled").expect("a tally");
            let counts = model.evidence().expect("counts");
            assert_eq!(counts.n_rows(), evidence.n_rows());
            counts.n_unlabelled()
        });
        assert_eq!(unlabelled, [1.0, 1.0, 0.0]);
    }

    #[test]
    fn a_method_that_refuses_has_a_reason_and_the_others_continue() {
        let evidence = panel();
        let rows = EvaluationRows::new(&evidence, &ClassWeights::Equal).expect("a tally");
        let (control, n_done, settings) =
            (Control::default().with_memory_limit(200), AtomicUsize::new(0), settings());
        let combiners: [&dyn Combiner; 2] = [&Stacking::default(), &Majority];
        let mut evaluator = Evaluator::new(&combiners, &settings, &control, &n_done);
        let result = evaluator.evaluate(&evidence, &rows, None).expect("one method continues");
        assert!(result.correct.iter().any(|methods| methods & 2 == 2));
        assert!(result.correct.iter().all(|methods| methods & 1 == 0));
        assert!(
            matches!(&result.refused[..], [(0, reason)] if reason.contains("bytes")),
            "{:?}",
            result.refused
        );
    }
}
