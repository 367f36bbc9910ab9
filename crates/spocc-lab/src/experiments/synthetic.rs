//! The synthetic experiments (paper, section 4.2): four blobs, four classifiers that each miss a quadrant, and more and
//! more adversaries, faults or copies beside them; or classes of unequal size.

use std::{collections::BTreeMap, fmt, str::FromStr};

use ndarray::{Array2, Axis};
use rand::Rng;
use rand_distr::StandardNormal;
use spocc::audit::clopper_pearson;

use crate::{
    contest::Contest,
    draw,
    error::{Error, choose},
    experiments::{Run, Unit, hold_out},
    learners::{Classifier, Learner, Logistic, Neighbours, Svm, Tree},
    panel::{Answers, Corruption},
    results::{Outcome, Results},
    setting::Setting,
};

/// What is varied.
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
/// Points of a dataset.
const N_POINTS: usize = 200;
/// Most classifiers added to the four.
const MOST_ADDED: usize = 10;
/// The paper's half-width of a Clopper-Pearson interval at which testing ends.
const HALF_WIDTH: f64 = 0.002;
const BATCH: usize = 10_000;
/// Even a coin is known so well after 25 batches.
const MOST_BATCHES: u64 = 50;
/// Test rows have ids that no training row has.
const FIRST_TEST_ID: u64 = 1 << 32;
/// Distance of the blobs' centres from the axes.
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

    /// Repetitions, each with the points done together: those that share a dataset.
    fn units(self, reps: u32) -> Vec<Unit> {
        let unit = |rep: u32, points: Vec<f64>| Unit { rep, fold: 0, points: vec![points] };
        let added = || (0..=MOST_ADDED).map(|count| count as f64).collect();
        let balances = || (1..=10).map(|twentieths: u32| f64::from(twentieths) / 20.0);
        match self {
            Self::Imbalance => {
                (0..reps).flat_map(|rep| balances().map(move |balance| unit(rep, vec![balance]))).collect()
            }
            _ => (0..reps).map(|rep| unit(rep, added())).collect(),
        }
    }

    /// Runs the experiment, or what is left of it.
    pub(crate) fn run(self, run: &Run<'_>) -> Result<Results, Error> {
        let heading = run.heading(format!("synthetic-{self}"), N_CLASSES, false);
        let repeat = |unit: &Unit| self.repeat(run, unit).map(|outcomes| vec![outcomes]);
        let mut results = run.complete(vec![heading], &self.units(run.reps), repeat)?;
        Ok(results.remove(0))
    }

    fn repeat(self, run: &Run<'_>, unit: &Unit) -> Result<Vec<Outcome>, Error> {
        let twentieths =
            if self == Self::Imbalance { (unit.points[0][0] * 20.0).round() as usize } else { 10 };
        let path = |purpose: u64| [STREAM, u64::from(unit.rep), twentieths as u64, purpose];
        let sample = Sample::balanced(twentieths, &mut draw::stream(run.seed, &path(TRAINING)));
        let mut draws = draw::stream(run.seed, &path(HOLDING_OUT));
        let panel = Trained::new(Plan::new(run.setting, &sample, &mut draws), &sample, &self.learners());
        // Added classifiers have draws of their own in every repetition, the same in all experiments.
        let add = |answers: &mut Answers| {
            for added in 0..MOST_ADDED as u64 {
                let name = draw::mix(u64::from(unit.rep)) ^ added;
                answers.add_spoiled(0, self.corruption(), run.seed, name);
            }
        };
        let mut validation = panel.validation(&sample);
        add(&mut validation);
        let n_added = |at: f64| if self == Self::Imbalance { 0 } else { at as usize };
        let mut trials = Vec::new();
        for &at in &unit.points[0] {
            let contest = Contest::new(run.setting, &validation, N_SUBSETS + n_added(at))?;
            trials.push(Trial { at, contest, confusion: BTreeMap::new(), log_loss: BTreeMap::new() });
        }
        let (mut right, mut optimal, mut n_rows) = ([0usize; N_SUBSETS], 0, 0);
        for batch in 0..MOST_BATCHES {
            if trials.iter().all(Trial::is_sharp) {
                break;
            }
            let [a, b, c, d] = path(TESTING);
            let test = Sample::drawn(twentieths, BATCH, &mut draw::stream(run.seed, &[a, b, c, d, batch]));
            let first = FIRST_TEST_ID + batch * BATCH as u64;
            let mut answers = panel.answers(&test, first);
            for (right, column) in right.iter_mut().zip(&answers.columns) {
                *right += column.iter().zip(&test.classes).filter(|(answer, class)| answer == class).count();
            }
            optimal += test.n_optimal(twentieths);
            n_rows += BATCH;
            add(&mut answers);
            for trial in trials.iter_mut().filter(|trial| !trial.is_sharp()) {
                // One batch tells a loss well enough, and rows in full are decided slowly.
                if batch == 0 {
                    trial.log_loss = trial.contest.log_loss(&answers)?;
                }
                trial.contest.judge(&answers, &mut trial.confusion)?;
            }
        }
        let share = |right: usize| right as f64 / n_rows as f64;
        let best = right.into_iter().max().unwrap_or(0);
        let references =
            BTreeMap::from([("best-base".to_owned(), share(best)), ("optimal".to_owned(), share(optimal))]);
        let outcome = |trial: Trial| Outcome {
            rep: unit.rep,
            at: trial.at,
            confusion: trial.confusion,
            references: references.clone(),
            log_loss: trial.log_loss,
            ..Outcome::default()
        };
        Ok(trials.into_iter().map(outcome).collect())
    }
}

