//! The target of `-o`: a file that is replaced as a whole or not at all, or standard output.

use spocc_file::{FileTarget, PartFile, Target};
use spocc_table::{Error, Location, expand};
use std::{
    fs,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// Bytes buffered before they are written.
const BUFFER: usize = 1 << 16;

/// The part file being written.
static PARTIAL: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Removes the part file, before the process exits on a signal.
pub(crate) fn remove_partial() {
    let partial = PARTIAL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = &*partial {
        // The process is about to exit; a failure cannot be handled.
        let _ = fs::remove_file(path);
    }
    // Keep the lock, so that no other thread completes a file after this.
    std::mem::forget(partial);
}

/// The target of `-o`.
#[derive(Debug)]
pub(crate) struct Output {
    place: Location,
    target: Target,
}

impl Output {
    /// Checks the target before any long work; `-` is standard output.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if it is a directory, is read-only or its directory does not exist; [`Error::Io`].
    pub(crate) fn new(path: &Path) -> Result<Self, Error> {
        let place = Location::file(path, "standard output");
        let target = if path == Path::new("-") { Ok(Target::StandardOutput) } else { Target::new(path) };
        match target {
            Ok(target) => Ok(Self { place, target }),
            Err(error) => Err(refused(&place, error)),
        }
    }

    /// Refuses to overwrite an input.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the target is one of the inputs, which may be globs and directories.
    pub(crate) fn refuse_inputs<'a>(
        &self,
        inputs: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Result<(), Error> {
        // A file that is replaced can be read meanwhile, one that grows cannot.
        let standard_input = if matches!(self.target, Target::File(_)) { "-" } else { "/dev/stdin" };
        let is_own = |input: &PathBuf| {
            // Missing or wrong inputs are reported when they are read.
            let files = expand(std::slice::from_ref(input)).unwrap_or_default();
            files.iter().any(|file| {
                let is_standard = file == Path::new("-");
                self.target.overwrites(if is_standard { Path::new(standard_input) } else { file })
            })
        };
        if inputs.into_iter().any(is_own) {
            return Err(self.place.refused("an output file that is not also an input", "one of the inputs"));
        }
        Ok(())
    }

    /// Writes the output of `content`. An existing file is replaced after all of it is written.
    ///
    /// # Errors
    ///
    /// The errors of `content`; [`Error::Io`], [`Error::Refused`].
    pub(crate) fn write<T>(
        &self,
        content: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let written = match &self.target {
            Target::StandardOutput => into(io::stdout(), content),
            Target::Stream(path) => {
                Target::open_stream(path).map_err(Error::Writing).and_then(|stream| into(stream, content))
            }
            Target::File(file) => self.replace(file, content),
        };
        written.map_err(|error| match error {
            Error::Writing(source) => refused(&self.place, source.into()),
            other => other,
        })
    }

    fn replace<T>(
        &self,
        target: &FileTarget,
        content: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let failed = |error| refused(&self.place, error);
        let mut part = {
            // Created under the lock: a signal handler sees either no file or its name.
            let mut partial = PARTIAL.lock().unwrap_or_else(PoisonError::into_inner);
            let part = PartFile::create(target).map_err(failed)?;
            *partial = Some(part.path().to_owned());
            part
        };
        let value = into(&mut part, content)?;
        let finished = part.finish().map_err(failed)?;
        let mut partial = PARTIAL.lock().unwrap_or_else(PoisonError::into_inner);
        finished.replace().map_err(failed)?;
        *partial = None;
        Ok(value)
    }

    /// Writes these bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`Error::Refused`].
    pub(crate) fn write_all(&self, bytes: &[u8]) -> Result<(), Error> {
        self.write(|out| Ok(out.write_all(bytes)?))
    }
}

impl std::fmt::Display for Output {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.place.fmt(out)
    }
}

/// The error of a target, with its place.
fn refused(place: &Location, error: spocc_file::Error) -> Error {
    match error {
        spocc_file::Error::Io(source) => place.io("permission to write", source),
        spocc_file::Error::Refused { expected, found, .. } => place.refused(expected, found),
        other => place.io("permission to write", io::Error::other(other)),
    }
}

fn into<T>(
    to: impl Write + Send,
    content: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut to = BufWriter::with_capacity(BUFFER, to);
    let value = content(&mut to)?;
    to.flush()?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_its_content_when_writing_fails() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("kept");
        fs::write(&path, "before").expect("a fresh file");
        let output = Output::new(&path).expect("an existing directory");
        let failed = output.write(|out| {
            out.write_all(&vec![b'x'; 3 * BUFFER])?;
            Err::<(), _>(Error::Writing(io::Error::other("the disk is full")))
        });
        assert!(failed.is_err_and(|error| error.to_string().ends_with("kept: the disk is full")));
        assert_eq!(fs::read(&path).expect("still there"), b"before");
        assert_eq!(
            fs::read_dir(directory.path()).expect("a directory").count(),
            1,
            "no temporary file is left"
        );

        output.write_all(b"after").expect("room for five bytes");
        assert_eq!(fs::read(&path).expect("still there"), b"after");
    }
}
