//! Dawid-Skene: naive Bayes fitted to labelled and unlabelled rows.
//!
//! Expectation-maximisation (Dawid and Skene, 1979) over the class frequencies and `p(k predicts j | i)`. Known truths are
//! kept. The E step computes the class probabilities of every unlabelled pattern, the M step the likelihoods from
//! labelled rows and these probabilities, until no probability changes. The M step is either free, a probability per
//! prediction and class, or that of [one coin](crate::methods::OneCoin) per classifier.

use crate::{
    data::Row,
    error::Error,
    evidence::{Evidence, Level, Unlabelled},
    math::{exp, ln},
    methods::{Combiner, Learn, Method, Rule, naive_bayes::Likelihoods},
    parallel,
    progress::Control,
};

/// Pseudo-rows of each prediction and class: few enough that workers with a handful of predictions count, and enough that
/// no likelihood is zero.
const SMOOTHING: f64 = 0.01;
/// Change of the class probabilities below which the iteration has converged.
const TOLERANCE: f64 = 1e-6;
/// Steps of expectation-maximisation at most.
const MAX_STEPS: usize = 1000;
/// Patterns of one parallel task.
const PATTERNS_PER_TASK: usize = 1 << 10;

/// Dawid and Skene's (1979) estimate of class frequencies and confusions by expectation-maximisation; it has no settings.
///
/// Without unlabelled rows it is [`NaiveBayes`](crate::methods::NaiveBayes) with little smoothing. This method is not in
/// the paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DawidSkene;

impl Combiner for DawidSkene {
    fn method(&self) -> Method {
        Method::DawidSkene
    }

    fn needs(&self) -> Level {
        Level::Tally
    }
}

impl Learn for DawidSkene {
    fn learn(&self, evidence: &Evidence, control: &Control<'_>) -> Result<Rule, Error> {
        Ok(Rule::NaiveBayes(estimate(evidence, free_likelihoods, control)?))
    }
}

/// Expected counts of labelled and unlabelled rows, in the counting unit of the evidence.
pub(super) struct ExpectedCounts {
    /// Classifiers, labels and classes.
    pub(super) size: [usize; 3],
    /// Counts of one row.
    pub(super) unit: f64,
    pub(super) classes: Vec<f64>,
    /// By classifier, predicted label and class.
    pub(super) confusions: Vec<f64>,
}

/// The likelihoods of labelled and unlabelled rows, by expectation-maximisation with this M step.
pub(super) fn estimate(
    evidence: &Evidence,
    likelihoods_of: impl Fn(&ExpectedCounts) -> Likelihoods,
    control: &Control<'_>,
) -> Result<Likelihoods, Error> {
    let (n, s, l) = (evidence.n_classifiers(), evidence.n_labels(), evidence.n_classes());
    control.allow(|| format!("likelihoods of {n} classifiers"), &[n, s, l, 24])?;
    let Some(rows) = evidence.unlabelled_rows() else {
        return Ok(likelihoods_of(&expected_counts(evidence, None, &[])));
    };
    let n_patterns = rows.patterns().n_rows();
    control.allow(
        || format!("class probabilities of {n_patterns} patterns in {l} classes"),
        &[n_patterns, l, 16],
    )?;
    let maximisation = |shares: &[f64]| likelihoods_of(&expected_counts(evidence, Some(rows), shares));
    let mut shares = initial_shares(evidence, rows);
    let mut likelihoods = maximisation(&shares);
    for step in 0..MAX_STEPS {
        control.report("estimating", step, MAX_STEPS)?;
        let next = expectation(rows, &likelihoods, |_, shares| shares.copy_from_slice(&likelihoods.prior));
        let change = next.iter().zip(&shares).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        shares = next;
        likelihoods = maximisation(&shares);
        if change < TOLERANCE {
            break;
        }
    }
    Ok(likelihoods)
}

/// The free M step: a probability per prediction and class.
fn free_likelihoods(counts: &ExpectedCounts) -> Likelihoods {
    Likelihoods::new(counts.size, SMOOTHING * counts.unit, &counts.classes, |at| counts.confusions[at])
}

/// The starting class probabilities: the votes of each row, plus one per class, times the naive Bayes likelihoods of the
/// labelled rows. Without labelled rows these are the votes; with many, a panel of adversaries does not mislead.
fn initial_shares(evidence: &Evidence, rows: &Unlabelled) -> Vec<f64> {
    let labelled = Likelihoods::of(evidence);
    expectation(rows, &labelled, |row, shares| {
        shares.fill(1.0);
        row.for_each(|_, j| shares.iter_mut().skip(usize::from(j)).take(1).for_each(|votes| *votes += 1.0));
        shares.iter_mut().for_each(|votes| *votes = -ln(*votes));
    })
}

