//! Deciding all rows of a table: clear ones in a moment, others with care, none twice.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{
    data::{IntegerTable, LabelMatrix, MISSING, PredictionTable, Predictions, Row, RowPacking},
    error::Error,
    methods::Scratch,
    model::Model,
    parallel,
    predict::{AlignedTable, Decisions, LinearKernel, Reading, Rewritten, Ruling, UNCLEAR},
    progress::Control,
};

/// Rows decided between two reports of progress.
const BLOCK: usize = 1 << 20;

impl Model {
    /// Decides every row.
    ///
    /// # Errors
    ///
    /// As [`decide_all`](Self::decide_all).
    pub fn predict<'a>(&self, table: impl Into<PredictionTable<'a>>) -> Result<Decisions, Error> {
        self.decide_all(table, &Control::default())
    }

    /// Decides every row of a table; labels the model never met count as silence and are listed.
    ///
    /// # Errors
    ///
    /// [`Error::MissingClassifier`] if a classifier of the model has no column, [`Error::Cancelled`];
    /// [`Error::LabelId`] for a [number](IntegerTable) that is not among the labels.
    pub fn decide_all<'a>(
        &self,
        table: impl Into<PredictionTable<'a>>,
        control: &Control<'_>,
    ) -> Result<Decisions, Error> {
        match table.into() {
            PredictionTable::Predictions(predictions) => self.align(predictions)?.decide_all(control),
            PredictionTable::IntegerTable(integers) => self.decide_integers(integers, control),
        }
    }

    fn decide_integers(
        &self,
        integers: &IntegerTable<'_>,
        control: &Control<'_>,
    ) -> Result<Decisions, Error> {
        let table = PredictionTable::IntegerTable(integers);
        let grid = LabelMatrix::empty(integers.width());
        let head = Predictions::from_matrix(table.classifiers().to_vec(), table.labels().to_vec(), grid);
        let aligned = self.align(&head)?;
        if !aligned.knows_all_labels() {
            return self.align(&integers.to_predictions()?)?.decide_all(control);
        }
        let desk = Desk::new(&aligned, integers.n_rows());
        let is_strange = AtomicBool::new(false);
        let rulings = rulings(&desk, integers.n_rows(), control, |first, rulings| {
            let mut clerk = desk.clerk();
            let read = integers.for_each_block(first..first + rulings.len(), |rows, cells| {
                let rulings = &mut rulings[rows.start - first..rows.end - first];
                clerk.decide(cells.chunks_exact(integers.width()).map(Row::Dense), rulings);
            });
            is_strange.fetch_or(read.is_none(), Ordering::Relaxed);
        })?;
        if is_strange.into_inner() { Err(integers.unknown_label()) } else { Ok(aligned.decisions(rulings)) }
    }
}

impl AlignedTable<'_> {
    /// Decides every row; labels the model never met count as silence and are listed.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`].
    pub fn decide_all(&self, control: &Control<'_>) -> Result<Decisions, Error> {
        let grid = self.predictions.matrix();
        let desk = Desk::new(self, grid.n_rows());
        let rulings = rulings(&desk, grid.n_rows(), control, |first, rulings| {
            let mut clerk = desk.clerk();
            if let Some(cells) = grid.dense_cells() {
                let cells = &cells[first * grid.width()..(first + rulings.len()) * grid.width()];
                clerk.decide(cells.chunks_exact(grid.width()).map(Row::Dense), rulings);
            } else {
                clerk.decide((first..first + rulings.len()).map(|row| grid.row(row)), rulings);
            }
        })?;
        Ok(self.decisions(rulings))
    }
}

/// Rulings on `n` rows, of which `decide` makes those from a first one on.
fn rulings(
    desk: &Desk<'_>,
    n: usize,
    control: &Control<'_>,
    decide: impl Fn(usize, &mut [Ruling]) + Sync,
) -> Result<Vec<Ruling>, Error> {
    let mut rulings = vec![Ruling::clear(0); n];
    for (block, rulings) in rulings.chunks_mut(BLOCK).enumerate() {
        control.report("deciding", block * BLOCK, n)?;
        // Every piece remembers for itself: where much is remembered there are few.
        let pieces = if desk.quick.is_some() { 4 * parallel::threads() } else { parallel::threads() };
        let step = rulings.len().div_ceil(pieces).max(1 << 13);
        parallel::fill(rulings, step, |start, rulings| decide(block * BLOCK + start, rulings));
    }
    Ok(rulings)
}

