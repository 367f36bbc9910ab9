//! `spocc explain`: why one row was decided as it was.

use serde::{Serialize, Serializer};
use spocc::{Explanation, Model};

use crate::{
    args::{ExplainArgs, Long},
    commands::predict::columns_of,
    decided::Object,
    error::Error,
    input::Input,
    labelled::{LongTable, Who},
    report,
    table::{Answers, Table},
};

/// A row, and why it was decided so.
#[derive(Serialize)]
struct Explained {
    row: u64,
    #[serde(serialize_with = "in_order")]
    id: Vec<(String, String)>,
    #[serde(flatten)]
    explanation: Explanation,
}

fn in_order<S: Serializer>(id: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    Object(id.iter().map(|(name, value)| (name, value)).collect()).serialize(serializer)
}

/// Explains the decision of one row of a table.
///
/// # Errors
///
/// [`Error::Refused`], [`Error::Engine`], [`Error::Io`].
pub(crate) fn explain(args: &ExplainArgs) -> Result<(), Error> {
    let (_, model) = Input::model(&args.model)?;
    let table = Table::open(&args.input, &args.table.reading())?;
    let explained = match &args.table.long {
        Some(long) => in_long(args, long, &model, table)?,
        None => in_wide(args, &model, table)?,
    };
    report::print(args.json, &explained, || {
        let id: Vec<String> = explained.id.iter().map(|(name, value)| format!(", {name} {value}")).collect();
        report::plain(&format!("row {}{}\n{}", explained.row, id.concat(), explained.explanation))
    })
}

fn in_wide(args: &ExplainArgs, model: &Model, mut table: Table) -> Result<Explained, Error> {
    let names = args.id.as_ref().map_or(&[][..], |names| &names.0);
    let ids = table.columns(names)?;
    let columns = columns_of(model, &table)?;
    table.ask_only(ids.iter().chain(&columns).copied());
    for read in 0..args.row {
        if !table.next()? {
            return Err(no_such_row(args, &table, read));
        }
    }
    let mut answers = Answers::new(&table, columns)?;
    answers.push(&table)?;
    let mut id = Vec::new();
    for (name, &column) in names.iter().zip(&ids) {
        id.push((name.clone(), table.text(column)?.to_owned()));
    }
    let (answers, lines) = answers.finish();
    let blame = |error| lines.blame(table.source(), error);
    let explanation = model.align(&answers).and_then(|aligned| aligned.explain(0)).map_err(blame)?;
    Ok(Explained { row: args.row, id, explanation })
}

fn in_long(args: &ExplainArgs, long: &Long, model: &Model, table: Table) -> Result<Explained, Error> {
    let place = table.source().clone();
    let who = Who::Only(model.classifiers());
    let read = LongTable::read(table, long, args.table.repeats, &who, None)?;
    let at = args.row as usize - 1;
    let explained = model.align(&read.answers).and_then(|aligned| aligned.explain(at));
    let explanation = explained.map_err(|error| match error {
        spocc::Error::NoSuchRow { row, rows } => {
            place.refused(format!("item {row}"), format!("{rows} items"))
        }
        other => place.engine(other),
    })?;
    let id = vec![(long.item.clone(), read.items[at].clone())];
    Ok(Explained { row: args.row, id, explanation })
}

fn no_such_row(args: &ExplainArgs, table: &Table, n_rows: u64) -> Error {
    table.source().refused(format!("a row {} under the header", args.row), crate::labelled::rows(n_rows))
}
