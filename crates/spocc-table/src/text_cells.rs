//! Splits a block of text into cells: the byte range of each cell and the line of each row.
//!
//! The grammar is that of the csv crate, which is the reference implementation in the tests. A quote opens a quoted
//! cell only at the start of the cell, two quotes inside it are one, text after the closing quote belongs to the cell,
//! a line ends with a line feed, a return or both, and empty lines are skipped.

use std::mem;

use memchr::memchr2;

use crate::text_blocks::{MAX_BLOCK, TextBlock, count_line_ends, ends_cell, find_quote};

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
        let TextBlock { mut bytes, line } = block;
        let mut found = CellFinder { width, line, spans, lines };
        if bytes.len() > MAX_BLOCK {
            let expected = "rows of less than 2 GiB".to_owned();
            let found = "a longer one (is every quote closed?)".to_owned();
            return (Self::default(), Some(RowError { line, expected, found }));
        }
        found.spans.reserve(bytes.len() / 2 + 1);
        let (error, unquoted) = if memchr2(b'"', b'\r', &bytes).is_none() {
            (found.find_plain(&bytes, delimiter), Vec::new())
        } else {
            found.find_quoted(&bytes, delimiter)
        };
        bytes.extend_from_slice(&unquoted);
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

/// The first row of a block, if there is one.
///
/// # Errors
///
/// A quote that is not closed.
pub(super) fn first_row(block: &TextBlock, delimiter: u8) -> Result<Option<FirstRow>, RowError> {
    let mut scanner =
        RowScanner { bytes: &block.bytes, delimiter, at: 0, line: block.line, unquoted: Vec::new() };
    let mut spans = Vec::new();
    let Some(line) = scanner.row(&mut spans)? else { return Ok(None) };
    let all = [&block.bytes, scanner.unquoted.as_slice()].concat();
    let cells = spans.iter().map(|&(start, end)| all[start as usize..end as usize].to_vec()).collect();
    Ok(Some(FirstRow { cells, line, end: scanner.at }))
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

    /// Finds the cells of any block. Also returns the bytes of cells that differ from the block, such as those with
    /// doubled quotes.
    fn find_quoted(&mut self, bytes: &[u8], delimiter: u8) -> (Option<RowError>, Vec<u8>) {
        let mut scanner = RowScanner { bytes, delimiter, at: 0, line: self.line, unquoted: Vec::new() };
        loop {
            let (next_line, first) = (scanner.line, self.spans.len());
            let error = match scanner.row(&mut self.spans) {
                Ok(None) => return (None, scanner.unquoted),
                Ok(Some(line)) => self.end_row(self.spans.len() - first, line, next_line),
                Err(error) => Some(error),
            };
            if error.is_some() {
                return (error, scanner.unquoted);
            }
        }
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
        let cells = |n: usize| if n == 1 { "1 cell".to_owned() } else { format!("{n} cells") };
        RowError { line, expected: cells(self.width), found: found.to_string() }
    }
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

/// Scans a text row by row.
struct RowScanner<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    at: usize,
    line: u64,
    /// The bytes of cells that differ from the text; their spans continue after the end of the text.
    unquoted: Vec<u8>,
}

impl RowScanner<'_> {
    /// Scans the next row and returns the line on which it begins; none at the end.
    fn row(&mut self, spans: &mut Vec<Span>) -> Result<Option<u64>, RowError> {
        while self.skip_line_end() {}
        if self.at == self.bytes.len() {
            return Ok(None);
        }
        let line = self.line;
        loop {
            let span = if self.bytes.get(self.at) == Some(&b'"') {
                self.quoted_cell(line)?
            } else {
                self.plain_cell()
            };
            spans.push(span);
            if self.bytes.get(self.at) != Some(&self.delimiter) {
                self.skip_line_end();
                return Ok(Some(line));
            }
            self.at += 1;
        }
    }

    /// Skips a line end, if there is one.
    fn skip_line_end(&mut self) -> bool {
        let length = match self.bytes.get(self.at) {
            Some(b'\r') if self.bytes.get(self.at + 1) == Some(&b'\n') => 2,
            Some(b'\r' | b'\n') => 1,
            _ => return false,
        };
        self.at += length;
        self.line += 1;
        true
    }

    /// Scans an unquoted cell.
    fn plain_cell(&mut self) -> Span {
        let start = self.at;
        let rest = self.bytes[start..].iter();
        self.at = start + rest.take_while(|byte| !ends_cell(**byte, self.delimiter)).count();
        (start as u32, self.at as u32)
    }

    /// Scans a quoted cell of the row that begins on `line`.
    fn quoted_cell(&mut self, line: u64) -> Result<Span, RowError> {
        let start = self.at;
        let open = || {
            let (expected, found) = ("a closing quote".to_owned(), "the end of the table".to_owned());
            RowError { line, expected, found }
        };
        let quote = find_quote(self.bytes, start + 1).ok_or_else(open)?;
        let is_plain = self.bytes.get(quote + 1).is_none_or(|&next| ends_cell(next, self.delimiter));
        let span = if is_plain {
            self.at = quote + 1;
            (start + 1, quote)
        } else {
            self.unquote(quote).ok_or_else(open)?
        };
        self.line += line_ends_in(&self.bytes[start..self.at]);
        Ok((span.0 as u32, span.1 as u32))
    }

    /// Copies a cell without its quotes. Its first inner quote is at `quote`. None if the cell is not closed.
    fn unquote(&mut self, mut quote: usize) -> Option<(usize, usize)> {
        let start = self.unquoted.len();
        let mut from = self.at + 1;
        while self.bytes.get(quote + 1) == Some(&b'"') {
            self.unquoted.extend_from_slice(&self.bytes[from..=quote]);
            from = quote + 2;
            quote = find_quote(self.bytes, from)?;
        }
        self.unquoted.extend_from_slice(&self.bytes[from..quote]);
        self.at = quote + 1;
        let (from, to) = self.plain_cell();
        self.unquoted.extend_from_slice(&self.bytes[from as usize..to as usize]);
        Some((self.bytes.len() + start, self.bytes.len() + self.unquoted.len()))
    }
}

/// Number of line ends inside a cell; most cells have none.
fn line_ends_in(cell: &[u8]) -> u64 {
    if cell.iter().any(|byte| matches!(byte, b'\n' | b'\r')) { count_line_ends(cell) } else { 0 }
}
