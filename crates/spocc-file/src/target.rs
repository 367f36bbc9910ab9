//! What a path names: a file to replace, a stream to write to, or standard output.

use std::{
    fs::{self, File, Metadata},
    io,
    path::{Path, PathBuf},
};

use crate::Error;

/// Where output goes.
#[derive(Clone, Debug)]
pub enum Target {
    /// Standard output, also by a path such as `/dev/stdout`.
    StandardOutput,
    /// A character device, a pipe, a socket or an open descriptor: written directly because it cannot be replaced.
    Stream(PathBuf),
    /// A file in an existing directory, replaced after everything is written.
    File(FileTarget),
}

/// A file to replace; it need not exist.
#[derive(Clone, Debug)]
pub struct FileTarget {
    pub(crate) path: PathBuf,
    pub(crate) directory: PathBuf,
}

impl Target {
    /// Finds what a path names, by its type. Symbolic links are followed, also dangling ones: their target is written
    /// and the link stays.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for a directory, a block device, a read-only file, and a file in no directory; [`Error::Io`].
    pub fn new(path: &Path) -> Result<Self, Error> {
        let path = match resolve(path) {
            Resolved::Descriptor(1) => return Ok(Self::StandardOutput),
            Resolved::Descriptor(_) => return Ok(Self::Stream(path.to_owned())),
            Resolved::Path(path) => path,
        };
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => {
                Err(Error::refused(io::ErrorKind::IsADirectory, "a file to write", "a directory"))
            }
            Ok(found) if is_block_device(&found) => {
                Err(Error::refused(io::ErrorKind::InvalidInput, "a file to write", "a block device"))
            }
            Ok(found) if !found.is_file() => Ok(Self::Stream(path)),
            Ok(found) if found.permissions().readonly() => Err(Error::refused(
                io::ErrorKind::PermissionDenied,
                "a file with write permission",
                "a read-only file",
            )),
            Ok(_) => FileTarget::new(&path).map(Self::File),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                    FileTarget::new(&path).map(Self::File)
                }
                _ => Err(error.into()),
            },
        }
    }

    /// Opens a stream for writing. A pipe waits for its reader; a file behind a descriptor is written at its end.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn open_stream(path: &Path) -> io::Result<File> {
        File::options().append(true).open(path)
    }

    /// Whether writing to this target changes that file.
    ///
    /// A file that is replaced changes only under its own name, a file behind a descriptor under each of its names.
    pub fn overwrites(&self, file: &Path) -> bool {
        match self {
            Self::File(target) => fs::canonicalize(file).is_ok_and(|file| file == target.path),
            Self::StandardOutput => is_same_file(Path::new("/dev/stdout"), file),
            Self::Stream(path) => is_same_file(path, file),
        }
    }
}

impl FileTarget {
    /// The directory is resolved, so that a later change of the working directory does not matter.
    fn new(path: &Path) -> Result<Self, Error> {
        let Some(name) = path.file_name() else {
            return Err(Error::refused(io::ErrorKind::NotFound, "a file to write", "a path without a name"));
        };
        let ends_in_separator = path.as_os_str().to_string_lossy().ends_with(std::path::is_separator);
        let parent = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        let directory = if ends_in_separator { path } else { parent };
        if !directory.is_dir() {
            let found = format!("no directory `{}`", directory.display());
            let expected = "an existing directory to write to";
            return Err(Error::refused(io::ErrorKind::NotFound, expected, found));
        }
        let directory = fs::canonicalize(directory)?;
        Ok(Self { path: directory.join(name), directory })
    }
}

enum Resolved {
    /// The number of an open descriptor of this process.
    Descriptor(u32),
    Path(PathBuf),
}

/// Follows symbolic links, up to an open descriptor: a link in the table of descriptors stands for what is open, which
/// may have no name.
fn resolve(path: &Path) -> Resolved {
    const LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        if let Some(number) = descriptor(&path) {
            return Resolved::Descriptor(number);
        }
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => break,
        }
    }
    Resolved::Path(fs::canonicalize(&path).unwrap_or(path))
}

/// The number of a path in the table of this process's open descriptors, such as `/dev/fd/3` or `/proc/self/fd/3`.
fn descriptor(path: &Path) -> Option<u32> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let table = fs::canonicalize("/dev/fd").ok()?;
    (fs::canonicalize(path.parent()?).ok()? == table).then_some(number)
}

#[cfg(unix)]
fn is_block_device(found: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    found.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_block_device(_: &Metadata) -> bool {
    false
}

/// Whether both are the same regular file, perhaps by different names.
#[cfg(unix)]
fn is_same_file(left: &Path, right: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(left), Ok(right)) = (fs::metadata(left), fs::metadata(right)) else { return false };
    left.is_file() && (left.dev(), left.ino()) == (right.dev(), right.ino())
}

#[cfg(not(unix))]
fn is_same_file(_: &Path, _: &Path) -> bool {
    false
}
