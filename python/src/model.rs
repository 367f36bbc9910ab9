//! Models: fitting, deciding rows, explaining.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::{prelude::*, types::PyBytes, types::PyList};
use spocc::{
    Control, Label, Predictions,
    audit::Audit,
    conformal::Coverage,
    decision::Basis,
    predict::{AlignedTable, DecisionColumns, Decisions},
};

use crate::{
    error::BindingError,
    evidence::{PyEvidence, array, report},
    input::{InputTable, PredictionInput},
    labels::to_python,
    row_ids::{IdInput, RowDraws, RowIds},
    runtime::{Interrupt, RunSettings, guard, run, run_here},
    sets::for_each_set,
    settings::{PyCombiner, PyOptions},
    zero_copy::MAX_LABELS,
};

/// Number of cells up to which a call runs on one thread, without signal checks.
const MAX_SHORT_CELLS: usize = 1 << 14;
/// Number of cells up to which a call runs on the calling thread: the engine uses no others.
const MAX_TINY_CELLS: usize = 1 << 10;

/// A fitted model.
#[pyclass(name = "Model", frozen, module = "spocc._native")]
pub(crate) struct PyModel {
    pub(crate) engine: spocc::Model,
}

/// Columns of decided rows: margin, number of predictions, tie, decided by the prior.
pub(crate) type FurtherArrays<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<bool>>,
);

#[pymethods]
impl PyModel {
    /// Fits a method to evidence; the model keeps as much of it as the method needs.
    #[staticmethod]
    #[pyo3(signature = (combiner, evidence, options, *, memory, progress))]
    fn fit(
        py: Python<'_>,
        combiner: &PyCombiner,
        evidence: &PyEvidence,
        options: &PyOptions,
        memory: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> Result<Self, BindingError> {
        let options = &options.engine;
        let level = options.needs(&*combiner.engine);
        let engine = run(py, &RunSettings { memory, progress }, |control, _| {
            if combiner.engine.method().uses_unlabelled(&evidence.engine) {
                return Ok(spocc::Model::fit(&*combiner.engine, &evidence.engine, options, control)?);
            }
            let reduced = evidence.engine.reduce_to(level, control)?;
            Ok(spocc::Model::fit(&*combiner.engine, &reduced, options, control)?)
        })?;
        Ok(Self { engine })
    }

    /// Reads the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> Result<Self, BindingError> {
        run_here(py, |_, _| Ok(spocc::Model::from_bytes(data)?)).map(|engine| Self { engine })
    }

    /// The bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>, BindingError> {
        let bytes = run_here(py, |_, _| Ok(self.engine.to_bytes()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The name of the method.
    #[getter]
    fn method(&self) -> String {
        self.engine.method().to_string()
    }

    /// Names of the classifiers.
    #[getter]
    fn classifiers(&self) -> Vec<String> {
        self.engine.classifiers().to_vec()
    }

    /// The classes; none of open answers.
    #[getter]
    fn classes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        to_python(py, if self.is_open() { &[] } else { self.engine.classes() })
    }

    /// Whether it decides between open answers.
    #[getter]
    fn is_open(&self) -> bool {
        self.engine.is_open()
    }

    /// How open answers are compared.
    #[getter]
    fn normalise(&self) -> Option<String> {
        self.engine.normalise().map(|normalise| normalise.to_string())
    }

    /// The treatment of missing predictions.
    #[getter]
    fn missing(&self) -> String {
        self.engine.missing().to_string()
    }

    /// For each classifier, whether a missing prediction is read as an answer.
    #[getter]
    fn missing_is_answer(&self) -> Vec<bool> {
        self.engine.missing_is_answer().to_vec()
    }

    /// Whether the method has probabilities.
    #[getter]
    fn has_probabilities(&self) -> bool {
        self.engine.method().capabilities().probabilities
    }

    /// The coverage guarantee of its prediction sets, if it is calibrated.
    #[getter]
    fn calibration(&self) -> Option<String> {
        self.engine.calibration().map(ToString::to_string)
    }

    /// The accuracy on held-out rows as JSON and as text, if it was evaluated.
    #[getter]
    fn held_out_accuracy(&self) -> Result<Option<(String, String)>, BindingError> {
        self.engine.held_out_accuracy().map(report).transpose()
    }

    /// Why there is no such accuracy, if it was asked for.
    #[getter]
    fn no_accuracy_reason(&self) -> Option<String> {
        self.engine.no_accuracy_reason().map(ToOwned::to_owned)
    }

    /// The fitted parameters as JSON.
    #[getter]
    fn fitted(&self) -> Result<String, BindingError> {
        serde_json::to_string(&self.engine.parameters())
            .map_err(|error| BindingError::Panic(error.to_string()))
    }

    /// The evidence it was fitted to, unless it was left out.
    #[getter]
    fn evidence(&self) -> Option<PyEvidence> {
        self.engine.evidence().map(|evidence| PyEvidence { engine: evidence.clone() })
    }

    /// The parts beside the evidence from which rows can be read.
    #[getter]
    fn row_parts(&self) -> Vec<&'static str> {
        self.engine.row_parts()
    }

