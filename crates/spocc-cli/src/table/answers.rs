//! The answers in some columns of a table, gathered for the engine.

use std::collections::HashMap;

use spocc::{Label, Predictions, PredictionsBuilder, Symbol};

use crate::{
    error::{Error, Place},
    table::{Kind, Table},
};

/// What the cells of a column mean: a repeated cell costs one look.
#[derive(Debug, Default)]
pub(crate) struct Known(HashMap<Vec<u8>, Option<Symbol>>);

impl Known {
    /// The symbol of a cell of the present row; none if it says nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for a cell that is not UTF-8, and whatever `look_up` refuses.
    #[inline]
    pub(crate) fn symbol(
        &mut self,
        table: &Table,
        column: usize,
        look_up: impl FnOnce(Label) -> Result<Symbol, Error>,
    ) -> Result<Option<Symbol>, Error> {
        let Some(cell) = table.cell(column).filter(|cell| !cell.is_empty()) else { return Ok(None) };
        if let Some(symbol) = self.0.get(cell) {
            return Ok(*symbol);
        }
        let symbol = if table.reading().is_missing(Some(cell)) {
            None
        } else {
            let kind: Kind = table.kind(column);
            Some(look_up(kind.label(table.text(column)?))?)
        };
        self.0.insert(cell.to_owned(), symbol);
        Ok(symbol)
    }

    /// How many different answers there are.
    pub(crate) fn n_different(&self) -> usize {
        self.0.values().flatten().count()
    }
}

/// The answers in some columns of a table, gathered row by row.
pub(crate) struct Answers {
    columns: Vec<usize>,
    builder: PredictionsBuilder,
    known: Vec<Known>,
    row: Vec<Option<Symbol>>,
    lines: Lines,
}

impl Answers {
    /// Gathers these columns of a table; they are classifiers by the name of the column.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`] if there are none.
    pub(crate) fn new(table: &Table, columns: Vec<usize>) -> Result<Self, Error> {
        let names = columns.iter().map(|&column| table.header()[column].clone());
        let builder = Predictions::builder(names).map_err(|error| table.source().engine(error))?;
        let known = columns.iter().map(|_| Known::default()).collect();
        Ok(Self { columns, builder, known, row: Vec::new(), lines: Lines::default() })
    }

    /// Takes the present row of the table.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for cells that are not UTF-8 and for more different labels than the engine takes.
    pub(crate) fn push(&mut self, table: &Table) -> Result<(), Error> {
        self.row.clear();
        for (known, &column) in self.known.iter_mut().zip(&self.columns) {
            let builder = &mut self.builder;
            let look_up = |label| builder.symbol(label).map_err(|error| too_many(table, column, error));
            self.row.push(known.symbol(table, column, look_up)?);
        }
        self.builder.push_symbols(&self.row).map_err(|error| table.here().engine(error))?;
        self.lines.push(table.here());
        Ok(())
    }

    /// Number of rows gathered.
    pub(crate) fn n_rows(&self) -> usize {
        self.lines.n_rows
    }

    /// How many different answers each classifier gave.
    pub(crate) fn n_different(&self) -> Vec<usize> {
        self.known.iter().map(Known::n_different).collect()
    }

    /// The gathered answers, and the place of each row.
    pub(crate) fn finish(self) -> (Predictions, Lines) {
        (self.builder.finish(), self.lines)
    }
}

fn too_many(table: &Table, column: usize, error: spocc::Error) -> Error {
    match error {
        spocc::Error::TooManyLabels { limit } => {
            let name = &table.header()[column];
            let found = format!("more (if column `{name}` is no classifier, say so: --ignore '{name}')");
            table.here().refused(format!("at most {limit} different answers"), found)
        }
        other => table.here().engine(other),
    }
}

/// The place of every row, kept as runs of consecutive lines.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    n_rows: usize,
    /// First row and its place, wherever that is not the one after that of the row before.
    runs: Vec<(usize, Place)>,
}

impl Lines {
    /// The place of one more row.
    pub(crate) fn push(&mut self, place: Place) {
        if self.runs.last().is_none_or(|(first, start)| start.after(self.n_rows - first) != place) {
            self.runs.push((self.n_rows, place));
        }
        self.n_rows += 1;
    }

    /// The place of a row counted from 0.
    pub(crate) fn place(&self, row: usize) -> Option<Place> {
        let run = self.runs.partition_point(|(first, _)| *first <= row).checked_sub(1)?;
        let (first, place) = &self.runs[run];
        Some(place.after(row - first))
    }

    /// An engine's complaint about a row as a complaint about a line of the table.
    pub(crate) fn blame(&self, table: &Place, error: spocc::Error) -> Error {
        use spocc::Error::{BadWeight, RepeatedCell, TruthNotAClass, UnseenLabel};
        let place = |row: usize| self.place(row - 1).unwrap_or_else(|| table.clone());
        match error {
            TruthNotAClass { row, found, classes } => {
                place(row).refused(format!("a truth among the classes {classes}"), format!("`{found}`"))
            }
            BadWeight { row, found, smallest, largest } => place(row).refused(
                format!("a weight of 0 or between {smallest:e} and {largest:e}"),
                format!("{found:?}"),
            ),
            UnseenLabel { row, classifier, found } => place(row)
                .refused(format!("`{classifier}` to say a label known to the model"), format!("`{found}`")),
            RepeatedCell { row, classifier } => {
                place(row).refused(format!("one answer of `{classifier}`"), "two")
            }
            other => table.engine(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::error::At;

    #[test]
    fn lines_are_kept_as_runs() {
        let mut lines = Lines::default();
        let place = |file: &str, line: u64| Place::file(Path::new(file), "").at(At::Line(line));
        let given = [("a", 2), ("a", 3), ("a", 4), ("a", 7), ("a", 8), ("b", 9), ("b", 10)];
        for (file, line) in given {
            lines.push(place(file, line));
        }
        for (row, (file, line)) in given.into_iter().enumerate() {
            assert_eq!(lines.place(row), Some(place(file, line)));
        }
        assert_eq!(lines.runs.len(), 3);
    }
}
