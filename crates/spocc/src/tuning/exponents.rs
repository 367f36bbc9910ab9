//! The heuristic search for exponents (paper, appendix A).
//!
//! In: validation cases and a dendrogram. Out: one exponent per merge. While the exponent of a group of merges is
//! searched, every merge above it has exponent 1, that is, adds surprisals. So the surprisal of the panel is the norm of
//! the parts of the group plus the sum of all other parts, and no tree needs to be evaluated.

use std::{borrow::Cow, sync::OnceLock};

use crate::{
    dendrogram::Dendrogram,
    error::Error,
    fusion::{Exponent, surprisal},
    math::{exp, ln},
    parallel,
    progress::Control,
    tuning::{
        ValidationCases, exponent_grid,
        sweep::{CHUNK, Sweep, sweep},
        validation_cases::Members,
    },
};

/// The search on some validation cases.
pub(crate) struct Search<'a> {
    validation: &'a ValidationCases<'a>,
    grid: Vec<f64>,
    surprisals: Vec<f64>,
    logarithms: Vec<f64>,
    /// Surprisals raised to each exponent of the grid, cached if all fit in memory.
    powers: Option<Vec<OnceLock<Vec<f64>>>>,
}

/// The result of the search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundExponents {
    /// One per merge.
    pub(crate) exponents: Vec<Exponent>,
    /// The number of clusters with the best accuracy.
    pub(crate) n_clusters: usize,
}

/// A subtree: a leaf, or a surprisal per case and class: of a cluster that is not searched yet the sum of its leaves, of
/// others their norm.
enum Subtree {
    Leaf(usize),
    Values(Vec<f64>),
}

/// Merges that share one exponent.
struct MergeGroup {
    merges: Vec<usize>,
    /// The nodes that they join.
    joins: Vec<usize>,
    /// The node that they make.
    top: usize,
}

impl<'a> Search<'a> {
    pub(crate) fn new(validation: &'a ValidationCases<'a>, control: &Control<'_>) -> Self {
        let surprisals: Vec<f64> = validation.degrees.iter().map(|&degree| surprisal(degree)).collect();
        let grid = exponent_grid();
        let all_powers = surprisals.len() as u64 * 8 * grid.len() as u64;
        let powers = (all_powers <= control.memory_limit() / 8)
            .then(|| grid.iter().map(|_| OnceLock::new()).collect());
        let logarithms = surprisals.iter().map(|&s| ln(s)).collect();
        Self { validation, grid, surprisals, logarithms, powers }
    }

    /// Tries 2, 3, .. clusters while the accuracy increases.
    pub(crate) fn run(
        &self,
        dendrogram: &Dendrogram,
        control: &Control<'_>,
    ) -> Result<FoundExponents, Error> {
        let n = dendrogram.n_leaves();
        let (mut best, mut kept) =
            (0, FoundExponents { exponents: vec![Exponent::PRODUCT; n - 1], n_clusters: n.min(2) });
        for n_clusters in 2..=n {
            let (correct, exponents) = self.with_clusters(dendrogram, n_clusters, control)?;
            if n_clusters > 2 && correct <= best {
                break;
            }
            best = correct;
            kept = FoundExponents { exponents, n_clusters };
        }
        Ok(kept)
    }

    /// One exponent for all leaves: the grid, and the number of correct rows for each value.
    pub(crate) fn flat(&self, control: &Control<'_>) -> Result<(&[f64], Vec<u64>), Error> {
        let all_leaves = Members::new((0..self.validation.n_leaves).collect(), self.validation.n_leaves);
        let plain = self.sum_of_leaves(&all_leaves);
        let rest = vec![0.0; plain.len()];
        let end = self.grid.len();
        let joint =
            GroupNorm { search: self, leaves: &all_leaves, values: &[], plain: &plain, rest: &rest, end };
        Ok((&self.grid, sweep(self.validation, &joint, "exponent", control)?))
    }

