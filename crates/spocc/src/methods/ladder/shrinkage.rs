//! Leaves: what it means that a classifier said something, as the surprisal of every class.
//!
//! The possibility of a class is its frequency among the rows of that answer over its frequency among all rows,
//! scaled to a best of 1. Few rows are pulled towards neutrality by some rows of the average kind: how many is
//! weighed for every classifier by the marginal likelihood of its counts, and the weights of all are pulled
//! towards each other, so that among a hundred guessers the next one is expected to guess. Counts that are exactly
//! independent of the truth are exactly neutral, whatever the balance of the classes.

use crate::evidence::Evidence;
use crate::math::{exp, ln, ln_gamma};

/// How many rows of the average kind pull an answer's counts; the last one stands for infinitely many.
pub(super) const PULLS: [f64; 14] =
    [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, f64::INFINITY];

/// So many classifiers that pull as one expects beforehand stand beside those there are.
const EXPECTED: f64 = 32.0;

/// Rounds of pulling the classifiers' weights towards each other.
const ROUNDS: usize = 30;

/// How likely each of [`PULLS`] is.
pub(super) type Weights = [f64; PULLS.len()];

/// Counts in rows.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    pub(super) n_labels: usize,
    /// Of each class.
    pub(super) classes: Vec<f64>,
    /// What one row of each class counts.
    pub(super) ones: Vec<f64>,
    /// Of each classifier, answer and class.
    pub(super) said: Vec<f64>,
}

impl Counts {
    pub(super) fn of(evidence: &Evidence, classifiers: &[usize]) -> Self {
        let rows = |counts: &[u64]| counts.iter().map(|&count| evidence.rows_of(count)).collect();
        let said = classifiers.iter().flat_map(|&k| evidence.confusion(k).to_vec()).collect::<Vec<u64>>();
        Self {
            n_labels: evidence.n_labels(),
            classes: rows(evidence.class_counts()),
            ones: (0..evidence.n_classes()).map(|i| evidence.rows_of(evidence.row_unit(i as u16))).collect(),
            said: rows(&said),
        }
    }

    pub(super) fn n_classes(&self) -> usize {
        self.classes.len()
    }

    fn n_leaves(&self) -> usize {
        self.said.len() / (self.n_labels * self.n_classes()).max(1)
    }

    /// Rows on which a classifier spoke.
    pub(super) fn spoken(&self, leaf: usize) -> f64 {
        let size = self.n_labels * self.n_classes();
        self.said[leaf * size..(leaf + 1) * size].iter().sum()
    }

    /// Numbers that all possibilities with one row taken out hold.
    pub(super) fn n_altered(&self) -> usize {
        self.said.iter().filter(|count| **count > 0.0).count() * self.n_classes()
    }

    /// Where the counts of an answer start.
    #[inline]
    pub(super) fn at(&self, leaf: usize, said: u16) -> usize {
        (leaf * self.n_labels + usize::from(said)) * self.classes.len()
    }

    /// How likely each pull is, for every classifier.
    pub(super) fn weights(&self) -> Vec<Weights> {
        // Beforehand a pull is the less likely the stronger it is; the infinite one is as likely as one of 128.
        let mut expected: Weights = PULLS.map(|pull| 1.0 / pull.min(128.0));
        normalise(&mut expected);
        let likelihoods: Vec<Weights> = (0..self.n_leaves()).map(|leaf| self.log_likelihoods(leaf)).collect();
        let mut common = expected;
        let mut weights = vec![expected; likelihoods.len()];
        for _ in 0..ROUNDS {
            for (weights, logs) in weights.iter_mut().zip(&likelihoods) {
                let best = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                *weights = std::array::from_fn(|at| common[at] * exp(logs[at] - best));
                normalise(weights);
            }
            common = std::array::from_fn(|at| {
                EXPECTED * expected[at] + weights.iter().map(|weights| weights[at]).sum::<f64>()
            });
            normalise(&mut common);
        }
        weights
    }

    /// How far a classifier is pulled to neutrality, from 0 to 1.
    pub(super) fn neutrality(&self, leaf: usize, weights: &Weights) -> f64 {
        let l = self.n_classes();
        let size = self.n_labels * l;
        let said = self.said[leaf * size..(leaf + 1) * size].chunks_exact(l.max(1));
        let (mut pulled, mut spoken) = (0.0, 0.0);
        for rows in said.map(|said| said.iter().sum::<f64>()) {
            let share = |pull: f64| if pull.is_infinite() { 1.0 } else { pull / (rows + pull) };
            pulled +=
                rows * weights.iter().zip(PULLS).map(|(weight, pull)| weight * share(pull)).sum::<f64>();
            spoken += rows;
        }
        if spoken > 0.0 { pulled / spoken } else { 1.0 }
    }

