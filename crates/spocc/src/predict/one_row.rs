//! The decision of a single row, in full.
//!
//! This is the reference implementation of a decision: [`batch`](super::batch) computes the same values faster.

use crate::{
    data::Row,
    decision::{self, Basis, Decision},
    error::Error,
    math::exp,
    methods::Scratch,
    model::Model,
    possibility::Possibility,
    predict::{AlignedTable, RowBuffer},
};

impl AlignedTable<'_> {
    /// Decides one row, counted from 0, in full.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchRow`].
    pub fn decide(&self, row: usize) -> Result<Decision, Error> {
        self.check_row(row)?;
        let (mut buffer, mut scratch) = (RowBuffer::default(), Scratch::default());
        Ok(self.model.decision(self.row(row, &mut buffer), &mut scratch))
    }
}

impl Model {
    /// Decides one row in full and leaves its surprisals in `scratch.out`.
    pub(crate) fn decision(&self, row: Row<'_>, scratch: &mut Scratch) -> Decision {
        let basis = if self.rule.surprisals(row, scratch) { Basis::Panel } else { Basis::Prior };
        if basis == Basis::Prior {
            self.prior_surprisals(&mut scratch.out);
        }
        let surprisals = &scratch.out;
        let tolerance = decision::tolerance(1.0);
        let (class, is_tie) = decision::decide(surprisals, tolerance, self.ties, |seed| row.hash(seed));
        let ties: Vec<usize> = decision::tied(surprisals, tolerance).collect();
        let least = surprisals.iter().copied().fold(f64::INFINITY, f64::min);
        let is_fused = basis == Basis::Panel && self.rule.possibilities().is_some();
        let possibility = if is_fused {
            Possibility::new(surprisals.iter().map(|s| exp(-s)).collect())
        } else {
            let mut shares: Vec<f64> = surprisals.iter().map(|s| exp(least - s)).collect();
            // Tied classes are equally possible, whatever the rounding.
            ties.iter().for_each(|&tied| shares[tied] = 1.0);
            Possibility::from_probabilities(&shares)
        };
        let probability = || {
            // If all classes are infinitely surprising, they are equally probable.
            let share = |s: &f64| if least.is_finite() { exp(least - s) } else { 1.0 };
            let shares: Vec<f64> = surprisals.iter().map(share).collect();
            let sum: f64 = shares.iter().sum();
            shares.iter().map(|share| share / sum).collect()
        };
        Decision {
            class,
            label: self.classes()[class].clone(),
            probability: self.method.capabilities().probabilities.then(probability),
            possibility: possibility
                .expect("surprisals are from 0 to infinity, so their exponentials are from 0 to 1"),
            margin: if is_tie { 0.0 } else { decision::margin(surprisals) },
            ties,
            n_answered: self.n_answered(row),
            basis,
        }
    }

    /// Number of classifiers with a prediction that the model knows.
    pub(super) fn n_answered(&self, row: Row<'_>) -> usize {
        let missing_label = self.labels.missing_label();
        let mut n_answered = 0;
        row.for_each(|_, label| n_answered += usize::from(label != missing_label));
        n_answered
    }
}
