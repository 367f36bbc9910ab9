//! Why a file cannot be read, in one line.

use std::{error::Error, io};

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

use crate::error::{Error as Refusal, Place};

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// It breaks the rules of its format, or ends too early.
    #[error("damaged: {0}")]
    Damaged(String),
    /// A column that was asked for is of a kind that we do not read.
    #[error("column `{column}`: {found}")]
    Unsupported {
        /// Its name.
        column: String,
        /// What it is.
        found: String,
    },
    /// The system's words.
    #[error(transparent)]
    Io(io::Error),
}

impl Fault {
    /// The complaint about a file.
    pub(crate) fn at(self, place: &Place) -> Refusal {
        match self {
            Self::Damaged(found) => {
                place.refused("a whole file of columns", format!("a damaged one: {found}"))
            }
            Self::Unsupported { column, found } => {
                place.refused(format!("single values in column `{column}`"), found)
            }
            Self::Io(source) => place.io("a table", source),
        }
    }

    pub(super) fn damaged(said: &str) -> Self {
        Self::Damaged(one_line(said))
    }

    fn of(error: Box<dyn Error + Send + Sync>) -> Self {
        error
            .downcast::<io::Error>()
            .map_or_else(|other| Self::damaged(&other.to_string()), |io| (*io).into())
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::damaged("it ends too early"),
            // What the system does not say comes from those who decompress.
            _ if error.raw_os_error().is_none() => Self::damaged(&error.to_string()),
            _ => Self::Io(error),
        }
    }
}

impl From<ArrowError> for Fault {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, source) => source.into(),
            ArrowError::ExternalError(source) => Self::of(source),
            other => Self::damaged(&other.to_string()),
        }
    }
}

impl From<ParquetError> for Fault {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(source) => Self::of(source),
            other => Self::damaged(&other.to_string()),
        }
    }
}

/// What another library said, on one short line that begins small, without the names of its layers.
pub(super) fn one_line(said: &str) -> String {
    const LONGEST: usize = 200;
    let mut said = said.trim();
    while let Some(inner) = below(said) {
        said = inner;
    }
    let words: Vec<&str> = said.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(LONGEST).collect();
    let mut letters = line.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// What a layer passes on.
fn below(said: &str) -> Option<&str> {
    const LAYERS: [&str; 8] =
        ["Parquet argument", "Parquet", "Arrow", "Ipc", "External", "Invalid argument", "Cast", "EOF"];
    LAYERS.iter().find_map(|layer| {
        let rest = said.strip_prefix(layer)?;
        rest.strip_prefix(" error").unwrap_or(rest).strip_prefix(": ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_other_libraries_are_shortened() {
        assert_eq!(one_line("Parquet argument error: Parquet error: Not  a\nfile"), "not a file");
        assert_eq!(one_line("External: Arrow: Cast error: Éa"), "éa");
        assert_eq!(one_line(&"x".repeat(1000)).len(), 200);
        assert_eq!(one_line(""), "");
    }

    #[test]
    fn only_the_system_has_faults_that_are_not_the_files() {
        let disk = ParquetError::External(Box::new(io::Error::from_raw_os_error(5)));
        assert!(matches!(Fault::from(disk), Fault::Io(_)));
        let zstd = io::Error::other("Data corruption detected");
        assert_eq!(Fault::from(ArrowError::from(zstd)).to_string(), "damaged: data corruption detected");
        let end = io::Error::from(io::ErrorKind::UnexpectedEof);
        assert_eq!(Fault::from(end).to_string(), "damaged: it ends too early");
    }
}
