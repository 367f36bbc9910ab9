//! Parts of evidence: some of its classifiers, less of its detail, or other rows.

use std::collections::HashMap;

use crate::{
    data::MISSING,
    error::{Error, list},
    evidence::{Confusions, Evidence, Level, Pairs, Tally, Unlabelled},
    progress::Control,
};

impl Evidence {
    /// The evidence of these classifiers only, in this order.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownClassifier`], [`Error::DuplicateName`], [`Error::NoClassifiers`], [`Error::MemoryLimit`].
    pub fn select<S: AsRef<str>>(&self, classifiers: &[S], control: &Control<'_>) -> Result<Self, Error> {
        // The builder checks the list of names.
        crate::Predictions::builder(classifiers.iter().map(|name| name.as_ref().to_owned()))?;
        let places: HashMap<&str, usize> = self.classifiers.iter().map(String::as_str).zip(0..).collect();
        let find = |name: &S| {
            places.get(name.as_ref()).copied().ok_or_else(|| Error::UnknownClassifier {
                name: name.as_ref().to_owned(),
                known: list(&self.classifiers),
            })
        };
        let kept = classifiers.iter().map(find).collect::<Result<Vec<usize>, Error>>()?;
        if self.is_open() {
            return self.select_open(&kept, control);
        }
        let identity: Vec<u16> = (0..self.n_labels() as u16).collect();
        let pairs =
            self.pairs.as_ref().map(|pairs| pairs.project(&kept, &identity, self.n_labels(), control));
        let project = |tally: &Tally| tally.project(&kept, |_, id| id.unwrap_or(MISSING), control);
        let project_rows = |rows: &Unlabelled| rows.project(&kept, |_, id| id.unwrap_or(MISSING), control);
        Ok(Self {
            classifiers: kept.iter().map(|&k| self.classifiers[k].clone()).collect(),
            labels: self.labels.clone(),
            fraction_bits: self.fraction_bits,
            whole_weights: self.whole_weights,
            class_counts: self.class_counts.clone(),
            confusions: self.confusions.select(&kept),
            pairs: pairs.transpose()?,
            tally: self.tally.as_ref().map(project).transpose()?,
            row_units: self.row_units.clone(),
            unlabelled: self.unlabelled.as_ref().map(project_rows).transpose()?,
        })
    }

    /// The same rows at a lower level; a level above the current one changes nothing. Below a tally, rows without truth
    /// are dropped.
    ///
    /// # Errors
    ///
    /// [`Error::MemoryLimit`] if the pair counts of a tally do not fit.
    pub fn reduce_to(&self, level: Level, control: &Control<'_>) -> Result<Self, Error> {
        if level >= self.level() {
            return Ok(self.clone());
        }
        self.at_level(level, control)?.without_unseen_labels(control)
    }

    /// As [`reduce_to`](Self::reduce_to), with all labels.
    pub(crate) fn at_level(&self, level: Level, control: &Control<'_>) -> Result<Self, Error> {
        // Of open answers nothing less than the patterns has a meaning.
        if level >= self.level() || self.is_open() {
            return Ok(self.clone());
        }
        let pairs = match (&self.tally, level) {
            (Some(tally), Level::Pairs) => {
                let mut pairs = Pairs::empty(self.n_classifiers(), self.n_labels(), control)?;
                (0..tally.n_patterns()).for_each(|p| pairs.add(tally.pattern(p), tally.weight(p)));
                Some(pairs)
            }
            _ => None,
        };
        Ok(Self { pairs, tally: None, unlabelled: None, ..self.clone() })
    }

    /// The evidence of another tally of the same classifiers and labels.
    pub(crate) fn with_tally(&self, tally: Tally) -> Self {
        let mut class_counts = vec![0; self.n_classes()];
        tally.cells().for_each(|(_, class, count)| class_counts[usize::from(class)] += count);
        Self {
            classifiers: self.classifiers.clone(),
            labels: self.labels.clone(),
            fraction_bits: self.fraction_bits,
            whole_weights: self.whole_weights,
            class_counts,
            confusions: Confusions::of(self.n_classifiers(), tally.cells()),
            pairs: None,
            tally: Some(tally),
            row_units: self.row_units.clone(),
            unlabelled: None,
        }
    }

    /// The evidence of another tally together with the same rows without truth.
    pub(crate) fn with_labelled(&self, tally: Tally) -> Self {
        Self { unlabelled: self.unlabelled.clone(), ..self.with_tally(tally) }
    }
}
