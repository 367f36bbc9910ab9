//! Support vector machines with a Gaussian kernel.
//!
//! Sequential minimal optimisation of the dual with second-order working-set selection; one machine per pair of classes,
//! which then vote. `linfa-svm` gives the same results but needs seventeen more crates.

use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

use super::{Classifier, Learner, most_voted};

/// Tolerance of the optimality conditions; decision values have about the same error.
const TOLERANCE: f64 = 1e-6;

/// The largest number of steps.
const MAX_STEPS: usize = 10_000_000;

/// Settings of a support vector machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Svm {
    /// The kernel is `exp(-gamma * squared distance)`.
    pub(crate) gamma: f64,
    /// The weight of margin violations, the C of scikit-learn.
    pub(crate) strength: f64,
}

/// One machine for every pair of classes that occur.
pub(super) struct OneVsOne {
    machines: Vec<Machine>,
    n_classes: usize,
    /// The class predicted without machines.
    first: u16,
}

/// Separates two classes.
struct Machine {
    /// The classes of negative and of positive decision values.
    classes: [u16; 2],
    gamma: f64,
    supports: Array2<f64>,
    weights: Vec<f64>,
    offset: f64,
}

impl Learner for Svm {
    fn fit(&self, rows: ArrayView2<'_, f64>, classes: &[u16], n_classes: usize) -> Box<dyn Classifier> {
        Box::new(self.train(rows, classes, n_classes))
    }
}

impl Svm {
    pub(super) fn train(self, rows: ArrayView2<'_, f64>, classes: &[u16], n_classes: usize) -> OneVsOne {
        let mut present = classes.to_vec();
        present.sort_unstable();
        present.dedup();
        let machines = present.iter().enumerate().flat_map(|(at, &negative)| {
            present[at + 1..].iter().map(move |&positive| self.separate(rows, classes, [negative, positive]))
        });
        OneVsOne { machines: machines.collect(), n_classes, first: present.first().copied().unwrap_or(0) }
    }

    fn separate(self, rows: ArrayView2<'_, f64>, classes: &[u16], pair: [u16; 2]) -> Machine {
        let members: Vec<usize> = (0..classes.len()).filter(|&row| pair.contains(&classes[row])).collect();
        let signs: Vec<f64> =
            members.iter().map(|&row| if classes[row] == pair[1] { 1.0 } else { -1.0 }).collect();
        let rows = rows.select(Axis(0), &members);
        let kernel = Array2::from_shape_fn((members.len(), members.len()), |(a, b)| {
            gaussian(self.gamma, rows.row(a), rows.row(b))
        });
        let (weights, offset) = solve(&kernel, &signs, self.strength);
        let support: Vec<usize> = (0..weights.len()).filter(|&row| weights[row] != 0.0).collect();
        Machine {
            classes: pair,
            gamma: self.gamma,
            supports: rows.select(Axis(0), &support),
            weights: support.iter().map(|&row| weights[row]).collect(),
            offset,
        }
    }
}

fn gaussian(gamma: f64, a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    (-gamma * a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()).exp()
}

/// Weights, positive for positive rows and negative for others, and the offset.
///
/// `short[t]` is the sign of row t minus its sum of kernels. At the optimum it is at most the offset
/// where a weight could still grow and at least the offset where it could still fall.
fn solve(kernel: &Array2<f64>, signs: &[f64], strength: f64) -> (Vec<f64>, f64) {
    let mut weights = vec![0.0; signs.len()];
    let mut short = signs.to_vec();
    let highest = |row: usize| if signs[row] > 0.0 { strength } else { 0.0 };
    let lowest = |row: usize| highest(row) - strength;
    for _ in 0..MAX_STEPS {
        let growing = (0..signs.len()).filter(|&row| weights[row] < highest(row));
        let Some(up) = growing.reduce(|best, row| if short[row] > short[best] { row } else { best }) else {
            break;
        };
        let (mut down, mut gain, mut excess) = (up, 0.0, 0.0f64);
        for row in (0..signs.len()).filter(|&row| weights[row] > lowest(row)) {
            let gap = short[up] - short[row];
            excess = excess.max(gap);
            let decrease = gap * gap / curvature(kernel, up, row);
            if gap > 0.0 && decrease > gain {
                (down, gain) = (row, decrease);
            }
        }
        if excess <= TOLERANCE {
            break;
        }
        let best = (short[up] - short[down]) / curvature(kernel, up, down);
        let (room_up, room_down) = (highest(up) - weights[up], weights[down] - lowest(down));
        let step = best.min(room_up).min(room_down);
        // A weight that reaches its bound is set to it exactly, or rounding would keep it in the working set.
        weights[up] = if step == room_up { highest(up) } else { weights[up] + step };
        weights[down] = if step == room_down { lowest(down) } else { weights[down] - step };
        for (row, short) in short.iter_mut().enumerate() {
            *short -= step * (kernel[[up, row]] - kernel[[down, row]]);
        }
    }
    let offset = offset(&weights, &short, lowest, highest);
    (weights, offset)
}

