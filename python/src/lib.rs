//! The native module of the Python package `spocc`: it converts and calls, and holds no arithmetic.
//!
//! Input comes as views of Python's memory (`input`, `input_buffer`, `columns`, `arrow`, `object_columns`, `zero_copy`,
//! `answers`, `row_ids`).
//! The engine runs while the interpreter is released (`runtime`). Results leave as numpy arrays and JSON, from which
//! the Python package makes its objects.

mod labels;
mod columns;
mod arrow;
mod object_columns;
mod input_buffer;
mod input;
mod long_table;
mod zero_copy;
mod answers;
mod settings;
mod evidence;
mod row_ids;
mod sets;
mod model;
mod open_model;
mod evaluate;
mod runtime;
mod error;

/// The native module.
#[pyo3::pymodule]
mod _native {
    use std::path::PathBuf;

    use pyo3::{IntoPyObjectExt, prelude::*, types::PyTuple};

    #[pymodule_export]
    use crate::{
        error::SpoccError,
        evaluate::PyCompareSettings,
        evidence::PyEvidence,
        input::columns,
        model::PyModel,
        open_model::PyOpenModel,
        row_ids::repeated_ids,
        settings::{PyCombiner, PyOptions},
    };

    use crate::{
        error::BindingError,
        runtime::{guard, run_here},
    };

    /// Reads the bytes of a model file or of an evidence file.
    #[pyfunction]
    fn read(py: Python<'_>, data: &[u8]) -> Result<Py<PyAny>, BindingError> {
        let model = run_here(py, |_, _| match spocc::Model::from_bytes(data) {
            Ok(model) => Ok(Some(model)),
            Err(spocc::Error::WrongKind { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        })?;
        let object = match model {
            Some(engine) => PyModel { engine }.into_py_any(py)?,
            None => PyEvidence::from_bytes(py, data)?.into_py_any(py)?,
        };
        Ok(object)
    }

    /// Writes a file, which is replaced as a whole or not at all.
    #[pyfunction]
    fn write(py: Python<'_>, path: PathBuf, data: &[u8]) -> Result<(), BindingError> {
        let written = py.detach(|| guard(|| Ok(spocc_file::write(&path, data))))?;
        written.map_err(|error| BindingError::File(path, error))
    }

    /// A text with hidden characters escaped.
    #[pyfunction]
    fn printable(text: &str) -> String {
        spocc::printable(text).into_owned()
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let methods = spocc::Method::ALL.map(|method| method.to_string());
        module.add("METHODS", PyTuple::new(module.py(), methods)?)?;
        module.add("DEFAULT_METHOD", spocc::Method::default().to_string())?;
        module.add("DEFAULT_MISSING", spocc::data::Missing::default().to_string())?;
        module.add("DEFAULT_TIES", spocc::decision::TieBreak::default().to_string())?;
        module.add("NONE_OF_THESE", spocc::explain::NONE_OF_THESE)?;
        let compare = spocc::evaluate::CompareSettings::default();
        module.add("DEFAULT_FOLDS", compare.folds)?;
        module.add("DEFAULT_REPEATS", compare.repeats)?;
        module.add("VERSION", env!("CARGO_PKG_VERSION"))
    }
}
