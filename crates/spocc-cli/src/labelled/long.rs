//! Long tables: a row per answer, as crowds and databases have them.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    sync::Arc,
};

use spocc::{Label, Predictions, Truth, data::Symbol};
use spocc_table::{
    Error, LabelEncoder, LabelMerger, Location, RowBlock, RowLocations, RowPositions, Table, TextColumn,
    TextInterner,
};

use crate::{
    args::{ColumnArgs, LongColumns, Repeats},
    error::list,
    labelled::{Gold, Notes, Piece, Sum, Which, ids::id_of, pick, refuse_others},
};

/// Whose answers are wanted.
pub(crate) enum Who<'a> {
    /// These, whether they occur or not.
    Only(&'a [String]),
    /// Everyone, but for what the options leave out, in alphabetical order.
    Chosen(&'a ColumnArgs),
    /// These, and nobody else but whom the options leave out.
    Exactly(&'a [String], &'a ColumnArgs),
}

/// A long table, turned into a row per item.
pub(crate) struct LongTable {
    /// The items in order of appearance.
    pub(crate) items: TextColumn,
    /// What was said of them.
    pub(crate) answers: Predictions,
    /// Where each item first appears.
    pub(crate) lines: RowLocations,
    /// How many answers were left out because the same classifier had answered before.
    n_repeats: usize,
    /// Truths found on the way, by number in `labels`.
    truths: Vec<Option<u32>>,
    labels: Arc<[Option<Label>]>,
}

/// One answer: item, classifier and label by number.
type Cell = (u32, u32, u32);

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
        columns: &LongColumns,
        repeats: Repeats,
        who: &Who<'_>,
        truth: Option<usize>,
    ) -> Result<Self, Error> {
        let plan = Plan {
            item: table.column(&columns.item)?,
            classifier: table.column(&columns.classifier)?,
            label: table.column(&columns.label)?,
            truth,
        };
        table.select_columns([plan.item, plan.classifier, plan.label].into_iter().chain(truth));
        let source = table.location().clone();
        let mut told_rows = table.map_blocks(move |rows| plan.tell(rows));
        let mut taken = Taken::default();
        while let Some(told) = told_rows.next()? {
            taken.take(&told)?;
            told.fault.map_or(Ok(()), Err)?;
        }
        taken.finish(repeats, who, &source)
    }
}

/// What to look for in rows.
struct Plan {
    item: usize,
    classifier: usize,
    label: usize,
    truth: Option<usize>,
}

/// What some rows tell.
struct Told {
    file: Location,
    places: RowPositions,
    /// Where the rows with an answer are.
    said: RowPositions,
    items: TextInterner,
    names: TextInterner,
    /// Item, classifier and label of each row.
    cells: Vec<Cell>,
    /// Truth of each row, if there is a column of them.
    truths: Vec<u32>,
    labels: Arc<[Option<Label>]>,
    fault: Option<Error>,
}

impl Plan {
    fn tell(&self, rows: &RowBlock) -> Told {
        let mut told = Told {
            file: rows.file().clone(),
            places: RowPositions::default(),
            said: RowPositions::default(),
            items: TextInterner::default(),
            names: TextInterner::default(),
            cells: Vec::with_capacity(rows.n_rows()),
            truths: Vec::new(),
            labels: Arc::default(),
            fault: None,
        };
        let mut marker = LabelEncoder::default();
        // A row whose label is no text may still contradict a truth.
        let none = marker.missing_code();
        for row in 0..rows.n_rows() {
            let found = self.names_of(rows, row, &mut marker, &mut told).and_then(|(item, name)| {
                let label = marker.encode(rows, row, self.label);
                told.cells.push((item, name, *label.as_ref().unwrap_or(&none)));
                told.places.push(rows.position(row));
                label
            });
            match found {
                Ok(label) if marker.label(label).is_some() => told.said.push(rows.position(row)),
                Ok(_) => {}
                Err(fault) => {
                    told.fault = Some(fault);
                    break;
                }
            }
        }
        told.labels = marker.finish();
        told
    }

    /// Item and classifier of a row, whose truth is taken.
    fn names_of(
        &self,
        rows: &RowBlock,
        row: usize,
        marker: &mut LabelEncoder,
        told: &mut Told,
    ) -> Result<(u32, u32), Error> {
        // A name that is not there is told before one that is no text.
        let item = rows.intern(row, self.item, &mut told.items).map_err(|fault| {
            rows.refuse_missing(row, self.item)
                .and_then(|()| rows.refuse_missing(row, self.classifier))
                .err()
                .unwrap_or(fault)
        })?;
        let name = rows.intern(row, self.classifier, &mut told.names)?;
        if let Some(truth) = self.truth {
            told.truths.push(marker.encode(rows, row, truth)?);
        }
        Ok((item, name))
    }
}

