//! Predictions: what every classifier said of every row, and what was true.
//!
//! In: rows of labels with gaps, or single cells in any order. Out: a checked grid of label ids.

use std::collections::{HashMap, HashSet};

use crate::{
    data::{Label, LabelMatrix, MAX_LABELS, MISSING, Row, Written},
    error::Error,
};

/// A table of answers: rows x classifiers, with gaps where a classifier was silent.
///
/// ```
/// use spocc::Predictions;
/// let mut rows = Predictions::builder(["ann", "bob"])?;
/// rows.push([Some("cat"), Some("dog")])?;
/// rows.push([None, Some("cat")])?;
/// let predictions = rows.finish();
/// assert_eq!((predictions.n_rows(), predictions.n_classifiers()), (2, 2));
/// # Ok::<(), spocc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Predictions {
    classifiers: Vec<String>,
    labels: Vec<Label>,
    grid: LabelMatrix,
}

/// Takes predictions row by row.
#[derive(Clone, Debug)]
pub struct PredictionsBuilder {
    classifiers: Vec<String>,
    interner: Interner,
    grid: LabelMatrix,
    row: Vec<u16>,
}

/// A label known to a [`PredictionsBuilder`] or a [`Truth`], so that a repeated text is looked up once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol(u16);

impl Predictions {
    /// Starts an empty table for these classifiers.
    ///
    /// # Errors
    ///
    /// [`Error::NoClassifiers`], [`Error::DuplicateName`].
    pub fn builder<S: Into<String>>(
        classifiers: impl IntoIterator<Item = S>,
    ) -> Result<PredictionsBuilder, Error> {
        let classifiers = distinct(classifiers)?;
        let grid = LabelMatrix::empty(classifiers.len());
        let row = Vec::with_capacity(classifiers.len());
        Ok(PredictionsBuilder { classifiers, interner: Interner::default(), grid, row })
    }

    /// Takes a whole table of ids into `labels`, row after row; `None` is a gap.
    ///
    /// # Errors
    ///
    /// As [`builder`](Self::builder); [`Error::RowWidth`] if the last row is not whole, [`Error::LabelId`]
    /// for an id without a label, [`Error::DuplicateName`] for a repeated label.
    pub fn from_ids<S: Into<String>>(
        classifiers: impl IntoIterator<Item = S>,
        labels: Vec<Label>,
        ids: impl IntoIterator<Item = Option<u16>>,
    ) -> Result<Self, Error> {
        let classifiers = distinct(classifiers)?;
        let mut known = HashSet::new();
        if let Some(twice) = labels.iter().find(|label| !known.insert(label.canonical())) {
            return Err(Error::DuplicateName { what: "labels", name: twice.to_string() });
        }
        if labels.len() > MAX_LABELS {
            return Err(Error::TooManyLabels { limit: MAX_LABELS });
        }
        let width = classifiers.len();
        let mut cells = Vec::new();
        for id in ids {
            if let Some(found) = id.map(usize::from).filter(|id| *id >= labels.len()) {
                let row = cells.len() / width + 1;
                return Err(Error::LabelId { row, expected: labels.len(), found });
            }
            cells.push(id.unwrap_or(MISSING));
        }
        if !cells.len().is_multiple_of(width) {
            let row = cells.len() / width + 1;
            return Err(Error::RowWidth { row, expected: width, found: cells.len() % width });
        }
        Ok(Self { classifiers, labels, grid: LabelMatrix::from_cells(width, cells) })
    }

    /// Takes a whole table of ids into `labels` as it is, row after row; [`u16::MAX`] is a gap.
    ///
    /// For whoever has looked every label up already: nothing is copied. One label written in two ways has two ids.
    ///
    /// # Errors
    ///
    /// As [`from_ids`](Self::from_ids).
    pub fn from_dense<S: Into<String>>(
        classifiers: impl IntoIterator<Item = S>,
        labels: Vec<Label>,
        ids: Vec<u16>,
    ) -> Result<Self, Error> {
        let classifiers = distinct(classifiers)?;
        let width = classifiers.len();
        let labels = Interner::of(labels)?.labels;
        check_ids(&ids, width, labels.len())?;
        if !ids.len().is_multiple_of(width) {
            let row = ids.len() / width + 1;
            return Err(Error::RowWidth { row, expected: width, found: ids.len() % width });
        }
        Ok(Self { classifiers, labels, grid: LabelMatrix::from_cells(width, ids) })
    }

