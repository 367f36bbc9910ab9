//! Base learners of the experiments.
//!
//! `tests` compares each with scikit-learn, which the paper used.

mod tree;
mod logistic;
mod logistic_loss;
mod lbfgs;
mod preconditioner;
mod neighbours;
mod svm;
mod principal;
mod standardise;
#[cfg(test)]
mod tests;

use ndarray::ArrayView2;

pub(crate) use self::{
    logistic::Logistic,
    neighbours::Neighbours,
    principal::{first_component, leading},
    standardise::standardise,
    svm::Svm,
    tree::Tree,
};

/// The settings of a learning algorithm.
pub(crate) trait Learner: Send + Sync {
    /// Trains on rows of features and their classes, which are below `n_classes`; not every class need occur.
    fn fit(&self, rows: ArrayView2<'_, f64>, classes: &[u16], n_classes: usize) -> Box<dyn Classifier>;
}

/// A trained classifier.
pub(crate) trait Classifier: Send + Sync {
    /// The class of every row.
    fn predict(&self, rows: ArrayView2<'_, f64>) -> Vec<u16>;
}

/// The class with most votes; of tied classes the lowest.
fn most_voted(votes: &[usize]) -> u16 {
    let best = votes.iter().max().copied().unwrap_or(0);
    votes.iter().position(|&count| count == best).unwrap_or(0) as u16
}
