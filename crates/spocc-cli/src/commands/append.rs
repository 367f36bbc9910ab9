//! `spocc append`: adds one classifier to a model.

use clap::error::ErrorKind;
use spocc::{Control, evidence::Level};

use crate::{
    args::{AppendArgs, ColumnArgs, NameList, usage},
    error::Error,
    input::Input,
    output::Output,
    print_status,
    read::{CountOptions, CountedInput},
};

/// Adds one classifier to a model and writes the new model.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Table`].
pub(crate) fn append(args: &AppendArgs, control: &Control<'_>) -> Result<(), Error> {
    let tables = args.unlabelled.tables("append")?;
    let output = Output::new(&args.output)?;
    output.refuse_inputs(args.input.iter().chain(&args.columns.gold).chain(tables))?;
    let (place, model) = Input::model(&args.model, control)?;
    if model.classifiers().contains(&args.name) {
        let found = format!("`{}`, which the model already has", args.name);
        return Err(place.refused("the name of a new classifier", found).into());
    }
    if args.columns.open {
        let message = "--open is a matter of `fit`: append reads answers as the model does";
        return Err(usage("append", ErrorKind::ArgumentConflict, message).into());
    }
    let level = model.evidence().map_or(Level::Tally, spocc::Evidence::level);
    let uses_unlabelled = model.evidence().is_some_and(|evidence| evidence.n_unlabelled() > 0.0);
    if !tables.is_empty() && !uses_unlabelled {
        let expected = "a model fitted to unlabelled rows, to use --unlabelled";
        return Err(place.refused(expected, "a model fitted to labelled rows only").into());
    }
    // Other columns of the table are ignored.
    let classifiers: Vec<String> = model.classifiers().iter().chain([&args.name]).cloned().collect();
    let columns = ColumnArgs {
        classifiers: Some(NameList(classifiers.clone())),
        open: model.is_open(),
        normalise: model.normalise(),
        ..args.columns.clone()
    };
    let uses_unlabelled = uses_unlabelled && args.unlabelled.asked() != Some(false);
    let keep = if uses_unlabelled { CountOptions::all(level) } else { CountOptions::labelled(level) };
    let labelled = CountedInput::read_with(&args.input, tables, &columns, "append", keep, control)?;
    let engine = |error| labelled.engine(error);
    let evidence = labelled.evidence.select(&classifiers, control).map_err(engine)?;
    let grown = model.append(&evidence, control).map_err(|error| match error {
        // Errors about the rows name the table, all others the model.
        spocc::Error::CannotAppend { expected, found } if expected.contains("rows") => {
            labelled.place.refused(expected, found)
        }
        error @ spocc::Error::LevelTooLow { .. } => labelled.place.engine(error),
        other => place.engine(other),
    })?;
    let bytes = grown.to_bytes();
    output.write_all(&bytes)?;
    print_status(format_args!("added `{}`: {} classifiers", args.name, grown.classifiers().len()));
    if model.held_out_accuracy().is_some() {
        print_status(format_args!(
            "note: the new model has no held-out accuracy; see spocc compare, or fit the whole panel"
        ));
    }
    labelled.report_notes();
    print_status(format_args!("wrote {output} ({} bytes)", bytes.len()));
    Ok(())
}