    /// Takes single cells `(row, classifier, label)` in any order, as a long table has them; rows count from 0.
    ///
    /// # Errors
    ///
    /// As [`builder`](Self::builder); [`Error::UnknownClassifier`], [`Error::RowCount`] for a row past `n_rows`,
    /// [`Error::RepeatedCell`].
    pub fn from_cells<S: Into<String>, L: Into<Label>>(
        classifiers: impl IntoIterator<Item = S>,
        n_rows: usize,
        cells: impl IntoIterator<Item = (usize, usize, L)>,
    ) -> Result<Self, Error> {
        let mut interner = Interner::default();
        let cells = cells.into_iter().map(|(row, k, label)| (row, k, label.into()));
        Self::assemble(classifiers, n_rows, cells, |label| interner.intern(label))
            .map(|(classifiers, grid)| Self { classifiers, labels: interner.labels, grid })
    }

    /// As [`from_cells`](Self::from_cells), for cells `(row, classifier, label)` that name a label by its place
    /// in `labels`; one that no cell names is left out.
    ///
    /// # Errors
    ///
    /// As [`from_cells`](Self::from_cells); [`Error::LabelId`] for a place without a label.
    pub fn from_numbered_cells<S: Into<String>>(
        classifiers: impl IntoIterator<Item = S>,
        n_rows: usize,
        labels: &[Label],
        cells: impl IntoIterator<Item = (usize, usize, usize)>,
    ) -> Result<Self, Error> {
        let mut interner = Interner::default();
        let mut known: Vec<Option<u16>> = vec![None; labels.len()];
        let cells = cells.into_iter().map(|(row, k, at)| (row, k, (row, at)));
        let look_up = |(row, at): (usize, usize)| match known.get_mut(at) {
            Some(Some(id)) => Ok(*id),
            Some(unknown) => Ok(*unknown.insert(interner.intern(labels[at].clone())?)),
            None => Err(Error::LabelId { row: row + 1, expected: labels.len(), found: at }),
        };
        Self::assemble(classifiers, n_rows, cells, look_up).map(|(classifiers, grid)| Self {
            classifiers,
            labels: interner.labels,
            grid,
        })
    }

    /// Checked classifiers and a grid of cells in any order, whose labels are looked up.
    fn assemble<S: Into<String>, L>(
        classifiers: impl IntoIterator<Item = S>,
        n_rows: usize,
        cells: impl IntoIterator<Item = (usize, usize, L)>,
        mut look_up: impl FnMut(L) -> Result<u16, Error>,
    ) -> Result<(Vec<String>, LabelMatrix), Error> {
        let classifiers = distinct(classifiers)?;
        let mut taken: Vec<(usize, u32, u16)> = Vec::new();
        for (row, k, label) in cells {
            if row >= n_rows {
                return Err(Error::RowCount {
                    what: "cells",
                    expected: n_rows,
                    found: row.saturating_add(1),
                });
            }
            if k >= classifiers.len() {
                let known = crate::error::list(&classifiers);
                return Err(Error::UnknownClassifier { name: format!("number {k}"), known });
            }
            taken.push((row, k as u32, look_up(label)?));
        }
        // Rows are many and the cells of each are few: counting puts them in order.
        let mut ends = vec![0; n_rows + 1];
        taken.iter().for_each(|cell| ends[cell.0 + 1] += 1);
        (0..n_rows).for_each(|row| ends[row + 1] += ends[row]);
        let mut by_row = vec![(0, 0); taken.len()];
        for (row, k, id) in taken {
            by_row[ends[row]] = (k, id);
            ends[row] += 1;
        }
        let mut grid = LabelMatrix::empty(classifiers.len());
        let (mut columns, mut ids) = (Vec::new(), Vec::new());
        let mut start = 0;
        for (row, &end) in ends[..n_rows].iter().enumerate() {
            let cells = &mut by_row[start..end];
            start = end;
            cells.sort_unstable();
            if let Some(twice) = cells.windows(2).find(|two| two[0].0 == two[1].0) {
                let classifier = classifiers[twice[0].0 as usize].clone();
                return Err(Error::RepeatedCell { row: row + 1, classifier });
            }
            columns.clear();
            ids.clear();
            cells.iter().for_each(|&(k, id)| {
                columns.push(k);
                ids.push(id);
            });
            grid.push(Row::Sparse(&columns, &ids));
        }
        Ok((classifiers, grid.settled()))
    }

