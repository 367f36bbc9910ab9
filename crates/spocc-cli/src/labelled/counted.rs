//! The rows of one table, counted, or why there is nothing to count.

use std::{fs, mem, path::PathBuf, sync::Arc};

use spocc::{Control, Evidence};
use spocc_table::{Location, Table, expand};

use crate::{
    args::ColumnArgs,
    error::Error,
    labelled::{IdSet, Keep, Labelled, Notes, Sum, Which, long, wide},
};

/// What a table turned out to hold.
pub(super) struct Counted {
    place: Location,
    /// None if no row counts anything.
    pub(super) evidence: Option<Evidence>,
    pub(super) notes: Notes,
    ids: IdSet,
}

impl Counted {
    /// Reads and counts a table.
    ///
    /// # Errors
    ///
    /// As [`Labelled::read`].
    pub(super) fn read(
        table: Table,
        args: &ColumnArgs,
        command: &str,
        keep: Keep<'_>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let label = match keep.which {
            Which::Labelled => Some(args.label(command)?),
            _ => args.label.as_deref(),
        };
        let place = table.location().clone();
        let (classes, ids) = (args.class_list(), IdSet::default());
        let mut sum = Sum { place: &place, keep, classes, control, parts: Vec::new(), ids };
        let notes = match &args.table.long {
            Some(columns) => long::count(table, args, columns, label, &mut sum)?,
            None => wide::count(table, args, label, &mut sum)?,
        };
        let ids = mem::take(&mut sum.ids);
        let counts = |evidence: &Evidence| evidence.n_rows() + evidence.n_unlabelled() > 0.0;
        let evidence = sum.finish()?.filter(counts);
        Ok(Self { place, evidence, notes, ids })
    }

    /// Refuses a table without a row that counts.
    ///
    /// # Errors
    ///
    /// [`Error::Table`].
    pub(super) fn refuse_nothing(
        self,
        args: &ColumnArgs,
        command: &str,
        keep: Keep<'_>,
    ) -> Result<Labelled, Error> {
        let Self { place, evidence, notes, ids } = self;
        let Some(evidence) = evidence else {
            let found = match (notes.n_rows + notes.n_unlabelled, notes.n_skipped) {
                (0, 0) => "no rows under the header".to_owned(),
                (0, skipped) if command == "fit" => {
                    let hint = "--unlabelled, or --method dawid-skene or majority without --label, need none";
                    format!("none in {} ({hint})", super::rows(skipped))
                }
                (0, skipped) => format!("none in {}", super::rows(skipped)),
                (rows, _) => format!("only rows that count nothing ({rows})"),
            };
            let expected = match (keep.which, &args.label) {
                (Which::Labelled, Some(label)) => format!("a truth in column `{label}` of some row"),
                _ => "a row of answers".to_owned(),
            };
            return Err(place.refused(expected, found).into());
        };
        Ok(Labelled { place, evidence, notes: Some(notes), ids: Arc::new(ids) })
    }
}

/// Refuses rows that would count twice, where nothing tells which they are.
///
/// # Errors
///
/// [`Error::Table`] for a file that is among both the labelled and the unlabelled ones, without --id or --long.
pub(crate) fn refuse_same_file(
    labelled: &[PathBuf],
    unlabelled: &[PathBuf],
    args: &ColumnArgs,
) -> Result<(), Error> {
    if args.id.is_some() || args.table.long.is_some() {
        return Ok(());
    }
    // What is missing or wrong is told when it is read.
    let files = |names| expand(names).unwrap_or_default();
    let known: Vec<PathBuf> = files(labelled).iter().filter_map(|file| fs::canonicalize(file).ok()).collect();
    let is_known = |file: &&PathBuf| fs::canonicalize(file).is_ok_and(|file| known.contains(&file));
    match files(unlabelled).iter().find(is_known) {
        Some(file) => {
            let expected = "other rows for --unlabelled than those of the labelled table";
            let found =
                "the same file (give --id COL so that each row counts once, or leave --unlabelled out)";
            Err(Location::file(file, "").refused(expected, found).into())
        }
        None => Ok(()),
    }
}
