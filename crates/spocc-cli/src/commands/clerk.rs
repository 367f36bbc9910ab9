//! Deciding a table piece by piece, writing it down, and saying how it went.

use std::collections::BTreeMap;

use spocc::{
    Control, Model,
    conformal::{Coverage, PredictionSets, RowDraw},
    predict::{DecisionColumns, Decisions, UnseenLabel},
};
use spocc_table::Error;

use crate::{
    args::{Column, PredictArgs},
    commands::predict::{Piece, tell_absent},
    decided::{Block, Sheet},
    labelled::rows,
    tell,
};

/// Values of a class that are held at a time.
const VALUES_HELD: usize = 1 << 22;

/// UnseenLabel answers told one by one.
const SHOWN: usize = 8;

/// Decides pieces and writes them down.
pub(super) struct Clerk<'a> {
    model: &'a Model,
    args: &'a PredictArgs,
    control: &'a Control<'a>,
    /// Rows written so far, by which those without a name draw their lots.
    n_written: u64,
    /// The classifiers that the table has no column for.
    absent: Vec<String>,
    summary: Summary,
}

impl<'a> Clerk<'a> {
    /// Of a model that can promise the coverage asked.
    pub(super) fn new(model: &'a Model, args: &'a PredictArgs, control: &'a Control<'a>) -> Self {
        Self { model, args, control, n_written: 0, absent: Vec::new(), summary: Summary::default() }
    }

    /// Refuses a piece that the model cannot decide.
    ///
    /// # Errors
    ///
    /// [`Error::Table`] for labels that the model does not know, if they are not treated as missing.
    pub(super) fn check(&mut self, piece: &Piece) -> Result<(), Error> {
        let blame = |error| piece.lines.locate(&piece.place, error);
        // Columns were looked for when the table was opened: what is absent may be.
        let aligned = self.model.align_present(&piece.answers).map_err(blame)?;
        self.absent = aligned.absent().map(str::to_owned).collect();
        if self.args.strict {
            aligned.strict().map_err(blame)?;
        }
        Ok(())
    }

