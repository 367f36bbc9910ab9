//! `spocc append`: one more classifier joins a model.

use spocc::{Control, evidence::Level};

use crate::{
    args::{AppendArgs, Names, PanelArgs},
    error::Error,
    input::Input,
    labelled::{Keep, Labelled},
    output::Output,
    tell,
};

/// Adds one classifier to a model and writes the grown model.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Table`].
pub(crate) fn append(args: &AppendArgs, control: &Control<'_>) -> Result<(), Error> {
    let output = Output::new(&args.output)?;
    output.refuse_inputs(args.input.iter().chain(&args.panel.gold).chain(&args.unlabelled))?;
    let (place, model) = Input::model(&args.model)?;
    if model.classifiers().contains(&args.name) {
        let found = format!("`{}`, which is one of its own", args.name);
        return Err(place.refused("the name of a classifier that the model does not know", found).into());
    }
    let level = model.evidence().map_or(Level::Tally, spocc::Evidence::level);
    let learned_all = model.evidence().is_some_and(|evidence| evidence.n_unlabelled() > 0.0);
    if !args.unlabelled.is_empty() && !learned_all {
        let expected = "a model that learned from rows without truth, to use --unlabelled";
        return Err(place.refused(expected, "one that did not").into());
    }
    // Other columns of the table are nobody's business here.
    let everyone: Vec<String> = model.classifiers().iter().chain([&args.name]).cloned().collect();
    let panel = PanelArgs { classifiers: Some(Names(everyone.clone())), ..args.panel.clone() };
    let keep = if learned_all { Keep::all(level) } else { Keep::labelled(level) };
    let labelled = Labelled::read_with(&args.input, &args.unlabelled, &panel, "append", keep, control)?;
    let engine = |error| labelled.place.engine(error);
    let evidence = labelled.evidence.select(&everyone, control).map_err(engine)?;
    let grown = model.append(&evidence, control).map_err(|error| match error {
        // What the model lacks is said of the model, the rest of the rows.
        spocc::Error::CannotAppend { expected, found } if expected.contains("rows") => {
            labelled.place.refused(expected, found)
        }
        error @ spocc::Error::LevelTooLow { .. } => labelled.place.engine(error),
        other => place.engine(other),
    })?;
    let bytes = grown.to_bytes();
    output.write_all(&bytes)?;
    tell(format_args!("added `{}`: {} classifiers now", args.name, grown.classifiers().len()));
    labelled.tell_notes();
    tell(format_args!("wrote {output} ({} bytes)", bytes.len()));
    Ok(())
}
