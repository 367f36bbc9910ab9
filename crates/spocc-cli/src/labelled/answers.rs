//! The answers in some columns of a table, gathered for the engine.

use std::ops::Range;

use spocc::{Predictions, data::PredictionsBuilder};
use spocc_table::{Error, LabelCodes, Location, RowLocations, RowPositions, Table};

/// The answers in some columns of a table, gathered as they come.
pub(crate) struct Answers {
    builder: PredictionsBuilder,
    names: Vec<String>,
    lines: RowLocations,
}

impl Answers {
    /// Gathers these columns of a table; they are classifiers by the name of the column.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`] if there are none.
    pub(crate) fn new(table: &Table, columns: &[usize]) -> Result<Self, Error> {
        let names: Vec<String> = columns.iter().map(|&column| table.header()[column].clone()).collect();
        let builder = Predictions::builder(names.clone()).map_err(|error| table.location().engine(error))?;
        Ok(Self { builder, names, lines: RowLocations::default() })
    }

    /// Takes some of the rows that were marked; `places` tells of all of them where in `file` they are.
    ///
    /// # Errors
    ///
    /// The row and [`Error::Refused`] for more different labels than the engine takes.
    pub(crate) fn take(
        &mut self,
        marks: &LabelCodes,
        rows: Range<usize>,
        file: &Location,
        places: &RowPositions,
    ) -> Result<(), (usize, Error)> {
        let width = self.names.len();
        let cells = rows.start * width..rows.end * width;
        let builder = &mut self.builder;
        let symbols = marks.symbols(cells.clone(), |label| builder.symbol(label.clone()));
        let symbols = symbols.map_err(|(at, error)| {
            let row = at / width;
            let place = places.location(file, row);
            (row, too_many(&place, &self.names[at % width], error))
        })?;
        let pushed = self.builder.push_rows(&marks.codes[cells], &symbols);
        pushed.map_err(|error| (rows.start, file.engine(error)))?;
        self.lines.extend(file, places, rows);
        Ok(())
    }

    /// Number of rows gathered.
    pub(crate) fn n_rows(&self) -> usize {
        self.lines.n_rows()
    }

    /// The gathered answers, and the place of each row.
    pub(crate) fn finish(self) -> (Predictions, RowLocations) {
        (self.builder.finish(), self.lines)
    }
}

fn too_many(place: &Location, name: &str, error: spocc::Error) -> Error {
    match error {
        spocc::Error::TooManyLabels { limit } => {
            let found = format!("more (if column `{name}` is no classifier, say so: --ignore '{name}')");
            place.refused(format!("at most {limit} different answers"), found)
        }
        other => place.engine(other),
    }
}
