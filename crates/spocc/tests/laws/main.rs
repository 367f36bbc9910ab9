//! Laws that hold for every input: t-norms, the transform, sums of evidence, and what must not matter (row order,
//! threads, names, the order of the classifiers, how a table came in, whether a model was on disk).

mod norms;
mod transform;
mod merging;
mod fitting;
mod names;
mod forms;
mod class_weights;
#[path = "../naive/mod.rs"]
mod naive;
#[path = "../panels/mod.rs"]
mod panels;

use fitting::{choices, combiners, fitted};
use merging::{merged, parts};
use naive::{Closeness, Validation, Variant};
use panels::{Panel, Random, Shape, config, panels, plain_panels};
use proptest::prelude::*;
use spocc::{
    Combiner, Control, Decision, Error, Evidence, Fit, Label, Method, Model, Options, Predictions, Truth,
    data::{ClassWeights, Missing},
    decision::TieBreak,
    dendrogram::Dendrogram,
    dependence::Dissimilarities,
    evidence::{Counting, Level},
    fusion::{Exponent, t_norm},
    methods::{AdaSpocc, ExpVote, Parameters, Spocc, SpoccExponent},
    possibility::Possibility,
    tuning::Tuning,
};

/// A t-norm takes a logarithm, a power, a root and an exponential: a few units in the last place each.
const ROUNDING: f64 = 1e-12;

/// Below this relative lead a decision counts as a tie, which renaming or reordering may turn.
const CLEAR: f64 = 1e-9;

const LEVELS: [Level; 3] = [Level::Marginals, Level::Pairs, Level::Tally];

fn quiet() -> Control<'static> {
    Control::default()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING
}
