//! The decision of a single row, in full.
//!
//! This is the reference implementation of a decision: [`batch`](super::batch) computes the same values faster.

use crate::{
    data::Row,
    decision::{self, Basis, Decision},
    error::Error,
    math::exponentiate,
    methods::Scratch,
    model::Model,
    possibility::{Possibility, Transform},
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
        let tolerance = decision::tolerance(1.0);
        let (class, is_tie) = self.decide_class(&scratch.out, tolerance, basis, row);
        let first = self.first_decided(basis);
        let ties: Vec<usize> =
            decision::tied(&scratch.out[first..], tolerance).map(|class| first + class).collect();
        let surprisals = scratch.out.clone();
        self.ratios(row, basis, scratch);
        let sum: f64 = scratch.ratios.iter().sum();
        let probability = scratch.ratios.iter().map(|ratio| ratio / sum).collect();
        let margin = if is_tie { 0.0 } else { self.margin(&scratch.ratios, class) };
        let possibility = if basis == Basis::Panel && self.rule.possibilities().is_some() {
            let mut degrees: Vec<f64> = surprisals.iter().map(|s| -s).collect();
            exponentiate(&mut degrees);
            degrees
        } else {
            // Tied classes are equally possible, whatever the rounding.
            ties.iter().for_each(|&tied| scratch.ratios[tied] = 1.0);
            let mut degrees = vec![0.0; surprisals.len()];
            Transform::default().ratios(&scratch.ratios, &mut degrees);
            degrees
        };
        scratch.out = surprisals;
        Decision {
            class,
            label: self.classes()[class].clone(),
            probability: self.method.capabilities().probabilities.then_some(probability),
            possibility: Possibility::new(possibility).expect("ratios of sums are from 0 to 1"),
            margin,
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
