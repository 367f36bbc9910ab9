//! Beyond the paper: real panels with adversaries, random classifiers or near-copies added, or validation rows removed.

use std::{collections::BTreeMap, fmt};

use rand::seq::SliceRandom;

use crate::{
    datasets::Dataset,
    error::Error,
    evaluation::FittedMethods,
    experiments::{
        ExperimentSettings, Unit,
        real::{
            COPY_NOISE, FoldPredictions, N_PARTS, corruption_stream, header, n_validation, prepare, units,
        },
    },
    panel::{Corruption, PanelPredictions},
    random,
    results::{Results, RunOutcome},
};

/// What is added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Perturbation {
    /// Adversaries of every base classifier in turn, with half of their predictions replaced by another class.
    Adversaries,
    /// Classifiers with random predictions.
    Guessers,
    /// Copies of the first classifier, with one prediction in a hundred redrawn.
    Copies,
    /// Validation rows are removed.
    Rows,
}

/// Numbers of classifiers added.
const ADDED: [usize; 8] = [0, 1, 2, 5, 10, 20, 50, 100];
/// Numbers of validation rows, below the full number.
const ROWS: [usize; 7] = [2000, 1000, 500, 200, 100, 50, 25];
/// Stream of the draws of rows.
const STREAM: u64 = 0x20b5;

impl Perturbation {
    pub(crate) const ALL: [Self; 4] = [Self::Adversaries, Self::Guessers, Self::Copies, Self::Rows];

    /// The points of the experiment, given the full number of validation rows.
    fn points(self, n_rows: usize) -> Vec<f64> {
        let points = match self {
            Self::Rows => [n_rows].into_iter().chain(ROWS.into_iter().filter(|&n| n < n_rows)).collect(),
            _ => Vec::from(ADDED),
        };
        points.into_iter().map(|point| point as f64).collect()
    }

    /// Adds `n` classifiers to a panel.
    fn add(
        self,
        panel: &mut PanelPredictions,
        n: usize,
        run: &ExperimentSettings<'_>,
        dataset: &Dataset,
        unit: &Unit,
    ) {
        for added in 0..n {
            let (column, corruption) = match self {
                Self::Adversaries => (added % N_PARTS, Corruption::Adversary(0.5)),
                Self::Guessers => (0, Corruption::Noisy(1.0)),
                Self::Copies => (0, Corruption::Noisy(COPY_NOISE)),
                Self::Rows => return,
            };
            // Distinct from the streams of the panel's own copies and of other perturbations.
            let stream = corruption_stream(dataset, unit, (self as u64 + 1) << 32 | added as u64);
            panel.add_corrupted(column, corruption, run.seed, stream);
        }
    }

    fn outcomes(
        self,
        run: &ExperimentSettings<'_>,
        dataset: &Dataset,
        unit: &Unit,
        prepared: &FoldPredictions,
    ) -> Result<Vec<RunOutcome>, Error> {
        let FoldPredictions { validation, test } = prepared;
        let (mut validation, mut test) = (validation.clone(), test.clone());
        let own = validation.columns.len();
        let most = ADDED[ADDED.len() - 1];
        self.add(&mut validation, most, run, dataset, unit);
        self.add(&mut test, most, run, dataset, unit);
        let mut order: Vec<usize> = (0..validation.n_rows()).collect();
        order.shuffle(&mut random::stream(run.seed, &[STREAM, u64::from(unit.rep), u64::from(unit.fold)]));
        let mut outcomes = Vec::new();
        for &at in &unit.points[self as usize] {
            let methods = if self == Self::Rows {
                FittedMethods::new(run.protocol, &validation.select(&order[..at as usize]), own)?
            } else {
                FittedMethods::new(run.protocol, &validation, own + at as usize)?
            };
            let mut confusion = BTreeMap::new();
            methods.count_confusion(&test, &mut confusion)?;
            let best = (0..N_PARTS).map(|column| test.accuracy(column)).fold(0.0, f64::max);
            let references = BTreeMap::from([("best-base".to_owned(), best)]);
            let log_loss = methods.log_loss(&test)?;
            let (rep, fold) = (unit.rep, unit.fold);
            outcomes.push(RunOutcome {
                rep,
                fold,
                at,
                confusion,
                references,
                log_loss,
                ..RunOutcome::default()
            });
        }
        Ok(outcomes)
    }
}

/// Runs the missing repetitions of every perturbation on a dataset.
pub(crate) fn run(run: &ExperimentSettings<'_>, dataset: &Dataset) -> Result<Vec<Results>, Error> {
    let header = |perturbation: Perturbation| {
        header(run, dataset, format!("robustness-{}-{perturbation}", dataset.name))
    };
    let n_rows = n_validation(dataset);
    let points = Perturbation::ALL.map(|perturbation| perturbation.points(n_rows));
    run.complete(Perturbation::ALL.map(header).into(), &units(run.reps, &points), |unit| {
        let prepared = prepare(run, dataset, unit);
        Perturbation::ALL
            .into_iter()
            .map(|perturbation| perturbation.outcomes(run, dataset, unit, &prepared))
            .collect()
    })
}

impl fmt::Display for Perturbation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Adversaries => "adversaries",
            Self::Guessers => "guessers",
            Self::Copies => "copies",
            Self::Rows => "rows",
        })
    }
}
