//! Rung 1, the core: possibilities joined along the dendrogram, `q(y) ~ p(y) exp(-g D(y))`.
//!
//! A merge joins the surprisals of its two children by the norm `(a^x + b^x)^(1/x)`: at x = 1 they add up, as for
//! independent classifiers; at large x only the larger one counts, as for copies. With all x = 1 and g = 1 this is
//! naive Bayes; so the core starts there and leaves it as far as rows speak for it. What is minimised over g and
//! every 1/x is the log-loss of each row by the counts of all others (see [`Leaves`]), plus `(ln g)^2 / 2` and the
//! sum of `1 - 1/x`.
//!
//! All is computed on logarithms of surprisals, where a norm is the larger child and a correction:
//! `ln D = max + ln(1 + e^(-x |a - b|)) / x`.

use serde::{Deserialize, Serialize};

use crate::{
    dendrogram::Dendrogram,
    error::Error,
    math::{exp, ln, ln_1p},
    methods::{
        check_numbers,
        ladder::{lbfgsb, shrinkage::Leaves},
    },
    parallel,
    progress::Control,
};

/// Bounds of `ln g` and of 1/x.
const LOG_GAIN: (f64, f64) = (-3.0, 3.0);
const SHAPE: (f64, f64) = (0.05, 1.0);

/// Cells of one piece of work.
const PIECE: usize = 256;

/// A fitted tree of norms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Core {
    n_leaves: usize,
    /// The children of every merge: leaves, then merges.
    merges: Vec<[u32; 2]>,
    /// g.
    pub(super) gain: f64,
    /// 1/x of every merge.
    pub(super) shapes: Vec<f64>,
}

/// What was said of some rows of one truth.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) pattern: u32,
    pub(super) truth: u16,
    pub(super) rows: f64,
}

/// The state of every node on one row.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    /// Whether anyone below speaks.
    speaks: Vec<bool>,
    /// Logarithms of surprisals, class by class.
    values: Vec<f64>,
    /// Of every merge and class: the smaller child's share of the norm.
    shares: Vec<f64>,
    /// How much the loss gains from each value.
    pulls: Vec<f64>,
}

impl Core {
    /// The tree before anything is learned: naive Bayes.
    pub(super) fn new(dendrogram: &Dendrogram) -> Self {
        let merges: Vec<[u32; 2]> =
            dendrogram.merges().iter().map(|merge| merge.children.map(|child| child as u32)).collect();
        Self { n_leaves: dendrogram.n_leaves(), shapes: vec![1.0; merges.len()], merges, gain: 1.0 }
    }