/// The dataset of the first repetition, for pictures of it.
pub(crate) fn sample_points(seed: u64) -> Vec<(f64, f64, u16)> {
    let sample = Sample::balanced(10, &mut draw::stream(seed, &[STREAM, 0, 10, TRAINING]));
    let point = |(row, &class): (ndarray::ArrayView1<'_, f64>, &u16)| (row[0], row[1], class);
    sample.rows.outer_iter().zip(&sample.classes).map(point).collect()
}

/// Whether one of the four subsets, each of which misses a quadrant, has a point.
pub(crate) fn is_in(subset: usize, x: f64, y: f64) -> bool {
    match subset {
        0 => x < 0.0 || y >= 0.0,
        1 => x >= 0.0 || y >= 0.0,
        2 => x >= 0.0 || y < 0.0,
        _ => x < 0.0 || y < 0.0,
    }
}

/// Every method at one point of the experiment, and what it decided so far.
struct Trial {
    at: f64,
    contest: Contest,
    confusion: BTreeMap<String, Vec<u64>>,
    log_loss: BTreeMap<String, f64>,
}

impl Trial {
    /// Whether the accuracy of every method is known well enough.
    fn is_sharp(&self) -> bool {
        let is_sharp = |counts: &Vec<u64>| {
            let right = counts[0] + counts[3];
            let [low, high] = clopper_pearson(right as f64, counts.iter().sum::<u64>() as f64);
            high - low <= 2.0 * HALF_WIDTH
        };
        !self.confusion.is_empty() && self.confusion.values().all(is_sharp)
    }
}

/// Points of the plane with their classes.
struct Sample {
    rows: Array2<f64>,
    classes: Vec<u16>,
}

impl Sample {
    /// A training set: the same number of points from both blobs of a class, `twentieths` of all from the first class.
    fn balanced(twentieths: usize, draws: &mut impl Rng) -> Self {
        let first = N_POINTS * twentieths / 20 / 2;
        let second = N_POINTS * (20 - twentieths) / 20 / 2;
        let blobs = [(0, false, first), (0, true, first), (1, false, second), (1, true, second)];
        let of = |(class, other, n): (u16, bool, usize)| std::iter::repeat_n((class, other), n);
        Self::of(blobs.into_iter().flat_map(of), draws)
    }

    /// Points drawn one by one.
    fn drawn(twentieths: usize, n: usize, draws: &mut impl Rng) -> Self {
        let blobs: Vec<(u16, bool)> = (0..n)
            .map(|_| (u16::from(draws.random_range(0..20) >= twentieths), draws.random::<bool>()))
            .collect();
        Self::of(blobs.into_iter(), draws)
    }

    fn of(blobs: impl Iterator<Item = (u16, bool)>, draws: &mut impl Rng) -> Self {
        let (mut values, mut classes) = (Vec::new(), Vec::new());
        for (class, other) in blobs {
            // The first class lies where both coordinates have one sign.
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

    /// On how many points the best of all rules is right, which knows the blobs and the balance.
    fn n_optimal(&self, twentieths: usize) -> usize {
        let share = twentieths as f64 / 20.0;
        let is_right = |(point, &class): (ndarray::ArrayView1<'_, f64>, &u16)| {
            // The densities of both classes without what they have in common.
            let first = share * (CENTRE * (point[0] + point[1])).cosh();
            let second = (1.0 - share) * (CENTRE * (point[0] - point[1])).cosh();
            (second > first) == (class == 1)
        };
        self.rows.outer_iter().zip(&self.classes).filter(|pair| is_right((pair.0.view(), pair.1))).count()
    }
}

/// Which rows of the dataset serve for what.
struct Plan {
    /// What each classifier learns from while the combination is learned.
    training: Vec<Vec<usize>>,
    /// What it learns from again afterwards, if it does.
    retraining: Option<Vec<Vec<usize>>>,
    /// What the combination is learned from; rows may repeat.
    validation: Vec<usize>,
}

impl Plan {
    fn new(setting: Setting, sample: &Sample, draws: &mut impl Rng) -> Self {
        let all: Vec<usize> = (0..sample.classes.len()).collect();
        let is_in = |subset: usize, row: usize| is_in(subset, sample.rows[[row, 0]], sample.rows[[row, 1]]);
        let subsets = |rows: &[usize]| -> Vec<Vec<usize>> {
            let of = |subset| rows.iter().copied().filter(|&row| is_in(subset, row)).collect();
            (0..N_SUBSETS).map(of).collect()
        };
        let mut hold_out = |rows: &[usize]| hold_out(rows, &sample.classes, N_CLASSES, draws);
        match setting {
            Setting::Honest => {
                let (validation, left) = hold_out(&all);
                Self { training: subsets(&left), retraining: None, validation }
            }
            Setting::Authors => {
                let parts = subsets(&all);
                let (held, training): (Vec<_>, Vec<_>) = parts.iter().map(|part| hold_out(part)).unzip();
                Self { training, retraining: Some(parts), validation: held.concat() }
            }
        }
    }
}

/// Four classifiers, each trained on its subset.
struct Trained {
    /// As the combination is learned with.
    judged: Vec<Box<dyn Classifier>>,
    /// As they are used afterwards; none if they stay as they are.
    retrained: Option<Vec<Box<dyn Classifier>>>,
    /// Rows of the dataset that the combination is learned on.
    validation: Vec<usize>,
}

impl Trained {
    fn new(plan: Plan, sample: &Sample, learners: &[Box<dyn Learner>; N_SUBSETS]) -> Self {
        let fit_all = |parts: &[Vec<usize>]| {
            let parts = parts.iter().map(|rows| sample.select(rows));
            let pairs = learners.iter().zip(parts);
            pairs.map(|(learner, part)| learner.fit(part.rows.view(), &part.classes, N_CLASSES)).collect()
        };
        Self {
            judged: fit_all(&plan.training),
            retrained: plan.retraining.as_deref().map(fit_all),
            validation: plan.validation,
        }
    }

    /// What the combination is learned from.
    fn validation(&self, sample: &Sample) -> Answers {
        let ids = self.validation.iter().map(|&row| row as u64).collect();
        ask(&self.judged, &sample.select(&self.validation), ids)
    }

    /// What the classifiers say of new points.
    fn answers(&self, test: &Sample, first_id: u64) -> Answers {
        let ids = (first_id..).take(test.classes.len()).collect();
        ask(self.retrained.as_ref().unwrap_or(&self.judged), test, ids)
    }
}

fn ask(classifiers: &[Box<dyn Classifier>], sample: &Sample, ids: Vec<u64>) -> Answers {
    let columns = classifiers.iter().map(|classifier| classifier.predict(sample.rows.view())).collect();
    Answers { n_classes: N_CLASSES, truth: sample.classes.clone(), ids, columns }
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
    fn the_best_rule_is_as_good_as_the_paper_says() {
        let sample = Sample::drawn(10, 200_000, &mut draw::stream(1, &[1]));
        let share = sample.n_optimal(10) as f64 / 200_000.0;
        // Phi(1.5)^2 + (1 - Phi(1.5))^2
        assert!((share - 0.8753).abs() < 0.003, "{share}");
    }

    #[test]
    fn blobs_have_the_size_the_balance_gives_them() {
        for (twentieths, first) in [(1, 10), (7, 70), (10, 100)] {
            let sample = Sample::balanced(twentieths, &mut draw::stream(1, &[1]));
            assert_eq!(sample.classes.iter().filter(|class| **class == 0).count(), first);
            assert_eq!(sample.classes.len(), N_POINTS);
        }
    }

    #[test]
    fn honest_validation_is_in_nobodys_training_and_nobody_learns_again() {
        let sample = Sample::balanced(10, &mut draw::stream(1, &[1]));
        let plan = Plan::new(Setting::Honest, &sample, &mut draw::stream(1, &[2]));
        assert_eq!(plan.validation.len(), 40);
        assert!(plan.training.concat().iter().all(|row| !plan.validation.contains(row)));
        assert!(plan.retraining.is_none());
    }

    #[test]
    fn the_authors_validation_repeats_overlaps_with_training_and_is_learned_in_the_end() {
        let sample = Sample::balanced(10, &mut draw::stream(1, &[1]));
        let plan = Plan::new(Setting::Authors, &sample, &mut draw::stream(1, &[2]));
        let n = plan.validation.len();
        assert!((105..130).contains(&n), "{n}");
        let distinct: std::collections::BTreeSet<usize> = plan.validation.iter().copied().collect();
        assert!(distinct.len() < n);
        for (training, whole) in plan.training.iter().zip(plan.retraining.expect("they learn again")) {
            assert!(distinct.iter().any(|row| training.contains(row)));
            assert!(training.iter().all(|row| whole.contains(row)) && training.len() < whole.len());
        }
    }

    #[test]
    fn every_quadrant_is_missed_by_one_subset() {
        for (x, y) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            assert_eq!((0..N_SUBSETS).filter(|&subset| !is_in(subset, x, y)).count(), 1);
        }
    }
}
