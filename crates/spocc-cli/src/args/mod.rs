//! The command line: subcommands, options and their help texts.

mod columns;
mod commands;
mod method;
mod unlabelled;
mod values;

use clap::{CommandFactory, Parser, Subcommand, error::ErrorKind};

pub(crate) use columns::{ColumnArgs, LongColumns, Repeats};
pub(crate) use commands::{
    AppendArgs, AuditArgs, CompareArgs, CompletionsArgs, DemoArgs, ExplainArgs, FitArgs, InspectArgs,
    ManArgs, MergeArgs, PredictArgs, SqlArgs, TallyArgs,
};
pub(crate) use method::refused_setting;
pub(crate) use values::{Dialect, NameList, OutputColumn, OutputFormat};
use values::{memory, whole};

/// Combines the predicted labels of many classifiers into one decision per row.
///
/// The input is a table with a row per item and a column per classifier: models, annotators or tools. Some
/// rows also have the true label. spocc estimates from these rows how reliable each classifier is, which
/// classifiers depend on each other and which are systematically wrong, and decides the other rows.
#[derive(Debug, Parser)]
#[command(
    name = "spocc",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  spocc demo                                            an example without data
  spocc audit gold.csv --label truth --id item          quality of classifiers
  spocc compare gold.csv --label truth --id item        accuracy of methods
  spocc fit gold.csv --label truth --id item -o panel.spocc
  spocc predict panel.spocc new.csv --id item -o decided.csv
  spocc explain panel.spocc new.csv --id item --row 1   why this decision

`spocc help COMMAND` explains each command and its options."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: CliCommand,

    /// Number of threads; results do not depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = whole::<u16>(1..=1024), help_heading = "Running")]
    pub(crate) threads: Option<u16>,

    /// Memory limit for reading, and for a single table of counts, such as 512M or 16G
    #[arg(long, global = true, value_name = "SIZE", value_parser = memory, default_value = "4G", help_heading = "Running")]
    pub(crate) memory: u64,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Run an audit, a comparison and an explanation on example data
    ///
    /// Eleven classifiers sort messages into four classes. Five of them make the same errors, one guesses at
    /// random, one is systematically wrong, one always predicts the same class and one has predictions for few
    /// rows. The demo audits them, compares all methods with the majority vote and explains one decision.
    #[command(after_help = "\
Examples:
  spocc demo
  spocc demo --save .          write the example tables to this directory")]
    Demo(DemoArgs),
    /// Fit a model to labelled and unlabelled rows
    ///
    /// Every column is a classifier, except the columns named by --label, --id, --weight, --count or --ignore.
    /// A cell holds the label that the classifier predicts for the row; an empty cell is a missing prediction.
    /// Rows without a true label are used by ladder, dawid-skene and one-coin and skipped by other methods. With
    /// --method ladder, dawid-skene, one-coin or majority no row needs a label: without --label, all rows are unlabelled.
    #[command(after_help = "\
Examples:
  spocc fit gold.csv --label truth --id item -o panel.spocc
  spocc fit gold.csv --label truth --id item --classes yes,no -o panel.spocc
  spocc fit gold.csv --label truth --id item --method spocc -o panel.spocc
  spocc fit gold.csv --label truth --method stacking --strength 1 -o p.spocc
  spocc fit 'part-*.csv.gz' --label truth --id item -o panel.spocc
  spocc fit crowd.csv --long item,worker,answer --gold gold.csv \\
    --label truth -o crowd.spocc
  spocc fit crowd.csv --long item,worker,answer --method dawid-skene -o c.spocc
  spocc fit gold.csv --label truth --id item --unlabelled new.csv -o p.spocc
  spocc fit gold.csv --label truth --id item --unlabelled none -o p.spocc
  spocc fit all.tally -o panel.spocc")]
    Fit(FitArgs),
    /// Decide the rows of a table with a fitted model
    ///
    /// Finds the model's classifiers among the columns by name and ignores other columns. Writes the columns of
    /// --id, then `decision`, then the columns of --columns.
    #[command(after_help = "\
Columns:
  decision     the decided class; always written
  margin       1 - runner-up / best, of the possibilities, probabilities or
               vote shares that the method compares: 0 is a tie
  possibility  the fused possibility of each class, from 0 to 1
  probability  the probability of each class; for ladder, naive-bayes, bayes,
               stacking, dawid-skene and one-coin
  ties         the tied classes, separated by `|`; empty if there is no tie
  answered     number of classifiers with a prediction that the model can use

Examples:
  spocc predict panel.spocc new.csv --id item -o decided.csv
  spocc predict panel.spocc new.csv --id item --columns margin,ties | head
  zcat new.csv.gz | spocc predict panel.spocc - --id item --format json")]
    Predict(PredictArgs),
    /// Measure the accuracy of every method on held-out rows
    ///
    /// Fits every method and evaluates it on the rows of --test, or by repeated cross-validation on the labelled
    /// rows. Methods that use unlabelled rows are fitted to all of them in every fold, and held-out rows are not
    /// among these. Reports which differences are significant, whether any method is better than the best single
    /// classifier and the majority vote, and whether more labelled rows would help.
    #[command(after_help = "\
