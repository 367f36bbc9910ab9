//! What is refused, as Python's exceptions: the one place where errors are translated.

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
            Self::Engine(error) => Self::Refused(format!("{place}: {error}")),
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
            Fault::Engine(error) => SpoccError::new_err(error.to_string()),
            Fault::Refused(line) => SpoccError::new_err(line),
            Fault::Python(error) => error,
            Fault::Panic(text) => {
                PyRuntimeError::new_err(format!("internal error, please report it: {text}"))
            }
        }
    }
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
