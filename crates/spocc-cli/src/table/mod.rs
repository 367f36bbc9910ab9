//! Tables: named columns, then rows of cells, in one file or in many.
//!
//! In: file names, globs, directories or standard input. Out: checked cells, with their place for whoever must
//! complain, and [`Answers`], the part of them that the engine reads.

mod answers;
#[cfg(feature = "arrow")]
pub(crate) mod arrow;
mod scan;
mod source;
mod text;

use std::{
    collections::{HashMap, VecDeque},
    io::Read,
    path::{Path, PathBuf},
};

use spocc::Label;

#[cfg(feature = "arrow")]
use crate::error::At;
use crate::error::{Error, Place, list, suggestion};

pub(crate) use answers::{Answers, Known, Lines};
#[cfg(feature = "arrow")]
pub(crate) use arrow_schema::DataType as ArrowType;
pub(crate) use source::expand;
use source::{Columns, Content, Source};
use text::Text;

/// Rows between two looks at how far a file of columns is read.
#[cfg(feature = "arrow")]
const PROGRESS: u64 = 1 << 16;

/// How cells are told apart and which of them say nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// What stands between cells; none: whatever fits.
    pub(crate) delimiter: Option<u8>,
    /// The words that mean "no answer", besides an empty cell.
    pub(crate) na: Vec<String>,
}

impl Reading {
    /// Whether a cell says nothing.
    pub(crate) fn is_missing(&self, cell: Option<&[u8]>) -> bool {
        cell.is_none_or(|cell| cell.is_empty() || self.na.iter().any(|word| word.as_bytes() == cell))
    }
}

/// How the cells of a column were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "arrow"), allow(dead_code))]
pub(crate) enum Kind {
    Text,
    Integer,
    Float,
    Boolean,
}

impl Kind {
    /// The label that a cell of this kind holds.
    pub(crate) fn label(self, text: &str) -> Label {
        let typed = match self {
            Self::Text => None,
            Self::Integer => text.parse::<i64>().ok().map(Label::from),
            Self::Float => text.parse::<f64>().ok().and_then(|value| Label::try_from(value).ok()),
            Self::Boolean => text.parse::<bool>().ok().map(Label::from),
        };
        typed.unwrap_or_else(|| Label::from(text))
    }
}

/// One file of a table.
enum Part {
    Text(Box<Text>),
    #[cfg(feature = "arrow")]
    Arrow(Box<arrow::Batches>),
}

/// A table being read, one row at a time.
pub(crate) struct Table {
    reading: Reading,
    /// The files still to come.
    rest: VecDeque<PathBuf>,
    beginning: Place,
    place: Place,
    part: Part,
    /// Where each column is in the present file.
    order: Vec<usize>,
    header: Vec<String>,
    /// The number of each column.
    numbers: HashMap<String, usize>,
    /// The only columns that will be asked for.
    asked: Option<Vec<usize>>,
}

/// What the user's file names turned out to be.
pub(crate) enum Opened {
    /// A table.
    Table(Box<Table>),
    /// The bytes of a model or a tally.
    Ours(Place, Vec<u8>),
}

impl Opened {
    /// Opens what is named; several names are one table.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`], [`Error::Io`].
    pub(crate) fn new(names: &[PathBuf], reading: &Reading) -> Result<Self, Error> {
        let mut rest = VecDeque::from(source::expand(names)?);
        let Some(path) = rest.pop_front() else {
            return Err(Place::file("tables".as_ref(), "").refused("at least one", "none"));
        };
        let place = Place::file(&path, "standard input");
        let content = source::open(&path, &place)?;
        if let Content::Ours(mut bytes) = content {
            let mut all = Vec::new();
            bytes.read_to_end(&mut all).map_err(|source| place.io("a file to read", source))?;
            if rest.is_empty() {
                return Ok(Self::Ours(place, all));
            }
            return Err(
                place.refused("tables", "a model or a tally of spocc (`spocc merge` adds tallies up)")
            );
        }
        let part = open_part(&place, content, reading)?;
        let (reading, beginning) = (reading.clone(), place.clone());
        let (header, order, numbers) = (Vec::new(), Vec::new(), HashMap::new());
        let mut table = Table { reading, rest, beginning, place, part, order, header, numbers, asked: None };
        table.take_header()?;
        Ok(Self::Table(Box::new(table)))
    }
}

