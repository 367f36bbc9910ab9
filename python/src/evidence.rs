//! Evidence: counting tables, merging and reading counts.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::{prelude::*, types::PyBytes, types::PyList};
use spocc::{Label, Truth, audit::Audit, data::IntegerTable, evidence::Counting};

use crate::{
    answers,
    error::BindingError,
    input::{LabelInput, PredictionInput, labels_of},
    labels::{LabelId, to_python},
    long_table::LongInput,
    runtime::{RunSettings, run, run_here},
    settings,
};

/// Mergeable counts of the predictions of a panel.
#[pyclass(name = "Evidence", frozen, module = "spocc._native")]
pub(crate) struct PyEvidence {
    pub(crate) engine: spocc::Evidence,
}

#[pymethods]
impl PyEvidence {
    /// Counts a table with one row per item.
    #[staticmethod]
    #[pyo3(signature = (cells, names, truth, *, classes, weights, counts, level, unlabelled, open, normalise, memory, progress))]
    #[expect(clippy::too_many_arguments, reason = "these are keyword arguments")]
    fn count(
        py: Python<'_>,
        cells: &Bound<'_, PyAny>,
        names: Option<Vec<String>>,
        truth: Option<&Bound<'_, PyAny>>,
        classes: Option<&Bound<'_, PyAny>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        counts: Option<PyReadonlyArray1<'_, u64>>,
        level: &str,
        unlabelled: bool,
        open: bool,
        normalise: &str,
        memory: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> Result<Self, BindingError> {
        let level = settings::level(level)?;
        let classes = classes.map(class_list).transpose()?;
        let weights = weights.map(|weights| weights.as_array().to_vec());
        let counts = counts.map(|counts| counts.as_array().to_vec());
        let settings = RunSettings { memory, progress };
        if let Some(normalise) = answers::comparison(open, normalise)? {
            let mut input = PredictionInput::of_answers(cells, names)?;
            let mut truth = truth.map(|truth| LabelInput::of_answers("truth", truth)).transpose()?;
            let predictions = input.table()?;
            let truth = truth.as_mut().map(LabelInput::table).transpose()?;
            let engine = run(py, &settings, move |control, interrupt| {
                let (weights, counts) = (weights.as_deref(), counts.as_deref());
                let counting = Counting { level, classes, counts, weights, unlabelled };
                let table = predictions.answers(truth, normalise, interrupt)?;
                Ok(spocc::Evidence::count(table.predictions(), table.truth(), &counting, control)?)
            })?;
            return Ok(Self { engine });
        }
        let mut input = PredictionInput::new(cells, names)?;
        let mut truth = truth.map(|truth| LabelInput::new("truth", truth)).transpose()?;
        let predictions = input.table()?;
        let truth = truth.as_mut().map(LabelInput::table).transpose()?;
        let engine = run(py, &settings, move |control, interrupt| {
            let n_rows = predictions.n_rows();
            let (weights, counts) = (weights.as_deref(), counts.as_deref());
            let counting = Counting { level, classes, counts, weights, unlabelled };
            let count = |predictions: &IntegerTable<'_>, truth: &Truth| {
                spocc::Evidence::count(predictions, truth, &counting, control)
            };
            // Pair counts need memory for every label that could occur.
            if let Some(truth) = truth.as_ref().filter(|_| level != spocc::evidence::Level::Pairs)
                && let Some(counted) = predictions.in_place(truth, count)?
            {
                return Ok(counted);
            }
            let truth = match truth {
                Some(truth) => truth.truth(interrupt)?,
                None => Truth::from_ids(Vec::new(), vec![u16::MISSING; n_rows])?,
            };
            let predictions = predictions.predictions(interrupt)?;
            Ok(spocc::Evidence::count(&predictions, &truth, &counting, control)?)
        })?;
        Ok(Self { engine })
    }

