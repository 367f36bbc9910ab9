//! Fitting the norm tree: the gain and one exponent per merge, by penalised leave-one-out log-loss.
//!
//! The loss is the log-loss of all labelled rows, each scored by the counts of all others (see
//! [`LeafDistributions`]), plus `(ln g)^2 / 2` and the sum of `1 - 1/x` over all merges. The penalties are zero for naive
//! Bayes, so the tree departs from it only as far as the rows support.

use crate::{
    error::Error,
    math::{exp, ln, ln_1p},
    methods::ladder::{
        cells::PatternCell,
        lbfgsb,
        leaf_distributions::LeafDistributions,
        norm_tree::{NodeValues, NormTree, log_normalise},
    },
    parallel,
    progress::Control,
};

/// Bounds of `ln g`.
const LOG_GAIN_BOUNDS: (f64, f64) = (-3.0, 3.0);
/// Bounds of 1/x.
const INVERSE_EXPONENT_BOUNDS: (f64, f64) = (0.05, 1.0);

/// Cells of one parallel task.
const CELLS_PER_TASK: usize = 256;

impl NormTree {
    /// Fits g and every 1/x to cells; `predictions` gives (leaf, label) of a pattern.
    pub(super) fn fit<'a, P: Iterator<Item = (usize, u16)>>(
        &mut self,
        cells: &[PatternCell],
        predictions: impl Fn(u32) -> P + Sync + 'a,
        leaves: &LeafDistributions,
        control: &Control<'_>,
    ) -> Result<(), Error> {
        let merges = self.inverse_exponents.iter();
        let bounds: Vec<(f64, f64)> =
            std::iter::once(LOG_GAIN_BOUNDS).chain(merges.clone().map(|_| INVERSE_EXPONENT_BOUNDS)).collect();
        // Start at 1/x = 0.9, off the bound, so that the optimiser can move either way.
        let start = std::iter::once(0.0).chain(merges.map(|_| 0.9)).collect();
        let mut evaluations = 0;
        let found = lbfgsb::minimise(start, &bounds, |at| {
            evaluations += 1;
            control.report("ladder: norm tree", evaluations.min(100), 100)?;
            self.set(at);
            Ok::<_, Error>(self.loss(cells, &predictions, leaves))
        })?;
        self.set(&found);
        Ok(())
    }

    /// Sets `ln g` and every 1/x.
    fn set(&mut self, parameters: &[f64]) {
        self.gain = exp(parameters[0]);
        self.inverse_exponents.copy_from_slice(&parameters[1..]);
    }

    /// The penalised loss and its gradient along `ln g` and every 1/x.
    fn loss<'a, P: Iterator<Item = (usize, u16)>>(
        &self,
        cells: &[PatternCell],
        predictions: &(impl Fn(u32) -> P + Sync + 'a),
        leaves: &LeafDistributions,
    ) -> (f64, Vec<f64>) {
        let log_gain = ln(self.gain);
        let penalties = self.inverse_exponents.iter().map(|inverse| 1.0 - inverse);
        let mut loss = 0.5 * log_gain * log_gain + penalties.sum::<f64>();
        let mut gradient = vec![-1.0; 1 + self.inverse_exponents.len()];
        gradient[0] = log_gain;
        let parts = parallel::map_ranges(cells.len(), CELLS_PER_TASK, |range| {
            self.log_loss(&cells[range], predictions, leaves)
        });
        for (part, part_gradient) in parts {
            loss += part;
            gradient.iter_mut().zip(part_gradient).for_each(|(sum, part)| *sum += part);
        }
        (loss, gradient)
    }

    /// The leave-one-out log-loss of some cells and its gradient.
    fn log_loss<'a, P: Iterator<Item = (usize, u16)>>(
        &self,
        cells: &[PatternCell],
        predictions: &(impl Fn(u32) -> P + Sync + 'a),
        leaves: &LeafDistributions,
    ) -> (f64, Vec<f64>) {
        let mut nodes = NodeValues::default();
        let (mut loss, mut gradient) = (0.0, vec![0.0; 1 + self.inverse_exponents.len()]);
        let (mut scores, mut root_gradient) = (Vec::new(), Vec::new());
        for cell in cells {
            let (truth, without) = (usize::from(cell.truth), Some(cell.truth));
            let distributions =
                predictions(cell.pattern).map(|(leaf, j)| (leaf, leaves.distribution(leaf, j, without)));
            let log_prior = leaves.log_prior(without);
            let root = self.fuse(distributions, log_prior.len(), &mut nodes);
            scores.clear();
            scores.extend_from_slice(log_prior);
            let Some(root) = root else {
                loss -= cell.rows * scores[truth];
                continue;
            };
            let l = scores.len();
            let surprisals: Vec<f64> = nodes.values[root * l..][..l].iter().map(|&log| exp(log)).collect();
            scores.iter_mut().zip(&surprisals).for_each(|(score, d)| *score -= self.gain * d);
            log_normalise(&mut scores);
            loss -= cell.rows * scores[truth];
            root_gradient.clear();
            for (class, (score, surprisal)) in scores.iter().zip(&surprisals).enumerate() {
                let error = exp(*score) - f64::from(class == truth);
                let slope = -cell.rows * error * self.gain * surprisal;
                gradient[0] += slope;
                root_gradient.push(slope);
            }
            self.backpropagate(root, &root_gradient, &mut nodes, &mut gradient);
        }
        (loss, gradient)
    }

    /// Adds the gradient along every 1/x, given that along the log surprisals of the root.
    fn backpropagate(
        &self,
        root: usize,
        root_gradient: &[f64],
        nodes: &mut NodeValues,
        gradient: &mut [f64],
    ) {
        let (n, l) = (self.n_leaves, root_gradient.len());
        let NodeValues { has_prediction, values, shares, gradients } = nodes;
        let difference = |a: usize, b: usize, class: usize| {
            let [a, b] = [values[a * l + class], values[b * l + class]];
            // Two surprisals of 0 have equal logarithms, whose difference would not be a number.
            if a == b { 0.0 } else { a - b }
        };
        // Children come before their parents, so every gradient is written before it is read.
        gradients.resize(values.len(), 0.0);
        gradients[root * l..].copy_from_slice(root_gradient);
        for (q, (&[a, b], &inverse)) in self.merges.iter().zip(&self.inverse_exponents).enumerate().rev() {
            let [a, b] = [a as usize, b as usize];
            if !has_prediction[n + q] {
                continue;
            }
            for class in 0..l {
                let slope = gradients[(n + q) * l + class];
                match (has_prediction[a], has_prediction[b]) {
                    (true, false) => gradients[a * l + class] = slope,
                    (false, true) => gradients[b * l + class] = slope,
                    _ => {
                        let difference = difference(a, b, class);
                        let share = shares[q * l + class];
                        let [to_a, to_b] =
                            if difference >= 0.0 { [1.0 - share, share] } else { [share, 1.0 - share] };
                        gradients[a * l + class] = slope * to_a;
                        gradients[b * l + class] = slope * to_b;
                        if slope != 0.0 && share > 0.0 {
                            // ln(1 + e) = -ln(1 - share), where share = e / (1 + e).
                            gradient[1 + q] += slope * (-ln_1p(-share) + share * difference.abs() / inverse);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        dendrogram::Dendrogram, dependence::Dissimilarities, methods::ladder::shrinkage::LeafCounts,
    };

    /// The predictions of one row, by leaf.
    type LeafPredictions = Vec<(usize, u16)>;

    /// Five classifiers of three labels on forty rows, with some predictions missing.
    fn panel() -> (LeafCounts, Vec<LeafPredictions>, Vec<PatternCell>) {
        let (mut predictions, mut cells) = (Vec::new(), Vec::new());
        let mut counts = LeafCounts {
            n_labels: 3,
            classes: vec![0.0; 3],
            row_weights: vec![1.0; 3],
            confusions: vec![0.0; 5 * 9],
        };
        for t in 0..40u64 {
            let truth = (t % 3) as u16;
            let predicted = |k: u64| match crate::hash::mix(t, k) % 8 {
                0 => None,
                1 | 2 => Some(((t + k) % 3) as u16),
                _ => Some(truth),
            };
            let row: Vec<(usize, u16)> = (0..5).filter_map(|k| Some((k as usize, predicted(k)?))).collect();
            counts.classes[usize::from(truth)] += 1.0;
            for &(k, j) in &row {
                let at = counts.at(k, j) + usize::from(truth);
                counts.confusions[at] += 1.0;
            }
            predictions.push(row);
            cells.push(PatternCell { pattern: t as u32, truth, rows: 1.0 + f64::from(t as u8 % 2) });
        }
        (counts, predictions, cells)
    }

    fn tree() -> NormTree {
        let distances = vec![0.3, 0.9, 0.8, 0.7, 0.6, 0.95, 0.85, 0.2, 0.75, 0.65];
        NormTree::new(&Dendrogram::ward(
            &Dissimilarities::from_condensed(5, distances).expect("ten distances"),
        ))
    }

    #[test]
    fn the_gradient_agrees_with_finite_differences() {
        let (counts, predictions, cells) = panel();
        let leaves = LeafDistributions::new(&counts, &counts.weights(), true);
        let mut tree = tree();
        let row = |p: u32| predictions[p as usize].iter().copied();
        for at in [[0.0, 1.0, 0.9, 0.5, 0.1], [0.7, 0.3, 0.06, 0.8, 0.99], [-1.5, 0.5, 0.5, 0.5, 0.5]] {
            tree.set(&at);
            let (_, gradient) = tree.loss(&cells, &row, &leaves);
            for i in 0..at.len() {
                let mut value = |step: f64| {
                    let mut near = at;
                    near[i] += step;
                    tree.set(&near);
                    tree.loss(&cells, &row, &leaves).0
                };
                let difference = (value(1e-5) - value(-1e-5)) / 2e-5;
                assert!(
                    (difference - gradient[i]).abs() < 1e-5 * (1.0 + difference.abs()),
                    "{i} {difference} {gradient:?}"
                );
            }
        }
    }

    #[test]
    fn fitting_lowers_the_loss_below_that_of_naive_bayes() {
        let (counts, predictions, cells) = panel();
        let leaves = LeafDistributions::new(&counts, &counts.weights(), true);
        let row = |p: u32| predictions[p as usize].iter().copied();
        let mut tree = tree();
        let before = tree.loss(&cells, &row, &leaves).0;
        tree.fit(&cells, row, &leaves, &Control::default()).expect("not cancelled");
        assert!(tree.loss(&cells, &row, &leaves).0 < before - 0.1);
    }
}
