//! Writes small files of columns that claim much or unpack to much, in `testdata/bombs`. The tests of the command read
//! them with limited memory.
//!
//! `cargo test -p spocc-table --features arrow --test bombs -- --ignored` writes those that are missing.
#![cfg(feature = "arrow")]

use std::{fs, path::PathBuf, sync::Arc};

use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Int64Array, NullArray, RecordBatch, StringArray, StringViewArray,
};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_ipc::{
    CompressionType,
    writer::{FileWriter, IpcWriteOptions, StreamWriter},
};
use arrow_schema::{DataType, Field, Schema};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, Encoding, GzipLevel, ZstdLevel},
    file::properties::{WriterProperties, WriterPropertiesBuilder},
};

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/bombs"))
}

/// A table of a column of predictions and a column of true labels.
fn table(ann: ArrayRef, truth: ArrayRef) -> RecordBatch {
    let field = |name: &str, array: &ArrayRef| Field::new(name, array.data_type().clone(), true);
    let schema = Schema::new(vec![field("ann", &ann), field("truth", &truth)]);
    RecordBatch::try_new(Arc::new(schema), vec![ann, truth]).expect("columns of equal length")
}

fn texts(text: &str, n: usize) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, n)))
}

fn stream(batches: &[RecordBatch], codec: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(codec).expect("a codec");
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).expect("a schema");
    batches.iter().for_each(|batch| writer.write(batch).expect("rows"));
    writer.into_inner().expect("an end")
}

fn parquet(batches: &[RecordBatch], properties: WriterPropertiesBuilder) -> Vec<u8> {
    let properties = properties
        .set_data_page_row_count_limit(usize::MAX)
        .set_max_row_group_row_count(None)
        .set_data_page_size_limit(1 << 30)
        .set_dictionary_page_size_limit(1 << 30);
    let mut writer =
        ArrowWriter::try_new(Vec::new(), batches[0].schema(), Some(properties.build())).expect("a schema");
    batches.iter().for_each(|batch| writer.write(batch).expect("rows"));
    writer.into_inner().expect("a footer")
}

fn plain() -> WriterPropertiesBuilder {
    WriterProperties::builder()
}

/// Replaces the only place of some bytes.
fn replace(bytes: &mut [u8], old: &[u8], new: &[u8]) {
    let mut places = bytes.windows(old.len()).enumerate().filter(|(_, part)| *part == old).map(|(at, _)| at);
    let (at, other) = (places.next().expect("the bytes"), places.next());
    assert_eq!((old.len(), other), (new.len(), None));
    bytes[at..at + new.len()].copy_from_slice(new);
}

/// Many rows of equal labels: 300 million in a few hundred bytes.
fn parquet_runs() -> Vec<u8> {
    let batch = table(texts("cat", 1 << 20), texts("cat", 1 << 20));
    parquet(&vec![batch; 300], plain())
}

/// A page of 140 MB that claims to unpack to 2 GB.
fn parquet_page_size() -> Vec<u8> {
    let codec = Compression::ZSTD(ZstdLevel::default());
    let batch = table(texts(&"c".repeat(140 << 20), 1), texts("cat", 1));
    let mut bytes = parquet(&[batch], plain().set_compression(codec).set_dictionary_enabled(false));
    // The header begins with the type of the page and its size; both sizes have five bytes.
    let start = bytes.windows(3).position(|part| part == [0x15, 0, 0x15]).expect("a page") + 3;
    assert!(bytes[start + 3] >= 0x80 && bytes[start + 4] < 0x10);
    bytes[start..start + 5].copy_from_slice(&[0xfe, 0xff, 0xff, 0xff, 0x0f]);
    bytes
}

/// A dictionary that claims two billion values.
fn parquet_dictionary() -> Vec<u8> {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1234; 4]));
    let mut bytes = parquet(&[table(numbers, texts("cat", 4))], plain());
    // A dictionary page: type 2, two sizes of 8 bytes, then its header with one value.
    replace(
        &mut bytes[..40],
        &[0x15, 4, 0x15, 16, 0x15, 16, 0x4c, 0x15, 2],
        &[0x15, 4, 0x15, 16, 0x15, 16, 0x4c, 0x15, 0x7e],
    );
    bytes
}

/// A page of gzip that unpacks to 160 MB.
fn parquet_gzip() -> Vec<u8> {
    let codec = Compression::GZIP(GzipLevel::default());
    let text = "c".repeat(4 << 20);
    let batch = table(texts(&text, 40), texts("cat", 40));
    parquet(&[batch], plain().set_compression(codec).set_dictionary_enabled(false))
}

/// A long text that each of many rows repeats.
fn parquet_long_text() -> Vec<u8> {
    let codec = Compression::ZSTD(ZstdLevel::default());
    let text = "c".repeat(64 << 10);
    parquet(&[table(texts(&text, 8192), texts("cat", 8192))], plain().set_compression(codec))
}

/// Texts that each repeat the one before and add a letter.
fn parquet_prefixes() -> Vec<u8> {
    let codec = Compression::ZSTD(ZstdLevel::default());
    let text = "c".repeat(20_000);
    let rows: ArrayRef = Arc::new(StringArray::from_iter_values((1..20_000).map(|n| &text[..n])));
    let properties = plain()
        .set_compression(codec)
        .set_dictionary_enabled(false)
        .set_column_encoding("ann".into(), Encoding::DELTA_BYTE_ARRAY);
    parquet(&[table(rows, texts("cat", 19_999))], properties)
}

