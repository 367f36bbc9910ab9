//! The verdict on a classifier, and the figures that it is based on.

use serde::Serialize;

use crate::{
    audit::{
        ClassifierAudit, MIN_ROWS, clopper_pearson,
        statistics::{g_test, interval, pearson_p_value},
    },
    dependence::mutual_information,
    evidence::Evidence,
};

/// Level of significance of the tests that a classifier is informative.
pub(super) const SIGNIFICANT: f64 = 0.01;
/// The accuracy of a guesser is below chance plus this share of the distance from chance to 1.
pub(super) const BARELY_BETTER: f64 = 0.2;

/// The verdict on a classifier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", content = "original", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verdict {
    /// Its predictions are informative.
    Useful,
    /// There are enough rows to show that its predictions have hardly any information.
    Guesser,
    /// There are too few rows for a verdict.
    Unproven,
    /// It is correct less often than by chance; after relabelling its predictions are useful.
    Adversary,
    /// It always predicts the same label.
    Constant,
    /// It repeats this classifier, the most accurate of its group, perhaps with renamed labels.
    CopyOf(String),
    /// It has no predictions.
    NoPredictions,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Useful => out.pad("useful"),
            Self::Guesser => out.pad("guesser"),
            Self::Unproven => out.pad("unproven"),
            Self::Adversary => out.pad("adversary"),
            Self::Constant => out.pad("constant"),
            Self::CopyOf(name) => out.pad(&format!("copy of {}", crate::printable(name))),
            Self::NoPredictions => out.pad("no predictions"),
        }
    }
}

/// All figures of one classifier, without verdict and influence.
pub(super) fn figures(evidence: &Evidence, k: usize) -> ClassifierAudit {
    let (answered, correct) = (evidence.answered(k), evidence.correct(k));
    let share = |count: u64, of: u64| if of == 0 { 0.0 } else { count as f64 / of as f64 };
    let s = evidence.n_labels();
    // Mutual information is computed from a square table.
    let mut square = vec![0; s * s];
    for cell in evidence.confusion(k) {
        square[usize::from(cell.predicted) * s + usize::from(cell.truth)] = cell.count;
    }
    let information = if answered == 0 { 0.0 } else { mutual_information(&square, s, answered) };
    let (g_statistic, degrees_of_freedom, p_value) = g_test(evidence, k, information);
    ClassifierAudit {
        name: evidence.classifiers()[k].clone(),
        verdict: Verdict::Unproven,
        accuracy: share(correct, answered),
        interval: clopper_pearson(evidence.rows_of(correct), evidence.rows_of(answered)),
        relabelled_accuracy: share(relabelled_correct(evidence, k), answered),
        coverage: share(answered, evidence.total()),
        information: information / std::f64::consts::LN_2,
        g_statistic,
        degrees_of_freedom,
        p_value,
        influence: None,
    }
}

/// Correct rows after each label is replaced by the class that is most often true with it, where that is significantly not
/// the class of the same name.
fn relabelled_correct(evidence: &Evidence, k: usize) -> u64 {
    /// One-sided level of the sign test of two classes.
    const LEVEL: f64 = 0.05;
    let correct = |j: u16| {
        let own = evidence.confusions().get(k, j, j);
        let most = most_frequent(evidence, k, j);
        let (more, all) = (evidence.rows_of(most), evidence.rows_of(most) + evidence.rows_of(own));
        if most > own && interval(more, all, LEVEL)[0] > 0.5 { most } else { own }
    };
    (0..evidence.n_labels() as u16).map(correct).sum()
}

/// The largest count of one class among the rows of a prediction.
fn most_frequent(evidence: &Evidence, k: usize, j: u16) -> u64 {
    evidence.confusions().of_prediction(k, j).iter().map(|cell| cell.count).max().unwrap_or(0)
}

/// Whether a classifier predicted a single label, on enough rows of several classes.
pub(super) fn is_constant(evidence: &Evidence, k: usize) -> bool {
    let [n_labels, truths] = evidence.n_occurring(k);
    n_labels == 1 && truths > 1 && evidence.rows_of(evidence.answered(k)) >= MIN_ROWS
}

/// The verdict on a classifier that is not a copy.
pub(super) fn verdict(evidence: &Evidence, k: usize, figures: &ClassifierAudit) -> Verdict {
    let counts = evidence.predicted_counts(k);
    let answered = evidence.answered(k);
    if answered == 0 {
        return Verdict::NoPredictions;
    }
    if is_constant(evidence, k) {
        return Verdict::Constant;
    }
    // The accuracy of the same predictions, independent of the truth.
    let total = evidence.total() as f64;
    let by_chance = |i: usize| counts[i] as f64 / answered as f64 * evidence.class_counts()[i] as f64 / total;
    let chance: f64 = (0..evidence.n_classes()).map(by_chance).sum();
    let [_, high] = figures.interval;
    // The best relabelling is hardly better than always predicting the most frequent class.
    let frequent = evidence.class_counts().iter().max().map_or(0.0, |&count| count as f64 / total);
    let n_predictions = evidence.rows_of(answered);
    let best_relabelled: u64 = (0..evidence.n_labels() as u16).map(|j| most_frequent(evidence, k, j)).sum();
    let relabelled_high = clopper_pearson(evidence.rows_of(best_relabelled), n_predictions)[1];
    let is_barely_better = |high: f64, base: f64| high < base + BARELY_BETTER * (1.0 - base);
    let is_guesser = is_barely_better(high, chance) && is_barely_better(relabelled_high, frequent);
    match pearson_p_value(evidence, k, figures.degrees_of_freedom) < SIGNIFICANT {
        true if high < chance => Verdict::Adversary,
        true => Verdict::Useful,
        false if interval(figures.accuracy * n_predictions, n_predictions, SIGNIFICANT / 2.0)[0] > chance => {
            Verdict::Useful
        }
        false if is_guesser => Verdict::Guesser,
        false => Verdict::Unproven,
    }
}
