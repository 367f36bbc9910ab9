//! The inputs of stacking: predictions as numbers.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    error::{Error, choose},
    evidence::{Evidence, Tally},
    math::log_normalise,
    methods::softmax::{Design, Softmax},
};

/// How predictions become the inputs of a regression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Inputs {
    /// An indicator per classifier and label; all are 0 where the prediction is missing.
    #[default]
    OneHot,
    /// One number per classifier, that of the predicted label, as in the program of the paper's authors; the mean where the
    /// prediction is missing.
    Ordinal,
}

impl fmt::Display for Inputs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::OneHot => "one-hot",
            Self::Ordinal => "ordinal",
        })
    }
}

impl FromStr for Inputs {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        choose("inputs", &[Self::OneHot, Self::Ordinal], word)
    }
}

/// The mapping from a row of predictions to the inputs of the regression.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct InputEncoding {
    pub(super) inputs: Inputs,
    pub(super) n_classifiers: usize,
    pub(super) n_labels: usize,
    pub(super) n_classes: usize,
    /// Counts per row.
    pub(super) unit: f64,
    /// Mean label number of each classifier, the input of a missing prediction; of ordinal inputs only.
    pub(super) means: Vec<f64>,
}

impl InputEncoding {
    pub(super) fn new(evidence: &Evidence, inputs: Inputs) -> Self {
        let mean = |k: usize| {
            let counts = evidence.predicted_counts(k);
            let sum: f64 = counts.iter().enumerate().map(|(j, &count)| j as f64 * count as f64).sum();
            sum / (evidence.answered(k) as f64).max(1.0)
        };
        let means = match inputs {
            Inputs::OneHot => Vec::new(),
            Inputs::Ordinal => (0..evidence.n_classifiers()).map(mean).collect(),
        };
        Self {
            inputs,
            n_classifiers: evidence.n_classifiers(),
            n_labels: evidence.n_labels(),
            n_classes: evidence.n_classes(),
            unit: evidence.unit() as f64,
            means,
        }
    }

    fn n_features(&self) -> usize {
        match self.inputs {
            Inputs::OneHot => self.n_classifiers * self.n_labels,
            Inputs::Ordinal => self.n_classifiers,
        }
    }

    /// The inputs of every pattern.
    pub(super) fn design(&self, tally: &Tally) -> Design {
        let (mut features, mut entries) = (Vec::new(), Vec::new());
        for p in 0..tally.n_patterns() {
            self.features(tally.pattern(p), &mut features);
            entries.extend(features.iter().map(|&(feature, value)| (p as u32, feature, value)));
        }
        let width = if self.inputs == Inputs::OneHot { self.n_labels } else { 1 };
        Design::new(self.n_features(), width, tally.n_patterns(), &entries)
    }

    /// The inputs of a row, as (feature, value).
    fn features(&self, row: Row<'_>, features: &mut Vec<(u32, f64)>) {
        features.clear();
        match self.inputs {
            Inputs::OneHot => {
                row.for_each(|k, j| features.push(((k * self.n_labels + usize::from(j)) as u32, 1.0)));
            }
            Inputs::Ordinal => {
                features.extend((0..).zip(self.means.iter().copied()));
                row.for_each(|k, j| features[k].1 = f64::from(j));
            }
        }
    }

    /// `-ln p` of every class; infinite for classes without training rows, which have no output.
    pub(super) fn surprisals(
        &self,
        softmax: &Softmax,
        classes: &[u16],
        row: Row<'_>,
        features: &mut Vec<(u32, f64)>,
        out: &mut Vec<f64>,
    ) {
        self.scores(softmax, classes, row, features, out);
        log_normalise(out);
        out.iter_mut().for_each(|log| *log = -*log);
    }

    /// `ln p` of every class up to a constant; minus infinity for classes without an output.
    pub(super) fn scores(
        &self,
        softmax: &Softmax,
        classes: &[u16],
        row: Row<'_>,
        features: &mut Vec<(u32, f64)>,
        out: &mut Vec<f64>,
    ) {
        self.features(row, features);
        out.clear();
        out.resize(self.n_classes, 0.0);
        softmax.scores(features.iter().copied(), &mut out[..classes.len()]);
        // Classes ascend, so moving from the last one overwrites nothing that is still needed.
        let mut end = self.n_classes;
        for (at, &class) in classes.iter().enumerate().rev() {
            let score = out[at];
            out[usize::from(class)..end].fill(f64::NEG_INFINITY);
            out[usize::from(class)] = score;
            end = usize::from(class);
        }
        out[..end].fill(f64::NEG_INFINITY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Predictions, Truth, data::MISSING};

    #[test]
    fn a_missing_prediction_is_no_input_or_the_mean() {
        let mut rows = Predictions::builder(["a", "b"]).expect("two names");
        for row in [[Some("x"), Some("y")], [Some("y"), Some("y")], [Some("z"), None]] {
            rows.push(row).expect("two predictions");
        }
        let truth = Truth::new(["x", "y", "z"].map(Some)).expect("few labels");
        let evidence = Evidence::new(&rows.finish(), &truth).expect("rows");
        let mut features = Vec::new();
        InputEncoding::new(&evidence, Inputs::OneHot).features(Row::Dense(&[2, MISSING]), &mut features);
        assert_eq!(features, [(2, 1.0)]);
        InputEncoding::new(&evidence, Inputs::Ordinal)
            .features(Row::Dense(&[MISSING, MISSING]), &mut features);
        assert_eq!(features, [(0, 1.0), (1, 1.0)]);
    }
}
