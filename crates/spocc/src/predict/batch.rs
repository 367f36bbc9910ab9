//! Deciding many rows of a table: most by a kernel, the others by the rule, equal rows once.

use std::{
    ops::Range,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{
    data::{IntegerTable, LabelMatrix, MISSING, PredictionTable, Predictions, Row, RowPacking},
    decision::Basis,
    error::Error,
    model::Model,
    parallel,
    predict::{
        AlignedTable, DecisionColumns, Decisions,
        alignment::RowBuffer,
        decisions::DecisionRows,
        linear_kernel::{ColumnMap, LinearKernel, UNDECIDED},
        row_values::{RowDecider, RowOutcome},
        value_kernel::{self, ValueKernel, ValueScratch},
    },
    progress::Control,
};

/// Rows decided between two reports of progress.
const BLOCK: usize = 1 << 20;

/// The first rows of a worker, which are new whatever follows, and the rows after them that show how many are remembered.
const WARM_UP_ROWS: u64 = 1 << 10;
const TRIED_ROWS: u64 = 1 << 10;

/// Rows that a single worker decides, on the calling thread. (The Python package decides small tables on Python's own thread
/// and relies on it.)
const ONE_WORKER: usize = 1 << 13;

impl Model {
    /// Decides the label of every row.
    ///
    /// # Errors
    ///
    /// As [`decide_all`](Self::decide_all).
    pub fn predict<'a>(&self, table: impl Into<PredictionTable<'a>>) -> Result<Decisions, Error> {
        self.decide_all(table, DecisionColumns::default(), &Control::default())
    }

    /// Decides every row of a table, with the columns asked for. Labels that the model does not know count as missing
    /// predictions and are listed.
    ///
    /// # Errors
    ///
    /// [`Error::MissingClassifier`] if a classifier of the model has no column, [`Error::Cancelled`];
    /// [`Error::LabelId`] for an [integer](IntegerTable) that is not among the labels.
    pub fn decide_all<'a>(
        &self,
        table: impl Into<PredictionTable<'a>>,
        columns: DecisionColumns,
        control: &Control<'_>,
    ) -> Result<Decisions, Error> {
        match table.into() {
            PredictionTable::Predictions(predictions) => {
                self.align(predictions)?.decide_all(columns, control)
            }
            PredictionTable::IntegerTable(integers) => self.decide_integers(integers, columns, control),
        }
    }

    fn decide_integers(
        &self,
        integers: &IntegerTable<'_>,
        columns: DecisionColumns,
        control: &Control<'_>,
    ) -> Result<Decisions, Error> {
        let table = PredictionTable::IntegerTable(integers);
        let no_rows = LabelMatrix::empty(integers.width());
        let header = Predictions::from_matrix(table.classifiers().to_vec(), table.labels().to_vec(), no_rows);
        let aligned = self.align(&header)?;
        if !aligned.knows_all_labels() {
            return self.align(&integers.to_predictions()?)?.decide_all(columns, control);
        }
        let predictor = BatchPredictor::new(&aligned, integers.n_rows(), columns);
        let has_unknown = AtomicBool::new(false);
        let decisions = predictor.decide(0..integers.n_rows(), control, |worker, rows, out| {
            let first = rows.start;
            let read = integers.for_each_block(rows, |rows, cells| {
                let cells = cells.chunks_exact(integers.width()).map(Row::Dense);
                worker.decide(cells, out, rows.start - first..rows.end - first);
            });
            has_unknown.fetch_or(read.is_none(), Ordering::Relaxed);
        })?;
        if has_unknown.into_inner() { Err(integers.unknown_label()) } else { Ok(decisions) }
    }
}

