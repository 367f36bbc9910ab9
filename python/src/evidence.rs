//! Evidence: what Python counts, adds up and hands to a fit.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::{prelude::*, types::PyBytes, types::PyList};
use rustc_hash::FxHashMap as HashMap;
use spocc::{Label, Predictions, Truth, audit::Audit, data::IntegerTable, evidence::Counting};

use crate::{
    arrays::{Labelled, Panel, labels_of},
    error::Fault,
    labels::{Id, to_python},
    settings,
    work::{Terms, run, run_here},
};

/// Mergeable counts of how a panel answered.
#[pyclass(frozen, module = "spocc._native")]
pub(crate) struct Evidence {
    pub(crate) engine: spocc::Evidence,
}

#[pymethods]
impl Evidence {
    /// Counts a table.
    #[staticmethod]
    #[pyo3(signature = (cells, names, truth, *, classes, weights, counts, level, unlabelled, memory, progress))]
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
        memory: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> Result<Self, Fault> {
        let level = settings::level(level)?;
        let classes = classes.map(class_list).transpose()?;
        let weights = weights.map(|weights| weights.as_array().to_vec());
        let counts = counts.map(|counts| counts.as_array().to_vec());
        let mut panel = Panel::new(cells, names)?;
        let mut truth = truth.map(|truth| Labelled::new("truth", truth)).transpose()?;
        let answers = panel.source()?;
        let truth = truth.as_mut().map(Labelled::source).transpose()?;
        let terms = Terms { memory, progress };
        let engine = run(py, &terms, move |control, signal| {
            let n_rows = answers.n_rows();
            let (weights, counts) = (weights.as_deref(), counts.as_deref());
            let counting = Counting { level, classes, counts, weights, unlabelled };
            let count = |answers: &IntegerTable<'_>, truth: &Truth| {
                spocc::Evidence::count(answers, truth, &counting, control)
            };
            // Pairs take room for every label that there could be.
            if let Some(truth) = truth.as_ref().filter(|_| level != spocc::evidence::Level::Pairs)
                && let Some(counted) = answers.in_place(truth, count)?
            {
                return Ok(counted);
            }
            let truth = match truth {
                Some(truth) => truth.truth(signal)?,
                None => Truth::from_ids(Vec::new(), vec![u16::GAP; n_rows])?,
            };
            let answers = answers.predictions(signal)?;
            Ok(spocc::Evidence::count(&answers, &truth, &counting, control)?)
        })?;
        Ok(Self { engine })
    }

    /// Counts a table with a row per answer.
    #[staticmethod]
    #[pyo3(signature = (items, classifiers, labels, known, truth, *, names, classes, level, unlabelled, memory, progress))]
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
        memory: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> Result<Self, Fault> {
        let level = settings::level(level)?;
        let classes = classes.map(class_list).transpose()?;
        let mut columns = [("items", items), ("classifiers", classifiers), ("labels", labels)]
            .map(|(what, object)| Labelled::<u32>::new(what, object))
            .into_iter()
            .collect::<Result<Vec<_>, Fault>>()?;
        let mut gold = (Labelled::<u32>::new("truth", known)?, Labelled::<u32>::new("truth", truth)?);
        let sources = columns.iter_mut().map(Labelled::source).collect::<Result<Vec<_>, Fault>>()?;
        let gold = (gold.0.source()?, gold.1.source()?);
        let terms = Terms { memory, progress };
        let engine = run(py, &terms, move |control, signal| {
            let read =
                sources.into_iter().map(|source| source.read(signal)).collect::<Result<Vec<_>, Fault>>()?;
            let [items, classifiers, labels] = &read[..] else {
                return Err(Fault::Refused("columns".into()));
            };
            let long = Long::new(items, classifiers, labels, names)?;
            let truth = long.truth(&gold.0.read(signal)?, &gold.1.read(signal)?)?;
            let answers = long.predictions()?;
            let counting = Counting { level, classes, unlabelled, ..Counting::default() };
            Ok(spocc::Evidence::count(&answers, &truth, &counting, control)?)
        })?;
        Ok(Self { engine })
    }

    /// Reads the bytes of an evidence file.
    #[staticmethod]
    pub(crate) fn from_bytes(py: Python<'_>, data: &[u8]) -> Result<Self, Fault> {
        run_here(py, |_, _| Ok(spocc::Evidence::from_bytes(data)?)).map(|engine| Self { engine })
    }

    /// The bytes of an evidence file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>, Fault> {
        let bytes = run_here(py, |_, _| Ok(self.engine.to_bytes()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The sum of both.
    #[pyo3(signature = (other, *, memory=None))]
    fn merge(&self, py: Python<'_>, other: &Self, memory: Option<u64>) -> Result<Self, Fault> {
        let terms = Terms { memory, progress: None };
        run(py, &terms, |control, _| Ok(self.engine.merge(&other.engine, control)?))
            .map(|engine| Self { engine })
    }

    /// The evidence about these classifiers only.
    #[expect(clippy::needless_pass_by_value, reason = "as pyo3 hands it over")]
    fn select(&self, py: Python<'_>, names: Vec<String>) -> Result<Self, Fault> {
        run(py, &Terms::default(), |control, _| Ok(self.engine.select(&names, control)?))
            .map(|engine| Self { engine })
    }

    /// The same rows with less detail.
    fn reduce(&self, py: Python<'_>, level: &str) -> Result<Self, Fault> {
        let level = settings::level(level)?;
        run(py, &Terms::default(), |control, _| Ok(self.engine.reduce_to(level, control)?))
            .map(|engine| Self { engine })
    }

    /// Names of the classifiers.
    #[getter]
    fn classifiers(&self) -> Vec<String> {
        self.engine.classifiers().to_vec()
    }

    /// The classes.
    #[getter]
    fn classes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        to_python(py, self.engine.labels().classes())
    }

    /// The classes and whatever else was said.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        to_python(py, self.engine.labels().all())
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

    /// Number of distinct patterns of answers, where there is a tally.
    #[getter]
    fn n_patterns(&self) -> Option<usize> {
        self.engine.n_patterns()
    }

    /// How much it holds.
    #[getter]
    fn level(&self) -> &'static str {
        settings::word(self.engine.level())
    }

    /// Counts of the k-th classifier: said x true.
    fn confusion<'py>(&self, py: Python<'py>, k: usize) -> Result<Bound<'py, PyArray2<f64>>, Fault> {
        let shape = [self.engine.labels().all().len(), self.engine.labels().classes().len()];
        let counts = self.engine.confusion_of(k).unwrap_or_default();
        Ok(counts.into_pyarray(py).reshape(shape)?)
    }

    /// Columns that look like no classifiers: what is seen, and what to do about it.
    fn column_warnings(&self) -> Vec<String> {
        let told = |warning: &spocc::evidence::ColumnWarning| {
            let kind = match warning.issue {
                spocc::evidence::ColumnIssue::Id { .. } => "names the rows",
                spocc::evidence::ColumnIssue::Truth { .. } => "is the truth itself",
                _ => "is no classifier",
            };
            format!("{warning}: if it {kind}, leave it out of the predictions")
        };
        self.engine.column_warnings().iter().map(told).collect()
    }

    /// An audit as JSON and as text.
    fn audit(&self, py: Python<'_>) -> Result<(String, String), Fault> {
        run(py, &Terms::default(), |control, _| report(&Audit::of_evidence(&self.engine, control)?))
    }
}