impl Table {
    /// Opens a table.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is none, if it is a model or a tally, or if column names repeat.
    pub(crate) fn open(names: &[PathBuf], reading: &Reading) -> Result<Self, Error> {
        match Opened::new(names, reading)? {
            Opened::Table(table) => Ok(*table),
            Opened::Ours(place, _) => Err(place.refused("a table", "a model or a tally of spocc")),
        }
    }

    fn take_header(&mut self) -> Result<(), Error> {
        self.header = self.part.header().to_vec();
        self.order = (0..self.header.len()).collect();
        for (at, name) in self.header.iter().enumerate() {
            if self.numbers.insert(name.clone(), at).is_some() {
                return Err(self.top().refused("distinct column names", format!("`{name}` twice")));
            }
        }
        Ok(())
    }

    /// Goes on with the next file, whose columns may come in another order.
    fn next_part(&mut self, path: &Path) -> Result<(), Error> {
        self.place = Place::file(path, "standard input");
        let content = source::open(path, &self.place)?;
        self.part = open_part(&self.place, content, &self.reading)?;
        let theirs = self.part.header();
        let expected = || format!("the columns of {}", self.beginning);
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (at, name) in theirs.iter().enumerate() {
            if places.insert(name, at).is_some() {
                return Err(self.top().refused("distinct column names", format!("`{name}` twice")));
            }
            if !self.numbers.contains_key(name) {
                return Err(self.top().refused(expected(), format!("`{name}` too")));
            }
        }
        let place = |name: &String| {
            let found = places.get(name.as_str()).copied();
            found.ok_or_else(|| self.top().refused(expected(), format!("no `{name}`")))
        };
        self.order = self.header.iter().map(place).collect::<Result<_, Error>>()?;
        self.project();
        Ok(())
    }

    /// The top of the present file.
    fn top(&self) -> Place {
        match &self.part {
            Part::Text(text) => self.place.at(text.top()),
            #[cfg(feature = "arrow")]
            Part::Arrow(_) => self.place.clone(),
        }
    }

    /// The column names.
    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    /// Where this table begins, its header.
    pub(crate) fn beginning(&self) -> Place {
        match &self.part {
            Part::Text(text) => self.beginning.at(text.top()),
            #[cfg(feature = "arrow")]
            Part::Arrow(_) => self.beginning.clone(),
        }
    }

    /// Its first file.
    pub(crate) fn source(&self) -> &Place {
        &self.beginning
    }

    /// Where the present row is.
    pub(crate) fn here(&self) -> Place {
        let at = match &self.part {
            Part::Text(text) => text.at(),
            #[cfg(feature = "arrow")]
            Part::Arrow(batches) => At::Row(batches.row()),
        };
        self.place.at(at)
    }

    /// What stands between cells, if the table is a text.
    #[cfg_attr(not(feature = "arrow"), allow(clippy::unnecessary_wraps))]
    pub(crate) fn delimiter(&self) -> Option<u8> {
        match &self.part {
            Part::Text(text) => Some(text.delimiter()),
            #[cfg(feature = "arrow")]
            Part::Arrow(_) => None,
        }
    }

    /// How it is read.
    pub(crate) fn reading(&self) -> &Reading {
        &self.reading
    }

