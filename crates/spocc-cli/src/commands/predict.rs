//! `spocc predict`: a model decides the rows of a table.

use std::collections::BTreeMap;

use spocc::{Decisions, Model, Predictions, Unseen, Watch};

use crate::{
    args::{Column, PredictArgs},
    decided::{Block, Heading, Shape, Sheet},
    error::{Error, Place, list, suggestion},
    input::Input,
    labelled::{LongTable, Who, piece, rows},
    output::Output,
    table::{Answers, Lines, Table},
    tell,
};

/// Possibilities held at a time, of rows decided in full.
const DEGREES: usize = 1 << 22;

/// Unseen answers told one by one.
const SHOWN: usize = 8;

/// Decides every row of a table and writes the decisions.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Refused`], [`Error::Engine`], [`Error::Io`].
pub(crate) fn predict(args: &PredictArgs, watch: &Watch<'_>) -> Result<(), Error> {
    refuse_repeats(args)?;
    let shape = Shape::new(args.format, &args.output)?;
    let output = Output::new(&args.output)?;
    output.refuse_inputs(args.input.iter().chain([&args.model]))?;
    let (_, model) = Input::model(&args.model)?;
    let mut source = Source::open(args, &model)?;
    let ids = source.ids.clone();
    let heading = Heading {
        ids: &ids,
        #[cfg(feature = "arrow")]
        id_types: source.id_types(),
        columns: &args.columns,
        classes: model.classes(),
    };
    heading.refuse_repeats(shape.is_json())?;
    // The first rows are decided before anything is written: most mistakes show there.
    let mut clerk = Clerk { model: &model, args, watch, summary: Summary::default() };
    let first = source.next()?;
    let decided = first.as_ref().map(|piece| clerk.decide(piece)).transpose()?;
    let work = |sheet: &mut dyn Sheet| {
        let (mut piece, mut decided) = (first, decided);
        while let (Some(rows), Some(done)) = (piece, decided) {
            clerk.write(&rows, &done, sheet)?;
            piece = source.next()?;
            decided = piece.as_ref().map(|piece| clerk.decide(piece)).transpose()?;
        }
        Ok(clerk.summary)
    };
    let summary = output.write(|out| shape.write(out, &heading, work))?;
    summary.tell(&model);
    Ok(())
}

/// Refuses two output columns of one name as far as that is known before there is a model.
fn refuse_repeats(args: &PredictArgs) -> Result<(), Error> {
    let ids: Vec<String> = match (&args.table.long, &args.id) {
        (Some(long), _) => vec![long.item.clone()],
        (None, ids) => ids.iter().flat_map(|names| names.0.clone()).collect(),
    };
    let heading = Heading {
        ids: &ids,
        #[cfg(feature = "arrow")]
        id_types: Vec::new(),
        columns: &args.columns,
        classes: &[],
    };
    Ok(heading.refuse_repeats(false)?)
}

/// The classifiers' columns, by name.
pub(super) fn columns_of(model: &Model, table: &Table) -> Result<Vec<usize>, Error> {
    let missing: Vec<&String> = model.classifiers().iter().filter(|name| !table.has(name)).collect();
    let Some(first) = missing.first() else { return table.columns(model.classifiers()) };
    let expected = format!("a column for each of the model's {} classifiers", model.classifiers().len());
    let near = suggestion(first, table.header());
    let found = if missing.len() == model.classifiers().len() {
        format!("none of {}{near}", list(&missing))
    } else {
        format!("no {}{near}", list(&missing))
    };
    Err(table.beginning().refused(expected, found))
}

/// Rows to decide.
struct Piece {
    ids: Vec<Vec<Option<String>>>,
    answers: Predictions,
    lines: Lines,
    place: Place,
}

/// Where rows come from, a piece at a time.
struct Source {
    ids: Vec<String>,
    kind: Kind,
}

enum Kind {
    Wide { table: Table, ids: Vec<usize>, columns: Vec<usize>, is_done: bool },
    Long(Option<Piece>),
}

impl Source {
    fn open(args: &PredictArgs, model: &Model) -> Result<Self, Error> {
        let mut table = Table::open(&args.input, &args.table.reading())?;
        if let Some(long) = &args.table.long {
            let place = table.source().clone();
            let who = Who::Only(model.classifiers());
            let read = LongTable::read(table, long, args.table.repeats, &who, None)?;
            let items = read.items.into_iter().map(Some).collect();
            let piece = Piece { ids: vec![items], answers: read.answers, lines: read.lines, place };
            return Ok(Self { ids: vec![long.item.clone()], kind: Kind::Long(Some(piece)) });
        }
        let names = args.id.as_ref().map_or(Vec::new(), |names| names.0.clone());
        let ids = table.columns(&names)?;
        let columns = columns_of(model, &table)?;
        table.ask_only(ids.iter().chain(&columns).copied());
        Ok(Self { ids: names, kind: Kind::Wide { table, ids, columns, is_done: false } })
    }

