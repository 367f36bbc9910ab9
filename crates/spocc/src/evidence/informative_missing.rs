//! Informative missing predictions: for which classifiers a missing cell distinguishes classes.
//!
//! In: evidence as it was counted, in which a missing cell is not an answer. Out: for each classifier, whether a missing
//! cell is one more answer. A classifier that abstains says something about the row; one that was not asked does
//! not. The paper has no missing predictions.

use crate::{
    data::Missing,
    evidence::Evidence,
    math::{exp, ln, ln_gamma},
};

/// Pseudo-rows of each class under both hypotheses (Jeffreys' prior).
const PRIOR: f64 = 0.5;

/// Pseudo-counts of classifiers whose missing cells are informative, and of others: cells are taken to be missing at
/// random until the evidence is against it.
const PRIOR_CLASSIFIERS: [f64; 2] = [0.5, 4.0];

/// Labelled rows with and without a prediction of a classifier that it takes to call its missing cells informative. In a
/// crowd each worker has a handful of labelled rows, and workers who share their items look alike.
const MIN_ROWS: f64 = 10.0;

impl Evidence {
    /// The treatment of missing cells that a model records, and for each classifier whether a missing cell is an answer.
    ///
    /// [`Missing::Auto`] becomes [`Missing::Ignore`] where no cell is missing or the method gains nothing
    /// (`method_gains`) from missing cells as answers.
    pub(crate) fn missing_as_answer(&self, missing: Missing, method_gains: bool) -> (Missing, Vec<bool>) {
        let n = self.n_classifiers();
        let mut missing_is_answer = vec![missing == Missing::Answer; n];
        if missing != Missing::Auto {
            return (missing, missing_is_answer);
        }
        let incomplete: Vec<usize> = (0..n).filter(|&k| self.answered(k) < self.total()).collect();
        if incomplete.is_empty() || !method_gains {
            return (Missing::Ignore, missing_is_answer);
        }
        let factors: Vec<f64> = incomplete.iter().map(|&k| log_bayes_factor(self, k)).collect();
        let needed = -log_odds(&factors, PRIOR_CLASSIFIERS);
        let has_rows = |k: usize| {
            let answered = self.answered(k);
            [answered, self.total() - answered].iter().all(|&rows| self.rows_of(rows) >= MIN_ROWS)
        };
        for (&k, factor) in incomplete.iter().zip(factors) {
            missing_is_answer[k] = factor > needed && has_rows(k);
        }
        (missing, missing_is_answer)
    }
}

/// Logarithm of the prior odds that a classifier is informative, estimated from the Bayes factors of all classifiers by
/// expectation-maximisation; `prior` are pseudo-counts of informative classifiers and of others.
pub(crate) fn log_odds(factors: &[f64], prior: [f64; 2]) -> f64 {
    const ROUNDS: usize = 100;
    let [informative, others] = prior;
    let mut odds = ln(informative / others);
    for _ in 0..ROUNDS {
        let expected: f64 = factors.iter().map(|factor| 1.0 / (1.0 + exp(-factor - odds))).sum();
        odds = ln((informative + expected) / (others + factors.len() as f64 - expected));
    }
    odds
}

/// Logarithm of the Bayes factor of two hypotheses: the class frequencies differ between the rows that classifier `k`
/// answered and those that it did not, or they are the same.
fn log_bayes_factor(evidence: &Evidence, k: usize) -> f64 {
    let all = evidence.class_counts();
    let answered = evidence.answered_by_class(k);
    let missing = all.iter().zip(&answered).map(|(all, answered)| all - answered);
    let rows = |counts: &mut dyn Iterator<Item = u64>| {
        let rows: Vec<f64> = counts.map(|count| evidence.rows_of(count)).collect();
        log_marginal(&rows)
    };
    rows(&mut answered.iter().copied()) + rows(&mut missing.into_iter()) - rows(&mut all.iter().copied())
}

/// Logarithm of the marginal likelihood of a sequence of truths with these counts (Dirichlet-multinomial).
///
/// ```text
/// ln G(l a) - ln G(l a + n) + sum over classes of ln G(a + n_i) - ln G(a)
/// ```
pub(crate) fn log_marginal(rows: &[f64]) -> f64 {
    let (l, n) = (rows.len() as f64, rows.iter().sum::<f64>());
    let own: f64 = rows.iter().map(|n| ln_gamma(PRIOR + n) - ln_gamma(PRIOR)).sum();
    ln_gamma(l * PRIOR) - ln_gamma(l * PRIOR + n) + own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Predictions, Truth};

    #[test]
    fn the_marginal_likelihood_is_that_of_drawing_truths_one_by_one() {
        // x, y, x: 1/2, then (1/2)/2, then (3/2)/3.
        let likelihood: f64 = 1.0 / 2.0 * (0.5 / 2.0) * (1.5 / 3.0);
        assert!((log_marginal(&[2.0, 1.0]) - likelihood.ln()).abs() < 1e-12);
        assert!(log_marginal(&[0.0, 0.0]).abs() < 1e-12);
    }

    /// Two correct classifiers; `is_missing(t, is_x)` chooses the missing cells of the first, t counting rows per class.
    fn panel(rows: usize, is_missing: impl Fn(usize, bool) -> bool) -> Evidence {
        let mut table = Predictions::builder(["a", "b"]).expect("two names");
        for t in 0..rows {
            let class = if t % 2 == 0 { "x" } else { "y" };
            let is_missing = is_missing(t / 2, t % 2 == 0);
            table.push([Some(class).filter(|_| !is_missing), Some(class)]).expect("two cells");
        }
        let truth = Truth::new((0..rows).map(|t| Some(if t % 2 == 0 { "x" } else { "y" }))).expect("labels");
        Evidence::new(&table.finish(), &truth).expect("rows")
    }

    #[test]
    fn missing_cells_are_answers_only_where_they_distinguish_classes() {
        let auto = |evidence: &Evidence| evidence.missing_as_answer(Missing::Auto, true);
        let evenly = panel(200, |t, _| t % 3 == 0);
        assert_eq!(auto(&evenly), (Missing::Auto, vec![false, false]));
        let abstaining = panel(200, |t, is_x| is_x && t % 3 == 0);
        assert_eq!(auto(&abstaining), (Missing::Auto, vec![true, false]));
        let too_few = panel(8, |t, is_x| is_x && t % 3 == 0);
        assert_eq!(auto(&too_few), (Missing::Auto, vec![false, false]));
        let complete = panel(200, |_, _| false);
        assert_eq!(auto(&complete), (Missing::Ignore, vec![false, false]));
        assert_eq!(abstaining.missing_as_answer(Missing::Auto, false), (Missing::Ignore, vec![false, false]));
        assert_eq!(evenly.missing_as_answer(Missing::Answer, false), (Missing::Answer, vec![true, true]));
    }
}
