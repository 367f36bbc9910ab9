//! What the user may type: commands, options and their help.

mod method;
mod panel;
mod words;

use std::path::PathBuf;

use clap::{CommandFactory, Parser, Subcommand, error::ErrorKind};
use clap_complete::Shell;

pub(crate) use method::{MethodArgs, OptionArgs};
pub(crate) use panel::{Long, PanelArgs, Repeats, TableArgs};
pub(crate) use words::{Column, Dialect, Format, Names};
use words::{columns, memory, methods};

/// Turns the answers of many classifiers into one answer.
///
/// Give it a table of what people, models or tools said about the same items, with the right answer for some
/// of them. It learns who is worth listening to, who copies whom, who guesses and who is reliably wrong, and
/// decides the rest.
#[derive(Debug, Parser)]
#[command(
    name = "spocc",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  spocc demo                                     see it work, no data needed
  spocc audit gold.csv --label truth             who is worth listening to
  spocc compare gold.csv --label truth           which method is best here
  spocc fit gold.csv --label truth -o panel.spocc
  spocc predict panel.spocc new.csv --id item -o decided.csv
  spocc explain panel.spocc new.csv --row 1      why

`spocc help COMMAND` says more about each."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Number of threads; no result depends on it [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Running")]
    pub(crate) threads: Option<u16>,

    /// Most memory for a single table of counts, such as 512M or 16G
    #[arg(long, global = true, value_name = "SIZE", value_parser = memory, default_value = "4G", help_heading = "Running")]
    pub(crate) memory: u64,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show everything on a built-in example
    ///
    /// Eleven judges sort messages into four classes: some copy each other, one guesses, one is reliably
    /// wrong, one always says the same, one is mostly silent. The demo audits them, compares all methods with
    /// the majority vote and explains one decision.
    #[command(after_help = "\
Examples:
  spocc demo
  spocc demo --save .          write the example's tables here, to try things on")]
    Demo(DemoArgs),
    /// Learn from rows with known truths how to combine a panel
    ///
    /// Every column is a classifier, except those you name with --label, --id, --weight, --count or --ignore.
    /// A cell is what that classifier said about that row; an empty cell means it said nothing. Rows without a
    /// truth are skipped.
    #[command(after_help = "\
Examples:
  spocc fit gold.csv --label truth --id item -o panel.spocc
  spocc fit gold.csv --label truth --classes yes,no -o panel.spocc
  spocc fit gold.csv --label truth --method spocc --exponent inf -o p.spocc
  spocc fit 'part-*.csv.gz' --label truth -o panel.spocc
  spocc fit crowd.csv --long item,worker,answer --gold gold.csv --label truth -o crowd.spocc
  spocc fit all.tally -o panel.spocc")]
    Fit(FitArgs),
    /// Decide the rows of a table with a fitted model
    ///
    /// Finds the model's classifiers among the columns by name; other columns are left alone. Writes the
    /// columns of --id, then `decision`, then what --columns asks for.
    #[command(after_help = "\
Columns:
  decision     the class decided; always there
  margin       how clearly it leads: 0 a tie, 1 no doubt at all
  possibility  how possible each class is, from 0 to 1, a column each
  ties         the equally good classes, joined by `|`, if there are several
  answered     how many classifiers spoke and were understood

Examples:
  spocc predict panel.spocc new.csv --id item -o decided.csv
  spocc predict panel.spocc new.csv --id item --columns margin,ties | head
  zcat new.csv.gz | spocc predict panel.spocc - --id item --format json")]
    Predict(PredictArgs),
    /// Measure every method on rows it did not learn from
    ///
    /// Fits every method and judges it on the rows of --test, or by repeated k-fold on the labelled rows
    /// themselves. Says how sure the differences are, whether anything beats the best single classifier and
    /// the majority, and whether more labelled rows would help.
    #[command(after_help = "\
Examples:
  spocc compare gold.csv --label truth --id item
  spocc compare gold.csv --label truth --id item --test held-out.csv
  spocc compare gold.csv --label truth --id item --methods adaspocc,stacking --json")]
    Compare(CompareArgs),
    /// Say who in the panel is worth listening to
    ///
    /// Who is right how often, who copies whom, who guesses, who is reliably wrong, who hardly speaks, and
    /// how many independent voices the panel amounts to.
    #[command(after_help = "\
Examples:
  spocc audit gold.csv --label truth --id item
  spocc audit panel.spocc --json
  spocc audit all.tally")]
    Audit(AuditArgs),
    /// Say why one row was decided as it was
    ///
    /// What each classifier said, how possible its answer leaves each class, who was joined with whom, whose
    /// voice decided, and which single other answer would have changed the decision.
    #[command(after_help = "\
Examples:
  spocc explain panel.spocc new.csv --row 12 --id item
  spocc explain panel.spocc new.csv --row 12 --json")]
    Explain(ExplainArgs),
    /// Add one more classifier to a fitted model
    ///
    /// Nothing learned before changes. The table must hold the rows the model was fitted to, with the columns
    /// of its classifiers and of the new one. For models of spocc and adaspocc that keep their counts.
    #[command(after_help = "\
Example:
  spocc append panel.spocc --name newcomer gold.csv --label truth -o grown.spocc")]
    Append(AppendArgs),
    /// Count a table into a tally, which can be shared instead of its rows
    ///
    /// A tally holds how often each pattern of answers met each truth: all that any method learns from, and
    /// no ids. --marginals keeps less, --min-count drops what few rows share.
    #[command(after_help = "\
