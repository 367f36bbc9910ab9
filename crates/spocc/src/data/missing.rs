//! Silence: what an empty cell means, and for whom.
//!
//! In: evidence as it was counted, in which an empty cell is no answer. Out: for every classifier whether its
//! silence is one more answer it can give. Who missing_is_answer says something about the row; who was not asked does not.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, choose},
    evidence::Evidence,
    math::{exp, ln, ln_gamma},
    methods::Method,
};

/// What an empty cell means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Missing {
    /// The classifier was not asked: it has no distribution.
    #[default]
    Ignore,
    /// It declined to answer: silence is one more thing it can say, so that even a row of nothing but
    /// silence is decided by the panel.
    Answer,
    /// Whichever of the two the evidence speaks for, of every classifier on its own: silence is an answer
    /// where it tells classes apart, to the methods that gain from that (the ladder, naive Bayes and stacking).
    Auto,
}

/// Pseudo-rows of each class behind the two hypotheses (Jeffreys' prior).
const PRIOR: f64 = 0.5;

/// Classifiers with gaps whose silence tells classes apart, and others, that were met before any evidence: a panel
/// is taken to have been asked at random until enough of it speaks against that.
const MET: [f64; 2] = [0.5, 4.0];

impl Missing {
    /// Every choice there is.
    pub const ALL: [Self; 3] = [Self::Ignore, Self::Answer, Self::Auto];

    /// The choice that is kept of it, and whose silence is an answer to the method.
    ///
    /// Where nobody is ever silent, or the method gains nothing from silence, there is nothing to find out: auto is
    /// silent.
    pub(crate) fn resolve(self, method: Method, evidence: &Evidence) -> (Self, Vec<bool>) {
        let n = evidence.n_classifiers();
        let gappy: Vec<usize> = (0..n).filter(|&k| evidence.answered(k) < evidence.total()).collect();
        let mut missing_is_answer = vec![self == Self::Answer; n];
        if self != Self::Auto {
            return (self, missing_is_answer);
        }
        if gappy.is_empty() || !method.gains_from_missing() {
            return (Self::Ignore, missing_is_answer);
        }
        let factors: Vec<f64> = gappy.iter().map(|&k| tells(evidence, k)).collect();
        let needed = -log_odds(&factors);
        gappy.iter().zip(factors).for_each(|(&k, factor)| missing_is_answer[k] = factor > needed);
        (self, missing_is_answer)
    }
}

/// Logarithm of the odds that a silence of this panel tells classes apart, from the Bayes factors of all: what is
/// rare in a panel needs more proof of each, what is common less (expectation and maximisation).
fn log_odds(factors: &[f64]) -> f64 {
    const ROUNDS: usize = 100;
    let mut odds = ln(MET[0] / MET[1]);
    for _ in 0..ROUNDS {
        let telling: f64 = factors.iter().map(|factor| 1.0 / (1.0 + exp(-factor - odds))).sum();
        odds = ln((MET[0] + telling) / (MET[1] + factors.len() as f64 - telling));
    }
    odds
}

/// How much likelier the truths are if those of rows on which `k` spoke and was silent have frequencies of
/// their own, than if they share them: the natural logarithm of the Bayes factor.
fn tells(evidence: &Evidence, k: usize) -> f64 {
    let all = evidence.class_counts();
    let mut spoken = vec![0u64; all.len()];
    for j in 0..evidence.n_labels() as u16 {
        spoken.iter_mut().zip(evidence.row(k, j)).for_each(|(sum, count)| *sum += count);
    }
    let silent = all.iter().zip(&spoken).map(|(all, spoken)| all - spoken);
    let rows = |counts: &mut dyn Iterator<Item = u64>| {
        let rows: Vec<f64> = counts.map(|count| evidence.rows_of(count)).collect();
        log_marginal(&rows)
    };
    rows(&mut spoken.iter().copied()) + rows(&mut silent.into_iter()) - rows(&mut all.iter().copied())
}

/// Logarithm of the chance of a sequence of truths with these counts, whatever their frequencies (Dirichlet and
/// multinomial).
///
/// ```text
/// ln G(l a) - ln G(l a + n) + sum over classes of ln G(a + n_i) - ln G(a)
/// ```
fn log_marginal(rows: &[f64]) -> f64 {
    let (l, n) = (rows.len() as f64, rows.iter().sum::<f64>());
    let own: f64 = rows.iter().map(|n| ln_gamma(PRIOR + n) - ln_gamma(PRIOR)).sum();
    ln_gamma(l * PRIOR) - ln_gamma(l * PRIOR + n) + own
}

impl fmt::Display for Missing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Ignore => "silent",
            Self::Answer => "symbol",
            Self::Auto => "auto",
        })
    }
}

impl FromStr for Missing {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        choose("missing", &Self::ALL, word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Predictions, Truth};

    #[test]
    fn the_chance_of_truths_is_that_of_drawing_them_one_by_one() {
        // x, y, x: 1/2, then (1/2)/2, then (3/2)/3.
        let chance: f64 = 1.0 / 2.0 * (0.5 / 2.0) * (1.5 / 3.0);
        assert!((log_marginal(&[2.0, 1.0]) - chance.ln()).abs() < 1e-12);
        assert!(log_marginal(&[0.0, 0.0]).abs() < 1e-12);
    }

    /// One classifier that is silent on every `n`th row of either class, from the rows given.
    fn panel(rows: usize, silent: impl Fn(usize, bool) -> bool) -> Evidence {
        let mut table = Predictions::builder(["a", "b"]).expect("two names");
        for t in 0..rows {
            let class = if t % 2 == 0 { "x" } else { "y" };
            let gap = silent(t / 2, t % 2 == 0);
            table.push([Some(class).filter(|_| !gap), Some(class)]).expect("two answers");
        }
        let truth = Truth::new((0..rows).map(|t| Some(if t % 2 == 0 { "x" } else { "y" }))).expect("labels");
        Evidence::new(&table.finish(), &truth).expect("rows")
    }

    #[test]
    fn silence_is_heard_only_where_it_tells_classes_apart() {
        let evenly = panel(200, |t, _| t % 3 == 0);
        assert_eq!(Missing::Auto.resolve(Method::NaiveBayes, &evenly), (Missing::Auto, vec![false, false]));
        let declining = panel(200, |t, is_x| is_x && t % 3 == 0);
        assert_eq!(Missing::Auto.resolve(Method::NaiveBayes, &declining), (Missing::Auto, vec![true, false]));
        let too_few = panel(8, |t, is_x| is_x && t % 3 == 0);
        assert_eq!(Missing::Auto.resolve(Method::NaiveBayes, &too_few), (Missing::Auto, vec![false, false]));
        let whole = panel(200, |_, _| false);
        assert_eq!(Missing::Auto.resolve(Method::NaiveBayes, &whole), (Missing::Ignore, vec![false, false]));
        assert_eq!(Missing::Answer.resolve(Method::Spocc, &evenly), (Missing::Answer, vec![true, true]));
    }
}
