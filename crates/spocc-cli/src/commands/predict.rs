//! `spocc predict`: a model decides the rows of a table.

use spocc::{Control, Model, Predictions};
use spocc_table::{
    BlockResults, LabelCodes, LabelEncoder, RowBlock, RowLocations, RowPositions, Table, TextColumn,
};

use crate::{
    args::{Column, PredictArgs},
    commands::clerk::Clerk,
    decided::{Heading, Shape, Sheet},
    error::{Error, Location, list, nearest, quoted},
    input::Input,
    labelled::{Answers, LongTable, Who, piece},
    output::Output,
    tell,
};

/// Decides every row of a table and writes the decisions.
///
/// # Errors
///
/// [`Error::Usage`], [`Error::Table`].
pub(crate) fn predict(args: &PredictArgs, control: &Control<'_>) -> Result<(), Error> {
    let columns = columns(args);
    refuse_repeats(args, &columns)?;
    let shape = Shape::new(args.format, &args.output)?;
    let output = Output::new(&args.output)?;
    output.refuse_inputs(args.input.iter().chain([&args.model]))?;
    let (place, model) = Input::model(&args.model)?;
    let promised = args.sets.coverage.map_or(Ok(()), |coverage| model.check_coverage(coverage));
    promised.map_err(|error| place.engine(error))?;
    if columns.contains(&Column::Probability) && !model.method().capabilities().probabilities {
        let expected = "a model with probabilities for --columns probability";
        return Err(place.refused(expected, format!("one of {}", model.method())).into());
    }
    let mut source = Source::open(args, &model)?;
    let ids = source.ids.clone();
    let heading = Heading {
        ids: &ids,
        #[cfg(feature = "arrow")]
        id_types: source.id_types.clone(),
        columns: &columns,
        classes: model.classes(),
        abstains: args.sets.may_abstain(),
    };
    heading.refuse_repeats(shape.is_json())?;
    // The first rows are checked before anything is written: most mistakes show there.
    let mut clerk = Clerk::new(&model, args, control);
    let first = source.next()?;
    first.as_ref().map_or(Ok(()), |piece| clerk.check(piece))?;
    let work = |sheet: &mut dyn Sheet| {
        let mut next = first;
        while let Some(piece) = next {
            clerk.write(&piece, sheet)?;
            next = source.next()?;
            next.as_ref().map_or(Ok(()), |piece| clerk.check(piece))?;
        }
        Ok(clerk)
    };
    output.write(|out| shape.write(out, &heading, work))?.tell();
    Ok(())
}

/// What was asked for, and what comes with sets.
fn columns(args: &PredictArgs) -> Vec<Column> {
    let of_set = args.sets.coverage.map_or(&[][..], |_| &[Column::Set, Column::SetSize]);
    [&args.columns, of_set].concat()
}

/// Refuses two output columns of one name as far as that is known before there is a model.
fn refuse_repeats(args: &PredictArgs, columns: &[Column]) -> Result<(), Error> {
    let ids: Vec<String> = match (&args.table.long, &args.id) {
        (Some(long), _) => vec![long.item.clone()],
        (None, ids) => ids.iter().flat_map(|names| names.0.clone()).collect(),
    };
    let heading = Heading {
        ids: &ids,
        #[cfg(feature = "arrow")]
        id_types: Vec::new(),
        columns,
        classes: &[],
        abstains: false,
    };
    Ok(heading.refuse_repeats(false)?)
}

/// The columns of the model's classifiers; if `allow_missing`, of those that the table has.
///
/// # Errors
///
/// [`spocc_table::Error::Refused`] if some are missing, or all of them.
pub(super) fn columns_of(
    model: &Model,
    table: &Table,
    allow_missing: bool,
) -> Result<Vec<usize>, spocc_table::Error> {
    let (there, missing): (Vec<String>, Vec<String>) =
        model.classifiers().iter().cloned().partition(|name| table.has_column(name));
    if missing.is_empty() || allow_missing && !there.is_empty() {
        return table.columns(&there);
    }
    let near = missing.iter().find_map(|name| nearest(name, table.unused()));
    let near = near.map(|near| format!("did you mean {}?", quoted(near)));
    let without = (!there.is_empty()).then(|| "--allow-missing goes on without absent ones".to_owned());
    let hints: Vec<String> = near.into_iter().chain(without).collect();
    let hint = if hints.is_empty() { String::new() } else { format!(" ({})", hints.join(" ")) };
    let expected = format!("a column for each of the model's {} classifiers", model.classifiers().len());
    let found = format!("none for {} among {}", list(&missing), list(table.header()));
    Err(table.header_location().refused_with(expected, hint, found))
}

/// Says which classifiers have no column.
pub(super) fn tell_absent(absent: &[String], model: &Model) {
    if !absent.is_empty() {
        tell(format_args!(
            "note: no column for {} of {} classifiers, whose predictions count as missing: {}",
            absent.len(),
            model.classifiers().len(),
            list(absent)
        ));
    }
}

/// Rows to decide.
pub(super) struct Piece {
    pub(super) ids: Vec<TextColumn>,
    pub(super) answers: Predictions,
    pub(super) lines: RowLocations,
    pub(super) place: Location,
}

