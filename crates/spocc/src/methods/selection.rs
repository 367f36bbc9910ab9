//! Selection: the most accurate classifier decides; where it is silent, the next one.

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    error::Error,
    evidence::{Evidence, Level},
    methods::{Combiner, FittedRule, Learn, Method, Rule, Scratch},
    progress::Control,
};

/// The best classifier alone; it has no settings.
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
    fn learn(&self, evidence: &Evidence, _watch: &Control<'_>) -> Result<Rule, Error> {
        let accuracies = evidence.accuracies();
        let mut order: Vec<u32> = (0..accuracies.len() as u32).collect();
        order.sort_by(|&a, &b| accuracies[b as usize].total_cmp(&accuracies[a as usize]));
        let mut places = vec![0; order.len()];
        (0..).zip(&order).for_each(|(place, &k)| places[k as usize] = place);
        Ok(Rule::Selection(Ranking { n_classes: evidence.n_classes(), places }))
    }
}

/// Everyone's place in the order of accuracy, the best first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ranking {
    n_classes: usize,
    places: Vec<u32>,
}

impl Ranking {
    /// The classifiers, the best first.
    pub(crate) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.places.len()).collect();
        order.sort_by_key(|&k| self.places[k]);
        order
    }
}

impl FittedRule for Ranking {
    fn surprisals(&self, row: Row<'_>, work: &mut Scratch) -> bool {
        work.out.clear();
        work.out.resize(self.n_classes, f64::INFINITY);
        let mut best: Option<(u32, u16)> = None;
        row.for_each(|k, j| {
            let place = self.places[k];
            if usize::from(j) < self.n_classes && best.is_none_or(|best| place < best.0) {
                best = Some((place, j));
            }
        });
        best.map(|(_, j)| work.out[usize::from(j)] = 0.0).is_some()
    }

    fn check(&self, [n, _, l]: [usize; 3]) -> Result<(), Error> {
        let mut sorted = self.places.clone();
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
