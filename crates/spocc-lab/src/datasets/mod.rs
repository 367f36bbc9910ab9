//! The datasets of the paper, read in their original formats, and two more.
//!
//! In: a folder with the files as their authors publish them, plain or gzipped. Out: a [`Dataset`], train and test
//! rows pooled and preprocessed as in the paper (§5.2). `catalogue` knows what there is, `files` opens it,
//! `delimited`, `particle`, `mnist` and `newsgroups` read one format each, `text` turns messages into features.
//! A file that is not exactly what its authors published is refused: figures beside the paper's need the paper's rows.

mod files;
mod delimited;
mod tables;
mod particle;
mod mnist;
mod newsgroups;
mod text;
mod catalogue;
mod list;
#[cfg(test)]
mod tests;

use std::path::Path;

use ndarray::Array2;

use crate::error::Error;

pub(crate) use catalogue::{Listing, NAMES, State, describe, is_there};
pub(crate) use list::print;

/// Rows of features with their classes, after the paper's preprocessing.
pub(crate) struct Dataset {
    pub(crate) name: &'static str,
    pub(crate) rows: Array2<f64>,
    pub(crate) classes: Vec<u16>,
    pub(crate) n_classes: usize,
    /// Whether this is less than what the paper used.
    pub(crate) is_subset: bool,
}

/// Reads a dataset below `dir`; where the whole is not there but a known part is, that part.
///
/// # Errors
///
/// [`Error::Unknown`] for another name, [`Error::MissingFile`], [`Error::BadFile`] or [`Error::BadLine`] for files
/// that are not there or not what they should be.
pub(crate) fn load(name: &str, dir: &Path) -> Result<Dataset, Error> {
    catalogue::find(name).ok_or_else(|| Error::unknown("dataset", name, &NAMES))?.load(dir)
}
