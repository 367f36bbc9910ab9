//! From whatever holds truths, a table or a tally, to evidence.
//!
//! Wide tables are read in pieces, each is counted, and the counts are added up: memory does not grow with the
//! rows. A long table is read as a whole, for its rows come in any order.

mod gold;
mod long;
mod pick;
mod wide;

use std::path::PathBuf;

use spocc::{Counting, Evidence, Level, Watch};

use crate::{
    args::PanelArgs,
    error::{Error, Place, count},
    input::Input,
    table::Table,
    tell,
};

use gold::Gold;
pub(crate) use long::{LongTable, Who};
pub(crate) use pick::pick;
pub(crate) use wide::piece;

/// Counted rows.
pub(crate) struct Labelled {
    /// Where they came from.
    pub(crate) place: Place,
    /// The counts.
    pub(crate) evidence: Evidence,
    /// What was met on the way; none for a tally.
    pub(crate) notes: Option<Notes>,
}

/// What was met while a table was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    /// Rows with a truth.
    pub(crate) n_rows: u64,
    /// Rows without one.
    pub(crate) n_skipped: u64,
    /// Truths in another table for which there is no row.
    n_unmatched: usize,
    /// Second answers of a long table that were left out.
    n_repeats: usize,
    /// Each classifier and how many different answers it gave, at most, in one piece.
    different: Vec<(String, usize)>,
}

impl Notes {
    /// Notes how many different answers each classifier gave in a piece.
    fn take_different(&mut self, names: &[String], different: &[usize]) {
        if self.different.is_empty() {
            self.different = names.iter().cloned().zip(different.iter().copied()).collect();
        } else {
            self.different.iter_mut().zip(different).for_each(|(known, here)| known.1 = known.1.max(*here));
        }
    }
}

impl Labelled {
    /// Reads and counts what is named.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`], [`Error::Refused`], [`Error::Engine`], [`Error::Io`].
    pub(crate) fn read(
        names: &[PathBuf],
        args: &PanelArgs,
        command: &str,
        level: Level,
        watch: &Watch<'_>,
    ) -> Result<Self, Error> {
        args.refuse_double_use(command)?;
        match Input::open(names, &args.table.reading())? {
            Input::Table(table) => Self::count(*table, args, command, level, watch),
            Input::Tally(place, evidence) => {
                args.refuse_columns(command, "a tally")?;
                Self::of_tally(place, &evidence, args, watch)
            }
            Input::Model(place, _) => Err(place.refused("a table or a tally", "a model")),
        }
    }

    /// Counts a table.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub(crate) fn count(
        table: Table,
        args: &PanelArgs,
        command: &str,
        level: Level,
        watch: &Watch<'_>,
    ) -> Result<Self, Error> {
        let label = args.label(command)?;
        let place = table.source().clone();
        let classes = args.class_list();
        let mut sum = Sum { place: &place, level, classes, watch, parts: Vec::new() };
        let notes = match &args.table.long {
            Some(columns) => long::count(table, args, columns, label, &mut sum)?,
            None => wide::count(table, args, label, &mut sum)?,
        };
        let Some(evidence) = sum.finish()?.filter(|evidence| evidence.n_rows() > 0.0) else {
            let found = match (notes.n_rows, notes.n_skipped) {
                (0, 0) => "no rows under the header".to_owned(),
                (0, 1) => "none in 1 row".to_owned(),
                (0, skipped) => format!("none in {skipped} rows"),
                (rows, _) => format!("only rows that count nothing ({rows})"),
            };
            return Err(place.refused(format!("a truth in column `{label}` of some row"), found));
        };
        Ok(Self { place, evidence, notes: Some(notes) })
    }

    /// Takes a tally as it is, but for classifiers that were left out.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for names that are not there.
    pub(crate) fn of_tally(
        place: Place,
        evidence: &Evidence,
        args: &PanelArgs,
        watch: &Watch<'_>,
    ) -> Result<Self, Error> {
        let kept = pick(evidence.classifiers(), args, &[], &place)?;
        let names: Vec<&String> = kept.iter().map(|&k| &evidence.classifiers()[k]).collect();
        let evidence = evidence.select(&names, watch).map_err(|error| place.engine(error))?;
        Ok(Self { place, evidence, notes: None })
    }

    /// Tells the user what was skipped and what looks wrong.
    pub(crate) fn tell_notes(&self) {
        let Some(notes) = &self.notes else { return };
        if notes.n_skipped > 0 {
            tell(format_args!("skipped {} without truth", rows(notes.n_skipped)));
        }
        if notes.n_unmatched > 0 {
            let truths = count(notes.n_unmatched, "truth", "truths");
            let belong = if notes.n_unmatched == 1 { "belongs" } else { "belong" };
            tell(format_args!("note: {truths} of --gold {belong} to no row"));
        }
        if notes.n_repeats > 0 {
            tell(format_args!(
                "note: left out {}",
                count(notes.n_repeats, "repeated answer", "repeated answers")
            ));
        }
        self.tell_odd_labels();
        for (name, different) in &notes.different {
            // What never says the same thing twice is a name of the row and not an opinion about it.
            if *different > 20
                && *different as u64 * 2 > notes.n_rows.min(wide::piece(notes.different.len()) as u64)
            {
                tell(format_args!(
                    "note: column `{name}` has {different} different answers; \
                     if it is no classifier, say so: --id '{name}'"
                ));
            }
        }
    }
}