/// Many empty texts, whose lengths are decoded at once.
fn parquet_lengths() -> Vec<u8> {
    let properties = plain()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(false)
        .set_column_encoding("ann".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY);
    let batch = table(texts("", 1 << 20), Arc::new(BooleanArray::from(vec![true; 1 << 20])));
    parquet(&vec![batch; 16], properties)
}

/// A column that unpacks to 320 MB.
fn arrow_zstd() -> Vec<u8> {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![7; 40 << 20]));
    let truth: ArrayRef = Arc::new(BooleanArray::from(vec![true; 40 << 20]));
    stream(&[table(numbers, truth)], Some(CompressionType::ZSTD))
}

/// A column that claims to unpack to 4 EB.
fn arrow_claim() -> Vec<u8> {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![7; 1000]));
    let mut bytes = stream(&[table(numbers, texts("cat", 1000))], Some(CompressionType::LZ4_FRAME));
    replace(&mut bytes, &8000_i64.to_le_bytes(), &(i64::MAX / 2).to_le_bytes());
    bytes
}

/// Rows without any bytes.
fn arrow_nulls() -> Vec<u8> {
    let nulls = || Arc::new(NullArray::new(1 << 40)) as ArrayRef;
    stream(&[table(nulls(), nulls())], None)
}

/// A dictionary of entries without any bytes.
fn arrow_null_dictionary() -> Vec<u8> {
    let keys = arrow_array::Int32Array::from(vec![0; 4]);
    let values: ArrayRef = Arc::new(NullArray::new(1 << 40));
    let ann: ArrayRef = Arc::new(DictionaryArray::new(keys, values));
    stream(&[table(ann, texts("cat", 4))], None)
}

/// Views of one long text.
fn arrow_views() -> Vec<u8> {
    let (length, n) = (4 << 20, 5000);
    let text = Buffer::from(vec![b'c'; length]);
    let prefix = u128::from(u32::from_le_bytes(*b"cccc"));
    let view = (prefix << 32) | length as u128;
    let views = ScalarBuffer::from(vec![view; n]);
    let ann: ArrayRef = Arc::new(StringViewArray::try_new(views, vec![text], None).expect("views"));
    stream(&[table(ann, texts("cat", n))], Some(CompressionType::ZSTD))
}

/// A file whose footer lists one batch two hundred times.
fn arrow_batches() -> Vec<u8> {
    let text = "c".repeat(1000);
    let batch = table(texts(&text, 20_000), texts(&text, 20_000));
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD));
    let options = options.expect("a codec");
    let small = table(texts("c", 1), texts("c", 1));
    let mut writer =
        FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).expect("a schema");
    writer.write(&batch).expect("rows");
    (0..200).for_each(|_| writer.write(&small).expect("rows"));
    let mut bytes = writer.into_inner().expect("a footer");
    // Each entry of the footer is an offset, a length and another length; all become those of the first.
    let end = bytes.len() - 10;
    let footer = end - i32::from_le_bytes(bytes[end..end + 4].try_into().expect("four bytes")) as usize;
    let blocks: Vec<usize> = (footer..end - 24)
        .step_by(8)
        .filter(|&at| {
            let offset = i64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
            usize::try_from(offset).is_ok_and(|offset| {
                offset > 8 && offset + 4 < footer && bytes[offset..offset + 4] == [0xff; 4]
            })
        })
        .collect();
    assert!(blocks.len() > 190, "{}", blocks.len());
    let first = bytes[blocks[0]..blocks[0] + 24].to_vec();
    blocks.iter().for_each(|&at| bytes[at..at + 24].copy_from_slice(&first));
    bytes
}

/// A type that is nested a hundred times.
fn arrow_nested() -> Vec<u8> {
    let list = |inner: DataType, _| DataType::List(Arc::new(Field::new("item", inner, true)));
    let nested = (0..100).fold(DataType::Null, list);
    stream(&[RecordBatch::new_empty(Arc::new(Schema::new(vec![Field::new("ann", nested, true)])))], None)
}

type Bomb = (&'static str, fn() -> Vec<u8>);

/// Each file, and how it is made.
const BOMBS: [Bomb; 14] = [
    ("runs.parquet", parquet_runs),
    ("page-size.parquet", parquet_page_size),
    ("dictionary.parquet", parquet_dictionary),
    ("gzip.parquet", parquet_gzip),
    ("long-text.parquet", parquet_long_text),
    ("prefixes.parquet", parquet_prefixes),
    ("lengths.parquet", parquet_lengths),
    ("zstd.arrows", arrow_zstd),
    ("claim.arrows", arrow_claim),
    ("nulls.arrows", arrow_nulls),
    ("null-dictionary.arrows", arrow_null_dictionary),
    ("views.arrows", arrow_views),
    ("batches.arrow", arrow_batches),
    ("nested.arrows", arrow_nested),
];

#[test]
#[ignore = "writes testdata/bombs, which takes minutes"]
fn write_the_bombs() {
    for (name, make) in BOMBS.into_iter().filter(|(name, _)| !folder().join(name).exists()) {
        fs::write(folder().join(name), make()).expect("room");
    }
}

#[test]
fn every_bomb_is_there_and_is_small() {
    for (name, _) in BOMBS {
        let size = fs::metadata(folder().join(name)).expect("a file").len();
        assert!(size < 1 << 18, "{name}: {size}");
    }
}
