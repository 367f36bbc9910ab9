//! What the user may type: commands, options and their help.

use std::path::PathBuf;

use clap::{CommandFactory, Parser, Subcommand, error::ErrorKind};
use spocc::{
    AdaSpocc, Combiner, ExpVote, Inputs, Label, Method, Missing, Options, Spocc, SpoccExponent, Stacking,
    TieBreak, Tuning,
};

use crate::words::{Column, Names, columns, exponent, methods, words};

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
  spocc fit gold.csv --label truth -o panel.spocc
  spocc predict panel.spocc new.csv --id item -o decided.csv

`spocc help COMMAND` says more about each."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show everything on a built-in example
    ///
    /// Eleven judges sort messages into four classes: some copy each other, one guesses, one is reliably
    /// wrong, one always says the same, one is mostly silent. The demo audits them, compares all methods with
    /// the majority vote and explains one decision.
    #[command(after_help = "Example:\n  spocc demo")]
    Demo,
    /// Learn from a table with known truths how to combine a panel
    ///
    /// Every column is a classifier, except those you name with --label, --id, --weight, --count or --ignore.
    /// A cell is what that classifier said about that row; an empty cell means it said nothing. Rows without a
    /// truth are skipped.
    #[command(after_help = "\
Examples:
  spocc fit gold.csv --label truth --id item -o panel.spocc
  spocc fit gold.csv --label truth --classes yes,no -o panel.spocc
  spocc fit gold.csv --label truth --method spocc --exponent inf -o p.spocc
  zcat gold.csv.gz | spocc fit - --label truth -o panel.spocc")]
    Fit(FitArgs),
    /// Decide the rows of a table with a fitted model
    ///
    /// Finds the model's classifiers among the columns by name; other columns are left alone. Writes CSV: the
    /// columns of --id, then `decision`, then what --columns asks for.
    #[command(after_help = "\
Columns:
  margin       how clearly the decision leads: 0 a tie, 1 no doubt at all
  possibility  how possible each class is, from 0 to 1, a column each
  ties         the equally good classes, joined by `|`, if there are several
  answered     how many classifiers spoke and were understood

Examples:
  spocc predict panel.spocc new.csv --id item -o decided.csv
  spocc predict panel.spocc new.csv --id item --columns margin,ties | head")]
    Predict(PredictArgs),
}

