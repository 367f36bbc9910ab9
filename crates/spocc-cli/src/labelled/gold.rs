//! Truths in a table of their own, found by the names of the rows.

use std::{collections::HashMap, path::Path};

use spocc::Label;

use crate::{
    args::PanelArgs,
    error::{Error, Place, list},
    labelled::{Notes, rows},
    table::{Reading, Table},
};

/// The truth of rows by name.
pub(super) struct Gold {
    place: Place,
    /// The columns that name rows.
    names: Vec<String>,
    /// Each truth, and whether a row asked for it.
    truths: HashMap<Vec<u8>, (Label, bool)>,
}

impl Gold {
    /// Reads a table that has the columns of --id, or the item of --long, and the truth.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for columns that are not there, and for a row with two truths.
    pub(super) fn read(path: &Path, args: &PanelArgs, label: &str) -> Result<Self, Error> {
        // It may be another kind of file than the answers, or one like them.
        let reading = args.table.reading();
        let mut table = Table::open(&[path.to_owned()], &Reading { delimiter: None, ..reading.clone() })?;
        if reading.delimiter.is_some() && !table.has(label) {
            table = Table::open(&[path.to_owned()], &reading)?;
        }
        let names: Vec<String> = match (&args.table.long, &args.id) {
            (Some(long), _) => vec![long.item.clone()],
            (None, Some(ids)) => ids.0.clone(),
            (None, None) => Vec::new(),
        };
        let (ids, column) = (table.columns(&names)?, table.column(label)?);
        table.ask_only(ids.iter().copied().chain([column]));
        let mut truths: HashMap<Vec<u8>, (Label, bool)> = HashMap::new();
        while table.next()? {
            if table.is_missing(column) {
                continue;
            }
            let truth = table.kind(column).label(table.text(column)?);
            let Some(key) = key(&table, &ids) else {
                return Err(table.here().refused("the name of a row beside its truth", "an empty cell"));
            };
            if let Some((known, _)) = truths.get(&key).filter(|(known, _)| *known != truth) {
                let found = format!("`{known}` before and `{truth}` here");
                return Err(table.here().refused("one truth for a row", found));
            }
            truths.entry(key).or_insert((truth, false));
        }
        if truths.is_empty() {
            return Err(table.source().refused(format!("a truth in column `{label}` of some row"), "none"));
        }
        Ok(Self { place: table.source().clone(), names, truths })
    }

    /// The truth of the present row of another table.
    pub(super) fn truth(&mut self, table: &Table, ids: &[usize]) -> Option<&Label> {
        self.find(&key(table, ids)?)
    }

    /// The truth of an item.
    pub(super) fn truth_of(&mut self, item: &str) -> Option<&Label> {
        let mut key = Vec::new();
        push_cell(&mut key, item.as_bytes());
        self.find(&key)
    }

    fn find(&mut self, key: &[u8]) -> Option<&Label> {
        let (label, asked) = self.truths.get_mut(key)?;
        *asked = true;
        Some(label)
    }

    /// Notes the truths that no row asked for.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if that is all of them: the two tables then name rows differently.
    pub(super) fn note(&self, notes: &mut Notes, table: &Place) -> Result<(), Error> {
        notes.n_unmatched = self.truths.values().filter(|(_, asked)| !asked).count();
        let n_rows = notes.n_rows + notes.n_skipped;
        if notes.n_rows > 0 || n_rows == 0 {
            return Ok(());
        }
        let expected = format!("a truth for some of the {} of {table}", rows(n_rows));
        let columns = if self.names.len() == 1 { "column" } else { "columns" };
        Err(self.place.refused(expected, format!("none by {columns} {}", list(&self.names))))
    }
}

/// The cells that name a row as one key, each with its length so that no two names run into each other; none if
/// there is nothing in them.
fn key(table: &Table, ids: &[usize]) -> Option<Vec<u8>> {
    if ids.iter().all(|&column| table.is_missing(column)) {
        return None;
    }
    let mut key = Vec::new();
    ids.iter().for_each(|&column| push_cell(&mut key, table.cell(column).unwrap_or_default()));
    Some(key)
}

fn push_cell(key: &mut Vec<u8>, cell: &[u8]) {
    key.extend((cell.len() as u64).to_le_bytes());
    key.extend(cell);
}
