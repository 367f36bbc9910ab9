//! Tables of integers that the caller holds, read in place, a block of rows at a time.
//!
//! In: slices of integers. Out: blocks of label ids for counting and predicting; the table is never copied as a whole.

use std::ops::Range;

use crate::{
    data::{Label, Normalise, Predictions, Truth, interner::distinct},
    error::Error,
};

/// A slice of integers of any type.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "each is named after its type")]
pub enum IntegerSlice<'a> {
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
}

/// A table of predictions without missing cells, of which the labels are the integers from 0. It is not copied.
///
/// ```
/// use spocc::{Evidence, Fit, Truth, Control, data::IntegerTable, evidence::Counting, methods::NaiveBayes};
/// let cells = [0, 0, 1, 1, 0, 1]; // row after row
/// let table = IntegerTable::of_rows(["ann", "bob"], cells.as_slice(), 2)?;
/// let truth = Truth::new([0, 1, 0].map(Some))?;
/// let evidence = Evidence::count(&table, &truth, &Counting::default(), &Control::default())?;
/// let decided = NaiveBayes::default().fit(&evidence)?.predict(&table)?;
/// assert_eq!(decided.labels().map(ToString::to_string).collect::<Vec<_>>(), ["0", "1", "0"]);
/// # Ok::<(), spocc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct IntegerTable<'a> {
    classifiers: Vec<String>,
    labels: Vec<Label>,
    /// All cells row after row, or a slice per classifier.
    cells: IntegerCells<'a>,
    n_rows: usize,
}

#[derive(Clone, Debug)]
enum IntegerCells<'a> {
    Rows(IntegerSlice<'a>),
    Columns(Vec<IntegerSlice<'a>>),
}

/// A table of predictions: owned by the engine, or borrowed from the caller.
#[derive(Clone, Copy, Debug)]
pub enum PredictionTable<'a> {
    /// Any labels; cells may be missing.
    Predictions(&'a Predictions),
    /// Small integers; no cell is missing.
    IntegerTable(&'a IntegerTable<'a>),
}

impl<'a> From<&'a Predictions> for PredictionTable<'a> {
    fn from(predictions: &'a Predictions) -> Self {
        Self::Predictions(predictions)
    }
}

impl<'a> From<&'a IntegerTable<'a>> for PredictionTable<'a> {
    fn from(integers: &'a IntegerTable<'a>) -> Self {
        Self::IntegerTable(integers)
    }
}

impl<'a> PredictionTable<'a> {
    pub(crate) fn n_rows(self) -> usize {
        match self {
            Self::Predictions(predictions) => predictions.n_rows(),
            Self::IntegerTable(integers) => integers.n_rows,
        }
    }

    /// How answers were compared if the labels are the candidate numbers of open answers.
    pub(crate) fn candidates(self) -> Option<Normalise> {
        match self {
            Self::Predictions(predictions) => predictions.candidates(),
            Self::IntegerTable(_) => None,
        }
    }

    pub(crate) fn classifiers(self) -> &'a [String] {
        match self {
            Self::Predictions(predictions) => predictions.classifiers(),
            Self::IntegerTable(integers) => &integers.classifiers,
        }
    }

    pub(crate) fn labels(self) -> &'a [Label] {
        match self {
            Self::Predictions(predictions) => predictions.labels(),
            Self::IntegerTable(integers) => &integers.labels,
        }
    }

    pub(crate) fn is_dense(self) -> bool {
        match self {
            Self::Predictions(predictions) => predictions.matrix().is_dense(),
            Self::IntegerTable(_) => true,
        }
    }
}

impl<'a> IntegerTable<'a> {
    /// The largest number of labels.
    pub const MAX_LABELS: usize = 1 << 15;
    /// Rows read at a time: few enough to stay in cache until they are used.
    pub(crate) const BLOCK: usize = 256;

    /// Takes all cells, row after row; the labels are the integers below `n_labels`.
    ///
    /// # Errors
    ///
    /// [`Error::NoClassifiers`], [`Error::DuplicateName`], [`Error::RowWidth`] if the last row is not whole,
    /// [`Error::TooManyLabels`].
    pub fn of_rows<S: Into<String>>(
        classifiers: impl IntoIterator<Item = S>,
        cells: impl Into<IntegerSlice<'a>>,
        n_labels: usize,
    ) -> Result<Self, Error> {
        let (classifiers, cells) = (distinct(classifiers)?, cells.into());
        let (n_rows, rest) = (cells.len() / classifiers.len(), cells.len() % classifiers.len());
        if rest > 0 {
            return Err(Error::RowWidth { row: n_rows + 1, expected: classifiers.len(), found: rest });
        }
        Ok(Self { classifiers, labels: labels(n_labels)?, cells: IntegerCells::Rows(cells), n_rows })
    }

