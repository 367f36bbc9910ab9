//! A table of predictions, built row by row.

use crate::{
    data::{Label, LabelMatrix, MISSING, Predictions, Row, Symbol, interner::LabelInterner},
    error::Error,
};

/// Builds a table of predictions row by row.
#[derive(Clone, Debug)]
pub struct PredictionsBuilder {
    classifiers: Vec<String>,
    interner: LabelInterner,
    matrix: LabelMatrix,
    row: Vec<u16>,
}

impl PredictionsBuilder {
    /// An empty table for these classifiers.
    pub(super) fn new(classifiers: Vec<String>) -> Self {
        let matrix = LabelMatrix::empty(classifiers.len());
        let row = Vec::with_capacity(classifiers.len());
        Self { classifiers, interner: LabelInterner::default(), matrix, row }
    }

    /// Appends a row: one prediction per classifier, `None` where it is missing.
    ///
    /// # Errors
    ///
    /// [`Error::RowWidth`], [`Error::TooManyLabels`]; the table is then as it was.
    pub fn push<L: Into<Label>>(
        &mut self,
        predictions: impl IntoIterator<Item = Option<L>>,
    ) -> Result<(), Error> {
        self.row.clear();
        for prediction in predictions {
            let id = prediction.map_or(Ok(MISSING), |label| self.interner.intern(label.into()))?;
            self.row.push(id);
        }
        self.take_row()
    }

    /// Looks a label up once for many calls of [`push_rows`](Self::push_rows).
    ///
    /// # Errors
    ///
    /// [`Error::TooManyLabels`].
    pub fn symbol(&mut self, label: impl Into<Label>) -> Result<Symbol, Error> {
        self.interner.intern(label.into()).map(Symbol)
    }

    /// Appends whole rows, one after the other. Each cell is a position in `symbols`, which holds labels that were looked
    /// up before and `None` for a missing prediction.
    ///
    /// # Errors
    ///
    /// [`Error::RowWidth`] if the last row is not whole; [`Error::LabelId`] for a cell without a symbol and for a symbol
    /// of another table. The rows before the refused one are appended.
    pub fn push_rows(&mut self, cells: &[u32], symbols: &[Option<Symbol>]) -> Result<(), Error> {
        let known = self.interner.labels.len();
        let first = self.matrix.n_rows() + 1;
        let unknown = symbols.iter().flatten().map(|symbol| usize::from(symbol.0)).find(|id| *id >= known);
        if let Some(found) = unknown {
            return Err(Error::LabelId { row: first, expected: known, found });
        }
        let ids: Vec<u16> = symbols.iter().map(|symbol| symbol.map_or(MISSING, |symbol| symbol.0)).collect();
        let width = self.classifiers.len();
        if cells.len().is_multiple_of(width) && cells.iter().all(|cell| (*cell as usize) < ids.len()) {
            self.matrix.extend(cells.iter().map(|cell| ids[*cell as usize]));
            return Ok(());
        }
        for (row, cells) in cells.chunks(width).enumerate() {
            self.row.clear();
            self.row.extend(cells.iter().map_while(|cell| ids.get(*cell as usize)));
            if let Some(&found) = cells.get(self.row.len()) {
                return Err(Error::LabelId { row: first + row, expected: ids.len(), found: found as usize });
            }
            self.take_row()?;
        }
        Ok(())
    }

    fn take_row(&mut self) -> Result<(), Error> {
        if self.row.len() != self.classifiers.len() {
            let row = self.matrix.n_rows() + 1;
            return Err(Error::RowWidth { row, expected: self.classifiers.len(), found: self.row.len() });
        }
        self.matrix.push(Row::Dense(&self.row));
        Ok(())
    }

    /// The finished table.
    pub fn finish(self) -> Predictions {
        Predictions::from_matrix(self.classifiers, self.interner.labels, self.matrix.settled())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_symbols_are_rows_of_labels() {
        let mut rows = Predictions::builder(["x", "y"]).expect("two names");
        let (b, a) = (rows.symbol("b").expect("a label"), rows.symbol("a").expect("a label"));
        let symbols = [None, Some(a), Some(b)];
        rows.push_rows(&[1, 2, 0, 1, 1, 1], &symbols).expect("three rows");
        let narrow = rows.push_rows(&[1, 1, 1], &symbols);
        assert_eq!(narrow, Err(Error::RowWidth { row: 5, expected: 2, found: 1 }));
        let without_symbol = rows.push_rows(&[1, 3], &symbols);
        assert_eq!(without_symbol, Err(Error::LabelId { row: 5, expected: 3, found: 3 }));
        let other_table = Predictions::builder(["x"]).expect("a name").push_rows(&[0], &[Some(a)]);
        assert_eq!(other_table, Err(Error::LabelId { row: 1, expected: 0, found: 1 }));
        let table = rows.finish();
        let label = |row, k| table.get(row, k).map(Label::to_string);
        assert_eq!((label(0, 0), label(0, 1), label(1, 0)), (Some("a".into()), Some("b".into()), None));
        assert_eq!((table.n_rows(), table.labels().len(), table.n_distinct_labels()), (4, 2, vec![1, 2]));
    }
}
