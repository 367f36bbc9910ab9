//! Open answers as Python passes them: any number of distinct ones, also numbers with a fraction.

use spocc::{
    Label,
    data::{AnswerId, Answers, AnswersBuilder, Normalise},
};

use crate::{error::BindingError, input::InputTable, labels::LabelId, runtime::Interrupt};

/// Rows between two checks for Ctrl-C.
const SIGNAL_INTERVAL: usize = 1 << 14;

/// How open answers are compared; none if the answers are labels of classes.
pub(crate) fn comparison(open: bool, normalise: &str) -> Result<Option<Normalise>, BindingError> {
    let normalise: Normalise = normalise.parse()?;
    if !open && normalise != Normalise::None {
        return Err(BindingError::Value(
            "normalise: expected it together with open=True, since labels of classes are compared as they are, \
             found it alone"
                .into(),
        ));
    }
    Ok(open.then_some(normalise))
}

/// The ids of labels in a table of answers, in the same order.
pub(crate) fn ids(table: &mut AnswersBuilder, labels: Vec<Label>) -> Result<Vec<AnswerId>, BindingError> {
    Ok(labels.into_iter().map(|label| table.id(label)).collect::<Result<_, spocc::Error>>()?)
}

impl InputTable<'_, u32> {
    /// The table as the engine's open answers, with the column of the truth if there is one.
    pub(crate) fn answers(
        self,
        truth: Option<InputTable<'_, u32>>,
        normalise: Normalise,
        interrupt: &Interrupt,
    ) -> Result<Answers, BindingError> {
        let (width, n_rows) = (self.names.len(), self.n_rows());
        let mut table = Answers::builder(self.names.iter().cloned())?.normalised(normalise);
        let (labels, cells) = self.read(interrupt)?;
        let answers = ids(&mut table, labels)?;
        let (labels, truths) = match truth {
            Some(truth) => truth.read(interrupt)?,
            None => (Vec::new(), vec![u32::MISSING; n_rows]),
        };
        if truths.len() != n_rows {
            let found = truths.len();
            return Err(spocc::Error::RowCount { what: "truth", expected: n_rows, found }.into());
        }
        let true_answers = ids(&mut table, labels)?;
        for (row, truth) in truths.iter().enumerate() {
            if row % SIGNAL_INTERVAL == 0 {
                interrupt.check()?;
            }
            let cells = cells[row * width..][..width].iter().enumerate();
            let given = cells.filter_map(|(k, id)| answers.get(id.place()).map(|answer| (k, *answer)));
            table.push_cells(given, true_answers.get(truth.place()).copied())?;
        }
        Ok(table.finish())
    }
}
