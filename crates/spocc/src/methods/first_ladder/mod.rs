//! The ladder of the first generation, as files of version 2 hold it: it is read and applied, and no longer fitted.
//!
//! A [`norm_tree`] fuses possibility distributions along the dendrogram, a [`residual`] and a table of patterns correct
//! it, and a [`fallback`] decides in its place where held-out rows preferred a simpler method.

mod fallback;
mod fitted;
mod norm_tree;
mod residual;

pub(super) use fitted::FirstLadderScratch;
pub(crate) use fitted::FittedFirstLadder;
