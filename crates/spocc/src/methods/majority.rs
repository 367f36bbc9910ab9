//! Majority: one classifier, one vote. The counting of weighted votes serves the other votes too.

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    error::Error,
    evidence::{Evidence, Level},
    math::ln,
    methods::{Combiner, CostTable, FittedRule, Learn, Method, Rule, Scratch, check_numbers},
    progress::Control,
};

/// The majority vote; it has no settings.
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
    fn learn(&self, evidence: &Evidence, _watch: &Control<'_>) -> Result<Rule, Error> {
        Ok(Rule::Vote(Vote::new(evidence, vec![1.0; evidence.n_classifiers()], None)))
    }
}

/// A weight per classifier; an answer that is no class counts for nothing.
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
}

impl FittedRule for Vote {
    /// `-ln` of each class's share of the votes.
    fn surprisals(&self, row: Row<'_>, work: &mut Scratch) -> bool {
        work.out.clear();
        work.out.resize(self.n_classes, 0.0);
        row.for_each(|k, j| {
            if let Some(votes) = work.out.get_mut(usize::from(j)) {
                *votes += self.weights[k];
            }
        });
        let total: f64 = work.out.iter().sum();
        work.out.iter_mut().for_each(|votes| *votes = -ln(*votes / total) + 0.0);
        total > 0.0
    }

    /// A vote costs every class but the one it is for.
    fn costs(&self, n_labels: usize) -> Option<CostTable<'_>> {
        // Shares of the votes that differ by this much are tied neither as shares nor as surprisals.
        const LEAD: f64 = 1e-6;
        let (l, total) = (self.n_classes, self.weights.iter().sum::<f64>());
        let vote = |weight: f64| {
            let cost = weight / total;
            (0..n_labels * l).map(move |at| if at / l == at % l { 0.0 } else { cost })
        };
        let table: Vec<f64> = self.weights.iter().flat_map(|&weight| vote(weight)).collect();
        Some(CostTable { start: None, table: table.into(), tolerance: 1.0, lead: LEAD })
    }

    fn check(&self, [n, _, l]: [usize; 3]) -> Result<(), Error> {
        let weights = if self.n_classes == l { self.weights.as_slice() } else { &[] };
        let rate_and_sum = [self.rate.unwrap_or(0.0), self.weights.iter().sum()];
        check_numbers("a rate and weights with a sum", &rate_and_sum, Some(2), f64::is_finite)?;
        check_numbers("a weight from 0 for everyone", weights, Some(n), |weight| {
            weight.is_finite() && weight >= 0.0
        })
    }
}
