//! Comparing methods on the user's own rows: every method is evaluated on rows that it was not fitted to.
//!
//! In: the tally of the labelled rows, and perhaps that of separate test rows. Out: a [`Comparison`] with the accuracy of
//! every method, paired intervals of the differences, accuracy against margin, a learning curve and a recommendation.
//!
//! | file | stage |
//! |---|---|
//! | `evaluation_rows` | the rows of a tally, equal rows together |
//! | `split` | keys that split these rows into folds and halves |
//! | `evaluator` | fits every method to training rows and evaluates it on held-out rows |
//! | `cross_validation` | which rows are for training and which are held out |
//! | `accuracy`, `paired_test` | accuracies, and differences between methods with their intervals |
//! | `risk_coverage` | accuracy on the rows with the largest margins |
//! | `learning_curve` | accuracy after fewer labelled rows |
//! | `recommendation` | conclusions in sentences |
//! | `comparison`, `text` | the whole report, and its text |
//! | `held_out_accuracy` | the accuracy of one fitted method |
//!
//! ```
//! use spocc::{Control, Evidence, Method, Predictions, Truth};
//! use spocc::evaluate::{CompareSettings, compare};
//!
//! let mut rows = Predictions::builder(["a", "b", "c"])?;
//! let labels = ["cat", "dog"];
//! for t in 0..40 {
//!     rows.push([labels[t % 2], labels[t / 2 % 2], labels[t / 4 % 2]].map(Some))?;
//! }
//! let truth = Truth::new((0..40).map(|t| Some(labels[t % 2])))?;
//! let evidence = Evidence::new(&rows.finish(), &truth)?;
//!
//! let settings = CompareSettings { methods: vec![Method::NaiveBayes], ..CompareSettings::default() };
//! let comparison = compare(&evidence, None, &settings, &Control::default())?;
//! assert_eq!(comparison.methods[0].accuracy, 1.0); // `a` is always correct, and naive Bayes weights it most
//! assert_eq!(comparison.best_classifier.map(|best| best.name).as_deref(), Some("a"));
//! # Ok::<(), spocc::Error>(())
//! ```

mod evaluation_rows;
mod split;
mod evaluator;
mod cross_validation;
mod accuracy;
mod paired_test;
mod risk_coverage;
mod learning_curve;
mod recommendation;
mod comparison;
mod held_out_accuracy;
mod text;
#[cfg(test)]
mod test_panels;
#[cfg(test)]
mod tests;

pub use crate::model::{HeldOutAccuracy, HeldOutBy};
pub use comparison::{CompareSettings, Comparison, HeldOutRows, MethodResult, RefusedMethod, compare};
pub use evaluation_rows::BestClassifier;
pub(crate) use held_out_accuracy::held_out_accuracy;
pub use learning_curve::{LearningCurve, MethodCurve, MoreRows, Outlook};
pub use paired_test::Difference;
pub use recommendation::Recommendation;
pub use risk_coverage::{MostCertain, RiskCoverage};
