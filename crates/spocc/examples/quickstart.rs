//! From a table of answers to decisions, an audit of the panel and a reason: `cargo run --example quickstart`.
#![allow(clippy::print_stdout)]

use spocc::{Control, Error, Evidence, Fit, Predictions, Truth, audit::Audit, methods::AdaSpocc};

fn main() -> Result<(), Error> {
    // Two honest judges with different weaknesses, one who copies the first, one who always lies.
    let mut rows = Predictions::builder(["ann", "bob", "copycat", "liar"])?;
    let mut truths = Vec::new();
    for t in 0..120 {
        let truth = ["cat", "dog", "cow"][t % 3];
        let other = ["dog", "cow", "cat"][t % 3];
        let ann = if t % 5 == 0 { other } else { truth };
        let bob = if t % 4 == 1 { other } else { truth };
        rows.push([ann, bob, ann, other].map(Some))?;
        truths.push(Some(truth));
    }
    let rows = rows.finish();
    let evidence = Evidence::new(&rows, &Truth::new(truths)?)?;

    let model = AdaSpocc::default().fit(&evidence)?;
    println!("{}", Audit::new(&evidence, Some(&model), &Control::default())?);

    // Row 5: ann and her copy are wrong together.
    println!("{}", model.align(&rows)?.explain(5)?);
    Ok(())
}
