//! `spocc inspect`: describes a model, a tally or a table, and what it discloses.

mod model;
mod table;
mod tally;

use std::{fmt, path::Path};

use serde::Serialize;
use spocc::{Control, evidence::Level, printable};
use spocc_table::Table;

use crate::{
    args::InspectArgs,
    error::{Error, list},
    input::Input,
    read::{CountOptions, CountedInput},
    report,
};
use model::ModelFacts;
use table::TableFacts;
use tally::TallyFacts;

/// The description of a file.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Inspection {
    Model(Box<ModelFacts>),
    Tally(TallyFacts),
    Table(TableFacts),
}

/// Describes a file.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Table`].
pub(crate) fn inspect(args: &InspectArgs, control: &Control<'_>) -> Result<(), Error> {
    let inspection = match Input::open(&args.input, &args.columns.table.reading(control))? {
        Input::Model(_, model) => {
            args.columns.refuse_columns("inspect", "a model")?;
            Inspection::Model(Box::new(ModelFacts::of(&model)))
        }
        Input::Tally(place, evidence) => {
            args.columns.refuse_columns("inspect", "a tally")?;
            let labelled = CountedInput::of_tally(place, &evidence, &args.columns, control)?;
            Inspection::Tally(TallyFacts::of(&labelled.evidence))
        }
        Input::Table(table) => Inspection::Table(inspect_table(*table, args, control)?),
    };
    crate::progress::clear();
    report::print(args.json, &inspection, || inspection.to_string())
}

fn inspect_table(table: Table, args: &InspectArgs, control: &Control<'_>) -> Result<TableFacts, Error> {
    let place = table.location().clone();
    let mut facts = TableFacts::read(table)?;
    if args.columns.label.is_some() {
        let is_stream =
            |name: &Path| name == Path::new("-") || (name.exists() && !name.is_file() && !name.is_dir());
        if args.input.iter().any(|name| is_stream(name)) {
            return Err(place.refused("a file, which is read twice with --label", "a stream").into());
        }
        let labelled = CountedInput::read(
            &args.input,
            &args.columns,
            "inspect",
            CountOptions::all(Level::Tally),
            control,
        )?;
        facts.tally = Some(TallyFacts::of(&labelled.evidence));
    }
    Ok(facts)
}

impl fmt::Display for Inspection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(facts) => facts.fmt(out),
            Self::Tally(facts) => write!(out, "tally\n{facts}"),
            Self::Table(facts) => facts.fmt(out),
        }
    }
}

/// Writes one named value on a line of its own, with hidden characters escaped.
fn write_fact(out: &mut fmt::Formatter<'_>, name: &str, value: impl fmt::Display) -> fmt::Result {
    writeln!(out, "  {name:<12} {}", printable(&value.to_string()))
}

/// The number of names, and the first of them without quotes.
fn names<T: fmt::Display>(all: &[T]) -> String {
    format!("{}: {}", all.len(), unquoted(all))
}

/// The first names of a list, without quotes.
fn unquoted<T: fmt::Display>(all: impl IntoIterator<Item = T>) -> String {
    list(all).replace('`', "")
}
