//! The ends of every range, and input that is wrong: each works or is refused with where, expected, found.

mod sizes;
mod weights;
mod counts;
mod numbers;
mod missing;
mod limits;
mod bad_input;
#[path = "../panels/mod.rs"]
mod panels;

use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicUsize, Ordering},
};
use weights::weighted;

use panels::{Panel, Random, Shape};
use spocc::{
    Combiner, Control, Decision, Error, Evidence, Fit, Label, Method, Model, Options, Predictions, Truth,
    data::{ClassWeights, Missing},
    decision::{Basis, TieBreak},
    dendrogram::Dendrogram,
    dependence::Dissimilarities,
    evidence::{Counting, Level},
    fusion::{Exponent, t_norm},
    methods::{AdaSpocc, ExpVote, Majority, Parameters, Spocc, SpoccExponent, WeightedVote},
    possibility::{Discount, Possibility},
    tuning::Tuning,
};

fn quiet() -> Control<'static> {
    Control::default()
}

/// A table from rows of words; `-` is a missing cell.
fn table(names: &[&str], rows: &[&[&str]]) -> Predictions {
    let mut table = Predictions::builder(names.iter().copied()).expect("distinct names");
    for row in rows {
        table.push(row.iter().map(|word| (*word != "-").then_some(*word))).expect("a whole row");
    }
    table.finish()
}

fn truth(words: &[&str]) -> Truth {
    Truth::new(words.iter().map(|word| (*word != "-").then_some(*word))).expect("few labels")
}

fn evidence(names: &[&str], rows: &[&[&str]], truths: &[&str]) -> Evidence {
    Evidence::new(&table(names, rows), &truth(truths)).expect("rows")
}

fn decide(model: &Model, names: &[&str], row: &[&str]) -> Decision {
    let table = table(names, &[row]);
    let decision = model.align(&table).expect("the same columns").decide(0).expect("a row");
    let short = model.predict(&table).expect("the same columns");
    assert_eq!((usize::from(short.class[0]), short.basis[0]), (decision.class, decision.basis), "{row:?}");
    decision
}

/// Every method.
fn all_models(evidence: &Evidence, options: &Options) -> Vec<Model> {
    let fit = |method: Method| {
        let model = Model::fit(method.combiner().as_ref(), evidence, options, &quiet());
        model.unwrap_or_else(|error| panic!("{method}: {error}"))
    };
    Method::ALL.into_iter().map(fit).collect()
}