    /// Searches the exponent of every cluster, then of every merge above the clusters, each below the one before.
    fn with_clusters(
        &self,
        dendrogram: &Dendrogram,
        n_clusters: usize,
        control: &Control<'_>,
    ) -> Result<(u64, Vec<Exponent>), Error> {
        let n = dendrogram.n_leaves();
        let mut exponents = vec![Exponent::PRODUCT; n - 1];
        let (mut end, mut correct) = (self.grid.len(), 0);
        let groups = groups(dendrogram, n_clusters);
        // A sum or a norm per cluster is in memory, and a few more while a group is searched.
        let (cases, l) = (self.validation.n_cases(), self.validation.n_classes);
        let what = || format!("possibilities of {} groups on {cases} cases", groups.len());
        control.allow(what, &[groups.len().min(n_clusters) + 4, cases, l, 8])?;
        // Parts by their node: clusters and single leaves.
        let tops = dendrogram.clusters_below(dendrogram.cut_height(n_clusters));
        let part = |&top: &usize| match dendrogram.leaves(top)[..] {
            [leaf] => (top, Subtree::Leaf(leaf)),
            _ => (top, Subtree::Values(self.sum_of_leaves(&Members::new(dendrogram.leaves(top), n)))),
        };
        let mut parts: Vec<(usize, Subtree)> = tops.iter().map(part).collect();
        for group in groups {
            if end == 0 {
                break;
            }
            // A cluster is one part, searched as its leaves; a merge above clusters joins two parts.
            let is_cluster = parts.iter().any(|(node, _)| *node == group.top);
            let taken =
                |node: usize| if is_cluster { node == group.top } else { group.joins.contains(&node) };
            let (joined, others): (Vec<_>, Vec<_>) = parts.into_iter().partition(|(node, _)| taken(*node));
            let rest = self.sum_of_parts(&others);
            let plain = self.sum_of_parts(&joined);
            let (mut leaves, mut values) = (Vec::new(), Vec::new());
            if is_cluster {
                leaves.clone_from(&group.joins);
            } else {
                for (_, part) in &joined {
                    match part {
                        Subtree::Leaf(leaf) => leaves.push(*leaf),
                        Subtree::Values(part) => values.push(part.as_slice()),
                    }
                }
            }
            let leaves = Members::new(leaves, n);
            let joint =
                GroupNorm { search: self, leaves: &leaves, values: &values, plain: &plain, rest: &rest, end };
            (end, correct) = choose(&sweep(self.validation, &joint, "exponents", control)?);
            let exponent = Exponent::try_from(self.grid[end])?;
            group.merges.iter().for_each(|&node| exponents[node - n] = exponent);
            let value = joint.norms(end);
            parts = others;
            parts.push((group.top, Subtree::Values(value)));
        }
        Ok((correct, exponents))
    }

    /// Sum of some leaves' surprisals, for every case and class.
    fn sum_of_leaves(&self, leaves: &Members) -> Vec<f64> {
        self.for_all_cases(|cases, out| {
            self.validation
                .for_each_distribution_of(leaves, cases, |at, row| self.add(&self.surprisals, row, at, out));
        })
    }

    /// Sum of parts, for every case and class.
    fn sum_of_parts(&self, parts: &[(usize, Subtree)]) -> Vec<f64> {
        let leaf = |(_, part): &(usize, Subtree)| match part {
            Subtree::Leaf(leaf) => Some(*leaf),
            Subtree::Values(_) => None,
        };
        let leaves = Members::new(parts.iter().filter_map(leaf).collect(), self.validation.n_leaves);
        let mut sums = self.sum_of_leaves(&leaves);
        for (_, part) in parts {
            if let Subtree::Values(values) = part {
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            }
        }
        sums
    }

    /// A value per case and class, computed for a few cases at a time; values start at 0.
    fn for_all_cases(&self, make: impl Fn(&[u32], &mut [f64]) + Sync) -> Vec<f64> {
        let l = self.validation.n_classes.max(1);
        let mut all = vec![0.0; self.validation.n_cases() * l];
        parallel::fill(&mut all, CHUNK * l, |start, out| {
            let cases: Vec<u32> = ((start / l) as u32..((start + out.len()) / l) as u32).collect();
            make(&cases, out);
        });
        all
    }

    /// Adds a row of a table to the values of the case at position `at`.
    #[inline]
    fn add(&self, table: &[f64], row: usize, at: usize, out: &mut [f64]) {
        let l = self.validation.n_classes;
        let (out, row) = (&mut out[at * l..(at + 1) * l], &table[row * l..(row + 1) * l]);
        out.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }

    /// Surprisals raised to an exponent of the grid, of which `n_wanted` are needed.
    fn powers(&self, at: usize, n_wanted: usize) -> Powers<'_> {
        let x = self.grid[at];
        let kept = self.powers.as_ref().map(|kept| &kept[at]);
        if n_wanted < self.surprisals.len() && kept.is_none_or(|kept| kept.get().is_none()) {
            return Powers::OneByOne(x);
        }
        let raise = || {
            let mut powers = vec![0.0; self.logarithms.len()];
            parallel::fill(&mut powers, 1 << 14, |start, powers| {
                powers.iter_mut().zip(&self.logarithms[start..]).for_each(|(out, &ln)| *out = exp(x * ln));
            });
            powers
        };
        let table = match kept {
            Some(kept) => Cow::Borrowed(kept.get_or_init(raise).as_slice()),
            None => Cow::Owned(raise()),
        };
        Powers::Table(x, table)
    }
}

/// Surprisals raised to one exponent.
enum Powers<'a> {
    /// The exponent 1, for which sums are known.
    Plain,
    OneByOne(f64),
    Table(f64, Cow<'a, [f64]>),
}

/// The clusters of two or more leaves, in the order of a walk from the root; then each merge above them, lowest first.
fn groups(dendrogram: &Dendrogram, n_clusters: usize) -> Vec<MergeGroup> {
    let n = dendrogram.n_leaves();
    let mut in_cluster = vec![false; 2 * n - 1];
    let mut groups = Vec::new();
    for top in dendrogram.clusters_below(dendrogram.cut_height(n_clusters)) {
        let merges = dendrogram.inner_nodes(top);
        merges.iter().for_each(|&node| in_cluster[node] = true);
        if !merges.is_empty() {
            groups.push(MergeGroup { merges, joins: dendrogram.leaves(top), top });
        }
    }
    for node in (n..2 * n - 1).filter(|&node| !in_cluster[node]) {
        let joins = dendrogram.children(node).into_iter().flatten().collect();
        groups.push(MergeGroup { merges: vec![node], joins, top: node });
    }
    groups
}

