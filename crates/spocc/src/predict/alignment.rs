//! A table seen through a model: columns and labels found by name, rows decided one by one or all at once.

use std::collections::HashMap;

use crate::{
    data::{Label, MISSING, Predictions, Row, sort_with_missing},
    decision::{self, Basis, Decision},
    error::{Error, list},
    methods::Scratch,
    model::Model,
    parallel,
};

/// Stands for the column of a classifier that the table does not have.
const ABSENT: usize = usize::MAX;

/// A table seen through a model.
#[derive(Clone, Debug)]
pub struct AlignedTable<'a> {
    pub(crate) model: &'a Model,
    pub(crate) predictions: &'a Predictions,
    /// Column of each of the model's classifiers, or [`ABSENT`].
    columns: Vec<usize>,
    /// Classifier of each column, or `u32::MAX`.
    pub(crate) place: Vec<u32>,
    /// From the table's label ids to the model's.
    pub(crate) map: Vec<u16>,
    /// What a gap of each of the model's classifiers says, and the gaps that say something.
    pub(crate) silence: Vec<u16>,
    gaps: Vec<(u32, u16)>,
    /// Whether rows can be read without being rewritten.
    as_it_is: bool,
}

impl Model {
    /// Finds the model's classifiers and labels in a table, once for all its rows.
    ///
    /// Columns of other classifiers are left alone.
    ///
    /// # Errors
    ///
    /// [`Error::MissingClassifier`] if a classifier of the model has no column.
    pub fn align<'a>(&'a self, predictions: &'a Predictions) -> Result<AlignedTable<'a>, Error> {
        AlignedTable::new(self, predictions)
    }

    /// As [`align`](Self::align), for a table that lacks some of the model's classifiers: their predictions are
    /// missing on every row, whatever an empty cell of theirs means to the model.
    ///
    /// # Errors
    ///
    /// [`Error::MissingClassifier`] if no classifier of the model has a column.
    pub fn align_present<'a>(&'a self, predictions: &'a Predictions) -> Result<AlignedTable<'a>, Error> {
        AlignedTable::present(self, predictions)
    }
}

/// A row rewritten in the model's terms.
#[derive(Default)]
pub(crate) struct Rewritten {
    dense: Vec<u16>,
    sparse: Vec<(u32, u16)>,
    columns: Vec<u32>,
    ids: Vec<u16>,
}

impl<'a> AlignedTable<'a> {
    /// A table with a column for every classifier of the model.
    pub(crate) fn new(model: &'a Model, predictions: &'a Predictions) -> Result<Self, Error> {
        let aligned = Self::present(model, predictions)?;
        let refused = aligned.absent().next().map(|name| missing(name, predictions));
        refused.map_or(Ok(aligned), Err)
    }

    /// A table with a column for some classifier of the model.
    pub(crate) fn present(model: &'a Model, predictions: &'a Predictions) -> Result<Self, Error> {
        let places: HashMap<&String, usize> = predictions.classifiers().iter().zip(0..).collect();
        let column = |name: &String| places.get(name).copied().unwrap_or(ABSENT);
        let columns: Vec<usize> = model.classifiers.iter().map(column).collect();
        if columns.iter().all(|&column| column == ABSENT) {
            return Err(missing(&model.classifiers[0], predictions));
        }
        let mut place = vec![u32::MAX; predictions.n_classifiers()];
        for (k, &column) in (0..).zip(&columns).filter(|(_, column)| **column != ABSENT) {
            place[column] = k;
        }
        let map = model.labels.translate(predictions.labels());
        let spoken = model.labels.missing_label();
        // An absent classifier was not asked: that is no answer even where an empty cell is one.
        let silence: Vec<u16> = (model.missing_is_answer.iter().zip(&columns))
            .map(
                |(&missing_is_answer, &column)| {
                    if missing_is_answer && column != ABSENT { spoken } else { MISSING }
                },
            )
            .collect();
        let gaps: Vec<(u32, u16)> =
            (0..).zip(silence.iter().copied()).filter(|gap| gap.1 != MISSING).collect();
        let as_it_is = gaps.is_empty()
            && columns.len() == predictions.n_classifiers()
            && columns.iter().enumerate().all(|(k, &column)| k == column)
            && map.iter().enumerate().all(|(id, &label)| id == usize::from(label));
        Ok(Self { model, predictions, columns, place, map, silence, gaps, as_it_is })
    }
}

fn missing(name: &str, predictions: &Predictions) -> Error {
    Error::MissingClassifier { name: name.to_owned(), found: list(predictions.classifiers()) }
}

