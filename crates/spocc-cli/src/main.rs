//! The `spocc` command: combines the predicted labels of many classifiers into one decision per row.
//!
//! In: tables of predictions. Out: models, decided tables and reports. All estimation is in the engine; this crate reads
//! arguments and files, and prints.

mod args;
mod input;
mod read;
mod write;
mod report;
mod output;
mod progress;
mod signals;
mod demo_data;
mod commands;
mod error;

use std::{io::Write, process::ExitCode};

use crate::{
    args::{Args, CliCommand},
    error::Error,
};

fn main() -> ExitCode {
    let args = args::parse();
    progress::start();
    signals::remove_partial_output_on_signal();
    let done = run(&args);
    progress::clear();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output closed the pipe, as `head` does.
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(Error::Usage(usage)) => usage.exit(),
        Err(error) => {
            print_status(format_args!("spocc: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), Error> {
    if let Some(threads) = args.threads {
        // Fails only if a thread pool exists already; nothing has used one yet.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global();
    }
    let control = &progress::control(args.memory);
    match &args.command {
        CliCommand::Demo(args) => commands::demo(args, control),
        CliCommand::Fit(args) => commands::fit(args, control),
        CliCommand::Predict(args) => commands::predict(args, control),
        CliCommand::Compare(args) => commands::compare(args, control),
        CliCommand::Audit(args) => commands::audit(args, control),
        CliCommand::Explain(args) => commands::explain(args, control),
        CliCommand::Append(args) => commands::append(args, control),
        CliCommand::Tally(args) => commands::tally(args, control),
        CliCommand::Merge(args) => commands::merge(args, control),
        CliCommand::Inspect(args) => commands::inspect(args, control),
        CliCommand::Sql(args) => commands::sql(args),
        CliCommand::Completions(args) => commands::completions(args),
        CliCommand::Man(args) => commands::man(args),
    }
}

/// Prints a line on standard error; a failure to print it is ignored.
fn print_status(message: std::fmt::Arguments<'_>) {
    progress::clear();
    let _ = writeln!(std::io::stderr().lock(), "{}", error::one_line(&message.to_string()));
}
