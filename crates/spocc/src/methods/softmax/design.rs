//! The design matrix: rows of sparse features, with common parts stored once.
//!
//! The rows of a tally are distinct, but parts of them are not: the first four of ten predictions take a few hundred
//! combinations. Neighbouring columns are therefore joined into groups. Each group is a prefix tree of the combinations
//! that occur, where a node is its parent plus one feature. The contribution of a combination to the scores is computed
//! once per node, and a row adds up a few nodes instead of all its features.

use super::vector::add;
use crate::{hash::mix, index_table::IndexTable};

/// Rows of sparse features.
#[derive(Clone, Debug)]
pub(crate) struct Design {
    pub(super) n_features: usize,
    /// Number of entries of all rows.
    pub(super) n_entries: usize,
    /// Parents before children; the first is the root of all rows, for the intercept.
    nodes: Vec<PrefixNode>,
    /// End of each row in `leaves`, after a first zero.
    ends: Vec<usize>,
    /// The nodes that make up each row, one per group in which it has a feature.
    leaves: Vec<u32>,
}

/// A combination of features: that of its parent and one more.
#[derive(Clone, Copy, Debug)]
struct PrefixNode {
    parent: u32,
    /// 0 for the intercept, `f + 1` for feature `f`.
    parameter: u32,
    value: f64,
}

impl PrefixNode {
    /// What makes two nodes the same.
    fn key(self) -> (u32, u32, u64) {
        (self.parent, self.parameter, self.value.to_bits())
    }
}

/// The node of rows without a feature in a group.
const NONE: u32 = u32::MAX;

/// A group takes in another column if it then has this many times fewer combinations than there are rows.
const SAVING: usize = 8;

impl Design {
    /// From entries (row, feature, value) in any order, no feature of a row twice. Each `width` neighbouring features, of
    /// which a row usually has one, are a column.
    pub(crate) fn new(n_features: usize, width: usize, n_rows: usize, entries: &[(u32, u32, f64)]) -> Self {
        let width = width.max(1);
        let (starts, entries) = sorted_by(entries, n_features, |entry| entry.1 as usize);
        let mut nodes = vec![PrefixNode { parent: NONE, parameter: 0, value: 1.0 }];
        let mut group = PrefixTree { at: vec![0; n_rows], rows: (0..n_rows as u32).collect() };
        let mut leaves = Vec::new();
        for column in (0..n_features).step_by(width) {
            let entries = &entries[starts[column]..starts[n_features.min(column + width)]];
            if !group.grow(entries, &mut nodes, n_rows / SAVING) {
                group.finish(&mut leaves);
                group.grow(entries, &mut nodes, usize::MAX);
            }
        }
        group.finish(&mut leaves);
        let (ends, leaves) = sorted_by(&leaves, n_rows, |leaf| leaf.0 as usize);
        Self {
            n_features,
            n_entries: entries.len(),
            nodes,
            ends,
            leaves: leaves.iter().map(|leaf| leaf.1).collect(),
        }
    }

    /// The nodes that make up a row.
    pub(super) fn leaves(&self, row: u32) -> &[u32] {
        let row = row as usize;
        &self.leaves[self.ends[row]..self.ends[row + 1]]
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Whether all features are indicators.
    pub(super) fn is_indicator(&self) -> bool {
        self.nodes.iter().all(|node| node.value == 1.0)
    }

    /// Parameters and values of a row, the last first; the intercept comes last.
    pub(super) fn entries(&self, row: u32) -> impl Iterator<Item = (u32, f64)> {
        let up = |at: &u32| Some(self.nodes[*at as usize].parent).filter(|&parent| parent != NONE);
        let leaves = self.leaves(row).iter().rev();
        let nodes = leaves.flat_map(move |&leaf| std::iter::successors(Some(leaf), up));
        nodes.map(|at| (self.nodes[at as usize].parameter, self.nodes[at as usize].value))
    }

    /// The contribution of each node to a row: the sum of its features times `parameters`, which have `chunks` chunks each.
    pub(super) fn spread<const N: usize>(
        &self,
        parameters: &[[f64; N]],
        chunks: usize,
        sums: &mut Vec<[f64; N]>,
    ) {
        sums.clear();
        for node in &self.nodes {
            let from = node.parameter as usize * chunks;
            let above = (node.parent != NONE).then_some(node.parent as usize * chunks);
            for chunk in 0..chunks {
                let mut sum = above.map_or([0.0; N], |above| sums[above + chunk]);
                add(node.value, &parameters[from + chunk], &mut sum);
                sums.push(sum);
            }
        }
    }

    /// The transpose: adds the sums of every feature's nodes to its `parameters`; overwrites `sums`.
    pub(super) fn collect<const N: usize>(
        &self,
        sums: &mut [[f64; N]],
        chunks: usize,
        parameters: &mut [[f64; N]],
    ) {
        for (at, node) in self.nodes.iter().enumerate().rev() {
            let to = node.parameter as usize * chunks;
            for chunk in 0..chunks {
                let sum = sums[at * chunks + chunk];
                add(node.value, &sum, &mut parameters[to + chunk]);
                if node.parent != NONE {
                    add(1.0, &sum, &mut sums[node.parent as usize * chunks + chunk]);
                }
            }
        }
    }
}

/// The prefix tree of the group under construction.
struct PrefixTree {
    /// The node that each row has reached, or [`NONE`].
    at: Vec<u32>,
    /// The rows that have reached a node.
    rows: Vec<u32>,
}

impl PrefixTree {
    /// Adds the entries of one more column; changes nothing and returns false if that takes more than `max_nodes` nodes.
    fn grow(&mut self, entries: &[(u32, u32, f64)], nodes: &mut Vec<PrefixNode>, max_nodes: usize) -> bool {
        let [n_nodes, n_rows] = [nodes.len(), self.rows.len()];
        let hash = |(parent, parameter, value): (u32, u32, u64)| {
            mix(mix(u64::from(parent), u64::from(parameter)), value)
        };
        let mut children = IndexTable::default();
        let mut before = Vec::with_capacity(entries.len());
        for &(row, feature, value) in entries {
            let at = &mut self.at[row as usize];
            if *at == NONE {
                self.rows.push(row);
            }
            before.push(*at);
            let node = PrefixNode { parent: *at, parameter: feature + 1, value };
            let new = nodes.len() as u32;
            *at = children.find_or_insert(node.key(), new, hash, |known| nodes[known as usize].key());
            if *at == new {
                nodes.push(node);
            }
            if nodes.len() - n_nodes > max_nodes {
                for (entry, before) in entries.iter().zip(before).rev() {
                    self.at[entry.0 as usize] = before;
                }
                nodes.truncate(n_nodes);
                self.rows.truncate(n_rows);
                return false;
            }
        }
        true
    }

