//! `spocc compare`: the accuracy of every method on held-out rows.

use std::path::PathBuf;

use clap::error::ErrorKind;
use spocc::{Control, Method, evaluate::CompareSettings, evidence::Level};

use crate::{
    args::{CompareArgs, usage},
    commands::counted_rows::note_sample,
    error::Error,
    input::Input,
    progress,
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
    let tables = args.unlabelled.tables("compare")?;
    refuse_same_file(&args.input, tables, &args.columns)?;
    let open = |names: &Vec<PathBuf>| Input::open(names, &args.columns.table.reading(control));
    let input = open(&args.input)?;
    let test = if args.test.is_empty() { None } else { Some(open(&args.test)?) };
    // Options about columns apply to any input that is a table.
    let is_table = |input: &Input| matches!(input, Input::Table(_));
    if tables.is_empty() && !is_table(&input) && !test.as_ref().is_some_and(is_table) {
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
    };
    // Accuracy needs true labels.
    if is_table(&input) {
        args.columns.label("compare")?;
    }
    let uses_unlabelled = |method: &Method| method.counts_unlabelled(None, true).is_ok_and(|counts| counts);
    let is_used = settings.methods.iter().any(uses_unlabelled);
    if !is_used && !tables.is_empty() {
        let message =
            "--unlabelled is only used by ladder, dawid-skene and one-coin, which are not among --methods";
        return Err(usage("compare", ErrorKind::ArgumentConflict, message).into());
    }
    let labelled_rows = CountOptions::labelled(Level::Tally);
    let counts_unlabelled = is_used && args.unlabelled.asked() != Some(false);
    let mut keep = if counts_unlabelled { CountOptions::all(Level::Tally) } else { labelled_rows };
    if !tables.is_empty() {
        keep = keep.with_ids();
    }
    let mut labelled = CountedInput::of(input, &args.columns, "compare", keep, control)?;
    if !tables.is_empty() {
        labelled.add_unlabelled(tables, &args.columns, "compare", control)?;
    }
    let test = test
        .map(|test| CountedInput::of(test, &args.columns, "compare", labelled_rows, control))
        .transpose()?;
    let tested = test.as_ref().map(|test| &test.evidence);
    let comparison =
        spocc::evaluate::compare(&labelled.evidence, tested, &settings, control).map_err(|error| {
            let is_about_test = matches!(error, spocc::Error::SameRows);
            test.as_ref().filter(|_| is_about_test).unwrap_or(&labelled).engine(error)
        })?;
    progress::clear();
    report::print(args.json, &comparison, || report::comparison(&comparison))?;
    note_sample(&labelled.evidence);
    labelled.report_notes();
    Ok(())
}
