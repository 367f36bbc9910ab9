//! Results: a file per experiment, a line per outcome, appended as they come.

use std::{
    collections::{BTreeMap, HashSet},
    fs::{self, File, TryLockError},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The form of the files written here.
const FORM: u32 = 1;

/// What an experiment is and with what settings it runs: the first line of its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Heading {
    /// Form of the file.
    pub(crate) lab: u32,
    /// `synthetic-adversaries`, `real-wine`, `robustness-wine-copies`.
    pub(crate) experiment: String,
    /// `authors` or `honest`.
    #[serde(rename = "as")]
    pub(crate) setting: String,
    pub(crate) seed: u64,
    /// Version of the engine.
    pub(crate) version: String,
    /// Number of classes.
    pub(crate) classes: usize,
    /// Whether the dataset is less than what the paper used.
    pub(crate) is_subset: bool,
}

/// What came out of one repetition at one point of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Repetition, from 0.
    pub(crate) rep: u32,
    /// Fold of a cross-validation, 0 or 1; 0 where there are none.
    pub(crate) fold: u32,
    /// What is varied: a number of classifiers, a class balance, a number of validation rows; 0 if nothing is.
    pub(crate) at: f64,
    /// Confusion counts of each method on the test rows: true class after true class, decided class within.
    pub(crate) confusion: BTreeMap<String, Vec<u64>>,
    /// Accuracies, from 0 to 1, of what is shown for reference: `best-base`, `optimal`, `centralised`.
    pub(crate) references: BTreeMap<String, f64>,
}

/// All outcomes of one experiment, sorted by point, repetition and fold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Results {
    pub(crate) heading: Heading,
    pub(crate) outcomes: Vec<Outcome>,
}

impl Heading {
    pub(crate) fn new(experiment: String, setting: &str, seed: u64, classes: usize, is_subset: bool) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self { lab: FORM, experiment, setting: setting.to_owned(), seed, version, classes, is_subset }
    }

    fn words(&self) -> String {
        let subset = if self.is_subset { " (a subset)" } else { "" };
        format!(
            "{}{subset} as {}, seed {}, {} classes, version {}, form {}",
            self.experiment, self.setting, self.seed, self.classes, self.version, self.lab
        )
    }
}

impl Outcome {
    /// Share of the test rows decided rightly by a method.
    pub(crate) fn accuracy(&self, method: &str) -> Option<f64> {
        let confusion = self.confusion.get(method)?;
        let n_classes = confusion.len().isqrt();
        let right: u64 = (0..n_classes).map(|class| confusion[class * n_classes + class]).sum();
        Some(right as f64 / confusion.iter().sum::<u64>() as f64)
    }
}

/// Where an outcome belongs; numbers as they are written.
type Place = (u32, u32, u64);

impl Outcome {
    pub(crate) fn place(&self) -> Place {
        (self.rep, self.fold, self.at.to_bits())
    }
}

/// The file of one experiment, open for more.
pub(crate) struct Store {
    path: PathBuf,
    open: Mutex<Open>,
}

struct Open {
    file: File,
    results: Results,
    places: HashSet<Place>,
}

