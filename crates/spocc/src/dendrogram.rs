//! Dendrogram: a binary tree that joins the most dependent classifiers first.
//!
//! In: dissimilarities. Out: Ward's merge tree and its flat clusters (paper, section 3.4 and appendix A).
//! The nearest-neighbour chain is implemented here because copies have tied distances, and libraries resolve ties
//! differently.

use serde::{Deserialize, Serialize};

use crate::{
    dependence::{Dependence, Dissimilarities},
    error::Error,
    evidence::pair_index,
};

/// One merge: two nodes become one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Merge {
    /// The joined nodes, the smaller number first; leaves are 0..K, the q-th merge is node K + q.
    pub children: [usize; 2],
    /// Distance at which they were joined, by the linkage that made the tree.
    pub height: f64,
    /// Number of leaves below.
    pub size: usize,
}

/// A merge tree over K leaves: K - 1 merges, children before parents; heights ascend unless a leaf was appended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dendrogram {
    n_leaves: usize,
    merges: Vec<Merge>,
}

impl Dendrogram {
    /// Ward's method by nearest-neighbour chain, O(K^2).
    ///
    /// Ties are resolved by a fixed rule: a chain starts at the lowest live slot, the neighbour already on the chain is
    /// kept unless another is strictly nearer, slots are scanned upward, a union takes the higher slot, and
    /// merges are sorted stably by height.
    pub fn ward(dissimilarities: &Dissimilarities) -> Self {
        Self::join(dissimilarities.n_classifiers(), dissimilarities.condensed().to_vec(), ward_update)
    }

    /// Average linkage of `1 - dependence`: the height of a merge is 1 less the mean dependence of all pairs across
    /// it. Pairs without a known dependence count as independent. Ties are resolved as by [`ward`](Self::ward).
    pub fn average(dependence: &Dependence) -> Self {
        let distances = dependence.condensed().iter().map(|value| 1.0 - value.unwrap_or(0.0)).collect();
        let mean = |[nx, ny, _]: [f64; 3], [dx, dy, _]: [f64; 3]| (nx * dx + ny * dy) / (nx + ny);
        Self::join(dependence.n_classifiers(), distances, mean)
    }

    /// Joins leaves at these distances (upper triangle, row by row). `update` gives the distance of a cluster to the
    /// union of two others, from the sizes of the two and its own, and the distances to the two and between them.
    fn join(n: usize, mut distances: Vec<f64>, update: impl Fn([f64; 3], [f64; 3]) -> f64) -> Self {
        let at = |a: usize, b: usize| pair_index(n, a.min(b), a.max(b));
        let mut sizes = vec![1usize; n];
        let mut chain: Vec<usize> = Vec::with_capacity(n);
        let mut merges: Vec<(usize, usize, f64)> = Vec::with_capacity(n.saturating_sub(1));
        let mut lowest = 0;
        while merges.len() + 1 < n {
            if chain.is_empty() {
                while sizes[lowest] == 0 {
                    lowest += 1;
                }
                chain.push(lowest);
            }
            let (x, y, height) = loop {
                let x = chain[chain.len() - 1];
                let below = chain.len().checked_sub(2).map(|at| chain[at]);
                let mut nearest = below.map_or((f64::INFINITY, x), |y| (distances[at(x, y)], y));
                for slot in (0..n).filter(|&slot| sizes[slot] > 0 && slot != x) {
                    if distances[at(x, slot)] < nearest.0 {
                        nearest = (distances[at(x, slot)], slot);
                    }
                }
                if Some(nearest.1) == below {
                    break (x.min(nearest.1), x.max(nearest.1), nearest.0);
                }
                chain.push(nearest.1);
            };
            chain.truncate(chain.len() - 2);
            merges.push((x, y, height));
            let (nx, ny) = (sizes[x] as f64, sizes[y] as f64);
            for slot in (0..n).filter(|&slot| sizes[slot] > 0 && slot != x && slot != y) {
                let joined = update(
                    [nx, ny, sizes[slot] as f64],
                    [distances[at(slot, x)], distances[at(slot, y)], height],
                );
                distances[at(slot, y)] = joined;
            }
            sizes[y] += sizes[x];
            sizes[x] = 0;
        }
        merges.sort_by(|a, b| a.2.total_cmp(&b.2));
        Self::label(n, &merges)
    }

    /// Numbers the nodes of sorted merges, each given by any leaf of either side.
    fn label(n: usize, merges: &[(usize, usize, f64)]) -> Self {
        let mut parents: Vec<usize> = (0..n).collect();
        let mut labelled: Vec<Merge> = Vec::with_capacity(merges.len());
        let root = |parents: &[usize], mut node: usize| {
            while parents[node] != node {
                node = parents[node];
            }
            node
        };
        for &(x, y, height) in merges {
            let (a, b) = (root(&parents, x), root(&parents, y));
            let size = |node: usize| if node < n { 1 } else { labelled[node - n].size };
            let size = size(a) + size(b);
            let node = parents.len();
            parents.push(node);
            // Both roots and both leaves point to the new node, so that later walks are short.
            for from in [a, b, x, y] {
                parents[from] = node;
            }
            labelled.push(Merge { children: [a.min(b), a.max(b)], height, size });
        }
        Self { n_leaves: n, merges: labelled }
    }

