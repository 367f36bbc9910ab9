//! `spocc fit`: a table with truths, or a tally, becomes a model.

use std::time::Instant;

use spocc::{Level, Method, Missing, Model, Options, Watch};

use crate::{
    args::FitArgs,
    error::{Error, count, list},
    labelled::{Labelled, rows},
    output::Output,
    tell,
};

/// Fits a model and writes it to a file.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Refused`], [`Error::Engine`], [`Error::Io`].
pub(crate) fn fit(args: &FitArgs, watch: &Watch<'_>) -> Result<(), Error> {
    let start = Instant::now();
    let combiner = args.method.combiner()?;
    args.options.refuse_unused_seed(&args.calibrate)?;
    let calibrate = args.calibrate.calibrate(args.options.seed());
    let options = Options { calibrate, ..args.options.options() };
    let output = Output::new(&args.output)?;
    output.refuse_inputs(args.input.iter().chain(&args.panel.gold))?;
    // A model keeps what its method needs; a table of a large crowd would not fit otherwise.
    let level = if calibrate.is_some() { Level::Tally } else { combiner.needs() };
    let labelled = Labelled::read(&args.input, &args.panel, "fit", level, watch)?;
    let engine = |error| labelled.place.engine(error);
    let evidence = labelled.evidence.reduce_to(level, watch).map_err(engine)?;
    let model = Model::fit(&*combiner, &evidence, &options, watch).map_err(|error| match error {
        spocc::Error::LevelTooLow { what, needs, found } if what == combiner.method().to_string() => {
            let others = Method::ALL.iter().filter(|method| method.combiner().needs() <= found);
            let others: Vec<String> = others.map(ToString::to_string).collect();
            let found = format!("{found}, enough for {}", others.join(", "));
            labelled.place.refused(format!("{needs} for {what}"), found)
        }
        other => engine(other),
    })?;

    let bytes = if args.slim { model.slim().to_bytes() } else { model.to_bytes() };
    output.write_all(&bytes)?;
    tell(format_args!(
        "fitted {} to {}: {}, {} ({}), {:.2} s",
        model.method(),
        rows(model.evidence().unwrap_or(&evidence).n_rows().round() as u64),
        count(model.classifiers().len(), "classifier", "classifiers"),
        count(model.classes().len(), "class", "classes"),
        list(model.classes()).replace('`', ""),
        start.elapsed().as_secs_f64(),
    ));
    let declining = declining(&model);
    if model.missing() == Missing::Auto && !declining.is_empty() {
        tell(format_args!("an empty cell is an answer of {}", list(declining)));
    }
    if let Some(calibration) = model.calibration() {
        tell(format_args!("calibrated: {calibration}"));
    }
    labelled.tell_notes();
    tell(format_args!("wrote {output} ({} bytes)", bytes.len()));
    Ok(())
}

/// The classifiers whose silence is an answer.
pub(super) fn declining(model: &Model) -> Vec<&String> {
    let declines = model.classifiers().iter().zip(model.declines());
    declines.filter(|(_, declines)| **declines).map(|(name, _)| name).collect()
}