    /// A table whose parts fit together by construction.
    pub(crate) fn from_matrix(classifiers: Vec<String>, labels: Vec<Label>, grid: LabelMatrix) -> Self {
        Self { classifiers, labels, grid }
    }

    /// The classifiers' names.
    pub fn classifiers(&self) -> &[String] {
        &self.classifiers
    }

    /// Number of classifiers.
    pub fn n_classifiers(&self) -> usize {
        self.classifiers.len()
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.grid.n_rows()
    }

    /// Number of different labels that each classifier gave.
    pub fn n_distinct_labels(&self) -> Vec<usize> {
        const FEW: usize = u64::BITS as usize - 1;
        if let Some(cells) = self.grid.dense_cells().filter(|_| self.labels.len() <= FEW) {
            // A gap sets the last bit, which no label has.
            let mut seen = vec![0u64; self.n_classifiers()];
            for row in cells.chunks_exact(self.n_classifiers()) {
                seen.iter_mut().zip(row).for_each(|(seen, id)| *seen |= 1 << (id & 63));
            }
            return seen.iter().map(|seen| (seen << 1).count_ones() as usize).collect();
        }
        let mut n_different = vec![0; self.n_classifiers()];
        // A bit per classifier and label, unless these are more than the cells.
        let words = self.labels.len().div_ceil(64);
        let is_small = words.saturating_mul(self.n_classifiers()) <= self.bytes();
        let mut bits = vec![0u64; if is_small { words * self.n_classifiers() } else { 0 }];
        let mut pairs = HashSet::new();
        for row in self.grid.rows() {
            row.for_each(|k, id| {
                let is_new = if is_small {
                    let (word, bit) = (&mut bits[k * words + usize::from(id) / 64], 1 << (id % 64));
                    let is_new = *word & bit == 0;
                    *word |= bit;
                    is_new
                } else {
                    pairs.insert((k, id))
                };
                n_different[k] += usize::from(is_new);
            });
        }
        n_different
    }

    /// Bytes the answers take in memory.
    pub fn bytes(&self) -> usize {
        self.grid.bytes()
    }

    /// What `classifier` said of `row` (both from 0), if anything.
    pub fn get(&self, row: usize, classifier: usize) -> Option<&Label> {
        (row < self.n_rows() && classifier < self.n_classifiers())
            .then(|| self.grid.row(row).get(classifier))
            .flatten()
            .map(|id| &self.labels[usize::from(id)])
    }

    /// Shows every answer to a row (from 0), in the order of the classifiers; costs nothing for who is silent.
    pub fn for_each_prediction<'a>(&'a self, row: usize, mut show: impl FnMut(usize, &'a Label)) {
        if row < self.n_rows() {
            self.grid.row(row).for_each(|k, id| show(k, &self.labels[usize::from(id)]));
        }
    }

    pub(crate) fn labels(&self) -> &[Label] {
        &self.labels
    }

    pub(crate) fn matrix(&self) -> &LabelMatrix {
        &self.grid
    }

    pub(crate) fn into_matrix(self) -> LabelMatrix {
        self.grid
    }
}

impl PredictionsBuilder {
    /// Appends a row: one answer per classifier, `None` where it was silent.
    ///
    /// # Errors
    ///
    /// [`Error::RowWidth`], [`Error::TooManyLabels`]; the table is then as it was.
    pub fn push<L: Into<Label>>(
        &mut self,
        answers: impl IntoIterator<Item = Option<L>>,
    ) -> Result<(), Error> {
        self.row.clear();
        for answer in answers {
            let id = answer.map_or(Ok(MISSING), |label| self.interner.intern(label.into()))?;
            self.row.push(id);
        }
        self.take_row()
    }

    /// Looks a label up, so that [`push_symbols`](Self::push_symbols) need not.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyLabels`].
    pub fn symbol(&mut self, label: impl Into<Label>) -> Result<Symbol, Error> {
        self.interner.intern(label.into()).map(Symbol)
    }

    /// Appends a row of labels looked up before.
    ///
    /// # Errors
    ///
    /// [`Error::RowWidth`]; [`Error::LabelId`] for a symbol that this builder never gave.
    pub fn push_symbols(&mut self, answers: &[Option<Symbol>]) -> Result<(), Error> {
        let known = self.interner.labels.len();
        let stranger = answers.iter().flatten().map(|symbol| usize::from(symbol.0)).find(|id| *id >= known);
        if let Some(found) = stranger {
            return Err(Error::LabelId { row: self.grid.n_rows() + 1, expected: known, found });
        }
        self.row.clear();
        self.row.extend(answers.iter().map(|answer| answer.map_or(MISSING, |symbol| symbol.0)));
        self.take_row()
    }

