//! A rule whose value of a class is a sum over the predictions of a row.
//!
//! Votes, naive Bayes, one-hot stacking, the ladder without a pattern table and SPOCC with a single t-norm are such rules.
//! Prediction evaluates many rows of them at once: labels from [`CostTable`]s in single precision, other columns from the
//! sums themselves. Both fall back on the rule where the best class does not lead clearly.

use std::borrow::Cow;

use crate::decision::tolerance;

/// The tables of a rule that adds up a value per prediction.
pub(crate) struct ClassSums<'a> {
    /// Value of each class before any prediction is added; without one, zeros.
    pub(crate) start: Option<Cow<'a, [f64]>>,
    /// Value that a prediction adds to each class: classifier, predicted, class.
    pub(crate) table: Cow<'a, [f64]>,
    pub(crate) kind: SumKind,
}

/// What the sums are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SumKind {
    /// Surprisals raised to this power.
    Surprisals(f64),
    /// Logarithms of probabilities, up to a constant.
    Scores,
    /// Votes.
    Votes,
}

/// Lead of the best score or share of the votes over the second, relative to `1 + |score|`, above which rounding cannot
/// change the decision.
pub(crate) const LEAD: f64 = 1e-6;

/// The same rule as sums of non-negative costs; it decides for the class of least cost.
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

impl<'a> ClassSums<'a> {
    /// As costs, where `n_classifiers` have `n_classes`.
    pub(crate) fn costs(self, n_classifiers: usize, n_classes: usize) -> CostTable<'a> {
        let Self { start, table, kind } = self;
        // The costs of a prediction are what each class lacks of the best one.
        let lacking = |values: Cow<'a, [f64]>, scale: f64| -> Cow<'a, [f64]> {
            let mut costs = values.into_owned();
            for values in costs.chunks_exact_mut(n_classes.max(1)) {
                let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                values.iter_mut().for_each(|value| *value = (best - *value) / scale);
            }
            costs.into()
        };
        match kind {
            SumKind::Surprisals(power) => CostTable { start, table, tolerance: tolerance(power), lead: 0.0 },
            SumKind::Scores => CostTable {
                start: start.map(|start| lacking(start, 1.0)),
                table: lacking(table, 1.0),
                tolerance: 1.0,
                lead: LEAD,
            },
            SumKind::Votes => {
                let of_classifier = table.chunks_exact((table.len() / n_classifiers.max(1)).max(1));
                let total: f64 = of_classifier.map(|votes| votes.iter().copied().fold(0.0, f64::max)).sum();
                CostTable { start, table: lacking(table, total), tolerance: 1.0, lead: LEAD }
            }
        }
    }
}