/// What `spocc fit` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct FitArgs {
    /// CSV table with a header line; `-` is standard input
    #[arg(value_name = "TABLE")]
    pub(crate) table: PathBuf,

    /// The file to write the model to
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,

    /// The column that holds the truth
    #[arg(long, value_name = "COL", help_heading = "Table")]
    pub(crate) label: String,

    /// Columns that only name the row, such as `item` or `item,part`
    #[arg(long, value_name = "COL", help_heading = "Table")]
    pub(crate) id: Option<Names>,

    /// The only columns that are classifiers; without this, all that have no other use
    #[arg(long, value_name = "a,b", help_heading = "Table")]
    pub(crate) classifiers: Option<Names>,

    /// Columns to leave out
    #[arg(long, value_name = "a,b", help_heading = "Table")]
    pub(crate) ignore: Option<Names>,

    /// Words that mean "no answer", besides an empty cell
    #[arg(long, value_name = "WORDS", default_value = "null", help_heading = "Table")]
    pub(crate) na: Names,

    /// Column with the weight of each row, from 0
    #[arg(long, value_name = "COL", conflicts_with = "count", help_heading = "Table")]
    pub(crate) weight: Option<String>,

    /// Column that says how often each row occurred, for a table already grouped
    #[arg(long, value_name = "COL", help_heading = "Table")]
    pub(crate) count: Option<String>,

    /// Exactly the classes to decide between, in this order [default: all truths and answers]
    ///
    /// Ties go to the first of them. Any other answer, such as `refuse`, is then something that a classifier
    /// can say but never a decision.
    #[arg(long, value_name = "a,b,c", help_heading = "Method")]
    pub(crate) classes: Option<Names>,

    /// How to combine the answers
    #[arg(long, value_parser = methods(), default_value_t = Method::AdaSpocc, help_heading = "Method")]
    pub(crate) method: Method,

    /// On which rows settings are judged [default: leave-one-out; k-fold for stacking]
    #[arg(long, value_parser = words([Tuning::Resubstitution, Tuning::LeaveOneOut, Tuning::KFold(Tuning::FOLDS)]),
          help_heading = "Method")]
    pub(crate) tuning: Option<Tuning>,

    /// How answers enter stacking: a column per answer, or its number [default: one-hot]
    #[arg(long, value_parser = words([Inputs::OneHot, Inputs::Ordinal]), help_heading = "Method")]
    pub(crate) inputs: Option<Inputs>,

    /// Exponent of spocc: from 1 (independent judges) to `inf` (copies), or `tuned` [default: 5]
    #[arg(long, value_name = "X", value_parser = exponent, help_heading = "Method")]
    pub(crate) exponent: Option<SpoccExponent>,

    /// Which of several equally good classes to decide
    #[arg(long, value_parser = words([TieBreak::First, TieBreak::Random(0)]), default_value_t = TieBreak::First,
          help_heading = "Method")]
    pub(crate) ties: TieBreak,

    /// What an empty cell means: nothing was asked, or silence is an answer
    #[arg(long, value_parser = words([Missing::Silent, Missing::Symbol]), default_value_t = Missing::Silent,
          help_heading = "Method")]
    pub(crate) missing: Missing,

    /// Seed of random ties
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Method")]
    pub(crate) seed: u64,

    /// Leave the counts out of the model: smaller and reveals less, but cannot be appended to
    #[arg(long)]
    pub(crate) slim: bool,

    /// Number of threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

/// What `spocc predict` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct PredictArgs {
    /// Model written by `spocc fit`
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// CSV table with a header line; `-` is standard input
    #[arg(value_name = "TABLE")]
    pub(crate) table: PathBuf,

    /// The file to write to [default: standard output]
    #[arg(short, long, value_name = "OUT", default_value = "-", hide_default_value = true)]
    pub(crate) output: PathBuf,

    /// Columns to copy to the output, such as `item` or `item,part`
    #[arg(long, value_name = "COL")]
    pub(crate) id: Option<Names>,

    /// What to write about each row
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = columns(), default_value = "decision")]
    pub(crate) columns: Vec<Column>,

    /// Words that mean "no answer", besides an empty cell
    #[arg(long, value_name = "WORDS", default_value = "null")]
    pub(crate) na: Names,

    /// Refuse answers that the model never met, instead of taking them for silence
    #[arg(long)]
    pub(crate) strict: bool,

    /// Number of threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

impl FitArgs {
    /// The method with its settings.
    ///
    /// # Errors
    ///
    /// A usage error for an option that the method does not use.
    pub(crate) fn combiner(&self) -> Result<Box<dyn Combiner>, clap::Error> {
        self.refuse_unused()?;
        let tuned = |default: Tuning| self.tuning.unwrap_or(default);
        Ok(match self.method {
            Method::Spocc => {
                let exponent = match self.exponent.unwrap_or_default() {
                    SpoccExponent::Tuned(default) => SpoccExponent::Tuned(tuned(default)),
                    fixed => fixed,
                };
                Box::new(Spocc { exponent })
            }
            Method::AdaSpocc => Box::new(AdaSpocc { tuning: tuned(AdaSpocc::default().tuning) }),
            Method::ExpVote => Box::new(ExpVote { tuning: tuned(ExpVote::default().tuning) }),
            Method::Stacking => {
                let default = Stacking::default();
                let inputs = self.inputs.unwrap_or(default.inputs);
                Box::new(Stacking { inputs, tuning: tuned(default.tuning) })
            }
            other => other.combiner(),
        })
    }

