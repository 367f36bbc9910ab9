//! Simulated results for tests: computed by formula, with the shape of real ones.

use std::collections::BTreeMap;

use crate::{
    coverage::{COVERAGES, SetCounts},
    random,
    results::{Results, ResultsHeader, RunOutcome},
};

/// Accuracy at difficulty 0, loss per doubling of the difficulty, spread between runs; in percent.
const METHODS: [(&str, f64, f64, f64); 10] = [
    ("spocc", 84.0, 0.3, 4.0),
    ("adaspocc", 84.6, 0.1, 3.5),
    ("selection", 69.6, 0.0, 8.0),
    ("majority", 82.0, 3.5, 4.5),
    ("weighted-vote", 82.5, 2.5, 4.0),
    ("exp-vote", 84.2, 0.6, 4.0),
    ("naive-bayes", 85.0, 1.2, 2.5),
    ("bayes", 83.0, 4.0, 9.0),
    ("stacking", 83.5, 0.5, 5.0),
    ("ladder", 85.3, 0.1, 3.0),
];

/// An experiment with outcomes at every point, and in two folds unless it is synthetic.
pub(crate) fn experiment(name: &str, n_classes: usize, points: &[f64], repetitions: u32) -> Results {
    let is_synthetic = name.starts_with("synthetic");
    let name_hash = name.bytes().fold(0, |hash, byte| random::mix(hash ^ u64::from(byte)));
    let folds = if is_synthetic { 1 } else { 2 };
    let mut outcomes = Vec::new();
    for &at in points {
        for (rep, fold) in (0..repetitions).flat_map(|rep| (0..folds).map(move |fold| (rep, fold))) {
            let path = [name_hash, at.to_bits(), u64::from(rep), u64::from(fold)];
            outcomes.push(outcome(&path, rep, fold, at, n_classes, is_synthetic));
        }
    }
    Results { header: header(name, n_classes), outcomes }
}

fn header(name: &str, n_classes: usize) -> ResultsHeader {
    ResultsHeader {
        lab: 1,
        experiment: name.into(),
        protocol: "authors".into(),
        seed: 7,
        version: "0.1.0".into(),
        classes: n_classes,
        is_subset: false,
        data: String::new(),
        rows: None,
    }
}

fn outcome(path: &[u64], rep: u32, fold: u32, at: f64, n_classes: usize, is_synthetic: bool) -> RunOutcome {
    let noise = |purpose: u64| {
        let path: Vec<u64> = path.iter().copied().chain([purpose]).collect();
        // The sum of four uniform draws is nearly normal, with standard deviation 0.577.
        (0..4).map(|i| random::uniform(7, &[path.as_slice(), &[i]].concat()) - 0.5).sum::<f64>() / 0.577
    };
    let hardness = (1.0 + n_classes as f64).log2() * 2.0 - 3.0;
    let shared = noise(99);
    let accuracy = |place: usize| {
        let (_, start, loss, spread) = METHODS[place];
        let own = noise(place as u64);
        let value = start - hardness - loss * (1.0 + at).log2() + spread * (0.6 * own + 0.6 * shared);
        (value / 100.0).clamp(0.05, 0.97)
    };
    let confusion = (0..METHODS.len())
        .map(|place| (METHODS[place].0.to_owned(), matrix(accuracy(place), n_classes, place)))
        .collect();
    let other = if is_synthetic { ("optimal", 0.8753) } else { ("centralised", 0.9 + 0.005 * shared) };
    let references = [("best-base", 0.80 + 0.03 * shared), other];
    let references: BTreeMap<String, f64> =
        references.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let outcome = RunOutcome { rep, fold, at, confusion, references, ..RunOutcome::default() };
    if is_synthetic { outcome } else { with_probabilities(outcome, n_classes) }
}

/// Adds losses, times and sets that are functions of the accuracies.
fn with_probabilities(outcome: RunOutcome, n_classes: usize) -> RunOutcome {
    let of = |names: &[&str], figure: &dyn Fn(f64) -> f64| {
        let accuracy = |name: &str| outcome.accuracy(name).expect("every method has one");
        names.iter().map(|name| ((*name).to_owned(), figure(accuracy(name)))).collect()
    };
    let rows = 1000 * n_classes as u64;
    let counts = |coverage: f64| {
        let covered = (coverage * rows as f64) as u64;
        (coverage.to_string(), SetCounts::from([rows, covered, rows + covered / 4]))
    };
    let by_coverage: BTreeMap<String, SetCounts> = COVERAGES.map(counts).into();
    let sets = ["ladder", "stacking", "adaspocc"].map(|name| (name.to_owned(), by_coverage.clone()));
    RunOutcome {
        log_loss: of(&["naive-bayes", "bayes", "stacking", "ladder"], &|accuracy| 1.5 * (1.0 - accuracy)),
        fit_seconds: of(&["stacking", "ladder"], &|accuracy| accuracy / 10.0),
        sets: sets.into(),
        ..outcome
    }
}

/// Confusion counts: a thousand rows per class; errors prefer nearby classes.
fn matrix(accuracy: f64, n_classes: usize, place: usize) -> Vec<u64> {
    let mut counts = Vec::with_capacity(n_classes * n_classes);
    for truth in 0..n_classes {
        let weight = |decided: usize| {
            let apart = truth.abs_diff(decided) + (truth * 3 + decided * 5 + place) % 4;
            if truth == decided { 0.0 } else { 1.0 / (1.0 + apart as f64).powi(2) }
        };
        let all: f64 = (0..n_classes).map(weight).sum();
        let errors = |decided| ((1.0 - accuracy) * 1000.0 * weight(decided) / all).round() as u64;
        let row: Vec<u64> = (0..n_classes).map(errors).collect();
        let wrong: u64 = row.iter().sum();
        counts.extend(row.iter().enumerate().map(
            |(decided, &count)| {
                if decided == truth { 1000 - wrong } else { count }
            },
        ));
    }
    counts
}

/// All experiments, as in a full report.
pub(super) fn everything(repetitions: u32) -> Vec<Results> {
    let added: Vec<f64> = (0..=10).map(f64::from).collect();
    let balances: Vec<f64> = (1..=10).map(|i| f64::from(i) / 20.0).collect();
    let mut all: Vec<Results> = ["adversaries", "faults", "redundancy", "heterogeneous"]
        .map(|name| experiment(&format!("synthetic-{name}"), 2, &added, repetitions))
        .into();
    all.push(experiment("synthetic-imbalance", 2, &balances, repetitions));
    let datasets = [
        ("20newsgroup", 20),
        ("mnist", 10),
        ("satellite", 6),
        ("wine", 2),
        ("spam", 2),
        ("avila", 2),
        ("drive", 11),
    ];
    for (name, n_classes) in datasets.into_iter().chain([("digits", 10), ("breast", 2)]) {
        all.push(experiment(&format!("real-{name}"), n_classes, &[0.0], repetitions));
        all.last_mut().expect("pushed above").header.is_subset = name == "drive";
    }
    for (name, n_classes) in [("satellite", 6), ("wine", 2), ("digits", 10)] {
        for kind in ["adversaries", "guessers", "copies"] {
            let added = [0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];
            all.push(experiment(&format!("robustness-{name}-{kind}"), n_classes, &added, 5));
        }
        let rows = [20.0, 50.0, 100.0, 200.0, 500.0, 1000.0];
        all.push(experiment(&format!("robustness-{name}-rows"), n_classes, &rows, 5));
    }
    all
}
