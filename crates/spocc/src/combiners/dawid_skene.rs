//! Dawid-Skene: naive Bayes that also learns from rows whose truth nobody knows.
//!
//! Expectation-maximisation (Dawid and Skene, 1979) over the class frequencies and `p(k says j | i is true)`. Known
//! truths stay; every other pattern of answers is shared out among the classes as the current estimates have it, and
//! the estimates are made anew from the shares, until the shares stand still.

use crate::{
    combiners::{Combiner, Kind, Method, NaiveBayes, Rule, naive_bayes::Likelihoods},
    error::Error,
    evidence::{Evidence, Level, Unlabelled},
    grid::Row,
    parallel,
    watch::Watch,
};

/// Shares that move by less than this stand still.
const STILL: f64 = 1e-6;
/// Steps after which the shares are taken as they are.
const MOST_STEPS: usize = 1000;
/// Patterns that are shared out in one go.
const PIECE: usize = 1 << 10;

/// Dawid and Skene's estimate by expectation-maximisation, smoothed as [`NaiveBayes`](crate::NaiveBayes), which it is
/// where every truth is known; it has no settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DawidSkene;

impl Combiner for DawidSkene {
    fn method(&self) -> Method {
        Method::DawidSkene
    }

    fn needs(&self) -> Level {
        Level::Tally
    }

    fn uses_unlabelled(&self, _evidence: &Evidence) -> bool {
        true
    }

    fn learn(&self, evidence: &Evidence, watch: &Watch<'_>) -> Result<Rule, Error> {
        let Some(rows) = evidence.unlabelled_rows() else { return NaiveBayes.learn(evidence, watch) };
        let (n, s, l) = (evidence.n_classifiers(), evidence.n_labels(), evidence.n_classes());
        watch.allow(|| format!("likelihoods of {n} classifiers"), &[n, s, l, 24])?;
        let n_patterns = rows.patterns().n_rows();
        watch.allow(|| format!("shares of {n_patterns} patterns in {l} classes"), &[n_patterns, l, 16])?;
        let mut shares = votes(evidence, rows);
        let mut likelihoods = estimate(evidence, rows, &shares);
        for step in 0..MOST_STEPS {
            watch.report("estimating", step, MOST_STEPS)?;
            let next = share_out(rows, &likelihoods, |_, shares| shares.copy_from_slice(&likelihoods.prior));
            let moved = next.iter().zip(&shares).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            shares = next;
            likelihoods = estimate(evidence, rows, &shares);
            if moved < STILL {
                break;
            }
        }
        Ok(Rule(Kind::NaiveBayes(likelihoods)))
    }
}

/// Where to begin: with each row's votes, one more for every class, weighed by what the known truths tell of the
/// voters. Without any truth these are the votes; where truths are many, a panel of liars does not mislead.
fn votes(evidence: &Evidence, rows: &Unlabelled) -> Vec<f64> {
    let known = Likelihoods::of(evidence);
    share_out(rows, &known, |row, shares| {
        shares.fill(1.0);
        row.for_each(|_, j| shares.iter_mut().skip(usize::from(j)).take(1).for_each(|votes| *votes += 1.0));
        shares.iter_mut().for_each(|votes| *votes = -votes.ln());
    })
}

/// The probability of each class given each pattern, by pattern; `begin` says how surprising each class is before
/// anybody is heard.
fn share_out(
    rows: &Unlabelled,
    likelihoods: &Likelihoods,
    begin: impl Fn(Row<'_>, &mut [f64]) + Sync,
) -> Vec<f64> {
    let l = likelihoods.prior.len().max(1);
    let mut shares = vec![0.0; rows.patterns().n_rows() * l];
    parallel::fill(&mut shares, PIECE * l, |start, piece| {
        for (p, shares) in (start / l..).zip(piece.chunks_exact_mut(l)) {
            let row = rows.patterns().row(p);
            begin(row, shares);
            likelihoods.add(row, shares);
            let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
            shares.iter_mut().for_each(|surprisal| *surprisal = (least - *surprisal).exp());
            let total: f64 = shares.iter().sum();
            shares.iter_mut().for_each(|share| *share /= total);
        }
    });
    shares
}

/// Likelihoods from the known truths and from rows that are shared out, in the order of the patterns.
fn estimate(evidence: &Evidence, rows: &Unlabelled, shares: &[f64]) -> Likelihoods {
    let (n, s, l) = (evidence.n_classifiers(), evidence.n_labels(), evidence.n_classes());
    let mut classes: Vec<f64> = evidence.class_counts().iter().map(|&count| count as f64).collect();
    let mut confusion: Vec<f64> = evidence.confusions().iter().map(|&count| count as f64).collect();
    let mut weighed = vec![0.0; l];
    for ((row, count), shares) in rows.rows().zip(shares.chunks_exact(l.max(1))) {
        weighed.iter_mut().zip(shares).for_each(|(weighed, share)| *weighed = count as f64 * share);
        let add = |to: &mut [f64]| to.iter_mut().zip(&weighed).for_each(|(sum, more)| *sum += more);
        add(&mut classes);
        row.for_each(|k, j| {
            let at = (k * s + usize::from(j)) * l;
            add(&mut confusion[at..at + l]);
        });
    }
    Likelihoods::new([n, s, l], evidence.unit(), &classes, |at| confusion[at])
}
