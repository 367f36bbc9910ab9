//! The rows that are counted: checked, with class ids, label ids and whole-number counts.
//!
//! In: a table, truths and [`Counting`]. Out: an iterator of (row, class, count) for any [`Counter`].

use std::{borrow::Cow, ops::Range};

use crate::{
    data::{Label, LabelMatrix, Labels, MISSING, Normalise, PredictionTable, Predictions, Row, Truth},
    error::{Error, list},
    evidence::{
        Level,
        count::{Counting, WEIGHT_BITS},
    },
};

/// A counter of rows. It has the loop over them, since a call for every row would cost as much as its additions.
pub(super) trait Counter {
    /// Counts rows, given as (row, class, count).
    fn add_all<'a>(&mut self, rows: impl Iterator<Item = (Row<'a>, u16, u64)>);
}

/// Rows ready to be counted.
pub(super) struct CountedRows<'a> {
    pub(super) table: PredictionTable<'a>,
    pub(super) labels: Labels,
    /// From the ids of the table to `labels`.
    pub(super) map: Vec<u16>,
    /// Class of each row, or [`MISSING`].
    pub(super) truths: Cow<'a, [u16]>,
    /// The count of each row in units of 2^-fraction_bits; none if it is 1 for all.
    pub(super) units: Option<Vec<u64>>,
    pub(super) fraction_bits: u32,
}

impl<'a> CountedRows<'a> {
    /// Whether an integer table can be counted without a copy: every row is labelled and counts once, and no pairs are
    /// counted.
    pub(super) fn reads_in_place(truth: &Truth, options: &Counting<'_>) -> bool {
        let once = options.weights.is_none() && options.counts.is_none();
        once && options.level != Level::Pairs && !truth.ids().contains(&MISSING)
    }

    pub(super) fn new(
        table: PredictionTable<'a>,
        truth: &'a Truth,
        options: &Counting<'_>,
    ) -> Result<Self, Error> {
        let expected = table.n_rows();
        if truth.n_rows() != expected {
            return Err(Error::RowCount { what: "truth", expected, found: truth.n_rows() });
        }
        let given =
            [("weights", options.weights.map(<[f64]>::len)), ("counts", options.counts.map(<[u64]>::len))];
        for (what, length) in given {
            if let Some(found) = length.filter(|length| *length != expected) {
                return Err(Error::RowCount { what, expected, found });
            }
        }
        let (units, fraction_bits) = row_units(options)?;
        let is_known = |row: usize| truth.ids()[row] != MISSING;
        let counts = |row: usize| {
            (options.unlabelled || is_known(row))
                && units.as_ref().is_none_or(|units: &Vec<u64>| units[row] > 0)
        };
        let every_row_counts =
            !truth.ids().contains(&MISSING) && units.as_ref().is_none_or(|units| !units.contains(&0));
        // Labels, and ways of writing them, that occur in no counted row are dropped.
        let mut predicted = vec![every_row_counts; table.labels().len()];
        let mut true_of = vec![every_row_counts; truth.labels().len()];
        if let (false, PredictionTable::Predictions(predictions)) = (every_row_counts, table) {
            for row in (0..expected).filter(|&row| counts(row)) {
                predictions.matrix().row(row).for_each(|_, id| predicted[usize::from(id)] = true);
                if is_known(row) {
                    true_of[usize::from(truth.ids()[row])] = true;
                }
            }
        }
        let occurring = |labels: &'a [Label], occurs: Vec<bool>| {
            labels.iter().zip(occurs).filter(|pair| pair.1).map(|pair| pair.0.clone())
        };
        let n_candidates = predicted.iter().rposition(|occurs| *occurs).unwrap_or(0);
        let predicted = occurring(table.labels(), predicted);
        let labels = match (table.candidates(), &options.classes) {
            (Some(normalise), _) => candidates(n_candidates, normalise, options)?,
            (None, Some(classes)) => Labels::closed(classes, predicted)?,
            (None, None) => Labels::open(occurring(truth.labels(), true_of), predicted)?,
        };
        let classes = labels.translate(truth.labels());
        let is_class = |id: &u16| usize::from(*id) < labels.n_classes();
        let all_known = every_row_counts && classes.iter().all(is_class);
        let truths = if all_known && classes.iter().copied().eq(0..classes.len() as u16) {
            Cow::Borrowed(truth.ids())
        } else {
            let mut truths = vec![MISSING; expected];
            for row in (0..expected).filter(|&row| is_known(row) && counts(row)) {
                let id = usize::from(truth.ids()[row]);
                if !is_class(&classes[id]) {
                    let found = truth.labels()[id].to_string();
                    return Err(Error::TruthNotAClass {
                        row: row + 1,
                        found,
                        classes: list(labels.classes()),
                    });
                }
                truths[row] = classes[id];
            }
            Cow::Owned(truths)
        };
        if let (PredictionTable::Predictions(predictions), true) = (table, labels.are_candidates()) {
            check_candidates(predictions, &truths)?;
        }
        let map = labels.translate(table.labels());
        Ok(Self { table, labels, map, truths, units, fraction_bits })
    }

    pub(super) fn n_classifiers(&self) -> usize {
        self.table.classifiers().len()
    }

    /// The table as a matrix, copied if need be.
    pub(super) fn matrix(&self) -> Result<Cow<'a, LabelMatrix>, Error> {
        match self.table {
            PredictionTable::Predictions(predictions) => Ok(Cow::Borrowed(predictions.matrix())),
            PredictionTable::IntegerTable(integers) => {
                Ok(Cow::Owned(integers.to_predictions()?.into_matrix()))
            }
        }
    }

    /// (row of `matrix`, class, units) of the labelled rows of a range.
    pub(super) fn labelled<'b>(
        &'b self,
        matrix: &'b LabelMatrix,
        range: Range<usize>,
    ) -> impl Iterator<Item = (Row<'b>, u16, u64)> + 'b {
        let units = |row: usize| self.units.as_ref().map_or(1, |units| units[row]);
        let known = move |(row, &class): (usize, &u16)| {
            (class != MISSING).then(|| (matrix.row(row), class, units(row)))
        };
        range.clone().zip(&self.truths[range]).filter_map(known)
    }

    /// Counts the labelled rows of a range; dense rows that count once each have a loop of their own.
    pub(super) fn count_labelled(
        &self,
        range: Range<usize>,
        counter: &mut impl Counter,
    ) -> Result<(), Error> {
        let predictions = match self.table {
            PredictionTable::Predictions(predictions) => predictions,
            PredictionTable::IntegerTable(integers) => {
                let width = integers.width();
                let count = |rows: Range<usize>, cells: &[u16]| {
                    counter.add_all(once_each(cells, width, &self.truths[rows]));
                };
                return integers.for_each_block(range, count).ok_or_else(|| integers.unknown_label());
            }
        };
        let matrix = predictions.matrix();
        match (matrix.dense_cells(), &self.units) {
            (Some(cells), None) => {
                let width = matrix.width();
                let cells = &cells[range.start * width..range.end * width];
                counter.add_all(once_each(cells, width, &self.truths[range]));
            }
            _ => counter.add_all(self.labelled(matrix, range)),
        }
        Ok(())
    }
}

