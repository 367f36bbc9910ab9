//! Collects the predictions in some columns of a table for the engine.

use std::ops::Range;

use spocc::{Predictions, data::PredictionsBuilder};
use spocc_table::{Error, LabelCodes, Location, RowLocations, RowPositions, Table};

/// The predictions in some columns of a table.
pub(crate) struct PredictionCollector {
    builder: PredictionsBuilder,
    names: Vec<String>,
    lines: RowLocations,
}

impl PredictionCollector {
    /// Collects these columns of a table; the column names are the names of the classifiers.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`] if there are no columns.
    pub(crate) fn new(table: &Table, columns: &[usize]) -> Result<Self, Error> {
        let names: Vec<String> = columns.iter().map(|&column| table.header()[column].clone()).collect();
        let builder = Predictions::builder(names.clone()).map_err(|error| table.location().engine(error))?;
        Ok(Self { builder, names, lines: RowLocations::default() })
    }

    /// Adds a range of encoded rows; `places` has the positions of all encoded rows in `file`.
    ///
    /// # Errors
    ///
    /// The row and [`Error::Refused`] for more distinct labels than the engine supports.
    pub(crate) fn add(
        &mut self,
        codes: &LabelCodes,
        rows: Range<usize>,
        file: &Location,
        places: &RowPositions,
    ) -> Result<(), (usize, Error)> {
        let width = self.names.len();
        let cells = rows.start * width..rows.end * width;
        let builder = &mut self.builder;
        let symbols = codes.symbols(cells.clone(), |label| builder.symbol(label.clone()));
        let symbols = symbols.map_err(|(at, error)| {
            let row = at / width;
            let place = places.location(file, row);
            (row, too_many(&place, &self.names[at % width], error))
        })?;
        let pushed = self.builder.push_rows(&codes.codes[cells], &symbols);
        pushed.map_err(|error| (rows.start, file.engine(error)))?;
        self.lines.extend(file, places, rows);
        Ok(())
    }

    /// Number of rows collected.
    pub(crate) fn n_rows(&self) -> usize {
        self.lines.n_rows()
    }

    /// The predictions, and the location of each row.
    pub(crate) fn finish(self) -> (Predictions, RowLocations) {
        (self.builder.finish(), self.lines)
    }
}

fn too_many(place: &Location, name: &str, error: spocc::Error) -> Error {
    match error {
        spocc::Error::TooManyLabels { limit } => {
            let found = format!("more (if column `{name}` is not a classifier, use --ignore '{name}')");
            place.refused(format!("at most {limit} distinct labels"), found)
        }
        other => place.engine(other),
    }
}
