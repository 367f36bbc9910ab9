//! Beyond the paper: what more and more adversaries, guessers and near-copies do to a real panel, and fewer and fewer
//! validation rows.

use std::{collections::BTreeMap, fmt};

use rand::seq::SliceRandom;

use crate::{
    contest::Contest,
    datasets::Dataset,
    draw,
    error::Error,
    experiments::{
        Run, Unit,
        real::{COPY_NOISE, N_PARTS, Prepared, heading, n_validation, prepare, spoiler, units},
    },
    panel::{Answers, Corruption},
    results::{Outcome, Results},
};

/// What is made worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Burden {
    /// Adversaries of every base classifier in turn, half of whose answers become others.
    Adversaries,
    /// Classifiers that say anything.
    Guessers,
    /// Copies of the first classifier, one answer in a hundred drawn anew.
    Copies,
    /// Validation rows taken away.
    Rows,
}

/// Numbers of classifiers added.
const ADDED: [usize; 8] = [0, 1, 2, 5, 10, 20, 50, 100];
/// Numbers of validation rows below all there are.
const ROWS: [usize; 7] = [2000, 1000, 500, 200, 100, 50, 25];
/// Purpose of the draws of rows.
const STREAM: u64 = 0x20b5;

impl Burden {
    pub(crate) const ALL: [Self; 4] = [Self::Adversaries, Self::Guessers, Self::Copies, Self::Rows];

    /// What is tried, where so many validation rows are there.
    fn points(self, n_rows: usize) -> Vec<f64> {
        let points = match self {
            Self::Rows => [n_rows].into_iter().chain(ROWS.into_iter().filter(|&n| n < n_rows)).collect(),
            _ => Vec::from(ADDED),
        };
        points.into_iter().map(|point| point as f64).collect()
    }

    /// Adds so many classifiers to a panel.
    fn add(self, answers: &mut Answers, n: usize, run: &Run<'_>, dataset: &Dataset, unit: &Unit) {
        for added in 0..n {
            let (column, corruption) = match self {
                Self::Adversaries => (added % N_PARTS, Corruption::Adversary(0.5)),
                Self::Guessers => (0, Corruption::Noisy(1.0)),
                Self::Copies => (0, Corruption::Noisy(COPY_NOISE)),
                Self::Rows => return,
            };
            // Past the names of the panel's own copies, and other ones for every burden.
            let name = spoiler(dataset, unit, (self as u64 + 1) << 32 | added as u64);
            answers.add_spoiled(column, corruption, run.seed, name);
        }
    }

    fn outcomes(
        self,
        run: &Run<'_>,
        dataset: &Dataset,
        unit: &Unit,
        prepared: &Prepared,
    ) -> Result<Vec<Outcome>, Error> {
        let Prepared { validation, test } = prepared;
        let (mut validation, mut test) = (validation.clone(), test.clone());
        let own = validation.columns.len();
        let most = ADDED[ADDED.len() - 1];
        self.add(&mut validation, most, run, dataset, unit);
        self.add(&mut test, most, run, dataset, unit);
        let mut order: Vec<usize> = (0..validation.n_rows()).collect();
        order.shuffle(&mut draw::stream(run.seed, &[STREAM, u64::from(unit.rep), u64::from(unit.fold)]));
        let mut outcomes = Vec::new();
        for &at in &unit.points[self as usize] {
            let contest = if self == Self::Rows {
                Contest::new(run.setting, &validation.select(&order[..at as usize]), own)?
            } else {
                Contest::new(run.setting, &validation, own + at as usize)?
            };
            let mut confusion = BTreeMap::new();
            contest.judge(&test, &mut confusion)?;
            let best = (0..N_PARTS).map(|column| test.accuracy(column)).fold(0.0, f64::max);
            let references = BTreeMap::from([("best-base".to_owned(), best)]);
            let log_loss = contest.log_loss(&test)?;
            let (rep, fold) = (unit.rep, unit.fold);
            outcomes.push(Outcome { rep, fold, at, confusion, references, log_loss, ..Outcome::default() });
        }
        Ok(outcomes)
    }
}

/// Puts every burden on a dataset's panel, or what is left of it.
pub(crate) fn run(run: &Run<'_>, dataset: &Dataset) -> Result<Vec<Results>, Error> {
    let heading = |burden: Burden| heading(run, dataset, format!("robustness-{}-{burden}", dataset.name));
    let n_rows = n_validation(dataset);
    let points = Burden::ALL.map(|burden| burden.points(n_rows));
    run.complete(Burden::ALL.map(heading).into(), &units(run.reps, &points), |unit| {
        let prepared = prepare(run, dataset, unit);
        Burden::ALL.into_iter().map(|burden| burden.outcomes(run, dataset, unit, &prepared)).collect()
    })
}

impl fmt::Display for Burden {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Adversaries => "adversaries",
            Self::Guessers => "guessers",
            Self::Copies => "copies",
            Self::Rows => "rows",
        })
    }
}
