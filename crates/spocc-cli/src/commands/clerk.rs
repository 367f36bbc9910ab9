//! Deciding a table piece by piece, writing it down, and saying how it went.

use std::collections::BTreeMap;

use spocc::{
    Control, Decision, Model,
    conformal::{Coverage, PredictionSets, RowDraw},
    predict::{AlignedTable, Decisions, Ruling, UnseenLabel},
};
use spocc_table::Error;

use crate::{
    args::{Column, PredictArgs},
    commands::predict::{Piece, tell_absent},
    decided::{Block, Sheet},
    labelled::rows,
    tell,
};

/// Possibilities held at a time, of rows decided in full.
const DEGREES: usize = 1 << 22;

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

    /// Decides a piece.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`] for answers that are not taken for silence.
    pub(super) fn decide(&mut self, piece: &Piece) -> Result<Decisions, Error> {
        let blame = |error| piece.lines.blame(&piece.place, error);
        // Columns were looked for when the table was opened: what is absent may be.
        let mut aligned = self.model.align_present(&piece.answers).map_err(blame)?;
        self.absent = aligned.absent().map(str::to_owned).collect();
        if self.args.strict {
            aligned = aligned.strict().map_err(blame)?;
        }
        let decisions = aligned.decide_all(self.control).map_err(blame)?;
        self.summary.add(&decisions);
        Ok(decisions)
    }

    /// Writes a decided piece.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub(super) fn write(
        &mut self,
        piece: &Piece,
        decisions: &Decisions,
        sheet: &mut dyn Sheet,
    ) -> Result<(), Error> {
        let blame = |error| piece.lines.blame(&piece.place, error);
        let aligned = self.model.align_present(&piece.answers).map_err(blame)?;
        // Decisions in full cost more than labels alone: they are made only for what needs them.
        let in_full = self.args.columns.iter().any(|column| *column != Column::Decision)
            || self.args.sets.abstain_below.is_some();
        let n_rows = (DEGREES / self.model.classes().len().max(1)).max(1);
        for (at, rulings) in decisions.rulings().chunks(n_rows).enumerate() {
            let first = at * n_rows;
            let rows = first..first + rulings.len();
            let full = if in_full { aligned.decide_rows(rows.clone()) } else { Ok(Vec::new()) };
            let decisions = full.map_err(blame)?;
            let sets = self.args.sets.coverage.map(|coverage| self.sets(&aligned, piece, rows, coverage));
            let sets = sets.transpose().map_err(blame)?;
            let abstained = self.abstained(rulings, &decisions, sets.as_ref());
            self.summary.add_sets(sets.as_ref(), &abstained);
            sheet.write(&Block {
                ids: &piece.ids,
                first,
                rulings,
                abstained: &abstained,
                decisions: &decisions,
                sets: sets.as_ref(),
            })?;
        }
        self.n_written += piece.answers.n_rows() as u64;
        Ok(())
    }

    fn sets(
        &self,
        aligned: &AlignedTable<'_>,
        piece: &Piece,
        rows: std::ops::Range<usize>,
        coverage: Coverage,
    ) -> Result<PredictionSets, spocc::Error> {
        let seed = self.args.sets.seed.unwrap_or(0);
        aligned.sets(rows, coverage, |row| match &piece.ids[..] {
            [] => RowDraw::of_number(seed, self.n_written + row as u64),
            ids => RowDraw::of_name(seed, ids.iter().map(|cells| cells.get(row).unwrap_or_default())),
        })
    }

    /// Which decisions are left empty; nothing if none may be.
    fn abstained(
        &self,
        rulings: &[Ruling],
        decisions: &[Decision],
        sets: Option<&PredictionSets>,
    ) -> Vec<bool> {
        if !self.args.sets.may_abstain() {
            return Vec::new();
        }
        let least = self.args.sets.abstain_below.unwrap_or(0.0);
        let most = self.args.sets.abstain_above_size.unwrap_or(u64::MAX);
        let abstains = |row: usize| {
            decisions.get(row).is_some_and(|decision| decision.margin < least)
                || sets.and_then(|sets| sets.get(row)).is_some_and(|set| set.len() as u64 > most)
        };
        (0..rulings.len()).map(abstains).collect()
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
        self.n_rows += decisions.rulings().len();
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
