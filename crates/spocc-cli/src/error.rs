//! The one error type, and what of it reaches the user: one line with where, expected, found.

use std::io;

pub(crate) use spocc_table::{
    Location,
    error::{list, nearest, quoted, suggestion},
};

/// Everything that ends a command early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// Input that is not what it should be, or a file that could not be read or written.
    #[error(transparent)]
    Table(#[from] spocc_table::Error),
    /// Arguments that do not go together.
    #[error(transparent)]
    Usage(#[from] clap::Error),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Table(error.into())
    }
}

impl Error {
    /// Whether the reader of our output went away.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Table(error) if error.is_closed_pipe())
    }
}

/// A message as one line of bearable length, whatever the cells in it hold.
pub(crate) fn one_line(message: &str) -> String {
    const LONGEST: usize = 600;
    let mut line = String::new();
    for character in message.chars() {
        if line.len() > LONGEST {
            line.push_str(" ..");
            break;
        }
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

/// `1 row`, `2 rows`.
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
