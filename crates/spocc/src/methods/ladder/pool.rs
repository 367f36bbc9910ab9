//! The pool: a log-linear combination of experts, `softmax(sum over experts of weight * gain * score)`.
//!
//! In: the scores of the experts on held-out rows. Out: a gain and a weight per expert. The gain is the factor at which
//! an expert alone has the least log-loss; the weights minimise the log-loss of the pool, shrunk towards prior weights.
//! The weights are a convex problem; a gain is one smooth minimisation in one dimension, started at 1. A pool of sums over
//! predictions is again such a sum. Among open answers, "none of these" has a score of its own.

use std::convert::Infallible;

use crate::{
    math::{exp, ln, log_normalise},
    methods::ladder::lbfgsb,
    parallel,
};

/// Penalty of the squared distance between weights and prior weights.
const WEIGHT_PENALTY: f64 = 6.0;
/// Penalty of the squared logarithm of a gain.
const GAIN_PENALTY: f64 = 0.1;
/// Pseudo-rows that smooth the truths (Platt): with few rows none of which is decided wrongly, no gain grows without bound.
const SMOOTHING_ROWS: f64 = 1.0;
/// Bounds of the logarithm of a gain.
const LOG_GAINS: (f64, f64) = (-5.0, 2.5);
/// Penalty of the squared distance between the score of "none of these" and its prior, and bounds of that score.
const NONE_PENALTY: f64 = 0.05;
const NONE_SCORES: (f64, f64) = (-30.0, 30.0);
/// Cases of one parallel task.
const CASES_PER_TASK: usize = 1024;

/// Held-out rows of one pattern and truth.
#[derive(Clone, Debug)]
pub(in crate::methods) struct HeldOutCase {
    pub(in crate::methods) truth: u16,
    pub(in crate::methods) rows: f64,
    /// Scores by expert and class.
    pub(in crate::methods) scores: Vec<f64>,
    /// Training rows of the same pattern, by class.
    pub(in crate::methods) pattern_rows: Vec<f64>,
}

/// Gain and weight of every expert.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::methods) struct Pool {
    pub(in crate::methods) gains: Vec<f64>,
    pub(in crate::methods) weights: Vec<f64>,
    /// The score of "none of these" among open answers, which no classifier gives; otherwise 0.
    pub(in crate::methods) none: f64,
}

/// Whether the last scores of a case are a column that is 1 for "none of these" and 0 for all candidates.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::methods) enum NoneOfThese {
    Absent,
    Last,
}

impl Pool {
    /// One expert as it is.
    pub(in crate::methods) fn of_one() -> Self {
        Self { gains: vec![1.0], weights: vec![1.0], none: 0.0 }
    }

