//! Wide tables: a column per classifier.

use std::{mem, ops::Range, sync::Arc};

use spocc::Truth;
use spocc_table::{Error, LabelCodes, LabelEncoder, Location, RowBlock, RowPositions, Table};

use crate::{
    args::ColumnArgs,
    labelled::{Answers, Gold, IdSet, Notes, Piece, Sum, Which, ids::RowIds, pick, refuse_others},
};

/// Rows read before they are counted: so many that counting them in one go pays, and so few cells that wide tables
/// fit.
pub(crate) fn piece(n_columns: usize) -> usize {
    const CELLS: usize = 1 << 24;
    (CELLS / n_columns.max(1)).clamp(1 << 10, 1 << 20)
}

/// Counts a wide table piece by piece.
///
/// # Errors
///
/// [`Error::Refused`] for columns that are not there and cells that are not what they should be.
pub(super) fn count(
    mut table: Table,
    args: &ColumnArgs,
    label: Option<&str>,
    sum: &mut Sum<'_>,
) -> Result<Notes, Error> {
    // A name that stands for a classifier is not free for another use.
    let classifiers = args.classifiers.iter().flat_map(|names| &names.0);
    table.set_used(args.named_columns().chain(classifiers));
    let ids = args.id.as_ref().map_or(Ok(Vec::new()), |names| table.columns(&names.0))?;
    let truths = match (label, &args.gold) {
        _ if !sum.keep.which.has_truths() => Truths::Unknown,
        (None, _) => Truths::Unknown,
        (Some(label), None) => Truths::Column(table.column(label)?),
        (Some(label), Some(path)) => {
            Truths::Elsewhere { gold: Box::new(Gold::read(path, args, label)?), ids: ids.clone() }
        }
    };
    let weight = Weight::find(args, &table)?;
    let mut others = ids.clone();
    others.extend(truths.column());
    // A truth beside the answers is no classifier, also where truths come from elsewhere or are not wanted.
    if let Some(label) = label.filter(|label| truths.column().is_none() && table.has_column(label)) {
        others.push(table.column(label)?);
    }
    others.extend(weight.as_ref().map(|weight| weight.column));
    let columns = pick(table.header(), args, &others, &table.header_location())?;
    let mut counted = None;
    if let Which::Unlabelled { panel, counted: ids } = sum.keep.which {
        let names: Vec<&String> = columns.iter().map(|&column| &table.header()[column]).collect();
        refuse_others(panel, &names, &table.header_location())?;
        counted = Some(Arc::clone(ids));
    }
    table.select_columns(columns.iter().chain(&others).copied());

    let whole = weight.as_ref().map(|weight| weight.whole);
    let truths = Arc::new(truths);
    let plan = Plan {
        columns: columns.clone(),
        truths: Arc::clone(&truths),
        weight,
        skips: !sum.keep.which.has_unlabelled(),
        ids,
        keeps_ids: sum.keep.with_ids,
        counted,
    };
    let mut told_rows = table.map_blocks(move |rows| plan.tell(rows));
    let mut notes = Notes::default();
    let mut gathered = Gathered::new(told_rows.table(), &columns)?;
    while let Some(told) = told_rows.next()? {
        notes.n_skipped += told.n_skipped;
        notes.n_again += told.n_again;
        told.ids.iter().for_each(|id| sum.ids.insert(id));
        let (mut from, end) = (0, told.places.n_rows());
        while from < end {
            let to = end.min(from + piece(columns.len()) - gathered.n_rows());
            gathered.take(&told, from..to)?;
            from = to;
            if gathered.n_rows() == piece(columns.len()) {
                let full = mem::replace(&mut gathered, Gathered::new(told_rows.table(), &columns)?);
                full.count(whole, told_rows.table(), &mut notes, sum)?;
            }
        }
        told.fault.map_or(Ok(()), Err)?;
    }
    gathered.count(whole, told_rows.table(), &mut notes, sum)?;
    if let Truths::Elsewhere { gold, .. } = &*truths {
        gold.note(&mut notes, told_rows.table().location())?;
    }
    Ok(notes)
}

/// Different labels that a column may always have.
const ENOUGH: usize = 20;