    /// Logarithm of the Dirichlet-multinomial likelihood of a classifier's counts at each pull.
    fn log_likelihoods(&self, leaf: usize) -> Weights {
        let l = self.n_classes();
        let total: f64 = self.classes.iter().sum();
        let size = self.n_labels * l;
        let mut logs = [0.0; PULLS.len()];
        for counts in self.said[leaf * size..(leaf + 1) * size].chunks_exact(l.max(1)) {
            let rows: f64 = counts.iter().sum();
            if rows == 0.0 {
                continue;
            }
            for (log, &pull) in logs.iter_mut().zip(&PULLS) {
                for (&count, &class) in counts.iter().zip(&self.classes).filter(|pair| *pair.0 > 0.0) {
                    let share = class / total;
                    *log +=
                        if pull.is_infinite() { count * ln(share) } else { ln_rising(pull * share, count) };
                }
                if pull.is_finite() {
                    *log -= ln_rising(pull, rows);
                }
            }
        }
        logs
    }
}

fn normalise(weights: &mut Weights) {
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
}

/// `ln Gamma(x + n) - ln Gamma(x)`.
fn ln_rising(x: f64, n: f64) -> f64 {
    ln_gamma(x + n) - ln_gamma(x)
}

/// PossibilityTable behind every answer, and behind every answer with one row taken out.
///
/// Leaving one row out is cheap: a row of truth y takes one count out of the cell (classifier, answer, y) of
/// everyone who spoke and out of the frequency of y, so that for each such triple there is one altered distribution,
/// prepared once, and a row left out looks its possibilities up.
#[derive(Clone, Debug)]
pub(super) struct Leaves {
    n_labels: usize,
    n_classes: usize,
    /// Logarithms of surprisals by classifier, answer and class.
    whole: Vec<f64>,
    /// The altered distribution of each triple that occurs, by classifier, answer and truth.
    place: Vec<u32>,
    altered: Vec<f64>,
    /// Logarithms of the class frequencies, then of those without a row of each class.
    priors: Vec<f64>,
}

const NONE: u32 = u32::MAX;

impl Leaves {
    pub(super) fn new(counts: &Counts, weights: &[Weights], leaves_out: bool) -> Self {
        let (l, s) = (counts.n_classes(), counts.n_labels);
        let mut leaves = Self {
            n_labels: s,
            n_classes: l,
            whole: vec![0.0; counts.said.len()],
            place: Vec::new(),
            altered: Vec::new(),
            priors: log_prior(&counts.classes),
        };
        for (row, (said, out)) in
            counts.said.chunks_exact(l.max(1)).zip(leaves.whole.chunks_exact_mut(l.max(1))).enumerate()
        {
            distribution(said, &counts.classes, &weights[row / s], out);
        }
        if !leaves_out {
            return leaves;
        }
        leaves.place = vec![NONE; counts.said.len()];
        let mut classes = counts.classes.clone();
        let mut without = vec![0.0; l];
        for class in 0..l {
            let one = counts.ones[class];
            classes[class] -= one.min(classes[class]);
            leaves.priors.extend(log_prior(&classes));
            for (row, said) in counts.said.chunks_exact(l).enumerate().filter(|(_, said)| said[class] > 0.0) {
                without.copy_from_slice(said);
                without[class] -= one.min(said[class]);
                let start = leaves.altered.len();
                leaves.place[row * l + class] = (start / l) as u32;
                leaves.altered.resize(start + l, 0.0);
                distribution(&without, &classes, &weights[row / s], &mut leaves.altered[start..]);
            }
            classes[class] = counts.classes[class];
        }
        leaves
    }

    /// Logarithms of the surprisals behind an answer, perhaps without one row of a class.
    #[inline]
    pub(super) fn distribution(&self, leaf: usize, said: u16, without: Option<u16>) -> &[f64] {
        let l = self.n_classes;
        let row = leaf * self.n_labels + usize::from(said);
        match without.map(|class| self.place[row * l + usize::from(class)]) {
            Some(place) if place != NONE => &self.altered[place as usize * l..][..l],
            _ => &self.whole[row * l..][..l],
        }
    }

