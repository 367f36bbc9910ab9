//! Majority vote, and the weighted count of votes that all voting methods share.

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    error::Error,
    evidence::{Evidence, Level},
    math::ln,
    methods::{
        ClassSums, Combiner, FittedRule, Learn, Method, Rule, Scratch, SumKind, check_numbers, check_sum,
    },
    progress::Control,
};

/// The majority vote: every classifier has one vote; it has no settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Majority;

impl Combiner for Majority {
    fn method(&self) -> Method {
        Method::Majority
    }

    fn needs(&self) -> Level {
        Level::Marginals
    }
}

impl Learn for Majority {
    fn learn(&self, evidence: &Evidence, _control: &Control<'_>) -> Result<Rule, Error> {
        Ok(Rule::Vote(Vote::new(evidence, vec![1.0; evidence.n_classifiers()], None)))
    }
}

/// A weighted vote; predictions that are not a class have no vote.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Vote {
    n_classes: usize,
    pub(crate) weights: Vec<f64>,
    /// The fitted rate of an exponential vote.
    pub(crate) rate: Option<f64>,
}

impl Vote {
    pub(crate) fn new(evidence: &Evidence, weights: Vec<f64>, rate: Option<f64>) -> Self {
        Self { n_classes: evidence.n_classes(), weights, rate }
    }

    /// The same for another number of candidates.
    pub(crate) fn with_classes(&self, n_classes: usize) -> Self {
        Self { n_classes, ..self.clone() }
    }
}

/// Adds the weights of the votes of a row to the votes of each class.
pub(super) fn add_votes(row: Row<'_>, weights: &[f64], votes: &mut [f64]) {
    row.for_each(|k, j| {
        if let Some(votes) = votes.get_mut(usize::from(j)) {
            *votes += weights[k];
        }
    });
}

impl FittedRule for Vote {
    /// `-ln` of the share of each class in the votes.
    fn surprisals(&self, row: Row<'_>, scratch: &mut Scratch) -> bool {
        scratch.out.clear();
        scratch.out.resize(self.n_classes, 0.0);
        add_votes(row, &self.weights, &mut scratch.out);
        let total: f64 = scratch.out.iter().sum();
        scratch.out.iter_mut().for_each(|votes| *votes = -ln(*votes / total) + 0.0);
        total > 0.0
    }

    fn ratios(&self, row: Row<'_>, scratch: &mut Scratch) {
        let votes = &mut scratch.ratios;
        votes.clear();
        votes.resize(self.n_classes, 0.0);
        add_votes(row, &self.weights, votes);
        let most = votes.iter().copied().fold(0.0, f64::max);
        votes.iter_mut().for_each(|votes| *votes /= most);
    }

    fn sums(&self, n_labels: usize) -> Option<ClassSums<'_>> {
        let l = self.n_classes;
        let vote = |weight: f64| (0..n_labels * l).map(move |at| if at / l == at % l { weight } else { 0.0 });
        let table: Vec<f64> = self.weights.iter().flat_map(|&weight| vote(weight)).collect();
        Some(ClassSums { start: None, table: table.into(), kind: SumKind::Votes })
    }

    fn check(&self, [n, _, l]: [usize; 3]) -> Result<(), Error> {
        let weights = if self.n_classes == l { self.weights.as_slice() } else { &[] };
        check_numbers("a rate", &[self.rate.unwrap_or(0.0)], Some(1), f64::is_finite)?;
        check_numbers("a weight from 0 for every classifier", weights, Some(n), |weight| {
            weight.is_finite() && weight >= 0.0
        })?;
        check_sum(self.weights.iter().copied())
    }
}
