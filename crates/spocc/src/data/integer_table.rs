//! Whole numbers that somebody else holds, as a table of answers: read where they lie, a block at a time.

use std::ops::Range;

use crate::{
    data::{Label, Predictions, Truth, distinct},
    error::Error,
};

/// Whole numbers side by side, of whatever kind.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "each is named after its numbers")]
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

/// A table without gaps whose labels are the numbers from 0 on: nothing of it is copied as a whole.
///
/// ```
/// use spocc::{Combiner, Evidence, Truth, Control, data::IntegerTable, evidence::Counting, methods::NaiveBayes};
/// let said = [0, 0, 1, 1, 0, 1]; // row after row
/// let table = IntegerTable::of_rows(["ann", "bob"], said.as_slice(), 2)?;
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
    cells: Cells<'a>,
    n_rows: usize,
}

#[derive(Clone, Debug)]
enum Cells<'a> {
    Rows(IntegerSlice<'a>),
    Columns(Vec<IntegerSlice<'a>>),
}

/// A table of answers: held by the engine or lent to it.
#[derive(Clone, Copy, Debug)]
pub enum Table<'a> {
    /// Any labels, with gaps.
    Predictions(&'a Predictions),
    /// Small whole numbers, without.
    IntegerTable(&'a IntegerTable<'a>),
}

impl<'a> From<&'a Predictions> for Table<'a> {
    fn from(predictions: &'a Predictions) -> Self {
        Self::Predictions(predictions)
    }
}

impl<'a> From<&'a IntegerTable<'a>> for Table<'a> {
    fn from(integers: &'a IntegerTable<'a>) -> Self {
        Self::IntegerTable(integers)
    }
}

impl<'a> Table<'a> {
    pub(crate) fn n_rows(self) -> usize {
        match self {
            Self::Predictions(predictions) => predictions.n_rows(),
            Self::IntegerTable(integers) => integers.n_rows,
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
    /// The labels that there can be.
    pub const MOST_LABELS: usize = 1 << 15;
    /// Rows read at a time: few enough to be still at hand when they are used.
    pub(crate) const BLOCK: usize = 256;

    /// All cells row after row; the labels are the numbers below `n_labels`.
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
        Ok(Self { classifiers, labels: labels(n_labels)?, cells: Cells::Rows(cells), n_rows })
    }

    /// The cells of one classifier after those of another; the labels are the numbers below `n_labels`.
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
            return Err(Error::RowCount { what: "answers", expected: n_rows, found: column.len() });
        }
        Ok(Self { classifiers, labels: labels(n_labels)?, cells: Cells::Columns(columns), n_rows })
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

    /// The largest number in a range of rows; none if one is negative or far too large for a label, or if there are
    /// no numbers.
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

    /// The same table, held.
    ///
    /// # Errors
    ///
    /// [`Error::LabelId`] for a number that is not among the labels.
    pub fn to_predictions(&self) -> Result<Predictions, Error> {
        let mut cells = vec![0; self.n_rows * self.width()];
        self.read(0..self.n_rows, &mut cells).ok_or_else(|| self.unknown_label())?;
        Predictions::from_dense(self.classifiers.iter().cloned(), self.labels.clone(), cells)
    }

    /// Its only column as the truth of every row.
    ///
    /// # Errors
    ///
    /// As [`to_predictions`](Self::to_predictions); [`Error::RowWidth`] if there are more.
    pub fn to_truth(&self) -> Result<Truth, Error> {
        if self.width() != 1 {
            return Err(Error::RowWidth { row: 1, expected: 1, found: self.width() });
        }
        let mut classes = vec![0; self.n_rows];
        self.read(0..self.n_rows, &mut classes).ok_or_else(|| self.unknown_label())?;
        Truth::from_dense(self.labels.clone(), classes)
    }

    pub(crate) fn width(&self) -> usize {
        self.classifiers.len()
    }

    /// Shows the cells of a range of rows, some rows at a time; none as soon as one is not among the labels.
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

    /// The first number that is not among the labels.
    pub(crate) fn unknown_label(&self) -> Error {
        let found = |row: usize| {
            let mut cells = vec![0; self.width()];
            let highest = self.narrow(row..row + 1, &mut cells).map_or(usize::MAX, usize::from);
            (highest >= self.labels.len()).then_some((row + 1, highest))
        };
        // A table that others write to may have changed since.
        let (row, found) = (0..self.n_rows).find_map(found).unwrap_or((1, self.labels.len()));
        Error::LabelId { row, expected: self.labels.len(), found }
    }

    /// Writes the ids of rows; none if one of them is not among the labels.
    fn read(&self, rows: Range<usize>, out: &mut [u16]) -> Option<()> {
        (usize::from(self.narrow(rows, out)?) < self.labels.len() || out.is_empty()).then_some(())
    }

