//! Open answers: the candidates of a row are the distinct answers given on it, not a list of classes.
//!
//! In: rows of answers and truths, of any number of distinct labels. Out: a table of candidate numbers. The candidates of
//! a row are numbered from 1 in the order of the classifiers' names, each where it is first given, and 0 means "none of
//! these". So a row is a pattern of agreement between classifiers; its answers, whatever they are called, do not matter.

use std::collections::HashMap;

use crate::{
    data::{Label, LabelMatrix, Normalise, Predictions, Row, Truth, Written, interner::distinct},
    error::Error,
};

/// The number of "none of these" among the candidates of a row.
pub(crate) const NONE: u16 = 0;

/// A table of open answers.
///
/// [`Evidence`](crate::Evidence) counts its [predictions](Self::predictions) and [truth](Self::truth), which are candidate
/// numbers. A model of such evidence decides for one of them; [`answer`](Self::answer) turns it into an answer.
///
/// ```
/// use spocc::{Evidence, Fit, Ladder, data::Answers};
/// let mut rows = Answers::builder(["ann", "bob", "eve"])?;
/// for n in 0..30 {
///     let (right, wrong) = ((7 * n).to_string(), (7 * n + 1).to_string());
///     let bob = if n % 5 == 0 { &wrong } else { &right };
///     rows.push([Some(right.as_str()), Some(bob), Some(&wrong)], Some(right.as_str()))?;
/// }
/// let rows = rows.finish();
/// let model = Ladder.fit(&Evidence::new(rows.predictions(), rows.truth())?)?;
///
/// let mut new = Answers::builder(["ann", "bob", "eve"])?;
/// new.push([Some("1848"), None, Some("1918")], None)?;
/// let new = new.finish();
/// let decided = model.predict(new.predictions())?;
/// assert_eq!(new.answer(0, decided.class[0]).map(ToString::to_string).as_deref(), Some("1848"));
/// # Ok::<(), spocc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Answers {
    predictions: Predictions,
    truth: Truth,
    /// The candidates of row t are at `starts[t]..starts[t + 1]`, each a position in `labels`.
    starts: Vec<usize>,
    candidates: Vec<u32>,
    labels: Vec<Label>,
}

impl Answers {
    /// Starts an empty table for these classifiers.
    ///
    /// # Errors
    ///
    /// [`Error::NoClassifiers`], [`Error::DuplicateName`].
    pub fn builder<S: Into<String>>(
        classifiers: impl IntoIterator<Item = S>,
    ) -> Result<AnswersBuilder, Error> {
        distinct(classifiers).map(AnswersBuilder::new)
    }

    /// The candidate number of every prediction.
    pub fn predictions(&self) -> &Predictions {
        &self.predictions
    }

    /// The candidate number of every truth, 0 where no classifier gives it.
    pub fn truth(&self) -> &Truth {
        &self.truth
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The answer of a candidate (from 1) of a row (from 0), as the first classifier by name writes it; none for
    /// candidate 0, "none of these", and where there is no such candidate.
    pub fn answer(&self, row: usize, candidate: u16) -> Option<&Label> {
        let place = usize::from(candidate).checked_sub(1)?;
        self.candidates(row).get(place).map(|&label| &self.labels[label as usize])
    }

    /// Number of candidates of a row (from 0).
    pub fn n_candidates(&self, row: usize) -> usize {
        self.candidates(row).len()
    }

    fn candidates(&self, row: usize) -> &[u32] {
        match (self.starts.get(row), self.starts.get(row + 1)) {
            (Some(&start), Some(&end)) => &self.candidates[start..end],
            _ => &[],
        }
    }
}

/// An answer known to an [`AnswersBuilder`], so that a repeated text is looked up once. It has a meaning for that builder
/// alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerId(u32);

/// Builds a table of open answers row by row.
#[derive(Clone, Debug)]
pub struct AnswersBuilder {
    classifiers: Vec<String>,
    normalise: Normalise,
    /// The place of every classifier in the order of their names.
    ranks: Vec<u32>,
    matrix: LabelMatrix,
    truths: Vec<u16>,
    starts: Vec<usize>,
    candidates: Vec<u32>,
    labels: Vec<Label>,
    /// For each of `labels`, a number that equal answers share, however they are written.
    meanings: Vec<u32>,
    by_label: HashMap<(String, Written), u32>,
    by_meaning: HashMap<String, u32>,
    /// For each meaning, the last attempt to append a row with it, and its candidate number there.
    last: Vec<(usize, u16)>,
    /// Rows appended or refused so far.
    n_attempts: usize,
    /// The answers of the current row: rank, classifier, answer.
    cells: Vec<(u32, u32, u32)>,
}

impl AnswersBuilder {
    fn new(classifiers: Vec<String>) -> Self {
        let mut order: Vec<usize> = (0..classifiers.len()).collect();
        order.sort_by_key(|&k| &classifiers[k]);
        let mut ranks = vec![0; classifiers.len()];
        order.iter().zip(0..).for_each(|(&k, rank)| ranks[k] = rank);
        Self {
            matrix: LabelMatrix::empty(classifiers.len()),
            classifiers,
            normalise: Normalise::default(),
            ranks,
            truths: Vec::new(),
            starts: vec![0],
            candidates: Vec::new(),
            labels: Vec::new(),
            meanings: Vec::new(),
            by_label: HashMap::new(),
            by_meaning: HashMap::new(),
            last: Vec::new(),
            n_attempts: 0,
            cells: Vec::new(),
        }
    }

