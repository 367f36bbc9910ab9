//! Column files: Parquet and Arrow, read in batches whose cells are text.
//!
//! In: a Parquet file, an Arrow file (Feather) or an Arrow stream. Out: the text of each cell of the selected columns;
//! other columns are not decoded. A file may be damaged or hostile: it is refused in one line. The decoding is that of
//! the arrow and parquet crates; the modules here check what those crates trust, and turn cells into text.

mod error;
mod column_limits;
mod unpacked_size;
mod thrift;
mod parquet_footer;
mod parquet_pages;
mod catch_panic;
mod ipc;
mod cell_text;

use std::{
    fs::File,
    io::{Read, Seek},
    mem,
    sync::Arc,
};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema, SchemaRef};
use bytes::Bytes;
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder},
    },
    basic::Compression,
    file::{
        metadata::{KeyValue, ParquetMetaData, ParquetMetaDataReader},
        reader::{ChunkReader, Length},
    },
};

use crate::{
    CellType,
    limits::{MAX_COLUMNS, MAX_ROW_BYTES},
};
use catch_panic::catch_panic;
use cell_text::{CellTexts, cell_type};
pub(crate) use column_limits::ColumnLimits;
pub(crate) use error::ColumnFileError;
use error::one_line;
use ipc::IpcMessages;

/// Rows of a batch: few enough to stay in a cache, many enough that the cost of a batch does not matter.
const ROWS: usize = 8192;

/// Bytes of an Arrow schema in a Parquet file; a longer one is not used, as if the file had none.
const MAX_ARROW_SCHEMA: usize = 1 << 15;

type BatchStream = Box<dyn Iterator<Item = Result<RecordBatch, ColumnFileError>>>;
type OpenColumns = Box<dyn FnOnce(&[usize]) -> Result<BatchStream, ColumnFileError>>;

/// The source of batches.
enum BatchSource {
    /// Opened once the selected columns are known.
    Closed(OpenColumns),
    Open(BatchStream),
    /// Read to the end, or failed.
    Ended,
}

/// Some rows, by column of the file. Columns that are not selected are empty.
#[derive(Clone)]
pub(crate) struct ColumnBatch {
    texts: Vec<CellTexts>,
    n_rows: usize,
    /// The number of the first row, from 1.
    first: u64,
}

impl ColumnBatch {
    /// Number of rows, at least one.
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

/// A column file being read, batch by batch.
pub(crate) struct ColumnFile {
    schema: SchemaRef,
    header: Vec<String>,
    n_rows: Option<u64>,
    /// The selected columns, in the order of the file, each once.
    wanted: Vec<usize>,
    source: BatchSource,
    /// Rows of the last record batch that are not yet text; they have the selected columns only.
    rest: Option<RecordBatch>,
    /// The texts of the last rows, by column of the file.
    texts: Vec<CellTexts>,
    n_read: u64,
    limits: ColumnLimits,
    /// Rows of the next batch: fewer than [`ROWS`] where cells are long.
    n_next: usize,
}

impl ColumnFile {
    /// Reads the footer of a Parquet file, which must be a regular file.
    ///
    /// # Errors
    ///
    /// [`ColumnFileError::Damaged`], [`ColumnFileError::Io`].
    pub(crate) fn parquet(file: File, limits: ColumnLimits) -> Result<Self, ColumnFileError> {
        catch_panic(|| Self::of_parquet(Arc::new(file), limits))
    }

    /// As [`parquet`](Self::parquet), for a file in memory.
    ///
    /// # Errors
    ///
    /// [`ColumnFileError::Damaged`].
    pub(crate) fn parquet_bytes(bytes: Vec<u8>, limits: ColumnLimits) -> Result<Self, ColumnFileError> {
        catch_panic(|| Self::of_parquet(Arc::new(Bytes::from(bytes)), limits))
    }

    /// Reads the footer of an Arrow file, also called Feather.
    ///
    /// # Errors
    ///
    /// [`ColumnFileError::Damaged`], [`ColumnFileError::Io`].
    pub(crate) fn ipc_file(
        file: impl Read + Seek + 'static,
        limits: ColumnLimits,
    ) -> Result<Self, ColumnFileError> {
        catch_panic(|| Self::of_messages(IpcMessages::of_file(file, limits.clone())?, limits))
    }

