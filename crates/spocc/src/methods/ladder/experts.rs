//! The experts of the pool, each a table of scores that is a sum over predictions.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    math::ln,
    methods::ladder::{leaf_counts::LeafCounts, score_table::ScoreTable},
};

/// The experts, by the words that reports use. Files store the position in this list: new ones come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Expert {
    /// Confusions of the labelled rows, shrunk towards those of the panel.
    Confusions,
    /// The same, estimated from unlabelled rows too.
    Unlabelled,
    /// Votes weighted by accuracy.
    Votes,
    /// The most accurate classifier alone.
    BestClassifier,
    /// Softmax regression on the predictions; of open answers, a conditional logit with one weight per classifier.
    Regression,
    /// Of open answers and of classes that look exchangeable: one accuracy per classifier from the labelled rows, shrunk
    /// towards that of the panel.
    Accuracies,
}

impl Expert {
    /// The weight that held-out rows have to argue against.
    pub(super) fn prior_weight(self) -> f64 {
        match self {
            Self::Confusions | Self::Accuracies => 0.25,
            Self::Unlabelled => 0.2,
            Self::Votes => 0.4,
            Self::BestClassifier => 0.1,
            Self::Regression => 0.05,
        }
    }
}

impl fmt::Display for Expert {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Confusions => "confusions",
            Self::Unlabelled => "unlabelled rows",
            Self::Votes => "votes",
            Self::BestClassifier => "best classifier",
            Self::Regression => "regression",
            Self::Accuracies => "accuracies",
        })
    }
}

/// Pseudo-rows that shrink the accuracy of a leaf towards that of the panel.
const VOTE_ROWS: f64 = 5.0;

/// Class frequencies and likelihoods, those of each leaf to the power of its weight.
pub(super) fn leaf_scores(counts: &LeafCounts, likelihoods: &[f64], leaf_weights: &[f64]) -> ScoreTable {
    let size = (counts.n_labels * counts.n_classes()).max(1);
    let score = |(at, likelihood): (usize, &f64)| leaf_weights[at / size] * ln(*likelihood);
    let mut scores: Vec<f64> = likelihoods.iter().enumerate().map(score).collect();
    neutralise(&mut scores, counts.n_classes());
    ScoreTable { n_labels: counts.n_labels, start: counts.log_prior(), scores }
}

/// Makes predictions that leave all classes alike, up to rounding, exactly neutral.
fn neutralise(scores: &mut [f64], n_classes: usize) {
    const ROUNDING: f64 = 1e-12;
    for scores in scores.chunks_exact_mut(n_classes.max(1)) {
        let [low, high] = [f64::min, f64::max].map(|of| scores.iter().copied().reduce(of).unwrap_or(0.0));
        if high - low <= ROUNDING {
            scores.fill(0.0);
        }
    }
}

/// One vote per leaf for the class that its label names, weighted by its accuracy and the leaf weight.
pub(super) fn votes(counts: &LeafCounts, leaf_weights: &[f64]) -> ScoreTable {
    let (s, l) = (counts.n_labels, counts.n_classes());
    let n = counts.n_leaves();
    let sum = |of: &dyn Fn(usize) -> f64| (0..n).map(of).sum::<f64>();
    let panel = (sum(&|leaf| counts.correct(leaf)) + 1.0) / (sum(&|leaf| counts.n_answered(leaf)) + 2.0);
    let mut scores = vec![0.0; counts.confusions.len()];
    for (leaf, weight) in leaf_weights.iter().enumerate() {
        let accuracy = (counts.correct(leaf) + VOTE_ROWS * panel) / (counts.n_answered(leaf) + VOTE_ROWS);
        (0..l.min(s)).for_each(|class| scores[(leaf * s + class) * l + class] = weight * accuracy);
    }
    ScoreTable { n_labels: s, start: vec![0.0; l], scores }
}

/// How much more accurate than the others every leaf is, as a score of the class that its label names: its log-odds of being
/// right minus their mean, times the leaf weight. How much one more classifier counts at all is left to the votes.
pub(super) fn contrasts(counts: &LeafCounts, leaf_weights: &[f64]) -> ScoreTable {
    let (s, l) = (counts.n_labels, counts.n_classes());
    let n = counts.n_leaves();
    let [correct, answered] = [LeafCounts::correct, LeafCounts::n_answered]
        .map(|of| (0..n).map(|leaf| of(counts, leaf)).collect::<Vec<f64>>());
    let [all_correct, all] = [&correct, &answered].map(|rows| rows.iter().sum::<f64>());
    let panel = (all_correct + 1.0) / (all + 2.0);
    let log_odds = |leaf: usize| {
        let right = correct[leaf] + VOTE_ROWS * panel;
        let wrong = (answered[leaf] - correct[leaf]).max(0.0) + VOTE_ROWS * (1.0 - panel);
        ln(right / wrong)
    };
    let mean = (0..n).map(log_odds).sum::<f64>() / n.max(1) as f64;
    let mut scores = vec![0.0; counts.confusions.len()];
    for (leaf, weight) in leaf_weights.iter().enumerate() {
        let score = weight * (log_odds(leaf) - mean);
        (0..l.min(s)).for_each(|class| scores[(leaf * s + class) * l + class] = score);
    }
    ScoreTable { n_labels: s, start: vec![0.0; l], scores }
}

