//! Stacking: softmax regression on the answers.

use serde::{Deserialize, Serialize};

use crate::{
    combiners::{Combiner, Judge, Kind, Method, Rule},
    error::Error,
    evidence::{Evidence, Level},
    fusion::Work,
    grid::Row,
    tuning::Tuning,
    watch::Watch,
};

/// Settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stacking {
    /// Inputs.
    pub inputs: Inputs,
    /// Tuning.
    pub tuning: Tuning,
}
/// Inputs
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inputs {
    /// a
    OneHot,
    /// b
    Ordinal,
}
impl Default for Stacking {
    fn default() -> Self {
        Self { inputs: Inputs::OneHot, tuning: Tuning::KFold(5) }
    }
}
impl Combiner for Stacking {
    fn method(&self) -> Method {
        Method::Stacking
    }
    fn needs(&self) -> Level {
        Level::Tally
    }
    fn learn(&self, _evidence: &Evidence, _watch: &Watch<'_>) -> Result<Rule, Error> {
        Ok(Rule(Kind::Stacking(Regression {})))
    }
}
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Regression {}
impl Regression {
    pub(crate) fn fitted(&self) -> crate::Fitted {
        crate::Fitted::Stacking {
            inputs: Inputs::OneHot,
            strength: 0.0,
            classes: vec![],
            coefficients: vec![],
            intercepts: vec![],
        }
    }
}
impl Judge for Regression {
    fn surprisals(&self, _row: Row<'_>, _work: &mut Work) -> bool {
        false
    }
    fn check(&self, _size: [usize; 3]) -> Result<(), Error> {
        Ok(())
    }
}
