//! The datasets of the paper, read in their original formats, and two more.

use ndarray::Array2;

/// Rows of features with their classes, after the paper's preprocessing.
pub(crate) struct Dataset {
    pub(crate) name: &'static str,
    pub(crate) rows: Array2<f64>,
    pub(crate) classes: Vec<u16>,
    pub(crate) n_classes: usize,
    /// Whether this is less than what the paper used.
    pub(crate) is_subset: bool,
}
