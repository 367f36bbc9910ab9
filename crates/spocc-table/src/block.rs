//! A text in blocks of whole rows, so that each can be read on its own, on any core.
//!
//! In: bytes as they come. Out: blocks that begin where a row begins, or at the empty lines before it, and end
//! with the line end of a row.

use std::{
    io::{self, Read},
    mem,
};

use memchr::{memchr, memchr_iter, memrchr2};

/// Bytes aimed at: a block and what is made of it stay in a core's own cache.
pub(super) const SIZE: usize = 1 << 18;

/// The longest block there may be, so that 32 bits tell where its cells are, twice.
pub(super) const LONGEST: usize = i32::MAX as usize;

/// Some rows as they were written.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) bytes: Vec<u8>,
    /// The line, from 1, of the first byte.
    pub(super) line: u64,
}

/// Cuts a text into blocks.
pub(super) struct Cutter {
    source: Box<dyn Read + Send>,
    delimiter: u8,
    size: usize,
    /// Read and not handed out.
    rest: Vec<u8>,
    line: u64,
    has_ended: bool,
    failure: Option<io::Error>,
    /// Where the present block is outside of quotes.
    outside: Vec<(usize, usize)>,
}

impl Cutter {
    /// Cuts what comes from `source` into blocks of about `size` bytes, more where a row is longer.
    pub(super) fn new(source: Box<dyn Read + Send>, delimiter: u8, size: usize) -> Self {
        let (rest, outside) = (Vec::new(), Vec::new());
        Self { source, delimiter, size, rest, line: 1, has_ended: false, failure: None, outside }
    }

    /// The next block, in the memory of a spare one; none after the last.
    ///
    /// # Errors
    ///
    /// What the system says, after the rows that came before.
    pub(super) fn next(&mut self, mut spare: Vec<u8>) -> io::Result<Option<Block>> {
        spare.clear();
        let mut bytes = mem::replace(&mut self.rest, spare);
        let end = loop {
            if self.has_ended {
                break if self.failure.is_some() { self.last_row(&bytes).unwrap_or(0) } else { bytes.len() };
            }
            // Doubled where no row ends, so that looking for its end again and again does not cost much.
            self.read(&mut bytes);
            if let Some(end) = self.last_row(&bytes).filter(|_| !self.has_ended) {
                break end;
            }
            if bytes.len() > LONGEST {
                break bytes.len();
            }
        };
        if end == 0 {
            return self.failure.take().map_or(Ok(None), Err);
        }
        self.rest.extend_from_slice(&bytes[end..]);
        bytes.truncate(end);
        let line = self.line;
        self.line += line_ends(&bytes);
        Ok(Some(Block { bytes, line }))
    }

    /// Whether the last block was handed out.
    pub(super) fn is_done(&self) -> bool {
        self.has_ended && self.rest.is_empty() && self.failure.is_none()
    }

    /// Reads as much as is missing to a block, or, if that is nothing, as much again.
    fn read(&mut self, bytes: &mut Vec<u8>) {
        let wanted = if bytes.len() < self.size { self.size - bytes.len() } else { bytes.len() };
        // A little more room than is needed spares the reader a look whether it is needed.
        bytes.reserve(wanted + 64);
        let before = bytes.len();
        let read = self.source.by_ref().take(wanted as u64).read_to_end(bytes);
        self.has_ended = bytes.len() - before < wanted;
        self.failure = read.err();
    }

    /// The end of the last row that is there for sure, without empty lines behind it.
    fn last_row(&mut self, bytes: &[u8]) -> Option<usize> {
        // Half of a line end may still be to come.
        let sure = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        match memchr(b'"', sure) {
            None => last_row(sure, 0, sure.len()),
            Some(quote) => {
                self.find_outside(sure, quote);
                self.outside.iter().rev().find_map(|&(from, to)| last_row(sure, from, to))
            }
        }
    }

    /// Where these bytes, which begin with a row and have their first quote at `quote`, are outside of quotes.
    fn find_outside(&mut self, bytes: &[u8], mut quote: usize) {
        self.outside.clear();
        let mut from = 0;
        loop {
            // Only at the start of a cell does a quote open anything.
            let opens = quote == 0 || is_border(bytes[quote - 1], self.delimiter);
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

/// The end of the last row between two places outside of quotes.
fn last_row(bytes: &[u8], from: usize, to: usize) -> Option<usize> {
    let last = from + memrchr2(b'\n', b'\r', &bytes[from..to])?;
    let is_end = |at: usize| matches!(bytes[at], b'\n' | b'\r');
    let first = (from..last).rev().take_while(|&at| is_end(at)).last().unwrap_or(last);
    // Nothing but empty lines from the beginning on.
    (first > 0).then(|| first + if bytes[first..].starts_with(b"\r\n") { 2 } else { 1 })
}

/// The quote that closes a cell; none if the bytes end before that is sure.
fn closing(bytes: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let quote = find_quote(bytes, from)?;
        match bytes.get(quote + 1)? {
            b'"' => from = quote + 2,
            _ => return Some(quote),
        }
    }
}

/// The next quote.
#[inline]
pub(super) fn find_quote(bytes: &[u8], from: usize) -> Option<usize> {
    // Most quoted cells are short.
    const NEAR: usize = 16;
    let rest = &bytes[from..];
    let near = rest.iter().take(NEAR).position(|byte| *byte == b'"');
    let found = near.or_else(|| memchr(b'"', rest.get(NEAR..)?).map(|at| NEAR + at));
    found.map(|at| from + at)
}

/// Whether a byte ends a cell that is not quoted.
#[inline]
pub(super) fn is_border(byte: u8, delimiter: u8) -> bool {
    byte == delimiter || byte == b'\n' || byte == b'\r'
}

/// How many lines end here, as an editor shows them: a return and a line feed are one end.
pub(super) fn line_ends(bytes: &[u8]) -> u64 {
    let feeds = memchr_iter(b'\n', bytes).count();
    let alone = memchr_iter(b'\r', bytes).filter(|at| bytes.get(at + 1) != Some(&b'\n')).count();
    (feeds + alone) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of a text, with their first lines.
    fn blocks(text: &'static [u8], size: usize) -> Vec<(u64, String)> {
        let mut cutter = Cutter::new(Box::new(text), b',', size);
        let mut blocks = Vec::new();
        while let Some(block) = cutter.next(Vec::new()).expect("no failure") {
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
    fn what_came_before_a_failure_is_handed_out() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("torn"))
            }
        }
        for size in 1..20 {
            let mut cutter = Cutter::new(Box::new(b"a\nb\nc".chain(Failing)), b',', size);
            let mut texts = Vec::new();
            let failure = loop {
                match cutter.next(Vec::new()) {
                    Ok(block) => texts.extend(block.expect("a failure at the end").bytes),
                    Err(failure) => break failure,
                }
            };
            assert_eq!((texts.as_slice(), failure.to_string().as_str()), (&b"a\nb\n"[..], "torn"), "{size}");
        }
    }

    #[test]
    fn line_ends_are_those_of_an_editor() {
        assert_eq!(line_ends(b"a\r\nb\rc\n\nd"), 4);
        assert_eq!(line_ends(b"x\r\ny\rz\n"), 3);
    }
}
