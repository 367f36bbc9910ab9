//! Integer tables that the engine counts and decides as they are, without a table of label ids.

use ndarray::{ArrayViewD, Axis};
use spocc::{
    Truth,
    data::{IntegerSlice, IntegerTable},
};

use crate::{arrow, error::BindingError, input::InputTable, input_buffer::InputBuffer};

/// Integers below this bound are read in place; most integer labels are small.
pub(crate) const MAX_LABELS: usize = 1 << 8;
/// Bound on the entries of all confusion tables, some of which may belong to labels that never occur.
const MAX_ENTRIES: usize = 1 << 20;
/// Number of rows from which the highest label is estimated.
const SAMPLE_ROWS: usize = 1 << 10;

/// Integers of the input: all cells row after row, or one slice per column.
pub(crate) enum BorrowedIntegers<'a> {
    Rows(IntegerSlice<'a>),
    Columns(Vec<IntegerSlice<'a>>),
}

impl BorrowedIntegers<'_> {
    /// One table of single columns, if all of them can be borrowed.
    pub(crate) fn beside<'a>(
        columns: impl Iterator<Item = Option<BorrowedIntegers<'a>>>,
    ) -> Option<BorrowedIntegers<'a>> {
        let only = |column| match column {
            Some(BorrowedIntegers::Columns(mut columns)) if columns.len() == 1 => columns.pop(),
            _ => None,
        };
        columns.map(only).collect::<Option<_>>().map(BorrowedIntegers::Columns)
    }
}

impl<I> InputBuffer<'_, I> {
    /// The integers of the buffer, if they can be borrowed.
    pub(crate) fn borrow_integers(&self) -> Option<BorrowedIntegers<'_>> {
        match self {
            Self::I8(array) => borrow(&array.as_array()),
            Self::I16(array) => borrow(&array.as_array()),
            Self::I32(array) => borrow(&array.as_array()),
            Self::I64(array) => borrow(&array.as_array()),
            Self::U8(array) => borrow(&array.as_array()),
            Self::U16(array) => borrow(&array.as_array()),
            Self::U32(array) => borrow(&array.as_array()),
            Self::U64(array) => borrow(&array.as_array()),
            Self::Arrow(chunks) => match &chunks[..] {
                [chunk] => arrow::integers(chunk).map(|numbers| BorrowedIntegers::Columns(vec![numbers])),
                _ => None,
            },
            _ => None,
        }
    }
}

fn borrow<'a, T>(array: &ArrayViewD<'a, T>) -> Option<BorrowedIntegers<'a>>
where
    IntegerSlice<'a>: From<&'a [T]>,
{
    if array.ndim() == 1 {
        return array.to_slice().map(|numbers| BorrowedIntegers::Columns(vec![numbers.into()]));
    }
    if let Some(numbers) = array.to_slice() {
        return Some(BorrowedIntegers::Rows(numbers.into()));
    }
    let column = |column: ArrayViewD<'a, T>| column.to_slice().map(IntegerSlice::from);
    let columns = (0..array.shape()[1]).map(|k| column(array.clone().index_axis_move(Axis(1), k)));
    columns.collect::<Option<_>>().map(BorrowedIntegers::Columns)
}

impl InputTable<'_, u16> {
    /// The table as borrowed integers, if it holds nothing else; its number of labels is not set yet.
    pub(crate) fn integers(&self) -> Option<IntegerTable<'_>> {
        let names = self.names.iter().cloned();
        match self.borrowed.as_ref()? {
            BorrowedIntegers::Rows(cells) => IntegerTable::of_rows(names, *cells, 0).ok(),
            BorrowedIntegers::Columns(columns) => IntegerTable::of_columns(names, columns.clone(), 0).ok(),
        }
    }

    /// Calls `job` with the table and the truth as borrowed integers, if both hold only small integers.
    ///
    /// The highest label is estimated from the first rows. A higher integer makes `job` fail with `LabelId`; it is
    /// then called again with the true maximum.
    pub(crate) fn in_place<T>(
        &self,
        truth: &InputTable<'_, u16>,
        job: impl Fn(&IntegerTable<'_>, &Truth) -> Result<T, spocc::Error>,
    ) -> Result<Option<T>, BindingError> {
        let (Some(predictions), Some(BorrowedIntegers::Columns(truth))) = (self.integers(), &truth.borrowed)
        else {
            return Ok(None);
        };
        let truth = IntegerTable::of_columns(["truth"], truth.clone(), 0)?;
        let Some(classes) = small(truth.highest(0..truth.n_rows())) else { return Ok(None) };
        let truth = truth.with_labels(classes)?.to_truth()?;
        let Some(estimate) = small(predictions.highest(0..predictions.n_rows().min(SAMPLE_ROWS))) else {
            return Ok(None);
        };
        // Rounding up to a power of two costs no memory, and labels that never occur are dropped by the engine.
        let labels = (estimate + 1).next_power_of_two() - 1;
        // A few high integers would need large, mostly empty tables.
        let is_compact = |labels: usize| {
            let all = labels.max(classes);
            self.names.len().saturating_mul(all * all) <= MAX_ENTRIES
        };
        if !is_compact(labels) {
            return Ok(None);
        }
        let predictions = predictions.with_labels(labels)?;
        match job(&predictions, &truth) {
            Err(spocc::Error::LabelId { .. }) => {}
            done => return Ok(Some(done?)),
        }
        let labels = small(predictions.highest(0..predictions.n_rows())).filter(|labels| is_compact(*labels));
        let Some(labels) = labels else { return Ok(None) };
        Ok(Some(job(&predictions.with_labels(labels)?, &truth)?))
    }
}

/// The number of labels up to the highest integer, if it is below [`MAX_LABELS`].
fn small(highest: Option<usize>) -> Option<usize> {
    highest.map(|highest| highest + 1).filter(|labels| *labels < MAX_LABELS)
}
