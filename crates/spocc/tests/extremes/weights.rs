//! Weights.

use super::*;

pub(crate) fn weighted(weights: &[f64]) -> Result<Evidence, Error> {
    let rows: Vec<&[&str]> =
        (0..weights.len()).map(|t| if t % 2 == 0 { &["cat"][..] } else { &["dog"][..] }).collect();
    let truths: Vec<&str> = (0..weights.len()).map(|t| if t % 3 == 0 { "cat" } else { "dog" }).collect();
    let options = Counting { weights: Some(weights), ..Counting::default() };
    Evidence::count(&table(&["ann"], &rows), &truth(&truths), &options, &quiet())
}

#[test]
fn counts_go_beyond_32_bits() {
    let evidence = weighted(&[5e9, 1.0, 5e9, 5e9]).expect("whole weights");
    assert!(!evidence.is_weighted(), "whole weights are counts");
    assert_eq!(evidence.n_rows(), 15_000_000_001.0);
    assert_eq!(evidence.count_of(0, "cat", "dog"), 5_000_000_000.0);
    assert_eq!(evidence.count_of(0, "dog", "dog"), 1.0);
    let twice = evidence.merge(&evidence, &quiet()).expect("the same panel");
    assert_eq!(twice.count_of(0, "dog", "dog"), 2.0);
    assert_eq!(twice.n_rows(), 30_000_000_002.0);
    for model in all_models(&evidence, &Options::default()) {
        decide(&model, &["ann"], &["cat"]);
    }
}

#[test]
fn totals_near_the_end_of_64_bits_are_fitted() {
    // Rows of 2^61, all of them right: more in all than a signed number holds, less than an unsigned one does.
    let weights = [(1u64 << 61) as f64; 6];
    let rows: [&[&str]; 6] =
        [&["cat", "cat"], &["dog", "dog"], &["cat", "dog"], &["dog", "cat"], &["dog", "-"], &["-", "cat"]];
    let truths = ["cat", "dog", "cat", "dog", "dog", "cat"];
    let options = Counting { weights: Some(&weights), ..Counting::default() };
    let evidence = Evidence::count(&table(&["ann", "bob"], &rows), &truth(&truths), &options, &quiet());
    let evidence = evidence.expect("a total below 2^64");
    assert_eq!(evidence.n_rows(), 6.0 * weights[0]);
    for tuning in [Tuning::Resubstitution, Tuning::LeaveOneOut, Tuning::KFold(3)] {
        let model = AdaSpocc { tuning }.fit(&evidence).expect("whole counts");
        assert_eq!(decide(&model, &["ann", "bob"], &["dog", "cat"]).label.to_string(), "dog", "{tuning}");
        ExpVote { tuning }.fit(&evidence).expect("whole counts");
    }
    for model in all_models(&evidence, &Options::default()) {
        assert_eq!(
            decide(&model, &["ann", "bob"], &["dog", "dog"]).label.to_string(),
            "dog",
            "{}",
            model.method()
        );
    }
}

#[test]
fn totals_beyond_64_bits_are_refused() {
    let large = (1u64 << 63) as f64;
    assert_eq!(weighted(&[large, large]).err(), Some(Error::Overflow { what: "weights" }));
    let one = weighted(&[large]).expect("a total below 2^64");
    let error = one.merge(&one, &quiet()).expect_err("a total of 2^64");
    assert_eq!(error.to_string(), "merged rows: expected a total below 2^64, found more (scale them down)");
    // A whole weight that no longer fits once another part has fractions.
    let fraction = weighted(&[0.5]).expect("half a row");
    assert!(matches!(one.merge(&fraction, &quiet()), Err(Error::Overflow { .. })));
}

#[test]
fn tiny_and_huge_weights_are_refused_with_their_range() {
    let error = |weight: f64| weighted(&[1.5, weight]).expect_err("out of range").to_string();
    let smallest = 1.0 / f64::from(1 << 30);
    for bad in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-12, smallest / 4.0, 1e10, 1e300] {
        assert_eq!(
            error(bad),
            format!("row 2: expected a weight of 0 or between 9.3e-10 and 8.5e9, found {bad:?}")
        );
    }
    for good in [0.0, -0.0, smallest, 8_589_934_592.0, 0.5, 8.5e9] {
        let evidence = weighted(&[1.5, good]).expect("in range");
        assert_eq!(evidence.n_rows(), 1.5 + good);
    }
    weighted(&[1.5, 9.3e-10]).expect("in range, and rounded");
    let whole = |weight: f64| weighted(&[1.0, weight]).map_err(|error| error.to_string()).err();
    assert_eq!(whole(9.2e18), None);
    assert_eq!(whole(1e19).as_deref(), Some("row 2: expected a whole weight of at most 9.2e18, found 1e19"));
    // Next to whole weights, too, a fraction is taken.
    assert_eq!(whole(0.5), None);
    assert_eq!(
        whole(-1.0).as_deref(),
        Some("row 2: expected a weight of 0 or between 9.3e-10 and 8.5e9, found -1.0")
    );
}

#[test]
fn sums_of_weights_are_exact_in_any_order() {
    let mut weights = vec![0.1; 10];
    weights.extend([1e9, 3.7, 1.0 / 3.0]);
    let rows: Vec<&[&str]> = vec![&["cat"]; weights.len()];
    let count = |order: &[usize]| {
        let weights: Vec<f64> = order.iter().map(|&t| weights[t]).collect();
        let options = Counting { weights: Some(&weights), ..Counting::default() };
        let truths = vec!["cat"; weights.len()];
        Evidence::count(&table(&["ann"], &rows), &truth(&truths), &options, &quiet()).expect("weights")
    };
    let mut random = Random(9);
    let straight: Vec<usize> = (0..weights.len()).collect();
    let expected = count(&straight).to_bytes();
    for _ in 0..20 {
        assert_eq!(count(&random.order(weights.len())).to_bytes(), expected);
    }
    let unit = f64::from(1 << 30);
    let tenth = (0.1 * unit).round();
    let options = Counting { weights: Some(&weights[..10]), ..Counting::default() };
    let tenths = Evidence::count(&table(&["ann"], &rows[..10]), &truth(&["cat"; 10]), &options, &quiet());
    assert_eq!(tenths.expect("weights").n_rows(), 10.0 * tenth / unit);
}

#[test]
fn rows_of_no_weight_are_no_rows() {
    let counted = weighted(&[2.0, 0.0, 1.0, 0.0]).expect("weights");
    assert_eq!(counted.n_rows(), 3.0);
    let nothing = weighted(&[0.0, 0.0]).expect("weights");
    assert_eq!(Majority.fit(&nothing).err(), Some(Error::NoLabelledRows));
}