    /// Compares answers in a normalised form; those added before keep theirs.
    #[must_use]
    pub fn normalised(self, normalise: Normalise) -> Self {
        Self { normalise, ..self }
    }

    /// Looks an answer up once for many rows.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyLabels`] for more than 2^32 distinct ones.
    pub fn id(&mut self, answer: impl Into<Label>) -> Result<AnswerId, Error> {
        let answer = answer.into();
        let key = (answer.canonical().to_owned(), answer.written().clone());
        if let Some(&id) = self.by_label.get(&key) {
            return Ok(AnswerId(id));
        }
        let limit = u32::MAX as usize;
        let id = u32::try_from(self.labels.len()).map_err(|_| Error::TooManyLabels { limit })?;
        let meaning = self.normalise.apply(&answer);
        let next = self.last.len() as u32;
        let meaning = *self.by_meaning.entry(meaning).or_insert(next);
        if meaning == next {
            self.last.push((0, NONE));
        }
        self.by_label.insert(key, id);
        self.meanings.push(meaning);
        self.labels.push(answer);
        Ok(AnswerId(id))
    }

    /// Appends a row: one answer per classifier, `None` where it is missing, and the truth, if it is known.
    ///
    /// # Errors
    ///
    /// [`Error::RowWidth`], [`Error::TooManyLabels`]; the table then has the same rows as before.
    pub fn push<L: Into<Label>>(
        &mut self,
        answers: impl IntoIterator<Item = Option<L>>,
        truth: Option<L>,
    ) -> Result<(), Error> {
        let mut cells = Vec::with_capacity(self.classifiers.len());
        let mut width = 0;
        for answer in answers {
            if let Some(answer) = answer {
                cells.push((width, self.id(answer)?));
            }
            width += 1;
        }
        if width != self.classifiers.len() {
            let row = self.n_rows() + 1;
            return Err(Error::RowWidth { row, expected: self.classifiers.len(), found: width });
        }
        let truth = truth.map(|truth| self.id(truth)).transpose()?;
        self.push_cells(cells, truth)
    }

    /// Appends a row given by its answers alone, each with its classifier (from 0), in any order.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownClassifier`], [`Error::RepeatedCell`], [`Error::TooManyLabels`] for more than 65 534 candidates,
    /// [`Error::LabelId`] for an id that no answer of this table has; the table then has the same rows as before.
    pub fn push_cells(
        &mut self,
        answers: impl IntoIterator<Item = (usize, AnswerId)>,
        truth: Option<AnswerId>,
    ) -> Result<(), Error> {
        let row = self.n_rows() + 1;
        let known = self.labels.len();
        self.cells.clear();
        for (k, AnswerId(id)) in answers {
            let Some(&rank) = self.ranks.get(k) else {
                let known = crate::error::list(&self.classifiers);
                return Err(Error::UnknownClassifier { name: format!("number {k}"), known });
            };
            self.cells.push((rank, k as u32, id));
        }
        let foreign = self.cells.iter().map(|cell| cell.2).chain(truth.map(|truth| truth.0));
        if let Some(found) = foreign.map(|id| id as usize).find(|id| *id >= known) {
            return Err(Error::LabelId { row, expected: known, found });
        }
        self.cells.sort_unstable();
        if let Some(twice) = self.cells.windows(2).find(|two| two[0].0 == two[1].0) {
            let classifier = self.classifiers[twice[0].1 as usize].clone();
            return Err(Error::RepeatedCell { row, classifier });
        }
        self.n_attempts += 1;
        let attempt = self.n_attempts;
        let start = self.candidates.len();
        let mut numbered: Vec<(u32, u16)> = Vec::with_capacity(self.cells.len());
        for &(_, k, id) in &self.cells {
            let last = &mut self.last[self.meanings[id as usize] as usize];
            if last.0 != attempt {
                let number = self.candidates.len() - start + 1;
                if number >= usize::from(u16::MAX) {
                    self.candidates.truncate(start);
                    return Err(Error::TooManyLabels { limit: usize::from(u16::MAX) - 1 });
                }
                *last = (attempt, number as u16);
                self.candidates.push(id);
            }
            numbered.push((k, last.1));
        }
        numbered.sort_unstable();
        let (columns, numbers): (Vec<u32>, Vec<u16>) = numbered.into_iter().unzip();
        self.matrix.push(Row::Sparse(&columns, &numbers));
        self.starts.push(self.candidates.len());
        self.truths.push(truth.map_or(crate::data::MISSING, |AnswerId(truth)| {
            let (last, number) = self.last[self.meanings[truth as usize] as usize];
            if last == attempt { number } else { NONE }
        }));
        Ok(())
    }

