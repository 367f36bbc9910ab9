//! Hierarchical shrinkage: `p(leaf predicts j | class i)`, estimated from few rows with the help of the whole panel.
//!
//! The prediction probabilities of a leaf given class i have a Dirichlet prior `concentration * mean(. | i)`. The mean is
//! one of three: the confusion of the panel; a one-coin confusion with the leaf's own accuracy, whose wrong labels are
//! spread like those of the panel; or the leaf's label frequencies, whatever the class (neutral). Together with each
//! concentration of a grid these are the components of a mixture. The weights of the components are shared by the panel and
//! estimated by expectation-maximisation, so that a hundred guessers make the next classifier look like a guesser, and
//! fifty accurate workers make a new one look accurate.

use crate::{
    math::{exp, ln, ln_gamma},
    methods::ladder::leaf_counts::LeafCounts,
    parallel,
};

/// Concentrations of the Dirichlet priors, in pseudo-rows per class.
const CONCENTRATIONS: [f64; 5] = [1.0, 4.0, 16.0, 64.0, 256.0];
/// Means of the priors: confusion of the panel, one-coin confusion, neutral.
const N_MEANS: usize = 3;
/// Components: every mean with every concentration.
const N_COMPONENTS: usize = N_MEANS * CONCENTRATIONS.len();
/// Classifiers that the uniform prior over each component is worth.
const PRIOR_CLASSIFIERS: f64 = 0.5;
/// Rows per class that the prior on what labels mean is worth in the confusion of the panel.
const MEANING_ROWS: f64 = 20.0;
/// Probability that this prior gives to the label that names the class.
const MEANING: f64 = 0.8;
/// Pseudo-rows that shrink the accuracy of a one-coin confusion towards that of the panel.
const COIN_ROWS: f64 = 4.0;
/// Pseudo-rows that shrink the label frequencies of a leaf towards those of the panel.
const NEUTRAL_ROWS: f64 = 2.0;
/// Pseudo-rows of the label frequencies of the panel.
const LABEL_ROWS: f64 = 5.0;
/// Share of a one-coin confusion's wrong labels that is spread evenly.
const EVEN_SHARE: f64 = 0.1;
/// Least probability of a label in the mean of a prior.
const LEAST: f64 = 1e-6;
/// Expected rows below which a cell counts as empty.
const EMPTY: f64 = 1e-4;
/// Change of the panel component's responsibility below which the iteration has converged.
const TOLERANCE: f64 = 1e-3;
/// Rounds at most.
const ROUNDS: usize = 15;
/// Leaves of one parallel task.
const LEAVES_PER_TASK: usize = 16;

/// Posterior probability of every component, for one leaf.
type Responsibilities = [f64; N_COMPONENTS];

/// What the panel shares, and the posterior of every leaf.
#[derive(Clone, Debug)]
pub(super) struct Hierarchy {
    n_labels: usize,
    n_classes: usize,
    /// Whether predicted labels name classes, so that a prediction can be right.
    names_classes: bool,
    /// Weights of the components.
    weights: Responsibilities,
    panel: PanelMeans,
    responsibilities: Vec<Responsibilities>,
}

/// The means of the priors as far as all leaves share them; tables are by label and class.
#[derive(Clone, Debug)]
struct PanelMeans {
    /// The confusion of the panel, `p(j | i)`.
    confusion: Vec<f64>,
    /// How wrong labels are spread; zero where the label names the class.
    wrong: Vec<f64>,
    accuracy: f64,
    /// Frequency of every label.
    labels: Vec<f64>,
}

impl Hierarchy {
    /// Fits the hierarchy to counts, until the responsibilities have converged and in at most [`ROUNDS`] rounds.
    pub(super) fn fit(counts: &LeafCounts, names_classes: bool) -> Self {
        let mut fitted = Self {
            n_labels: counts.n_labels,
            n_classes: counts.n_classes(),
            names_classes,
            weights: [1.0 / N_COMPONENTS as f64; N_COMPONENTS],
            panel: PanelMeans::new(counts, names_classes, |_| 1.0),
            responsibilities: Vec::new(),
        };
        fitted.update(counts);
        for _ in 1..ROUNDS {
            if fitted.refit(counts) < TOLERANCE {
                break;
            }
        }
        fitted
    }

