//! The heuristic search for exponents (paper, appendix A).
//!
//! While a group of merges is tried, every merge above it still has exponent 1, that is, adds surprisals. So
//! the panel's surprisal is the norm of the group's parts plus the sum of all other parts, and no tree is
//! ever evaluated again.

use std::sync::OnceLock;

use crate::{
    dendrogram::Dendrogram,
    error::Error,
    fusion::{Exponent, surprisal},
    parallel,
    tuning::{
        Trials, exponent_grid,
        sweep::{Sweep, sweep},
        trials::SILENT,
    },
    watch::Watch,
};

/// The search over one set of trials.
pub(crate) struct Search<'a> {
    trials: &'a Trials,
    grid: Vec<f64>,
    surprisals: Vec<f64>,
    /// Surprisals raised to each exponent of the grid, made when first asked for.
    powers: Option<Vec<OnceLock<Vec<f64>>>>,
}

/// What the search found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// One per merge.
    pub(crate) exponents: Vec<Exponent>,
    /// Number of clusters whose exponents were kept.
    pub(crate) n_clusters: usize,
}

/// A subtree whose surprisals are settled.
enum Part {
    Leaf(usize),
    /// A value per case and class.
    Values(Vec<f64>),
}

/// Merges that share one exponent.
struct Group {
    merges: Vec<usize>,
    /// Nodes whose parts they join.
    joins: Vec<usize>,
    /// The node they make.
    top: usize,
}

impl<'a> Search<'a> {
    pub(crate) fn new(trials: &'a Trials, watch: &Watch<'_>) -> Self {
        let surprisals: Vec<f64> = trials.degrees.iter().map(|&degree| surprisal(degree)).collect();
        let grid = exponent_grid();
        let all_powers = surprisals.len() as u64 * 8 * grid.len() as u64;
        let powers =
            (all_powers <= watch.memory_limit() / 8).then(|| grid.iter().map(|_| OnceLock::new()).collect());
        Self { trials, grid, surprisals, powers }
    }

    /// Tries 2, 3, .. clusters until more of them no longer help.
    pub(crate) fn run(&self, dendrogram: &Dendrogram, watch: &Watch<'_>) -> Result<Found, Error> {
        let n = dendrogram.n_leaves();
        let (mut best, mut kept) =
            (0, Found { exponents: vec![Exponent::PRODUCT; n - 1], n_clusters: n.min(2) });
        for n_clusters in 2..=n {
            let (right, exponents) = self.with_clusters(dendrogram, n_clusters, watch)?;
            if n_clusters > 2 && right <= best {
                break;
            }
            best = right;
            kept = Found { exponents, n_clusters };
        }
        Ok(kept)
    }

    /// One exponent for all leaves: the grid and the number of rows each value decides rightly.
    pub(crate) fn flat(&self, watch: &Watch<'_>) -> Result<(&[f64], Vec<u64>), Error> {
        let group: Vec<(usize, Part)> =
            (0..self.trials.n_leaves).map(|leaf| (leaf, Part::Leaf(leaf))).collect();
        let joint = Joint { search: self, group: &group, others: &[], end: self.grid.len() };
        Ok((&self.grid, sweep(self.trials, &joint, "exponent", watch)?))
    }

    /// Searches the exponent of every cluster, then of every merge above the clusters, each below the last.
    fn with_clusters(
        &self,
        dendrogram: &Dendrogram,
        n_clusters: usize,
        watch: &Watch<'_>,
    ) -> Result<(u64, Vec<Exponent>), Error> {
        let n = dendrogram.n_leaves();
        let mut exponents = vec![Exponent::PRODUCT; n - 1];
        // Parts by the node they stand for; every leaf is its own part at first.
        let mut parts: Vec<(usize, Part)> = (0..n).map(|leaf| (leaf, Part::Leaf(leaf))).collect();
        let (mut end, mut right) = (self.grid.len(), 0);
        let groups = groups(dendrogram, n_clusters);
        // As many parts as there are groups may be held at once, and one more while it is made.
        let (cases, l) = (self.trials.n_cases(), self.trials.n_classes);
        let what = || format!("opinions of {} groups on {cases} cases", groups.len());
        watch.allow(what, &[groups.len().min(n_clusters) + 1, cases, l, 8])?;
        for group in groups {
            if end == 0 {
                break;
            }
            let mut is_member = vec![false; 2 * n - 1];
            group.joins.iter().for_each(|&node| is_member[node] = true);
            let (joined, others): (Vec<_>, Vec<_>) =
                parts.into_iter().partition(|(node, _)| is_member[*node]);
            (end, right) = self.try_group(&joined, &others, end, watch)?;
            let exponent = Exponent::try_from(self.grid[end])?;
            group.merges.iter().for_each(|&node| exponents[node - n] = exponent);
            let value = Part::Values(self.join(&joined, end));
            parts = others;
            parts.push((group.top, value));
        }
        Ok((right, exponents))
    }

    /// The chosen index below `end` and the number of rows it decides rightly.
    fn try_group(
        &self,
        group: &[(usize, Part)],
        others: &[(usize, Part)],
        end: usize,
        watch: &Watch<'_>,
    ) -> Result<(usize, u64), Error> {
        let right = sweep(self.trials, &Joint { search: self, group, others, end }, "exponents", watch)?;
        Ok(choose(&right))
    }

