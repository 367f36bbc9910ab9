//! A small table in text formats, and values that do not fit.

use std::sync::LazyLock;

use spocc::Label;

use super::*;

fn schema() -> TableSchema {
    let column = |name: &str, value_type| ColumnSpec { name: name.to_owned(), value_type };
    TableSchema {
        columns: vec![
            column("id", ValueType::Text(ColumnType::default())),
            column("decision", ValueType::Label { nullable: true }),
            column("margin", ValueType::Float),
            column("possibility", ValueType::FloatPerLabel),
            column("set", ValueType::LabelList),
            column("ties", ValueType::RareLabelList),
            column("answered", ValueType::Integer),
        ],
        labels: [Label::from("a|b"), Label::from(2)].to_vec(),
    }
}

fn ids() -> TextColumn {
    [None, Some("x,y"), None].into_iter().collect()
}

/// Two rows; the ids begin with the second cell.
fn block(ids: &TextColumn) -> Vec<BlockValues<'_>> {
    let lists = |lists: [&[u16]; 2]| {
        let mut made = LabelLists::default();
        lists.iter().for_each(|list| made.push(list.iter().copied()));
        BlockValues::LabelLists(made)
    };
    vec![
        BlockValues::Text(ids, 1),
        BlockValues::Label(vec![Some(1), None]),
        BlockValues::Float(&[0.5, 1e-7]),
        BlockValues::Float(&[0.5, 1.0, 1.0, 0.0]),
        lists([&[1], &[0, 1]]),
        lists([&[], &[0, 1]]),
        BlockValues::Integer(vec![2, 0]),
    ]
}

fn write(format: FileFormat, compression: FileCompression) -> Vec<u8> {
    let (ids, mut out) = (ids(), Vec::new());
    let blocks = |writer: &mut TableWriter<'_>| {
        writer.write(2, &block(&ids))?;
        writer.write(0, &block(&TextColumn::default()).iter().map(emptied).collect::<Vec<_>>())
    };
    write_table::<(), io::Error>(&mut out, format, compression, &schema(), blocks).expect("memory");
    out
}

/// No lists.
static EMPTY: LazyLock<TextLists> = LazyLock::new(TextLists::default);

fn emptied<'a>(values: &BlockValues<'a>) -> BlockValues<'a> {
    match values {
        BlockValues::Text(column, _) => BlockValues::Text(column, 0),
        BlockValues::Label(_) => BlockValues::Label(Vec::new()),
        BlockValues::LabelLists(_) => BlockValues::LabelLists(LabelLists::default()),
        BlockValues::TextLists(_) => BlockValues::TextLists(&EMPTY),
        BlockValues::Integer(_) => BlockValues::Integer(Vec::new()),
        BlockValues::Float(_) => BlockValues::Float(&[]),
    }
}

#[test]
fn csv_has_a_column_per_label_and_joined_lists() {
    let expected = "id\tdecision\tmargin\tpossibility:a|b\tpossibility:2\tset\tties\tanswered\n\
        x,y\t2\t0.5\t0.5\t1.0\t2\t\t2\n\
        \t\t1e-7\t1.0\t0.0\ta\\|b|2\ta\\|b|2\t0\n";
    let written = write(FileFormat::Csv { delimiter: b'\t', protect_formulas: false }, FileCompression::None);
    assert_eq!(String::from_utf8(written).expect("text"), expected);
}

#[test]
fn json_keeps_the_types_of_labels() {
    let rows = [
        r#"{"id":"x,y","decision":2,"margin":0.5,"possibility":{"a|b":0.5,"2":1.0},"set":[2],"ties":[],"answered":2}"#,
        r#"{"id":null,"decision":null,"margin":1e-7,"possibility":{"a|b":1.0,"2":0.0},"set":["a|b",2],"ties":["a|b",2],"answered":0}"#,
    ];
    let write = |lines| write(FileFormat::Json { lines }, FileCompression::None);
    assert_eq!(String::from_utf8(write(true)).expect("text"), format!("{}\n{}\n", rows[0], rows[1]));
    assert_eq!(String::from_utf8(write(false)).expect("text"), format!("[\n{},\n{}\n]\n", rows[0], rows[1]));
}

#[test]
fn lists_of_texts_are_joined_in_csv_and_lists_in_json() {
    let schema = TableSchema {
        columns: vec![ColumnSpec { name: "set".to_owned(), value_type: ValueType::TextList }],
        labels: Vec::new(),
    };
    let mut lists = TextLists::default();
    lists.push(["72", "a|b"]);
    lists.push([]);
    let write = |format| {
        let mut out = Vec::new();
        let blocks = |writer: &mut TableWriter<'_>| writer.write(2, &[BlockValues::TextLists(&lists)]);
        write_table::<(), io::Error>(&mut out, format, FileCompression::None, &schema, blocks)
            .expect("memory");
        String::from_utf8(out).expect("text")
    };
    assert_eq!(write(FileFormat::Csv { delimiter: b',', protect_formulas: false }), "set\n72|a\\|b\n\"\"\n");
    assert_eq!(write(FileFormat::Json { lines: true }), "{\"set\":[\"72\",\"a|b\"]}\n{\"set\":[]}\n");
    let refused = schema.check(3, &[BlockValues::TextLists(&lists)]).expect_err("two lists");
    assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn compressed_files_hold_the_same_bytes() {
    let format = FileFormat::Csv { delimiter: b',', protect_formulas: false };
    let plain = write(format, FileCompression::None);
    let gzip = write(format, FileCompression::Gzip);
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&gzip[..]), &mut bytes).expect("gzip");
    assert_eq!(bytes, plain);
    let zstd = write(format, FileCompression::Zstd);
    assert_eq!(zstd::decode_all(&zstd[..]).expect("zstd"), plain);
}

#[test]
fn values_that_do_not_fit_the_columns_are_refused() {
    let (schema, ids) = (schema(), ids());
    let mut out = Vec::new();
    let format = FileFormat::Csv { delimiter: b',', protect_formulas: false };
    let write = |writer: &mut TableWriter<'_>| {
        let refused = |n_rows, block: &[BlockValues<'_>]| {
            let error = schema.check(n_rows, block).expect_err("values that do not fit");
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        };
        for at in 0..schema.columns.len() {
            let mut short = block(&ids);
            short[at] = emptied(&short[at]);
            if at > 0 {
                refused(2, &short);
            }
            short.remove(at);
            refused(2, &short);
        }
        refused(3, &block(&ids));
        let mut swapped = block(&ids);
        swapped.swap(1, 2);
        refused(2, &swapped);
        writer.write(2, &block(&ids))
    };
    write_table::<(), io::Error>(&mut out, format, FileCompression::None, &schema, write).expect("memory");
}

#[test]
fn joined_labels_can_be_separated() {
    let texts = ["a", "a|b", "b", "\\"].map(str::to_owned);
    assert_eq!(join(&[0, 2], &texts), "a|b");
    assert_eq!(join(&[1], &texts), r"a\|b");
    assert_eq!(join(&[3, 0], &texts), r"\\|a");
}
