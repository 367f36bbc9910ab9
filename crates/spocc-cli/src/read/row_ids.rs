//! The ids of rows, from --id or the item of --long, which identify a row in another table.

use spocc_table::{RowBlock, TextInterner};

/// The ids of some rows, in order.
#[derive(Default)]
pub(super) struct RowIds {
    text: Vec<u8>,
    /// The end of each id.
    ends: Vec<usize>,
}

impl RowIds {
    /// Adds the id of a row from these columns; returns false if all of them are missing.
    pub(super) fn push(&mut self, rows: &RowBlock, row: usize, columns: &[usize]) -> bool {
        let found = push_id(&mut self.text, rows, row, columns);
        if found {
            self.ends.push(self.text.len());
        } else {
            self.text.truncate(self.ends.last().copied().unwrap_or(0));
        }
        found
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }
}

/// A set of ids.
#[derive(Default)]
pub(crate) struct IdSet(TextInterner);

impl IdSet {
    pub(super) fn insert(&mut self, id: &[u8]) {
        if self.0.get(id).is_none() {
            self.0.insert(id, 0);
        }
    }

    /// Bytes in memory while the set grows, about.
    pub(super) fn n_bytes(&self) -> usize {
        2 * self.0.n_bytes()
    }

    /// Whether the set has the id of a row; a row with an empty id is never in the set.
    pub(super) fn has_row(&self, rows: &RowBlock, row: usize, columns: &[usize]) -> bool {
        let mut id = Vec::new();
        push_id(&mut id, rows, row, columns) && self.has(&id)
    }

    pub(super) fn has(&self, id: &[u8]) -> bool {
        self.0.get(id).is_some()
    }
}

/// The id of an item.
pub(super) fn id_of(item: &str) -> Vec<u8> {
    let mut id = Vec::new();
    push_cell(&mut id, item.as_bytes());
    id
}

/// Appends the cells of an id, each after its length so that ids of several columns are unambiguous; returns false if
/// all of them are missing.
pub(super) fn push_id(id: &mut Vec<u8>, rows: &RowBlock, row: usize, columns: &[usize]) -> bool {
    columns.iter().for_each(|&column| push_cell(id, rows.cell(row, column).unwrap_or_default()));
    columns.iter().any(|&column| !rows.is_missing(row, column))
}

fn push_cell(id: &mut Vec<u8>, cell: &[u8]) {
    id.extend((cell.len() as u64).to_le_bytes());
    id.extend(cell);
}