    /// Decides a piece and writes it, a block of rows at a time.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub(super) fn write(&mut self, piece: &Piece, sheet: &mut dyn Sheet) -> Result<(), Error> {
        let blame = |error| piece.lines.locate(&piece.place, error);
        let aligned = self.model.align_present(&piece.answers).map_err(blame)?;
        let columns = self.columns();
        let n_rows = piece.answers.n_rows();
        let step = (VALUES_HELD / self.model.classes().len().max(1)).max(1);
        for first in (0..n_rows).step_by(step) {
            let rows = first..n_rows.min(first + step);
            let decisions = aligned.decide_rows(rows, columns, self.control).map_err(blame)?;
            self.summary.add(&decisions);
            let coverage = self.args.sets.coverage;
            let sets = coverage.map(|coverage| self.sets(&decisions, piece, first, coverage));
            let sets = sets.transpose().map_err(blame)?;
            let abstained = self.abstained(&decisions, sets.as_ref());
            self.summary.add_sets(sets.as_ref(), &abstained);
            sheet.write(&Block {
                ids: &piece.ids,
                first,
                abstained: &abstained,
                decisions: &decisions,
                sets: sets.as_ref(),
            })?;
        }
        self.n_written += n_rows as u64;
        Ok(())
    }

    /// What the engine computes for the columns that are written.
    fn columns(&self) -> DecisionColumns {
        let has = |column| self.args.columns.contains(&column);
        DecisionColumns {
            margin: has(Column::Margin) || self.args.sets.abstain_below.is_some(),
            possibility: has(Column::Possibility),
            probability: has(Column::Probability),
            ties: has(Column::Ties),
            n_answered: has(Column::Answered),
            scores: self.args.sets.coverage.is_some(),
        }
    }

    fn sets(
        &self,
        decisions: &Decisions,
        piece: &Piece,
        first: usize,
        coverage: Coverage,
    ) -> Result<PredictionSets, spocc::Error> {
        let seed = self.args.sets.seed.unwrap_or(0);
        self.model.sets(decisions, coverage, |row| match &piece.ids[..] {
            [] => RowDraw::of_number(seed, self.n_written + (first + row) as u64),
            ids => RowDraw::of_name(seed, ids.iter().map(|cells| cells.get(first + row).unwrap_or_default())),
        })
    }

    /// Which decisions are left empty; nothing if none may be.
    fn abstained(&self, decisions: &Decisions, sets: Option<&PredictionSets>) -> Vec<bool> {
        if !self.args.sets.may_abstain() {
            return Vec::new();
        }
        let least = self.args.sets.abstain_below.unwrap_or(0.0);
        let most = self.args.sets.abstain_above_size.unwrap_or(u64::MAX);
        let abstains = |row: usize| {
            decisions.margin.as_ref().is_some_and(|margin| margin[row] < least)
                || sets.and_then(|sets| sets.get(row)).is_some_and(|set| set.len() as u64 > most)
        };
        (0..decisions.len()).map(abstains).collect()
    }

    /// Says how it went.
    pub(super) fn tell(&self) {
        let Self { model, summary, .. } = self;
        summary.tell_decisions(model);
        if let (Some(coverage), Some(calibration)) = (self.args.sets.coverage, model.calibration()) {
            let mean = summary.n_in_sets as f64 / summary.n_rows.max(1) as f64;
            let spread = calibration.spread(coverage);
            tell(format_args!(
                "sets at coverage {coverage}, give or take {spread:.3}: {mean:.2} classes on average, {} of one alone",
                summary.n_alone
            ));
            tell(format_args!("calibrated: {calibration}"));
            if !self.absent.is_empty() {
                tell(format_args!(
                    "note: calibrated with all classifiers, so that coverage may be lower here"
                ));
            }
        }
        if self.args.sets.may_abstain() {
            let share = 100.0 * summary.n_abstained as f64 / summary.n_rows.max(1) as f64;
            tell(format_args!("abstained on {}, {share:.1} %", rows(summary.n_abstained as u64)));
        }
        tell_absent(&self.absent, model);
        summary.tell_unseen();
    }
}

/// How it went.
#[derive(Default)]
struct Summary {
    n_rows: usize,
    n_ties: usize,
    n_prior: usize,
    /// Classes in all sets, and sets of one.
    n_in_sets: usize,
    n_alone: usize,
    n_abstained: usize,
    /// Rows with each unseen answer, by classifier and label.
    unseen: BTreeMap<(String, String), usize>,
}

impl Summary {
    fn add(&mut self, decisions: &Decisions) {
        self.n_rows += decisions.len();
        self.n_ties += decisions.n_ties();
        self.n_prior += decisions.n_prior();
        for UnseenLabel { classifier, label, n_rows, .. } in decisions.unseen() {
            *self.unseen.entry((classifier.clone(), label.to_string())).or_default() += n_rows;
        }
    }

    fn add_sets(&mut self, sets: Option<&PredictionSets>, abstained: &[bool]) {
        for set in sets.into_iter().flat_map(PredictionSets::iter) {
            self.n_in_sets += set.len();
            self.n_alone += usize::from(set.len() == 1);
        }
        self.n_abstained += abstained.iter().filter(|abstained| **abstained).count();
    }

    fn tell_decisions(&self, model: &Model) {
        tell(format_args!(
            "decided {} by {}: {} tied, {} by the prior alone",
            rows(self.n_rows as u64),
            model.method(),
            self.n_ties,
            self.n_prior
        ));
    }

    fn tell_unseen(&self) {
        for ((classifier, label), n) in self.unseen.iter().take(SHOWN) {
            tell(format_args!(
                "note: `{classifier}` said `{label}` in {n} of them, which the model never met: taken for silence"
            ));
        }
        if let more @ 1.. = self.unseen.len().saturating_sub(SHOWN) {
            tell(format_args!("note: and {more} more such answers"));
        }
    }
}
