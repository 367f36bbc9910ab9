//! Wide tables: a column per classifier.

use std::{mem, ops::Range, sync::Arc};

use spocc::{Truth, data::Normalise};
use spocc_table::{Error, LabelCodes, LabelEncoder, Location, RowBlock, RowPositions, Table};

use crate::{
    args::ColumnArgs,
    read::{
        AnswerCollector, CountBatch, EvidenceSum, IdSet, PredictionCollector, ReadNotes, RowFilter,
        TableRows, TruthTable, notes::id_in_memory, refuse_other_classifiers, row_ids::RowIds,
        select_classifiers,
    },
};

/// Number of rows in a batch: large enough for efficient counting, and few enough cells for the memory of wide tables.
pub(crate) fn batch_size(n_columns: usize) -> usize {
    const CELLS: usize = 1 << 24;
    (CELLS / n_columns.max(1)).clamp(1 << 10, 1 << 20)
}

/// Bytes of the texts of a batch, of those that are not stored once: ids and open answers.
pub(crate) fn batch_text(table: &Table) -> usize {
    usize::try_from(table.memory() / 8).unwrap_or(usize::MAX)
}

/// Counts a wide table batch by batch.
///
/// # Errors
///
/// [`Error::Refused`] for missing columns and invalid cells.
pub(super) fn count(
    mut table: Table,
    args: &ColumnArgs,
    label: Option<&str>,
    sum: &mut EvidenceSum<'_>,
) -> Result<ReadNotes, Error> {
    // A column that is a classifier is not suggested for another use.
    let classifiers = args.classifiers.iter().flat_map(|names| &names.0);
    table.set_used(args.named_columns().chain(classifiers));
    let ids = args.id.as_ref().map_or(Ok(Vec::new()), |names| table.columns(&names.0))?;
    let truths = match (label, &args.gold) {
        _ if !sum.options.filter.has_truths() => TruthSource::Unknown,
        (None, _) => TruthSource::Unknown,
        (Some(label), None) => TruthSource::Column(table.column(label)?),
        (Some(label), Some(path)) => TruthSource::Joined {
            table: Box::new(TruthTable::read(path, args, label, sum.control)?),
            ids: ids.clone(),
        },
    };
    let weight = WeightColumn::find(args, &table)?;
    let mut others = ids.clone();
    others.extend(truths.column());
    // The column of --label is never a classifier, also if the true labels are in --gold or are not used.
    if let Some(label) = label.filter(|label| truths.column().is_none() && table.has_column(label)) {
        others.push(table.column(label)?);
    }
    others.extend(weight.as_ref().map(|weight| weight.column));
    let columns = select_classifiers(table.header(), args, &others, &table.header_location())?;
    let mut counted = None;
    if let RowFilter::Unlabelled { classifiers, counted: ids } = sum.options.filter {
        let names: Vec<&String> = columns.iter().map(|&column| &table.header()[column]).collect();
        refuse_other_classifiers(classifiers, &names, &table.header_location())?;
        counted = Some(Arc::clone(ids));
    }
    table.select_columns(columns.iter().chain(&others).copied());

    let whole = weight.as_ref().map(|weight| weight.whole);
    let truths = Arc::new(truths);
    let layout = WideLayout {
        columns: columns.clone(),
        truths: Arc::clone(&truths),
        weight,
        skips_unlabelled: !sum.options.filter.has_unlabelled(),
        keeps_ids: !ids.is_empty(),
        ids,
        counted,
    };
    let mut blocks = table.map_blocks(move |rows| layout.read(rows));
    let mut notes = ReadNotes::default();
    let open = args.open_answers();
    let mut buffer = UncountedRows::new(blocks.table(), &columns, open)?;
    let most_text = batch_text(blocks.table());
    while let Some(block) = blocks.next()? {
        notes.n_skipped += block.n_skipped;
        notes.n_again += block.n_again;
        for id in block.ids.iter() {
            if sum.options.with_ids {
                sum.ids.insert(id);
            }
            notes.n_repeated_ids += u64::from(sum.repeated_ids.is_repeated(id));
        }
        sum.allow_ids()?;
        if open.is_none() {
            sum.allow_labels(block.predictions.labels.iter().chain(block.truths.labels.iter()).flatten())?;
        }
        let (mut from, end) = (0, block.places.n_rows());
        while from < end {
            let to = end.min(from + batch_size(columns.len()) - buffer.n_rows());
            buffer.add(&block, from..to)?;
            from = to;
            if buffer.n_rows() == batch_size(columns.len()) || buffer.n_text > most_text {
                let full = mem::replace(&mut buffer, UncountedRows::new(blocks.table(), &columns, open)?);
                full.count(whole, blocks.table(), &mut notes, sum)?;
            }
        }
        block.fault.map_or(Ok(()), Err)?;
    }
    buffer.count(whole, blocks.table(), &mut notes, sum)?;
    if let TruthSource::Joined { table, .. } = &*truths {
        table.note_unmatched(&mut notes, blocks.table().location())?;
    }
    Ok(notes)
}

