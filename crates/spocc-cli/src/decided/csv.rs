//! Decided rows as CSV.

use std::io::{self, Write};

use spocc::Decision;

use crate::{
    args::Column,
    decided::{Block, Heading, Sheet, texts, ties},
};

/// A CSV file being written.
pub(super) struct CsvSheet<W: Write> {
    out: csv::Writer<W>,
    columns: Vec<Column>,
    classes: Vec<String>,
}

impl<W: Write> CsvSheet<W> {
    /// Writes the header.
    pub(super) fn new(out: W, heading: &Heading<'_>, delimiter: u8) -> io::Result<Self> {
        let mut out = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
        out.write_record(heading.names()).map_err(io_error)?;
        Ok(Self { out, columns: heading.columns.to_vec(), classes: texts(heading.classes) })
    }

    fn row(&mut self, block: &Block<'_>, row: usize) -> csv::Result<()> {
        for ids in block.ids {
            self.out.write_field(ids[block.first + row].as_deref().unwrap_or_default())?;
        }
        self.out.write_field(&self.classes[usize::from(block.rulings[row].class)])?;
        if let Some(decision) = block.decisions.get(row) {
            for at in 0..self.columns.len() {
                self.cells(self.columns[at], decision)?;
            }
        }
        self.out.write_record(None::<&[u8]>)
    }

    fn cells(&mut self, column: Column, decision: &Decision) -> csv::Result<()> {
        // The debug form of a float is the shortest that reads back as the same number, small ones included.
        match column {
            Column::Decision => Ok(()),
            Column::Margin => self.out.write_field(format!("{:?}", decision.margin)),
            Column::Possibility => {
                let mut degrees = decision.possibility.degrees().iter();
                degrees.try_for_each(|degree| self.out.write_field(format!("{degree:?}")))
            }
            Column::Ties => self.out.write_field(ties(decision, &self.classes).unwrap_or_default()),
            Column::Answered => self.out.write_field(decision.answered.to_string()),
        }
    }
}

impl<W: Write> Sheet for CsvSheet<W> {
    fn write(&mut self, block: &Block<'_>) -> io::Result<()> {
        (0..block.rulings.len()).try_for_each(|row| self.row(block, row)).map_err(io_error)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// What the system said when a table could not be written.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        other => io::Error::other(format!("{other:?}")),
    }
}
