//! The target of `-o`: a file that is replaced as a whole or not at all, or standard output.

use spocc_table::{Error, Location, expand};
use std::{
    fs,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// Bytes buffered before they are written.
const BUFFER: usize = 1 << 16;

/// The temporary file being written.
static PARTIAL: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Removes the temporary file, before the process exits on a signal.
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
    destination: Destination,
}

#[derive(Debug)]
enum Destination {
    Standard,
    /// A pipe or a device, written directly because it cannot be replaced.
    Stream(PathBuf),
    /// A file in an existing directory, replaced after everything is written.
    File {
        path: PathBuf,
        directory: PathBuf,
    },
}

impl Output {
    /// Checks the target before any long work; `-` is standard output.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if it is a directory, is read-only or its directory does not exist.
    pub(crate) fn new(path: &Path) -> Result<Self, Error> {
        let place = Location::file(path, "standard output");
        if path == Path::new("-") || path == Path::new("/dev/stdout") {
            return Ok(Self { place, destination: Destination::Standard });
        }
        // Pipes, devices and paths to open files are written directly.
        let is_stream = fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        if is_stream || path.starts_with("/dev") || path.starts_with("/proc/self/fd") {
            return Ok(Self { place, destination: Destination::Stream(path.to_owned()) });
        }
        let path = resolved(path);
        let destination = match fs::metadata(&path) {
            Ok(found) if found.is_dir() => return Err(place.refused("a file to write", "a directory")),
            Ok(found) if !found.is_file() => Destination::Stream(path),
            Ok(found) if found.permissions().readonly() => {
                return Err(place.refused("a file with write permission", "a read-only file"));
            }
            _ => {
                let parent = path.parent().filter(|parent| *parent != Path::new(""));
                let directory = parent.unwrap_or(Path::new(".")).to_owned();
                if !directory.is_dir() {
                    let found = format!("no directory `{}`", directory.display());
                    return Err(place.refused("an existing directory to write to", found));
                }
                Destination::File { path, directory }
            }
        };
        Ok(Self { place, destination })
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
        let Destination::File { path, directory } = &self.destination else { return Ok(()) };
        let own = fs::canonicalize(directory).unwrap_or_else(|_| directory.clone());
        let own = own.join(path.file_name().unwrap_or_default());
        let is_own = |input: &PathBuf| {
            // Missing or wrong inputs are reported when they are read.
            let files = expand(std::slice::from_ref(input)).unwrap_or_default();
            files.iter().any(|file| fs::canonicalize(file).is_ok_and(|file| file == own))
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
        let written = match &self.destination {
            Destination::Standard => into(io::stdout(), content),
            Destination::Stream(path) => {
                let stream = fs::File::options().append(true).open(path);
                stream.map_err(Error::Writing).and_then(|stream| into(stream, content))
            }
            Destination::File { path, directory } => replace(path, directory, content),
        };
        written.map_err(|error| match error {
            Error::Writing(source) => self.place.io("permission to write", source),
            other => other,
        })
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

/// The target of a path. Symbolic links are resolved, also dangling ones, so that their target is replaced and not the
/// link.
fn resolved(path: &Path) -> PathBuf {
    const LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => break,
        }
    }
    fs::canonicalize(&path).unwrap_or(path)
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

fn replace<T>(
    path: &Path,
    directory: &Path,
    content: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".spocc-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As for any new file, the umask applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut part = {
        // Created under the lock: a signal handler sees either no file or its name.
        let mut partial = PARTIAL.lock().unwrap_or_else(PoisonError::into_inner);
        let part = builder.tempfile_in(directory)?;
        *partial = Some(part.path().to_owned());
        part
    };
    let value = into(part.as_file_mut(), content)?;
    if let Ok(replaced) = fs::metadata(path) {
        part.as_file().set_permissions(replaced.permissions())?;
    }
    part.as_file().sync_all()?;
    let mut partial = PARTIAL.lock().unwrap_or_else(PoisonError::into_inner);
    part.persist(path).map_err(|error| error.error)?;
    *partial = None;
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