    /// Appends whole rows, one after the other, of numbers that mean labels looked up before, or gaps.
    ///
    /// # Errors
    ///
    /// [`Error::RowWidth`] if the last row is not whole; [`Error::LabelId`] for a number without a meaning and a
    /// symbol that this builder never gave. The rows before are then there.
    pub fn push_rows(&mut self, numbers: &[u32], meanings: &[Option<Symbol>]) -> Result<(), Error> {
        let known = self.interner.labels.len();
        let first = self.grid.n_rows() + 1;
        let stranger = meanings.iter().flatten().map(|symbol| usize::from(symbol.0)).find(|id| *id >= known);
        if let Some(found) = stranger {
            return Err(Error::LabelId { row: first, expected: known, found });
        }
        let ids: Vec<u16> = meanings.iter().map(|symbol| symbol.map_or(MISSING, |symbol| symbol.0)).collect();
        let width = self.classifiers.len();
        if numbers.len().is_multiple_of(width) && numbers.iter().all(|number| (*number as usize) < ids.len())
        {
            self.grid.extend(numbers.iter().map(|number| ids[*number as usize]));
            return Ok(());
        }
        for (row, numbers) in numbers.chunks(width).enumerate() {
            self.row.clear();
            self.row.extend(numbers.iter().map_while(|number| ids.get(*number as usize)));
            if let Some(&found) = numbers.get(self.row.len()) {
                return Err(Error::LabelId { row: first + row, expected: ids.len(), found: found as usize });
            }
            self.take_row()?;
        }
        Ok(())
    }

    fn take_row(&mut self) -> Result<(), Error> {
        if self.row.len() != self.classifiers.len() {
            let row = self.grid.n_rows() + 1;
            return Err(Error::RowWidth { row, expected: self.classifiers.len(), found: self.row.len() });
        }
        self.grid.push(Row::Dense(&self.row));
        Ok(())
    }

    /// The table so far.
    pub fn finish(self) -> Predictions {
        Predictions { classifiers: self.classifiers, labels: self.interner.labels, grid: self.grid.settled() }
    }
}

/// The truth of every row, where it is known.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    interner: Interner,
    ids: Vec<u16>,
}

impl Truth {
    /// Takes one truth per row; `None` where it is not known.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyLabels`].
    pub fn new<L: Into<Label>>(truths: impl IntoIterator<Item = Option<L>>) -> Result<Self, Error> {
        let mut truth = Self::default();
        for label in truths {
            let id = label.map_or(Ok(MISSING), |label| truth.interner.intern(label.into()))?;
            truth.ids.push(id);
        }
        Ok(truth)
    }

    /// Takes one truth per row by its place in `labels`; [`u16::MAX`] where it is not known.
    ///
    /// # Errors
    ///
    /// As [`Predictions::from_dense`].
    pub fn from_dense(labels: Vec<Label>, ids: Vec<u16>) -> Result<Self, Error> {
        let interner = Interner::of(labels)?;
        check_ids(&ids, 1, interner.labels.len())?;
        Ok(Self { interner, ids })
    }

    /// Appends the truth of one more row.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyLabels`].
    pub fn push<L: Into<Label>>(&mut self, truth: Option<L>) -> Result<(), Error> {
        let id = truth.map_or(Ok(MISSING), |label| self.interner.intern(label.into()))?;
        self.ids.push(id);
        Ok(())
    }

    /// Looks a label up, so that [`push_symbol`](Self::push_symbol) need not.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyLabels`].
    pub fn symbol(&mut self, label: impl Into<Label>) -> Result<Symbol, Error> {
        self.interner.intern(label.into()).map(Symbol)
    }

    /// Appends a truth looked up before.
    ///
    /// # Errors
    ///
    /// [`Error::LabelId`] for a symbol that this truth never gave.
    pub fn push_symbol(&mut self, truth: Option<Symbol>) -> Result<(), Error> {
        let expected = self.interner.labels.len();
        if let Some(found) = truth.map(|symbol| usize::from(symbol.0)).filter(|id| *id >= expected) {
            return Err(Error::LabelId { row: self.ids.len() + 1, expected, found });
        }
        self.ids.push(truth.map_or(MISSING, |symbol| symbol.0));
        Ok(())
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.ids.len()
    }

