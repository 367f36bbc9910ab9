//! Collects open answers in some columns of a table for the engine.

use std::ops::Range;

use spocc::{
    Label, Predictions, Truth,
    data::{AnswerId, Answers, AnswersBuilder, Normalise},
};
use spocc_table::{Error, LabelCodes, Location, RowLocations, RowPositions, Table};

use crate::read::PredictionCollector;

/// The rows of a table: labels, or open answers.
pub(crate) enum TableRows {
    /// Predictions, and their truths if these were read.
    Labels(Predictions, Truth),
    /// Open answers with their truths.
    Answers(Answers),
}

impl TableRows {
    /// Labels, or candidate numbers of open answers.
    pub(crate) fn predictions(&self) -> &Predictions {
        match self {
            Self::Labels(predictions, _) => predictions,
            Self::Answers(answers) => answers.predictions(),
        }
    }

    /// The truths in the same form.
    pub(crate) fn truth(&self) -> &Truth {
        match self {
            Self::Labels(_, truth) => truth,
            Self::Answers(answers) => answers.truth(),
        }
    }

    /// The open answers, if they are open.
    pub(crate) fn answers(&self) -> Option<&Answers> {
        match self {
            Self::Labels(..) => None,
            Self::Answers(answers) => Some(answers),
        }
    }
}

/// The open answers in some columns of a table.
pub(crate) struct AnswerCollector {
    builder: AnswersBuilder,
    width: usize,
    lines: RowLocations,
}

impl AnswerCollector {
    /// Collects these columns of a table; the column names are the names of the classifiers.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`] if there are no columns.
    pub(crate) fn new(table: &Table, columns: &[usize], normalise: Normalise) -> Result<Self, Error> {
        let names = columns.iter().map(|&column| table.header()[column].clone());
        let builder = Answers::builder(names).map_err(|error| table.location().engine(error))?;
        Ok(Self {
            builder: builder.normalised(normalise),
            width: columns.len(),
            lines: RowLocations::default(),
        })
    }

    /// Adds a range of encoded rows, and their truths if there are any; `places` has the positions of all encoded rows in
    /// `file`.
    ///
    /// # Errors
    ///
    /// [`Error::Engine`] for more candidates on a row than the engine supports.
    pub(crate) fn add(
        &mut self,
        answers: &LabelCodes,
        truths: Option<&LabelCodes>,
        rows: Range<usize>,
        file: &Location,
        places: &RowPositions,
    ) -> Result<(), Error> {
        let [mut answer_ids, mut truth_ids] =
            [Some(answers), truths].map(|codes| vec![None; codes.map_or(0, |codes| codes.labels.len())]);
        for row in rows.clone() {
            let refused = |error| places.location(file, row).engine(error);
            let codes = &answers.codes[row * self.width..(row + 1) * self.width];
            let mut cells = Vec::with_capacity(self.width);
            for (k, &code) in codes.iter().enumerate() {
                let id = self.id(code, &answers.labels, &mut answer_ids).map_err(refused)?;
                cells.extend(id.map(|id| (k, id)));
            }
            let truth = match truths {
                Some(truths) => {
                    self.id(truths.codes[row], &truths.labels, &mut truth_ids).map_err(refused)?
                }
                None => None,
            };
            self.builder.push_cells(cells, truth).map_err(refused)?;
        }
        self.lines.extend(file, places, rows);
        Ok(())
    }

    /// The engine's id of a code; none if the cell is missing.
    fn id(
        &mut self,
        code: u32,
        labels: &[Option<Label>],
        known: &mut [Option<AnswerId>],
    ) -> Result<Option<AnswerId>, spocc::Error> {
        let place = code as usize;
        if known[place].is_none()
            && let Some(label) = &labels[place]
        {
            known[place] = Some(self.builder.id(label.clone())?);
        }
        Ok(known[place])
    }

    /// Number of rows collected.
    pub(crate) fn n_rows(&self) -> usize {
        self.lines.n_rows()
    }

    /// The answers, and the location of each row.
    pub(crate) fn finish(self) -> (Answers, RowLocations) {
        (self.builder.finish(), self.lines)
    }
}

/// The predictions, or open answers, in some columns of a table.
pub(crate) enum RowCollector {
    Labels(Box<PredictionCollector>),
    Answers(Box<AnswerCollector>),
}

impl RowCollector {
    /// Collects these columns of a table.
    ///
    /// # Errors
    ///
    /// As [`PredictionCollector::new`].
    pub(crate) fn new(table: &Table, columns: &[usize], open: Option<Normalise>) -> Result<Self, Error> {
        Ok(match open {
            Some(normalise) => Self::Answers(Box::new(AnswerCollector::new(table, columns, normalise)?)),
            None => Self::Labels(Box::new(PredictionCollector::new(table, columns)?)),
        })
    }

    /// Adds a range of encoded rows.
    ///
    /// # Errors
    ///
    /// As [`PredictionCollector::add`].
    pub(crate) fn add(
        &mut self,
        codes: &LabelCodes,
        rows: Range<usize>,
        file: &Location,
        places: &RowPositions,
    ) -> Result<(), Error> {
        match self {
            Self::Labels(labels) => labels.add(codes, rows, file, places).map_err(|(_, error)| error),
            Self::Answers(answers) => answers.add(codes, None, rows, file, places),
        }
    }

    /// Number of rows collected.
    pub(crate) fn n_rows(&self) -> usize {
        match self {
            Self::Labels(labels) => labels.n_rows(),
            Self::Answers(answers) => answers.n_rows(),
        }
    }

    /// The rows, and the location of each.
    pub(crate) fn finish(self) -> (TableRows, RowLocations) {
        match self {
            Self::Labels(labels) => {
                let (predictions, lines) = labels.finish();
                (TableRows::Labels(predictions, Truth::default()), lines)
            }
            Self::Answers(answers) => {
                let (answers, lines) = answers.finish();
                (TableRows::Answers(answers), lines)
            }
        }
    }
}
