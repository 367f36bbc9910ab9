//! The `spocc-bench` command: makes panels, times the engine on them, prints JSON.

mod files;
mod settings;
mod kernels;
mod crowds;
mod growth;
mod count;

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use clap::{Args, Parser, Subcommand};
use serde::Serialize;
use spocc::Method;
use spocc_bench::{Ease, Shape};

use crate::settings::Setting;

/// Measures the engine behind spocc
///
/// Every panel comes from one generator with seed 1: classes are equally frequent, each answer is right with
/// the same chance (easy 95 %, hard 60 %) and otherwise any other class. Data is made outside the clock.
/// What is measured is printed as JSON, a line each, as soon as it is known: seconds of the shortest and of
/// the middle run, processor seconds of all threads, and the most memory the process held, in bytes.
#[derive(Debug, Parser)]
#[command(name = "spocc-bench", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a panel to files that others can read: answers.npy, truth.npy, panel.csv
    Panel(PanelArgs),
    /// Time copying, counting, fitting and predicting on one panel
    Kernels(KernelsArgs),
    /// Time counting, fitting and predicting on a sparse crowd
    Crowd(CrowdArgs),
    /// Measure how cost grows with rows, classifiers and classes
    Growth(GrowthArgs),
    /// Run one kernel once on one thread, for an instruction counter
    Count(CountArgs),
}

#[derive(Debug, Args)]
struct ShapeArgs {
    /// Number of rows
    rows: usize,
    /// Number of classifiers
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    classifiers: u32,
    /// Number of classes
    #[arg(value_parser = clap::value_parser!(u16).range(2..60_000))]
    classes: u16,
    /// How often the classifiers are right
    #[arg(value_enum)]
    ease: Ease,
}

impl ShapeArgs {
    fn shape(&self) -> Shape {
        let Self { rows, classifiers, classes, ease } = *self;
        Shape { rows, classifiers: classifiers as usize, classes, ease }
    }
}

#[derive(Debug, Args)]
struct PanelArgs {
    #[command(flatten)]
    shape: ShapeArgs,
    /// Directory to write to, made if need be; `-` writes the CSV alone, to standard output, a piece at a time
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Debug, Args)]
struct Running {
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Give up a single task after so many seconds, as soon as the engine asks whether to go on
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    limit: f64,
}

impl Running {
    fn limit(&self) -> Duration {
        Duration::from_secs_f64(self.limit)
    }
}

#[derive(Debug, Args)]
struct KernelsArgs {
    #[command(flatten)]
    shape: ShapeArgs,
    #[command(flatten)]
    running: Running,
    /// Only these methods; `stacking-c1` is stacking at the strength 1 alone, and is only fitted
    #[arg(long, value_name = "a,b", value_delimiter = ',')]
    methods: Vec<Setting>,
    /// What to time, after memcpy
    #[arg(long, value_enum, value_name = "a,b", value_delimiter = ',', default_value = "count,predict,fit")]
    tasks: Vec<kernels::Task>,
}

#[derive(Debug, Args)]
struct CrowdArgs {
    /// Number of items
    items: usize,
    /// Number of workers
    workers: usize,
    /// Answers to each item
    answers: usize,
    /// Number of classes
    classes: u16,
    #[command(flatten)]
    running: Running,
}

#[derive(Debug, Args)]
struct GrowthArgs {
    /// Leave out what would take longer than so many seconds, and all larger sizes
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    limit: f64,
    /// Only these methods
    #[arg(long, value_name = "a,b", value_delimiter = ',')]
    methods: Vec<Method>,
}

#[derive(Debug, Args)]
struct CountArgs {
    /// Which kernel; without one, the names of all are printed
    kernel: Option<String>,
}

/// Anything that ends the command early.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Prints one JSON value on a line of its own, at once: whoever stops the command keeps what is known.
fn print(value: &impl Serialize) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, value)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

fn use_threads(threads: Option<usize>) -> Result<(), Failure> {
    threads.map_or(Ok(()), |n| Ok(rayon::ThreadPoolBuilder::new().num_threads(n).build_global()?))
}

fn run(cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        Command::Panel(args) => files::write(args.shape.shape(), &args.out),
        Command::Kernels(args) => {
            use_threads(args.running.threads)?;
            let settings = Setting::wanted(&args.methods);
            kernels::run(args.shape.shape(), &args.tasks, &settings, args.running.limit())
        }
        Command::Crowd(args) => {
            use_threads(args.running.threads)?;
            let CrowdArgs { items, workers, answers, classes, .. } = *args;
            let crowd = spocc_bench::Crowd { items, workers, answers, classes };
            crowds::run(crowd, args.running.limit())
        }
        Command::Growth(args) => {
            use_threads(Some(1))?;
            let methods = if args.methods.is_empty() { &Method::ALL } else { args.methods.as_slice() };
            growth::run(methods, Duration::from_secs_f64(args.limit))
        }
        Command::Count(args) => count::run(args.kernel.as_deref()),
    }
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let closed = failure
                .downcast_ref::<io::Error>()
                .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
            if closed {
                return ExitCode::SUCCESS;
            }
            let _ = writeln!(io::stderr(), "spocc-bench: {failure}");
            ExitCode::FAILURE
        }
    }
}
