//! Fallback: the simpler method that decides where held-out rows prefer it to the ladder.
//!
//! The candidates are the majority vote, the most accurate classifier alone and, with unlabelled rows, Dawid-Skene.

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    error::Error,
    methods::{
        FittedRule, Method, check_numbers, check_sum, naive_bayes::Likelihoods, selection::best_ranked,
    },
};

/// A fitted fallback.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Fallback {
    /// A vote, turned into probabilities: `p(y) ~ e^(gain * votes(y))`.
    Vote { voting: Voting, gain: f64 },
    /// Naive Bayes on the leaves' predictions, fitted also to unlabelled rows (Dawid and Skene).
    DawidSkene(Likelihoods),
}

/// How votes are counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Voting {
    /// One vote for each marked classifier; of a duplicate group only the representative is marked.
    Majority(Vec<bool>),
    /// One vote, that of the most accurate classifier with a prediction; ranks by classifier, 0 the most accurate.
    MostAccurate(Vec<Option<u32>>),
}

impl Voting {
    /// Counts the votes of a row; false if there are none.
    pub(super) fn count(&self, row: Row<'_>, votes: &mut [f64]) -> bool {
        votes.fill(0.0);
        match self {
            Self::Majority(is_voter) => {
                let mut any = false;
                row.for_each(|k, j| {
                    if let Some(votes) = votes.get_mut(usize::from(j)).filter(|_| is_voter[k]) {
                        *votes += 1.0;
                        any = true;
                    }
                });
                any
            }
            Self::MostAccurate(ranks) => {
                let best = best_ranked(row, votes.len(), |k| ranks[k]);
                best.map(|j| votes[usize::from(j)] = 1.0).is_some()
            }
        }
    }
}

impl Fallback {
    /// The method that decides.
    pub(super) fn method(&self) -> Method {
        match self {
            Self::Vote { voting: Voting::Majority(_), .. } => Method::Majority,
            Self::Vote { voting: Voting::MostAccurate(_), .. } => Method::Selection,
            Self::DawidSkene(_) => Method::DawidSkene,
        }
    }

    pub(super) fn check(&self, [n, n_leaves, s, l]: [usize; 4]) -> Result<(), Error> {
        let (voting, gain) = match self {
            Self::DawidSkene(likelihoods) => return likelihoods.check([n_leaves, s, l]),
            Self::Vote { voting, gain } => (voting, *gain),
        };
        check_numbers("a gain above 0", &[gain], Some(1), |gain| gain > 0.0 && gain.is_finite())?;
        let n_voters = match voting {
            Voting::Majority(is_voter) => is_voter.len(),
            Voting::MostAccurate(ranks) => ranks.len(),
        };
        check_sum(std::iter::repeat_n(gain, n))?;
        if n_voters == n {
            return Ok(());
        }
        Err(Error::Inconsistent {
            expected: "a voter for every classifier",
            found: format!("{n_voters} voters"),
        })
    }
}
