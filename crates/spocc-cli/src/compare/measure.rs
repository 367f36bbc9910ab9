//! Measuring: which rows are learned from, which are judged, and what comes of it.

use spocc::{Control, Error, Evidence, Method, data::ClassWeights};

use crate::compare::{
    Judged, Settings,
    cells::Cells,
    contest::{Contest, Marks, Progress},
    curve::{Drawing, halvings},
    deal::{Weighed, deal, mix},
    risk::Certainties,
    scores::{Scores, Sheet},
};

/// Halves of the labelled rows that are drawn where there are no folds to average over.
const DRAWS: u64 = 3;

/// What keeps the draws of the curve apart from those of the folds.
const CURVE: u64 = 0xc0de;

/// Everything that was measured; methods go by the number of their bit.
pub(super) struct Measured {
    pub(super) methods: Vec<Method>,
    pub(super) scores: Scores,
    /// Why who refused, perhaps several times.
    pub(super) refused: Vec<(usize, String)>,
    pub(super) drawing: Drawing,
    pub(super) certainties: Vec<Certainties>,
}

/// Rows learned from and rows judged, with the marks that were given.
pub(super) struct Trial<'a> {
    pub(super) learned: &'a Cells,
    pub(super) counts: &'a [u64],
    pub(super) judged: &'a Cells,
    pub(super) part: &'a Weighed,
    pub(super) marks: &'a Marks,
}

/// Labelled rows, the rows to be judged if they are others, and how it is done.
pub(super) struct Plan<'a> {
    evidence: &'a Evidence,
    learned: Cells,
    test: Option<Cells>,
    folds: usize,
    repeats: usize,
    halvings: usize,
    settings: &'a Settings,
    /// Rows without truth, for methods that learn from them.
    pub(super) unlabelled: Option<Evidence>,
}

impl<'a> Plan<'a> {
    /// Checks what there is to measure.
    ///
    /// # Errors
    ///
    /// [`Error::NoLabelledRows`], [`Error::OutOfRange`] for too few rows, folds or repetitions,
    /// [`Error::LevelTooLow`], [`Error::DifferentClassifiers`], what [`Evidence::class_weights`] refuses.
    pub(super) fn new(
        evidence: &'a Evidence,
        test: Option<&Evidence>,
        settings: &'a Settings,
    ) -> Result<Self, Error> {
        let class_weights = &settings.options.class_weights;
        let learned = Cells::new(evidence, class_weights)?;
        let n_rows = learned.n_rows();
        if n_rows == 0 {
            return Err(Error::NoLabelledRows);
        }
        let test = test.map(|test| test_cells(evidence, test, class_weights)).transpose()?;
        if test.is_none() {
            at_least("labelled rows to fit to and to evaluate on", "at least 2", n_rows >= 2, n_rows as f64)?;
            at_least("folds", "at least 2", settings.folds >= 2, settings.folds.into())?;
            at_least("repetitions", "at least 1", settings.repeats >= 1, settings.repeats.into())?;
        }
        let folds = n_rows.min(settings.folds.into()) as usize;
        // Every row on its own can be left out in one way only.
        let repeats = if folds as u64 == n_rows { 1 } else { settings.repeats.into() };
        let mut plan =
            Self { evidence, learned, test, folds, repeats, halvings: 0, settings, unlabelled: None };
        plan.halvings = if settings.curve { halvings(plan.n_learned()) } else { 0 };
        Ok(plan)
    }

    /// How the methods are judged.
    pub(super) fn judged(&self) -> Judged {
        match &self.test {
            Some(test) => Judged::Test { n_rows: test.n_rows() },
            None => Judged::Folds { folds: self.folds, repeats: self.repeats, seed: self.settings.seed },
        }
    }

    /// The rows to be judged.
    pub(super) fn judged_cells(&self) -> &Cells {
        self.test.as_ref().unwrap_or(&self.learned)
    }

    /// Labelled rows.
    pub(super) fn n_rows(&self) -> u64 {
        self.learned.n_rows()
    }

    /// Rows that a method learns from, in the smallest of the trials.
    pub(super) fn n_learned(&self) -> u64 {
        let n_rows = self.learned.n_rows();
        if self.test.is_some() { n_rows } else { n_rows - n_rows.div_ceil(self.folds as u64) }
    }

    fn n_trials(&self) -> u64 {
        let (folds, halvings) = (self.folds as u64, self.halvings as u64);
        match self.test {
            Some(_) => 1 + DRAWS * halvings,
            None => folds * (self.repeats as u64 + halvings),
        }
    }

    /// Lets these methods learn and be judged.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`], [`Error::MemoryLimit`] if not even the rows fit.
    pub(super) fn measure(
        &self,
        methods: &[Method],
        control: &Control<'_>,
        progress: Progress<'_>,
    ) -> Result<Measured, Error> {
        let mut contest = Contest::new(methods, &self.settings.options, self.n_trials(), control, progress);
        contest.unlabelled = self.unlabelled.as_ref();
        contest.ladder_learns_all = self.settings.ladder_learns_all;
        let methods = contest.methods();
        let mut refused = Vec::new();
        let mut drawing = Drawing::new(methods.len(), self.halvings);
        let scores = if let Some(test) = &self.test {
            let (learned, all) = (&self.learned, test.all());
            let marks = contest.hold(self.evidence, test, self.settings.curve.then_some(&all))?;
            refused.extend(marks.refused.iter().cloned());
            let part = &test.weighed(&all);
            for draw in 0..DRAWS {
                let trial = Trial { learned, counts: learned.counts(), judged: test, part, marks: &marks };
                drawing.add(&mut contest, &trial, self.salt(CURVE, draw))?;
            }
            Scores::new(vec![Sheet::new(&marks, part)], None)
        } else {
            let sheets = self.fold_by_fold(&mut contest, &mut drawing, &mut refused)?;
            Scores::new(sheets, Some(self.repeats))
        };
        let certainties = contest.certainties;
        Ok(Measured { methods, scores, refused, drawing, certainties })
    }

