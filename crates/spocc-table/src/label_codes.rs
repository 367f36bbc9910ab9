//! Labels of cells as integer codes.
//!
//! In: cells of some columns. Out: a code per cell, and the label of each code. A text that occurs again costs one
//! lookup, not a new label.

use std::{collections::HashMap, ops::Range, sync::Arc};

use spocc::{
    Label,
    data::{Symbol, Written},
};

use crate::{RowBlock, TextInterner, error::Error};

/// Cells as codes, and the label of each code.
#[derive(Debug, Default)]
pub struct LabelCodes {
    /// The code of each cell, row after row.
    pub codes: Vec<u32>,
    /// The label of each code; none if the cell is missing.
    pub labels: Arc<[Option<Label>]>,
}

impl LabelCodes {
    /// The engine's symbol of each code that occurs in a range of cells, looked up in the order of first occurrence.
    ///
    /// # Errors
    ///
    /// The cell whose label `look_up` refuses, and why.
    pub fn symbols<E>(
        &self,
        cells: Range<usize>,
        mut look_up: impl FnMut(&Label) -> Result<Symbol, E>,
    ) -> Result<Vec<Option<Symbol>>, (usize, E)> {
        let mut symbols: Vec<Option<Symbol>> = vec![None; self.labels.len()];
        let mut is_new: Vec<bool> = self.labels.iter().map(Option::is_some).collect();
        let mut n_new = is_new.iter().filter(|new| **new).count();
        for at in cells {
            // Most labels occur in the first rows.
            if n_new == 0 {
                break;
            }
            let code = self.codes[at] as usize;
            if std::mem::take(&mut is_new[code]) {
                n_new -= 1;
                symbols[code] =
                    self.labels[code].as_ref().map(&mut look_up).transpose().map_err(|error| (at, error))?;
            }
        }
        Ok(symbols)
    }
}

impl LabelCodes {
    /// Bytes of the texts of all labels.
    pub fn n_bytes(&self) -> usize {
        self.labels.iter().flatten().map(|label| label.canonical().len() + size_of::<Label>()).sum()
    }
}

/// Encodes cells as label codes.
#[derive(Default)]
pub struct LabelEncoder {
    /// One interner per [`CellType`](crate::CellType): the integer 1 and the text 1 are two ways to write a label.
    interners: [TextInterner; 4],
    labels: Vec<Option<Label>>,
}

impl LabelEncoder {
    /// Appends the codes of some cells of a row.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for a cell that is not UTF-8.
    #[inline]
    pub fn encode_row(
        &mut self,
        rows: &RowBlock,
        row: usize,
        columns: &[usize],
        codes: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let start = codes.len();
        codes.resize(start + columns.len(), 0);
        for (code, &column) in codes[start..].iter_mut().zip(columns) {
            *code = self.encode(rows, row, column)?;
        }
        Ok(())
    }

    /// The code of one cell.
    ///
    /// # Errors
    ///
    /// As [`encode_row`](Self::encode_row).
    #[inline]
    pub fn encode(&mut self, rows: &RowBlock, row: usize, column: usize) -> Result<u32, Error> {
        match rows.find(row, column, &mut self.interners[rows.cell_type(column) as usize]) {
            Some(code) => Ok(code),
            None => self.insert(rows, row, column),
        }
    }

    /// Gives a new text a code.
    #[cold]
    #[inline(never)]
    fn insert(&mut self, rows: &RowBlock, row: usize, column: usize) -> Result<u32, Error> {
        let cell_type = rows.cell_type(column);
        let label =
            if rows.is_missing(row, column) { None } else { Some(cell_type.label(rows.text(row, column)?)) };
        let code = self.labels.len() as u32;
        self.labels.push(label);
        self.interners[cell_type as usize].insert(rows.cell(row, column).unwrap_or_default(), code);
        Ok(code)
    }

    /// A new code that means missing.
    pub fn missing_code(&mut self) -> u32 {
        self.labels.push(None);
        self.labels.len() as u32 - 1
    }

    /// The label of a code; none if it means missing.
    pub fn label(&self, code: u32) -> Option<&Label> {
        self.labels[code as usize].as_ref()
    }

    /// The label of each code.
    pub fn finish(self) -> Arc<[Option<Label>]> {
        self.labels.into()
    }
}

/// Merges the label codes of many blocks. Each way of writing a label has its own code.
#[derive(Default)]
pub struct LabelMerger {
    labels: Vec<Option<Label>>,
    codes: HashMap<Option<(String, Written)>, u32>,
    /// Bytes of the texts of all labels.
    n_text: usize,
}

impl LabelMerger {
    /// The merged code of each label of a block.
    pub fn codes(&mut self, labels: &[Option<Label>]) -> Vec<u32> {
        let code = |label: &Option<Label>| {
            let key = label.as_ref().map(|label| (label.canonical().to_owned(), label.written().clone()));
            *self.codes.entry(key).or_insert_with(|| {
                self.n_text += label.as_ref().map_or(0, |label| label.canonical().len());
                self.labels.push(label.clone());
                self.labels.len() as u32 - 1
            })
        };
        labels.iter().map(code).collect()
    }

    /// Bytes that the labels take in memory, about: each is stored as a label, and as a key with its text.
    pub fn n_bytes(&self) -> usize {
        const ENTRY: usize = 2 * size_of::<(Option<(String, Written)>, u32)>();
        self.labels.len() * (ENTRY + size_of::<Option<Label>>()) + 4 * self.n_text
    }

    /// The label of a merged code; none if it means missing.
    pub fn get(&self, code: u32) -> Option<&Label> {
        self.labels[code as usize].as_ref()
    }

    /// Both labels, if they differ, however they are written.
    pub fn differ(&self, one: u32, other: u32) -> Option<(&Label, &Label)> {
        self.get(one).zip(self.get(other)).filter(|(one, other)| one != other)
    }

    /// The label of each merged code.
    pub fn finish(self) -> Arc<[Option<Label>]> {
        self.labels.into()
    }
}
