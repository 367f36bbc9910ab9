//! Tables in unusual forms, split into blocks of all sizes, compared with the csv crate as reference implementation.

use std::{collections::HashSet, io, path::Path};

use spocc::Label;

use super::*;
use crate::{LabelEncoder, text_file::TextFile};

/// The line of a row and its cells.
type ParsedRow = (u64, Vec<Vec<u8>>);

/// The rows of a table up to the first error, and that error.
type Parsed = (Vec<ParsedRow>, Option<String>);

const SIZES: [usize; 9] = [1, 2, 3, 5, 8, 13, 40, 200, 1 << 18];

fn file() -> Location {
    Location::file(Path::new("a table"), "")
}

/// The rows of a text, header first, read in blocks of this size.
fn read(text: &[u8], size: usize) -> Parsed {
    let parsed = |rows: &RowBlock, row: usize| -> ParsedRow {
        let cells =
            (0..rows.layout.header.len()).map(|column| rows.cell(row, column).expect("a text").to_vec());
        let Position::Line(line) = rows.position(row) else { panic!("a text has lines") };
        (line, cells.collect())
    };
    // The head of a file is passed apart from its rest.
    let (head, rest) = text.split_at((text.len() / 2).max(4).min(text.len()));
    let rest = Box::new(io::Cursor::new(rest.to_vec()));
    let text = match TextFile::in_blocks(&file(), Some(b','), head.to_vec(), rest, size) {
        Ok(text) => text,
        Err(error) => return (Vec::new(), Some(error.to_string())),
    };
    let Position::Line(top) = text.header_position() else { panic!("a text has lines") };
    let mut rows = vec![(top, text.header().iter().map(|name| name.clone().into_bytes()).collect())];
    let indices = (0..text.header().len()).map(|index| (index.to_string(), index)).collect();
    let header: Arc<[String]> = text.header().into();
    // Column names may repeat here: `Table::new` refuses that.
    let table = Table {
        options: ReadOptions::default(),
        first: None,
        rest: VecDeque::new(),
        location: file(),
        header_position: text.header_position(),
        delimiter: None,
        indices,
        used: HashSet::new(),
        selected: None,
        header: Arc::clone(&header),
    };
    let order = (0..header.len()).collect();
    let layout =
        FileLayout { file: file(), options: ReadOptions::default(), header, order, cell_types: Vec::new() };
    let function =
        move |rows: &RowBlock| (0..rows.n_rows()).map(|row| parsed(rows, row)).collect::<Vec<ParsedRow>>();
    let mut blocks = BlockResults::new(table, function)
        .with_file(TableFile::Text(Box::new(text)), layout)
        .expect("a thread");
    loop {
        match blocks.next() {
            Ok(Some(more)) => rows.extend(more),
            Ok(None) => return (rows, None),
            Err(error) => return (rows, Some(error.to_string())),
        }
    }
}

/// Line ends before a place, as an editor counts them.
fn lines_before(text: &[u8], end: usize) -> u64 {
    let ends = |at: &usize| match text[*at] {
        b'\r' => true,
        b'\n' => *at == 0 || text[at - 1] != b'\r',
        _ => false,
    };
    (0..end).filter(ends).count() as u64
}

/// Whether a text ends inside a quoted cell.
fn is_open(text: &[u8]) -> bool {
    let (mut quoted, mut maybe_closed, mut at_start) = (false, false, true);
    for &byte in text {
        (quoted, maybe_closed) = match (quoted, maybe_closed, byte) {
            (true, false, b'"') => (true, true),
            (true, true, b'"') | (true, false, _) => (true, false),
            (false, _, b'"') if at_start => (true, false),
            _ => (false, false),
        };
        at_start = !quoted && matches!(byte, b',' | b'\n' | b'\r');
    }
    quoted && !maybe_closed
}

/// The rows that the csv crate finds, and the errors that we report besides.
fn reference(text: &[u8]) -> Parsed {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
    let mut rows: Vec<ParsedRow> = Vec::new();
    let mut record = csv::ByteRecord::new();
    let mut behind = 1;
    let refuse = |line: u64, expected: &str, found: &str| {
        Some(format!("a table: line {line}: expected {expected}, found {found}"))
    };
    loop {
        let before = reader.position().byte() as usize;
        if !reader.read_byte_record(&mut record).expect("bytes in memory") {
            break;
        }
        let start = before + text[before..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        let line = 1 + lines_before(text, start);
        let end = reader.position().byte() as usize;
        if is_open(text) && text[end..].is_empty() {
            return (rows, refuse(line, "a closing quote", "the end of the table"));
        }
        let cells: Vec<Vec<u8>> = record.iter().map(<[u8]>::to_vec).collect();
        match rows.first().map(|header| header.1.len()) {
            None => {
                if let Some(name) = cells.iter().find(|name| std::str::from_utf8(name).is_err()) {
                    let found = format!("`{}`", name.escape_ascii());
                    return (rows, refuse(line, "column names in UTF-8", &found));
                }
            }
            Some(1) if line > behind => {
                return (rows, refuse(behind, "a cell, or \"\" for a missing one", "an empty line"));
            }
            Some(width) if width != cells.len() => {
                let expected = if width == 1 { "1 cell".to_owned() } else { format!("{width} cells") };
                return (rows, refuse(line, &expected, &cells.len().to_string()));
            }
            Some(_) => {}
        }
        // A return may be half of the line end.
        behind = 1 + lines_before(text, end);
        rows.push((line, cells));
    }
    if rows.is_empty() {
        return (rows, Some("a table: expected a table with a header line, found an empty file".to_owned()));
    }
    (rows, None)
}

/// A small generator with a fixed seed.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % n
    }
}

