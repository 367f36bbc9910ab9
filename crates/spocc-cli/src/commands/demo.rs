//! `spocc demo`: the main job on a built-in panel, in four screens.

use std::{fmt::Write as _, path::Path};

use spocc::{Audit, Decisions, Error as EngineError, Evidence, Method, Model, Watch};

use crate::{
    error::{Error, Place},
    example::Example,
    output::Output,
};

/// Messages whose truth the methods may learn from.
const LABELLED: usize = 400;

/// Messages on which they are compared; only the demo knows their truth.
const HELD_OUT: usize = 4000;

/// Prints audit, comparison, one explained decision, and what to type next.
///
/// # Errors
///
/// [`Error::Io`] if standard output does not take it.
pub(crate) fn demo(_: &crate::args::DemoArgs, _: &Watch<'_>) -> Result<(), Error> {
    let text = screens().map_err(|error| Place::file(Path::new("demo"), "").engine(error))?;
    Output::new(Path::new("-"))?.write_all(text.as_bytes())
}

fn screens() -> Result<String, EngineError> {
    let labelled = Example::draw(LABELLED, 1)?;
    let held_out = Example::draw(HELD_OUT, 2)?;
    let evidence = Evidence::new(&labelled.answers, &labelled.truth)?;
    let contest = Contest::hold(&evidence, &held_out)?;
    let model = &contest.find(Method::AdaSpocc)?.model;
    let audit = Audit::new(&evidence, Some(model), &Watch::default())?;
    Ok([panel(&audit), ties(&audit), contest.table(), explanation(&contest, &held_out)?, next_steps()]
        .concat())
}

fn heading(title: &str) -> String {
    format!("\n== {title} {}\n\n", "=".repeat(76usize.saturating_sub(title.len())))
}

fn panel(audit: &Audit) -> String {
    // The tree has a screen of its own.
    let mut table = audit.clone();
    table.panel.dendrogram = None;
    format!(
        "\
{}Eleven judges sort messages, and of {LABELLED} the right class is known. Two judges are
good at half of the trade each. Five desks follow one poor manual, so they err
together. `contrary` is reliably wrong, `coin` guesses, `stuck` always says the
same, `seldom` hardly ever speaks. Nobody told the engine; it found out:

{table}",
        heading("1. Who is worth listening to")
    )
}

fn ties(audit: &Audit) -> String {
    let names: Vec<&str> = audit.classifiers.iter().map(|judge| judge.name.as_str()).collect();
    let tree = audit.panel.dendrogram.as_ref().map_or_else(String::new, |tree| tree.to_text(&names));
    format!("{}0: not at all, 1: entirely\n\n{tree}", heading("2. Who depends on whom"))
}

/// A fitted method and how it did.
struct Entry {
    method: Method,
    model: Model,
    decisions: Decisions,
    n_right: usize,
}

/// All methods, fitted to the same rows and judged on the same rows.
struct Contest {
    entries: Vec<Entry>,
    best_judge: (String, usize),
}

impl Contest {
    fn hold(evidence: &Evidence, held_out: &Example) -> Result<Self, EngineError> {
        let entry = |method: Method| {
            let model = method.combiner().fit(evidence)?;
            let decisions = model.predict(&held_out.answers)?;
            let right = |(row, label)| held_out.truth.get(row) == Some(label);
            let n_right = decisions.labels().enumerate().filter(|ruling| right(*ruling)).count();
            Ok(Entry { method, model, decisions, n_right })
        };
        let mut entries = Method::ALL.into_iter().map(entry).collect::<Result<Vec<Entry>, EngineError>>()?;
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.n_right));
        Ok(Self { entries, best_judge: best_judge(held_out) })
    }

    fn find(&self, method: Method) -> Result<&Entry, EngineError> {
        self.entries.iter().find(|entry| entry.method == method).ok_or(EngineError::NoClassifiers)
    }

    fn table(&self) -> String {
        let mut lines: Vec<(String, usize)> =
            self.entries.iter().map(|entry| (entry.method.to_string(), entry.n_right)).collect();
        let (judge, n_right) = &self.best_judge;
        lines.push((format!("best judge alone ({judge})"), *n_right));
        lines.sort_by_key(|line| std::cmp::Reverse(line.1));
        let mut text = format!(
            "{}Every method learned from the same {LABELLED} messages. Right on {HELD_OUT} others:\n\n",
            heading("3. What the best combination is")
        );
        for (name, n_right) in lines {
            let share = n_right as f64 / HELD_OUT as f64;
            let bar = "#".repeat((share * 40.0).round() as usize);
            let _ = writeln!(text, "  {name:<24} {:5.1} %  {bar}", share * 100.0);
        }
        text.push_str(
            "\nThe majority follows the five desks. This panel was made to have every trouble\n\
             at once; on yours another method may lead.\n",
        );
        text
    }
}

/// The judge that is right most often on the held-out rows: more than anyone could know beforehand.
fn best_judge(held_out: &Example) -> (String, usize) {
    let n_right = |k: usize| {
        let right = |row: &usize| held_out.truth.get(*row) == held_out.answers.answer(*row, k);
        (0..HELD_OUT).filter(right).count()
    };
    let names = held_out.answers.classifiers().iter().enumerate();
    names.map(|(k, name)| (name.clone(), n_right(k))).max_by_key(|judge| judge.1).unwrap_or_default()
}

fn explanation(contest: &Contest, held_out: &Example) -> Result<String, EngineError> {
    let (majority, adaspocc) = (contest.find(Method::Majority)?, contest.find(Method::AdaSpocc)?);
    let votes = |row: usize, label: &spocc::Label| {
        (0..held_out.answers.n_classifiers())
            .filter(|&k| held_out.answers.answer(row, k) == Some(label))
            .count()
    };
    let (by_vote, by_us): (Vec<_>, Vec<_>) =
        (majority.decisions.labels().collect(), adaspocc.decisions.labels().collect());
    let telling = |row: &usize| {
        held_out.truth.get(*row) == Some(by_us[*row])
            && by_vote[*row] != by_us[*row]
            && votes(*row, by_vote[*row]) >= votes(*row, by_us[*row]) + 3
    };
    let Some(row) = (0..HELD_OUT).find(telling) else { return Ok(String::new()) };
    let explained = adaspocc.model.align(&held_out.answers)?.explain(row)?;
    Ok(format!(
        "\
{}Message {} was `{}`. That has {} votes and `{}` has {}, so the
majority vote errs. adaspocc does not:

{explained}",
        heading("4. Why"),
        row + 1,
        by_us[row],
        votes(row, by_us[row]),
        by_vote[row],
        votes(row, by_vote[row]),
    ))
}

fn next_steps() -> String {
    format!(
        "\
{}A CSV file with a column per judge and a row per item, and in one more column
the truth of those rows where you know it:

  item,ann,bob,eve,truth
  1,cat,dog,dog,cat
  2,dog,,cat,

  spocc fit answers.csv --label truth --id item -o panel.spocc
  spocc predict panel.spocc answers.csv --id item -o decided.csv

`spocc help fit` lists the methods and everything else there is to choose.
",
        heading("5. Your own table")
    )
}
