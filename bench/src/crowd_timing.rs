//! Timing on a sparse crowd, for the methods that need each worker's marginal counts only.

use std::time::Duration;

use serde_json::json;
use spocc::{Method, Model, Options, evidence::Level, predict::DecisionColumns};
use spocc_bench::CrowdShape;

use crate::{
    Failure,
    kernels::{Measurement, count, reason, within},
    print,
};

/// Votes, naive Bayes and SPOCC.
const METHODS: [Method; 4] = [Method::Majority, Method::WeightedVote, Method::NaiveBayes, Method::Spocc];

/// Times counting, fitting and predicting on a crowd and prints the results.
pub(crate) fn run(crowd: CrowdShape, limit: Duration) -> Result<(), Failure> {
    if crowd.classes < 2 || crowd.answers == 0 || crowd.answers > crowd.workers {
        return Err(
            "expected two classes or more, and from one label per item to as many as there are workers"
                .into(),
        );
    }
    let (predictions, truth) = crowd.panel();
    print(&json!({ "task": "crowd", "crowd": crowd, "bytes": predictions.bytes() }))?;
    let counted = within(limit, |control| count(&predictions, &truth, Level::Marginals, control));
    print(&Measurement::new("count", &"marginals", counted.map_err(|error| reason(&error))))?;
    for method in METHODS {
        let combiner = method.combiner();
        let whole = within(limit, |control| {
            let evidence = count(&predictions, &truth, Level::Marginals, control)?;
            let model = Model::fit(&*combiner, &evidence, &Options::default(), control)?;
            model.decide_all(&predictions, DecisionColumns::default(), control)
        });
        print(&Measurement::new("count, fit, predict", &method, whole.map_err(|error| reason(&error))))?;
    }
    Ok(())
}
