//! Reads a table of predictions in batches, so that memory does not grow with the number of rows.

use spocc::{Control, Model, data::Normalise};
use spocc_table::{
    BlockResults, Error, LabelCodes, LabelEncoder, Location, RowBlock, RowLocations, RowPositions, Table,
    TextColumn, write::ColumnType,
};

use crate::{
    args::PredictArgs,
    commands::predict::columns_of,
    read::{ClassifierFilter, LongTable, RowCollector, TableRows, batch_size, batch_text},
};

/// Rows to decide at once.
pub(super) struct InputBatch {
    pub(super) ids: Vec<TextColumn>,
    pub(super) rows: TableRows,
    pub(super) lines: RowLocations,
    pub(super) place: Location,
}

/// The batches of a table.
pub(super) struct BatchReader {
    /// Names and types of the columns that are copied.
    pub(super) ids: Vec<(String, ColumnType)>,
    layout: Layout,
}

enum Layout {
    Wide(Box<WideBatches>),
    /// A long table is one batch: its rows come in any order.
    Long(Option<Box<InputBatch>>),
}

/// The batches of a wide table.
struct WideBatches {
    blocks: BlockResults<ReadBlock>,
    columns: Vec<usize>,
    open: Option<Normalise>,
    n_ids: usize,
    /// A block that is only partly in the previous batch, and its first row that is not.
    rest: Option<(ReadBlock, usize)>,
}

/// The predictions and ids of some consecutive rows.
struct ReadBlock {
    file: Location,
    places: RowPositions,
    predictions: LabelCodes,
    ids: Vec<TextColumn>,
    /// The error that ends the table after these rows.
    fault: Option<Error>,
}

impl BatchReader {
    /// Opens the table and finds the columns of the model's classifiers.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`], [`Error::Io`].
    pub(super) fn open(args: &PredictArgs, model: &Model, control: &Control<'_>) -> Result<Self, Error> {
        let mut table = Table::open(&args.input, &args.table.reading(control))?;
        if let Some(long) = &args.table.long {
            table.set_used([&long.item, &long.classifier, &long.label]);
            let place = table.location().clone();
            let who = ClassifierFilter::Only(model.classifiers());
            let mut read = LongTable::read(table, long, args.table.repeats, &who, None)?;
            let rows = read.rows(model.normalise())?;
            let batch = InputBatch { ids: vec![read.items], rows, lines: read.lines, place };
            return Ok(Self {
                ids: vec![(long.item.clone(), ColumnType::default())],
                layout: Layout::Long(Some(Box::new(batch))),
            });
        }
        let names = args.id.as_ref().map_or(Vec::new(), |names| names.0.clone());
        table.set_used(names.iter().chain(model.classifiers()));
        let ids = table.columns(&names)?;
        let columns = columns_of(model, &table, args.allow_missing)?;
        table.select_columns(ids.iter().chain(&columns).copied());
        let types = ids.iter().map(|&column| table.column_type(column));
        let named_ids = names.into_iter().zip(types).collect();
        let (n_ids, wanted) = (ids.len(), columns.clone());
        let blocks = table.map_blocks(move |rows| read_block(rows, &wanted, &ids));
        Ok(Self {
            ids: named_ids,
            layout: Layout::Wide(Box::new(WideBatches {
                blocks,
                columns,
                open: model.normalise(),
                n_ids,
                rest: None,
            })),
        })
    }

    /// The next batch; none after the last row.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`], [`Error::Engine`], [`Error::Io`].
    pub(super) fn next(&mut self) -> Result<Option<InputBatch>, Error> {
        match &mut self.layout {
            Layout::Long(batch) => Ok(batch.take().map(|batch| *batch)),
            Layout::Wide(wide) => wide.next(),
        }
    }
}

impl WideBatches {
    fn next(&mut self) -> Result<Option<InputBatch>, Error> {
        let limit = batch_size(self.columns.len()) / 4;
        let mut predictions = RowCollector::new(self.blocks.table(), &self.columns, self.open)?;
        let mut ids = vec![TextColumn::default(); self.n_ids];
        let (most_text, mut n_text) = (batch_text(self.blocks.table()), 0);
        while predictions.n_rows() < limit && n_text <= most_text {
            let (block, from) = match self.rest.take() {
                Some(rest) => rest,
                None => match self.blocks.next()? {
                    Some(block) => (block, 0),
                    None => break,
                },
            };
            let to = block.places.n_rows().min(from + limit - predictions.n_rows());
            predictions.add(&block.predictions, from..to, &block.file, &block.places)?;
            ids.iter_mut().zip(&block.ids).for_each(|(ids, more)| ids.extend(more, from..to));
            n_text += block.ids.iter().map(TextColumn::n_bytes).sum::<usize>();
            n_text += block.predictions.n_bytes();
            // The error behind the last row of a full batch belongs to the next one.
            let is_full = predictions.n_rows() == limit;
            if to < block.places.n_rows() || is_full && block.fault.is_some() {
                self.rest = Some((block, to));
            } else {
                block.fault.map_or(Ok(()), Err)?;
            }
        }
        let (rows, lines) = predictions.finish();
        let place = self.blocks.table().location().clone();
        Ok((rows.predictions().n_rows() > 0).then_some(InputBatch { ids, rows, lines, place }))
    }
}

fn read_block(rows: &RowBlock, columns: &[usize], ids: &[usize]) -> ReadBlock {
    let (file, places, predictions) = (rows.file().clone(), RowPositions::default(), LabelCodes::default());
    let mut block =
        ReadBlock { file, places, predictions, ids: vec![TextColumn::default(); ids.len()], fault: None };
    block.predictions.codes.reserve(rows.n_rows() * columns.len());
    let mut marker = LabelEncoder::default();
    for row in 0..rows.n_rows() {
        let copy = |cells: &mut TextColumn, column: usize| {
            let is_present = rows.cell(row, column).is_some();
            cells.push(is_present.then(|| rows.text(row, column)).transpose()?);
            Ok(())
        };
        let marked = marker.encode_row(rows, row, columns, &mut block.predictions.codes);
        let copied = marked.and_then(|()| {
            block.ids.iter_mut().zip(ids).try_for_each(|(cells, &column)| copy(cells, column))
        });
        if let Err(fault) = copied {
            block.fault = Some(fault);
            break;
        }
        block.places.push(rows.position(row));
    }
    block.predictions.labels = marker.finish();
    block
}