    /// The norm of a group of parts, for every case and class.
    fn join(&self, group: &[(usize, Part)], at: usize) -> Vec<f64> {
        let l = self.trials.n_classes;
        let sweep = Joint { search: self, group, others: &[], end: at + 1 };
        let parts = parallel::map_ranges(self.trials.n_cases(), 4096, |range| {
            let mut values = vec![0.0; range.len() * l];
            let mut rest = vec![0.0; l];
            for (case, out) in range.zip(values.chunks_mut(l.max(1))) {
                sweep.evaluate(case, at, &mut rest, out);
            }
            values
        });
        parts.concat()
    }

    fn value<'b>(&'b self, part: &'b Part, case: usize) -> Option<&'b [f64]> {
        let l = self.trials.n_classes;
        match part {
            Part::Leaf(leaf) => {
                let row = self.trials.case(case)[*leaf];
                (row != SILENT).then(|| &self.surprisals[row as usize * l..(row as usize + 1) * l])
            }
            Part::Values(values) => Some(&values[case * l..(case + 1) * l]),
        }
    }

    /// A part's surprisals raised to an exponent, added to `sums`.
    fn add_powers(&self, part: &Part, case: usize, at: usize, sums: &mut [f64]) {
        let l = self.trials.n_classes;
        let x = self.grid[at];
        if let (Part::Leaf(leaf), Some(powers)) = (part, &self.powers) {
            let row = self.trials.case(case)[*leaf];
            if row != SILENT {
                let table = powers[at].get_or_init(|| self.surprisals.iter().map(|&s| power(s, x)).collect());
                let powers = &table[row as usize * l..(row as usize + 1) * l];
                sums.iter_mut().zip(powers).for_each(|(sum, power)| *sum += power);
            }
            return;
        }
        if let Some(values) = self.value(part, case) {
            sums.iter_mut().zip(values).for_each(|(sum, &s)| *sum += power(s, x));
        }
    }
}

/// The clusters of two or more, as a walk from the root meets them; then each merge above them, lowest first.
fn groups(dendrogram: &Dendrogram, n_clusters: usize) -> Vec<Group> {
    let n = dendrogram.n_leaves();
    let mut in_cluster = vec![false; 2 * n - 1];
    let mut groups = Vec::new();
    for top in dendrogram.clusters_below(dendrogram.cut_height(n_clusters)) {
        let merges = dendrogram.inner_nodes(top);
        merges.iter().for_each(|&node| in_cluster[node] = true);
        if !merges.is_empty() {
            groups.push(Group { merges, joins: dendrogram.leaves(top), top });
        }
    }
    for node in (n..2 * n - 1).filter(|&node| !in_cluster[node]) {
        let joins = dendrogram.children(node).into_iter().flatten().collect();
        groups.push(Group { merges: vec![node], joins, top: node });
    }
    groups
}

fn power(s: f64, x: f64) -> f64 {
    if s == 0.0 { 0.0 } else { s.powf(x) }
}

/// One group of parts joined at each exponent of the grid up to `end`, all other parts added.
struct Joint<'a> {
    search: &'a Search<'a>,
    group: &'a [(usize, Part)],
    others: &'a [(usize, Part)],
    end: usize,
}

impl Sweep for Joint<'_> {
    /// Sum of the other parts.
    type State = Vec<f64>;

    fn state(&self) -> Vec<f64> {
        vec![0.0; self.search.trials.n_classes]
    }

    fn len(&self) -> usize {
        self.end
    }

    fn start(&self, case: usize, rest: &mut Vec<f64>) {
        rest.fill(0.0);
        for values in self.others.iter().filter_map(|(_, part)| self.search.value(part, case)) {
            rest.iter_mut().zip(values).for_each(|(sum, s)| *sum += s);
        }
    }

    fn evaluate(&self, case: usize, at: usize, rest: &mut Vec<f64>, out: &mut [f64]) {
        out.fill(0.0);
        if at == 0 {
            for values in self.group.iter().filter_map(|(_, part)| self.search.value(part, case)) {
                out.iter_mut().zip(values).for_each(|(sum, s)| *sum += s);
            }
        } else {
            self.group.iter().for_each(|(_, part)| self.search.add_powers(part, case, at, out));
            let root = self.search.grid[at].recip();
            out.iter_mut().for_each(|sum| *sum = power(*sum, root));
        }
        out.iter_mut().zip(rest).for_each(|(norm, rest)| *norm += *rest);
    }

    /// The minimum t-norm: the exponent no grid reaches.
    fn floor(&self, case: usize, rest: &mut Vec<f64>, out: &mut [f64]) -> bool {
        out.fill(0.0);
        for values in self.group.iter().filter_map(|(_, part)| self.search.value(part, case)) {
            out.iter_mut().zip(values).for_each(|(most, &s)| *most = most.max(s));
        }
        out.iter_mut().zip(rest).for_each(|(norm, rest)| *norm += *rest);
        true
    }
}

/// Among the best of a sweep: the first point, else the last, else the upper median.
pub(crate) fn choose(right: &[u64]) -> (usize, u64) {
    let best = right.iter().max().copied().unwrap_or(0);
    let tied: Vec<usize> = (0..right.len()).filter(|&at| right[at] == best).collect();
    let chosen = match (tied.first(), tied.last()) {
        (Some(0) | None, _) => 0,
        (_, Some(&last)) if last + 1 == right.len() => last,
        _ => tied[tied.len() / 2],
    };
    (chosen, best)
}