Examples:
  spocc tally gold.csv --label truth --id item -o north.tally
  spocc tally gold.csv --label truth --id item --min-count 5 -o north.tally
  spocc tally gold.csv --label truth --id item --marginals -o north.tally")]
    Tally(TallyArgs),
    /// Add up tallies of the same panel
    ///
    /// Exact: the sum is the tally of all rows together, in whatever order the parts come. The same file given
    /// twice is refused.
    #[command(after_help = "\
Example:
  spocc merge north.tally south.tally -o all.tally")]
    Merge(MergeArgs),
    /// Say what is in a file, and what it gives away
    ///
    /// Of a model: its method, classifiers, classes and parameters. Of a tally: how much was counted, and how
    /// many rows it exposes, which are those whose pattern few share. Of a table: its columns and what is in
    /// them; with --label, also what a tally of it would expose.
    #[command(after_help = "\
Examples:
  spocc inspect panel.spocc
  spocc inspect north.tally --json
  spocc inspect gold.csv --label truth --id item")]
    Inspect(InspectArgs),
    /// Print the SQL that groups a table in a database
    ///
    /// The result of the query is a small table that --count reads: rows that a database holds need not leave
    /// it.
    #[command(after_help = "\
Examples:
  spocc sql --label truth --classifiers ann,bob,eve --table answers
  spocc sql --label truth --classifiers ann,bob --dialect bigquery --table lab.answers
  duckdb lab.db -csv -c \"$(spocc sql --label truth --classifiers ann,bob --table answers)\" |
    spocc fit - --label truth --count n -o panel.spocc")]
    Sql(SqlArgs),
    /// Print shell completions
    #[command(after_help = "\
Examples:
  spocc completions bash > ~/.local/share/bash-completion/completions/spocc
  spocc completions zsh > ~/.zfunc/_spocc
  spocc completions fish > ~/.config/fish/completions/spocc.fish")]
    Completions(CompletionsArgs),
    /// Print the manual page of spocc or of one of its commands
    #[command(after_help = "\
Examples:
  spocc man | man -l -
  spocc man fit > spocc-fit.1")]
    Man(ManArgs),
}

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
    /// Table with truths, or a tally; several files, globs and directories are one table, `-` is standard input
    #[arg(value_name = "TABLE|TALLY", required = true)]
    pub(crate) input: Vec<PathBuf>,

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

    /// Columns to copy to the output, such as `item` or `item,part`
    #[arg(long, value_name = "COL")]
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

    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// What `spocc compare` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// Table with truths, or a tally; several files, globs and directories are one table, `-` is standard input
    #[arg(value_name = "TABLE|TALLY", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// Other rows with truths, in the same form, to judge on instead of k-fold
    #[arg(long, value_name = "TABLE|TALLY")]
    pub(crate) test: Vec<PathBuf>,

    /// Only these methods
    #[arg(long, value_name = "a,b", value_delimiter = ',', value_parser = methods())]
    pub(crate) methods: Vec<spocc::Method>,

    /// Parts of a k-fold: each is judged by what was learned from the others
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..), conflicts_with = "test")]
    pub(crate) folds: u16,

    /// How often the rows are dealt into folds anew
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..), conflicts_with = "test")]
    pub(crate) rounds: u16,

    /// Leave out how accuracy grows with the number of labelled rows
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
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) row: u64,

    /// Columns that name the row, to be shown
    #[arg(long, value_name = "COL")]
    pub(crate) id: Option<Names>,

    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// What `spocc append` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct AppendArgs {
    /// Model of spocc or adaspocc, not a slim one
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// The rows the model was fitted to, with one more column; or a tally of them
    #[arg(value_name = "TABLE|TALLY", required = true)]
    pub(crate) input: Vec<PathBuf>,

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

    /// Keep only how often each classifier gave each answer to each truth: enough for spocc, the votes and
    /// naive-bayes, not for adaspocc, bayes and stacking
    #[arg(long)]
    pub(crate) marginals: bool,

    /// Drop what fewer than N rows share, so that no count points at fewer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "weight")]
    pub(crate) min_count: Option<u64>,

    #[command(flatten)]
    pub(crate) panel: PanelArgs,
}

/// What `spocc merge` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// Tallies of the same panel
    #[arg(value_name = "TALLY", required = true)]
    pub(crate) input: Vec<PathBuf>,

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

impl PredictArgs {
    /// Refuses two output columns of one name, which no table may have.
    ///
    /// # Errors
    ///
    /// A usage error that names it.
    pub(crate) fn refuse_repeats(&self) -> Result<(), clap::Error> {
        let ids = self.id.iter().flat_map(|names| names.0.iter().map(String::as_str));
        let item = self.table.long.as_ref().map(|long| long.item.as_str());
        let asked =
            self.columns.iter().filter(|column| **column != Column::Decision).map(|column| column.name());
        let mut seen = Vec::new();
        for name in ids.chain(item).chain(["decision"]).chain(asked) {
            if seen.contains(&name) {
                let message = format!("the output would have two columns `{name}`");
                return Err(usage("predict", ErrorKind::ArgumentConflict, &message));
            }
            seen.push(name);
        }
        Ok(())
    }
}

/// The whole command line, for help, completions and manual pages.
pub(crate) fn command() -> clap::Command {
    let mut all = Args::command();
    all.build();
    all
}

/// An error about how a command was called, with its usage.
pub(crate) fn usage(command: &str, kind: ErrorKind, message: &str) -> clap::Error {
    let mut all = self::command();
    match all.find_subcommand_mut(command) {
        Some(command) => command.error(kind, message),
        None => all.error(kind, message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_contradict_nothing() {
        Args::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example() {
        for command in Args::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let example = format!("\n  spocc {}", command.get_name());
            assert!(help.contains("Example") && help.contains(&example), "{}", command.get_name());
        }
    }
}
