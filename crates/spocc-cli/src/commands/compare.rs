//! `spocc compare`: every method on the user's own rows.

use std::{ops::ControlFlow, path::PathBuf};

use spocc::{Level, Method, Watch};

use crate::{
    args::CompareArgs,
    compare::{self, Settings},
    error::Error,
    input::Input,
    labelled::Labelled,
    progress, report,
};

/// Measures every method and prints how they did.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Refused`], [`Error::Engine`], [`Error::Io`].
pub(crate) fn compare(args: &CompareArgs, watch: &Watch<'_>) -> Result<(), Error> {
    args.panel.refuse_double_use("compare")?;
    let open = |names: &Vec<PathBuf>| Input::open(names, &args.panel.table.reading());
    let input = open(&args.input)?;
    let test = if args.test.is_empty() { None } else { Some(open(&args.test)?) };
    // Options about columns are for whichever of the two is a table.
    if ![Some(&input), test.as_ref()].into_iter().flatten().any(|input| matches!(input, Input::Table(_))) {
        args.panel.refuse_columns("compare", "a tally")?;
    }
    let labelled = read(input, args, watch)?;
    let test = test.map(|test| read(test, args, watch)).transpose()?;
    if let Some(test) = test.as_ref().filter(|test| test.evidence.to_bytes() == labelled.evidence.to_bytes())
    {
        return Err(test.place.refused("rows that the methods did not learn from", "the very same rows"));
    }
    let settings = Settings {
        folds: args.folds,
        repeats: args.rounds,
        seed: args.options.seed(),
        methods: if args.methods.is_empty() { Method::ALL.to_vec() } else { args.methods.clone() },
        options: args.options.options(),
        curve: !args.no_curve,
    };
    let on = |done, total| {
        progress::show("comparing", done, Some(total));
        ControlFlow::Continue(())
    };
    // The bar is that of the whole comparison, not of each fit within.
    let quiet = Watch::default().with_memory_limit(watch.memory_limit());
    let tested = test.as_ref().map(|test| &test.evidence);
    let comparison = compare::compare(&labelled.evidence, tested, &settings, &quiet, &on)
        .map_err(|error| labelled.place.engine(error))?;
    progress::clear();
    report::print(args.json, &comparison, || report::comparison(&comparison))?;
    labelled.tell_notes();
    Ok(())
}

fn read(input: Input, args: &CompareArgs, watch: &Watch<'_>) -> Result<Labelled, Error> {
    match input {
        Input::Table(table) => Labelled::count(*table, &args.panel, "compare", Level::Tally, watch),
        Input::Tally(place, evidence) => Labelled::of_tally(place, &evidence, &args.panel, watch),
        Input::Model(place, _) => Err(place.refused("a table or a tally", "a model")),
    }
}
