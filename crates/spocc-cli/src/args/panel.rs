//! Options that say what is what in a table.

use std::{collections::HashMap, path::PathBuf, str::FromStr};

use clap::{ValueEnum, error::ErrorKind};
use spocc::Label;
use spocc_table::ReadOptions;

use crate::args::{
    usage,
    words::{Names, delimiter, names_of_something},
};

/// The three columns of a long table: a row per answer instead of a column per classifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Long {
    /// What was judged.
    pub(crate) item: String,
    /// Who judged it.
    pub(crate) classifier: String,
    /// What they said.
    pub(crate) label: String,
}

impl FromStr for Long {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names: Names = text.parse().map_err(|error: csv::Error| error.to_string())?;
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

/// What to do when a classifier answered an item twice, differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Repeats {
    /// Refuse the table
    #[default]
    Refuse,
    /// Take the first answer
    First,
    /// Take the last answer
    Last,
}

/// How a table is read.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Table")]
pub(crate) struct TableArgs {
    /// A row per answer instead of a column per classifier: the columns of the item, who, and what they said
    #[arg(long, value_name = "item,classifier,label")]
    pub(crate) long: Option<Long>,

    /// With --long: what to do with a second, different answer of the same classifier to the same item
    #[arg(long, value_enum, default_value_t, requires = "long")]
    pub(crate) repeats: Repeats,

    /// What stands between cells: a character, or `tab` [default: whatever fits]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,

    /// Words that mean "no answer", besides an empty cell
    #[arg(long, value_name = "WORDS", default_value = "null")]
    pub(crate) na: Names,
}

impl TableArgs {
    /// The part of it that concerns single cells.
    pub(crate) fn reading(&self) -> ReadOptions {
        ReadOptions {
            delimiter: self.delimiter,
            na: self.na.0.clone(),
            progress: Some(crate::progress::show_reading),
        }
    }
}

/// What is what in a table with truths.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Table")]
pub(crate) struct PanelArgs {
    /// The column that holds the truth
    #[arg(long, value_name = "COL")]
    pub(crate) label: Option<String>,

    /// Columns that only name the row, such as `item` or `item,part`
    #[arg(long, value_name = "COL", conflicts_with = "long")]
    pub(crate) id: Option<Names>,

    /// Table with the truths, if they are in another file: found by --id, or by the item of --long
    #[arg(long, value_name = "TABLE", requires = "label")]
    pub(crate) gold: Option<PathBuf>,

    /// The only columns that are classifiers, by name or glob; without this, all that have no other use
    #[arg(long, value_name = "a,b")]
    pub(crate) classifiers: Option<Names>,

    /// Columns to leave out, by name or glob
    #[arg(long, value_name = "a,b")]
    pub(crate) ignore: Option<Names>,

    /// Column with the weight of each row, from 0
    #[arg(long, value_name = "COL", conflicts_with_all = ["count", "long"])]
    pub(crate) weight: Option<String>,

    /// Column that says how often each row occurred, for a table already grouped (see `spocc sql`)
    #[arg(long, value_name = "COL", conflicts_with = "long")]
    pub(crate) count: Option<String>,

    /// Exactly the classes to decide between, in this order [default: the truths, and other labels of columns that
    /// also predict true labels, unless the rows show that they are no classes]
    ///
    /// Ties go to the first of them. Any other answer, such as `refuse`, is then something that a classifier
    /// can say but never a decision.
    #[arg(long, value_name = "a,b,c", value_parser = names_of_something)]
    pub(crate) classes: Option<Names>,

    #[command(flatten)]
    pub(crate) table: TableArgs,
}

impl PanelArgs {
    /// The classes given, if any.
    pub(crate) fn class_list(&self) -> Option<Vec<Label>> {
        Some(self.classes.as_ref()?.0.iter().map(|name| Label::from(name.as_str())).collect())
    }

    /// The columns that options other than --classifiers and --ignore name.
    pub(crate) fn named_columns(&self) -> impl Iterator<Item = &String> {
        let long = self.table.long.iter().flat_map(|long| [&long.item, &long.classifier, &long.label]);
        let ids = self.id.iter().flat_map(|names| &names.0);
        long.chain(ids).chain(&self.label).chain(&self.weight).chain(&self.count)
    }

    /// The column of the truth, which a table must have.
    ///
    /// # Errors
    ///
    /// A usage error if it was not given.
    pub(crate) fn label(&self, command: &str) -> Result<&str, clap::Error> {
        self.label.as_deref().ok_or_else(|| {
            let others =
                if command == "fit" { " (--method dawid-skene and majority go without)" } else { "" };
            let message = format!("a table needs --label COL, the column that holds the truth{others}");
            usage(command, ErrorKind::MissingRequiredArgument, &message)
        })
    }

    /// Refuses options about columns where there are none.
    ///
    /// # Errors
    ///
    /// A usage error that names the first.
    pub(crate) fn refuse_columns(&self, command: &str, found: &str) -> Result<(), clap::Error> {
        // A tally has classifiers to choose from, a model is what it is.
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
            ("--long", self.table.long.is_some()),
            ("--delimiter", self.table.delimiter.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => {
                let message = format!("{option} is about a table, and this is {found}");
                Err(usage(command, ErrorKind::ArgumentConflict, &message))
            }
            None => Ok(()),
        }
    }

    /// Refuses a column with two uses, such as a truth that is also a classifier, and a gold table that nothing
    /// joins to the rows.
    ///
    /// # Errors
    ///
    /// A usage error that names it.
    pub(crate) fn refuse_double_use(&self, command: &str) -> Result<(), clap::Error> {
        if self.gold.is_some() && self.id.is_none() && self.table.long.is_none() {
            let message = "--gold needs --id COL, the columns that both tables have";
            return Err(usage(command, ErrorKind::MissingRequiredArgument, message));
        }
        let names =
            |names: &Option<Names>| names.iter().flat_map(|names| names.0.clone()).collect::<Vec<_>>();
        let long = self.table.long.iter().flat_map(|long| [&long.item, &long.classifier, &long.label]);
        // A truth in another table may have the name of anything here; in a long table, what
        // --classifiers names are no columns.
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
                    format!("column `{column}` is given twice by {option}")
                } else {
                    format!("column `{column}` is given by {first} and by {option}")
                };
                return Err(usage(command, ErrorKind::ArgumentConflict, &message));
            }
        }
        Ok(())
    }
}
