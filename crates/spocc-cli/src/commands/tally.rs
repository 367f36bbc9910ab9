//! `spocc tally`: counts a table into a tally. `spocc merge`: adds up tallies.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    path::PathBuf,
};

use clap::error::ErrorKind;
use spocc::{
    Control, Evidence,
    evidence::{ADVISED_MIN_COUNT, Level},
};
use spocc_table::expand;

use crate::{
    args::{MergeArgs, TallyArgs, usage},
    commands::counted_rows::{describe_rows, note_sample},
    error::{Error, count, rows},
    input::Input,
    output::Output,
    print_status,
    read::{CountOptions, CountedInput},
};

/// Counts a table, or reduces a tally, and writes the tally.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Table`].
pub(crate) fn tally(args: &TallyArgs, control: &Control<'_>) -> Result<(), Error> {
    let tables = args.unlabelled.tables("tally")?;
    if args.marginals && !tables.is_empty() {
        let message = "--marginals has no counts of unlabelled rows, so --unlabelled cannot be used with it";
        return Err(usage("tally", ErrorKind::ArgumentConflict, message).into());
    }
    let output = Output::new(&args.output)?;
    output.refuse_inputs(args.input.iter().chain(&args.columns.gold).chain(tables))?;
    let level = if args.marginals { Level::Marginals } else { Level::Tally };
    let counts_unlabelled = !args.marginals && args.unlabelled.asked() != Some(false);
    let keep = if counts_unlabelled { CountOptions::all(level) } else { CountOptions::labelled(level) };
    let labelled = CountedInput::read_with(&args.input, tables, &args.columns, "tally", keep, control)?;
    if args.marginals && labelled.evidence.is_open() {
        return Err(labelled.place.refused("counts of classes for --marginals", "open answers").into());
    }
    let engine = |error| labelled.engine(error);
    let mut evidence = labelled.evidence.reduce_to(level, control).map_err(engine)?;
    if let Some(min_count) = args.min_count {
        evidence = evidence.without_rare(min_count, control).map_err(|error| match error {
            spocc::Error::NoLabelledRows => {
                let what = if args.marginals { "a class" } else { "a pattern of predictions and true label" };
                let found = format!("none among {}", describe_rows(&labelled.evidence));
                labelled.place.refused(format!("{what} with at least {min_count} rows"), found)
            }
            other => labelled.place.engine(other),
        })?;
    }
    let bytes = evidence.to_bytes();
    output.write_all(&bytes)?;
    let patterns = evidence.n_patterns();
    let patterns = patterns.map_or("marginals".to_owned(), |n| count(n, "pattern", "patterns"));
    let unlabelled = match evidence.n_unlabelled_patterns() {
        0 => String::new(),
        n => format!(" with and {n} without a true label"),
    };
    let classifiers = count(evidence.classifiers().len(), "classifier", "classifiers");
    print_status(format_args!("counted {}: {classifiers}, {patterns}{unlabelled}", describe_rows(&evidence)));
    note_sample(&evidence);
    if let Some(min_count) = args.min_count {
        report_dropped(&labelled.evidence, &evidence, min_count);
    }
    labelled.report_notes();
    print_status(format_args!("wrote {output} ({} bytes)", bytes.len()));
    Ok(())
}

/// Prints a warning of a least count that protects little.
pub(super) fn warn_small_min_count(option: &str, min_count: u64) {
    if min_count < ADVISED_MIN_COUNT {
        print_status(format_args!(
            "warning: with {option} below {ADVISED_MIN_COUNT} counts stand for few rows, and some hidden counts can be derived"
        ));
    }
}

/// Prints how much --min-count dropped.
fn report_dropped(before: &Evidence, after: &Evidence, min_count: u64) {
    warn_small_min_count("--min-count", min_count);
    let n_predictions = |evidence: &Evidence| {
        (0..evidence.classifiers().len()).map(|k| evidence.n_answered(k)).sum::<f64>().round() as u64
    };
    let n_rows = |evidence: &Evidence| evidence.n_rows() + evidence.n_unlabelled();
    let n_rows = (n_rows(before) - n_rows(after)).round() as u64;
    if n_rows > 0 {
        print_status(format_args!("dropped {} in groups of fewer than {min_count}", rows(n_rows)));
    }
    if after.n_patterns().is_none() {
        let dropped = (n_predictions(before) - n_predictions(after)) as usize;
        print_status(format_args!(
            "counted {} as missing",
            count(dropped, "rare prediction", "rare predictions")
        ));
    }
    let empty = (0..after.classifiers().len()).filter(|&k| after.n_answered(k) == 0.0).count();
    if empty > 0 {
        let them = if empty == 1 { "it" } else { "them" };
        let empty = count(
            empty,
            "classifier has no counts left but stays",
            "classifiers have no counts left but stay",
        );
        print_status(format_args!("note: {empty} in the tally (--ignore removes {them})"));
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// The bytes of the same counts with the classifiers in the order of their names: those of a copy under another name, or of
/// the same rows with other columns first, are the same.
fn canonical_bytes(evidence: &Evidence, control: &Control<'_>) -> Result<Vec<u8>, spocc::Error> {
    let mut names = evidence.classifiers().to_vec();
    names.sort();
    Ok(evidence.select(&names, control)?.to_bytes())
}

/// Adds up tallies and writes the sum.
///
/// # Errors
///
/// [`Error::Table`], also for the same tally twice and for tallies of different panels.
pub(crate) fn merge(args: &MergeArgs, control: &Control<'_>) -> Result<(), Error> {
    let output = Output::new(&args.output)?;
    output.refuse_inputs(&args.input)?;
    let mut seen: HashMap<u64, &PathBuf> = HashMap::new();
    let mut sum: Option<Evidence> = None;
    let files = expand(&args.input)?;
    for path in &files {
        let (place, evidence) = Input::tally(path, control)?;
        let bytes = canonical_bytes(&evidence, control).map_err(|error| place.engine(error))?;
        let before = seen.insert(hash(&bytes), path).filter(|_| !args.allow_equal);
        // Equal hashes do not prove equal bytes, so compare the bytes.
        if let Some(before) = before
            && canonical_bytes(&Input::tally(before, control)?.1, control).is_ok_and(|before| before == bytes)
        {
            let found = format!("the same counts as {} (--allow-equal adds them anyway)", before.display());
            return Err(place.refused("a different tally", found).into());
        }
        sum = Some(match sum {
            Some(sum) => sum.merge(&evidence, control).map_err(|error| place.engine(error))?,
            None => evidence,
        });
    }
    let Some(sum) = sum else { return Ok(()) };
    let bytes = sum.to_bytes();
    output.write_all(&bytes)?;
    let tallies = count(files.len(), "tally", "tallies");
    let classifiers = count(sum.classifiers().len(), "classifier", "classifiers");
    print_status(format_args!("merged {tallies}: {}, {classifiers}", describe_rows(&sum)));
    note_sample(&sum);
    print_status(format_args!("wrote {output} ({} bytes)", bytes.len()));
    Ok(())
}
