//! The error type of the command, and helpers for messages of one line.

use std::io;

pub(crate) use spocc_table::{
    Location,
    error::{list, nearest, quoted, suggestion},
};

/// An error that ends a command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// Input that is refused, or a file that cannot be read or written.
    #[error(transparent)]
    Table(#[from] spocc_table::Error),
    /// Wrong usage.
    #[error(transparent)]
    Usage(#[from] clap::Error),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Table(error.into())
    }
}

impl Error {
    /// Whether the reader of the output closed the pipe.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Table(error) if error.is_closed_pipe())
    }
}

/// A message as one line of limited length, with hidden characters escaped.
pub(crate) fn one_line(message: &str) -> String {
    const LONGEST: usize = 600;
    let line = spocc::printable(message);
    match line.char_indices().find(|(at, _)| *at > LONGEST) {
        Some((end, _)) => format!("{} ..", &line[..end]),
        None => line.into_owned(),
    }
}

/// A number with its noun in singular or plural.
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// `1 row`, `2 rows`.
pub(crate) fn rows(n: u64) -> String {
    count(n as usize, "row", "rows")
}
