//! Parquet and Arrow files: columns in batches, handed out row by row as text.
//!
//! In: a Parquet file, or one of Arrow's own formats, the file (Feather) and the stream. Out: the text of each
//! cell that is asked for; other columns are not decoded. What is read may be damaged, or made to do harm: it is
//! refused in one line and never trusted.

mod guard;
mod ipc;
mod texts;

use std::{
    error::Error,
    fs::File,
    io::{self, Read, Seek},
    mem,
};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use bytes::Bytes;
use parquet::{
    arrow::{ProjectionMask, arrow_reader::ParquetRecordBatchReaderBuilder},
    basic::Compression,
    errors::ParquetError,
    file::{metadata::ParquetMetaData, reader::ChunkReader},
};

use crate::{
    error::{Error as Refusal, Place},
    table::Kind,
};
use guard::guard;
use ipc::Messages;
use texts::{Texts, kind};

/// Rows made into text at once: few enough to stay in a cache, enough to forget what a batch costs.
const ROWS: usize = 8192;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// It breaks the rules of its format, or ends too early.
    #[error("damaged: {0}")]
    Damaged(String),
    /// A column that was asked for is of a kind that we do not read.
    #[error("column `{column}`: {found}")]
    Unsupported {
        /// Its name.
        column: String,
        /// What it is.
        found: String,
    },
    /// The system's words.
    #[error(transparent)]
    Io(io::Error),
}

impl Fault {
    /// The complaint about a file.
    pub(crate) fn at(self, place: &Place) -> Refusal {
        match self {
            Self::Damaged(found) => {
                place.refused("a whole file of columns", format!("a damaged one: {found}"))
            }
            Self::Unsupported { column, found } => {
                place.refused(format!("single values in column `{column}`"), found)
            }
            Self::Io(source) => place.io("a table", source),
        }
    }

    fn damaged(said: &str) -> Self {
        Self::Damaged(one_line(said))
    }

    fn of(error: Box<dyn Error + Send + Sync>) -> Self {
        error
            .downcast::<io::Error>()
            .map_or_else(|other| Self::damaged(&other.to_string()), |io| (*io).into())
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::damaged("it ends too early"),
            // What the system does not say comes from those who decompress.
            _ if error.raw_os_error().is_none() => Self::damaged(&error.to_string()),
            _ => Self::Io(error),
        }
    }
}

impl From<ArrowError> for Fault {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, source) => source.into(),
            ArrowError::ExternalError(source) => Self::of(source),
            other => Self::damaged(&other.to_string()),
        }
    }
}

impl From<ParquetError> for Fault {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(source) => Self::of(source),
            other => Self::damaged(&other.to_string()),
        }
    }
}

/// What another library said, on one short line that begins small, without the names of its layers.
fn one_line(said: &str) -> String {
    const LAYERS: [&str; 9] = [
        "Parquet argument",
        "Parquet",
        "Arrow",
        "Ipc",
        "External",
        "Invalid argument",
        "Parser",
        "Cast",
        "EOF",
    ];
    const LONGEST: usize = 200;
    let mut said = said.trim();
    let below = |said: &'_ str| {
        LAYERS.iter().find_map(|layer| {
            let rest = said.strip_prefix(layer)?;
            let rest = rest.strip_prefix(" error").unwrap_or(rest).strip_prefix(": ")?;
            Some(said.len() - rest.len())
        })
    };
    while let Some(skipped) = below(said) {
        said = &said[skipped..];
    }
    let words: Vec<&str> = said.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(LONGEST).collect();
    let mut letters = line.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

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

/// A file of columns being read, one row at a time.
pub(crate) struct Batches {
    schema: SchemaRef,
    header: Vec<String>,
    n_rows: Option<u64>,
    /// Columns that will be asked for, in the order of the file, each once.
    wanted: Vec<usize>,
    source: Source,
    /// Rows read and not yet made into text; they have the wanted columns only.
    rest: Option<RecordBatch>,
    /// The rows at hand, by column of the file.
    texts: Vec<Texts>,
    n_at_hand: usize,
    /// The present row among those at hand.
    at: usize,
    row: u64,
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
            n_at_hand: 0,
            at: 0,
            row: 0,
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