    /// Number of rows whose truth is known.
    pub fn n_known(&self) -> usize {
        self.ids.iter().filter(|&&id| id != MISSING).count()
    }

    /// The truth of a row (from 0), if it is known.
    pub fn get(&self, row: usize) -> Option<&Label> {
        self.ids.get(row).and_then(|&id| self.interner.labels.get(usize::from(id)))
    }

    pub(crate) fn labels(&self) -> &[Label] {
        &self.interner.labels
    }

    pub(crate) fn ids(&self) -> &[u16] {
        &self.ids
    }
}

/// Labels met so far, each with the id it got when it was first met. One label written in two ways has two
/// ids, so that evidence can see which writing its rows hold.
#[derive(Clone, Debug, Default)]
struct Interner {
    labels: Vec<Label>,
    by_label: HashMap<(String, Written), u16>,
}

impl Interner {
    /// These labels, each in its place.
    fn of(labels: Vec<Label>) -> Result<Self, Error> {
        let mut interner = Self::default();
        for (place, label) in labels.into_iter().enumerate() {
            let name = label.to_string();
            if usize::from(interner.intern(label)?) != place {
                return Err(Error::DuplicateName { what: "labels", name });
            }
        }
        Ok(interner)
    }

    fn intern(&mut self, label: Label) -> Result<u16, Error> {
        let key = (label.canonical().to_owned(), label.written().clone());
        if let Some(&id) = self.by_label.get(&key) {
            return Ok(id);
        }
        if self.labels.len() == MAX_LABELS {
            return Err(Error::TooManyLabels { limit: MAX_LABELS });
        }
        let id = self.labels.len() as u16;
        self.by_label.insert(key, id);
        self.labels.push(label);
        Ok(id)
    }
}

/// Refuses the first id that names no label.
fn check_ids(ids: &[u16], width: usize, n_labels: usize) -> Result<(), Error> {
    // There are at most as many labels as there are ids below that of a gap.
    let limit = n_labels as u16;
    let is_strange = |id: &u16| *id >= limit && *id != MISSING;
    // Looked for only where there is one: a sum over all ids is many times faster than a search among them.
    if !ids.iter().fold(false, |any, id| any | is_strange(id)) {
        return Ok(());
    }
    let place = ids.iter().position(is_strange).unwrap_or(0);
    Err(Error::LabelId { row: place / width + 1, expected: n_labels, found: usize::from(ids[place]) })
}

