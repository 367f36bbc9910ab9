//! What each command takes.

use std::path::PathBuf;

use clap_complete::Shell;
use spocc::evaluate::CompareSettings;

use crate::args::{
    method::{CalibrateArgs, MethodArgs, OptionArgs},
    panel::{PanelArgs, TableArgs},
    words::{Column, Dialect, Format, Names, columns, coverage, margin, methods, whole},
};

/// What `spocc demo` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Write the example's tables to this directory instead: gold.csv, new.csv, truth.csv
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
}

/// What `spocc fit` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct FitArgs {
    /// Table with truths (dawid-skene and majority need none), or a tally; several files, globs and directories are
    /// one table, `-` is standard input
    #[arg(value_name = "TABLE|TALLY", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// Table of further rows, in the same form, for ladder and dawid-skene to learn from: nobody knows their truth.
    /// Rows that the labelled table has too, by --id or the item of --long, are skipped
    #[arg(long, value_name = "TABLE")]
    pub(crate) unlabelled: Vec<PathBuf>,

    /// The file to write the model to; `-` is standard output
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,

    /// Leave the counts out of the model: smaller and reveals less, but cannot be appended to or audited
    #[arg(long)]
    pub(crate) slim: bool,

    #[command(flatten)]
    pub(crate) panel: PanelArgs,

    #[command(flatten)]
    pub(crate) method: MethodArgs,

    #[command(flatten)]
    pub(crate) options: OptionArgs,

    #[command(flatten)]
    pub(crate) calibrate: CalibrateArgs,
}

/// What `spocc predict` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct PredictArgs {
    /// Model written by `spocc fit`
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// Table of answers; several files, globs and directories are one table, `-` is standard input
    #[arg(value_name = "TABLE", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// The file to write to; .gz and .zst are compressed [default: standard output]
    #[arg(short, long, value_name = "OUT", default_value = "-", hide_default_value = true)]
    pub(crate) output: PathBuf,

    /// Columns to copy to the output, such as `item` or `item,part`; with --long, the item is
    #[arg(long, value_name = "COL", conflicts_with = "long")]
    pub(crate) id: Option<Names>,

    /// What to write about each row
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = columns(), default_value = "decision")]
    pub(crate) columns: Vec<Column>,

    /// How to write it [default: by the name of the file, else csv]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,

    /// Refuse answers that the model never met, instead of taking them for silence
    #[arg(long)]
    pub(crate) strict: bool,

    /// Predict without the classifiers that the table has no column for: their predictions count as missing
    #[arg(long, conflicts_with = "long")]
    pub(crate) allow_missing: bool,

    #[command(flatten)]
    pub(crate) sets: SetArgs,

    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// PredictionSets of classes, and silence where a decision would be rash.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "PredictionSets and silence")]
pub(crate) struct SetArgs {
    /// Also write the set of classes that holds the truth with this probability, and its size; needs a model fitted
    /// with --calibrate
    #[arg(long, value_name = "P", value_parser = coverage)]
    pub(crate) coverage: Option<spocc::conformal::Coverage>,

    /// Seed of the lots that rows draw, by their --id or else their number [default: 0]
    #[arg(long, value_name = "N", requires = "coverage", value_parser = whole::<u64>(0..=u64::MAX))]
    pub(crate) seed: Option<u64>,

    /// Leave the decision empty where its margin (1 - runner-up / best) is below this, from 0 to 1
    #[arg(long, value_name = "MARGIN", value_parser = margin)]
    pub(crate) abstain_below: Option<f64>,

    /// Leave the decision empty where the set holds more classes than this
    #[arg(long, value_name = "N", requires = "coverage", value_parser = whole::<u64>(1..=u64::MAX))]
    pub(crate) abstain_above_size: Option<u64>,
}

impl SetArgs {
    /// Whether some decisions may be left empty.
    pub(crate) fn may_abstain(&self) -> bool {
        self.abstain_below.is_some() || self.abstain_above_size.is_some()
    }
}

