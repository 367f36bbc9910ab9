//! Results: a file per experiment, a line per outcome, appended as they come.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs::{self, File, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};

use crate::{coverage::Held, error::Error};

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
    /// A hash of the dataset; empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) data: String,
}

/// What came out of one repetition at one point of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Mean log-loss of each method that gives probabilities.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) log_loss: BTreeMap<String, f64>,
    /// Seconds that each method took to learn, on one core; the one figure that differs from run to run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) fit_seconds: BTreeMap<String, f64>,
    /// How the sets of each calibrated method did at each coverage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) sets: BTreeMap<String, BTreeMap<String, Held>>,
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
        let (setting, data) = (setting.to_owned(), String::new());
        Self { lab: FORM, experiment, setting, seed, version, classes, is_subset, data }
    }

    /// What all experiments of one folder have in common.
    fn run(&self) -> (&str, u64, &str) {
        (&self.setting, self.seed, &self.version)
    }

    fn words(&self) -> String {
        let subset = if self.is_subset { " (a subset)" } else { "" };
        let data = if self.data.is_empty() { String::new() } else { format!(", data {}", self.data) };
        format!(
            "{}{subset} as {}, seed {}, {} classes{data}, version {}",
            self.experiment, self.setting, self.seed, self.classes, self.version
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

    /// Whether another one has the same figures, times apart.
    fn has_figures_of(&self, other: &Self) -> bool {
        let untimed = |outcome: &Self| Self { fit_seconds: BTreeMap::new(), ..outcome.clone() };
        untimed(self) == untimed(other)
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
    /// Bytes of whole lines; none once a line could not be written.
    good: Option<u64>,
    results: Results,
    places: HashSet<Place>,
}

impl Open {
    /// Writes a whole line or nothing, and nothing more after a line that could not be written.
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let good =
            self.good.take().ok_or_else(|| io::Error::other("an earlier line could not be written"))?;
        if let Err(error) = self.file.write_all(line) {
            // If even this fails, whoever opens the file next drops the half line.
            let _ = self.file.set_len(good);
            return Err(error);
        }
        self.good = Some(good + line.len() as u64);
        Ok(())
    }
}

impl Store {
    /// Opens the file of an experiment, or begins it. What a killed run left half-written at the end is dropped.
    pub(crate) fn open(dir: &Path, heading: Heading) -> Result<Self, Error> {
        fs::create_dir_all(dir).map_err(Error::io(dir))?;
        for path in files(dir)? {
            if let Some(other) = first_heading(&path)?.filter(|other| other.run() != heading.run()) {
                return Err(Error::OtherRun { path, expected: heading.words(), found: other.words() });
            }
        }
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
            None if line_of(&heading).starts_with(&text) => (Results { heading, outcomes: Vec::new() }, 0),
            None => {
                let expected = "results, or the beginning of some".to_owned();
                return Err(Error::BadFile { path, expected, found: "something else".to_owned() });
            }
        };
        file.set_len(good as u64).map_err(Error::io(&path))?;
        file.seek(SeekFrom::End(0)).map_err(Error::io(&path))?;
        let places = results.outcomes.iter().map(Outcome::place).collect();
        let mut open = Open { file, good: Some(good as u64), results, places };
        if good == 0 {
            let line = line_of(&open.results.heading);
            open.write(&line).map_err(Error::io(&path))?;
        }
        Ok(Self { path, open: Mutex::new(open) })
    }

    pub(crate) fn has(&self, place: Place) -> bool {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).places.contains(&place)
    }

    /// Appends what is not there yet.
    pub(crate) fn append(&self, outcomes: Vec<Outcome>) -> Result<(), Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        for outcome in outcomes {
            if !open.places.contains(&outcome.place()) {
                open.write(&line_of(&outcome)).map_err(Error::io(&self.path))?;
                open.places.insert(outcome.place());
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

    /// Drops repetitions that lack a point or fold that others have, and says how many.
    fn drop_unfinished(&mut self) -> usize {
        let mut places: BTreeMap<u32, usize> = BTreeMap::new();
        self.outcomes.iter().for_each(|outcome| *places.entry(outcome.rep).or_insert(0) += 1);
        let whole: HashSet<(u32, u64)> =
            self.outcomes.iter().map(|outcome| (outcome.fold, outcome.at.to_bits())).collect();
        self.outcomes.retain(|outcome| places[&outcome.rep] == whole.len());
        places.values().filter(|count| **count != whole.len()).count()
    }
}

/// The files of results in a folder, by name.
fn files(dir: &Path) -> Result<Vec<PathBuf>, Error> {
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
    Ok(paths)
}

/// What a file says it is; nothing if it has no whole line yet, or one that its owner will refuse.
fn first_heading(path: &Path) -> Result<Option<Heading>, Error> {
    let text = read(path)?;
    let end = text.iter().position(|&byte| byte == b'\n').unwrap_or(0);
    Ok(serde_json::from_slice(&text[..end]).ok())
}

/// The results of every experiment in a folder, by name, and how many repetitions are left out because they are not
/// finished.
pub(crate) fn read_all(dir: &Path) -> Result<(Vec<Results>, usize), Error> {
    let mut all: Vec<Results> = Vec::new();
    let mut unfinished = 0;
    for path in files(dir)? {
        let Some((mut results, _)) = parse(&path, &read(&path)?)? else { continue };
        if let Some(first) = all.first().filter(|first| first.heading.run() != results.heading.run()) {
            let (expected, found) = (first.heading.words(), results.heading.words());
            return Err(Error::OtherRun { path, expected, found });
        }
        unfinished += results.drop_unfinished();
        results.sort();
        if !results.outcomes.is_empty() {
            all.push(results);
        }
    }
    if all.is_empty() {
        let expected = "results of `spocc-lab synthetic`, `real` or `robustness`".to_owned();
        return Err(Error::BadFile { path: dir.to_owned(), expected, found: "none".to_owned() });
    }
    Ok((all, unfinished))
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
    match file.persist_noclobber(path) {
        // Another run was faster, with the same bytes.
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => {
            Err(Error::Io { path: path.to_owned(), source: error.error })
        }
        _ => Ok(()),
    }
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
    if !(2..=usize::from(u16::MAX)).contains(&heading.classes) {
        let (expected, found) = ("2 classes or more".to_owned(), heading.classes.to_string());
        return Err(Error::BadFile { path: path.to_owned(), expected, found });
    }
    let (mut outcomes, mut places): (Vec<Outcome>, _) = (Vec::new(), HashMap::new());
    for (line, number) in lines {
        let outcome: Outcome =
            serde_json::from_slice(line).map_err(|error| bad(number, "an outcome", &error))?;
        let size = heading.classes * heading.classes;
        if outcome.confusion.is_empty() || outcome.confusion.values().any(|counts| counts.len() != size) {
            let expected = format!("confusion counts of {} classes", heading.classes);
            let found = "another number of counts".to_owned();
            return Err(Error::BadLine { path: path.to_owned(), line: number, expected, found });
        }
        if let Some(held) =
            outcome.sets.values().flat_map(BTreeMap::values).find(|held| !held.is_possible(heading.classes))
        {
            let expected = "rows, of which some have the truth in their set, and classes in sets".to_owned();
            let found = format!("{held:?}");
            return Err(Error::BadLine { path: path.to_owned(), line: number, expected, found });
        }
        match places.insert(outcome.place(), outcomes.len()).map(|at| &outcomes[at]) {
            None => outcomes.push(outcome),
            Some(first) if first.has_figures_of(&outcome) => {}
            Some(_) => {
                let expected = "one outcome of a repetition".to_owned();
                let found = "another one of the same".to_owned();
                return Err(Error::BadLine { path: path.to_owned(), line: number, expected, found });
            }
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
        Outcome { rep, at, confusion, ..Outcome::default() }
    }

    #[test]
    fn outcomes_from_before_losses_times_and_sets_are_read_and_written_as_they_were() {
        let old =
            br#"{"rep":0,"fold":1,"at":0.0,"confusion":{"spocc":[3,1,0,4]},"references":{"optimal":0.5}}"#;
        let outcome: Outcome = serde_json::from_slice(old).expect("an outcome");
        assert!(outcome.log_loss.is_empty() && outcome.fit_seconds.is_empty() && outcome.sets.is_empty());
        assert_eq!(line_of(&outcome), [old, &b"\n"[..]].concat());
    }

    #[test]
    fn the_same_outcome_in_another_time_is_no_contradiction_and_impossible_sets_are_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("synthetic-faults.jsonl");
        let with = |seconds: f64, held: [u64; 3]| {
            let of = BTreeMap::from([("0.9".to_owned(), Held::from(held))]);
            Outcome {
                fit_seconds: BTreeMap::from([("spocc".to_owned(), seconds)]),
                sets: BTreeMap::from([("spocc".to_owned(), of)]),
                ..outcome(0, 0.0)
            }
        };
        let written = |outcomes: [Outcome; 2]| {
            let lines = [line_of(&heading(1)), line_of(&outcomes[0]), line_of(&outcomes[1])].concat();
            fs::write(&path, lines).expect("room");
            read_all(dir.path())
                .map(|(results, _)| results[0].outcomes.len())
                .map_err(|error| error.to_string())
        };
        assert_eq!(written([with(1.0, [8, 7, 9]), with(2.0, [8, 7, 9])]), Ok(1));
        for impossible in [[0, 0, 0], [8, 9, 9], [8, 7, 7], [8, 7, 17]] {
            let error = written([with(1.0, [8, 7, 9]), with(1.0, impossible)]).expect_err("refused");
            assert!(error.contains("line 3: expected rows, of which"), "{error}");
        }
    }

    #[test]
    fn what_was_appended_is_there_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::open(dir.path(), heading(1)).expect("begins");
        store.append(vec![outcome(1, 0.0), outcome(0, 2.0)]).expect("room");
        drop(store);
        let store = Store::open(dir.path(), heading(1)).expect("goes on");
        assert!(store.has(outcome(0, 2.0).place()) && !store.has(outcome(0, 0.0).place()));
        store.append(vec![outcome(0, 2.0), outcome(0, 0.0), outcome(1, 2.0)]).expect("room");
        let results = store.finish(2);
        let expected = [outcome(0, 0.0), outcome(1, 0.0), outcome(0, 2.0), outcome(1, 2.0)];
        assert_eq!(results.outcomes, expected);
        assert_eq!(read_all(dir.path()).expect("one file"), (vec![results], 0));
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
        assert_eq!(read_all(dir.path()).expect("one file").0[0].outcomes, [outcome(0, 0.0)]);
        let store = Store::open(dir.path(), heading(1)).expect("goes on");
        store.append(vec![outcome(1, 0.0)]).expect("room");
        assert_eq!(store.finish(2).outcomes.len(), 2);
        assert_eq!(read_all(dir.path()).expect("the unpacked one").0[0].outcomes.len(), 2);
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
    fn another_experiment_of_another_run_is_refused_in_the_same_folder() {
        let dir = tempfile::tempdir().expect("a folder");
        drop(Store::open(dir.path(), heading(1)).expect("begins"));
        let other = Heading { experiment: "synthetic-imbalance".to_owned(), ..heading(2) };
        let error = Store::open(dir.path(), other).err().expect("refused").to_string();
        assert!(error.contains("synthetic-faults.jsonl") && error.contains("seed 2"), "{error}");
        assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 1);
    }

    #[test]
    fn what_is_no_results_file_is_left_as_it_is() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("synthetic-faults.jsonl");
        fs::write(&path, "my notes").expect("room");
        let error = Store::open(dir.path(), heading(1)).err().expect("refused").to_string();
        assert!(error.contains("found something else"), "{error}");
        assert_eq!(fs::read(&path).expect("there"), b"my notes");
    }

    #[test]
    fn unfinished_repetitions_are_left_out_and_counted() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::open(dir.path(), heading(1)).expect("begins");
        store.append(vec![outcome(0, 0.0), outcome(0, 1.0), outcome(1, 0.0)]).expect("room");
        let (results, unfinished) = read_all(dir.path()).expect("one file");
        assert_eq!((results[0].outcomes.len(), unfinished), (2, 1));
    }

    #[test]
    fn absurd_numbers_of_classes_and_contradictions_are_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("synthetic-faults.jsonl");
        let with =
            |classes: usize| String::from_utf8(line_of(&Heading { classes, ..heading(1) })).expect("text");
        for classes in [0, 1, 1 << 32] {
            fs::write(&path, with(classes)).expect("room");
            let error = read_all(dir.path()).expect_err("refused").to_string();
            assert!(error.contains("expected 2 classes or more"), "{error}");
        }
        let mut other = outcome(0, 0.0);
        other.confusion.insert("spocc".to_owned(), vec![4, 0, 0, 4]);
        let lines = [line_of(&heading(1)), line_of(&outcome(0, 0.0)), line_of(&other)].concat();
        fs::write(&path, lines).expect("room");
        let error = read_all(dir.path()).expect_err("refused").to_string();
        assert!(error.contains("line 3: expected one outcome"), "{error}");
    }

    #[test]
    fn two_runs_do_not_write_one_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let _first = Store::open(dir.path(), heading(1)).expect("begins");
        let error = Store::open(dir.path(), heading(1)).err().expect("refused").to_string();
        assert!(error.contains("another run"), "{error}");
    }
}
