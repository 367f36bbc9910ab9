//! The classifiers that are used: exact copies share a leaf, and near-copies divide their weight.

use std::cmp::Ordering;

use crate::{
    data::{MISSING, NONE, Row},
    error::Error,
    evidence::{Evidence, Tally, Unlabelled},
    hash::mix,
    methods::equal_groups,
    parallel,
    progress::Control,
};

/// Rows on which copies must agree; agreement on fewer rows may be coincidence.
const MIN_SHARED_ROWS: f64 = 20.0;
/// Of these, rows on which others could have differed: labelled rows with a wrong answer, of which a few are enough, or
/// unlabelled rows with several candidates. Good classifiers agree wherever the answer is easy.
const MIN_WRONG_ROWS: f64 = 3.0;
const MIN_DISPUTED_ROWS: f64 = 20.0;
/// Pseudo-rows of different wrong answers that shrink the relation of two leaves.
const DIFFERENT_ROWS: f64 = 3.0;
/// Leaves of one parallel task.
const LEAVES_PER_TASK: usize = 64;

/// The leaves: groups of exact copies, without the classifiers whose answers no other gives.
pub(super) struct Leaves {
    /// The classifiers of every leaf, in the order of their names.
    pub(super) groups: Vec<Vec<usize>>,
}

impl Leaves {
    pub(super) fn find(evidence: &Evidence, tally: &Tally) -> Self {
        let n = evidence.n_classifiers();
        let is_shared = shared(evidence, tally);
        let is_used = |k: usize| is_shared[k] || !is_shared.contains(&true);
        let mut order: Vec<usize> = (0..n).filter(|&k| is_used(k)).collect();
        order.sort_by_key(|&k| &evidence.classifiers()[k]);
        let patterns: Vec<Row<'_>> = tally.patterns().rows().chain(unlabelled_patterns(evidence)).collect();
        let mut hashes = vec![0u64; n];
        for (p, row) in (0u64..).zip(&patterns) {
            row.for_each(|k, j| hashes[k] = mix(mix(hashes[k], p), u64::from(j)));
        }
        let can_identify = can_identify_copies(evidence, tally);
        let compare = |a: usize, b: usize| {
            let mut orders = patterns.iter().map(|row| row.get(a).cmp(&row.get(b)));
            orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        let hash = |k: usize| can_identify[k].then(|| hashes[k]);
        let groups = equal_groups(order.into_iter().map(|k| (k, hash(k))), compare);
        Self { groups }
    }

    /// One classifier of every leaf.
    pub(super) fn representatives(&self) -> impl Iterator<Item = usize> {
        self.groups.iter().map(|group| group[0])
    }

    /// The weight of every classifier, which copies share equally, and whether it is used.
    pub(super) fn per_classifier(&self, weights: &[f64], n: usize) -> (Vec<f64>, Vec<bool>) {
        let (mut of_classifiers, mut is_used) = (vec![0.0; n], vec![false; n]);
        for (group, weight) in self.groups.iter().zip(weights) {
            for &k in group {
                of_classifiers[k] = weight / group.len() as f64;
                is_used[k] = true;
            }
        }
        (of_classifiers, is_used)
    }
}

/// The patterns of the unlabelled rows.
fn unlabelled_patterns(evidence: &Evidence) -> impl Iterator<Item = Row<'_>> {
    evidence.unlabelled_rows().into_iter().flat_map(|rows| rows.patterns().rows())
}

/// Whether a classifier with the same answers on all rows would be a copy of each classifier.
fn can_identify_copies(evidence: &Evidence, tally: &Tally) -> Vec<bool> {
    let n = evidence.n_classifiers();
    // Rows with an answer, with a wrong one, and with one of several candidates.
    let mut counts = vec![[0.0f64; 3]; n];
    for (row, truth, count) in tally.cells() {
        let rows = evidence.rows_of(count);
        row.for_each(|k, j| {
            counts[k][0] += rows;
            counts[k][1] += if j == truth { 0.0 } else { rows };
        });
    }
    for (row, count) in evidence.unlabelled_rows().into_iter().flat_map(Unlabelled::rows) {
        let rows = evidence.rows_of(count);
        let mut n_candidates = 0;
        row.for_each(|_, j| n_candidates = n_candidates.max(j));
        row.for_each(|k, _| {
            counts[k][0] += rows;
            counts[k][2] += if n_candidates > 1 { rows } else { 0.0 };
        });
    }
    let can_identify = |[all, wrong, disputed]: &[f64; 3]| {
        *all >= MIN_SHARED_ROWS && (*wrong >= MIN_WRONG_ROWS || *disputed >= MIN_DISPUTED_ROWS)
    };
    counts.iter().map(can_identify).collect()
}

