//! The cells of a column as they are, to be written again.

use std::ops::Range;

/// Cells of a column, one after the other in one text.
#[derive(Clone, Debug, Default)]
pub struct Copied {
    text: String,
    /// Where each cell ends, and whether there is a value.
    ends: Vec<(usize, bool)>,
}

impl Copied {
    /// One more cell; none if there is no value.
    pub fn push(&mut self, cell: Option<&str>) {
        self.text.push_str(cell.unwrap_or_default());
        self.ends.push((self.text.len(), cell.is_some()));
    }

    /// Some cells of others.
    pub fn extend(&mut self, other: &Self, cells: Range<usize>) {
        let start = other.start(cells.start);
        let before = self.text.len();
        self.text.push_str(&other.text[start..other.start(cells.end)]);
        self.ends.extend(other.ends[cells].iter().map(|(end, there)| (before + end - start, *there)));
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// A cell; none if there is no value.
    pub fn get(&self, cell: usize) -> Option<&str> {
        let (end, there) = self.ends[cell];
        there.then(|| &self.text[self.start(cell)..end])
    }

    fn start(&self, cell: usize) -> usize {
        cell.checked_sub(1).map_or(0, |before| self.ends[before].0)
    }
}

impl<'a> FromIterator<Option<&'a str>> for Copied {
    fn from_iter<I: IntoIterator<Item = Option<&'a str>>>(cells: I) -> Self {
        let mut copied = Self::default();
        cells.into_iter().for_each(|cell| copied.push(cell));
        copied
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_back_as_they_were() {
        let given = [Some("a"), None, Some(""), Some("bcd"), None, Some("é")];
        let whole: Copied = given.into_iter().collect();
        for cut in 0..=given.len() {
            let mut copied = Copied::default();
            copied.extend(&whole, cut..given.len());
            copied.extend(&whole, 0..cut);
            let back: Vec<Option<&str>> = (0..copied.len()).map(|cell| copied.get(cell)).collect();
            assert_eq!(back, [&given[cut..], &given[..cut]].concat());
        }
    }
}
