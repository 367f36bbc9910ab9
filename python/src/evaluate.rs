//! Comparing methods on held-out rows.

use pyo3::prelude::*;
use spocc::evaluate::{self, CompareSettings};

use crate::{
    error::BindingError,
    evidence::{PyEvidence, report},
    runtime::{RunSettings, run},
    settings::PyOptions,
};

/// How to compare methods.
#[pyclass(name = "CompareSettings", frozen, module = "spocc._native")]
pub(crate) struct PyCompareSettings {
    engine: CompareSettings,
}

#[pymethods]
impl PyCompareSettings {
    /// Settings by name; `None` stands for all methods.
    #[new]
    #[pyo3(signature = (options, *, methods, folds, repeats, seed, curve))]
    fn new(
        options: &PyOptions,
        methods: Option<Vec<String>>,
        folds: u64,
        repeats: u64,
        seed: u64,
        curve: bool,
    ) -> Result<Self, BindingError> {
        let default = CompareSettings::default();
        let methods = match methods {
            Some(names) => names.iter().map(|name| name.parse()).collect::<Result<_, _>>()?,
            None => default.methods,
        };
        let engine = CompareSettings {
            folds: small("folds", folds)?,
            repeats: small("repeats", repeats)?,
            seed,
            methods,
            options: options.engine.clone(),
            curve,
        };
        Ok(Self { engine })
    }

    /// Whether any of the methods uses rows without truth.
    #[getter]
    fn uses_unlabelled(&self) -> bool {
        self.engine
            .methods
            .iter()
            .any(|method| method.counts_unlabelled(None, true).is_ok_and(|counts| counts))
    }

    /// Compares the methods: the report as JSON and as text.
    #[pyo3(signature = (evidence, test, *, memory, progress))]
    fn compare(
        &self,
        py: Python<'_>,
        evidence: &PyEvidence,
        test: Option<&PyEvidence>,
        memory: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> Result<(String, String), BindingError> {
        let (rows, test) = (&evidence.engine, test.map(|test| &test.engine));
        run(py, &RunSettings { memory, progress }, |control, _| {
            report(&evaluate::compare(rows, test, &self.engine, control)?)
        })
    }
}

fn small(what: &'static str, found: u64) -> Result<u16, BindingError> {
    let error = spocc::Error::OutOfRange { what, expected: "at most 65535", found: found as f64 };
    u16::try_from(found).map_err(|_| error.into())
}