    /// The least number of rows behind each count of a slim model that holds counts.
    #[getter]
    fn min_count(&self) -> Option<u64> {
        self.engine.min_count()
    }

    /// The model without its evidence and without counts of fewer rows, and how many rows it decides differently.
    fn slim(&self, min_count: u64) -> Result<(Self, Option<f64>), BindingError> {
        let engine = self.engine.slim(min_count)?;
        let changed = self.engine.n_decided_differently(&engine, &Control::default())?;
        Ok((Self { engine }, changed))
    }

    /// The model without its evidence, which decides alike.
    fn without_evidence(&self) -> Self {
        Self { engine: self.engine.without_evidence() }
    }

    /// The same model with the additional classifier of the evidence.
    fn append(&self, py: Python<'_>, evidence: &PyEvidence) -> Result<Self, BindingError> {
        let appended = run(py, &RunSettings::default(), |control, _| {
            Ok(self.engine.append(&evidence.engine, control)?)
        });
        appended.map(|engine| Self { engine })
    }

    /// The class index of every row.
    fn predict_ids<'py>(
        &self,
        py: Python<'py>,
        cells: &Bound<'py, PyAny>,
        strict: bool,
    ) -> Result<Bound<'py, PyArray1<u16>>, BindingError> {
        let decided = self.decided(py, cells, strict, DecisionColumns::default())?;
        Ok(array(py, decided.class))
    }

    /// The decision on every row.
    fn decide<'py>(
        &self,
        py: Python<'py>,
        cells: &Bound<'py, PyAny>,
        strict: bool,
    ) -> Result<(Bound<'py, PyArray1<u16>>, FurtherArrays<'py>), BindingError> {
        let columns = DecisionColumns { margin: true, n_answered: true, ..DecisionColumns::default() };
        let mut decided = self.decided(py, cells, strict, columns)?;
        Ok((array(py, std::mem::take(&mut decided.class)), further_arrays(py, decided)))
    }

    /// The possibility of every class, row after row.
    fn possibility<'py>(
        &self,
        py: Python<'py>,
        cells: &Bound<'py, PyAny>,
        strict: bool,
    ) -> Result<Bound<'py, PyArray2<f64>>, BindingError> {
        let columns = DecisionColumns { possibility: true, ..DecisionColumns::default() };
        let decided = self.decided(py, cells, strict, columns)?;
        let shape = [decided.len(), decided.classes().len()];
        Ok(array(py, decided.possibility.unwrap_or_default()).reshape(shape)?)
    }

    /// The probability of every class, row after row.
    fn probability<'py>(
        &self,
        py: Python<'py>,
        cells: &Bound<'py, PyAny>,
        strict: bool,
    ) -> Result<Bound<'py, PyArray2<f64>>, BindingError> {
        self.check_probabilities()?;
        let columns = DecisionColumns { probability: true, ..DecisionColumns::default() };
        let decided = self.decided(py, cells, strict, columns)?;
        let shape = [decided.len(), decided.classes().len()];
        Ok(array(py, decided.probability.unwrap_or_default()).reshape(shape)?)
    }

    /// Which classes are in the set of each row.
    fn predict_set<'py>(
        &self,
        py: Python<'py>,
        cells: &Bound<'py, PyAny>,
        strict: bool,
        coverage: f64,
        seed: u64,
        ids: &Bound<'py, PyList>,
    ) -> Result<Bound<'py, PyArray2<bool>>, BindingError> {
        let coverage = Coverage::try_from(coverage)?;
        self.engine.check_coverage(coverage)?;
        let mut ids = IdInput::new(ids)?;
        let ids = ids.tables()?;
        let n_classes = self.engine.classes().len();
        let members = self.with_aligned(py, cells, strict, |aligned, table, _, interrupt| {
            let n_rows = table.n_rows();
            let draws = RowDraws::new(seed, RowIds::read(ids, n_rows, interrupt)?);
            let mut members = vec![false; n_rows * n_classes];
            for_each_set(aligned, (n_rows, n_classes), coverage, &draws, interrupt, |row, set| {
                set.iter().for_each(|class| members[row * n_classes + usize::from(*class)] = true);
            })?;
            Ok((n_rows, members))
        })?;
        Ok(array(py, members.1).reshape([members.0, n_classes])?)
    }

    /// The explanation of one decision as JSON and as text, and the labels that were predicted.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        cells: &Bound<'py, PyAny>,
        row: usize,
    ) -> Result<(String, String, Bound<'py, PyList>), BindingError> {
        let ((json, text), predicted) = self.with_aligned(py, cells, false, |aligned, table, _, _| {
            let explained = aligned.explain(row)?;
            let predicted = (0..table.n_classifiers()).filter_map(|k| table.get(row, k).cloned());
            Ok((report(&explained)?, predicted.collect::<Vec<_>>()))
        })?;
        Ok((json, text, to_python(py, &predicted)?))
    }

    /// An audit of its classifiers with their influence, as JSON and as text.
    fn audit(&self, py: Python<'_>) -> Result<(String, String), BindingError> {
        let Some(evidence) = self.engine.evidence() else {
            return Err(spocc::Error::NoEvidence { what: "audit" }.into());
        };
        run(py, &RunSettings::default(), |control, _| {
            report(&Audit::new(evidence, Some(&self.engine), control)?)
        })
    }
}

