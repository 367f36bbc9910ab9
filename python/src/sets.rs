//! Conformal prediction sets of the rows of a table, in parts that fit into memory.

use pyo3::prelude::*;
use spocc::{
    conformal::{Coverage, RowDraw},
    predict::AlignedTable,
};

use crate::{
    error::BindingError,
    input::{InputTable, LabelInput},
    labels::LabelId,
    runtime::Interrupt,
};

/// Scores held at a time.
const SCORES: usize = 1 << 19;

/// The column with the ids of the rows, if there is one.
pub(crate) fn id_column<'py>(
    ids: Option<&Bound<'py, PyAny>>,
) -> Result<Option<LabelInput<'py, u32>>, BindingError> {
    ids.map(|ids| LabelInput::new("ids", ids)).transpose()
}

/// The draws that break ties between conformal scores: by the ids of the rows, or by their numbers.
pub(crate) struct RowDraws {
    seed: u64,
    named: Option<(Vec<String>, Vec<u32>)>,
}

impl RowDraws {
    /// Reads the ids of the rows, if they are given.
    pub(crate) fn read(
        seed: u64,
        ids: Option<InputTable<'_, u32>>,
        n_rows: usize,
        interrupt: &Interrupt,
    ) -> Result<Self, BindingError> {
        let named = ids.map(|ids| ids.read(interrupt)).transpose()?;
        if let Some(found) = named.as_ref().map(|named| named.1.len()).filter(|found| *found != n_rows) {
            return Err(spocc::Error::RowCount { what: "ids", expected: n_rows, found }.into());
        }
        let named = named.map(|(labels, ids)| (labels.iter().map(ToString::to_string).collect(), ids));
        Ok(Self { seed, named })
    }

    fn of(&self, row: usize) -> RowDraw {
        match &self.named {
            Some((names, ids)) => {
                RowDraw::of_name(self.seed, [names.get(ids[row].place()).map_or("", String::as_str)])
            }
            None => RowDraw::of_number(self.seed, row as u64),
        }
    }
}

/// Calls `each` with the number of every row and the classes in its set.
pub(crate) fn for_each_set(
    aligned: &AlignedTable<'_>,
    (n_rows, n_classes): (usize, usize),
    coverage: Coverage,
    draws: &RowDraws,
    interrupt: &Interrupt,
    mut each: impl FnMut(usize, &[u16]),
) -> Result<(), BindingError> {
    let step = (SCORES / n_classes.max(1)).max(1);
    for first in (0..n_rows).step_by(step) {
        interrupt.check()?;
        let rows = first..(first + step).min(n_rows);
        let sets = aligned.sets(rows.clone(), coverage, |row| draws.of(row))?;
        rows.zip(sets.iter()).for_each(|(row, set)| each(row, set));
    }
    Ok(())
}