Examples:
  spocc compare gold.csv --label truth --id item
  spocc compare gold.csv --label truth --id item --test held-out.csv
  spocc compare gold.csv --label truth --methods adaspocc,stacking --json")]
    Compare(CompareArgs),
    /// Report the quality of each classifier and their dependence
    ///
    /// Lists the accuracy, coverage, information and influence of each classifier. Names copies, random
    /// guessers, constant and systematically wrong classifiers, and estimates how many independent votes the
    /// classifiers amount to.
    #[command(after_help = "\
Examples:
  spocc audit gold.csv --label truth --id item
  spocc audit panel.spocc --json
  spocc audit all.tally")]
    Audit(AuditArgs),
    /// Explain the decision of one row
    ///
    /// Shows the prediction of each classifier, its possibility distribution over the classes, how the
    /// distributions were combined, how much each classifier contributed to the decision, and which single
    /// change of a prediction would change the decision.
    #[command(after_help = "\
Examples:
  spocc explain panel.spocc new.csv --row 12 --id item
  spocc explain panel.spocc new.csv --row 12 --json")]
    Explain(ExplainArgs),
    /// Add one classifier to a fitted model
    ///
    /// For models of ladder, spocc and adaspocc that keep their counts. The table must hold the rows to which the
    /// model was fitted, with the columns of its classifiers and of the new one. spocc and adaspocc keep all
    /// fitted parameters; ladder is fitted again.
    #[command(after_help = "\
Example:
  spocc append panel.spocc --name eve gold.csv --label truth -o grown.spocc")]
    Append(AppendArgs),
    /// Count a table into a tally, which can be shared instead of the rows
    ///
    /// A tally holds how often each pattern of predictions occurs with each true label and without one, and no ids.
    /// Every method can be fitted to it. Of more than 65536 distinct patterns of unlabelled rows a sample is kept.
    /// --marginals keeps less detail, --min-count drops rare patterns.
    #[command(after_help = "\
Examples:
  spocc tally gold.csv --label truth --id item -o north.tally
  spocc tally gold.csv --label truth --id item --min-count 5 -o north.tally
  spocc tally gold.csv --label truth --id item --marginals -o north.tally")]
    Tally(TallyArgs),
    /// Add up tallies of the same classifiers
    ///
    /// The sum equals the tally of all rows together, in any order of the parts. Giving the same tally twice is
    /// an error.
    #[command(after_help = "\
Example:
  spocc merge north.tally south.tally -o all.tally")]
    Merge(MergeArgs),
    /// Describe a model, a tally or a table, and what it discloses
    ///
    /// For a model: its method, classifiers, classes and parameters. For a tally: its size, and how many rows
    /// have a rare pattern and could be recognised. For a table: its columns and their values; with --label, also
    /// what a tally of it would disclose.
    #[command(after_help = "\
Examples:
  spocc inspect panel.spocc
  spocc inspect north.tally --json
  spocc inspect gold.csv --label truth --id item")]
    Inspect(InspectArgs),
    /// Print an SQL query that groups a table in a database
    ///
    /// The query returns one row per pattern of predictions and true label, with its count; of unlabelled rows the
    /// label is NULL. `spocc fit --count` reads the result, so that the rows themselves stay in the database.
    #[command(after_help = "\
Examples:
  spocc sql --label truth --classifiers ann,bob,eve --table answers
  spocc sql --label truth --classifiers a,b --dialect bigquery --table lab.t
  duckdb lab.db -csv -c \"$(spocc sql --label truth --classifiers a,b)\" |
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

/// The complete command line, for help, completions and manual pages.
pub(crate) fn command() -> clap::Command {
    let mut all = Args::command();
    all.build();
    all
}

/// The arguments of this process. Wrong usage ends it with a message in which hidden characters are escaped.
pub(crate) fn parse() -> Args {
    Args::try_parse().unwrap_or_else(|error| {
        // Escaped arguments are refused as the given ones are, in a message that shows them.
        let given = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        let escaped: Vec<String> = given.map(|argument| spocc::printable(&argument).into_owned()).collect();
        Args::try_parse_from(escaped).err().unwrap_or(error).exit()
    })
}

/// A usage error of a subcommand.
pub(crate) fn usage(command: &str, kind: ErrorKind, message: &str) -> clap::Error {
    let mut all = self::command();
    let message = spocc::printable(message);
    match all.find_subcommand_mut(command) {
        Some(command) => command.error(kind, message),
        None => all.error(kind, message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
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

    #[test]
    fn examples_fit_a_terminal_of_80_columns() {
        let all = Args::command();
        for command in all.get_subcommands().chain([&all]) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let wide = help.lines().find(|line| line.chars().count() > 80);
            assert_eq!(wide, None, "{}", command.get_name());
        }
    }
}
