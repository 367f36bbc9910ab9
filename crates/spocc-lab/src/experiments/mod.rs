//! Experiments: each is a list of units of work that can be done in any order, and what each unit gives.

pub(crate) mod example3;
pub(crate) mod real;
pub(crate) mod robustness;
pub(crate) mod synthetic;

use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;

use crate::{
    error::Error,
    results::{Heading, Outcome, Results, Store},
    setting::Setting,
};

/// What every experiment is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    pub(crate) setting: Setting,
    pub(crate) seed: u64,
    pub(crate) reps: u32,
    /// Folder of the results.
    pub(crate) out: &'a Path,
}

/// Scratch that is done or not done: one repetition, or one fold of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unit {
    pub(crate) rep: u32,
    pub(crate) fold: u32,
    /// The points of the experiment it gives outcomes at, for every heading.
    pub(crate) points: Vec<Vec<f64>>,
}

impl Run<'_> {
    pub(crate) fn heading(&self, experiment: String, n_classes: usize, is_subset: bool) -> Heading {
        Heading::new(experiment, &self.setting.to_string(), self.seed, n_classes, is_subset)
    }

    /// Does the units whose outcomes are not in the files yet; `work` gives the outcomes of each heading.
    pub(crate) fn complete(
        &self,
        headings: Vec<Heading>,
        units: &[Unit],
        work: impl Fn(&Unit) -> Result<Vec<Vec<Outcome>>, Error> + Sync,
    ) -> Result<Vec<Results>, Error> {
        let name = headings.first().map(|heading| heading.experiment.clone()).unwrap_or_default();
        let open = |heading| Store::open(self.out, heading);
        let stores: Vec<Store> = headings.into_iter().map(open).collect::<Result<_, Error>>()?;
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

/// A bar on standard error that says how much is done and what time is left; nothing where that is no terminal.
fn bar(name: String, all: usize, open: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(all as u64), ProgressDrawTarget::stderr());
    let template = "{msg} {wide_bar} {pos}/{len}, {elapsed} gone, {eta} left";
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(name);
    bar.set_position((all - open) as u64);
    bar.reset_eta();
    bar.tick();
    bar
}

/// A fifth of the rows of each class, at least one, drawn at random for validation, and the others.
pub(crate) fn hold_out(
    rows: &[usize],
    classes: &[u16],
    n_classes: usize,
    draws: &mut impl rand::Rng,
) -> (Vec<usize>, Vec<usize>) {
    use rand::seq::SliceRandom;
    let (mut held, mut left) = (Vec::new(), Vec::new());
    for class in 0..n_classes {
        let mut own: Vec<usize> =
            rows.iter().copied().filter(|&row| usize::from(classes[row]) == class).collect();
        own.shuffle(draws);
        let n_held = n_held(own.len());
        held.extend_from_slice(&own[..n_held]);
        left.extend_from_slice(&own[n_held..]);
    }
    held.sort_unstable();
    left.sort_unstable();
    (held, left)
}

/// How many of so many rows are held out.
fn n_held(n: usize) -> usize {
    if n == 0 { 0 } else { (n / 5).max(1) }
}