    /// Takes one column per classifier; the labels are the integers below `n_labels`.
    ///
    /// # Errors
    ///
    /// As [`of_rows`](Self::of_rows); [`Error::RowCount`] if the columns are not equally long,
    /// [`Error::RowWidth`] if there are not as many as names.
    pub fn of_columns<S: Into<String>>(
        classifiers: impl IntoIterator<Item = S>,
        columns: Vec<IntegerSlice<'a>>,
        n_labels: usize,
    ) -> Result<Self, Error> {
        let classifiers = distinct(classifiers)?;
        if classifiers.len() != columns.len() {
            return Err(Error::RowWidth { row: 1, expected: classifiers.len(), found: columns.len() });
        }
        let n_rows = columns[0].len();
        if let Some(column) = columns.iter().find(|column| column.len() != n_rows) {
            return Err(Error::RowCount { what: "predictions", expected: n_rows, found: column.len() });
        }
        Ok(Self { classifiers, labels: labels(n_labels)?, cells: IntegerCells::Columns(columns), n_rows })
    }

    /// The same table with the labels below `n_labels`.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyLabels`].
    pub fn with_labels(self, n_labels: usize) -> Result<Self, Error> {
        Ok(Self { labels: labels(n_labels)?, ..self })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The largest integer in a range of rows; none if there is none, or if one is negative or too large for a label.
    pub fn highest(&self, rows: Range<usize>) -> Option<usize> {
        let mut highest = None;
        let mut block = vec![0; Self::BLOCK * self.width()];
        for start in rows.clone().step_by(Self::BLOCK) {
            let rows = start..rows.end.min(start + Self::BLOCK);
            let here = self.narrow(rows.clone(), &mut block[..rows.len() * self.width()])?;
            highest = highest.max(Some(usize::from(here)));
        }
        highest
    }

    /// The same table, copied.
    ///
    /// # Errors
    ///
    /// [`Error::LabelId`] for an integer that is not among the labels.
    pub fn to_predictions(&self) -> Result<Predictions, Error> {
        let mut cells = vec![0; self.n_rows * self.width()];
        self.read(0..self.n_rows, &mut cells).ok_or_else(|| self.unknown_label())?;
        Predictions::from_ids(self.classifiers.iter().cloned(), self.labels.clone(), cells)
    }

    /// The only column as the truth of each row.
    ///
    /// # Errors
    ///
    /// As [`to_predictions`](Self::to_predictions); [`Error::RowWidth`] if there are several.
    pub fn to_truth(&self) -> Result<Truth, Error> {
        if self.width() != 1 {
            return Err(Error::RowWidth { row: 1, expected: 1, found: self.width() });
        }
        let mut classes = vec![0; self.n_rows];
        self.read(0..self.n_rows, &mut classes).ok_or_else(|| self.unknown_label())?;
        Truth::from_ids(self.labels.clone(), classes)
    }

    pub(crate) fn width(&self) -> usize {
        self.classifiers.len()
    }

    /// Calls `show(rows, ids)` for consecutive blocks of a range of rows; stops and returns none if an integer is not
    /// among the labels.
    pub(crate) fn for_each_block(
        &self,
        rows: Range<usize>,
        mut show: impl FnMut(Range<usize>, &[u16]),
    ) -> Option<()> {
        let mut block = vec![0; Self::BLOCK * self.width()];
        for start in rows.clone().step_by(Self::BLOCK) {
            let rows = start..rows.end.min(start + Self::BLOCK);
            let cells = &mut block[..rows.len() * self.width()];
            self.read(rows.clone(), cells)?;
            show(rows, cells);
        }
        Some(())
    }

    /// The error for the first integer that is not among the labels.
    pub(crate) fn unknown_label(&self) -> Error {
        let found = |row: usize| {
            let mut cells = vec![0; self.width()];
            let highest = self.narrow(row..row + 1, &mut cells).map_or(usize::MAX, usize::from);
            (highest >= self.labels.len()).then_some((row + 1, highest))
        };
        // If another thread writes to the table, the integer may have changed since it was read.
        let (row, found) = (0..self.n_rows).find_map(found).unwrap_or((1, self.labels.len()));
        Error::LabelId { row, expected: self.labels.len(), found }
    }

    /// Writes the ids of rows to `out`; none if one of them is not among the labels.
    fn read(&self, rows: Range<usize>, out: &mut [u16]) -> Option<()> {
        (usize::from(self.narrow(rows, out)?) < self.labels.len() || out.is_empty()).then_some(())
    }

    /// Writes integers to `out` and returns the largest; none if one is negative or too large.
    fn narrow(&self, rows: Range<usize>, out: &mut [u16]) -> Option<u16> {
        let width = self.width();
        match &self.cells {
            IntegerCells::Rows(cells) => cells.narrow(rows.start * width..rows.end * width, out, 1),
            IntegerCells::Columns(columns) => {
                let mut highest = 0;
                for (k, column) in columns.iter().enumerate().filter(|_| !rows.is_empty()) {
                    highest = highest.max(column.narrow(rows.clone(), &mut out[k..], width)?);
                }
                Some(highest)
            }
        }
    }
}

fn labels(n_labels: usize) -> Result<Vec<Label>, Error> {
    if n_labels > IntegerTable::MAX_LABELS {
        return Err(Error::TooManyLabels { limit: IntegerTable::MAX_LABELS });
    }
    Ok((0..n_labels as i64).map(Label::from).collect())
}

macro_rules! integer_types {
    ($($form:ident: $kind:ty),*) => {
        $(impl<'a> From<&'a [$kind]> for IntegerSlice<'a> {
            fn from(integers: &'a [$kind]) -> Self {
                Self::$form(integers)
            }
        })*

        impl IntegerSlice<'_> {
            fn len(&self) -> usize {
                match self {
                    $(Self::$form(integers) => integers.len(),)*
                }
            }

            /// Writes a range of integers to every `step`-th place and returns the largest; none if one does not fit.
            #[expect(clippy::cast_lossless, reason = "the same code for all types")]
            fn narrow(&self, range: Range<usize>, out: &mut [u16], step: usize) -> Option<u16> {
                match self {
                    $(Self::$form(integers) => {
                        let integers = &integers[range];
                        // Bits of all integers together show whether one is too large; the largest of 16-bit integers is
                        // found with vector instructions.
                        let mut all = 0;
                        let mut highest = 0i16;
                        let mut take = |place: &mut u16, integer: $kind| {
                            all |= integer;
                            highest = highest.max(integer as i16);
                            *place = integer as u16;
                        };
                        if step == 1 {
                            out.iter_mut().zip(integers).for_each(|(place, integer)| take(place, *integer));
                        } else {
                            out.iter_mut().step_by(step).zip(integers).for_each(|(place, integer)| take(place, *integer));
                        }
                        (usize::try_from(all).ok()? < IntegerTable::MAX_LABELS).then_some(highest as u16)
                    })*
                }
            }
        }
    };
}

