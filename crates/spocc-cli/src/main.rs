//! The `spocc` command: from a table of answers to a decision one can defend.
//!
//! In: tables of what classifiers said. Out: models, decisions and reports. The arithmetic is the engine's;
//! here are files, words and manners.

mod args;
mod words;
mod table;
mod output;
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
    let done = match Args::parse().command {
        Command::Demo => commands::demo(),
        Command::Fit(args) => commands::fit(&args),
        Command::Predict(args) => commands::predict(&args),
    };
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

/// Tells the user something on standard error; if nobody listens there, so be it.
fn tell(message: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr().lock(), "{message}");
}
