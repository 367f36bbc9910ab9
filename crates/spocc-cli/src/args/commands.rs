//! The arguments of each subcommand.

use std::path::PathBuf;

use clap_complete::Shell;
use spocc::evaluate::CompareSettings;

use crate::args::{
    columns::{ColumnArgs, TableArgs},
    method::{CalibrateArgs, MethodArgs, OptionArgs},
    unlabelled::UnlabelledArgs,
    values::{
        Dialect, NameList, OutputColumn, OutputFormat, coverage, margin, methods, output_columns, whole,
    },
};

/// The arguments of `spocc demo`.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Only write the example tables to this directory: gold.csv, new.csv, truth.csv
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
}

/// The arguments of `spocc fit`.
#[derive(Debug, clap::Args)]
pub(crate) struct FitArgs {
    /// Table or tally with some labelled rows (ladder, dawid-skene, one-coin and majority need none); several files, globs and
    /// directories are read as one table, `-` is standard input
    #[arg(value_name = "TABLE|TALLY", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// File to write the model to; `-` is standard output
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,

    /// Do not store the evidence, nor any other count or conformal score of fewer than N rows [default N: 5]: the model is
    /// smaller and discloses less, but `append` and `audit` need the evidence. Says how many rows are decided differently
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "5",
        value_parser = whole::<u64>(2..=u64::MAX)
    )]
    pub(crate) slim: Option<u64>,

    /// Do not store the evidence, but all that decides: equal decisions and sets from a smaller file. A warning says if rows
    /// can be read from it
    #[arg(long, conflicts_with = "slim")]
    pub(crate) without_evidence: bool,

    /// Do not measure the held-out accuracy, which takes five more fits (one above 5000 labelled rows)
    #[arg(long)]
    pub(crate) no_evaluate: bool,

    #[command(flatten)]
    pub(crate) columns: ColumnArgs,

    #[command(flatten)]
    pub(crate) unlabelled: UnlabelledArgs,

    #[command(flatten)]
    pub(crate) method: MethodArgs,

    #[command(flatten)]
    pub(crate) options: OptionArgs,

    #[command(flatten)]
    pub(crate) calibrate: CalibrateArgs,
}

/// The arguments of `spocc predict`.
#[derive(Debug, clap::Args)]
pub(crate) struct PredictArgs {
    /// Model written by `spocc fit`
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// Table of predictions; several files, globs and directories are read as one table, `-` is standard input
    #[arg(value_name = "TABLE", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// File to write to; .gz and .zst are compressed [default: standard output]
    #[arg(short, long, value_name = "OUT", default_value = "-", hide_default_value = true)]
    pub(crate) output: PathBuf,

    /// Columns to copy to the output, such as `item` or `item,part`; with --long, the item is copied
    #[arg(long, value_name = "COL", conflicts_with = "long")]
    pub(crate) id: Option<NameList>,

    /// Columns to write for each row
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = output_columns(), default_value = "decision")]
    pub(crate) columns: Vec<OutputColumn>,

    /// Output format [default: by the file name, else csv]
    #[arg(long, value_enum)]
    pub(crate) format: Option<OutputFormat>,

    /// Put an apostrophe before cells of CSV that a spreadsheet would take for formulas: those that start with =, +, -, @,
    /// a tab or a carriage return and are no numbers
    #[arg(long)]
    pub(crate) protect_formulas: bool,

    /// Refuse labels that the model does not know, instead of counting them as missing
    #[arg(long)]
    pub(crate) strict: bool,

    /// Accept a table without columns for some classifiers; their predictions count as missing
    #[arg(long, conflicts_with = "long")]
    pub(crate) allow_missing: bool,

    #[command(flatten)]
    pub(crate) sets: SetArgs,

    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// Conformal prediction sets, and abstention on uncertain rows.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Prediction sets and abstention")]
pub(crate) struct SetArgs {
    /// Also write conformal prediction sets and their sizes. A set contains the true label with this probability;
    /// needs a model fitted with --calibrate
    #[arg(long, value_name = "P", value_parser = coverage)]
    pub(crate) coverage: Option<spocc::conformal::Coverage>,

    /// Seed of the random draws that break ties of conformal scores, by --id or else by row number [default: 0]
    #[arg(long, value_name = "N", requires = "coverage", value_parser = whole::<u64>(0..=u64::MAX))]
    pub(crate) seed: Option<u64>,

    /// Leave the decision empty if its margin (1 - runner-up / best) is below this number, from 0 to 1
    #[arg(long, value_name = "MARGIN", value_parser = margin)]
    pub(crate) abstain_below: Option<f64>,

    /// Leave the decision empty if the prediction set has more classes than this
    #[arg(long, value_name = "N", requires = "coverage", value_parser = whole::<u64>(1..=u64::MAX))]
    pub(crate) abstain_above_size: Option<u64>,
}

impl SetArgs {
    /// Whether some decisions may be left empty.
    pub(crate) fn may_abstain(&self) -> bool {
        self.abstain_below.is_some() || self.abstain_above_size.is_some()
    }
}

