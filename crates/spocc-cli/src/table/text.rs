//! Delimited text: a header line, then a row of cells per line.

use std::{
    cell::Cell,
    io::{self, Cursor, Read},
    rc::Rc,
};

use crate::error::{At, Error, Place};

/// Bytes read at once.
const BUFFER: usize = 1 << 16;

/// What may stand between cells, the likeliest first.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Lines that a guess of the delimiter looks at.
const SNIFFED: usize = 100;

/// Rows of a text, one at a time.
pub(crate) struct Text {
    place: Place,
    header: Vec<String>,
    delimiter: u8,
    reader: csv::Reader<Box<dyn Read>>,
    record: csv::ByteRecord,
    line: u64,
    /// Whether an odd number of quotes was read so far.
    open_quote: Rc<Cell<bool>>,
    /// Whether lines end in a bare line feed: the reader has then counted it when it hands out a row.
    counts_line_end: bool,
}

impl Text {
    /// Reads the header of a text that begins with `head`; without a delimiter, the likeliest is taken.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no header, or one that is not UTF-8.
    pub(crate) fn open(
        place: Place,
        delimiter: Option<u8>,
        head: Vec<u8>,
        rest: Box<dyn Read>,
    ) -> Result<Self, Error> {
        let delimiter = delimiter.unwrap_or_else(|| sniff(&head));
        let open_quote = Rc::new(Cell::new(false));
        let source = Quotes { source: Cursor::new(head).chain(rest), odd: Rc::clone(&open_quote) };
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .buffer_capacity(BUFFER)
            .from_reader(Box::new(source) as Box<dyn Read>);
        let (header, record) = (Vec::new(), csv::ByteRecord::new());
        let mut text =
            Self { place, header, delimiter, reader, record, line: 0, open_quote, counts_line_end: false };
        text.read_header()?;
        Ok(text)
    }

    fn read_header(&mut self) -> Result<(), Error> {
        if !self.next()? {
            return Err(self.place.refused("a table with a header line", "an empty file"));
        }
        self.counts_line_end = self.reader.position().line() > 1;
        self.line = 1;
        for cell in &self.record {
            let name = std::str::from_utf8(cell).map_err(|_| {
                let found = format!("`{}`", cell.escape_ascii());
                self.place.at(At::Line(1)).refused("column names in UTF-8", found)
            })?;
            self.header.push(name.to_owned());
        }
        Ok(())
    }

    /// The column names.
    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    /// What stands between cells.
    pub(crate) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// The line of the present row.
    pub(crate) fn at(&self) -> At {
        At::Line(self.line)
    }

    /// Goes to the next row; false after the last.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if it has not one cell per column, [`Error::Io`].
    pub(crate) fn next(&mut self) -> Result<bool, Error> {
        let before = self.reader.position().line();
        let last_line = self.line + newlines(&self.record);
        let more =
            self.reader.read_byte_record(&mut self.record).map_err(|error| match error.into_kind() {
                csv::ErrorKind::Io(source) => self.place.io("a table", source),
                // The reader is flexible and reads bytes: it has nothing else to complain about.
                other => self.place.at(At::Line(before)).refused("a table", format!("{other:?}")),
            })?;
        let here = |line: u64| self.place.at(At::Line(line));
        if !more {
            if self.open_quote.get() {
                return Err(here(self.line).refused("a closing quote", "the end of the table"));
            }
            return Ok(false);
        }
        self.line = self.line_of_record(before);
        // The reader skips empty lines; in a table of one column such a line is a row without an answer.
        if self.header.len() == 1 && self.line > last_line + 1 {
            return Err(here(last_line + 1).refused("a cell, or \"\" for a missing one", "an empty line"));
        }
        let (expected, found) = (self.header.len(), self.record.len());
        if expected != found && expected > 0 {
            let cells = |n: usize| if n == 1 { "1 cell".to_owned() } else { format!("{n} cells") };
            return Err(here(self.line).refused(cells(expected), found.to_string()));
        }
        Ok(true)
    }

    /// The line on which the record just read begins. The reader knows on which line it stopped, before or
    /// after the end of that line, and where it stopped before, which skipped empty lines may precede.
    fn line_of_record(&self, before: u64) -> u64 {
        let after = self.reader.position().line();
        let inside = match after - before {
            0 | 1 => 0,
            _ => newlines(&self.record),
        };
        (after - inside - u64::from(self.counts_line_end)).max(before)
    }

    /// A cell of the present row.
    pub(crate) fn cell(&self, column: usize) -> &[u8] {
        &self.record[column]
    }
}

/// Line ends inside the cells of a row.
fn newlines(record: &csv::ByteRecord) -> u64 {
    record.as_slice().split(|byte| *byte == b'\n').skip(1).count() as u64
}

/// Passes bytes on and keeps count of the quotes among them: the reader takes a table that ends inside a quoted
/// cell for whole, and a file cut in half must not become one long label.
struct Quotes<R> {
    source: R,
    odd: Rc<Cell<bool>>,
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(buffer)?;
        let odd = buffer[..n].iter().fold(false, |odd, byte| odd ^ (*byte == b'"'));
        self.odd.set(self.odd.get() ^ odd);
        Ok(n)
    }
}

/// The delimiter that cuts the first lines into equally many cells, and into the most; a comma if none does.
fn sniff(head: &[u8]) -> u8 {
    let score = |delimiter: u8| {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(head);
        let mut widths: Vec<usize> =
            reader.byte_records().take(SNIFFED).map_while(Result::ok).map(|record| record.len()).collect();
        // The last line may be cut off.
        if widths.len() > 2 {
            widths.pop();
        }
        let header = widths.first().copied().unwrap_or(0);
        (header > 1, widths.iter().all(|width| *width == header), header)
    };
    let mut best = DELIMITERS[0];
    for delimiter in DELIMITERS {
        if score(delimiter) > score(best) {
            best = delimiter;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn lines_of(text: &str) -> Vec<At> {
        let place = Place::file(Path::new("a table"), "");
        let mut table = Text::open(place, None, text.into(), Box::new(io::empty())).expect("a table");
        let mut lines = Vec::new();
        while table.next().expect("whole rows") {
            lines.push(table.at());
        }
        lines
    }

    #[test]
    fn rows_know_their_lines_whatever_ends_them() {
        for end in ["\n", "\r\n"] {
            let text = ["a,b", "1,2", "", "", "3,4", "\"x", "y\",5", "6,7"].join(end);
            let expected = [2, 5, 6, 8].map(At::Line);
            assert_eq!(lines_of(&text), expected, "{end:?}, last line not ended");
            assert_eq!(lines_of(&(text + end)), expected, "{end:?}");
        }
    }

    #[test]
    fn the_delimiter_is_the_one_that_fits_all_lines() {
        for (text, delimiter) in [
            ("a,b\n1,2\n", b','),
            ("a;b;c\n1,5;2;3\n", b';'),
            ("a\tb\n\"x,y\"\tz\n", b'\t'),
            ("a|b|c\nx|y|z\n", b'|'),
            ("answer, if any\tjudge\nno\tann\nyes\tbob\n", b'\t'),
            ("a;b,c;d\n1;2,3;4\n1;2;4\n1;2;4\n", b';'),
            ("alone\n1\n", b','),
            ("a,b\n1,2,3\n", b','),
        ] {
            assert_eq!(sniff(text.as_bytes()), delimiter, "{text}");
        }
    }
}
