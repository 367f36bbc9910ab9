//! The synthetic experiments (paper, section 4.2): four Gaussian clusters, four classifiers each trained without one
//! quadrant, and a growing number of adversaries, noisy classifiers or copies; or classes of unequal size.

use std::{collections::BTreeMap, fmt, str::FromStr};

use ndarray::{Array2, Axis};
use rand::Rng;
use rand_distr::StandardNormal;
use spocc::audit::clopper_pearson;

use crate::{
    error::{Error, choose},
    evaluation::FittedMethods,
    experiments::{ExperimentSettings, Unit, hold_out},
    learners::{Classifier, Learner, Logistic, Neighbours, Svm, Tree},
    panel::{Corruption, PanelPredictions},
    protocol::Protocol,
    random,
    results::{Results, RunOutcome},
};

/// The experiments, by what is varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Synthetic {
    /// Adversaries built on the first classifier.
    Adversaries,
    /// Noisy versions of the first classifier.
    Faults,
    /// Copies of the first classifier.
    Redundancy,
    /// Copies of the first of four classifiers of different kinds.
    Heterogeneous,
    /// The share of the first class.
    Imbalance,
}

const N_CLASSES: usize = 2;
const N_SUBSETS: usize = 4;
/// Points of a training set.
const N_POINTS: usize = 200;
/// The largest number of classifiers added to the four.
const MAX_ADDED: usize = 10;
/// Test batches are drawn until the 95 % Clopper-Pearson interval has this half-width, as in the paper.
const HALF_WIDTH: f64 = 0.002;
const BATCH: usize = 10_000;
/// Accuracy 1/2, the worst case, reaches the half-width after 25 batches.
const MAX_BATCHES: u64 = 50;
/// Ids of test rows, distinct from those of training rows.
const FIRST_TEST_ID: u64 = 1 << 32;
/// Distance of the cluster centres from the axes.
const CENTRE: f64 = 1.5;

/// Purposes of random draws.
const STREAM: u64 = 0x5701;
const TRAINING: u64 = 1;
const HOLDING_OUT: u64 = 2;
const TESTING: u64 = 3;

impl Synthetic {
    pub(crate) const ALL: [Self; 5] =
        [Self::Adversaries, Self::Faults, Self::Redundancy, Self::Heterogeneous, Self::Imbalance];

    fn corruption(self) -> Corruption {
        match self {
            Self::Adversaries => Corruption::Adversary(0.5),
            Self::Faults => Corruption::Noisy(0.9),
            Self::Redundancy | Self::Heterogeneous | Self::Imbalance => Corruption::Copy,
        }
    }

    /// The learner of each subset.
    fn learners(self) -> [Box<dyn Learner>; N_SUBSETS] {
        let tree = || Box::new(Tree { max_depth: 2 });
        if self == Self::Heterogeneous {
            let svm = Svm { gamma: 2.0, strength: 1.0 };
            return [
                Box::new(Logistic { strength: 1.0 }),
                Box::new(Neighbours { k: 5 }),
                Box::new(svm),
                tree(),
            ];
        }
        [tree(), tree(), tree(), tree()]
    }

    /// Units of work: the points of a repetition that share a dataset.
    fn units(self, reps: u32) -> Vec<Unit> {
        let unit = |rep: u32, points: Vec<f64>| Unit { rep, fold: 0, points: vec![points] };
        let added = || (0..=MAX_ADDED).map(|count| count as f64).collect();
        let balances = || (1..=10).map(|twentieths: u32| f64::from(twentieths) / 20.0);
        match self {
            Self::Imbalance => {
                (0..reps).flat_map(|rep| balances().map(move |balance| unit(rep, vec![balance]))).collect()
            }
            _ => (0..reps).map(|rep| unit(rep, added())).collect(),
        }
    }

    /// Runs the missing repetitions of the experiment.
    pub(crate) fn run(self, run: &ExperimentSettings<'_>) -> Result<Results, Error> {
        let header = run.header(format!("synthetic-{self}"), N_CLASSES, false);
        let repeat = |unit: &Unit| self.repeat(run, unit).map(|outcomes| vec![outcomes]);
        let mut results = run.complete(vec![header], &self.units(run.reps), repeat)?;
        Ok(results.remove(0))
    }

