//! Tables: a header line, then a row of cells per line.
//!
//! In: a file or standard input. Out: checked cells, with the line of the file for whoever must complain, and
//! [`Answers`], the part of them that the engine reads.

use std::{
    cell::Cell,
    collections::HashMap,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
    rc::Rc,
};

use spocc::{Model, Predictions, PredictionsBuilder, Symbol};

use crate::error::{Error, Place, list, suggestion};

/// Bytes read at once.
const BUFFER: usize = 1 << 16;

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

/// A table being read, one row at a time.
pub(crate) struct Table {
    place: Place,
    header: Vec<String>,
    /// The number of each column.
    numbers: HashMap<String, usize>,
    reader: csv::Reader<Box<dyn Read>>,
    record: csv::ByteRecord,
    line: u64,
    /// Whether an odd number of quotes was read so far.
    open_quote: Rc<Cell<bool>>,
    /// Whether lines end in a bare line feed: the reader has then counted it when it hands out a row.
    counts_line_end: bool,
}

impl Table {
    /// Opens a table and reads its header; `-` is standard input.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is none, if it is a model or a tally, or if column names repeat.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let place = Place::file(path, "standard input");
        let mut source: Box<dyn BufRead> = if path == Path::new("-") {
            Box::new(BufReader::with_capacity(BUFFER, io::stdin()))
        } else {
            let file = File::open(path).map_err(|source| place.io("a table", source))?;
            Box::new(BufReader::with_capacity(BUFFER, file))
        };
        let head = source.fill_buf().map_err(|source| place.io("a table", source))?;
        if head.is_empty() {
            return Err(place.refused("a table with a header line", "an empty file"));
        }
        if is_model_or_tally(head) {
            return Err(place.refused("a table", "a model or a tally of spocc"));
        }
        let open_quote = Rc::new(Cell::new(false));
        let source = Quotes { source, odd: Rc::clone(&open_quote) };
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(BUFFER)
            .from_reader(Box::new(source) as Box<dyn Read>);
        let (header, numbers, record) = (Vec::new(), HashMap::new(), csv::ByteRecord::new());
        let mut table =
            Self { place, header, numbers, reader, record, line: 0, open_quote, counts_line_end: false };
        table.read_header()?;
        Ok(table)
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
                self.place.line(1).refused("column names in UTF-8", found)
            })?;
            if self.numbers.insert(name.to_owned(), self.header.len()).is_some() {
                return Err(self.place.line(1).refused("distinct column names", format!("`{name}` twice")));
            }
            self.header.push(name.to_owned());
        }
        Ok(())
    }

    /// The column names.
    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    /// Where this table is.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Where the present row is.
    pub(crate) fn here(&self) -> Place {
        self.place.line(self.line)
    }

    /// The number of the column with this name.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with the nearest name there is.
    pub(crate) fn column(&self, name: &str) -> Result<usize, Error> {
        self.numbers.get(name).copied().ok_or_else(|| {
            let found = format!("{}{}", list(&self.header), suggestion(name, &self.header));
            self.place.line(1).refused(format!("a column `{name}`"), found)
        })
    }

    /// Whether there is a column with this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.numbers.contains_key(name)
    }

    /// The numbers of the columns with these names.
    ///
    /// # Errors
    ///
    /// As [`column`](Self::column).
    pub(crate) fn columns(&self, names: &[String]) -> Result<Vec<usize>, Error> {
        names.iter().map(|name| self.column(name)).collect()
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
                other => self.place.line(before).refused("a table", format!("{other:?}")),
            })?;
        if !more {
            if self.open_quote.get() {
                return Err(self.here().refused("a closing quote", "the end of the table"));
            }
            return Ok(false);
        }
        self.line = self.line_of_record(before);
        // The reader skips empty lines; in a table of one column such a line is a row without an answer.
        if self.header.len() == 1 && self.line > last_line + 1 {
            let place = self.place.line(last_line + 1);
            return Err(place.refused("a cell, or \"\" for a missing one", "an empty line"));
        }
        let (expected, found) = (self.header.len(), self.record.len());
        if expected != found && expected > 0 {
            let cells = |n: usize| if n == 1 { "1 cell".to_owned() } else { format!("{n} cells") };
            return Err(self.here().refused(cells(expected), found.to_string()));
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

    /// A cell of the present row as text.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if it is not UTF-8.
    pub(crate) fn text(&self, column: usize) -> Result<&str, Error> {
        let cell = self.cell(column);
        std::str::from_utf8(cell).map_err(|_| {
            let expected = format!("UTF-8 text in column `{}`", self.header[column]);
            self.here().refused(expected, format!("`{}`", cell.escape_ascii()))
        })
    }
}

/// Whether these are the first bytes of a file of ours: the engine then misses the rest, not the mark.
fn is_model_or_tally(head: &[u8]) -> bool {
    let mark = &head[..head.len().min(8)];
    !matches!(Model::from_bytes(mark), Err(spocc::Error::NotOurs { .. }))
}

/// The words that mean "no answer", besides an empty cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Na<'a>(pub(crate) &'a [String]);

impl Na<'_> {
    /// Whether a cell says nothing.
    pub(crate) fn is_missing(self, cell: &[u8]) -> bool {
        cell.is_empty() || self.0.iter().any(|word| word.as_bytes() == cell)
    }
}

