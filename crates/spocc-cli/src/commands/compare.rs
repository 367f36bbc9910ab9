//! `spocc compare`: the accuracy of every method on held-out rows.

use std::path::PathBuf;

use clap::error::ErrorKind;
use spocc::{Control, Method, evaluate::CompareSettings, evidence::Level};

use crate::{
    args::{CompareArgs, usage},
    error::{Error, count},
    input::Input,
    print_status, progress,
    read::{CountOptions, CountedInput, refuse_same_file},
    report,
};

/// Evaluates every method and prints the report.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Table`].
pub(crate) fn compare(args: &CompareArgs, control: &Control<'_>) -> Result<(), Error> {
    args.columns.refuse_double_use("compare")?;
    refuse_same_file(&args.input, &args.unlabelled, &args.columns)?;
    let open = |names: &Vec<PathBuf>| Input::open(names, &args.columns.table.reading());
    let input = open(&args.input)?;
    let test = if args.test.is_empty() { None } else { Some(open(&args.test)?) };
    // Options about columns apply to any input that is a table.
    let is_table = |input: &Input| matches!(input, Input::Table(_));
    if args.unlabelled.is_empty() && !is_table(&input) && !test.as_ref().is_some_and(is_table) {
        args.columns.refuse_columns("compare", "a tally")?;
    }
    let methods = if args.methods.is_empty() { Method::ALL.to_vec() } else { args.methods.clone() };
    let settings = CompareSettings {
        folds: args.folds,
        repeats: args.rounds,
        seed: args.options.seed(),
        methods,
        options: args.options.options(),
        curve: !args.no_curve,
        ladder_uses_unlabelled: !args.unlabelled.is_empty() || !is_table(&input),
    };
    // Accuracy needs true labels.
    if is_table(&input) {
        args.columns.label("compare")?;
    }
    let uses_unlabelled = |method: &&Method| settings.uses_unlabelled(**method);
    let users: Vec<String> =
        settings.methods.iter().filter(uses_unlabelled).map(ToString::to_string).collect();
    if users.is_empty() && !args.unlabelled.is_empty() {
        let message = "--unlabelled is only used by ladder and dawid-skene, which are not among --methods";
        return Err(usage("compare", ErrorKind::ArgumentConflict, message).into());
    }
    let labelled_rows = CountOptions::labelled(Level::Tally);
    let mut keep = if users.is_empty() { labelled_rows } else { CountOptions::all(Level::Tally) };
    if !args.unlabelled.is_empty() {
        keep = keep.with_ids();
    }
    let mut labelled = CountedInput::of(input, &args.columns, "compare", keep, control)?;
    if !args.unlabelled.is_empty() {
        labelled.add_unlabelled(&args.unlabelled, &args.columns, "compare", control)?;
    }
    let test = test
        .map(|test| CountedInput::of(test, &args.columns, "compare", labelled_rows, control))
        .transpose()?;
    let tested = test.as_ref().map(|test| &test.evidence);
    let comparison =
        spocc::evaluate::compare(&labelled.evidence, tested, &settings, control).map_err(|error| {
            let is_about_test = matches!(error, spocc::Error::SameRows);
            test.as_ref().filter(|_| is_about_test).unwrap_or(&labelled).place.engine(error)
        })?;
    progress::clear();
    report::print(args.json, &comparison, || report::comparison(&comparison))?;
    if labelled.evidence.n_unlabelled() > 0.0 {
        print_status(format_args!(
            "{} also used {} for fitting; accuracy is measured on labelled rows only",
            users.join(" and "),
            count(labelled.evidence.n_unlabelled().round() as usize, "unlabelled row", "unlabelled rows"),
        ));
    }
    labelled.report_notes();
    Ok(())
}
