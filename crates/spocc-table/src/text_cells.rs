//! Splits a block of text into cells: the byte range of each cell and the line of each row.
//!
//! The grammar is that of the csv crate. A quote opens a quoted cell only at the start of the cell, two quotes inside
//! it are one, text after the closing quote belongs to the cell, a line ends with a line feed, a return or both, and
//! empty lines are skipped. The csv crate itself reads blocks with quotes or returns. Blocks without them, the usual
//! ones, are split by a faster loop (see docs/performance.md).

use std::mem;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use memchr::{memchr_iter, memchr2};

use crate::{
    limits::{MAX_COLUMNS, MAX_ROW_BYTES},
    text_blocks::{TextBlock, count_line_ends, ends_in_quotes},
};

/// Bytes after the last cell, so that eight bytes can be loaded at the start of any cell.
const PADDING: usize = 8;

/// Start and end of a cell.
pub(super) type Span = (u32, u32);

/// The cells of some rows, row after row.
#[derive(Clone, Debug, Default)]
pub(super) struct TextCells {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    width: usize,
    line: u64,
    /// The line on which each row begins, counted from `line`.
    lines: Vec<u32>,
}

/// Why a row is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowError {
    pub(super) line: u64,
    pub(super) expected: String,
    pub(super) found: String,
}

/// The first row of a text.
pub(super) struct FirstRow {
    pub(super) cells: Vec<Vec<u8>>,
    pub(super) line: u64,
    /// The end of the row in the block.
    pub(super) end: usize,
}

impl TextCells {
    /// Finds the cells of a block of a table with `width` columns; reuses the memory of `buffer`. If a row is refused,
    /// the cells are those of the rows before it.
    pub(super) fn new(
        block: TextBlock,
        delimiter: u8,
        width: usize,
        buffer: Self,
    ) -> (Self, Option<RowError>) {
        let Self { mut spans, mut lines, .. } = buffer;
        spans.clear();
        lines.clear();
        if let Some(error) = too_long(&block) {
            return (Self::default(), Some(error));
        }
        let TextBlock { mut bytes, line, .. } = block;
        let mut found = CellFinder { width, line, spans, lines };
        found.spans.reserve(bytes.len() / 2 + 1);
        let error = if memchr2(b'"', b'\r', &bytes).is_none() {
            found.find_plain(&bytes, delimiter)
        } else {
            let (error, unquoted) = found.find_quoted(&bytes, delimiter);
            bytes = unquoted;
            error
        };
        bytes.extend_from_slice(&[0; PADDING]);
        let CellFinder { spans, lines, .. } = found;
        (Self { bytes, spans, width, line, lines }, error)
    }

    /// The buffers, to be used again: that of the bytes and that of the rest.
    pub(super) fn recycle(mut self) -> (Vec<u8>, Self) {
        (mem::take(&mut self.bytes), self)
    }

    pub(super) fn n_rows(&self) -> usize {
        self.lines.len()
    }

    /// The line on which a row begins.
    pub(super) fn line(&self, row: usize) -> u64 {
        self.line + u64::from(self.lines[row])
    }

    /// The spans of the cells of a row.
    #[inline]
    pub(super) fn row(&self, row: usize) -> &[Span] {
        &self.spans[row * self.width..(row + 1) * self.width]
    }

    /// The bytes of a cell.
    #[inline]
    pub(super) fn get(&self, (start, end): Span) -> &[u8] {
        &self.bytes[start as usize..end as usize]
    }

    /// The key of a cell of less than eight bytes, which no other text has; none for a longer cell.
    #[inline]
    pub(super) fn short_key(&self, (start, end): Span) -> Option<u64> {
        let length = end - start;
        let bytes = self.bytes[start as usize..].first_chunk::<8>()?;
        (length < 8).then(|| short_key(*bytes, length))
    }
}

/// The key of a text of less than eight bytes: the bytes, and their number in the highest byte.
#[inline]
pub(super) fn short_key(bytes: [u8; 8], length: u32) -> u64 {
    u64::from_le_bytes(bytes) & ((1 << (8 * length)) - 1) | u64::from(length) << 56
}

/// Refuses a block that is only the start of a row.
fn too_long(block: &TextBlock) -> Option<RowError> {
    let expected = || format!("rows of less than {} MiB", MAX_ROW_BYTES >> 20);
    let found = || "a longer one (is every quote closed?)".to_owned();
    block.is_cut.then(|| RowError { line: block.line, expected: expected(), found: found() })
}

