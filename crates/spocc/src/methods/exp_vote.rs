//! Exponential vote: the weights are a softmax of the accuracies, with a tuned rate.

use crate::{
    data::Row,
    decision::TIE_TOLERANCE,
    error::Error,
    evidence::{Evidence, Level, Tally},
    math::exp,
    methods::{
        Combiner, Learn, Method, Rule,
        majority::{Vote, add_votes},
    },
    parallel,
    progress::Control,
    tuning::{Tuning, fold_counts, grid, median_of_best},
};

/// The exponential vote: weights `softmax(rate * accuracy)`, one of the methods that the paper compares with (§4.1).
///
/// The rate is the median of the most accurate ones on a grid from 0.1 to 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpVote {
    /// The rows on which the rate is evaluated.
    pub tuning: Tuning,
}

impl Default for ExpVote {
    fn default() -> Self {
        Self { tuning: Tuning::LeaveOneOut }
    }
}

impl Combiner for ExpVote {
    fn method(&self) -> Method {
        Method::ExpVote
    }

    fn needs(&self) -> Level {
        Level::Tally
    }
}

impl Learn for ExpVote {
    fn learn(&self, evidence: &Evidence, control: &Control<'_>) -> Result<Rule, Error> {
        self.tuning.check()?;
        let tally = evidence.tally_for(Method::ExpVote)?;
        let rates = grid(-1.0, 3.0 / 200.0, 201);
        let evaluation = RateEvaluation::new(evidence, tally, self.tuning);
        let count =
            |at: usize| control.report("rate", at, rates.len()).map(|()| evaluation.correct(rates[at]));
        let correct = parallel::map(rates.len(), count).into_iter().collect::<Result<Vec<u64>, Error>>()?;
        let rate = median_of_best(&rates, &correct);
        let powers: Vec<f64> = evidence.accuracies().iter().map(|accuracy| exp(rate * accuracy)).collect();
        let total: f64 = powers.iter().sum();
        let weights = powers.iter().map(|power| power / total).collect();
        Ok(Rule::Vote(Vote::new(evidence, weights, Some(rate))))
    }
}

/// The accuracy of the vote at one rate after another.
struct RateEvaluation<'a> {
    evidence: &'a Evidence,
    tally: &'a Tally,
    tuning: Tuning,
    /// Accuracies behind the weights: one list per fold, or per class of the held-out row where those differ.
    accuracies: Vec<Vec<f64>>,
    /// The part of an accuracy that one correct prediction makes up, by class of the held-out row.
    steps: Vec<f64>,
}

impl<'a> RateEvaluation<'a> {
    fn new(evidence: &'a Evidence, tally: &'a Tally, tuning: Tuning) -> Self {
        let n = evidence.total() as f64;
        // Accuracies are over the remaining rows; correct predictions on the held-out row are taken out later.
        let units: Vec<f64> = (0..evidence.n_classes()).map(|i| evidence.row_unit(i as u16) as f64).collect();
        let rests: Vec<f64> = units.iter().map(|unit| (n - unit).max(*unit)).collect();
        let accuracies = match tuning {
            Tuning::Resubstitution => vec![evidence.accuracies()],
            Tuning::LeaveOneOut => {
                let accuracies = evidence.accuracies();
                let are_equal = units.windows(2).all(|pair| pair[0] == pair[1]);
                let rests = if are_equal { &rests[..1] } else { &rests[..] };
                let without = |rest: &f64| accuracies.iter().map(|accuracy| accuracy * (n / rest)).collect();
                rests.iter().map(without).collect()
            }
            Tuning::KFold(folds) => accuracies_without_folds(evidence, tally, usize::from(folds)),
        };
        let steps = units.iter().zip(&rests).map(|(unit, rest)| unit / rest).collect();
        Self { evidence, tally, tuning, accuracies, steps }
    }

