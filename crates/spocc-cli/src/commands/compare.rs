//! `spocc compare`: evaluates every method on the user's own rows.

use std::path::PathBuf;

use clap::error::ErrorKind;
use spocc::{Control, Method, evaluate::CompareSettings, evidence::Level};

use crate::{
    args::{CompareArgs, usage},
    error::Error,
    input::Input,
    labelled::{Keep, Labelled, refuse_same_file, rows},
    progress, report, tell,
};

/// Evaluates every method and prints the report.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Refused`], [`Error::Engine`], [`Error::Io`].
pub(crate) fn compare(args: &CompareArgs, control: &Control<'_>) -> Result<(), Error> {
    args.panel.refuse_double_use("compare")?;
    refuse_same_file(&args.input, &args.unlabelled, &args.panel)?;
    let open = |names: &Vec<PathBuf>| Input::open(names, &args.panel.table.reading());
    let input = open(&args.input)?;
    let test = if args.test.is_empty() { None } else { Some(open(&args.test)?) };
    // Options about columns apply to any of them that is a table.
    let is_table = |input: &Input| matches!(input, Input::Table(_));
    if args.unlabelled.is_empty() && !is_table(&input) && !test.as_ref().is_some_and(is_table) {
        args.panel.refuse_columns("compare", "a tally")?;
    }
    let methods = if args.methods.is_empty() { Method::ALL.to_vec() } else { args.methods.clone() };
    let settings = CompareSettings {
        folds: args.folds,
        repeats: args.repeats,
        seed: args.options.seed(),
        methods,
        options: args.options.options(),
        curve: !args.no_curve,
        ladder_uses_unlabelled: !args.unlabelled.is_empty() || !is_table(&input),
    };
    // Accuracy is measured against the truth.
    if is_table(&input) {
        args.panel.label("compare")?;
    }
    let uses_unlabelled = |method: &&Method| settings.uses_unlabelled(**method);
    let users: Vec<String> =
        settings.methods.iter().filter(uses_unlabelled).map(ToString::to_string).collect();
    if users.is_empty() && !args.unlabelled.is_empty() {
        let message = "--unlabelled is only used by ladder and dawid-skene, which are not among --methods";
        return Err(usage("compare", ErrorKind::ArgumentConflict, message).into());
    }
    let labelled_rows = Keep::labelled(Level::Tally);
    let mut keep = if users.is_empty() { labelled_rows } else { Keep::all(Level::Tally) };
    if !args.unlabelled.is_empty() {
        keep = keep.with_ids();
    }
    let mut labelled = Labelled::of(input, &args.panel, "compare", keep, control)?;
    if !args.unlabelled.is_empty() {
        labelled.add_unlabelled(&args.unlabelled, &args.panel, "compare", control)?;
    }
    let test =
        test.map(|test| Labelled::of(test, &args.panel, "compare", labelled_rows, control)).transpose()?;
    let tested = test.as_ref().map(|test| &test.evidence);
    let comparison =
        spocc::evaluate::compare(&labelled.evidence, tested, &settings, control).map_err(|error| {
            let is_about_test = matches!(error, spocc::Error::SameRows);
            test.as_ref().filter(|_| is_about_test).unwrap_or(&labelled).place.engine(error)
        })?;
    progress::clear();
    report::print(args.json, &comparison, || report::comparison(&comparison))?;
    if labelled.evidence.n_unlabelled() > 0.0 {
        tell(format_args!(
            "{} also used {} without truth for fitting; accuracy is measured on labelled rows only",
            users.join(" and "),
            rows(labelled.evidence.n_unlabelled().round() as u64),
        ));
    }
    labelled.tell_notes();
    Ok(())
}
