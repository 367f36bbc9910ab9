//! Options that name the columns of a table and describe how to read it.

use std::{collections::HashMap, path::PathBuf, str::FromStr};

use clap::{ValueEnum, error::ErrorKind};
use spocc::{Control, Label, data::Normalise};
use spocc_table::ReadOptions;

use crate::args::{
    usage,
    values::{NameList, choices, delimiter, nonempty_names},
};

/// The three columns of a long table: a row per prediction instead of a column per classifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LongColumns {
    /// The item that is classified.
    pub(crate) item: String,
    /// The classifier.
    pub(crate) classifier: String,
    /// The predicted label.
    pub(crate) label: String,
}

impl FromStr for LongColumns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names: NameList = text.parse().map_err(|error: csv::Error| error.to_string())?;
        match <[String; 3]>::try_from(names.0) {
            Ok([item, classifier, label]) if item != classifier && item != label && classifier != label => {
                Ok(Self { item, classifier, label })
            }
            Ok(_) => Err("expected three different columns".to_owned()),
            Err(names) => {
                Err(format!("expected three columns: item,classifier,label; found {}", names.len()))
            }
        }
    }
}

/// What to do if a classifier has two different predictions for one item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Repeats {
    /// Refuse the table
    #[default]
    Refuse,
    /// Use the first prediction
    First,
    /// Use the last prediction
    Last,
}

/// How a table is read.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Table")]
pub(crate) struct TableArgs {
    /// The table has a row per prediction instead of a column per classifier: its columns for the item, the classifier
    /// and the predicted label
    #[arg(long, value_name = "item,classifier,label")]
    pub(crate) long: Option<LongColumns>,

    /// With --long: what to do if a classifier has two different predictions for one item
    #[arg(long, value_enum, default_value_t, requires = "long")]
    pub(crate) repeats: Repeats,

    /// Delimiter between cells: a character, or `tab` [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,

    /// Words for a missing value, besides an empty cell
    #[arg(long, value_name = "WORDS", default_value = "null")]
    pub(crate) na: NameList,
}

impl TableArgs {
    /// The options about single cells, and the memory limit.
    pub(crate) fn reading(&self, control: &Control<'_>) -> ReadOptions {
        ReadOptions {
            delimiter: self.delimiter,
            na: self.na.0.clone(),
            progress: Some(crate::progress::show_reading),
            memory: control.memory_limit(),
        }
    }
}

/// The columns of a labelled table.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Table")]
pub(crate) struct ColumnArgs {
    /// Column with the true label; empty cells are unlabelled rows
    #[arg(long, value_name = "COL")]
    pub(crate) label: Option<String>,

    /// Columns that identify the row, such as `item` or `item,part`
    #[arg(long, value_name = "COL", conflicts_with = "long")]
    pub(crate) id: Option<NameList>,

    /// Table with the true labels, if they are in another file; joined by --id, or by the item of --long
    #[arg(long, value_name = "TABLE", requires = "label")]
    pub(crate) gold: Option<PathBuf>,

    /// Columns that are classifiers, by name or glob [default: all without another use]
    #[arg(long, value_name = "a,b")]
    pub(crate) classifiers: Option<NameList>,

    /// Columns to ignore, by name or glob
    #[arg(long, value_name = "a,b")]
    pub(crate) ignore: Option<NameList>,

    /// Column with the weight of each row, a number from 0; a row of weight 2 counts like two rows
    #[arg(long, value_name = "COL", conflicts_with_all = ["count", "long"])]
    pub(crate) weight: Option<String>,

    /// Column with the number of occurrences of each row, for a grouped table (see `spocc sql`)
    #[arg(long, value_name = "COL", conflicts_with = "long")]
    pub(crate) count: Option<String>,

    /// The classes to decide between, in this order [default: the true labels, and other labels of columns that also
    /// predict true labels, unless the rows show that they are not classes]
    ///
    /// A tie is decided for the first of the tied classes. Any other label, such as `refuse`, counts as a prediction
    /// but is never decided.
    #[arg(long, value_name = "a,b,c", value_parser = nonempty_names)]
    pub(crate) classes: Option<NameList>,

    /// Decide between the answers that are given on each row, not between classes
    ///
    /// For answers from no fixed list, such as numbers or names, and for the letters of multiple-choice questions, which
    /// mean something else on every row. All answers are treated alike: a classifier has one accuracy, and an answer that
    /// was never seen before can be decided.
    #[arg(long, conflicts_with = "classes")]
    pub(crate) open: bool,