    fn fold_by_fold(
        &self,
        contest: &mut Contest<'_>,
        drawing: &mut Drawing,
        refused: &mut Vec<(usize, String)>,
    ) -> Result<Vec<Sheet>, Error> {
        let mut sheets = Vec::with_capacity(self.folds * self.repeats);
        let learned = &self.learned;
        for repetition in 0..self.repeats as u64 {
            let parts = deal(&learned.keys, learned.counts(), self.folds, self.salt(0, repetition));
            for (fold, part) in (0..).zip(&parts).filter(|(_, part)| !part.is_empty()) {
                let counts = learned.without(part);
                let training = learned.evidence(&counts, contest.control)?;
                let sure = (self.settings.curve && repetition == 0).then_some(part);
                let marks = contest.hold(&training, learned, sure)?;
                let part = &learned.weighed(part);
                refused.extend(marks.refused.iter().cloned());
                sheets.push(Sheet::new(&marks, part));
                if repetition == 0 {
                    let trial = Trial { learned, counts: &counts, judged: learned, part, marks: &marks };
                    drawing.add(contest, &trial, self.salt(CURVE, fold))?;
                }
            }
        }
        Ok(sheets)
    }

    fn salt(&self, purpose: u64, number: u64) -> u64 {
        mix(mix(self.settings.seed, purpose), number)
    }
}

fn test_cells(evidence: &Evidence, test: &Evidence, class_weights: &ClassWeights) -> Result<Cells, Error> {
    let missing = evidence.classifiers().iter().find(|name| !test.classifiers().contains(name));
    if let Some(name) = missing {
        return Err(Error::DifferentClassifiers { difference: format!("no `{name}` among the test rows") });
    }
    let cells = Cells::new(test, &test.applicable_weights(class_weights))?;
    at_least("labelled test rows", "at least 1", cells.n_rows() >= 1, 0.0)?;
    Ok(cells)
}

fn at_least(what: &'static str, expected: &'static str, holds: bool, found: f64) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::OutOfRange { what, expected, found }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::panels::{drawn, evidence};

    fn rows(n: u64) -> Evidence {
        evidence(["a", "b"], &drawn::<2, 3>(n, &["x", "y"], [0.9, 0.5], 7))
    }

    #[test]
    fn fewer_rows_than_folds_are_left_out_one_by_one() {
        let settings = Settings::default();
        let judged = |n: u64| Plan::new(&rows(n), None, &settings).map(|plan| plan.judged());
        let folds = |folds, repeats| Ok(Judged::Folds { folds, repeats, seed: 0 });
        assert_eq!(judged(2), folds(2, 1));
        assert_eq!(judged(5), folds(5, 1));
        assert_eq!(judged(6), folds(5, 3));
    }

    #[test]
    fn too_little_to_measure_is_refused() {
        let refusal = |n: u64, test: Option<u64>, settings: &Settings| {
            let test = test.map(rows);
            Plan::new(&rows(n), test.as_ref(), settings).err().map(|error| error.to_string())
        };
        let usual = Settings::default();
        assert_eq!(refusal(0, None, &usual), Some(Error::NoLabelledRows.to_string()));
        let one = "labelled rows to fit to and to evaluate on: expected at least 2, found 1";
        assert_eq!(refusal(1, None, &usual).as_deref(), Some(one));
        assert_eq!(refusal(1, Some(1), &usual), None);
        let none = "labelled test rows: expected at least 1, found 0";
        assert_eq!(refusal(9, Some(0), &usual).as_deref(), Some(none));
        for bad in [Settings { folds: 1, ..usual.clone() }, Settings { repeats: 0, ..usual.clone() }] {
            assert!(refusal(9, None, &bad).is_some_and(|message| message.contains("at least")));
            assert_eq!(refusal(9, Some(9), &bad), None, "folds are not needed with test rows");
        }
    }

    #[test]
    fn test_rows_of_another_panel_are_refused() {
        let (ours, settings) = (rows(9), Settings::default());
        let others = evidence(["a", "c"], &[["x", "x", "x"]]);
        let refused = Plan::new(&ours, Some(&others), &settings).err();
        assert!(matches!(refused, Some(Error::DifferentClassifiers { .. })), "{refused:?}");
        let more = evidence(["c", "b", "a"], &[["x", "x", "x", "x"]]);
        assert!(Plan::new(&ours, Some(&more), &settings).is_ok());
    }

    #[test]
    fn progress_ends_where_it_said_it_would() {
        let (ours, test, settings) = (rows(60), rows(40), Settings::default());
        for test in [None, Some(&test)] {
            let plan = Plan::new(&ours, test, &settings).expect("rows enough");
            let last = std::sync::Mutex::new((0, 0));
            let progress: Progress<'_> = &|done, total| {
                if let Ok(mut last) = last.lock() {
                    *last = (done, total);
                }
                std::ops::ControlFlow::Continue(())
            };
            plan.measure(&[Method::Majority], &Control::default(), progress).expect("measured");
            let (done, total) = *last.lock().expect("nobody panicked");
            assert!(done == total && total > 1, "{done} of {total}");
        }
    }
}
