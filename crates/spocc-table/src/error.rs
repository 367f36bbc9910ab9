//! The one error type, and words for its messages: one line with where, expected, found.

use std::{fmt, io, path::Path, sync::Arc};

/// Everything that ends reading or writing early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Input that is not what it should be.
    #[error("{place}: expected {expected}{hint}, found {found}")]
    Refused {
        /// The file, perhaps with its line.
        place: Location,
        /// What was expected there.
        expected: String,
        /// How to mend it, if that is known. It comes before what was found, which may be long and is cut.
        hint: String,
        /// What was there.
        found: String,
    },
    /// Something the engine refuses.
    #[error("{place}: {source}")]
    Engine {
        /// The file that led to it.
        place: Location,
        /// The engine's words.
        source: spocc::Error,
    },
    /// A file that could not be read or written to the end.
    #[error("{place}: {source}")]
    Io {
        /// The file.
        place: Location,
        /// The system's words.
        source: io::Error,
    },
    /// What is being written was not taken; whoever knows where it goes adds the place.
    #[error(transparent)]
    Writing(#[from] io::Error),
}

/// A file, or a line of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    file: Arc<str>,
    at: Position,
}

/// Where in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Nowhere in particular.
    Whole,
    /// This line of a text, from 1.
    Line(u64),
    /// This row of something that has no lines, from 1.
    #[cfg_attr(not(feature = "arrow"), allow(dead_code))]
    Row(u64),
}

impl Position {
    /// So many lines or rows further on.
    pub fn after(self, n: usize) -> Self {
        match self {
            Self::Whole => Self::Whole,
            Self::Line(line) => Self::Line(line + n as u64),
            Self::Row(row) => Self::Row(row + n as u64),
        }
    }
}

impl Location {
    /// Characters of what was expected or found that are told.
    const LONGEST: usize = 250;

    /// The whole file; `-` is standard input or output, as `stream` says.
    pub fn file(path: &Path, stream: &str) -> Self {
        let file = if path == Path::new("-") { stream.to_owned() } else { path.display().to_string() };
        Self { file: file.into(), at: Position::Whole }
    }

    /// Some place in it.
    pub fn at(&self, at: Position) -> Self {
        Self { at, ..self.clone() }
    }

    /// A line of it.
    pub fn line(&self, line: u64) -> Self {
        self.at(Position::Line(line))
    }

    /// The place so many lines or rows further on.
    pub fn after(&self, n: usize) -> Self {
        self.at(self.at.after(n))
    }

    /// Refuses what is here; a long cell is cut short.
    pub fn refused(&self, expected: impl Into<String>, found: impl Into<String>) -> Error {
        self.refused_with(expected, String::new(), found)
    }

    /// Refuses what is here, with a hint such as [`suggestion`] gives, which is never cut.
    pub fn refused_with(&self, expected: impl Into<String>, hint: String, found: impl Into<String>) -> Error {
        let short = |text: String| match text.char_indices().nth(Self::LONGEST) {
            Some((end, _)) => format!("{} ..", &text[..end]),
            None => text,
        };
        let (expected, found) = (short(expected.into()), short(found.into()));
        Error::Refused { place: self.clone(), expected, hint, found }
    }

    /// Passes on what the engine says about it.
    pub fn engine(&self, source: spocc::Error) -> Error {
        Error::Engine { place: self.clone(), source }
    }

    /// Passes on what the system says about it, the frequent cases in our own words.
    pub fn io(&self, expected: &str, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::NotFound => self.refused(expected, "no such file"),
            io::ErrorKind::NotADirectory => {
                self.refused(expected, "something that is no directory in its path")
            }
            io::ErrorKind::FileTooLarge => self.refused("room to write", "a limit on the size of files"),
            io::ErrorKind::StorageFull => self.refused("room to write", "a full disk"),
            io::ErrorKind::PermissionDenied => self.refused(expected, "no permission"),
            io::ErrorKind::IsADirectory => self.refused(expected, "a directory"),
            _ => Error::Io { place: self.clone(), source },
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
    /// Whether the reader of our output went away.
    pub fn is_closed_pipe(&self) -> bool {
        let (Self::Io { source, .. } | Self::Writing(source)) = self else { return false };
        source.kind() == io::ErrorKind::BrokenPipe
    }
}

/// A name for a message, quoted, shortened when it is long.
pub fn quoted(name: &str) -> String {
    const LONGEST: usize = 60;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("`{}..`", &name[..end]),
        None => format!("`{name}`"),
    }
}

/// Names for a message, each quoted, shortened when there are many.
pub fn list<T: fmt::Display>(names: impl IntoIterator<Item = T>) -> String {
    const SHOWN: usize = 8;
    let names: Vec<String> = names.into_iter().map(|name| quoted(&name.to_string())).collect();
    let more = names.len().saturating_sub(SHOWN);
    let shown = names[..names.len() - more].join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// ` (did you mean ..?)` if a name that is still free is close to `name`, else nothing.
pub fn suggestion<'a>(name: &str, free: impl IntoIterator<Item = &'a String>) -> String {
    nearest(name, free).map_or_else(String::new, |near| format!(" (did you mean {}?)", quoted(near)))
}

/// The name closest to `name`, if one is close.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a String>) -> Option<&'a String> {
    let wanted = name.to_lowercase();
    let length = wanted.chars().count();
    // A name of one letter is near to every other.
    let tolerated = (length / 3).max(1).min(length.saturating_sub(1));
    let near = |known: &'a String| {
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
    fn long_lists_are_shortened() {
        assert_eq!(list(0..3), "`0`, `1`, `2`");
        assert!(list(0..10).ends_with("`7` and 2 more"));
    }
}