/// Distinct labels from which a column looks like an id.
const ENOUGH: usize = 20;

/// Adds the likely reason to a refusal for lack of memory: a column that is an id.
fn explain_memory_limit(batch: &CountBatch, table: &Table, error: Error) -> Error {
    let Error::Engine { source: spocc::Error::MemoryLimit { .. }, .. } = error else { return error };
    let predictions = batch.rows.predictions();
    let n_rows = predictions.n_rows();
    let distinct = predictions.n_distinct_labels();
    let is_name = |(_, distinct): &(&String, &usize)| **distinct == n_rows && n_rows >= ENOUGH;
    match predictions.classifiers().iter().zip(&distinct).find(is_name) {
        Some((name, _)) => id_in_memory(&table.header_location(), name),
        None => error,
    }
}

/// The columns of a wide table, and which rows are used.
struct WideLayout {
    columns: Vec<usize>,
    truths: Arc<TruthSource>,
    weight: Option<WeightColumn>,
    /// Whether unlabelled rows are skipped.
    skips_unlabelled: bool,
    /// The columns of the id.
    ids: Vec<usize>,
    keeps_ids: bool,
    /// The ids of rows that are skipped.
    counted: Option<Arc<IdSet>>,
}

/// The rows of a block that are counted.
struct WideBlock {
    file: Location,
    places: RowPositions,
    predictions: LabelCodes,
    truths: LabelCodes,
    weights: Vec<f64>,
    counts: Vec<u64>,
    ids: RowIds,
    n_skipped: u64,
    n_again: u64,
    /// The error that ends the table after these rows.
    fault: Option<Error>,
}

impl WideLayout {
    fn read(&self, rows: &RowBlock) -> WideBlock {
        let mut block = WideBlock {
            file: rows.file().clone(),
            places: RowPositions::default(),
            predictions: LabelCodes::default(),
            truths: LabelCodes::default(),
            weights: Vec::new(),
            counts: Vec::new(),
            ids: RowIds::default(),
            n_skipped: 0,
            n_again: 0,
            fault: None,
        };
        block.predictions.codes.reserve(rows.n_rows() * self.columns.len());
        let (mut predictions, mut truths) = (LabelEncoder::default(), LabelEncoder::default());
        let none = match &*self.truths {
            TruthSource::Joined { table, .. } => table.missing_code(),
            _ => truths.missing_code(),
        };
        for row in 0..rows.n_rows() {
            if let Err(fault) = self.read_row(rows, row, &mut predictions, (&mut truths, none), &mut block) {
                block.fault = Some(fault);
                break;
            }
        }
        block.predictions.labels = predictions.finish();
        block.truths.labels = match &*self.truths {
            TruthSource::Joined { table, .. } => table.labels(),
            _ => truths.finish(),
        };
        block
    }

    fn read_row(
        &self,
        rows: &RowBlock,
        row: usize,
        predictions: &mut LabelEncoder,
        (truths, none): (&mut LabelEncoder, u32),
        block: &mut WideBlock,
    ) -> Result<(), Error> {
        if self.counted.as_ref().is_some_and(|counted| counted.has_row(rows, row, &self.ids)) {
            block.n_again += 1;
            return Ok(());
        }
        let truth = match &*self.truths {
            TruthSource::Column(column) => {
                let truth = truths.encode(rows, row, *column)?;
                truths.label(truth).map(|_| truth)
            }
            TruthSource::Joined { table, ids } => table.truth(rows, row, ids),
            TruthSource::Unknown => None,
        };
        if truth.is_none() && self.skips_unlabelled {
            block.n_skipped += 1;
            return Ok(());
        }
        if self.keeps_ids {
            block.ids.push(rows, row, &self.ids);
        }
        block.truths.codes.push(truth.unwrap_or(none));
        match self.weight.as_ref().map(|weight| weight.read(rows, row)).transpose()? {
            Some(RowWeight::Weight(weight)) => block.weights.push(weight),
            Some(RowWeight::Count(count)) => block.counts.push(count),
            None => {}
        }
        predictions.encode_row(rows, row, &self.columns, &mut block.predictions.codes)?;
        block.places.push(rows.position(row));
        Ok(())
    }
}

/// Rows of several blocks that are counted together.
struct UncountedRows {
    rows: CollectedRows,
    weights: Vec<f64>,
    counts: Vec<u64>,
    /// Bytes of the texts of open answers.
    n_text: usize,
}

/// Predictions and truths, or open answers.
enum CollectedRows {
    Labels(PredictionCollector, Truth),
    Answers(AnswerCollector),
}

impl UncountedRows {
    fn new(table: &Table, columns: &[usize], open: Option<Normalise>) -> Result<Self, Error> {
        let rows = match open {
            Some(normalise) => CollectedRows::Answers(AnswerCollector::new(table, columns, normalise)?),
            None => CollectedRows::Labels(PredictionCollector::new(table, columns)?, Truth::default()),
        };
        Ok(Self { rows, weights: Vec::new(), counts: Vec::new(), n_text: 0 })
    }