/// Answers as they are read.
#[derive(Default)]
struct Taken {
    items: TextInterner,
    names: TextInterner,
    labels: LabelMerger,
    truths: Vec<Option<u32>>,
    cells: Vec<Cell>,
    /// Where each cell is.
    places: RowLocations,
    /// Where each item first appears.
    lines: RowLocations,
}

impl Taken {
    fn take(&mut self, told: &Told) -> Result<(), Error> {
        let items = numbers(&mut self.items, &told.items, &told.file)?;
        let names = numbers(&mut self.names, &told.names, &told.file)?;
        let labels = self.labels.codes(&told.labels);
        for (row, &(item, name, label)) in told.cells.iter().enumerate() {
            let item = items[item as usize];
            if item as usize == self.truths.len() {
                self.truths.push(None);
                self.lines.push(told.places.location(&told.file, row));
            }
            if let Some(truth) = told.truths.get(row).filter(|truth| told.labels[**truth as usize].is_some())
            {
                let truth = labels[*truth as usize];
                let known = *self.truths[item as usize].get_or_insert(truth);
                if let Some((before, here)) = self.labels.differ(known, truth) {
                    let found = format!("`{before}` before and `{here}` here");
                    return Err(told
                        .places
                        .location(&told.file, row)
                        .refused("one truth for an item", found));
                }
            }
            if told.labels[label as usize].is_some() {
                self.cells.push((item, names[name as usize], labels[label as usize]));
            }
        }
        self.places.extend(&told.file, &told.said, 0..told.said.n_rows());
        Ok(())
    }

    fn finish(self, repeats: Repeats, who: &Who<'_>, source: &Location) -> Result<LongTable, Error> {
        let occurring: Vec<String> =
            self.names.iter().map(|name| String::from_utf8_lossy(name).into()).collect();
        let (names, place_of) = chosen(&occurring, who, source)?;
        let said = Said::new(&self.cells, self.items.len(), |name| place_of[name as usize] != u32::MAX);
        if repeats == Repeats::Refuse
            && let Some(conflict) = said.conflict(|before, here| self.labels.differ(before, here).is_some())
        {
            return Err(self.refuse(&conflict, &occurring, source));
        }
        let (n_items, labels) = (self.items.len(), self.labels.finish());
        // No cell names what means nothing: such cells were not taken.
        let list: Vec<Label> =
            labels.iter().map(|label| label.clone().unwrap_or_else(|| "".into())).collect();
        drop(self.cells);
        let last = repeats == Repeats::Last;
        let cells = said
            .each_once(last)
            .map(|(item, name, label)| (item, place_of[name as usize] as usize, label as usize));
        let answers =
            Predictions::from_cells(names, n_items, &list, cells).map_err(|error| source.engine(error))?;
        let n_repeats = said.cells.len() - said.each_once(last).count();
        let items = self.items.iter().map(|item| std::str::from_utf8(item).ok()).collect();
        Ok(LongTable { items, answers, lines: self.lines, n_repeats, truths: self.truths, labels })
    }

    /// Refuses a second answer that differs from the first.
    fn refuse(&self, conflict: &Conflict, names: &[String], source: &Location) -> Error {
        let &Conflict { item, name, nth } = conflict;
        let mut same =
            (0..self.cells.len()).filter(|&at| (self.cells[at].0 as usize, self.cells[at].1) == (item, name));
        let first = same.next().unwrap_or_default();
        let later = same.nth(nth.saturating_sub(1)).unwrap_or_default();
        let label =
            |at: usize| self.labels.get(self.cells[at].2).map(ToString::to_string).unwrap_or_default();
        let found = format!(
            "`{}` before and `{}` here (--repeats first or last takes one of them)",
            label(first),
            label(later)
        );
        let what = String::from_utf8_lossy(self.items.text(item));
        let place = self.places.get(later).unwrap_or_else(|| source.clone());
        place.refused(format!("one answer of `{}` to `{what}`", names[name as usize]), found)
    }
}

/// The numbers here of texts that are numbered there; new ones are put behind those that are known.
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

/// What was said of each item: by whom, and which label, in the order of the classifiers, and where one said
/// more than one thing, in the order in which it was said.
struct Said {
    cells: Vec<(u32, u32)>,
    /// Where the cells of each item end.
    ends: Vec<usize>,
}

/// The answer to an item that differs from the first of the same classifier, and the how-manieth it is.
struct Conflict {
    item: usize,
    name: u32,
    nth: usize,
}

impl Said {
    /// Puts cells in order, without those of classifiers that are not wanted.
    fn new(cells: &[Cell], n_items: usize, is_wanted: impl Fn(u32) -> bool) -> Self {
        let mut ends = vec![0; n_items + 1];
        let wanted = || cells.iter().filter(|cell| is_wanted(cell.1));
        wanted().for_each(|cell| ends[cell.0 as usize + 1] += 1);
        (0..n_items).for_each(|item| ends[item + 1] += ends[item]);
        let mut sorted = vec![(0, 0); ends[n_items]];
        for &(item, name, label) in wanted() {
            sorted[ends[item as usize]] = (name, label);
            ends[item as usize] += 1;
        }
        ends.truncate(n_items);
        let mut said = Self { cells: sorted, ends };
        for item in 0..n_items {
            let range = said.range(item);
            // Stable: repeats stay in their order.
            said.cells[range].sort_by_key(|cell| cell.0);
        }
        said
    }

