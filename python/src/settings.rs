//! Methods with their settings and the choices they share, by the words that every face uses.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use spocc::{
    Combiner as Engine, Label, Method,
    conformal::ConformalSettings,
    data::ClassWeights,
    decision::TieBreak,
    evidence::Level,
    fusion::Exponent,
    methods::{AdaSpocc, ExpVote, Inputs, Spocc, SpoccExponent, Stacking, StackingStrength, Strength},
    tuning::Tuning,
};

use crate::{arrays::labels_of, error::Fault};

/// A method with its settings.
#[pyclass(frozen, module = "spocc._native")]
pub(crate) struct Combiner {
    pub(crate) engine: Box<dyn Engine>,
}

#[pymethods]
impl Combiner {
    /// A method by its word; settings that it does not have are refused.
    #[new]
    #[pyo3(signature = (method, *, tuning=None, inputs=None, exponent=None, strength=None))]
    fn new(
        method: &str,
        tuning: Option<&str>,
        inputs: Option<&str>,
        exponent: Option<Number>,
        strength: Option<Number>,
    ) -> Result<Self, Fault> {
        let method: Method = method.parse()?;
        let tuning: Option<Tuning> = tuning.map(str::parse).transpose()?;
        let inputs: Option<Inputs> = inputs.map(str::parse).transpose()?;
        let exponent = exponent.map(Number::exponent).transpose()?;
        let strength = strength.map(Number::strength).transpose()?;
        let tunes = match method {
            Method::Spocc => matches!(exponent, Some(SpoccExponent::Tuned(_))),
            Method::Stacking => !matches!(strength, Some(StackingStrength::Fixed(_))),
            _ => matches!(method, Method::AdaSpocc | Method::ExpVote),
        };
        let tuned_by = "adaspocc, exp-vote, stacking with strength tuned and spocc with exponent tuned";
        let settings = [
            ("exponent", exponent.is_some(), method == Method::Spocc, "spocc"),
            ("inputs", inputs.is_some(), method == Method::Stacking, "stacking"),
            ("strength", strength.is_some(), method == Method::Stacking, "stacking"),
            ("tuning", tuning.is_some(), tunes, tuned_by),
        ];
        if let Some((name, _, _, by)) = settings.iter().find(|(_, given, used, _)| *given && !used) {
            return Err(Fault::Refused(format!(
                "{name}: expected a method that has it ({by}), found {method}"
            )));
        }
        let tuned = |default: Tuning| tuning.unwrap_or(default);
        let engine: Box<dyn Engine> = match method {
            Method::Spocc => Box::new(Spocc {
                exponent: match exponent.unwrap_or_default() {
                    SpoccExponent::Tuned(default) => SpoccExponent::Tuned(tuned(default)),
                    fixed => fixed,
                },
            }),
            Method::AdaSpocc => Box::new(AdaSpocc { tuning: tuned(AdaSpocc::default().tuning) }),
            Method::ExpVote => Box::new(ExpVote { tuning: tuned(ExpVote::default().tuning) }),
            Method::Stacking => {
                let default = Stacking::default();
                Box::new(Stacking {
                    inputs: inputs.unwrap_or(default.inputs),
                    strength: match strength.unwrap_or(default.strength) {
                        StackingStrength::Tuned(default) => StackingStrength::Tuned(tuned(default)),
                        fixed => fixed,
                    },
                })
            }
            other => other.combiner(),
        };
        Ok(Self { engine })
    }

    /// The word of the method.
    #[getter]
    fn method(&self) -> String {
        self.engine.method().to_string()
    }

    /// How much evidence it needs.
    #[getter]
    fn level(&self) -> &'static str {
        word(self.engine.needs())
    }
}

/// A number, or the word for one that is found out.
#[derive(FromPyObject)]
pub(crate) enum Number {
    Given(f64),
    Word(String),
}

