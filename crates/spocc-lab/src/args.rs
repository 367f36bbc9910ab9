//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Reproduces the experiments of the SPOCC paper and shows the results beside the paper's figures.
///
/// Results are appended to one file per experiment. An interrupted run continues when the same command is given again.
/// Figures depend on the seed alone, not on the number of threads or on interruptions.
#[derive(Debug, Parser)]
#[command(name = "spocc-lab", version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: LabCommand,
    /// Cores to use [default: all]
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// List the datasets: which are present, which are missing, and their sources
    Datasets {
        /// Folder of the datasets
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run the experiments on synthetic data (paper, section 4.2)
    Synthetic {
        /// adversaries, faults, redundancy, heterogeneous, imbalance, or `all`
        name: String,
        #[command(flatten)]
        running: RunArguments,
        /// Repetitions
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
        reps: u32,
    },
    /// Run the experiments on real data (paper, section 4.3)
    Real {
        /// A dataset as `spocc-lab datasets` names it, or `all` that are present
        name: String,
        #[command(flatten)]
        data: Data,
        #[command(flatten)]
        running: RunArguments,
        /// Repetitions of a 2-fold cross-validation; the paper has 100
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
        reps: u32,
    },
    /// Add adversaries, random classifiers or near-copies to real panels, or remove validation rows
    Robustness {
        /// A dataset as `spocc-lab datasets` names it, or `all` that are present
        name: String,
        #[command(flatten)]
        data: Data,
        #[command(flatten)]
        running: RunArguments,
        /// Repetitions of a 2-fold cross-validation
        #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
        reps: u32,
    },
    /// Write the predictions of real panels as CSV: `NAME-REP-FOLD-validation.csv` and `-test.csv`
    Panels {
        /// A dataset as `spocc-lab datasets` names it, or `all` that are present
        name: String,
        #[command(flatten)]
        data: Data,
        /// Folder of the tables
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Seed of all random draws; the panels are those of `real` with the same seed
        #[arg(long, value_name = "S", default_value_t = 1)]
        seed: u64,
        /// Repetitions of a 2-fold cross-validation
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
        reps: u32,
    },
    /// Show the effect of the t-norm exponent on three possibility distributions (paper, Example 3)
    Example3 {
        /// Print JSON, the whole curve
        #[arg(long)]
        json: bool,
    },
    /// Compare the treatments of missing predictions on simulated panels, and on crowds if a folder is given
    Missing {
        /// Folder of crowds: NAME.label.csv (item, worker, label) and NAME.truth.csv (item, truth)
        #[arg(long, value_name = "DIR")]
        crowds: Option<PathBuf>,
        /// Seed of all random draws
        #[arg(long, value_name = "S", default_value_t = 1)]
        seed: u64,
        /// Repetitions
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
        reps: u32,
    },
    /// Compare all methods with few labelled rows: crowds, panels of judges, and panels of the datasets
    ///
    /// The labelled rows are drawn at random and the other rows are tested. Methods that can use unlabelled rows are run
    /// with and without them; the suffix `+u` marks the former. Seed 1 is for development: figures that are reported
    /// should come from another one.
    Budgets {
        /// A label set (DIR/crowd/NAME.label.csv, DIR/panels/NAME.csv), a dataset, or `all` but the large ones
        name: String,
        #[command(flatten)]
        data: Data,
        /// Seed of all random draws; 1 is for development
        #[arg(long, value_name = "S", default_value_t = 1)]
        seed: u64,
        /// Draws of the labelled rows
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        draws: u32,
        /// Numbers of labelled rows; those above half of the rows with a truth are left out
        #[arg(long, value_name = "N,..", value_delimiter = ',', default_value = "25,50,100,200,half")]
        budgets: Vec<String>,
        /// Methods, such as ladder+u,majority [default: all]
        #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
        methods: Vec<String>,
        /// Read labels as open answers: the candidates of a row are the labels given on it
        #[arg(long, conflicts_with = "export")]
        open: bool,
        /// Also record the accuracy that the default method reports of itself, which takes five more fits
        #[arg(long)]
        reported: bool,
        /// Folder of the results
        #[arg(long, value_name = "DIR", default_value = "lab/budgets")]
        out: PathBuf,
        /// Write the tables and the rows of every draw to a folder, for other programs, and run nothing
        #[arg(long, value_name = "DIR")]
        export: Option<PathBuf>,
    },
    /// Write report.html and report.md beside the results in a folder
    Report {
        /// Folder of the results
        dir: PathBuf,
    },
}

/// How an experiment is run and where its results go.
#[derive(Args, Debug)]
pub(crate) struct RunArguments {
    /// Protocol: `authors`, as in the paper's own program, or `honest`, tuning on held-out rows
    #[arg(long = "as", value_name = "HOW", default_value = "honest")]
    pub(crate) protocol: String,
    /// Seed of all random draws
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