    /// Reads the schema of an Arrow stream.
    ///
    /// # Errors
    ///
    /// [`ColumnFileError::Damaged`], [`ColumnFileError::Io`].
    pub(crate) fn ipc_stream(
        reader: impl Read + 'static,
        limits: ColumnLimits,
    ) -> Result<Self, ColumnFileError> {
        catch_panic(|| Self::of_messages(IpcMessages::of_stream(reader, limits.clone())?, limits))
    }

    fn of_parquet<F: ChunkReader + 'static>(
        file: Arc<F>,
        limits: ColumnLimits,
    ) -> Result<Self, ColumnFileError> {
        parquet_footer::check(&*file, &limits)?;
        let (metadata, schema) = load_metadata(&*file)?;
        let n_rows = u64::try_from(metadata.metadata().file_metadata().num_rows()).ok();
        let page_limits = limits.clone();
        let open = move |wanted: &[usize]| {
            refuse_codecs(metadata.metadata(), wanted)?;
            page_limits.allow_cells(n_rows.unwrap_or(0), wanted.len())?;
            let n_at_once = parquet_pages::check(&*file, metadata.metadata(), wanted, &page_limits)?;
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(SharedFile(file), metadata);
            let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
            let reader = builder.with_projection(mask).with_batch_size(n_at_once.min(ROWS)).build()?;
            Ok(Box::new(reader.map(|batch| Ok(batch?))) as BatchStream)
        };
        Self::new(schema, n_rows, Box::new(open), limits)
    }

    fn of_messages(
        messages: IpcMessages<impl Read + 'static>,
        limits: ColumnLimits,
    ) -> Result<Self, ColumnFileError> {
        let schema = messages.schema();
        let open = |wanted: &[usize]| Ok(Box::new(messages.project(wanted)) as BatchStream);
        Self::new(schema, None, Box::new(open), limits)
    }

    fn new(
        schema: SchemaRef,
        n_rows: Option<u64>,
        open: OpenColumns,
        limits: ColumnLimits,
    ) -> Result<Self, ColumnFileError> {
        if schema.fields().len() > MAX_COLUMNS {
            return Err(ColumnFileError::too_many_columns(schema.fields().len()));
        }
        let header: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        Ok(Self {
            n_rows,
            wanted: (0..header.len()).collect(),
            source: BatchSource::Closed(open),
            rest: None,
            texts: header.iter().map(|_| CellTexts::new()).collect(),
            n_read: 0,
            limits,
            n_next: ROWS,
            schema,
            header,
        })
    }

    /// The column names, repeated ones too.
    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    /// The type of a column; text for a column that would be refused.
    pub(crate) fn cell_type(&self, column: usize) -> CellType {
        cell_type(self.data_type(column)).unwrap_or(CellType::Text)
    }

    /// The Arrow type of a column.
    pub(crate) fn data_type(&self, column: usize) -> &DataType {
        self.schema.field(column).data_type()
    }

    /// Number of rows according to the footer; Arrow files do not have it.
    pub(crate) fn n_rows_hint(&self) -> Option<u64> {
        self.n_rows
    }

    /// Selects the columns to read; all if this is not called. Must be called before the first row is read.
    pub(crate) fn project(&mut self, columns: &[usize]) {
        self.wanted = columns.to_vec();
        self.wanted.sort_unstable();
        self.wanted.dedup();
    }

    /// The next rows; none after the last.
    ///
    /// # Errors
    ///
    /// [`ColumnFileError`]. A column of a type that has no text is refused before the first row.
    pub(crate) fn next(&mut self) -> Result<Option<ColumnBatch>, ColumnFileError> {
        let n_rows = catch_panic(|| self.read_rows()).inspect_err(|_| self.source = BatchSource::Ended)?;
        let first = self.n_read + 1;
        self.n_read += n_rows as u64;
        Ok((n_rows > 0).then(|| ColumnBatch { texts: self.texts.clone(), n_rows, first }))
    }

    /// Number of rows read.
    pub(crate) fn n_read(&self) -> u64 {
        self.n_read
    }