    /// Number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.n_leaves
    }

    /// The merges, lowest first.
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// The top node: the last merge, or the only leaf.
    pub(crate) fn root(&self) -> usize {
        self.n_leaves + self.merges.len() - 1
    }

    /// The two children of an inner node; none of a leaf.
    pub(crate) fn children(&self, node: usize) -> Option<[usize; 2]> {
        node.checked_sub(self.n_leaves).map(|q| self.merges[q].children)
    }

    /// The leaves below a node, in the order of a walk that visits the smaller child first.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub fn leaves(&self, node: usize) -> Vec<usize> {
        let mut leaves = Vec::new();
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            match self.children(node) {
                Some([first, second]) => stack.extend([second, first]),
                None => leaves.push(node),
            }
        }
        leaves
    }

    /// The inner nodes of the subtree below and including a node.
    pub(crate) fn inner_nodes(&self, node: usize) -> Vec<usize> {
        let mut inner = Vec::new();
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            if let Some(children) = self.children(node) {
                inner.push(node);
                stack.extend(children);
            }
        }
        inner
    }

    /// The smallest merge height that leaves at most `n_clusters`; just below the first one for all singletons.
    ///
    /// 0 if there are no merges.
    pub(crate) fn cut_height(&self, n_clusters: usize) -> f64 {
        if n_clusters >= self.n_leaves {
            return self.merges.first().map_or(0.0, |merge| merge.height.next_down());
        }
        self.merges[self.n_leaves - n_clusters.max(1) - 1].height
    }

    /// Top nodes of the flat clusters that remain when only merges up to `height` are made, in the order of a
    /// walk from the root that visits the smaller child first.
    pub(crate) fn clusters_below(&self, height: f64) -> Vec<usize> {
        let mut tops = Vec::new();
        let mut stack = vec![self.root()];
        while let Some(node) = stack.pop() {
            match self.children(node) {
                Some([first, second]) if self.merges[node - self.n_leaves].height > height => {
                    stack.extend([second, first]);
                }
                _ => tops.push(node),
            }
        }
        tops
    }

    /// At most `n_clusters` flat clusters, each as its leaves.
    pub fn clusters(&self, n_clusters: usize) -> Vec<Vec<usize>> {
        self.clusters_below(self.cut_height(n_clusters)).into_iter().map(|top| self.leaves(top)).collect()
    }

    /// Ward distance from a new leaf, at distance `to_leaf[k]` from each leaf, to the cluster below each node.
    pub(crate) fn distances_to_clusters(&self, to_leaf: &[f64]) -> Vec<f64> {
        let mut distances = to_leaf.to_vec();
        let size = |node: usize| node.checked_sub(self.n_leaves).map_or(1, |q| self.merges[q].size) as f64;
        for merge in &self.merges {
            let [a, b] = merge.children;
            distances.push(ward_update([size(a), size(b), 1.0], [distances[a], distances[b], merge.height]));
        }
        distances
    }

    /// The tree with one more leaf, joined to the cluster below `node` at `height`; returns the number of the
    /// new inner node. Numbers of the old inner nodes grow by one, then by one more from the new node on.
    pub(crate) fn with_leaf(&self, node: usize, height: f64) -> (Self, usize) {
        let n = self.n_leaves;
        let new_leaf = n;
        // The new merge comes right after the merge that made `node`, before any merge that uses it.
        let place = node.checked_sub(n).map_or(0, |q| q + 1);
        let joint = n + 1 + place;
        let renumber = |old: usize| match old {
            old if old < n => old,
            old if old - n < place => old + 1,
            old => old + 2,
        };
        let above = self.ancestors(node);
        let mut merges = Vec::with_capacity(n);
        for (q, merge) in self.merges.iter().enumerate() {
            let size = merge.size + usize::from(above.contains(&(n + q)));
            let child = |child: usize| if child == node { joint } else { renumber(child) };
            let [a, b] = merge.children.map(child);
            merges.push(Merge { children: [a.min(b), a.max(b)], height: merge.height, size });
        }
        let [a, b] = [renumber(node), new_leaf];
        let size = node.checked_sub(n).map_or(1, |q| self.merges[q].size) + 1;
        merges.insert(place, Merge { children: [a.min(b), a.max(b)], height, size });
        (Self { n_leaves: n + 1, merges }, joint)
    }

    fn ancestors(&self, node: usize) -> Vec<usize> {
        let mut above = Vec::new();
        let mut current = node;
        for (q, merge) in self.merges.iter().enumerate() {
            if merge.children.contains(&current) {
                current = self.n_leaves + q;
                above.push(current);
            }
        }
        above
    }

    /// Refuses anything but a tree in which every node is joined once, children before parents.
    pub(crate) fn check(&self, n_leaves: usize) -> Result<(), Error> {
        let wrong =
            || Error::Inconsistent { expected: "a binary merge tree", found: "another graph".to_owned() };
        if n_leaves == 0 || self.n_leaves != n_leaves || self.merges.len() + 1 != n_leaves {
            return Err(wrong());
        }
        let mut sizes = vec![1; n_leaves];
        let mut joined = vec![false; 2 * n_leaves - 1];
        for merge in &self.merges {
            let [a, b] = merge.children;
            let fits = a < b && b < sizes.len() && !joined[a] && !joined[b] && merge.height >= 0.0;
            if !fits || merge.size != sizes[a] + sizes[b] {
                return Err(wrong());
            }
            (joined[a], joined[b]) = (true, true);
            sizes.push(merge.size);
        }
        Ok(())
    }
}

