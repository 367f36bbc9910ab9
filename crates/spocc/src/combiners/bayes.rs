//! Bayes: the joint table of all answers, kept sparsely, so any number of classifiers and classes will do.

use serde::{Deserialize, Serialize};

use crate::{
    combiners::{Combiner, Judge, Kind, Method, Rule},
    error::Error,
    evidence::{Evidence, Level, Tally},
    fusion::Work,
    grid::Row,
    watch::Watch,
};

/// The joint table; it has no settings. A pattern never met is decided by the class frequencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bayes;

impl Combiner for Bayes {
    fn method(&self) -> Method {
        Method::Bayes
    }

    fn needs(&self) -> Level {
        Level::Tally
    }

    fn learn(&self, evidence: &Evidence, _watch: &Watch<'_>) -> Result<Rule, Error> {
        let tally = evidence.tally_for(Method::Bayes)?;
        Ok(Rule(Kind::Bayes(JointTable { prior: evidence.class_counts().to_vec(), tally: tally.clone() })))
    }
}

/// The tally and the class counts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JointTable {
    prior: Vec<u64>,
    tally: Tally,
}

impl JointTable {
    pub(crate) fn n_patterns(&self) -> usize {
        self.tally.n_patterns()
    }

    /// The number of the pattern, if it was met.
    fn find(&self, row: Row<'_>) -> Option<usize> {
        let (mut from, mut to) = (0, self.tally.n_patterns());
        while from < to {
            let middle = usize::midpoint(from, to);
            match self.tally.pattern(middle).cmp(row) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => to = middle,
            }
        }
        None
    }
}

impl Judge for JointTable {
    fn surprisals(&self, row: Row<'_>, work: &mut Work) -> bool {
        work.out.clear();
        work.out.resize(self.prior.len(), 0.0);
        match self.find(row) {
            Some(p) => {
                self.tally.outcomes(p).for_each(|(class, count)| work.out[usize::from(class)] = count as f64);
            }
            None => work.out.iter_mut().zip(&self.prior).for_each(|(out, &count)| *out = count as f64),
        }
        let total: f64 = work.out.iter().sum();
        work.out.iter_mut().for_each(|count| *count = -(*count / total).ln() + 0.0);
        row.n_spoken() > 0
    }

    fn check(&self, [n, s, l]: [usize; 3]) -> Result<(), Error> {
        self.tally.check(n, s, l)?;
        let total = self.prior.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
        if self.prior.len() == l && total.is_some_and(|total| total > 0) {
            return Ok(());
        }
        Err(Error::Inconsistent {
            expected: "a count per class",
            found: format!("{} counts", self.prior.len()),
        })
    }
}
