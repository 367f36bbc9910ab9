//! Reads tables of predicted labels.
//!
//! In: file names, globs, directories or standard input. Out: checked [`Rows`], read in parallel, each with its place
//! in a file for error messages.

pub mod error;

mod source;
mod text;
mod block;
mod cells;
#[cfg(feature = "arrow")]
mod arrow;
mod rows;
mod work;
mod dictionary;
mod marks;
mod copied;
mod lines;
mod table;

#[cfg(feature = "arrow")]
pub use arrow_schema::DataType as ArrowType;
pub use copied::Copied;
pub use dictionary::Dictionary;
pub use error::{Error, Place};
pub use lines::{Lines, Runs};
pub use marks::{LabelList, Marker, Marks};
pub use rows::Rows;
pub use source::expand;
pub use table::{Kind, Opened, Progress, Reading, Table};
pub use work::Worked;