/// The answers in some columns of a table, gathered row by row.
pub(crate) struct Answers<'a> {
    na: Na<'a>,
    columns: Vec<usize>,
    builder: PredictionsBuilder,
    /// What each text in each column means: a repeated cell costs one look.
    known: Vec<HashMap<Vec<u8>, Option<Symbol>>>,
    row: Vec<Option<Symbol>>,
    lines: Lines,
}

impl<'a> Answers<'a> {
    /// Gathers these columns of a table; they are classifiers by the name of the column.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`] if there are none.
    pub(crate) fn new(table: &Table, columns: Vec<usize>, na: Na<'a>) -> Result<Self, Error> {
        let names = columns.iter().map(|&column| table.header[column].clone());
        let builder = Predictions::builder(names).map_err(|error| table.place.engine(error))?;
        let known = vec![HashMap::new(); columns.len()];
        Ok(Self { na, columns, builder, known, row: Vec::new(), lines: Lines::default() })
    }

    /// Takes the present row of the table.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for cells that are not UTF-8 and for more different labels than the engine takes.
    pub(crate) fn push(&mut self, table: &Table) -> Result<(), Error> {
        self.row.clear();
        for (known, &column) in self.known.iter_mut().zip(&self.columns) {
            let cell = table.cell(column);
            let symbol = match known.get(cell) {
                _ if cell.is_empty() => None,
                Some(symbol) => *symbol,
                None => {
                    let symbol = if self.na.is_missing(cell) {
                        None
                    } else {
                        Some(symbol(&mut self.builder, table, column)?)
                    };
                    known.insert(cell.to_owned(), symbol);
                    symbol
                }
            };
            self.row.push(symbol);
        }
        self.builder.push_symbols(&self.row).map_err(|error| table.here().engine(error))?;
        self.lines.push(table.line);
        Ok(())
    }

    /// How many different answers each classifier gave.
    pub(crate) fn n_different(&self) -> Vec<usize> {
        self.known.iter().map(|known| known.values().flatten().count()).collect()
    }

    /// The gathered answers, and the line of each row.
    pub(crate) fn finish(self) -> (Predictions, Lines) {
        (self.builder.finish(), self.lines)
    }
}

fn symbol(builder: &mut PredictionsBuilder, table: &Table, column: usize) -> Result<Symbol, Error> {
    builder.symbol(table.text(column)?).map_err(|error| match error {
        spocc::Error::TooManyLabels { limit } => {
            let name = &table.header[column];
            let found = format!("more (if column `{name}` is no classifier, say so: --ignore {name})");
            table.here().refused(format!("at most {limit} different answers"), found)
        }
        other => table.here().engine(other),
    })
}

/// The line of every row, kept as runs of consecutive lines.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    n_rows: usize,
    /// First row and its line, wherever the line is not the one after that of the row before.
    runs: Vec<(usize, u64)>,
}

impl Lines {
    fn push(&mut self, line: u64) {
        if self.runs.is_empty() || self.line(self.n_rows) != line {
            self.runs.push((self.n_rows, line));
        }
        self.n_rows += 1;
    }

    /// The line of a row counted from 0.
    pub(crate) fn line(&self, row: usize) -> u64 {
        let run = self.runs.partition_point(|(first, _)| *first <= row);
        let (first, line) = run.checked_sub(1).map_or((0, 1), |run| self.runs[run]);
        line + (row - first) as u64
    }

    /// An engine's complaint about a row as a complaint about a line of the table.
    pub(crate) fn blame(&self, place: &Place, error: spocc::Error) -> Error {
        use spocc::Error::{BadWeight, TruthNotAClass, UnseenLabel};
        match error {
            TruthNotAClass { row, found, classes } => place
                .line(self.line(row - 1))
                .refused(format!("a truth among the classes {classes}"), format!("`{found}`")),
            BadWeight { row, found, smallest, largest } => place
                .line(self.line(row - 1))
                .refused(format!("a weight of 0 or between {smallest} and {largest}"), found.to_string()),
            UnseenLabel { row, classifier, found } => place
                .line(self.line(row - 1))
                .refused(format!("`{classifier}` to say a label known to the model"), format!("`{found}`")),
            other => place.engine(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn lines_of(text: &str) -> Vec<u64> {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(text.as_bytes()).expect("room for a few bytes");
        let mut table = Table::open(file.path()).expect("a table");
        let mut lines = Vec::new();
        while table.next().expect("whole rows") {
            lines.push(table.line);
        }
        lines
    }

    #[test]
    fn rows_know_their_lines_whatever_ends_them() {
        for end in ["\n", "\r\n"] {
            let text = ["a,b", "1,2", "", "", "3,4", "\"x", "y\",5", "6,7"].join(end);
            assert_eq!(lines_of(&text), [2, 5, 6, 8], "{end:?}, last line not ended");
            assert_eq!(lines_of(&(text + end)), [2, 5, 6, 8], "{end:?}");
        }
    }

    #[test]
    fn lines_are_kept_as_runs() {
        let mut lines = Lines::default();
        let given = [2, 3, 4, 7, 8, 20];
        for line in given {
            lines.push(line);
        }
        assert_eq!((0..6).map(|row| lines.line(row)).collect::<Vec<_>>(), given);
        assert_eq!(lines.runs.len(), 3);
    }
}
