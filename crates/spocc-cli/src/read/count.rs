//! Counts one table, and refuses a table without rows to count.

use std::{fs, mem, path::PathBuf, sync::Arc};

use spocc::{Control, Evidence, evidence::RepeatedIds};
use spocc_table::{Location, Table, expand};

use crate::{
    args::ColumnArgs,
    error::{Error, rows},
    read::{
        CountOptions, CountedInput, EvidenceSum, IdSet, ReadNotes, TruthNeed, label_text::LabelText,
        long_table, wide_table,
    },
};

/// The counts of one table.
pub(super) struct TableCounts {
    place: Location,
    /// None if the table has no row to count.
    pub(super) evidence: Option<Evidence>,
    pub(super) notes: ReadNotes,
    ids: IdSet,
}

impl TableCounts {
    /// Reads and counts a table.
    ///
    /// # Errors
    ///
    /// As [`CountedInput::read`].
    pub(super) fn read(
        table: Table,
        args: &ColumnArgs,
        command: &str,
        options: CountOptions<'_>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let label = match options.truth {
            TruthNeed::Nothing => args.label.as_deref(),
            TruthNeed::Column | TruthNeed::Some => Some(args.label(command)?),
        };
        let place = table.location().clone();
        let (classes, ids) = (args.class_list(), IdSet::default());
        let mut sum = EvidenceSum {
            place: &place,
            options,
            classes,
            control,
            parts: Vec::new(),
            ids,
            repeated_ids: RepeatedIds::default(),
            label_text: LabelText::default(),
        };
        let notes = match &args.table.long {
            Some(columns) => long_table::count(table, args, columns, label, &mut sum)?,
            None => wide_table::count(table, args, label, &mut sum)?,
        };
        let ids = mem::take(&mut sum.ids);
        let counts = |evidence: &Evidence| evidence.n_rows() + evidence.n_unlabelled() > 0.0;
        let evidence = sum.finish()?.filter(counts);
        Ok(Self { place, evidence, notes, ids })
    }

    /// Refuses a table without a row to count.
    ///
    /// # Errors
    ///
    /// [`Error::Table`].
    pub(super) fn refuse_empty(
        self,
        args: &ColumnArgs,
        command: &str,
        options: CountOptions<'_>,
    ) -> Result<CountedInput, Error> {
        let Self { place, evidence, notes, ids } = self;
        let needs_some = options.truth == TruthNeed::Some;
        let Some(evidence) = evidence.filter(|evidence| !needs_some || evidence.n_rows() > 0.0) else {
            let (n_counted, n_others) =
                if needs_some { (0, notes.n_unlabelled) } else { (notes.n_unlabelled, 0) };
            let found = match (notes.n_rows + n_counted, notes.n_skipped + n_others) {
                (0, 0) => "no rows below the header".to_owned(),
                (0, skipped) if command == "fit" => {
                    let hint =
                        "named by --method, ladder, dawid-skene, one-coin and majority need no labelled rows";
                    format!("none in {} ({hint})", rows(skipped))
                }
                (0, skipped) => format!("none in {}", rows(skipped)),
                (n, _) => format!("only rows with weight or count 0 ({n})"),
            };
            let expected = match (needs_some, &args.label) {
                (true, Some(label)) => format!("a true label in column `{label}` of some row"),
                _ => "a row of predictions".to_owned(),
            };
            return Err(place.refused(expected, found).into());
        };
        Ok(CountedInput { place, evidence, notes: Some(notes), ids: Arc::new(ids) })
    }
}

/// Refuses the same file as labelled and unlabelled input, unless ids identify its rows.
///
/// # Errors
///
/// [`Error::Table`] for such a file without --id or --long.
pub(crate) fn refuse_same_file(
    labelled: &[PathBuf],
    unlabelled: &[PathBuf],
    args: &ColumnArgs,
) -> Result<(), Error> {
    if args.id.is_some() || args.table.long.is_some() {
        return Ok(());
    }
    // Missing or wrong files are reported when they are read.
    let files = |names| expand(names).unwrap_or_default();
    let known: Vec<PathBuf> = files(labelled).iter().filter_map(|file| fs::canonicalize(file).ok()).collect();
    let is_known = |file: &&PathBuf| fs::canonicalize(file).is_ok_and(|file| known.contains(&file));
    match files(unlabelled).iter().find(is_known) {
        Some(file) => {
            let expected = "an --unlabelled table other than the labelled table";
            let found =
                "the same file, whose unlabelled rows are used anyway (omit --unlabelled, or use --id COL)";
            Err(Location::file(file, "").refused(expected, found).into())
        }
        None => Ok(()),
    }
}
