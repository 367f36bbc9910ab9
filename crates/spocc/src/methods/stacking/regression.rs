//! A fitted stacking model, applied to a row.

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    error::Error,
    methods::{
        ClassSums, FittedRule, Inputs, Parameters, Scratch, SumKind, check_numbers, check_sum, largest,
        largest_of_parts, softmax::Softmax, stacking::InputEncoding,
    },
};

/// A fitted regression on the predictions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Regression {
    pub(super) strength: f64,
    pub(super) encoding: InputEncoding,
    /// The classes with training rows, in the order of the outputs.
    pub(super) classes: Vec<u16>,
    pub(super) softmax: Softmax,
}

impl Regression {
    pub(crate) fn parameters(&self) -> Parameters {
        Parameters::Stacking {
            inputs: self.encoding.inputs,
            strength: self.strength,
            classes: self.classes.iter().map(|&class| class.into()).collect(),
            coefficients: self.softmax.coef.clone(),
            intercepts: self.softmax.intercept.clone(),
        }
    }
}

impl FittedRule for Regression {
    fn surprisals(&self, row: Row<'_>, scratch: &mut Scratch) -> bool {
        let Scratch { features, out, .. } = scratch;
        self.encoding.surprisals(&self.softmax, &self.classes, row, features, out);
        row.n_answered() > 0
    }

    fn ratios(&self, row: Row<'_>, scratch: &mut Scratch) {
        let Scratch { features, out, .. } = scratch;
        self.encoding.scores(&self.softmax, &self.classes, row, features, out);
        scratch.ratios_of_scores();
    }

    /// A one-hot prediction adds its coefficients to the scores. A class without training rows has the score minus infinity
    /// from the start.
    fn sums(&self, _n_labels: usize) -> Option<ClassSums<'_>> {
        if self.encoding.inputs != Inputs::OneHot || self.classes.is_empty() {
            return None;
        }
        let (outputs, l) = (self.softmax.intercept.len(), self.encoding.n_classes);
        let scores = |values: &[f64], without_output: f64| {
            let mut scores = vec![without_output; l];
            for (at, &class) in self.classes.iter().enumerate() {
                // With a single output the first of two classes has a score of zero.
                let output = (at + outputs).checked_sub(self.classes.len());
                scores[usize::from(class)] = output.map_or(0.0, |output| values[output]);
            }
            scores
        };
        let start = scores(&self.softmax.intercept, f64::NEG_INFINITY);
        let table: Vec<f64> =
            self.softmax.coef.chunks_exact(outputs).flat_map(|values| scores(values, 0.0)).collect();
        Some(ClassSums { start: Some(start.into()), table: table.into(), kind: SumKind::Scores })
    }

    fn check(&self, [n, s, l]: [usize; 3]) -> Result<(), Error> {
        let encoding = &self.encoding;
        let wrong = |found: &str| {
            Err(Error::Inconsistent { expected: "a regression on the predictions", found: found.to_owned() })
        };
        if (encoding.n_classifiers, encoding.n_labels, encoding.n_classes) != (n, s, l) {
            return wrong("another size");
        }
        let ascending = self.classes.is_sorted_by(|a, b| a < b);
        if !ascending || self.classes.is_empty() || self.classes.iter().any(|&class| usize::from(class) >= l)
        {
            return wrong("other classes");
        }
        let means = if encoding.inputs == Inputs::Ordinal { n } else { 0 };
        check_numbers("a mean label number per classifier", &encoding.means, Some(means), f64::is_finite)?;
        let outputs = if self.classes.len() == 2 { 1 } else { self.classes.len() };
        let size = if encoding.inputs == Inputs::Ordinal { Some(n) } else { n.checked_mul(s) };
        let size = size.and_then(|size| size.checked_mul(outputs));
        check_numbers("a coefficient per input and output", &self.softmax.coef, size, f64::is_finite)?;
        check_numbers("an intercept per output", &self.softmax.intercept, Some(outputs), f64::is_finite)?;
        check_numbers("a strength and a unit", &[self.strength, encoding.unit], Some(2), f64::is_finite)?;
        // An ordinal input is the number of a label or a mean.
        let input = match encoding.inputs {
            Inputs::OneHot => 1.0,
            Inputs::Ordinal => largest(&encoding.means).max(s as f64),
        };
        let terms = largest_of_parts(&self.softmax.coef, n).map(|coefficient| coefficient * input);
        check_sum(terms.chain([largest(&self.softmax.intercept)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Control, Evidence, Label, Predictions, Truth,
        data::MISSING,
        evidence::Counting,
        methods::{Learn, Rule, Stacking, StackingStrength, Strength},
    };

    #[test]
    fn costs_differ_as_surprisals_do() {
        // The second label is never true, and only without the last rows are there two classes.
        let row = |at: usize| [at % 4, at / 2 % 4, at / 5 % 4].map(|id| Some(["p", "q", "r", "s"][id]));
        for rows in [24, 12] {
            let mut builder = Predictions::builder(["a", "b", "c"]).expect("names");
            (0..rows).for_each(|at| builder.push(row(at)).expect("three predictions"));
            let truth = Truth::new((0..rows).map(|at| Some(["p", "r", "s"][at / 12 + at % 2]))).expect("few");
            let classes = Some(["p", "q", "r", "s"].map(Label::from).to_vec());
            let counting = Counting { classes, ..Counting::default() };
            let evidence =
                Evidence::count(&builder.finish(), &truth, &counting, &Control::default()).expect("rows");
            let strength = StackingStrength::Fixed(Strength::try_from(2.0).expect("above 0"));
            let fit = |inputs| {
                let rule = Stacking { inputs, strength }.learn(&evidence, &Control::default()).expect("rows");
                let Rule::Stacking(regression) = rule else { panic!("a regression") };
                regression
            };
            assert!(fit(Inputs::Ordinal).sums(4).is_none());
            let regression = fit(Inputs::OneHot);
            assert_eq!(regression.softmax.intercept.len(), if rows == 24 { 3 } else { 1 });
            let costs = regression.sums(4).expect("sums").costs(3, 4);
            let mut scratch = Scratch::default();
            for predicted in [[0, 1, 2], [3, 3, 0], [2, MISSING, 1]] {
                assert!(regression.surprisals(Row::Dense(&predicted), &mut scratch));
                let mut sums = costs.start.as_deref().expect("intercepts").to_vec();
                for (k, &j) in predicted.iter().enumerate().filter(|(_, j)| **j != MISSING) {
                    let added = &costs.table[(k * 4 + usize::from(j)) * 4..][..4];
                    assert!(added.iter().all(|cost| *cost >= 0.0));
                    sums.iter_mut().zip(added).for_each(|(sum, cost)| *sum += cost);
                }
                let known = regression.classes.iter().map(|&class| usize::from(class));
                let shift = sums[0] - scratch.out[0];
                assert!(known.clone().all(|i| (sums[i] - scratch.out[i] - shift).abs() < 1e-12));
                assert_eq!(sums.iter().filter(|sum| sum.is_finite()).count(), known.count());
            }
        }
    }
}
