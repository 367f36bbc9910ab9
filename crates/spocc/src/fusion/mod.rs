//! Fusion: the possibility distributions of all classifiers become one, class by class.
//!
//! In: surprisals `-ln possibility` of the distribution of every classifier. Out: the surprisals of the panel. The
//! Aczel-Alsina t-norm of exponent x (paper, section 3.4) is the x-norm of surprisals,
//!
//! ```text
//! -ln T_x(a, b, ..) = ((-ln a)^x + (-ln b)^x + ..)^(1/x)
//! ```
//!
//! so that fusion is a nest of norms, a possibility of 0 is an infinite surprisal, and many classifiers do not underflow.

mod tree;

use serde::{Deserialize, Serialize, Serializer};

use crate::{
    data::{MISSING, Row},
    error::Error,
    math::{exp, ln, pow},
};

pub(crate) use tree::FusionTree;

/// Exponent of a t-norm, from 1 (product, for independent classifiers) to infinity (minimum, for copies).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Deserialize)]
#[serde(try_from = "f64")]
pub struct Exponent(f64);

impl Serialize for Exponent {
    /// As a number; in text such as JSON, which has no infinity, infinity is the word `inf`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() && self.0.is_infinite() {
            return serializer.serialize_str("inf");
        }
        serializer.serialize_f64(self.0)
    }
}

impl Exponent {
    /// The product.
    pub const PRODUCT: Self = Self(1.0);
    /// The minimum.
    pub const MINIMUM: Self = Self(f64::INFINITY);
}

impl TryFrom<f64> for Exponent {
    type Error = Error;

    fn try_from(value: f64) -> Result<Self, Error> {
        if value >= 1.0 {
            return Ok(Self(value));
        }
        Err(Error::OutOfRange { what: "exponent", expected: "a number from 1 to infinity", found: value })
    }
}

impl From<Exponent> for f64 {
    fn from(exponent: Exponent) -> Self {
        exponent.0
    }
}

/// The t-norm of any number of possibilities; 1 of none.
///
/// ```
/// use spocc::fusion::{Exponent, t_norm};
/// assert_eq!(t_norm(&[0.5, 0.5], Exponent::PRODUCT), 0.25);
/// assert_eq!(t_norm(&[0.5, 0.25], Exponent::MINIMUM), 0.25);
/// ```
pub fn t_norm(possibilities: &[f64], exponent: Exponent) -> f64 {
    exp(-norm(possibilities.iter().map(|&degree| surprisal(degree)), exponent))
}

/// `-ln possibility`, with an exact zero for 1.
pub(crate) fn surprisal(degree: f64) -> f64 {
    // Adding zero turns -0.0 into 0.0.
    -ln(degree) + 0.0
}

/// The x-norm of surprisals, the largest factored out so that no power overflows.
pub(crate) fn norm(surprisals: impl Iterator<Item = f64> + Clone, exponent: Exponent) -> f64 {
    let largest = surprisals.clone().fold(0.0, f64::max);
    match exponent {
        Exponent::PRODUCT => surprisals.sum(),
        Exponent::MINIMUM => largest,
        _ if largest == 0.0 || largest.is_infinite() => largest,
        Exponent(x) => largest * pow(surprisals.map(|s| pow(s / largest, x)).sum::<f64>(), x.recip()),
    }
}

/// A fusion tree and the possibilities at its leaves, ready to be evaluated.
///
/// A distribution is a row of a table, one surprisal per class; the caller knows which row belongs to which leaf. Powers
/// are tabulated once, so that an evaluation costs additions and one root per inner node.
#[derive(Clone, Debug)]
pub(crate) struct Fusion {
    tree: FusionTree,
    n_classes: usize,
    table: Vec<f64>,
    /// The table raised to the exponents of its leaves; none if a power would overflow or underflow.
    powers: Option<Vec<f64>>,
    /// The divisor of surprisals before they are raised to a power.
    scale: f64,
}

/// Beyond this difference of logarithms a power might underflow.
const SAFE_LOG_RANGE: f64 = 600.0;