    /// One more round, perhaps with other counts of the same leaves: first the means that the panel shares, then
    /// responsibilities and weights. Returns the largest change of the panel component's responsibility.
    pub(super) fn refit(&mut self, counts: &LeafCounts) -> f64 {
        let before: Vec<f64> = (0..counts.n_leaves()).map(|leaf| self.panel_share(leaf)).collect();
        self.panel = PanelMeans::new(counts, self.names_classes, |leaf| before[leaf]);
        self.update(counts);
        let change = before.iter().enumerate().map(|(leaf, before)| (self.panel_share(leaf) - before).abs());
        change.fold(0.0, f64::max)
    }

    /// The responsibilities at the present weights, then the weights.
    fn update(&mut self, counts: &LeafCounts) {
        let log_weights = self.weights.map(ln);
        let parts = parallel::map_ranges(counts.n_leaves(), LEAVES_PER_TASK, |leaves| {
            leaves.map(|leaf| self.posterior(counts, leaf, &log_weights)).collect::<Vec<_>>()
        });
        self.responsibilities = parts.into_iter().flatten().collect();
        let mut weights = [PRIOR_CLASSIFIERS; N_COMPONENTS];
        for (leaf, responsibilities) in self.responsibilities.iter().enumerate() {
            if counts.n_answered(leaf) > 0.0 {
                weights.iter_mut().zip(responsibilities).for_each(|(sum, share)| *sum += share);
            }
        }
        let total: f64 = weights.iter().sum();
        self.weights = weights.map(|weight| weight / total);
    }

    /// The responsibilities of one leaf: its Dirichlet-multinomial likelihoods times the weights.
    fn posterior(
        &self,
        counts: &LeafCounts,
        leaf: usize,
        log_weights: &Responsibilities,
    ) -> Responsibilities {
        let (s, l) = (self.n_labels, self.n_classes);
        let means = self.leaf_means(counts, leaf);
        let confusion = counts.confusion(leaf);
        let mut logs = *log_weights;
        for i in 0..l {
            let rows: f64 = (0..s).map(|j| confusion[j * l + i]).sum();
            if rows < EMPTY {
                continue;
            }
            for (at, &concentration) in CONCENTRATIONS.iter().enumerate() {
                let total = ln_rising(concentration, rows);
                for mean in 0..N_MEANS {
                    logs[mean * CONCENTRATIONS.len() + at] -= total;
                }
            }
            for j in (0..s).filter(|j| confusion[j * l + i] >= EMPTY) {
                for (mean, table) in means.iter().enumerate() {
                    for (at, &concentration) in CONCENTRATIONS.iter().enumerate() {
                        logs[mean * CONCENTRATIONS.len() + at] +=
                            ln_rising(concentration * table[j * l + i], confusion[j * l + i]);
                    }
                }
            }
        }
        let best = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shares = logs.map(|log| exp(log - best));
        let total: f64 = shares.iter().sum();
        shares.map(|share| share / total)
    }

    /// The means of a leaf's priors, by label and class: panel, one-coin, neutral.
    fn leaf_means(&self, counts: &LeafCounts, leaf: usize) -> [Vec<f64>; N_MEANS] {
        let (s, l) = (self.n_labels, self.n_classes);
        let rows = counts.n_answered(leaf);
        let accuracy = (counts.correct(leaf) + COIN_ROWS * self.panel.accuracy) / (rows + COIN_ROWS);
        let accuracy = accuracy.clamp(1e-3, 1.0 - 1e-3);
        let coin = |j: usize, i: usize| match (self.names_classes, j == i) {
            (false, _) => self.panel.confusion[j * l + i],
            (true, true) => accuracy,
            (true, false) => (1.0 - accuracy) * self.panel.wrong[j * l + i],
        };
        let neutral: Vec<f64> = counts
            .confusion(leaf)
            .chunks_exact(l.max(1))
            .zip(&self.panel.labels)
            .map(|(of_label, share)| {
                (of_label.iter().sum::<f64>() + NEUTRAL_ROWS * share) / (rows + NEUTRAL_ROWS)
            })
            .collect();
        let table = |of: &dyn Fn(usize, usize) -> f64| {
            (0..s * l).map(|at| of(at / l, at % l).max(LEAST)).collect::<Vec<f64>>()
        };
        [table(&|j, i| self.panel.confusion[j * l + i]), table(&coin), table(&|j, _| neutral[j])]
    }

