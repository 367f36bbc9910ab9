//! The decision of one row and the values that were asked for about it, written into columns.
//!
//! [`Model::decision`] computes the same values for one row at a time and is the reference implementation.

use crate::{
    conformal,
    data::Row,
    decision::{self, Basis},
    math::exponentiate,
    methods::Scratch,
    model::Model,
    possibility::Transform,
    predict::decisions::DecisionRows,
};

/// Decides single rows by the rule, with buffers reused from row to row.
pub(super) struct RowDecider<'a> {
    model: &'a Model,
    scratch: Scratch,
    transform: Transform,
    tied: Vec<usize>,
    /// Which candidates of open answers a row has.
    candidates: Vec<bool>,
    /// The tie tolerance of plain surprisals.
    tolerance: f64,
    /// A power of the surprisals and its tie tolerance.
    power: (f64, f64),
}

/// The class of a row, whether others are as good, and the basis.
pub(super) type RowOutcome = (u16, bool, Basis);

impl<'a> RowDecider<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        Self {
            model,
            scratch: Scratch::default(),
            transform: Transform::default(),
            tied: Vec::new(),
            candidates: Vec::new(),
            tolerance: decision::tolerance(1.0),
            power: (0.0, 0.0),
        }
    }

    /// The outcome alone, for which surprisals may be raised to a common power.
    #[inline]
    pub(super) fn outcome(&mut self, row: Row<'_>) -> RowOutcome {
        let Some(power) = self.model.rule.surprisals_monotone(row, &mut self.scratch) else {
            return self.prior_outcome(row);
        };
        if self.power.0 != power {
            self.power = (power, decision::tolerance(power));
        }
        self.decide(row, self.power.1, Basis::Panel)
    }

    #[cold]
    fn prior_outcome(&mut self, row: Row<'_>) -> RowOutcome {
        self.model.prior_surprisals(&mut self.scratch.out);
        self.decide(row, self.tolerance, Basis::Prior)
    }

    #[inline]
    fn decide(&self, row: Row<'_>, tolerance: f64, basis: Basis) -> RowOutcome {
        let (class, is_tie) = self.model.decide_class(&self.scratch.out, tolerance, basis, row);
        (class as u16, is_tie, basis)
    }

    /// The outcome, with the values that `rows` has columns for written to its row `at`.
    pub(super) fn outcome_and_values(
        &mut self,
        row: Row<'_>,
        rows: &mut DecisionRows<'_>,
        at: usize,
    ) -> RowOutcome {
        let outcome = if self.model.rule.surprisals(row, &mut self.scratch) {
            self.decide(row, self.tolerance, Basis::Panel)
        } else {
            self.prior_outcome(row)
        };
        let (class, is_tie, basis) = outcome;
        let surprisals = &self.scratch.out;
        let classes = at * surprisals.len()..(at + 1) * surprisals.len();
        if let Some(scores) = rows.scores.get_mut(classes.clone()) {
            scores.copy_from_slice(surprisals);
            conformal::normalise(scores);
            if self.model.is_open() {
                self.candidates.clear();
                self.candidates.resize(scores.len(), false);
                row.for_each(|_, j| self.candidates[usize::from(j)] = true);
                let others =
                    scores.iter_mut().zip(&self.candidates).skip(1).filter(|(_, is_given)| !**is_given);
                others.for_each(|(score, _)| *score = f64::NAN);
            }
        }
        let is_fused = basis == Basis::Panel && self.model.rule.possibilities().is_some();
        if let Some(possibility) = rows.possibility.get_mut(classes.clone()).filter(|_| is_fused) {
            possibility.iter_mut().zip(surprisals).for_each(|(degree, s)| *degree = -s);
            exponentiate(possibility);
        }
        self.tied.clear();
        let first = self.model.first_decided(basis);
        self.tied.extend(decision::tied(&surprisals[first..], self.tolerance).map(|class| first + class));
        if let Some(is_tied) = rows.ties.get_mut(classes.clone()) {
            self.tied.iter().for_each(|&class| is_tied[class] = true);
        }
        if let Some(n_answered) = rows.n_answered.get_mut(at) {
            *n_answered = self.model.n_answered(row) as u32;
        }
        let is_spread = !rows.possibility.is_empty() && !is_fused;
        if rows.margin.is_empty() && rows.probability.is_empty() && !is_spread {
            return outcome;
        }
        self.model.ratios(row, basis, &mut self.scratch);
        let ratios = &mut self.scratch.ratios;
        if let Some(margin) = rows.margin.get_mut(at) {
            *margin = if is_tie { 0.0 } else { self.model.margin(ratios, class.into()) };
        }
        if let Some(probability) = rows.probability.get_mut(classes.clone()) {
            let sum: f64 = ratios.iter().sum();
            probability.iter_mut().zip(&*ratios).for_each(|(p, ratio)| *p = ratio / sum);
        }
        if let Some(possibility) = rows.possibility.get_mut(classes).filter(|_| !is_fused) {
            // Tied classes are equally possible, whatever the rounding.
            self.tied.iter().for_each(|&class| ratios[class] = 1.0);
            self.transform.ratios(ratios, possibility);
        }
        outcome
    }
}

impl Model {
    /// The margin of a decided class: 0 where "none of these" is as probable.
    pub(super) fn margin(&self, ratios: &[f64], class: usize) -> f64 {
        if self.is_open() && ratios[0] >= ratios[class] { 0.0 } else { decision::margin(ratios) }
    }

    /// The ratios of the classes on a row whose surprisals are in `scratch.out`.
    pub(super) fn ratios(&self, row: Row<'_>, basis: Basis, scratch: &mut Scratch) {
        match basis {
            Basis::Panel => self.rule.ratios(row, scratch),
            Basis::Prior => scratch.ratios_of_surprisals(),
        }
    }
}
