//! Long tables: a row per prediction instead of a column per classifier.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use spocc::{
    Label, Predictions, Truth,
    data::{Answers, Normalise, Symbol},
};
use spocc_table::{
    Error, LabelEncoder, LabelMerger, Location, RowBlock, RowLocations, RowPositions, Table, TextColumn,
    TextInterner,
};

use crate::{
    args::{ColumnArgs, LongColumns, Repeats},
    error::list,
    read::{
        CountBatch, EvidenceSum, ReadNotes, RowFilter, TableRows, TruthTable, refuse_other_classifiers,
        repeats::{Conflict, ItemPredictions, LongCell},
        row_ids::id_of,
        select_classifiers,
    },
};

/// Which classifiers of a long table are used.
pub(crate) enum ClassifierFilter<'a> {
    /// These, also if they have no predictions.
    Only(&'a [String]),
    /// Those selected by the options, in alphabetical order.
    Chosen(&'a ColumnArgs),
    /// These; other classifiers that the options do not exclude are refused.
    Exactly(&'a [String], &'a ColumnArgs),
}

/// A long table, turned into a row per item.
pub(crate) struct LongTable {
    /// The items in order of appearance.
    pub(crate) items: TextColumn,
    /// The classifiers.
    names: Vec<String>,
    /// The predictions for the items, in the order of the items: item, classifier, number in `predicted`.
    cells: Vec<(u32, u32, u32)>,
    predicted: Arc<[Option<Label>]>,
    source: Location,
    /// The first row of each item.
    pub(crate) lines: RowLocations,
    /// Repeated predictions that were not used.
    n_repeats: usize,
    /// The true labels of the items, by number in `labels`.
    truths: Vec<Option<u32>>,
    labels: Arc<[Option<Label>]>,
}

impl LongTable {
    /// Reads a long table. With a column of true labels, the true label of an item is any cell of its rows there that is
    /// not missing.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for a row without item or classifier, for two true labels of an item, and, depending on
    /// `repeats`, for two different predictions of one classifier for one item.
    pub(crate) fn read(
        mut table: Table,
        columns: &LongColumns,
        repeats: Repeats,
        filter: &ClassifierFilter<'_>,
        truth: Option<usize>,
    ) -> Result<Self, Error> {
        let layout = LongLayout {
            item: table.column(&columns.item)?,
            classifier: table.column(&columns.classifier)?,
            label: table.column(&columns.label)?,
            truth,
        };
        table.select_columns([layout.item, layout.classifier, layout.label].into_iter().chain(truth));
        let (source, memory) = (table.location().clone(), table.memory());
        let mut blocks = table.map_blocks(move |rows| layout.read(rows));
        let mut merger = LongMerger::default();
        while let Some(block) = blocks.next()? {
            merger.add(&block)?;
            source.allow("a long table", merger.n_bytes(), memory)?;
            block.fault.map_or(Ok(()), Err)?;
        }
        merger.finish(repeats, filter, &source)
    }
}

impl LongTable {
    /// The rows of the items, as labels or as open answers; the cells are then gone.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`] for more distinct labels than the engine supports.
    pub(crate) fn rows(&mut self, open: Option<Normalise>) -> Result<TableRows, Error> {
        let rows = match open {
            None => self.labels().map(|(predictions, truth)| TableRows::Labels(predictions, truth)),
            Some(normalise) => self.answers(normalise).map(TableRows::Answers),
        };
        rows.map_err(|error| self.source.engine(error))
    }

    fn labels(&mut self) -> Result<(Predictions, Truth), spocc::Error> {
        // Missing labels are not among the cells, so their entry is never used.
        let list: Vec<Label> =
            self.predicted.iter().map(|label| label.clone().unwrap_or_else(|| "".into())).collect();
        let cells = std::mem::take(&mut self.cells);
        let cells = cells.into_iter().map(|(item, k, label)| (item as usize, k as usize, label as usize));
        let names = self.names.iter().cloned();
        Ok((Predictions::from_cells(names, self.items.len(), &list, cells)?, truths(self)?))
    }

    fn answers(&mut self, normalise: Normalise) -> Result<Answers, spocc::Error> {
        let mut rows = Answers::builder(self.names.iter().cloned())?.normalised(normalise);
        let cells = std::mem::take(&mut self.cells);
        let mut cells = cells.iter().peekable();
        for item in 0..self.items.len() {
            let mut answers = Vec::new();
            while let Some(&(_, k, label)) = cells.next_if(|cell| cell.0 as usize == item) {
                if let Some(label) = &self.predicted[label as usize] {
                    answers.push((k as usize, rows.id(label.clone())?));
                }
            }
            let truth = self.truths[item].and_then(|truth| self.labels[truth as usize].clone());
            let truth = truth.map(|truth| rows.id(truth)).transpose()?;
            rows.push_cells(answers, truth)?;
        }
        Ok(rows.finish())
    }
}

/// The columns of a long table by number.
struct LongLayout {
    item: usize,
    classifier: usize,
    label: usize,
    truth: Option<usize>,
}

/// The predictions in a block of rows.
struct LongBlock {
    file: Location,
    places: RowPositions,
    /// The rows with a prediction.
    predicted: RowPositions,
    items: TextInterner,
    names: TextInterner,
    /// Item, classifier and label of each row.
    cells: Vec<LongCell>,
    /// The true label of each row, if there is such a column.
    truths: Vec<u32>,
    labels: Arc<[Option<Label>]>,
    fault: Option<Error>,
}

impl LongLayout {
    fn read(&self, rows: &RowBlock) -> LongBlock {
        let mut block = LongBlock {
            file: rows.file().clone(),
            places: RowPositions::default(),
            predicted: RowPositions::default(),
            items: TextInterner::default(),
            names: TextInterner::default(),
            cells: Vec::with_capacity(rows.n_rows()),
            truths: Vec::new(),
            labels: Arc::default(),
            fault: None,
        };
        let mut encoder = LabelEncoder::default();
        // A row with an invalid label may still have a true label that contradicts another row.
        let none = encoder.missing_code();
        for row in 0..rows.n_rows() {
            let found = self.names_of(rows, row, &mut encoder, &mut block).and_then(|(item, name)| {
                let label = encoder.encode(rows, row, self.label);
                block.cells.push((item, name, *label.as_ref().unwrap_or(&none)));
                block.places.push(rows.position(row));
                label
            });
            match found {
                Ok(label) if encoder.label(label).is_some() => block.predicted.push(rows.position(row)),
                Ok(_) => {}
                Err(fault) => {
                    block.fault = Some(fault);
                    break;
                }
            }
        }
        block.labels = encoder.finish();
        block
    }

    /// Interns the item and the classifier of a row, and encodes its true label.
    fn names_of(
        &self,
        rows: &RowBlock,
        row: usize,
        encoder: &mut LabelEncoder,
        block: &mut LongBlock,
    ) -> Result<(u32, u32), Error> {
        // A missing name is reported before an invalid one.
        let item = rows.intern(row, self.item, &mut block.items).map_err(|fault| {
            rows.refuse_missing(row, self.item)
                .and_then(|()| rows.refuse_missing(row, self.classifier))
                .err()
                .unwrap_or(fault)
        })?;
        let name = rows.intern(row, self.classifier, &mut block.names)?;
        if let Some(truth) = self.truth {
            block.truths.push(encoder.encode(rows, row, truth)?);
        }
        Ok((item, name))
    }
}

/// The predictions of all blocks so far.
#[derive(Default)]
struct LongMerger {
    items: TextInterner,
    names: TextInterner,
    labels: LabelMerger,
    truths: Vec<Option<u32>>,
    cells: Vec<LongCell>,
    /// The row of each cell.
    places: RowLocations,
    /// The first row of each item.
    lines: RowLocations,
}

impl LongMerger {
    fn add(&mut self, block: &LongBlock) -> Result<(), Error> {
        let items = numbers(&mut self.items, &block.items, &block.file)?;
        let names = numbers(&mut self.names, &block.names, &block.file)?;
        let labels = self.labels.codes(&block.labels);
        for (row, &(item, name, label)) in block.cells.iter().enumerate() {
            let item = items[item as usize];
            if item as usize == self.truths.len() {
                self.truths.push(None);
                self.lines.push(block.places.location(&block.file, row));
            }
            if let Some(truth) =
                block.truths.get(row).filter(|truth| block.labels[**truth as usize].is_some())
            {
                let truth = labels[*truth as usize];
                let known = *self.truths[item as usize].get_or_insert(truth);
                if let Some((before, here)) = self.labels.differ(known, truth) {
                    let found = format!("`{before}` before and `{here}` here");
                    return Err(block
                        .places
                        .location(&block.file, row)
                        .refused("one true label for an item", found));
                }
            }
            if block.labels[label as usize].is_some() {
                self.cells.push((item, names[name as usize], labels[label as usize]));
            }
        }
        self.places.extend(&block.file, &block.predicted, 0..block.predicted.n_rows());
        Ok(())
    }

    /// Bytes in memory once all items are rows, about: names are copied, and a prediction is stored four times.
    fn n_bytes(&self) -> usize {
        const CELL: usize = 4 * size_of::<LongCell>();
        const ITEM: usize = 3 * size_of::<Option<u32>>();
        2 * (self.items.n_bytes() + self.names.n_bytes() + self.labels.n_bytes())
            + self.cells.len() * CELL
            + self.truths.len() * ITEM
            + self.places.n_bytes()
            + self.lines.n_bytes()
    }

    fn finish(
        self,
        repeats: Repeats,
        filter: &ClassifierFilter<'_>,
        source: &Location,
    ) -> Result<LongTable, Error> {
        let occurring: Vec<String> =
            self.names.iter().map(|name| String::from_utf8_lossy(name).into()).collect();
        let (names, index_of) = choose_classifiers(&occurring, filter, source)?;
        let by_item =
            ItemPredictions::new(&self.cells, self.items.len(), |name| index_of[name as usize] != u32::MAX);
        if repeats == Repeats::Refuse
            && let Some(conflict) =
                by_item.conflict(|before, here| self.labels.differ(before, here).is_some())
        {
            return Err(self.refuse(&conflict, &occurring, source));
        }
        let labels = self.labels.finish();
        drop(self.cells);
        let last = repeats == Repeats::Last;
        let cells = by_item
            .each_once(last)
            .map(|(item, name, label)| (item as u32, index_of[name as usize], label))
            .collect();
        let n_repeats = by_item.n_repeats();
        let items = self.items.iter().map(|item| std::str::from_utf8(item).ok()).collect();
        Ok(LongTable {
            items,
            names,
            cells,
            predicted: Arc::clone(&labels),
            source: source.clone(),
            lines: self.lines,
            n_repeats,
            truths: self.truths,
            labels,
        })
    }

    /// Refuses a second prediction that differs from the first.
    fn refuse(&self, conflict: &Conflict, names: &[String], source: &Location) -> Error {
        let &Conflict { item, name, nth } = conflict;
        let mut same =
            (0..self.cells.len()).filter(|&at| (self.cells[at].0 as usize, self.cells[at].1) == (item, name));
        let first = same.next().unwrap_or_default();
        let later = same.nth(nth.saturating_sub(1)).unwrap_or_default();
        let label =
            |at: usize| self.labels.get(self.cells[at].2).map(ToString::to_string).unwrap_or_default();
        let found = format!(
            "`{}` before and `{}` here (--repeats first or last uses one of them)",
            label(first),
            label(later)
        );
        let what = String::from_utf8_lossy(self.items.text(item));
        let place = self.places.get(later).unwrap_or_else(|| source.clone());
        place.refused(format!("one prediction of `{}` for `{what}`", names[name as usize]), found)
    }
}

/// The numbers in `known` of all texts in `theirs`; new texts are appended.
fn numbers(known: &mut TextInterner, theirs: &TextInterner, file: &Location) -> Result<Vec<u32>, Error> {
    let number = |text: &[u8]| {
        if let Some(number) = known.get(text) {
            return Ok(number);
        }
        let number =
            u32::try_from(known.len()).map_err(|_| file.refused("at most 2^32 different names", "more"))?;
        known.insert(text, number);
        Ok(number)
    };
    theirs.iter().map(number).collect()
}

/// The classifiers to use, and the index among them of every classifier that occurs.
fn choose_classifiers(
    occurring: &[String],
    filter: &ClassifierFilter<'_>,
    place: &Location,
) -> Result<(Vec<String>, Vec<u32>), Error> {
    let names: Vec<String> = match filter {
        ClassifierFilter::Only(names) => {
            let known: HashSet<&String> = names.iter().collect();
            if !occurring.is_empty() && !occurring.iter().any(|name| known.contains(name)) {
                let expected = format!("predictions of the model's {} classifiers", names.len());
                return Err(place.refused(expected, format!("predictions of {} only", list(occurring))));
            }
            names.to_vec()
        }
        // Without predictions there is nothing to select from; the empty table is refused later.
        ClassifierFilter::Chosen(_) if occurring.is_empty() => vec![String::new()],
        ClassifierFilter::Exactly(panel, args) => {
            // With --classifiers the panel is all that is selected.
            let kept = if occurring.is_empty() || args.classifiers.is_some() {
                Vec::new()
            } else {
                select_classifiers(occurring, args, &[], place)?
            };
            // A classifier of the labelled rows may have no predictions here.
            let all = panel.iter().chain(kept.iter().map(|&at| &occurring[at])).collect::<Vec<_>>();
            refuse_other_classifiers(panel, &all, place)?;
            panel.to_vec()
        }
        ClassifierFilter::Chosen(args) => {
            let mut sorted = occurring.to_vec();
            sorted.sort();
            let kept = select_classifiers(&sorted, args, &[], place)?;
            kept.into_iter().map(|at| sorted[at].clone()).collect()
        }
    };
    let indices: HashMap<&str, u32> = names.iter().map(String::as_str).zip(0..).collect();
    let index_of =
        occurring.iter().map(|name| indices.get(name.as_str()).copied().unwrap_or(u32::MAX)).collect();
    Ok((names, index_of))
}

/// Counts a long table.
///
/// # Errors
///
/// As [`LongTable::read`].
pub(super) fn count(
    mut table: Table,
    args: &ColumnArgs,
    columns: &LongColumns,
    label: Option<&str>,
    sum: &mut EvidenceSum<'_>,
) -> Result<ReadNotes, Error> {
    table.set_used(args.named_columns());
    let label = label.filter(|_| sum.options.filter.has_truths());
    let truth_table = args
        .gold
        .as_ref()
        .zip(label)
        .map(|(path, label)| TruthTable::read(path, args, label, sum.control))
        .transpose()?;
    let column = label.filter(|_| truth_table.is_none()).map(|label| table.column(label)).transpose()?;
    let filter = match sum.options.filter {
        RowFilter::Unlabelled { classifiers, .. } => ClassifierFilter::Exactly(classifiers, args),
        _ => ClassifierFilter::Chosen(args),
    };
    let mut long = LongTable::read(table, columns, args.table.repeats, &filter, column)?;
    let items = (0..long.items.len()).map(|item| long.items.get(item).unwrap_or_default());
    if sum.options.with_ids {
        items.clone().for_each(|item| sum.ids.insert(&id_of(item)));
        sum.allow_ids()?;
    }
    // An item that is counted already has count 0 here.
    let counts = match sum.options.filter {
        RowFilter::Unlabelled { counted, .. } => {
            Some(items.clone().map(|item| u64::from(!counted.has(&id_of(item)))).collect::<Vec<u64>>())
        }
        _ => None,
    };
    let n_again = counts.iter().flatten().filter(|count| **count == 0).count() as u64;
    if let Some(table) = &truth_table {
        (long.truths, long.labels) = (items.map(|item| table.truth_of(item)).collect(), table.labels());
    }
    let n_rows = long.truths.iter().flatten().count() as u64;
    let others = long.items.len() as u64 - n_rows - n_again;
    let (n_unlabelled, n_skipped) =
        if sum.options.filter.has_unlabelled() { (others, 0) } else { (0, others) };
    let n_repeats = long.n_repeats;
    let mut notes = ReadNotes { n_rows, n_unlabelled, n_skipped, n_again, n_repeats, ..ReadNotes::default() };
    truth_table.map_or(Ok(()), |table| table.note_unmatched(&mut notes, sum.place))?;
    if n_rows + n_unlabelled > 0 {
        let rows = long.rows(args.open_answers())?;
        sum.add(&CountBatch { rows, weights: None, counts, lines: long.lines })?;
    }
    Ok(notes)
}

fn truths(long: &LongTable) -> Result<Truth, spocc::Error> {
    let mut truth = Truth::default();
    let mut symbols: Vec<Option<Symbol>> = vec![None; long.labels.len()];
    for number in &long.truths {
        let symbol = match number.map(|number| (number as usize, &long.labels[number as usize])) {
            Some((number, Some(label))) => match symbols[number] {
                Some(symbol) => Some(symbol),
                None => Some(*symbols[number].insert(truth.symbol(label.clone())?)),
            },
            _ => None,
        };
        truth.push_symbol(symbol)?;
    }
    Ok(truth)
}