    fn repeat(self, run: &ExperimentSettings<'_>, unit: &Unit) -> Result<Vec<RunOutcome>, Error> {
        let twentieths =
            if self == Self::Imbalance { (unit.points[0][0] * 20.0).round() as usize } else { 10 };
        let path = |purpose: u64| [STREAM, u64::from(unit.rep), twentieths as u64, purpose];
        let sample = Sample::balanced(twentieths, &mut random::stream(run.seed, &path(TRAINING)));
        let mut draws = random::stream(run.seed, &path(HOLDING_OUT));
        let panel =
            TrainedPanel::new(RowSplit::new(run.protocol, &sample, &mut draws), &sample, &self.learners());
        // The streams of added classifiers depend on the repetition and not on the experiment.
        let add = |panel: &mut PanelPredictions| {
            for added in 0..MAX_ADDED as u64 {
                let stream = random::mix(u64::from(unit.rep)) ^ added;
                panel.add_corrupted(0, self.corruption(), run.seed, stream);
            }
        };
        let mut validation = panel.validation(&sample);
        add(&mut validation);
        let n_added = |at: f64| if self == Self::Imbalance { 0 } else { at as usize };
        let mut trials = Vec::new();
        for &at in &unit.points[0] {
            let methods = FittedMethods::new(run.protocol, &validation, N_SUBSETS + n_added(at))?;
            trials.push(PointTrial { at, methods, confusion: BTreeMap::new(), log_loss: BTreeMap::new() });
        }
        let (mut correct, mut optimal, mut n_rows) = ([0usize; N_SUBSETS], 0, 0);
        for batch in 0..MAX_BATCHES {
            if trials.iter().all(PointTrial::is_precise) {
                break;
            }
            let [a, b, c, d] = path(TESTING);
            let test = Sample::drawn(twentieths, BATCH, &mut random::stream(run.seed, &[a, b, c, d, batch]));
            let first = FIRST_TEST_ID + batch * BATCH as u64;
            let mut tested = panel.predictions(&test, first);
            for (correct, column) in correct.iter_mut().zip(&tested.columns) {
                *correct += column.iter().zip(&test.classes).filter(|(j, class)| j == class).count();
            }
            optimal += test.n_correct_optimally(twentieths);
            n_rows += BATCH;
            add(&mut tested);
            for trial in trials.iter_mut().filter(|trial| !trial.is_precise()) {
                // One batch is enough for a mean loss, and probabilities are slow to compute.
                if batch == 0 {
                    trial.log_loss = trial.methods.log_loss(&tested)?;
                }
                trial.methods.count_confusion(&tested, &mut trial.confusion)?;
            }
        }
        let share = |correct: usize| correct as f64 / n_rows as f64;
        let best = correct.into_iter().max().unwrap_or(0);
        let references =
            BTreeMap::from([("best-base".to_owned(), share(best)), ("optimal".to_owned(), share(optimal))]);
        let outcome = |trial: PointTrial| RunOutcome {
            rep: unit.rep,
            at: trial.at,
            confusion: trial.confusion,
            references: references.clone(),
            log_loss: trial.log_loss,
            ..RunOutcome::default()
        };
        Ok(trials.into_iter().map(outcome).collect())
    }
}

