//! One file of a table, open and with its header read: text or columns.

#[cfg(feature = "arrow")]
use std::io::{BufReader, Cursor, Read as _};

use crate::{
    CellType, ReadOptions,
    error::{Error, Location, Position},
    limits::Expansion,
    source::{ByteSource, ColumnFormat, FileContent},
    text_file::TextFile,
};
#[cfg(feature = "arrow")]
use crate::{
    arrow::{ColumnFile, ColumnLimits},
    limits::unpacked_bytes,
};

/// One file of a table.
pub(crate) enum TableFile {
    Text(Box<TextFile>),
    #[cfg(feature = "arrow")]
    Columns(Box<ColumnFile>),
}

impl TableFile {
    /// Reads the header of a file.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if it is no table, [`Error::Io`].
    pub(crate) fn open(
        location: &Location,
        content: FileContent,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        match content {
            FileContent::Text { head, rest } => {
                Ok(Self::Text(Box::new(TextFile::open(location, options.delimiter, head, rest)?)))
            }
            FileContent::SpoccFile(_) => Err(location.refused("a table", "a model or a tally of spocc")),
            FileContent::Columns(format, source, expansion) => {
                open_columns(location, format, source, (expansion, options.memory))
            }
        }
    }

    /// The column names.
    pub(crate) fn header(&self) -> &[String] {
        match self {
            Self::Text(text) => text.header(),
            #[cfg(feature = "arrow")]
            Self::Columns(columns) => columns.header(),
        }
    }

    /// The position of the header.
    pub(crate) fn header_position(&self) -> Position {
        match self {
            Self::Text(text) => text.header_position(),
            #[cfg(feature = "arrow")]
            Self::Columns(_) => Position::Whole,
        }
    }

    /// The delimiter of a text file.
    #[cfg_attr(not(feature = "arrow"), allow(clippy::unnecessary_wraps))]
    pub(crate) fn delimiter(&self) -> Option<u8> {
        match self {
            Self::Text(text) => Some(text.delimiter()),
            #[cfg(feature = "arrow")]
            Self::Columns(_) => None,
        }
    }

    /// Selects the columns to read and returns the type of each column of the table; nothing for a text file. `order`
    /// has the index in this file of each column of the table.
    #[cfg_attr(not(feature = "arrow"), allow(clippy::needless_pass_by_ref_mut))]
    pub(crate) fn select(&mut self, order: &[usize], selected: Option<&[usize]>) -> Vec<CellType> {
        match self {
            Self::Text(_) => {
                let _ = (order, selected);
                Vec::new()
            }
            #[cfg(feature = "arrow")]
            Self::Columns(columns) => {
                if let Some(selected) = selected {
                    let wanted: Vec<usize> = selected.iter().map(|&column| order[column]).collect();
                    columns.project(&wanted);
                }
                order.iter().map(|&column| columns.cell_type(column)).collect()
            }
        }
    }
}

#[cfg(feature = "arrow")]
fn open_columns(
    location: &Location,
    format: ColumnFormat,
    source: ByteSource,
    (expansion, memory): (Expansion, u64),
) -> Result<TableFile, Error> {
    let limits = ColumnLimits { expansion, memory };
    let columns = match (format, source) {
        (ColumnFormat::Parquet, ByteSource::File(file)) => ColumnFile::parquet(file, limits),
        (ColumnFormat::ArrowFile, ByteSource::File(file)) => {
            ColumnFile::ipc_file(BufReader::new(file), limits)
        }
        (ColumnFormat::ArrowStream, ByteSource::File(file)) => {
            ColumnFile::ipc_stream(BufReader::new(file), limits)
        }
        (ColumnFormat::ArrowStream, ByteSource::Stream(stream)) => ColumnFile::ipc_stream(stream, limits),
        // These formats are read from their end.
        (format, ByteSource::Stream(stream)) => {
            let (mut bytes, most) = (Vec::new(), unpacked_bytes(memory));
            let read = stream.take(most + 1).read_to_end(&mut bytes);
            read.map_err(|source| location.io("a table", source))?;
            if bytes.len() as u64 > most {
                let expected = format!("a file to read, or {format} of at most {most} bytes from a stream");
                return Err(location.refused(expected, "a longer stream"));
            }
            match format {
                ColumnFormat::Parquet => ColumnFile::parquet_bytes(bytes, limits),
                _ => ColumnFile::ipc_file(Cursor::new(bytes), limits),
            }
        }
    };
    columns.map(|columns| TableFile::Columns(Box::new(columns))).map_err(|error| error.at(location))
}

#[cfg(not(feature = "arrow"))]
fn open_columns(
    location: &Location,
    format: ColumnFormat,
    _: ByteSource,
    _: (Expansion, u64),
) -> Result<TableFile, Error> {
    let found = format!(
        "{format} (this spocc cannot read it; one built with `--features arrow` can, see the README)"
    );
    Err(location.refused("a table of text", found))
}
