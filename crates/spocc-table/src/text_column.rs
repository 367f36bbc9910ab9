//! The texts of one column, copied so that they can be written again.

use std::ops::Range;

/// The texts of a column in one string; a cell may be null.
#[derive(Clone, Debug, Default)]
pub struct TextColumn {
    text: String,
    /// The end of each cell, and whether it has a value.
    ends: Vec<(usize, bool)>,
}

impl TextColumn {
    /// Appends a cell; none is null.
    pub fn push(&mut self, cell: Option<&str>) {
        self.text.push_str(cell.unwrap_or_default());
        self.ends.push((self.text.len(), cell.is_some()));
    }

    /// Appends a range of cells of another column.
    pub fn extend(&mut self, other: &Self, cells: Range<usize>) {
        let start = other.start(cells.start);
        let before = self.text.len();
        self.text.push_str(&other.text[start..other.start(cells.end)]);
        self.ends.extend(other.ends[cells].iter().map(|(end, there)| (before + end - start, *there)));
    }

    /// Bytes that the cells take in memory.
    pub fn n_bytes(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<(usize, bool)>()
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text of a cell; none if it is null.
    pub fn get(&self, cell: usize) -> Option<&str> {
        let (end, there) = self.ends[cell];
        there.then(|| &self.text[self.start(cell)..end])
    }

    fn start(&self, cell: usize) -> usize {
        cell.checked_sub(1).map_or(0, |before| self.ends[before].0)
    }
}

impl<'a> FromIterator<Option<&'a str>> for TextColumn {
    fn from_iter<I: IntoIterator<Item = Option<&'a str>>>(cells: I) -> Self {
        let mut column = Self::default();
        cells.into_iter().for_each(|cell| column.push(cell));
        column
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_back_unchanged() {
        let given = [Some("a"), None, Some(""), Some("bcd"), None, Some("é")];
        let whole: TextColumn = given.into_iter().collect();
        for cut in 0..=given.len() {
            let mut column = TextColumn::default();
            column.extend(&whole, cut..given.len());
            column.extend(&whole, 0..cut);
            let back: Vec<Option<&str>> = (0..column.len()).map(|cell| column.get(cell)).collect();
            assert_eq!(back, [&given[cut..], &given[..cut]].concat());
        }
    }
}