/// The training set of the first repetition, for pictures.
pub(crate) fn sample_points(seed: u64) -> Vec<(f64, f64, u16)> {
    let sample = Sample::balanced(10, &mut random::stream(seed, &[STREAM, 0, 10, TRAINING]));
    let point = |(row, &class): (ndarray::ArrayView1<'_, f64>, &u16)| (row[0], row[1], class);
    sample.rows.outer_iter().zip(&sample.classes).map(point).collect()
}

/// Whether one of the four subsets, each without one quadrant, contains a point.
pub(crate) fn is_in(subset: usize, x: f64, y: f64) -> bool {
    match subset {
        0 => x < 0.0 || y >= 0.0,
        1 => x >= 0.0 || y >= 0.0,
        2 => x >= 0.0 || y < 0.0,
        _ => x < 0.0 || y < 0.0,
    }
}

/// The fitted methods at one point of the experiment, and their confusion counts so far.
struct PointTrial {
    at: f64,
    methods: FittedMethods,
    confusion: BTreeMap<String, Vec<u64>>,
    log_loss: BTreeMap<String, f64>,
}

impl PointTrial {
    /// Whether the accuracy of every method is known to the required precision.
    fn is_precise(&self) -> bool {
        let is_precise = |counts: &Vec<u64>| {
            let correct = counts[0] + counts[3];
            let [low, high] = clopper_pearson(correct as f64, counts.iter().sum::<u64>() as f64);
            high - low <= 2.0 * HALF_WIDTH
        };
        !self.confusion.is_empty() && self.confusion.values().all(is_precise)
    }
}

/// Points of the plane with their classes.
struct Sample {
    rows: Array2<f64>,
    classes: Vec<u16>,
}

impl Sample {
    /// A training set: equally many points from both clusters of a class, `twentieths` / 20 of all from the first class.
    fn balanced(twentieths: usize, draws: &mut impl Rng) -> Self {
        let first = N_POINTS * twentieths / 20 / 2;
        let second = N_POINTS * (20 - twentieths) / 20 / 2;
        let clusters = [(0, false, first), (0, true, first), (1, false, second), (1, true, second)];
        let of = |(class, other, n): (u16, bool, usize)| std::iter::repeat_n((class, other), n);
        Self::of(clusters.into_iter().flat_map(of), draws)
    }

    /// Points whose clusters are drawn at random.
    fn drawn(twentieths: usize, n: usize, draws: &mut impl Rng) -> Self {
        let clusters: Vec<(u16, bool)> = (0..n)
            .map(|_| (u16::from(draws.random_range(0..20) >= twentieths), draws.random::<bool>()))
            .collect();
        Self::of(clusters.into_iter(), draws)
    }

    fn of(clusters: impl Iterator<Item = (u16, bool)>, draws: &mut impl Rng) -> Self {
        let (mut values, mut classes) = (Vec::new(), Vec::new());
        for (class, other) in clusters {
            // The clusters of the first class have coordinates of equal sign.
            let x = if other { CENTRE } else { -CENTRE };
            let y = if class == 0 { x } else { -x };
            values.push(x + draws.sample::<f64, _>(StandardNormal));
            values.push(y + draws.sample::<f64, _>(StandardNormal));
            classes.push(class);
        }
        let rows = Array2::from_shape_vec((classes.len(), 2), values).expect("two coordinates a point");
        Self { rows, classes }
    }

    fn select(&self, rows: &[usize]) -> Self {
        Self {
            rows: self.rows.select(Axis(0), rows),
            classes: rows.iter().map(|&row| self.classes[row]).collect(),
        }
    }

    /// The number of points that the Bayes-optimal rule classifies correctly.
    fn n_correct_optimally(&self, twentieths: usize) -> usize {
        let share = twentieths as f64 / 20.0;
        let is_correct = |(point, &class): (ndarray::ArrayView1<'_, f64>, &u16)| {
            // The densities of both classes without their common factor.
            let first = share * (CENTRE * (point[0] + point[1])).cosh();
            let second = (1.0 - share) * (CENTRE * (point[0] - point[1])).cosh();
            (second > first) == (class == 1)
        };
        self.rows.outer_iter().zip(&self.classes).filter(|pair| is_correct((pair.0.view(), pair.1))).count()
    }
}

/// The rows used for training and for validation.
struct RowSplit {
    /// Training rows of each classifier while the methods are fitted.
    training: Vec<Vec<usize>>,
    /// Training rows of each classifier afterwards, if it is retrained.
    retraining: Option<Vec<Vec<usize>>>,
    /// Rows that the methods are fitted to; rows may repeat.
    validation: Vec<usize>,
}

impl RowSplit {
    fn new(protocol: Protocol, sample: &Sample, draws: &mut impl Rng) -> Self {
        let all: Vec<usize> = (0..sample.classes.len()).collect();
        let is_in = |subset: usize, row: usize| is_in(subset, sample.rows[[row, 0]], sample.rows[[row, 1]]);
        let subsets = |rows: &[usize]| -> Vec<Vec<usize>> {
            let of = |subset| rows.iter().copied().filter(|&row| is_in(subset, row)).collect();
            (0..N_SUBSETS).map(of).collect()
        };
        let mut hold_out = |rows: &[usize]| hold_out(rows, &sample.classes, N_CLASSES, draws);
        match protocol {
            Protocol::Honest => {
                let (validation, rest) = hold_out(&all);
                Self { training: subsets(&rest), retraining: None, validation }
            }
            Protocol::Authors => {
                let parts = subsets(&all);
                let (held_out, training): (Vec<_>, Vec<_>) = parts.iter().map(|part| hold_out(part)).unzip();
                Self { training, retraining: Some(parts), validation: held_out.concat() }
            }
        }
    }
}

/// Four classifiers, each trained on its subset.
struct TrainedPanel {
    /// The classifiers that the methods are fitted to.
    validated: Vec<Box<dyn Classifier>>,
    /// The classifiers used on test rows, if they are retrained.
    retrained: Option<Vec<Box<dyn Classifier>>>,
    /// Rows that the methods are fitted to.
    validation: Vec<usize>,
}

impl TrainedPanel {
    fn new(plan: RowSplit, sample: &Sample, learners: &[Box<dyn Learner>; N_SUBSETS]) -> Self {
        let fit_all = |parts: &[Vec<usize>]| {
            let parts = parts.iter().map(|rows| sample.select(rows));
            let pairs = learners.iter().zip(parts);
            pairs.map(|(learner, part)| learner.fit(part.rows.view(), &part.classes, N_CLASSES)).collect()
        };
        Self {
            validated: fit_all(&plan.training),
            retrained: plan.retraining.as_deref().map(fit_all),
            validation: plan.validation,
        }
    }

    /// Predictions on the validation rows.
    fn validation(&self, sample: &Sample) -> PanelPredictions {
        let ids = self.validation.iter().map(|&row| row as u64).collect();
        predict(&self.validated, &sample.select(&self.validation), ids)
    }

    /// Predictions on new points.
    fn predictions(&self, test: &Sample, first_id: u64) -> PanelPredictions {
        let ids = (first_id..).take(test.classes.len()).collect();
        predict(self.retrained.as_ref().unwrap_or(&self.validated), test, ids)
    }
}

fn predict(classifiers: &[Box<dyn Classifier>], sample: &Sample, ids: Vec<u64>) -> PanelPredictions {
    let columns = classifiers.iter().map(|classifier| classifier.predict(sample.rows.view())).collect();
    PanelPredictions { n_classes: N_CLASSES, truth: sample.classes.clone(), ids, columns }
}

impl fmt::Display for Synthetic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Adversaries => "adversaries",
            Self::Faults => "faults",
            Self::Redundancy => "redundancy",
            Self::Heterogeneous => "heterogeneous",
            Self::Imbalance => "imbalance",
        })
    }
}

