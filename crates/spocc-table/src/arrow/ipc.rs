//! Arrow files and streams: messages that hold a schema, record batches and their dictionaries.
//!
//! In: a stream, whose messages follow one another, or a file, whose footer lists their offsets. Out: record batches of
//! the selected columns. The readers of arrow-ipc allocate any length that a file claims, so this module checks lengths
//! before arrow-ipc decodes a message: what a message unpacks to must fit into a share of the memory limit, and all
//! messages together into the allowed expansion.

use std::{
    collections::HashMap,
    io::{self, Read, Seek, SeekFrom},
    sync::Arc,
    vec,
};

use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::{
    CompressionType, DictionaryBatch, Message, RecordBatch as Layout, Schema,
    convert::fb_to_schema,
    reader::{RecordBatchDecoder, read_dictionary, read_footer_length},
    root_as_footer_with_opts, root_as_message_with_opts,
};
use arrow_schema::SchemaRef;
use flatbuffers::VerifierOptions;

use super::{ColumnFileError, column_limits::ColumnLimits, unpacked_size};
use crate::limits::MAX_COLUMNS;

/// Limits of the metadata of a message: parts of it may be shared, so that it is larger in memory than in the file.
const METADATA: VerifierOptions = VerifierOptions {
    max_depth: 64,
    max_tables: 8 * MAX_COLUMNS,
    max_apparent_size: 1 << 26,
    ignore_missing_null_terminator: false,
};

/// Bytes in memory for each entry of a dictionary, at least.
const DICTIONARY_ENTRY: u64 = 16;

/// Comes before the length of a message, except in files from before 2019.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Bytes at the end of a file: the length of the footer, and `ARROW1`.
const TAIL: u64 = 10;

/// The order of messages.
enum MessageOrder<R> {
    /// One after the other.
    BatchStream,
    /// At these offsets: some writers leave other bytes between messages.
    File { offsets: vec::IntoIter<u64>, seek: fn(&mut R, SeekFrom) -> io::Result<u64> },
}

/// The messages after the schema.
pub(super) struct IpcMessages<R> {
    source: R,
    order: MessageOrder<R>,
    schema: SchemaRef,
    wanted: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
    limits: ColumnLimits,
    ended: bool,
}

impl<R: Read + Seek> IpcMessages<R> {
    /// Reads the schema of a file and the offsets of its messages.
    pub(super) fn of_file(mut source: R, limits: ColumnLimits) -> Result<Self, ColumnFileError> {
        let cut = || ColumnFileError::damaged("it does not end as an Arrow file");
        let end = source.seek(SeekFrom::End(0))?.checked_sub(TAIL).ok_or_else(cut)?;
        source.seek(SeekFrom::Start(end))?;
        let tail = bytes(&mut source, TAIL as i64)?.try_into().map_err(|_| cut())?;
        let length = read_footer_length(tail).map_err(|_| cut())?;
        source.seek(SeekFrom::Start(end.checked_sub(length as u64).ok_or_else(cut)?))?;
        let footer = bytes(&mut source, length as i64)?;
        let footer = root_as_footer_with_opts(&METADATA, &footer)
            .map_err(|error| ColumnFileError::damaged(&error.to_string()))?;

        // Rows may refer to any dictionary of the file, so dictionaries are read first.
        let blocks =
            footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
        let offset = |offset| {
            u64::try_from(offset).map_err(|_| ColumnFileError::damaged("a message at a negative place"))
        };
        let offsets: Vec<u64> = blocks.map(|block| offset(block.offset())).collect::<Result<_, _>>()?;
        let order = MessageOrder::File { offsets: offsets.into_iter(), seek: R::seek };
        Self::new(source, order, footer.schema(), limits)
    }
}

impl<R: Read> IpcMessages<R> {
    /// Reads the schema of a stream.
    pub(super) fn of_stream(mut source: R, limits: ColumnLimits) -> Result<Self, ColumnFileError> {
        let head = head(&mut source)?.unwrap_or_default();
        let message = message(&head)?;
        limits.allow_message(message.bodyLength())?;
        bytes(&mut source, message.bodyLength())?;
        Self::new(source, MessageOrder::BatchStream, message.header_as_schema(), limits)
    }

