//! A table: named columns, then rows of cells, in one file or in many.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    io::Read,
    path::PathBuf,
    sync::Arc,
};

use spocc::Label;

#[cfg(feature = "arrow")]
use crate::{ArrowType, arrow};
use crate::{
    Rows, Worked,
    error::{At, Error, Place, list, quoted, suggestion},
    rows::Sheet,
    source::{self, Columns, Content, Source},
    text::Text,
};

/// How cells are told apart and which of them say nothing.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// What stands between cells; none: whatever fits.
    pub delimiter: Option<u8>,
    /// The words that mean "no answer", besides an empty cell.
    pub na: Vec<String>,
    /// Called with how much of a file was read, in bytes or rows, and how much there is, if that is known.
    pub progress: Option<Progress>,
}

/// A callback that shows how far reading is.
pub type Progress = fn(u64, Option<u64>);

impl Reading {
    /// Whether a cell says nothing.
    pub fn is_missing(&self, cell: Option<&[u8]>) -> bool {
        cell.is_none_or(|cell| cell.is_empty() || self.na.iter().any(|word| word.as_bytes() == cell))
    }
}

/// How the cells of a column were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "arrow"), allow(dead_code))]
pub enum Kind {
    /// Text.
    Text,
    /// Integers.
    Integer,
    /// Floats.
    Float,
    /// Booleans.
    Boolean,
}

impl Kind {
    /// The label that a cell of this kind holds.
    pub fn label(self, text: &str) -> Label {
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
pub(crate) enum Part {
    Text(Box<Text>),
    #[cfg(feature = "arrow")]
    Arrow(Box<arrow::Batches>),
}

/// A table whose rows are to be read.
pub struct Table {
    reading: Reading,
    /// The file at hand, until its rows are read.
    part: Option<Part>,
    /// The files still to come.
    rest: VecDeque<PathBuf>,
    beginning: Place,
    top: At,
    delimiter: Option<u8>,
    header: Arc<[String]>,
    /// The number of each column.
    numbers: HashMap<String, usize>,
    /// Columns that some option names: no other name can mean them.
    used: HashSet<String>,
    /// The only columns that will be asked for.
    asked: Option<Vec<usize>>,
}

/// What the user's file names turned out to be.
pub enum Opened {
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
    pub fn new(names: &[PathBuf], reading: &Reading) -> Result<Self, Error> {
        let mut rest = VecDeque::from(source::expand(names)?);
        let Some(path) = rest.pop_front() else {
            return Err(Place::file("tables".as_ref(), "").refused("at least one", "none"));
        };
        let place = Place::file(&path, "standard input");
        let content = source::open(&path, &place, reading.progress)?;
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
        Ok(Self::Table(Box::new(Table::new(place, part, rest, reading)?)))
    }
}

impl Table {
    /// Opens a table.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is none, if it is a model or a tally, or if column names repeat.
    pub fn open(names: &[PathBuf], reading: &Reading) -> Result<Self, Error> {
        match Opened::new(names, reading)? {
            Opened::Table(table) => Ok(*table),
            Opened::Ours(place, _) => Err(place.refused("a table", "a model or a tally of spocc")),
        }
    }

    fn new(place: Place, part: Part, rest: VecDeque<PathBuf>, reading: &Reading) -> Result<Self, Error> {
        let (top, header) = (part.top(), Arc::from(part.header()));
        let mut numbers = HashMap::new();
        for (at, name) in part.header().iter().enumerate() {
            if numbers.insert(name.clone(), at).is_some() {
                return Err(place.at(top).refused("distinct column names", format!("`{name}` twice")));
            }
        }
        let delimiter = part.delimiter();
        let (reading, part, used, asked) = (reading.clone(), Some(part), HashSet::new(), None);
        Ok(Self { reading, part, rest, beginning: place, top, delimiter, header, numbers, used, asked })
    }

    /// The next file whose rows are to be read; its columns may come in another order than those of the first.
    pub(crate) fn next_part(&mut self) -> Result<Option<(Part, Sheet)>, Error> {
        let (place, mut part) = if let Some(part) = self.part.take() {
            (self.beginning.clone(), part)
        } else {
            let Some(path) = self.rest.pop_front() else { return Ok(None) };
            let place = Place::file(&path, "standard input");
            let content = source::open(&path, &place, self.reading.progress)?;
            let part = open_part(&place, content, &self.reading)?;
            (place, part)
        };
        self.delimiter = part.delimiter();
        let order = self.order(&part, &place)?;
        let kinds = part.prepare(&order, self.asked.as_deref());
        let (reading, header) = (self.reading.clone(), Arc::clone(&self.header));
        Ok(Some((part, Sheet { place, reading, header, order, kinds })))
    }

    /// Where each column is in a file.
    fn order(&self, part: &Part, place: &Place) -> Result<Vec<usize>, Error> {
        let top = place.at(part.top());
        let expected = || format!("the columns of {}", self.beginning);
        let mut theirs: HashMap<&str, usize> = HashMap::new();
        for (at, name) in part.header().iter().enumerate() {
            if theirs.insert(name, at).is_some() {
                return Err(top.refused("distinct column names", format!("`{name}` twice")));
            }
            if !self.numbers.contains_key(name) {
                return Err(top.refused(expected(), format!("`{name}` too")));
            }
        }
        let place = |name: &String| {
            let found = theirs.get(name.as_str()).copied();
            found.ok_or_else(|| top.refused(expected(), format!("no `{name}`")))
        };
        self.header.iter().map(place).collect()
    }

    /// Works on all rows, some at a time, in parallel; the results come in the order of the rows.
    pub fn work<T: Send + 'static>(self, work: impl Fn(&Rows) -> T + Send + Sync + 'static) -> Worked<T> {
        Worked::new(self, work)
    }

    /// The column names.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// Where this table begins, its header.
    pub fn beginning(&self) -> Place {
        self.beginning.at(self.top)
    }

    /// Its first file.
    pub fn source(&self) -> &Place {
        &self.beginning
    }

    /// What stands between cells, if the table is a text.
    pub fn delimiter(&self) -> Option<u8> {
        self.delimiter
    }

    /// Notes columns that options name, so that none of them is suggested for another.
    pub fn set_used<'a>(&mut self, names: impl IntoIterator<Item = &'a String>) {
        self.used.extend(names.into_iter().cloned());
    }

