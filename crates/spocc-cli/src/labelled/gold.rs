//! Truths in a table of their own, found by the names of the rows.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use spocc::Label;
use spocc_table::{
    Error, LabelEncoder, LabelMerger, Location, ReadOptions, RowBlock, RowPositions, Table, TextInterner,
};

use crate::{
    args::ColumnArgs,
    error::list,
    labelled::{
        Notes,
        ids::{RowIds, id_of, push_id},
        rows,
    },
};

/// The truth of rows by name.
pub(super) struct Gold {
    place: Location,
    /// The columns that name rows.
    names: Vec<String>,
    /// The truths by what names their row.
    keys: TextInterner,
    /// The label of each truth, and whether a row asked for it.
    truths: Vec<(u32, AtomicBool)>,
    labels: Arc<[Option<Label>]>,
}

/// Truths of some rows.
struct Told {
    file: Location,
    places: RowPositions,
    ids: RowIds,
    truths: Vec<u32>,
    labels: Arc<[Option<Label>]>,
    fault: Option<Error>,
}

impl Gold {
    /// Reads a table that has the columns of --id, or the item of --long, and the truth.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for columns that are not there, and for a row with two truths.
    pub(super) fn read(path: &Path, args: &ColumnArgs, label: &str) -> Result<Self, Error> {
        // It may be another kind of file than the answers, or one like them.
        let reading = args.table.reading();
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
        let place = table.location().clone();
        let mut told_rows = table.map_blocks(move |rows| tell(rows, &ids, column));
        let mut taken = Taken::default();
        while let Some(told) = told_rows.next()? {
            taken.take(&told)?;
            told.fault.map_or(Ok(()), Err)?;
        }
        let Taken { keys, truths, labels } = taken;
        if truths.is_empty() {
            return Err(place.refused(format!("a truth in column `{label}` of some row"), "none").into());
        }
        let labels = labels.finish().iter().cloned().chain([None]).collect();
        Ok(Self { place, names, keys, truths, labels })
    }

    /// The truth of a row of another table, by its number.
    pub(super) fn truth(&self, rows: &RowBlock, row: usize, ids: &[usize]) -> Option<u32> {
        let mut key = Vec::new();
        push_id(&mut key, rows, row, ids).then(|| self.find(&key)).flatten()
    }

    /// The truth of an item, by its number.
    pub(super) fn truth_of(&self, item: &str) -> Option<u32> {
        self.find(&id_of(item))
    }

    fn find(&self, key: &[u8]) -> Option<u32> {
        let (label, asked) = &self.truths[self.keys.get(key)? as usize];
        asked.store(true, Ordering::Relaxed);
        Some(*label)
    }

    /// A number that means nothing.
    pub(super) fn missing(&self) -> u32 {
        self.labels.len() as u32 - 1
    }

    /// The labels, by number.
    pub(super) fn labels(&self) -> Arc<[Option<Label>]> {
        Arc::clone(&self.labels)
    }

    /// Notes the truths that no row asked for.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if that is all of them: the two tables then name rows differently.
    pub(super) fn note(&self, notes: &mut Notes, table: &Location) -> Result<(), Error> {
        notes.n_unmatched = self.truths.iter().filter(|(_, asked)| !asked.load(Ordering::Relaxed)).count();
        let n_rows = notes.n_rows + notes.n_unlabelled + notes.n_skipped;
        if notes.n_rows > 0 || n_rows == 0 {
            return Ok(());
        }
        let expected = format!("a truth for some of the {} of {table}", rows(n_rows));
        let columns = if self.names.len() == 1 { "column" } else { "columns" };
        Err(self.place.refused(expected, format!("none by {columns} {}", list(&self.names))))
    }
}

fn tell(rows: &RowBlock, ids: &[usize], column: usize) -> Told {
    let (file, places) = (rows.file().clone(), RowPositions::default());
    let (row_ids, truths) = (RowIds::default(), Vec::new());
    let mut told = Told { file, places, ids: row_ids, truths, labels: Arc::default(), fault: None };
    let mut marker = LabelEncoder::default();
    for row in 0..rows.n_rows() {
        match marker.encode(rows, row, column) {
            Ok(truth) if marker.label(truth).is_none() => continue,
            Ok(truth) => told.truths.push(truth),
            Err(fault) => {
                told.fault = Some(fault);
                break;
            }
        }
        if !told.ids.push(rows, row, ids) {
            let expected = "the name of a row beside its truth";
            told.fault = Some(rows.location(row).refused(expected, "an empty cell"));
            break;
        }
        told.places.push(rows.position(row));
    }
    told.labels = marker.finish();
    told
}

/// Truths as they are read.
#[derive(Default)]
struct Taken {
    keys: TextInterner,
    truths: Vec<(u32, AtomicBool)>,
    labels: LabelMerger,
}

impl Taken {
    fn take(&mut self, told: &Told) -> Result<(), Error> {
        let numbers = self.labels.codes(&told.labels);
        for (row, key) in told.ids.iter().enumerate() {
            let truth = numbers[told.truths[row] as usize];
            let Some(number) = self.keys.get(key) else {
                self.keys.insert(key, self.truths.len() as u32);
                self.truths.push((truth, AtomicBool::new(false)));
                continue;
            };
            let before = self.truths[number as usize].0;
            if let Some((known, here)) = self.labels.differ(before, truth) {
                let place = told.places.location(&told.file, row);
                let found = format!("`{known}` before and `{here}` here");
                return Err(place.refused("one truth for a row", found).into());
            }
        }
        Ok(())
    }
}
