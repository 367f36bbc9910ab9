//! Methods with their settings and the options that all methods share, by name: words become values of the engine.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use spocc::{
    Combiner, Label,
    conformal::ConformalSettings,
    data::ClassWeights,
    decision::TieBreak,
    evidence::Level,
    methods::{Settings, UnlabelledRows},
};

use crate::{error::BindingError, input::labels_of};

/// A method with its settings.
#[pyclass(name = "Combiner", frozen, module = "spocc._native")]
pub(crate) struct PyCombiner {
    pub(crate) engine: Box<dyn Combiner>,
}

#[pymethods]
impl PyCombiner {
    /// A method by name; `None` stands for the default of a setting.
    #[new]
    #[pyo3(signature = (method, *, tuning=None, inputs=None, exponent=None, strength=None))]
    fn new(
        method: &str,
        tuning: Option<&str>,
        inputs: Option<&str>,
        exponent: Option<NumberOrWord>,
        strength: Option<NumberOrWord>,
    ) -> Result<Self, BindingError> {
        let settings = Settings {
            method: method.parse()?,
            tuning: tuning.map(str::parse).transpose()?,
            inputs: inputs.map(str::parse).transpose()?,
            exponent: exponent.map(|exponent| exponent.text().parse()).transpose()?,
            strength: strength.map(|strength| strength.text().parse()).transpose()?,
        };
        Ok(Self { engine: settings.combiner()? })
    }

    /// The name of the method.
    #[getter]
    fn method(&self) -> String {
        self.engine.method().to_string()
    }

    /// Whether its models have probabilities.
    #[getter]
    fn has_probabilities(&self) -> bool {
        self.engine.method().capabilities().probabilities
    }

    /// Whether it is fitted to unlabelled rows together with labelled rows.
    #[getter]
    fn uses_unlabelled(&self) -> bool {
        let unlabelled = self.engine.method().capabilities().unlabelled;
        unlabelled == UnlabelledRows::Always
    }

    /// The level of detail at which rows are counted, and whether rows without truth are counted.
    fn counting(
        &self,
        has_truth: bool,
        unlabelled: Option<bool>,
        needs_tally: bool,
    ) -> Result<(&'static str, bool), BindingError> {
        let unlabelled = self.engine.method().counts_unlabelled(unlabelled, has_truth)?;
        let level = if unlabelled || needs_tally { Level::Tally } else { self.engine.needs() };
        Ok((word(level), unlabelled))
    }
}

/// A number, or a word such as `tuned`.
#[derive(FromPyObject)]
pub(crate) enum NumberOrWord {
    Number(f64),
    Word(String),
}

impl NumberOrWord {
    /// The text from which the engine reads the same value.
    fn text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Word(word) => word,
        }
    }
}

fn unknown(what: &str, expected: &str, found: &str) -> BindingError {
    BindingError::Value(format!("{what}: expected {expected}, found `{found}`"))
}

/// The options that all methods share.
#[pyclass(name = "Options", frozen, module = "spocc._native")]
pub(crate) struct PyOptions {
    pub(crate) engine: spocc::Options,
}

#[pymethods]
impl PyOptions {
    /// Options by name; `class_weight` is a word, or the classes that have these weights.
    #[new]
    #[pyo3(signature = (*, missing, ties, seed, class_weight, weights, calibrate, per_class, evaluate))]
    #[expect(clippy::too_many_arguments, reason = "these are keyword arguments")]
    fn new(
        missing: &str,
        ties: &str,
        seed: u64,
        class_weight: Option<&Bound<'_, PyAny>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        calibrate: Option<&str>,
        per_class: bool,
        evaluate: bool,
    ) -> Result<Self, BindingError> {
        let ties = match ties.parse()? {
            TieBreak::Random(_) => TieBreak::Random(seed),
            other => other,
        };
        let scheme = calibrate.map(str::parse).transpose()?;
        if per_class && scheme.is_none() {
            return Err(BindingError::Value(
                "per_class: expected it together with calibrate, found it alone".into(),
            ));
        }
        let calibrate = scheme.map(|scheme| ConformalSettings { scheme, per_class, seed });
        let weights = weights.map(|weights| weights.as_array().to_vec());
        let class_weights = match (class_weight, weights) {
            (Some(word), None) => class_weights(Some(&word.extract::<String>()?), None)?,
            (Some(classes), Some(weights)) => class_weights(None, Some((labels_of(classes)?, weights)))?,
            (None, _) => class_weights(None, None)?,
        };
        let engine = spocc::Options { missing: missing.parse()?, ties, class_weights, calibrate, evaluate };
        Ok(Self { engine })
    }
}

/// Class weights from a word, or from classes with their weights.
fn class_weights(
    word: Option<&str>,
    given: Option<(Vec<Option<Label>>, Vec<f64>)>,
) -> Result<ClassWeights, BindingError> {
    match (word, given) {
        (Some("balanced"), _) => Ok(ClassWeights::Balanced),
        (Some(found), _) => Err(unknown("class_weight", "None, `balanced` or weights by class", found)),
        (None, None) => Ok(ClassWeights::Equal),
        (None, Some((classes, weights))) => {
            let pair = |(class, weight): (Option<Label>, f64)| {
                class
                    .map(|class| (class, weight))
                    .ok_or_else(|| unknown("class_weight", "classes", "a missing label"))
            };
            classes.into_iter().zip(weights).map(pair).collect::<Result<_, _>>().map(ClassWeights::Given)
        }
    }
}

/// The name of a level of evidence.
pub(crate) fn word(level: Level) -> &'static str {
    match level {
        Level::Marginals => "marginals",
        Level::Pairs => "pairs",
        _ => "tally",
    }
}

/// The level of evidence of this name.
pub(crate) fn level(found: &str) -> Result<Level, BindingError> {
    let all = [Level::Marginals, Level::Pairs, Level::Tally];
    all.into_iter()
        .find(|level| word(*level) == found)
        .ok_or_else(|| unknown("level", "one of marginals, pairs, tally", found))
}
