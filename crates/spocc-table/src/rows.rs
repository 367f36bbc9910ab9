//! Rows of a table as whoever works on them sees them: cells by row and column, and the place of each.

use std::sync::Arc;

#[cfg(feature = "arrow")]
use crate::arrow;
use crate::{
    Dictionary, Kind, Reading,
    cells::Cells,
    error::{At, Error, Place},
};

/// What is to know of a file of the table.
#[derive(Debug)]
pub(super) struct Sheet {
    pub(super) place: Place,
    pub(super) reading: Reading,
    pub(super) header: Arc<[String]>,
    /// Where each column is in this file.
    pub(super) order: Vec<usize>,
    /// How each column was written; empty for a text.
    pub(super) kinds: Vec<Kind>,
}

/// Some rows of a table, all of one file.
#[derive(Clone)]
pub struct Rows {
    pub(super) sheet: Arc<Sheet>,
    pub(super) held: Held,
}

/// What the cells are held in.
#[derive(Clone)]
pub(super) enum Held {
    Text(Cells),
    #[cfg(feature = "arrow")]
    Arrow(arrow::Batch),
}

impl Rows {
    /// How many there are.
    pub fn n_rows(&self) -> usize {
        match &self.held {
            Held::Text(cells) => cells.n_rows(),
            #[cfg(feature = "arrow")]
            Held::Arrow(batch) => batch.n_rows(),
        }
    }

    /// A cell; none if there is no value.
    #[inline]
    #[cfg_attr(not(feature = "arrow"), allow(clippy::unnecessary_wraps))]
    pub fn cell(&self, row: usize, column: usize) -> Option<&[u8]> {
        let column = self.sheet.order[column];
        match &self.held {
            Held::Text(cells) => Some(cells.get(cells.row(row)[column])),
            #[cfg(feature = "arrow")]
            Held::Arrow(batch) => batch.cell(row, column),
        }
    }

    /// What a dictionary has for a cell; one without a value is empty.
    // Called once per cell: left to itself, the compiler makes it a call, and reading a fifth slower.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub(super) fn find(&self, row: usize, column: usize, dictionary: &mut Dictionary) -> Option<u32> {
        match &self.held {
            Held::Text(cells) => {
                let span = cells.row(row)[self.sheet.order[column]];
                match cells.word(span) {
                    Some(word) => dictionary.get_word(word),
                    None => dictionary.get(cells.get(span)),
                }
            }
            #[cfg(feature = "arrow")]
            Held::Arrow(_) => dictionary.find(self.cell(row, column).unwrap_or_default()),
        }
    }

    /// The number of a text that names something: its place among those of the dictionary, where it is put if it
    /// is new.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if there is none, or one that is not UTF-8.
    #[inline]
    pub fn number(&self, row: usize, column: usize, names: &mut Dictionary) -> Result<u32, Error> {
        if let Some(number) = self.find(row, column, names) {
            return Ok(number);
        }
        self.refuse_missing(row, column)?;
        let number = names.len() as u32;
        names.insert(self.text(row, column)?.as_bytes(), number);
        Ok(number)
    }

    /// Refuses a cell that should name something and says nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`].
    pub fn refuse_missing(&self, row: usize, column: usize) -> Result<(), Error> {
        if self.is_missing(row, column) {
            let expected = format!("a name in column `{}`", self.name(column));
            return Err(self.place(row).refused(expected, "none"));
        }
        Ok(())
    }

    /// Whether a cell says nothing.
    pub fn is_missing(&self, row: usize, column: usize) -> bool {
        self.sheet.reading.is_missing(self.cell(row, column))
    }

    /// A cell as text.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if it is not UTF-8, or holds a NUL.
    pub fn text(&self, row: usize, column: usize) -> Result<&str, Error> {
        let cell = self.cell(row, column).unwrap_or_default();
        let refused = |expected: &str, found: String| {
            self.place(row).refused(format!("{expected} in column `{}`", self.name(column)), found)
        };
        match std::str::from_utf8(cell) {
            Ok(text) if text.contains('\0') => Err(refused("text", "a NUL byte in it".to_owned())),
            Ok(text) => Ok(text),
            Err(_) => Err(refused("UTF-8 text", format!("`{}`", cell.escape_ascii()))),
        }
    }

    /// How a column was written.
    pub fn kind(&self, column: usize) -> Kind {
        self.sheet.kinds.get(column).copied().unwrap_or(Kind::Text)
    }

    fn name(&self, column: usize) -> &str {
        &self.sheet.header[column]
    }

    /// Where a row is in its file.
    pub fn at(&self, row: usize) -> At {
        match &self.held {
            Held::Text(cells) => At::Line(cells.line(row)),
            #[cfg(feature = "arrow")]
            Held::Arrow(batch) => At::Row(batch.number(row)),
        }
    }

    /// Where a row is.
    pub fn place(&self, row: usize) -> Place {
        self.sheet.place.at(self.at(row))
    }

    /// The file they are of.
    pub fn file(&self) -> &Place {
        &self.sheet.place
    }
}
