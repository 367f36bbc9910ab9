//! A table: named columns, then rows of cells, in one file or in many.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    io::Read,
    path::PathBuf,
    sync::Arc,
};

use crate::{
    BlockResults, ReadOptions, RowBlock,
    error::{Error, Location, Position, list, quoted, suggestion},
    row_block::FileLayout,
    source::{self, FileContent},
    table_file::TableFile,
    write::ColumnType,
};

/// A table whose header is read and whose rows are not.
pub struct Table {
    options: ReadOptions,
    /// The first file, until its rows are read.
    first: Option<TableFile>,
    /// The files that are not open yet.
    rest: VecDeque<PathBuf>,
    location: Location,
    header_position: Position,
    /// The delimiter of the file opened last, if that is text.
    delimiter: Option<u8>,
    header: Arc<[String]>,
    /// Index of each column.
    indices: HashMap<String, usize>,
    /// Columns that an option of the caller names. They are not suggested for a misspelt name.
    used: HashSet<String>,
    /// The columns to read, if not all.
    selected: Option<Vec<usize>>,
}

/// The content of the named files.
pub enum OpenedInput {
    /// A table.
    Table(Box<Table>),
    /// The bytes of a model or a tally.
    SpoccFile(Location, Vec<u8>),
}

impl OpenedInput {
    /// Opens files, globs, directories or `-`, standard input. Several tables are read as one.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`], [`Error::Io`].
    pub fn new(names: &[PathBuf], options: &ReadOptions) -> Result<Self, Error> {
        let mut rest = VecDeque::from(source::expand(names)?);
        let Some(path) = rest.pop_front() else {
            return Err(Location::file("tables".as_ref(), "").refused("at least one", "none"));
        };
        let location = Location::file(&path, "standard input");
        let content = source::open(&path, &location, options.progress)?;
        if let FileContent::SpoccFile(mut source) = content {
            let mut bytes = Vec::new();
            let read = source.by_ref().take(options.memory.saturating_add(1)).read_to_end(&mut bytes);
            read.map_err(|source| location.io("a file to read", source))?;
            if bytes.len() as u64 > options.memory {
                let expected = format!("a file of at most {} bytes, the memory limit", options.memory);
                return Err(location.refused(expected, "a longer one"));
            }
            if rest.is_empty() {
                return Ok(Self::SpoccFile(location, bytes));
            }
            let found = "a model or a tally of spocc (`spocc merge` adds tallies up)";
            return Err(location.refused("tables", found));
        }
        let first = TableFile::open(&location, content, options)?;
        Ok(Self::Table(Box::new(Table::new(location, first, rest, options)?)))
    }
}

impl Table {
    /// Opens a table.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is none, if it is a model or a tally, or if column names repeat.
    pub fn open(names: &[PathBuf], options: &ReadOptions) -> Result<Self, Error> {
        match OpenedInput::new(names, options)? {
            OpenedInput::Table(table) => Ok(*table),
            OpenedInput::SpoccFile(location, _) => {
                Err(location.refused("a table", "a model or a tally of spocc"))
            }
        }
    }

    fn new(
        location: Location,
        first: TableFile,
        rest: VecDeque<PathBuf>,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let header_position = first.header_position();
        let mut indices = HashMap::new();
        for (index, name) in first.header().iter().enumerate() {
            if indices.insert(name.clone(), index).is_some() {
                let found = format!("`{name}` twice");
                return Err(location.at(header_position).refused("distinct column names", found));
            }
        }
        Ok(Self {
            options: options.clone(),
            delimiter: first.delimiter(),
            header: Arc::from(first.header()),
            first: Some(first),
            rest,
            location,
            header_position,
            indices,
            used: HashSet::new(),
            selected: None,
        })
    }

