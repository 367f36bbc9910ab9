//! The ids of rows, in one column or several: rows that repeat an id, and draws that depend on the id alone.

use pyo3::{prelude::*, types::PyList};
use spocc::{
    Label,
    conformal::RowDraw,
    evidence::{RepeatedIds, RepeatedRows},
};

use crate::{
    error::BindingError,
    input::{InputTable, LabelInput},
    labels::LabelId,
    runtime::{Interrupt, RunSettings, run},
};

/// Rows between two checks for Ctrl-C.
const SIGNAL_INTERVAL: usize = 1 << 14;

/// The columns that identify the rows; none if rows have no ids.
pub(crate) struct IdInput<'py>(Vec<LabelInput<'py, u32>>);

impl<'py> IdInput<'py> {
    /// Borrows the columns.
    pub(crate) fn new(columns: &Bound<'py, PyList>) -> Result<Self, BindingError> {
        columns.iter().map(|ids| LabelInput::of_answers("ids", &ids)).collect::<Result<_, _>>().map(Self)
    }

    /// The columns in a form that can be read without the interpreter.
    pub(crate) fn tables(&mut self) -> Result<Vec<InputTable<'_, u32>>, BindingError> {
        self.0.iter_mut().map(LabelInput::table).collect()
    }
}

/// The ids of rows.
pub(crate) struct RowIds(Vec<(Vec<Label>, Vec<u32>)>);

impl RowIds {
    /// Reads the columns, which must have as many rows as the table.
    pub(crate) fn read(
        columns: Vec<InputTable<'_, u32>>,
        n_rows: usize,
        interrupt: &Interrupt,
    ) -> Result<Self, BindingError> {
        let read = |column: InputTable<'_, u32>| {
            let found = column.n_rows();
            if found != n_rows {
                return Err(spocc::Error::RowCount { what: "ids", expected: n_rows, found }.into());
            }
            column.read(interrupt)
        };
        columns.into_iter().map(read).collect::<Result<_, BindingError>>().map(Self)
    }

    /// The parts of the id of a row, none where missing.
    fn parts(&self, row: usize) -> impl Iterator<Item = Option<&Label>> {
        self.0.iter().map(move |(labels, ids)| labels.get(ids[row].place()))
    }

    /// Appends the id of a row, each part after its length so that several are unambiguous; returns false if all of them
    /// are missing.
    fn push(&self, id: &mut Vec<u8>, row: usize) -> bool {
        for part in self.parts(row) {
            let text = part.map_or("", Label::canonical);
            id.extend((text.len() as u64).to_le_bytes());
            id.extend(text.as_bytes());
        }
        self.parts(row).any(|part| part.is_some())
    }
}

/// The draws that break ties between conformal scores: by the ids of the rows, or by their numbers.
pub(crate) struct RowDraws {
    seed: u64,
    columns: Vec<(Vec<String>, Vec<u32>)>,
}

impl RowDraws {
    pub(crate) fn new(seed: u64, ids: RowIds) -> Self {
        let texts = |labels: Vec<Label>| labels.iter().map(ToString::to_string).collect();
        Self { seed, columns: ids.0.into_iter().map(|(labels, ids)| (texts(labels), ids)).collect() }
    }

    pub(crate) fn of(&self, row: usize) -> RowDraw {
        if self.columns.is_empty() {
            return RowDraw::of_number(self.seed, row as u64);
        }
        let parts = self.columns.iter();
        let parts = parts.map(|(texts, ids)| texts.get(ids[row].place()).map_or("", String::as_str));
        RowDraw::of_name(self.seed, parts)
    }
}

/// A warning about rows that repeat the id of another row; with a truth, about the labelled ones only.
#[pyfunction]
#[pyo3(signature = (ids, truth))]
pub(crate) fn repeated_ids(
    py: Python<'_>,
    ids: &Bound<'_, PyList>,
    truth: Option<&Bound<'_, PyAny>>,
) -> Result<Option<String>, BindingError> {
    let mut input = IdInput::new(ids)?;
    let mut truth = truth.map(|truth| LabelInput::<u32>::of_answers("truth", truth)).transpose()?;
    let columns = input.tables()?;
    let truth = truth.as_mut().map(LabelInput::table).transpose()?;
    run(py, &RunSettings::default(), move |_, interrupt| {
        let n_rows = truth.as_ref().or(columns.first()).map_or(0, InputTable::n_rows);
        let ids = RowIds::read(columns, n_rows, interrupt)?;
        let truth = truth.map(|truth| truth.read(interrupt)).transpose()?;
        let is_counted = |row: usize| truth.as_ref().is_none_or(|(_, labels)| labels[row] != u32::MISSING);
        let (mut seen, mut id, mut n_repeated) = (RepeatedIds::default(), Vec::new(), 0);
        for row in 0..n_rows {
            if row % SIGNAL_INTERVAL == 0 {
                interrupt.check()?;
            }
            id.clear();
            n_repeated += u64::from(is_counted(row) && ids.push(&mut id, row) && seen.is_repeated(&id));
        }
        Ok((n_repeated > 0).then(|| RepeatedRows(n_repeated).to_string()))
    })
}
