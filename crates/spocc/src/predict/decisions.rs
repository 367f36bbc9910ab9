//! Decisions: the decided rows of a table, column by column.

use crate::{data::Label, decision::Basis, predict::UnseenLabel};

/// Which values are computed for every row besides its class, whether it is a tie, and its basis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "columns are asked for independently of each other")]
pub struct DecisionColumns {
    /// The margin of the decided class.
    pub margin: bool,
    /// The possibility of each class.
    pub possibility: bool,
    /// The probability of each class, from methods that have one.
    pub probability: bool,
    /// Which classes are tied for the best.
    pub ties: bool,
    /// The number of classifiers with a prediction.
    pub n_answered: bool,
    /// The nonconformity score of each class, from which [`Model::sets`](crate::Model::sets) makes prediction sets.
    pub scores: bool,
}

impl DecisionColumns {
    /// Everything.
    pub const ALL: Self = Self {
        margin: true,
        possibility: true,
        probability: true,
        ties: true,
        n_answered: true,
        scores: true,
    };

    /// Whether any of them is asked for.
    pub(super) fn any(self) -> bool {
        self != Self::default()
    }
}

/// The decisions of consecutive rows of a table, column by column.
///
/// A column with a value per class has those of the first row first. A column that was not asked for is `None`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Decisions {
    /// Number of the class decided.
    pub class: Vec<u16>,
    /// Whether other classes are as good.
    pub is_tie: Vec<bool>,
    /// Panel or prior.
    pub basis: Vec<Basis>,
    /// As [`Decision::margin`](crate::Decision::margin).
    pub margin: Option<Vec<f64>>,
    /// The possibility of each class, as [`Decision::possibility`](crate::Decision::possibility).
    pub possibility: Option<Vec<f64>>,
    /// The probability of each class; `None` also for a method without probabilities.
    pub probability: Option<Vec<f64>>,
    /// Whether each class is tied for the best; the decided class always is.
    pub ties: Option<Vec<bool>>,
    /// Number of classifiers with a prediction that the model knows.
    pub n_answered: Option<Vec<u32>>,
    /// The nonconformity score of each class: its normalised surprisal. Of open answers, not a number for candidates that the
    /// row does not have.
    pub scores: Option<Vec<f64>>,
    classes: Vec<Label>,
    unseen: Vec<UnseenLabel>,
}

impl Decisions {
    /// Columns of `n_rows` rows, to be filled.
    pub(super) fn new(
        n_rows: usize,
        columns: DecisionColumns,
        classes: Vec<Label>,
        unseen: Vec<UnseenLabel>,
    ) -> Self {
        let n_cells = n_rows * classes.len();
        Self {
            class: vec![0; n_rows],
            is_tie: vec![false; n_rows],
            basis: vec![Basis::Panel; n_rows],
            margin: columns.margin.then(|| vec![0.0; n_rows]),
            possibility: columns.possibility.then(|| vec![0.0; n_cells]),
            probability: columns.probability.then(|| vec![0.0; n_cells]),
            ties: columns.ties.then(|| vec![false; n_cells]),
            n_answered: columns.n_answered.then(|| vec![0; n_rows]),
            scores: columns.scores.then(|| vec![0.0; n_cells]),
            classes,
            unseen,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.class.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.class.is_empty()
    }

    /// The classes, in the order of their numbers.
    pub fn classes(&self) -> &[Label] {
        &self.classes
    }

    /// The decided labels, as the user writes them.
    pub fn labels(&self) -> impl ExactSizeIterator<Item = &Label> {
        self.class.iter().map(|class| &self.classes[usize::from(*class)])
    }

    /// The values of one row in a column with a value per class, for instance
    /// `decisions.of_row(&decisions.possibility, 3)`; none without that column or row.
    pub fn of_row<'a, T>(&self, column: &'a Option<Vec<T>>, row: usize) -> Option<&'a [T]> {
        let l = self.classes.len();
        column.as_ref()?.get(row * l..(row + 1) * l)
    }

    /// Number of rows that the prior decides, as no prediction counts.
    pub fn n_prior(&self) -> usize {
        self.basis.iter().filter(|basis| **basis == Basis::Prior).count()
    }

    /// Number of rows on which several classes are equally good.
    pub fn n_ties(&self) -> usize {
        self.is_tie.iter().filter(|is_tie| **is_tie).count()
    }

    /// Labels that the model does not know, which count as missing predictions.
    pub fn unseen(&self) -> &[UnseenLabel] {
        &self.unseen
    }

    pub(super) fn rows_mut(&mut self) -> DecisionRows<'_> {
        fn slice<T>(column: &mut Option<Vec<T>>) -> &mut [T] {
            column.as_deref_mut().unwrap_or_default()
        }
        DecisionRows {
            class: &mut self.class,
            is_tie: &mut self.is_tie,
            basis: &mut self.basis,
            margin: slice(&mut self.margin),
            possibility: slice(&mut self.possibility),
            probability: slice(&mut self.probability),
            ties: slice(&mut self.ties),
            n_answered: slice(&mut self.n_answered),
            scores: slice(&mut self.scores),
            n_classes: self.classes.len(),
        }
    }
}

