//! Many classifiers answer, one answer is wanted, and some of them copy, guess, lie or keep silent.
//!
//! The method is SPOCC and adaSPOCC (Albardan, Klein, Colot), told by the modules in the order of the flow:
//! [`Predictions`] are counted into [`Evidence`]; counts become possibility distributions ([`Possibility`]);
//! pair counts tell who depends on whom ([`Dissimilarities`], [`Dendrogram`]); a t-norm fitted to that
//! dependence fuses the opinions ([`Exponent`], [`t_norm`]); the most possible class is decided
//! ([`Decision`]). A [`Combiner`] learns all this from evidence alone and becomes a [`Model`], which can
//! decide new rows, grow by a classifier, audit its panel and explain itself.
//!
//! ```
//! use spocc::{AdaSpocc, Combiner, Evidence, Predictions, Truth};
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

mod elementary;
mod labels;
mod grid;
mod packed;
mod predictions;
mod integers;
mod evidence;
mod class_weights;
mod silence;
mod possibility;
mod dependence;
mod dendrogram;
mod fusion;
mod quick;
mod decision;
mod tuning;
mod combiners;
mod model;
mod aligned;
mod desk;
mod calibration;
mod append;
mod audit;
mod explain;
mod format;
mod watch;
mod error;
mod hash;
mod parallel;

pub use aligned::{Aligned, Decisions, Ruling, Unseen};
pub use audit::{Audit, ClassifierAudit, PanelAudit, Verdict, clopper_pearson};
pub use calibration::{Calibrate, Calibration, Coverage, Lot, Scheme, Sets};
pub use class_weights::ClassWeights;
pub use combiners::{
    AdaSpocc, Bayes, Combiner, DawidSkene, ExpVote, Fitted, Inputs, Ladder, Majority, Method, NaiveBayes,
    Rule, Selection, Spocc, SpoccExponent, Stacking, StackingStrength, Strength, WeightedVote,
};
pub use decision::{Basis, Decision, TieBreak};
pub use dendrogram::{Dendrogram, Merge};
pub use dependence::{Dependence, Dissimilarities};
pub use error::Error;
pub use evidence::{ColumnWarning, Counting, Evidence, Exposure, Grouped, Level, LooksLike};
pub use explain::{Explanation, Flip, Join, Voice};
pub use fusion::{Exponent, t_norm};
pub use integers::{IntegerSlice, Integers, Table};
pub use labels::{Label, Labels, Written};
pub use model::{Model, Options};
pub use possibility::{Discount, Possibility};
pub use predictions::{Predictions, PredictionsBuilder, Symbol, Truth};
pub use silence::Missing;
pub use tuning::Tuning;
pub use watch::{Progress, Watch};

/// The README's example, run as it is printed.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
