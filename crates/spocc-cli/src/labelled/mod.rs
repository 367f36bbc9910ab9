//! From whatever holds truths, a table or a tally, to evidence.
//!
//! Wide tables are read in pieces, each is counted, and the counts are added up: memory does not grow with the
//! rows. A long table is read as a whole, for its rows come in any order.

mod answers;
mod counted;
mod gold;
mod ids;
mod long;
mod pick;
mod wide;

use std::{path::PathBuf, sync::Arc};

use spocc::{
    Control, Evidence,
    evidence::{ColumnIssue, Counting, Level},
};
use spocc_table::Table;

use crate::{
    args::ColumnArgs,
    error::{Error, Location, count},
    input::Input,
    print_status,
};

pub(crate) use answers::Answers;
use counted::Counted;
pub(crate) use counted::refuse_same_file;
use gold::Gold;
use ids::IdSet;
pub(crate) use long::{LongTable, Who};
pub(crate) use pick::pick;
use pick::refuse_others;
pub(crate) use wide::piece;

/// What of a table is counted.
#[derive(Clone, Copy)]
pub(crate) struct Keep<'a> {
    /// How much of the rows is kept.
    pub(crate) level: Level,
    /// Which of them.
    pub(crate) which: Which<'a>,
    /// Whether their ids are kept, to recognise them in another table.
    with_ids: bool,
}

/// Which rows are counted.
#[derive(Clone, Copy)]
pub(crate) enum Which<'a> {
    /// Those with a truth.
    Labelled,
    /// All, those without a truth beside the others.
    All,
    /// All but those whose id is among these, as if no truth were known; their classifiers must be those of `panel`.
    Unlabelled { panel: &'a [String], counted: &'a Arc<IdSet> },
}

impl Which<'_> {
    fn has_truths(self) -> bool {
        !matches!(self, Self::Unlabelled { .. })
    }

    fn has_unlabelled(self) -> bool {
        !matches!(self, Self::Labelled)
    }
}

impl Keep<'_> {
    /// Rows with a truth, in so much detail.
    pub(crate) fn labelled(level: Level) -> Self {
        Self { level, which: Which::Labelled, with_ids: false }
    }

    /// All rows, in so much detail.
    pub(crate) fn all(level: Level) -> Self {
        Self { level, which: Which::All, with_ids: false }
    }

    /// Keeps the ids of rows, too.
    pub(crate) fn with_ids(self) -> Self {
        Self { with_ids: true, ..self }
    }
}

/// Counted rows.
pub(crate) struct Labelled {
    /// Where they came from.
    pub(crate) place: Location,
    /// The counts.
    pub(crate) evidence: Evidence,
    /// What was met on the way; none for a tally.
    pub(crate) notes: Option<Notes>,
    /// The ids of the rows, if they are kept.
    ids: Arc<IdSet>,
}

/// What was met while a table was read.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_field_names)] // all of them are numbers
pub(crate) struct Notes {
    /// Rows with a truth.
    pub(crate) n_rows: u64,
    /// Rows without one that were counted all the same.
    n_unlabelled: u64,
    /// Rows without one that were not.
    pub(crate) n_skipped: u64,
    /// Rows of --unlabelled that were left out: they are among those counted already.
    n_again: u64,
    /// Truths in another table for which there is no row.
    n_unmatched: usize,
    /// Second answers of a long table that were left out.
    n_repeats: usize,
}

impl Labelled {
    /// Reads and counts what is named.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`], [`Error::Table`].
    pub(crate) fn read(
        names: &[PathBuf],
        args: &ColumnArgs,
        command: &str,
        keep: Keep<'_>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        args.refuse_double_use(command)?;
        let input = Input::open(names, &args.table.reading())?;
        if matches!(input, Input::Tally(..)) {
            args.refuse_columns(command, "a tally")?;
        }
        Self::of(input, args, command, keep, control)
    }

