//! Arrays of Python objects: every different object is looked at once.

use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use rustc_hash::FxHashMap as HashMap;

use crate::{
    error::Fault,
    labels::{Id, Interner},
};

/// Objects remembered; the same few labels are mostly the same few objects.
const REMEMBERED: usize = 1 << 16;
/// Cells between two looks for Ctrl-C.
const PULSE: usize = 1 << 16;

/// The ids of all cells, row after row.
pub(crate) fn ids<I: Id>(
    cells: &Bound<'_, PyArrayDyn<Py<PyAny>>>,
    labels: &mut Interner<I>,
) -> Result<Vec<I>, Fault> {
    let py = cells.py();
    let cells = cells
        .try_readonly()
        .map_err(|_| Fault::Refused("expected an array that nobody writes to, found one".into()))?;
    let cells = cells.as_array();
    // What is remembered is kept alive, so that no other object takes its place.
    let mut known: HashMap<usize, (Py<PyAny>, I)> = HashMap::default();
    let mut ids = Vec::with_capacity(cells.len());
    let width = cells.shape().get(1).copied().unwrap_or(1).max(1);
    for (at, cell) in cells.iter().enumerate() {
        if at % PULSE == PULSE - 1 {
            py.check_signals()?;
        }
        let place = cell.as_ptr() as usize;
        if let Some((_, id)) = known.get(&place) {
            ids.push(*id);
            continue;
        }
        let row = at / width;
        // Held while it is looked at: what it does to be shown may write to the array.
        let cell = cell.clone_ref(py);
        let id = labels.object(cell.bind(py)).map_err(|fault| fault.at(format_args!("row {row}")))?;
        if known.len() < REMEMBERED {
            known.insert(place, (cell, id));
        }
        ids.push(id);
    }
    Ok(ids)
}
