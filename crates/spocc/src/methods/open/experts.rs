//! The experts: each is one weight per leaf.

use crate::{
    data::Row,
    error::Error,
    evidence::Tally,
    math::{exp, ln},
    methods::ladder::PatternCell,
    progress::Control,
};

/// Pseudo-rows that shrink the accuracy of a leaf towards that of the panel.
const PANEL_ROWS: f64 = 5.0;
/// Steps of expectation-maximisation at most.
const MAX_STEPS: usize = 30;
/// Change of the accuracies below which the iteration has converged.
const TOLERANCE: f64 = 1e-4;

/// Scores that are sums over the classifiers that give a candidate.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CandidateScores {
    /// By leaf.
    pub(super) weights: Vec<f64>,
    /// Score of "none of these".
    pub(super) none: f64,
}

impl CandidateScores {
    /// Writes the scores of "none of these" and of the candidates of a row, which are numbered without gaps.
    pub(super) fn score(&self, row: Row<'_>, out: &mut Vec<f64>) {
        out.clear();
        out.push(self.none);
        row.for_each(|leaf, j| {
            let j = usize::from(j);
            out.resize(out.len().max(j + 1), 0.0);
            out[j] += self.weights[leaf];
        });
    }
}

/// How often every leaf is right, and how often two wrong answers are the same.
#[derive(Clone, Debug)]
pub(super) struct LeafAccuracies<'a> {
    correct: Vec<f64>,
    answered: Vec<f64>,
    n_rows: f64,
    /// Pairs of wrong answers on a row that are the same, and all such pairs, by leaf weights.
    wrong_pairs: [f64; 2],
    leaf_weights: &'a [f64],
}

impl<'a> LeafAccuracies<'a> {
    /// Counts some rows of every cell.
    pub(super) fn count(tally: &Tally, cells: &[PatternCell], rows: &[f64], leaf_weights: &'a [f64]) -> Self {
        let n = leaf_weights.len();
        let mut counts = Self {
            correct: vec![0.0; n],
            answered: vec![0.0; n],
            n_rows: 0.0,
            wrong_pairs: [0.0; 2],
            leaf_weights,
        };
        // Sum and sum of squares of the weights behind every wrong answer of a row.
        let mut wrong: Vec<[f64; 2]> = Vec::new();
        for (cell, &rows) in cells.iter().zip(rows).filter(|(_, rows)| **rows > 0.0) {
            wrong.clear();
            counts.n_rows += rows;
            tally.pattern(cell.pattern as usize).for_each(|leaf, j| {
                counts.answered[leaf] += rows;
                if j == cell.truth {
                    counts.correct[leaf] += rows;
                    return;
                }
                wrong.resize(wrong.len().max(usize::from(j) + 1), [0.0; 2]);
                let weight = leaf_weights[leaf];
                wrong[usize::from(j)][0] += weight;
                wrong[usize::from(j)][1] += weight * weight;
            });
            let [sum, squares] = wrong.iter().fold([0.0; 2], |[s, q], [sum, squares]| [s + sum, q + squares]);
            let same: f64 = wrong.iter().map(|[sum, squares]| sum * sum - squares).sum();
            counts.wrong_pairs[0] += rows * same;
            counts.wrong_pairs[1] += rows * (sum * sum - squares);
        }
        counts
    }

    /// The accuracy of every leaf, shrunk towards that of the panel, and its log-odds, which are finite however many rows
    /// there are.
    fn accuracies(&self) -> Vec<[f64; 2]> {
        let [correct, answered] = [&self.correct, &self.answered].map(|rows| rows.iter().sum::<f64>());
        let panel = [correct + 1.0, (answered - correct).max(0.0) + 1.0].map(|rows| rows / (answered + 2.0));
        let of_leaf = |(correct, answered): (&f64, &f64)| {
            let [right, wrong] = [*correct, (answered - correct).max(0.0)];
            let [right, wrong] = [right + PANEL_ROWS * panel[0], wrong + PANEL_ROWS * panel[1]];
            [right / (right + wrong), ln(right / wrong)]
        };
        self.correct.iter().zip(&self.answered).map(of_leaf).collect()
    }