impl AlignedTable<'_> {
    /// The classifiers of the model that the table has no column for.
    pub fn absent(&self) -> impl Iterator<Item = &str> {
        let columns = self.model.classifiers.iter().zip(&self.columns);
        columns.filter(|(_, column)| **column == ABSENT).map(|(name, _)| name.as_str())
    }

    /// A row as the model sees it.
    pub(crate) fn row<'b>(&'b self, row: usize, buffer: &'b mut Rewritten) -> Row<'b> {
        self.rewritten(self.predictions.matrix().row(row), buffer)
    }

    /// A row of the table as the model sees it.
    pub(crate) fn rewritten<'b>(&self, cells: Row<'b>, buffer: &'b mut Rewritten) -> Row<'b> {
        if self.as_it_is {
            return cells;
        }
        match cells {
            Row::Sparse(columns, ids) if self.gaps.len() * 3 < self.columns.len() => {
                buffer.sparse.clear();
                for (&column, &id) in columns.iter().zip(ids) {
                    let (k, label) = (self.place[column as usize], self.map[usize::from(id)]);
                    // Whoever says something unknown is not silent.
                    if k != u32::MAX && (label != MISSING || !self.gaps.is_empty()) {
                        buffer.sparse.push((k, label));
                    }
                }
                sort_with_missing(&mut buffer.sparse, &self.gaps);
                if !self.gaps.is_empty() {
                    buffer.sparse.retain(|cell| cell.1 != MISSING);
                }
                buffer.columns.clear();
                buffer.columns.extend(buffer.sparse.iter().map(|cell| cell.0));
                buffer.ids.clear();
                buffer.ids.extend(buffer.sparse.iter().map(|cell| cell.1));
                Row::Sparse(&buffer.columns, &buffer.ids)
            }
            Row::Dense(cells) => {
                buffer.dense.clear();
                buffer.dense.extend(self.columns.iter().zip(&self.silence).map(|(&column, &silence)| {
                    match cells.get(column) {
                        None | Some(&MISSING) => silence,
                        Some(&id) => self.map[usize::from(id)],
                    }
                }));
                Row::Dense(&buffer.dense)
            }
            sparse @ Row::Sparse(..) => {
                buffer.dense.clear();
                buffer.dense.extend_from_slice(&self.silence);
                sparse.for_each(|column, id| {
                    if let Some(cell) = buffer.dense.get_mut(self.place[column] as usize) {
                        *cell = self.map[usize::from(id)];
                    }
                });
                Row::Dense(&buffer.dense)
            }
        }
    }

    /// What classifier `k` of the model said of a row, as the user wrote it.
    pub(crate) fn written(&self, row: usize, k: usize) -> Option<String> {
        self.predictions.get(row, self.columns[k]).map(Label::to_string)
    }

    /// Decides one row, counted from 0, in full.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchRow`].
    pub fn decide(&self, row: usize) -> Result<Decision, Error> {
        self.check_row(row)?;
        let (mut buffer, mut work) = (Rewritten::default(), Scratch::default());
        Ok(self.model.decision(self.row(row, &mut buffer), &mut work))
    }

    /// Decides some rows in full, in parallel.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchRow`].
    pub fn decide_rows(&self, rows: std::ops::Range<usize>) -> Result<Vec<Decision>, Error> {
        rows.end.checked_sub(1).map_or(Ok(()), |last| self.check_row(last))?;
        let start = rows.start;
        let parts = parallel::map_ranges(rows.len(), 1024, |range| {
            let (mut buffer, mut work) = (Rewritten::default(), Scratch::default());
            let mut decide = |row: usize| self.model.decision(self.row(start + row, &mut buffer), &mut work);
            range.map(&mut decide).collect::<Vec<Decision>>()
        });
        Ok(parts.into_iter().flatten().collect())
    }

    /// The probability of every class, row after row, in parallel; none where the method has no probabilities.
    ///
    /// What [`decide_rows`](Self::decide_rows) says of them, without the rest of each decision.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchRow`].
    pub fn probabilities(&self, rows: std::ops::Range<usize>) -> Result<Option<Vec<f64>>, Error> {
        rows.end.checked_sub(1).map_or(Ok(()), |last| self.check_row(last))?;
        if !self.model.method().capabilities().probabilities {
            return Ok(None);
        }
        let (start, n_classes) = (rows.start, self.model.classes().len());
        let parts = parallel::map_ranges(rows.len(), 1024, |range| {
            let (mut buffer, mut work) = (Rewritten::default(), Scratch::default());
            let mut shares = Vec::with_capacity(range.len() * n_classes);
            for row in range {
                let row = self.row(start + row, &mut buffer);
                self.model.extend_probabilities(row, &mut work, &mut shares);
            }
            shares
        });
        Ok(Some(parts.concat()))
    }

    pub(crate) fn check_row(&self, row: usize) -> Result<(), Error> {
        let rows = self.predictions.n_rows();
        if row < rows { Ok(()) } else { Err(Error::NoSuchRow { row: row.saturating_add(1), rows }) }
    }

    /// Whether the model knows every label that the table has.
    pub(crate) fn knows_all_labels(&self) -> bool {
        !self.map.contains(&MISSING)
    }

    pub(crate) fn decisions(&self, rows: Vec<Ruling>) -> Decisions {
        Decisions { rows, classes: self.model.classes().to_vec(), unseen: self.unseen() }
    }

    #[inline]
    pub(crate) fn rule_on(&self, row: Row<'_>, work: &mut Scratch, tolerance: &mut (f64, f64)) -> Ruling {
        let Some(x) = self.model.rule.surprisals_monotone(row, work) else {
            return self.prior_ruling(row, work);
        };
        if tolerance.0 != x {
            *tolerance = (x, decision::tolerance(x));
        }
        Ruling::of_panel(decision::decide(&work.out, tolerance.1, self.model.ties, |seed| row.hash(seed)))
    }

    /// Nobody said anything that counts: the class most often true.
    #[cold]
    fn prior_ruling(&self, row: Row<'_>, work: &mut Scratch) -> Ruling {
        self.model.prior_surprisals(&mut work.out);
        let (class, is_tie) =
            decision::decide(&work.out, decision::tolerance(1.0), self.model.ties, |seed| row.hash(seed));
        Ruling { class: class as u16, is_tie, basis: Basis::Prior }
    }

    /// Labels in the table that the model never met, by classifier.
    pub fn unseen(&self) -> Vec<UnseenLabel> {
        let unknown: Vec<u16> =
            self.map.iter().zip(0..).filter(|(label, _)| **label == MISSING).map(|(_, id)| id).collect();
        let mut unseen: Vec<UnseenLabel> = Vec::new();
        if unknown.is_empty() {
            return unseen;
        }
        let mut places: HashMap<(usize, u16), usize> = HashMap::new();
        for (row, cells) in self.predictions.matrix().rows().enumerate() {
            cells.for_each(|column, id| {
                if self.place[column] == u32::MAX || unknown.binary_search(&id).is_err() {
                    return;
                }
                let place = *places.entry((column, id)).or_insert_with(|| {
                    let classifier = self.predictions.classifiers()[column].clone();
                    let label = self.predictions.labels()[usize::from(id)].clone();
                    unseen.push(UnseenLabel { classifier, label, first_row: row, n_rows: 0 });
                    unseen.len() - 1
                });
                unseen[place].n_rows += 1;
            });
        }
        unseen
    }

    /// Refuses a table with labels the model never met, instead of taking them for silence.
    ///
    /// # Errors
    ///
    /// [`Error::UnseenLabel`] with the first one.
    pub fn strict(self) -> Result<Self, Error> {
        match self.unseen().into_iter().min_by_key(|unseen| unseen.first_row) {
            Some(UnseenLabel { classifier, label, first_row, .. }) => {
                Err(Error::UnseenLabel { row: first_row + 1, classifier, found: label.to_string() })
            }
            None => Ok(self),
        }
    }
}