/// The first row of a block, if there is one.
///
/// # Errors
///
/// A quote that is not closed, a row that is too long, too many cells.
pub(super) fn first_row(block: &TextBlock, delimiter: u8) -> Result<Option<FirstRow>, RowError> {
    too_long(block).map_or(Ok(()), Err)?;
    let mut records = RecordReader::new(&block.bytes, delimiter, block.line);
    let mut spans = Vec::new();
    let Some(line) = records.read(&mut spans)? else { return Ok(None) };
    let cell = |&(start, end): &Span| records.output[start as usize..end as usize].to_vec();
    Ok(Some(FirstRow { cells: spans.iter().map(cell).collect(), line, end: records.at }))
}

/// The cells of a block found so far.
struct CellFinder {
    width: usize,
    line: u64,
    spans: Vec<Span>,
    lines: Vec<u32>,
}

impl CellFinder {
    /// Finds the cells of a block without quotes and returns, eight bytes at a time.
    #[inline(never)]
    fn find_plain(&mut self, bytes: &[u8], delimiter: u8) -> Option<RowError> {
        // Few blocks are longer than a row of so many empty cells.
        if bytes.len() > MAX_COLUMNS * 8
            && let Some(error) = self.too_many_cells(bytes, delimiter)
        {
            return Some(error);
        }
        let (delimiters, feeds) = (splat(delimiter), splat(b'\n'));
        let (words, rest) = bytes.as_chunks::<8>();
        let mut last = [delimiter ^ 1; 8];
        last[..rest.len()].copy_from_slice(rest);
        // The last line may have no line end.
        last[rest.len()] = b'\n';
        let mut spans = mem::take(&mut self.spans);
        // `next_line` is the line after the previous row; `line` is later if there are empty lines between.
        let (mut line, mut next_line, mut first) = (self.line, self.line, 0);
        let (mut start, mut base) = (0, 0);
        for word in words.iter().chain([&last]) {
            let word = u64::from_le_bytes(*word);
            let ends = equal_bytes(word, feeds);
            let mut borders = equal_bytes(word, delimiters) | ends;
            while borders != 0 {
                let border = base + borders.trailing_zeros() / 8;
                let is_end = ends & borders & borders.wrapping_neg() != 0;
                borders &= borders - 1;
                spans.push((start, border));
                if is_end {
                    if start == border && spans.len() == first + 1 {
                        spans.pop();
                    } else {
                        let error = self.end_row(spans.len() - first, line, next_line);
                        if error.is_some() {
                            self.spans = spans;
                            return error;
                        }
                        (next_line, first) = (line + 1, spans.len());
                    }
                    line += 1;
                }
                start = border + 1;
            }
            base += 8;
        }
        self.spans = spans;
        None
    }

    /// Finds the cells of any block with the csv crate. Also returns the bytes that the spans refer to.
    fn find_quoted(&mut self, bytes: &[u8], delimiter: u8) -> (Option<RowError>, Vec<u8>) {
        let mut records = RecordReader::new(bytes, delimiter, self.line);
        loop {
            let (next_line, first) = (records.line, self.spans.len());
            let error = match records.read(&mut self.spans) {
                Ok(None) => return (None, records.finish()),
                Ok(Some(line)) => self.end_row(self.spans.len() - first, line, next_line),
                Err(error) => Some(error),
            };
            if error.is_some() {
                return (error, records.finish());
            }
        }
    }

    /// Refuses a row of more cells than a table can have, before they take memory.
    fn too_many_cells(&self, bytes: &[u8], delimiter: u8) -> Option<RowError> {
        let n_cells = |row: &[u8]| memchr_iter(delimiter, row).count() + 1;
        let (row, n) =
            bytes.split(|byte| *byte == b'\n').map(n_cells).enumerate().find(|(_, n)| *n > MAX_COLUMNS)?;
        Some(RowError { line: self.line + row as u64, expected: cells(self.width), found: n.to_string() })
    }

    /// Ends a row of `found` cells that begins on `line`.
    #[inline]
    fn end_row(&mut self, found: usize, line: u64, next_line: u64) -> Option<RowError> {
        if found != self.width || self.width == 1 && line > next_line {
            return Some(self.row_error(found, line, next_line));
        }
        self.lines.push((line - self.line) as u32);
        None
    }

