//! The same table in all formats, intact and damaged.

use std::{io::Cursor, sync::Arc};

use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, ListArray, StringArray, UInt8Array,
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

fn parquet_bytes(bytes: Vec<u8>) -> Result<ColumnFile, ColumnFileError> {
    let limits = ColumnLimits::of_size(bytes.len());
    ColumnFile::parquet_bytes(bytes, limits)
}

fn ipc_file(bytes: Vec<u8>) -> Result<ColumnFile, ColumnFileError> {
    let limits = ColumnLimits::of_size(bytes.len());
    ColumnFile::ipc_file(Cursor::new(bytes), limits)
}

fn ipc_stream(bytes: Vec<u8>) -> Result<ColumnFile, ColumnFileError> {
    let limits = ColumnLimits::of_size(bytes.len());
    ColumnFile::ipc_stream(Cursor::new(bytes), limits)
}

/// The same table in every format, with every compression.
fn forms(batch: &RecordBatch) -> Vec<Result<ColumnFile, ColumnFileError>> {
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let gzip = Compression::GZIP(parquet::basic::GzipLevel::default());
    let codecs =
        [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::LZ4_RAW, Compression::LZ4, gzip, zstd];
    let parquet = codecs.map(|codec| parquet_bytes(parquet_of(batch, codec)));
    let codecs = [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)];
    let file = codecs.map(|codec| ipc_file(file_of(batch, codec)));
    let whole = std::slice::from_ref(batch);
    let stream = codecs.map(|codec| ipc_stream(stream_of(whole, codec)));
    parquet.into_iter().chain(file).chain(stream).collect()
}

fn cell(batch: &ColumnBatch, row: usize, column: usize) -> Option<String> {
    batch.cell(row, column).map(|text| String::from_utf8(text.to_vec()).expect("text"))
}

fn column_of(
    batches: Result<ColumnFile, ColumnFileError>,
    column: usize,
) -> Result<Vec<Option<String>>, ColumnFileError> {
    let mut batches = batches?;
    batches.project(&[column]);
    let mut cells = Vec::new();
    while let Some(batch) = batches.next()? {
        cells.extend((0..batch.n_rows()).map(|row| cell(&batch, row, column)));
    }
    assert!(batches.next()?.is_none(), "the end stays the end");
    Ok(cells)
}

#[test]
fn a_table_reads_alike_in_every_format() {
    let n = 2 * ROWS + 100;
    let words = (0..n).map(|row| ["cat", "dog"].get(row % 3));
    let coded: DictionaryArray<Int8Type> = (0..n).map(|row| ["yes", "no"].get(row % 3).copied()).collect();
    let batch = table(vec![
        ("word", Arc::new(words.collect::<StringArray>())),
        ("number", Arc::new((0..n as i64).map(Some).collect::<Int64Array>())),
        ("coded", Arc::new(coded)),
        (
            "share",
            Arc::new((0..n).map(|row| (row % 2 == 0).then_some(row as f64 / 4.0)).collect::<Float64Array>()),
        ),
    ]);
    for batches in forms(&batch) {
        let mut batches = batches.expect("a table");
        assert_eq!(batches.header(), ["word", "number", "coded", "share"]);
        assert_eq!(batches.n_rows_hint().unwrap_or(n as u64), n as u64);
        let mut row = 0;
        while let Some(batch) = batches.next().expect("rows") {
            for at in 0..batch.n_rows() {
                assert_eq!(batch.number(at), row as u64 + 1);
                assert_eq!(cell(&batch, at, 0).as_deref(), ["cat", "dog"].get(row % 3).copied());
                assert_eq!(cell(&batch, at, 1), Some(row.to_string()));
                assert_eq!(cell(&batch, at, 2).as_deref(), ["yes", "no"].get(row % 3).copied());
                assert_eq!(cell(&batch, at, 3), (row % 2 == 0).then(|| format!("{:?}", row as f64 / 4.0)));
                row += 1;
            }
        }
        assert_eq!((row, batches.n_read()), (n, n as u64));
    }
}

