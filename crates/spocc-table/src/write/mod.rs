//! Writes a table as CSV, JSON or Parquet: a schema first, then blocks of columns.
//!
//! The caller says which columns there are ([`TableSchema`]) and supplies their values block by block
//! ([`BlockValues`]). Labels are values of a fixed list, given by index.

mod csv;
mod formula;
mod json;
#[cfg(feature = "arrow")]
mod parquet;
#[cfg(feature = "arrow")]
mod parse_text;
#[cfg(test)]
mod tests;

use std::io::{self, BufWriter, Write};

use spocc::Label;

use crate::TextColumn;
use csv::CsvWriter;
use json::JsonWriter;
#[cfg(feature = "arrow")]
use parquet::ParquetWriter;

/// The columns of a table to write.
#[derive(Clone, Debug, Default)]
pub struct TableSchema {
    /// The columns in order.
    pub columns: Vec<ColumnSpec>,
    /// The labels that values refer to by index.
    pub labels: Vec<Label>,
}

/// A column to write.
#[derive(Clone, Debug)]
pub struct ColumnSpec {
    /// Its name.
    pub name: String,
    /// Its type.
    pub value_type: ValueType,
}

/// The type of a column to write.
#[derive(Clone, Debug)]
pub enum ValueType {
    /// Texts copied from a table. Parquet parses them to the type that they had there.
    Text(ColumnType),
    /// A label per row; only a nullable column may lack some.
    Label {
        /// Whether labels may be missing.
        nullable: bool,
    },
    /// A list of labels per row. CSV joins them with bars.
    LabelList,
    /// A list of texts per row. CSV joins them with bars.
    TextList,
    /// A list of labels per row that is nearly always empty. Parquet has it as one text, as CSV, null if empty.
    RareLabelList,
    /// An integer per row.
    Integer,
    /// A float per row.
    Float,
    /// A float per row and label: a column `name:label` for each label, or one object in JSON.
    FloatPerLabel,
}

/// The values of a column in a block of rows.
#[derive(Clone, Debug)]
pub enum BlockValues<'a> {
    /// Texts, of which the first belongs to the first row.
    Text(&'a TextColumn, usize),
    /// A label per row.
    Label(Vec<Option<u16>>),
    /// A list of labels per row.
    LabelLists(LabelLists),
    /// A list of texts per row.
    TextLists(&'a TextLists),
    /// An integer per row.
    Integer(Vec<u32>),
    /// A float per row, or one per row and label, row after row.
    Float(&'a [f64]),
}

/// Lists of labels, one after the other.
#[derive(Clone, Debug, Default)]
pub struct LabelLists {
    labels: Vec<u16>,
    ends: Vec<usize>,
}

impl LabelLists {
    /// Appends a list.
    pub fn push(&mut self, labels: impl IntoIterator<Item = u16>) {
        self.labels.extend(labels);
        self.ends.push(self.labels.len());
    }

    fn get(&self, row: usize) -> &[u16] {
        &self.labels[row.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[row]]
    }
}

/// Lists of texts, one after the other.
#[derive(Clone, Debug, Default)]
pub struct TextLists {
    texts: TextColumn,
    ends: Vec<usize>,
}

impl TextLists {
    /// Appends a list.
    pub fn push<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        texts.into_iter().for_each(|text| self.texts.push(Some(text)));
        self.ends.push(self.texts.len());
    }

    fn get(&self, row: usize) -> impl ExactSizeIterator<Item = &str> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        (start..self.ends[row]).map(|at| self.texts.get(at).unwrap_or_default())
    }
}

/// The type of a column of a table, as far as its file has one.
#[derive(Clone, Debug)]
pub struct ColumnType {
    #[cfg(feature = "arrow")]
    arrow: arrow_schema::DataType,
}

impl Default for ColumnType {
    /// Text.
    fn default() -> Self {
        Self {
            #[cfg(feature = "arrow")]
            arrow: arrow_schema::DataType::Utf8,
        }
    }
}

#[cfg(feature = "arrow")]
impl From<arrow_schema::DataType> for ColumnType {
    fn from(arrow: arrow_schema::DataType) -> Self {
        Self { arrow }
    }
}

impl TableSchema {
    /// The column names, those of a [`FloatPerLabel`](ValueType::FloatPerLabel) for each label.
    pub fn names(&self) -> Vec<String> {
        let names = |column: &ColumnSpec| match column.value_type {
            ValueType::FloatPerLabel => {
                self.labels.iter().map(|label| format!("{}:{label}", column.name)).collect()
            }
            _ => vec![column.name.clone()],
        };
        self.columns.iter().flat_map(names).collect()
    }

    /// The labels as text.
    fn texts(&self) -> Vec<String> {
        self.labels.iter().map(ToString::to_string).collect()
    }