    /// Fits g and every 1/x to rows, each judged by the counts of all others.
    pub(super) fn fit<'a, S: Iterator<Item = (usize, u16)>>(
        &mut self,
        cells: &[Cell],
        said: impl Fn(u32) -> S + Sync + 'a,
        leaves: &Leaves,
        control: &Control<'_>,
    ) -> Result<(), Error> {
        let bounds: Vec<(f64, f64)> =
            std::iter::once(LOG_GAIN).chain(self.shapes.iter().map(|_| SHAPE)).collect();
        // A little inside its bounds every norm feels where to go.
        let start = std::iter::once(0.0).chain(self.shapes.iter().map(|_| 0.9)).collect();
        let mut evaluations = 0;
        let found = lbfgsb::minimise(start, &bounds, |at| {
            evaluations += 1;
            control.report("ladder: core", evaluations.min(100), 100)?;
            self.set(at);
            Ok::<_, Error>(self.loss(cells, &said, leaves))
        })?;
        self.set(&found);
        Ok(())
    }

    fn set(&mut self, at: &[f64]) {
        self.gain = exp(at[0]);
        self.shapes.copy_from_slice(&at[1..]);
    }

    /// The penalised loss and its slope along `ln g` and every 1/x.
    fn loss<'a, S: Iterator<Item = (usize, u16)>>(
        &self,
        cells: &[Cell],
        said: &(impl Fn(u32) -> S + Sync + 'a),
        leaves: &Leaves,
    ) -> (f64, Vec<f64>) {
        let log_gain = ln(self.gain);
        let mut loss = 0.5 * log_gain * log_gain + self.shapes.iter().map(|shape| 1.0 - shape).sum::<f64>();
        let mut slope = vec![-1.0; 1 + self.shapes.len()];
        slope[0] = log_gain;
        let parts = parallel::map_ranges(cells.len(), PIECE, |range| {
            let mut nodes = Nodes::default();
            let (mut loss, mut slope) = (0.0, vec![0.0; 1 + self.shapes.len()]);
            let (mut scores, mut pulls) = (Vec::new(), Vec::new());
            for cell in &cells[range] {
                let truth = Some(cell.truth);
                let possibilities =
                    said(cell.pattern).map(|(leaf, j)| (leaf, leaves.distribution(leaf, j, truth)));
                let log_prior = leaves.log_prior(truth);
                let root = self.join(possibilities, log_prior.len(), &mut nodes);
                scores.clear();
                scores.extend_from_slice(log_prior);
                let Some(root) = root else {
                    loss -= cell.rows * scores[usize::from(cell.truth)];
                    continue;
                };
                let l = scores.len();
                let distances: Vec<f64> = nodes.values[root * l..][..l].iter().map(|&log| exp(log)).collect();
                scores.iter_mut().zip(&distances).for_each(|(score, d)| *score -= self.gain * d);
                log_normalise(&mut scores);
                loss -= cell.rows * scores[usize::from(cell.truth)];
                pulls.clear();
                for (class, (score, distance)) in scores.iter().zip(&distances).enumerate() {
                    let error = exp(*score) - f64::from(class == usize::from(cell.truth));
                    let pull = -cell.rows * error * self.gain * distance;
                    slope[0] += pull;
                    pulls.push(pull);
                }
                self.slopes(root, &pulls, &mut nodes, &mut slope);
            }
            (loss, slope)
        });
        for (part, slopes) in parts {
            loss += part;
            slope.iter_mut().zip(slopes).for_each(|(sum, part)| *sum += part);
        }
        (loss, slope)
    }

    /// Joins possibilities, given as logarithms of surprisals; the node that holds the result, if anyone spoke.
    ///
    /// A leaf of which several speak takes the largest surprisal.
    pub(super) fn join<'o>(
        &self,
        possibilities: impl Iterator<Item = (usize, &'o [f64])>,
        l: usize,
        nodes: &mut Nodes,
    ) -> Option<usize> {
        let n = self.n_leaves;
        nodes.speaks.clear();
        nodes.speaks.resize(n + self.merges.len(), false);
        nodes.values.resize((n + self.merges.len()) * l, 0.0);
        nodes.shares.resize(self.merges.len() * l, 0.0);
        for (leaf, distribution) in possibilities {
            let values = &mut nodes.values[leaf * l..][..l];
            if std::mem::replace(&mut nodes.speaks[leaf], true) {
                values.iter_mut().zip(distribution).for_each(|(value, other)| *value = value.max(*other));
            } else {
                values.copy_from_slice(distribution);
            }
        }
        for (q, (&[a, b], &shape)) in self.merges.iter().zip(&self.shapes).enumerate() {
            let (below, own) = nodes.values.split_at_mut((n + q) * l);
            let [a, b] = [a as usize, b as usize];
            match (nodes.speaks[a], nodes.speaks[b]) {
                (false, false) => continue,
                (true, false) => own[..l].copy_from_slice(&below[a * l..][..l]),
                (false, true) => own[..l].copy_from_slice(&below[b * l..][..l]),
                (true, true) => {
                    let pairs = below[a * l..][..l].iter().zip(&below[b * l..][..l]);
                    let shares = &mut nodes.shares[q * l..][..l];
                    for ((own, share), (&a, &b)) in own.iter_mut().zip(shares).zip(pairs) {
                        (*own, *share) = norm(a, b, shape);
                    }
                }
            }
            nodes.speaks[n + q] = true;
        }
        let root = nodes.speaks.len().checked_sub(1)?;
        nodes.speaks[root].then_some(root)
    }

    /// Adds the slope along every 1/x, given the pull on the logarithms at the root.
    fn slopes(&self, root: usize, pulls: &[f64], nodes: &mut Nodes, slope: &mut [f64]) {
        let (n, l) = (self.n_leaves, pulls.len());
        let Nodes { speaks, values, shares, pulls: pull_at } = nodes;
        let gap = |a: usize, b: usize, class: usize| {
            let [a, b] = [values[a * l + class], values[b * l + class]];
            // Two that are both certain differ by nothing, not by infinity less infinity.
            if a == b { 0.0 } else { a - b }
        };
        // Children come before their parents, so that every pull is written before it is read.
        pull_at.resize(values.len(), 0.0);
        pull_at[root * l..].copy_from_slice(pulls);
        for (q, (&[a, b], &shape)) in self.merges.iter().zip(&self.shapes).enumerate().rev() {
            let [a, b] = [a as usize, b as usize];
            if !speaks[n + q] {
                continue;
            }
            for class in 0..l {
                let pull = pull_at[(n + q) * l + class];
                match (speaks[a], speaks[b]) {
                    (true, false) => pull_at[a * l + class] = pull,
                    (false, true) => pull_at[b * l + class] = pull,
                    _ => {
                        let gap = gap(a, b, class);
                        let share = shares[q * l + class];
                        let [to_a, to_b] =
                            if gap >= 0.0 { [1.0 - share, share] } else { [share, 1.0 - share] };
                        pull_at[a * l + class] = pull * to_a;
                        pull_at[b * l + class] = pull * to_b;
                        if pull != 0.0 && share > 0.0 {
                            // ln(1 + e) = -ln(1 - share), where e / (1 + e) is the smaller one's share.
                            slope[1 + q] += pull * (-ln_1p(-share) + share * gap.abs() / shape);
                        }
                    }
                }
            }
        }
    }

    /// Logarithm of the probability of every class into `scores`, which hold that of the classes beforehand.
    pub(super) fn judge<'o>(
        &self,
        possibilities: impl Iterator<Item = (usize, &'o [f64])>,
        scores: &mut [f64],
        nodes: &mut Nodes,
    ) -> bool {
        let l = scores.len();
        let Some(root) = self.join(possibilities, l, nodes) else { return false };
        for (score, log) in scores.iter_mut().zip(&nodes.values[root * l..][..l]) {
            *score -= self.gain * exp(*log);
        }
        log_normalise(scores);
        true
    }

    pub(super) fn check(&self, n_leaves: usize) -> Result<(), Error> {
        let children = self.merges.iter().enumerate();
        let below = |(q, pair): (usize, &[u32; 2])| pair.iter().all(|&child| (child as usize) < n_leaves + q);
        let mut parents = vec![0usize; n_leaves.saturating_add(self.merges.len())];
        let holds = self.n_leaves == n_leaves
            && self.merges.len() == n_leaves.saturating_sub(1)
            && children.clone().all(below);
        if holds {
            self.merges.iter().flatten().for_each(|&child| parents[child as usize] += 1);
        }
        let is_tree =
            parents.split_last().is_none_or(|(root, rest)| *root == 0 && rest.iter().all(|&n| n == 1));
        if !holds || !is_tree {
            return Err(Error::Inconsistent {
                expected: "a tree of norms",
                found: "another graph".to_owned(),
            });
        }
        check_numbers("a gain above 0", &[self.gain], Some(1), |gain| gain > 0.0 && gain.is_finite())?;
        check_numbers("1/x from 0 to 1 of every merge", &self.shapes, Some(self.merges.len()), |shape| {
            shape > 0.0 && shape <= 1.0
        })
    }
}