/// A label that a classifier said but the model never met.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UnseenLabel {
    /// Who said it.
    pub classifier: String,
    /// The label.
    pub label: Label,
    /// The first row with it, from 0.
    pub first_row: usize,
    /// How many rows have it.
    pub n_rows: usize,
}

/// One decided row in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ruling {
    /// Number of the class decided.
    pub class: u16,
    /// Whether others were as good.
    pub is_tie: bool,
    /// Panel or prior.
    pub basis: Basis,
}

impl Ruling {
    pub(crate) fn clear(class: u16) -> Self {
        Self { class, is_tie: false, basis: Basis::Panel }
    }

    fn of_panel((class, is_tie): (usize, bool)) -> Self {
        Self { class: class as u16, is_tie, basis: Basis::Panel }
    }
}

/// Every row of a table, decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Decisions {
    rows: Vec<Ruling>,
    classes: Vec<Label>,
    unseen: Vec<UnseenLabel>,
}

impl Decisions {
    /// One ruling per row.
    pub fn rulings(&self) -> &[Ruling] {
        &self.rows
    }

    /// The decided labels, as the user writes them.
    pub fn labels(&self) -> impl ExactSizeIterator<Item = &Label> {
        self.rows.iter().map(|row| &self.classes[usize::from(row.class)])
    }

    /// Number of rows on which nobody had anything to say.
    pub fn n_prior(&self) -> usize {
        self.rows.iter().filter(|row| row.basis == Basis::Prior).count()
    }

    /// Number of rows on which several labels were equally good.
    pub fn n_ties(&self) -> usize {
        self.rows.iter().filter(|row| row.is_tie).count()
    }

    /// Labels the model never met, which counted as silence.
    pub fn unseen(&self) -> &[UnseenLabel] {
        &self.unseen
    }
}
