//! Long tables: one row per prediction, with the item, the classifier and the label.

use rustc_hash::FxHashMap as HashMap;
use spocc::{
    Label, Predictions, Truth,
    data::{AnswerId, Answers, Normalise},
};

use crate::{answers, error::BindingError, labels::LabelId};

/// The distinct labels of a column, and the label id of every row.
pub(crate) type EncodedColumn = (Vec<Label>, Vec<u32>);

/// A table with one row per prediction.
pub(crate) struct LongInput<'a> {
    items: &'a EncodedColumn,
    labels: &'a EncodedColumn,
    classifier_ids: &'a [u32],
    /// Row of each item by its canonical text: `1` and `1.0` are the same item.
    rows: HashMap<&'a str, usize>,
    names: Vec<String>,
    /// Column of every classifier that occurs, if it is selected.
    places: Vec<Option<usize>>,
}

impl<'a> LongInput<'a> {
    /// Checks the three columns; `names` selects classifiers, by default all of them in alphabetical order.
    ///
    /// # Errors
    ///
    /// Columns of different lengths; items or classifiers without a name.
    pub(crate) fn new(
        items: &'a EncodedColumn,
        classifiers: &'a EncodedColumn,
        labels: &'a EncodedColumn,
        names: Option<Vec<String>>,
    ) -> Result<Self, BindingError> {
        let n = items.1.len();
        for (what, column) in [("classifiers", classifiers), ("labels", labels)] {
            if column.1.len() != n {
                let found = column.1.len();
                return Err(BindingError::Value(format!("{what}: expected {n} rows, found {found}")));
            }
        }
        for (what, column) in [("items", items), ("classifiers", classifiers)] {
            if let Some(row) = column.1.iter().position(|id| *id == u32::MISSING) {
                return Err(BindingError::Value(format!("{what}, row {row}: expected a name, found none")));
            }
        }
        let mut rows = HashMap::default();
        for item in &items.0 {
            let next = rows.len();
            rows.entry(item.canonical()).or_insert(next);
        }
        let occurring: Vec<String> = classifiers.0.iter().map(Label::to_string).collect();
        let names = names.unwrap_or_else(|| {
            let mut sorted = occurring.clone();
            sorted.sort();
            sorted.dedup();
            sorted
        });
        let known: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
        let places = occurring.iter().map(|name| known.get(name.as_str()).copied()).collect();
        Ok(Self { items, labels, classifier_ids: &classifiers.1, rows, names, places })
    }

    /// The truth of every item, from the items whose truth is known.
    pub(crate) fn truth(&self, known: &EncodedColumn, truth: &EncodedColumn) -> Result<Truth, BindingError> {
        let truths = self.truth_places(known, truth).into_iter().map(|at| truth.0.get(at?).cloned());
        Ok(Truth::new(truths)?)
    }

    /// For every item, the place of its truth among the true labels, if it is known.
    fn truth_places(&self, known: &EncodedColumn, truth: &EncodedColumn) -> Vec<Option<usize>> {
        let mut places = vec![None; self.rows.len()];
        for (item, class) in known.1.iter().zip(&truth.1) {
            let row = known.0.get(item.place()).and_then(|item| self.rows.get(item.canonical()));
            if let Some(&row) = row {
                places[row] = (*class != u32::MISSING).then(|| class.place());
            }
        }
        places
    }

    /// The table with one row per item.
    pub(crate) fn predictions(self) -> Result<Predictions, BindingError> {
        let cells: Vec<_> = self.cells().collect();
        Ok(Predictions::from_cells(self.names, self.rows.len(), &self.labels.0, cells)?)
    }

    /// The table of open answers with one row per item, and the truth as for [`truth`](Self::truth).
    pub(crate) fn answers(
        &self,
        known: &EncodedColumn,
        truth: &EncodedColumn,
        normalise: Normalise,
    ) -> Result<Answers, BindingError> {
        let mut table = Answers::builder(self.names.iter().cloned())?.normalised(normalise);
        let given = answers::ids(&mut table, self.labels.0.clone())?;
        let true_answers = answers::ids(&mut table, truth.0.clone())?;
        let mut rows: Vec<Vec<(usize, AnswerId)>> = vec![Vec::new(); self.rows.len()];
        self.cells().for_each(|(row, k, label)| rows[row].push((k, given[label])));
        for (cells, truth) in rows.into_iter().zip(self.truth_places(known, truth)) {
            table.push_cells(cells, truth.map(|at| true_answers[at]))?;
        }
        Ok(table.finish())
    }

    /// The predictions of selected classifiers: row, column and label.
    fn cells(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let row_of: Vec<usize> = self.items.0.iter().map(|item| self.rows[item.canonical()]).collect();
        let rows = self.items.1.iter().zip(self.classifier_ids).zip(&self.labels.1);
        rows.filter_map(move |((item, classifier), label)| {
            let k = self.places[classifier.place()]?;
            (*label != u32::MISSING).then_some((row_of[item.place()], k, label.place()))
        })
    }
}
