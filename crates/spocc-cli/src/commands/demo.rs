//! `spocc demo`: audit, comparison and explanation of example data, a screen for each.

use std::path::Path;

use spocc::{
    Control, Error as EngineError, Evidence, Fit, Label, Model,
    audit::Audit,
    evaluate::{CompareSettings, compare},
    methods::{AdaSpocc, Majority},
    predict::Decisions,
};

use crate::{
    args::DemoArgs,
    demo_data::{DemoData, answers_to_csv},
    error::{Error, Location},
    output::Output,
    print_status,
    report::{self, heading},
};

/// Messages to which the methods are fitted.
const LABELLED: usize = 400;

/// Messages on which the methods are compared.
const HELD_OUT: usize = 4000;

/// Prints an audit, a comparison, one explained decision and the next steps; or writes the example tables.
///
/// # Errors
///
/// [`Error::Table`] if standard output or a file cannot be written, or a file exists.
pub(crate) fn demo(args: &DemoArgs, control: &Control<'_>) -> Result<(), Error> {
    let engine = |error| Location::file(Path::new("demo"), "").engine(error);
    let labelled = DemoData::draw(LABELLED, 1).map_err(engine)?;
    let held_out = DemoData::draw(HELD_OUT, 2).map_err(engine)?;
    if let Some(directory) = &args.save {
        return save(directory, &labelled, &held_out);
    }
    let text = screens(&labelled, &held_out, control).map_err(engine)?;
    crate::progress::clear();
    report::print_text(&text)
}

/// Word problems with open answers, and those whose truth is known.
const PROBLEMS: usize = 300;
const SOLVED: usize = 60;

/// Writes the tables as a user has them: labelled rows, new rows, the true labels of the new rows, and open answers.
fn save(directory: &Path, labelled: &DemoData, held_out: &DemoData) -> Result<(), Error> {
    let files = [
        ("gold.csv", labelled.to_csv(1, true)),
        ("new.csv", held_out.to_csv(LABELLED + 1, false)),
        ("truth.csv", held_out.truths_to_csv(LABELLED + 1)),
        ("problems.csv", answers_to_csv(PROBLEMS, SOLVED, 3)),
    ];
    for (name, _) in &files {
        let path = directory.join(name);
        if path.exists() {
            return Err(Location::file(&path, "")
                .refused("a new file", "a file that would be overwritten")
                .into());
        }
    }
    for (name, text) in files {
        let output = Output::new(&directory.join(name))?;
        output.write_all(text.as_bytes())?;
        print_status(format_args!("wrote {output}"));
    }
    Ok(())
}

fn screens(labelled: &DemoData, held_out: &DemoData, control: &Control<'_>) -> Result<String, EngineError> {
    let evidence = Evidence::new(&labelled.predictions, &labelled.truth)?;
    let model = AdaSpocc::default().fit(&evidence)?;
    let audit = Audit::of_evidence(&evidence, control)?;
    let screens = [
        audit_screen(&audit),
        dependence_screen(&audit),
        comparison_screen(&evidence, held_out, control)?,
        explanation_screen(&model, &Majority.fit(&evidence)?, held_out)?,
        next_steps(),
    ];
    Ok(screens.concat())
}

fn audit_screen(audit: &Audit) -> String {
    // The dendrogram has a screen of its own.
    let mut table = audit.clone();
    table.panel.dendrogram = None;
    format!(
        "\
{}Eleven classifiers sort messages into four classes; {LABELLED} messages have a
true label. `ada` and `bea` each separate only half of the classes. The five
vendors make the same errors. `contrary` is systematically wrong, `coin`
guesses, `stuck` is constant and `seldom` has predictions for few rows. The
audit finds this from the counts:

{}",
        heading("1. The classifiers"),
        report::audit(&table)
    )
}

fn dependence_screen(audit: &Audit) -> String {
    let tree = audit.dependence_tree();
    format!(
        "{}0: independent, 1: copies, -: unknown\n\n{tree}",
        heading("2. Which classifiers depend on each other")
    )
}

fn comparison_screen(
    evidence: &Evidence,
    held_out: &DemoData,
    control: &Control<'_>,
) -> Result<String, EngineError> {
    let test = Evidence::new(&held_out.predictions, &held_out.truth)?;
    let settings = CompareSettings { curve: false, ..CompareSettings::default() };
    let comparison = compare(evidence, Some(&test), &settings, control)?;
    Ok(format!(
        "{}{}\n\
         The majority vote follows the five vendors. This example has every kind of\n\
         difficulty at once; compare the methods on your own data before you choose one.\n",
        heading("3. Which method is best"),
        report::comparison(&comparison)
    ))
}

fn explanation_screen(model: &Model, majority: &Model, held_out: &DemoData) -> Result<String, EngineError> {
    let votes = |row: usize, label: &Label| {
        let agrees = |k: &usize| held_out.predictions.get(row, *k) == Some(label);
        (0..held_out.predictions.n_classifiers()).filter(agrees).count()
    };
    let decide = |model: &Model| model.predict(&held_out.predictions);
    let (by_vote, by_model): (Decisions, Decisions) = (decide(majority)?, decide(model)?);
    let (by_vote, by_model): (Vec<_>, Vec<_>) = (by_vote.labels().collect(), by_model.labels().collect());
    let is_instructive = |row: &usize| {
        held_out.truth.get(*row) == Some(by_model[*row])
            && by_vote[*row] != by_model[*row]
            && votes(*row, by_vote[*row]) >= votes(*row, by_model[*row]) + 3
    };
    let Some(row) = (0..HELD_OUT).find(is_instructive) else { return Ok(String::new()) };
    let explained = model.align(&held_out.predictions)?.explain(row)?;
    Ok(format!(
        "\
{}The true label of message {} is `{}`, with {} votes; `{}` has {} votes, so
the majority vote is wrong. adaspocc, shown here, decides correctly:

{explained}",
        heading("4. Why a row is decided as it is"),
        LABELLED + row + 1,
        by_model[row],
        votes(row, by_model[row]),
        by_vote[row],
        votes(row, by_vote[row]),
    ))
}

fn next_steps() -> String {
    format!(
        "\
{}Write a table with a row per item, a column per classifier and a column with the
true label, empty where it is unknown:

  item,ann,bob,eve,truth
  1,cat,dog,dog,cat
  2,dog,,cat,

  spocc audit answers.csv --label truth --id item
  spocc compare answers.csv --label truth --id item
  spocc fit answers.csv --label truth --id item -o panel.spocc
  spocc predict panel.spocc answers.csv --id item -o decided.csv
  spocc explain panel.spocc answers.csv --id item --row 2

`spocc demo --save .` writes the tables of this demo. `spocc help fit` lists all
methods and options.
",
        heading("5. Your own table")
    )
}
