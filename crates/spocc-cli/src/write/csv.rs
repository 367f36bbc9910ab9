//! Writes decided rows as CSV.

use std::io::{self, Write};

use csv::{Writer, WriterBuilder};
use rayon::prelude::*;

use crate::{
    args::OutputColumn,
    write::{DecidedBlock, DecisionWriter, OutputHeader, joined, texts},
};

/// Rows that one task formats.
const ROWS: usize = 1 << 12;

/// Tasks that run before their output is written.
const AT_ONCE: usize = 64;

/// Writes a CSV file.
pub(super) struct CsvWriter<W: Write> {
    out: W,
    delimiter: u8,
    columns: Vec<OutputColumn>,
    classes: Vec<String>,
}

impl<W: Write> CsvWriter<W> {
    /// Writes the header.
    pub(super) fn new(mut out: W, header: &OutputHeader<'_>, delimiter: u8) -> io::Result<Self> {
        let line = text(delimiter, |text| text.write_record(header.names()))?;
        out.write_all(&line)?;
        Ok(Self { out, delimiter, columns: header.columns.to_vec(), classes: texts(header.classes) })
    }
}

impl<W: Write> DecisionWriter for CsvWriter<W> {
    fn write(&mut self, block: &DecidedBlock<'_>) -> io::Result<()> {
        let Self { out, delimiter, columns, classes } = self;
        let n_rows = block.decisions.len();
        let starts: Vec<usize> = (0..n_rows).step_by(ROWS).collect();
        for starts in starts.chunks(AT_ONCE) {
            let made: Vec<io::Result<Vec<u8>>> = starts
                .par_iter()
                .map(|&start| {
                    let mut rows = start..n_rows.min(start + ROWS);
                    text(*delimiter, |text| {
                        rows.try_for_each(|row| write_row(text, block, row, columns, classes))
                    })
                })
                .collect();
            made.into_iter().try_for_each(|text| out.write_all(&text?))?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

type CsvText = Writer<Vec<u8>>;

/// The CSV text of what `write` writes.
fn text(delimiter: u8, write: impl FnOnce(&mut CsvText) -> csv::Result<()>) -> io::Result<Vec<u8>> {
    let mut text = WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
    write(&mut text).map_err(io_error)?;
    text.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

fn write_row(
    out: &mut CsvText,
    block: &DecidedBlock<'_>,
    row: usize,
    columns: &[OutputColumn],
    classes: &[String],
) -> csv::Result<()> {
    for ids in block.ids {
        out.write_field(ids.get(block.first + row).unwrap_or_default())?;
    }
    out.write_field(block.class(row).map_or("", |class| &classes[class]))?;
    for column in columns {
        write_cells(out, *column, block, row, classes)?;
    }
    out.write_record(None::<&[u8]>)
}

fn write_cells(
    out: &mut CsvText,
    column: OutputColumn,
    block: &DecidedBlock<'_>,
    row: usize,
    classes: &[String],
) -> csv::Result<()> {
    let decisions = block.decisions;
    // The debug format of a float is the shortest that parses to the same number, also for small numbers.
    let write_floats = |out: &mut CsvText, values: &[f64]| {
        values.iter().try_for_each(|value| out.write_field(format!("{value:?}")))
    };
    match column {
        OutputColumn::Decision => Ok(()),
        OutputColumn::Set => out.write_field(joined(block.set(row), classes)),
        OutputColumn::SetSize => out.write_field(block.set(row).len().to_string()),
        OutputColumn::Margin => {
            write_floats(out, decisions.margin.as_ref().map_or(&[], |margin| &margin[row..=row]))
        }
        OutputColumn::Possibility => write_floats(out, block.values(&decisions.possibility, row)),
        OutputColumn::Probability => write_floats(out, block.values(&decisions.probability, row)),
        OutputColumn::Ties => out.write_field(joined(block.ties(row), classes)),
        OutputColumn::Answered => {
            let n_answered = decisions.n_answered.iter().map(|n_answered| n_answered[row]);
            n_answered.into_iter().try_for_each(|n| out.write_field(n.to_string()))
        }
    }
}

/// The I/O error inside a CSV error.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        other => io::Error::other(format!("{other:?}")),
    }
}