/// Consecutive rows of [`Decisions`], to be filled; a column that was not asked for is empty.
pub(super) struct DecisionRows<'a> {
    pub(super) class: &'a mut [u16],
    pub(super) is_tie: &'a mut [bool],
    pub(super) basis: &'a mut [Basis],
    pub(super) margin: &'a mut [f64],
    pub(super) possibility: &'a mut [f64],
    pub(super) probability: &'a mut [f64],
    pub(super) ties: &'a mut [bool],
    pub(super) n_answered: &'a mut [u32],
    pub(super) scores: &'a mut [f64],
    n_classes: usize,
}

impl DecisionRows<'_> {
    pub(super) fn len(&self) -> usize {
        self.class.len()
    }

    /// Splits the rows into parts of at most `step` rows.
    pub(super) fn chunks(mut self, step: usize) -> Vec<Self> {
        let n_parts = self.len().div_ceil(step);
        (0..n_parts).map(|_| self.take(step.min(self.len()))).collect()
    }

    /// Takes the first `n` rows away.
    fn take(&mut self, n: usize) -> Self {
        #[expect(clippy::mut_mut, reason = "the reference itself moves on")]
        fn take<'a, T>(column: &mut &'a mut [T], n: usize) -> &'a mut [T] {
            column.split_off_mut(..n.min(column.len())).unwrap_or_default()
        }
        let l = self.n_classes;
        Self {
            class: take(&mut self.class, n),
            is_tie: take(&mut self.is_tie, n),
            basis: take(&mut self.basis, n),
            margin: take(&mut self.margin, n),
            possibility: take(&mut self.possibility, n * l),
            probability: take(&mut self.probability, n * l),
            ties: take(&mut self.ties, n * l),
            n_answered: take(&mut self.n_answered, n),
            scores: take(&mut self.scores, n * l),
            n_classes: l,
        }
    }

    /// Gives row `to` the values of the earlier row `from` in the columns that were asked for.
    pub(super) fn copy_values(&mut self, from: usize, to: usize) {
        fn copy<T: Copy>(column: &mut [T], from: usize, to: usize, width: usize) {
            if !column.is_empty() {
                let (earlier, later) = column.split_at_mut(to * width);
                later[..width].copy_from_slice(&earlier[from * width..][..width]);
            }
        }
        let l = self.n_classes;
        copy(self.margin, from, to, 1);
        copy(self.possibility, from, to, l);
        copy(self.probability, from, to, l);
        copy(self.ties, from, to, l);
        copy(self.n_answered, from, to, 1);
        copy(self.scores, from, to, l);
    }
}
