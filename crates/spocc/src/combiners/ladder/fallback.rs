//! What the ladder falls back on where the evidence does not carry it: the majority, or the best one alone.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::{
    combiners::{
        check_numbers,
        ladder::{bounded, core::log_normalise},
    },
    error::Error,
    evidence::Evidence,
    grid::Row,
};

/// Somebody's votes as probabilities: `p(y) ~ e^(gain * votes(y))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Fallback {
    pub(super) voters: Voters,
    gain: f64,
}

/// Who votes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Voters {
    /// Everyone, once.
    Everyone,
    /// Of those who speak, the one with the first place.
    Best(Vec<u32>),
}

impl Voters {
    /// The most accurate first, by the rows that each is right on and speaks on.
    pub(super) fn best(right: &[f64], spoken: &[f64], total: f64) -> Self {
        // On rows where it was silent a classifier counts as an average member of the panel.
        let panel = right.iter().sum::<f64>() / spoken.iter().sum::<f64>().max(1.0);
        let accuracy = |k: &u32| {
            let k = *k as usize;
            right[k] + (total - spoken[k]).max(0.0) * panel
        };
        let mut order: Vec<u32> = (0..right.len() as u32).collect();
        order.sort_by(|a, b| accuracy(b).total_cmp(&accuracy(a)));
        let mut places = vec![0; order.len()];
        (0..).zip(&order).for_each(|(place, &k)| places[k as usize] = place);
        Self::Best(places)
    }

    /// Counts votes; false if there are none.
    pub(super) fn votes(&self, row: Row<'_>, votes: &mut [f64]) -> bool {
        votes.fill(0.0);
        match self {
            Self::Everyone => {
                let mut any = false;
                row.for_each(|_, j| {
                    if let Some(votes) = votes.get_mut(usize::from(j)) {
                        *votes += 1.0;
                        any = true;
                    }
                });
                any
            }
            Self::Best(places) => {
                let mut best: Option<(u32, u16)> = None;
                row.for_each(|k, j| {
                    if usize::from(j) < votes.len() && best.is_none_or(|best| places[k] < best.0) {
                        best = Some((places[k], j));
                    }
                });
                best.map(|(_, j)| votes[usize::from(j)] = 1.0).is_some()
            }
        }
    }
}

impl Fallback {
    /// Voters with the gain that makes their votes most likely; 1 if nothing is known.
    pub(super) fn fit(voters: Voters, evidence: &Evidence) -> Self {
        let l = evidence.n_classes();
        let mut cases: Vec<(Vec<f64>, usize, f64)> = Vec::new();
        for (row, class, count) in evidence.tally().into_iter().flat_map(|tally| tally.cells()) {
            let mut votes = vec![0.0; l];
            if voters.votes(row, &mut votes) {
                cases.push((votes, class.into(), evidence.rows_of(count)));
            }
        }
        let Ok(found) = bounded::minimise(vec![0.0], &[(-4.0, 4.0)], |at| {
            let gain = at[0].exp();
            let (mut loss, mut slope) = (0.5 * at[0] * at[0], at[0]);
            for (votes, truth, rows) in &cases {
                let mut scores: Vec<f64> = votes.iter().map(|votes| gain * votes).collect();
                log_normalise(&mut scores);
                loss -= rows * scores[*truth];
                let mean: f64 = scores.iter().zip(votes).map(|(score, votes)| score.exp() * votes).sum();
                slope += rows * gain * (mean - votes[*truth]);
            }
            Ok::<_, Infallible>((loss, vec![slope]))
        });
        Self { voters, gain: found[0].exp() }
    }

    /// Logarithms of probabilities; false if nobody votes.
    pub(super) fn judge(&self, row: Row<'_>, scores: &mut [f64]) -> bool {
        let speaks = self.voters.votes(row, scores);
        scores.iter_mut().for_each(|score| *score *= self.gain);
        log_normalise(scores);
        speaks
    }

    pub(super) fn check(&self, n_classifiers: usize) -> Result<(), Error> {
        check_numbers("a gain above 0", &[self.gain], Some(1), |gain| gain > 0.0 && gain.is_finite())?;
        match &self.voters {
            Voters::Best(places) if places.len() != n_classifiers => Err(Error::Inconsistent {
                expected: "a place for every classifier",
                found: format!("{} places", places.len()),
            }),
            _ => Ok(()),
        }
    }
}
