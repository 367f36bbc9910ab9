//! The file of one experiment, open for appending.

use std::{
    collections::HashMap,
    fs::{self, File, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use super::{
    OutcomeKey, Results, ResultsHeader, RunOutcome, line_of,
    read::{add, files, first_header, parse, read},
};
use crate::error::Error;

/// The file of one experiment and its content.
pub(crate) struct Store {
    path: PathBuf,
    open: Mutex<OpenResults>,
}

struct OpenResults {
    file: File,
    /// Bytes of complete lines; none once a line could not be written.
    complete: Option<u64>,
    results: Results,
    places: HashMap<OutcomeKey, usize>,
}

impl OpenResults {
    /// Writes a complete line or nothing, and refuses to write after a failure.
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let complete =
            self.complete.take().ok_or_else(|| io::Error::other("an earlier line could not be written"))?;
        if let Err(error) = self.file.write_all(line) {
            // If this fails too, the next `Store::open` drops the incomplete line.
            let _ = self.file.set_len(complete);
            return Err(error);
        }
        self.complete = Some(complete + line.len() as u64);
        Ok(())
    }
}

impl Store {
    /// Opens or creates the file of an experiment. An incomplete last line of a killed run is dropped.
    pub(crate) fn open(dir: &Path, header: ResultsHeader) -> Result<Self, Error> {
        fs::create_dir_all(dir).map_err(Error::io(dir))?;
        for path in files(dir)? {
            if let Some(other) = first_header(&path)?.filter(|other| other.run() != header.run()) {
                let (expected, found) = (header.description(), other.description());
                return Err(Error::OtherRun { path, expected, found });
            }
        }
        let path = dir.join(format!("{}.jsonl", header.experiment));
        decompress(&path)?;
        let mut file = open_locked(&path)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(Error::io(&path))?;
        let (results, complete) = match parse(&path, &text)? {
            Some((results, _)) if results.header != header => {
                let (expected, found) = (header.description(), results.header.description());
                return Err(Error::OtherRun { path, expected, found });
            }
            Some(found) => found,
            None if line_of(&header).starts_with(&text) => (Results { header, outcomes: Vec::new() }, 0),
            None => {
                let expected = "results, or the beginning of some".to_owned();
                return Err(Error::BadFile { path, expected, found: "something else".to_owned() });
            }
        };
        file.set_len(complete as u64).map_err(Error::io(&path))?;
        file.seek(SeekFrom::End(0)).map_err(Error::io(&path))?;
        let places = results.outcomes.iter().enumerate().map(|(at, outcome)| (outcome.key(), at)).collect();
        let mut open = OpenResults { file, complete: Some(complete as u64), results, places };
        if complete == 0 {
            let line = line_of(&open.results.header);
            open.write(&line).map_err(Error::io(&path))?;
        }
        Ok(Self { path, open: Mutex::new(open) })
    }

    pub(crate) fn has(&self, key: OutcomeKey) -> bool {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).places.contains_key(&key)
    }

    /// The recorded outcome, if there is one.
    pub(crate) fn get(&self, key: OutcomeKey) -> Option<RunOutcome> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.places.get(&key).map(|&at| open.results.outcomes[at].clone())
    }

    /// Appends the outcomes that the file does not have yet, or not with these figures.
    pub(crate) fn append(&self, outcomes: Vec<RunOutcome>) -> Result<(), Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        for outcome in outcomes {
            let line = line_of(&outcome);
            // As it will be read: the last digit of a number may differ.
            let outcome: RunOutcome = serde_json::from_slice(&line).expect("a line written above");
            let recorded = open.places.get(&outcome.key()).map(|&at| &open.results.outcomes[at]);
            if let Some(recorded) = recorded {
                let mut both = recorded.clone();
                if !both.absorb(&outcome) {
                    let expected = "the figures that the file has".to_owned();
                    let found = "others of the same methods".to_owned();
                    return Err(Error::OtherRun { path: self.path.clone(), expected, found });
                }
                if both == *recorded {
                    continue;
                }
            }
            open.write(&line).map_err(Error::io(&self.path))?;
            let OpenResults { results, places, .. } = &mut *open;
            add(&mut results.outcomes, places, outcome);
        }
        Ok(())
    }

    /// The outcomes of the first `reps` repetitions.
    pub(crate) fn finish(self, reps: u32) -> Results {
        let mut results = self.open.into_inner().unwrap_or_else(PoisonError::into_inner).results;
        results.outcomes.retain(|outcome| outcome.rep < reps);
        results.sort();
        results
    }
}

/// Opens a file for reading and appending, and locks it against other runs.
fn open_locked(path: &Path) -> Result<File, Error> {
    let file = File::options().read(true).append(true).create(true).truncate(false).open(path);
    let file = file.map_err(Error::io(path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let expected = "a file that no other run writes".to_owned();
            let found = "another run writing it".to_owned();
            Err(Error::BadFile { path: path.to_owned(), expected, found })
        }
        Err(TryLockError::Error(source)) => Err(Error::Io { path: path.to_owned(), source }),
    }
}

/// Decompresses the results of an earlier run, so that they can be continued.
fn decompress(path: &Path) -> Result<(), Error> {
    let compressed = path.with_extension("jsonl.gz");
    if path.exists() || !compressed.exists() {
        return Ok(());
    }
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(Error::io(dir))?;
    file.write_all(&read(&compressed)?).map_err(Error::io(path))?;
    match file.persist_noclobber(path) {
        // Another run has written the same bytes.
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => {
            Err(Error::Io { path: path.to_owned(), source: error.error })
        }
        _ => Ok(()),
    }
}
