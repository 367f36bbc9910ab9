//! Models of open answers: decisions, degrees and sets as the answers themselves, `None` for "none of these".

use pyo3::{prelude::*, types::PyList};
use spocc::{
    Control, Label,
    conformal::Coverage,
    data::Answers,
    predict::{DecisionColumns, Decisions},
};

use crate::{
    error::BindingError,
    evidence::report,
    input::PredictionInput,
    labels::object,
    model::{FurtherArrays, PyModel, further_arrays, run_sized},
    row_ids::{IdInput, RowDraws, RowIds},
    runtime::Interrupt,
    sets::for_each_set,
};

/// A model of open answers.
#[pyclass(name = "OpenModel", frozen, module = "spocc._native")]
pub(crate) struct PyOpenModel {
    model: Py<PyModel>,
}

/// The candidates of every row, each with its degree.
type Degrees<'py> = Vec<Vec<(Option<Bound<'py, PyAny>>, f64)>>;

/// An explanation as JSON and as text, the answers of the classifiers that gave one, and the candidates.
type OpenExplanation<'py> = (String, String, Bound<'py, PyList>, Bound<'py, PyList>);

#[pymethods]
impl PyOpenModel {
    /// The model, which must be one of open answers.
    #[new]
    fn new(model: Py<PyModel>) -> Result<Self, BindingError> {
        if !model.get().engine.is_open() {
            return Err(BindingError::Value(
                "model: expected one of open answers, found one of classes".into(),
            ));
        }
        Ok(Self { model })
    }

    /// The answer of every row.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        cells: &Bound<'py, PyAny>,
        strict: bool,
    ) -> Result<Bound<'py, PyList>, BindingError> {
        let (table, decided) = self.decided(py, cells, strict, DecisionColumns::default())?;
        decided_answers(py, &table, &decided)
    }

    /// The decision on every row.
    fn decide<'py>(
        &self,
        py: Python<'py>,
        cells: &Bound<'py, PyAny>,
        strict: bool,
    ) -> Result<(Bound<'py, PyList>, FurtherArrays<'py>), BindingError> {
        let columns = DecisionColumns { margin: true, n_answered: true, ..DecisionColumns::default() };
        let (table, decided) = self.decided(py, cells, strict, columns)?;
        Ok((decided_answers(py, &table, &decided)?, further_arrays(py, decided)))
    }

    /// The possibility of every answer of a row and of none of these.
    fn possibility<'py>(
        &self,
        py: Python<'py>,
        cells: &Bound<'py, PyAny>,
        strict: bool,
    ) -> Result<Degrees<'py>, BindingError> {
        let columns = DecisionColumns { possibility: true, ..DecisionColumns::default() };
        let (table, decided) = self.decided(py, cells, strict, columns)?;
        degrees(py, &table, |row| decided.of_row(&decided.possibility, row))
    }

    /// The probability of every answer of a row and of none of these.
    fn probability<'py>(
        &self,
        py: Python<'py>,
        cells: &Bound<'py, PyAny>,
        strict: bool,
    ) -> Result<Degrees<'py>, BindingError> {
        self.model.get().check_probabilities()?;
        let columns = DecisionColumns { probability: true, ..DecisionColumns::default() };
        let (table, decided) = self.decided(py, cells, strict, columns)?;
        degrees(py, &table, |row| decided.of_row(&decided.probability, row))
    }

    /// The answers in the set of each row.
    fn predict_set<'py>(
        &self,
        py: Python<'py>,
        cells: &Bound<'py, PyAny>,
        strict: bool,
        coverage: f64,
        seed: u64,
        ids: &Bound<'py, PyList>,
    ) -> Result<Bound<'py, PyList>, BindingError> {
        let coverage = Coverage::try_from(coverage)?;
        let model = self.model.get();
        model.engine.check_coverage(coverage)?;
        let mut ids = IdInput::new(ids)?;
        let ids = ids.tables()?;
        let (table, sets) = self.with_answers(py, cells, |table, _, interrupt| {
            let predictions = table.predictions();
            let draws = RowDraws::new(seed, RowIds::read(ids, table.n_rows(), interrupt)?);
            // Each classifier gives at most one candidate.
            let shape = (table.n_rows(), predictions.n_classifiers() + 1);
            let mut sets: Vec<Vec<u16>> = Vec::with_capacity(table.n_rows());
            let aligned = model.aligned(predictions, strict)?;
            for_each_set(&aligned, shape, coverage, &draws, interrupt, |_, set| sets.push(set.to_vec()))?;
            Ok(sets)
        })?;
        let lists = sets.into_iter().enumerate().map(|(row, set)| {
            PyList::new(py, set.iter().map(|&at| answer(py, &table, row, at)).collect::<PyResult<Vec<_>>>()?)
        });
        Ok(PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?)?)
    }

    /// The explanation of one decision as JSON and as text, the answers that were given, and the candidates.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        cells: &Bound<'py, PyAny>,
        row: usize,
    ) -> Result<OpenExplanation<'py>, BindingError> {
        let model = &self.model.get().engine;
        let (table, (json, text)) =
            self.with_answers(py, cells, |table, _, _| report(&table.explain(model, row, false)?))?;
        let predictions = table.predictions();
        let number = |label: &Label| label.canonical().parse().unwrap_or(0);
        let given = (0..predictions.n_classifiers()).filter_map(|k| predictions.get(row, k));
        let given =
            given.map(|label| answer(py, &table, row, number(label))).collect::<PyResult<Vec<_>>>()?;
        let candidates = (0..=table.n_candidates(row) as u16).map(|at| answer(py, &table, row, at));
        let candidates = candidates.collect::<PyResult<Vec<_>>>()?;
        Ok((json, text, PyList::new(py, given)?, PyList::new(py, candidates)?))
    }
}

