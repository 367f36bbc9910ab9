//! Counts a labelled input, which is a table or a tally.

use std::{path::PathBuf, sync::Arc};

use spocc::{Control, Evidence, evidence::Level};
use spocc_table::Table;

use crate::{
    args::ColumnArgs,
    error::{Error, Location},
    input::Input,
    print_status,
    read::{
        CountOptions, IdSet, ReadNotes, RowFilter, TruthNeed,
        count::{TableCounts, refuse_same_file},
        select_classifiers,
    },
};

/// The counts of a labelled input.
pub(crate) struct CountedInput {
    /// Where they come from.
    pub(crate) place: Location,
    /// The counts.
    pub(crate) evidence: Evidence,
    /// What was noticed while reading a table; none for a tally.
    pub(super) notes: Option<ReadNotes>,
    /// The ids of the rows, if they are kept.
    pub(super) ids: Arc<IdSet>,
}

impl CountedInput {
    /// Reads and counts the named files.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`], [`Error::Table`].
    pub(crate) fn read(
        names: &[PathBuf],
        args: &ColumnArgs,
        command: &str,
        options: CountOptions<'_>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        args.refuse_double_use(command)?;
        let input = Input::open(names, &args.table.reading(control))?;
        if matches!(input, Input::Tally(..)) {
            args.refuse_columns(command, "a tally")?;
        }
        Self::of(input, args, command, options, control)
    }

    /// Reads and counts the named files and tables of unlabelled rows.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read) and [`add_unlabelled`](Self::add_unlabelled).
    pub(crate) fn read_with(
        names: &[PathBuf],
        unlabelled: &[PathBuf],
        args: &ColumnArgs,
        command: &str,
        options: CountOptions<'_>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        if unlabelled.is_empty() {
            return Self::read(names, args, command, options, control);
        }
        // Options about columns apply to the unlabelled tables, also if the labelled input is a tally.
        args.refuse_double_use(command)?;
        refuse_same_file(names, unlabelled, args)?;
        let input = Input::open(names, &args.table.reading(control))?;
        let mut labelled = Self::of(input, args, command, options.with_ids(), control)?;
        labelled.add_unlabelled(unlabelled, args, command, control)?;
        Ok(labelled)
    }

    /// Counts an opened input.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub(crate) fn of(
        input: Input,
        args: &ColumnArgs,
        command: &str,
        options: CountOptions<'_>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        match input {
            Input::Table(table) => Self::count(*table, args, command, options, control),
            Input::Tally(place, evidence) => {
                let mut tally = Self::of_tally(place, &evidence, args, control)?;
                if !options.filter.has_unlabelled() {
                    let labelled = tally.evidence.labelled(control);
                    tally.evidence = labelled.map_err(|error| tally.place.engine(error))?.into_owned();
                }
                Ok(tally)
            }
            Input::Model(place, _) => Err(place.refused("a table or a tally", "a model").into()),
        }
    }

    /// Adds tables of unlabelled rows. Rows whose ids are counted already are skipped; the ids must have been
    /// [kept](CountOptions::with_ids).
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read); [`Error::Table`] for tables with other classifiers.
    pub(crate) fn add_unlabelled(
        &mut self,
        names: &[PathBuf],
        args: &ColumnArgs,
        command: &str,
        control: &Control<'_>,
    ) -> Result<(), Error> {
        let found = match Input::open(names, &args.table.reading(control))? {
            Input::Table(table) => {
                let filter =
                    RowFilter::Unlabelled { classifiers: self.evidence.classifiers(), counted: &self.ids };
                let options =
                    CountOptions { truth: TruthNeed::Nothing, filter, ..CountOptions::all(Level::Tally) };
                let more = TableCounts::read(*table, args, command, options, control)?;
                let n_again = more.notes.n_again;
                if more.evidence.is_some() || n_again == 0 {
                    let more = more.refuse_empty(args, command, options)?;
                    let sum = self.evidence.merge(&more.evidence, control);
                    self.evidence = sum.map_err(|error| more.place.engine(error))?;
                }
                match &mut self.notes {
                    Some(notes) => notes.n_again = n_again,
                    None => print_status(format_args!(
                        "note: a tally has no ids, so rows of --unlabelled that it contains are counted twice"
                    )),
                }
                return Ok(());
            }
            Input::Tally(place, _) => (place, "a tally"),
            Input::Model(place, _) => (place, "a model"),
        };
        Err(found.0.refused("a table of unlabelled rows", found.1).into())
    }

    /// Whether a table was counted in less detail than a tally.
    pub(crate) fn is_reduced(&self) -> bool {
        self.notes.is_some() && self.evidence.level() < Level::Tally
    }

    /// Counts a table.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub(crate) fn count(
        table: Table,
        args: &ColumnArgs,
        command: &str,
        options: CountOptions<'_>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        TableCounts::read(table, args, command, options, control)?.refuse_empty(args, command, options)
    }

    /// Takes a tally, reduced to the classifiers of --classifiers and --ignore.
    ///
    /// # Errors
    ///
    /// [`Error::Table`] for unknown names.
    pub(crate) fn of_tally(
        place: Location,
        evidence: &Evidence,
        args: &ColumnArgs,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let kept = select_classifiers(evidence.classifiers(), args, &[], &place)?;
        let names: Vec<&String> = kept.iter().map(|&k| &evidence.classifiers()[k]).collect();
        let evidence = evidence.select(&names, control).map_err(|error| place.engine(error))?;
        Ok(Self { place, evidence, notes: None, ids: Arc::default() })
    }
}
