//! A block of rows: cells by row and column, and the location of each row.

use std::sync::Arc;

#[cfg(feature = "arrow")]
use crate::arrow;
use crate::{
    CellType, ReadOptions, TextInterner,
    error::{Error, Location, Position},
    text_cells::TextCells,
};

/// How one file of a table maps to the columns of the table.
#[derive(Debug)]
pub(super) struct FileLayout {
    pub(super) file: Location,
    pub(super) options: ReadOptions,
    pub(super) header: Arc<[String]>,
    /// Index in this file of each column of the table.
    pub(super) order: Vec<usize>,
    /// Type of each column; empty for a text file.
    pub(super) cell_types: Vec<CellType>,
}

/// Some rows of a table, all from one file.
#[derive(Clone)]
pub struct RowBlock {
    pub(super) layout: Arc<FileLayout>,
    pub(super) cells: CellStorage,
}

/// The cells as text or as Arrow arrays.
#[derive(Clone)]
pub(super) enum CellStorage {
    Text(TextCells),
    #[cfg(feature = "arrow")]
    Columns(arrow::ColumnBatch),
}

impl RowBlock {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        match &self.cells {
            CellStorage::Text(cells) => cells.n_rows(),
            #[cfg(feature = "arrow")]
            CellStorage::Columns(batch) => batch.n_rows(),
        }
    }

    /// The bytes of a cell; none if it is null.
    #[inline]
    #[cfg_attr(not(feature = "arrow"), allow(clippy::unnecessary_wraps))]
    pub fn cell(&self, row: usize, column: usize) -> Option<&[u8]> {
        let column = self.layout.order[column];
        match &self.cells {
            CellStorage::Text(cells) => Some(cells.get(cells.row(row)[column])),
            #[cfg(feature = "arrow")]
            CellStorage::Columns(batch) => batch.cell(row, column),
        }
    }

    /// The number that an interner has for a cell; a null cell counts as empty text.
    // Called once per cell. Without the attribute it is not inlined, and reading takes a fifth longer.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub(super) fn find(&self, row: usize, column: usize, interner: &mut TextInterner) -> Option<u32> {
        match &self.cells {
            CellStorage::Text(cells) => {
                let span = cells.row(row)[self.layout.order[column]];
                match cells.short_key(span) {
                    Some(key) => interner.get_short(key),
                    None => interner.get(cells.get(span)),
                }
            }
            #[cfg(feature = "arrow")]
            CellStorage::Columns(_) => interner.find(self.cell(row, column).unwrap_or_default()),
        }
    }

    /// The number of the name in a cell. A new name is inserted with the next number.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the cell is missing or not UTF-8.
    #[inline]
    pub fn intern(&self, row: usize, column: usize, names: &mut TextInterner) -> Result<u32, Error> {
        if let Some(number) = self.find(row, column, names) {
            return Ok(number);
        }
        self.refuse_missing(row, column)?;
        let number = names.len() as u32;
        names.insert(self.text(row, column)?.as_bytes(), number);
        Ok(number)
    }

    /// Refuses a missing cell in a column of names.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`].
    pub fn refuse_missing(&self, row: usize, column: usize) -> Result<(), Error> {
        if self.is_missing(row, column) {
            let expected = format!("a name in column `{}`", self.name(column));
            return Err(self.location(row).refused(expected, "none"));
        }
        Ok(())
    }

    /// Whether a cell is missing.
    pub fn is_missing(&self, row: usize, column: usize) -> bool {
        self.layout.options.is_missing(self.cell(row, column))
    }

    /// A cell as text.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if it is not UTF-8, or holds a NUL.
    pub fn text(&self, row: usize, column: usize) -> Result<&str, Error> {
        let cell = self.cell(row, column).unwrap_or_default();
        let refused = |expected: &str, found: String| {
            self.location(row).refused(format!("{expected} in column `{}`", self.name(column)), found)
        };
        match std::str::from_utf8(cell) {
            Ok(text) if text.contains('\0') => Err(refused("text", "a NUL byte in it".to_owned())),
            Ok(text) => Ok(text),
            Err(_) => Err(refused("UTF-8 text", format!("`{}`", cell.escape_ascii()))),
        }
    }

    /// The type of a column.
    pub fn cell_type(&self, column: usize) -> CellType {
        self.layout.cell_types.get(column).copied().unwrap_or(CellType::Text)
    }

    fn name(&self, column: usize) -> &str {
        &self.layout.header[column]
    }

    /// The position of a row in its file.
    pub fn position(&self, row: usize) -> Position {
        match &self.cells {
            CellStorage::Text(cells) => Position::Line(cells.line(row)),
            #[cfg(feature = "arrow")]
            CellStorage::Columns(batch) => Position::Row(batch.number(row)),
        }
    }

    /// The location of a row.
    pub fn location(&self, row: usize) -> Location {
        self.layout.file.at(self.position(row))
    }

    /// The file of these rows.
    pub fn file(&self) -> &Location {
        &self.layout.file
    }
}
