//! Delimited text: a header line, then a row of cells per line.

use std::io::{Cursor, Read};

use crate::{
    block::{Block, Cutter, SIZE, line_ends},
    cells::{Complaint, first_row},
    error::{At, Error, Place},
};

/// What may stand between cells, the likeliest first.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Lines that a guess of the delimiter looks at.
const SNIFFED: usize = 100;

/// A text whose header is read and whose rows are to come.
pub(crate) struct Text {
    header: Vec<String>,
    header_line: u64,
    delimiter: u8,
    /// The rows that were read with the header.
    first: Block,
    rest: Cutter,
}

impl Text {
    /// Reads the header of a text that begins with `head`; without a delimiter, the likeliest is taken.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no header, or one that is not UTF-8.
    pub(crate) fn open(
        place: &Place,
        delimiter: Option<u8>,
        head: Vec<u8>,
        rest: Box<dyn Read + Send>,
    ) -> Result<Self, Error> {
        Self::in_blocks(place, delimiter, head, rest, SIZE)
    }

    /// As [`open`](Self::open), for blocks of about `size` bytes.
    pub(super) fn in_blocks(
        place: &Place,
        delimiter: Option<u8>,
        mut head: Vec<u8>,
        rest: Box<dyn Read + Send>,
        size: usize,
    ) -> Result<Self, Error> {
        // The mark that some programs put before a text.
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        let delimiter = delimiter.unwrap_or_else(|| sniff(&head));
        let mut rest = Cutter::new(Box::new(Cursor::new(head).chain(rest)), delimiter, size);
        let failed = |source| place.io("a table", source);
        let complain = |Complaint { line, expected, found }| place.line(line).refused(expected, found);
        // Empty lines before the header have the first blocks for themselves at most.
        while let Some(mut block) = rest.next(Vec::new()).map_err(failed)? {
            let Some(first) = first_row(&block, delimiter).map_err(complain)? else { continue };
            let header_line = first.line;
            let mut header = Vec::new();
            for cell in first.cells {
                header.push(String::from_utf8(cell).map_err(|error| {
                    let found = format!("`{}`", error.as_bytes().escape_ascii());
                    place.line(header_line).refused("column names in UTF-8", found)
                })?);
            }
            block.line += line_ends(&block.bytes[..first.end]);
            block.bytes.drain(..first.end);
            return Ok(Self { header, header_line, delimiter, first: block, rest });
        }
        Err(place.refused("a table with a header line", "an empty file"))
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

    /// The rows: the first block of them, and where the others come from.
    pub(super) fn into_rows(self) -> (Block, Cutter) {
        (self.first, self.rest)
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
    use super::*;

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
