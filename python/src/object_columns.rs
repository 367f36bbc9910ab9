//! Arrays of Python objects: each distinct object is converted once.

use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use rustc_hash::FxHashMap as HashMap;

use crate::{
    error::BindingError,
    labels::{LabelId, ValueInterner},
};

/// Number of objects that are cached by address: equal labels are mostly the same few objects.
const MAX_CACHED: usize = 1 << 16;
/// Cells between two checks for Ctrl-C.
const SIGNAL_INTERVAL: usize = 1 << 16;

/// The label ids of all cells, row after row.
pub(crate) fn ids<I: LabelId>(
    cells: &Bound<'_, PyArrayDyn<Py<PyAny>>>,
    labels: &mut ValueInterner<I>,
) -> Result<Vec<I>, BindingError> {
    let py = cells.py();
    let cells = cells.try_readonly().map_err(|_| {
        BindingError::Value("expected an array that is not being written to, found one".into())
    })?;
    let cells = cells.as_array();
    // The cache holds a reference to each object, so that its address is not reused.
    let mut cached: HashMap<usize, (Py<PyAny>, I)> = HashMap::default();
    let mut ids = Vec::with_capacity(cells.len());
    let width = cells.shape().get(1).copied().unwrap_or(1).max(1);
    for (at, cell) in cells.iter().enumerate() {
        if at % SIGNAL_INTERVAL == SIGNAL_INTERVAL - 1 {
            py.check_signals()?;
        }
        let address = cell.as_ptr() as usize;
        if let Some((_, id)) = cached.get(&address) {
            ids.push(*id);
            continue;
        }
        let row = at / width;
        // The reference is held during the conversion: `__repr__` of the object may write to the array.
        let cell = cell.clone_ref(py);
        let id = labels.object(cell.bind(py)).map_err(|error| error.at(format_args!("row {row}")))?;
        if cached.len() < MAX_CACHED {
            cached.insert(address, (cell, id));
        }
        ids.push(id);
    }
    Ok(ids)
}