    /// The types of the ids, to be written again.
    #[cfg(feature = "arrow")]
    fn id_types(&self) -> Vec<crate::table::ArrowType> {
        match &self.kind {
            Kind::Wide { table, ids, .. } => ids.iter().map(|&column| table.arrow_type(column)).collect(),
            Kind::Long(_) => vec![crate::table::ArrowType::Utf8],
        }
    }

    fn next(&mut self) -> Result<Option<Piece>, Error> {
        let (table, ids, columns, is_done) = match &mut self.kind {
            Kind::Long(piece) => return Ok(piece.take()),
            Kind::Wide { table, ids, columns, is_done } => (table, ids, columns, is_done),
        };
        let mut answers = Answers::new(table, columns.clone())?;
        let mut copied = vec![Vec::new(); ids.len()];
        while !*is_done && answers.n_rows() < piece(columns.len()) / 4 {
            if !table.next()? {
                *is_done = true;
                break;
            }
            answers.push(table)?;
            for (cells, &column) in copied.iter_mut().zip(&*ids) {
                let there = table.cell(column).is_some();
                cells.push(there.then(|| table.text(column).map(str::to_owned)).transpose()?);
            }
        }
        let (answers, lines) = answers.finish();
        let place = table.source().clone();
        Ok((answers.n_rows() > 0).then_some(Piece { ids: copied, answers, lines, place }))
    }
}

/// Decides pieces and writes them down.
struct Clerk<'a> {
    model: &'a Model,
    args: &'a PredictArgs,
    watch: &'a Watch<'a>,
    summary: Summary,
}

impl Clerk<'_> {
    fn decide(&mut self, piece: &Piece) -> Result<Decisions, Error> {
        let blame = |error| piece.lines.blame(&piece.place, error);
        let mut aligned = self.model.align(&piece.answers).map_err(blame)?;
        if self.args.strict {
            aligned = aligned.strict().map_err(blame)?;
        }
        let decisions = aligned.decide_all(self.watch).map_err(blame)?;
        self.summary.add(&decisions);
        Ok(decisions)
    }

    fn write(&self, piece: &Piece, decisions: &Decisions, sheet: &mut dyn Sheet) -> Result<(), Error> {
        // Decisions in full cost more than labels alone: they are made only for what needs them.
        let in_full = self.args.columns.iter().any(|column| *column != Column::Decision);
        if !in_full {
            let block = Block { ids: &piece.ids, first: 0, rulings: decisions.rulings(), decisions: &[] };
            return Ok(sheet.write(&block)?);
        }
        let blame = |error| piece.lines.blame(&piece.place, error);
        let aligned = self.model.align(&piece.answers).map_err(blame)?;
        let n_rows = (DEGREES / self.model.classes().len().max(1)).max(1);
        for (at, rulings) in decisions.rulings().chunks(n_rows).enumerate() {
            let first = at * n_rows;
            let full = aligned.decide_rows(first..first + rulings.len()).map_err(blame)?;
            sheet.write(&Block { ids: &piece.ids, first, rulings, decisions: &full })?;
        }
        Ok(())
    }
}

/// How it went.
#[derive(Default)]
struct Summary {
    n_rows: usize,
    n_ties: usize,
    n_prior: usize,
    /// Rows with each unseen answer, by classifier and label.
    unseen: BTreeMap<(String, String), usize>,
}

impl Summary {
    fn add(&mut self, decisions: &Decisions) {
        self.n_rows += decisions.rulings().len();
        self.n_ties += decisions.n_ties();
        self.n_prior += decisions.n_prior();
        for Unseen { classifier, label, n_rows, .. } in decisions.unseen() {
            *self.unseen.entry((classifier.clone(), label.to_string())).or_default() += n_rows;
        }
    }

    fn tell(&self, model: &Model) {
        tell(format_args!(
            "decided {} by {}: {} tied, {} by the prior alone",
            rows(self.n_rows as u64),
            model.method(),
            self.n_ties,
            self.n_prior
        ));
        for ((classifier, label), n) in self.unseen.iter().take(SHOWN) {
            tell(format_args!(
                "note: `{classifier}` said `{label}` in {n} of them, which the model never met: taken for silence"
            ));
        }
        if let more @ 1.. = self.unseen.len().saturating_sub(SHOWN) {
            tell(format_args!("note: and {more} more such answers"));
        }
    }
}