/// `s^x`, zero and infinity included.
fn power(s: f64, x: f64) -> f64 {
    exp(x * ln(s))
}

/// The norm of a group of parts at each exponent of the grid up to `end`, plus the sum of all other parts.
struct GroupNorm<'a> {
    search: &'a Search<'a>,
    leaves: &'a Members,
    values: &'a [&'a [f64]],
    /// Sum of the group, which is its norm at exponent 1.
    plain: &'a [f64],
    /// Sum of all other parts.
    rest: &'a [f64],
    end: usize,
}

impl GroupNorm<'_> {
    /// The norm of the group at a point of the grid, for some cases; `out` starts at 0.
    fn norm(&self, powers: &Powers<'_>, cases: &[u32], out: &mut [f64]) {
        let Search { validation, logarithms, .. } = self.search;
        let l = validation.n_classes.max(1);
        let own = |case: u32| case as usize * l..(case as usize + 1) * l;
        let x = match powers {
            Powers::Plain => {
                for (&case, out) in cases.iter().zip(out.chunks_mut(l)) {
                    out.copy_from_slice(&self.plain[own(case)]);
                }
                return;
            }
            Powers::Table(x, table) => {
                validation.for_each_distribution_of(self.leaves, cases, |at, row| {
                    self.search.add(table, row, at, out);
                });
                *x
            }
            Powers::OneByOne(x) => {
                validation.for_each_distribution_of(self.leaves, cases, |at, row| {
                    let logarithms = &logarithms[row * l..(row + 1) * l];
                    let out = &mut out[at * l..(at + 1) * l];
                    out.iter_mut().zip(logarithms).for_each(|(sum, &ln)| *sum += exp(x * ln));
                });
                *x
            }
        };
        for (&case, out) in cases.iter().zip(out.chunks_mut(l)) {
            for values in self.values {
                out.iter_mut().zip(&values[own(case)]).for_each(|(sum, &s)| *sum += power(s, x));
            }
            out.iter_mut().for_each(|sum| *sum = power(*sum, x.recip()));
        }
    }

    /// The norms at a point, for all cases.
    fn norms(&self, at: usize) -> Vec<f64> {
        let point = self.point(at, self.search.validation.n_cases());
        self.search.for_all_cases(|cases, out| self.norm(&point, cases, out))
    }

    fn add_rest(&self, cases: &[u32], out: &mut [f64]) {
        let l = self.search.validation.n_classes.max(1);
        for (&case, out) in cases.iter().zip(out.chunks_mut(l)) {
            out.iter_mut().zip(&self.rest[case as usize * l..]).for_each(|(norm, rest)| *norm += rest);
        }
    }
}

impl<'a> Sweep for GroupNorm<'a> {
    type Point = Powers<'a>;

    const HAS_FLOOR: bool = true;

    fn len(&self) -> usize {
        self.end
    }

    fn point(&self, at: usize, n_cases: usize) -> Self::Point {
        let n_wanted = n_cases * self.leaves.len() * self.search.validation.n_classes;
        if at == 0 { Powers::Plain } else { self.search.powers(at, n_wanted) }
    }

    fn evaluate(&self, point: &Self::Point, cases: &[u32], out: &mut [f64]) {
        self.norm(point, cases, out);
        self.add_rest(cases, out);
    }

    /// The minimum t-norm, a lower bound at every exponent.
    fn floor(&self, cases: &[u32], out: &mut [f64]) {
        let Search { validation, surprisals, .. } = self.search;
        let l = validation.n_classes.max(1);
        validation.for_each_distribution_of(self.leaves, cases, |at, row| {
            let (out, row) = (&mut out[at * l..(at + 1) * l], &surprisals[row * l..(row + 1) * l]);
            out.iter_mut().zip(row).for_each(|(most, &s)| *most = most.max(s));
        });
        for (&case, out) in cases.iter().zip(out.chunks_mut(l)) {
            for values in self.values {
                let own = &values[case as usize * l..(case as usize + 1) * l];
                out.iter_mut().zip(own).for_each(|(most, &s)| *most = most.max(s));
            }
        }
        self.add_rest(cases, out);
    }
}

/// Among the best of a sweep: the first point, else the last, else the upper median.
pub(crate) fn choose(correct: &[u64]) -> (usize, u64) {
    let best = correct.iter().max().copied().unwrap_or(0);
    let tied: Vec<usize> = (0..correct.len()).filter(|&at| correct[at] == best).collect();
    let chosen = match (tied.first(), tied.last()) {
        (Some(0) | None, _) => 0,
        (_, Some(&last)) if last + 1 == correct.len() => last,
        _ => tied[tied.len() / 2],
    };
    (chosen, best)
}
