//! A rule whose score of a class is a sum of costs, one per prediction; it decides for the class of least cost.
//!
//! Majority and weighted votes, naive Bayes, one-hot stacking and SPOCC with a single t-norm are such rules. Prediction
//! evaluates them in single precision and falls back on the rule itself where the best class does not lead clearly.

use std::borrow::Cow;

/// The non-negative costs of a rule that is a sum over predictions.
pub(crate) struct CostTable<'a> {
    /// Cost of each class before any prediction is added. With a start, a row without predictions is left to the rule.
    pub(crate) start: Option<Cow<'a, [f64]>>,
    /// Cost that a prediction adds to each class: classifier, predicted, class.
    pub(crate) table: Cow<'a, [f64]>,
    /// Relative distance, as a factor, within which two sums are tied.
    pub(crate) tolerance: f64,
    /// Absolute distance within which two sums may be tied as well.
    pub(crate) lead: f64,
}
