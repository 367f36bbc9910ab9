//! The report of a comparison, and how it is made.

use serde::{Serialize, Serializer};

use crate::{
    Combiner, Control, Error, Evidence, Method, Options,
    data::ClassWeights,
    evaluate::{
        BestClassifier, Difference, LearningCurve, Recommendation, RiskCoverage,
        cross_validation::{EvaluationPlan, Measurements},
        learning_curve, recommendation,
    },
};

/// Methods that are compared in any case: the best single classifier, and the majority vote.
pub(super) const REFERENCES: [Method; 2] = [Method::Selection, Method::Majority];

/// How to compare methods.
#[derive(Clone, Debug)]
pub struct CompareSettings {
    /// Folds of the cross-validation; unused with test rows.
    pub folds: u16,
    /// Repetitions of the cross-validation, each with other folds; unused with test rows.
    pub repeats: u16,
    /// Seed of the splits.
    pub seed: u64,
    /// The methods to compare. The best single classifier and the majority vote are compared in any case.
    pub methods: Vec<Method>,
    /// Options of every fit.
    pub options: Options,
    /// Whether to compute the curves: accuracy against margin, and against the number of labelled rows.
    pub curve: bool,
}

impl Default for CompareSettings {
    fn default() -> Self {
        let methods = Method::ALL.to_vec();
        let options = Options::default();
        Self { folds: 5, repeats: 3, seed: 0, methods, options, curve: true }
    }
}

impl CompareSettings {
    /// The methods and the references, each once. Of all methods only those that can decide between open answers are
    /// compared on these; one that is named alone is refused with the reason.
    fn all_methods(&self, is_open: bool) -> Vec<Method> {
        let leaves_out = is_open && self.methods == Method::ALL;
        let mut all = Vec::new();
        for method in self.methods.iter().chain(&REFERENCES) {
            let is_left_out = leaves_out && !method.capabilities().open_answers;
            if !is_left_out && !all.contains(method) {
                all.push(*method);
            }
        }
        all
    }
}

/// The results of all methods. Its text has lines of at most 80 characters.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// Number of labelled rows.
    pub n_rows: u64,
    /// Number of unlabelled rows, or the sum of their weights, to which some methods are fitted too.
    pub n_unlabelled: f64,
    /// Number of classifiers.
    pub n_classifiers: usize,
    /// Number of classes; 0 for open answers.
    pub n_classes: usize,
    /// Of open answers, the share of the labelled rows whose true answer some classifier gives: no method is more accurate.
    pub answerable_share: Option<f64>,
    /// Weights of the classes, in fitting and in evaluation.
    #[serde(serialize_with = "as_text")]
    pub class_weights: ClassWeights,
    /// The rows that methods are evaluated on.
    pub held_out: HeldOutRows,
    /// The methods that were evaluated, the best first.
    pub methods: Vec<MethodResult>,
    /// The methods that could not be fitted.
    pub refused: Vec<RefusedMethod>,
    /// The single classifier with the highest accuracy on the evaluated rows.
    pub best_classifier: Option<BestClassifier>,
    /// The accuracy after fewer labelled rows.
    pub curve: Option<LearningCurve>,
    /// Why there is no curve although the settings ask for one.
    pub no_curve_reason: Option<String>,
    /// The conclusions.
    pub recommendation: Recommendation,
}

fn as_text<S: Serializer>(class_weights: &ClassWeights, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(class_weights)
}

/// The rows that methods are evaluated on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum HeldOutRows {
    /// The labelled rows, fold by fold.
    Folds {
        /// Number of folds.
        folds: usize,
        /// Repetitions, each with other folds.
        repeats: usize,
        /// Seed of the splits.
        seed: u64,
    },
    /// Separate test rows.
    Test {
        /// Their number.
        n_rows: u64,
    },
}

/// The result of one method.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MethodResult {
    /// The method.
    pub method: Method,
    /// Whether it is a reference that the settings do not list.
    pub is_reference: bool,
    /// Whether it was fitted to the unlabelled rows too.
    pub uses_unlabelled: bool,
    /// Its accuracy on held-out rows.
    pub accuracy: f64,
    /// The same with rows weighted by class, by which methods are then ranked; none if class weights are equal.
    pub weighted_accuracy: Option<f64>,
    /// The 95 % interval of the measure by which methods are ranked.
    pub interval: [f64; 2],
    /// The difference between the best method and this one, in that measure; none for the best.
    pub behind: Option<Difference>,
    /// The accuracy on the rows with the largest margins; none if the settings ask for no curves.
    pub risk: Option<RiskCoverage>,
}

/// A method that could not be fitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RefusedMethod {
    /// The method.
    pub method: Method,
    /// Why.
    pub reason: String,
}

