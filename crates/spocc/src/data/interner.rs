//! Label ids: the labels of one table and the checks of ids and names that every constructor of a table makes.

use std::collections::HashMap;

use crate::{
    data::{Label, MAX_LABELS, MISSING, Written},
    error::Error,
};

/// A label known to a [`PredictionsBuilder`](crate::data::PredictionsBuilder) or a [`Truth`](crate::data::Truth), so that
/// a repeated text is looked up once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol(pub(super) u16);

/// The labels of a table, each with an id in order of first occurrence. A label that is written in two ways has two ids,
/// so that evidence knows how each of its rows writes it.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelInterner {
    pub(super) labels: Vec<Label>,
    by_label: HashMap<(String, Written), u16>,
}

impl LabelInterner {
    /// These labels, each with its position as its id.
    pub(super) fn of(labels: Vec<Label>) -> Result<Self, Error> {
        let mut interner = Self::default();
        for (place, label) in labels.into_iter().enumerate() {
            let name = label.to_string();
            if usize::from(interner.intern(label)?) != place {
                return Err(Error::DuplicateName { what: "labels", name });
            }
        }
        Ok(interner)
    }

    /// The id of a label, new or not.
    pub(super) fn intern(&mut self, label: Label) -> Result<u16, Error> {
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

/// Refuses the first id that is neither that of a label nor [`MISSING`].
pub(super) fn check_ids(ids: &[u16], width: usize, n_labels: usize) -> Result<(), Error> {
    // There are at most as many labels as there are ids below MISSING.
    let limit = n_labels as u16;
    let is_unknown = |id: &u16| *id >= limit && *id != MISSING;
    // Vectorised: testing all ids is many times faster than searching for the first one.
    if !ids.iter().fold(false, |any, id| any | is_unknown(id)) {
        return Ok(());
    }
    let place = ids.iter().position(is_unknown).unwrap_or(0);
    Err(Error::LabelId { row: place / width + 1, expected: n_labels, found: usize::from(ids[place]) })
}

/// Refuses repeated names and an empty list of them.
pub(crate) fn distinct<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Result<Vec<String>, Error> {
    let names: Vec<String> = names.into_iter().map(Into::into).collect();
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    if let Some(twice) = sorted.windows(2).find(|two| two[0] == two[1]) {
        return Err(Error::DuplicateName { what: "classifiers", name: twice[0].clone() });
    }
    if names.is_empty() { Err(Error::NoClassifiers) } else { Ok(names) }
}
