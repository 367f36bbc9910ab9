//! The pool: a log-linear combination of experts over the candidates of a row and "none of these".
//!
//! As the ladder's pool: a gain per expert, then weights of least held-out log-loss, shrunk towards prior weights. "None of
//! these" has a score of its own, which is fitted with them: no classifier gives it.

use std::convert::Infallible;

use crate::{
    math::exp,
    methods::{
        ladder::{GAIN_PENALTY, HeldOutCase, LOG_GAINS, LogLoss, WEIGHT_PENALTY, lbfgsb},
        open::experts::CandidateScores,
    },
};

/// Penalty of the squared distance between the score of "none of these" and its prior.
const NONE_PENALTY: f64 = 0.05;
/// Bounds of that score.
const NONE_SCORES: (f64, f64) = (-30.0, 30.0);

/// Gain and weight of every expert, and the score of "none of these".
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CandidatePool {
    pub(super) gains: Vec<f64>,
    pub(super) weights: Vec<f64>,
    none: f64,
}

impl CandidatePool {
    /// One expert as it is.
    pub(super) fn of_one() -> Self {
        Self { gains: vec![1.0], weights: vec![1.0], none: 0.0 }
    }

    /// Fits the pool to held-out cases. The scores of a case are those of every expert, and a last one that is 1 for "none
    /// of these" and 0 for all candidates.
    pub(super) fn fit(cases: &mut [HeldOutCase], prior_weights: &[f64]) -> Self {
        let n = prior_weights.len();
        let none_penalty = |at: f64, prior: f64| {
            let distance = at - prior;
            (NONE_PENALTY * distance * distance, 2.0 * NONE_PENALTY * distance)
        };
        let loss = LogLoss::new(cases);
        let (mut gains, mut prior_none) = (Vec::new(), 0.0);
        for (expert, prior_weight) in prior_weights.iter().enumerate() {
            let Ok(found) = lbfgsb::minimise(vec![0.0; 2], &[LOG_GAINS, NONE_SCORES], |at| {
                let mut weights = vec![0.0; n + 1];
                weights[expert] = exp(at[0]);
                weights[n] = at[1];
                let (value, slopes) = loss.at(&weights, &[expert, n]);
                let (penalty, none_slope) = none_penalty(at[1], 0.0);
                let slope = weights[expert] * slopes[expert] + 2.0 * GAIN_PENALTY * at[0];
                let value = value + GAIN_PENALTY * at[0] * at[0] + penalty;
                Ok::<_, Infallible>((value, vec![slope, slopes[n] + none_slope]))
            });
            gains.push(exp(found[0]));
            prior_none += prior_weight * found[1];
        }
        for case in cases.iter_mut() {
            let n_candidates = case.scores.len() / (n + 1);
            for (scores, gain) in case.scores.chunks_exact_mut(n_candidates).zip(&gains) {
                scores.iter_mut().for_each(|score| *score *= gain);
            }
        }
        let loss = LogLoss::new(cases);
        let start = [prior_weights, &[prior_none]].concat();
        let bounds = [vec![(0.0, 10.0); n], vec![NONE_SCORES]].concat();
        let all: Vec<usize> = (0..=n).collect();
        let Ok(found) = lbfgsb::minimise(start, &bounds, |at| {
            let (mut value, mut slopes) = loss.at(at, &all);
            for expert in 0..n {
                let distance = at[expert] - prior_weights[expert];
                value += WEIGHT_PENALTY * distance * distance;
                slopes[expert] += 2.0 * WEIGHT_PENALTY * distance;
            }
            let (penalty, slope) = none_penalty(at[n], prior_none);
            slopes[n] += slope;
            Ok::<_, Infallible>((value + penalty, slopes))
        });
        Self { gains, weights: found[..n].to_vec(), none: found[n] }
    }

    /// The pool as one weight per leaf.
    pub(super) fn pooled(&self, experts: &[CandidateScores]) -> CandidateScores {
        let mut pooled = CandidateScores { weights: vec![0.0; experts[0].weights.len()], none: self.none };
        for (expert, factor) in experts.iter().zip(self.gains.iter().zip(&self.weights).map(|(g, w)| g * w)) {
            pooled.none += factor * expert.none;
            pooled.weights.iter_mut().zip(&expert.weights).for_each(|(sum, weight)| *sum += factor * weight);
        }
        pooled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_calibrated_and_none_of_these_has_its_share() {
        // Two candidates; an expert gives the first log-odds 3. The first is right on 60 rows in 100, the second on 20,
        // neither on 20.
        let mut cases: Vec<HeldOutCase> = [(1, 600.0), (2, 200.0), (0, 200.0)]
            .map(|(truth, rows)| HeldOutCase {
                truth,
                rows,
                scores: vec![0.0, 3.0, 0.0, 1.0, 0.0, 0.0],
                pattern_rows: Vec::new(),
            })
            .to_vec();
        let pool = CandidatePool::fit(&mut cases, &[1.0]);
        let odds = 3.0 * pool.gains[0] * pool.weights[0];
        assert!((odds - 3.0_f64.ln()).abs() < 0.05, "{pool:?}");
        assert!(pool.none.abs() < 0.05, "as probable as the second candidate: {pool:?}");
    }
}
