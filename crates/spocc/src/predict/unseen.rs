//! Labels of a table that the model does not know.

use std::{collections::HashMap, ops::Range};

use crate::{
    data::{Label, MISSING},
    error::Error,
    predict::AlignedTable,
};

/// A label that a classifier predicts but the model does not know.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UnseenLabel {
    /// Name of the classifier.
    pub classifier: String,
    /// The label.
    pub label: Label,
    /// The first row with it, from 0.
    pub first_row: usize,
    /// Number of rows with it.
    pub n_rows: usize,
}

impl AlignedTable<'_> {
    /// Labels in the table that the model does not know, by classifier.
    pub fn unseen(&self) -> Vec<UnseenLabel> {
        self.unseen_in(0..self.predictions.n_rows())
    }

    /// The same for some rows of the table.
    pub(super) fn unseen_in(&self, rows: Range<usize>) -> Vec<UnseenLabel> {
        let mut unseen: Vec<UnseenLabel> = Vec::new();
        if self.knows_all_labels() {
            return unseen;
        }
        let mut places: HashMap<(usize, u16), usize> = HashMap::new();
        for row in rows {
            self.predictions.matrix().row(row).for_each(|column, id| {
                if self.classifier_of[column] == u32::MAX || self.map[usize::from(id)] != MISSING {
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

    /// Refuses a table with labels that the model does not know, instead of treating them as missing predictions.
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