    fn n_rows(&self) -> usize {
        match &self.rows {
            CollectedRows::Labels(predictions, _) => predictions.n_rows(),
            CollectedRows::Answers(answers) => answers.n_rows(),
        }
    }

    fn add(&mut self, block: &WideBlock, rows: Range<usize>) -> Result<(), Error> {
        match &mut self.rows {
            CollectedRows::Answers(answers) => {
                let truths = Some(&block.truths);
                answers.add(&block.predictions, truths, rows.clone(), &block.file, &block.places)?;
                self.n_text += block.predictions.n_bytes() + block.truths.n_bytes();
            }
            CollectedRows::Labels(predictions, truth) => {
                let truths = add_truths(truth, block, rows.clone());
                let predictions =
                    predictions.add(&block.predictions, rows.clone(), &block.file, &block.places);
                match (truths, predictions) {
                    // Report the error of the earlier row.
                    (Err((first, error)), Err((other, _))) if first <= other => return Err(error),
                    (_, Err((_, error))) | (Err((_, error)), _) => return Err(error),
                    (Ok(()), Ok(())) => {}
                }
            }
        }
        self.weights.extend(block.weights.get(rows.clone()).unwrap_or_default());
        self.counts.extend(block.counts.get(rows).unwrap_or_default());
        Ok(())
    }

    /// Counts the rows; `whole` is true for --count, false for --weight.
    fn count(
        self,
        whole: Option<bool>,
        table: &Table,
        notes: &mut ReadNotes,
        sum: &mut EvidenceSum<'_>,
    ) -> Result<(), Error> {
        let (rows, lines) = match self.rows {
            CollectedRows::Labels(predictions, truth) => {
                let (predictions, lines) = predictions.finish();
                (TableRows::Labels(predictions, truth), lines)
            }
            CollectedRows::Answers(answers) => {
                let (answers, lines) = answers.finish();
                (TableRows::Answers(answers), lines)
            }
        };
        let counts = (whole == Some(true)).then_some(self.counts);
        let weights = (whole == Some(false)).then_some(self.weights);
        let n_known = rows.truth().n_known() as u64;
        let n_rows = rows.predictions().n_rows() as u64;
        notes.n_rows += n_known;
        notes.n_unlabelled += n_rows - n_known;
        if n_rows == 0 {
            return Ok(());
        }
        let batch = CountBatch { rows, weights, counts, lines };
        sum.add(&batch).map_err(|error| explain_memory_limit(&batch, table, error))
    }
}

fn add_truths(truth: &mut Truth, block: &WideBlock, rows: Range<usize>) -> Result<(), (usize, Error)> {
    let refused =
        |(row, error): (usize, spocc::Error)| (row, block.places.location(&block.file, row).engine(error));
    let symbols = block.truths.symbols(rows.clone(), |label| truth.symbol(label.clone())).map_err(refused)?;
    for row in rows {
        let symbol = symbols[block.truths.codes[row] as usize];
        truth.push_symbol(symbol).map_err(|error| refused((row, error)))?;
    }
    Ok(())
}

/// Where the true labels are.
enum TruthSource {
    Column(usize),
    /// In the table of --gold, joined by the columns of the id.
    Joined {
        table: Box<TruthTable>,
        ids: Vec<usize>,
    },
    Unknown,
}

impl TruthSource {
    fn column(&self) -> Option<usize> {
        match self {
            Self::Column(column) => Some(*column),
            _ => None,
        }
    }
}

/// The weight or count of a row.
enum RowWeight {
    Weight(f64),
    Count(u64),
}

/// The column of --weight or --count.
struct WeightColumn {
    column: usize,
    expected: String,
    whole: bool,
}

impl WeightColumn {
    fn find(args: &ColumnArgs, table: &Table) -> Result<Option<Self>, Error> {
        let (name, what, whole) = match (&args.weight, &args.count) {
            (Some(name), _) => (name, "a weight from 0", false),
            (None, Some(name)) => (name, "a whole count from 0", true),
            (None, None) => return Ok(None),
        };
        let expected = format!("{what} in column `{name}`");
        Ok(Some(Self { column: table.column(name)?, expected, whole }))
    }

    fn read(&self, rows: &RowBlock, row: usize) -> Result<RowWeight, Error> {
        let text = rows.text(row, self.column)?;
        let word = text.trim();
        let weight = if self.whole {
            // Data frames write whole numbers as 3.0 if a column has missing values.
            word.strip_suffix(".0").unwrap_or(word).parse().ok().map(RowWeight::Count)
        } else {
            word.parse()
                .ok()
                .filter(|weight: &f64| weight.is_finite() && *weight >= 0.0)
                .map(RowWeight::Weight)
        };
        weight.ok_or_else(|| rows.location(row).refused(&self.expected, format!("`{text}`")))
    }
}