/// A model made ready to decide the rows of one table.
///
/// Clear rows are decided by [`LinearKernel`]; others the careful way, which is remembered by the number of the row where
/// rows have one. What a row says decides it, so whatever is remembered would be found again. Rows of few bits
/// have a place each: then the memory is a table of all decisions.
struct Desk<'a> {
    aligned: &'a AlignedTable<'a>,
    quick: Option<LinearKernel>,
    packing: Option<RowPacking>,
    /// Of the places where rows are remembered.
    memory_bits: u32,
}

impl<'a> Desk<'a> {
    /// For the few rows that are not clear.
    const FEW_BITS: u32 = 12;
    /// For all rows: more would not be at hand any more.
    const MANY_BITS: u32 = 17;

    /// For a table of so many rows.
    fn new(aligned: &'a AlignedTable<'a>, n_rows: usize) -> Self {
        let AlignedTable { model, predictions, place, map, silence, .. } = aligned;
        let is_dense = predictions.matrix().is_dense();
        let ids: Vec<u16> = (0..map.len() as u16).collect();
        let packing = RowPacking::new(place.len(), &ids, MISSING, 0).filter(|_| is_dense);
        let has_all = packing.as_ref().is_some_and(|packing| packing.row_bits() <= Self::FEW_BITS);
        let (n_labels, n_classes) = (model.labels.len(), model.labels.n_classes());
        let reading = Reading { place, map, silence, n_labels, n_classes, n_rows, is_dense };
        let costs = if has_all { None } else { model.rule.costs(n_labels) };
        let quick = costs.and_then(|costs| LinearKernel::new(&costs, &reading));
        let rows_bits = n_rows.next_power_of_two().ilog2().clamp(Self::FEW_BITS, Self::MANY_BITS);
        let memory_bits = if has_all || quick.is_some() { Self::FEW_BITS } else { rows_bits };
        Self { aligned, quick, packing, memory_bits }
    }

    fn clerk(&self) -> Clerk<'_> {
        Clerk {
            desk: self,
            memory: Vec::new(),
            buffer: Rewritten::default(),
            work: Scratch::default(),
            tolerance: (0.0, 0.0),
        }
    }
}

/// Somebody who decides rows at a desk, and remembers those that were not clear.
struct Clerk<'a> {
    desk: &'a Desk<'a>,
    memory: Vec<(u64, Option<Ruling>)>,
    buffer: Rewritten,
    work: Scratch,
    tolerance: (f64, f64),
}

impl Clerk<'_> {
    /// Decides rows one after the other.
    fn decide<'r>(&mut self, mut rows: impl Iterator<Item = Row<'r>> + Clone, rulings: &mut [Ruling]) {
        const TOGETHER: usize = 256;
        let Some(quick) = &self.desk.quick else {
            return rows.zip(rulings).for_each(|(row, ruling)| *ruling = self.careful(row));
        };
        let mut winners = [UNCLEAR; TOGETHER];
        for rulings in rulings.chunks_mut(TOGETHER) {
            let winners = &mut winners[..rulings.len()];
            quick.winners(rows.clone(), winners);
            rulings.iter_mut().zip(&*winners).for_each(|(ruling, winner)| *ruling = Ruling::clear(*winner));
            if winners.contains(&UNCLEAR) {
                let unclear = |decided: &((&mut Ruling, &u16), Row<'r>)| *decided.0.1 == UNCLEAR;
                for ((ruling, _), row) in rulings.iter_mut().zip(&*winners).zip(rows.clone()).filter(unclear)
                {
                    *ruling = self.careful(row);
                }
            }
            rows.nth(rulings.len() - 1);
        }
    }

    fn careful(&mut self, row: Row<'_>) -> Ruling {
        let Self { desk, memory, buffer, work, tolerance } = self;
        let mut decide = || desk.aligned.rule_on(desk.aligned.rewritten(row, buffer), work, tolerance);
        let (Some(packing), Row::Dense(cells)) = (&desk.packing, row) else { return decide() };
        let key = packing.pack(cells);
        let place = if packing.row_bits() <= desk.memory_bits {
            key
        } else {
            key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - desk.memory_bits)
        };
        memory.resize(1 << desk.memory_bits, (0, None));
        let known = &mut memory[place as usize];
        match *known {
            (number, Some(ruling)) if number == key => ruling,
            _ => {
                let ruling = decide();
                *known = (key, Some(ruling));
                ruling
            }
        }
    }
}
