//! Where results go: a file that appears whole or not at all, or standard output.

use spocc_table::{Error, Location, expand};
use std::{
    fs,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 16;

/// The file being written, which is not yet what its name will say.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Removes what is half-written; for whoever ends the command from outside.
pub(crate) fn abandon() {
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = &*unfinished {
        // Nothing can be done about a file that will not go.
        let _ = fs::remove_file(path);
    }
    // The lock is kept: nothing may be finished any more.
    std::mem::forget(unfinished);
}

/// What `-o` names.
#[derive(Debug)]
pub(crate) struct Output {
    place: Location,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Standard,
    /// A pipe or a device: written as it is, for it cannot be replaced.
    Stream(PathBuf),
    /// A file in an existing directory, replaced when everything has been written.
    File {
        path: PathBuf,
        directory: PathBuf,
    },
}

impl Output {
    /// Looks at the target before any long work is done; `-` is standard output.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if it is a directory or in none.
    pub(crate) fn new(path: &Path) -> Result<Self, Error> {
        let place = Location::file(path, "standard output");
        if path == Path::new("-") || path == Path::new("/dev/stdout") {
            return Ok(Self { place, kind: Kind::Standard });
        }
        // A pipe or device is written as it is, and so is whatever another name of an open file leads to.
        let is_stream = fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        if is_stream || path.starts_with("/dev") || path.starts_with("/proc/self/fd") {
            return Ok(Self { place, kind: Kind::Stream(path.to_owned()) });
        }
        let path = followed(path);
        let kind = match fs::metadata(&path) {
            Ok(found) if found.is_dir() => return Err(place.refused("a file to write", "a directory")),
            Ok(found) if !found.is_file() => Kind::Stream(path),
            Ok(found) if found.permissions().readonly() => {
                return Err(place.refused("permission to write", "a file that may only be read"));
            }
            _ => {
                let parent = path.parent().filter(|parent| *parent != Path::new(""));
                let directory = parent.unwrap_or(Path::new(".")).to_owned();
                if !directory.is_dir() {
                    let found = format!("no directory `{}`", directory.display());
                    return Err(place.refused("an existing directory to write to", found));
                }
                Kind::File { path, directory }
            }
        };
        Ok(Self { place, kind })
    }

    /// Refuses to write over what is being read.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the file is one of these, which may also be globs and directories.
    pub(crate) fn refuse_inputs<'a>(
        &self,
        inputs: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Result<(), Error> {
        let Kind::File { path, directory } = &self.kind else { return Ok(()) };
        let own = fs::canonicalize(directory).unwrap_or_else(|_| directory.clone());
        let own = own.join(path.file_name().unwrap_or_default());
        let is_own = |input: &PathBuf| {
            // What is missing or wrong is told when it is read.
            let files = expand(std::slice::from_ref(input)).unwrap_or_default();
            files.iter().any(|file| fs::canonicalize(file).is_ok_and(|file| file == own))
        };
        if inputs.into_iter().any(is_own) {
            return Err(self.place.refused("another file to write than those to read", "one of them"));
        }
        Ok(())
    }

    /// Writes everything that `content` writes. What was in the file before stays until all of it is there.
    ///
    /// # Errors
    ///
    /// Those of `content`; [`Error::Io`], [`Error::Refused`].
    pub(crate) fn write<T>(
        &self,
        content: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let written = match &self.kind {
            Kind::Standard => into(io::stdout(), content),
            Kind::Stream(path) => {
                let stream = fs::File::options().append(true).open(path);
                stream.map_err(Error::Writing).and_then(|stream| into(stream, content))
            }
            Kind::File { path, directory } => replace(path, directory, content),
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

/// Where a path leads: a link is followed, so that what it points to is replaced and not the link, also if there
/// is nothing yet.
fn followed(path: &Path) -> PathBuf {
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
        // As any new file: the user's mask takes away what it should.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut part = {
        // Made and noted in one go: an interruption finds either no file or its name.
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let part = builder.tempfile_in(directory)?;
        *unfinished = Some(part.path().to_owned());
        part
    };
    let value = into(part.as_file_mut(), content)?;
    if let Ok(replaced) = fs::metadata(path) {
        part.as_file().set_permissions(replaced.permissions())?;
    }
    part.as_file().sync_all()?;
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    part.persist(path).map_err(|error| error.error)?;
    *unfinished = None;
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
        assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 1, "nothing half-written");

        output.write_all(b"after").expect("room for five bytes");
        assert_eq!(fs::read(&path).expect("still there"), b"after");
    }
}