    /// Writes numbers that fit and returns the largest; none if one is negative or too large.
    fn narrow(&self, rows: Range<usize>, out: &mut [u16]) -> Option<u16> {
        let width = self.width();
        match &self.cells {
            Cells::Rows(cells) => cells.narrow(rows.start * width..rows.end * width, out, 1),
            Cells::Columns(columns) => {
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
    if n_labels > IntegerTable::MOST_LABELS {
        return Err(Error::TooManyLabels { limit: IntegerTable::MOST_LABELS });
    }
    Ok((0..n_labels as i64).map(Label::from).collect())
}

macro_rules! kinds {
    ($($form:ident: $kind:ty),*) => {
        $(impl<'a> From<&'a [$kind]> for IntegerSlice<'a> {
            fn from(numbers: &'a [$kind]) -> Self {
                Self::$form(numbers)
            }
        })*

        impl IntegerSlice<'_> {
            fn len(&self) -> usize {
                match self {
                    $(Self::$form(numbers) => numbers.len(),)*
                }
            }

            /// Writes a range of numbers to every `step`-th place and returns the largest, if all are labels.
            #[expect(clippy::cast_lossless, reason = "all kinds alike")]
            fn narrow(&self, range: Range<usize>, out: &mut [u16], step: usize) -> Option<u16> {
                match self {
                    $(Self::$form(numbers) => {
                        let numbers = &numbers[range];
                        // What is set in none is set in no number; the largest of short numbers is found many at a time.
                        let mut all = 0;
                        let mut highest = 0i16;
                        let mut take = |place: &mut u16, number: $kind| {
                            all |= number;
                            highest = highest.max(number as i16);
                            *place = number as u16;
                        };
                        if step == 1 {
                            out.iter_mut().zip(numbers).for_each(|(place, number)| take(place, *number));
                        } else {
                            out.iter_mut().step_by(step).zip(numbers).for_each(|(place, number)| take(place, *number));
                        }
                        (usize::try_from(all).ok()? < IntegerTable::MOST_LABELS).then_some(highest as u16)
                    })*
                }
            }
        }
    };
}

kinds!(I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_of_every_kind_are_one_table() {
        let said: Vec<u8> = (0..600).map(|at| (at * 7 % 11) as u8).collect();
        let by_rows = IntegerTable::of_rows(["a", "b"], said.as_slice(), 11).expect("whole rows");
        let held = by_rows.to_predictions().expect("labels");
        let column =
            |k: usize| -> Vec<i64> { said.iter().skip(k).step_by(2).map(|said| (*said).into()).collect() };
        let (a, b) = (column(0), column(1));
        let b: Vec<u32> = b.iter().map(|said| *said as u32).collect();
        let columns = vec![IntegerSlice::from(a.as_slice()), IntegerSlice::from(b.as_slice())];
        let by_columns = IntegerTable::of_columns(["a", "b"], columns, 11).expect("equal columns");
        let other = by_columns.to_predictions().expect("labels");
        assert!((0..300).all(|row| (0..2).all(|k| held.get(row, k) == other.get(row, k))));
        assert_eq!(held.get(299, 1).map(ToString::to_string), Some((599 * 7 % 11).to_string()));
        assert_eq!((by_rows.highest(0..300), by_columns.highest(0..2)), (Some(10), Some(10)));
        assert_eq!(by_rows.highest(0..0), None);
    }

    #[test]
    fn a_number_that_is_no_label_is_refused_with_its_row() {
        for (strange, found) in [(3, 3), (1 << 40, usize::MAX), (-1, usize::MAX), (i64::MAX, usize::MAX)] {
            let mut said = vec![1; 2000];
            said[1501] = strange;
            let table = IntegerTable::of_rows(["a", "b"], said.as_slice(), 3).expect("whole rows");
            let expected = Error::LabelId { row: 751, expected: 3, found };
            assert_eq!(table.to_predictions().map(|_| ()), Err(expected));
            assert!(table.for_each_block(0..1000, |_, _| ()).is_none());
            assert!(table.for_each_block(0..750, |_, _| ()).is_some());
        }
    }

    #[test]
    fn half_rows_and_unequal_columns_are_refused() {
        let said = [1u64, 2, 3];
        let half = IntegerTable::of_rows(["a", "b"], said.as_slice(), 4).map(|_| ());
        assert_eq!(half, Err(Error::RowWidth { row: 2, expected: 2, found: 1 }));
        let columns = || vec![IntegerSlice::U64(&said), IntegerSlice::U64(&said[1..])];
        let unequal = IntegerTable::of_columns(["a", "b"], columns(), 4).map(|_| ());
        assert_eq!(unequal, Err(Error::RowCount { what: "answers", expected: 3, found: 2 }));
        assert!(IntegerTable::of_columns(["a"], columns(), 4).is_err());
        assert!(IntegerTable::of_rows(["a"], said.as_slice(), 1 << 16).is_err());
    }
}