    #[cold]
    fn row_error(&self, found: usize, line: u64, next_line: u64) -> RowError {
        // In a table of one column, an empty line could be a missing cell or no row.
        if self.width == 1 && line > next_line {
            let expected = "a cell, or \"\" for a missing one".to_owned();
            return RowError { line: next_line, expected, found: "an empty line".to_owned() };
        }
        RowError { line, expected: cells(self.width), found: found.to_string() }
    }
}

fn cells(n: usize) -> String {
    if n == 1 { "1 cell".to_owned() } else { format!("{n} cells") }
}

/// A word of eight copies of a byte.
fn splat(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Sets the highest bit of each byte that is equal in both words.
#[inline]
fn equal_bytes(word: u64, other: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let different = word ^ other;
    !(((different & LOW) + LOW) | different | LOW)
}

/// Reads the rows of a block with the csv crate.
struct RecordReader<'a> {
    reader: Reader,
    bytes: &'a [u8],
    delimiter: u8,
    at: usize,
    /// The line of the next byte.
    line: u64,
    /// The bytes of all cells, without quotes.
    output: Vec<u8>,
    n_output: usize,
    ends: Vec<usize>,
}

impl<'a> RecordReader<'a> {
    fn new(bytes: &'a [u8], delimiter: u8, line: u64) -> Self {
        let mut reader = ReaderBuilder::new().delimiter(delimiter).build();
        // The csv crate drops a byte order mark at the start of its input, but a block may begin with such a cell.
        reader.read_record(b"\n", &mut [0], &mut [0]);
        let (output, ends) = (vec![0; bytes.len() + 1], vec![0; 16]);
        Self { reader, bytes, delimiter, at: 0, line, output, n_output: 0, ends }
    }

    /// Reads the next row and returns the line on which it begins; none at the end.
    fn read(&mut self, spans: &mut Vec<Span>) -> Result<Option<u64>, RowError> {
        let empty = self.bytes[self.at..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        self.advance(self.at + empty);
        let start = self.at;
        if start == self.bytes.len() {
            return Ok(None);
        }
        let (line, first_byte) = (self.line, self.n_output);
        let (end, n_cells) = self.read_record();
        if n_cells > MAX_COLUMNS {
            let expected = format!("at most {MAX_COLUMNS} cells");
            return Err(RowError { line, expected, found: "more".to_owned() });
        }
        if end == self.bytes.len() && ends_in_quotes(&self.bytes[start..], self.delimiter) {
            let (expected, found) = ("a closing quote".to_owned(), "the end of the table".to_owned());
            return Err(RowError { line, expected, found });
        }
        self.advance(end);
        let mut cell_start = first_byte;
        for &end in &self.ends[..n_cells] {
            spans.push((cell_start as u32, (first_byte + end) as u32));
            cell_start = first_byte + end;
        }
        Ok(Some(line))
    }

    /// Reads a record; returns the end of its line and the number of its cells, whose ends count from the record on. A
    /// record of too many cells is not read to its end.
    fn read_record(&mut self) -> (usize, usize) {
        let (mut at, mut n_cells) = (self.at, 0);
        loop {
            let (result, n_read, n_written, n_ended) = self.reader.read_record(
                &self.bytes[at..],
                &mut self.output[self.n_output..],
                &mut self.ends[n_cells..],
            );
            (at, n_cells) = (at + n_read, n_cells + n_ended);
            self.n_output += n_written;
            match result {
                // The next call has no input, which ends the last record.
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputEndsFull if n_cells > MAX_COLUMNS => break,
                ReadRecordResult::OutputFull => self.output.resize(2 * self.output.len(), 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::Record | ReadRecordResult::End => break,
            }
        }
        // The csv crate may leave the second half of a line end to the next record.
        let is_half = self.bytes[..at].ends_with(b"\r") && self.bytes[at..].starts_with(b"\n");
        (at + usize::from(is_half), n_cells)
    }

    /// Advances to a byte and counts the lines before it.
    fn advance(&mut self, to: usize) {
        self.line += count_line_ends(&self.bytes[self.at..to]);
        self.at = to;
    }

    fn finish(mut self) -> Vec<u8> {
        self.output.truncate(self.n_output);
        self.output
    }
}