/// Answers from which a classifier that shares none of them, and is never right, is left out.
const MIN_FRESH_ANSWERS: f64 = 5.0;

/// Whether any answer of each classifier is true or is given by another classifier, on labelled or unlabelled rows. One
/// that always gives an answer of its own is no evidence about other answers; of few answers nothing is known.
fn shared(evidence: &Evidence, tally: &Tally) -> Vec<bool> {
    let n = evidence.n_classifiers();
    let mut n_answers = vec![0.0; n];
    let labelled = (0..tally.n_patterns()).map(|p| (tally.pattern(p), tally.weight(p)));
    let unlabelled = evidence.unlabelled_rows().into_iter().flat_map(Unlabelled::rows);
    for (row, count) in labelled.chain(unlabelled) {
        row.for_each(|k, _| n_answers[k] += evidence.rows_of(count));
    }
    let is_known = |k: usize| n_answers[k] >= MIN_FRESH_ANSWERS;
    let mut is_shared: Vec<bool> = (0..n).map(|k| evidence.correct(k) > 0 || !is_known(k)).collect();
    // The first classifier with each candidate of a row.
    let mut first = vec![MISSING as usize; evidence.n_labels()];
    for row in tally.patterns().rows().chain(unlabelled_patterns(evidence)) {
        row.for_each(|k, j| match &mut first[usize::from(j)] {
            empty if *empty == MISSING as usize => *empty = k,
            other => {
                is_shared[*other] = true;
                is_shared[k] = true;
            }
        });
        row.for_each(|_, j| first[usize::from(j)] = MISSING as usize);
    }
    is_shared
}

/// The weight of every leaf: 1 over the effective size of its family.
///
/// Two leaves are related as far as their common errors are the same wrong answer. That they share right answers relates
/// nothing: good classifiers do.
pub(super) fn family_weights(
    panel: &Evidence,
    tally: &Tally,
    control: &Control<'_>,
) -> Result<Vec<f64>, Error> {
    let n = panel.n_classifiers();
    let entries: usize = tally.cells().map(|(row, _, _)| row.n_answered()).sum();
    control.allow(|| format!("answers of {} patterns", tally.n_patterns()), &[entries, 24])?;
    // The wrong answers of every cell, and the cells on which every leaf is wrong.
    let mut wrong_of: Vec<Vec<(u32, u16)>> = Vec::new();
    let mut cells_of: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut rows = Vec::new();
    for (row, truth, count) in tally.cells() {
        let mut wrong = Vec::new();
        row.for_each(|k, j| {
            if j != truth || truth == NONE {
                cells_of[k].push(wrong_of.len() as u32);
                wrong.push((k as u32, j));
            }
        });
        wrong_of.push(wrong);
        rows.push(panel.rows_of(count));
    }
    control.report("ladder: families", 0, n)?;
    let parts = parallel::map_ranges(n, LEAVES_PER_TASK, |leaves| {
        // Common errors with every other leaf: the same wrong answer, any wrong answers.
        let mut common = vec![[0.0f64; 2]; n];
        let weight = |a: usize| {
            common.fill([0.0; 2]);
            for &cell in &cells_of[a] {
                let (wrong, rows) = (&wrong_of[cell as usize], rows[cell as usize]);
                let own = wrong.iter().find(|(k, _)| *k as usize == a).map(|(_, j)| *j);
                for &(b, j) in wrong {
                    let [same, both] = &mut common[b as usize];
                    *same += if Some(j) == own { rows } else { 0.0 };
                    *both += rows;
                }
            }
            let related = |b: usize| {
                let [same, both] = common[b];
                let share = same / (both + DIFFERENT_ROWS);
                share * share
            };
            1.0 / (1.0 + (0..n).filter(|&b| b != a).map(related).sum::<f64>())
        };
        leaves.map(weight).collect::<Vec<f64>>()
    });
    Ok(parts.concat())
}
