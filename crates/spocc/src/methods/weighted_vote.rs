//! Weighted vote: the vote of a classifier has the weight of its accuracy.

use crate::{
    error::Error,
    evidence::{Evidence, Level},
    methods::{Combiner, Learn, Method, Rule, majority::Vote},
    progress::Control,
};

/// The vote weighted by accuracy, one of the methods that the paper compares with (§4.1); it has no settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WeightedVote;

impl Combiner for WeightedVote {
    fn method(&self) -> Method {
        Method::WeightedVote
    }

    fn needs(&self) -> Level {
        Level::Marginals
    }
}

impl Learn for WeightedVote {
    fn learn(&self, evidence: &Evidence, _control: &Control<'_>) -> Result<Rule, Error> {
        Ok(Rule::Vote(Vote::new(evidence, evidence.accuracies(), None)))
    }
}
