//! `spocc compare`: every method on the user's own rows.

use std::{ops::ControlFlow, path::PathBuf};

use clap::error::ErrorKind;
use spocc::{Control, Method, evidence::Level};

use crate::{
    args::{CompareArgs, usage},
    compare::{self, Settings},
    error::Error,
    input::Input,
    labelled::{Keep, Labelled, refuse_same_file, rows},
    progress, report, tell,
};

/// Measures every method and prints how they did.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Table`].
pub(crate) fn compare(args: &CompareArgs, control: &Control<'_>) -> Result<(), Error> {
    args.panel.refuse_double_use("compare")?;
    refuse_same_file(&args.input, &args.unlabelled, &args.panel)?;
    let open = |names: &Vec<PathBuf>| Input::open(names, &args.panel.table.reading());
    let input = open(&args.input)?;
    let test = if args.test.is_empty() { None } else { Some(open(&args.test)?) };
    // Options about columns are for whichever of them is a table.
    let is_table = |input: &Input| matches!(input, Input::Table(_));
    if args.unlabelled.is_empty() && !is_table(&input) && !test.as_ref().is_some_and(is_table) {
        args.panel.refuse_columns("compare", "a tally")?;
    }
    let methods = if args.methods.is_empty() { Method::ALL.to_vec() } else { args.methods.clone() };
    let keep = Keep::labelled(Level::Tally);
    let learns_all = methods.contains(&Method::DawidSkene)
        || methods.contains(&Method::Ladder) && !args.unlabelled.is_empty();
    let ladder_learns_all = !args.unlabelled.is_empty() || !is_table(&input);
    // Accuracy is measured against the truth.
    if is_table(&input) {
        args.panel.label("compare")?;
    }
    let mut learning = if learns_all { Keep::all(Level::Tally) } else { keep };
    if !args.unlabelled.is_empty() {
        learning = learning.with_ids();
    }
    let mut labelled = Labelled::of(input, &args.panel, "compare", learning, control)?;
    if !args.unlabelled.is_empty() {
        if !learns_all {
            let message =
                "--unlabelled is only used by ladder and dawid-skene, which are not among --methods";
            return Err(usage("compare", ErrorKind::ArgumentConflict, message).into());
        }
        labelled.add_unlabelled(&args.unlabelled, &args.panel, "compare", control)?;
    }
    let test = test.map(|test| Labelled::of(test, &args.panel, "compare", keep, control)).transpose()?;
    // Rows without truth are not evaluated, so they do not make two tables different.
    let fitted =
        labelled.evidence.labelled(control).map_err(|error| labelled.place.engine(error))?.to_bytes();
    if let Some(test) = test.as_ref().filter(|test| test.evidence.to_bytes() == fitted) {
        return Err(test.place.refused("held-out rows", "the rows that the methods are fitted to").into());
    }
    let settings = Settings {
        folds: args.folds,
        repeats: args.rounds,
        seed: args.options.seed(),
        methods,
        options: args.options.options(),
        curve: !args.no_curve,
        ladder_learns_all,
    };
    let on = |done, total| {
        progress::show("comparing", done, Some(total));
        ControlFlow::Continue(())
    };
    // The bar is that of the whole comparison, not of each fit within.
    let quiet = Control::default().with_memory_limit(control.memory_limit());
    let tested = test.as_ref().map(|test| &test.evidence);
    let comparison = compare::compare(&labelled.evidence, tested, &settings, &quiet, &on)
        .map_err(|error| labelled.place.engine(error))?;
    progress::clear();
    report::print(args.json, &comparison, || report::comparison(&comparison))?;
    if labelled.evidence.n_unlabelled() > 0.0 {
        let is_fitted = |method: &Method| match method {
            Method::Ladder => settings.ladder_learns_all,
            method => *method == Method::DawidSkene,
        };
        let fitted: Vec<String> =
            settings.methods.iter().filter(|method| is_fitted(method)).map(ToString::to_string).collect();
        tell(format_args!(
            "{} also used {} without truth for fitting; accuracy is measured on labelled rows only",
            fitted.join(" and "),
            rows(labelled.evidence.n_unlabelled().round() as u64),
        ));
    }
    labelled.tell_notes();
    Ok(())
}