    /// Logarithms of the class frequencies, perhaps without one row of a class.
    #[inline]
    pub(super) fn log_prior(&self, without: Option<u16>) -> &[f64] {
        let at = without.map_or(0, |class| 1 + usize::from(class));
        &self.priors[at * self.n_classes..][..self.n_classes]
    }

    /// The possibilities without anything left out.
    pub(super) fn into_whole(self) -> Vec<f64> {
        self.whole
    }
}

/// Logarithms of the frequencies, half a row more of every class.
pub(super) fn log_prior(classes: &[f64]) -> Vec<f64> {
    let total = classes.iter().sum::<f64>() + 0.5 * classes.len() as f64;
    classes.iter().map(|count| ln((count + 0.5) / total)).collect()
}

/// Logarithm of the surprisal of every class, given how often each was true of an answer and of all rows.
fn distribution(said: &[f64], classes: &[f64], weights: &Weights, out: &mut [f64]) {
    let total: f64 = classes.iter().sum();
    let rows: f64 = said.iter().sum();
    // The ratio of both frequencies is `(count / share + pull) / (rows + pull)`, averaged over the pulls.
    let (mut slope, mut start) = (0.0, 0.0);
    for (weight, pull) in weights.iter().zip(PULLS) {
        if pull.is_infinite() {
            start += weight;
        } else {
            slope += weight / (rows + pull);
            start += weight * pull / (rows + pull);
        }
    }
    for ((out, &count), &class) in out.iter_mut().zip(said).zip(classes) {
        // A class that never was true is neither more nor less likely than before.
        *out = if class > 0.0 { count * total / class * slope + start } else { 1.0 };
    }
    let best = out.iter().copied().fold(0.0, f64::max);
    for out in out {
        // Ratios equal up to rounding are equally possible: a neutral answer is exactly neutral.
        let ratio = *out / best;
        *out = if ratio > 1.0 - 1e-12 { f64::NEG_INFINITY } else { ln(-ln(ratio)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_independent_of_the_truth_are_exactly_neutral() {
        // Said in thirds of a panel of three classes as unlike as 30, 6 and 300 rows.
        let classes = vec![30.0, 6.0, 300.0];
        let said: Vec<f64> =
            [1.0 / 3.0, 2.0 / 3.0].iter().flat_map(|s| classes.iter().map(move |c| c * s)).collect();
        let counts = Counts { n_labels: 2, ones: vec![1.0; classes.len()], classes, said };
        let leaves = Leaves::new(&counts, &counts.weights(), false);
        assert!(leaves.whole.iter().all(|&s| s == f64::NEG_INFINITY), "{:?}", leaves.whole);
    }

    #[test]
    fn an_opinion_without_a_row_is_that_of_the_other_rows() {
        let counts = Counts {
            n_labels: 2,
            classes: vec![5.0, 3.0],
            ones: vec![1.0; 2],
            said: vec![4.0, 1.0, 1.0, 2.0],
        };
        let weights = counts.weights();
        let leaves = Leaves::new(&counts, &weights, true);
        let other = Counts {
            n_labels: 2,
            classes: vec![4.0, 3.0],
            ones: vec![1.0; 2],
            said: vec![3.0, 1.0, 1.0, 2.0],
        };
        let other = Leaves::new(&other, &weights, false);
        assert_eq!(leaves.distribution(0, 0, Some(0)), other.distribution(0, 0, None));
        assert_eq!(leaves.log_prior(Some(0)), other.log_prior(None));
        assert_ne!(leaves.distribution(0, 0, None), other.distribution(0, 0, None));
    }

    #[test]
    fn among_guessers_the_next_one_is_expected_to_guess() {
        let good = [40.0, 10.0, 10.0, 40.0];
        let weak = [27.0, 23.0, 23.0, 27.0];
        let guesser = [25.0, 25.0, 25.0, 25.0];
        let doubt = |rest: &[f64]| {
            let said = [&weak[..], &rest.repeat(60)].concat();
            let counts = Counts { n_labels: 2, classes: vec![50.0, 50.0], ones: vec![1.0; 2], said };
            counts.weights()[0][PULLS.len() - 1]
        };
        assert!(doubt(&guesser) > 2.0 * doubt(&good), "{} {}", doubt(&guesser), doubt(&good));
    }
}