    /// Counts a table with one row per prediction.
    #[staticmethod]
    #[pyo3(signature = (items, classifiers, labels, known, truth, *, names, classes, level, unlabelled, open, normalise, memory, progress))]
    #[expect(clippy::too_many_arguments, reason = "these are keyword arguments")]
    fn count_long(
        py: Python<'_>,
        items: &Bound<'_, PyAny>,
        classifiers: &Bound<'_, PyAny>,
        labels: &Bound<'_, PyAny>,
        known: &Bound<'_, PyAny>,
        truth: &Bound<'_, PyAny>,
        names: Option<Vec<String>>,
        classes: Option<&Bound<'_, PyAny>>,
        level: &str,
        unlabelled: bool,
        open: bool,
        normalise: &str,
        memory: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> Result<Self, BindingError> {
        let level = settings::level(level)?;
        let classes = classes.map(class_list).transpose()?;
        let open = answers::comparison(open, normalise)?;
        let label_column = if open.is_some() { LabelInput::of_answers } else { LabelInput::new };
        let mut columns = [
            LabelInput::new("items", items)?,
            LabelInput::new("classifiers", classifiers)?,
            label_column("labels", labels)?,
        ];
        let mut gold = (LabelInput::new("truth", known)?, label_column("truth", truth)?);
        let tables = columns.iter_mut().map(LabelInput::table).collect::<Result<Vec<_>, BindingError>>()?;
        let gold = (gold.0.table()?, gold.1.table()?);
        let settings = RunSettings { memory, progress };
        let engine = run(py, &settings, move |control, interrupt| {
            let read = tables
                .into_iter()
                .map(|table| table.read(interrupt))
                .collect::<Result<Vec<_>, BindingError>>()?;
            let [items, classifiers, labels] = &read[..] else {
                return Err(BindingError::Value("columns".into()));
            };
            let long = LongInput::new(items, classifiers, labels, names)?;
            let (known, truth) = (gold.0.read(interrupt)?, gold.1.read(interrupt)?);
            let counting = Counting { level, classes, unlabelled, ..Counting::default() };
            if let Some(normalise) = open {
                let table = long.answers(&known, &truth, normalise)?;
                return Ok(spocc::Evidence::count(table.predictions(), table.truth(), &counting, control)?);
            }
            let truth = long.truth(&known, &truth)?;
            let predictions = long.predictions()?;
            Ok(spocc::Evidence::count(&predictions, &truth, &counting, control)?)
        })?;
        Ok(Self { engine })
    }

    /// Reads the bytes of an evidence file.
    #[staticmethod]
    pub(crate) fn from_bytes(py: Python<'_>, data: &[u8]) -> Result<Self, BindingError> {
        run_here(py, |_, _| Ok(spocc::Evidence::from_bytes(data)?)).map(|engine| Self { engine })
    }

    /// The bytes of an evidence file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>, BindingError> {
        let bytes = run_here(py, |_, _| Ok(self.engine.to_bytes()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The sum of both.
    #[pyo3(signature = (other, *, memory=None))]
    fn merge(&self, py: Python<'_>, other: &Self, memory: Option<u64>) -> Result<Self, BindingError> {
        let settings = RunSettings { memory, progress: None };
        run(py, &settings, |control, _| Ok(self.engine.merge(&other.engine, control)?))
            .map(|engine| Self { engine })
    }

    /// The evidence of these classifiers only.
    #[expect(clippy::needless_pass_by_value, reason = "as pyo3 hands it over")]
    fn select(&self, py: Python<'_>, names: Vec<String>) -> Result<Self, BindingError> {
        run(py, &RunSettings::default(), |control, _| Ok(self.engine.select(&names, control)?))
            .map(|engine| Self { engine })
    }

    /// The labelled rows only.
    fn labelled(&self, py: Python<'_>) -> Result<Self, BindingError> {
        run(py, &RunSettings::default(), |control, _| Ok(self.engine.labelled(control)?.into_owned()))
            .map(|engine| Self { engine })
    }

    /// The same rows with less detail.
    fn reduce(&self, py: Python<'_>, level: &str) -> Result<Self, BindingError> {
        let level = settings::level(level)?;
        run(py, &RunSettings::default(), |control, _| Ok(self.engine.reduce_to(level, control)?))
            .map(|engine| Self { engine })
    }

    /// Names of the classifiers.
    #[getter]
    fn classifiers(&self) -> Vec<String> {
        self.engine.classifiers().to_vec()
    }

    /// The classes; none of open answers.
    #[getter]
    fn classes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let labels = self.engine.labels();
        to_python(py, if self.is_open() { &[] } else { labels.classes() })
    }

    /// The classes, then the other labels, which are never decided; none of open answers.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let labels = self.engine.labels();
        to_python(py, if self.is_open() { &[] } else { labels.all() })
    }

    /// Whether the answers are open.
    #[getter]
    fn is_open(&self) -> bool {
        self.engine.is_open()
    }

    /// How open answers are compared.
    #[getter]
    fn normalise(&self) -> Option<String> {
        self.engine.labels().normalise().map(|normalise| normalise.to_string())
    }

    /// The share of the labelled rows on which some classifier gives the true open answer.
    #[getter]
    fn answerable_share(&self) -> Option<f64> {
        self.engine.answerable_share()
    }

    /// Number of labelled rows.
    #[getter]
    fn n_rows(&self) -> f64 {
        self.engine.n_rows()
    }

    /// Number of rows without truth.
    #[getter]
    fn n_unlabelled(&self) -> f64 {
        self.engine.n_unlabelled()
    }

    /// Number of distinct patterns of predictions, if there is a tally.
    #[getter]
    fn n_patterns(&self) -> Option<usize> {
        self.engine.n_patterns()
    }

    /// The level of detail.
    #[getter]
    fn level(&self) -> &'static str {
        settings::word(self.engine.level())
    }

