//! Data: labels, tables of predictions, truths, and the settings of what missing cells and classes mean.
//!
//! In: what a user has: texts, numbers, arrays. Out: tables of label ids, checked, that [`evidence`](crate::evidence)
//! counts and models predict.

mod answers;
mod builder;
pub(crate) mod class_weights;
mod integer_table;
mod interner;
mod label;
mod label_matrix;
mod labels;
mod missing;
mod normalise;
mod predictions;
mod row_key;
mod truth;

pub use answers::{AnswerId, Answers, AnswersBuilder};
pub use builder::PredictionsBuilder;
pub use class_weights::ClassWeights;
pub use integer_table::{IntegerSlice, IntegerTable, PredictionTable};
pub use interner::Symbol;
pub use label::{Label, Written};
pub use labels::Labels;
pub use missing::Missing;
pub use normalise::Normalise;
pub use predictions::Predictions;
pub use truth::Truth;

pub(crate) use answers::NONE;
pub(crate) use label_matrix::{LabelMatrix, Row, sort_with_missing};
pub(crate) use labels::{MAX_LABELS, MISSING};
pub(crate) use row_key::{CellQuads, RowPacking, bits_for};
