//! Whole numbers that are counted and decided where they lie, without being copied.

use ndarray::{ArrayViewD, Axis};
use spocc::{
    Truth,
    data::{IntegerSlice, IntegerTable},
};

use crate::{
    arrays::{Held, Source},
    arrow,
    error::Fault,
};

/// Labels that are worth reading where they lie: small numbers, as most labels are.
pub(crate) const SMALL: usize = 1 << 8;
/// Entries of confusion tables that may be counted for labels which are perhaps never met.
const MOST_ENTRIES: usize = 1 << 20;
/// Rows from which labels are guessed.
const SAMPLE: usize = 1 << 10;

/// Whole numbers that need not be copied: all cells row after row, or columns.
pub(crate) enum Lent<'a> {
    Rows(IntegerSlice<'a>),
    Columns(Vec<IntegerSlice<'a>>),
}

impl Lent<'_> {
    /// Single columns beside each other, if all are there.
    pub(crate) fn beside<'a>(columns: impl Iterator<Item = Option<Lent<'a>>>) -> Option<Lent<'a>> {
        let only = |column| match column {
            Some(Lent::Columns(mut columns)) if columns.len() == 1 => columns.pop(),
            _ => None,
        };
        columns.map(only).collect::<Option<_>>().map(Lent::Columns)
    }
}

impl<I> Held<'_, I> {
    /// Numbers that can be read where they lie.
    pub(crate) fn lent(&self) -> Option<Lent<'_>> {
        match self {
            Self::I8(array) => lent(&array.as_array()),
            Self::I16(array) => lent(&array.as_array()),
            Self::I32(array) => lent(&array.as_array()),
            Self::I64(array) => lent(&array.as_array()),
            Self::U8(array) => lent(&array.as_array()),
            Self::U16(array) => lent(&array.as_array()),
            Self::U32(array) => lent(&array.as_array()),
            Self::U64(array) => lent(&array.as_array()),
            Self::Arrow(chunks) => match &chunks[..] {
                [chunk] => arrow::integers(chunk).map(|numbers| Lent::Columns(vec![numbers])),
                _ => None,
            },
            _ => None,
        }
    }
}

fn lent<'a, T>(array: &ArrayViewD<'a, T>) -> Option<Lent<'a>>
where
    IntegerSlice<'a>: From<&'a [T]>,
{
    if array.ndim() == 1 {
        return array.to_slice().map(|numbers| Lent::Columns(vec![numbers.into()]));
    }
    if let Some(numbers) = array.to_slice() {
        return Some(Lent::Rows(numbers.into()));
    }
    let column = |column: ArrayViewD<'a, T>| column.to_slice().map(IntegerSlice::from);
    let columns = (0..array.shape()[1]).map(|k| column(array.clone().index_axis_move(Axis(1), k)));
    columns.collect::<Option<_>>().map(Lent::Columns)
}

impl Source<'_, u16> {
    /// The table where it lies, if it holds only whole numbers; it has no labels yet.
    pub(crate) fn integers(&self) -> Option<IntegerTable<'_>> {
        let names = self.names.iter().cloned();
        match self.lent.as_ref()? {
            Lent::Rows(cells) => IntegerTable::of_rows(names, *cells, 0).ok(),
            Lent::Columns(columns) => IntegerTable::of_columns(names, columns.clone(), 0).ok(),
        }
    }

    /// The table where it lies and the truth, if both hold only small numbers and `work` can do with them.
    ///
    /// The labels are guessed from the first rows; a number above them makes `work` stop, and it is done again
    /// with the true labels.
    pub(crate) fn in_place<T>(
        &self,
        truth: &Source<'_, u16>,
        work: impl Fn(&IntegerTable<'_>, &Truth) -> Result<T, spocc::Error>,
    ) -> Result<Option<T>, Fault> {
        let (Some(answers), Some(Lent::Columns(truth))) = (self.integers(), &truth.lent) else {
            return Ok(None);
        };
        let truth = IntegerTable::of_columns(["truth"], truth.clone(), 0)?;
        let Some(classes) = small(truth.highest(0..truth.n_rows())) else { return Ok(None) };
        let truth = truth.with_labels(classes)?.to_truth()?;
        let Some(guess) = small(answers.highest(0..answers.n_rows().min(SAMPLE))) else { return Ok(None) };
        // Labels that take no more room cost nothing: who is not met in the end is left out.
        let labels = (guess + 1).next_power_of_two() - 1;
        // Unless the numbers are few among many that they could be.
        let is_worth = |labels: usize| {
            let all = labels.max(classes);
            self.names.len().saturating_mul(all * all) <= MOST_ENTRIES
        };
        if !is_worth(labels) {
            return Ok(None);
        }
        let answers = answers.with_labels(labels)?;
        match work(&answers, &truth) {
            Err(spocc::Error::LabelId { .. }) => {}
            done => return Ok(Some(done?)),
        }
        let labels = small(answers.highest(0..answers.n_rows())).filter(|labels| is_worth(*labels));
        let Some(labels) = labels else { return Ok(None) };
        Ok(Some(work(&answers.with_labels(labels)?, &truth)?))
    }
}

/// How many labels there are up to the highest, if they are few.
fn small(highest: Option<usize>) -> Option<usize> {
    highest.map(|highest| highest + 1).filter(|labels| *labels < SMALL)
}