/// Where rows come from, a piece at a time.
struct Source {
    ids: Vec<String>,
    #[cfg(feature = "arrow")]
    id_types: Vec<spocc_table::ArrowType>,
    kind: Kind,
}

enum Kind {
    Wide(Box<Wide>),
    Long(Option<Box<Piece>>),
}

/// Rows of a wide table.
struct Wide {
    told_rows: BlockResults<Told>,
    columns: Vec<usize>,
    n_ids: usize,
    /// What was read already, and its first row that was not handed out.
    told: Option<(Told, usize)>,
}

/// What some rows tell.
struct Told {
    file: Location,
    places: RowPositions,
    answers: LabelCodes,
    ids: Vec<TextColumn>,
    /// Why there are no more rows.
    fault: Option<spocc_table::Error>,
}

impl Source {
    fn open(args: &PredictArgs, model: &Model) -> Result<Self, spocc_table::Error> {
        let mut table = Table::open(&args.input, &args.table.reading())?;
        if let Some(long) = &args.table.long {
            table.set_used([&long.item, &long.classifier, &long.label]);
            let place = table.location().clone();
            let who = Who::Only(model.classifiers());
            let read = LongTable::read(table, long, args.table.repeats, &who, None)?;
            let piece = Piece { ids: vec![read.items], answers: read.answers, lines: read.lines, place };
            return Ok(Self {
                ids: vec![long.item.clone()],
                #[cfg(feature = "arrow")]
                id_types: vec![spocc_table::ArrowType::Utf8],
                kind: Kind::Long(Some(Box::new(piece))),
            });
        }
        let names = args.id.as_ref().map_or(Vec::new(), |names| names.0.clone());
        table.set_used(names.iter().chain(model.classifiers()));
        let ids = table.columns(&names)?;
        let columns = columns_of(model, &table, args.allow_missing)?;
        table.select_columns(ids.iter().chain(&columns).copied());
        #[cfg(feature = "arrow")]
        let id_types = ids.iter().map(|&column| table.arrow_type(column)).collect();
        let (n_ids, wanted) = (ids.len(), columns.clone());
        let told_rows = table.map_blocks(move |rows| read(rows, &wanted, &ids));
        Ok(Self {
            ids: names,
            #[cfg(feature = "arrow")]
            id_types,
            kind: Kind::Wide(Box::new(Wide { told_rows, columns, n_ids, told: None })),
        })
    }

    fn next(&mut self) -> Result<Option<Piece>, spocc_table::Error> {
        let Wide { told_rows, columns, n_ids, told } = match &mut self.kind {
            Kind::Long(piece) => return Ok(piece.take().map(|piece| *piece)),
            Kind::Wide(wide) => &mut **wide,
        };
        let limit = piece(columns.len()) / 4;
        let mut answers = Answers::new(told_rows.table(), columns)?;
        let mut ids = vec![TextColumn::default(); *n_ids];
        while answers.n_rows() < limit {
            let (rest, from) = match told.take() {
                Some(rest) => rest,
                None => match told_rows.next()? {
                    Some(told) => (told, 0),
                    None => break,
                },
            };
            let to = rest.places.n_rows().min(from + limit - answers.n_rows());
            answers.take(&rest.answers, from..to, &rest.file, &rest.places).map_err(|(_, error)| error)?;
            ids.iter_mut().zip(&rest.ids).for_each(|(ids, more)| ids.extend(more, from..to));
            if to < rest.places.n_rows() {
                *told = Some((rest, to));
            } else if answers.n_rows() == limit && rest.fault.is_some() {
                // Nothing is wrong with the rows of this piece.
                *told = Some((rest, to));
            } else {
                rest.fault.map_or(Ok(()), Err)?;
            }
        }
        let (answers, lines) = answers.finish();
        let place = told_rows.table().location().clone();
        Ok((answers.n_rows() > 0).then_some(Piece { ids, answers, lines, place }))
    }
}

fn read(rows: &RowBlock, columns: &[usize], ids: &[usize]) -> Told {
    let (file, places, answers) = (rows.file().clone(), RowPositions::default(), LabelCodes::default());
    let mut told = Told { file, places, answers, ids: vec![TextColumn::default(); ids.len()], fault: None };
    told.answers.codes.reserve(rows.n_rows() * columns.len());
    let mut marker = LabelEncoder::default();
    for row in 0..rows.n_rows() {
        let copy = |cells: &mut TextColumn, column: usize| {
            let there = rows.cell(row, column).is_some();
            cells.push(there.then(|| rows.text(row, column)).transpose()?);
            Ok(())
        };
        let marked = marker.encode_row(rows, row, columns, &mut told.answers.codes);
        let copied = marked
            .and_then(|()| told.ids.iter_mut().zip(ids).try_for_each(|(cells, &column)| copy(cells, column)));
        if let Err(fault) = copied {
            told.fault = Some(fault);
            break;
        }
        told.places.push(rows.position(row));
    }
    told.answers.labels = marker.finish();
    told
}
