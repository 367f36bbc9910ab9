//! Prediction: a fitted model applied to a table.
//!
//! In: a model and a table of predictions. Out: a decision or a conformal prediction set per row. [`alignment`] finds
//! the model's classifiers and labels in the table, [`batch`] decides all rows, [`linear_kernel`] decides most of them in single precision, and [`sets`]
//! makes conformal prediction sets.

mod alignment;
mod batch;
mod linear_kernel;
mod sets;

pub(crate) use alignment::Rewritten;
pub use alignment::{AlignedTable, Decisions, Ruling, UnseenLabel};
use linear_kernel::{LinearKernel, Reading, UNCLEAR};