    /// Appends (row, node) of all rows to `leaves` and starts a new group.
    fn finish(&mut self, leaves: &mut Vec<(u32, u32)>) {
        for row in self.rows.drain(..) {
            leaves.push((row, std::mem::replace(&mut self.at[row as usize], NONE)));
        }
    }
}

/// Items sorted by their keys below `n`, stably, and the start of each key; the end of the last key comes last.
fn sorted_by<T: Copy>(items: &[T], n: usize, key: impl Fn(&T) -> usize) -> (Vec<usize>, Vec<T>) {
    let mut starts = vec![0; n + 1];
    items.iter().for_each(|item| starts[key(item) + 1] += 1);
    (0..n).for_each(|key| starts[key + 1] += starts[key]);
    let mut next = starts.clone();
    let mut sorted = items.to_vec();
    for item in items {
        let place = &mut next[key(item)];
        sorted[*place] = *item;
        *place += 1;
    }
    (starts, sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six columns of three indicators, some missing, and one column of a number.
    fn entries(n_rows: u32) -> Vec<(u32, u32, f64)> {
        let mut entries = Vec::new();
        for row in 0..n_rows {
            entries.push((row, 18, f64::from(row % 3) - 0.5));
            let present = (0..6).filter(|column| (row + column) % 7 > 0);
            entries.extend(present.map(|column| (row, 3 * column + row / (1 + column) % 3, 1.0)));
        }
        entries
    }

    #[test]
    fn trees_hold_every_entry_once() {
        for n_rows in [1, 40, 700] {
            let entries = entries(n_rows);
            let design = Design::new(19, 3, n_rows as usize, &entries);
            for row in 0..n_rows {
                let own = entries.iter().filter(|entry| entry.0 == row);
                let mut expected: Vec<(u32, f64)> = own.map(|entry| (entry.1 + 1, entry.2)).collect();
                expected.push((0, 1.0));
                expected.sort_by_key(|entry| std::cmp::Reverse(entry.0));
                assert_eq!(design.entries(row).collect::<Vec<_>>(), expected);
            }
            // Many rows are made of few nodes.
            let n_leaves = (0..n_rows).map(|row| design.leaves(row).len()).max();
            assert!(n_rows < 700 || n_leaves < Some(5), "{n_leaves:?}");
        }
    }

    #[test]
    fn spreading_and_collecting_are_products_with_the_rows() {
        let (n_rows, entries) = (200, entries(200));
        let design = Design::new(19, 3, n_rows, &entries);
        let parameters: Vec<[f64; 2]> = (0..20).map(|i| [f64::from(i).sin(), f64::from(i).cos()]).collect();
        let mut sums = Vec::new();
        design.spread(&parameters, 1, &mut sums);
        let mut slopes = vec![[0.0; 2]; sums.len()];
        let mut expected = vec![[0.0; 2]; 20];
        for row in 0..n_rows as u32 {
            let mut score = [0.0; 2];
            design.leaves(row).iter().for_each(|&leaf| add(1.0, &sums[leaf as usize], &mut score));
            let mut direct = [0.0; 2];
            for (parameter, value) in design.entries(row) {
                add(value, &parameters[parameter as usize], &mut direct);
                add(value, &[f64::from(row), 1.0], &mut expected[parameter as usize]);
            }
            assert!((score[0] - direct[0]).abs() + (score[1] - direct[1]).abs() < 1e-13);
            for &leaf in design.leaves(row) {
                add(1.0, &[f64::from(row), 1.0], &mut slopes[leaf as usize]);
            }
        }
        let mut collected = vec![[0.0; 2]; 20];
        design.collect(&mut slopes, 1, &mut collected);
        let distance = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).abs() + (a[1] - b[1]).abs();
        assert!(collected.iter().zip(&expected).all(|(a, b)| distance(a, b) < 1e-8));
    }
}