#[test]
fn a_dictionary_holds_until_the_next_one() {
    let coded = |words: &[&str]| -> RecordBatch {
        table(vec![("word", Arc::new(words.iter().copied().collect::<DictionaryArray<Int8Type>>()))])
    };
    let bytes = stream_of(&[coded(&["a", "b", "a"]), coded(&[]), coded(&["c", "a"])], None);
    let cells = column_of(ipc_stream(bytes), 0).expect("rows");
    assert_eq!(cells.into_iter().flatten().collect::<String>(), "abaca");
}

#[test]
fn a_nested_column_is_refused_only_if_it_is_selected() {
    let lists = ListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(1)])]);
    let batch = table(vec![("many", Arc::new(lists)), ("one", Arc::new(BooleanArray::from(vec![true])))]);
    for mut batches in forms(&batch).into_iter().flatten() {
        assert_eq!((batches.cell_type(1), batches.data_type(1)), (CellType::Boolean, &DataType::Boolean));
        batches.project(&[1, 1]);
        let batch = batches.next().expect("no error").expect("a row");
        assert_eq!(batch.cell(0, 1), Some(&b"true"[..]));
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
        while batches.next().expect("rows").is_some() {}
        assert_eq!(batches.n_read(), 3 * ROWS as u64);
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
fn an_unsupported_compression_is_not_damage() {
    let batch = table(vec![("a", Arc::new(UInt8Array::from(vec![1])))]);
    let bytes = Bytes::from(parquet_of(&batch, Compression::UNCOMPRESSED));
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes).expect("a table");
    let group = builder.metadata().row_group(0).clone();
    let chunk =
        group.column(0).clone().into_builder().set_compression(Compression::LZO).build().expect("a chunk");
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

/// Reads all rows; returns the error, if any.
fn read_all(batches: Result<ColumnFile, ColumnFileError>) -> Option<ColumnFileError> {
    let mut batches = match batches {
        Ok(batches) => batches,
        Err(error) => return Some(error),
    };
    loop {
        match batches.next() {
            Ok(Some(_)) => {}
            Ok(None) => return None,
            Err(error) => {
                assert!(matches!(batches.next(), Ok(None)), "it is given up");
                return Some(error);
            }
        }
    }
}

type Reader = fn(Vec<u8>) -> Result<ColumnFile, ColumnFileError>;

/// A small table in each format, and how to read it.
fn samples() -> [(Vec<u8>, Reader); 3] {
    let codec = Some(CompressionType::LZ4_FRAME);
    [
        (parquet_of(&small(), Compression::SNAPPY), parquet_bytes as Reader),
        (file_of(&small(), codec), ipc_file),
        (stream_of(&[small()], codec), ipc_stream),
    ]
}

#[test]
fn a_file_cut_short_is_refused() {
    let [parquet, file, stream] = samples();
    for (good, read) in [parquet, file] {
        for end in 0..good.len() {
            let error = read_all(read(good[..end].to_vec())).expect("a error");
            assert!(matches!(error, ColumnFileError::Damaged(_)), "{end}: {error}");
        }
    }
    // A stream may end after any message.
    let whole = (0..stream.0.len()).filter(|&end| read_all(stream.1(stream.0[..end].to_vec())).is_none());
    assert!(whole.count() < 8, "only between messages");
}

#[test]
fn damage_is_reported_in_one_line() {
    for (good, read) in samples() {
        assert!(read_all(read(good.clone())).is_none());
        for at in 0..good.len() {
            for damage in [0x00, 0x7f, 0x80, 0xff] {
                let mut bytes = good.clone();
                bytes[at] = damage;
                let error = read_all(read(bytes)).map_or_else(String::new, |error| error.to_string());
                assert!(!error.contains('\n') && error.len() < 400, "{at}: {error}");
            }
        }
    }
}
