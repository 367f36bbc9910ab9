//! Appending a classifier to a fitted model, which keeps all earlier parameters:
//! `cargo run --example append_classifier`.
#![allow(clippy::print_stdout)]

use spocc::{
    Control, Error, Evidence, Fit, Model, Predictions, Truth,
    methods::{AdaSpocc, Parameters},
};

/// The first `n` of four classifiers on the same 300 rows.
fn evidence(n: usize) -> Result<Evidence, Error> {
    let mut rows = Predictions::builder(["a", "b", "c", "new"].into_iter().take(n))?;
    let mut truths = Vec::new();
    for t in 0..300 {
        let truth = ["yes", "no"][t % 2];
        let other = ["no", "yes"][t % 2];
        let wrong = [t % 3 == 0, t % 4 == 0, t % 5 == 0, t % 8 == 0];
        rows.push(wrong.into_iter().take(n).map(|wrong| Some(if wrong { other } else { truth })))?;
        truths.push(Some(truth));
    }
    Evidence::new(&rows.finish(), &Truth::new(truths)?)
}

fn exponents(model: &Model) -> Vec<f64> {
    match model.parameters() {
        Parameters::AdaSpocc { exponents, .. } => exponents.into_iter().map(f64::from).collect(),
        _ => Vec::new(),
    }
}

fn main() -> Result<(), Error> {
    let three = AdaSpocc::default().fit(&evidence(3)?)?;
    let four = three.append(&evidence(4)?, &Control::default())?;
    println!("exponents of {:?}: {:?}", three.classifiers(), exponents(&three));
    println!("exponents of {:?}: {:?}", four.classifiers(), exponents(&four));
    Ok(())
}
