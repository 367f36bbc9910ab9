//! `spocc explain`: explains the decision of one row.

use serde::{Serialize, Serializer};
use spocc::{Control, Model, explain::Explanation, printable};
use spocc_table::{LabelCodes, LabelEncoder, RowBlock, RowPositions, Table};

use crate::{
    args::{ExplainArgs, LongColumns},
    commands::predict::{columns_of, note_absent},
    error::Error,
    input::Input,
    read::{ClassifierFilter, LongTable, RowCollector, TableRows},
    report,
};

/// A row and the explanation of its decision.
#[derive(Serialize)]
struct ExplainedRow {
    row: u64,
    #[serde(serialize_with = "in_order")]
    id: Vec<(String, String)>,
    #[serde(flatten)]
    explanation: Explanation,
    /// The classifiers without a column in the table.
    #[serde(skip)]
    absent: Vec<String>,
}

fn in_order<S: Serializer>(id: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(id.iter().map(|(name, value)| (name, value)))
}

/// Explains the decision of one row of a table.
///
/// # Errors
///
/// [`Error::Table`].
pub(crate) fn explain(args: &ExplainArgs, control: &Control<'_>) -> Result<(), Error> {
    let (_, model) = Input::model(&args.model, control)?;
    let table = Table::open(&args.input, &args.table.reading(control))?;
    let explained = match &args.table.long {
        Some(long) => explain_long(args, long, &model, table)?,
        None => explain_wide(args, &model, table)?,
    };
    report::print(args.json, &explained, || {
        let id: Vec<String> = explained.id.iter().map(|(name, value)| format!(", {name} {value}")).collect();
        format!("row {}{}\n{}", explained.row, printable(&id.concat()), explained.explanation)
    })?;
    note_absent(&explained.absent, &model);
    Ok(())
}

fn explain_wide(args: &ExplainArgs, model: &Model, mut table: Table) -> Result<ExplainedRow, Error> {
    let names = args.id.as_ref().map_or(&[][..], |names| &names.0);
    table.set_used(names.iter().chain(model.classifiers()));
    let ids = table.columns(names)?;
    let columns = columns_of(model, &table, args.allow_missing)?;
    table.select_columns(ids.iter().chain(&columns).copied());
    let mut blocks = table.map_blocks(RowBlock::clone);
    let (mut n_before, place) = (0, blocks.table().location().clone());
    let (rows, row) = loop {
        let Some(rows) = blocks.next()? else {
            let found = crate::error::rows(n_before);
            return Err(place.refused(format!("a row {} below the header", args.row), found).into());
        };
        let n_rows = rows.n_rows() as u64;
        if args.row <= n_before + n_rows {
            break (rows, (args.row - n_before - 1) as usize);
        }
        n_before += n_rows;
    };
    let (mut marker, mut marks, mut places) =
        (LabelEncoder::default(), LabelCodes::default(), RowPositions::default());
    marker.encode_row(&rows, row, &columns, &mut marks.codes)?;
    marks.labels = marker.finish();
    places.push(rows.position(row));
    let mut collected = RowCollector::new(blocks.table(), &columns, model.normalise())?;
    collected.add(&marks, 0..1, rows.file(), &places)?;
    let mut id = Vec::new();
    for (name, &column) in names.iter().zip(&ids) {
        id.push((name.clone(), rows.text(row, column)?.to_owned()));
    }
    let (rows, lines) = collected.finish();
    let blame = |error| lines.locate(&place, error);
    let aligned = model.align_present(rows.predictions()).map_err(blame)?;
    let absent = aligned.absent().map(str::to_owned).collect();
    let explanation = explained(model, &rows, 0).map_err(blame)?;
    Ok(ExplainedRow { row: args.row, id, explanation, absent })
}

/// The explanation of a row, whose columns may lack some of the model's classifiers.
fn explained(model: &Model, rows: &TableRows, row: usize) -> Result<Explanation, spocc::Error> {
    match rows.answers() {
        Some(answers) => answers.explain(model, row, true),
        None => model.align_present(rows.predictions())?.explain(row),
    }
}

fn explain_long(
    args: &ExplainArgs,
    long: &LongColumns,
    model: &Model,
    mut table: Table,
) -> Result<ExplainedRow, Error> {
    table.set_used([&long.item, &long.classifier, &long.label]);
    let place = table.location().clone();
    let who = ClassifierFilter::Only(model.classifiers());
    let mut read = LongTable::read(table, long, args.table.repeats, &who, None)?;
    let at = args.row as usize - 1;
    let rows = read.rows(model.normalise())?;
    let explanation = explained(model, &rows, at).map_err(|error| match error {
        spocc::Error::NoSuchRow { row, rows } => {
            place.refused(format!("item {row}"), format!("{rows} items"))
        }
        other => place.engine(other),
    })?;
    let id = vec![(long.item.clone(), read.items.get(at).unwrap_or_default().to_owned())];
    Ok(ExplainedRow { row: args.row, id, explanation, absent: Vec::new() })
}