integer_types!(I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_of_every_type_are_one_table() {
        let cells: Vec<u8> = (0..600).map(|at| (at * 7 % 11) as u8).collect();
        let by_rows = IntegerTable::of_rows(["a", "b"], cells.as_slice(), 11).expect("whole rows");
        let held = by_rows.to_predictions().expect("labels");
        let column =
            |k: usize| -> Vec<i64> { cells.iter().skip(k).step_by(2).map(|cell| (*cell).into()).collect() };
        let (a, b) = (column(0), column(1));
        let b: Vec<u32> = b.iter().map(|cell| *cell as u32).collect();
        let columns = vec![IntegerSlice::from(a.as_slice()), IntegerSlice::from(b.as_slice())];
        let by_columns = IntegerTable::of_columns(["a", "b"], columns, 11).expect("equal columns");
        let other = by_columns.to_predictions().expect("labels");
        assert!((0..300).all(|row| (0..2).all(|k| held.get(row, k) == other.get(row, k))));
        assert_eq!(held.get(299, 1).map(ToString::to_string), Some((599 * 7 % 11).to_string()));
        assert_eq!((by_rows.highest(0..300), by_columns.highest(0..2)), (Some(10), Some(10)));
        assert_eq!(by_rows.highest(0..0), None);
    }

    #[test]
    fn an_integer_that_is_not_a_label_is_refused_with_its_row() {
        for (unknown, found) in [(3, 3), (1 << 40, usize::MAX), (-1, usize::MAX), (i64::MAX, usize::MAX)] {
            let mut cells = vec![1; 2000];
            cells[1501] = unknown;
            let table = IntegerTable::of_rows(["a", "b"], cells.as_slice(), 3).expect("whole rows");
            let expected = Error::LabelId { row: 751, expected: 3, found };
            assert_eq!(table.to_predictions().map(|_| ()), Err(expected));
            assert!(table.for_each_block(0..1000, |_, _| ()).is_none());
            assert!(table.for_each_block(0..750, |_, _| ()).is_some());
        }
    }

    #[test]
    fn half_rows_and_unequal_columns_are_refused() {
        let cells = [1u64, 2, 3];
        let half = IntegerTable::of_rows(["a", "b"], cells.as_slice(), 4).map(|_| ());
        assert_eq!(half, Err(Error::RowWidth { row: 2, expected: 2, found: 1 }));
        let columns = || vec![IntegerSlice::U64(&cells), IntegerSlice::U64(&cells[1..])];
        let unequal = IntegerTable::of_columns(["a", "b"], columns(), 4).map(|_| ());
        assert_eq!(unequal, Err(Error::RowCount { what: "predictions", expected: 3, found: 2 }));
        assert!(IntegerTable::of_columns(["a"], columns(), 4).is_err());
        assert!(IntegerTable::of_rows(["a"], cells.as_slice(), 1 << 16).is_err());
    }
}
