//! Parquet files, read back.

use arrow_array::{
    Array as _,
    cast::AsArray as _,
    types::{Float64Type, Int64Type},
};
use arrow_schema::TimeUnit;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::*;
use crate::{
    TextColumn,
    arrow::{ColumnFile, ColumnLimits},
    write::{ColumnSpec, ColumnType, FileCompression, FileFormat, TableWriter, write_table},
};

fn column(name: &str, value_type: ValueType) -> ColumnSpec {
    ColumnSpec { name: name.to_owned(), value_type }
}

fn write(
    columns: Vec<ColumnSpec>,
    labels: &[Label],
    n_rows: usize,
    block: &[BlockValues<'_>],
) -> io::Result<Bytes> {
    let schema = TableSchema { columns, labels: labels.to_vec() };
    let mut out = Vec::new();
    write_table(&mut out, FileFormat::Parquet, FileCompression::None, &schema, |writer| {
        writer.write(n_rows, block)
    })?;
    Ok(out.into())
}

fn read(bytes: Bytes) -> RecordBatch {
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes).expect("a file");
    assert_eq!(
        builder.metadata().file_metadata().created_by(),
        Some(concat!("spocc version ", env!("CARGO_PKG_VERSION")))
    );
    assert!(builder.metadata().row_group(0).column(0).statistics().is_some());
    let batches: Result<Vec<RecordBatch>, _> = builder.build().expect("rows").collect();
    batches.expect("rows").remove(0)
}

fn lists(lists: &[&[u16]]) -> BlockValues<'static> {
    let mut made = LabelLists::default();
    lists.iter().for_each(|list| made.push(list.iter().copied()));
    BlockValues::LabelLists(made)
}

#[test]
fn all_types_of_columns_are_read_back() {
    let columns = vec![
        column("decision", ValueType::Label { nullable: false }),
        column("margin", ValueType::Float),
        column("possibility", ValueType::FloatPerLabel),
        column("ties", ValueType::RareLabelList),
        column("answered", ValueType::Integer),
    ];
    let block = [
        BlockValues::Label(vec![Some(0), Some(0)]),
        BlockValues::Float(&[0.25, 0.0]),
        BlockValues::Float(&[1.0, 0.75, 0.5, 0.125]),
        lists(&[&[], &[0, 1]]),
        BlockValues::Integer(vec![2, 1]),
    ];
    let batch = read(write(columns, &["a", "b"].map(Label::from), 2, &block).expect("a file"));
    let names: Vec<&str> = batch.schema_ref().fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["decision", "margin", "possibility:a", "possibility:b", "ties", "answered"]);
    let decided: Vec<_> = batch.column(0).as_string::<i32>().iter().flatten().collect();
    assert_eq!(decided, ["a", "a"]);
    let floats = |column: usize| batch.column(column).as_primitive::<Float64Type>().values().to_vec();
    assert_eq!([floats(1), floats(2), floats(3)], [[0.25, 0.0], [1.0, 0.5], [0.75, 0.125]]);
    let ties: Vec<_> = batch.column(4).as_string::<i32>().iter().collect();
    assert_eq!(ties, [None, Some("a|b")]);
    assert_eq!(batch.column(5).as_primitive::<Int64Type>().values(), &[2, 1]);
}

#[test]
fn lists_have_the_type_of_the_labels_and_a_missing_label_is_null() {
    let columns =
        vec![column("decision", ValueType::Label { nullable: true }), column("set", ValueType::LabelList)];
    let sets: [&[u16]; 4] = [&[0, 1], &[1], &[], &[0]];
    let block = [BlockValues::Label(vec![None, Some(1), Some(0), Some(0)]), lists(&sets)];
    let batch = read(write(columns, &[10, 20].map(Label::from), 4, &block).expect("a file"));
    assert!(batch.column(0).is_null(0) && batch.column(0).null_count() == 1);
    for (row, set) in sets.iter().enumerate() {
        let found = batch.column(1).as_list::<i32>().value(row);
        let expected: Vec<i64> = set.iter().map(|label| 10 * (i64::from(*label) + 1)).collect();
        assert_eq!(found.as_primitive::<Int64Type>().values(), &expected[..]);
    }
}

#[test]
fn a_label_column_has_the_type_of_the_labels() {
    let of = |labels: [Label; 2]| {
        let columns = vec![column("decision", ValueType::Label { nullable: false })];
        let block = [BlockValues::Label(vec![Some(0), Some(1)])];
        let bytes = write(columns, &labels, 2, &block).expect("a file");
        read(bytes).schema().field(0).data_type().clone()
    };
    assert_eq!(of([Label::from(true), Label::from(false)]), DataType::Boolean);
    assert_eq!(of([Label::from(1), Label::from(2)]), DataType::Int64);
    assert_eq!(of([1.0, 2.0].map(|x| Label::try_from(x).expect("whole"))), DataType::Float64);
    assert_eq!(of([Label::from("1"), Label::from("2")]), DataType::Utf8);
    assert_eq!(of([Label::from(1), Label::from("b")]), DataType::Utf8);
}

