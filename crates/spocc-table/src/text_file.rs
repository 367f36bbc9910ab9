//! Delimited text: a header line, then a row of cells per line.

use std::io::{Cursor, Read};

use crate::{
    error::{Error, Location, Position},
    text_blocks::{BLOCK_SIZE, BlockReader, TextBlock, count_line_ends},
    text_cells::{RowError, first_row},
};

/// Delimiters that are tried, the likeliest first.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Lines used to guess the delimiter.
const SNIFFED: usize = 100;

/// A text file whose header is read and whose rows are not.
pub(crate) struct TextFile {
    header: Vec<String>,
    header_line: u64,
    delimiter: u8,
    /// The rows in the block of the header.
    first: TextBlock,
    rest: BlockReader,
}

impl TextFile {
    /// Reads the header of a text that begins with `head`. Without a delimiter, it is guessed.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is no header, or one that is not UTF-8.
    pub(crate) fn open(
        location: &Location,
        delimiter: Option<u8>,
        head: Vec<u8>,
        rest: Box<dyn Read + Send>,
    ) -> Result<Self, Error> {
        Self::in_blocks(location, delimiter, head, rest, BLOCK_SIZE)
    }

    /// As [`open`](Self::open), for blocks of about `size` bytes.
    pub(super) fn in_blocks(
        location: &Location,
        delimiter: Option<u8>,
        mut head: Vec<u8>,
        rest: Box<dyn Read + Send>,
        size: usize,
    ) -> Result<Self, Error> {
        // The byte order mark that some programs write.
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        let delimiter = delimiter.unwrap_or_else(|| guess_delimiter(&head));
        let mut rest = BlockReader::new(Box::new(Cursor::new(head).chain(rest)), delimiter, size);
        let failed = |source| location.io("a table", source);
        let row_error = |RowError { line, expected, found }| location.line(line).refused(expected, found);
        // Empty lines before the header may fill whole blocks.
        while let Some(mut block) = rest.next(Vec::new()).map_err(failed)? {
            let Some(first) = first_row(&block, delimiter).map_err(row_error)? else { continue };
            let header_line = first.line;
            let mut header = Vec::new();
            for cell in first.cells {
                header.push(String::from_utf8(cell).map_err(|error| {
                    let found = format!("`{}`", error.as_bytes().escape_ascii());
                    location.line(header_line).refused("column names in UTF-8", found)
                })?);
            }
            block.line += count_line_ends(&block.bytes[..first.end]);
            block.bytes.drain(..first.end);
            return Ok(Self { header, header_line, delimiter, first: block, rest });
        }
        Err(location.refused("a table with a header line", "an empty file"))
    }

    /// The column names.
    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    /// The delimiter.
    pub(crate) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// The line of the header.
    pub(crate) fn header_position(&self) -> Position {
        Position::Line(self.header_line)
    }

    /// The rows: the first block, and the reader of the others.
    pub(super) fn into_blocks(self) -> (TextBlock, BlockReader) {
        (self.first, self.rest)
    }
}

/// The delimiter that splits all of the first lines into the same number of cells, and into the most. If there is
/// none, the one that splits the header into the most.
fn guess_delimiter(head: &[u8]) -> u8 {
    let score = |delimiter: u8| {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(head);
        let mut widths: Vec<usize> =
            reader.byte_records().take(SNIFFED).map_while(Result::ok).map(|record| record.len()).collect();
        // The last line may be incomplete.
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
    // A bar occurs inside cells more often than between them.
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
            assert_eq!(guess_delimiter(text.as_bytes()), delimiter, "{text}");
        }
    }
}