    /// The number of rows decided correctly at a rate.
    fn correct(&self, rate: f64) -> u64 {
        let weights: Vec<Vec<f64>> = self
            .accuracies
            .iter()
            .map(|fold| fold.iter().map(|accuracy| exp(rate * accuracy)).collect())
            .collect();
        let own: Vec<f64> = self.steps.iter().map(|step| exp(-rate * step)).collect();
        let mut correct = 0;
        let mut ballot = Ballot::new(self.evidence.n_classes());
        for p in 0..self.tally.n_patterns() {
            let row = self.tally.pattern(p);
            match self.tuning {
                Tuning::Resubstitution => {
                    ballot.count(row, &weights[0]);
                    let winner = ballot.winner();
                    correct += self
                        .tally
                        .outcomes(p)
                        .filter(|(class, _)| usize::from(*class) == winner)
                        .map(|cell| cell.1)
                        .sum::<u64>();
                }
                Tuning::LeaveOneOut => {
                    for (at, (class, count)) in self.tally.outcomes(p).enumerate() {
                        // Exactly the votes for the truth are correct on this row.
                        let class = usize::from(class);
                        if at == 0 || weights.len() > 1 {
                            ballot.count(row, &weights[class.min(weights.len() - 1)]);
                        }
                        let kept = ballot.votes[class];
                        ballot.votes[class] *= own[class];
                        correct += if ballot.winner() == class { count } else { 0 };
                        ballot.votes[class] = kept;
                    }
                }
                Tuning::KFold(_) => {
                    for (class, count) in self.tally.outcomes(p) {
                        let cell = (class, count);
                        for (fold, part) in fold_counts(self.evidence, row, cell, weights.len()) {
                            ballot.count(row, &weights[fold]);
                            correct += if ballot.winner() == usize::from(class) { part } else { 0 };
                        }
                    }
                }
            }
        }
        correct
    }
}

/// The votes of one row after another. What a row costs does not depend on how many classes have no votes.
struct Ballot {
    votes: Vec<f64>,
    /// The classes that have votes, perhaps more than once.
    voted: Vec<usize>,
}

impl Ballot {
    fn new(n_classes: usize) -> Self {
        Self { votes: vec![0.0; n_classes], voted: Vec::new() }
    }

    fn count(&mut self, row: Row<'_>, weights: &[f64]) {
        self.voted.drain(..).for_each(|class| self.votes[class] = 0.0);
        add_votes(row, weights, &mut self.votes);
        let n_classes = self.votes.len();
        row.for_each(|_, j| self.voted.extend(Some(usize::from(j)).filter(|class| *class < n_classes)));
    }

    /// The first class within the tolerance of most votes; without votes the first of all.
    fn winner(&self) -> usize {
        let most = self.voted.iter().fold(0.0, |most: f64, &class| most.max(self.votes[class]));
        let limit = most * (1.0 - TIE_TOLERANCE);
        self.voted.iter().copied().filter(|&class| self.votes[class] >= limit).min().unwrap_or(0)
    }
}

/// The accuracies on all rows but those of each fold.
fn accuracies_without_folds(evidence: &Evidence, tally: &Tally, folds: usize) -> Vec<Vec<f64>> {
    let n = evidence.n_classifiers();
    let (mut correct, mut n_answered, mut rows) =
        (vec![vec![0u64; n]; folds], vec![vec![0u64; n]; folds], vec![0u64; folds]);
    for p in 0..tally.n_patterns() {
        for (class, count) in tally.outcomes(p) {
            for (fold, part) in fold_counts(evidence, tally.pattern(p), (class, count), folds) {
                rows[fold] += part;
                tally.pattern(p).for_each(|k, j| {
                    n_answered[fold][k] += part;
                    correct[fold][k] += if j == class { part } else { 0 };
                });
            }
        }
    }
    let total = |k: usize| (evidence.correct(k), evidence.answered(k));
    (0..folds)
        .map(|fold| {
            let kept: Vec<(f64, f64)> = (0..n)
                .map(|k| ((total(k).0 - correct[fold][k]) as f64, (total(k).1 - n_answered[fold][k]) as f64))
                .collect();
            let rest = (evidence.total() - rows[fold]) as f64;
            let panel =
                kept.iter().map(|k| k.0).sum::<f64>() / kept.iter().map(|k| k.1).sum::<f64>().max(1.0);
            kept.iter()
                .map(|(correct, n_answered)| (correct + (rest - n_answered) * panel) / rest.max(1.0))
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        data::MISSING,
        hash::{draw, mix},
    };

    #[test]
    fn the_winner_is_that_of_all_classes() {
        let weights = [1.0, 1.0 + 1e-12, 2.0, 0.5, 1.5];
        let mut ballot = Ballot::new(6);
        for t in 0..400 {
            // Classes, labels that are none, and missing predictions.
            let cell = |k: u64| match draw(mix(t, k), 9) as u16 {
                8 => MISSING,
                j => j,
            };
            let row = [0, 1, 2, 3, 4].map(|k| if draw(t, 7) == 0 { MISSING } else { cell(k) });
            ballot.count(Row::Dense(&row), &weights);
            let mut votes = [0.0; 6];
            add_votes(Row::Dense(&row), &weights, &mut votes);
            assert_eq!(ballot.votes, votes);
            let most = votes.iter().copied().fold(0.0, f64::max);
            let first = votes.iter().position(|votes| *votes >= most * (1.0 - TIE_TOLERANCE));
            assert_eq!(Some(ballot.winner()), first, "{row:?}");
            assert!(ballot.voted.len() <= row.len());
        }
    }
}
