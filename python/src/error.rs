//! Errors as Python exceptions: the one place where they are translated.
//!
//! A value that is refused becomes a `SpoccError`, which is a `ValueError`; an argument of a wrong type becomes a
//! `TypeError`; a file that cannot be written becomes an `OSError`. The engine counts rows from 1, as lines of a file are counted. Python counts them from 0, and so does
//! every message here.

use std::{ffi::OsString, io, path::PathBuf};

use pyo3::{
    PyErr, PyResult, Python, create_exception,
    exceptions::{PyOSError, PyRuntimeError, PyTypeError, PyValueError},
    prelude::*,
};

create_exception!(
    spocc,
    SpoccError,
    PyValueError,
    "A value that spocc refuses: where, what was expected, what was found."
);

/// Why a call failed.
#[derive(Debug)]
pub(crate) enum BindingError {
    /// The engine refused a value.
    Engine(spocc::Error),
    /// This module refused a value, with a message like those of the engine.
    Value(String),
    /// An argument, an array or a label has a type that cannot be used.
    Type(String),
    /// A file cannot be written.
    File(PathBuf, spocc_file::Error),
    /// Python raised an exception: a signal, or an exception of a callback.
    Python(PyErr),
    /// An internal error.
    Panic(String),
}

impl BindingError {
    /// The same error with a place before its message.
    pub(crate) fn at(self, place: impl std::fmt::Display) -> Self {
        match self {
            Self::Engine(error) => Self::Value(format!("{place}: {}", message(error))),
            Self::Value(line) => Self::Value(format!("{place}: {line}")),
            Self::Type(line) => Self::Type(format!("{place}: {line}")),
            other => other,
        }
    }
}

impl From<spocc::Error> for BindingError {
    fn from(error: spocc::Error) -> Self {
        Self::Engine(error)
    }
}

impl From<PyErr> for BindingError {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<BindingError> for PyErr {
    fn from(error: BindingError) -> Self {
        match error {
            BindingError::Engine(error) => SpoccError::new_err(shown(&message(error))),
            BindingError::Value(line) => SpoccError::new_err(shown(&line)),
            BindingError::Type(line) => PyTypeError::new_err(shown(&line)),
            BindingError::File(path, error) => {
                Python::attach(|py| os_error(py, path.into(), &error)).unwrap_or_else(|failed| failed)
            }
            BindingError::Python(error) => error,
            BindingError::Panic(text) => {
                PyRuntimeError::new_err(format!("internal error, please report it: {}", shown(&text)))
            }
        }
    }
}

/// A message with hidden characters escaped.
fn shown(message: &str) -> String {
    spocc::printable(message).into_owned()
}

/// The exception that Python itself would raise: `OSError` chooses the subclass by the number.
fn os_error(py: Python<'_>, path: OsString, error: &spocc_file::Error) -> PyResult<PyErr> {
    let (number, kind) = match error {
        spocc_file::Error::Io(source) => (source.raw_os_error(), source.kind()),
        spocc_file::Error::Refused { kind, .. } => (None, *kind),
        _ => (None, io::ErrorKind::Other),
    };
    if let Some(number) = number {
        let message: String = py.import("os")?.getattr("strerror")?.call1((number,))?.extract()?;
        return Ok(PyOSError::new_err((number, message, path)));
    }
    let name = match kind {
        io::ErrorKind::InvalidInput => "EINVAL",
        io::ErrorKind::IsADirectory => "EISDIR",
        io::ErrorKind::NotFound => "ENOENT",
        io::ErrorKind::PermissionDenied => "EACCES",
        _ => "EIO",
    };
    let number: i32 = py.import("errno")?.getattr(name)?.extract()?;
    Ok(PyOSError::new_err((number, error.to_string(), path)))
}

/// The message of an engine error in Python's terms: rows counted from 0, options as arguments.
fn message(mut error: spocc::Error) -> String {
    use spocc::Error::{
        BadWeight, LabelId, MissingClassifier, NoSuchRow, NotCalibrated, RepeatedCell, RowWidth,
        TruthNotAClass, UnseenLabel,
    };
    match &mut error {
        NotCalibrated => {
            return "sets: expected a calibrated model, found one fitted without \
                    (fit it with calibrate=\"split\" or calibrate=\"cross\")"
                .into();
        }
        MissingClassifier { .. } => {
            return format!("{error} (add a column of None to decide without it)");
        }
        NoSuchRow { row, rows: 0 } => return format!("row {}: expected rows, found none", *row - 1),
        NoSuchRow { row, rows } => {
            return format!("row {}: expected a row from 0 to {}", *row - 1, *rows - 1);
        }
        BadWeight { row, .. }
        | LabelId { row, .. }
        | RepeatedCell { row, .. }
        | RowWidth { row, .. }
        | TruthNotAClass { row, .. }
        | UnseenLabel { row, .. } => *row -= 1,
        _ => {}
    }
    error.to_string()
}

/// A list of names for a message, shortened when it is long.
pub(crate) fn list<T: std::fmt::Display>(names: &[T]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = names.iter().take(SHOWN).map(ToString::to_string).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