    /// Responsibility of the panel's confusion for a leaf.
    fn panel_share(&self, leaf: usize) -> f64 {
        self.responsibilities[leaf][..CONCENTRATIONS.len()].iter().sum()
    }

    /// `p(leaf predicts j | i)` by leaf, label and class: the posterior mean, averaged over the components.
    pub(super) fn likelihoods(&self, counts: &LeafCounts) -> Vec<f64> {
        let (s, l) = (self.n_labels, self.n_classes);
        let parts = parallel::map_ranges(counts.n_leaves(), LEAVES_PER_TASK, |leaves| {
            let mut tables = Vec::with_capacity(leaves.len() * s * l);
            for leaf in leaves {
                let (confusion, means) = (counts.confusion(leaf), self.leaf_means(counts, leaf));
                let of_class: Vec<PosteriorShares> = (0..l)
                    .map(|i| {
                        let rows = (0..s).map(|j| confusion[j * l + i]).sum();
                        PosteriorShares::new(&self.responsibilities[leaf], rows)
                    })
                    .collect();
                tables.extend((0..s * l).map(|at| {
                    let shares = &of_class[at % l];
                    let from_means: f64 =
                        shares.means.iter().zip(&means).map(|(share, mean)| share * mean[at]).sum();
                    confusion[at] * shares.counts + from_means
                }));
            }
            tables
        });
        parts.concat()
    }
}

/// How a posterior mean is composed for one class: `count * counts + sum of means * mean`.
struct PosteriorShares {
    counts: f64,
    means: [f64; N_MEANS],
}

impl PosteriorShares {
    fn new(responsibilities: &Responsibilities, rows: f64) -> Self {
        let mut shares = Self { counts: 0.0, means: [0.0; N_MEANS] };
        for (mean, of_mean) in responsibilities.chunks_exact(CONCENTRATIONS.len()).enumerate() {
            for (responsibility, concentration) in of_mean.iter().zip(CONCENTRATIONS) {
                shares.counts += responsibility / (rows + concentration);
                shares.means[mean] += responsibility * concentration / (rows + concentration);
            }
        }
        shares
    }
}

impl PanelMeans {
    /// Pools the counts of all leaves, each weighted by `share`, how far it follows the panel.
    fn new(counts: &LeafCounts, names_classes: bool, share: impl Fn(usize) -> f64) -> Self {
        let (s, l) = (counts.n_labels, counts.n_classes());
        let mut labels = vec![0.0; s];
        let (mut confusion, mut correct, mut rows) = (vec![0.0; s * l], 0.0, 0.0);
        for leaf in 0..counts.n_leaves() {
            let share = share(leaf);
            for (at, &count) in counts.confusion(leaf).iter().enumerate() {
                labels[at / l] += count;
                confusion[at] += share * count;
                rows += share * count;
            }
            correct += share * counts.correct(leaf);
        }
        // Before any row is counted a label is as frequent as the classes that it means.
        let meaning = |j: usize, i: usize| if j == i { MEANING } else { (1.0 - MEANING) / (s - 1) as f64 };
        let total = labels.iter().sum::<f64>() + LABEL_ROWS;
        let even = |j: usize| (0..l).map(|i| meaning(j, i)).sum::<f64>() / l as f64;
        for (j, label) in labels.iter_mut().enumerate() {
            let prior = if names_classes && s > 1 { even(j) } else { 1.0 / s as f64 };
            *label = (*label + LABEL_ROWS * prior) / total;
        }
        for i in 0..l {
            let rows: f64 = (0..s).map(|j| confusion[j * l + i]).sum();
            for j in 0..s {
                let prior = if names_classes && s > 1 { meaning(j, i) } else { labels[j] };
                confusion[j * l + i] = (confusion[j * l + i] + MEANING_ROWS * prior) / (rows + MEANING_ROWS);
            }
        }
        let mut wrong = vec![0.0; s * l];
        for i in 0..l {
            let sum: f64 = (0..s).filter(|&j| j != i).map(|j| confusion[j * l + i]).sum();
            for j in (0..s).filter(|&j| j != i) {
                let even = EVEN_SHARE / (s - 1) as f64;
                wrong[j * l + i] = even + (1.0 - EVEN_SHARE) * confusion[j * l + i] / sum;
            }
        }
        let accuracy = (correct + MEANING_ROWS * MEANING) / (rows + MEANING_ROWS);
        Self { confusion, wrong, accuracy, labels }
    }
}