    /// Counts of the k-th classifier: predicted x true.
    fn confusion<'py>(&self, py: Python<'py>, k: usize) -> Result<Bound<'py, PyArray2<f64>>, BindingError> {
        if self.is_open() {
            return Err(BindingError::Value(
                "confusion: expected evidence of classes, found open answers, which have none".into(),
            ));
        }
        let shape = [self.engine.labels().all().len(), self.engine.labels().classes().len()];
        let counts = self.engine.confusion_of(k).unwrap_or_default();
        Ok(counts.into_pyarray(py).reshape(shape)?)
    }

    /// What the labelled rows lack: rows of some classes.
    fn row_shortages(&self) -> Vec<String> {
        self.engine.row_shortages().iter().map(ToString::to_string).collect()
    }

    /// Warnings about columns that do not look like classifiers, each with a remedy.
    fn column_warnings(&self) -> Vec<String> {
        let describe = |warning: &spocc::evidence::ColumnWarning| {
            let (is, keyword) = match warning.issue {
                spocc::evidence::ColumnIssue::Id { .. } => ("names the rows", "id"),
                spocc::evidence::ColumnIssue::Truth { .. } => ("is the truth itself", "ignore"),
                _ => ("is no classifier", "ignore"),
            };
            let name = spocc::printable(&warning.classifier);
            format!("{warning}: if it {is}, leave it out of the predictions, such as by {keyword}=\"{name}\"")
        };
        self.engine.column_warnings().iter().map(describe).collect()
    }

    /// An audit as JSON and as text.
    fn audit(&self, py: Python<'_>) -> Result<(String, String), BindingError> {
        run(py, &RunSettings::default(), |control, _| report(&Audit::of_evidence(&self.engine, control)?))
    }
}

/// A report as JSON and as text.
pub(crate) fn report<T: serde::Serialize + std::fmt::Display>(
    report: &T,
) -> Result<(String, String), BindingError> {
    let json = serde_json::to_string(report).map_err(|error| BindingError::Panic(error.to_string()))?;
    Ok((json, report.to_string()))
}

/// The classes given by the caller, none of which may be missing.
fn class_list(classes: &Bound<'_, PyAny>) -> Result<Vec<Label>, BindingError> {
    let classes = labels_of(classes).map_err(|error| error.at("classes"))?;
    let all = classes.into_iter().collect::<Option<Vec<Label>>>();
    all.ok_or_else(|| BindingError::Value("classes: expected labels, found a missing one".into()))
}

/// Numbers as a numpy array, without a copy.
pub(crate) fn array<T: numpy::Element>(py: Python<'_>, numbers: Vec<T>) -> Bound<'_, PyArray1<T>> {
    numbers.into_pyarray(py)
}
