//! The error type, locations in files, and parts of messages. A message is one line: location, expected, found.

use std::{fmt, io, path::Path, sync::Arc};

/// Why a table cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Input that is not as expected.
    #[error("{location}: expected {expected}{hint}, found {found}")]
    Refused {
        /// The file, perhaps with its line.
        location: Location,
        /// What was expected there.
        expected: String,
        /// How to correct it, or empty. It comes before `found`, which may be long and is shortened.
        hint: String,
        /// What was there.
        found: String,
    },
    /// An error of the engine.
    #[error("{location}: {source}")]
    Engine {
        /// The file that caused it.
        location: Location,
        /// The error.
        source: spocc::Error,
    },
    /// A file that could not be read or written.
    #[error("{location}: {source}")]
    Io {
        /// The file.
        location: Location,
        /// The error of the system.
        source: io::Error,
    },
    /// Output that could not be written; the caller adds the file.
    #[error(transparent)]
    Writing(#[from] io::Error),
}

/// A file, or a position in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    file: Arc<str>,
    at: Position,
}

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// The whole file.
    Whole,
    /// A line of a text file, from 1.
    Line(u64),
    /// A row of a column file, from 1.
    #[cfg_attr(not(feature = "arrow"), allow(dead_code))]
    Row(u64),
}

impl Position {
    /// The position `n` lines or rows later.
    #[must_use]
    pub fn after(self, n: usize) -> Self {
        match self {
            Self::Whole => Self::Whole,
            Self::Line(line) => Self::Line(line + n as u64),
            Self::Row(row) => Self::Row(row + n as u64),
        }
    }
}

impl Location {
    /// Longest `expected` or `found` of a message, in characters.
    const LONGEST: usize = 250;

    /// The whole file; `-` is named `stream`, such as "standard input".
    pub fn file(path: &Path, stream: &str) -> Self {
        let file = if path == Path::new("-") { stream.to_owned() } else { path.display().to_string() };
        Self { file: file.into(), at: Position::Whole }
    }

    /// A position in the file.
    #[must_use]
    pub fn at(&self, at: Position) -> Self {
        Self { at, ..self.clone() }
    }

    /// A line of the file.
    #[must_use]
    pub fn line(&self, line: u64) -> Self {
        self.at(Position::Line(line))
    }

    /// The location `n` lines or rows later.
    #[must_use]
    pub fn after(&self, n: usize) -> Self {
        self.at(self.at.after(n))
    }

    /// An error about this location; long texts are shortened, and hidden characters are escaped.
    pub fn refused(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        self.refused_with(expected, String::new(), found)
    }

    /// As [`refused`](Self::refused), with a hint such as a [`suggestion`], which is not shortened.
    pub fn refused_with(&self, expected: impl Into<String>, hint: String, found: impl Into<String>) -> Error {
        let short = |text: &str| match text.char_indices().nth(Self::LONGEST) {
            Some((end, _)) => format!("{} ..", spocc::printable(&text[..end])),
            None => spocc::printable(text).into_owned(),
        };
        let (expected, found) = (short(&expected.into()), short(&found.into()));
        Error::Refused { location: self.clone(), expected, hint, found }
    }

    /// Refuses what needs more than the memory limit; both are in bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`].
    pub fn allow(&self, what: &str, needed: usize, limit: u64) -> Result<(), Error> {
        let needed = needed as u64;
        if needed <= limit {
            return Ok(());
        }
        Err(self.engine(spocc::Error::MemoryLimit { what: what.to_owned(), needed, limit }))
    }

    /// An error of the engine about this location.
    pub fn engine(&self, source: spocc::Error) -> Error {
        Error::Engine { location: self.clone(), source }
    }

