//! Experiments: each is a list of independent units of work and a function from a unit to outcomes.

pub(crate) mod budgets;
pub(crate) mod example3;
pub(crate) mod missing;
pub(crate) mod real;
pub(crate) mod perturbation;
pub(crate) mod synthetic;

use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;

use crate::{
    error::Error,
    protocol::Protocol,
    results::{Results, ResultsHeader, RunOutcome, Store},
};

/// Settings common to all experiments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExperimentSettings<'a> {
    pub(crate) protocol: Protocol,
    pub(crate) seed: u64,
    pub(crate) reps: u32,
    /// Folder of the results.
    pub(crate) out: &'a Path,
}

/// A unit of work: one repetition, or one fold of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unit {
    pub(crate) rep: u32,
    pub(crate) fold: u32,
    /// The points at which it gives outcomes, for every header.
    pub(crate) points: Vec<Vec<f64>>,
}

impl ExperimentSettings<'_> {
    pub(crate) fn header(&self, experiment: String, n_classes: usize, is_subset: bool) -> ResultsHeader {
        ResultsHeader::new(experiment, &self.protocol.to_string(), self.seed, n_classes, is_subset)
    }

    /// Runs the units whose outcomes are not recorded yet; `work` returns the outcomes of each header.
    pub(crate) fn complete(
        &self,
        headers: Vec<ResultsHeader>,
        units: &[Unit],
        work: impl Fn(&Unit) -> Result<Vec<Vec<RunOutcome>>, Error> + Sync,
    ) -> Result<Vec<Results>, Error> {
        let name = headers.first().map(|header| header.experiment.clone()).unwrap_or_default();
        let open = |header| Store::open(self.out, header);
        let stores: Vec<Store> = headers.into_iter().map(open).collect::<Result<_, Error>>()?;
        let is_open = |unit: &&Unit| {
            let has = |store: &Store, at: &f64| store.has((unit.rep, unit.fold, at.to_bits()));
            !stores.iter().zip(&unit.points).all(|(store, points)| points.iter().all(|at| has(store, at)))
        };
        let open: Vec<&Unit> = units.iter().filter(is_open).collect();
        let bar = bar(name, units.len(), open.len());
        open.par_iter().try_for_each(|unit| {
            for (store, outcomes) in stores.iter().zip(work(unit)?) {
                store.append(outcomes)?;
            }
            bar.inc(1);
            Ok::<(), Error>(())
        })?;
        bar.finish_and_clear();
        Ok(stores.into_iter().map(|store| store.finish(self.reps)).collect())
    }
}

/// A progress bar with the remaining time, on standard error if that is a terminal.
fn bar(name: String, all: usize, open: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(all as u64), ProgressDrawTarget::stderr());
    let template = "{msg} {wide_bar} {pos}/{len}, elapsed {elapsed}, remaining {eta}";
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(name);
    bar.set_position((all - open) as u64);
    bar.reset_eta();
    bar.tick();
    bar
}

/// A stratified random split: a fifth of the rows of each class, at least one, for validation, and the others.
pub(crate) fn hold_out(
    rows: &[usize],
    classes: &[u16],
    n_classes: usize,
    draws: &mut impl rand::Rng,
) -> (Vec<usize>, Vec<usize>) {
    use rand::seq::SliceRandom;
    let (mut held_out, mut rest) = (Vec::new(), Vec::new());
    for class in 0..n_classes {
        let mut own: Vec<usize> =
            rows.iter().copied().filter(|&row| usize::from(classes[row]) == class).collect();
        own.shuffle(draws);
        let n_held_out = n_held_out(own.len());
        held_out.extend_from_slice(&own[..n_held_out]);
        rest.extend_from_slice(&own[n_held_out..]);
    }
    held_out.sort_unstable();
    rest.sort_unstable();
    (held_out, rest)
}

/// The number of rows held out of `n`.
fn n_held_out(n: usize) -> usize {
    if n == 0 { 0 } else { (n / 5).max(1) }
}
