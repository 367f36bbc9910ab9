//! The table of --gold: true labels, joined to the rows of another table by their ids.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use spocc::{Control, Label};
use spocc_table::{
    Error, LabelEncoder, LabelMerger, Location, ReadOptions, RowBlock, RowPositions, Table, TextInterner,
};

use crate::{
    args::ColumnArgs,
    error::{list, rows},
    read::{
        ReadNotes,
        row_ids::{RowIds, id_of, push_id},
    },
};

/// True labels by id.
pub(super) struct TruthTable {
    place: Location,
    /// The columns of the id.
    names: Vec<String>,
    /// The index of each id in `truths`.
    keys: TextInterner,
    /// The code of each true label, and whether a row has its id.
    truths: Vec<(u32, AtomicBool)>,
    labels: Arc<[Option<Label>]>,
}

/// The true labels in a block of rows.
struct TruthBlock {
    file: Location,
    places: RowPositions,
    ids: RowIds,
    truths: Vec<u32>,
    labels: Arc<[Option<Label>]>,
    fault: Option<Error>,
}

impl TruthTable {
    /// Reads a table with the columns of --id, or the item of --long, and the true label.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for missing columns, and for two different true labels of an id.
    pub(super) fn read(
        path: &Path,
        args: &ColumnArgs,
        label: &str,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        // Its delimiter may differ from that of the predictions.
        let reading = args.table.reading(control);
        let mut table = Table::open(&[path.to_owned()], &ReadOptions { delimiter: None, ..reading.clone() })?;
        if reading.delimiter.is_some() && !table.has_column(label) {
            table = Table::open(&[path.to_owned()], &reading)?;
        }
        let names: Vec<String> = match (&args.table.long, &args.id) {
            (Some(long), _) => vec![long.item.clone()],
            (None, Some(ids)) => ids.0.clone(),
            (None, None) => Vec::new(),
        };
        table.set_used(names.iter().chain(&args.label));
        let (ids, column) = (table.columns(&names)?, table.column(label)?);
        table.select_columns(ids.iter().copied().chain([column]));
        let (place, memory) = (table.location().clone(), table.memory());
        let mut blocks = table.map_blocks(move |rows| read_block(rows, &ids, column));
        let mut merger = TruthMerger::default();
        while let Some(block) = blocks.next()? {
            merger.add(&block)?;
            place.allow("the ids of the true labels", merger.n_bytes(), memory)?;
            block.fault.map_or(Ok(()), Err)?;
        }
        let TruthMerger { keys, truths, labels } = merger;
        if truths.is_empty() {
            return Err(place.refused(format!("a true label in column `{label}` of some row"), "none"));
        }
        let labels = labels.finish().iter().cloned().chain([None]).collect();
        Ok(Self { place, names, keys, truths, labels })
    }

    /// The code of the true label of a row of another table.
    pub(super) fn truth(&self, rows: &RowBlock, row: usize, ids: &[usize]) -> Option<u32> {
        let mut key = Vec::new();
        push_id(&mut key, rows, row, ids).then(|| self.find(&key)).flatten()
    }

    /// The code of the true label of an item.
    pub(super) fn truth_of(&self, item: &str) -> Option<u32> {
        self.find(&id_of(item))
    }

    fn find(&self, key: &[u8]) -> Option<u32> {
        let (label, is_used) = &self.truths[self.keys.get(key)? as usize];
        is_used.store(true, Ordering::Relaxed);
        Some(*label)
    }

    /// The code of a missing label.
    pub(super) fn missing_code(&self) -> u32 {
        self.labels.len() as u32 - 1
    }

    /// The labels by code.
    pub(super) fn labels(&self) -> Arc<[Option<Label>]> {
        Arc::clone(&self.labels)
    }

    /// Notes how many true labels have no row.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if no row has a true label: the ids of the two tables do not match.
    pub(super) fn note_unmatched(&self, notes: &mut ReadNotes, table: &Location) -> Result<(), Error> {
        notes.n_unmatched =
            self.truths.iter().filter(|(_, is_used)| !is_used.load(Ordering::Relaxed)).count();
        let n_rows = notes.n_rows + notes.n_unlabelled + notes.n_skipped;
        if notes.n_rows > 0 || n_rows == 0 {
            return Ok(());
        }
        let expected = format!("a true label for some of the {} of {table}", rows(n_rows));
        let columns = if self.names.len() == 1 { "column" } else { "columns" };
        Err(self.place.refused(expected, format!("no equal value in {columns} {}", list(&self.names))))
    }
}

fn read_block(rows: &RowBlock, ids: &[usize], column: usize) -> TruthBlock {
    let (file, places) = (rows.file().clone(), RowPositions::default());
    let (row_ids, truths) = (RowIds::default(), Vec::new());
    let mut block = TruthBlock { file, places, ids: row_ids, truths, labels: Arc::default(), fault: None };
    let mut encoder = LabelEncoder::default();
    for row in 0..rows.n_rows() {
        match encoder.encode(rows, row, column) {
            Ok(truth) if encoder.label(truth).is_none() => continue,
            Ok(truth) => block.truths.push(truth),
            Err(fault) => {
                block.fault = Some(fault);
                break;
            }
        }
        if !block.ids.push(rows, row, ids) {
            let expected = "an id beside the true label";
            block.fault = Some(rows.location(row).refused(expected, "an empty cell"));
            break;
        }
        block.places.push(rows.position(row));
    }
    block.labels = encoder.finish();
    block
}

/// The true labels of all blocks so far.
#[derive(Default)]
struct TruthMerger {
    keys: TextInterner,
    truths: Vec<(u32, AtomicBool)>,
    labels: LabelMerger,
}

impl TruthMerger {
    /// Bytes in memory while it grows, about.
    fn n_bytes(&self) -> usize {
        2 * self.keys.n_bytes() + self.truths.len() * size_of::<(u32, AtomicBool)>() + self.labels.n_bytes()
    }

    fn add(&mut self, block: &TruthBlock) -> Result<(), Error> {
        let numbers = self.labels.codes(&block.labels);
        for (row, key) in block.ids.iter().enumerate() {
            let truth = numbers[block.truths[row] as usize];
            let Some(number) = self.keys.get(key) else {
                self.keys.insert(key, self.truths.len() as u32);
                self.truths.push((truth, AtomicBool::new(false)));
                continue;
            };
            let before = self.truths[number as usize].0;
            if let Some((known, here)) = self.labels.differ(before, truth) {
                let place = block.places.location(&block.file, row);
                let found = format!("`{known}` before and `{here}` here");
                return Err(place.refused("one true label for a row", found));
            }
        }
        Ok(())
    }
}