/// The E step: the class probabilities of every pattern; `prior` writes the surprisals of the classes before any
/// prediction.
fn expectation(
    rows: &Unlabelled,
    likelihoods: &Likelihoods,
    prior: impl Fn(Row<'_>, &mut [f64]) + Sync,
) -> Vec<f64> {
    let l = likelihoods.prior.len().max(1);
    let mut shares = vec![0.0; rows.patterns().n_rows() * l];
    parallel::fill(&mut shares, PATTERNS_PER_TASK * l, |start, piece| {
        for (p, shares) in (start / l..).zip(piece.chunks_exact_mut(l)) {
            let row = rows.patterns().row(p);
            prior(row, shares);
            likelihoods.add(row, shares);
            let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
            shares.iter_mut().for_each(|surprisal| *surprisal = exp(least - *surprisal));
            let total: f64 = shares.iter().sum();
            shares.iter_mut().for_each(|share| *share /= total);
        }
    });
    shares
}

/// Counts of labelled rows, and of unlabelled patterns with their class probabilities.
fn expected_counts(evidence: &Evidence, rows: Option<&Unlabelled>, shares: &[f64]) -> ExpectedCounts {
    let (n, s, l) = (evidence.n_classifiers(), evidence.n_labels(), evidence.n_classes());
    let mut classes: Vec<f64> = evidence.class_counts().iter().map(|&count| count as f64).collect();
    let mut confusions = evidence.dense_confusions();
    let mut weighted = vec![0.0; l];
    for ((row, count), shares) in rows.iter().flat_map(|rows| rows.rows()).zip(shares.chunks_exact(l.max(1)))
    {
        weighted.iter_mut().zip(shares).for_each(|(weighted, share)| *weighted = count as f64 * share);
        let add = |to: &mut [f64]| to.iter_mut().zip(&weighted).for_each(|(sum, more)| *sum += more);
        add(&mut classes);
        row.for_each(|k, j| {
            let at = (k * s + usize::from(j)) * l;
            add(&mut confusions[at..at + l]);
        });
    }
    ExpectedCounts { size: [n, s, l], unit: evidence.unit() as f64, classes, confusions }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Predictions, Truth, evidence::Counting, hash};

    /// Log-likelihood of all rows and of the pseudo-rows.
    fn objective(evidence: &Evidence, rows: &Unlabelled, likelihoods: &Likelihoods) -> f64 {
        let l = evidence.n_classes();
        let mut sum = 0.0;
        for (row, count) in rows.rows() {
            let mut surprisals = likelihoods.prior.clone();
            likelihoods.add(row, &mut surprisals);
            sum += count as f64 * surprisals.iter().map(|s| (-s).exp()).sum::<f64>().ln();
        }
        for (row, class, count) in evidence.tally().expect("a tally").cells() {
            let mut surprisals = likelihoods.prior.clone();
            likelihoods.add(row, &mut surprisals);
            sum -= count as f64 * surprisals[usize::from(class)];
        }
        for k in 0..evidence.n_classifiers() {
            for j in 0..evidence.n_labels() as u16 {
                let mut surprisals = vec![0.0; l];
                let mut cells = vec![crate::data::MISSING; evidence.n_classifiers()];
                cells[k] = j;
                likelihoods.add(Row::Dense(&cells), &mut surprisals);
                sum -= SMOOTHING * surprisals.iter().sum::<f64>();
            }
        }
        sum
    }

    #[test]
    fn no_step_lowers_the_likelihood() {
        // Sums of a few hundred logarithms are this exact.
        const ROUNDING: f64 = 1e-9;
        for seed in 0..5 {
            let draw = |t: u64, k: u64| hash::draw(hash::mix(hash::mix(seed, t), k), 100);
            let mut rows = Predictions::builder(["a", "b", "c", "d"]).expect("four names");
            let mut truth = Truth::default();
            for t in 0..80 {
                let class = draw(t, 9) % 3;
                let predicted = |k: u64| if draw(t, k) < 40 + 10 * k { class } else { draw(t, k) % 3 };
                rows.push((0..4).map(|k| (draw(t, k + 20) < 70).then(|| predicted(k) as i64)))
                    .expect("a row");
                truth.push((t % 8 == 0).then_some(class as i64)).expect("few labels");
            }
            let counting = Counting { unlabelled: true, ..Counting::default() };
            let evidence =
                Evidence::count(&rows.finish(), &truth, &counting, &Control::default()).expect("rows");
            let rows = evidence.unlabelled_rows().expect("seven in eight");
            let maximisation =
                |shares: &[f64]| free_likelihoods(&expected_counts(&evidence, Some(rows), shares));
            let mut likelihoods = maximisation(&initial_shares(&evidence, rows));
            let mut before = objective(&evidence, rows, &likelihoods);
            let first = before;
            for step in 0..50 {
                let shares =
                    expectation(rows, &likelihoods, |_, out| out.copy_from_slice(&likelihoods.prior));
                likelihoods = maximisation(&shares);
                let after = objective(&evidence, rows, &likelihoods);
                assert!(after >= before - ROUNDING, "step {step}: {before} {after}");
                before = after;
            }
            assert!(before > first + 0.01, "{first} {before}");
        }
    }
}
