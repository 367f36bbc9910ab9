//! What the ladder falls back on where the evidence does not carry it: the majority, the best one alone or, where
//! there are rows without truth, what those say among themselves.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    error::Error,
    evidence::{Evidence, Tally},
    math::exp,
    methods::{
        Judge, Method, check_numbers,
        ladder::{lbfgsb, norm_tree::log_normalise},
        naive_bayes::Likelihoods,
    },
};

/// What decides in the ladder's place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Fallback {
    /// Somebody's votes as probabilities: `p(y) ~ e^(gain * votes(y))`.
    Votes { voters: Voters, gain: f64 },
    /// What the leaves' answers mean, learned also from rows without truth (Dawid and Skene).
    Crowd(Likelihoods),
}

/// Who votes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Voters {
    /// Everyone who is marked, once: copies share a vote.
    Majority(Vec<bool>),
    /// Of those who speak and have a place, the one with the first.
    Best(Vec<Option<u32>>),
}

impl Voters {
    /// The most accurate first, by the rows that each is right on and speaks on, of a panel of so many.
    pub(super) fn best(members: &[usize], right: &[f64], spoken: &[f64], total: f64, n: usize) -> Self {
        // On rows where it was silent a classifier counts as an average member of the panel.
        let panel = right.iter().sum::<f64>() / spoken.iter().sum::<f64>().max(1.0);
        let accuracy = |at: usize| right[at] + (total - spoken[at]).max(0.0) * panel;
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by(|&a, &b| accuracy(b).total_cmp(&accuracy(a)));
        let mut places = vec![None; n];
        (0..).zip(&order).for_each(|(place, &at)| places[members[at]] = Some(place));
        Self::Best(places)
    }

    /// Counts votes; false if there are none.
    pub(super) fn votes(&self, row: Row<'_>, votes: &mut [f64]) -> bool {
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
            Self::Best(places) => {
                let mut best: Option<(u32, u16)> = None;
                row.for_each(|k, j| {
                    if let Some(place) = places[k].filter(|_| usize::from(j) < votes.len())
                        && best.is_none_or(|best| place < best.0)
                    {
                        best = Some((place, j));
                    }
                });
                best.map(|(_, j)| votes[usize::from(j)] = 1.0).is_some()
            }
        }
    }
}

impl Fallback {
    /// The method that decides.
    pub(super) fn method(&self) -> Method {
        match self {
            Self::Votes { voters: Voters::Majority(_), .. } => Method::Majority,
            Self::Votes { voters: Voters::Best(_), .. } => Method::Selection,
            Self::Crowd(_) => Method::DawidSkene,
        }
    }

    /// Voters with the gain that makes their votes most likely; 1 if nothing is known.
    pub(super) fn votes(voters: Voters, evidence: &Evidence) -> Self {
        let l = evidence.n_classes();
        let mut cases: Vec<(Vec<f64>, usize, f64)> = Vec::new();
        for (row, class, count) in evidence.tally().into_iter().flat_map(Tally::cells) {
            let mut votes = vec![0.0; l];
            if voters.votes(row, &mut votes) {
                cases.push((votes, class.into(), evidence.rows_of(count)));
            }
        }
        let Ok(found) = lbfgsb::minimise(vec![0.0], &[(-4.0, 4.0)], |at| {
            let gain = exp(at[0]);
            let (mut loss, mut slope) = (0.5 * at[0] * at[0], at[0]);
            for (votes, truth, rows) in &cases {
                let mut scores: Vec<f64> = votes.iter().map(|votes| gain * votes).collect();
                log_normalise(&mut scores);
                loss -= rows * scores[*truth];
                let mean: f64 = scores.iter().zip(votes).map(|(score, votes)| exp(*score) * votes).sum();
                slope += rows * gain * (mean - votes[*truth]);
            }
            Ok::<_, Infallible>((loss, vec![slope]))
        });
        Self::Votes { voters, gain: exp(found[0]) }
    }

    pub(super) fn check(&self, [n, n_leaves, s, l]: [usize; 4]) -> Result<(), Error> {
        let (voters, gain) = match self {
            Self::Crowd(likelihoods) => return likelihoods.check([n_leaves, s, l]),
            Self::Votes { voters, gain } => (voters, *gain),
        };
        check_numbers("a gain above 0", &[gain], Some(1), |gain| gain > 0.0 && gain.is_finite())?;
        let n_known = match voters {
            Voters::Majority(is_voter) => is_voter.len(),
            Voters::Best(places) => places.len(),
        };
        if n_known == n {
            return Ok(());
        }
        Err(Error::Inconsistent {
            expected: "a word for every classifier",
            found: format!("{n_known} words"),
        })
    }
}