    /// An error of the system about this location; frequent cases get a plainer message.
    pub fn io(&self, expected: &str, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::NotFound => self.refused(expected, "no such file"),
            io::ErrorKind::NotADirectory => {
                self.refused(expected, "something that is no directory in its path")
            }
            io::ErrorKind::FileTooLarge => self.refused("room to write", "a limit on the size of files"),
            io::ErrorKind::QuotaExceeded => self.refused("room to write", "an exhausted disk quota"),
            io::ErrorKind::ReadOnlyFilesystem => self.refused(expected, "a read-only file system"),
            io::ErrorKind::StorageFull => self.refused("room to write", "a full disk"),
            io::ErrorKind::PermissionDenied => self.refused(expected, "no permission"),
            io::ErrorKind::IsADirectory => self.refused(expected, "a directory"),
            _ => Error::Io { location: self.clone(), source },
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.file)?;
        match self.at {
            Position::Whole => Ok(()),
            Position::Line(line) => write!(out, ": line {line}"),
            Position::Row(row) => write!(out, ": row {row}"),
        }
    }
}

impl Error {
    /// Whether the reader of the output closed its pipe.
    pub fn is_closed_pipe(&self) -> bool {
        let (Self::Io { source, .. } | Self::Writing(source)) = self else { return false };
        source.kind() == io::ErrorKind::BrokenPipe
    }
}

/// A quoted name for a message, with hidden characters escaped; a long one is shortened.
pub fn quoted(name: &str) -> String {
    const LONGEST: usize = 60;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("`{}..`", spocc::printable(&name[..end])),
        None => format!("`{}`", spocc::printable(name)),
    }
}

/// Names for a message, each quoted; only the first few of many.
pub fn list<T: fmt::Display>(names: impl IntoIterator<Item = T>) -> String {
    const SHOWN: usize = 8;
    let names: Vec<String> = names.into_iter().map(|name| quoted(&name.to_string())).collect();
    let more = names.len().saturating_sub(SHOWN);
    let shown = names[..names.len() - more].join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// ` (did you mean ..?)` if one of the free names is similar to `name`, else nothing.
pub fn suggestion<'a>(name: &str, free: impl IntoIterator<Item = &'a String>) -> String {
    nearest(name, free).map_or_else(String::new, |near| format!(" (did you mean {}?)", quoted(near)))
}

/// The known name that is most similar to `name`, if one is similar.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a String>) -> Option<&'a String> {
    let wanted = name.to_lowercase();
    let length = wanted.chars().count();
    // All names of one letter would be similar.
    let tolerated = (length / 3).max(1).min(length.saturating_sub(1));
    // The lengths of similar names differ little; a very long name would take long to compare.
    let is_longer = |known: &str| known.chars().nth(length + tolerated).is_some();
    let near = |known: &'a String| {
        if is_longer(known.trim()) {
            return None;
        }
        let distance = strsim::damerau_levenshtein(&wanted, &known.trim().to_lowercase());
        (distance <= tolerated).then_some((distance, known))
    };
    known.into_iter().filter_map(near).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_and_a_far_one_is_not() {
        let known = ["id", "Truth", "ann"].map(str::to_owned);
        assert_eq!(suggestion("truht", &known), " (did you mean `Truth`?)");
        assert_eq!(suggestion("TRUTH", &known), " (did you mean `Truth`?)");
        assert_eq!(suggestion("label", &known), "");
    }

    #[test]
    fn a_name_of_two_lines_gives_a_message_of_one() {
        let directory = tempfile::tempdir().expect("a folder");
        let path = directory.path().join("table.csv");
        std::fs::write(&path, b"\"a\nb\",c\nx\xff,y\n").expect("a file");
        let table = crate::Table::open(&[path], &crate::ReadOptions::default()).expect("a header");
        let mut blocks = table.map_blocks(|rows: &crate::RowBlock| rows.text(0, 0).map(str::to_owned));
        let error = blocks.next().expect("a block").expect("a row").expect_err("no text").to_string();
        assert!(error.ends_with(r"line 3: expected UTF-8 text in column `a\nb`, found `x\xff`"), "{error}");
    }

    #[test]
    fn long_lists_are_shortened() {
        assert_eq!(list(0..3), "`0`, `1`, `2`");
        assert!(list(0..10).ends_with("`7` and 2 more"));
    }
}
