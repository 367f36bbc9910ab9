//! Alignment: a model's classifiers and labels found in a table by name, and rows translated to the model's label ids.

use std::{borrow::Cow, collections::HashMap};

use crate::{
    data::{Label, MISSING, Normalise, Predictions, Row, sort_with_missing},
    error::{Error, list},
    model::Model,
};

/// Stands for the column of a classifier that the table does not have.
const ABSENT: usize = usize::MAX;

/// A table whose columns and labels are matched with those of a model.
#[derive(Clone, Debug)]
pub struct AlignedTable<'a> {
    /// The model, made ready for as many candidates of a row as the table has.
    pub(crate) model: Cow<'a, Model>,
    pub(crate) predictions: &'a Predictions,
    /// Column of each of the model's classifiers, or [`ABSENT`].
    columns: Vec<usize>,
    /// Classifier of each column, or `u32::MAX`.
    pub(crate) classifier_of: Vec<u32>,
    /// From the table's label ids to the model's.
    pub(crate) map: Vec<u16>,
    /// The label id of a missing prediction of each of the model's classifiers, [`MISSING`] where it is no answer.
    pub(crate) missing: Vec<u16>,
    /// The classifiers for which a missing prediction is an answer, with its label id.
    missing_answers: Vec<(u32, u16)>,
    /// Whether rows of the table are rows of the model as they are.
    is_identity: bool,
}

impl Model {
    /// Finds the model's classifiers and labels in a table, once for all its rows.
    ///
    /// Columns of other classifiers are ignored.
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

/// Buffers for a row that is translated to the model's classifiers and label ids.
#[derive(Default)]
pub(crate) struct RowBuffer {
    dense: Vec<u16>,
    sparse: Vec<(u32, u16)>,
    columns: Vec<u32>,
    ids: Vec<u16>,
}

impl<'a> AlignedTable<'a> {
    /// A table with a column for every classifier of the model.
    pub(crate) fn new(model: &'a Model, predictions: &'a Predictions) -> Result<Self, Error> {
        let aligned = Self::present(model, predictions)?;
        let refused = aligned.absent().next().map(|name| missing_classifier(name, predictions));
        refused.map_or(Ok(aligned), Err)
    }

    /// A table with a column for some classifier of the model.
    pub(crate) fn present(model: &'a Model, predictions: &'a Predictions) -> Result<Self, Error> {
        if model.normalise() != predictions.candidates() {
            let [expected, found] = [model.normalise(), predictions.candidates()].map(|form| match form {
                None => "a table of classes for this model",
                Some(Normalise::None) => "a table of open answers for this model",
                Some(Normalise::Number) => "a table of open answers compared as numbers for this model",
                Some(Normalise::Text) => "a table of open answers compared as texts for this model",
            });
            let found = found.trim_end_matches(" for this model").to_owned();
            return Err(Error::OpenAnswers { expected, found });
        }
        let n_candidates = predictions.labels().len().saturating_sub(1);
        let model = model.with_candidates(n_candidates).map_or(Cow::Borrowed(model), Cow::Owned);
        let column_of: HashMap<&String, usize> = predictions.classifiers().iter().zip(0..).collect();
        let column = |name: &String| column_of.get(name).copied().unwrap_or(ABSENT);
        let columns: Vec<usize> = model.classifiers.iter().map(column).collect();
        if columns.iter().all(|&column| column == ABSENT) {
            return Err(missing_classifier(&model.classifiers[0], predictions));
        }
        let mut classifier_of = vec![u32::MAX; predictions.n_classifiers()];
        for (k, &column) in (0..).zip(&columns).filter(|(_, column)| **column != ABSENT) {
            classifier_of[column] = k;
        }
        let map = model.labels.translate(predictions.labels());
        let missing_label = model.labels.missing_label();
        // The prediction of a classifier without a column is unknown, which is no answer even where an empty cell is one.
        let missing: Vec<u16> = (model.missing_is_answer.iter().zip(&columns))
            .map(|(&is_answer, &column)| if is_answer && column != ABSENT { missing_label } else { MISSING })
            .collect();
        let missing_answers: Vec<(u32, u16)> =
            (0..).zip(missing.iter().copied()).filter(|(_, label)| *label != MISSING).collect();
        let is_identity = missing_answers.is_empty()
            && columns.len() == predictions.n_classifiers()
            && columns.iter().enumerate().all(|(k, &column)| k == column)
            && map.iter().enumerate().all(|(id, &label)| id == usize::from(label));
        Ok(Self { model, predictions, columns, classifier_of, map, missing, missing_answers, is_identity })
    }
}

fn missing_classifier(name: &str, predictions: &Predictions) -> Error {
    Error::MissingClassifier { name: name.to_owned(), found: list(predictions.classifiers()) }
}

impl AlignedTable<'_> {
    /// The classifiers of the model that the table has no column for.
    pub fn absent(&self) -> impl Iterator<Item = &str> {
        let columns = self.model.classifiers.iter().zip(&self.columns);
        columns.filter(|(_, column)| **column == ABSENT).map(|(name, _)| name.as_str())
    }

