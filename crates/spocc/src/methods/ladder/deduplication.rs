//! Deduplication: exact duplicates among the classifiers share one leaf.
//!
//! Two classifiers are duplicates if they induce the same partition of the labelled rows: their predictions are equal
//! up to a renaming of labels, and missing on the same rows. A group counts once, whatever its size: its
//! members share the scores of the leaf equally, also on new rows, where they may disagree.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::{
    data::{MISSING, Row},
    error::Error,
    evidence::{Evidence, Tally},
    hash::mix,
    methods::equal_groups,
};

/// Labelled rows on which duplicates must agree; agreement on fewer rows may be coincidence.
const MIN_SHARED_ROWS: f64 = 20.0;

/// The leaf of a classifier that is screened out.
const NO_LEAF: u32 = u32::MAX;

/// The duplicate groups of a panel; each group is a leaf of the ladder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::methods) struct DuplicateGroups {
    /// The representative of each group, ascending; its labels are those of the leaf.
    pub(in crate::methods) representatives: Vec<usize>,
    /// The leaf of every classifier, or [`NO_LEAF`].
    leaf_of: Vec<u32>,
    /// The representative's label where a classifier predicts a label, by classifier and label; [`MISSING`] for a label
    /// that the classifier never predicted.
    leaf_labels: Vec<u16>,
}

impl DuplicateGroups {
    pub(in crate::methods) fn find(evidence: &Evidence, tally: &Tally) -> Self {
        let (n, s) = (evidence.n_classifiers(), evidence.n_labels());
        let partitions = Partitions::new(evidence, tally);
        // The member whose label names agree best with the truth represents a group: votes compare label names.
        let representative = |group: &Vec<usize>| {
            group.iter().copied().reduce(|a, b| if evidence.correct(b) > evidence.correct(a) { b } else { a })
        };
        let mut groups: Vec<(Option<usize>, Vec<usize>)> =
            partitions.groups(tally).into_iter().map(|group| (representative(&group), group)).collect();
        groups.sort_unstable();
        let representatives: Vec<usize> = groups.iter().filter_map(|(first, _)| *first).collect();
        let (mut leaf_of, mut leaf_labels) = (vec![NO_LEAF; n], vec![MISSING; n * s]);
        for (leaf, (&representative, (_, group))) in representatives.iter().zip(&groups).enumerate() {
            for &k in group {
                leaf_of[k] = leaf as u32;
                for (&j, &label) in partitions.order[k].iter().zip(&partitions.order[representative]) {
                    leaf_labels[k * s + usize::from(j)] = label;
                }
            }
        }
        Self { representatives, leaf_of, leaf_labels }
    }

    /// Drops the leaves that are screened out.
    pub(in crate::methods) fn retain(&mut self, is_retained: &[bool]) {
        let mut next = 0;
        let leaves: Vec<u32> = is_retained
            .iter()
            .map(|&retained| {
                next += u32::from(retained);
                if retained { next - 1 } else { NO_LEAF }
            })
            .collect();
        let mut retained = is_retained.iter();
        self.representatives.retain(|_| *retained.next().expect("one flag per leaf"));
        self.leaf_of.iter_mut().for_each(|leaf| *leaf = leaves[*leaf as usize]);
    }

    pub(in crate::methods) fn n_leaves(&self) -> usize {
        self.representatives.len()
    }