impl Store {
    /// Opens the file of an experiment, or begins it. What a killed run left half-written at the end is dropped.
    pub(crate) fn open(dir: &Path, heading: Heading) -> Result<Self, Error> {
        fs::create_dir_all(dir).map_err(Error::io(dir))?;
        let path = dir.join(format!("{}.jsonl", heading.experiment));
        unpack(&path)?;
        let options = File::options().read(true).append(true).create(true).truncate(false).open(&path);
        let mut file = options.map_err(Error::io(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let expected = "a file that nobody else writes".to_owned();
                return Err(Error::BadFile { path, expected, found: "another run writing it".to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(Error::Io { path, source }),
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(Error::io(&path))?;
        let (results, good) = match parse(&path, &text)? {
            Some((results, _)) if results.heading != heading => {
                let (expected, found) = (heading.words(), results.heading.words());
                return Err(Error::OtherRun { path, expected, found });
            }
            Some(found) => found,
            None => (Results { heading, outcomes: Vec::new() }, 0),
        };
        file.set_len(good as u64).map_err(Error::io(&path))?;
        file.seek(SeekFrom::End(0)).map_err(Error::io(&path))?;
        let places = results.outcomes.iter().map(Outcome::place).collect();
        let store = Self { path, open: Mutex::new(Open { file, results, places }) };
        if good == 0 {
            store.write_heading()?;
        }
        Ok(store)
    }

    fn write_heading(&self) -> Result<(), Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let line = line_of(&open.results.heading);
        open.file.write_all(&line).map_err(Error::io(&self.path))
    }

    pub(crate) fn has(&self, place: Place) -> bool {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).places.contains(&place)
    }

    /// Appends what is not there yet.
    pub(crate) fn append(&self, outcomes: Vec<Outcome>) -> Result<(), Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        for outcome in outcomes {
            if open.places.insert(outcome.place()) {
                open.file.write_all(&line_of(&outcome)).map_err(Error::io(&self.path))?;
                open.results.outcomes.push(outcome);
            }
        }
        Ok(())
    }

    /// Everything that is there of the first `reps` repetitions.
    pub(crate) fn finish(self, reps: u32) -> Results {
        let mut results = self.open.into_inner().unwrap_or_else(PoisonError::into_inner).results;
        results.outcomes.retain(|outcome| outcome.rep < reps);
        results.sort();
        results
    }
}

impl Results {
    fn sort(&mut self) {
        self.outcomes.sort_by(|a, b| a.at.total_cmp(&b.at).then((a.rep, a.fold).cmp(&(b.rep, b.fold))));
    }
}

/// The results of every experiment in a folder, by name.
pub(crate) fn read_all(dir: &Path) -> Result<Vec<Results>, Error> {
    let mut paths: Vec<PathBuf> = fs::read_dir(dir)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
        .map_err(Error::io(dir))?;
    let is = |path: &Path, extension: &str| path.extension().is_some_and(|found| found == extension);
    let is_results = |path: &PathBuf| {
        // A packed file beside its unpacked one is an older state of it.
        let unpacked = path.with_extension("");
        is(path, "jsonl") || is(path, "gz") && is(&unpacked, "jsonl") && !unpacked.exists()
    };
    paths.retain(is_results);
    paths.sort();
    let mut all: Vec<Results> = Vec::new();
    for path in paths {
        let text = read(&path)?;
        let Some((mut results, _)) = parse(&path, &text)? else { continue };
        if let Some(first) = all.first() {
            let run = |heading: &Heading| (heading.setting.clone(), heading.seed, heading.version.clone());
            if run(&first.heading) != run(&results.heading) {
                let (expected, found) = (first.heading.words(), results.heading.words());
                return Err(Error::OtherRun { path, expected, found });
            }
        }
        results.sort();
        all.push(results);
    }
    if all.is_empty() {
        let expected = "results (*.jsonl) of `spocc-lab synthetic` or `real`".to_owned();
        return Err(Error::BadFile { path: dir.to_owned(), expected, found: "none".to_owned() });
    }
    Ok(all)
}

/// The bytes of a file, unpacked if it is packed.
fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let bytes = fs::read(path).map_err(Error::io(path))?;
    if path.extension().is_none_or(|extension| extension != "gz") {
        return Ok(bytes);
    }
    let mut text = Vec::new();
    GzDecoder::new(bytes.as_slice()).read_to_end(&mut text).map_err(Error::io(path))?;
    Ok(text)
}

/// Unpacks the results of an earlier run that were put away packed, so that they can be gone on with.
fn unpack(path: &Path) -> Result<(), Error> {
    let packed = path.with_extension("jsonl.gz");
    if path.exists() || !packed.exists() {
        return Ok(());
    }
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(Error::io(dir))?;
    file.write_all(&read(&packed)?).map_err(Error::io(path))?;
    file.persist(path).map_err(|error| Error::Io { path: path.to_owned(), source: error.error })?;
    Ok(())
}

/// What a file holds and how many of its bytes are whole lines; none of an empty file.
fn parse(path: &Path, text: &[u8]) -> Result<Option<(Results, usize)>, Error> {
    let good = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let mut lines = text[..good].split_inclusive(|&byte| byte == b'\n').zip(1..);
    let bad = |line: usize, expected: &str, error: &serde_json::Error| Error::BadLine {
        path: path.to_owned(),
        line,
        expected: expected.to_owned(),
        found: error.to_string(),
    };
    let Some((first, _)) = lines.next() else { return Ok(None) };
    let heading: Heading =
        serde_json::from_slice(first).map_err(|error| bad(1, "the heading of results", &error))?;
    if heading.lab != FORM {
        let (expected, found) = (format!("results of form {FORM}"), format!("form {}", heading.lab));
        return Err(Error::BadFile { path: path.to_owned(), expected, found });
    }
    let (mut outcomes, mut places): (Vec<Outcome>, _) = (Vec::new(), HashSet::new());
    for (line, number) in lines {
        let outcome: Outcome =
            serde_json::from_slice(line).map_err(|error| bad(number, "an outcome", &error))?;
        let size = heading.classes * heading.classes;
        if outcome.confusion.is_empty() || outcome.confusion.values().any(|counts| counts.len() != size) {
            let expected = format!("confusion counts of {} classes", heading.classes);
            let found = "another number of counts".to_owned();
            return Err(Error::BadLine { path: path.to_owned(), line: number, expected, found });
        }
        if places.insert(outcome.place()) {
            outcomes.push(outcome);
        }
    }
    Ok(Some((Results { heading, outcomes }, good)))
}