/// What the engine refuses for want of memory, with the likely reason: a column that names the rows.
fn memory_refusal(piece: &Piece, table: &Table, error: Error) -> Error {
    let Error::Engine { source: spocc::Error::MemoryLimit { .. }, .. } = error else { return error };
    let n_rows = piece.answers.n_rows();
    let different = piece.answers.n_distinct_labels();
    let is_name = |(_, different): &(&String, &usize)| **different == n_rows && n_rows >= ENOUGH;
    match piece.answers.classifiers().iter().zip(&different).find(is_name) {
        Some((name, _)) => {
            let expected = format!("predictions in column `{name}`, in memory");
            let found =
                format!("a different label in every row (if it names the rows, say so: --id '{name}')");
            table.header_location().refused(expected, found)
        }
        None => error,
    }
}

/// What to look for in rows.
struct Plan {
    columns: Vec<usize>,
    truths: Arc<Truths>,
    weight: Option<Weight>,
    /// Whether rows without a truth are left out.
    skips: bool,
    /// The columns that name rows.
    ids: Vec<usize>,
    keeps_ids: bool,
    /// The ids of rows that are left out.
    counted: Option<Arc<IdSet>>,
}

/// What some rows tell.
struct Told {
    file: Location,
    places: RowPositions,
    answers: LabelCodes,
    truths: LabelCodes,
    weights: Vec<f64>,
    counts: Vec<u64>,
    ids: RowIds,
    n_skipped: u64,
    n_again: u64,
    /// Why there are no more rows.
    fault: Option<Error>,
}

impl Plan {
    fn tell(&self, rows: &RowBlock) -> Told {
        let mut told = Told {
            file: rows.file().clone(),
            places: RowPositions::default(),
            answers: LabelCodes::default(),
            truths: LabelCodes::default(),
            weights: Vec::new(),
            counts: Vec::new(),
            ids: RowIds::default(),
            n_skipped: 0,
            n_again: 0,
            fault: None,
        };
        told.answers.codes.reserve(rows.n_rows() * self.columns.len());
        let (mut answers, mut truths) = (LabelEncoder::default(), LabelEncoder::default());
        let none = match &*self.truths {
            Truths::Elsewhere { gold, .. } => gold.missing(),
            _ => truths.missing_code(),
        };
        for row in 0..rows.n_rows() {
            if let Err(fault) = self.tell_row(rows, row, &mut answers, (&mut truths, none), &mut told) {
                told.fault = Some(fault);
                break;
            }
        }
        told.answers.labels = answers.finish();
        told.truths.labels = match &*self.truths {
            Truths::Elsewhere { gold, .. } => gold.labels(),
            _ => truths.finish(),
        };
        told
    }

    fn tell_row(
        &self,
        rows: &RowBlock,
        row: usize,
        answers: &mut LabelEncoder,
        (truths, none): (&mut LabelEncoder, u32),
        told: &mut Told,
    ) -> Result<(), Error> {
        if self.counted.as_ref().is_some_and(|counted| counted.has_row(rows, row, &self.ids)) {
            told.n_again += 1;
            return Ok(());
        }
        let truth = match &*self.truths {
            Truths::Column(column) => {
                let truth = truths.encode(rows, row, *column)?;
                truths.label(truth).map(|_| truth)
            }
            Truths::Elsewhere { gold, ids } => gold.truth(rows, row, ids),
            Truths::Unknown => None,
        };
        if truth.is_none() && self.skips {
            told.n_skipped += 1;
            return Ok(());
        }
        if self.keeps_ids {
            told.ids.push(rows, row, &self.ids);
        }
        told.truths.codes.push(truth.unwrap_or(none));
        match self.weight.as_ref().map(|weight| weight.read(rows, row)).transpose()? {
            Some(Weighed::Weight(weight)) => told.weights.push(weight),
            Some(Weighed::Count(count)) => told.counts.push(count),
            None => {}
        }
        answers.encode_row(rows, row, &self.columns, &mut told.answers.codes)?;
        told.places.push(rows.position(row));
        Ok(())
    }
}

/// Rows gathered to be counted in one go.
struct Gathered {
    answers: Answers,
    truth: Truth,
    weights: Vec<f64>,
    counts: Vec<u64>,
}