impl Fusion {
    /// `leaf_of_row` is the leaf of each row of the table.
    pub(crate) fn new(
        tree: FusionTree,
        n_classes: usize,
        table: Vec<f64>,
        leaf_of_row: impl Fn(usize) -> usize,
    ) -> Self {
        let positive = || table.iter().copied().filter(|s| *s > 0.0 && s.is_finite());
        let (least, most) = positive().fold((f64::INFINITY, 0.0f64), |(lo, hi), s| (lo.min(s), hi.max(s)));
        // No norm of any leaves exceeds their sum.
        let scale = if most > 0.0 { most * tree.node_of_leaf.len() as f64 } else { 1.0 };
        let steepest =
            tree.nodes.iter().map(|node| node.exponent.0).filter(|x| x.is_finite()).fold(1.0, f64::max);
        let safe = most == 0.0 || steepest * ln(scale / least) < SAFE_LOG_RANGE;
        let powers = safe.then(|| {
            let mut powers = table.clone();
            for (row, values) in powers.chunks_mut(n_classes.max(1)).enumerate() {
                let exponent = tree.exponent_of(leaf_of_row(row));
                if exponent != Exponent::PRODUCT && exponent != Exponent::MINIMUM {
                    values.iter_mut().for_each(|s| *s = raise(*s, exponent, scale));
                }
            }
            powers
        });
        Self { tree, n_classes, table, powers, scale }
    }

    pub(crate) fn tree(&self) -> &FusionTree {
        &self.tree
    }

    /// The table of powers, if the tree is a single norm of a finite exponent, which adds them up.
    pub(crate) fn flat_powers(&self) -> Option<&[f64]> {
        let is_flat = self.tree.nodes.len() == 1 && self.tree.root_exponent() != Exponent::MINIMUM;
        self.powers.as_deref().filter(|_| is_flat)
    }

    /// The surprisals of all distributions, row after row.
    pub(crate) fn table(&self) -> &[f64] {
        &self.table
    }

    /// One row of the table.
    pub(crate) fn distribution(&self, row: usize) -> &[f64] {
        &self.table[row * self.n_classes..(row + 1) * self.n_classes]
    }

    /// Writes the surprisal of every class on a row of predictions to `out`; `row_of(leaf, predicted)` is the row of
    /// the table that holds the distribution.
    pub(crate) fn surprisals(
        &self,
        row: Row<'_>,
        row_of: impl Fn(usize, u16) -> usize,
        scratch: &mut FusionScratch,
        out: &mut Vec<f64>,
    ) {
        match row {
            Row::Dense(cells) => {
                let predictions = cells.iter().enumerate().filter(|(_, j)| **j != MISSING);
                self.evaluate(predictions.map(|(k, &j)| (k, row_of(k, j))), scratch, out);
            }
            Row::Sparse(columns, ids) => {
                let predictions = columns.iter().zip(ids);
                self.evaluate(predictions.map(|(&k, &j)| (k as usize, row_of(k as usize, j))), scratch, out);
            }
        }
    }

    /// Writes the surprisal of every class to `out`, given (leaf, row of the table) of every distribution.
    pub(crate) fn evaluate(
        &self,
        possibilities: impl Iterator<Item = (usize, usize)> + Clone,
        scratch: &mut FusionScratch,
        out: &mut Vec<f64>,
    ) {
        if self.powers.is_none() {
            return self.evaluate_exactly(&possibilities, out);
        }
        self.evaluate_powers(possibilities, scratch, out);
        let x = self.tree.root_exponent();
        out.iter_mut().for_each(|s| *s = lower(*s, x, self.scale));
    }

    /// As [`evaluate`](Self::evaluate) without the last root, which does not change the order of classes. Returns the
    /// exponent of that root.
    pub(crate) fn evaluate_monotone(
        &self,
        possibilities: impl Iterator<Item = (usize, usize)> + Clone,
        scratch: &mut FusionScratch,
        out: &mut Vec<f64>,
    ) -> f64 {
        match self.tree.root_exponent() {
            Exponent(x) if self.powers.is_some() && x.is_finite() => {
                self.evaluate_powers(possibilities, scratch, out);
                x
            }
            _ => {
                self.evaluate(possibilities, scratch, out);
                1.0
            }
        }
    }