impl FromStr for Synthetic {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        let names = Self::ALL.map(|experiment| experiment.to_string());
        choose("experiment", &names, word).map(|at| Self::ALL[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_optimal_rule_has_the_accuracy_of_the_paper() {
        let sample = Sample::drawn(10, 200_000, &mut random::stream(1, &[1]));
        let share = sample.n_correct_optimally(10) as f64 / 200_000.0;
        // Phi(1.5)^2 + (1 - Phi(1.5))^2
        assert!((share - 0.8753).abs() < 0.003, "{share}");
    }

    #[test]
    fn clusters_have_the_sizes_given_by_the_balance() {
        for (twentieths, first) in [(1, 10), (7, 70), (10, 100)] {
            let sample = Sample::balanced(twentieths, &mut random::stream(1, &[1]));
            assert_eq!(sample.classes.iter().filter(|class| **class == 0).count(), first);
            assert_eq!(sample.classes.len(), N_POINTS);
        }
    }

    #[test]
    fn honest_validation_rows_are_in_no_training_set_and_no_classifier_is_retrained() {
        let sample = Sample::balanced(10, &mut random::stream(1, &[1]));
        let plan = RowSplit::new(Protocol::Honest, &sample, &mut random::stream(1, &[2]));
        assert_eq!(plan.validation.len(), 40);
        assert!(plan.training.concat().iter().all(|row| !plan.validation.contains(row)));
        assert!(plan.retraining.is_none());
    }

    #[test]
    fn the_authors_validation_rows_repeat_overlap_with_training_and_are_used_in_retraining() {
        let sample = Sample::balanced(10, &mut random::stream(1, &[1]));
        let plan = RowSplit::new(Protocol::Authors, &sample, &mut random::stream(1, &[2]));
        let n = plan.validation.len();
        assert!((105..130).contains(&n), "{n}");
        let distinct: std::collections::BTreeSet<usize> = plan.validation.iter().copied().collect();
        assert!(distinct.len() < n);
        for (training, whole) in plan.training.iter().zip(plan.retraining.expect("retrained")) {
            assert!(distinct.iter().any(|row| training.contains(row)));
            assert!(training.iter().all(|row| whole.contains(row)) && training.len() < whole.len());
        }
    }

    #[test]
    fn each_subset_lacks_a_quadrant_of_its_own() {
        let corners = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
        let absent = |subset: usize| -> Vec<usize> {
            (0..4).filter(|&corner| !is_in(subset, corners[corner].0, corners[corner].1)).collect()
        };
        assert_eq!([0, 1, 2, 3].map(absent), [[3], [2], [1], [0]]);
    }
}
