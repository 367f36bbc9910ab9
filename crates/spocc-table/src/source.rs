//! From names to bytes: expands globs and directories, opens files or standard input, decompresses, and recognises
//! the format by the first bytes.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Cursor, Read, Seek},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use spocc::Model;

use crate::{
    ReadProgress,
    error::{Error, Location},
    limits::{Expansion, MAX_EXPANSION, MAX_ZSTD_WINDOW_LOG},
};

/// Bytes read to recognise the format of a file.
const HEAD: usize = 1 << 16;

/// Expands names to files: globs and directories become their files, sorted by name.
///
/// # Errors
///
/// [`Error::Refused`] for a glob without a match, a directory without data, a pipe, socket or device in a directory or
/// glob, a file named twice.
pub fn expand(names: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for name in names {
        let location = Location::file(name, "standard input");
        if name == Path::new("-") {
            files.push(name.clone());
        } else if name.is_dir() {
            files.extend(in_directory(name, &location)?);
        } else if let Some(pattern) =
            name.to_str().filter(|text| text.contains(['*', '?', '[']) && !name.exists())
        {
            files.extend(matching(pattern, &location)?);
        } else {
            files.push(name.clone());
        }
    }
    let mut known = HashSet::new();
    for file in &files {
        if !known.insert(fs::canonicalize(file).unwrap_or_else(|_| file.clone())) {
            return Err(Location::file(file, "standard input").refused("every file once", "it again"));
        }
    }
    Ok(files)
}

fn matching(pattern: &str, location: &Location) -> Result<Vec<PathBuf>, Error> {
    // As in a shell. Hidden files include those that are being written.
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..Default::default() };
    let found = glob::glob_with(pattern, options)
        .map_err(|error| location.refused("a pattern of file names", error.to_string()))?;
    let mut files = Vec::new();
    for path in found {
        let path = path.map_err(|error| location.io("files to read", error.into()))?;
        if path.is_dir() {
            files.extend(in_directory(&path, &Location::file(&path, ""))?);
        } else if let Some(kind) = special_file(&path) {
            let found = format!("{kind} `{}`", path.display());
            return Err(location.refused("a pattern of data files", found));
        } else {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(location.refused("files of that pattern", "none"));
    }
    Ok(files)
}

/// The data files of a directory, without hidden files and the marker files of cluster engines.
fn in_directory(directory: &Path, location: &Location) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(directory).map_err(|source| location.io("a directory to read", source))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|source| location.io("a directory to read", source))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Cluster engines write an empty file for a partition without rows.
        let is_empty = fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() == 0);
        if name.starts_with(['.', '_']) || name.ends_with(".crc") || is_empty {
            continue;
        }
        if path.is_dir() {
            return Err(location.refused("a directory of data files", format!("a directory `{name}` in it")));
        }
        if let Some(kind) = special_file(&path) {
            return Err(location.refused("a directory of data files", format!("{kind} `{name}` in it")));
        }
        files.push(path);
    }
    files.sort();
    if files.is_empty() {
        return Err(location.refused("a directory of data files", "none in it"));
    }
    Ok(files)
}

/// What a path is if it is neither a file nor a directory. Such a path is read only if it is named: a pipe without a
/// writer would never end.
#[cfg(unix)]
fn special_file(path: &Path) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt;
    let found = fs::metadata(path).ok()?.file_type();
    let kinds = [
        (found.is_fifo(), "a named pipe"),
        (found.is_socket(), "a socket"),
        (found.is_char_device() || found.is_block_device(), "a device"),
    ];
    kinds.into_iter().find(|(is_kind, _)| *is_kind).map(|(_, kind)| kind)
}

#[cfg(not(unix))]
fn special_file(_: &Path) -> Option<&'static str> {
    None
}

/// The content of a file.
pub(crate) enum FileContent {
    /// Delimited text, and its first bytes.
    Text { head: Vec<u8>, rest: Box<dyn Read + Send> },
    /// A model or a tally.
    SpoccFile(Box<dyn Read + Send>),
    /// A column file, and how much it may unpack to.
    Columns(ColumnFormat, ByteSource, Expansion),
}

/// The formats of column files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnFormat {
    Parquet,
    ArrowFile,
    ArrowStream,
}

impl std::fmt::Display for ColumnFormat {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Parquet => "a Parquet file",
            Self::ArrowFile => "an Arrow file",
            Self::ArrowStream => "an Arrow stream",
        })
    }
}

/// The bytes of a column file. Some formats are read from their end, which a stream does not allow.
#[cfg_attr(not(feature = "arrow"), allow(dead_code))]
pub(crate) enum ByteSource {
    File(File),
    Stream(Box<dyn Read + Send>),
}

