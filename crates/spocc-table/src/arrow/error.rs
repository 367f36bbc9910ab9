//! Why a file cannot be read, in one line.

use std::{error::Error, io};

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

use crate::{
    error::{Error as Refusal, Location},
    limits::{MAX_COLUMNS, MAX_EXPANSION},
};

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ColumnFileError {
    /// It violates its format, or ends too early.
    #[error("damaged: {0}")]
    Damaged(String),
    /// A selected column has a type or compression that is not supported.
    #[error("column `{column}`: {found}")]
    Unsupported {
        /// The name of the column.
        column: String,
        /// The type or compression.
        found: String,
    },
    /// It does not fit in the memory limit.
    #[error("too large: {0}")]
    TooLarge(String),
    /// It unpacks to too much for its size.
    #[error("it unpacks to more than {MAX_EXPANSION} times its size")]
    Expanded,
    /// An error of the system.
    #[error(transparent)]
    Io(io::Error),
}

impl ColumnFileError {
    /// The error about a file.
    pub(crate) fn at(self, place: &Location) -> Refusal {
        match self {
            Self::Damaged(found) => {
                place.refused("a whole file of columns", format!("a damaged one: {found}"))
            }
            Self::Unsupported { column, found } => {
                place.refused(format!("single values in column `{column}`"), found)
            }
            Self::TooLarge(found) => place.refused("a file of columns that fits in the memory limit", found),
            Self::Expanded => {
                let expected =
                    format!("columns that unpack to at most {MAX_EXPANSION} times the size of the file");
                place.refused(expected, "more (a column of counts can stand for equal rows)")
            }
            Self::Io(source) => place.io("a table", source),
        }
    }

    pub(super) fn damaged(message: &str) -> Self {
        Self::Damaged(one_line(message))
    }

    /// Refuses a table of more columns than a table can have.
    pub(super) fn too_many_columns(n: usize) -> Self {
        Self::TooLarge(format!("{n} columns, of which {MAX_COLUMNS} are allowed"))
    }

    fn of(error: Box<dyn Error + Send + Sync>) -> Self {
        error
            .downcast::<io::Error>()
            .map_or_else(|other| Self::damaged(&other.to_string()), |io| (*io).into())
    }
}

impl From<io::Error> for ColumnFileError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::damaged("it ends too early"),
            // An error without a system code comes from a decompressor.
            _ if error.raw_os_error().is_none() => Self::damaged(&error.to_string()),
            _ => Self::Io(error),
        }
    }
}

impl From<ArrowError> for ColumnFileError {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, source) => source.into(),
            ArrowError::ExternalError(source) => Self::of(source),
            other => Self::damaged(&other.to_string()),
        }
    }
}

impl From<ParquetError> for ColumnFileError {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(source) => Self::of(source),
            other => Self::damaged(&other.to_string()),
        }
    }
}

/// The message of another library as one short line that begins in lower case, without the names of its layers.
pub(super) fn one_line(message: &str) -> String {
    const LONGEST: usize = 200;
    let mut message = message.trim();
    while let Some(inner) = inner_message(message) {
        message = inner;
    }
    let words: Vec<&str> = message.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(LONGEST).collect();
    let mut letters = line.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The message without the name of its outermost layer.
fn inner_message(message: &str) -> Option<&str> {
    const LAYERS: [&str; 8] =
        ["Parquet argument", "Parquet", "Arrow", "Ipc", "External", "Invalid argument", "Cast", "EOF"];
    LAYERS.iter().find_map(|layer| {
        let rest = message.strip_prefix(layer)?;
        rest.strip_prefix(" error").unwrap_or(rest).strip_prefix(": ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_other_libraries_are_shortened() {
        assert_eq!(one_line("Parquet argument error: Parquet error: Not  a\nfile"), "not a file");
        assert_eq!(one_line("External: Arrow: Cast error: Éa"), "éa");
        assert_eq!(one_line(&"x".repeat(1000)).len(), 200);
        assert_eq!(one_line(""), "");
    }

    #[test]
    fn only_errors_of_the_system_are_not_damage() {
        let disk = ParquetError::External(Box::new(io::Error::from_raw_os_error(5)));
        assert!(matches!(ColumnFileError::from(disk), ColumnFileError::Io(_)));
        let zstd = io::Error::other("Data corruption detected");
        assert_eq!(
            ColumnFileError::from(ArrowError::from(zstd)).to_string(),
            "damaged: data corruption detected"
        );
        let end = io::Error::from(io::ErrorKind::UnexpectedEof);
        assert_eq!(ColumnFileError::from(end).to_string(), "damaged: it ends too early");
    }
}
