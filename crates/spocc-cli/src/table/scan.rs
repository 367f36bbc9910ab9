//! What a reader of delimited text does not tell: on which line a row begins, and whether the text ends inside a
//! quoted cell, as one that was cut in half may.

use std::{
    cell::RefCell,
    collections::VecDeque,
    io::{self, Read},
    rc::Rc,
};

/// Where a cell is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Cell {
    #[default]
    Start,
    Plain,
    Quoted,
    /// After a quote inside a quoted cell: its end, or half of a doubled one.
    MaybeClosed,
}

/// What was seen of a text so far.
#[derive(Debug, Default)]
pub(super) struct Seen {
    delimiter: u8,
    n_bytes: u64,
    /// Offsets of line ends that no row has passed yet.
    line_ends: VecDeque<u64>,
    n_passed: u64,
    after_return: bool,
    cell: Cell,
    has_ended: bool,
}

impl Seen {
    pub(super) fn new(delimiter: u8) -> Self {
        Self { delimiter, ..Self::default() }
    }

    /// Whether the text has ended inside a quoted cell.
    pub(super) fn is_cut(&self) -> bool {
        self.has_ended && self.cell == Cell::Quoted
    }

    /// The line, from 1, on which the row ends that ends before this offset. Rows must be asked for in order.
    pub(super) fn line_of_end(&mut self, end: u64) -> u64 {
        while self.line_ends.front().is_some_and(|at| at + 1 < end) {
            self.line_ends.pop_front();
            self.n_passed += 1;
        }
        self.n_passed + 1
    }

    fn take(&mut self, bytes: &[u8]) {
        for (at, byte) in bytes.iter().enumerate().filter(|(_, byte)| matches!(byte, b'\n' | b'\r')) {
            let follows = if at == 0 { self.after_return } else { bytes[at - 1] == b'\r' };
            // A return and a line feed are one line end, where the return is.
            if *byte == b'\r' || !follows {
                self.line_ends.push_back(self.n_bytes + at as u64);
            }
        }
        // The reader skips the mark that some programs put before a text.
        let at_cells =
            if self.n_bytes == 0 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes };
        self.after_return = bytes.last().map_or(self.after_return, |last| *last == b'\r');
        self.n_bytes += bytes.len() as u64;
        let is_calm = matches!(self.cell, Cell::Start | Cell::Plain) && !at_cells.contains(&b'"');
        match at_cells.last() {
            Some(&last) if is_calm => {
                self.cell = if self.is_border(last) { Cell::Start } else { Cell::Plain }
            }
            _ => at_cells.iter().for_each(|&byte| self.step(byte)),
        }
    }

    fn is_border(&self, byte: u8) -> bool {
        byte == self.delimiter || byte == b'\n' || byte == b'\r'
    }

    fn step(&mut self, byte: u8) {
        self.cell = match (self.cell, byte) {
            (Cell::Quoted, b'"') => Cell::MaybeClosed,
            (Cell::Start | Cell::MaybeClosed, b'"') | (Cell::Quoted, _) => Cell::Quoted,
            (_, byte) if self.is_border(byte) => Cell::Start,
            _ => Cell::Plain,
        };
    }
}

/// Line ends inside the cells of a row.
pub(super) fn line_ends(cells: &[u8]) -> u64 {
    let ends = |at: usize| match cells[at] {
        b'\n' => true,
        b'\r' => cells.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    (0..cells.len()).filter(|&at| ends(at)).count() as u64
}

/// Passes bytes on and looks at them.
pub(super) struct Scanned<R> {
    pub(super) source: R,
    pub(super) seen: Rc<RefCell<Seen>>,
}

impl<R: Read> Read for Scanned<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(buffer)?;
        self.seen.borrow_mut().has_ended |= n == 0 && !buffer.is_empty();
        self.seen.borrow_mut().take(&buffer[..n]);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_quotes_are_seen_however_the_text_is_cut() {
        for (text, is_open) in [
            ("a,\"b", true),
            ("a,\"b\"", false),
            ("a,\"b\"\"", true),
            ("a,\"b\"\"c\"\n", false),
            ("5\" disk,x\n", false),
            ("a\n\"", true),
            ("a;\"b", false),
            ("", false),
            ("\u{feff}\"a,\"\"\",b", false),
            ("\u{feff}\"a", true),
        ] {
            // The first read brings more than a mark.
            for piece in 4..=text.len().max(4) {
                let mut seen = Seen::new(b',');
                text.as_bytes().chunks(piece).for_each(|piece| seen.take(piece));
                assert!(!seen.is_cut(), "more may come");
                seen.has_ended = true;
                assert_eq!(seen.is_cut(), is_open, "{text:?} by {piece}");
            }
        }
    }

    #[test]
    fn line_ends_are_those_of_an_editor() {
        for piece in 1..12 {
            let mut seen = Seen::new(b',');
            b"a\r\nb\rc\n\nd".chunks(piece).for_each(|piece| seen.take(piece));
            // Ends of the rows a, b, c, d, each behind its line end.
            assert_eq!([2, 5, 7, 9].map(|end| seen.line_of_end(end)), [1, 2, 3, 5], "by {piece}");
        }
        assert_eq!(line_ends(b"x\r\ny\rz\n"), 3);
    }
}