/// Distance from a third cluster to the union of two (Lance and Williams), in the order of operations that
/// decides ties: `sizes` and `distances` are of the lower slot, the higher slot, the third.
fn ward_update([nx, ny, ni]: [f64; 3], [dxi, dyi, dxy]: [f64; 3]) -> f64 {
    let t = 1.0 / (nx + ny + ni);
    // The formula would give an imaginary distance for a leaf that is near two distant clusters: it becomes 0.
    ((ni + nx) * t * dxi * dxi + (ni + ny) * t * dyi * dyi - ni * t * dxy * dxy).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(n: usize, condensed: &[f64]) -> Dendrogram {
        Dendrogram::ward(&Dissimilarities::from_condensed(n, condensed.to_vec()).expect("a triangle"))
    }

    #[test]
    fn the_nearest_are_joined_first() {
        let tree = tree(3, &[0.5, 0.9, 0.2]);
        assert_eq!(tree.merges()[0], Merge { children: [1, 2], height: 0.2, size: 2 });
        let top = ((2.0 * 0.25 + 2.0 * 0.81 - 0.04) / 3.0f64).sqrt();
        assert_eq!(tree.merges()[1].children, [0, 3]);
        assert!((tree.merges()[1].height - top).abs() < 1e-15);
        assert_eq!(tree.clusters(2), [vec![0], vec![1, 2]]);
        assert_eq!(tree.clusters(3).len(), 3);
        assert_eq!(tree.clusters(1), [vec![0, 1, 2]]);
    }

    #[test]
    fn tied_merges_are_cut_together() {
        let tree = tree(4, &[0.1, 1.0, 1.0, 1.0, 1.0, 0.1]);
        assert_eq!(tree.clusters(3).len(), 2);
        assert_eq!(tree.clusters(4).len(), 4);
    }

    #[test]
    fn one_leaf_is_a_tree() {
        let tree = tree(1, &[]);
        assert_eq!((tree.root(), tree.leaves(0), tree.clusters(1)), (0, vec![0], vec![vec![0]]));
    }

    #[test]
    fn distances_of_a_new_leaf_are_those_of_a_full_rebuild() {
        // Four leaves; the fifth is far from all, so that the old merges come first in the full tree too.
        let old = tree(4, &[0.1, 0.8, 0.7, 0.75, 0.72, 0.2]);
        let full = tree(5, &[0.1, 0.8, 0.7, 0.95, 0.75, 0.72, 0.97, 0.2, 0.96, 0.99]);
        let distances = old.distances_to_clusters(&[0.95, 0.97, 0.96, 0.99]);
        assert!((distances[old.root()] - full.merges()[3].height).abs() < 1e-12);
        let (grown, joint) = old.with_leaf(old.root(), distances[old.root()]);
        assert_eq!(joint, 8);
        grown.check(5).expect("a tree");
        assert_eq!(grown.leaves(joint), [4, 0, 1, 2, 3]);
    }

    #[test]
    fn a_leaf_can_join_anywhere() {
        let old = tree(4, &[0.1, 0.8, 0.7, 0.75, 0.72, 0.2]);
        for node in 0..7 {
            let (grown, joint) = old.with_leaf(node, 0.5);
            grown.check(5).expect("a tree");
            let mut below = grown.leaves(joint);
            below.sort_unstable();
            let mut expected = old.leaves(node);
            expected.push(4);
            expected.sort_unstable();
            assert_eq!(below, expected);
        }
    }

    #[test]
    fn a_graph_that_joins_a_node_twice_is_refused() {
        let merge = |children, size| Merge { children, height: 1.0, size };
        let joined = |last| Dendrogram { n_leaves: 3, merges: vec![merge([0, 1], 2), merge(last, 3)] };
        assert_eq!(joined([2, 3]).check(3), Ok(()));
        assert!(joined([0, 3]).check(3).is_err());
    }
}
