//! CSV: rows are formatted in parallel, a chunk at a time, and written in order.

use std::io::{self, Write};

use csv::{Writer, WriterBuilder};
use rayon::prelude::*;

use super::{BlockValues, TableSchema, formula::protected, join, join_texts};

/// Rows that one task formats.
const ROWS: usize = 1 << 12;

/// Chunks that are formatted before they are written.
const CHUNKS: usize = 64;

/// A CSV file being written.
pub(super) struct CsvWriter<'a> {
    out: &'a mut (dyn Write + Send),
    delimiter: u8,
    protect_formulas: bool,
    texts: Vec<String>,
}

impl<'a> CsvWriter<'a> {
    /// Writes the header.
    pub(super) fn new(
        out: &'a mut (dyn Write + Send),
        schema: &TableSchema,
        delimiter: u8,
        protect_formulas: bool,
    ) -> io::Result<Self> {
        let names = schema.names();
        let header = format(delimiter, |writer| {
            names.iter().try_for_each(|name| write_text(writer, name, protect_formulas))?;
            writer.write_record(None::<&[u8]>)
        })?;
        out.write_all(&header)?;
        Ok(Self { out, delimiter, protect_formulas, texts: schema.texts() })
    }

    pub(super) fn write(&mut self, n_rows: usize, block: &[BlockValues<'_>]) -> io::Result<()> {
        let Self { out, delimiter, protect_formulas, texts } = self;
        let starts: Vec<usize> = (0..n_rows).step_by(ROWS).collect();
        for starts in starts.chunks(CHUNKS) {
            let chunks: Vec<io::Result<Vec<u8>>> = starts
                .par_iter()
                .map(|&start| {
                    let mut rows = start..n_rows.min(start + ROWS);
                    format(*delimiter, |writer| {
                        rows.try_for_each(|row| {
                            write_row(writer, block, row, texts, n_rows, *protect_formulas)
                        })
                    })
                })
                .collect();
            chunks.into_iter().try_for_each(|chunk| out.write_all(&chunk?))?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The bytes that `write` writes.
fn format(delimiter: u8, write: impl FnOnce(&mut Writer<Vec<u8>>) -> csv::Result<()>) -> io::Result<Vec<u8>> {
    let mut writer = WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
    write(&mut writer).map_err(|error| match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        other => io::Error::other(format!("{other:?}")),
    })?;
    writer.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

fn write_text(out: &mut Writer<Vec<u8>>, text: &str, protect_formulas: bool) -> csv::Result<()> {
    if protect_formulas { out.write_field(&*protected(text)) } else { out.write_field(text) }
}

fn write_row(
    out: &mut Writer<Vec<u8>>,
    block: &[BlockValues<'_>],
    row: usize,
    texts: &[String],
    n_rows: usize,
    protect_formulas: bool,
) -> csv::Result<()> {
    let text = |out: &mut Writer<Vec<u8>>, text: &str| write_text(out, text, protect_formulas);
    for values in block {
        match values {
            BlockValues::Text(column, first) => {
                text(out, column.get(first + row).unwrap_or_default())?;
            }
            BlockValues::Label(labels) => {
                text(out, labels[row].map_or("", |label| &texts[usize::from(label)]))?;
            }
            BlockValues::LabelLists(lists) => text(out, &join(lists.get(row), texts))?,
            BlockValues::TextLists(lists) => text(out, &join_texts(lists.get(row)))?,
            BlockValues::Integer(integers) => out.write_field(integers[row].to_string())?,
            BlockValues::Float(floats) => {
                let width = floats.len() / n_rows;
                // The debug form of a float is the shortest that parses to the same number, also for small ones.
                let mut floats = floats[row * width..(row + 1) * width].iter();
                floats.try_for_each(|float| out.write_field(format!("{float:?}")))?;
            }
        }
    }
    out.write_record(None::<&[u8]>)
}
