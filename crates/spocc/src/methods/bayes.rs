//! Bayes: the joint table of all predictions (behaviour-knowledge space).
//!
//! In: evidence with a tally. Out: the class frequencies among the rows with exactly the same predictions. The table is
//! sparse, so any number of classifiers and classes will do.

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    error::Error,
    evidence::{Evidence, Level, Tally},
    math::ln,
    methods::{Combiner, FittedRule, Learn, Method, Rule, Scratch},
    progress::Control,
};

/// The joint table of all predictions (behaviour-knowledge space), one of the methods that the paper compares with (§4.1);
/// it has no settings.
///
/// `p(i | pattern)` is the share of class i among the labelled rows of the pattern. A pattern without labelled rows is
/// decided by the class frequencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bayes;

impl Combiner for Bayes {
    fn method(&self) -> Method {
        Method::Bayes
    }

    fn needs(&self) -> Level {
        Level::Tally
    }
}

impl Learn for Bayes {
    fn learn(&self, evidence: &Evidence, _control: &Control<'_>) -> Result<Rule, Error> {
        let tally = evidence.tally_for(Method::Bayes)?;
        Ok(Rule::Bayes(JointTable { n_classes: evidence.n_classes(), tally: tally.clone() }))
    }
}

/// The class counts of every pattern.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JointTable {
    n_classes: usize,
    pub(super) tally: Tally,
}

impl JointTable {
    pub(crate) fn n_patterns(&self) -> usize {
        self.tally.n_patterns()
    }
}

impl FittedRule for JointTable {
    /// A pattern without labelled rows is undecided, so the most frequent class is decided.
    fn surprisals(&self, row: Row<'_>, scratch: &mut Scratch) -> bool {
        let Some(p) = self.tally.find(row).filter(|_| row.n_answered() > 0) else { return false };
        scratch.out.clear();
        scratch.out.resize(self.n_classes, f64::INFINITY);
        let total: f64 = self.tally.outcomes(p).map(|(_, count)| count as f64).sum();
        for (class, count) in self.tally.outcomes(p) {
            scratch.out[usize::from(class)] = -ln(count as f64 / total) + 0.0;
        }
        true
    }

    fn check(&self, [n, s, l]: [usize; 3]) -> Result<(), Error> {
        if self.n_classes != l {
            return Err(Error::Inconsistent {
                expected: "a table on the model's classes",
                found: "others".to_owned(),
            });
        }
        self.tally.check(n, s, l)
    }
}