    #[inline]
    fn evaluate_powers(
        &self,
        possibilities: impl Iterator<Item = (usize, usize)>,
        scratch: &mut FusionScratch,
        out: &mut Vec<f64>,
    ) {
        let l = self.n_classes;
        let powers = self.powers.as_deref().unwrap_or_default();
        scratch.sums.clear();
        scratch.sums.resize(self.tree.nodes.len() * l, 0.0);
        for (leaf, row) in possibilities {
            let node = self.tree.node_of_leaf[leaf] as usize;
            let sums = &mut scratch.sums[node * l..(node + 1) * l];
            let powers = &powers[row * l..(row + 1) * l];
            if self.tree.nodes[node].exponent == Exponent::MINIMUM {
                sums.iter_mut().zip(powers).for_each(|(sum, power)| *sum = sum.max(*power));
            } else {
                sums.iter_mut().zip(powers).for_each(|(sum, power)| *sum += power);
            }
        }
        for (at, node) in self.tree.nodes.iter().enumerate() {
            let (below, own) = scratch.sums.split_at_mut(at * l);
            for &child in &node.children {
                let from = self.tree.nodes[child as usize].exponent;
                let values = &below[child as usize * l..(child as usize + 1) * l];
                for (sum, value) in own[..l].iter_mut().zip(values) {
                    let power = raise(lower(*value, from, self.scale), node.exponent, self.scale);
                    *sum = if node.exponent == Exponent::MINIMUM { sum.max(power) } else { *sum + power };
                }
            }
        }
        let root = (self.tree.nodes.len() - 1) * l;
        out.clear();
        out.extend_from_slice(&scratch.sums[root..]);
    }

    /// Every norm of an evaluation, lowest first; norms of fewer than two operands are skipped.
    pub(crate) fn trace(
        &self,
        possibilities: &(impl Iterator<Item = (usize, usize)> + Clone),
    ) -> Vec<FusionStep> {
        let mut steps: Vec<FusionStep> = Vec::new();
        let mut made: Vec<Option<(Operand, Vec<f64>)>> = Vec::with_capacity(self.tree.nodes.len());
        for (at, node) in self.tree.nodes.iter().enumerate() {
            let own = possibilities.clone().filter(|(leaf, _)| self.tree.node_of_leaf[*leaf] as usize == at);
            let leaves = own.map(|(leaf, row)| (Operand::Leaf(leaf), self.distribution(row).to_vec()));
            let children = node.children.iter().filter_map(|&child| made[child as usize].clone());
            let operands: Vec<(Operand, Vec<f64>)> = leaves.chain(children).collect();
            made.push(match operands.len() {
                0 => None,
                1 => operands.into_iter().next(),
                _ => {
                    let fuse = |i: usize| {
                        norm(operands.iter().map(move |(_, distribution)| distribution[i]), node.exponent)
                    };
                    let surprisals: Vec<f64> = (0..self.n_classes).map(fuse).collect();
                    let operands = operands.into_iter().map(|(operand, _)| operand).collect();
                    steps.push(FusionStep {
                        operands,
                        exponent: node.exponent,
                        surprisals: surprisals.clone(),
                    });
                    Some((Operand::Step(steps.len() - 1), surprisals))
                }
            });
        }
        steps
    }

    /// The nest of norms without tables of powers: slower, accurate for any exponent.
    pub(crate) fn evaluate_exactly(
        &self,
        possibilities: &(impl Iterator<Item = (usize, usize)> + Clone),
        out: &mut Vec<f64>,
    ) {
        let nodes = &self.tree.nodes;
        out.clear();
        for class in 0..self.n_classes {
            let mut operands: Vec<Vec<f64>> = vec![Vec::new(); nodes.len()];
            for (leaf, row) in possibilities.clone() {
                operands[self.tree.node_of_leaf[leaf] as usize].push(self.distribution(row)[class]);
            }
            let mut values: Vec<f64> = Vec::with_capacity(nodes.len());
            for (node, mut operands) in nodes.iter().zip(operands) {
                operands.extend(node.children.iter().map(|&child| values[child as usize]));
                values.push(norm(operands.iter().copied(), node.exponent));
            }
            out.push(values[nodes.len() - 1]);
        }
    }
}

/// One norm of a traced evaluation.
pub(crate) struct FusionStep {
    pub(crate) operands: Vec<Operand>,
    pub(crate) exponent: Exponent,
    pub(crate) surprisals: Vec<f64>,
}

/// An operand of a norm: the distribution of a leaf, or the result of an earlier step.
#[derive(Clone, Copy)]
pub(crate) enum Operand {
    Leaf(usize),
    Step(usize),
}

/// Buffers of an evaluation, reused from row to row.
#[derive(Clone, Debug, Default)]
pub(crate) struct FusionScratch {
    /// One sum of powers per node and class.
    sums: Vec<f64>,
}