    /// Only these columns will be asked for; all of them if this is never called. To be called before the first
    /// row.
    pub(crate) fn project(&mut self, columns: &[usize]) {
        self.wanted = columns.to_vec();
        self.wanted.sort_unstable();
        self.wanted.dedup();
    }

    /// Goes to the next row; false after the last.
    ///
    /// # Errors
    ///
    /// [`Fault`]. A column of a type that has no text is refused before the first row.
    pub(crate) fn next(&mut self) -> Result<bool, Fault> {
        self.at += 1;
        if self.at >= self.n_at_hand {
            (self.at, self.n_at_hand) = (0, 0);
            self.n_at_hand = guard(|| self.read_rows()).inspect_err(|_| self.source = Source::Ended)?;
            if self.n_at_hand == 0 {
                return Ok(false);
            }
        }
        self.row += 1;
        Ok(true)
    }

    /// The text of a cell of the present row; none if it is null.
    pub(crate) fn cell(&self, column: usize) -> Option<&[u8]> {
        debug_assert!(self.wanted.contains(&column), "column {column} was announced");
        if self.at < self.n_at_hand { self.texts[column].get(self.at) } else { None }
    }

    /// The number of the present row, from 1.
    pub(crate) fn row(&self) -> u64 {
        self.row
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
mod tests {
    use std::{io::Cursor, sync::Arc};

    use arrow_array::{
        ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, ListArray, StringArray,
        UInt8Array,
        types::{Int8Type, Int64Type},
    };
    use arrow_ipc::{
        CompressionType,
        writer::{FileWriter, IpcWriteOptions, StreamWriter},
    };
    use arrow_schema::{Field, Schema};
    use parquet::{arrow::ArrowWriter, basic::ZstdLevel, file::properties::WriterProperties};

    use super::*;

    fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        let field = |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        RecordBatch::try_new(Arc::new(schema), arrays).expect("columns of equal length")
    }

    fn parquet_of(batch: &RecordBatch, codec: Compression) -> Vec<u8> {
        let properties =
            WriterProperties::builder().set_compression(codec).set_max_row_group_row_count(Some(5000));
        let mut bytes = Vec::new();
        let mut writer =
            ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).expect("a schema");
        writer.write(batch).expect("rows");
        writer.close().expect("a footer");
        bytes
    }

