//! Selection: the most accurate classifier decides; where its prediction is missing, the next one.

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    error::Error,
    evidence::{Evidence, Level},
    methods::{Combiner, FittedRule, Learn, Method, Rule, Scratch},
    progress::Control,
};

/// Classifier selection: the most accurate classifier alone, one of the methods that the paper compares with (§4.1); it has
/// no settings.
///
/// Where its prediction is missing or is not a class, the next most accurate one decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection;

impl Combiner for Selection {
    fn method(&self) -> Method {
        Method::Selection
    }

    fn needs(&self) -> Level {
        Level::Marginals
    }
}

impl Learn for Selection {
    fn learn(&self, evidence: &Evidence, _control: &Control<'_>) -> Result<Rule, Error> {
        let accuracies = evidence.accuracies();
        let mut order: Vec<u32> = (0..accuracies.len() as u32).collect();
        order.sort_by(|&a, &b| accuracies[b as usize].total_cmp(&accuracies[a as usize]));
        let mut ranks = vec![0; order.len()];
        (0..).zip(&order).for_each(|(rank, &k)| ranks[k as usize] = rank);
        Ok(Rule::Selection(AccuracyRanking { n_classes: evidence.n_classes(), ranks }))
    }
}

/// The rank of every classifier by accuracy, 0 the most accurate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AccuracyRanking {
    n_classes: usize,
    ranks: Vec<u32>,
}

impl AccuracyRanking {
    /// The classifiers, the most accurate first.
    pub(crate) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.ranks.len()).collect();
        order.sort_by_key(|&k| self.ranks[k]);
        order
    }

    /// The same for another number of candidates.
    pub(crate) fn with_classes(&self, n_classes: usize) -> Self {
        Self { n_classes, ..self.clone() }
    }
}

/// The prediction of the classifier with the lowest rank, among those that have a rank and predict a class.
pub(super) fn best_ranked(
    row: Row<'_>,
    n_classes: usize,
    rank: impl Fn(usize) -> Option<u32>,
) -> Option<u16> {
    let mut best: Option<(u32, u16)> = None;
    row.for_each(|k, j| {
        if let Some(rank) = rank(k).filter(|_| usize::from(j) < n_classes)
            && best.is_none_or(|best| rank < best.0)
        {
            best = Some((rank, j));
        }
    });
    best.map(|(_, j)| j)
}

impl FittedRule for AccuracyRanking {
    fn surprisals(&self, row: Row<'_>, scratch: &mut Scratch) -> bool {
        scratch.out.clear();
        scratch.out.resize(self.n_classes, f64::INFINITY);
        let best = best_ranked(row, self.n_classes, |k| Some(self.ranks[k]));
        best.map(|j| scratch.out[usize::from(j)] = 0.0).is_some()
    }

    fn check(&self, [n, _, l]: [usize; 3]) -> Result<(), Error> {
        let mut sorted = self.ranks.clone();
        sorted.sort_unstable();
        if self.n_classes == l && sorted.len() == n && sorted.iter().zip(0..).all(|(a, b)| *a == b) {
            return Ok(());
        }
        Err(Error::Inconsistent {
            expected: "a ranking of the classifiers",
            found: "another list".to_owned(),
        })
    }
}