/// Names that are not repeated, of which there is at least one.
pub(crate) fn distinct<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Result<Vec<String>, Error> {
    let names: Vec<String> = names.into_iter().map(Into::into).collect();
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    if let Some(twice) = sorted.windows(2).find(|two| two[0] == two[1]) {
        return Err(Error::DuplicateName { what: "classifiers", name: twice[0].clone() });
    }
    if names.is_empty() { Err(Error::NoClassifiers) } else { Ok(names) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_in_any_order_make_the_same_table_as_rows() {
        let cells = [(1, 1, "b"), (0, 0, "a"), (1, 0, "a")];
        let table = Predictions::from_cells(["x", "y"], 3, cells).expect("distinct cells");
        let labels = ["a", "unsaid", "b"].map(Label::from);
        let numbered = cells.map(|(row, k, text)| (row, k, if text == "a" { 0 } else { 2 }));
        let same =
            Predictions::from_numbered_cells(["x", "y"], 3, &labels, numbered).expect("distinct cells");
        assert_eq!((table.labels(), table.matrix()), (same.labels(), same.matrix()));
        let said = |row, k| table.get(row, k).map(Label::to_string);
        assert_eq!(said(0, 0).as_deref(), Some("a"));
        assert_eq!(said(0, 1), None);
        assert_eq!(said(1, 1).as_deref(), Some("b"));
        assert_eq!((said(2, 0), table.n_rows()), (None, 3));
        let mut shown = Vec::new();
        (0..4).for_each(|row| {
            table.for_each_prediction(row, |k, label| shown.push((row, k, label.to_string())))
        });
        assert_eq!(shown, [(0, 0, "a".to_owned()), (1, 0, "a".to_owned()), (1, 1, "b".to_owned())]);
    }

    #[test]
    fn rows_of_numbers_are_what_they_mean() {
        let mut rows = Predictions::builder(["x", "y"]).expect("two names");
        let (b, a) = (rows.symbol("b").expect("a label"), rows.symbol("a").expect("a label"));
        let meanings = [None, Some(a), Some(b)];
        rows.push_rows(&[1, 2, 0, 1, 1, 1], &meanings).expect("three rows");
        let narrow = rows.push_rows(&[1, 1, 1], &meanings);
        assert_eq!(narrow, Err(Error::RowWidth { row: 5, expected: 2, found: 1 }));
        let meaningless = rows.push_rows(&[1, 3], &meanings);
        assert_eq!(meaningless, Err(Error::LabelId { row: 5, expected: 3, found: 3 }));
        let strange = Predictions::builder(["x"]).expect("a name").push_rows(&[0], &[Some(a)]);
        assert_eq!(strange, Err(Error::LabelId { row: 1, expected: 0, found: 1 }));
        let table = rows.finish();
        let said = |row, k| table.get(row, k).map(Label::to_string);
        assert_eq!((said(0, 0), said(0, 1), said(1, 0)), (Some("a".into()), Some("b".into()), None));
        assert_eq!((table.n_rows(), table.labels().len(), table.n_distinct_labels()), (4, 2, vec![1, 2]));
    }

    #[test]
    fn a_dense_table_is_taken_as_it_is() {
        // The text and the integer are one label in two writings.
        let labels = vec![Label::from("1"), Label::from(1), Label::from("b")];
        let ids = vec![0, 2, MISSING, 1];
        let table = Predictions::from_dense(["x", "y"], labels.clone(), ids).expect("two rows");
        assert_eq!(table.get(0, 1).map(Label::to_string).as_deref(), Some("b"));
        assert_eq!((table.get(1, 0), table.get(1, 1)), (None, Some(&Label::from("1"))));
        let truth = Truth::from_dense(labels.clone(), vec![2, MISSING]).expect("two rows");
        assert_eq!((truth.n_rows(), truth.n_known(), truth.get(0)), (2, 1, Some(&labels[2])));

        let strange = Predictions::from_dense(["x", "y"], labels.clone(), vec![0, 0, 0, 3]).err();
        assert_eq!(strange, Some(Error::LabelId { row: 2, expected: 3, found: 3 }));
        let narrow = Predictions::from_dense(["x", "y"], labels.clone(), vec![0, 0, 0]).err();
        assert_eq!(narrow, Some(Error::RowWidth { row: 2, expected: 2, found: 1 }));
        let twice = Truth::from_dense(vec![labels[2].clone(); 2], vec![0]).err();
        assert_eq!(twice, Some(Error::DuplicateName { what: "labels", name: "b".into() }));
    }

    #[test]
    fn bad_tables_are_refused_with_their_place() {
        let mut rows = Predictions::builder(["x", "y"]).expect("two names");
        let narrow = rows.push([Some("a")]);
        assert_eq!(narrow, Err(Error::RowWidth { row: 1, expected: 2, found: 1 }));
        assert_eq!(
            Predictions::builder(["x", "x"]).err(),
            Some(Error::DuplicateName { what: "classifiers", name: "x".into() })
        );
        assert_eq!(Predictions::builder([""; 0]).err(), Some(Error::NoClassifiers));
        let twice = Predictions::from_cells(["x"], 1, [(0, 0, "a"), (0, 0, "b")]).err();
        assert_eq!(twice, Some(Error::RepeatedCell { row: 1, classifier: "x".into() }));
        let labels = ["a".into()];
        let nameless = Predictions::from_numbered_cells(["x"], 2, &labels, [(1, 0, 1)]).err();
        assert_eq!(nameless, Some(Error::LabelId { row: 2, expected: 1, found: 1 }));
        let unknown = Predictions::from_ids(["x"], vec!["a".into()], [Some(0), Some(1)]).err();
        assert_eq!(unknown, Some(Error::LabelId { row: 2, expected: 1, found: 1 }));
    }

    #[test]
    fn a_crowd_costs_memory_for_its_cells_only() {
        let cells = (0..10_000).map(|t| (t, (t * 7) % 1_000, "a"));
        let names: Vec<String> = (0..1_000).map(|k| k.to_string()).collect();
        let crowd = Predictions::from_cells(names, 10_000, cells).expect("distinct cells");
        assert!(crowd.bytes() < 200_000, "{} bytes for 10 000 cells", crowd.bytes());
    }
}
