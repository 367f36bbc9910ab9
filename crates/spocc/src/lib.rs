//! Many classifiers answer, one answer is wanted, and some of them copy, guess, lie or keep silent.
//!
//! The method is SPOCC and adaSPOCC (Albardan, Klein, Colot), told by the modules in the order of the flow:
//! [`Predictions`] are counted into [`Evidence`]; counts become possibility distributions ([`possibility`]);
//! pair counts tell who depends on whom ([`dependence`], [`dendrogram`]); a t-norm fitted to that
//! dependence fuses the possibilities ([`fusion`]); the most possible class is decided
//! ([`Decision`]). A [`Combiner`] learns all this from evidence alone and becomes a [`Model`], which can
//! decide new rows, grow by a classifier, audit its panel and explain itself.
//!
//! ```
//! use spocc::{Evidence, Fit, Predictions, Truth, methods::AdaSpocc};
//!
//! let mut rows = Predictions::builder(["ann", "bob", "eve"])?;
//! for answers in [["cat", "cat", "dog"], ["dog", "dog", "cat"], ["cat", "dog", "dog"], ["dog", "dog", "cat"]] {
//!     rows.push(answers.map(Some))?;
//! }
//! let rows = rows.finish();
//! let truth = Truth::new(["cat", "dog", "cat", "dog"].map(Some))?;
//!
//! let model = AdaSpocc::default().fit(&Evidence::new(&rows, &truth)?)?;
//! let decided: Vec<String> = model.predict(&rows)?.labels().map(ToString::to_string).collect();
//! assert_eq!(decided, ["cat", "dog", "cat", "dog"]); // eve always lies, which is as good as the truth
//! # Ok::<(), spocc::Error>(())
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod error;
mod math;
mod hash;
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

pub use data::{Label, Predictions, Truth};
pub use decision::Decision;
pub use error::Error;
pub use evidence::Evidence;
pub use methods::{Combiner, Ladder, Method};
pub use model::{Fit, Model, Options};
pub use progress::Control;

/// The README's example, run as it is printed.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
