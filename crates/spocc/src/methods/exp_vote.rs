//! Exponential vote: weights are a softmax of accuracies, its rate fitted.

use crate::{
    decision::TIE_TOLERANCE,
    error::Error,
    evidence::{Evidence, Level, Tally},
    math::exp,
    methods::{Combiner, Learn, Method, Rule, majority::Vote},
    parallel,
    progress::Control,
    tuning::{Tuning, fold_counts, grid, median_of_best},
};

/// Settings of the exponential vote.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpVote {
    /// On which rows the rate is judged.
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
        let ballots = Ballots::new(evidence, tally, self.tuning);
        let count = |at: usize| control.report("rate", at, rates.len()).map(|()| ballots.right(rates[at]));
        let right = parallel::map(rates.len(), count).into_iter().collect::<Result<Vec<u64>, Error>>()?;
        let rate = median_of_best(&rates, &right);
        let powers: Vec<f64> = evidence.accuracies().iter().map(|accuracy| exp(rate * accuracy)).collect();
        let total: f64 = powers.iter().sum();
        let weights = powers.iter().map(|power| power / total).collect();
        Ok(Rule::Vote(Vote::new(evidence, weights, Some(rate))))
    }
}

/// Elections held under one rate after another.
struct Ballots<'a> {
    evidence: &'a Evidence,
    tally: &'a Tally,
    tuning: Tuning,
    /// Accuracies to vote with, one list per fold, or per class of the row that is left out where they differ.
    accuracies: Vec<Vec<f64>>,
    /// What one right answer adds to an accuracy, for each class of the row that is left out.
    steps: Vec<f64>,
}

impl<'a> Ballots<'a> {
    fn new(evidence: &'a Evidence, tally: &'a Tally, tuning: Tuning) -> Self {
        let n = evidence.total() as f64;
        // Without its own row the panel is judged on the rest; that the row was right is taken out later.
        let units: Vec<f64> = (0..evidence.n_classes()).map(|i| evidence.row_unit(i as u16) as f64).collect();
        let rests: Vec<f64> = units.iter().map(|unit| (n - unit).max(*unit)).collect();
        let accuracies = match tuning {
            Tuning::Resubstitution => vec![evidence.accuracies()],
            Tuning::LeaveOneOut => {
                let accuracies = evidence.accuracies();
                let are_alike = units.windows(2).all(|pair| pair[0] == pair[1]);
                let rests = if are_alike { &rests[..1] } else { &rests[..] };
                let without = |rest: &f64| accuracies.iter().map(|accuracy| accuracy * (n / rest)).collect();
                rests.iter().map(without).collect()
            }
            Tuning::KFold(folds) => accuracies_without_folds(evidence, tally, usize::from(folds)),
        };
        let steps = units.iter().zip(&rests).map(|(unit, rest)| unit / rest).collect();
        Self { evidence, tally, tuning, accuracies, steps }
    }

    /// Number of rows decided rightly at a rate.
    fn right(&self, rate: f64) -> u64 {
        let weights: Vec<Vec<f64>> = self
            .accuracies
            .iter()
            .map(|fold| fold.iter().map(|accuracy| exp(rate * accuracy)).collect())
            .collect();
        let own: Vec<f64> = self.steps.iter().map(|step| exp(-rate * step)).collect();
        let mut right = 0;
        let mut votes = vec![0.0; self.evidence.n_classes()];
        for p in 0..self.tally.n_patterns() {
            match self.tuning {
                Tuning::Resubstitution => {
                    self.count(p, &weights[0], &mut votes);
                    let winner = winner(&votes);
                    right += self
                        .tally
                        .outcomes(p)
                        .filter(|(class, _)| usize::from(*class) == winner)
                        .map(|cell| cell.1)
                        .sum::<u64>();
                }
                Tuning::LeaveOneOut => {
                    for (at, (class, count)) in self.tally.outcomes(p).enumerate() {
                        // Exactly those who voted for the truth were right on this row.
                        let class = usize::from(class);
                        if at == 0 || weights.len() > 1 {
                            self.count(p, &weights[class.min(weights.len() - 1)], &mut votes);
                        }
                        let kept = votes[class];
                        votes[class] *= own[class];
                        right += if winner(&votes) == class { count } else { 0 };
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
                            right += if winner(&votes) == usize::from(class) { part } else { 0 };
                        }
                    }
                }
            }
        }
        right
    }

    fn count(&self, p: usize, weights: &[f64], votes: &mut [f64]) {
        votes.fill(0.0);
        self.tally.pattern(p).for_each(|k, j| {
            if let Some(votes) = votes.get_mut(usize::from(j)) {
                *votes += weights[k];
            }
        });
    }
}

fn winner(votes: &[f64]) -> usize {
    let most = votes.iter().copied().fold(0.0, f64::max);
    votes.iter().position(|votes| *votes >= most * (1.0 - TIE_TOLERANCE)).unwrap_or(0)
}

/// Accuracies on all rows but those of each fold.
fn accuracies_without_folds(evidence: &Evidence, tally: &Tally, folds: usize) -> Vec<Vec<f64>> {
    let n = evidence.n_classifiers();
    let (mut right, mut spoken, mut rows) =
        (vec![vec![0u64; n]; folds], vec![vec![0u64; n]; folds], vec![0u64; folds]);
    for p in 0..tally.n_patterns() {
        for (class, count) in tally.outcomes(p) {
            for (fold, part) in fold_counts(evidence, tally.pattern(p), (class, count), folds) {
                rows[fold] += part;
                tally.pattern(p).for_each(|k, j| {
                    spoken[fold][k] += part;
                    right[fold][k] += if j == class { part } else { 0 };
                });
            }
        }
    }
    let total = |k: usize| (evidence.correct(k), evidence.answered(k));
    (0..folds)
        .map(|fold| {
            let kept: Vec<(f64, f64)> = (0..n)
                .map(|k| ((total(k).0 - right[fold][k]) as f64, (total(k).1 - spoken[fold][k]) as f64))
                .collect();
            let rest = (evidence.total() - rows[fold]) as f64;
            let panel =
                kept.iter().map(|k| k.0).sum::<f64>() / kept.iter().map(|k| k.1).sum::<f64>().max(1.0);
            kept.iter().map(|(right, spoken)| (right + (rest - spoken) * panel) / rest.max(1.0)).collect()
        })
        .collect()
}
