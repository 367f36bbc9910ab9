//! `spocc fit`: a table with truths, or a tally, becomes a model.

use std::borrow::Cow;

use spocc::{
    Control, Evidence, Method, Model, Options,
    conformal::{Calibration, ConformalScheme, Coverage},
    data::Missing,
    evidence::Level,
    methods::Parameters,
};

use crate::{
    args::{FitArgs, refused_setting},
    error::{Error, count, list, quoted},
    labelled::{Keep, Labelled, rows},
    output::Output,
    tell,
};

/// Fits a model and writes it to a file.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Table`].
pub(crate) fn fit(args: &FitArgs, control: &Control<'_>) -> Result<(), Error> {
    let combiner = args.method.combiner()?;
    args.options.refuse_unused_seed(&args.calibrate)?;
    let calibrate = args.calibrate.calibrate(args.options.seed());
    let options = Options { calibrate, ..args.options.options() };
    let method = combiner.method();
    let asked = (!args.unlabelled.is_empty()).then_some(true);
    let unlabelled = method
        .counts_unlabelled(asked, args.panel.label.is_some())
        .map_err(|error| refused_setting(&error))?;
    let output = Output::new(&args.output)?;
    output.refuse_inputs(args.input.iter().chain(&args.panel.gold).chain(&args.unlabelled))?;
    // A model keeps what its method needs; a table of a large crowd would not fit otherwise.
    let level = if calibrate.is_some() { Level::Tally } else { combiner.needs() };
    let keep = if unlabelled { Keep::all(Level::Tally) } else { Keep::labelled(level) };
    let labelled = Labelled::read_with(&args.input, &args.unlabelled, &args.panel, "fit", keep, control)?;
    let engine = |error| labelled.place.engine(error);
    let evidence = if method.uses_unlabelled(&labelled.evidence) {
        Cow::Borrowed(&labelled.evidence)
    } else {
        Cow::Owned(labelled.evidence.reduce_to(level, control).map_err(engine)?)
    };
    let model = Model::fit(&*combiner, &evidence, &options, control).map_err(|error| match error {
        spocc::Error::LevelTooLow { what, needs, found } if what == method.to_string() => {
            let others = Method::ALL.iter().filter(|method| method.combiner().needs() <= evidence.level());
            let others: Vec<String> = others.map(ToString::to_string).collect();
            let found = format!("{found}, enough for {}", others.join(", "));
            labelled.place.refused(format!("{needs} for {what}"), found)
        }
        other => engine(other),
    })?;

    let bytes = if args.slim { model.slim().to_bytes() } else { model.to_bytes() };
    output.write_all(&bytes)?;
    tell(format_args!(
        "fitted {} to {}: {}, {} ({})",
        model.method(),
        fitted_to(model.evidence().unwrap_or(&evidence)),
        count(model.classifiers().len(), "classifier", "classifiers"),
        count(model.classes().len(), "class", "classes"),
        list(model.classes()).replace('`', ""),
    ));
    tell_fallback(&model, &evidence);
    let declining = declining(&model);
    if model.missing() == Missing::Auto && !declining.is_empty() {
        tell(format_args!("an empty cell is an answer of {}", list(declining)));
    }
    if let Some(calibration) = model.calibration() {
        tell(format_args!("calibrated: {calibration}"));
        tell_coverage(calibration, &model, labelled.evidence.n_rows());
    }
    tell_never_decided(&model, &evidence);
    labelled.tell_notes();
    tell(format_args!("wrote {output} ({} bytes)", bytes.len()));
    Ok(())
}

/// A note where model selection put another method in the place of the ladder. It has no accuracy: that of the held-out
/// rows was maximised by the selection, so it would be too high.
fn tell_fallback(model: &Model, evidence: &Evidence) {
    let Parameters::Ladder { fallback: Some(fallback), .. } = model.parameters() else { return };
    let chosen = match fallback {
        Method::Majority => "the majority vote".to_owned(),
        Method::Selection => "the best classifier".to_owned(),
        other => other.to_string(),
    };
    if (0..evidence.classifiers().len()).all(|k| evidence.n_answered(k) == 0.0) {
        return tell(format_args!("note: no labelled row has a prediction; {chosen} decides"));
    }
    tell(format_args!(
        "note: model selection chose {chosen} (the ladder was not better on held-out rows); see spocc compare"
    ));
}

/// Says which coverage is possible, and what helps, if the usual one is out of reach.
fn tell_coverage(calibration: &Calibration, model: &Model, n_labelled: f64) {
    const USUAL: f64 = 0.95;
    let needed = Coverage::try_from(USUAL).map_or(0, Coverage::n_needed);
    let n_rows = calibration.n_rows();
    let Some((list, &fewest)) = n_rows.iter().enumerate().min_by_key(|(_, n)| **n) else { return };
    if fewest >= needed {
        return;
    }
    let how = calibration.settings();
    let (of_class, of_each) = if how.per_class {
        (format!(" of class {}", quoted(&model.classes()[list].to_string())), " of each class")
    } else {
        (String::new(), "")
    };
    let supports = match fewest {
        0 => "support no coverage".to_owned(),
        n => format!(
            "support{} a coverage of at most {}",
            if n == 1 { "s" } else { "" },
            // Rounded down: more would be refused.
            (100.0 * calibration.max_coverage()).floor() / 100.0
        ),
    };
    // A split has a quarter of the rows.
    let n_cross = if how.per_class { 4.0 * fewest as f64 } else { n_labelled };
    let helps = [
        (how.scheme == ConformalScheme::Split && n_cross >= needed as f64, "--calibrate cross"),
        (how.per_class && n_rows.iter().sum::<u64>() >= needed, "no --per-class"),
        (true, "more labelled rows"),
    ];
    let helps: Vec<&str> = helps.iter().filter(|(helps, _)| *helps).map(|(_, what)| *what).collect();
    tell(format_args!(
        "note: {}{of_class} {supports} ({USUAL} needs {needed}{of_each}): use {}",
        count(fewest as usize, "calibration row", "calibration rows"),
        helps.join(" or "),
    ));
}

/// A note of the labels that are predicted and never decided, where no list of classes was given.
fn tell_never_decided(model: &Model, evidence: &Evidence) {
    let labels = evidence.labels();
    let is_other = |label: &&spocc::Label| !labels.is_closed() && !model.classes().contains(label);
    let others: Vec<&spocc::Label> = labels.all().iter().filter(is_other).collect();
    if !others.is_empty() {
        tell(format_args!(
            "note: {} never true and never decided: {} (--classes gives the exact list of classes)",
            if others.len() == 1 { "one label is" } else { "some labels are" },
            list(others)
        ));
    }
}

/// The classifiers whose silence is an answer.
pub(super) fn declining(model: &Model) -> Vec<&String> {
    let missing_is_answer = model.classifiers().iter().zip(model.missing_is_answer());
    missing_is_answer.filter(|(_, missing_is_answer)| **missing_is_answer).map(|(name, _)| name).collect()
}

/// `3 rows`, `3 rows and 2 without truth`, `2 rows without truth`.
fn fitted_to(evidence: &Evidence) -> String {
    match [evidence.n_rows(), evidence.n_unlabelled()].map(|n| n.round() as u64) {
        [labelled, 0] => rows(labelled),
        [0, unlabelled] => format!("{} without truth", rows(unlabelled)),
        [labelled, unlabelled] => format!("{} and {unlabelled} without truth", rows(labelled)),
    }
}