    /// `-ln` of the share of pairs of wrong answers that are the same: the logarithm of the effective number of wrong
    /// answers.
    fn log_alternatives(&self) -> f64 {
        let [same, all] = self.wrong_pairs;
        -ln((same.max(0.0) + 1.0) / (all.max(0.0) + 2.0))
    }

    /// How much more accurate than the others every leaf is: its log-odds of being right minus their mean. The level, how
    /// much one more classifier counts at all, is that of the votes.
    pub(super) fn contrasts(&self) -> CandidateScores {
        self.contrasts_of(&self.accuracies())
    }

    fn contrasts_of(&self, accuracies: &[[f64; 2]]) -> CandidateScores {
        let mean = accuracies.iter().map(|[_, odds]| odds).sum::<f64>() / accuracies.len().max(1) as f64;
        self.weighted(accuracies, -mean)
    }

    /// The log-odds of every leaf and a constant, by leaf weights.
    fn weighted(&self, accuracies: &[[f64; 2]], constant: f64) -> CandidateScores {
        let weights =
            accuracies.iter().zip(self.leaf_weights).map(|([_, odds], weight)| weight * (odds + constant));
        CandidateScores { weights: weights.collect(), none: 0.0 }
    }

    /// The contrasts from unlabelled rows too, by expectation-maximisation: a candidate is right with the probability that it
    /// has if every leaf errs independently and all wrong answers are alike.
    pub(super) fn with_unlabelled(
        &self,
        rows: &[(Row<'_>, f64)],
        control: &Control<'_>,
    ) -> Result<CandidateScores, Error> {
        let alternatives = self.log_alternatives();
        let mut accuracies = self.accuracies();
        let mut shares = Vec::new();
        for step in 0..MAX_STEPS {
            control.report("ladder: unlabelled rows", step, MAX_STEPS)?;
            let likelihoods = self.weighted(&accuracies, alternatives);
            let mut counts = self.clone();
            for &(row, weight) in rows {
                likelihoods.score(row, &mut shares);
                to_probabilities(&mut shares);
                row.for_each(|leaf, j| {
                    counts.correct[leaf] += weight * shares[usize::from(j)];
                    counts.answered[leaf] += weight;
                });
            }
            let next = counts.accuracies();
            let change = next.iter().zip(&accuracies).map(|(a, b)| (a[0] - b[0]).abs()).fold(0.0, f64::max);
            accuracies = next;
            if change < TOLERANCE {
                break;
            }
        }
        Ok(self.contrasts_of(&accuracies))
    }

    /// Votes weighted by accuracy.
    pub(super) fn votes(&self) -> CandidateScores {
        let accuracies = self.accuracies();
        let weights =
            accuracies.iter().zip(self.leaf_weights).map(|([accuracy, _], weight)| accuracy * weight);
        CandidateScores { weights: weights.collect(), none: 0.0 }
    }

    /// The most accurate leaf alone; several that are equally accurate divide its weight.
    pub(super) fn best_classifier(&self) -> CandidateScores {
        let (best, accuracies) = (self.most_accurate(), self.accuracies());
        let mut weights = vec![0.0; accuracies.len()];
        for &leaf in &best {
            weights[leaf] = (accuracies[leaf][1] + self.log_alternatives()) / best.len() as f64;
        }
        CandidateScores { weights, none: 0.0 }
    }

    /// The leaves of the highest accuracy. A leaf counts as an average one where its answer is missing.
    pub(super) fn most_accurate(&self) -> Vec<usize> {
        // Sums of weights are this exact.
        const ROUNDING: f64 = 1e-9;
        let panel = self.correct.iter().sum::<f64>() / self.answered.iter().sum::<f64>().max(1.0);
        let accuracy =
            |leaf: usize| self.correct[leaf] + (self.n_rows - self.answered[leaf]).max(0.0) * panel;
        let n = self.correct.len();
        let best = (0..n).map(accuracy).fold(f64::NEG_INFINITY, f64::max);
        (0..n).filter(|&leaf| accuracy(leaf) >= best - ROUNDING * (1.0 + best)).collect()
    }
}

/// Turns scores into probabilities.
fn to_probabilities(scores: &mut [f64]) {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter_mut().for_each(|score| *score = exp(*score - best));
    let total: f64 = scores.iter().sum();
    scores.iter_mut().for_each(|share| *share /= total);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::MISSING;

    #[test]
    fn weights_of_a_hand_sized_panel() {
        // Ten rows of three leaves; 1 is right. The first is always right, the second on 6 rows, the third never; on two
        // rows both wrong answers are the same.
        let mut rows = crate::data::Answers::builder(["a", "b", "c"]).expect("three names");
        for row in 0..10 {
            let b = if row < 6 { "right" } else { "b" };
            let c = if row < 8 { "c" } else { "b" };
            rows.push([Some("right"), Some(b), Some(c)], Some("right")).expect("a row");
        }
        let rows = rows.finish();
        let evidence = crate::Evidence::new(rows.predictions(), rows.truth()).expect("rows");
        let tally = evidence.tally_for("a test").expect("a tally");
        let (cells, _) = crate::methods::ladder::pattern_cells(&evidence, tally);
        let all: Vec<f64> = cells.iter().map(|cell| cell.rows).collect();
        let counts = LeafAccuracies::count(tally, &cells, &all, &[1.0; 3]);
        assert_eq!(
            (counts.correct.as_slice(), counts.answered.as_slice()),
            (&[10.0, 6.0, 0.0][..], &[10.0; 3][..])
        );
        // Of four rows with two wrong answers, two have the same one; a pair counts in both orders.
        assert_eq!(counts.wrong_pairs, [4.0, 8.0]);
        assert_eq!(counts.most_accurate(), [0]);
        let panel = 17.0 / 32.0;
        let first = (10.0 + 5.0 * panel) / 15.0;
        let log_odds = |right: f64, wrong: f64| ln((right + 5.0 * panel) / (wrong + 5.0 * (1.0 - panel)));
        let odds = [log_odds(10.0, 0.0), log_odds(6.0, 4.0), log_odds(0.0, 10.0)];
        let found = counts.contrasts();
        let expected = odds[0] - odds.iter().sum::<f64>() / 3.0;
        assert!((found.weights[0] - expected).abs() < 1e-12, "{found:?}");
        assert!(found.weights[2] < 0.0, "its answer is evidence against itself: {found:?}");
        assert!((counts.log_alternatives() - ln(2.0)).abs() < 1e-12);
        let mut scores = Vec::new();
        found.score(Row::Dense(&[1, MISSING, 2]), &mut scores);
        assert_eq!(scores, [0.0, found.weights[0], found.weights[2]]);
        assert!((counts.votes().weights[0] - first).abs() < 1e-12);
        assert_eq!(counts.best_classifier().weights[1..], [0.0; 2]);
    }

    #[test]
    fn unlabelled_rows_show_which_leaves_agree() {
        // Without any labelled row, the fourth leaf never agrees with the three others.
        let counts = LeafAccuracies {
            correct: vec![0.0; 4],
            answered: vec![0.0; 4],
            n_rows: 0.0,
            wrong_pairs: [0.0; 2],
            leaf_weights: &[1.0; 4],
        };
        let rows = [(Row::Dense(&[1, 1, 1, 2]), 40.0), (Row::Dense(&[1, 2, 1, 3]), 10.0)];
        let fitted = counts.with_unlabelled(&rows, &Control::default()).expect("not cancelled");
        assert!(fitted.weights[0] > fitted.weights[1] && fitted.weights[1] > fitted.weights[3], "{fitted:?}");
    }
}