    /// Fits gains and weights to held-out rows; the score of "none of these", if there is one, is fitted with them.
    pub(in crate::methods) fn fit(
        cases: &mut [HeldOutCase],
        prior_weights: &[f64],
        none_of_these: NoneOfThese,
    ) -> Self {
        let n = prior_weights.len();
        let n_none = usize::from(none_of_these == NoneOfThese::Last);
        // Adds the penalty of the score of "none of these", which is the last number of a point.
        let penalise_none = |at: &[f64], prior: f64, (value, mut slopes): (f64, Vec<f64>)| {
            let Some((&none, slope)) = at.last().zip(slopes.last_mut()).filter(|_| n_none == 1) else {
                return (value, slopes);
            };
            *slope += 2.0 * NONE_PENALTY * (none - prior);
            (value + NONE_PENALTY * (none - prior) * (none - prior), slopes)
        };
        let loss = LogLoss::new(cases);
        let (mut gains, mut prior_none) = (Vec::new(), 0.0);
        for (expert, prior_weight) in prior_weights.iter().enumerate() {
            let active: Vec<usize> = [expert, n][..=n_none].to_vec();
            let bounds = &[LOG_GAINS, NONE_SCORES][..=n_none];
            let Ok(found) = lbfgsb::minimise(vec![0.0; 1 + n_none], bounds, |at| {
                let gain = exp(at[0]);
                let mut weights = vec![0.0; n + n_none];
                active
                    .iter()
                    .zip([gain].iter().chain(&at[1..]))
                    .for_each(|(&place, &weight)| weights[place] = weight);
                let (value, slopes) = loss.at(&weights, &active);
                let mut slopes: Vec<f64> = active.iter().map(|&place| slopes[place]).collect();
                slopes[0] = gain * slopes[0] + 2.0 * GAIN_PENALTY * at[0];
                let value = value + GAIN_PENALTY * at[0] * at[0];
                Ok::<_, Infallible>(penalise_none(at, 0.0, (value, slopes)))
            });
            gains.push(exp(found[0]));
            prior_none += found.get(1).map_or(0.0, |none| prior_weight * none);
        }
        for case in cases.iter_mut() {
            let n_classes = case.scores.len() / (n + n_none).max(1);
            for (scores, gain) in case.scores.chunks_exact_mut(n_classes.max(1)).zip(&gains) {
                scores.iter_mut().for_each(|score| *score *= gain);
            }
        }
        let loss = LogLoss::new(cases);
        let all: Vec<usize> = (0..n + n_none).collect();
        let start = [prior_weights, &[prior_none][..n_none]].concat();
        let bounds = [&vec![(0.0, 10.0); n][..], &[NONE_SCORES][..n_none]].concat();
        let Ok(found) = lbfgsb::minimise(start, &bounds, |at| {
            let (mut value, mut slopes) = loss.at(at, &all);
            for expert in 0..n {
                let distance = at[expert] - prior_weights[expert];
                value += WEIGHT_PENALTY * distance * distance;
                slopes[expert] += 2.0 * WEIGHT_PENALTY * distance;
            }
            Ok::<_, Infallible>(penalise_none(at, prior_none, (value, slopes)))
        });
        Self { gains, weights: found[..n].to_vec(), none: found.get(n).copied().unwrap_or(0.0) }
    }

    /// The log probabilities of a case whose scores have been multiplied by the gains.
    pub(in crate::methods) fn log_probabilities(&self, case: &HeldOutCase, out: &mut [f64]) {
        out.fill(0.0);
        for (scores, weight) in case.scores.chunks_exact(out.len().max(1)).zip(&self.weights) {
            out.iter_mut().zip(scores).for_each(|(sum, score)| *sum += weight * score);
        }
        log_normalise(out);
    }
}

/// The log-loss of weighted experts on held-out rows, truths smoothed. Cases may differ in their number of classes.
struct LogLoss<'a> {
    cases: &'a [HeldOutCase],
    smoothed: f64,
}

impl<'a> LogLoss<'a> {
    fn new(cases: &'a [HeldOutCase]) -> Self {
        let rows: f64 = cases.iter().map(|case| case.rows).sum();
        Self { cases, smoothed: SMOOTHING_ROWS / (rows + 2.0 * SMOOTHING_ROWS) }
    }

