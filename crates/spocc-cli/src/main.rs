//! The `spocc` command: from a table of answers to a decision one can defend.
//!
//! In: tables of what classifiers said. Out: models, decisions and reports. The arithmetic is the engine's;
//! here are files, words and manners.

mod args;
mod input;
mod labelled;
mod decided;
mod report;
mod output;
mod progress;
mod interrupt;
mod example;
mod commands;
mod error;

use std::{io::Write, process::ExitCode};

use clap::Parser;

use crate::{
    args::{Args, Command},
    error::Error,
};

fn main() -> ExitCode {
    let args = Args::parse();
    progress::start();
    interrupt::clean_up_when_told_to_end();
    let done = run(&args);
    progress::clear();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read our output has had enough: that is no failure of ours.
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(Error::Usage(usage)) => usage.exit(),
        Err(error) => {
            tell(format_args!("spocc: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), Error> {
    if let Some(threads) = args.threads {
        // Fails only if threads run already, and nothing has been computed yet.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global();
    }
    let control = &progress::control(args.memory);
    match &args.command {
        Command::Demo(args) => commands::demo(args, control),
        Command::Fit(args) => commands::fit(args, control),
        Command::Predict(args) => commands::predict(args, control),
        Command::Compare(args) => commands::compare(args, control),
        Command::Audit(args) => commands::audit(args, control),
        Command::Explain(args) => commands::explain(args),
        Command::Append(args) => commands::append(args, control),
        Command::Tally(args) => commands::tally(args, control),
        Command::Merge(args) => commands::merge(args, control),
        Command::Inspect(args) => commands::inspect(args, control),
        Command::Sql(args) => commands::sql(args),
        Command::Completions(args) => commands::completions(args),
        Command::Man(args) => commands::man(args),
    }
}

/// Tells the user something on standard error; if nobody listens there, so be it.
fn tell(message: std::fmt::Arguments<'_>) {
    progress::clear();
    let _ = writeln!(std::io::stderr().lock(), "{}", error::one_line(&message.to_string()));
}
