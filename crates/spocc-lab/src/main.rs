//! The laboratory: reproduces the experiments of the SPOCC paper, and runs further ones.
//!
//! `datasets` reads features, `learners` train base classifiers on parts of them, `panel` holds their predictions and
//! corrupts some, `label_sets` reads labels that others gave, `evaluation` fits every method of the engine to them,
//! `coverage` evaluates prediction sets, `experiments` define what is varied, `results` stores the outcomes, `statistics`
//! and `aggregate` summarise them, and `print` and `report` show them beside the figures of the `paper`.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod args;
mod random;
mod learners;
mod datasets;
mod protocol;
mod panel;
mod label_sets;
mod evaluation;
mod coverage;
mod results;
mod experiments;
mod paper;
mod statistics;
mod aggregate;
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
    args::{Arguments, LabCommand, RunArguments},
    datasets::State,
    error::Error,
    experiments::{
        ExperimentSettings,
        budgets::{self, Budget, BudgetSettings},
        missing, perturbation, real,
        synthetic::Synthetic,
    },
    protocol::Protocol,
    results::Results,
};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let out = &mut io::stdout().lock();
    match run(arguments, out) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader closed the pipe.
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // An error of standard error cannot be reported.
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
        LabCommand::Datasets { data, json } => {
            fs::read_dir(&data).map_err(Error::io(&data))?;
            datasets::print(&datasets::describe(&data), json, out).map_err(print::stdout)
        }
        LabCommand::Synthetic { name, running, reps } => {
            let names = Synthetic::ALL.map(|experiment| experiment.to_string());
            let chosen = some_or_all("experiment", &name, &names)?;
            let chosen: Vec<Synthetic> =
                chosen.iter().map(|name| name.parse()).collect::<Result<_, Error>>()?;
            running.each(reps, &chosen, out, |experiment, run| Ok(vec![experiment.run(run)?]))
        }
        LabCommand::Real { name, data, running, reps } => {
            running.each(reps, &present(&name, &data.data)?, out, |name, run| {
                Ok(vec![real::run(run, &datasets::load(name, &data.data)?)?])
            })
        }
        LabCommand::Robustness { name, data, running, reps } => {
            running.each(reps, &present(&name, &data.data)?, out, |name, run| {
                perturbation::run(run, &datasets::load(name, &data.data)?)
            })
        }
        LabCommand::Panels { name, data, out: dir, seed, reps } => {
            let run = ExperimentSettings { protocol: Protocol::Honest, seed, reps, out: &dir };
            for name in present(&name, &data.data)? {
                let paths = real::write_panels(&run, &datasets::load(&name, &data.data)?)?;
                print::print_written(&paths, out)?;
            }
            Ok(())
        }
        LabCommand::Budgets {
            name,
            data,
            seed,
            draws,
            budgets,
            methods,
            open: is_open,
            reported,
            out: dir,
            export,
        } => {
            let budgets = budgets.iter().map(|word| word.parse()).collect::<Result<Vec<Budget>, Error>>()?;
            let methods = budgets::variants(&methods, is_open)?;
            let (names, remark) = budgets::names(&name, &data.data)?;
            remark.iter().for_each(|text| note(text));
            let dir = export.as_deref().unwrap_or(&dir);
            let run = BudgetSettings { seed, draws, budgets: &budgets, is_open, reported, out: dir };
            for name in names {
                let set = budgets::load(&name, &data.data, seed, is_open)?;
                if export.is_some() {
                    print::print_written(&budgets::write(&run, &set)?, out)?;
                } else {
                    print::print_budgets(&budgets::run(&run, &set, &methods)?, out)?;
                }
            }
            Ok(())
        }
        LabCommand::Missing { crowds, seed, reps } => missing::run(reps, seed, crowds.as_deref(), out),
        LabCommand::Example3 { json } => print::print_example(json, out),
        LabCommand::Report { dir } => {
            let (results, unfinished) = results::read_all(&dir)?;
            if unfinished > 0 {
                note(&format!("{unfinished} unfinished repetitions are omitted"));
            }
            report::write(&results, &dir)?;
            print::print_written(&[dir.join("report.html"), dir.join("report.md")], out)
        }
    }
}

/// Prints a remark to standard error.
fn note(text: &str) {
    // A remark that cannot be printed changes no result.
    let _ = writeln!(io::stderr(), "spocc-lab: {text}");
}

/// The name given, or all of them for `all`.
fn some_or_all(what: &'static str, name: &str, names: &[String]) -> Result<Vec<String>, Error> {
    if name == "all" {
        return Ok(names.to_vec());
    }
    let known: Vec<&str> = names.iter().map(String::as_str).chain(["all"]).collect();
    error::choose(what, &known, name).map(|_| vec![name.to_owned()])
}

/// The dataset named, or all that are present for `all`.
fn present(name: &str, dir: &Path) -> Result<Vec<String>, Error> {
    let names = datasets::NAMES.map(ToOwned::to_owned);
    let mut chosen = some_or_all("dataset", name, &names)?;
    if name == "all" {
        let is_present = |name: &String| datasets::state(name, dir) != State::Absent;
        let absent: Vec<String> = names.iter().filter(|name| !is_present(name)).cloned().collect();
        chosen.retain(is_present);
        if chosen.is_empty() {
            let (expected, found) = ("datasets".to_owned(), "none of them".to_owned());
            return Err(Error::BadFile { path: dir.to_owned(), expected, found });
        }
        if !absent.is_empty() {
            note(&format!("{} absent: `spocc-lab datasets` lists their sources", absent.join(", ")));
        }
    }
    Ok(chosen)
}

impl RunArguments {
    /// Runs experiments one after another and prints a summary of each.
    fn each<E>(
        &self,
        reps: u32,
        experiments: &[E],
        out: &mut impl Write,
        work: impl Fn(&E, &ExperimentSettings<'_>) -> Result<Vec<Results>, Error>,
    ) -> Result<(), Error> {
        let protocol: Protocol = self.protocol.parse()?;
        let dir = self.out.clone().unwrap_or_else(|| PathBuf::from("lab").join(protocol.to_string()));
        let run = ExperimentSettings { protocol, seed: self.seed, reps, out: &dir };
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
