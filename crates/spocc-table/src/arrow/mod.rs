//! Parquet and Arrow files: columns in batches, handed out as text.
//!
//! In: a Parquet file, or one of Arrow's own formats, the file (Feather) and the stream. Out: the text of
//! each cell that is asked for; other columns are not decoded. What is read may be damaged, or made to do
//! harm: it is refused in one line and never trusted.

mod fault;
mod footer;
mod guard;
mod ipc;
mod texts;

use std::{
    fs::File,
    io::{Read, Seek},
    mem,
};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use bytes::Bytes;
use parquet::{
    arrow::{ProjectionMask, arrow_reader::ParquetRecordBatchReaderBuilder},
    basic::Compression,
    file::{metadata::ParquetMetaData, reader::ChunkReader},
};

use crate::Kind;
pub(crate) use fault::Fault;
use fault::one_line;
use guard::guard;
use ipc::Messages;
use texts::{Texts, kind};

/// Rows made into text at once: few enough to stay in a cache, enough to forget what a batch costs.
const ROWS: usize = 8192;

type Stream = Box<dyn Iterator<Item = Result<RecordBatch, Fault>>>;
type Open = Box<dyn FnOnce(&[usize]) -> Result<Stream, Fault>>;

/// Where batches come from.
enum Source {
    /// Opens when it is known which columns are wanted.
    Closed(Open),
    Open(Stream),
    /// Read to the end, or given up.
    Ended,
}

/// Some rows, by column of the file; of columns that were not asked for there is nothing.
#[derive(Clone)]
pub(crate) struct Batch {
    texts: Vec<Texts>,
    n_rows: usize,
    /// The number of the first row, from 1.
    first: u64,
}

impl Batch {
    /// How many rows there are, at least one.
    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The number of a row in its file, from 1.
    pub(crate) fn number(&self, row: usize) -> u64 {
        self.first + row as u64
    }

    /// The text of a cell; none if it is null.
    #[inline]
    pub(crate) fn cell(&self, row: usize, column: usize) -> Option<&[u8]> {
        self.texts[column].get(row)
    }
}

/// A file of columns being read, some rows at a time.
pub(crate) struct Batches {
    schema: SchemaRef,
    header: Vec<String>,
    n_rows: Option<u64>,
    /// Columns that will be asked for, in the order of the file, each once.
    wanted: Vec<usize>,
    source: Source,
    /// Rows read and not yet made into text; they have the wanted columns only.
    rest: Option<RecordBatch>,
    /// The rows read last, by column of the file.
    texts: Vec<Texts>,
    n_read: u64,
}

impl Batches {
    /// Begins with the footer of a Parquet file, which must be a regular one.
    ///
    /// # Errors
    ///
    /// [`Fault::Damaged`], [`Fault::Io`].
    pub(crate) fn parquet(file: File) -> Result<Self, Fault> {
        guard(|| Self::of_parquet(file))
    }

    /// As [`parquet`](Self::parquet), for one that is in memory.
    ///
    /// # Errors
    ///
    /// [`Fault::Damaged`].
    pub(crate) fn parquet_bytes(bytes: Vec<u8>) -> Result<Self, Fault> {
        guard(|| Self::of_parquet(Bytes::from(bytes)))
    }

    /// Begins with the end of an Arrow file, whose first bytes are `ARROW1`; Feather is another name for it.
    ///
    /// # Errors
    ///
    /// [`Fault::Damaged`], [`Fault::Io`].
    pub(crate) fn ipc_file(file: impl Read + Seek + 'static) -> Result<Self, Fault> {
        guard(|| Ok(Self::of_messages(Messages::of_file(file)?)))
    }

    /// Begins with the schema of an Arrow stream.
    ///
    /// # Errors
    ///
    /// [`Fault::Damaged`], [`Fault::Io`].
    pub(crate) fn ipc_stream(reader: impl Read + 'static) -> Result<Self, Fault> {
        guard(|| Ok(Self::of_messages(Messages::of_stream(reader)?)))
    }

    fn of_parquet(file: impl ChunkReader + 'static) -> Result<Self, Fault> {
        footer::check(&file)?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
        let n_rows = u64::try_from(builder.metadata().file_metadata().num_rows()).ok();
        let schema = builder.schema().clone();
        let open = |wanted: &[usize]| {
            refuse_codecs(builder.metadata(), wanted)?;
            let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
            let reader = builder.with_projection(mask).with_batch_size(ROWS).build()?;
            Ok(Box::new(reader.map(|batch| Ok(batch?))) as Stream)
        };
        Ok(Self::new(schema, n_rows, Box::new(open)))
    }

