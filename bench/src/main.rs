//! The `spocc-bench` command: generates panels, times the engine on them, prints JSON.

mod export;
mod bench_method;
mod kernels;
mod crowd_timing;
mod growth;
mod instruction_kernels;
mod tables;

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use clap::{Args, Parser, Subcommand};
use serde::Serialize;
use spocc::Method;
use spocc_bench::{Ease, PanelShape};

use crate::bench_method::BenchMethod;

/// Times the engine of spocc
///
/// Every panel comes from one generator with seed 1: classes are equally frequent, every classifier has the same
/// accuracy (easy 95 %, hard 60 %), and errors are uniform over the other classes. Generating data is not timed.
/// Every timing is printed as one line of JSON as soon as it is known: seconds of the shortest and of the median run,
/// processor seconds of all threads, and peak memory in bytes.
#[derive(Debug, Parser)]
#[command(name = "spocc-bench", version)]
struct Cli {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Write a panel to files: answers.npy, truth.npy, panel.csv
    Panel(WritePanelArgs),
    /// Time copying, counting, fitting and predicting on one panel
    Kernels(KernelsArgs),
    /// Time counting, fitting and predicting on a sparse crowd
    Crowd(CrowdArgs),
    /// Measure how time grows with rows, classifiers and classes
    Growth(GrowthArgs),
    /// Time our CSV reader against one built on the csv crate
    Tables(TablesArgs),
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
    /// Accuracy of the classifiers
    #[arg(value_enum)]
    ease: Ease,
}

impl ShapeArgs {
    fn shape(&self) -> PanelShape {
        let Self { rows, classifiers, classes, ease } = *self;
        PanelShape { rows, classifiers: classifiers as usize, classes, ease }
    }
}

#[derive(Debug, Args)]
struct WritePanelArgs {
    #[command(flatten)]
    shape: ShapeArgs,
    /// Directory to write to, created if missing; `-` streams the CSV alone to standard output
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Debug, Args)]
struct TimingArgs {
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Cancel a task after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    limit: f64,
}

impl TimingArgs {
    fn limit(&self) -> Duration {
        Duration::from_secs_f64(self.limit)
    }
}

#[derive(Debug, Args)]
struct KernelsArgs {
    #[command(flatten)]
    shape: ShapeArgs,
    #[command(flatten)]
    running: TimingArgs,
    /// Only these methods; `stacking-c1` is stacking with the single strength 1, and is only fitted
    #[arg(long, value_name = "a,b", value_delimiter = ',')]
    methods: Vec<BenchMethod>,
    /// Tasks to time, after memcpy
    #[arg(long, value_enum, value_name = "a,b", value_delimiter = ',', default_value = "count,predict,fit")]
    tasks: Vec<kernels::Task>,
}

#[derive(Debug, Args)]
struct CrowdArgs {
    /// Number of items
    items: usize,
    /// Number of workers
    workers: usize,
    /// Labels per item
    answers: usize,
    /// Number of classes
    classes: u16,
    #[command(flatten)]
    running: TimingArgs,
    /// Only these methods
    #[arg(long, value_name = "a,b", value_delimiter = ',')]
    methods: Vec<Method>,
}

#[derive(Debug, Args)]
struct GrowthArgs {
    /// Skip sizes that take longer than this many seconds, and all larger ones
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    limit: f64,
    /// Only these methods
    #[arg(long, value_name = "a,b", value_delimiter = ',')]
    methods: Vec<Method>,
}

#[derive(Debug, Args)]
struct TablesArgs {
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

#[derive(Debug, Args)]
struct CountArgs {
    /// The kernel; without one, all names are printed
    kernel: Option<String>,
}

/// Any error that ends the command.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Prints one JSON value per line and flushes it, so that a stopped command keeps its finished results.
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
        BenchCommand::Panel(args) => export::write(args.shape.shape(), &args.out),
        BenchCommand::Kernels(args) => {
            use_threads(args.running.threads)?;
            let methods = BenchMethod::wanted(&args.methods);
            kernels::run(args.shape.shape(), &args.tasks, &methods, args.running.limit())
        }
        BenchCommand::Crowd(args) => {
            use_threads(args.running.threads)?;
            let CrowdArgs { items, workers, answers, classes, .. } = *args;
            let crowd = spocc_bench::CrowdShape { items, workers, answers, classes };
            crowd_timing::run(crowd, &args.methods, args.running.limit())
        }
        BenchCommand::Growth(args) => {
            use_threads(Some(1))?;
            let methods = if args.methods.is_empty() { &Method::ALL } else { args.methods.as_slice() };
            growth::run(methods, Duration::from_secs_f64(args.limit))
        }
        BenchCommand::Tables(args) => {
            use_threads(args.threads)?;
            tables::run()
        }
        BenchCommand::Count(args) => instruction_kernels::run(args.kernel.as_deref()),
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
