//! Who is heard: copies once, guessers not at all.
//!
//! Classifiers that part the labelled rows alike are copies: they say the same in other words. Their leaf counts once,
//! however many they are; on new rows, where they may part, the leaf holds possible only what none of them excludes.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::{
    data::{MISSING, Row},
    error::Error,
    evidence::{Evidence, Tally},
    hash::mix,
};

/// Rows on which copies must agree: fewer are no proof.
const ENOUGH: f64 = 20.0;

/// The leaf of who is not heard.
const NOBODY: u32 = u32::MAX;

/// Who speaks for whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Copies {
    /// Who speaks for each set of copies, ascending: the leaves.
    pub(super) speakers: Vec<usize>,
    /// The leaf of every classifier; those who are not heard have none.
    leaf_of: Vec<u32>,
    /// What its speaker says when a classifier says this, by classifier and answer; silence if it never said it.
    means: Vec<u16>,
}

impl Copies {
    pub(super) fn find(evidence: &Evidence, tally: &Tally) -> Self {
        let (n, s) = (evidence.n_classifiers(), evidence.n_labels());
        let partitions = Partitions::new(evidence, tally);
        let mut sets: Vec<Vec<usize>> = Vec::new();
        let mut known: HashMap<u64, Vec<usize>> = HashMap::new();
        for k in 0..n {
            let alike = known.entry(partitions.hashes[k]).or_default();
            let mut known_sets = alike.iter().copied().filter(|_| partitions.spoken[k] >= ENOUGH);
            if let Some(set) = known_sets.find(|&set| partitions.are_equal(tally, sets[set][0], k)) {
                sets[set].push(k);
            } else {
                alike.push(sets.len());
                sets.push(vec![k]);
            }
        }
        // Whose names are nearest to the truth speaks for the set: in a plain vote names matter.
        let speaker = |set: &Vec<usize>| {
            set.iter().copied().reduce(|a, b| if evidence.correct(b) > evidence.correct(a) { b } else { a })
        };
        let mut sets: Vec<(Option<usize>, Vec<usize>)> =
            sets.into_iter().map(|set| (speaker(&set), set)).collect();
        sets.sort_unstable();
        let speakers: Vec<usize> = sets.iter().filter_map(|(speaker, _)| *speaker).collect();
        let (mut leaf_of, mut means) = (vec![NOBODY; n], vec![MISSING; n * s]);
        for (leaf, (&speaker, (_, set))) in speakers.iter().zip(&sets).enumerate() {
            for &k in set {
                leaf_of[k] = leaf as u32;
                for (&j, &meant) in partitions.order[k].iter().zip(&partitions.order[speaker]) {
                    means[k * s + usize::from(j)] = meant;
                }
            }
        }
        Self { speakers, leaf_of, means }
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
        self.speakers.retain(|_| *heard.next().expect("a word for every leaf"));
        self.leaf_of.iter_mut().for_each(|leaf| *leaf = numbers[*leaf as usize]);
    }

    pub(super) fn n_leaves(&self) -> usize {
        self.speakers.len()
    }

    /// The classifiers of every leaf.
    pub(super) fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups = vec![Vec::new(); self.speakers.len()];
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

    /// Shows (leaf, answer) of those who speak for a leaf, in their own words.
    pub(super) fn for_each_speaker(&self, row: Row<'_>, mut show: impl FnMut(usize, u16)) {
        row.for_each(|k, j| {
            if self.leaf_of[k] != NOBODY && self.speakers[self.leaf_of[k] as usize] == k {
                show(self.leaf_of[k] as usize, j);
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
            && self.speakers.is_sorted_by(|a, b| a < b)
            && self.speakers.iter().all(|&speaker| speaker < n_classifiers)
            && self.leaf_of.iter().all(|&leaf| leaf == NOBODY || (leaf as usize) < self.speakers.len())
            && self.means.iter().all(|&j| j == MISSING || usize::from(j) < n_labels);
        if holds {
            return Ok(());
        }
        Err(Error::Inconsistent { expected: "a leaf for every classifier", found: "others".to_owned() })
    }
}

/// How each classifier parts the patterns, whatever the names of its answers.
struct Partitions {
    /// Its answers in the order they first appear.
    order: Vec<Vec<u16>>,
    hashes: Vec<u64>,
    /// Rows on which each spoke.
    spoken: Vec<f64>,
}

impl Partitions {
    fn new(evidence: &Evidence, tally: &Tally) -> Self {
        let (n, s) = (evidence.n_classifiers(), evidence.n_labels());
        let mut order: Vec<Vec<u16>> = vec![Vec::new(); n];
        let mut places = vec![MISSING; n * s];
        let (mut hashes, mut spoken) = (vec![0; n], vec![0.0; n]);
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
                spoken[k] += rows;
            });
        }
        Self { order, hashes, spoken }
    }

    /// Whether two classifiers part the patterns alike, silent on the same: a hash may err, this does not.
    fn are_equal(&self, tally: &Tally, a: usize, b: usize) -> bool {
        let place = |k: usize, j: u16| self.order[k].iter().position(|&other| other == j);
        self.order[a].len() == self.order[b].len()
            && (0..tally.n_patterns()).all(|p| match (tally.pattern(p).get(a), tally.pattern(p).get(b)) {
                (Some(said), Some(other)) => place(a, said) == place(b, other),
                (said, other) => said == other,
            })
    }
}
