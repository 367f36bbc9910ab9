//! Writes decided rows: ids, the decision, and the columns of --columns.

mod csv;
mod json;
#[cfg(feature = "arrow")]
mod parquet;

use std::{
    collections::HashSet,
    ffi::OsStr,
    io::{self, BufWriter, Write},
    path::Path,
};

use clap::error::ErrorKind;
use spocc::{Label, conformal::PredictionSets, predict::Decisions};

pub(crate) use json::OrderedObject;
use spocc_table::{Error, TextColumn};

use crate::args::{OutputColumn, OutputFormat, usage};

/// The columns of the output.
pub(crate) struct OutputHeader<'a> {
    /// Names of the copied columns.
    pub(crate) ids: &'a [String],
    /// Types of the copied columns.
    #[cfg(feature = "arrow")]
    pub(crate) id_types: Vec<spocc_table::ArrowType>,
    /// The columns after the decision.
    pub(crate) columns: &'a [OutputColumn],
    /// The classes.
    pub(crate) classes: &'a [Label],
    /// Whether decisions may be empty.
    #[cfg_attr(not(feature = "arrow"), allow(dead_code))]
    pub(crate) abstains: bool,
}

impl OutputHeader<'_> {
    /// The names of the columns.
    fn names(&self) -> Vec<String> {
        let mut names = self.ids.to_vec();
        names.push("decision".to_owned());
        for column in self.columns {
            match column {
                OutputColumn::Decision => {}
                OutputColumn::Possibility | OutputColumn::Probability => {
                    names.extend(self.classes.iter().map(|class| format!("{}:{class}", column.name())));
                }
                other => names.push(other.name().to_owned()),
            }
        }
        names
    }

    /// Refuses two columns with one name.
    ///
    /// # Errors
    ///
    /// A usage error that names the column.
    pub(crate) fn refuse_repeats(&self, is_json: bool) -> Result<(), clap::Error> {
        let mut seen = HashSet::new();
        // JSON has one key for the possibilities of a row, and one for the probabilities.
        let nested = [OutputColumn::Possibility, OutputColumn::Probability]
            .into_iter()
            .filter(|column| is_json && self.columns.contains(column))
            .map(|column| column.name().to_owned());
        match self.names().into_iter().chain(nested).find(|name| !seen.insert(name.clone())) {
            Some(twice) => {
                let message = format!("the output would have two columns `{twice}`");
                Err(usage("predict", ErrorKind::ArgumentConflict, &message))
            }
            None => Ok(()),
        }
    }
}

/// Decided rows.
pub(crate) struct DecidedBlock<'a> {
    /// One list per copied column; its entry `first` belongs to the first row.
    pub(crate) ids: &'a [TextColumn],
    pub(crate) first: usize,
    /// Whether each decision is left empty; empty if none may be.
    pub(crate) abstained: &'a [bool],
    /// The decisions, with the columns that are written.
    pub(crate) decisions: &'a Decisions,
    /// The sets, if they are written.
    pub(crate) sets: Option<&'a PredictionSets>,
}

impl DecidedBlock<'_> {
    /// The index of the decided class of a row; none if the decision is left empty.
    fn class(&self, row: usize) -> Option<usize> {
        let abstains = self.abstained.get(row).copied().unwrap_or(false);
        (!abstains).then(|| self.decisions.class[row].into())
    }

    /// The indices of the classes in the prediction set of a row.
    fn set(&self, row: usize) -> impl ExactSizeIterator<Item = usize> {
        self.sets.and_then(|sets| sets.get(row)).unwrap_or_default().iter().map(|&class| class.into())
    }

    /// Numbers of the tied classes of a row; none if there is no tie.
    fn ties(&self, row: usize) -> impl Iterator<Item = usize> {
        let ties = if self.decisions.is_tie[row] { self.values(&self.decisions.ties, row) } else { &[] };
        ties.iter().enumerate().filter(|(_, is_tied)| **is_tied).map(|(class, _)| class)
    }

    /// The values of a row in a column with a value per class.
    fn values<'b, T>(&self, column: &'b Option<Vec<T>>, row: usize) -> &'b [T] {
        self.decisions.of_row(column, row).unwrap_or_default()
    }
}

/// The format and compression of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputShape {
    format: OutputFormat,
    /// The delimiter of CSV.
    delimiter: u8,
    /// Whether JSON is written as JSON lines.
    lines: bool,
    compression: OutputCompression,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputCompression {
    Plain,
    Gzip,
    Zstd,
}

