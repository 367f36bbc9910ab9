//! A block of text as cells: where each of them is, on which line each row begins.
//!
//! The grammar is that of the csv crate, the twin of this reader in its tests: a quote opens a cell only at its
//! start, two of them inside are one, what follows a closing quote is taken as it is, a line ends with a feed, a
//! return or both, and empty lines are none.

use std::mem;

use memchr::memchr2;

use crate::block::{Block, LONGEST, find_quote, is_border, line_ends};

/// Bytes behind the last cell, so that eight can be looked at from anywhere.
const PADDING: usize = 8;

/// First byte of a cell and the one behind it.
pub(super) type Span = (u32, u32);

/// Cells of some rows, row after row.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    width: usize,
    line: u64,
    /// The line on which each row begins, counted from `line`.
    lines: Vec<u32>,
}

/// Why a row is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    pub(super) line: u64,
    pub(super) expected: String,
    pub(super) found: String,
}

/// The first row of a text.
pub(super) struct First {
    pub(super) cells: Vec<Vec<u8>>,
    pub(super) line: u64,
    /// Where the rest of the block begins.
    pub(super) end: usize,
}

impl Cells {
    /// Finds the cells of a block in a table of so many columns, in the memory of spare cells. With a
    /// complaint, those of the rows before.
    pub(super) fn new(block: Block, delimiter: u8, width: usize, spare: Self) -> (Self, Option<Complaint>) {
        let Self { mut spans, mut lines, .. } = spare;
        spans.clear();
        lines.clear();
        let Block { mut bytes, line } = block;
        let mut found = Found { width, line, spans, lines };
        if bytes.len() > LONGEST {
            let expected = "rows of less than 2 GiB".to_owned();
            let found = "a longer one (is every quote closed?)".to_owned();
            return (Self::default(), Some(Complaint { line, expected, found }));
        }
        found.spans.reserve(bytes.len() / 2 + 1);
        let (complaint, spare) = if memchr2(b'"', b'\r', &bytes).is_none() {
            (found.plain(&bytes, delimiter), Vec::new())
        } else {
            found.careful(&bytes, delimiter)
        };
        bytes.extend_from_slice(&spare);
        bytes.extend_from_slice(&[0; PADDING]);
        let Found { spans, lines, .. } = found;
        (Self { bytes, spans, width, line, lines }, complaint)
    }

    /// The memory of these cells, for others: that of the bytes and that of the rest.
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

    /// Where the cells of a row are.
    #[inline]
    pub(super) fn row(&self, row: usize) -> &[Span] {
        &self.spans[row * self.width..(row + 1) * self.width]
    }

    /// The bytes of a cell.
    #[inline]
    pub(super) fn get(&self, (start, end): Span) -> &[u8] {
        &self.bytes[start as usize..end as usize]
    }

    /// A number that only this short text has; none for a text of more than seven bytes.
    #[inline]
    pub(super) fn word(&self, (start, end): Span) -> Option<u64> {
        let length = end - start;
        let bytes = self.bytes[start as usize..].first_chunk::<8>()?;
        (length < 8).then(|| word_of(*bytes, length))
    }
}

/// The number of a text of less than eight bytes: they, and how many they are.
#[inline]
pub(super) fn word_of(bytes: [u8; 8], length: u32) -> u64 {
    u64::from_le_bytes(bytes) & ((1 << (8 * length)) - 1) | u64::from(length) << 56
}

/// The first row of a block; none if it has none.
///
/// # Errors
///
/// A complaint about a quote that is not closed.
pub(super) fn first_row(block: &Block, delimiter: u8) -> Result<Option<First>, Complaint> {
    let mut walk = Walk { bytes: &block.bytes, delimiter, at: 0, line: block.line, spare: Vec::new() };
    let mut spans = Vec::new();
    let Some(line) = walk.row(&mut spans)? else { return Ok(None) };
    let all = [&block.bytes, walk.spare.as_slice()].concat();
    let cells = spans.iter().map(|&(start, end)| all[start as usize..end as usize].to_vec()).collect();
    Ok(Some(First { cells, line, end: walk.at }))
}

/// What was found in a block so far.
struct Found {
    width: usize,
    line: u64,
    spans: Vec<Span>,
    lines: Vec<u32>,
}