    fn file_of(batch: &RecordBatch, codec: Option<CompressionType>) -> Vec<u8> {
        let options = IpcWriteOptions::default().try_with_compression(codec).expect("a known codec");
        let mut writer =
            FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).expect("a schema");
        writer.write(batch).expect("rows");
        writer.into_inner().expect("a footer")
    }

    fn stream_of(batches: &[RecordBatch], codec: Option<CompressionType>) -> Vec<u8> {
        let options = IpcWriteOptions::default().try_with_compression(codec).expect("a known codec");
        let mut writer =
            StreamWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).expect("a schema");
        batches.iter().for_each(|batch| writer.write(batch).expect("rows"));
        writer.into_inner().expect("an end")
    }

    /// The same table in every format, with every compression.
    fn forms(batch: &RecordBatch) -> Vec<Result<Batches, Fault>> {
        let zstd = Compression::ZSTD(ZstdLevel::default());
        let gzip = Compression::GZIP(parquet::basic::GzipLevel::default());
        let codecs = [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::LZ4_RAW,
            Compression::LZ4,
            gzip,
            zstd,
        ];
        let parquet = codecs.map(|codec| Batches::parquet_bytes(parquet_of(batch, codec)));
        let codecs = [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)];
        let file = codecs.map(|codec| Batches::ipc_file(Cursor::new(file_of(batch, codec))));
        let whole = std::slice::from_ref(batch);
        let stream = codecs.map(|codec| Batches::ipc_stream(Cursor::new(stream_of(whole, codec))));
        parquet.into_iter().chain(file).chain(stream).collect()
    }

    fn cell(batches: &Batches, column: usize) -> Option<String> {
        batches.cell(column).map(|text| String::from_utf8(text.to_vec()).expect("text"))
    }

    fn column_of(batches: Result<Batches, Fault>, column: usize) -> Result<Vec<Option<String>>, Fault> {
        let mut batches = batches?;
        batches.project(&[column]);
        let mut cells = Vec::new();
        while batches.next()? {
            cells.push(cell(&batches, column));
        }
        assert!(!batches.next()?, "the end stays the end");
        Ok(cells)
    }

    #[test]
    fn a_table_reads_alike_in_every_format() {
        let n = 2 * ROWS + 100;
        let words = (0..n).map(|row| ["cat", "dog"].get(row % 3));
        let coded: DictionaryArray<Int8Type> =
            (0..n).map(|row| ["yes", "no"].get(row % 3).copied()).collect();
        let batch = table(vec![
            ("word", Arc::new(words.collect::<StringArray>())),
            ("number", Arc::new((0..n as i64).map(Some).collect::<Int64Array>())),
            ("coded", Arc::new(coded)),
            (
                "share",
                Arc::new(
                    (0..n).map(|row| (row % 2 == 0).then_some(row as f64 / 4.0)).collect::<Float64Array>(),
                ),
            ),
        ]);
        for batches in forms(&batch) {
            let mut batches = batches.expect("a table");
            assert_eq!(batches.header(), ["word", "number", "coded", "share"]);
            assert_eq!(batches.n_rows_hint().unwrap_or(n as u64), n as u64);
            assert_eq!(batches.cell(0), None, "no row yet");
            for row in 0..n {
                assert!(batches.next().expect("a row"));
                assert_eq!(batches.row(), row as u64 + 1);
                assert_eq!(cell(&batches, 0).as_deref(), ["cat", "dog"].get(row % 3).copied());
                assert_eq!(cell(&batches, 1), Some(row.to_string()));
                assert_eq!(cell(&batches, 2).as_deref(), ["yes", "no"].get(row % 3).copied());
                assert_eq!(cell(&batches, 3), (row % 2 == 0).then(|| format!("{:?}", row as f64 / 4.0)));
            }
            assert!(!batches.next().expect("the end"));
            assert_eq!((batches.cell(0), batches.row()), (None, n as u64));
        }
    }

    #[test]
    fn a_dictionary_holds_until_the_next_one() {
        let coded = |words: &[&str]| -> RecordBatch {
            table(vec![("word", Arc::new(words.iter().copied().collect::<DictionaryArray<Int8Type>>()))])
        };
        let bytes = stream_of(&[coded(&["a", "b", "a"]), coded(&[]), coded(&["c", "a"])], None);
        let cells = column_of(Batches::ipc_stream(Cursor::new(bytes)), 0).expect("rows");
        assert_eq!(cells.into_iter().flatten().collect::<String>(), "abaca");
    }

    #[test]
    fn a_nested_column_is_refused_only_if_it_is_asked_for() {
        let lists = ListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(1)])]);
        let batch = table(vec![("many", Arc::new(lists)), ("one", Arc::new(BooleanArray::from(vec![true])))]);
        for mut batches in forms(&batch).into_iter().flatten() {
            assert_eq!((batches.kind(1), batches.data_type(1)), (Kind::Boolean, &DataType::Boolean));
            batches.project(&[1, 1]);
            assert!(batches.next().expect("a row"));
            assert_eq!(batches.cell(1), Some(&b"true"[..]));
        }
        for batches in forms(&batch) {
            let refused = column_of(batches, 0).expect_err("a list").to_string();
            assert!(refused.starts_with("column `many`: type List("), "{refused}");
        }
    }

    #[test]
    fn rows_are_counted_without_any_column() {
        let batch = table(vec![("a", Arc::new(UInt8Array::from(vec![7; 3 * ROWS])))]);
        for mut batches in forms(&batch).into_iter().flatten() {
            batches.project(&[]);
            while batches.next().expect("a row") {}
            assert_eq!(batches.row(), 3 * ROWS as u64);
        }
    }

    #[test]
    fn repeated_names_are_seen() {
        let one = || Arc::new(UInt8Array::from(vec![1])) as ArrayRef;
        for batches in forms(&table(vec![("a", one()), ("b", one()), ("a", one())])) {
            assert_eq!(batches.expect("a table").header(), ["a", "b", "a"]);
        }
    }

    #[test]
    fn a_compression_that_we_lack_is_no_damage() {
        let batch = table(vec![("a", Arc::new(UInt8Array::from(vec![1])))]);
        let bytes = Bytes::from(parquet_of(&batch, Compression::UNCOMPRESSED));
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes).expect("a table");
        let group = builder.metadata().row_group(0).clone();
        let chunk = group
            .column(0)
            .clone()
            .into_builder()
            .set_compression(Compression::LZO)
            .build()
            .expect("a chunk");
        let group = group.into_builder().set_column_metadata(vec![chunk]).build().expect("a group");
        let metadata = builder.metadata().as_ref().clone().into_builder().set_row_groups(vec![group]).build();
        assert!(refuse_codecs(&metadata, &[]).is_ok());
        let refused = refuse_codecs(&metadata, &[0]).expect_err("no such codec");
        assert_eq!(refused.to_string(), "column `a`: compression LZO");
    }

    fn small() -> RecordBatch {
        let coded: DictionaryArray<Int8Type> = [Some("yes"), None, Some("no")].into_iter().collect();
        table(vec![
            ("word", Arc::new(StringArray::from(vec![Some("cat"), None, Some("dog")]))),
            ("number", Arc::new(Int64Array::from(vec![Some(1), Some(2), None]))),
            ("coded", Arc::new(coded)),
        ])
    }

    /// Reads everything there is, and says what stood in the way.
    fn read_all(batches: Result<Batches, Fault>) -> Option<Fault> {
        let mut batches = match batches {
            Ok(batches) => batches,
            Err(fault) => return Some(fault),
        };
        loop {
            match batches.next() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(fault) => {
                    assert!(matches!(batches.next(), Ok(false)), "it is given up");
                    return Some(fault);
                }
            }
        }
    }

    type Reader = fn(Vec<u8>) -> Result<Batches, Fault>;

    /// A small table in each format, and how to read it.
    fn samples() -> [(Vec<u8>, Reader); 3] {
        let codec = Some(CompressionType::LZ4_FRAME);
        [
            (parquet_of(&small(), Compression::SNAPPY), Batches::parquet_bytes),
            (file_of(&small(), codec), |bytes| Batches::ipc_file(Cursor::new(bytes))),
            (stream_of(&[small()], codec), |bytes| Batches::ipc_stream(Cursor::new(bytes))),
        ]
    }

    #[test]
    fn a_file_cut_short_is_refused() {
        let [parquet, file, stream] = samples();
        for (good, read) in [parquet, file] {
            for end in 0..good.len() {
                let fault = read_all(read(good[..end].to_vec())).expect("a fault");
                assert!(matches!(fault, Fault::Damaged(_)), "{end}: {fault}");
            }
        }
        // A stream may end after any message.
        let whole = (0..stream.0.len()).filter(|&end| read_all(stream.1(stream.0[..end].to_vec())).is_none());
        assert!(whole.count() < 8, "only between messages");
    }

    #[test]
    fn damage_is_told_in_one_line() {
        for (good, read) in samples() {
            assert!(read_all(read(good.clone())).is_none());
            for at in 0..good.len() {
                for damage in [0x00, 0x7f, 0x80, 0xff] {
                    let mut bytes = good.clone();
                    bytes[at] = damage;
                    let fault = read_all(read(bytes)).map_or_else(String::new, |fault| fault.to_string());
                    assert!(!fault.contains('\n') && fault.len() < 400, "{at}: {fault}");
                }
            }
        }
    }

    #[test]
    fn the_words_of_other_libraries_are_shortened() {
        assert_eq!(one_line("Parquet argument error: Parquet error: Not  a\nfile"), "not a file");
        assert_eq!(one_line("External: Arrow: Cast error: Éa"), "éa");
        assert_eq!(one_line(&"x".repeat(1000)).len(), 200);
        assert_eq!(one_line(""), "");
    }
}