/// The arguments of `spocc compare`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// Labelled table or tally; several files, globs and directories are read as one table, `-` is standard input
    #[arg(value_name = "TABLE|TALLY", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// Labelled test rows with the same columns, instead of cross-validation
    #[arg(long, value_name = "TABLE|TALLY")]
    pub(crate) test: Vec<PathBuf>,

    /// Methods to compare [default: all]
    #[arg(long, value_name = "a,b", value_delimiter = ',', value_parser = methods())]
    pub(crate) methods: Vec<spocc::Method>,

    /// Number of folds of the cross-validation
    #[arg(long, value_name = "N", default_value_t = CompareSettings::default().folds, value_parser = whole::<u16>(2..=65_535), conflicts_with = "test")]
    pub(crate) folds: u16,

    /// Repetitions of the cross-validation, each with different folds
    #[arg(long, value_name = "N", default_value_t = CompareSettings::default().repeats, value_parser = whole::<u16>(1..=65_535), conflicts_with = "test")]
    pub(crate) rounds: u16,

    /// Omit the risk-coverage curves and the learning curve
    #[arg(long)]
    pub(crate) no_curve: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) columns: ColumnArgs,

    #[command(flatten)]
    pub(crate) unlabelled: UnlabelledArgs,

    #[command(flatten)]
    pub(crate) options: OptionArgs,
}

/// The arguments of `spocc audit`.
#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {
    /// Labelled table, tally or model; several files, globs and directories are read as one table
    #[arg(value_name = "TABLE|TALLY|MODEL", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
}

/// The arguments of `spocc explain`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// Model written by `spocc fit`
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// Table of predictions; several files, globs and directories are read as one table, `-` is standard input
    #[arg(value_name = "TABLE", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// Number of the row below the header, from 1; with --long, of the item in order of appearance
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=u64::MAX))]
    pub(crate) row: u64,

    /// Columns that identify the row, to be shown; with --long, the item is shown
    #[arg(long, value_name = "COL", conflicts_with = "long")]
    pub(crate) id: Option<NameList>,

    /// Accept a table without columns for some classifiers; their predictions count as missing
    #[arg(long, conflicts_with = "long")]
    pub(crate) allow_missing: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// The arguments of `spocc append`.
#[derive(Debug, clap::Args)]
pub(crate) struct AppendArgs {
    /// Model of ladder, spocc or adaspocc, fitted without --slim and --without-evidence
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// The rows to which the model was fitted, with one more column; or a tally of them
    #[arg(value_name = "TABLE|TALLY", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// Name of the new classifier: the name of its column
    #[arg(long, value_name = "NAME")]
    pub(crate) name: String,

    /// File to write the new model to; `-` is standard output
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) columns: ColumnArgs,

    #[command(flatten)]
    pub(crate) unlabelled: UnlabelledArgs,
}

/// The arguments of `spocc tally`.
#[derive(Debug, clap::Args)]
pub(crate) struct TallyArgs {
    /// Labelled table, or a tally to reduce; several files, globs and directories are read as one table
    #[arg(value_name = "TABLE|TALLY", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// File to write the tally to; `-` is standard output
    #[arg(short, long, value_name = "TALLY")]
    pub(crate) output: PathBuf,

    /// Keep only the confusion matrix of each classifier: enough for spocc with a fixed exponent, selection,
    /// majority, weighted-vote and naive-bayes
    #[arg(long, conflicts_with = "open")]
    pub(crate) marginals: bool,

    /// Drop counts of fewer than N rows, so that no count describes fewer than N rows
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=u64::MAX), conflicts_with = "weight")]
    pub(crate) min_count: Option<u64>,

    #[command(flatten)]
    pub(crate) columns: ColumnArgs,

    #[command(flatten)]
    pub(crate) unlabelled: UnlabelledArgs,
}

/// The arguments of `spocc merge`.
#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// Tallies of the same classifiers; globs and directories stand for their files
    #[arg(value_name = "TALLY", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// Also add tallies with exactly equal counts, which are most likely copies of each other
    #[arg(long)]
    pub(crate) allow_equal: bool,

    /// File to write the sum to; `-` is standard output
    #[arg(short, long, value_name = "TALLY")]
    pub(crate) output: PathBuf,
}

/// The arguments of `spocc inspect`.
#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    /// Model, tally or table; several files, globs and directories are read as one table, `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
}

/// The arguments of `spocc sql`.
#[derive(Debug, clap::Args)]
pub(crate) struct SqlArgs {
    /// Column with the true label
    #[arg(long, value_name = "COL")]
    pub(crate) label: String,

    /// Columns with the predictions of the classifiers
    #[arg(long, value_name = "a,b")]
    pub(crate) classifiers: NameList,

    /// Name of the table; dots separate schema and table
    #[arg(long, value_name = "NAME", default_value = "answers")]
    pub(crate) table: String,

    /// Name of the column with the counts in the result
    #[arg(long, value_name = "COL", default_value = "n")]
    pub(crate) count: String,

    /// `none`: leave out unlabelled rows
    #[arg(long, value_name = "none", value_parser = ["none"])]
    pub(crate) unlabelled: Option<String>,

    /// SQL dialect
    #[arg(long, value_enum, default_value_t = Dialect::Duckdb)]
    pub(crate) dialect: Dialect,
}

/// The arguments of `spocc completions`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to print completions for
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// The arguments of `spocc man`.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Command to print the page of [default: spocc itself]
    #[arg(value_name = "COMMAND")]
    pub(crate) of: Option<String>,
}
