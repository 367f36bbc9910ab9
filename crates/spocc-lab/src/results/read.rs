//! Reading files of outcomes, plain or gzipped, and validating them.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use flate2::read::GzDecoder;

use super::{FORMAT, OutcomeKey, Results, ResultsHeader, RunOutcome};
use crate::error::Error;

/// The results of every experiment in a folder, by name, and the number of unfinished repetitions that were dropped.
pub(crate) fn read_all(dir: &Path) -> Result<(Vec<Results>, usize), Error> {
    let mut all: Vec<Results> = Vec::new();
    let mut unfinished = 0;
    for path in files(dir)? {
        let Some((results, _)) = parse(&path, &read(&path)?)? else { continue };
        if let Some(first) = all.first().filter(|first| first.header.run() != results.header.run()) {
            let (expected, found) = (first.header.description(), results.header.description());
            return Err(Error::OtherRun { path, expected, found });
        }
        match all.iter_mut().find(|other| other.header.experiment == results.header.experiment) {
            None => all.push(results),
            Some(other) => other.absorb(results, &path)?,
        }
    }
    for results in &mut all {
        unfinished += results.drop_unfinished();
        results.sort();
    }
    all.retain(|results| !results.outcomes.is_empty());
    if all.is_empty() {
        let expected = "results of `spocc-lab synthetic`, `real`, `robustness` or `budgets`".to_owned();
        return Err(Error::BadFile { path: dir.to_owned(), expected, found: "none".to_owned() });
    }
    Ok((all, unfinished))
}

/// The files of results in a folder, by name.
pub(super) fn files(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut paths: Vec<PathBuf> = fs::read_dir(dir)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
        .map_err(Error::io(dir))?;
    let is = |path: &Path, extension: &str| path.extension().is_some_and(|found| found == extension);
    let is_results = |path: &PathBuf| {
        // A compressed file beside its plain one is an older state of it.
        let plain = path.with_extension("");
        is(path, "jsonl") || is(path, "gz") && is(&plain, "jsonl") && !plain.exists()
    };
    paths.retain(is_results);
    paths.sort();
    Ok(paths)
}

/// The header of a file; nothing without a complete first line, or with one that `parse` will refuse.
pub(super) fn first_header(path: &Path) -> Result<Option<ResultsHeader>, Error> {
    let text = read(path)?;
    let end = text.iter().position(|&byte| byte == b'\n').unwrap_or(0);
    Ok(serde_json::from_slice(&text[..end]).ok())
}

/// The content of a file, decompressed if its name ends in `.gz`.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let bytes = fs::read(path).map_err(Error::io(path))?;
    if path.extension().is_none_or(|extension| extension != "gz") {
        return Ok(bytes);
    }
    let mut text = Vec::new();
    GzDecoder::new(bytes.as_slice()).read_to_end(&mut text).map_err(Error::io(path))?;
    Ok(text)
}

/// The content of a file and the number of bytes in complete lines; nothing for an empty file.
pub(super) fn parse(path: &Path, text: &[u8]) -> Result<Option<(Results, usize)>, Error> {
    let complete = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let mut lines = text[..complete].split_inclusive(|&byte| byte == b'\n').zip(1..);
    let Some((first, _)) = lines.next() else { return Ok(None) };
    let header = parse_header(path, first)?;
    let (mut outcomes, mut places): (Vec<RunOutcome>, HashMap<OutcomeKey, usize>) = Default::default();
    for (line, number) in lines {
        let refuse = |expected: String, found: String| Error::BadLine {
            path: path.to_owned(),
            line: number,
            expected,
            found,
        };
        let outcome: RunOutcome = serde_json::from_slice(line)
            .map_err(|error| refuse("an outcome".to_owned(), error.to_string()))?;
        check(&outcome, header.classes).map_err(|(expected, found)| refuse(expected, found))?;
        if !add(&mut outcomes, &mut places, outcome) {
            let (expected, found) = ("one outcome of a repetition", "another one of the same");
            return Err(refuse(expected.to_owned(), found.to_owned()));
        }
    }
    Ok(Some((Results { header, outcomes }, complete)))
}

/// Adds a line to the outcomes; false if an earlier line has other figures of the same.
pub(super) fn add(
    outcomes: &mut Vec<RunOutcome>,
    places: &mut HashMap<OutcomeKey, usize>,
    line: RunOutcome,
) -> bool {
    if let Some(&at) = places.get(&line.key()) {
        return outcomes[at].absorb(&line);
    }
    places.insert(line.key(), outcomes.len());
    outcomes.push(line);
    true
}

impl Results {
    /// Adds the outcomes of another file of the same experiment, such as one of other methods.
    fn absorb(&mut self, other: Self, path: &Path) -> Result<(), Error> {
        let refuse =
            |expected: String, found: String| Error::OtherRun { path: path.to_owned(), expected, found };
        if other.header != self.header {
            return Err(refuse(self.header.description(), other.header.description()));
        }
        let mut places = self.outcomes.iter().enumerate().map(|(at, outcome)| (outcome.key(), at)).collect();
        for outcome in other.outcomes {
            if !add(&mut self.outcomes, &mut places, outcome) {
                let (expected, found) = ("the figures of another file", "others of the same methods");
                return Err(refuse(expected.to_owned(), found.to_owned()));
            }
        }
        Ok(())
    }
}

fn parse_header(path: &Path, line: &[u8]) -> Result<ResultsHeader, Error> {
    let refuse = |expected: String, found: String| Error::BadFile { path: path.to_owned(), expected, found };
    let header: ResultsHeader = serde_json::from_slice(line).map_err(|error| Error::BadLine {
        path: path.to_owned(),
        line: 1,
        expected: "the header of results".to_owned(),
        found: error.to_string(),
    })?;
    if header.lab != FORMAT {
        return Err(refuse(format!("results of format {FORMAT}"), format!("format {}", header.lab)));
    }
    if !(2..=usize::from(u16::MAX)).contains(&header.classes) {
        return Err(refuse("2 classes or more".to_owned(), header.classes.to_string()));
    }
    Ok(header)
}

/// Expected and found, if the counts of an outcome are impossible.
fn check(outcome: &RunOutcome, n_classes: usize) -> Result<(), (String, String)> {
    let size = n_classes * n_classes;
    if outcome.confusion.is_empty() || outcome.confusion.values().any(|counts| counts.len() != size) {
        let expected = format!("confusion counts of {n_classes} classes");
        return Err((expected, "another number of counts".to_owned()));
    }
    let mut sets = outcome.sets.values().flat_map(BTreeMap::values);
    match sets.find(|counts| !counts.is_possible(n_classes)) {
        None => Ok(()),
        Some(counts) => {
            let expected = "rows, covered rows among them, and classes in non-empty sets".to_owned();
            Err((expected, format!("{counts:?}")))
        }
    }
}
