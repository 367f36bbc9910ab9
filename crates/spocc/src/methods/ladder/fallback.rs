//! Fallback: the simpler method that decides where held-out rows prefer it to the ladder.
//!
//! The candidates are the majority vote, the most accurate classifier alone and, with unlabelled rows, Dawid-Skene.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    error::Error,
    evidence::{Evidence, Tally},
    math::exp,
    methods::{
        FittedRule, Method, check_numbers,
        ladder::{cells::PatternCell, deduplication::DuplicateGroups, lbfgsb, norm_tree::log_normalise},
        naive_bayes::Likelihoods,
        selection::best_ranked,
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
    /// Ranks `members` of a panel of `n` by their correct predictions and by the rows with a prediction, of `total` rows.
    pub(super) fn most_accurate(
        members: &[usize],
        correct: &[f64],
        n_answered: &[f64],
        total: f64,
        n: usize,
    ) -> Self {
        // Where its prediction is missing a classifier counts as an average member of the panel.
        let panel_accuracy = correct.iter().sum::<f64>() / n_answered.iter().sum::<f64>().max(1.0);
        let accuracy = |at: usize| correct[at] + (total - n_answered[at]).max(0.0) * panel_accuracy;
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by(|&a, &b| accuracy(b).total_cmp(&accuracy(a)));
        let mut ranks = vec![None; n];
        (0..).zip(&order).for_each(|(rank, &at)| ranks[members[at]] = Some(rank));
        Self::MostAccurate(ranks)
    }

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

    /// The share of the rows of every cell that the vote decides correctly; classes tied for most votes share it.
    ///
    /// Votes are counted on the patterns of all classifiers (`full_tally`), `cells` are those of the leaves (`tally`).
    pub(super) fn accuracy_by_cell(
        &self,
        evidence: &Evidence,
        full_tally: &Tally,
        groups: &DuplicateGroups,
        tally: &Tally,
        cells: &[PatternCell],
    ) -> Vec<f64> {
        // The pattern without predictions is the last of a tally and has no cells.
        let starts: Vec<usize> = std::iter::once(0)
            .chain(cells.chunk_by(|a, b| a.pattern == b.pattern).scan(0, |end, cells| {
                *end += cells.len();
                Some(*end)
            }))
            .collect();
        let mut correct = vec![0.0; cells.len()];
        let (mut votes, mut pattern) = (vec![0.0; evidence.n_classes()], Vec::new());
        for p in 0..full_tally.n_patterns() {
            let row = full_tally.pattern(p);
            groups.leaf_pattern(row, evidence.n_labels(), &mut pattern);
            let Some(at) = tally.find(Row::Dense(&pattern)).filter(|at| at + 1 < starts.len()) else {
                continue;
            };
            if !self.count(row, &mut votes) {
                continue;
            }
            let most = votes.iter().copied().fold(0.0, f64::max);
            let share = 1.0 / votes.iter().filter(|votes| **votes == most).count() as f64;
            for (class, count) in
                full_tally.outcomes(p).filter(|(class, _)| votes[usize::from(*class)] == most)
            {
                for at in (starts[at]..starts[at + 1]).filter(|&at| cells[at].truth == class) {
                    correct[at] += share * evidence.rows_of(count) / cells[at].rows;
                }
            }
        }
        correct
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

    /// A vote with the gain of least log-loss, which is penalised by `(ln gain)^2 / 2`; without labelled rows it is 1.
    pub(super) fn vote(voting: Voting, evidence: &Evidence) -> Self {
        let l = evidence.n_classes();
        let mut cases: Vec<(Vec<f64>, usize, f64)> = Vec::new();
        for (row, class, count) in evidence.tally().into_iter().flat_map(Tally::cells) {
            let mut votes = vec![0.0; l];
            if voting.count(row, &mut votes) {
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
        Self::Vote { voting, gain: exp(found[0]) }
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
        if n_voters == n {
            return Ok(());
        }
        Err(Error::Inconsistent {
            expected: "a voter for every classifier",
            found: format!("{n_voters} voters"),
        })
    }
}
