//! Delimited text: a header line, then a row of cells per line.

use std::{
    cell::RefCell,
    io::{Cursor, Read},
    rc::Rc,
};

use crate::{
    error::{At, Error, Place},
    table::scan::{Scanned, Seen, line_ends},
};

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
    header_line: u64,
    seen: Rc<RefCell<Seen>>,
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
        let seen = Rc::new(RefCell::new(Seen::new(delimiter)));
        let source = Scanned { source: Cursor::new(head).chain(rest), seen: Rc::clone(&seen) };
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .buffer_capacity(BUFFER)
            .from_reader(Box::new(source) as Box<dyn Read>);
        let (header, record) = (Vec::new(), csv::ByteRecord::new());
        let mut text = Self { place, header, delimiter, reader, record, line: 0, header_line: 1, seen };
        text.read_header()?;
        Ok(text)
    }

    fn read_header(&mut self) -> Result<(), Error> {
        if !self.next()? {
            return Err(self.place.refused("a table with a header line", "an empty file"));
        }
        self.header_line = self.line;
        for cell in &self.record {
            let name = std::str::from_utf8(cell).map_err(|_| {
                let found = format!("`{}`", cell.escape_ascii());
                self.place.at(self.at()).refused("column names in UTF-8", found)
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

    /// The line of the header.
    pub(crate) fn top(&self) -> At {
        At::Line(self.header_line)
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
        let last_line = self.line + line_ends(self.record.as_slice());
        let more =
            self.reader.read_byte_record(&mut self.record).map_err(|error| match error.into_kind() {
                csv::ErrorKind::Io(source) => self.place.io("a table", source),
                // The reader is flexible and reads bytes: it has nothing else to complain about.
                other => self.place.at(At::Line(self.line)).refused("a table", format!("{other:?}")),
            })?;
        let here = |line: u64| self.place.at(At::Line(line));
        if more {
            let mut seen = self.seen.borrow_mut();
            // The reader takes a text that ends inside a quoted cell for whole.
            let is_cut = seen.is_cut();
            let end = seen.line_of_end(if is_cut { u64::MAX } else { self.reader.position().byte() });
            self.line = end - line_ends(self.record.as_slice());
            if is_cut {
                return Err(here(self.line).refused("a closing quote", "the end of the table"));
            }
        }
        if !more {
            return Ok(false);
        }
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

    /// A cell of the present row.
    pub(crate) fn cell(&self, column: usize) -> &[u8] {
        &self.record[column]
    }
}

/// The delimiter that cuts the first lines into equally many cells, and into the most; if none does, the one that
/// cuts the header into most.
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
    let widest = |among: &[u8], must_fit: bool| {
        let fits = |delimiter: &&u8| !must_fit || matches!(score(**delimiter), (true, true, _));
        among.iter().filter(fits).rev().max_by_key(|delimiter| score(**delimiter)).copied()
    };
    // A bar is more often found inside cells than between them.
    let (usual, _) = DELIMITERS.split_at(3);
    widest(usual, true)
        .or_else(|| widest(&DELIMITERS, true))
        .or_else(|| widest(&DELIMITERS, false))
        .unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use std::{io, path::Path};

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
        for end in ["\n", "\r\n", "\r"] {
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
            ("id,a|b|c\n1,x|y|z\n", b','),
            ("alone\n1\n", b','),
            ("a,b\n1,2,3\n", b','),
        ] {
            assert_eq!(sniff(text.as_bytes()), delimiter, "{text}");
        }
    }
}
