//! The subcommands, one file or folder each.

mod append;
mod audit;
mod compare;
mod counted_rows;
mod demo;
mod explain;
mod fit;
mod inspect;
mod manual;
mod predict;
mod sql;
mod tally;

pub(crate) use append::append;
pub(crate) use audit::audit;
pub(crate) use compare::compare;
pub(crate) use demo::demo;
pub(crate) use explain::explain;
pub(crate) use fit::fit;
pub(crate) use inspect::inspect;
pub(crate) use manual::{completions, man};
pub(crate) use predict::predict;
pub(crate) use sql::sql;
pub(crate) use tally::{merge, tally};