    /// The classifiers of every leaf.
    pub(in crate::methods) fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.n_leaves()];
        let retained = self.leaf_of.iter().enumerate().filter(|(_, leaf)| **leaf != NO_LEAF);
        retained.for_each(|(k, &leaf)| members[leaf as usize].push(k));
        members
    }

    /// Passes (leaf, leaf's label) of every prediction of a row that has one to `show`.
    #[inline]
    pub(in crate::methods) fn for_each(
        &self,
        row: Row<'_>,
        n_labels: usize,
        mut show: impl FnMut(usize, u16),
    ) {
        row.for_each(|k, j| {
            if let Some((leaf, label)) = self.leaf_label(k, j, n_labels) {
                show(leaf, label);
            }
        });
    }

    /// Writes the pattern of the leaves on a row.
    pub(in crate::methods) fn leaf_pattern(&self, row: Row<'_>, n_labels: usize, pattern: &mut Vec<u16>) {
        pattern.clear();
        pattern.resize(self.n_leaves(), MISSING);
        self.for_each(row, n_labels, |leaf, j| pattern[leaf] = j);
    }

    /// Passes (leaf, label) of the representatives' predictions to `show`, labels as predicted.
    pub(in crate::methods) fn for_each_representative(&self, row: Row<'_>, mut show: impl FnMut(usize, u16)) {
        row.for_each(|k, j| {
            if self.leaf_of[k] != NO_LEAF && self.representatives[self.leaf_of[k] as usize] == k {
                show(self.leaf_of[k] as usize, j);
            }
        });
    }

    /// Whether a classifier has a leaf.
    pub(in crate::methods) fn is_retained(&self, k: usize) -> bool {
        self.leaf_of[k] != NO_LEAF
    }

    /// The leaf of classifier `k` and the leaf's label for its prediction `j`; none if the classifier is screened out or
    /// never predicted that label.
    #[inline]
    pub(in crate::methods) fn leaf_label(&self, k: usize, j: u16, n_labels: usize) -> Option<(usize, u16)> {
        let label = self.leaf_labels[k * n_labels + usize::from(j)];
        (label != MISSING && self.leaf_of[k] != NO_LEAF).then(|| (self.leaf_of[k] as usize, label))
    }

    pub(in crate::methods) fn check(&self, n_classifiers: usize, n_labels: usize) -> Result<(), Error> {
        let n_leaves = self.n_leaves();
        let holds = self.leaf_of.len() == n_classifiers
            && Some(self.leaf_labels.len()) == n_classifiers.checked_mul(n_labels)
            && self.representatives.is_sorted_by(|a, b| a < b)
            && self.representatives.iter().all(|&k| k < n_classifiers)
            && self.leaf_of.iter().all(|&leaf| leaf == NO_LEAF || (leaf as usize) < n_leaves)
            && self.leaf_labels.iter().all(|&j| j == MISSING || usize::from(j) < n_labels);
        if holds {
            return Ok(());
        }
        Err(Error::Inconsistent { expected: "a leaf for every classifier", found: "others".to_owned() })
    }
}

/// The partition of the patterns that each classifier's predictions induce, whatever the labels are called.
struct Partitions {
    /// Labels of each classifier, in the order in which the patterns show them first.
    order: Vec<Vec<u16>>,
    /// The place of each label in that order, by classifier and label.
    places: Vec<u16>,
    hashes: Vec<u64>,
    /// Labelled rows on which each classifier has a prediction.
    n_answered: Vec<f64>,
}

impl Partitions {
    fn new(evidence: &Evidence, tally: &Tally) -> Self {
        let (n, s) = (evidence.n_classifiers(), evidence.n_labels());
        let mut order: Vec<Vec<u16>> = vec![Vec::new(); n];
        let mut places = vec![MISSING; n * s];
        let (mut hashes, mut n_answered) = (vec![0; n], vec![0.0; n]);
        for p in 0..tally.n_patterns() {
            let rows: f64 =
                tally.outcomes(p).map(|(class, count)| count as f64 / evidence.row_unit(class) as f64).sum();
            tally.pattern(p).for_each(|k, j| {
                let place = &mut places[k * s + usize::from(j)];
                if *place == MISSING {
                    *place = order[k].len() as u16;
                    order[k].push(j);
                }
                hashes[k] = mix(mix(hashes[k], p as u64), u64::from(*place));
                n_answered[k] += rows;
            });
        }
        Self { order, places, hashes, n_answered }
    }

    /// Classifiers grouped by equal partitions, in the order of the first member.
    fn groups(&self, tally: &Tally) -> Vec<Vec<usize>> {
        // A classifier with fewer rows has no duplicates.
        let hash = |k: usize| (self.n_answered[k] >= MIN_SHARED_ROWS).then(|| self.hashes[k]);
        equal_groups((0..self.hashes.len()).map(|k| (k, hash(k))), |a, b| self.compare(tally, a, b))
    }

    /// Some order of partitions, in which equal ones are equal.
    fn compare(&self, tally: &Tally, a: usize, b: usize) -> Ordering {
        let n_labels = self.places.len() / self.hashes.len();
        let place =
            |k: usize, p: usize| tally.pattern(p).get(k).map(|j| self.places[k * n_labels + usize::from(j)]);
        let mut orders = (0..tally.n_patterns()).map(|p| place(a, p).cmp(&place(b, p)));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}