    /// Reads and counts what is named, and the rows of other tables, of which no truth is known.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read) and [`add_unlabelled`](Self::add_unlabelled).
    pub(crate) fn read_with(
        names: &[PathBuf],
        unlabelled: &[PathBuf],
        args: &ColumnArgs,
        command: &str,
        keep: Keep<'_>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        if unlabelled.is_empty() {
            return Self::read(names, args, command, keep, control);
        }
        // Options about columns are for the other tables, even if this is a tally.
        args.refuse_double_use(command)?;
        refuse_same_file(names, unlabelled, args)?;
        let input = Input::open(names, &args.table.reading())?;
        let mut labelled = Self::of(input, args, command, keep.with_ids(), control)?;
        labelled.add_unlabelled(unlabelled, args, command, control)?;
        Ok(labelled)
    }

    /// Counts what was opened.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub(crate) fn of(
        input: Input,
        args: &ColumnArgs,
        command: &str,
        keep: Keep<'_>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        match input {
            Input::Table(table) => Self::count(*table, args, command, keep, control),
            Input::Tally(place, evidence) => Self::of_tally(place, &evidence, args, control),
            Input::Model(place, _) => Err(place.refused("a table or a tally", "a model").into()),
        }
    }

    /// Adds the rows of other tables, of which no truth is known, but for those that are counted already, whose ids
    /// must have been [kept](Keep::with_ids).
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read); [`Error::Table`] for tables of another panel.
    pub(crate) fn add_unlabelled(
        &mut self,
        names: &[PathBuf],
        args: &ColumnArgs,
        command: &str,
        control: &Control<'_>,
    ) -> Result<(), Error> {
        let found = match Input::open(names, &args.table.reading())? {
            Input::Table(table) => {
                let which = Which::Unlabelled { panel: self.evidence.classifiers(), counted: &self.ids };
                let keep = Keep { level: Level::Tally, which, with_ids: false };
                let more = Counted::read(*table, args, command, keep, control)?;
                let n_again = more.notes.n_again;
                if more.evidence.is_some() || n_again == 0 {
                    let more = more.refuse_nothing(args, command, keep)?;
                    let sum = self.evidence.merge(&more.evidence, control);
                    self.evidence = sum.map_err(|error| more.place.engine(error))?;
                }
                match &mut self.notes {
                    Some(notes) => notes.n_again = n_again,
                    None => print_status(format_args!(
                        "note: a tally has no ids: a row of --unlabelled that it counts too is counted twice"
                    )),
                }
                return Ok(());
            }
            Input::Tally(place, _) => (place, "a tally"),
            Input::Model(place, _) => (place, "a model"),
        };
        Err(found.0.refused("a table of rows without truth", found.1).into())
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
        keep: Keep<'_>,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        Counted::read(table, args, command, keep, control)?.refuse_nothing(args, command, keep)
    }

    /// Takes a tally as it is, but for classifiers that were left out.
    ///
    /// # Errors
    ///
    /// [`Error::Table`] for names that are not there.
    pub(crate) fn of_tally(
        place: Location,
        evidence: &Evidence,
        args: &ColumnArgs,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let kept = pick(evidence.classifiers(), args, &[], &place)?;
        let names: Vec<&String> = kept.iter().map(|&k| &evidence.classifiers()[k]).collect();
        let evidence = evidence.select(&names, control).map_err(|error| place.engine(error))?;
        Ok(Self { place, evidence, notes: None, ids: Arc::default() })
    }

    /// Tells the user what was skipped and what looks wrong.
    pub(crate) fn report_notes(&self) {
        self.tell_columns();
        let Some(notes) = &self.notes else { return };
        if notes.n_skipped > 0 {
            let skipped = count(notes.n_skipped as usize, "unlabelled row", "unlabelled rows");
            print_status(format_args!("skipped {skipped}"));
        }
        if notes.n_again > 0 {
            let again = rows(notes.n_again);
            print_status(format_args!(
                "skipped {again} of --unlabelled whose id is also in the labelled table"
            ));
        }
        if notes.n_unmatched > 0 {
            let truths = count(notes.n_unmatched, "truth", "truths");
            let belong = if notes.n_unmatched == 1 { "belongs" } else { "belong" };
            print_status(format_args!("note: {truths} of --gold {belong} to no row"));
        }
        if notes.n_repeats > 0 {
            print_status(format_args!(
                "note: left out {}",
                count(notes.n_repeats, "repeated answer", "repeated answers")
            ));
        }
        self.tell_odd_labels();
    }
}