fn line_of(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("maps of text and numbers become JSON");
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heading(seed: u64) -> Heading {
        Heading::new("synthetic-faults".to_owned(), "honest", seed, 2, false)
    }

    fn outcome(rep: u32, at: f64) -> Outcome {
        let confusion = BTreeMap::from([("spocc".to_owned(), vec![3, 1, 0, 4])]);
        Outcome { rep, fold: 0, at, confusion, references: BTreeMap::new() }
    }

    #[test]
    fn what_was_appended_is_there_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::open(dir.path(), heading(1)).expect("begins");
        store.append(vec![outcome(1, 0.0), outcome(0, 2.0)]).expect("room");
        drop(store);
        let store = Store::open(dir.path(), heading(1)).expect("goes on");
        assert!(store.has(outcome(0, 2.0).place()) && !store.has(outcome(0, 0.0).place()));
        store.append(vec![outcome(0, 2.0), outcome(0, 0.0)]).expect("room");
        let results = store.finish(2);
        assert_eq!(results.outcomes, [outcome(0, 0.0), outcome(1, 0.0), outcome(0, 2.0)]);
        assert_eq!(read_all(dir.path()).expect("one file"), [results]);
    }

    #[test]
    fn packed_results_are_read_and_gone_on_with() {
        let dir = tempfile::tempdir().expect("a folder");
        Store::open(dir.path(), heading(1)).expect("begins").append(vec![outcome(0, 0.0)]).expect("room");
        let path = dir.path().join("synthetic-faults.jsonl");
        let packed = File::create(path.with_extension("jsonl.gz")).expect("room");
        let mut packer = flate2::write::GzEncoder::new(packed, flate2::Compression::best());
        packer.write_all(&fs::read(&path).expect("there")).expect("room");
        packer.finish().expect("room");
        fs::remove_file(&path).expect("there");
        assert_eq!(read_all(dir.path()).expect("one file")[0].outcomes, [outcome(0, 0.0)]);
        let store = Store::open(dir.path(), heading(1)).expect("goes on");
        store.append(vec![outcome(1, 0.0)]).expect("room");
        assert_eq!(store.finish(2).outcomes.len(), 2);
        assert_eq!(read_all(dir.path()).expect("the unpacked one")[0].outcomes.len(), 2);
    }

    #[test]
    fn half_a_line_is_dropped_and_half_a_file_is_not() {
        let dir = tempfile::tempdir().expect("a folder");
        Store::open(dir.path(), heading(1)).expect("begins").append(vec![outcome(0, 0.0)]).expect("room");
        let path = dir.path().join("synthetic-faults.jsonl");
        let whole = fs::read(&path).expect("there");
        for cut in 1..whole.len() {
            fs::write(&path, &whole[..cut]).expect("room");
            let results = Store::open(dir.path(), heading(1)).expect("goes on").finish(1);
            assert_eq!(results.outcomes.len(), 0, "{cut}");
            assert!(fs::read(&path).expect("there").ends_with(b"}\n"), "{cut}");
        }
        let broken: Vec<u8> = whole.iter().map(|&byte| if byte == b'[' { b'(' } else { byte }).collect();
        fs::write(&path, broken).expect("room");
        let error = Store::open(dir.path(), heading(1)).err().expect("refused").to_string();
        assert!(error.contains("line 2: expected an outcome"), "{error}");
    }

    #[test]
    fn another_seed_is_refused_and_left_as_it_is() {
        let dir = tempfile::tempdir().expect("a folder");
        Store::open(dir.path(), heading(1)).expect("begins").append(vec![outcome(0, 0.0)]).expect("room");
        let path = dir.path().join("synthetic-faults.jsonl");
        let before = fs::read(&path).expect("there");
        let error = Store::open(dir.path(), heading(2)).err().expect("refused").to_string();
        assert!(error.contains("seed 2") && error.contains("seed 1"), "{error}");
        assert_eq!(fs::read(&path).expect("there"), before);
    }

    #[test]
    fn two_runs_do_not_write_one_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let _first = Store::open(dir.path(), heading(1)).expect("begins");
        let error = Store::open(dir.path(), heading(1)).err().expect("refused").to_string();
        assert!(error.contains("another run"), "{error}");
    }
}