    /// With --open: which answers are the same
    ///
    /// `number` compares numbers by value (1,000 = 1000.0 = $1000), `text` ignores case, blank space and punctuation at the
    /// ends.
    #[arg(long, value_parser = choices([Normalise::None, Normalise::Number, Normalise::Text]), requires = "open")]
    pub(crate) normalise: Option<Normalise>,

    #[command(flatten)]
    pub(crate) table: TableArgs,
}

impl ColumnArgs {
    /// How open answers are compared, with --open.
    pub(crate) fn open_answers(&self) -> Option<Normalise> {
        self.open.then(|| self.normalise.unwrap_or_default())
    }

    /// The classes of --classes, if given.
    pub(crate) fn class_list(&self) -> Option<Vec<Label>> {
        Some(self.classes.as_ref()?.0.iter().map(|name| Label::from(name.as_str())).collect())
    }

    /// The columns named by options other than --classifiers and --ignore.
    pub(crate) fn named_columns(&self) -> impl Iterator<Item = &String> {
        let long = self.table.long.iter().flat_map(|long| [&long.item, &long.classifier, &long.label]);
        let ids = self.id.iter().flat_map(|names| &names.0);
        long.chain(ids).chain(&self.label).chain(&self.weight).chain(&self.count)
    }

    /// The column of the true label, for a command that needs it.
    ///
    /// # Errors
    ///
    /// A usage error if --label is not given.
    pub(crate) fn label(&self, command: &str) -> Result<&str, clap::Error> {
        self.label.as_deref().ok_or_else(|| {
            let others = if command == "fit" {
                " (except with --method ladder, dawid-skene, one-coin or majority)"
            } else {
                ""
            };
            let message = format!("a table needs --label COL, the column with the true label{others}");
            usage(command, ErrorKind::MissingRequiredArgument, &message)
        })
    }

    /// Refuses options about columns if the input is not a table.
    ///
    /// # Errors
    ///
    /// A usage error that names the first such option.
    pub(crate) fn refuse_columns(&self, command: &str, found: &str) -> Result<(), clap::Error> {
        // Classifiers of a tally can be selected; those of a model are fixed.
        let is_model = found == "a model";
        let given = [
            ("--gold", self.gold.is_some()),
            ("--label", self.label.is_some()),
            ("--classifiers", is_model && self.classifiers.is_some()),
            ("--ignore", is_model && self.ignore.is_some()),
            ("--id", self.id.is_some()),
            ("--weight", self.weight.is_some()),
            ("--count", self.count.is_some()),
            ("--classes", self.classes.is_some()),
            ("--open", self.open),
            ("--long", self.table.long.is_some()),
            ("--delimiter", self.table.delimiter.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => {
                let message = format!("{option} describes a table, but the input is {found}");
                Err(usage(command, ErrorKind::ArgumentConflict, &message))
            }
            None => Ok(()),
        }
    }

    /// Refuses a column with two uses, such as a true label that is also a classifier, and --gold without a column to
    /// join by.
    ///
    /// # Errors
    ///
    /// A usage error that names the column.
    pub(crate) fn refuse_double_use(&self, command: &str) -> Result<(), clap::Error> {
        if self.gold.is_some() && self.id.is_none() && self.table.long.is_none() {
            let message = "--gold needs --id COL, the columns to join the two tables by";
            return Err(usage(command, ErrorKind::MissingRequiredArgument, message));
        }
        let names =
            |names: &Option<NameList>| names.iter().flat_map(|names| names.0.clone()).collect::<Vec<_>>();
        let long = self.table.long.iter().flat_map(|long| [&long.item, &long.classifier, &long.label]);
        // The column of --label is in the table of --gold, if given; in a long table, --classifiers names values, not
        // columns.
        let label = self.label.iter().filter(|_| self.gold.is_none()).cloned().collect();
        let classifiers = if self.table.long.is_some() { Vec::new() } else { names(&self.classifiers) };
        let uses = [
            ("--label", label),
            ("--id", names(&self.id)),
            ("--weight", self.weight.iter().cloned().collect()),
            ("--count", self.count.iter().cloned().collect()),
            ("--classifiers", classifiers),
            ("--long", long.cloned().collect()),
        ];
        let mut seen: HashMap<&String, &str> = HashMap::new();
        for (option, column) in
            uses.iter().flat_map(|(option, names)| names.iter().map(move |name| (*option, name)))
        {
            if let Some(first) = seen.insert(column, option) {
                let message = if first == option {
                    format!("{option} names column `{column}` twice")
                } else {
                    format!("column `{column}` is named by {first} and by {option}")
                };
                return Err(usage(command, ErrorKind::ArgumentConflict, &message));
            }
        }
        Ok(())
    }
}
