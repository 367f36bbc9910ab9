//! What the user may type: commands, options and their help.

mod commands;
mod method;
mod panel;
mod words;

use clap::{CommandFactory, Parser, Subcommand, error::ErrorKind};

pub(crate) use commands::{
    AppendArgs, AuditArgs, CompareArgs, CompletionsArgs, DemoArgs, ExplainArgs, FitArgs, InspectArgs,
    ManArgs, MergeArgs, PredictArgs, SqlArgs, TallyArgs,
};
pub(crate) use method::refused_setting;
pub(crate) use panel::{Long, PanelArgs, Repeats};
pub(crate) use words::{Column, Dialect, Format, Names};
use words::{memory, whole};

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
  spocc demo                                             see it work, no data needed
  spocc audit gold.csv --label truth --id item           who is worth listening to
  spocc compare gold.csv --label truth --id item         which method is best here
  spocc fit gold.csv --label truth --id item -o panel.spocc
  spocc predict panel.spocc new.csv --id item -o decided.csv
  spocc explain panel.spocc new.csv --id item --row 1    why

`spocc help COMMAND` says more about each."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Number of threads; no result depends on it [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = whole::<u16>(1..=1024), help_heading = "Running")]
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
    /// truth are skipped, except by --method dawid-skene and, with --unlabelled, ladder. The former and --method majority
    /// need no truth at all: leave --label out.
    #[command(after_help = "\
Examples:
  spocc fit gold.csv --label truth --id item -o panel.spocc
  spocc fit gold.csv --label truth --id item --classes yes,no -o panel.spocc
  spocc fit gold.csv --label truth --id item --method spocc --exponent inf -o p.spocc
  spocc fit gold.csv --label truth --id item --method stacking --strength 1 -o p.spocc
  spocc fit 'part-*.csv.gz' --label truth --id item -o panel.spocc
  spocc fit crowd.csv --long item,worker,answer --gold gold.csv --label truth -o crowd.spocc
  spocc fit crowd.csv --long item,worker,answer --method dawid-skene -o crowd.spocc
  spocc fit gold.csv --label truth --id item --method dawid-skene --unlabelled new.csv -o p.spocc
  spocc fit all.tally -o panel.spocc")]
    Fit(FitArgs),
    /// Decide the rows of a table with a fitted model
    ///
    /// Finds the model's classifiers among the columns by name; other columns are left alone. Writes the
    /// columns of --id, then `decision`, then what --columns asks for.
    #[command(after_help = "\
Columns:
  decision     the class decided; always there
  margin       1 - runner-up / best, on the scale of the method (possibility, probability or
               share of votes): 0 is a tie
  possibility  how possible each class is, from 0 to 1, a column each
  probability  how probable each class is, a column each; of ladder, naive-bayes, bayes,
               stacking and dawid-skene
  ties         the equally good classes, joined by `|`, if there are several
  answered     how many classifiers spoke and were understood

Examples:
  spocc predict panel.spocc new.csv --id item -o decided.csv
  spocc predict panel.spocc new.csv --id item --columns margin,ties | head
  zcat new.csv.gz | spocc predict panel.spocc - --id item --format json")]
    Predict(PredictArgs),
    /// Measure the accuracy of every method on held-out rows
    ///
    /// Fits every method and evaluates it on the rows of --test, or by repeated cross-validation on the labelled
    /// rows. Says which differences are significant, whether any method is better than the best single classifier
    /// and the majority vote, and whether more labelled rows would help.
    #[command(after_help = "\
Examples:
  spocc compare gold.csv --label truth --id item
  spocc compare gold.csv --label truth --id item --test held-out.csv
  spocc compare gold.csv --label truth --id item --methods adaspocc,stacking --json")]
    Compare(CompareArgs),
    /// Say who in the panel is worth listening to
    ///
    /// Who is right how often, who copies whom, who guesses, who is reliably wrong, who hardly speaks, and
    /// how many independent contributions the panel amounts to.
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
    /// Nothing that spocc and adaspocc learned before changes; the ladder is fitted anew. The table must hold the rows
    /// the model was fitted to, with the columns of its classifiers and of the new one. For models of these three
    /// methods that keep their counts.
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