impl AlignedTable<'_> {
    /// Decides every row, with the columns asked for. Labels that the model does not know count as missing predictions
    /// and are listed.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`].
    pub fn decide_all(&self, columns: DecisionColumns, control: &Control<'_>) -> Result<Decisions, Error> {
        self.decide_rows(0..self.predictions.n_rows(), columns, control)
    }

    /// As [`decide_all`](Self::decide_all) for some rows of the table.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchRow`], [`Error::Cancelled`].
    pub fn decide_rows(
        &self,
        rows: Range<usize>,
        columns: DecisionColumns,
        control: &Control<'_>,
    ) -> Result<Decisions, Error> {
        rows.end.checked_sub(1).map_or(Ok(()), |last| self.check_row(last))?;
        let matrix = self.predictions.matrix();
        BatchPredictor::new(self, rows.len(), columns).decide(rows, control, |worker, rows, out| {
            let all = 0..rows.len();
            if let Some(cells) = matrix.dense_cells() {
                let cells = &cells[rows.start * matrix.width()..rows.end * matrix.width()];
                worker.decide(cells.chunks_exact(matrix.width()).map(Row::Dense), out, all);
            } else {
                worker.decide(rows.map(|row| matrix.row(row)), out, all);
            }
        })
    }
}

/// A model made ready to decide many rows of one table.
///
/// Rows with a clear winner are decided by a kernel: [`LinearKernel`] where labels alone are asked for, else
/// [`ValueKernel`]. The others are decided by the rule. Each worker remembers what it decided by the packed row, so that an
/// equal row is not decided again. Rows of few bits have a place each: then all decisions are remembered.
struct BatchPredictor<'a> {
    aligned: &'a AlignedTable<'a>,
    columns: DecisionColumns,
    /// Whether any column is asked for.
    has_values: bool,
    kernel: Option<LinearKernel>,
    value_kernel: Option<ValueKernel>,
    packing: Option<RowPacking>,
    /// A worker has places for `2^memory_bits` rows.
    memory_bits: u32,
    /// Whether every possible row has its own place.
    has_place_for_all: bool,
}

impl<'a> BatchPredictor<'a> {
    /// Values of a rule above which it is applied as it is: 128 MiB.
    const MOST_VALUES: usize = 1 << 24;
    /// Fewer rows are decided one by one: nothing has to be made ready.
    const MANY_ROWS: usize = 64;
    /// Enough for the few rows that the kernel leaves undecided.
    const FEW_BITS: u32 = 12;
    /// For all rows: a larger memory leaves the processor's cache.
    const MANY_BITS: u32 = 17;

    /// For `n_rows` rows of the table.
    fn new(aligned: &'a AlignedTable<'a>, n_rows: usize, columns: DecisionColumns) -> Self {
        let AlignedTable { model, predictions, classifier_of, map, missing, .. } = aligned;
        let probability = columns.probability && model.method().capabilities().probabilities;
        let columns = DecisionColumns { probability, ..columns };
        let is_dense = predictions.matrix().is_dense();
        let is_many = n_rows >= Self::MANY_ROWS;
        let packing = if is_dense && is_many {
            let ids: Vec<u16> = (0..map.len() as u16).collect();
            RowPacking::new(classifier_of.len(), &ids, MISSING, 0)
        } else {
            None
        };
        let has_all = packing.as_ref().is_some_and(|packing| packing.row_bits() <= Self::FEW_BITS);
        let (n_labels, n_classes) = (model.labels.len(), model.labels.n_classes());
        let column_map = ColumnMap { classifier_of, map, missing, n_labels, n_classes, n_rows, is_dense };
        let n_values = model.classifiers.len() * n_labels * n_classes;
        let pays = is_many && !has_all && n_values <= Self::MOST_VALUES;
        // A kernel for values copies the tables of the rule, which few rows or sparse ones do not repay.
        let pays_values = is_dense && !columns.scores && n_rows >= 4 * n_labels;
        let is_wanted = pays && (!columns.any() || pays_values);
        let sums = if is_wanted { model.rule.sums(n_labels) } else { None };
        let (kernel, value_kernel) = match sums {
            Some(sums) if columns.any() => {
                let is_fused = model.rule.possibilities().is_some();
                (None, ValueKernel::new(&sums, n_labels, n_classes, is_fused))
            }
            Some(sums) => {
                let costs = sums.costs(model.classifiers.len(), n_classes);
                (LinearKernel::new(&costs, &column_map), None)
            }
            None => (None, None),
        };
        let rows_bits = n_rows.next_power_of_two().ilog2().clamp(Self::FEW_BITS, Self::MANY_BITS);
        let memory_bits = if has_all || kernel.is_some() { Self::FEW_BITS } else { rows_bits };
        let has_place_for_all = packing.as_ref().is_some_and(|packing| packing.row_bits() <= memory_bits);
        let has_values = columns.any();
        Self { aligned, columns, has_values, kernel, value_kernel, packing, memory_bits, has_place_for_all }
    }