fn write_texts(name: &str, of: DataType, texts: [Option<&str>; 2]) -> io::Result<Bytes> {
    let columns = vec![column(name, ValueType::Text(ColumnType::from(of)))];
    let texts: TextColumn = texts.into_iter().collect();
    write(columns, &[], 2, &[BlockValues::Text(&texts, 0)])
}

#[test]
fn texts_come_back_as_they_were() {
    use DataType as T;
    let zone = |name: &str| Some(name.into());
    let coded = T::Dictionary(Box::new(T::Int8), Box::new(T::Int64));
    let ids = [
        ("text", T::Utf8, [Some("a"), None]),
        ("large", T::LargeUtf8, [Some(""), Some("é")]),
        ("i64", T::Int64, [Some("-9223372036854775808"), None]),
        ("u64", T::UInt64, [Some("18446744073709551615"), Some("0")]),
        ("u8", T::UInt8, [Some("255"), None]),
        ("bool", T::Boolean, [Some("true"), Some("false")]),
        ("f64", T::Float64, [Some("0.1"), Some("10000000000000000.0")]),
        ("f32", T::Float32, [Some("0.1"), Some("inf")]),
        ("binary", T::Binary, [Some("a"), None]),
        ("date", T::Date32, [Some("2024-02-29"), Some("1969-12-31")]),
        ("naive", T::Timestamp(TimeUnit::Microsecond, None), [Some("2024-02-29T01:02:03.000004"), None]),
        (
            "utc",
            T::Timestamp(TimeUnit::Nanosecond, zone("UTC")),
            [Some("2024-02-29T01:02:03.000000004Z"), None],
        ),
        (
            "paris",
            T::Timestamp(TimeUnit::Millisecond, zone("Europe/Paris")),
            [Some("2024-07-01T01:02:03Z"), None],
        ),
        ("time", T::Time64(TimeUnit::Nanosecond), [Some("01:02:03.000000004"), None]),
        ("dec", T::Decimal128(38, 2), [Some("123456789012345678901234567890.50"), Some("-0.05")]),
    ];
    let nearest = [
        ("coded", coded, T::Int64, [Some("7"), None]),
        ("view", T::Utf8View, T::Utf8, [Some("a"), None]),
        ("null", T::Null, T::Utf8, [None, None]),
        ("f16", T::Float16, T::Float32, [Some("1.5"), None]),
        ("second", T::Time32(TimeUnit::Second), T::Time32(TimeUnit::Millisecond), [Some("01:02:03"), None]),
        ("date64", T::Date64, T::Timestamp(TimeUnit::Millisecond, None), [Some("2024-02-29T00:00:00"), None]),
        ("dec32", T::Decimal32(7, 2), T::Decimal128(7, 2), [Some("1.50"), None]),
        ("dec256", T::Decimal256(38, 0), T::Decimal128(38, 0), [Some("7"), None]),
        ("wide", T::Decimal256(39, 0), T::Utf8, [Some("7"), None]),
        ("span", T::Duration(TimeUnit::Second), T::Utf8, [Some("PT1S"), None]),
    ];
    let own = ids.map(|(name, of, texts)| (name, of.clone(), of, texts));
    for (name, from, to, texts) in own.into_iter().chain(nearest) {
        let bytes = write_texts(name, from, texts).expect(name);
        assert_eq!(*read(bytes.clone()).column(0).data_type(), to, "{name}");
        let mut columns =
            ColumnFile::parquet_bytes(bytes.to_vec(), ColumnLimits::of_size(bytes.len())).expect(name);
        let batch = columns.next().expect(name).expect(name);
        for (row, text) in texts.into_iter().enumerate() {
            assert_eq!(batch.cell(row, 0), text.map(str::as_bytes), "{name}");
        }
    }
}

#[test]
fn a_text_that_is_not_of_its_type_is_refused() {
    for of in [DataType::Int8, DataType::Boolean, DataType::Date32, DataType::Decimal128(5, 2)] {
        let message = format!("column `id`: expected a value of type {of}, found `many`");
        let refused = write_texts("id", of, [Some("many"), None]);
        assert_eq!(refused.expect_err("no such value").to_string(), message);
    }
}

#[test]
fn a_closed_pipe_is_reported_as_such() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let columns = vec![column("answered", ValueType::Integer)];
    let schema = TableSchema { columns, labels: Vec::new() };
    let blocks = |writer: &mut TableWriter<'_>| writer.write(1, &[BlockValues::Integer(vec![1])]);
    let written = write_table(&mut Closed, FileFormat::Parquet, FileCompression::None, &schema, blocks);
    assert_eq!(written.expect_err("a closed pipe").kind(), io::ErrorKind::BrokenPipe);
}
