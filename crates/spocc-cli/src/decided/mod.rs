//! Decided rows on their way out: ids, the decision, and what was asked about it.

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

pub(crate) use json::Object;
use spocc_table::{Error, TextColumn};

use crate::args::{OutputColumn, OutputFormat, usage};

/// What the columns of the output are.
pub(crate) struct Heading<'a> {
    /// Names of the columns that are copied.
    pub(crate) ids: &'a [String],
    /// Their types, where the input has such.
    #[cfg(feature = "arrow")]
    pub(crate) id_types: Vec<spocc_table::ArrowType>,
    /// What is written about each row after the decision.
    pub(crate) columns: &'a [OutputColumn],
    /// The classes.
    pub(crate) classes: &'a [Label],
    /// Whether decisions may be left empty.
    #[cfg_attr(not(feature = "arrow"), allow(dead_code))]
    pub(crate) abstains: bool,
}

impl Heading<'_> {
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

    /// Refuses two columns of one name, which no table may have.
    ///
    /// # Errors
    ///
    /// A usage error that names it.
    pub(crate) fn refuse_repeats(&self, is_json: bool) -> Result<(), clap::Error> {
        let mut seen = HashSet::new();
        // JSON has all possibilities of a row under one name, and all probabilities.
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

/// Some rows, decided.
pub(crate) struct Block<'a> {
    /// One list per column that is copied; its entry `first` belongs to the first row.
    pub(crate) ids: &'a [TextColumn],
    pub(crate) first: usize,
    /// Whether each decision is left empty; empty if none may be.
    pub(crate) abstained: &'a [bool],
    /// The decisions, with the columns that are written.
    pub(crate) decisions: &'a Decisions,
    /// The sets, if they are written.
    pub(crate) sets: Option<&'a PredictionSets>,
}

impl Block<'_> {
    /// Number of the class that is written for a row, if any is.
    fn class(&self, row: usize) -> Option<usize> {
        let abstains = self.abstained.get(row).copied().unwrap_or(false);
        (!abstains).then(|| self.decisions.class[row].into())
    }

    /// Numbers of the classes in a row's set.
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

/// A format and a compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    format: OutputFormat,
    /// Between the cells of a CSV.
    delimiter: u8,
    /// Whether JSON is an object per line and no array.
    lines: bool,
    packing: RowPacking,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowPacking {
    Plain,
    Gzip,
    Zstd,
}

impl Shape {
    /// What the user asked for, or what the name of the file says.
    ///
    /// # Errors
    ///
    /// A usage error for Parquet where it was not built in, or packed twice.
    pub(crate) fn new(asked: Option<OutputFormat>, path: &Path) -> Result<Self, clap::Error> {
        let extension = |path: &Path| {
            path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase).unwrap_or_default()
        };
        let (packing, inner) = match extension(path).as_str() {
            "gz" => (RowPacking::Gzip, path.with_extension("")),
            "zst" | "zstd" => (RowPacking::Zstd, path.with_extension("")),
            _ => (RowPacking::Plain, path.to_owned()),
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
            OutputFormat::Parquet if packing != RowPacking::Plain => {
                refuse("Parquet is compressed inside: name it .parquet")
            }
            _ => Ok(Self { format, delimiter, lines, packing }),
        }
    }

    /// Whether it is JSON.
    pub(crate) fn is_json(self) -> bool {
        self.format == OutputFormat::Json
    }

    /// Writes everything that `rows` hands over, under a heading.
    ///
    /// # Errors
    ///
    /// Those of `rows`; [`Error::Writing`].
    pub(crate) fn write<T>(
        self,
        out: &mut (dyn Write + Send),
        heading: &Heading<'_>,
        rows: impl FnOnce(&mut dyn Sheet) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.packing {
            RowPacking::Plain => self.write_plain(out, heading, rows),
            RowPacking::Gzip => {
                let packed = flate2::write::GzEncoder::new(out, flate2::Compression::default());
                let mut packed = BufWriter::new(packed);
                let value = self.write_plain(&mut packed, heading, rows)?;
                packed.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
                Ok(value)
            }
            RowPacking::Zstd => {
                let mut packed = BufWriter::new(zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?);
                let value = self.write_plain(&mut packed, heading, rows)?;
                packed.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
                Ok(value)
            }
        }
    }

    fn write_plain<T>(
        self,
        out: &mut (dyn Write + Send),
        heading: &Heading<'_>,
        rows: impl FnOnce(&mut dyn Sheet) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self.format {
            OutputFormat::Json => into(json::JsonSheet::new(out, heading, self.lines)?, rows),
            #[cfg(feature = "arrow")]
            OutputFormat::Parquet => into(parquet::ParquetSheet::new(out, heading)?, rows),
            _ => into(csv::CsvSheet::new(out, heading, self.delimiter)?, rows),
        }
    }
}

fn into<S: Sheet, T>(
    mut sheet: S,
    rows: impl FnOnce(&mut dyn Sheet) -> Result<T, Error>,
) -> Result<T, Error> {
    let value = rows(&mut sheet)?;
    sheet.finish()?;
    Ok(value)
}

/// A table being written.
pub(crate) trait Sheet {
    /// Writes some more rows.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn write(&mut self, block: &Block<'_>) -> io::Result<()>;

    /// Ends the table.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn finish(&mut self) -> io::Result<()>;
}

/// Classes with bars between them; a bar or backslash that is part of a name has a backslash before it.
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
    fn joined_classes_can_be_told_apart() {
        let classes = ["a", "a|b", "b", "\\"].map(str::to_owned);
        let of = |numbers: &[usize]| joined(numbers.iter().copied(), &classes);
        assert_eq!(of(&[0, 2]), "a|b");
        assert_eq!(of(&[1]), r"a\|b");
        assert_eq!(of(&[3, 0]), r"\\|a");
    }
}
