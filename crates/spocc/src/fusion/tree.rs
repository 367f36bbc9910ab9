//! The tree of norms along which distributions are fused.
//!
//! In: a dendrogram and the exponent of each merge. Out: a tree in which neighbours of the same exponent are one node.

use serde::{Deserialize, Serialize};

use crate::{dendrogram::Dendrogram, error::Error, fusion::Exponent};

/// A tree of norms over the leaves of a dendrogram.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FusionTree {
    /// Children before parents; the last one is the root.
    pub(super) nodes: Vec<FusionNode>,
    pub(super) node_of_leaf: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FusionNode {
    pub(super) exponent: Exponent,
    pub(super) children: Vec<u32>,
}

impl FusionTree {
    /// One norm over all leaves.
    pub(crate) fn flat(n_leaves: usize, exponent: Exponent) -> Self {
        Self { nodes: vec![FusionNode { exponent, children: Vec::new() }], node_of_leaf: vec![0; n_leaves] }
    }

    /// A dendrogram with one exponent per merge. Norms of one exponent are associative, so that a node and a child of
    /// the same exponent become one.
    pub(crate) fn new(dendrogram: &Dendrogram, exponents: &[Exponent]) -> Self {
        let n = dendrogram.n_leaves();
        if exponents.is_empty() {
            return Self::flat(n, Exponent::PRODUCT);
        }
        let mut place = vec![0u32; n + exponents.len()];
        let mut nodes = vec![FusionNode { exponent: exponents[exponents.len() - 1], children: Vec::new() }];
        // From the root down: a parent is placed before its children.
        for (q, merge) in dendrogram.merges().iter().enumerate().rev() {
            let parent = place[n + q];
            for child in merge.children {
                let exponent = child.checked_sub(n).map(|q| exponents[q]);
                place[child] = match exponent {
                    Some(exponent) if exponent != exponents[q] => {
                        nodes.push(FusionNode { exponent, children: Vec::new() });
                        let own = (nodes.len() - 1) as u32;
                        nodes[parent as usize].children.push(own);
                        own
                    }
                    _ => parent,
                };
            }
        }
        let last = nodes.len() as u32 - 1;
        nodes.reverse();
        for node in &mut nodes {
            node.children.iter_mut().for_each(|child| *child = last - *child);
            node.children.sort_unstable();
        }
        Self { nodes, node_of_leaf: place[..n].iter().map(|at| last - at).collect() }
    }

    pub(crate) fn n_leaves(&self) -> usize {
        self.node_of_leaf.len()
    }

    /// Refuses anything but a tree over `n_leaves` with children before parents.
    pub(crate) fn check(&self, n_leaves: usize) -> Result<(), Error> {
        let mut parents = vec![0usize; self.nodes.len()];
        let mut holds = !self.nodes.is_empty() && self.node_of_leaf.len() == n_leaves;
        for (at, node) in self.nodes.iter().enumerate() {
            holds &= node.exponent.0 >= 1.0 && node.children.iter().all(|&child| (child as usize) < at);
            for &child in &node.children {
                parents.get_mut(child as usize).into_iter().for_each(|count| *count += 1);
            }
        }
        holds &= parents
            .split_last()
            .is_some_and(|(root, others)| *root == 0 && others.iter().all(|&count| count == 1));
        holds &= self.node_of_leaf.iter().all(|&node| (node as usize) < self.nodes.len());
        if holds {
            return Ok(());
        }
        Err(Error::Inconsistent { expected: "a tree of norms", found: "another graph".to_owned() })
    }

    /// The exponent of the norm that a leaf is an operand of.
    pub(super) fn exponent_of(&self, leaf: usize) -> Exponent {
        self.nodes[self.node_of_leaf[leaf] as usize].exponent
    }

    pub(crate) fn root_exponent(&self) -> Exponent {
        self.nodes[self.nodes.len() - 1].exponent
    }
}