    /// The columns that no option names.
    pub fn unused(&self) -> impl Iterator<Item = &String> {
        self.header.iter().filter(|name| !self.used.contains(*name))
    }

    /// The number of the column with this name.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with the nearest name among those that no option names.
    pub fn column(&self, name: &str) -> Result<usize, Error> {
        self.numbers.get(name).copied().ok_or_else(|| {
            let expected = format!("a column {}", quoted(name));
            self.beginning().refused_with(expected, suggestion(name, self.unused()), list(&*self.header))
        })
    }

    /// Whether there is a column with this name.
    pub fn has(&self, name: &str) -> bool {
        self.numbers.contains_key(name)
    }

    /// The numbers of the columns with these names.
    ///
    /// # Errors
    ///
    /// As [`column`](Self::column).
    pub fn columns(&self, names: &[String]) -> Result<Vec<usize>, Error> {
        names.iter().map(|name| self.column(name)).collect()
    }

    /// Promises to ask for these columns only: others need not be read.
    pub fn ask_only(&mut self, columns: impl IntoIterator<Item = usize>) {
        self.asked = Some(columns.into_iter().collect());
    }

    /// The type of a column, to be written again.
    #[cfg(feature = "arrow")]
    pub fn arrow_type(&self, column: usize) -> ArrowType {
        match &self.part {
            Some(Part::Arrow(batches)) => batches.data_type(column).clone(),
            _ => ArrowType::Utf8,
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

    /// Where the header is.
    fn top(&self) -> At {
        match self {
            Self::Text(text) => text.top(),
            #[cfg(feature = "arrow")]
            Self::Arrow(_) => At::Whole,
        }
    }

    #[cfg_attr(not(feature = "arrow"), allow(clippy::unnecessary_wraps))]
    fn delimiter(&self) -> Option<u8> {
        match self {
            Self::Text(text) => Some(text.delimiter()),
            #[cfg(feature = "arrow")]
            Self::Arrow(_) => None,
        }
    }

    /// Gets ready to read columns of the table, which are in this order here; returns how each was written.
    #[cfg_attr(not(feature = "arrow"), allow(clippy::needless_pass_by_ref_mut))]
    fn prepare(&mut self, order: &[usize], asked: Option<&[usize]>) -> Vec<Kind> {
        match self {
            Self::Text(_) => {
                let _ = (order, asked);
                Vec::new()
            }
            #[cfg(feature = "arrow")]
            Self::Arrow(batches) => {
                if let Some(asked) = asked {
                    let columns: Vec<usize> = asked.iter().map(|&column| order[column]).collect();
                    batches.project(&columns);
                }
                order.iter().map(|&column| batches.kind(column)).collect()
            }
        }
    }
}

fn open_part(place: &Place, content: Content, reading: &Reading) -> Result<Part, Error> {
    match content {
        Content::Text { head, rest } => {
            Ok(Part::Text(Box::new(Text::open(place, reading.delimiter, head, rest)?)))
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

#[cfg(test)]
mod tests;
