//! Prediction: a fitted model applied to a table.
//!
//! In: a model and a table of predictions. Out: a decision or a conformal prediction set per row. `alignment` finds
//! the model's classifiers and labels in the table. `batch` decides many rows and fills the columns of `decisions`:
//! most rows by a kernel, `linear_kernel` for labels alone and `value_kernel` for other columns, the rest by `row_values`.
//! `one_row` decides a single row and is the reference for both. `sets` makes conformal prediction sets.

mod alignment;
mod batch;
mod decisions;
mod linear_kernel;
mod one_row;
mod row_values;
mod sets;
mod unseen;
mod value_kernel;

pub use alignment::AlignedTable;
pub(crate) use alignment::RowBuffer;
pub use decisions::{DecisionColumns, Decisions};
pub use unseen::UnseenLabel;
