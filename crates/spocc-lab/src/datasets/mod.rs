//! The datasets of the paper, read in their original formats, and two more.
//!
//! In: a folder with the files as their authors publish them, plain or gzipped. Out: a [`Dataset`], train and test
//! rows pooled and preprocessed as in the paper (§5.2). `catalogue` lists them, `file` opens their files,
//! `delimited`, `particle`, `mnist` and `newsgroups` read one format each, `text` turns messages into features.
//! A file that is not exactly what its authors published is refused: figures beside the paper's need the paper's rows.

mod file;
mod delimited;
mod table_specs;
mod particle;
mod mnist;
mod newsgroups;
mod text;
mod catalogue;
mod listing;
#[cfg(test)]
mod tests;

use std::path::Path;

use ndarray::Array2;

use crate::error::Error;

pub(crate) use catalogue::{Listing, NAMES, State, describe, state};
pub(crate) use listing::print;

/// Rows of features with their classes, after the paper's preprocessing.
pub(crate) struct Dataset {
    pub(crate) name: &'static str,
    pub(crate) rows: Array2<f64>,
    pub(crate) classes: Vec<u16>,
    pub(crate) n_classes: usize,
    /// Whether this is a subset of what the paper used.
    pub(crate) is_subset: bool,
}

/// Reads a dataset below `dir`, or its known subset if only that is present.
///
/// # Errors
///
/// [`Error::Unknown`] for another name; [`Error::MissingFile`], [`Error::BadFile`] or [`Error::BadLine`] for missing or
/// damaged files.
pub(crate) fn load(name: &str, dir: &Path) -> Result<Dataset, Error> {
    catalogue::find(name).ok_or_else(|| Error::unknown("dataset", name, &NAMES))?.load(dir)
}