/// Second derivative of the objective along a pair, bounded away from zero for equal rows.
fn curvature(kernel: &Array2<f64>, a: usize, b: usize) -> f64 {
    (kernel[[a, a]] + kernel[[b, b]] - 2.0 * kernel[[a, b]]).max(1e-12)
}

/// The mean over rows with free weights, or else the middle of the feasible interval.
fn offset(
    weights: &[f64],
    short: &[f64],
    lowest: impl Fn(usize) -> f64,
    highest: impl Fn(usize) -> f64,
) -> f64 {
    let can_grow = |&row: &usize| weights[row] < highest(row);
    let can_fall = |&row: &usize| weights[row] > lowest(row);
    let rows = 0..weights.len();
    let free: Vec<f64> =
        rows.clone().filter(|row| can_grow(row) && can_fall(row)).map(|row| short[row]).collect();
    if !free.is_empty() {
        return free.iter().sum::<f64>() / free.len() as f64;
    }
    let least = rows.clone().filter(can_grow).map(|row| short[row]).fold(f64::NEG_INFINITY, f64::max);
    let most = rows.filter(can_fall).map(|row| short[row]).fold(f64::INFINITY, f64::min);
    f64::midpoint(least, most)
}

impl Machine {
    fn decision(&self, row: ArrayView1<'_, f64>) -> f64 {
        let weighted = self.supports.outer_iter().zip(&self.weights);
        self.offset
            + weighted.map(|(support, weight)| weight * gaussian(self.gamma, support, row)).sum::<f64>()
    }
}

impl Classifier for OneVsOne {
    fn predict(&self, rows: ArrayView2<'_, f64>) -> Vec<u16> {
        if self.machines.is_empty() {
            return vec![self.first; rows.nrows()];
        }
        let mut votes = vec![0; self.n_classes];
        rows.outer_iter()
            .map(|row| {
                votes.fill(0);
                for machine in &self.machines {
                    let class = machine.classes[usize::from(machine.decision(row) > 0.0)];
                    votes[usize::from(class)] += 1;
                }
                most_voted(&votes)
            })
            .collect()
    }
}

#[cfg(test)]
impl OneVsOne {
    /// Decision values of the first machine.
    pub(super) fn decisions(&self, rows: ArrayView2<'_, f64>) -> Vec<f64> {
        rows.outer_iter().map(|row| self.machines[0].decision(row)).collect()
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn two_rows_have_opposite_weights() {
        let machines = Svm { gamma: 1.0, strength: 10.0 }.train(array![[0.0], [1.0]].view(), &[0, 1], 2);
        let weight = 1.0 / (1.0 - (-1.0f64).exp());
        let found = &machines.machines[0];
        assert!((found.weights[0] + weight).abs() < 1e-12 && (found.weights[1] - weight).abs() < 1e-12);
        assert!(found.offset.abs() < 1e-12);
    }

    #[test]
    fn contradictory_rows_have_weights_at_their_bounds() {
        let machines = Svm { gamma: 1.0, strength: 2.0 }.train(array![[0.0], [0.0]].view(), &[0, 1], 2);
        assert_eq!(machines.machines[0].weights, [-2.0, 2.0]);
        assert_eq!(machines.decisions(array![[0.0], [5.0]].view()), [0.0, 0.0]);
    }

    #[test]
    fn several_classes_are_decided_by_vote_and_a_single_one_is_constant() {
        let rows = array![[0.0], [0.1], [2.0], [2.1], [4.0], [4.1]];
        let svm = Svm { gamma: 2.0, strength: 1.0 };
        assert_eq!(svm.fit(rows.view(), &[0, 0, 3, 3, 1, 1], 4).predict(rows.view()), [0, 0, 3, 3, 1, 1]);
        assert_eq!(svm.fit(rows.view(), &[2; 6], 4).predict(rows.view()), [2; 6]);
    }
}