/// The norm of two surprisals, all logarithms, and the share that the smaller one has in it.
#[inline]
fn norm(a: f64, b: f64, shape: f64) -> (f64, f64) {
    let (large, small) = if a >= b { (a, b) } else { (b, a) };
    if small == f64::NEG_INFINITY {
        return (large, 0.0);
    }
    let e = exp((small - large) / shape);
    (large + shape * ln_1p(e), e / (1.0 + e))
}

/// Takes from logarithms that of the sum of what they stand for.
pub(super) fn log_normalise(scores: &mut [f64]) {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = scores.iter().map(|score| exp(score - best)).sum();
    let log = best + ln(sum);
    scores.iter_mut().for_each(|score| *score -= log);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dependence::Dissimilarities, methods::ladder::shrinkage::Counts};

    type Said = Vec<(usize, u16)>;

    /// Five classifiers of three answers on forty rows, some of them silent.
    fn panel() -> (Counts, Vec<Said>, Vec<Cell>) {
        let (mut said, mut cells) = (Vec::new(), Vec::new());
        let mut counts =
            Counts { n_labels: 3, classes: vec![0.0; 3], ones: vec![1.0; 3], said: vec![0.0; 5 * 9] };
        for t in 0..40u64 {
            let truth = (t % 3) as u16;
            let answer = |k: u64| match crate::hash::mix(t, k) % 8 {
                0 => None,
                1 | 2 => Some(((t + k) % 3) as u16),
                _ => Some(truth),
            };
            let row: Vec<(usize, u16)> = (0..5).filter_map(|k| Some((k as usize, answer(k)?))).collect();
            counts.classes[usize::from(truth)] += 1.0;
            for &(k, j) in &row {
                let at = counts.at(k, j) + usize::from(truth);
                counts.said[at] += 1.0;
            }
            said.push(row);
            cells.push(Cell { pattern: t as u32, truth, rows: 1.0 + f64::from(t as u8 % 2) });
        }
        (counts, said, cells)
    }

    fn tree() -> Core {
        let distances = vec![0.3, 0.9, 0.8, 0.7, 0.6, 0.95, 0.85, 0.2, 0.75, 0.65];
        Core::new(&Dendrogram::ward(&Dissimilarities::from_condensed(5, distances).expect("ten distances")))
    }

    #[test]
    fn slopes_are_those_of_finite_differences() {
        let (counts, said, cells) = panel();
        let leaves = Leaves::new(&counts, &counts.weights(), true);
        let mut core = tree();
        let row = |p: u32| said[p as usize].iter().copied();
        for at in [[0.0, 1.0, 0.9, 0.5, 0.1], [0.7, 0.3, 0.06, 0.8, 0.99], [-1.5, 0.5, 0.5, 0.5, 0.5]] {
            core.set(&at);
            let (_, slope) = core.loss(&cells, &row, &leaves);
            for i in 0..at.len() {
                let mut value = |step: f64| {
                    let mut near = at;
                    near[i] += step;
                    core.set(&near);
                    core.loss(&cells, &row, &leaves).0
                };
                let difference = (value(1e-5) - value(-1e-5)) / 2e-5;
                assert!(
                    (difference - slope[i]).abs() < 1e-5 * (1.0 + difference.abs()),
                    "{i} {difference} {slope:?}"
                );
            }
        }
    }

    #[test]
    fn fitting_lowers_the_loss_below_that_of_naive_bayes() {
        let (counts, said, cells) = panel();
        let leaves = Leaves::new(&counts, &counts.weights(), true);
        let row = |p: u32| said[p as usize].iter().copied();
        let mut core = tree();
        let before = core.loss(&cells, &row, &leaves).0;
        core.fit(&cells, row, &leaves, &Control::default()).expect("not cancelled");
        assert!(core.loss(&cells, &row, &leaves).0 < before - 0.1);
    }

    #[test]
    fn sums_at_one_and_the_larger_one_at_zero() {
        let (sum, share) = norm(2.0_f64.ln(), 3.0_f64.ln(), 1.0);
        assert!((sum - 5.0_f64.ln()).abs() < 1e-14 && (share - 0.4).abs() < 1e-14);
        assert!((norm(1.0, 2.0, 1e-3).0 - 2.0).abs() < 1e-12);
        assert_eq!(norm(f64::NEG_INFINITY, f64::NEG_INFINITY, 0.5).0, f64::NEG_INFINITY);
    }
}