impl Number {
    fn exponent(self) -> Result<SpoccExponent, Fault> {
        match self {
            Self::Given(number) => Ok(SpoccExponent::Fixed(Exponent::try_from(number)?)),
            Self::Word(word) if word == "tuned" => Ok(SpoccExponent::Tuned(Tuning::LeaveOneOut)),
            Self::Word(word) if word == "inf" => Ok(SpoccExponent::Fixed(Exponent::try_from(f64::INFINITY)?)),
            Self::Word(found) => Err(unknown("exponent", "a number from 1, `inf` or `tuned`", &found)),
        }
    }

    fn strength(self) -> Result<StackingStrength, Fault> {
        match self {
            Self::Given(number) => Ok(StackingStrength::Fixed(Strength::try_from(number)?)),
            Self::Word(word) if word == "tuned" => Ok(StackingStrength::default()),
            Self::Word(found) => Err(unknown("strength", "a number above 0 or `tuned`", &found)),
        }
    }
}

fn unknown(what: &str, expected: &str, found: &str) -> Fault {
    Fault::Refused(format!("{what}: expected {expected}, found `{found}`"))
}

/// What every method shares.
#[pyclass(frozen, module = "spocc._native")]
pub(crate) struct Options {
    pub(crate) engine: spocc::Options,
}

#[pymethods]
impl Options {
    /// Choices by their words; weights are those of the classes that `class_weight` then lists.
    #[new]
    #[pyo3(signature = (*, missing, ties, seed, class_weight, weights, calibrate, per_class))]
    fn new(
        missing: &str,
        ties: &str,
        seed: u64,
        class_weight: Option<&Bound<'_, PyAny>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        calibrate: Option<&str>,
        per_class: bool,
    ) -> Result<Self, Fault> {
        let ties = match ties.parse()? {
            TieBreak::Random(_) => TieBreak::Random(seed),
            other => other,
        };
        let scheme = calibrate.map(str::parse).transpose()?;
        if per_class && scheme.is_none() {
            return Err(Fault::Refused("per_class: expected it beside calibrate, found it alone".into()));
        }
        let calibrate = scheme.map(|scheme| ConformalSettings { scheme, per_class, seed });
        let weights = weights.map(|weights| weights.as_array().to_vec());
        let class_weights = match (class_weight, weights) {
            (Some(word), None) => class_weights(Some(&word.extract::<String>()?), None)?,
            (Some(classes), Some(weights)) => class_weights(None, Some((labels_of(classes)?, weights)))?,
            (None, _) => class_weights(None, None)?,
        };
        let engine = spocc::Options { missing: missing.parse()?, ties, class_weights, calibrate };
        Ok(Self { engine })
    }
}

/// Class weights: a word, or classes with their weights.
fn class_weights(
    word: Option<&str>,
    given: Option<(Vec<Option<Label>>, Vec<f64>)>,
) -> Result<ClassWeights, Fault> {
    match (word, given) {
        (Some("balanced"), _) => Ok(ClassWeights::Balanced),
        (Some(found), _) => Err(unknown("class_weight", "None, `balanced` or weights by class", found)),
        (None, None) => Ok(ClassWeights::Equal),
        (None, Some((classes, weights))) => {
            let pair = |(class, weight): (Option<Label>, f64)| {
                class.map(|class| (class, weight)).ok_or_else(|| unknown("class_weight", "classes", "a gap"))
            };
            classes.into_iter().zip(weights).map(pair).collect::<Result<_, _>>().map(ClassWeights::Given)
        }
    }
}

/// The word for a level of evidence.
pub(crate) fn word(level: Level) -> &'static str {
    match level {
        Level::Marginals => "marginals",
        Level::Pairs => "pairs",
        _ => "tally",
    }
}

/// The level of evidence that a word means.
pub(crate) fn level(found: &str) -> Result<Level, Fault> {
    let all = [Level::Marginals, Level::Pairs, Level::Tally];
    all.into_iter()
        .find(|level| word(*level) == found)
        .ok_or_else(|| unknown("level", "one of marginals, pairs, tally", found))
}
