//! Decides a table batch by batch and writes the decisions.

use spocc::{
    Control, Model,
    conformal::{Coverage, PredictionSets, RowDraw},
    predict::{DecisionColumns, Decisions},
};
use spocc_table::{Error, write::TableWriter};

use crate::{
    args::{OutputColumn, PredictArgs},
    commands::predict::{batches::InputBatch, note_absent, summary::PredictionSummary},
    write::{DecidedBlock, OpenColumns},
};

/// Values of the classes that are held in memory at a time.
const VALUES_HELD: usize = 1 << 22;

/// Applies a model to batches and writes the decisions.
pub(super) struct PredictRun<'a> {
    model: &'a Model,
    args: &'a PredictArgs,
    /// The columns to write.
    columns: &'a [OutputColumn],
    control: &'a Control<'a>,
    /// Rows written so far, which number the random draws of rows without an id.
    n_written: u64,
    /// The classifiers without a column in the table.
    absent: Vec<String>,
    summary: PredictionSummary,
}

impl<'a> PredictRun<'a> {
    /// For a model that supports the coverage of --coverage.
    pub(super) fn new(
        model: &'a Model,
        args: &'a PredictArgs,
        columns: &'a [OutputColumn],
        control: &'a Control<'a>,
    ) -> Self {
        Self {
            model,
            args,
            columns,
            control,
            n_written: 0,
            absent: Vec::new(),
            summary: PredictionSummary::default(),
        }
    }

    /// Refuses a batch that the model cannot decide.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`] for unknown labels with --strict.
    pub(super) fn check(&mut self, batch: &InputBatch) -> Result<(), Error> {
        let locate = |error| batch.lines.locate(&batch.place, error);
        // Missing columns were checked when the table was opened.
        let aligned = self.model.align_present(batch.rows.predictions()).map_err(locate)?;
        self.absent = aligned.absent().map(str::to_owned).collect();
        if self.args.strict {
            aligned.strict().map_err(locate)?;
        }
        Ok(())
    }

    /// Decides a batch and writes it, a block of rows at a time.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub(super) fn write(&mut self, batch: &InputBatch, writer: &mut TableWriter<'_>) -> Result<(), Error> {
        let locate = |error| batch.lines.locate(&batch.place, error);
        let aligned = self.model.align_present(batch.rows.predictions()).map_err(locate)?;
        let columns = self.decision_columns();
        let n_rows = batch.rows.predictions().n_rows();
        let step = (VALUES_HELD / aligned.n_classes().max(1)).max(1);
        for first in (0..n_rows).step_by(step) {
            let rows = first..n_rows.min(first + step);
            let decisions = aligned.decide_rows(rows, columns, self.control).map_err(locate)?;
            self.summary.add(&decisions);
            let coverage = self.args.sets.coverage;
            let sets = coverage.map(|coverage| self.sets(&decisions, batch, first, coverage));
            let sets = sets.transpose().map_err(locate)?;
            let abstained = self.abstained(&decisions, sets.as_ref());
            self.summary.add_sets(sets.as_ref(), &abstained);
            let open = batch
                .rows
                .answers()
                .map(|answers| OpenColumns::new(answers, first, &decisions, &abstained, sets.as_ref()));
            let block = DecidedBlock {
                open: open.as_ref(),
                ids: &batch.ids,
                first,
                abstained: &abstained,
                decisions: &decisions,
                sets: sets.as_ref(),
            };
            writer.write(decisions.len(), &block.values(self.columns))?;
        }
        self.n_written += n_rows as u64;
        Ok(())
    }

    /// What the engine computes for the columns that are written.
    fn decision_columns(&self) -> DecisionColumns {
        let has = |column| self.args.columns.contains(&column);
        DecisionColumns {
            margin: has(OutputColumn::Margin) || self.args.sets.abstain_below.is_some(),
            possibility: has(OutputColumn::Possibility),
            probability: has(OutputColumn::Probability),
            ties: has(OutputColumn::Ties),
            n_answered: has(OutputColumn::Answered),
            scores: self.args.sets.coverage.is_some(),
        }
    }

    fn sets(
        &self,
        decisions: &Decisions,
        batch: &InputBatch,
        first: usize,
        coverage: Coverage,
    ) -> Result<PredictionSets, spocc::Error> {
        let seed = self.args.sets.seed.unwrap_or(0);
        self.model.sets(decisions, coverage, |row| match &batch.ids[..] {
            [] => RowDraw::of_number(seed, self.n_written + (first + row) as u64),
            ids => RowDraw::of_name(seed, ids.iter().map(|cells| cells.get(first + row).unwrap_or_default())),
        })
    }

    /// Which decisions are left empty; an empty list if no option asks for abstention.
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

    /// Prints the summary of all batches.
    pub(super) fn report(&self) {
        let Self { model, summary, args, .. } = self;
        summary.report_decisions(model);
        if let (Some(coverage), Some(calibration)) = (args.sets.coverage, model.calibration()) {
            summary.report_sets(coverage, calibration, !self.absent.is_empty());
        }
        if args.sets.may_abstain() {
            summary.report_abstention();
        }
        note_absent(&self.absent, model);
        summary.note_unknown_labels();
    }
}