    /// The number of the column with this name.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with the nearest name there is.
    pub(crate) fn column(&self, name: &str) -> Result<usize, Error> {
        self.numbers.get(name).copied().ok_or_else(|| {
            let found = format!("{}{}", list(&self.header), suggestion(name, &self.header));
            self.beginning().refused(format!("a column `{name}`"), found)
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

    /// Promises to ask for these columns only: others need not be read.
    pub(crate) fn ask_only(&mut self, columns: impl IntoIterator<Item = usize>) {
        self.asked = Some(columns.into_iter().collect());
        self.project();
    }

    #[cfg_attr(not(feature = "arrow"), allow(clippy::unused_self))]
    fn project(&mut self) {
        #[cfg(feature = "arrow")]
        if let (Part::Arrow(batches), Some(asked)) = (&mut self.part, &self.asked) {
            let columns: Vec<usize> = asked.iter().map(|&column| self.order[column]).collect();
            batches.project(&columns);
        }
    }

    /// Goes to the next row; false after the last.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if it has not one cell per column, [`Error::Io`].
    pub(crate) fn next(&mut self) -> Result<bool, Error> {
        loop {
            let more = match &mut self.part {
                Part::Text(text) => text.next()?,
                #[cfg(feature = "arrow")]
                Part::Arrow(batches) => {
                    if batches.row() % PROGRESS == 0 {
                        crate::progress::show("reading", batches.row(), batches.n_rows_hint());
                    }
                    batches.next().map_err(|fault| fault.at(&self.place))?
                }
            };
            if more {
                return Ok(true);
            }
            match self.rest.pop_front() {
                Some(path) => self.next_part(&path)?,
                None => return Ok(false),
            }
        }
    }

    /// A cell of the present row; none if there is no value.
    #[inline]
    #[cfg_attr(not(feature = "arrow"), allow(clippy::unnecessary_wraps))]
    pub(crate) fn cell(&self, column: usize) -> Option<&[u8]> {
        match &self.part {
            Part::Text(text) => Some(text.cell(self.order[column])),
            #[cfg(feature = "arrow")]
            Part::Arrow(batches) => batches.cell(self.order[column]),
        }
    }

    /// Whether a cell of the present row says nothing.
    pub(crate) fn is_missing(&self, column: usize) -> bool {
        self.reading.is_missing(self.cell(column))
    }

    /// A cell of the present row as text.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if it is not UTF-8, or holds a NUL.
    pub(crate) fn text(&self, column: usize) -> Result<&str, Error> {
        let cell = self.cell(column).unwrap_or_default();
        let refused = |expected: &str, found: String| {
            self.here().refused(format!("{expected} in column `{}`", self.header[column]), found)
        };
        match std::str::from_utf8(cell) {
            Ok(text) if text.contains('\0') => Err(refused("text", "a NUL byte in it".to_owned())),
            Ok(text) => Ok(text),
            Err(_) => Err(refused("UTF-8 text", format!("`{}`", cell.escape_ascii()))),
        }
    }

    /// How a column was written.
    pub(crate) fn kind(&self, column: usize) -> Kind {
        match &self.part {
            Part::Text(_) => {
                let _ = column;
                Kind::Text
            }
            #[cfg(feature = "arrow")]
            Part::Arrow(batches) => batches.kind(self.order[column]),
        }
    }

    /// The type of a column, to be written again.
    #[cfg(feature = "arrow")]
    pub(crate) fn arrow_type(&self, column: usize) -> ArrowType {
        match &self.part {
            Part::Text(_) => ArrowType::Utf8,
            Part::Arrow(batches) => batches.data_type(self.order[column]).clone(),
        }
    }
}

impl Part {
    fn header(&self) -> &[String] {
        match self {
            Self::Text(text) => text.header(),
            #[cfg(feature = "arrow")]
            Self::Arrow(batches) => batches.header(),
        }
    }
}

fn open_part(place: &Place, content: Content, reading: &Reading) -> Result<Part, Error> {
    match content {
        Content::Text { head, rest } => {
            Ok(Part::Text(Box::new(Text::open(place.clone(), reading.delimiter, head, rest)?)))
        }
        Content::Ours(_) => Err(place.refused("a table", "a model or a tally of spocc")),
        Content::Columns(kind, source) => open_columns(place, kind, source),
    }
}

#[cfg(feature = "arrow")]
fn open_columns(place: &Place, kind: Columns, source: Source) -> Result<Part, Error> {
    use std::io::BufReader;

    let batches = match (kind, source) {
        (Columns::Parquet, Source::File(file)) => arrow::Batches::parquet(file),
        (Columns::ArrowFile, Source::File(file)) => arrow::Batches::ipc_file(BufReader::new(file)),
        (Columns::ArrowStream, Source::File(file)) => arrow::Batches::ipc_stream(BufReader::new(file)),
        (Columns::ArrowStream, Source::Stream(stream)) => arrow::Batches::ipc_stream(stream),
        (kind, Source::Stream(mut stream)) => {
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).map_err(|source| place.io("a table", source))?;
            match kind {
                Columns::Parquet => arrow::Batches::parquet_bytes(bytes),
                _ => arrow::Batches::ipc_file(std::io::Cursor::new(bytes)),
            }
        }
    };
    batches.map(|batches| Part::Arrow(Box::new(batches))).map_err(|fault| fault.at(place))
}

#[cfg(not(feature = "arrow"))]
fn open_columns(place: &Place, kind: Columns, _: Source) -> Result<Part, Error> {
    let found =
        format!("{kind} (this spocc cannot read it; one built with `--features arrow` can, see the README)");
    Err(place.refused("a table of text", found))
}
