//! What the cells of some rows say, as numbers of labels.

use std::{collections::HashMap, ops::Range, sync::Arc};

use spocc::{
    Label,
    data::{Symbol, Written},
};

use crate::{Dictionary, Rows, error::Error};

/// Cells by the number of what they say.
#[derive(Debug, Default)]
pub struct Marks {
    /// Row after row.
    pub cells: Vec<u32>,
    /// What each number means; nothing, for one.
    pub labels: Arc<[Option<Label>]>,
}

impl Marks {
    /// The symbols of all labels in some cells, looked up in the order in which they occur there.
    ///
    /// # Errors
    ///
    /// Which cell has a label that `look_up` refuses, and why.
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
            let number = self.cells[at] as usize;
            if std::mem::take(&mut is_new[number]) {
                n_new -= 1;
                symbols[number] = self.labels[number]
                    .as_ref()
                    .map(&mut look_up)
                    .transpose()
                    .map_err(|error| (at, error))?;
            }
        }
        Ok(symbols)
    }
}

/// Gives cells their numbers: a text that comes again costs a look.
#[derive(Default)]
pub struct Marker {
    /// By how the column was written: the integer 1 and the text 1 are two ways to write a label.
    known: [Dictionary; 4],
    labels: Vec<Option<Label>>,
}

impl Marker {
    /// Marks some cells of a row.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for a cell that is not UTF-8.
    #[inline]
    pub fn mark_row(
        &mut self,
        rows: &Rows,
        row: usize,
        columns: &[usize],
        marks: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let start = marks.len();
        marks.resize(start + columns.len(), 0);
        for (mark, &column) in marks[start..].iter_mut().zip(columns) {
            *mark = match rows.find(row, column, &mut self.known[rows.kind(column) as usize]) {
                Some(mark) => mark,
                None => self.learn(rows, row, column)?,
            };
        }
        Ok(())
    }

    /// Marks one cell.
    ///
    /// # Errors
    ///
    /// As [`mark_row`](Self::mark_row).
    #[inline]
    pub fn mark(&mut self, rows: &Rows, row: usize, column: usize) -> Result<u32, Error> {
        match rows.find(row, column, &mut self.known[rows.kind(column) as usize]) {
            Some(mark) => Ok(mark),
            None => self.learn(rows, row, column),
        }
    }

    /// Gives a text that was not met before a number.
    #[cold]
    #[inline(never)]
    fn learn(&mut self, rows: &Rows, row: usize, column: usize) -> Result<u32, Error> {
        let kind = rows.kind(column);
        let label =
            if rows.is_missing(row, column) { None } else { Some(kind.label(rows.text(row, column)?)) };
        let mark = self.labels.len() as u32;
        self.labels.push(label);
        self.known[kind as usize].insert(rows.cell(row, column).unwrap_or_default(), mark);
        Ok(mark)
    }

    /// A mark that means nothing.
    pub fn missing(&mut self) -> u32 {
        self.labels.push(None);
        self.labels.len() as u32 - 1
    }

    /// What a mark means.
    pub fn label(&self, mark: u32) -> Option<&Label> {
        self.labels[mark as usize].as_ref()
    }

    /// The labels, by number.
    pub fn finish(self) -> Arc<[Option<Label>]> {
        self.labels.into()
    }
}

/// Labels of many marks, each way of writing one with a number of its own.
#[derive(Default)]
pub struct LabelList {
    labels: Vec<Option<Label>>,
    numbers: HashMap<Option<(String, Written)>, u32>,
}

impl LabelList {
    /// The number here of each label there.
    pub fn numbers(&mut self, theirs: &[Option<Label>]) -> Vec<u32> {
        let number = |label: &Option<Label>| {
            let key = label.as_ref().map(|label| (label.canonical().to_owned(), label.written().clone()));
            *self.numbers.entry(key).or_insert_with(|| {
                self.labels.push(label.clone());
                self.labels.len() as u32 - 1
            })
        };
        theirs.iter().map(number).collect()
    }

    /// The label with a number; none if it means nothing.
    pub fn get(&self, number: u32) -> Option<&Label> {
        self.labels[number as usize].as_ref()
    }

    /// Both labels, if they are not the same, however they are written.
    pub fn differ(&self, one: u32, other: u32) -> Option<(&Label, &Label)> {
        self.get(one).zip(self.get(other)).filter(|(one, other)| one != other)
    }

    /// The labels, by number.
    pub fn finish(self) -> Arc<[Option<Label>]> {
        self.labels.into()
    }
}