    fn refuse_unused(&self) -> Result<(), clap::Error> {
        let method = self.method;
        let tunes = match method {
            Method::Spocc => matches!(self.exponent, Some(SpoccExponent::Tuned(_))),
            _ => matches!(method, Method::AdaSpocc | Method::ExpVote | Method::Stacking),
        };
        let unused = [
            ("--exponent", self.exponent.is_some(), method == Method::Spocc, "spocc"),
            ("--inputs", self.inputs.is_some(), method == Method::Stacking, "stacking"),
            (
                "--tuning",
                self.tuning.is_some(),
                tunes,
                "adaspocc, exp-vote, stacking and spocc with --exponent tuned",
            ),
        ];
        for (option, given, used, by) in unused {
            if given && !used {
                let message = format!("{option} is not used by --method {method}, only by {by}");
                return Err(usage("fit", ErrorKind::ArgumentConflict, &message));
            }
        }
        if method == Method::Stacking && self.tuning == Some(Tuning::LeaveOneOut) {
            let message = "--method stacking takes --tuning k-fold or resubstitution, not leave-one-out";
            return Err(usage("fit", ErrorKind::ArgumentConflict, message));
        }
        Ok(())
    }

    /// The choices that every method shares.
    pub(crate) fn options(&self) -> Options {
        let ties = match self.ties {
            TieBreak::Random(_) => TieBreak::Random(self.seed),
            other => other,
        };
        Options { missing: self.missing, ties }
    }

    /// The classes given, if any.
    pub(crate) fn class_list(&self) -> Option<Vec<Label>> {
        Some(self.classes.as_ref()?.0.iter().map(|name| Label::from(name.as_str())).collect())
    }

    /// Refuses a column with two uses, such as a truth that is also a classifier.
    ///
    /// # Errors
    ///
    /// A usage error that names it.
    pub(crate) fn refuse_double_use(&self) -> Result<(), clap::Error> {
        let names =
            |names: &Option<Names>| names.iter().flat_map(|names| names.0.clone()).collect::<Vec<_>>();
        let uses = [
            ("--label", vec![self.label.clone()]),
            ("--id", names(&self.id)),
            ("--weight", self.weight.iter().cloned().collect()),
            ("--count", self.count.iter().cloned().collect()),
            ("--classifiers", names(&self.classifiers)),
        ];
        let mut seen: Vec<(&str, &String)> = Vec::new();
        for (option, column) in
            uses.iter().flat_map(|(option, names)| names.iter().map(move |name| (*option, name)))
        {
            if let Some((first, _)) = seen.iter().find(|(_, known)| *known == column) {
                let message = if *first == option {
                    format!("column `{column}` is given twice by {option}")
                } else {
                    format!("column `{column}` is given by {first} and by {option}")
                };
                return Err(usage("fit", ErrorKind::ArgumentConflict, &message));
            }
            seen.push((option, column));
        }
        Ok(())
    }
}

impl PredictArgs {
    /// Refuses two output columns of one name, which no table may have.
    ///
    /// # Errors
    ///
    /// A usage error that names it.
    pub(crate) fn refuse_repeats(&self) -> Result<(), clap::Error> {
        let ids = self.id.iter().flat_map(|names| names.0.iter().map(String::as_str));
        let asked =
            self.columns.iter().filter(|column| **column != Column::Decision).map(|column| column.name());
        let mut seen = Vec::new();
        for name in ids.chain(["decision"]).chain(asked) {
            if seen.contains(&name) {
                let message = format!("the output would have two columns `{name}`");
                return Err(usage("predict", ErrorKind::ArgumentConflict, &message));
            }
            seen.push(name);
        }
        Ok(())
    }
}

/// An error about how a command was called, with its usage.
fn usage(command: &str, kind: ErrorKind, message: &str) -> clap::Error {
    let mut all = Args::command();
    all.build();
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
}
