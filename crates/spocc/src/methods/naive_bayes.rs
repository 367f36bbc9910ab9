//! Naive Bayes: predictions modelled as independent given the truth.

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    error::Error,
    evidence::{Evidence, Level},
    math::ln,
    methods::{
        ClassSums, Combiner, FittedRule, Learn, Method, Rule, Scratch, SumKind, check_numbers, check_sum,
        largest, largest_of_parts,
    },
    progress::Control,
};

/// Naive Bayes with add-one smoothing, one of the methods that the paper compares with (§4.1); it has no settings.
///
/// `p(i | row) ~ p(i) * product over classifiers of p(k predicts j | i)`, with
/// `p(k predicts j | i) = (count + 1) / (rows of class i with a prediction of k + number of labels)`. The class frequencies
/// `p(i)` are not smoothed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NaiveBayes;

impl Combiner for NaiveBayes {
    fn method(&self) -> Method {
        Method::NaiveBayes
    }

    fn needs(&self) -> Level {
        Level::Marginals
    }
}

impl Learn for NaiveBayes {
    fn learn(&self, evidence: &Evidence, control: &Control<'_>) -> Result<Rule, Error> {
        let (n, s, l) = (evidence.n_classifiers(), evidence.n_labels(), evidence.n_classes());
        control.allow(|| format!("likelihoods of {n} classifiers"), &[n, s, l, 8])?;
        Ok(Rule::NaiveBayes(Likelihoods::of(evidence)))
    }
}

/// `-ln` of the class frequencies and of `p(k predicts j | i)`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Likelihoods {
    n_labels: usize,
    pub(crate) prior: Vec<f64>,
    /// By classifier, predicted label and class.
    table: Vec<f64>,
}

impl Likelihoods {
    /// Those of the labelled rows.
    pub(super) fn of(evidence: &Evidence) -> Self {
        let size = [evidence.n_classifiers(), evidence.n_labels(), evidence.n_classes()];
        let classes: Vec<f64> = evidence.class_counts().iter().map(|&count| count as f64).collect();
        let counts = evidence.dense_confusions();
        Self::new(size, evidence.unit() as f64, &classes, |at| counts[at])
    }

    /// From class counts and confusion counts (`count`, by classifier, predicted and true), to each of which `smoothing` is
    /// added.
    pub(super) fn new(
        [n, s, l]: [usize; 3],
        smoothing: f64,
        classes: &[f64],
        count: impl Fn(usize) -> f64,
    ) -> Self {
        let mut totals = Vec::with_capacity(n * l);
        for k in 0..n {
            let n_answered = |i: usize| (0..s).map(|j| count((k * s + j) * l + i)).sum::<f64>();
            totals.extend((0..l).map(|i| n_answered(i) + smoothing * s as f64));
        }
        let probability = |at: usize| (count(at) + smoothing) / totals[at / (s * l) * l + at % l];
        Self::from_probabilities([n, s, l], classes, probability)
    }

    /// From class counts and `p(k predicts j | i)`, by classifier, predicted and true.
    pub(super) fn from_probabilities(
        [n, s, l]: [usize; 3],
        classes: &[f64],
        probability: impl Fn(usize) -> f64,
    ) -> Self {
        let total = classes.iter().sum::<f64>();
        // Rounding may leave a probability slightly above 1.
        let surprisal = |probability: f64| -ln(probability.min(1.0)) + 0.0;
        Self {
            n_labels: s,
            prior: classes.iter().map(|&count| surprisal(count / total)).collect(),
            table: (0..n * s * l).map(|at| surprisal(probability(at))).collect(),
        }
    }

    /// Adds the surprisals of a row's predictions to those of each class; false if the row has none.
    pub(super) fn add(&self, row: Row<'_>, sums: &mut [f64]) -> bool {
        let l = self.prior.len();
        let mut has_prediction = false;
        row.for_each(|k, j| {
            let at = (k * self.n_labels + usize::from(j)) * l;
            sums.iter_mut().zip(&self.table[at..at + l]).for_each(|(sum, s)| *sum += s);
            has_prediction = true;
        });
        has_prediction
    }
}

impl FittedRule for Likelihoods {
    fn surprisals(&self, row: Row<'_>, scratch: &mut Scratch) -> bool {
        scratch.out.clear();
        scratch.out.extend_from_slice(&self.prior);
        self.add(row, &mut scratch.out)
    }

    fn sums(&self, _n_labels: usize) -> Option<ClassSums<'_>> {
        let (start, table) = (Some(self.prior.as_slice().into()), self.table.as_slice().into());
        Some(ClassSums { start, table, kind: SumKind::Surprisals(1.0) })
    }

    fn check(&self, [n, s, l]: [usize; 3]) -> Result<(), Error> {
        let labels = if self.n_labels == s { Some(l) } else { None };
        check_numbers("a frequency per class", &self.prior, labels, |s| s >= 0.0)?;
        if self.prior.iter().all(|s| s.is_infinite()) {
            return Err(Error::Inconsistent { expected: "a class that occurs", found: "none".to_owned() });
        }
        let size = n.checked_mul(s).and_then(|size| size.checked_mul(l));
        check_numbers("a likelihood per prediction and class", &self.table, size, |s| {
            s >= 0.0 && s.is_finite()
        })?;
        check_sum(largest_of_parts(&self.table, n).chain([largest(&self.prior)]))
    }
}
