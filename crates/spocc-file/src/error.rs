//! The error type. A message is one line; the caller adds the file.

use std::io;

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A target that is not as expected.
    #[error("expected {expected}, found {found}")]
    Refused {
        /// What was expected.
        expected: &'static str,
        /// What was there.
        found: String,
        /// The kind of the error, for callers that translate it.
        kind: io::ErrorKind,
    },
    /// An error of the system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Error {
    pub(crate) fn refused(kind: io::ErrorKind, expected: &'static str, found: impl Into<String>) -> Self {
        Self::Refused { expected, found: found.into(), kind }
    }
}
