//! Timing on a sparse crowd, where every item has a few labels.

use std::time::Duration;

use serde_json::json;
use spocc::{Method, Model, Options, evidence::Level, predict::DecisionColumns};
use spocc_bench::CrowdShape;

use crate::{
    Failure,
    kernels::{Measurement, count, reason, within},
    print,
};

/// Methods whose cost does not grow with the square of the number of workers.
const METHODS: [Method; 7] = [
    Method::Majority,
    Method::WeightedVote,
    Method::NaiveBayes,
    Method::Spocc,
    Method::OneCoin,
    Method::DawidSkene,
    Method::Ladder,
];

/// Times counting, fitting and predicting on a crowd and prints the results.
pub(crate) fn run(crowd: CrowdShape, methods: &[Method], limit: Duration) -> Result<(), Failure> {
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
    for method in METHODS.into_iter().filter(|method| methods.is_empty() || methods.contains(method)) {
        let combiner = method.combiner();
        let whole = within(limit, |control| {
            let evidence = count(&predictions, &truth, combiner.needs(), control)?;
            let model = Model::fit(&*combiner, &evidence, &Options::default(), control)?;
            model.decide_all(&predictions, DecisionColumns::default(), control)
        });
        print(&Measurement::new("count, fit, predict", &method, whole.map_err(|error| reason(&error))))?;
    }
    Ok(())
}