/// Opens a file, or standard input for `-`, and recognises its format.
///
/// # Errors
///
/// [`Error::Refused`] if there is none or it is empty, [`Error::Io`].
pub(crate) fn open(
    path: &Path,
    location: &Location,
    progress: Option<ReadProgress>,
) -> Result<FileContent, Error> {
    let failed = |source| location.io("a file to read", source);
    let n_read = Arc::default();
    let (mut raw, file): (Box<dyn Read + Send>, Option<File>) = if path == Path::new("-") {
        let n_read = Arc::clone(&n_read);
        (Box::new(ProgressReader { source: io::stdin(), n_read, total: None, progress }), None)
    } else {
        let file = File::open(path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        let total = found.is_file().then_some(found.len());
        let again = found.is_file().then(|| file.try_clone()).transpose().map_err(failed)?;
        let n_read = Arc::clone(&n_read);
        (Box::new(ProgressReader { source: file, n_read, total, progress }), again)
    };
    let head = read_head(&mut raw).map_err(failed)?;
    let compression = StreamCompression::of(&head);
    let (head, rest) = match compression {
        StreamCompression::None => (head, raw),
        StreamCompression::Gzip | StreamCompression::Zstd => {
            let whole = Cursor::new(head).chain(raw);
            let source: Box<dyn Read + Send> = if compression == StreamCompression::Gzip {
                Box::new(flate2::read::MultiGzDecoder::new(whole))
            } else {
                let mut decoder = zstd::Decoder::new(whole).map_err(failed)?;
                decoder.window_log_max(MAX_ZSTD_WINDOW_LOG).map_err(failed)?;
                Box::new(decoder)
            };
            let mut decompressed: Box<dyn Read + Send> =
                Box::new(Decompressed { source, compression, expansion: Expansion::of_stream(&n_read) });
            (read_head(&mut decompressed).map_err(failed)?, decompressed)
        }
    };
    if head.is_empty() {
        return Err(location.refused("a table with a header line", "an empty file"));
    }
    let joined = |head: Vec<u8>, rest| -> Box<dyn Read + Send> { Box::new(Cursor::new(head).chain(rest)) };
    if is_spocc_file(&head) {
        return Ok(FileContent::SpoccFile(joined(head, rest)));
    }
    if let Some(format) = column_format(&head) {
        let (source, expansion) = match file.filter(|_| compression == StreamCompression::None) {
            Some(mut file) => {
                let size = file.metadata().map_err(failed)?.len();
                // Its first bytes were read to recognise the format.
                file.rewind().map_err(failed)?;
                (ByteSource::File(file), Expansion::of_size(size))
            }
            None => (ByteSource::Stream(joined(head, rest)), Expansion::of_stream(&n_read)),
        };
        return Ok(FileContent::Columns(format, source, expansion));
    }
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Err(location.refused("a table in UTF-8", "UTF-16 (save it as \"CSV UTF-8\")"));
    }
    if head.starts_with(b"PK\x03\x04") {
        return Err(location.refused("a table", "a zip archive or a spreadsheet (save it as CSV)"));
    }
    if head.contains(&0) {
        return Err(location.refused("a table", "binary data"));
    }
    Ok(FileContent::Text { head, rest })
}

/// Whether these are the first bytes of a model or a tally: the engine then reports that the rest is missing.
fn is_spocc_file(head: &[u8]) -> bool {
    let mark = &head[..head.len().min(8)];
    !matches!(Model::from_bytes(mark), Err(spocc::Error::NotOurs { .. }))
}

fn column_format(head: &[u8]) -> Option<ColumnFormat> {
    if head.starts_with(b"PAR1") {
        return Some(ColumnFormat::Parquet);
    }
    if head.starts_with(b"ARROW1\0\0") {
        return Some(ColumnFormat::ArrowFile);
    }
    // A stream begins with a message: four bytes of ones, then its length.
    head.starts_with(&[0xff; 4]).then_some(ColumnFormat::ArrowStream)
}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamCompression {
    None,
    Gzip,
    Zstd,
}

impl StreamCompression {
    fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::None,
        }
    }
}

impl std::fmt::Display for StreamCompression {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::None => "plain",
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

/// Decompresses; an error names the compression.
struct Decompressed {
    source: Box<dyn Read + Send>,
    compression: StreamCompression,
    expansion: Expansion,
}

impl Read for Decompressed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let kind = self.compression;
        let damaged = |error| io::Error::other(format!("expected {kind} data, found {error}"));
        let n = self.source.read(buffer).map_err(damaged)?;
        if self.expansion.add(n as u64) {
            return Ok(n);
        }
        Err(io::Error::other(format!(
            "expected {kind} data that unpacks to at most {MAX_EXPANSION} times its size, found more (a table \
             unpacked before is read)"
        )))
    }
}

/// Reports how many bytes were read.
struct ProgressReader<R> {
    source: R,
    n_read: Arc<AtomicU64>,
    total: Option<u64>,
    progress: Option<ReadProgress>,
}

impl<R: Read> Read for ProgressReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(buffer)?;
        let before = self.n_read.fetch_add(n as u64, Ordering::Relaxed);
        if let Some(progress) = self.progress {
            progress(before + n as u64, self.total);
        }
        Ok(n)
    }
}