fn agree(text: &[u8]) {
    let expected = reference(text);
    for size in SIZES {
        assert_eq!(read(text, size), expected, "in blocks of {size}: {}", text.escape_ascii());
    }
}

#[test]
fn any_bytes_read_as_the_csv_crate_reads_them() {
    const BITS: [&[u8]; 22] = [
        b"a",
        b"bb",
        b",",
        b",",
        b",",
        b"\n",
        b"\n",
        b"\r\n",
        b"\r",
        b"\"",
        b"\"",
        b"\"\"",
        b"\"x\"",
        b"\xff",
        b"\0",
        b" ",
        b"1",
        b"22",
        b"\"p,\nq\"",
        b"\"\"\"\"",
        b"\xc3\xa9",
        b"a longer cell than most of them",
    ];
    let mut random = Xorshift(7);
    for _ in 0..3000 {
        let text: Vec<u8> =
            (0..random.below(30)).flat_map(|_| BITS[random.below(BITS.len())].to_vec()).collect();
        // A byte order mark is not part of the text.
        if !text.is_empty() && random.below(10) == 0 {
            let marked = [b"\xef\xbb\xbf", text.as_slice()].concat();
            assert_eq!(read(&marked, SIZES[random.below(SIZES.len())]), reference(&text));
        }
        agree(&text);
    }
}

#[test]
fn tables_in_odd_shapes_read_as_they_were_meant() {
    let mut random = Xorshift(11);
    for _ in 0..300 {
        let width = 1 + random.below(4);
        let ends: &[&str] =
            [&["\n"][..], &["\r\n"], &["\r"], &["\n", "\r\n", "\r", "\n\n", "\r\n\r\n"]][random.below(4)];
        let mut text = Vec::new();
        let (n_rows, always, rarely) = (random.below(60), random.below(4) == 0, random.below(3) > 0);
        for row in 0..=n_rows {
            // Once in a while a row is too long or too short.
            let is_ragged = rarely && random.below(150) == 0;
            for column in 0..width + usize::from(is_ragged) {
                let cells = ["", "x", "yes", "no", "seven b", "eight by", "a cell of many bytes", "\u{e9}"];
                let odd = ["a\"b", "\"", "a,b", "a\nb", "a\r\nb", "\r", "a\u{fffd}"];
                let is_odd = random.below(12) == 0;
                let cell =
                    if is_odd { odd[random.below(odd.len())] } else { cells[random.below(cells.len())] };
                text.extend_from_slice(if column == 0 { b"" } else { b"," });
                if always || is_odd || cell.is_empty() && width == 1 || random.below(20) == 0 {
                    text.extend(format!("\"{}\"", cell.replace('"', "\"\"")).bytes());
                } else {
                    text.extend(cell.bytes());
                }
            }
            if row < n_rows || random.below(2) == 0 {
                text.extend(ends[random.below(ends.len())].bytes());
            }
        }
        agree(&text);
    }
}

#[test]
fn a_byte_order_mark_inside_a_text_is_part_of_a_cell() {
    agree("a,b\n\u{feff}x,\"1\"\n\u{feff}\"y\",\"2\"\r\n".as_bytes());
}

#[test]
fn a_cell_may_be_longer_than_any_block() {
    let long = "ab\n\"\",".repeat(100_000);
    let text = format!("a,b\n1,\"{long}\"\n2,x\n");
    for size in [1, 1000, 1 << 18] {
        let (rows, complaint) = read(text.as_bytes(), size);
        assert_eq!((rows.len(), complaint), (3, None));
        assert_eq!(rows[1].1[1], long.replace("\"\"", "\"").into_bytes());
        assert_eq!((rows[1].0, rows[2].0), (2, 100_003));
    }
}

#[test]
fn cells_are_encoded_by_their_label() {
    let mut random = Xorshift(5);
    let words: Vec<String> = (0..500).map(|at: u32| "w".repeat(at as usize % 12) + &at.to_string()).collect();
    let mut text = b"a,b,c\n".to_vec();
    let mut expected = Vec::new();
    for _ in 0..2000 {
        for end in [",", ",", "\n"] {
            let word = match random.below(6) {
                0 => "",
                1 => "null",
                _ => &words[random.below(words.len())],
            };
            text.extend(format!("{word}{end}").bytes());
            expected.push((!word.is_empty() && word != "null").then(|| Label::from(word)));
        }
    }
    for size in [1, 50, 3000, 1 << 18] {
        let options =
            ReadOptions { delimiter: Some(b','), na: vec!["null".to_owned()], ..ReadOptions::default() };
        let text = TextFile::in_blocks(&file(), Some(b','), text.clone(), Box::new(io::empty()), size);
        let file_of_table = TableFile::Text(Box::new(text.expect("a header")));
        let table = Table::new(file(), file_of_table, VecDeque::new(), &options).expect("three columns");
        let mut encoded = table.map_blocks(|rows| {
            let (mut encoder, mut codes) = (LabelEncoder::default(), Vec::new());
            for row in 0..rows.n_rows() {
                encoder.encode_row(rows, row, &[0, 1, 2], &mut codes).expect("texts");
            }
            codes.into_iter().map(|code| encoder.label(code).cloned()).collect::<Vec<_>>()
        });
        let mut labels = Vec::new();
        while let Some(more) = encoded.next().expect("whole rows") {
            labels.extend(more);
        }
        assert!(labels == expected, "in blocks of {size}");
    }
}
