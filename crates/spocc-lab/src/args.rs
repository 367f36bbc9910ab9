//! What a person can ask for.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// The laboratory of spocc: every experiment of the SPOCC paper, and more, beside the paper's own figures.
///
/// Results are appended to one file per experiment as they come. An interrupted run goes on where it stopped when the
/// same command is given again; the same seed gives the same figures whatever the threads and interruptions.
#[derive(Debug, Parser)]
#[command(name = "spocc-lab", version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Cores to use [default: all]
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the datasets: which are there, which are missing, and where a person gets them
    Datasets {
        /// Folder of the datasets
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run the experiments on made-up data (paper, section 4.2)
    Synthetic {
        /// adversaries, faults, redundancy, heterogeneous, imbalance, or `all`
        name: String,
        #[command(flatten)]
        running: Running,
        /// Repetitions
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
        reps: u32,
    },
    /// Run the experiments on real data (paper, section 4.3)
    Real {
        /// A dataset as `spocc-lab datasets` names it, or `all`: those that are there
        name: String,
        #[command(flatten)]
        data: Data,
        #[command(flatten)]
        running: Running,
        /// Repetitions of a 2-fold cross-validation; the paper has 100
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
        reps: u32,
    },
    /// Burden real panels with adversaries, guessers, near-copies and ever fewer validation rows
    Robustness {
        /// A dataset as `spocc-lab datasets` names it, or `all`: those that are there
        name: String,
        #[command(flatten)]
        data: Data,
        #[command(flatten)]
        running: Running,
        /// Repetitions of a 2-fold cross-validation
        #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
        reps: u32,
    },
    /// Write the answers of real panels as CSV: `NAME-REP-FOLD-validation.csv` and `-test.csv`, to try other programs on
    Panels {
        /// A dataset as `spocc-lab datasets` names it, or `all`: those that are there
        name: String,
        #[command(flatten)]
        data: Data,
        /// Folder of the tables
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// What all random draws derive from: the panels are those of `real` with the same seed
        #[arg(long, value_name = "S", default_value_t = 1)]
        seed: u64,
        /// Repetitions of a 2-fold cross-validation
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
        reps: u32,
    },
    /// Show what the exponent of a t-norm does to three possibilities (paper, Example 3)
    Example3 {
        /// Print JSON, the whole curve
        #[arg(long)]
        json: bool,
    },
    /// Write report.html and report.md beside the results in a folder
    Report {
        /// Folder that the experiments wrote to
        dir: PathBuf,
    },
}

/// How an experiment is run and where its results go.
#[derive(Args, Debug)]
pub(crate) struct Running {
    /// As the paper's `authors` did, or `honest`: every method a fair chance
    #[arg(long = "as", value_name = "HOW", default_value = "honest")]
    pub(crate) setting: String,
    /// What all random draws derive from
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder of the results [default: lab/authors or lab/honest]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where the datasets are.
#[derive(Args, Debug)]
pub(crate) struct Data {
    /// Folder of the datasets
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,
}
