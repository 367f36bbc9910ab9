//! Federated counting: sites share counts instead of rows, and the sum is the evidence of all rows, to the last bit:
//! `cargo run --example merge_parts`.
#![allow(clippy::print_stdout)]

use spocc::{Control, Error, Evidence, Fit, Ladder, Predictions, Truth};

/// The evidence of the rows of one site.
fn site(rows: std::ops::Range<usize>) -> Result<Evidence, Error> {
    let mut predictions = Predictions::builder(["x-ray", "blood", "nurse"])?;
    let mut truths = Vec::new();
    for t in rows {
        let truth = ["flu", "cold"][t % 2];
        let other = ["cold", "flu"][t % 2];
        let predicted = |wrong: bool| Some(if wrong { other } else { truth });
        predictions.push([predicted(t % 7 == 0), predicted(t % 5 == 0), predicted(t % 3 == 0)])?;
        truths.push(Some(truth));
    }
    Evidence::new(&predictions.finish(), &Truth::new(truths)?)
}

fn main() -> Result<(), Error> {
    let control = Control::default();
    // Only these bytes leave a site.
    let shared: Vec<Vec<u8>> = [0..100, 100..130, 130..400]
        .map(site)
        .into_iter()
        .map(|part| Ok(part?.to_bytes()))
        .collect::<Result<_, Error>>()?;
    let mut sum = Evidence::empty(["x-ray", "blood", "nurse"], None, spocc::evidence::Level::Tally)?;
    for bytes in &shared {
        sum = sum.merge(&Evidence::from_bytes(bytes)?, &control)?;
    }
    let together = Ladder.fit(&sum)?;
    let pooled = Ladder.fit(&site(0..400)?)?;
    assert_eq!(together.to_bytes(), pooled.to_bytes());
    println!(
        "{} rows at {} sites: the same model as from pooled rows, byte for byte",
        sum.n_rows(),
        shared.len()
    );
    Ok(())
}
