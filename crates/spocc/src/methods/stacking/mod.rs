//! Stacking: softmax regression on the predictions, its strength given or tuned.
//!
//! In: evidence with a tally. Out: a [`Regression`], which gives a probability per class. [`encoding`] turns predictions into
//! inputs, [`strength`] chooses the weight of the rows against the penalty.

mod encoding;
mod regression;
mod strength;

use std::sync::Arc;

use crate::{
    error::Error,
    evidence::{Evidence, Level},
    methods::{Combiner, Learn, Method, Rule, open},
    progress::Control,
    tuning::Tuning,
};

use encoding::InputEncoding;
use strength::{TrainingSet, tune_strength};

pub use encoding::Inputs;
pub(crate) use regression::Regression;

/// Stacking: softmax regression on the predictions with an L2 penalty (one of the methods that the paper compares with,
/// §4.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stacking {
    /// How predictions become the inputs of the regression.
    pub inputs: Inputs,
    /// The weight of the rows against the penalty.
    pub strength: StackingStrength,
}

impl Default for Stacking {
    fn default() -> Self {
        Self { inputs: Inputs::OneHot, strength: StackingStrength::default() }
    }
}

/// How the strength of stacking is set.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum StackingStrength {
    /// A given strength: a single regression.
    Fixed(Strength),
    /// The median of the most accurate strengths on a grid from 0.01 to 100: a hundred regressions per fold. Above 16 384
    /// labelled rows, of the five powers of ten that are within a standard error of the best on a fifth of the rows.
    /// Leave-one-out would need as many per row and is refused.
    Tuned(Tuning),
}

impl Default for StackingStrength {
    fn default() -> Self {
        Self::Tuned(Tuning::KFold(Tuning::FOLDS))
    }
}

/// The weight of the rows against the penalty, the C of scikit-learn: a finite number above 0.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Strength(f64);

impl TryFrom<f64> for Strength {
    type Error = Error;

    fn try_from(value: f64) -> Result<Self, Error> {
        if value > 0.0 && value.is_finite() {
            return Ok(Self(value));
        }
        Err(Error::OutOfRange { what: "strength", expected: "a finite number above 0", found: value })
    }
}

impl From<Strength> for f64 {
    fn from(strength: Strength) -> Self {
        strength.0
    }
}

impl Stacking {
    /// The refusal of a tuning that would need a regression per row and candidate.
    pub(super) fn refuse(found: Tuning) -> Error {
        let (method, found) = (Method::Stacking.to_string(), found.to_string());
        Error::TuningRefused { method, expected: "resubstitution or k-fold", found }
    }
}

impl Combiner for Stacking {
    fn method(&self) -> Method {
        Method::Stacking
    }

    fn needs(&self) -> Level {
        Level::Tally
    }
}

impl Learn for Stacking {
    fn learn(&self, evidence: &Evidence, control: &Control<'_>) -> Result<Rule, Error> {
        if evidence.is_open() {
            let penalty = match self.strength {
                StackingStrength::Fixed(strength) => Some(1.0 / f64::from(strength)),
                StackingStrength::Tuned(tuning) => tuning.check().map(|()| None)?,
            };
            return open::learn(evidence, open::Experts::Regression(penalty), control);
        }
        let tally = evidence.tally_for(Method::Stacking)?;
        let (n, s, l) = (evidence.n_classifiers(), evidence.n_labels(), evidence.n_classes());
        // The coefficients, and as many numbers again for each of three vectors of the solver.
        control
            .allow(|| format!("regression on {n} classifiers, {s} labels, {l} classes"), &[n, s, l, 8, 4])?;
        let encoding = InputEncoding::new(evidence, self.inputs);
        let entries = tally.n_patterns().saturating_mul(evidence.n_classifiers());
        control.allow(|| format!("regression on {} patterns", tally.n_patterns()), &[entries, 12])?;
        let design = Arc::new(encoding.design(tally));
        let strength = match self.strength {
            StackingStrength::Fixed(strength) => strength.into(),
            StackingStrength::Tuned(tuning) => {
                tuning.check()?;
                tune_strength(tuning, evidence, &encoding, &design, tally, control)?
            }
        };
        let training = TrainingSet::new(&encoding, &design, tally, |p| tally.outcomes(p).collect());
        let softmax = training.problem.solve(strength);
        Ok(Rule::Stacking(Regression { strength, encoding, classes: training.classes, softmax }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fit, Predictions, Truth, methods::Parameters};

    #[test]
    fn folds_without_training_rows_are_scored() {
        let mut rows = Predictions::builder(["a"]).expect("a name");
        rows.push([Some("x")]).expect("an answer");
        let truth = Truth::new([Some("x")]).expect("few labels");
        let evidence = Evidence::new(&rows.finish(), &truth).expect("rows");
        for inputs in [Inputs::OneHot, Inputs::Ordinal] {
            let model = Stacking { inputs, ..Stacking::default() }.fit(&evidence).expect("rows");
            let Parameters::Stacking { classes, intercepts, .. } = model.parameters() else {
                panic!("stacking")
            };
            assert_eq!((classes, intercepts), (vec![0], vec![0.0]));
        }
    }
}