/// A report as JSON and as text.
pub(crate) fn report<T: serde::Serialize + std::fmt::Display>(report: &T) -> Result<(String, String), Fault> {
    let json = serde_json::to_string(report).map_err(|error| Fault::Panic(error.to_string()))?;
    Ok((json, report.to_string()))
}

/// Classes that a caller gives; none of them may be missing.
fn class_list(classes: &Bound<'_, PyAny>) -> Result<Vec<Label>, Fault> {
    let classes = labels_of(classes).map_err(|fault| fault.at("classes"))?;
    let all = classes.into_iter().collect::<Option<Vec<Label>>>();
    all.ok_or_else(|| Fault::Refused("classes: expected labels, found a missing one".into()))
}

/// A column that was read: its labels, and for every row which of them it is.
type Read = (Vec<Label>, Vec<u32>);

/// A row per answer.
struct Long<'a> {
    items: &'a Read,
    labels: &'a Read,
    said_by: &'a [u32],
    /// The items by their canonical texts, which may have been written in several ways.
    rows: HashMap<&'a str, usize>,
    names: Vec<String>,
    /// Place among the names of every classifier that occurs, if it is wanted.
    places: Vec<Option<usize>>,
}

impl<'a> Long<'a> {
    fn new(
        items: &'a Read,
        classifiers: &'a Read,
        labels: &'a Read,
        names: Option<Vec<String>>,
    ) -> Result<Self, Fault> {
        let n = items.1.len();
        for (what, column) in [("classifiers", classifiers), ("labels", labels)] {
            if column.1.len() != n {
                let found = column.1.len();
                return Err(Fault::Refused(format!("{what}: expected {n} rows, found {found}")));
            }
        }
        for (what, column) in [("items", items), ("classifiers", classifiers)] {
            if let Some(row) = column.1.iter().position(|id| *id == u32::GAP) {
                return Err(Fault::Refused(format!("{what}, row {row}: expected a name, found none")));
            }
        }
        let mut rows = HashMap::default();
        for item in &items.0 {
            let next = rows.len();
            rows.entry(item.canonical()).or_insert(next);
        }
        let occurring: Vec<String> = classifiers.0.iter().map(Label::to_string).collect();
        let names = names.unwrap_or_else(|| {
            let mut sorted = occurring.clone();
            sorted.sort();
            sorted.dedup();
            sorted
        });
        let known: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
        let places = occurring.iter().map(|name| known.get(name.as_str()).copied()).collect();
        Ok(Self { items, labels, said_by: &classifiers.1, rows, names, places })
    }

    /// The truth of every item, given for some of them.
    fn truth(&self, known: &Read, truth: &Read) -> Result<Truth, Fault> {
        let mut truths: Vec<Option<&Label>> = vec![None; self.rows.len()];
        for (item, class) in known.1.iter().zip(&truth.1) {
            let row = known.0.get(item.place()).and_then(|item| self.rows.get(item.canonical()));
            if let Some(&row) = row {
                truths[row] = truth.0.get(class.place());
            }
        }
        Ok(Truth::new(truths.into_iter().map(Option::<&Label>::cloned))?)
    }

    fn predictions(self) -> Result<Predictions, Fault> {
        let row_of: Vec<usize> = self.items.0.iter().map(|item| self.rows[item.canonical()]).collect();
        let rows = self.items.1.iter().zip(self.said_by).zip(&self.labels.1);
        let cells = rows.filter_map(|((item, classifier), label)| {
            let k = self.places[classifier.place()]?;
            (*label != u32::GAP).then_some((row_of[item.place()], k, label.place()))
        });
        Ok(Predictions::from_cells(self.names, self.rows.len(), &self.labels.0, cells)?)
    }
}

/// Numbers as an array of Python's.
pub(crate) fn array<T: numpy::Element>(py: Python<'_>, numbers: Vec<T>) -> Bound<'_, PyArray1<T>> {
    numbers.into_pyarray(py)
}