    /// Value and slopes at some weights; experts that are not `active` have weight 0 and need no slope.
    fn at(&self, weights: &[f64], active: &[usize]) -> (f64, Vec<f64>) {
        let parts = parallel::map_ranges(self.cases.len(), CASES_PER_TASK, |range| {
            let (mut value, mut slopes) = (0.0, vec![0.0; weights.len()]);
            let mut residuals = Vec::new();
            for case in &self.cases[range] {
                let l = case.scores.len() / weights.len().max(1);
                residuals.clear();
                residuals.resize(l, 0.0);
                for &expert in active {
                    let scores = &case.scores[expert * l..(expert + 1) * l];
                    let weight = weights[expert];
                    residuals.iter_mut().zip(scores).for_each(|(sum, score)| *sum += weight * score);
                }
                let truth = usize::from(case.truth);
                let even = self.smoothed / l as f64;
                // The mean score under the smoothed truth; then the probabilities minus those of the smoothed truth.
                let expected =
                    (1.0 - self.smoothed) * residuals[truth] + even * residuals.iter().sum::<f64>();
                let best = residuals.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                residuals.iter_mut().for_each(|score| *score = exp(*score - best));
                let total: f64 = residuals.iter().sum();
                value += case.rows * (best + ln(total) - expected);
                residuals.iter_mut().for_each(|share| *share = *share / total - even);
                residuals[truth] -= 1.0 - self.smoothed;
                for &expert in active {
                    let scores = &case.scores[expert * l..(expert + 1) * l];
                    let slope: f64 =
                        residuals.iter().zip(scores).map(|(residual, score)| residual * score).sum();
                    slopes[expert] += case.rows * slope;
                }
            }
            (value, slopes)
        });
        parts.into_iter().fold((0.0, vec![0.0; weights.len()]), |(value, mut slopes), (more, of_part)| {
            slopes.iter_mut().zip(of_part).for_each(|(sum, slope)| *sum += slope);
            (value + more, slopes)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases of two classes; `odds` gives the log-odds of the truth by every expert.
    fn cases(n: usize, odds: impl Fn(usize) -> Vec<f64>) -> Vec<HeldOutCase> {
        let case = |at: usize| {
            let truth = (at % 2) as u16;
            let scores = |odds: &f64| if truth == 0 { [*odds, 0.0] } else { [0.0, *odds] };
            let scores = odds(at).iter().flat_map(scores).collect();
            HeldOutCase { truth, rows: 1.0, scores, pattern_rows: vec![0.0; 2] }
        };
        (0..n).map(case).collect()
    }

    #[test]
    fn the_gain_of_an_expert_is_that_of_its_accuracy() {
        // Right on three rows in four, always at log-odds 5: the best factor gives ln 3.
        let mut cases = cases(400, |at| vec![if at % 4 < 3 { 5.0 } else { -5.0 }]);
        let pool = Pool::fit(&mut cases, &[1.0], NoneOfThese::Absent);
        let odds = 5.0 * pool.gains[0];
        assert!((odds - 3.0_f64.ln()).abs() < 0.05, "{odds}");
        assert!((pool.weights[0] - 1.0).abs() < 0.05, "{pool:?}");
    }

    #[test]
    fn an_expert_without_information_loses_its_weight_and_a_good_one_gains() {
        let noise = |at: usize| if (at / 2).is_multiple_of(2) { 2.0 } else { -2.0 };
        let good = |at: usize| if at % 10 < 9 { 1.0 } else { -1.0 };
        let mut cases = cases(400, |at| vec![noise(at), good(at)]);
        let pool = Pool::fit(&mut cases, &[0.8, 0.2], NoneOfThese::Absent);
        assert!(pool.gains[0] < 0.1 && pool.weights[1] > 0.8, "{pool:?}");
    }

    #[test]
    fn few_rows_without_an_error_do_not_make_an_expert_certain() {
        let mut cases = cases(10, |_| vec![1.0]);
        let pool = Pool::fit(&mut cases, &[1.0], NoneOfThese::Absent);
        let odds = pool.gains[0] * pool.weights[0];
        assert!(odds > 1.0 && odds < 4.5, "{odds}");
    }

    #[test]
    fn the_slopes_agree_with_finite_differences() {
        let cases = cases(30, |at| vec![(at % 7) as f64 - 2.0, (at % 5) as f64 - 1.0]);
        let loss = LogLoss { cases: &cases, smoothed: 0.02 };
        let at = [0.4, 0.7];
        let (_, slopes) = loss.at(&at, &[0, 1]);
        for expert in 0..2 {
            let [mut low, mut high] = [at, at];
            low[expert] -= 1e-6;
            high[expert] += 1e-6;
            let slope = (loss.at(&high, &[0, 1]).0 - loss.at(&low, &[0, 1]).0) / 2e-6;
            assert!((slope - slopes[expert]).abs() < 1e-5 * (1.0 + slope.abs()), "{slope} {slopes:?}");
        }
    }

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
        let pool = Pool::fit(&mut cases, &[1.0], NoneOfThese::Last);
        let odds = 3.0 * pool.gains[0] * pool.weights[0];
        assert!((odds - 3.0_f64.ln()).abs() < 0.05, "{pool:?}");
        assert!(pool.none.abs() < 0.05, "as probable as the second candidate: {pool:?}");
    }
}
