//! The laboratory: every experiment of the SPOCC paper, and more, with one command.
//!
//! `datasets` reads features, `learners` train base classifiers on parts of them, `panel` collects their answers and
//! spoils some, `experiments` let every method of the engine combine them, `results` keeps what came out,
//! `statistics` and `report` say what it means, beside what the `paper` printed.

mod args;
mod error;
mod draw;
mod learners;
mod datasets;
mod panel;
mod setting;
mod experiments;
mod results;
mod paper;
mod statistics;
mod report;

fn main() -> std::process::ExitCode {
    todo!()
}