impl OutputShape {
    /// The format of --format, or by the name of the file.
    ///
    /// # Errors
    ///
    /// A usage error for Parquet in a build without it, or with another compression.
    pub(crate) fn new(asked: Option<OutputFormat>, path: &Path) -> Result<Self, clap::Error> {
        let extension = |path: &Path| {
            path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase).unwrap_or_default()
        };
        let (compression, inner) = match extension(path).as_str() {
            "gz" => (OutputCompression::Gzip, path.with_extension("")),
            "zst" | "zstd" => (OutputCompression::Zstd, path.with_extension("")),
            _ => (OutputCompression::Plain, path.to_owned()),
        };
        let extension = extension(&inner);
        let format = asked.unwrap_or(match extension.as_str() {
            "parquet" | "pq" => OutputFormat::Parquet,
            "json" | "jsonl" | "ndjson" => OutputFormat::Json,
            _ => OutputFormat::Csv,
        });
        let delimiter = if extension == "tsv" { b'\t' } else { b',' };
        let lines = matches!(extension.as_str(), "jsonl" | "ndjson");
        let refuse = |message: &str| Err(usage("predict", ErrorKind::InvalidValue, message));
        match format {
            OutputFormat::Parquet if cfg!(not(feature = "arrow")) => refuse(
                "this spocc cannot write Parquet; one built with `--features arrow` can, see the README",
            ),
            OutputFormat::Parquet if compression != OutputCompression::Plain => {
                refuse("Parquet files are compressed internally; use a name that ends in .parquet")
            }
            _ => Ok(Self { format, delimiter, lines, compression }),
        }
    }

    /// Whether it is JSON.
    pub(crate) fn is_json(self) -> bool {
        self.format == OutputFormat::Json
    }

    /// Writes the header and all rows that `rows` writes.
    ///
    /// # Errors
    ///
    /// The errors of `rows`; [`Error::Writing`].
    pub(crate) fn write<T>(
        self,
        out: &mut (dyn Write + Send),
        header: &OutputHeader<'_>,
        rows: impl FnOnce(&mut dyn DecisionWriter) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.compression {
            OutputCompression::Plain => self.write_plain(out, header, rows),
            OutputCompression::Gzip => {
                let encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
                let mut encoder = BufWriter::new(encoder);
                let value = self.write_plain(&mut encoder, header, rows)?;
                encoder.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
                Ok(value)
            }
            OutputCompression::Zstd => {
                let mut encoder = BufWriter::new(zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?);
                let value = self.write_plain(&mut encoder, header, rows)?;
                encoder.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
                Ok(value)
            }
        }
    }

    fn write_plain<T>(
        self,
        out: &mut (dyn Write + Send),
        header: &OutputHeader<'_>,
        rows: impl FnOnce(&mut dyn DecisionWriter) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.format {
            OutputFormat::Json => into(json::JsonWriter::new(out, header, self.lines)?, rows),
            #[cfg(feature = "arrow")]
            OutputFormat::Parquet => into(parquet::ParquetWriter::new(out, header)?, rows),
            _ => into(csv::CsvWriter::new(out, header, self.delimiter)?, rows),
        }
    }
}

fn into<S: DecisionWriter, T>(
    mut writer: S,
    rows: impl FnOnce(&mut dyn DecisionWriter) -> Result<T, Error>,
) -> Result<T, Error> {
    let value = rows(&mut writer)?;
    writer.finish()?;
    Ok(value)
}

/// Writes decided rows in one format.
pub(crate) trait DecisionWriter {
    /// Writes more rows.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn write(&mut self, block: &DecidedBlock<'_>) -> io::Result<()>;

    /// Writes the end of the table.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn finish(&mut self) -> io::Result<()>;
}

/// Classes separated by `|`; a `|` or backslash in a name is escaped by a backslash.
fn joined(numbers: impl Iterator<Item = usize>, classes: &[String]) -> String {
    let mut text = String::new();
    for (at, class) in numbers.enumerate() {
        text.push_str(if at == 0 { "" } else { "|" });
        for character in classes[class].chars() {
            text.push_str(if matches!(character, '|' | '\\') { "\\" } else { "" });
            text.push(character);
        }
    }
    text
}

/// Each class as text.
fn texts(classes: &[Label]) -> Vec<String> {
    classes.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_classes_are_unambiguous() {
        let classes = ["a", "a|b", "b", "\\"].map(str::to_owned);
        let of = |numbers: &[usize]| joined(numbers.iter().copied(), &classes);
        assert_eq!(of(&[0, 2]), "a|b");
        assert_eq!(of(&[1]), r"a\|b");
        assert_eq!(of(&[3, 0]), r"\\|a");
    }
}