impl Gathered {
    fn new(table: &Table, columns: &[usize]) -> Result<Self, Error> {
        let (weights, counts) = (Vec::new(), Vec::new());
        Ok(Self { answers: Answers::new(table, columns)?, truth: Truth::default(), weights, counts })
    }

    fn n_rows(&self) -> usize {
        self.answers.n_rows()
    }

    fn take(&mut self, told: &Told, rows: Range<usize>) -> Result<(), Error> {
        let truths = self.take_truths(told, rows.clone());
        let answers = self.answers.take(&told.answers, rows.clone(), &told.file, &told.places);
        match (truths, answers) {
            // Whichever comes first.
            (Err((first, error)), Err((other, _))) if first <= other => return Err(error),
            (_, Err((_, error))) | (Err((_, error)), _) => return Err(error),
            (Ok(()), Ok(())) => {}
        }
        self.weights.extend(told.weights.get(rows.clone()).unwrap_or_default());
        self.counts.extend(told.counts.get(rows).unwrap_or_default());
        Ok(())
    }

    fn take_truths(&mut self, told: &Told, rows: Range<usize>) -> Result<(), (usize, Error)> {
        let refused =
            |(row, error): (usize, spocc::Error)| (row, told.places.location(&told.file, row).engine(error));
        let truth = &mut self.truth;
        let symbols =
            told.truths.symbols(rows.clone(), |label| truth.symbol(label.clone())).map_err(refused)?;
        for row in rows {
            let symbol = symbols[told.truths.codes[row] as usize];
            truth.push_symbol(symbol).map_err(|error| refused((row, error)))?;
        }
        Ok(())
    }

    /// Counts the rows; `whole` tells whether their weights are counts.
    fn count(
        self,
        whole: Option<bool>,
        table: &Table,
        notes: &mut Notes,
        sum: &mut Sum<'_>,
    ) -> Result<(), Error> {
        let (answers, lines) = self.answers.finish();
        let counts = (whole == Some(true)).then_some(self.counts);
        let weights = (whole == Some(false)).then_some(self.weights);
        let piece = Piece { answers, truth: self.truth, weights, counts, lines };
        let n_known = piece.truth.n_known() as u64;
        notes.n_rows += n_known;
        notes.n_unlabelled += piece.answers.n_rows() as u64 - n_known;
        if piece.answers.n_rows() == 0 {
            return Ok(());
        }
        sum.add(&piece).map_err(|error| memory_refusal(&piece, table, error))
    }
}

/// Where truths are.
enum Truths {
    Column(usize),
    Elsewhere { gold: Box<Gold>, ids: Vec<usize> },
    Unknown,
}

impl Truths {
    fn column(&self) -> Option<usize> {
        match self {
            Self::Column(column) => Some(*column),
            _ => None,
        }
    }
}

/// What a row counts.
enum Weighed {
    Weight(f64),
    Count(u64),
}

/// How much a row counts.
struct Weight {
    column: usize,
    expected: String,
    whole: bool,
}

impl Weight {
    fn find(args: &ColumnArgs, table: &Table) -> Result<Option<Self>, Error> {
        let (name, what, whole) = match (&args.weight, &args.count) {
            (Some(name), _) => (name, "a weight from 0", false),
            (None, Some(name)) => (name, "a whole count from 0", true),
            (None, None) => return Ok(None),
        };
        let expected = format!("{what} in column `{name}`");
        Ok(Some(Self { column: table.column(name)?, expected, whole }))
    }

    fn read(&self, rows: &RowBlock, row: usize) -> Result<Weighed, Error> {
        let text = rows.text(row, self.column)?;
        let word = text.trim();
        let weighed = if self.whole {
            // Data frames write whole numbers as 3.0 where a column has gaps.
            word.strip_suffix(".0").unwrap_or(word).parse().ok().map(Weighed::Count)
        } else {
            word.parse().ok().filter(|weight: &f64| weight.is_finite() && *weight >= 0.0).map(Weighed::Weight)
        };
        weighed.ok_or_else(|| rows.location(row).refused(&self.expected, format!("`{text}`")))
    }
}