/// What `spocc compare` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// Table with truths, or a tally; several files, globs and directories are one table, `-` is standard input
    #[arg(value_name = "TABLE|TALLY", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// Held-out rows with truths, in the same form, to evaluate on instead of by cross-validation
    #[arg(long, value_name = "TABLE|TALLY")]
    pub(crate) test: Vec<PathBuf>,

    /// Table of further rows, in the same form and without truths, to which ladder and dawid-skene are fitted too.
    /// Rows that the labelled table has as well, by --id or the item of --long, are skipped
    #[arg(long, value_name = "TABLE")]
    pub(crate) unlabelled: Vec<PathBuf>,

    /// Compare only these methods
    #[arg(long, value_name = "a,b", value_delimiter = ',', value_parser = methods())]
    pub(crate) methods: Vec<spocc::Method>,

    /// Folds of the cross-validation
    #[arg(long, value_name = "N", default_value_t = CompareSettings::default().folds, value_parser = whole::<u16>(2..=65_535), conflicts_with = "test")]
    pub(crate) folds: u16,

    /// Repetitions of the cross-validation, each with other folds
    #[arg(long, alias = "rounds", value_name = "N", default_value_t = CompareSettings::default().repeats, value_parser = whole::<u16>(1..=65_535), conflicts_with = "test")]
    pub(crate) repeats: u16,

    /// Leave out the curves: accuracy against margin and against the number of labelled rows
    #[arg(long)]
    pub(crate) no_curve: bool,

    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) panel: PanelArgs,

    #[command(flatten)]
    pub(crate) options: OptionArgs,
}

/// What `spocc audit` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {
    /// Table with truths, a tally or a model; several files, globs and directories are one table
    #[arg(value_name = "TABLE|TALLY|MODEL", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) panel: PanelArgs,
}

/// What `spocc explain` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// Model written by `spocc fit`
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// Table of answers; several files, globs and directories are one table, `-` is standard input
    #[arg(value_name = "TABLE", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// Which row under the header, from 1; with --long, which item in order of appearance
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=u64::MAX))]
    pub(crate) row: u64,

    /// Columns that name the row, to be shown; with --long, the item is
    #[arg(long, value_name = "COL", conflicts_with = "long")]
    pub(crate) id: Option<Names>,

    /// Explain without the classifiers that the table has no column for: their predictions count as missing
    #[arg(long, conflicts_with = "long")]
    pub(crate) allow_missing: bool,

    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// What `spocc append` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct AppendArgs {
    /// Model of ladder, spocc or adaspocc, not a slim one
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// The rows the model was fitted to, with one more column; or a tally of them
    #[arg(value_name = "TABLE|TALLY", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// Table of the rows without truth that the model learned from, with one more column
    #[arg(long, value_name = "TABLE")]
    pub(crate) unlabelled: Vec<PathBuf>,

    /// The new classifier: the name of its column
    #[arg(long, value_name = "NAME")]
    pub(crate) name: String,

    /// The file to write the grown model to; `-` is standard output
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) panel: PanelArgs,
}

/// What `spocc tally` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct TallyArgs {
    /// Table with truths, or a tally to reduce; several files, globs and directories are one table
    #[arg(value_name = "TABLE|TALLY", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// The file to write the tally to; `-` is standard output
    #[arg(short, long, value_name = "TALLY")]
    pub(crate) output: PathBuf,

    /// Keep only how often each classifier gave each answer to each truth: enough for spocc at a given exponent,
    /// selection, majority, weighted-vote and naive-bayes
    #[arg(long)]
    pub(crate) marginals: bool,

    /// Drop what fewer than N rows share, so that no count points at fewer
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=u64::MAX), conflicts_with = "weight")]
    pub(crate) min_count: Option<u64>,

    #[command(flatten)]
    pub(crate) panel: PanelArgs,
}

/// What `spocc merge` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// Tallies of the same panel; globs and directories are their files
    #[arg(value_name = "TALLY", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// Add up also tallies of exactly equal counts, which most likely are copies of one
    #[arg(long)]
    pub(crate) allow_equal: bool,

    /// The file to write the sum to; `-` is standard output
    #[arg(short, long, value_name = "TALLY")]
    pub(crate) output: PathBuf,
}

/// What `spocc inspect` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    /// Model, tally or table; several files, globs and directories are one table, `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) panel: PanelArgs,
}

/// What `spocc sql` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct SqlArgs {
    /// The column that holds the truth
    #[arg(long, value_name = "COL")]
    pub(crate) label: String,

    /// The columns that are classifiers
    #[arg(long, value_name = "a,b")]
    pub(crate) classifiers: Names,

    /// The table; dots separate its schema
    #[arg(long, value_name = "NAME", default_value = "answers")]
    pub(crate) table: String,

    /// The name of the column with the counts
    #[arg(long, value_name = "COL", default_value = "n")]
    pub(crate) count: String,

    /// Whose SQL
    #[arg(long, value_enum, default_value_t = Dialect::Duckdb)]
    pub(crate) dialect: Dialect,
}

/// What `spocc completions` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// What `spocc man` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Which command [default: spocc itself]
    #[arg(value_name = "COMMAND")]
    pub(crate) of: Option<String>,
}
