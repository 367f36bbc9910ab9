//! Ends of exponents and possibilities.

use super::*;

#[test]
fn the_minimum_is_an_exponent_like_any_other() {
    let rows: [&[&str]; 4] = [&["cat", "cat"], &["dog", "cat"], &["cat", "dog"], &["dog", "dog"]];
    let evidence = evidence(&["ann", "bob"], &rows, &["cat", "cat", "dog", "dog"]);
    let model = Spocc { exponent: SpoccExponent::Fixed(Exponent::MINIMUM) }.fit(&evidence).expect("rows");
    assert_eq!(model.parameters(), Parameters::Spocc { exponent: Exponent::MINIMUM });
    let decision = decide(&model, &["ann", "bob"], &["cat", "dog"]);
    // bob is right every time: (0, 2) and one more each. ann has no distribution.
    assert_eq!(
        (decision.label.to_string().as_str(), decision.possibility.degrees()),
        ("dog", &[0.25, 1.0][..])
    );
    let read = Model::from_bytes(&model.to_bytes()).expect("our own bytes");
    assert_eq!(read.parameters(), model.parameters());
    // Exponents so large that powers leave the range of floats.
    let steep = Exponent::try_from(1e9).expect("at least 1");
    let steep = Spocc { exponent: SpoccExponent::Fixed(steep) }.fit(&evidence).expect("rows");
    for row in [["cat", "dog"], ["dog", "cat"], ["cat", "cat"]] {
        let (a, b) = (decide(&model, &["ann", "bob"], &row), decide(&steep, &["ann", "bob"], &row));
        assert_eq!(a.class, b.class);
        for (a, b) in a.possibility.degrees().iter().zip(b.possibility.degrees()) {
            // The norm of exponent 1e9 is the maximum but for a factor of 2^(1e-9).
            assert!((a - b).abs() < 1e-8);
        }
    }
}

#[test]
fn possibility_zero_is_an_infinite_surprise() {
    let distribution = Possibility::from_counts(&[0, 3, 0]).expect("counts");
    assert_eq!(distribution.degrees(), [0.0, 1.0, 0.0]);
    for x in [Exponent::PRODUCT, Exponent::MINIMUM, Exponent::try_from(5.0).expect("at least 1")] {
        assert_eq!(t_norm(&[0.0, 1e-300], x), 0.0);
        assert_eq!(t_norm(&[0.0, 0.0], x), 0.0);
    }
    let none = Discount::try_from(1.0).expect("from 0 to 1");
    assert_eq!(distribution.discounted(none).degrees(), [1.0; 3]);
    // Naive Bayes excludes a class that was never true, whatever is predicted.
    let options = Counting { classes: Some(["cat", "dog"].map(Label::from).to_vec()), ..Counting::default() };
    let rows = table(&["ann"], &[&["cat"], &["dog"]]);
    let evidence = Evidence::count(&rows, &truth(&["cat", "cat"]), &options, &quiet()).expect("rows");
    let model = Method::NaiveBayes.combiner().fit(&evidence).expect("rows");
    let decision = decide(&model, &["ann"], &["dog"]);
    assert_eq!((decision.possibility.degrees(), decision.margin), (&[1.0, 0.0][..], 1.0));
}

#[test]
fn probabilities_of_any_size_are_transformed_alike() {
    for scale in [1.0, 1e-300, 1e300, 1e308] {
        let p = [0.1, 0.15, 0.75].map(|p| p * scale);
        let degrees = Possibility::from_probabilities(&p).expect("finite").degrees().to_vec();
        for (found, expected) in degrees.iter().zip([0.1, 0.25, 1.0]) {
            assert!((found - expected).abs() < 1e-12, "at {scale}: {degrees:?}");
        }
    }
    // Together they are more than a float holds.
    let degrees =
        Possibility::from_probabilities(&[1e308, 1.5e308, 0.5e308]).expect("finite").degrees().to_vec();
    for (found, expected) in degrees.iter().zip([0.5, 1.0, 1.0 / 6.0]) {
        assert!((found - expected).abs() < 1e-12, "{degrees:?}");
    }
}

/// Tied classes are equally possible and have no margin, in every method, whatever the rounding of sums.
#[test]
fn a_tie_is_a_tie_in_every_column() {
    for seed in 0..40 {
        let missing_share = if seed % 2 == 0 { 0.0 } else { 0.2 };
        let panel = Panel::new(Shape {
            n_classifiers: 5,
            n_classes: 3,
            n_others: 0,
            n_rows: 12,
            missing_share,
            weighted: false,
            seed,
        });
        for model in all_models(&panel.tally(), &Options::default()) {
            let table = panel.predictions();
            let aligned = model.align(&table).expect("all columns");
            for decision in (0..table.n_rows()).map(|row| aligned.decide(row).expect("a row")) {
                let degrees = decision.possibility.degrees();
                let best = degrees.iter().copied().fold(0.0, f64::max);
                for &tied in &decision.ties {
                    assert!((degrees[tied] - best).abs() <= 1e-9 * best, "{}: {decision:?}", model.method());
                }
                assert_eq!(decision.is_tie(), decision.margin == 0.0, "{}: {decision:?}", model.method());
            }
        }
    }
}

#[test]
fn possibilities_of_votes_are_transformed_and_their_margins_are_not() {
    let evidence =
        evidence(&["a", "b", "c", "d", "e"], &[&["x", "x", "x", "y", "y"], &["y"; 5]], &["x", "y"]);
    let model = Majority.fit(&evidence).expect("rows");
    let decision = decide(&model, &["a", "b", "c", "d", "e"], &["x", "x", "x", "y", "y"]);
    assert_eq!(decision.possibility.degrees(), [1.0, 0.4]);
    assert!((decision.margin - 1.0 / 3.0).abs() < 1e-15);
}

#[test]
fn a_faint_possibility_is_not_lost_to_rounding() {
    let rows = table(&["a"], &[&["x"], &["y"]]);
    let options = Counting { counts: Some(&[100_000_000_000_000_000; 2]), ..Counting::default() };
    let evidence = Evidence::count(&rows, &truth(&["x", "y"]), &options, &quiet()).expect("counts");
    let model = Spocc::default().fit(&evidence).expect("rows");
    let decision = decide(&model, &["a"], &["x"]);
    assert!((decision.possibility.degrees()[1] / 1e-17 - 1.0).abs() < 1e-12, "{decision:?}");
}

/// Accuracies of 0.1 and 0.2 weigh, in floats, a little more than one of 0.3.
#[test]
fn a_tie_up_to_rounding_is_a_tie() {
    let names = ["a", "b", "c"];
    let predicted = |right: usize, t: usize| if t < right { "x" } else { "z" };
    let rows: Vec<[&str; 3]> = (0..10).map(|t| [predicted(1, t), predicted(2, t), predicted(3, t)]).collect();
    let rows: Vec<&[&str]> = rows.iter().map(<[&str; 3]>::as_slice).collect();
    let model = WeightedVote.fit(&evidence(&names, &rows, &["x"; 10])).expect("rows");
    for answers in [["x", "x", "z"], ["z", "z", "x"]] {
        let decision = decide(&model, &names, &answers);
        assert_eq!((decision.label.to_string().as_str(), decision.ties.len()), ("x", 2), "{answers:?}");
        assert_eq!((decision.possibility.degrees(), decision.margin), (&[1.0, 1.0][..], 0.0), "{answers:?}");
    }
}
