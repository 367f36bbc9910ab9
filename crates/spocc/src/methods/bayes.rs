//! Bayes: the joint table of all answers, kept sparsely, so any number of classifiers and classes will do.

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    error::Error,
    evidence::{Evidence, Level, Tally},
    math::ln,
    methods::{Combiner, FittedRule, Learn, Method, Rule, Scratch},
    progress::Control,
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
}

impl Learn for Bayes {
    fn learn(&self, evidence: &Evidence, _watch: &Control<'_>) -> Result<Rule, Error> {
        let tally = evidence.tally_for(Method::Bayes)?;
        Ok(Rule::Bayes(JointTable { n_classes: evidence.n_classes(), tally: tally.clone() }))
    }
}

/// The tally.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JointTable {
    n_classes: usize,
    tally: Tally,
}

impl JointTable {
    pub(crate) fn n_patterns(&self) -> usize {
        self.tally.n_patterns()
    }
}

impl FittedRule for JointTable {
    /// A pattern never met says nothing, so that the class most often true is decided.
    fn surprisals(&self, row: Row<'_>, work: &mut Scratch) -> bool {
        let Some(p) = self.tally.find(row).filter(|_| row.n_answered() > 0) else { return false };
        work.out.clear();
        work.out.resize(self.n_classes, f64::INFINITY);
        let total: f64 = self.tally.outcomes(p).map(|(_, count)| count as f64).sum();
        for (class, count) in self.tally.outcomes(p) {
            work.out[usize::from(class)] = -ln(count as f64 / total) + 0.0;
        }
        true
    }

    fn check(&self, [n, s, l]: [usize; 3]) -> Result<(), Error> {
        if self.n_classes != l {
            return Err(Error::Inconsistent {
                expected: "a table of the model's classes",
                found: "others".to_owned(),
            });
        }
        self.tally.check(n, s, l)
    }
}