    fn new(
        source: R,
        order: MessageOrder<R>,
        schema: Option<Schema<'_>>,
        limits: ColumnLimits,
    ) -> Result<Self, ColumnFileError> {
        let schema = schema.ok_or_else(|| ColumnFileError::damaged("it has no schema"))?;
        if !schema.endianness().equals_to_target_endianness() {
            return Err(ColumnFileError::damaged("its bytes are in the order of another kind of machine"));
        }
        let n_columns = schema.fields().map_or(0, |fields| fields.len());
        if n_columns > MAX_COLUMNS {
            return Err(ColumnFileError::too_many_columns(n_columns));
        }
        let schema = Arc::new(fb_to_schema(schema));
        let (wanted, dictionaries) = (Vec::new(), HashMap::new());
        Ok(Self { source, order, schema, wanted, dictionaries, limits, ended: false })
    }

    /// The schema of all columns.
    pub(super) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Selects the columns to read.
    pub(super) fn project(mut self, wanted: &[usize]) -> Self {
        self.wanted = wanted.to_vec();
        self
    }

    /// The next record batch; none at the end.
    fn read(&mut self) -> Result<Option<RecordBatch>, ColumnFileError> {
        while let Some(head) = self.next_head()? {
            let message = message(&head)?;
            let version = message.version();
            self.limits.allow_message(message.bodyLength())?;
            let body = Buffer::from_vec(bytes(&mut self.source, message.bodyLength())?);
            if let Some(batch) = message.header_as_record_batch() {
                let n_rows = u64::try_from(batch.length()).unwrap_or(0);
                self.limits.allow_cells(n_rows, self.wanted.len())?;
                let size = unpacked(&batch, &body, &self.limits)?;
                self.limits.allow_unpacked(size)?;
                let schema = Arc::clone(&self.schema);
                let decoder =
                    RecordBatchDecoder::try_new(&body, batch, schema, &self.dictionaries, &version)?;
                return Ok(Some(decoder.with_projection(Some(&self.wanted)).read_record_batch()?));
            }
            let unexpected = || ColumnFileError::damaged("a message is neither rows nor a dictionary");
            let dictionary = message.header_as_dictionary_batch().ok_or_else(unexpected)?;
            self.allow_dictionary(&dictionary, &dictionary.data().ok_or_else(unexpected)?, &body)?;
            read_dictionary(&body, dictionary, &self.schema, &mut self.dictionaries, &version)?;
        }
        Ok(None)
    }

    /// Refuses a dictionary that does not fit in memory together with the others.
    fn allow_dictionary(
        &mut self,
        dictionary: &DictionaryBatch<'_>,
        layout: &Layout<'_>,
        body: &[u8],
    ) -> Result<(), ColumnFileError> {
        let entries = u64::try_from(layout.length()).unwrap_or(u64::MAX).saturating_mul(DICTIONARY_ENTRY);
        let new = unpacked(layout, body, &self.limits)?.max(entries);
        // What is appended to is copied.
        let size = |array: &ArrayRef| array.get_array_memory_size() as u64;
        let known = self.dictionaries.get(&dictionary.id()).filter(|_| dictionary.isDelta());
        let copied = known.map_or(0, size);
        self.limits.allow_unpacked(new.saturating_add(copied))?;
        self.limits.allow_in_memory(self.dictionaries.values().map(size).fold(new, u64::saturating_add))
    }

    fn next_head(&mut self) -> Result<Option<Vec<u8>>, ColumnFileError> {
        let MessageOrder::File { offsets, seek } = &mut self.order else { return head(&mut self.source) };
        let Some(offset) = offsets.next() else { return Ok(None) };
        seek(&mut self.source, SeekFrom::Start(offset))?;
        let head = head(&mut self.source)?;
        head.map(Some).ok_or_else(|| ColumnFileError::damaged("a message is not in its place"))
    }
}

impl<R: Read> Iterator for IpcMessages<R> {
    type Item = Result<RecordBatch, ColumnFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let batch = self.read().transpose();
        self.ended = !matches!(batch, Some(Ok(_)));
        batch
    }
}

/// The metadata of a message; none at the end of a stream, which may have an end marker.
fn head(source: &mut impl Read) -> Result<Option<Vec<u8>>, ColumnFileError> {
    let mut length = Vec::with_capacity(4);
    source.take(4).read_to_end(&mut length)?;
    if length.is_empty() {
        return Ok(None);
    }
    if length == CONTINUATION {
        length = bytes(source, 4)?;
    }
    let length = length.try_into().map_err(|_| ColumnFileError::damaged("it ends too early"))?;
    match i32::from_le_bytes(length) {
        0 => Ok(None),
        length => bytes(source, length.into()).map(Some),
    }
}