/// The candidate numbers of a table of open answers.
fn candidates(n: usize, normalise: Normalise, options: &Counting<'_>) -> Result<Labels, Error> {
    if options.classes.is_some() {
        return Err(Error::OpenAnswers {
            expected: "no list of classes, since any answer can be true",
            found: "one".to_owned(),
        });
    }
    if options.level != Level::Tally {
        return Err(Error::OpenAnswers { expected: "a tally", found: options.level.to_string() });
    }
    Labels::candidates(n, normalise)
}

/// Refuses a truth that is no candidate of its row, as of predictions and truths of two tables.
fn check_candidates(predictions: &Predictions, truths: &[u16]) -> Result<(), Error> {
    for (row, &truth) in truths.iter().enumerate().filter(|(_, truth)| **truth != MISSING) {
        let mut n_candidates = 0;
        predictions.matrix().row(row).for_each(|_, id| n_candidates = n_candidates.max(id));
        if truth > n_candidates {
            let (row, found) = (row + 1, truth.to_string());
            return Err(Error::TruthNotAClass { row, found, classes: format!("0 to {n_candidates}") });
        }
    }
    Ok(())
}

/// The labelled ones of dense rows, with a count of 1 each.
fn once_each<'a>(
    cells: &'a [u16],
    width: usize,
    truths: &'a [u16],
) -> impl Iterator<Item = (Row<'a>, u16, u64)> {
    let known = |(row, &class): (&'a [u16], &u16)| (class != MISSING).then_some((Row::Dense(row), class, 1));
    cells.chunks_exact(width).zip(truths).filter_map(known)
}

/// The count of each row in units of 2^-bits rows, none if it is 1 for all, and the number of bits.
fn row_units(options: &Counting<'_>) -> Result<(Option<Vec<u64>>, u32), Error> {
    let (weights, fraction_bits) = options
        .weights
        .map_or(Ok((None, 0)), |weights| fixed_point(weights).map(|(units, bits)| (Some(units), bits)))?;
    let units = match (weights, options.counts) {
        (weights, None) => weights,
        (None, Some(counts)) => Some(counts.to_vec()),
        (Some(weights), Some(counts)) => {
            let product = |(weight, count): (u64, &u64)| weight.checked_mul(*count);
            let units: Option<Vec<u64>> = weights.into_iter().zip(counts).map(product).collect();
            Some(units.ok_or(Error::Overflow { what: "weights" })?)
        }
    };
    let total = units.iter().flatten().try_fold(0u64, |sum, units| sum.checked_add(*units));
    let what = if options.weights.is_some() { "weights" } else { "counts" };
    total.ok_or(Error::Overflow { what })?;
    Ok((units, fraction_bits))
}

/// Weights in units of a row if all are whole, and of 2^-30 rows otherwise.
fn fixed_point(weights: &[f64]) -> Result<(Vec<u64>, u32), Error> {
    // The bounds are 2^-30, 2^33 and 2^63, rounded inwards.
    const ANY: &str = "a weight of 0 or between 9.3e-10 and 8.5e9";
    const WHOLE: &str = "a whole weight of at most 9.2e18";
    let whole = weights.iter().all(|weight| weight.fract() == 0.0);
    let bits = if whole { 0 } else { WEIGHT_BITS };
    let unit = (1u64 << bits) as f64;
    let largest = (1u64 << (63 - bits)) as f64;
    let mut units = Vec::with_capacity(weights.len());
    for (row, &weight) in weights.iter().enumerate() {
        let scaled = (weight * unit).round();
        if !(0.0..=largest).contains(&weight) || (weight > 0.0 && scaled < 1.0) {
            // Whole weights may be larger than others.
            let expected = if whole && weight > largest { WHOLE } else { ANY };
            return Err(Error::BadWeight { row: row + 1, expected, found: weight });
        }
        units.push(scaled as u64);
    }
    Ok((units, bits))
}
