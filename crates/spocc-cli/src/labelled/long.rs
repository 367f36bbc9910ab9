//! Long tables: a row per answer, as crowds and databases have them.

use std::collections::HashMap;

use spocc::{Label, Predictions, Truth};

use crate::{
    args::{Long, PanelArgs, Repeats},
    error::{Error, Place, list},
    labelled::{Gold, Notes, Piece, Sum, pick},
    table::{Lines, Table},
};

/// Whose answers are wanted.
pub(crate) enum Who<'a> {
    /// These, whether they occur or not.
    Only(&'a [String]),
    /// Everyone, but for what the options leave out, in alphabetical order.
    Chosen(&'a PanelArgs),
}

/// A long table, turned into a row per item.
pub(crate) struct LongTable {
    /// The items in order of appearance.
    pub(crate) items: Vec<String>,
    /// What was said of them.
    pub(crate) answers: Predictions,
    /// Where each item first appears.
    pub(crate) lines: Lines,
    /// How many answers were left out because the same classifier had answered before.
    n_repeats: usize,
    /// Truths found on the way.
    truths: Vec<Option<Label>>,
}

/// One answer: item, classifier, label by number, and which row of the table it is.
type Cell = (u32, u32, u32, usize);

/// Texts by number, in order of appearance.
#[derive(Default)]
struct Numbers {
    texts: Vec<String>,
    numbers: HashMap<Vec<u8>, u32>,
}

impl Numbers {
    fn number(&mut self, table: &Table, column: usize) -> Result<u32, Error> {
        let cell = table.cell(column).unwrap_or_default();
        if let Some(&number) = self.numbers.get(cell) {
            return Ok(number);
        }
        let number = u32::try_from(self.texts.len())
            .map_err(|_| table.here().refused("at most 2^32 different names", "more"))?;
        self.texts.push(table.text(column)?.to_owned());
        self.numbers.insert(cell.to_owned(), number);
        Ok(number)
    }
}

impl LongTable {
    /// Reads all of a long table. With a column of truths, each item's truth is whatever non-missing cell its
    /// rows have there.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for a row without item or classifier, two truths of an item, and, as `repeats` says,
    /// two answers of one classifier to one item.
    pub(crate) fn read(
        mut table: Table,
        columns: &Long,
        repeats: Repeats,
        who: &Who<'_>,
        truth: Option<usize>,
    ) -> Result<Self, Error> {
        let item = table.column(&columns.item)?;
        let classifier = table.column(&columns.classifier)?;
        let label = table.column(&columns.label)?;
        table.ask_only([item, classifier, label].into_iter().chain(truth));
        let (mut items, mut names, mut labels) = (Numbers::default(), Numbers::default(), Numbers::default());
        let (mut places, mut lines) = (Lines::default(), Lines::default());
        let mut truths: Vec<Option<Label>> = Vec::new();
        let mut cells: Vec<Cell> = Vec::new();
        let kind = table.kind(label);
        let mut n_read = 0;
        while table.next()? {
            for column in [item, classifier] {
                if table.is_missing(column) {
                    let expected = format!("a name in column `{}`", table.header()[column]);
                    return Err(table.here().refused(expected, "none"));
                }
            }
            let (row, k) = (items.number(&table, item)?, names.number(&table, classifier)?);
            if row as usize == truths.len() {
                truths.push(None);
                lines.push(table.here());
            }
            if let Some(column) = truth {
                take_truth(&table, column, &mut truths[row as usize])?;
            }
            if !table.is_missing(label) {
                cells.push((row, k, labels.number(&table, label)?, n_read));
            }
            places.push(table.here());
            n_read += 1;
        }
        let labels: Vec<Label> = labels.texts.iter().map(|text| kind.label(text)).collect();
        let (names, place_of) = chosen(&names.texts, who, table.source())?;
        let conflict = |cell: &Cell, before: &Label, here: &Label| {
            let place = places.place(cell.3).unwrap_or_else(|| table.source().clone());
            let (who, what) = (&names[place_of[cell.1 as usize] as usize], &items.texts[cell.0 as usize]);
            let found =
                format!("`{before}` before and `{here}` here (--repeats first or last takes one of them)");
            place.refused(format!("one answer of `{who}` to `{what}`"), found)
        };
        cells.retain(|cell| place_of[cell.1 as usize] != u32::MAX);
        let n_repeats = drop_repeats(&mut cells, repeats, &labels, conflict)?;
        let answer = |cell: &Cell| {
            (cell.0 as usize, place_of[cell.1 as usize] as usize, labels[cell.2 as usize].clone())
        };
        let answers =
            Predictions::from_cells(names.iter().cloned(), items.texts.len(), cells.iter().map(answer))
                .map_err(|error| table.source().engine(error))?;
        Ok(Self { items: items.texts, answers, lines, n_repeats, truths })
    }
}

fn take_truth(table: &Table, column: usize, known: &mut Option<Label>) -> Result<(), Error> {
    if table.is_missing(column) {
        return Ok(());
    }
    let here = table.kind(column).label(table.text(column)?);
    match known {
        Some(before) if *before != here => {
            Err(table.here().refused("one truth for an item", format!("`{before}` before and `{here}` here")))
        }
        Some(_) => Ok(()),
        None => {
            *known = Some(here);
            Ok(())
        }
    }
}

/// The classifiers wanted, and the place among them of every one that occurs.
fn chosen(occurring: &[String], who: &Who<'_>, place: &Place) -> Result<(Vec<String>, Vec<u32>), Error> {
    let names: Vec<String> = match who {
        Who::Only(names) => {
            if !occurring.is_empty() && !occurring.iter().any(|name| names.contains(name)) {
                let expected = format!("answers of the model's {} classifiers", names.len());
                return Err(place.refused(expected, format!("only those of {}", list(occurring))));
            }
            names.to_vec()
        }
        // Nobody said anything: there is nothing to choose from, and nothing to complain of yet.
        Who::Chosen(_) if occurring.is_empty() => vec![String::new()],
        Who::Chosen(args) => {
            let mut sorted = occurring.to_vec();
            sorted.sort();
            let kept = pick(&sorted, args, &[], place)?;
            kept.into_iter().map(|at| sorted[at].clone()).collect()
        }
    };
    let places: HashMap<&str, u32> = names.iter().map(String::as_str).zip(0..).collect();
    let place_of =
        occurring.iter().map(|name| places.get(name.as_str()).copied().unwrap_or(u32::MAX)).collect();
    Ok((names, place_of))
}

/// Leaves one answer of each classifier to each item; returns how many are gone.
fn drop_repeats(
    cells: &mut Vec<Cell>,
    repeats: Repeats,
    labels: &[Label],
    conflict: impl Fn(&Cell, &Label, &Label) -> Error,
) -> Result<usize, Error> {
    let before = cells.len();
    cells.sort_unstable_by_key(|cell| (cell.0, cell.1, cell.3));
    if repeats == Repeats::Last {
        cells.reverse();
    }
    let mut refused = None;
    cells.dedup_by(|later, earlier| {
        let is_repeat = (later.0, later.1) == (earlier.0, earlier.1);
        let (said, says) = (&labels[earlier.2 as usize], &labels[later.2 as usize]);
        if is_repeat && said != says && repeats == Repeats::Refuse && refused.is_none() {
            refused = Some(conflict(later, said, says));
        }
        is_repeat
    });
    refused.map_or(Ok(before - cells.len()), Err)
}

/// Counts a long table.
///
/// # Errors
///
/// As [`LongTable::read`].
pub(super) fn count(
    table: Table,
    args: &PanelArgs,
    columns: &Long,
    label: &str,
    sum: &mut Sum<'_>,
) -> Result<Notes, Error> {
    let mut gold = args.gold.as_ref().map(|path| Gold::read(path, args, label)).transpose()?;
    let column = if gold.is_none() { Some(table.column(label)?) } else { None };
    let mut long = LongTable::read(table, columns, args.table.repeats, &Who::Chosen(args), column)?;
    if let Some(gold) = &mut gold {
        long.truths = long.items.iter().map(|item| gold.truth_of(item).cloned()).collect();
    }
    let n_rows = long.truths.iter().flatten().count() as u64;
    let n_skipped = long.items.len() as u64 - n_rows;
    let mut notes = Notes { n_rows, n_skipped, n_repeats: long.n_repeats, ..Notes::default() };
    gold.map_or(Ok(()), |gold| gold.note(&mut notes, sum.place))?;
    let truth = Truth::new(long.truths).map_err(|error| sum.place.engine(error))?;
    if n_rows > 0 {
        let (answers, lines) = (long.answers, long.lines);
        sum.add(&Piece { answers, truth, weights: None, counts: None, lines })?;
    }
    Ok(notes)
}