/// Reads `length` bytes. Memory is allocated for bytes that are there, not for a claimed length.
fn bytes(source: &mut impl Read, length: i64) -> Result<Vec<u8>, ColumnFileError> {
    const AT_ONCE: u64 = 1 << 20;
    let length =
        u64::try_from(length).map_err(|_| ColumnFileError::damaged("a message has a negative length"))?;
    let mut bytes = Vec::with_capacity(length.min(AT_ONCE) as usize);
    source.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(ColumnFileError::damaged("it ends too early")) }
}

fn message(head: &[u8]) -> Result<Message<'_>, ColumnFileError> {
    root_as_message_with_opts(&METADATA, head).map_err(|error| ColumnFileError::damaged(&error.to_string()))
}

/// The bytes that the columns of a message unpack to. Refuses columns that are outside of their message, and columns
/// that unpack to more than they claim.
fn unpacked(layout: &Layout<'_>, body: &[u8], limits: &ColumnLimits) -> Result<u64, ColumnFileError> {
    let codec = layout.compression().map(|compression| compression.codec());
    let mut total = body.len() as u64;
    for buffer in layout.buffers().into_iter().flatten() {
        let part = |start, length| body.get(start..)?.get(..length);
        let bounds = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let bytes = bounds.and_then(|(start, length)| part(start, length));
        let bytes =
            bytes.ok_or_else(|| ColumnFileError::damaged("a column is beyond the end of its message"))?;
        // The length comes before the compressed bytes; -1 means that they are not compressed.
        if let (Some(codec), Some((length, packed))) = (codec, bytes.split_first_chunk())
            && let Ok(claimed) = u64::try_from(i64::from_le_bytes(*length))
        {
            let is_frame = codec == CompressionType::LZ4_FRAME;
            let size = if is_frame { unpacked_size::lz4_frame(packed, claimed) } else { claimed };
            total = total.saturating_add(size);
            limits.allow_in_memory(total)?;
        }
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use arrow_array::Int64Array;
    use arrow_ipc::{
        CompressionType,
        writer::{IpcWriteOptions, StreamWriter},
    };

    use super::*;

    fn stream() -> Vec<u8> {
        let array: ArrayRef = Arc::new(Int64Array::from(vec![7; 1000]));
        let batch = RecordBatch::try_from_iter([("a", array)]).expect("a table");
        let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME));
        let options = options.expect("a known codec");
        let mut writer =
            StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).expect("a schema");
        writer.write(&batch).expect("rows");
        writer.into_inner().expect("an end")
    }

    fn read(bytes: &[u8]) -> Result<usize, ColumnFileError> {
        let messages = IpcMessages::of_stream(bytes, ColumnLimits::of_size(bytes.len()))?.project(&[0]);
        messages.map(|batch| Ok(batch?.num_rows())).sum()
    }

    #[test]
    fn a_huge_claimed_length_takes_no_memory() {
        assert_eq!(read(&stream()).expect("rows"), 1000);
        for length in [i32::MAX, 1, -1, i32::MIN] {
            let mut bytes = stream();
            bytes[4..8].copy_from_slice(&length.to_le_bytes());
            assert!(matches!(read(&bytes), Err(ColumnFileError::Damaged(_))), "{length}");
        }
    }

    #[test]
    fn a_column_that_claims_more_than_the_memory_is_refused() {
        let mut bytes = stream();
        let claim = 8000_i64.to_le_bytes();
        let at = bytes.windows(8).rposition(|window| window == claim).expect("the length before the column");
        bytes[at..at + 8].copy_from_slice(&(i64::MAX / 2).to_le_bytes());
        let error = read(&bytes).expect_err("too much").to_string();
        assert!(error.starts_with("too large: 4611686018427"), "{error}");
    }

    #[test]
    fn a_stream_may_end_without_a_marker() {
        let bytes = stream();
        assert_eq!(read(&bytes[..bytes.len() - 8]).expect("rows"), 1000);
        assert!(read(&bytes[..bytes.len() - 7]).is_err());
        assert!(read(&[]).is_err());
    }
}
