//! The native module of the Python package `spocc`: it converts and calls, and holds no arithmetic.
//!
//! Data comes in as views of Python's own memory (`arrays`, `columns`, `arrow`, `objects`), is worked on while
//! the interpreter is free (`work`), and leaves as numpy arrays and JSON. The package around it makes of both what
//! Python's users expect.

mod labels;
mod columns;
mod arrow;
mod objects;
mod arrays;
mod lent;
mod settings;
mod evidence;
mod model;
mod work;
mod error;

/// The native module.
#[pyo3::pymodule]
mod _native {
    use pyo3::{IntoPyObjectExt, prelude::*, types::PyTuple};

    #[pymodule_export]
    use crate::{
        error::SpoccError,
        evidence::Evidence,
        model::Model,
        settings::{Combiner, Options},
    };

    use crate::{error::Fault, work::run_here};

    /// Reads the bytes of a file: a model or evidence, whichever it is.
    #[pyfunction]
    fn read(py: Python<'_>, data: &[u8]) -> Result<Py<PyAny>, Fault> {
        let model = run_here(py, |_, _| match spocc::Model::from_bytes(data) {
            Ok(model) => Ok(Some(model)),
            Err(spocc::Error::WrongKind { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        })?;
        let object = match model {
            Some(engine) => Model { engine }.into_py_any(py)?,
            None => Evidence::from_bytes(py, data)?.into_py_any(py)?,
        };
        Ok(object)
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let words = spocc::Method::ALL.map(|method| method.to_string());
        module.add("METHODS", PyTuple::new(module.py(), words)?)?;
        module.add("VERSION", env!("CARGO_PKG_VERSION"))
    }
}
