//! The same counts under other labels: used by merging, by appending a classifier and by missing cells as answers.

use crate::{
    data::{Labels, MISSING},
    error::{Error, list},
    evidence::{ConfusionCell, Confusions, Evidence, Tally, Unlabelled},
    progress::Control,
};

impl Evidence {
    /// The same rows with the missing cells of classifiers k with `missing_is_answer[k]` as one more label.
    pub(crate) fn with_missing_as_answer(
        &self,
        missing_is_answer: &[bool],
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let labels = self.labels().with_missing_label()?;
        let map = labels.translate(self.labels.all());
        let missing = usize::from(labels.missing_label());
        let all: Vec<usize> = (0..self.n_classifiers()).collect();
        let mut filled = self.relabelled(labels, &map, control)?;
        let unanswered = Confusions::collect(all.iter().map(|&k| {
            let answered = filled.answered_by_class(k);
            let of_class = move |(truth, (class, answered)): (u16, (u64, u64))| ConfusionCell {
                predicted: missing as u16,
                truth,
                count: if missing_is_answer[k] { class - answered } else { 0 },
            };
            (0..).zip(filled.class_counts.clone().into_iter().zip(answered)).map(of_class)
        }));
        filled.confusions = filled.confusions.plus(&unanswered);
        let predicted_counts: Vec<Vec<u64>> = all.iter().map(|&k| filled.predicted_counts(k)).collect();
        let total = self.total();
        if let Some(pairs) = &mut filled.pairs {
            pairs.fill_missing(missing, missing_is_answer, &predicted_counts, total);
        }
        let if_missing = |k: usize| if missing_is_answer[k] { missing as u16 } else { MISSING };
        if let Some(tally) = &filled.tally {
            let n_complete = missing_is_answer.iter().filter(|is_answer| **is_answer).count();
            let cells = tally.bytes_with(n_complete);
            control.allow(|| "tally with missing cells as answers".to_owned(), &[cells])?;
            filled.tally = Some(tally.project(&all, |k, id| id.unwrap_or(if_missing(k)), control)?);
        }
        if let Some(rows) = &filled.unlabelled {
            control.allow(
                || "rows without truth, with missing cells as answers".to_owned(),
                &[rows.patterns().n_rows(), all.len(), 2],
            )?;
            filled.unlabelled = Some(rows.project(&all, |k, id| id.unwrap_or(if_missing(k)), control)?);
        }
        Ok(filled)
    }

    /// The same counts under other labels; `map` keeps the order of the labels that occur.
    pub(super) fn relabelled(
        &self,
        labels: Labels,
        map: &[u16],
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let (s, l) = (labels.len(), labels.n_classes());
        let mut class_counts = vec![0; l];
        for (i, &count) in self.class_counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            class_counts[usize::from(map[i])] = count;
        }
        let mut row_units = vec![self.unit(); if self.row_units.is_empty() { 0 } else { l }];
        for (unit, &i) in self.row_units.iter().zip(map) {
            if let Some(own) = row_units.get_mut(usize::from(i)) {
                *own = *unit;
            }
        }
        let all: Vec<usize> = (0..self.n_classifiers()).collect();
        let pairs = self.pairs.as_ref().map(|pairs| pairs.project(&all, map, s, control)).transpose()?;
        let mut tally = self.tally.clone();
        tally.iter_mut().for_each(|tally| tally.relabel(map));
        let mut unlabelled = self.unlabelled.clone();
        unlabelled.iter_mut().for_each(|rows| rows.relabel(map));
        let (classifiers, fraction_bits) = (self.classifiers.clone(), self.fraction_bits);
        Ok(Self {
            classifiers,
            labels,
            fraction_bits,
            whole_weights: self.whole_weights,
            class_counts,
            confusions: self.confusions.relabelled(map),
            pairs,
            tally,
            unlabelled,
            row_units,
        })
    }

    /// The same counts under other labels, in any order, among which are all that occur.
    pub(crate) fn under(&self, labels: Labels, control: &Control<'_>) -> Result<Self, Error> {
        let map = labels.translate(self.labels.all());
        let lost = self.class_counts.iter().zip(&map).zip(self.labels.classes());
        let mut lost = lost.filter(|((count, id), _)| **count > 0 && usize::from(**id) >= labels.n_classes());
        if let Some((_, label)) = lost.next() {
            let difference =
                format!("`{label}`, which is true of some rows and not among {}", list(labels.classes()));
            return Err(Error::DifferentClasses { difference });
        }
        if map.is_sorted() {
            return self.relabelled(labels, &map, control);
        }
        // Patterns are sorted by label ids: another order of the labels is another order of the patterns.
        let all: Vec<usize> = (0..self.n_classifiers()).collect();
        let replace = |_: usize, id: Option<u16>| id.map_or(MISSING, |id| map[usize::from(id)]);
        let resort = |tally: &Tally| tally.with_classes(&map).project(&all, replace, control);
        let resort_rows = |rows: &Unlabelled| rows.project(&all, replace, control);
        let tally = self.tally.as_ref().map(resort).transpose()?;
        let unlabelled = self.unlabelled.as_ref().map(resort_rows).transpose()?;
        let without = Self { tally: None, unlabelled: None, ..self.clone() };
        Ok(Self { tally, unlabelled, ..without.relabelled(labels, &map, control)? })
    }

    /// Drops labels that occur in no counted row, so that evidence depends on counted rows alone.
    pub(crate) fn without_unseen_labels(self, control: &Control<'_>) -> Result<Self, Error> {
        let seen = self.seen_labels();
        self.with_labels_of(|id| seen[id], control)
    }

    /// Drops labels that occur in no counted row, unless `other` has them.
    pub(crate) fn with_labels_like(self, other: &Self, control: &Control<'_>) -> Result<Self, Error> {
        let (seen, places) = (self.seen_labels(), other.labels.translate(self.labels.all()));
        self.with_labels_of(|id| seen[id] || places[id] != MISSING, control)
    }

    /// Which labels occur in counted rows; of unlabelled rows, in the patterns that are kept.
    pub(super) fn seen_labels(&self) -> Vec<bool> {
        let mut seen: Vec<bool> =
            (0..self.n_labels()).map(|id| self.class_counts.get(id).is_some_and(|n| *n > 0)).collect();
        self.confusions.cells().iter().for_each(|cell| seen[usize::from(cell.predicted)] = true);
        for row in self.unlabelled.iter().flat_map(|rows| rows.patterns().rows()) {
            row.for_each(|_, id| seen[usize::from(id)] = true);
        }
        seen
    }

    /// The same counts with only the labels for which `keep` holds, among which are all that occur.
    pub(super) fn with_labels_of(
        self,
        keep: impl Fn(usize) -> bool,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let labels = self.labels.retain(keep);
        if labels.len() == self.n_labels() {
            return Ok(self);
        }
        let map = labels.translate(self.labels.all());
        self.relabelled(labels, &map, control)
    }
}