/// Evaluates methods on rows that they are not fitted to: by repeated cross-validation, or on test rows.
///
/// The methods that use unlabelled rows are fitted to all unlabelled rows of the evidence in every fold. Held-out rows are
/// not among these, not even without their truths, so the accuracy is that on rows which the model has not seen at all.
///
/// The same rows and settings give the same report, in any order of the rows and with any number of threads. Progress is
/// reported in fits.
///
/// # Errors
///
/// [`Error::NoLabelledRows`], [`Error::OutOfRange`] for too few rows, folds or repetitions, [`Error::LevelTooLow`]
/// without a tally, [`Error::SameRows`] if the test rows are the labelled rows, [`Error::DifferentClassifiers`] if they
/// lack a classifier, the errors of [`Evidence::class_weights`], [`Error::MemoryLimit`] if not even the rows fit,
/// [`Error::Cancelled`].
pub fn compare(
    evidence: &Evidence,
    test: Option<&Evidence>,
    settings: &CompareSettings,
    control: &Control<'_>,
) -> Result<Comparison, Error> {
    let n_unlabelled = evidence.n_unlabelled();
    let unlabelled = (n_unlabelled > 0.0).then(|| evidence.unlabelled(control)).transpose()?;
    let evidence = &*evidence.labelled(control)?;
    if let Some(test) = test
        && test.labelled(control)?.to_bytes() == evidence.to_bytes()
    {
        return Err(Error::SameRows);
    }
    let mut plan = EvaluationPlan::new(evidence, test, settings)?;
    plan.unlabelled = unlabelled;
    let methods = settings.all_methods(evidence.is_open());
    let combiners: Vec<Box<dyn Combiner>> = methods.iter().map(|method| method.combiner()).collect();
    let combiners: Vec<&dyn Combiner> = combiners.iter().map(|combiner| &**combiner).collect();
    let measured = plan.measure(&combiners, "comparing", control)?;
    let ranking = measured.ranking(&methods);
    let uses_unlabelled = |method: Method| n_unlabelled > 0.0 && method.uses_unlabelled(evidence);
    let result = |m: usize| MethodResult {
        uses_unlabelled: uses_unlabelled(methods[m]),
        ..measured.result(m, methods[m], &ranking, settings)
    };
    let results: Vec<MethodResult> = ranking.iter().map(|m| result(*m)).collect();
    let ranked: Vec<(usize, Method)> = ranking.iter().map(|&m| (m, methods[m])).collect();
    let curve = measured.curve.finish(&ranked, test.is_some());
    let lacks_curve = settings.curve && curve.is_none();
    Ok(Comparison {
        n_rows: plan.n_rows(),
        n_unlabelled,
        n_classifiers: evidence.classifiers().len(),
        n_classes: if evidence.is_open() { 0 } else { evidence.candidate_classes().len() },
        answerable_share: evidence.answerable_share(),
        class_weights: settings.options.class_weights.clone(),
        held_out: plan.held_out(),
        recommendation: Recommendation::new(&results, plan.n_rows(), plan.evaluated().has_missing()),
        methods: results,
        refused: measured.refusals(&methods),
        best_classifier: plan.evaluated().best_classifier(),
        curve,
        no_curve_reason: lacks_curve.then(|| learning_curve::too_few_rows(plan.n_training())),
    })
}

impl Measurements {
    /// The methods that were never refused, the best first, of equals the simpler.
    fn ranking(&self, methods: &[Method]) -> Vec<usize> {
        let is_complete = |m: &usize| self.refused.iter().all(|(refused, _)| refused != m);
        let mut ranking: Vec<usize> = (0..methods.len()).filter(is_complete).collect();
        let rank = |m: usize| recommendation::complexity(methods[m]);
        ranking.sort_by(|&a, &b| {
            let by_accuracy = self.accuracies.accuracy(b).total_cmp(&self.accuracies.accuracy(a));
            by_accuracy.then_with(|| rank(a).cmp(&rank(b)))
        });
        ranking
    }

    fn result(
        &self,
        m: usize,
        method: Method,
        ranking: &[usize],
        settings: &CompareSettings,
    ) -> MethodResult {
        let behind = |best: usize| self.accuracies.difference(best, m, ranking.len() - 1);
        MethodResult {
            method,
            is_reference: !settings.methods.contains(&method),
            uses_unlabelled: false,
            accuracy: self.accuracies.plain_accuracy(m),
            weighted_accuracy: (settings.options.class_weights != ClassWeights::Equal)
                .then(|| self.accuracies.accuracy(m)),
            interval: self.accuracies.interval(m),
            behind: ranking.first().filter(|best| **best != m).map(|best| behind(*best)),
            risk: self.margins[m].risk(),
        }
    }

    fn refusals(&self, methods: &[Method]) -> Vec<RefusedMethod> {
        let reason = |m: usize| self.refused.iter().find(|(refused, _)| *refused == m).map(|entry| &entry.1);
        let refusal = |(m, &method)| reason(m).map(|reason| RefusedMethod { method, reason: reason.clone() });
        methods.iter().enumerate().filter_map(refusal).collect()
    }
}

impl MethodResult {
    /// Whether the best method is significantly better.
    pub fn is_behind(&self) -> bool {
        self.behind.is_some_and(|behind| behind.is_beyond_noise)
    }

    /// A result for tests of the recommendation.
    #[cfg(test)]
    pub(super) fn of(method: Method, accuracy: f64, behind: Option<Difference>) -> Self {
        Self {
            method,
            is_reference: false,
            uses_unlabelled: false,
            accuracy,
            weighted_accuracy: None,
            interval: [0.0, 1.0],
            behind,
            risk: None,
        }
    }
}