    /// Number of rows so far.
    pub fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The finished table.
    #[expect(clippy::missing_panics_doc, reason = "it never panics: every row was checked")]
    pub fn finish(self) -> Answers {
        let rows = self.starts.windows(2).map(|ends| ends[1] - ends[0]);
        let most = rows.max().unwrap_or(0);
        let numbers: Vec<Label> = (0..=most as i128).map(Label::from_integer).collect();
        Answers {
            predictions: Predictions::of_candidates(
                self.classifiers,
                numbers.clone(),
                self.matrix.settled(),
                self.normalise,
            ),
            truth: Truth::from_ids(numbers, self.truths).expect("truths are candidates of their rows"),
            starts: self.starts,
            candidates: self.candidates,
            labels: self.labels,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(table: &Answers) -> Vec<Vec<Option<String>>> {
        let n = table.predictions().n_classifiers();
        let cell = |row, k| table.predictions().get(row, k).map(Label::to_string);
        (0..table.n_rows()).map(|row| (0..n).map(|k| cell(row, k)).collect()).collect()
    }

    fn truths(table: &Answers) -> Vec<Option<String>> {
        (0..table.n_rows()).map(|row| table.truth().get(row).map(Label::to_string)).collect()
    }

    #[test]
    fn candidates_are_numbered_by_the_names_of_the_classifiers() {
        let mut rows = Answers::builder(["b", "c", "a"]).expect("three names");
        rows.push([Some("7"), Some("9"), Some("9")], Some("7")).expect("a row");
        rows.push([Some("x"), None, Some("x")], Some("y")).expect("a row");
        rows.push([None, None, None], Some("y")).expect("a row");
        rows.push([Some("1.0"), Some("1"), None], None).expect("a row");
        let table = rows.finish();
        let some = |cells: [&str; 3]| cells.map(|cell| (cell != "-").then(|| cell.to_owned())).to_vec();
        let expected = [["2", "1", "1"], ["1", "-", "1"], ["-", "-", "-"], ["1", "1", "-"]].map(some);
        assert_eq!(numbers(&table), expected);
        let expected = ["2", "0", "0", "-"].map(|truth| (truth != "-").then(|| truth.to_owned()));
        assert_eq!(truths(&table), expected);
        let answer = |row, candidate| table.answer(row, candidate).map(Label::to_string);
        assert_eq!((answer(0, 1), answer(0, 2), answer(0, 3)), (Some("9".into()), Some("7".into()), None));
        assert_eq!(answer(3, 1).as_deref(), Some("1.0"), "as the first classifier by name writes it");
        assert_eq!((answer(0, 0), answer(2, 1), answer(9, 1)), (None, None, None));
        assert_eq!((table.n_candidates(0), table.n_candidates(2), table.n_rows()), (2, 0, 4));
    }

    #[test]
    fn normalised_answers_are_compared_and_written_as_they_are() {
        let mut rows = Answers::builder(["a", "b"]).expect("two names").normalised(Normalise::Number);
        rows.push([Some("$1,000"), Some("1000.00")], Some("1e3")).expect("a row");
        let table = rows.finish();
        assert_eq!((table.n_candidates(0), truths(&table)), (1, vec![Some("1".into())]));
        assert_eq!(table.answer(0, 1).map(Label::to_string).as_deref(), Some("$1,000"));
    }

    #[test]
    fn bad_rows_are_refused_and_leave_the_table_as_it_was() {
        let mut rows = Answers::builder(["a", "b"]).expect("two names");
        let narrow = rows.push([Some("1")], None);
        assert_eq!(narrow, Err(Error::RowWidth { row: 1, expected: 2, found: 1 }));
        let id = rows.id("1").expect("few answers");
        let twice = rows.push_cells([(1, id), (1, id)], None);
        assert_eq!(twice, Err(Error::RepeatedCell { row: 1, classifier: "b".into() }));
        assert!(matches!(rows.push_cells([(2, id)], None), Err(Error::UnknownClassifier { .. })));
        let foreign = Answers::builder(["a"]).expect("a name").push_cells([(0, id)], None);
        assert_eq!(foreign, Err(Error::LabelId { row: 1, expected: 0, found: 0 }));
        rows.push_cells([(1, id)], Some(id)).expect("a row");
        let table = rows.finish();
        assert_eq!((table.n_rows(), numbers(&table)), (1, vec![vec![None, Some("1".into())]]));
    }
}