/// `ln Gamma(x + n) - ln Gamma(x)`.
fn ln_rising(x: f64, n: f64) -> f64 {
    // A short product is exact for whole numbers, and much faster.
    if n <= 8.0 && n.fract() == 0.0 {
        return ln((0..n as u32).map(|more| x + f64::from(more)).product::<f64>());
    }
    ln_gamma(x + n) - ln_gamma(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hierarchy of leaves with these counts by predicted label and class, of two classes, and its likelihoods.
    fn fitted(confusions: &[[f64; 4]]) -> (Hierarchy, Vec<f64>) {
        let mut classes = vec![0.0; 2];
        for &[a, b, c, d] in confusions {
            classes[0] = f64::max(classes[0], a + c);
            classes[1] = f64::max(classes[1], b + d);
        }
        let counts = LeafCounts { n_labels: 2, classes, confusions: confusions.concat() };
        let hierarchy = Hierarchy::fit(&counts, true);
        let likelihoods = hierarchy.likelihoods(&counts);
        (hierarchy, likelihoods)
    }

    #[test]
    fn likelihoods_of_every_class_sum_to_one() {
        let confusions = [[8.0, 2.0, 1.0, 9.0], [0.0; 4], [5.0, 5.0, 4.0, 6.0], [0.0, 9.0, 9.0, 1.0]];
        for of_leaf in fitted(&confusions).1.chunks_exact(4) {
            assert!((of_leaf[0] + of_leaf[2] - 1.0).abs() < 1e-9, "{of_leaf:?}");
            assert!((of_leaf[1] + of_leaf[3] - 1.0).abs() < 1e-9, "{of_leaf:?}");
        }
    }

    #[test]
    fn a_leaf_without_rows_has_the_confusion_of_the_panel() {
        let accurate = [[40.0, 8.0, 10.0, 42.0]; 12];
        let (_, likelihoods) = fitted(&[&accurate[..], &[[0.0; 4]]].concat());
        let [a, b, ..] = likelihoods[48..] else { panic!("the last of 13 leaves") };
        assert!((a - 0.8).abs() < 0.06 && (b - 0.17).abs() < 0.06, "{a} {b}");
    }

    #[test]
    fn guessers_are_nearly_neutral_and_adversaries_are_rectified() {
        let accurate = [[40.0, 8.0, 10.0, 42.0]; 6];
        let guesser = [[30.0, 31.0, 20.0, 19.0]];
        let adversary = [[5.0, 44.0, 45.0, 6.0]];
        let (_, likelihoods) = fitted(&[&accurate[..], &guesser, &adversary].concat());
        assert!((likelihoods[24] / likelihoods[25] - 1.0).abs() < 0.1, "{:?}", &likelihoods[24..28]);
        // What the adversary predicts is evidence for the other class.
        assert!(likelihoods[28] < 0.2 && likelihoods[29] > 0.8, "{:?}", &likelihoods[28..]);
    }

    #[test]
    fn among_guessers_a_newcomer_is_expected_to_guess() {
        let newcomer = [3.0, 1.0, 1.0, 3.0];
        let ratio = |panel: [f64; 4]| {
            let (_, likelihoods) = fitted(&[&[panel; 20][..], &[newcomer]].concat());
            likelihoods[80] / likelihoods[81]
        };
        let (among_accurate, among_guessers) = (ratio([45.0, 5.0, 5.0, 45.0]), ratio([25.0; 4]));
        assert!(among_accurate > 2.0 * among_guessers, "{among_accurate} {among_guessers}");
    }

    #[test]
    fn rising_factorials_are_the_same_by_product_and_by_gamma_function() {
        for (x, n) in [(0.3, 1.0), (2.5, 7.0), (100.0, 8.0)] {
            assert!((ln_rising(x, n) - (ln_gamma(x + n) - ln_gamma(x))).abs() < 1e-11 * (1.0 + n));
        }
        assert_eq!(ln_rising(0.7, 0.0), 0.0);
    }
}
