//! Splits a text into blocks of whole rows, so that blocks can be parsed in parallel.
//!
//! In: bytes. Out: blocks that begin with a row, or with the empty lines before it, and end with the line end of a
//! row. Line ends inside quotes end no row, so quotes are tracked from the start of the file.

use std::{
    io::{self, Read},
    mem,
};

use memchr::{memchr, memchr_iter, memrchr2};

use crate::limits::MAX_ROW_BYTES;

/// Size of a block in bytes. A block and its cells fit in the second-level cache of a core.
pub(super) const BLOCK_SIZE: usize = 1 << 18;

/// Some rows of a text.
#[derive(Debug, Default)]
pub(super) struct TextBlock {
    pub(super) bytes: Vec<u8>,
    /// The line, from 1, of the first byte.
    pub(super) line: u64,
    /// Whether this is only the start of a row that is too long.
    pub(super) is_cut: bool,
}

/// Reads a text block by block.
pub(super) struct BlockReader {
    source: Box<dyn Read + Send>,
    delimiter: u8,
    size: usize,
    /// Bytes after the last block.
    rest: Vec<u8>,
    line: u64,
    has_ended: bool,
    failure: Option<io::Error>,
    /// The ranges of the current block that are outside of quotes.
    outside: Vec<(usize, usize)>,
}

impl BlockReader {
    /// Splits a text into blocks of about `size` bytes, or more where a row is longer.
    pub(super) fn new(source: Box<dyn Read + Send>, delimiter: u8, size: usize) -> Self {
        let (rest, outside) = (Vec::new(), Vec::new());
        Self { source, delimiter, size, rest, line: 1, has_ended: false, failure: None, outside }
    }

    /// The next block, which reuses the memory of `buffer`; none after the last.
    ///
    /// # Errors
    ///
    /// The error of the source, after the rows before it.
    pub(super) fn next(&mut self, mut buffer: Vec<u8>) -> io::Result<Option<TextBlock>> {
        buffer.clear();
        let mut bytes = mem::replace(&mut self.rest, buffer);
        let mut is_cut = false;
        let end = loop {
            if self.has_ended {
                break if self.failure.is_some() {
                    self.end_of_rows(&bytes).unwrap_or(0)
                } else {
                    bytes.len()
                };
            }
            // Reading doubles the block while no row ends, so that the total cost of the search is linear.
            self.read(&mut bytes);
            if let Some(end) = self.end_of_rows(&bytes).filter(|_| !self.has_ended) {
                break end;
            }
            if bytes.len() >= MAX_ROW_BYTES {
                is_cut = bytes.iter().any(|byte| !matches!(byte, b'\n' | b'\r'));
                break bytes.len();
            }
        };
        if end == 0 {
            return self.failure.take().map_or(Ok(None), Err);
        }
        self.rest.extend_from_slice(&bytes[end..]);
        bytes.truncate(end);
        let line = self.line;
        self.line += count_line_ends(&bytes);
        Ok(Some(TextBlock { bytes, line, is_cut }))
    }

    /// Whether the last block was returned.
    pub(super) fn is_done(&self) -> bool {
        self.has_ended && self.rest.is_empty() && self.failure.is_none()
    }

    /// Fills up the block, or doubles it if it is full.
    fn read(&mut self, bytes: &mut Vec<u8>) {
        let wanted = if bytes.len() < self.size { self.size - bytes.len() } else { bytes.len() };
        let wanted = wanted.min(MAX_ROW_BYTES - bytes.len());
        // With some spare room, `read_to_end` needs no extra read to find the end.
        bytes.reserve(wanted + 64);
        let before = bytes.len();
        let read = self.source.by_ref().take(wanted as u64).read_to_end(bytes);
        self.has_ended = bytes.len() - before < wanted;
        self.failure = read.err();
    }

    /// The end of the last row that is complete, without empty lines after it.
    fn end_of_rows(&mut self, bytes: &[u8]) -> Option<usize> {
        // A return at the end may be the first half of a line end.
        let sure = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        match memchr(b'"', sure) {
            None => end_of_rows(sure, 0, sure.len()),
            Some(quote) => {
                self.find_outside(sure, quote);
                self.outside.iter().rev().find_map(|&(from, to)| end_of_rows(sure, from, to))
            }
        }
    }

    /// Finds the ranges outside of quotes in bytes that begin with a row and have their first quote at `quote`.
    fn find_outside(&mut self, bytes: &[u8], mut quote: usize) {
        self.outside.clear();
        let mut from = 0;
        loop {
            // A quote opens a quoted cell only at the start of the cell.
            let opens = quote == 0 || ends_cell(bytes[quote - 1], self.delimiter);
            let mut look_from = quote + 1;
            if opens {
                self.outside.push((from, quote));
                let Some(close) = closing(bytes, quote + 1) else { return };
                (from, look_from) = (close + 1, close + 1);
            }
            match find_quote(bytes, look_from) {
                Some(next) => quote = next,
                None => return self.outside.push((from, bytes.len())),
            }
        }
    }
}