    fn range(&self, item: usize) -> Range<usize> {
        item.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[item]
    }

    /// Item and answers of each classifier that said something about it.
    fn answers(&self) -> impl Iterator<Item = (usize, &[(u32, u32)])> {
        (0..self.ends.len()).flat_map(|item| {
            let cells = &self.cells[self.range(item)];
            cells.chunk_by(|one, other| one.0 == other.0).map(move |answers| (item, answers))
        })
    }

    /// The first answer that differs from an earlier one.
    fn conflict(&self, differ: impl Fn(u32, u32) -> bool) -> Option<Conflict> {
        self.answers().find_map(|(item, answers)| {
            let nth = answers.iter().position(|answer| differ(answers[0].1, answer.1))?;
            Some(Conflict { item, name: answers[0].0, nth })
        })
    }

    /// Item, classifier and label: the first or the last that each said.
    fn each_once(&self, last: bool) -> impl Iterator<Item = (usize, u32, u32)> {
        self.answers().filter_map(move |(item, answers)| {
            let answer = if last { answers.last() } else { answers.first() };
            answer.map(|&(name, label)| (item, name, label))
        })
    }
}

/// The classifiers wanted, and the place among them of every one that occurs.
fn chosen(occurring: &[String], who: &Who<'_>, place: &Location) -> Result<(Vec<String>, Vec<u32>), Error> {
    let names: Vec<String> = match who {
        Who::Only(names) => {
            let known: HashSet<&String> = names.iter().collect();
            if !occurring.is_empty() && !occurring.iter().any(|name| known.contains(name)) {
                let expected = format!("answers of the model's {} classifiers", names.len());
                return Err(place.refused(expected, format!("only those of {}", list(occurring))).into());
            }
            names.to_vec()
        }
        // Nobody said anything: there is nothing to choose from, and nothing to complain of yet.
        Who::Chosen(_) if occurring.is_empty() => vec![String::new()],
        Who::Exactly(panel, args) => {
            let kept = if occurring.is_empty() { Vec::new() } else { pick(occurring, args, &[], place)? };
            // Who says nothing here is silent, not missing.
            let everyone = panel.iter().chain(kept.iter().map(|&at| &occurring[at])).collect::<Vec<_>>();
            refuse_others(panel, &everyone, place)?;
            panel.to_vec()
        }
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
    sum: &mut Sum<'_>,
) -> Result<Notes, Error> {
    table.set_used(args.named_columns());
    let label = label.filter(|_| sum.keep.which.has_truths());
    let gold =
        args.gold.as_ref().zip(label).map(|(path, label)| Gold::read(path, args, label)).transpose()?;
    let column = label.filter(|_| gold.is_none()).map(|label| table.column(label)).transpose()?;
    let who = match sum.keep.which {
        Which::Unlabelled { panel, .. } => Who::Exactly(panel, args),
        _ => Who::Chosen(args),
    };
    let mut long = LongTable::read(table, columns, args.table.repeats, &who, column)?;
    let items = (0..long.items.len()).map(|item| long.items.get(item).unwrap_or_default());
    if sum.keep.with_ids {
        items.clone().for_each(|item| sum.ids.insert(&id_of(item)));
    }
    // An item that is counted already counts nothing here.
    let counts = match sum.keep.which {
        Which::Unlabelled { counted, .. } => {
            Some(items.clone().map(|item| u64::from(!counted.has(&id_of(item)))).collect::<Vec<u64>>())
        }
        _ => None,
    };
    let n_again = counts.iter().flatten().filter(|count| **count == 0).count() as u64;
    if let Some(gold) = &gold {
        (long.truths, long.labels) = (items.map(|item| gold.truth_of(item)).collect(), gold.labels());
    }
    let n_rows = long.truths.iter().flatten().count() as u64;
    let others = long.items.len() as u64 - n_rows - n_again;
    let (n_unlabelled, n_skipped) = if sum.keep.which.has_unlabelled() { (others, 0) } else { (0, others) };
    let n_repeats = long.n_repeats;
    let mut notes = Notes { n_rows, n_unlabelled, n_skipped, n_again, n_repeats, ..Notes::default() };
    gold.map_or(Ok(()), |gold| gold.note(&mut notes, sum.place))?;
    let truth = truths(&long).map_err(|error| sum.place.engine(error))?;
    if n_rows + n_unlabelled > 0 {
        let (answers, lines) = (long.answers, long.lines);
        sum.add(&Piece { answers, truth, weights: None, counts, lines })?;
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