    /// Opens the next file. Its columns may come in another order than those of the first.
    pub(crate) fn next_file(&mut self) -> Result<Option<(TableFile, FileLayout)>, Error> {
        let (location, mut file) = if let Some(first) = self.first.take() {
            (self.location.clone(), first)
        } else {
            let Some(path) = self.rest.pop_front() else { return Ok(None) };
            let location = Location::file(&path, "standard input");
            let content = source::open(&path, &location, self.options.progress)?;
            let file = TableFile::open(&location, content, &self.options)?;
            (location, file)
        };
        self.delimiter = file.delimiter();
        let order = self.order(&file, &location)?;
        let cell_types = file.select(&order, self.selected.as_deref());
        let (options, header) = (self.options.clone(), Arc::clone(&self.header));
        Ok(Some((file, FileLayout { file: location, options, header, order, cell_types })))
    }

    /// The index in a file of each column of the table.
    fn order(&self, file: &TableFile, location: &Location) -> Result<Vec<usize>, Error> {
        let location = location.at(file.header_position());
        let expected = || format!("the columns of {}", self.location);
        let mut indices: HashMap<&str, usize> = HashMap::new();
        for (index, name) in file.header().iter().enumerate() {
            if indices.insert(name, index).is_some() {
                return Err(location.refused("distinct column names", format!("`{name}` twice")));
            }
            if !self.indices.contains_key(name) {
                return Err(location.refused(expected(), format!("`{name}` too")));
            }
        }
        let index = |name: &String| {
            let found = indices.get(name.as_str()).copied();
            found.ok_or_else(|| location.refused(expected(), format!("no `{name}`")))
        };
        self.header.iter().map(index).collect()
    }

    /// Applies a function to blocks of rows in parallel. The results come in the order of the rows.
    pub fn map_blocks<T: Send + 'static>(
        self,
        function: impl Fn(&RowBlock) -> T + Send + Sync + 'static,
    ) -> BlockResults<T> {
        BlockResults::new(self, function)
    }

    /// The column names.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The location of the header.
    pub fn header_location(&self) -> Location {
        self.location.at(self.header_position)
    }

    /// The first file.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The memory limit in bytes.
    pub fn memory(&self) -> u64 {
        self.options.memory
    }

    /// The delimiter, if the table is text.
    pub fn delimiter(&self) -> Option<u8> {
        self.delimiter
    }

    /// Marks columns as named by options, so that none of them is suggested for another name.
    pub fn set_used<'a>(&mut self, names: impl IntoIterator<Item = &'a String>) {
        self.used.extend(names.into_iter().cloned());
    }

    /// The columns that no option names.
    pub fn unused(&self) -> impl Iterator<Item = &String> {
        self.header.iter().filter(|name| !self.used.contains(*name))
    }

    /// The index of the column with this name.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] with the nearest name among the [unused](Self::unused).
    pub fn column(&self, name: &str) -> Result<usize, Error> {
        self.indices.get(name).copied().ok_or_else(|| {
            let expected = format!("a column {}", quoted(name));
            let hint = suggestion(name, self.unused());
            self.header_location().refused_with(expected, hint, list(&*self.header))
        })
    }

    /// Whether there is a column with this name.
    pub fn has_column(&self, name: &str) -> bool {
        self.indices.contains_key(name)
    }

    /// The indices of the columns with these names.
    ///
    /// # Errors
    ///
    /// As [`column`](Self::column).
    pub fn columns(&self, names: &[String]) -> Result<Vec<usize>, Error> {
        names.iter().map(|name| self.column(name)).collect()
    }

    /// Selects the columns to read. The cells of others must not be asked for.
    pub fn select_columns(&mut self, columns: impl IntoIterator<Item = usize>) {
        self.selected = Some(columns.into_iter().collect());
    }

    /// The type of a column in the first file, in which it can be written again.
    pub fn column_type(&self, column: usize) -> ColumnType {
        match &self.first {
            #[cfg(feature = "arrow")]
            Some(TableFile::Columns(columns)) => columns.data_type(column).clone().into(),
            _ => {
                let _ = column;
                ColumnType::default()
            }
        }
    }
}

#[cfg(test)]
mod tests;
