//! A sparse crowd: the methods that need no more than each worker's own counts.

use std::time::Duration;

use serde_json::json;
use spocc::{Method, Model, Options, evidence::Level, predict::DecisionColumns};
use spocc_bench::Crowd;

use crate::{
    Failure,
    kernels::{Measured, count, reason, within},
    print,
};

/// Votes, naive Bayes and SPOCC.
const METHODS: [Method; 4] = [Method::Majority, Method::WeightedVote, Method::NaiveBayes, Method::Spocc];

/// Prints what counting, fitting and predicting take on a crowd.
pub(crate) fn run(crowd: Crowd, limit: Duration) -> Result<(), Failure> {
    if crowd.classes < 2 || crowd.answers == 0 || crowd.answers > crowd.workers {
        return Err(
            "expected two classes or more, and from one answer to as many as there are workers".into()
        );
    }
    let (predictions, truth) = crowd.panel();
    print(&json!({ "task": "crowd", "crowd": crowd, "bytes": predictions.bytes() }))?;
    let counted = within(limit, |control| count(&predictions, &truth, Level::Marginals, control));
    print(&Measured::new("count", &"marginals", counted.map_err(|error| reason(&error))))?;
    for method in METHODS {
        let combiner = method.combiner();
        let whole = within(limit, |control| {
            let evidence = count(&predictions, &truth, Level::Marginals, control)?;
            let model = Model::fit(&*combiner, &evidence, &Options::default(), control)?;
            model.decide_all(&predictions, DecisionColumns::default(), control)
        });
        print(&Measured::new("count, fit, predict", &method, whole.map_err(|error| reason(&error))))?;
    }
    Ok(())
}