impl Labelled {
    /// Tells columns that look like no classifiers, with the option that says so.
    fn tell_columns(&self) {
        let warnings = self.evidence.column_warnings();
        if warnings.is_empty() {
            return;
        }
        let (mut ids, mut others) = (Vec::new(), Vec::new());
        for warning in &warnings {
            print_status(format_args!("warning: {warning}"));
            let is_id = self.notes.is_some() && matches!(warning.issue, ColumnIssue::Id { .. });
            if is_id { &mut ids } else { &mut others }.push(warning.classifier.as_str());
        }
        let options = [("--id", ids), ("--ignore", others)];
        let options = options.iter().filter(|(_, names)| !names.is_empty());
        let options: Vec<String> =
            options.map(|(option, names)| format!("{option} {}", quoted_names(names))).collect();
        let they = if warnings.len() == 1 { "it is no classifier" } else { "they are no classifiers" };
        print_status(format_args!("warning: if {they}, say so: {}", options.join(" ")));
    }

    /// Tells labels that look like no answer, and such as differ in spaces and capitals only.
    fn tell_odd_labels(&self) {
        const NONE: [&str; 7] = ["na", "n/a", "nan", "none", "nil", "-", "?"];
        let labels: Vec<String> = self.evidence.labels().all().iter().map(ToString::to_string).collect();
        let folded: Vec<String> = labels.iter().map(|label| label.trim().to_lowercase()).collect();
        for (label, _) in labels.iter().zip(&folded).filter(|(_, folded)| NONE.contains(&folded.as_str())) {
            print_status(format_args!(
                "note: `{label}` is a label here; if it means no answer, say so: --na 'null,{label}'"
            ));
        }
        let twin = |at: usize| folded[..at].iter().position(|known| *known == folded[at]);
        if let Some((at, known)) =
            (0..labels.len().min(1000)).find_map(|at| twin(at).map(|known| (at, known)))
        {
            print_status(format_args!("note: `{}` and `{}` are two labels here", labels[known], labels[at]));
        }
    }
}

/// Names as the value of an option that takes several, in a shell.
fn quoted_names(names: &[&str]) -> String {
    let quoted = |name: &&str| {
        let is_plain = !name.contains([',', '"', '\n', '\r']);
        if is_plain { (*name).to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
    };
    let value = names.iter().map(quoted).collect::<Vec<String>>().join(",");
    format!("'{}'", value.replace('\'', "'\\''"))
}

/// `1 row`, `2 rows`.
pub(crate) fn rows(n: u64) -> String {
    count(n as usize, "row", "rows")
}

/// Evidence of all pieces so far.
struct Sum<'a> {
    place: &'a Location,
    keep: Keep<'a>,
    classes: Option<Vec<spocc::Label>>,
    control: &'a Control<'a>,
    /// Sums of so many pieces each, every one of at most half as many as the one before: adding a piece to all
    /// that came before it would cost more and more.
    parts: Vec<(usize, Evidence)>,
    /// The ids of the rows, if they are kept.
    ids: IdSet,
}

/// Rows that were read and not yet counted.
struct Piece {
    answers: spocc::Predictions,
    truth: spocc::Truth,
    weights: Option<Vec<f64>>,
    counts: Option<Vec<u64>>,
    lines: spocc_table::RowLocations,
}

impl Sum<'_> {
    fn add(&mut self, piece: &Piece) -> Result<(), spocc_table::Error> {
        let counting = Counting {
            level: self.keep.level,
            unlabelled: self.keep.which.has_unlabelled(),
            classes: self.classes.clone(),
            counts: piece.counts.as_deref(),
            weights: piece.weights.as_deref(),
        };
        let blame = |error| piece.lines.locate(self.place, error);
        let part = Evidence::count(&piece.answers, &piece.truth, &counting, self.control).map_err(blame)?;
        self.parts.push((1, part));
        while let [.., (earlier, _), (later, _)] = &self.parts[..]
            && earlier == later
        {
            self.merge_last()?;
        }
        Ok(())
    }

    /// All there is; none without any piece.
    fn finish(mut self) -> Result<Option<Evidence>, spocc_table::Error> {
        while self.parts.len() > 1 {
            self.merge_last()?;
        }
        Ok(self.parts.pop().map(|(_, evidence)| evidence))
    }

    fn merge_last(&mut self) -> Result<(), spocc_table::Error> {
        if let (Some((later, more)), Some((earlier, sum))) = (self.parts.pop(), self.parts.pop()) {
            let sum = sum.merge(&more, self.control).map_err(|error| self.place.engine(error))?;
            self.parts.push((earlier + later, sum));
        }
        Ok(())
    }
}