impl PyOpenModel {
    /// Runs `job` on a table of answers, compared as the model compares them; returns both.
    fn with_answers<T: Send>(
        &self,
        py: Python<'_>,
        cells: &Bound<'_, PyAny>,
        job: impl FnOnce(&Answers, &Control<'_>, &Interrupt) -> Result<T, BindingError> + Send,
    ) -> Result<(Answers, T), BindingError> {
        let model = &self.model.get().engine;
        let normalise = model.normalise().unwrap_or_default();
        let mut input = PredictionInput::<u32>::of_model(cells, model)?;
        let source = input.table()?;
        run_sized(py, source.n_cells(), |control, interrupt| {
            let table = source.answers(None, normalise, interrupt)?;
            let done = job(&table, control, interrupt)?;
            Ok((table, done))
        })
    }

    /// Decides every row, with the columns asked for.
    fn decided(
        &self,
        py: Python<'_>,
        cells: &Bound<'_, PyAny>,
        strict: bool,
        columns: DecisionColumns,
    ) -> Result<(Answers, Decisions), BindingError> {
        let model = self.model.get();
        self.with_answers(py, cells, |table, control, _| {
            Ok(model.aligned(table.predictions(), strict)?.decide_all(columns, control)?)
        })
    }
}

/// An answer of a row; none for candidate 0.
fn answer<'py>(
    py: Python<'py>,
    table: &Answers,
    row: usize,
    candidate: u16,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    table.answer(row, candidate).map(|label| object(py, label)).transpose()
}

/// The decided answer of every row.
fn decided_answers<'py>(
    py: Python<'py>,
    table: &Answers,
    decided: &Decisions,
) -> Result<Bound<'py, PyList>, BindingError> {
    let answers = decided.class.iter().enumerate().map(|(row, class)| answer(py, table, row, *class));
    Ok(PyList::new(py, answers.collect::<PyResult<Vec<_>>>()?)?)
}

/// The candidates of every row with their degrees, none of these last.
fn degrees<'py, 'a>(
    py: Python<'py>,
    table: &Answers,
    of_row: impl Fn(usize) -> Option<&'a [f64]>,
) -> Result<Degrees<'py>, BindingError> {
    let row = |row: usize| {
        let degrees = of_row(row).unwrap_or_default().iter().take(table.n_candidates(row) + 1);
        let pair = |(at, degree): (u16, &f64)| Ok((answer(py, table, row, at)?, *degree));
        let mut pairs = (0..).zip(degrees).map(pair).collect::<PyResult<Vec<_>>>()?;
        let last = pairs.len().min(1);
        pairs.rotate_left(last);
        Ok(pairs)
    };
    Ok((0..table.n_rows()).map(row).collect::<PyResult<Vec<_>>>()?)
}
