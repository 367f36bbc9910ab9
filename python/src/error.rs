//! What is refused, as Python's exceptions: the one place where errors are translated.
//!
//! The engine counts rows from 1, as lines of a file are counted; Python counts them from 0, and so do all messages
//! here.

use pyo3::{PyErr, create_exception, exceptions::PyRuntimeError, exceptions::PyValueError};

create_exception!(
    spocc,
    SpoccError,
    PyValueError,
    "What spocc refuses: where, what was expected, what was found."
);

/// Why something was not done.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The engine refused it.
    Engine(spocc::Error),
    /// This module refused it, in a line like those of the engine.
    Refused(String),
    /// Python raised something: a signal, or a callback's own exception.
    Python(PyErr),
    /// Something that cannot happen happened.
    Panic(String),
}

impl Fault {
    /// The same, said of a place.
    pub(crate) fn at(self, place: impl std::fmt::Display) -> Self {
        match self {
            Self::Engine(error) => Self::Refused(format!("{place}: {}", message(error))),
            Self::Refused(line) => Self::Refused(format!("{place}: {line}")),
            other => other,
        }
    }
}

impl From<spocc::Error> for Fault {
    fn from(error: spocc::Error) -> Self {
        Self::Engine(error)
    }
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Engine(error) => SpoccError::new_err(message(error)),
            Fault::Refused(line) => SpoccError::new_err(line),
            Fault::Python(error) => error,
            Fault::Panic(text) => {
                PyRuntimeError::new_err(format!("internal error, please report it: {text}"))
            }
        }
    }
}

/// What the engine refused, in Python's terms: rows counted from 0, options as arguments.
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