    /// The decisions of some rows of the table; `decide` lets a worker decide consecutive ones of them.
    fn decide(
        &self,
        rows: Range<usize>,
        control: &Control<'_>,
        decide: impl Fn(&mut Worker<'_>, Range<usize>, &mut DecisionRows<'_>) + Sync,
    ) -> Result<Decisions, Error> {
        let classes = self.aligned.model.classes().to_vec();
        let unseen = self.aligned.unseen_in(rows.clone());
        let mut decisions = Decisions::new(rows.len(), self.columns, classes, unseen);
        let blocks = decisions.rows_mut().chunks(BLOCK);
        for (block, out) in blocks.into_iter().enumerate() {
            control.report("deciding", block * BLOCK, rows.len())?;
            // Every worker has its own memory, so workers with a large one are few. A few rows are decided here.
            let n_workers = match &self.kernel {
                _ if out.len() <= ONE_WORKER => 1,
                Some(_) => 4 * parallel::threads(),
                None => parallel::threads(),
            };
            let step = out.len().div_ceil(n_workers).max(ONE_WORKER);
            let first = rows.start + block * BLOCK;
            parallel::fill(&mut out.chunks(step), 1, |part, out| {
                let (first, out) = (first + part * step, &mut out[0]);
                decide(&mut Worker::new(self), first..first + out.len(), out);
            });
        }
        Ok(decisions)
    }
}

/// A row that was decided, by its packed cells.
#[derive(Clone, Copy, Default)]
struct DecidedRow {
    key: u64,
    /// 1 + its place among the worker's rows, or 0 for none.
    number: u32,
    class: u16,
    is_tie: bool,
    is_prior: bool,
}

/// Decides consecutive rows.
struct Worker<'a> {
    predictor: &'a BatchPredictor<'a>,
    memory: Vec<DecidedRow>,
    /// Rows looked for in the memory, and those found there after the first ones.
    n_looked_up: u64,
    n_remembered: u64,
    buffer: RowBuffer,
    values: ValueScratch,
    decider: RowDecider<'a>,
}

impl<'a> Worker<'a> {
    fn new(predictor: &'a BatchPredictor<'a>) -> Self {
        Self {
            predictor,
            memory: Vec::new(),
            n_looked_up: 0,
            n_remembered: 0,
            buffer: RowBuffer::default(),
            values: ValueScratch::default(),
            decider: RowDecider::new(&predictor.aligned.model),
        }
    }

