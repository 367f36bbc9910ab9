//! The one error type. Each message says where, what was expected and what was found.

use crate::printable;

/// Every error of the engine.
///
/// Each message is one line that lets the reader correct the input without reading this source.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two classifiers, classes or cells share a name.
    #[error("{what}: expected distinct names, found `{name}` twice")]
    DuplicateName {
        /// What is named.
        what: &'static str,
        /// The repeated name.
        name: String,
    },
    /// A panel without classifiers.
    #[error("classifiers: expected at least one, found none")]
    NoClassifiers,
    /// A row with too many or too few predictions.
    #[error("row {row}: expected {expected} predictions, found {found}")]
    RowWidth {
        /// Row, counted from 1.
        row: usize,
        /// Number of classifiers.
        expected: usize,
        /// Number of predictions.
        found: usize,
    },
    /// Two columns of different lengths.
    #[error("{what}: expected {expected} rows, found {found}")]
    RowCount {
        /// The wrong column.
        what: &'static str,
        /// Rows of the predictions.
        expected: usize,
        /// Rows of the column.
        found: usize,
    },
    /// Two predictions of one classifier for one row.
    #[error("row {row}: expected one prediction of `{classifier}`, found two")]
    RepeatedCell {
        /// Row, counted from 1.
        row: usize,
        /// The classifier.
        classifier: String,
    },
    /// A name that is not among the classifiers.
    #[error("classifier `{name}`: expected one of {known}, found no such name")]
    UnknownClassifier {
        /// The name asked for.
        name: String,
        /// The names of the classifiers.
        known: String,
    },
    /// A classifier of the model without predictions.
    #[error(
        "classifier `{name}`: expected predictions of every classifier of the model, found only those of {found}"
    )]
    MissingClassifier {
        /// The classifier.
        name: String,
        /// The classifiers in the table.
        found: String,
    },
    /// A number that cannot be a label.
    #[error("label {found}: expected a whole number, a text or a boolean")]
    LabelNotWhole {
        /// The number.
        found: f64,
    },
    /// More distinct labels than an id can hold.
    #[error("labels: expected at most {limit} distinct ones, found more")]
    TooManyLabels {
        /// The largest number of labels.
        limit: usize,
    },
    /// An id without a label.
    #[error("row {row}: expected a label id below {expected}, found {found}")]
    LabelId {
        /// Row, counted from 1.
        row: usize,
        /// Number of labels.
        expected: usize,
        /// The id.
        found: usize,
    },
    /// A truth outside the list of classes.
    #[error("row {row}: expected a truth among the classes {classes}, found `{found}`")]
    TruthNotAClass {
        /// Row, counted from 1.
        row: usize,
        /// The truth given.
        found: String,
        /// The classes.
        classes: String,
    },
    /// A weight that is negative, not finite, or too small or large for exact sums.
    #[error("row {row}: expected {expected}, found {found:?}")]
    BadWeight {
        /// Row, counted from 1.
        row: usize,
        /// The weights that are accepted.
        expected: &'static str,
        /// The weight.
        found: f64,
    },
    /// A class weight that is out of range or not a number.
    #[error("weight of class `{class}`: expected a number from {least} to {most}, found {found}")]
    ClassWeight {
        /// The class.
        class: String,
        /// The smallest weight.
        least: f64,
        /// The largest weight.
        most: f64,
        /// The weight.
        found: f64,
    },
    /// A request that makes no sense for open answers, which have no classes.
    #[error("open answers: expected {expected}, found {found}")]
    OpenAnswers {
        /// What is possible.
        expected: &'static str,
        /// The request.
        found: String,
    },
    /// A count above 2^64.
    #[error("{what}: expected a total below 2^64, found more (scale them down)")]
    Overflow {
        /// Which count.
        what: &'static str,
    },
    /// Fractional weights where rows must count as whole numbers.
    #[error("{what}: expected rows that count as whole numbers, found weights")]
    Weighted {
        /// What was asked.
        what: &'static str,
    },
    /// A model without the evidence that is needed.
    #[error("{what}: expected a model that holds its evidence, found one without")]
    NoEvidence {
        /// What was asked.
        what: &'static str,
    },
    /// No labelled rows to fit a model to.
    #[error("truth: expected at least one labelled row, found none")]
    NoLabelledRows,
    /// Test rows that are the training rows.
    #[error("test rows: expected held-out rows, found the rows that the methods are fitted to")]
    SameRows,
    /// Evidence of different panels.
    #[error("evidence: expected the same classifiers on both sides, found {difference}")]
    DifferentClassifiers {
        /// The names on one side only.
        difference: String,
    },
    /// Evidence of different classes.
    #[error("evidence: expected the same classes on both sides, found {difference}")]
    DifferentClasses {
        /// How the class lists differ.
        difference: String,
    },
    /// Evidence of different levels.
    #[error("evidence: expected {expected} on both sides, found {found} (reduce the richer one first)")]
    DifferentLevels {
        /// Level of the left side.
        expected: String,
        /// Level of the right side.
        found: String,
    },
    /// Evidence below the level that is needed.
    #[error("{what}: expected evidence with {needs}, found {found}")]
    LevelTooLow {
        /// What was asked.
        what: String,
        /// The level it needs.
        needs: String,
        /// The level there is.
        found: String,
    },
    /// A table that does not fit into the memory limit.
    #[error("{what}: expected at most {limit} bytes of memory, found a need of about {needed}")]
    MemoryLimit {
        /// The table.
        what: String,
        /// Estimate in bytes.
        needed: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A tuning that this method or this evidence does not support.
    #[error("{method}: expected {expected}, found {found} tuning")]
    TuningRefused {
        /// The method.
        method: String,
        /// What it takes.
        expected: &'static str,
        /// What was asked.
        found: String,
    },
    /// A setting that the method ignores.
    #[error("{setting}: expected a method that uses it ({used_by}), found {method}")]
    UnusedSetting {
        /// The setting.
        setting: &'static str,
        /// The methods that use it.
        used_by: &'static str,
        /// The method chosen.
        method: &'static str,
    },
    /// A text that is neither a number in its range nor one of the words.
    #[error("{what}: expected {expected}, found `{found}`")]
    Unreadable {
        /// The setting.
        what: &'static str,
        /// What it takes.
        expected: &'static str,
        /// The text given.
        found: String,
    },
    /// A number outside its range.
    #[error("{what}: expected {expected}, found {found}")]
    OutOfRange {
        /// The quantity.
        what: &'static str,
        /// Its range.
        expected: &'static str,
        /// The number given.
        found: f64,
    },
    /// A word that is none of the choices.
    #[error("{what}: expected one of {expected}, found `{found}`")]
    UnknownWord {
        /// The choice.
        what: &'static str,
        /// The words it takes.
        expected: String,
        /// The word given.
        found: String,
    },
    /// The progress callback asked to stop.
    #[error("stopped on request")]
    Cancelled,
    /// Strict prediction met a label the model does not know.
    #[error("row {row}: expected `{classifier}` to predict a label of the model, found `{found}`")]
    UnseenLabel {
        /// Row, counted from 1.
        row: usize,
        /// The classifier.
        classifier: String,
        /// The label.
        found: String,
    },
    /// A row number past the end.
    #[error("row {row}: expected a row from 1 to {rows}")]
    NoSuchRow {
        /// Row, counted from 1.
        row: usize,
        /// Number of rows.
        rows: usize,
    },
    /// A method that cannot append classifiers, or a model without its evidence.
    #[error("append: expected {expected}, found {found}")]
    CannotAppend {
        /// What appending needs.
        expected: &'static str,
        /// What was given.
        found: String,
    },
    /// Prediction sets of a model without conformal calibration.
    #[error(
        "sets: expected a calibrated model, found one fitted without (fit with --calibrate split or --calibrate cross)"
    )]
    NotCalibrated,
    /// Too few conformal scores for the coverage.
    #[error("coverage {coverage}: expected at least {needed} calibration rows{of}, found {found}")]
    TooFewScores {
        /// The coverage asked.
        coverage: f64,
        /// Of which class, if each has its own rows.
        of: String,
        /// Rows that it takes.
        needed: u64,
        /// Rows there are.
        found: u64,
    },
    /// Bytes that are neither a model nor evidence.
    #[error("{expected} file: expected to begin with the mark of one, found other bytes")]
    NotOurs {
        /// What was asked for: model or evidence.
        expected: &'static str,
    },
    /// A model where evidence is expected, or the reverse.
    #[error("{expected} file: expected a {expected}, found a {found}")]
    WrongKind {
        /// What was asked for.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// The file was written by a newer version.
    #[error("file version: expected at most {newest}, found {found} (written by a newer spocc)")]
    FutureVersion {
        /// Newest version this build reads.
        newest: u32,
        /// Version of the file.
        found: u32,
    },
    /// The file ends too early.
    #[error("file length: expected {expected} bytes, found {found} (cut short)")]
    Truncated {
        /// Bytes announced.
        expected: u64,
        /// Bytes there.
        found: u64,
    },
    /// The file goes on after its end, or announces more than the caller allows.
    #[error("file length: expected at most {expected} bytes, found {found}")]
    Oversized {
        /// Bytes allowed.
        expected: u64,
        /// Bytes there or announced.
        found: u64,
    },
    /// Some byte changed since the file was written.
    #[error("checksum: expected {expected:08x}, found {found:08x} (the file is damaged)")]
    Checksum {
        /// Checksum in the file.
        expected: u32,
        /// Checksum of the bytes.
        found: u32,
    },
    /// The file has a section that must be understood and that this build does not know.
    #[error(
        "file section `{name}`: expected one that this spocc knows, found one that it must not skip (written by a \
         newer spocc)"
    )]
    UnknownSection {
        /// Name of the section.
        name: String,
    },
    /// The checksum holds but the content contradicts itself.
    #[error("file content: expected {expected}, found {found}")]
    Inconsistent {
        /// The rule that is broken.
        expected: &'static str,
        /// How.
        found: String,
    },
}

/// A list of names for a message, shortened when it is long, with hidden characters escaped.
pub(crate) fn list<T: std::fmt::Display>(names: impl IntoIterator<Item = T>) -> String {
    const SHOWN: usize = 8;
    let names: Vec<String> =
        names.into_iter().map(|name| printable(&name.to_string()).into_owned()).collect();
    let more = names.len().saturating_sub(SHOWN);
    let shown = names[..names.len() - more].join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// Finds the choice with the name `word`.
pub(crate) fn choose<T: Copy + std::fmt::Display>(
    what: &'static str,
    all: &[T],
    word: &str,
) -> Result<T, Error> {
    let words: Vec<String> = all.iter().map(ToString::to_string).collect();
    let found = all.iter().zip(&words).find(|(_, name)| *name == word).map(|(choice, _)| *choice);
    found.ok_or_else(|| Error::UnknownWord { what, expected: words.join(", "), found: word.to_owned() })
}
