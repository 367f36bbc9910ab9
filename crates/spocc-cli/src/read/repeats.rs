//! The predictions of a long table by item, and repeated predictions.

use std::ops::Range;

/// A prediction: item, classifier and label by number.
pub(super) type LongCell = (u32, u32, u32);

/// The predictions for each item as pairs of classifier and label, sorted by classifier; repeated predictions keep
/// their order.
pub(super) struct ItemPredictions {
    cells: Vec<(u32, u32)>,
    /// The end of the cells of each item.
    ends: Vec<usize>,
}

/// A prediction that differs from the first one of the same classifier for the same item.
pub(super) struct Conflict {
    pub(super) item: usize,
    pub(super) name: u32,
    /// Its index among the predictions of the classifier for the item.
    pub(super) nth: usize,
}

impl ItemPredictions {
    /// Sorts the cells of the wanted classifiers.
    pub(super) fn new(cells: &[LongCell], n_items: usize, is_wanted: impl Fn(u32) -> bool) -> Self {
        let mut ends = vec![0; n_items + 1];
        let wanted = || cells.iter().filter(|cell| is_wanted(cell.1));
        wanted().for_each(|cell| ends[cell.0 as usize + 1] += 1);
        (0..n_items).for_each(|item| ends[item + 1] += ends[item]);
        let mut pairs = vec![(0, 0); ends[n_items]];
        for &(item, name, label) in wanted() {
            pairs[ends[item as usize]] = (name, label);
            ends[item as usize] += 1;
        }
        ends.truncate(n_items);
        let mut sorted = Self { cells: pairs, ends };
        for item in 0..n_items {
            let range = sorted.range(item);
            // The sort is stable, so that repeated predictions keep their order.
            sorted.cells[range].sort_by_key(|cell| cell.0);
        }
        sorted
    }

    fn range(&self, item: usize) -> Range<usize> {
        item.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[item]
    }

    /// Each item with the predictions of one classifier.
    fn groups(&self) -> impl Iterator<Item = (usize, &[(u32, u32)])> {
        (0..self.ends.len()).flat_map(|item| {
            let cells = &self.cells[self.range(item)];
            cells.chunk_by(|one, other| one.0 == other.0).map(move |group| (item, group))
        })
    }

    /// The first prediction that differs from an earlier one.
    pub(super) fn conflict(&self, differ: impl Fn(u32, u32) -> bool) -> Option<Conflict> {
        self.groups().find_map(|(item, group)| {
            let nth = group.iter().position(|cell| differ(group[0].1, cell.1))?;
            Some(Conflict { item, name: group[0].0, nth })
        })
    }

    /// Item, classifier and label of the first or the last prediction of each classifier.
    pub(super) fn each_once(&self, last: bool) -> impl Iterator<Item = (usize, u32, u32)> {
        self.groups().filter_map(move |(item, group)| {
            let cell = if last { group.last() } else { group.first() };
            cell.map(|&(name, label)| (item, name, label))
        })
    }

    /// Number of predictions that [`each_once`](Self::each_once) does not return.
    pub(super) fn n_repeats(&self) -> usize {
        self.cells.len() - self.groups().count()
    }
}
