//! Wide tables: a column per classifier.

use spocc::Truth;

use crate::{
    args::PanelArgs,
    error::Error,
    labelled::{Gold, Notes, Piece, Sum, pick},
    table::{Answers, Known, Table},
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
    args: &PanelArgs,
    label: &str,
    sum: &mut Sum<'_>,
) -> Result<Notes, Error> {
    let ids = args.id.as_ref().map_or(Ok(Vec::new()), |names| table.columns(&names.0))?;
    let mut truths = match &args.gold {
        Some(path) => Truths::Elsewhere { gold: Gold::read(path, args, label)?, ids: ids.clone() },
        None => Truths::Column(table.column(label)?),
    };
    let weight = Weight::find(args, &table)?;
    let mut others = ids;
    others.extend(truths.column());
    // A truth beside the answers is no classifier, also where truths come from elsewhere.
    if args.gold.is_some() && table.has(label) {
        others.push(table.column(label)?);
    }
    others.extend(weight.as_ref().map(|weight| weight.column));
    let columns = pick(table.header(), args, &others, &table.beginning())?;
    table.ask_only(columns.iter().chain(&others).copied());

    let mut notes = Notes::default();
    loop {
        let (piece, is_last) = read(&mut table, &columns, &mut truths, weight.as_ref(), &mut notes)?;
        if args.classifiers.is_none() {
            refuse_names_of_rows(&piece, &notes, &table)?;
        }
        if piece.answers.n_rows() > 0 {
            sum.add(&piece)?;
        }
        if is_last {
            break;
        }
    }
    if let Truths::Elsewhere { gold, .. } = &truths {
        gold.note(&mut notes, table.source())?;
    }
    Ok(notes)
}

/// Refuses a column that never says the same thing twice: it names rows and has no opinion about them.
fn refuse_names_of_rows(piece: &Piece, notes: &Notes, table: &Table) -> Result<(), Error> {
    const ENOUGH: usize = 20;
    let n_rows = piece.answers.n_rows();
    let is_name = |(_, different): &&(String, usize)| *different == n_rows && n_rows >= ENOUGH;
    match notes.different.iter().find(is_name) {
        Some((name, _)) => {
            let expected = format!("answers in column `{name}`");
            let found = format!("another one in every row (does it name them? then say --id '{name}')");
            Err(table.beginning().refused(expected, found))
        }
        None => Ok(()),
    }
}

/// The next so many rows with a truth, and whether they are the last.
fn read(
    table: &mut Table,
    columns: &[usize],
    truths: &mut Truths,
    weight: Option<&Weight>,
    notes: &mut Notes,
) -> Result<(Piece, bool), Error> {
    let mut answers = Answers::new(table, columns.to_vec())?;
    let (mut truth, mut known) = (Truth::default(), Known::default());
    let (mut weights, mut counts) = (Vec::new(), Vec::new());
    let mut is_last = false;
    while answers.n_rows() < piece(columns.len()) {
        if !table.next()? {
            is_last = true;
            break;
        }
        if !truths.push(table, &mut truth, &mut known)? {
            notes.n_skipped += 1;
            continue;
        }
        let weighed = weight.map(|weight| weight.read(table)).transpose()?;
        answers.push(table)?;
        notes.n_rows += 1;
        match weighed {
            Some(Weighed::Weight(weight)) => weights.push(weight),
            Some(Weighed::Count(count)) => counts.push(count),
            None => {}
        }
    }
    let different = answers.n_different();
    let (answers, lines) = answers.finish();
    let named = answers.classifiers().iter().cloned().zip(different);
    if notes.different.is_empty() {
        notes.different = named.collect();
    } else {
        notes.different.iter_mut().zip(named).for_each(|(known, here)| known.1 = known.1.max(here.1));
    }
    let whole = weight.is_some_and(|weight| weight.whole);
    let counts = whole.then_some(counts);
    let weights = (weight.is_some() && !whole).then_some(weights);
    Ok((Piece { answers, truth, weights, counts, lines }, is_last))
}

/// Where truths are.
enum Truths {
    Column(usize),
    Elsewhere { gold: Gold, ids: Vec<usize> },
}

impl Truths {
    fn column(&self) -> Option<usize> {
        match self {
            Self::Column(column) => Some(*column),
            Self::Elsewhere { .. } => None,
        }
    }

    /// Takes the truth of the present row; false if there is none.
    fn push(&mut self, table: &Table, truth: &mut Truth, known: &mut Known) -> Result<bool, Error> {
        let engine = |error| table.here().engine(error);
        match self {
            Self::Column(column) => {
                let symbol = known.symbol(table, *column, |label| truth.symbol(label).map_err(engine))?;
                if symbol.is_some() {
                    truth.push_symbol(symbol).map_err(engine)?;
                }
                Ok(symbol.is_some())
            }
            Self::Elsewhere { gold, ids } => match gold.truth(table, ids) {
                Some(label) => truth.push(Some(label.clone())).map_err(engine).map(|()| true),
                None => Ok(false),
            },
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
    fn find(args: &PanelArgs, table: &Table) -> Result<Option<Self>, Error> {
        let (name, what, whole) = match (&args.weight, &args.count) {
            (Some(name), _) => (name, "a weight from 0", false),
            (None, Some(name)) => (name, "a whole count from 0", true),
            (None, None) => return Ok(None),
        };
        let expected = format!("{what} in column `{name}`");
        Ok(Some(Self { column: table.column(name)?, expected, whole }))
    }

    fn read(&self, table: &Table) -> Result<Weighed, Error> {
        let text = table.text(self.column)?;
        let word = text.trim();
        let weighed = if self.whole {
            // Data frames write whole numbers as 3.0 where a column has gaps.
            word.strip_suffix(".0").unwrap_or(word).parse().ok().map(Weighed::Count)
        } else {
            word.parse().ok().filter(|weight: &f64| weight.is_finite() && *weight >= 0.0).map(Weighed::Weight)
        };
        weighed.ok_or_else(|| table.here().refused(&self.expected, format!("`{text}`")))
    }
}
