//! `spocc predict`: applies a model to the rows of a table.

mod predict_run;
mod batches;
mod summary;

use spocc::{Control, Model};
use spocc_table::{
    Table,
    write::{ColumnType, FileFormat, TableWriter, write_table},
};

use crate::{
    args::{OutputColumn, PredictArgs},
    error::{Error, list, nearest, quoted},
    input::Input,
    output::Output,
    print_status,
    write::{self, file_format},
};
use batches::BatchReader;
use predict_run::PredictRun;

/// Decides every row of a table and writes the decisions.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Table`].
pub(crate) fn predict(args: &PredictArgs, control: &Control<'_>) -> Result<(), Error> {
    let columns = columns(args);
    refuse_repeats(args, &columns)?;
    let (format, compression) = file_format(args)?;
    let output = Output::new(&args.output)?;
    output.refuse_inputs(args.input.iter().chain([&args.model]))?;
    let (place, model) = Input::model(&args.model, control)?;
    let supported = args.sets.coverage.map_or(Ok(()), |coverage| model.check_coverage(coverage));
    supported.map_err(|error| place.engine(error))?;
    if columns.contains(&OutputColumn::Probability) && !model.method().capabilities().probabilities {
        let expected = "a model with probabilities for --columns probability";
        return Err(place.refused(expected, format!("a model of {}", model.method())).into());
    }
    let mut batches = BatchReader::open(args, &model, control)?;
    let schema = write::schema(
        batches.ids.clone(),
        &columns,
        model.classes(),
        model.is_open(),
        args.sets.may_abstain(),
    );
    write::refuse_repeats(&schema, matches!(format, FileFormat::Json { .. }))?;
    // The first batch is checked before anything is written: most errors of the input show there.
    let mut predictor = PredictRun::new(&model, args, &columns, control);
    let first = batches.next()?;
    first.as_ref().map_or(Ok(()), |batch| predictor.check(batch))?;
    let write_blocks = |writer: &mut TableWriter<'_>| -> Result<PredictRun<'_>, spocc_table::Error> {
        let mut next = first;
        while let Some(batch) = next {
            predictor.write(&batch, writer)?;
            next = batches.next()?;
            next.as_ref().map_or(Ok(()), |batch| predictor.check(batch))?;
        }
        Ok(predictor)
    };
    output.write(|out| write_table(out, format, compression, &schema, write_blocks))?.report();
    Ok(())
}

/// The columns of --columns, and those of the prediction sets with --coverage.
fn columns(args: &PredictArgs) -> Vec<OutputColumn> {
    let of_set = args.sets.coverage.map_or(&[][..], |_| &[OutputColumn::Set, OutputColumn::SetSize]);
    [&args.columns, of_set].concat()
}

/// Refuses two output columns with one name, as far as the names are known without the model.
fn refuse_repeats(args: &PredictArgs, columns: &[OutputColumn]) -> Result<(), Error> {
    let ids: Vec<String> = match (&args.table.long, &args.id) {
        (Some(long), _) => vec![long.item.clone()],
        (None, ids) => ids.iter().flat_map(|names| names.0.clone()).collect(),
    };
    let ids = ids.into_iter().map(|name| (name, ColumnType::default()));
    Ok(write::refuse_repeats(&write::schema(ids, columns, &[], false, false), false)?)
}

/// The columns of the model's classifiers; if `allow_missing`, of those that the table has.
///
/// # Errors
///
/// [`spocc_table::Error::Refused`] if some are missing, or all of them.
pub(super) fn columns_of(
    model: &Model,
    table: &Table,
    allow_missing: bool,
) -> Result<Vec<usize>, spocc_table::Error> {
    let (present, missing): (Vec<String>, Vec<String>) =
        model.classifiers().iter().cloned().partition(|name| table.has_column(name));
    if missing.is_empty() || allow_missing && !present.is_empty() {
        return table.columns(&present);
    }
    let near = missing.iter().find_map(|name| nearest(name, table.unused()));
    let near = near.map(|near| format!("did you mean {}?", quoted(near)));
    let without = (!present.is_empty()).then(|| "--allow-missing counts them as missing".to_owned());
    let hints: Vec<String> = near.into_iter().chain(without).collect();
    let hint = if hints.is_empty() { String::new() } else { format!(" ({})", hints.join(" ")) };
    let expected = format!("a column for each of the model's {} classifiers", model.classifiers().len());
    let found = format!("no column for {} among {}", list(&missing), list(table.header()));
    Err(table.header_location().refused_with(expected, hint, found))
}

/// Prints a note about classifiers without a column.
pub(super) fn note_absent(absent: &[String], model: &Model) {
    if !absent.is_empty() {
        print_status(format_args!(
            "note: no column for {} of {} classifiers, whose predictions count as missing: {}",
            absent.len(),
            model.classifiers().len(),
            list(absent)
        ));
    }
}