impl Labelled {
    /// Tells labels that look like no answer, and such as differ in spaces and capitals only.
    fn tell_odd_labels(&self) {
        const NONE: [&str; 7] = ["na", "n/a", "nan", "none", "nil", "-", "?"];
        let labels: Vec<String> = self.evidence.labels().all().iter().map(ToString::to_string).collect();
        let folded: Vec<String> = labels.iter().map(|label| label.trim().to_lowercase()).collect();
        for (label, _) in labels.iter().zip(&folded).filter(|(_, folded)| NONE.contains(&folded.as_str())) {
            tell(format_args!(
                "note: `{label}` is a label here; if it means no answer, say so: --na 'null,{label}'"
            ));
        }
        let twin = |at: usize| folded[..at].iter().position(|known| *known == folded[at]);
        if let Some((at, known)) =
            (0..labels.len().min(1000)).find_map(|at| twin(at).map(|known| (at, known)))
        {
            tell(format_args!("note: `{}` and `{}` are two labels here", labels[known], labels[at]));
        }
    }
}

/// `1 row`, `2 rows`.
pub(crate) fn rows(n: u64) -> String {
    count(n as usize, "row", "rows")
}

/// Evidence of all pieces so far.
struct Sum<'a> {
    place: &'a Place,
    level: Level,
    classes: Option<Vec<spocc::Label>>,
    watch: &'a Watch<'a>,
    /// Sums of so many pieces each, every one of at most half as many as the one before: adding a piece to all
    /// that came before it would cost more and more.
    parts: Vec<(usize, Evidence)>,
}

/// Rows that were read and not yet counted.
struct Piece {
    answers: spocc::Predictions,
    truth: spocc::Truth,
    weights: Option<Vec<f64>>,
    counts: Option<Vec<u64>>,
    lines: crate::table::Lines,
}

impl Sum<'_> {
    fn add(&mut self, piece: &Piece) -> Result<(), Error> {
        let counting = Counting {
            level: self.level,
            classes: self.classes.clone(),
            counts: piece.counts.as_deref(),
            weights: piece.weights.as_deref(),
        };
        let blame = |error| piece.lines.blame(self.place, error);
        let part = Evidence::count(&piece.answers, &piece.truth, &counting, self.watch).map_err(blame)?;
        self.parts.push((1, part));
        while let [.., (earlier, _), (later, _)] = &self.parts[..]
            && earlier == later
        {
            self.merge_last()?;
        }
        Ok(())
    }

    /// All there is; none without any piece.
    fn finish(mut self) -> Result<Option<Evidence>, Error> {
        while self.parts.len() > 1 {
            self.merge_last()?;
        }
        Ok(self.parts.pop().map(|(_, evidence)| evidence))
    }

    fn merge_last(&mut self) -> Result<(), Error> {
        if let (Some((later, more)), Some((earlier, sum))) = (self.parts.pop(), self.parts.pop()) {
            let sum = sum.merge(&more, self.watch).map_err(|error| self.place.engine(error))?;
            self.parts.push((earlier + later, sum));
        }
        Ok(())
    }
}
