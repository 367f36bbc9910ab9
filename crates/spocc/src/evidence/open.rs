//! Open evidence: patterns of agreement, in which the candidates of a row are numbered in the order of the classifiers'
//! names.
//!
//! The numbers of a row depend on its classifiers alone, so tallies of open answers merge like any other. A selection of
//! classifiers numbers the candidates anew: those of other classifiers alone are gone, and so is a truth that was one of them.

use std::collections::HashMap;

use crate::{
    data::{MISSING, NONE, Row},
    error::Error,
    evidence::{Confusions, Evidence, Tally},
    progress::Control,
};

impl Evidence {
    /// The evidence of these classifiers only, in this order.
    pub(super) fn select_open(&self, kept: &[usize], control: &Control<'_>) -> Result<Self, Error> {
        let classifiers: Vec<String> = kept.iter().map(|&k| self.classifiers[k].clone()).collect();
        let mut numbering = CandidateNumbering::new(&classifiers);
        let mut places = vec![u32::MAX; self.n_classifiers()];
        (0..).zip(kept).for_each(|(to, &k)| places[k] = to);
        let mut renumbered = |tally: &Tally| {
            let numbering = &mut numbering;
            let places = &places;
            tally.map_cells(kept.len(), control, |row, class, cells| {
                cells.clear();
                row.for_each(|k, j| cells.push((places[k], j)));
                cells.retain(|cell| cell.0 != u32::MAX);
                cells.sort_unstable();
                numbering.renumber(cells);
                numbering.number_of(class)
            })
        };
        let tally = self.tally_for("a selection of open answers").and_then(&mut renumbered)?;
        let unlabelled = match &self.unlabelled {
            Some(rows) => Some(rows.map_patterns(renumbered)?),
            None => None,
        };
        let labels = self.labels.clone();
        let empty = Self {
            confusions: Confusions::empty(classifiers.len()),
            classifiers,
            labels,
            pairs: None,
            tally: None,
            unlabelled: None,
            ..self.clone()
        };
        let selected = Self { unlabelled, ..empty.with_tally(tally) };
        if self.samples_unlabelled() { Ok(selected) } else { selected.without_unseen_labels(control) }
    }

    /// Refuses patterns whose candidates are not numbered in the order of the classifiers' names.
    pub(super) fn check_open(&self) -> Result<(), Error> {
        let mut numbering = CandidateNumbering::new(&self.classifiers);
        let mut is_canonical = |row: Row<'_>| {
            let mut cells: Vec<(u32, u16)> = Vec::new();
            row.for_each(|k, j| cells.push((k as u32, j)));
            let mut renumbered = cells.clone();
            numbering.renumber(&mut renumbered);
            (renumbered == cells).then_some(numbering.n_candidates)
        };
        let wrong = |found: &str| {
            Err(Error::Inconsistent {
                expected: "candidates in the order of the classifiers",
                found: found.to_owned(),
            })
        };
        let Some(tally) = &self.tally else { return wrong("no patterns") };
        for p in 0..tally.n_patterns() {
            let Some(n) = is_canonical(tally.pattern(p)) else { return wrong("another order") };
            if tally.outcomes(p).any(|(class, _)| class > n) {
                return wrong("a truth that is no candidate of its row");
            }
        }
        let rows = self.unlabelled.iter().flat_map(|rows| rows.patterns().rows());
        if rows.into_iter().any(|row| is_canonical(row).is_none()) {
            return wrong("another order");
        }
        Ok(())
    }

    /// The share of the labelled rows on which some classifier gives the true answer: no decision is correct on others.
    /// None if there are no labelled rows or the answers are not open.
    pub fn answerable_share(&self) -> Option<f64> {
        let total = self.total();
        let none = self.class_counts.first().copied().unwrap_or(0);
        (self.is_open() && total > 0).then(|| 1.0 - none as f64 / total as f64)
    }
}

/// Numbers the candidates of rows in the order of the classifiers' names.
struct CandidateNumbering {
    /// The place of each classifier in that order.
    ranks: Vec<u32>,
    /// The new number of each candidate of the last row, [`MISSING`] for one that is not given.
    numbers: Vec<u16>,
    n_candidates: u16,
    order: Vec<(u32, u16)>,
}

impl CandidateNumbering {
    fn new(classifiers: &[String]) -> Self {
        let mut names: Vec<&String> = classifiers.iter().collect();
        names.sort();
        let places: HashMap<&String, u32> = names.into_iter().zip(0..).collect();
        let ranks = classifiers.iter().map(|name| places[name]).collect();
        Self { ranks, numbers: Vec::new(), n_candidates: 0, order: Vec::new() }
    }

    /// Numbers the candidates of a row of (classifier, candidate).
    fn renumber(&mut self, cells: &mut [(u32, u16)]) {
        let most = cells.iter().map(|cell| usize::from(cell.1)).max().unwrap_or(0);
        self.numbers.clear();
        self.numbers.resize(most + 1, MISSING);
        self.n_candidates = 0;
        self.order.clear();
        self.order.extend(cells.iter().map(|&(k, j)| (self.ranks[k as usize], j)));
        self.order.sort_unstable();
        for &(_, j) in &self.order {
            if self.numbers[usize::from(j)] == MISSING {
                self.n_candidates += 1;
                self.numbers[usize::from(j)] = self.n_candidates;
            }
        }
        cells.iter_mut().for_each(|cell| cell.1 = self.numbers[usize::from(cell.1)]);
    }

    /// The new number of a candidate of the last row; "none of these" if it is not given.
    fn number_of(&self, candidate: u16) -> u16 {
        let number = self.numbers.get(usize::from(candidate)).copied();
        number.filter(|number| *number != MISSING && candidate != NONE).unwrap_or(NONE)
    }
}