/// The end of the last row in a range outside of quotes.
fn end_of_rows(bytes: &[u8], from: usize, to: usize) -> Option<usize> {
    let last = from + memrchr2(b'\n', b'\r', &bytes[from..to])?;
    let is_end = |at: usize| matches!(bytes[at], b'\n' | b'\r');
    let first = (from..last).rev().take_while(|&at| is_end(at)).last().unwrap_or(last);
    // None if there are only empty lines.
    (first > 0).then(|| first + if bytes[first..].starts_with(b"\r\n") { 2 } else { 1 })
}

/// The closing quote of a cell; none if the bytes end before it is certain.
fn closing(bytes: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let quote = find_quote(bytes, from)?;
        match bytes.get(quote + 1)? {
            b'"' => from = quote + 2,
            _ => return Some(quote),
        }
    }
}

/// Whether bytes that begin with a row end inside a quoted cell.
pub(super) fn ends_in_quotes(bytes: &[u8], delimiter: u8) -> bool {
    let mut from = 0;
    while let Some(quote) = find_quote(bytes, from) {
        from = quote + 1;
        if quote > 0 && !ends_cell(bytes[quote - 1], delimiter) {
            continue;
        }
        loop {
            let Some(quote) = find_quote(bytes, from) else { return true };
            from = quote + 1;
            if bytes.get(from) != Some(&b'"') {
                break;
            }
            from += 1;
        }
    }
    false
}

/// The next quote.
#[inline]
fn find_quote(bytes: &[u8], from: usize) -> Option<usize> {
    // Most quoted cells are short.
    const NEAR: usize = 16;
    let rest = &bytes[from..];
    let near = rest.iter().take(NEAR).position(|byte| *byte == b'"');
    let found = near.or_else(|| memchr(b'"', rest.get(NEAR..)?).map(|at| NEAR + at));
    found.map(|at| from + at)
}

/// Whether a byte ends an unquoted cell.
#[inline]
fn ends_cell(byte: u8, delimiter: u8) -> bool {
    byte == delimiter || byte == b'\n' || byte == b'\r'
}

/// Number of line ends as an editor counts them: a return and a line feed are one.
pub(super) fn count_line_ends(bytes: &[u8]) -> u64 {
    let feeds = memchr_iter(b'\n', bytes).count();
    let alone = memchr_iter(b'\r', bytes).filter(|at| bytes.get(at + 1) != Some(&b'\n')).count();
    (feeds + alone) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of a text, with their first lines.
    fn blocks(text: &'static [u8], size: usize) -> Vec<(u64, String)> {
        let mut reader = BlockReader::new(Box::new(text), b',', size);
        let mut blocks = Vec::new();
        while let Some(block) = reader.next(Vec::new()).expect("no failure") {
            blocks.push((block.line, String::from_utf8_lossy(&block.bytes).into_owned()));
        }
        blocks
    }

    #[test]
    fn blocks_are_whole_rows_whatever_is_quoted() {
        let text = b"a,b\n\"x\ny\",\"\"\"\n\"\n\n5\" disk,1\r\n\r\n\"p\"q,2\r3,4";
        let rows = [
            (1, "a,b\n"),
            (2, "\"x\ny\",\"\"\"\n\"\n"),
            (5, "\n5\" disk,1\r\n"),
            (7, "\r\n\"p\"q,2\r"),
            (9, "3,4"),
        ];
        for size in 1..text.len() + 2 {
            let blocks = blocks(text, size);
            let whole: String = blocks.iter().map(|(_, text)| text.as_str()).collect();
            assert_eq!(whole, String::from_utf8_lossy(text), "{size}");
            assert!(size > 4 || blocks.len() > 2, "{size}");
            for (line, block) in blocks {
                assert!(rows.iter().any(|(start, row)| *start == line && block.starts_with(row)), "{size}");
            }
        }
    }

    #[test]
    fn rows_before_a_read_error_are_returned() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("torn"))
            }
        }
        for size in 1..20 {
            let mut reader = BlockReader::new(Box::new(b"a\nb\nc".chain(Failing)), b',', size);
            let mut texts = Vec::new();
            let failure = loop {
                match reader.next(Vec::new()) {
                    Ok(block) => texts.extend(block.expect("a failure at the end").bytes),
                    Err(failure) => break failure,
                }
            };
            assert_eq!((texts.as_slice(), failure.to_string().as_str()), (&b"a\nb\n"[..], "torn"), "{size}");
        }
    }

    #[test]
    fn line_ends_are_those_of_an_editor() {
        assert_eq!(count_line_ends(b"a\r\nb\rc\n\nd"), 4);
        assert_eq!(count_line_ends(b"x\r\ny\rz\n"), 3);
    }
}
