//! Data: labels, tables of predictions, truths, and what cells and classes mean.

pub(crate) mod class_weights;
mod integer_table;
mod label_matrix;
mod labels;
mod missing;
mod predictions;
mod row_key;

pub use class_weights::ClassWeights;
pub use integer_table::{IntegerSlice, IntegerTable, Table};
pub use labels::{Label, Labels, Written};
pub use missing::Missing;
pub use predictions::{Predictions, PredictionsBuilder, Symbol, Truth};

pub(crate) use label_matrix::{LabelMatrix, Row, sort_with_missing};
pub(crate) use labels::{MAX_LABELS, MISSING};
pub(crate) use predictions::distinct;
pub(crate) use row_key::{Quads, RowPacking, bits_for};