    /// Refuses values that do not fit the columns.
    fn check(&self, n_rows: usize, block: &[BlockValues<'_>]) -> io::Result<()> {
        let refuse = |column: &str, expected: &str, found: usize| {
            let message = format!("column `{column}`: expected {expected}, found {found}");
            Err(io::Error::new(io::ErrorKind::InvalidInput, message))
        };
        if block.len() != self.columns.len() {
            return refuse("", &format!("{} columns", self.columns.len()), block.len());
        }
        for (ColumnSpec { name, value_type }, values) in self.columns.iter().zip(block) {
            let (expected, found) = match (value_type, values) {
                (ValueType::Text(_), BlockValues::Text(texts, first)) => {
                    (n_rows, texts.len().saturating_sub(*first).min(n_rows))
                }
                (ValueType::Label { .. }, BlockValues::Label(labels)) => (n_rows, labels.len()),
                (ValueType::LabelList | ValueType::RareLabelList, BlockValues::LabelLists(lists)) => {
                    (n_rows, lists.ends.len())
                }
                (ValueType::TextList, BlockValues::TextLists(lists)) => (n_rows, lists.ends.len()),
                (ValueType::Integer, BlockValues::Integer(integers)) => (n_rows, integers.len()),
                (ValueType::Float, BlockValues::Float(floats)) => (n_rows, floats.len()),
                (ValueType::FloatPerLabel, BlockValues::Float(floats)) => {
                    (n_rows * self.labels.len(), floats.len())
                }
                _ => return refuse(name, &format!("values of type {value_type:?}"), 0),
            };
            if expected != found {
                return refuse(name, &format!("{expected} values"), found);
            }
        }
        Ok(())
    }
}

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Text with a delimiter.
    Csv {
        /// The delimiter.
        delimiter: u8,
        /// Whether cells that a spreadsheet would take for formulas get an apostrophe before them.
        protect_formulas: bool,
    },
    /// An object per row, in an array or on lines of their own.
    Json {
        /// Whether there is no array.
        lines: bool,
    },
    /// Parquet.
    Parquet,
}

/// The compression of a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileCompression {
    /// No compression.
    None,
    /// Gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

/// Writes the table whose blocks `write_blocks` passes on.
///
/// # Errors
///
/// Those of `write_blocks` and of `out`; [`io::ErrorKind::Unsupported`] for Parquet without the feature `arrow`.
pub fn write_table<T, E: From<io::Error>>(
    out: &mut (dyn Write + Send),
    format: FileFormat,
    compression: FileCompression,
    schema: &TableSchema,
    write_blocks: impl FnOnce(&mut TableWriter<'_>) -> Result<T, E>,
) -> Result<T, E> {
    match compression {
        FileCompression::None => write_plain(out, format, schema, write_blocks),
        FileCompression::Gzip => {
            let encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            let mut encoder = BufWriter::new(encoder);
            let value = write_plain(&mut encoder, format, schema, write_blocks)?;
            encoder.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
            Ok(value)
        }
        FileCompression::Zstd => {
            let mut encoder = BufWriter::new(zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?);
            let value = write_plain(&mut encoder, format, schema, write_blocks)?;
            encoder.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
            Ok(value)
        }
    }
}

fn write_plain<T, E: From<io::Error>>(
    out: &mut (dyn Write + Send),
    format: FileFormat,
    schema: &TableSchema,
    write_blocks: impl FnOnce(&mut TableWriter<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let mut writer = TableWriter::new(out, format, schema)?;
    let value = write_blocks(&mut writer)?;
    writer.finish()?;
    Ok(value)
}

/// A table being written.
pub struct TableWriter<'a> {
    schema: &'a TableSchema,
    writer: FormatWriter<'a>,
}

enum FormatWriter<'a> {
    Csv(CsvWriter<'a>),
    Json(JsonWriter<'a>),
    #[cfg(feature = "arrow")]
    Parquet(Box<ParquetWriter<'a>>),
}

impl<'a> TableWriter<'a> {
    fn new(out: &'a mut (dyn Write + Send), format: FileFormat, schema: &'a TableSchema) -> io::Result<Self> {
        let writer = match format {
            FileFormat::Csv { delimiter, protect_formulas } => {
                FormatWriter::Csv(CsvWriter::new(out, schema, delimiter, protect_formulas)?)
            }
            FileFormat::Json { lines } => FormatWriter::Json(JsonWriter::new(out, schema, lines)?),
            #[cfg(feature = "arrow")]
            FileFormat::Parquet => FormatWriter::Parquet(Box::new(ParquetWriter::new(out, schema)?)),
            #[cfg(not(feature = "arrow"))]
            FileFormat::Parquet => return Err(io::ErrorKind::Unsupported.into()),
        };
        Ok(Self { schema, writer })
    }

    /// Writes a block of rows, whose values are in the order of the columns.
    ///
    /// # Errors
    ///
    /// An error of the system; [`io::ErrorKind::InvalidInput`] if the values do not fit the columns.
    pub fn write(&mut self, n_rows: usize, block: &[BlockValues<'_>]) -> io::Result<()> {
        self.schema.check(n_rows, block)?;
        match &mut self.writer {
            FormatWriter::Csv(writer) => writer.write(n_rows, block),
            FormatWriter::Json(writer) => writer.write(n_rows, block),
            #[cfg(feature = "arrow")]
            FormatWriter::Parquet(writer) => writer.write(n_rows, block),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self.writer {
            FormatWriter::Csv(writer) => writer.finish(),
            FormatWriter::Json(writer) => writer.finish(),
            #[cfg(feature = "arrow")]
            FormatWriter::Parquet(writer) => writer.finish(),
        }
    }
}

/// Labels joined with bars.
fn join(labels: &[u16], texts: &[String]) -> String {
    join_texts(labels.iter().map(|&label| texts[usize::from(label)].as_str()))
}

/// Texts joined with bars. A bar or backslash that is part of a text is escaped by a backslash.
fn join_texts<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let mut joined = String::new();
    for (at, text) in texts.enumerate() {
        joined.push_str(if at == 0 { "" } else { "|" });
        for character in text.chars() {
            joined.push_str(if matches!(character, '|' | '\\') { "\\" } else { "" });
            joined.push(character);
        }
    }
    joined
}