    /// Turns the next rows into text and returns their number, 0 at the end of the file.
    fn read_rows(&mut self) -> Result<usize, ColumnFileError> {
        let Some(batch) = self.next_batch()? else { return Ok(0) };
        // An Arrow file may hold a whole table in one batch.
        let mut n = batch.num_rows().min(self.n_next);
        loop {
            for (&column, array) in self.wanted.iter().zip(batch.slice(0, n).columns()) {
                let read = self.texts[column].read(array);
                read.map_err(|error| self.unsupported(column, &error.to_string()))?;
            }
            let bytes = self.wanted.iter().map(|&column| self.texts[column].n_bytes(n));
            let bytes = bytes.fold(0, u64::saturating_add);
            if n > 1 && bytes > self.limits.batch_bytes() {
                n /= 2;
                continue;
            }
            self.limits.add(bytes.saturating_add((n * self.wanted.len().max(1)) as u64))?;
            break;
        }
        if n == 1 {
            self.refuse_long_cells()?;
        }
        self.n_next = (2 * n).min(ROWS);
        self.rest = Some(batch.slice(n, batch.num_rows() - n));
        Ok(n)
    }

    /// Refuses cells of a single row that are too long.
    fn refuse_long_cells(&self) -> Result<(), ColumnFileError> {
        let long = self.wanted.iter().find(|&&column| self.texts[column].n_bytes(1) > MAX_ROW_BYTES as u64);
        long.map_or(Ok(()), |&column| {
            let found = format!("a cell of more than {MAX_ROW_BYTES} bytes");
            Err(self.unsupported(column, &found))
        })
    }

    /// The next batch that has rows.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, ColumnFileError> {
        self.source = match mem::replace(&mut self.source, BatchSource::Ended) {
            BatchSource::Closed(open) => {
                self.refuse_types()?;
                BatchSource::Open(open(&self.wanted)?)
            }
            other => other,
        };
        let BatchSource::Open(stream) = &mut self.source else { return Ok(None) };
        let mut batches = self.rest.take().map(Ok).into_iter().chain(stream);
        let found =
            batches.find(|batch| batch.as_ref().map_or(true, |batch| batch.num_rows() > 0)).transpose()?;
        match &found {
            Some(batch) if batch.num_columns() != self.wanted.len() => {
                Err(ColumnFileError::damaged("it has not the columns that it announced"))
            }
            _ => Ok(found),
        }
    }

    fn refuse_types(&self) -> Result<(), ColumnFileError> {
        let unread = self.wanted.iter().find(|&&column| cell_type(self.data_type(column)).is_none());
        unread.map_or(Ok(()), |&column| {
            Err(self.unsupported(column, &format!("type {}", self.data_type(column))))
        })
    }

    fn unsupported(&self, column: usize, found: &str) -> ColumnFileError {
        ColumnFileError::Unsupported { column: self.header[column].clone(), found: one_line(found) }
    }
}

/// Reads the footer. Also returns the schema of the file; the reader itself makes views of texts, because a long text
/// that occurs often would be copied each time.
fn load_metadata(file: &impl ChunkReader) -> Result<(ArrowReaderMetadata, SchemaRef), ColumnFileError> {
    let raw = ParquetMetaDataReader::new().parse_and_finish(file)?;
    // Parts of a long schema may be shared, so that it is larger in memory than in the file.
    let is_long = |pair: &KeyValue| pair.value.as_ref().is_some_and(|value| value.len() > MAX_ARROW_SCHEMA);
    let has_long = raw.file_metadata().key_value_metadata().into_iter().flatten().any(is_long);
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(has_long);
    let metadata = ArrowReaderMetadata::try_new(Arc::new(raw), options)?;
    let schema = Arc::clone(metadata.schema());
    let fields = schema.fields().iter().map(|field| {
        let view = view_type(field.data_type());
        view.map_or_else(|| Arc::clone(field), |view| Arc::new(field.as_ref().clone().with_data_type(view)))
    });
    let views = Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(views));
    Ok((ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)?, schema))
}

/// The type of views of a text.
fn view_type(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 => Some(DataType::Utf8View),
        DataType::Binary | DataType::LargeBinary => Some(DataType::BinaryView),
        DataType::Dictionary(_, values) => view_type(values),
        _ => None,
    }
}

/// A file that is also read for the check of its pages.
struct SharedFile<F>(Arc<F>);

impl<F: Length> Length for SharedFile<F> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<F: ChunkReader> ChunkReader for SharedFile<F> {
    type T = F::T;

    fn get_read(&self, start: u64) -> parquet::errors::Result<F::T> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// Refuses selected columns in a compression that is not built in: such a file is not damaged.
fn refuse_codecs(metadata: &ParquetMetaData, wanted: &[usize]) -> Result<(), ColumnFileError> {
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
            return Err(ColumnFileError::Unsupported { column, found: format!("compression {codec}") });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
