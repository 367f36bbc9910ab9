//! The laboratory: every experiment of the SPOCC paper, and more, with one command.
//!
//! `datasets` reads features, `learners` train base classifiers on parts of them, `panel` collects their answers and
//! spoils some, `contest` lets every method of the engine combine them, `coverage` counts how often sets hold the truth,
//! `experiments` say what is varied, `results` keeps what came out, `statistics` and `measured` sum it up, `print` and `report` say what it means, beside what the `paper` printed.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod args;
mod draw;
mod learners;
mod datasets;
mod setting;
mod panel;
mod contest;
mod coverage;
mod results;
mod experiments;
mod paper;
mod statistics;
mod measured;
mod print;
mod report;
mod error;

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;

use crate::{
    args::{Arguments, Command, Running},
    datasets::State,
    error::Error,
    experiments::{Run, real, robustness, synthetic::Synthetic},
    results::Results,
    setting::Setting,
};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let out = &mut io::stdout().lock();
    match run(arguments, out) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads has seen enough.
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to tell anybody with if standard error is gone as well.
            let _ = writeln!(io::stderr(), "spocc-lab: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(Arguments { command, threads }: Arguments, out: &mut impl Write) -> Result<(), Error> {
    if let Some(threads) = threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global();
        pool.map_err(|error| Error::Threads { threads, error: error.to_string() })?;
    }
    match command {
        Command::Datasets { data, json } => {
            fs::read_dir(&data).map_err(Error::io(&data))?;
            datasets::print(&datasets::describe(&data), json, out).map_err(print::stdout)
        }
        Command::Synthetic { name, running, reps } => {
            let names = Synthetic::ALL.map(|experiment| experiment.to_string());
            let chosen = some_or_all("experiment", &name, &names)?;
            let chosen: Vec<Synthetic> =
                chosen.iter().map(|name| name.parse()).collect::<Result<_, Error>>()?;
            running.each(reps, &chosen, out, |experiment, run| Ok(vec![experiment.run(run)?]))
        }
        Command::Real { name, data, running, reps } => {
            running.each(reps, &there(&name, &data.data)?, out, |name, run| {
                Ok(vec![real::run(run, &datasets::load(name, &data.data)?)?])
            })
        }
        Command::Robustness { name, data, running, reps } => {
            running.each(reps, &there(&name, &data.data)?, out, |name, run| {
                robustness::run(run, &datasets::load(name, &data.data)?)
            })
        }
        Command::Panels { name, data, out: dir, seed, reps } => {
            let run = Run { setting: Setting::Honest, seed, reps, out: &dir };
            for name in there(&name, &data.data)? {
                let paths = real::write_panels(&run, &datasets::load(&name, &data.data)?)?;
                print::print_written(&paths, out)?;
            }
            Ok(())
        }
        Command::Example3 { json } => print::print_example(json, out),
        Command::Report { dir } => {
            let (results, unfinished) = results::read_all(&dir)?;
            if unfinished > 0 {
                note(&format!("{unfinished} unfinished repetitions are left out"));
            }
            report::write(&results, &dir)?;
            print::print_written(&[dir.join("report.html"), dir.join("report.md")], out)
        }
    }
}

/// Says something beside the results.
fn note(text: &str) {
    // Nothing depends on whether anybody reads it.
    let _ = writeln!(io::stderr(), "spocc-lab: {text}");
}

/// One of these names, or all of them.
fn some_or_all(what: &'static str, name: &str, names: &[String]) -> Result<Vec<String>, Error> {
    if name == "all" {
        return Ok(names.to_vec());
    }
    let known: Vec<&str> = names.iter().map(String::as_str).chain(["all"]).collect();
    error::choose(what, &known, name).map(|_| vec![name.to_owned()])
}

/// The dataset named, or all that are there.
fn there(name: &str, dir: &Path) -> Result<Vec<String>, Error> {
    let names = datasets::NAMES.map(ToOwned::to_owned);
    let mut chosen = some_or_all("dataset", name, &names)?;
    if name == "all" {
        let is_there = |name: &String| datasets::is_there(name, dir) != State::Absent;
        let absent: Vec<String> = names.iter().filter(|name| !is_there(name)).cloned().collect();
        chosen.retain(is_there);
        if chosen.is_empty() {
            let (expected, found) = ("datasets".to_owned(), "none of them".to_owned());
            return Err(Error::BadFile { path: dir.to_owned(), expected, found });
        }
        if !absent.is_empty() {
            note(&format!("{} absent: `spocc-lab datasets` says where to get them", absent.join(", ")));
        }
    }
    Ok(chosen)
}

impl Running {
    /// Runs some experiments one after another and prints what came out of each.
    fn each<E>(
        &self,
        reps: u32,
        experiments: &[E],
        out: &mut impl Write,
        work: impl Fn(&E, &Run<'_>) -> Result<Vec<Results>, Error>,
    ) -> Result<(), Error> {
        let setting: Setting = self.setting.parse()?;
        let dir = self.out.clone().unwrap_or_else(|| PathBuf::from("lab").join(setting.to_string()));
        let run = Run { setting, seed: self.seed, reps, out: &dir };
        let mut all = Vec::new();
        for experiment in experiments {
            let results = work(experiment, &run)?;
            if !self.json {
                results.iter().try_for_each(|results| print::print(results, out))?;
            }
            all.extend(results);
        }
        if self.json {
            print::print_json(&all, out)?;
        }
        Ok(())
    }
}