#[inline]
fn raise(s: f64, exponent: Exponent, scale: f64) -> f64 {
    match exponent {
        Exponent::PRODUCT | Exponent::MINIMUM => s,
        _ if s == 0.0 => 0.0,
        Exponent(x) => pow(s / scale, x),
    }
}

#[inline]
fn lower(power: f64, exponent: Exponent, scale: f64) -> f64 {
    match exponent {
        Exponent::PRODUCT | Exponent::MINIMUM => power,
        _ if power == 0.0 => 0.0,
        Exponent(x) => pow(power, x.recip()) * scale,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dendrogram::Dendrogram, dependence::Dissimilarities};

    const TOLERANCE: f64 = 1e-12;

    #[test]
    fn example_3_of_the_paper_by_product_and_minimum() {
        let possibilities = [[0.1, 0.25, 1.0], [0.4, 1.0, 0.4], [0.4, 1.0, 0.4]];
        let fused = |x| [0, 1, 2].map(|i| t_norm(&possibilities.map(|degrees| degrees[i]), x));
        for (degree, expected) in fused(Exponent::PRODUCT).into_iter().zip([0.016, 0.25, 0.16]) {
            assert!((degree - expected).abs() < TOLERANCE);
        }
        for (degree, expected) in fused(Exponent::MINIMUM).into_iter().zip([0.1, 0.25, 0.4]) {
            assert!((degree - expected).abs() < TOLERANCE);
        }
    }

    #[test]
    fn a_hundred_thousand_distributions_do_not_underflow() {
        let s = norm(std::iter::repeat_n(3.0, 100_000), Exponent::PRODUCT);
        assert_eq!(s, 300_000.0);
        let huge = Exponent::try_from(1e6).expect("at least 1");
        assert!((norm([2.0, 1.9].into_iter(), huge) - 2.0).abs() < TOLERANCE);
    }

    #[test]
    fn an_excluded_class_stays_excluded_and_1_is_neutral() {
        for x in [1.0, 2.5, 1e9, f64::INFINITY].map(|x| Exponent::try_from(x).expect("at least 1")) {
            assert_eq!(t_norm(&[0.5, 0.0, 1.0], x), 0.0);
            assert_eq!(t_norm(&[1.0, 1.0], x), 1.0);
            assert_eq!(t_norm(&[], x), 1.0);
        }
        assert!(Exponent::try_from(0.5).is_err() && Exponent::try_from(f64::NAN).is_err());
    }

    #[test]
    fn tabulated_powers_agree_with_the_plain_nest_of_norms() {
        let distances = vec![0.1, 0.8, 0.7, 0.9, 0.75, 0.72, 0.9, 0.2, 0.9, 0.95];
        let dendrogram =
            Dendrogram::ward(&Dissimilarities::from_condensed(5, distances).expect("a triangle"));
        let table: Vec<f64> = (0..15).map(|at| f64::from(at * 7 % 5) * 0.7).collect();
        let possibilities = [(0, 0), (1, 1), (3, 3), (4, 4)].into_iter(); // leaf 2 has no prediction
        for x in [[1.0; 4], [5.0; 4], [7.0, 3.0, 2.0, 1.0], [f64::INFINITY, 2.0, f64::INFINITY, 1.5]] {
            let exponents = x.map(|x| Exponent::try_from(x).expect("at least 1"));
            let fusion = Fusion::new(FusionTree::new(&dendrogram, &exponents), 3, table.clone(), |row| row);
            assert!(fusion.powers.is_some());
            let (mut fast, mut plain) = (Vec::new(), Vec::new());
            fusion.evaluate(possibilities.clone(), &mut FusionScratch::default(), &mut fast);
            fusion.evaluate_exactly(&possibilities, &mut plain);
            for (a, b) in fast.iter().zip(&plain) {
                assert!((a - b).abs() <= TOLERANCE * b.abs(), "{a} {b} at {x:?}");
            }
        }
    }

    #[test]
    fn extreme_exponents_use_no_table_of_powers() {
        let steep = Exponent::try_from(1e4).expect("at least 1");
        let fusion = Fusion::new(FusionTree::flat(2, steep), 2, vec![1e-3, 0.0, 2e-3, 5.0], |row| row);
        assert!(fusion.powers.is_none());
        let mut out = Vec::new();
        fusion.evaluate([(0, 0), (1, 1)].into_iter(), &mut FusionScratch::default(), &mut out);
        assert!((out[0] - 2e-3).abs() < TOLERANCE && (out[1] - 5.0).abs() < TOLERANCE);
    }
}