impl Found {
    /// Finds cells that are neither quoted nor behind a return: eight bytes at a time.
    #[inline(never)]
    fn plain(&mut self, bytes: &[u8], delimiter: u8) -> Option<Complaint> {
        let (delimiters, feeds) = (every(delimiter), every(b'\n'));
        let (words, rest) = bytes.as_chunks::<8>();
        let mut last = [delimiter ^ 1; 8];
        last[..rest.len()].copy_from_slice(rest);
        // A text may end without a line end.
        last[rest.len()] = b'\n';
        let mut spans = mem::take(&mut self.spans);
        // A line behind the one of the row before is expected: in between there may be empty ones.
        let (mut line, mut next_line, mut first) = (self.line, self.line, 0);
        let (mut start, mut base) = (0, 0);
        for word in words.iter().chain([&last]) {
            let word = u64::from_le_bytes(*word);
            let ends = equal(word, feeds);
            let mut borders = equal(word, delimiters) | ends;
            while borders != 0 {
                let border = base + borders.trailing_zeros() / 8;
                let is_end = ends & borders & borders.wrapping_neg() != 0;
                borders &= borders - 1;
                spans.push((start, border));
                if is_end {
                    if start == border && spans.len() == first + 1 {
                        spans.pop();
                    } else {
                        let complaint = self.end_row(spans.len() - first, line, next_line);
                        if complaint.is_some() {
                            self.spans = spans;
                            return complaint;
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

    /// Finds cells of any kind; returns those that are not in the block as they are, too.
    fn careful(&mut self, bytes: &[u8], delimiter: u8) -> (Option<Complaint>, Vec<u8>) {
        let mut walk = Walk { bytes, delimiter, at: 0, line: self.line, spare: Vec::new() };
        loop {
            let (next_line, first) = (walk.line, self.spans.len());
            let complaint = match walk.row(&mut self.spans) {
                Ok(None) => return (None, walk.spare),
                Ok(Some(line)) => self.end_row(self.spans.len() - first, line, next_line),
                Err(complaint) => Some(complaint),
            };
            if complaint.is_some() {
                return (complaint, walk.spare);
            }
        }
    }

    /// Takes so many cells for a row, which begins on this line.
    #[inline]
    fn end_row(&mut self, found: usize, line: u64, next_line: u64) -> Option<Complaint> {
        if found != self.width || self.width == 1 && line > next_line {
            return Some(self.complain(found, line, next_line));
        }
        self.lines.push((line - self.line) as u32);
        None
    }

    #[cold]
    fn complain(&self, found: usize, line: u64, next_line: u64) -> Complaint {
        // In a table of one column an empty line is a row without an answer.
        if self.width == 1 && line > next_line {
            let expected = "a cell, or \"\" for a missing one".to_owned();
            return Complaint { line: next_line, expected, found: "an empty line".to_owned() };
        }
        let cells = |n: usize| if n == 1 { "1 cell".to_owned() } else { format!("{n} cells") };
        Complaint { line, expected: cells(self.width), found: found.to_string() }
    }
}

/// A byte eight times.
fn every(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The highest bit of each byte that is equal in both.
#[inline]
fn equal(word: u64, other: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let different = word ^ other;
    !(((different & LOW) + LOW) | different | LOW)
}

/// A text being walked through.
struct Walk<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    at: usize,
    line: u64,
    /// Cells that are not in the text as they are; they count from its end on.
    spare: Vec<u8>,
}

impl Walk<'_> {
    /// Goes behind the next row and says on which line it begins; none if there is none.
    fn row(&mut self, spans: &mut Vec<Span>) -> Result<Option<u64>, Complaint> {
        while self.end_line() {}
        if self.at == self.bytes.len() {
            return Ok(None);
        }
        let line = self.line;
        loop {
            let span = if self.bytes.get(self.at) == Some(&b'"') { self.quoted(line)? } else { self.bare() };
            spans.push(span);
            if self.bytes.get(self.at) != Some(&self.delimiter) {
                self.end_line();
                return Ok(Some(line));
            }
            self.at += 1;
        }
    }

    /// Goes behind a line end, if this is one.
    fn end_line(&mut self) -> bool {
        let length = match self.bytes.get(self.at) {
            Some(b'\r') if self.bytes.get(self.at + 1) == Some(&b'\n') => 2,
            Some(b'\r' | b'\n') => 1,
            _ => return false,
        };
        self.at += length;
        self.line += 1;
        true
    }

    /// Goes to the next border.
    fn bare(&mut self) -> Span {
        let start = self.at;
        let rest = self.bytes[start..].iter();
        self.at = start + rest.take_while(|byte| !is_border(**byte, self.delimiter)).count();
        (start as u32, self.at as u32)
    }

    /// Goes to the border behind a quoted cell of the row that began on `line`.
    fn quoted(&mut self, line: u64) -> Result<Span, Complaint> {
        let start = self.at;
        let open = || {
            let (expected, found) = ("a closing quote".to_owned(), "the end of the table".to_owned());
            Complaint { line, expected, found }
        };
        let quote = find_quote(self.bytes, start + 1).ok_or_else(open)?;
        let is_plain = self.bytes.get(quote + 1).is_none_or(|&next| is_border(next, self.delimiter));
        let span = if is_plain {
            self.at = quote + 1;
            (start + 1, quote)
        } else {
            self.unquote(quote).ok_or_else(open)?
        };
        self.line += line_ends_in(&self.bytes[start..self.at]);
        Ok((span.0 as u32, span.1 as u32))
    }

    /// Writes down a cell whose first quote inside it is at `quote`; none if it is not closed.
    fn unquote(&mut self, mut quote: usize) -> Option<(usize, usize)> {
        let start = self.spare.len();
        let mut from = self.at + 1;
        while self.bytes.get(quote + 1) == Some(&b'"') {
            self.spare.extend_from_slice(&self.bytes[from..=quote]);
            from = quote + 2;
            quote = find_quote(self.bytes, from)?;
        }
        self.spare.extend_from_slice(&self.bytes[from..quote]);
        self.at = quote + 1;
        let (from, to) = self.bare();
        self.spare.extend_from_slice(&self.bytes[from as usize..to as usize]);
        Some((self.bytes.len() + start, self.bytes.len() + self.spare.len()))
    }
}

/// Line ends inside a cell: most have none.
fn line_ends_in(cell: &[u8]) -> u64 {
    if cell.iter().any(|byte| matches!(byte, b'\n' | b'\r')) { line_ends(cell) } else { 0 }
}
