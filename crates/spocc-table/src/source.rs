//! From what the user named to bytes: globs, directories, standard input, compression, and what is inside.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Cursor, Read, Seek},
    path::{Path, PathBuf},
};

use spocc::Model;

use crate::{
    Progress,
    error::{Error, Place},
};

/// Bytes looked at before it is decided what a file is.
const HEAD: usize = 1 << 16;

/// The files that these names mean: globs and directories become their files, in order of name.
///
/// # Errors
///
/// [`Error::Refused`] for a glob that meets nothing, a directory without data.
pub fn expand(names: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for name in names {
        let place = Place::file(name, "standard input");
        if name == Path::new("-") {
            files.push(name.clone());
        } else if name.is_dir() {
            files.extend(in_directory(name, &place)?);
        } else if let Some(pattern) =
            name.to_str().filter(|text| text.contains(['*', '?', '[']) && !name.exists())
        {
            files.extend(matching(pattern, &place)?);
        } else {
            files.push(name.clone());
        }
    }
    let mut known = HashSet::new();
    for file in &files {
        if !known.insert(fs::canonicalize(file).unwrap_or_else(|_| file.clone())) {
            return Err(Place::file(file, "standard input").refused("every file once", "it again"));
        }
    }
    Ok(files)
}

fn matching(pattern: &str, place: &Place) -> Result<Vec<PathBuf>, Error> {
    let found =
        glob::glob(pattern).map_err(|error| place.refused("a pattern of file names", error.to_string()))?;
    let mut files = Vec::new();
    for path in found {
        let path = path.map_err(|error| place.io("files to read", error.into()))?;
        if path.is_dir() {
            files.extend(in_directory(&path, &Place::file(&path, ""))?);
        } else {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(place.refused("files of that pattern", "none"));
    }
    Ok(files)
}

/// Its files but for hidden ones and the marks that cluster engines leave beside the data.
fn in_directory(directory: &Path, place: &Place) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(directory).map_err(|source| place.io("a directory to read", source))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|source| place.io("a directory to read", source))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Cluster engines leave an empty file for a part without rows.
        let is_empty = fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() == 0);
        if name.starts_with(['.', '_']) || name.ends_with(".crc") || is_empty {
            continue;
        }
        if path.is_dir() {
            return Err(place.refused("a directory of data files", format!("a directory `{name}` in it")));
        }
        files.push(path);
    }
    files.sort();
    if files.is_empty() {
        return Err(place.refused("a directory of data files", "none in it"));
    }
    Ok(files)
}

/// What a file turned out to be.
pub(crate) enum Content {
    /// Delimited text, and its first bytes.
    Text { head: Vec<u8>, rest: Box<dyn Read + Send> },
    /// A model or a tally.
    Ours(Box<dyn Read + Send>),
    /// Parquet, Arrow file, Arrow stream.
    Columns(Columns, Source),
}

/// The kinds of column files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    Parquet,
    ArrowFile,
    ArrowStream,
}

impl std::fmt::Display for Columns {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Parquet => "a Parquet file",
            Self::ArrowFile => "an Arrow file",
            Self::ArrowStream => "an Arrow stream",
        })
    }
}

/// Where a column file's bytes are: some kinds are read from their end.
#[cfg_attr(not(feature = "arrow"), allow(dead_code))]
pub(crate) enum Source {
    File(File),
    Stream(Box<dyn Read + Send>),
}

/// Opens a file, or standard input for `-`, and looks what it is.
///
/// # Errors
///
/// [`Error::Refused`] if there is none or it is empty, [`Error::Io`].
pub(crate) fn open(path: &Path, place: &Place, progress: Option<Progress>) -> Result<Content, Error> {
    let failed = |source| place.io("a file to read", source);
    let (mut raw, file): (Box<dyn Read + Send>, Option<File>) = if path == Path::new("-") {
        (Box::new(Metered { source: io::stdin(), done: 0, total: None, progress }), None)
    } else {
        let file = File::open(path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        let total = found.is_file().then_some(found.len());
        let again = found.is_file().then(|| file.try_clone()).transpose().map_err(failed)?;
        (Box::new(Metered { source: file, done: 0, total, progress }), again)
    };
    let head = read_head(&mut raw).map_err(failed)?;
    let packed = Packed::of(&head);
    let (head, rest) = match packed {
        Packed::Not => (head, raw),
        Packed::Gzip | Packed::Zstd => {
            let whole = Cursor::new(head).chain(raw);
            let mut unpacked: Box<dyn Read + Send> = match packed {
                Packed::Gzip => Box::new(flate2::read::MultiGzDecoder::new(whole)),
                _ => Box::new(zstd::Decoder::new(whole).map_err(failed)?),
            };
            unpacked = Box::new(Unpacked { source: unpacked, packed });
            (read_head(&mut unpacked).map_err(failed)?, unpacked)
        }
    };
    if head.is_empty() {
        return Err(place.refused("a table with a header line", "an empty file"));
    }
    let joined = |head: Vec<u8>, rest| -> Box<dyn Read + Send> { Box::new(Cursor::new(head).chain(rest)) };
    if is_ours(&head) {
        return Ok(Content::Ours(joined(head, rest)));
    }
    if let Some(columns) = columns_of(&head) {
        let source = match file.filter(|_| packed == Packed::Not) {
            Some(mut file) => {
                // Its first bytes were read to see what it is.
                file.rewind().map_err(failed)?;
                Source::File(file)
            }
            None => Source::Stream(joined(head, rest)),
        };
        return Ok(Content::Columns(columns, source));
    }
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Err(place.refused("a table in UTF-8", "UTF-16 (save it as \"CSV UTF-8\")"));
    }
    if head.starts_with(b"PK\x03\x04") {
        return Err(place.refused("a table", "a zip archive or a spreadsheet (save it as CSV)"));
    }
    if head.contains(&0) {
        return Err(place.refused("a table", "binary data"));
    }
    Ok(Content::Text { head, rest })
}

/// Whether these are the first bytes of a file of ours: the engine then misses the rest, not the mark.
fn is_ours(head: &[u8]) -> bool {
    let mark = &head[..head.len().min(8)];
    !matches!(Model::from_bytes(mark), Err(spocc::Error::NotOurs { .. }))
}

fn columns_of(head: &[u8]) -> Option<Columns> {
    if head.starts_with(b"PAR1") {
        return Some(Columns::Parquet);
    }
    if head.starts_with(b"ARROW1\0\0") {
        return Some(Columns::ArrowFile);
    }
    // A stream begins with a message: a mark, then its length.
    head.starts_with(&[0xff; 4]).then_some(Columns::ArrowStream)
}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packed {
    Not,
    Gzip,
    Zstd,
}

impl Packed {
    fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::Not,
        }
    }
}

impl std::fmt::Display for Packed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Not => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        })
    }
}

fn read_head(source: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD);
    source.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Unpacks, and says what it was unpacking when it fails.
struct Unpacked {
    source: Box<dyn Read + Send>,
    packed: Packed,
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let damaged = |error| io::Error::other(format!("expected {} data, found {error}", self.packed));
        self.source.read(buffer).map_err(damaged)
    }
}

/// Passes bytes on and shows how many.
struct Metered<R> {
    source: R,
    done: u64,
    total: Option<u64>,
    progress: Option<Progress>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(buffer)?;
        self.done += n as u64;
        if let Some(progress) = self.progress {
            progress(self.done, self.total);
        }
        Ok(n)
    }
}