    /// Decides rows and writes them to the places `at` of `out`.
    fn decide<'r>(
        &mut self,
        mut rows: impl Iterator<Item = Row<'r>> + Clone,
        out: &mut DecisionRows<'_>,
        at: Range<usize>,
    ) {
        const TOGETHER: usize = 256;
        if let Some(kernel) = &self.predictor.value_kernel {
            return self.decide_with_values(kernel, rows, out, at);
        }
        let Some(kernel) = &self.predictor.kernel else {
            return rows.zip(at).for_each(|(row, at)| self.decide_exactly(row, out, at));
        };
        for start in at.clone().step_by(TOGETHER) {
            let places = start..at.end.min(start + TOGETHER);
            kernel.winners(rows.clone(), &mut out.class[places.clone()]);
            if out.class[places.clone()].contains(&UNDECIDED) {
                for (row, at) in rows.clone().zip(places.clone()) {
                    if out.class[at] == UNDECIDED {
                        self.decide_exactly(row, out, at);
                    }
                }
            }
            rows.nth(places.len() - 1);
        }
    }

    /// As [`decide`](Self::decide), with the columns that were asked for: from memory while most rows are remembered, else
    /// by the kernel.
    fn decide_with_values<'r>(
        &mut self,
        kernel: &ValueKernel,
        mut rows: impl Iterator<Item = Row<'r>> + Clone,
        out: &mut DecisionRows<'_>,
        at: Range<usize>,
    ) {
        for start in at.clone().step_by(value_kernel::ROWS) {
            let places = start..at.end.min(start + value_kernel::ROWS);
            let n_counted = self.n_looked_up.saturating_sub(WARM_UP_ROWS);
            let uses_memory = self.predictor.packing.is_some()
                && (n_counted < TRIED_ROWS || self.n_remembered > n_counted / 5 * 4);
            if uses_memory {
                out.class[places.clone()].fill(UNDECIDED);
            } else {
                let together = rows.clone().take(places.len());
                kernel.decide(self.predictor.aligned, together, &mut self.values, out, start);
            }
            for (row, at) in rows.clone().zip(places.clone()) {
                if out.class[at] == UNDECIDED {
                    self.decide_exactly(row, out, at);
                }
            }
            rows.nth(places.len() - 1);
        }
    }

    /// Decides one row by the rule, unless an equal one is remembered.
    fn decide_exactly(&mut self, row: Row<'_>, out: &mut DecisionRows<'_>, at: usize) {
        let (Some(packing), Row::Dense(cells)) = (&self.predictor.packing, row) else {
            let outcome = self.outcome(row, out, at);
            return write(out, at, outcome);
        };
        let memory_bits = self.predictor.memory_bits;
        let key = packing.pack(cells);
        let place = if self.predictor.has_place_for_all {
            key
        } else {
            key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - memory_bits)
        };
        if self.memory.is_empty() {
            self.memory = vec![DecidedRow::default(); 1 << memory_bits];
        }
        let known = self.memory[place as usize];
        self.n_looked_up += 1;
        if known.key == key && known.number > 0 {
            self.n_remembered += u64::from(self.n_looked_up > WARM_UP_ROWS);
            if self.predictor.has_values {
                out.copy_values(known.number as usize - 1, at);
            }
            let basis = if known.is_prior { Basis::Prior } else { Basis::Panel };
            return write(out, at, (known.class, known.is_tie, basis));
        }
        let outcome = self.outcome(row, out, at);
        let (class, is_tie, basis) = outcome;
        let (number, is_prior) = (at as u32 + 1, basis == Basis::Prior);
        self.memory[place as usize] = DecidedRow { key, number, class, is_tie, is_prior };
        write(out, at, outcome);
    }

    #[inline]
    fn outcome(&mut self, row: Row<'_>, out: &mut DecisionRows<'_>, at: usize) -> RowOutcome {
        let row = self.predictor.aligned.translate(row, &mut self.buffer);
        if self.predictor.has_values {
            self.decider.outcome_and_values(row, out, at)
        } else {
            self.decider.outcome(row)
        }
    }
}

/// Writes an outcome to a row that has the defaults: no tie, decided by the panel.
#[inline]
fn write(out: &mut DecisionRows<'_>, at: usize, (class, is_tie, basis): RowOutcome) {
    out.class[at] = class;
    if is_tie {
        out.is_tie[at] = true;
    }
    if basis == Basis::Prior {
        out.basis[at] = basis;
    }
}