impl PyModel {
    /// Refuses a method without probabilities.
    pub(crate) fn check_probabilities(&self) -> Result<(), BindingError> {
        if self.has_probabilities() {
            return Ok(());
        }
        let with = spocc::Method::ALL.into_iter().filter(|method| method.capabilities().probabilities);
        let with: Vec<String> = with.map(|method| method.to_string()).collect();
        let (with, found) = (with.join(", "), self.engine.method());
        Err(BindingError::Value(format!(
            "probabilities: expected a model that has them ({with}), found one of {found}"
        )))
    }

    /// Runs `job` on a table aligned to the model.
    fn with_aligned<T: Send>(
        &self,
        py: Python<'_>,
        cells: &Bound<'_, PyAny>,
        strict: bool,
        job: impl FnOnce(&AlignedTable<'_>, &Predictions, &Control<'_>, &Interrupt) -> Result<T, BindingError>
        + Send,
    ) -> Result<T, BindingError> {
        let mut input = PredictionInput::of_model(cells, &self.engine)?;
        let source = input.table()?;
        run_sized(py, source.n_cells(), |control, interrupt| {
            let table = source.predictions(interrupt)?;
            job(&self.aligned(&table, strict)?, &table, control, interrupt)
        })
    }

    pub(crate) fn aligned<'a>(
        &'a self,
        table: &'a Predictions,
        strict: bool,
    ) -> Result<AlignedTable<'a>, BindingError> {
        let aligned = self.engine.align(table)?;
        Ok(if strict { aligned.strict()? } else { aligned })
    }

    /// Decides every row, with the columns asked for.
    fn decided(
        &self,
        py: Python<'_>,
        cells: &Bound<'_, PyAny>,
        strict: bool,
        columns: DecisionColumns,
    ) -> Result<Decisions, BindingError> {
        let mut input = PredictionInput::of_model(cells, &self.engine)?;
        let source = input.table()?;
        run_sized(py, source.n_cells(), |control, interrupt| {
            if let Some(decided) = self.decide_in_place(&source, columns, control)? {
                return Ok(decided);
            }
            let table = source.predictions(interrupt)?;
            Ok(self.aligned(&table, strict)?.decide_all(columns, control)?)
        })
    }

    /// Decides integers without a copy of the table, if the model knows all of them.
    fn decide_in_place(
        &self,
        source: &InputTable<'_, u16>,
        columns: DecisionColumns,
        control: &Control<'_>,
    ) -> Result<Option<Decisions>, BindingError> {
        let Some(table) = source.integers() else { return Ok(None) };
        let is_known = |number: &usize| self.engine.knows(&Label::from_integer(*number as i128));
        let known = (0..MAX_LABELS).take_while(is_known).count();
        match self.engine.decide_all(&table.with_labels(known)?, columns, control) {
            Err(spocc::Error::LabelId { .. }) => Ok(None),
            decided => Ok(Some(decided?)),
        }
    }
}

/// Runs `job`, without signal checks if there are few cells: on one thread, or on the calling thread if the engine needs no
/// other.
pub(crate) fn run_sized<T: Send>(
    py: Python<'_>,
    n_cells: usize,
    job: impl FnOnce(&Control<'_>, &Interrupt) -> Result<T, BindingError> + Send,
) -> Result<T, BindingError> {
    if n_cells <= MAX_TINY_CELLS {
        py.detach(|| guard(|| job(&Control::default(), &Interrupt::default())))
    } else if n_cells <= MAX_SHORT_CELLS {
        run_here(py, job)
    } else {
        run(py, &RunSettings::default(), job)
    }
}

/// The columns of decided rows besides the class.
pub(crate) fn further_arrays(py: Python<'_>, decided: Decisions) -> FurtherArrays<'_> {
    (
        array(py, decided.margin.unwrap_or_default()),
        array(py, decided.n_answered.unwrap_or_default()),
        array(py, decided.is_tie),
        array(py, decided.basis.iter().map(|basis| *basis == Basis::Prior).collect()),
    )
}
