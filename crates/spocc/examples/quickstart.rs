//! From a table of predictions to decisions, an audit of the panel and an explanation: `cargo run --example quickstart`.
#![allow(clippy::print_stdout)]

use spocc::{Control, Error, Evidence, Fit, Ladder, Predictions, Truth, audit::Audit};

fn main() -> Result<(), Error> {
    // Two classifiers with independent errors, a copy of alpha, and one that is always wrong.
    let mut rows = Predictions::builder(["alpha", "beta", "mirror", "adversary"])?;
    let mut truths = Vec::new();
    for t in 0..120 {
        let truth = ["cat", "dog", "cow"][t % 3];
        let other = ["dog", "cow", "cat"][t % 3];
        let alpha = if t % 5 == 0 { other } else { truth };
        let beta = if t % 4 == 1 { other } else { truth };
        rows.push([alpha, beta, alpha, other].map(Some))?;
        truths.push(Some(truth));
    }
    let rows = rows.finish();
    let evidence = Evidence::new(&rows, &Truth::new(truths)?)?;

    let model = Ladder.fit(&evidence)?;
    println!("{}", Audit::new(&evidence, Some(&model), &Control::default())?);

    // Row 5: alpha and its copy are wrong together.
    println!("{}", model.align(&rows)?.explain(5)?);
    Ok(())
}