    /// Number of classes of the decisions; of open answers, as many as the table or the model needs.
    pub fn n_classes(&self) -> usize {
        self.model.classes().len()
    }

    /// A row in the model's classifiers and label ids, by its number.
    pub(crate) fn row<'b>(&'b self, row: usize, buffer: &'b mut RowBuffer) -> Row<'b> {
        self.translate(self.predictions.matrix().row(row), buffer)
    }

    /// A row of the table in the model's classifiers and label ids.
    pub(crate) fn translate<'b>(&self, cells: Row<'b>, buffer: &'b mut RowBuffer) -> Row<'b> {
        if self.is_identity {
            return cells;
        }
        match cells {
            Row::Sparse(columns, ids) if self.missing_answers.len() * 3 < self.columns.len() => {
                buffer.sparse.clear();
                for (&column, &id) in columns.iter().zip(ids) {
                    let (k, label) = (self.classifier_of[column as usize], self.map[usize::from(id)]);
                    // An unknown label is kept here so that it is not taken for a missing prediction that is an answer.
                    if k != u32::MAX && (label != MISSING || !self.missing_answers.is_empty()) {
                        buffer.sparse.push((k, label));
                    }
                }
                sort_with_missing(&mut buffer.sparse, &self.missing_answers);
                if !self.missing_answers.is_empty() {
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
                buffer.dense.extend(self.columns.iter().zip(&self.missing).map(|(&column, &missing)| {
                    match cells.get(column) {
                        None | Some(&MISSING) => missing,
                        Some(&id) => self.map[usize::from(id)],
                    }
                }));
                Row::Dense(&buffer.dense)
            }
            sparse @ Row::Sparse(..) => {
                buffer.dense.clear();
                buffer.dense.extend_from_slice(&self.missing);
                sparse.for_each(|column, id| {
                    if let Some(cell) = buffer.dense.get_mut(self.classifier_of[column] as usize) {
                        *cell = self.map[usize::from(id)];
                    }
                });
                Row::Dense(&buffer.dense)
            }
        }
    }

    /// The prediction of the model's classifier `k` on a row, as the user wrote it.
    pub(crate) fn written(&self, row: usize, k: usize) -> Option<String> {
        self.predictions.get(row, self.columns[k]).map(Label::to_string)
    }

    /// Refuses a row number beyond the table.
    pub(crate) fn check_row(&self, row: usize) -> Result<(), Error> {
        let rows = self.predictions.n_rows();
        if row < rows { Ok(()) } else { Err(Error::NoSuchRow { row: row.saturating_add(1), rows }) }
    }

    /// Whether the model knows every label that the table has.
    pub(crate) fn knows_all_labels(&self) -> bool {
        !self.map.contains(&MISSING)
    }
}
