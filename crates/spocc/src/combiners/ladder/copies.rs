//! Who is heard: copies once, guessers not at all.
//!
//! Classifiers that part the labelled rows alike are copies: they say the same in other words. Their leaf counts once,
//! however many they are; on new rows, where they may part, the leaf holds possible only what none of them excludes.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    evidence::{Tally, pattern_weight},
    grid::Row,
    labels::MISSING,
};

/// Rows on which copies must agree: fewer are no proof.
const ENOUGH: u64 = 20;

/// The leaf of who is not heard.
const NOBODY: u32 = u32::MAX;

/// Who speaks for whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Copies {
    /// The first of each set of copies, ascending: the leaves.
    pub(super) firsts: Vec<usize>,
    /// The leaf of every classifier; those who are not heard have none.
    leaf_of: Vec<u32>,
    /// What the first of its copies says when a classifier says this, by classifier and answer; silence if it
    /// never said it.
    means: Vec<u16>,
}

impl Copies {
    pub(super) fn find(tally: &Tally, n_classifiers: usize, n_labels: usize, unit: u64) -> Self {
        let partitions = Partitions::new(tally, n_classifiers, unit);
        let (mut firsts, mut leaf_of, mut means) =
            (Vec::new(), Vec::new(), vec![MISSING; n_classifiers * n_labels]);
        let mut known: HashMap<u64, Vec<usize>> = HashMap::new();
        for k in 0..n_classifiers {
            let alike = known.entry(partitions.hashes[k]).or_default();
            let mut known_leaves = alike.iter().copied().filter(|_| partitions.spoken[k] >= ENOUGH);
            let leaf = known_leaves.find(|&leaf| partitions.are_equal(tally, firsts[leaf], k));
            let leaf = leaf.unwrap_or_else(|| {
                alike.push(firsts.len());
                firsts.push(k);
                firsts.len() - 1
            });
            leaf_of.push(leaf as u32);
            let (own, first) = (&partitions.order[k], &partitions.order[firsts[leaf]]);
            for (&j, &meant) in own.iter().zip(first).filter(|pair| *pair.0 != MISSING) {
                means[k * n_labels + usize::from(j)] = meant;
            }
        }
        Self { firsts, leaf_of, means }
    }

    /// Without the leaves that are not to be heard.
    pub(super) fn retain(&mut self, is_heard: &[bool]) {
        let mut next = 0;
        let numbers: Vec<u32> = is_heard
            .iter()
            .map(|&heard| {
                next += u32::from(heard);
                if heard { next - 1 } else { NOBODY }
            })
            .collect();
        let mut heard = is_heard.iter();
        self.firsts.retain(|_| *heard.next().expect("a word for every leaf"));
        self.leaf_of.iter_mut().for_each(|leaf| *leaf = numbers[*leaf as usize]);
    }

    pub(super) fn n_leaves(&self) -> usize {
        self.firsts.len()
    }

    /// The classifiers of every leaf.
    pub(super) fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups = vec![Vec::new(); self.firsts.len()];
        let heard = self.leaf_of.iter().enumerate().filter(|(_, leaf)| **leaf != NOBODY);
        heard.for_each(|(k, &leaf)| groups[leaf as usize].push(k));
        groups
    }

    /// Shows (leaf, answer) of everyone who says something the leaf ever meant.
    #[inline]
    pub(super) fn for_each(&self, row: Row<'_>, n_labels: usize, mut show: impl FnMut(usize, u16)) {
        row.for_each(|k, j| {
            if let Some((leaf, meant)) = self.meaning(k, j, n_labels) {
                show(leaf, meant);
            }
        });
    }

    /// The leaf of a classifier and what its answer means there, if it is heard and ever said it.
    #[inline]
    pub(super) fn meaning(&self, k: usize, said: u16, n_labels: usize) -> Option<(usize, u16)> {
        let meant = self.means[k * n_labels + usize::from(said)];
        (meant != MISSING && self.leaf_of[k] != NOBODY).then(|| (self.leaf_of[k] as usize, meant))
    }

    pub(super) fn check(&self, n_classifiers: usize, n_labels: usize) -> Result<(), Error> {
        let holds = self.leaf_of.len() == n_classifiers
            && Some(self.means.len()) == n_classifiers.checked_mul(n_labels)
            && self.firsts.is_sorted_by(|a, b| a < b)
            && self.firsts.iter().all(|&first| first < n_classifiers)
            && self.leaf_of.iter().all(|&leaf| leaf == NOBODY || (leaf as usize) < self.firsts.len())
            && self.means.iter().all(|&j| j == MISSING || usize::from(j) < n_labels);
        if holds {
            return Ok(());
        }
        Err(Error::Inconsistent { expected: "a leaf for every classifier", found: "others".to_owned() })
    }
}

/// How each classifier parts the patterns, whatever the names of its answers.
struct Partitions {
    /// Its answers in the order they first appear; silence is one of them.
    order: Vec<Vec<u16>>,
    hashes: Vec<u64>,
    /// Rows on which each spoke.
    spoken: Vec<u64>,
}

impl Partitions {
    fn new(tally: &Tally, n_classifiers: usize, unit: u64) -> Self {
        let mut order: Vec<Vec<u16>> = vec![Vec::new(); n_classifiers];
        let mut numbers: Vec<HashMap<u16, u64>> = vec![HashMap::new(); n_classifiers];
        let (mut hashes, mut spoken) = (vec![0; n_classifiers], vec![0; n_classifiers]);
        for p in 0..tally.n_patterns() {
            let said = tally.pattern(p).to_dense(n_classifiers);
            let rows = pattern_weight(tally, p) / unit;
            for (k, &j) in said.iter().enumerate() {
                let next = numbers[k].len() as u64;
                let number = *numbers[k].entry(j).or_insert_with(|| {
                    order[k].push(j);
                    next
                });
                hashes[k] = crate::hash::mix(hashes[k], number);
                spoken[k] += if j == MISSING { 0 } else { rows };
            }
        }
        Self { order, hashes, spoken }
    }

    /// Whether two classifiers part the patterns alike: a hash may err, this does not.
    fn are_equal(&self, tally: &Tally, a: usize, b: usize) -> bool {
        let place =
            |k: usize, j: Option<u16>| self.order[k].iter().position(|&other| other == j.unwrap_or(MISSING));
        self.order[a].len() == self.order[b].len()
            && (0..tally.n_patterns()).all(|p| {
                let row = tally.pattern(p);
                place(a, row.get(a)) == place(b, row.get(b))
            })
    }
}