/// The most accurate leaf alone, through its likelihoods; several that are equally accurate share its place.
pub(super) fn best_classifier(counts: &LeafCounts, likelihoods: &[f64]) -> ScoreTable {
    let size = counts.n_labels * counts.n_classes();
    let mut scores = vec![0.0; counts.confusions.len()];
    let best = most_accurate(counts);
    for &leaf in &best {
        let of_leaf = leaf * size..(leaf + 1) * size;
        scores[of_leaf.clone()]
            .iter_mut()
            .zip(&likelihoods[of_leaf])
            .for_each(|(to, p)| *to = ln(*p) / best.len() as f64);
    }
    ScoreTable { n_labels: counts.n_labels, start: counts.log_prior(), scores }
}

/// The leaves of the highest accuracy. A leaf counts as an average one where its prediction is missing.
pub(super) fn most_accurate(counts: &LeafCounts) -> Vec<usize> {
    // Sums of weights are this exact.
    const ROUNDING: f64 = 1e-9;
    let n = counts.n_leaves();
    let total: f64 = counts.classes.iter().sum();
    let [correct, answered]: [Vec<f64>; 2] = [
        (0..n).map(|leaf| counts.correct(leaf)).collect(),
        (0..n).map(|leaf| counts.n_answered(leaf)).collect(),
    ];
    let panel = correct.iter().sum::<f64>() / answered.iter().sum::<f64>().max(1.0);
    let accuracy = |leaf: usize| correct[leaf] + (total - answered[leaf]).max(0.0) * panel;
    let best = (0..n).map(accuracy).fold(f64::NEG_INFINITY, f64::max);
    (0..n).filter(|&leaf| accuracy(leaf) >= best - ROUNDING * (1.0 + best)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Row;

    /// Three leaves on ten rows of two classes: right on 9, on 6, and without a prediction.
    fn counts() -> LeafCounts {
        let confusions = [[5.0, 1.0], [0.0, 4.0], [3.0, 2.0], [2.0, 3.0], [0.0; 2], [0.0; 2]].concat();
        LeafCounts { n_labels: 2, classes: vec![5.0, 5.0], confusions }
    }

    #[test]
    fn votes_are_weighted_by_shrunk_accuracies_and_leaf_weights() {
        let table = votes(&counts(), &[1.0, 0.5, 1.0]);
        let panel = (15.0 + 1.0) / (20.0 + 2.0);
        let mut scores = [0.0; 2];
        table.score(Row::Dense(&[0, 1, 0]), &mut scores);
        let first = (9.0 + 5.0 * panel) / 15.0;
        assert!((scores[0] - (first + panel)).abs() < 1e-12, "{scores:?}");
        assert!((scores[1] - 0.5 * (6.0 + 5.0 * panel) / 15.0).abs() < 1e-12, "{scores:?}");
    }

    #[test]
    fn contrasts_are_log_odds_above_the_mean() {
        let table = contrasts(&counts(), &[1.0, 0.5, 1.0]);
        let panel = 16.0 / 22.0;
        let odds = [(9.0, 1.0), (6.0, 4.0), (0.0, 0.0)]
            .map(|(right, wrong)| ln((right + 5.0 * panel) / (wrong + 5.0 * (1.0 - panel))));
        let mean = odds.iter().sum::<f64>() / 3.0;
        let mut scores = [0.0; 2];
        table.score(Row::Dense(&[0, 1, crate::data::MISSING]), &mut scores);
        assert!((scores[0] - (odds[0] - mean)).abs() < 1e-12, "{scores:?}");
        assert!((scores[1] - 0.5 * (odds[1] - mean)).abs() < 1e-12, "{scores:?}");
    }

    #[test]
    fn the_best_classifier_alone_decides_and_equals_share_its_place() {
        let likelihoods = [0.9, 0.2, 0.1, 0.8, 0.6, 0.4, 0.4, 0.6, 0.5, 0.5, 0.5, 0.5];
        let counts = counts();
        assert_eq!(most_accurate(&counts), [0]);
        let table = best_classifier(&counts, &likelihoods);
        assert_eq!(table.scores[..2], [ln(0.9), ln(0.2)]);
        assert!(table.scores[4..].iter().all(|score| *score == 0.0), "{:?}", table.scores);
        let twice = LeafCounts { confusions: counts.confusions[..4].repeat(3), ..counts };
        assert_eq!(most_accurate(&twice), [0, 1, 2]);
        let shared = best_classifier(&twice, &likelihoods[..4].repeat(3));
        assert_eq!(shared.scores[4..6], [ln(0.9) / 3.0, ln(0.2) / 3.0]);
    }
}
