//! Exponential vote: the weights are a softmax of the accuracies, with a tuned rate.

use crate::{
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
        let mut votes = vec![0.0; self.evidence.n_classes()];
        for p in 0..self.tally.n_patterns() {
            match self.tuning {
                Tuning::Resubstitution => {
                    self.count(p, &weights[0], &mut votes);
                    let winner = winner(&votes);
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
                            self.count(p, &weights[class.min(weights.len() - 1)], &mut votes);
                        }
                        let kept = votes[class];
                        votes[class] *= own[class];
                        correct += if winner(&votes) == class { count } else { 0 };
                        votes[class] = kept;
                    }
                }
                Tuning::KFold(_) => {
                    for (class, count) in self.tally.outcomes(p) {
                        let cell = (class, count);
                        for (fold, part) in
                            fold_counts(self.evidence, self.tally.pattern(p), cell, weights.len())
                        {
                            self.count(p, &weights[fold], &mut votes);
                            correct += if winner(&votes) == usize::from(class) { part } else { 0 };
                        }
                    }
                }
            }
        }
        correct
    }

    fn count(&self, p: usize, weights: &[f64], votes: &mut [f64]) {
        votes.fill(0.0);
        add_votes(self.tally.pattern(p), weights, votes);
    }
}

/// The first class within the tolerance of most votes.
fn winner(votes: &[f64]) -> usize {
    let most = votes.iter().copied().fold(0.0, f64::max);
    votes.iter().position(|votes| *votes >= most * (1.0 - TIE_TOLERANCE)).unwrap_or(0)
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