    fn of_messages(messages: Messages<impl Read + 'static>) -> Self {
        let schema = messages.schema();
        let open = |wanted: &[usize]| Ok(Box::new(messages.project(wanted)) as Stream);
        Self::new(schema, None, Box::new(open))
    }

    fn new(schema: SchemaRef, n_rows: Option<u64>, open: Open) -> Self {
        let header: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        Self {
            n_rows,
            wanted: (0..header.len()).collect(),
            source: Source::Closed(open),
            rest: None,
            texts: header.iter().map(|_| Texts::new()).collect(),
            n_read: 0,
            schema,
            header,
        }
    }

    /// The column names, repeated ones too.
    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    /// How the cells of a column were written; text for a column that would be refused.
    pub(crate) fn kind(&self, column: usize) -> Kind {
        kind(self.data_type(column)).unwrap_or(Kind::Text)
    }

    /// The type of a column in its file.
    pub(crate) fn data_type(&self, column: usize) -> &DataType {
        self.schema.field(column).data_type()
    }

    /// How many rows the file promises; Arrow's own formats do not say.
    pub(crate) fn n_rows_hint(&self) -> Option<u64> {
        self.n_rows
    }

    /// Only these columns will be asked for; all of them if this is never called. To be called before the
    /// first row.
    pub(crate) fn project(&mut self, columns: &[usize]) {
        self.wanted = columns.to_vec();
        self.wanted.sort_unstable();
        self.wanted.dedup();
    }

    /// The next rows; none after the last.
    ///
    /// # Errors
    ///
    /// [`Fault`]. A column of a type that has no text is refused before the first row.
    pub(crate) fn next(&mut self) -> Result<Option<Batch>, Fault> {
        let n_rows = guard(|| self.read_rows()).inspect_err(|_| self.source = Source::Ended)?;
        let first = self.n_read + 1;
        self.n_read += n_rows as u64;
        Ok((n_rows > 0).then(|| Batch { texts: self.texts.clone(), n_rows, first }))
    }

    /// How many rows were read.
    pub(crate) fn n_read(&self) -> u64 {
        self.n_read
    }

    /// Makes the next rows into text and says how many they are; none at the end of the file.
    fn read_rows(&mut self) -> Result<usize, Fault> {
        let Some(batch) = self.next_batch()? else { return Ok(0) };
        // Arrow writes whole tables as one batch, of which a part at a time is text.
        let n = batch.num_rows().min(ROWS);
        for (&column, array) in self.wanted.iter().zip(batch.slice(0, n).columns()) {
            let read = self.texts[column].read(array);
            read.map_err(|error| self.unsupported(column, &error.to_string()))?;
        }
        self.rest = Some(batch.slice(n, batch.num_rows() - n));
        Ok(n)
    }

    /// The next batch that has rows.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, Fault> {
        self.source = match mem::replace(&mut self.source, Source::Ended) {
            Source::Closed(open) => {
                self.refuse_types()?;
                Source::Open(open(&self.wanted)?)
            }
            other => other,
        };
        let Source::Open(stream) = &mut self.source else { return Ok(None) };
        let mut batches = self.rest.take().map(Ok).into_iter().chain(stream);
        let found =
            batches.find(|batch| batch.as_ref().map_or(true, |batch| batch.num_rows() > 0)).transpose()?;
        match &found {
            Some(batch) if batch.num_columns() != self.wanted.len() => {
                Err(Fault::damaged("it has not the columns that it announced"))
            }
            _ => Ok(found),
        }
    }

    fn refuse_types(&self) -> Result<(), Fault> {
        let unread = self.wanted.iter().find(|&&column| kind(self.data_type(column)).is_none());
        unread.map_or(Ok(()), |&column| {
            Err(self.unsupported(column, &format!("type {}", self.data_type(column))))
        })
    }

    fn unsupported(&self, column: usize, found: &str) -> Fault {
        Fault::Unsupported { column: self.header[column].clone(), found: one_line(found) }
    }
}

/// Refuses wanted columns that were compressed in a way that we cannot undo: such a file is not damaged.
fn refuse_codecs(metadata: &ParquetMetaData, wanted: &[usize]) -> Result<(), Fault> {
    let schema = metadata.file_metadata().schema_descr();
    let leaves = metadata.row_groups().iter().flat_map(|group| group.columns().iter().enumerate());
    for (leaf, chunk) in leaves {
        let codec = chunk.compression();
        let unknown = matches!(codec, Compression::BROTLI(_) | Compression::LZO);
        let root = schema.get_column_root_idx(leaf);
        if unknown && wanted.contains(&root) {
            let column = schema.get_column_root(leaf).name().to_owned();
            let codec = codec.to_string();
            let codec = codec.split('(').next().unwrap_or_default();
            return Err(Fault::Unsupported { column, found: format!("compression {codec}") });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
