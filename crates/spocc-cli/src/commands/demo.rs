//! `spocc demo`: the main job on a built-in panel, a screen for each part of it.

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
    error::{Error, Location},
    example::Example,
    output::Output,
    report::{self, heading},
    tell,
};

/// Messages whose truth the methods may learn from.
const LABELLED: usize = 400;

/// Messages on which they are compared; only the demo knows their truth.
const HELD_OUT: usize = 4000;

/// Prints audit, comparison, one explained decision, and what to type next; or writes the tables behind them.
///
/// # Errors
///
/// [`Error::Table`] if standard output or a file does not take it.
pub(crate) fn demo(args: &DemoArgs, control: &Control<'_>) -> Result<(), Error> {
    let engine = |error| Location::file(Path::new("demo"), "").engine(error);
    let labelled = Example::draw(LABELLED, 1).map_err(engine)?;
    let held_out = Example::draw(HELD_OUT, 2).map_err(engine)?;
    if let Some(directory) = &args.save {
        return save(directory, &labelled, &held_out);
    }
    let text = screens(&labelled, &held_out, control).map_err(engine)?;
    crate::progress::clear();
    report::print_text(&text)
}

/// Writes the tables as a user would have them: the labelled rows, new ones, and what only the demo knows.
fn save(directory: &Path, labelled: &Example, held_out: &Example) -> Result<(), Error> {
    let files = [
        ("gold.csv", labelled.to_csv(1, true)),
        ("new.csv", held_out.to_csv(LABELLED + 1, false)),
        ("truth.csv", held_out.truths_to_csv(LABELLED + 1)),
    ];
    for (name, _) in &files {
        let path = directory.join(name);
        if path.exists() {
            return Err(Location::file(&path, "")
                .refused("no such file yet", "one that would be lost")
                .into());
        }
    }
    for (name, text) in files {
        let output = Output::new(&directory.join(name))?;
        output.write_all(text.as_bytes())?;
        tell(format_args!("wrote {output}"));
    }
    Ok(())
}

fn screens(labelled: &Example, held_out: &Example, control: &Control<'_>) -> Result<String, EngineError> {
    let evidence = Evidence::new(&labelled.answers, &labelled.truth)?;
    let model = AdaSpocc::default().fit(&evidence)?;
    let audit = Audit::of_evidence(&evidence, control)?;
    let screens = [
        panel(&audit),
        ties(&audit),
        contest(&evidence, held_out, control)?,
        explanation(&model, &Majority.fit(&evidence)?, held_out)?,
        next_steps(),
    ];
    Ok(screens.concat())
}

fn panel(audit: &Audit) -> String {
    // The tree has a screen of its own.
    let mut table = audit.clone();
    table.panel.dendrogram = None;
    format!(
        "\
{}Eleven judges sort messages, and of {LABELLED} the right class is known. Two judges are
good at half of the trade each. Five desks follow one poor manual, so they err
together. `contrary` is reliably wrong, `coin` guesses, `stuck` is constant, and
`seldom` has predictions for few rows. The audit finds this from the counts alone:

{}",
        heading("1. The classifiers"),
        report::audit(&table)
    )
}

fn ties(audit: &Audit) -> String {
    let tree = audit.dependence_tree();
    format!(
        "{}0: independent, 1: copies, -: not known\n\n{tree}",
        heading("2. Which classifiers depend on each other")
    )
}

fn contest(evidence: &Evidence, held_out: &Example, control: &Control<'_>) -> Result<String, EngineError> {
    let test = Evidence::new(&held_out.answers, &held_out.truth)?;
    let settings = CompareSettings { curve: false, ..CompareSettings::default() };
    let comparison = compare(evidence, Some(&test), &settings, control)?;
    Ok(format!(
        "{}{}\n\
         The majority follows the five desks. This panel was made to have every trouble\n\
         at once; on yours another method may lead, so compare before you choose.\n",
        heading("3. What the best combination is"),
        report::comparison(&comparison)
    ))
}

fn explanation(model: &Model, majority: &Model, held_out: &Example) -> Result<String, EngineError> {
    let votes = |row: usize, label: &Label| {
        let said = |k: &usize| held_out.answers.get(row, *k) == Some(label);
        (0..held_out.answers.n_classifiers()).filter(said).count()
    };
    let decide = |model: &Model| model.predict(&held_out.answers);
    let (by_vote, by_us): (Decisions, Decisions) = (decide(majority)?, decide(model)?);
    let (by_vote, by_us): (Vec<_>, Vec<_>) = (by_vote.labels().collect(), by_us.labels().collect());
    let telling = |row: &usize| {
        held_out.truth.get(*row) == Some(by_us[*row])
            && by_vote[*row] != by_us[*row]
            && votes(*row, by_vote[*row]) >= votes(*row, by_us[*row]) + 3
    };
    let Some(row) = (0..HELD_OUT).find(telling) else { return Ok(String::new()) };
    let explained = model.align(&held_out.answers)?.explain(row)?;
    Ok(format!(
        "\
{}Message {} was `{}`. That has {} votes and `{}` has {}, so the
majority vote errs. adaspocc, whose every voice can be followed, does not:

{explained}",
        heading("4. Why"),
        LABELLED + row + 1,
        by_us[row],
        votes(row, by_us[row]),
        by_vote[row],
        votes(row, by_vote[row]),
    ))
}

fn next_steps() -> String {
    format!(
        "\
{}A table with a column per judge and a row per item, and in one more column the
truth of those rows where you know it:

  item,ann,bob,eve,truth
  1,cat,dog,dog,cat
  2,dog,,cat,

  spocc audit answers.csv --label truth --id item
  spocc compare answers.csv --label truth --id item
  spocc fit answers.csv --label truth --id item -o panel.spocc
  spocc predict panel.spocc answers.csv --id item -o decided.csv
  spocc explain panel.spocc answers.csv --id item --row 2

`spocc demo --save .` writes the tables of this demo, to try these on. `spocc help
fit` lists the methods and everything else there is to choose.
",
        heading("5. Your own table")
    )
}
