//! Base learners: what the panels of the experiments are trained with.

use ndarray::ArrayView2;

/// Settings that rows with known classes turn into a classifier.
pub(crate) trait Learner: Send + Sync {
    /// Learns from rows of features and their classes, which are below `n_classes`; not every class need occur.
    fn fit(&self, rows: ArrayView2<'_, f64>, classes: &[u16], n_classes: usize) -> Box<dyn Classifier>;
}

/// A trained classifier.
pub(crate) trait Classifier: Send + Sync {
    /// The class of every row.
    fn predict(&self, rows: ArrayView2<'_, f64>) -> Vec<u16>;
}
