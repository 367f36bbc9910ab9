//! The truth of each row.

use crate::{
    data::{
        Label, MISSING, Symbol,
        interner::{LabelInterner, check_ids},
    },
    error::Error,
};

/// The truth of every row, where it is known.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    interner: LabelInterner,
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

    /// Takes one truth per row as an id, its position in `labels`; [`u16::MAX`] where it is not known.
    ///
    /// # Errors
    ///
    /// [`Error::LabelId`] for an id without a label, [`Error::DuplicateName`] for a repeated label.
    pub fn from_ids(labels: Vec<Label>, ids: Vec<u16>) -> Result<Self, Error> {
        let interner = LabelInterner::of(labels)?;
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

    /// Looks a label up once for many calls of [`push_symbol`](Self::push_symbol).
    ///
    /// # Errors
    ///
    /// [`Error::TooManyLabels`].
    pub fn symbol(&mut self, label: impl Into<Label>) -> Result<Symbol, Error> {
        self.interner.intern(label.into()).map(Symbol)
    }

    /// Appends a truth that was looked up before.
    ///
    /// # Errors
    ///
    /// [`Error::LabelId`] for a symbol of another table.
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
