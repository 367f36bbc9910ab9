//! Combines the predicted labels of many black-box classifiers into one decision per row.
//!
//! Some classifiers nearly copy others, some guess, some are reliably wrong, and some have no prediction for many rows.
//! From rows whose truth is known, the default method, [`Ladder`], learns how each classifier errs and which ones depend
//! on each other:
//!
//! ```
//! use spocc::{Evidence, Fit, Ladder, Predictions, Truth};
//!
//! let (mut rows, mut truth) = (Predictions::builder(["ann", "bob", "eve"])?, Truth::default());
//! for t in 0..40 {
//!     let [class, other] = if t % 2 == 0 { ["cat", "dog"] } else { ["dog", "cat"] };
//!     let bob = if t % 5 == 0 { other } else { class };
//!     rows.push([Some(class), Some(bob), Some(other)])?; // ann is right, bob mostly, eve never
//!     truth.push(Some(class))?;
//! }
//! let model = Ladder.fit(&Evidence::new(&rows.finish(), &truth)?)?;
//!
//! let mut new = Predictions::builder(["ann", "bob", "eve"])?;
//! new.push([None, Some("dog"), Some("dog")])?; // eve is always wrong, which is evidence for "cat"
//! let decided: Vec<String> = model.predict(&new.finish())?.labels().map(ToString::to_string).collect();
//! assert_eq!(decided, ["cat"]);
//! # Ok::<(), spocc::Error>(())
//! ```
//!
//! The modules follow the stages of SPOCC and adaSPOCC (Albardan, Klein and Colot: scalable possibilistic classifier
//! combination), on which the ladder builds. Each depends only on modules that are declared before it:
//!
//! 1. [`data`]: labels, tables of [`Predictions`], and the [`Truth`] of some rows.
//! 2. [`evidence`]: predictions and truth are counted into [`Evidence`], which adds up over rows, files and machines.
//! 3. [`possibility`]: the counts turn each prediction into a possibility distribution over the classes.
//! 4. [`dependence`], [`dendrogram`]: pair counts give the dissimilarity of two classifiers; Ward linkage builds a tree
//!    from these.
//! 5. [`fusion`]: t-norms, with an exponent per merge of the tree, fuse the distributions.
//! 6. [`decision`]: the most possible class, its ties and its margin.
//! 7. [`tuning`], [`methods`]: exponents and discounts are chosen by how well they decide rows of known truth. Every
//!    method implements [`Combiner`], the ladder among them; [`Fit::fit`] fits it to evidence and returns a [`Model`], which
//!    can be saved, loaded and given one more classifier.
//! 8. [`conformal`], [`predict`]: a model applied to a table gives decisions, probabilities and conformal prediction sets.
//! 9. [`audit`], [`explain`], [`evaluate`]: which classifiers help, why a row was decided as it was, which method is
//!    most accurate on held-out rows, and how accurate a fitted model is.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod printable;
mod error;
mod math;
mod hash;
mod index_table;
mod parallel;
pub mod progress;
pub mod data;
pub mod evidence;
pub mod possibility;
pub mod dependence;
pub mod dendrogram;
pub mod fusion;
pub mod decision;
pub mod tuning;
pub mod methods;
pub mod conformal;
mod model;
mod append;
mod format;
pub mod predict;
pub mod audit;
pub mod explain;
pub mod evaluate;
mod fit;

pub use data::{Label, Predictions, Truth};
pub use decision::Decision;
pub use error::Error;
pub use evidence::Evidence;
pub use fit::Fit;
pub use methods::{Combiner, Ladder, Method};
pub use model::{Model, Options};
pub use printable::printable;
pub use progress::Control;

/// The README's example, run as it is printed.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
