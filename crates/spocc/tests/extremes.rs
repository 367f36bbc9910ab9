//! The ends of every range, and input that is wrong: each works or is refused with where, expected, found.

mod panels;

use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicUsize, Ordering},
};

use panels::{Panel, Random, Shape};
use spocc::{
    AdaSpocc, Basis, Combiner, Counting, Decision, Dendrogram, Discount, Dissimilarities, Error, Evidence,
    ExpVote, Exponent, Fitted, Label, Level, Majority, Method, Missing, Model, Options, Possibility,
    Predictions, Spocc, SpoccExponent, TieBreak, Truth, Tuning, Watch, t_norm,
};

fn quiet() -> Watch<'static> {
    Watch::default()
}

/// A table from rows of words; `-` is a gap.
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
    let short = model.predict(&table).expect("the same columns").rulings()[0];
    assert_eq!((usize::from(short.class), short.basis), (decision.class, decision.basis), "{row:?}");
    decision
}

/// Every method; stacking only where it takes the evidence.
fn all_models(evidence: &Evidence, options: &Options) -> Vec<Model> {
    let fit = |method: Method| match Model::fit(method.combiner().as_ref(), evidence, options, &quiet()) {
        Ok(model) => Some(model),
        Err(Error::TuningRefused { method: Method::Stacking, .. }) => None,
        Err(error) => panic!("{method}: {error}"),
    };
    Method::ALL.into_iter().filter_map(fit).collect()
}

// ---- small ends

#[test]
fn one_class_is_always_decided() {
    let evidence = evidence(&["ann", "bob"], &[&["cat", "cat"], &["cat", "-"], &["-", "-"]], &["cat"; 3]);
    for model in all_models(&evidence, &Options::default()) {
        for row in [["cat", "cat"], ["cat", "-"], ["-", "-"]] {
            let decision = decide(&model, &["ann", "bob"], &row);
            assert_eq!(
                (decision.class, decision.label.to_string().as_str()),
                (0, "cat"),
                "{}",
                model.method()
            );
            assert_eq!(decision.possibility.degrees(), [1.0], "{}", model.method());
        }
    }
}

#[test]
fn one_classifier_is_a_panel() {
    let rows: [&[&str]; 5] = [&["cat"], &["cat"], &["cat"], &["dog"], &["dog"]];
    let evidence = evidence(&["ann"], &rows, &["dog", "dog", "dog", "cat", "dog"]);
    for model in all_models(&evidence, &Options::default()) {
        let said = |word: &str| decide(&model, &["ann"], &[word]).label.to_string();
        match model.method() {
            // These take the classifier's word, which is wrong most often.
            Method::Selection | Method::Majority | Method::WeightedVote | Method::ExpVote => {
                assert_eq!((said("cat"), said("dog")), ("cat".into(), "dog".into()), "{}", model.method());
            }
            // Three of three rows, however they are weighed against the frequencies.
            _ => assert_eq!(said("cat"), "dog", "{}", model.method()),
        }
    }
    let model = AdaSpocc::default().fit(&evidence).expect("rows");
    let Fitted::AdaSpocc { dendrogram, exponents, discounts, .. } = model.fitted() else {
        panic!("adaSPOCC")
    };
    assert_eq!((dendrogram.merges().len(), exponents.len(), discounts.len()), (0, 0, 1));
}

#[test]
fn one_row_is_enough() {
    let evidence = evidence(&["ann", "bob"], &[&["cat", "dog"]], &["dog"]);
    for model in all_models(&evidence, &Options::default()) {
        let decision = decide(&model, &["ann", "bob"], &["cat", "dog"]);
        assert!(decision.possibility.degrees().iter().all(|degree| (0.0..=1.0).contains(degree)));
        let knows_both = !matches!(
            model.method(),
            // Told apart by one row only, these cannot or need not follow it.
            Method::Majority | Method::ExpVote | Method::AdaSpocc
        );
        assert!(!knows_both || decision.label.to_string() == "dog", "{}", model.method());
    }
}

#[test]
fn identical_rows_leave_no_doubt() {
    let rows: Vec<&[&str]> = vec![&["cat", "dog", "cat"]; 50];
    let evidence = evidence(&["ann", "bob", "eve"], &rows, &["dog"; 50]);
    assert_eq!(evidence.n_patterns(), Some(1));
    let dissimilarities = Dissimilarities::new(&evidence, &quiet()).expect("a tally");
    assert!(dissimilarities.condensed().iter().all(|d| *d == 1.0), "constants depend on nobody");
    for model in all_models(&evidence, &Options::default()) {
        let decision = decide(&model, &["ann", "bob", "eve"], &["cat", "dog", "cat"]);
        let expected = if model.method() == Method::Majority { "cat" } else { "dog" };
        assert_eq!(decision.label.to_string(), expected, "{}", model.method());
    }
}

#[test]
fn a_class_never_true_is_a_class_all_the_same() {
    let options =
        Counting { classes: Some(["yak", "cat", "dog"].map(Label::from).to_vec()), ..Counting::default() };
    let table = table(&["ann", "bob"], &[&["cat", "yak"], &["dog", "dog"], &["cat", "cat"], &["dog", "yak"]]);
    let evidence =
        Evidence::count(&table, &truth(&["cat", "dog", "cat", "dog"]), &options, &quiet()).expect("rows");
    for model in all_models(&evidence, &Options::default()) {
        let classes: Vec<String> = model.classes().iter().map(ToString::to_string).collect();
        assert_eq!(classes, ["yak", "cat", "dog"], "in the order given");
        let decision = decide(&model, &["ann", "bob"], &["cat", "cat"]);
        assert_eq!(decision.label.to_string(), "cat", "{}", model.method());
        if matches!(model.method(), Method::Bayes | Method::NaiveBayes) {
            assert_eq!(decision.possibility.degrees()[0], 0.0, "{}", model.method());
        }
        decide(&model, &["ann", "bob"], &["yak", "yak"]);
    }
}

#[test]
fn an_answer_never_given_is_no_opinion() {
    let options = Counting { classes: Some(["cat", "dog"].map(Label::from).to_vec()), ..Counting::default() };
    let table = table(&["ann", "bob"], &[&["cat", "dog"], &["cat", "cat"], &["cat", "dog"]]);
    let evidence = Evidence::count(&table, &truth(&["cat", "cat", "dog"]), &options, &quiet()).expect("rows");
    let model = Spocc::default().fit(&evidence).expect("rows");
    // `ann` never said dog: the row is decided by what `bob` says.
    let both = decide(&model, &["ann", "bob"], &["dog", "cat"]);
    let alone = decide(&model, &["ann", "bob"], &["-", "cat"]);
    assert_eq!((&both.possibility, both.basis), (&alone.possibility, Basis::Panel));
    let nothing = decide(&model, &["ann", "bob"], &["dog", "-"]);
    assert_eq!(
        (nothing.possibility.degrees(), nothing.ties.len(), nothing.margin),
        (&[1.0, 1.0][..], 2, 0.0)
    );
}

// ---- large ends

#[test]
fn ten_thousand_classifiers_are_counted_and_heard() {
    const N: usize = 10_000;
    let shape = Shape {
        n_classifiers: N,
        n_classes: 3,
        n_others: 0,
        n_rows: 12,
        gaps: 0.0,
        weighted: false,
        seed: 1,
    };
    let panel = Panel { is_closed: true, ..Panel::new(shape) };
    let marginals = panel.evidence(Level::Marginals);
    for method in
        [Method::Spocc, Method::Majority, Method::WeightedVote, Method::NaiveBayes, Method::Selection]
    {
        let model = method.combiner().fit(&marginals).expect("marginals are enough");
        let decided = model.predict(&panel.predictions()).expect("the same columns");
        assert_eq!(decided.n_prior(), 0);
        let right = decided
            .labels()
            .zip(&panel.truth)
            .filter(|(label, i)| Some(*label) == i.map(|i| panel.label(i)).as_ref());
        // Ten thousand voices, most of them better than chance, leave no row in doubt.
        if method != Method::Selection {
            assert_eq!(right.count(), 12, "{method}");
        }
    }
    let tally = panel.tally();
    let watch = quiet().with_memory_limit(100_000_000);
    let refused =
        Model::fit(&AdaSpocc::default(), &tally, &Options::default(), &watch).expect_err("too large");
    assert_eq!(
        refused.to_string(),
        "dependence of 10000 x 10000 classifiers: expected at most 100000000 bytes of memory, found a need of \
         about 400000000"
    );
    let refused = tally.reduce_to(Level::Pairs, &watch).expect_err("too large");
    let needed = (N * (N - 1) / 2 * 9 * 8) as u64;
    assert!(
        matches!(refused, Error::MemoryLimit { needed: found, limit: 100_000_000, .. } if found == needed)
    );
}

#[test]
fn a_thousand_classes_are_told_apart() {
    const L: i64 = 1_000;
    // `exact` is always right; `near` is one off every third time; `same` always says 7.
    let panel = |n_rows: i64| {
        let mut rows = Predictions::builder(["exact", "near", "same"]).expect("three names");
        let mut truths = Vec::new();
        for t in 0..n_rows {
            let class = t * 7 % L;
            let near = if t % 3 == 0 { (class + 1) % L } else { class };
            rows.push([class, near, 7].map(Some)).expect("three answers");
            truths.push(Some(class));
        }
        let (rows, truth) = (rows.finish(), Truth::new(truths.clone()).expect("few"));
        let classes = Some((0..L).map(Label::from).collect());
        let options = Counting { classes, ..Counting::default() };
        (Evidence::count(&rows, &truth, &options, &quiet()).expect("rows"), rows, truths)
    };
    // adaSPOCC tunes a thousand classes on every pattern: fewer rows make the same point.
    for (method, n_rows) in
        [(Method::Spocc, 2 * L), (Method::Bayes, 2 * L), (Method::NaiveBayes, 2 * L), (Method::AdaSpocc, 60)]
    {
        let (evidence, rows, truths) = panel(n_rows);
        let model = method.combiner().fit(&evidence).expect("a thousand classes");
        assert_eq!((model.classes().len(), model.classes()[10].to_string().as_str()), (1_000, "10"));
        let decided = model.predict(&rows).expect("the same columns");
        let is_right =
            |(label, class): &(&Label, &Option<i64>)| class.map(Label::from).as_ref() == Some(*label);
        assert!(decided.labels().zip(&truths).all(|pair| is_right(&pair)), "{method}");
    }
}

#[test]
fn as_many_labels_as_there_are_ids() {
    const MOST: i64 = 65_535;
    let mut rows = Predictions::builder(["ann"]).expect("one name");
    for label in 0..MOST {
        rows.push([Some(label)]).expect("one answer");
    }
    let refused = rows.clone().push([Some(MOST)]).expect_err("one too many");
    assert_eq!(refused.to_string(), "labels: expected at most 65535 distinct ones, found more");
    let rows = rows.finish();
    let truth = Truth::new((0..MOST).map(|t| Some(t % 2))).expect("two labels");
    let options =
        Counting { level: Level::Marginals, classes: Some([0, 1].map(Label::from).to_vec()), weights: None };
    let evidence = Evidence::count(&rows, &truth, &options, &quiet()).expect("every id has its label");
    assert_eq!(evidence.labels().all().len(), 65_535);
    let model = Spocc::default().fit(&evidence).expect("rows");
    let decided = model.predict(&rows).expect("the same column");
    assert!(decided.rulings().iter().zip(0..).all(|(ruling, t)| ruling.class == t % 2));
    assert!(decided.unseen().is_empty());
}

#[test]
fn a_hundred_thousand_voices_do_not_underflow() {
    let degrees = vec![0.9; 100_000];
    assert_eq!(t_norm(&degrees, Exponent::PRODUCT), 0.0, "the possibility itself is below every float");
    let rows: Vec<&[&str]> = vec![&["cat"], &["cat"], &["dog"], &["dog"], &["dog"]];
    assert_eq!(evidence(&["ann"], &rows, &["cat", "cat", "dog", "dog", "cat"]).n_rows(), 5.0);
    // Three thousand classifiers that all say dog: the fused possibility of cat is 0 as a float, and still the
    // least surprising class is found among those that are.
    let names: Vec<String> = (0..3_000).map(|k| format!("c{k}")).collect();
    let mut table = Predictions::builder(names).expect("distinct");
    for word in ["cat", "cat", "dog", "dog", "dog", "cow"] {
        table.push((0..3_000).map(|_| Some(word))).expect("a whole row");
    }
    let table = table.finish();
    let truth = truth(&["cat", "dog", "dog", "dog", "cow", "cow"]);
    let options = Counting { level: Level::Marginals, ..Counting::default() };
    let evidence = Evidence::count(&table, &truth, &options, &quiet()).expect("rows");
    let product = Spocc { exponent: SpoccExponent::Fixed(Exponent::PRODUCT) };
    let model = product.fit(&evidence).expect("rows");
    let decision = model.align(&table).expect("columns").decide(2).expect("a row");
    assert_eq!(decision.label.to_string(), "dog");
    assert!(!decision.is_tie());
}

// ---- weights

fn weighted(weights: &[f64]) -> Result<Evidence, Error> {
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
    assert_eq!(
        error.to_string(),
        "merged rows: expected a total below 2^64 units, found more (rescale the weights)"
    );
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
            format!("row 2: expected a weight of 0 or between {smallest} and 8589934592, found {bad}")
        );
    }
    for good in [0.0, -0.0, smallest, 8_589_934_592.0, 0.5] {
        let evidence = weighted(&[1.5, good]).expect("in range");
        assert_eq!(evidence.n_rows(), 1.5 + good);
    }
    assert_eq!(
        weighted(&[1e19]).err().map(|error| error.to_string()),
        Some(
            "row 1: expected a weight of 0 or between 1 and 9223372036854776000, found 10000000000000000000"
                .into()
        )
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

// ---- ends of exponents and possibilities

#[test]
fn the_minimum_is_an_exponent_like_any_other() {
    let rows: [&[&str]; 4] = [&["cat", "cat"], &["dog", "cat"], &["cat", "dog"], &["dog", "dog"]];
    let evidence = evidence(&["ann", "bob"], &rows, &["cat", "cat", "dog", "dog"]);
    let model = Spocc { exponent: SpoccExponent::Fixed(Exponent::MINIMUM) }.fit(&evidence).expect("rows");
    assert_eq!(model.fitted(), Fitted::Spocc { exponent: Exponent::MINIMUM });
    let decision = decide(&model, &["ann", "bob"], &["cat", "dog"]);
    // bob is right every time: (0, 2) and one more each. ann has no opinion.
    assert_eq!(
        (decision.label.to_string().as_str(), decision.possibility.degrees()),
        ("dog", &[0.25, 1.0][..])
    );
    let read = Model::from_bytes(&model.to_bytes()).expect("our own bytes");
    assert_eq!(read.fitted(), model.fitted());
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
    let opinion = Possibility::from_counts(&[0, 3, 0]).expect("counts");
    assert_eq!(opinion.degrees(), [0.0, 1.0, 0.0]);
    for x in [Exponent::PRODUCT, Exponent::MINIMUM, Exponent::try_from(5.0).expect("at least 1")] {
        assert_eq!(t_norm(&[0.0, 1e-300], x), 0.0);
        assert_eq!(t_norm(&[0.0, 0.0], x), 0.0);
    }
    let none = Discount::try_from(1.0).expect("from 0 to 1");
    assert_eq!(opinion.discounted(none).degrees(), [1.0; 3]);
    // Naive Bayes excludes a class that was never true, whoever speaks for it.
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

// ---- silence and strangers

#[test]
fn where_nobody_spoke_the_prior_decides_and_says_so() {
    let rows: [&[&str]; 4] = [&["cat", "cat"], &["dog", "-"], &["-", "dog"], &["-", "-"]];
    let evidence = evidence(&["ann", "bob"], &rows, &["cat", "dog", "dog", "dog"]);
    for model in all_models(&evidence, &Options::default()) {
        let decision = decide(&model, &["ann", "bob"], &["-", "-"]);
        assert_eq!((decision.label.to_string().as_str(), decision.basis), ("dog", Basis::Prior));
        assert_eq!((decision.answered, decision.margin, &decision.ties), (0, 0.0, &vec![1]));
        let decided =
            model.predict(&table(&["ann", "bob"], &[&["-", "-"], &["cat", "cat"]])).expect("columns");
        assert_eq!((decided.n_prior(), decided.rulings()[1].basis), (1, Basis::Panel), "{}", model.method());
    }
}

#[test]
fn a_label_first_met_at_prediction_is_silence_and_is_reported() {
    let rows: [&[&str]; 4] = [&["cat", "cat"], &["dog", "dog"], &["cat", "dog"], &["dog", "dog"]];
    let evidence = evidence(&["ann", "bob"], &rows, &["cat", "dog", "cat", "dog"]);
    let names = ["ann", "bob"];
    for model in all_models(&evidence, &Options::default()) {
        let table = table(
            &names,
            &[&["yak", "cat"], &["-", "cat"], &["yak", "emu"], &["cat", "emu"], &["yak", "cat"]],
        );
        let decided = model.predict(&table).expect("columns");
        assert_eq!(decided.rulings()[0], decided.rulings()[1], "{}", model.method());
        assert_eq!(decided.rulings()[2].basis, Basis::Prior);
        let unseen: Vec<(String, String, usize, usize)> = decided
            .unseen()
            .iter()
            .map(|unseen| {
                (unseen.classifier.clone(), unseen.label.to_string(), unseen.first_row, unseen.n_rows)
            })
            .collect();
        assert_eq!(unseen, [("ann".into(), "yak".into(), 0, 3), ("bob".into(), "emu".into(), 2, 2)]);
        let refused = model.align(&table).expect("columns").strict().expect_err("a stranger");
        assert_eq!(
            refused.to_string(),
            "row 1: expected `ann` to say a label known to the model, found `yak`"
        );
        let known = self::table(&names, &[&["dog", "-"]]);
        assert!(model.align(&known).expect("columns").strict().is_ok());
    }
}

#[test]
fn declining_to_answer_can_be_an_answer() {
    // `bob` declines exactly when the truth is dog.
    let rows: [&[&str]; 6] =
        [&["cat", "cat"], &["dog", "cat"], &["cat", "cat"], &["cat", "-"], &["dog", "-"], &["dog", "-"]];
    let evidence = evidence(&["ann", "bob"], &rows, &["cat", "cat", "cat", "dog", "dog", "dog"]);
    let fit = |missing| {
        let options = Options { missing, ties: TieBreak::First };
        Model::fit(&Spocc::default(), &evidence, &options, &quiet()).expect("rows")
    };
    let (silent, symbol) = (fit(Missing::Silent), fit(Missing::Symbol));
    let said = |model: &Model, row: &[&str]| decide(model, &["ann", "bob"], row);
    // ann said cat of two cats and a dog.
    assert_eq!(said(&silent, &["cat", "-"]).label.to_string(), "cat");
    assert_eq!(said(&symbol, &["cat", "-"]).label.to_string(), "dog");
    assert_eq!((said(&symbol, &["-", "-"]).basis, said(&symbol, &["-", "-"]).answered), (Basis::Panel, 2));
    assert_eq!(said(&silent, &["-", "-"]).basis, Basis::Prior);
    let classes: Vec<String> = symbol.classes().iter().map(ToString::to_string).collect();
    assert_eq!(classes, ["cat", "dog"], "silence is never decided");
    assert_eq!((silent.missing(), symbol.missing()), (Missing::Silent, Missing::Symbol));
}

#[test]
fn a_word_that_looks_like_silence_is_a_word() {
    // Whatever stands for silence inside, a user's label of any bytes keeps its counts: two panels that differ
    // in the name of a label alone, of the same place in the order, are decided alike.
    let options = Options { missing: Missing::Symbol, ties: TieBreak::First };
    let names = ["ann", "bob"];
    for method in [Method::Spocc, Method::AdaSpocc, Method::NaiveBayes, Method::Bayes] {
        let decisions = |word: &str| {
            let rows: [&[&str]; 5] =
                [&[word, "cat"], &[word, "-"], &["cat", "cat"], &["cat", word], &[word, "-"]];
            let evidence = evidence(&names, &rows, &[word, word, "cat", word, "cat"]);
            let model = Model::fit(method.combiner().as_ref(), &evidence, &options, &quiet()).expect("rows");
            let asked = [[word, "cat"], ["cat", word], ["-", "cat"], [word, "-"], ["-", "-"], [word, word]];
            asked.map(|row| {
                let decision = decide(&model, &names, &row);
                (decision.class, decision.possibility)
            })
        };
        assert_eq!(decisions("\0"), decisions("\u{1}"), "{method}");
    }
}

// ---- memory and cancelling

#[test]
fn a_tally_over_the_limit_is_refused_with_its_estimate() {
    let shape = Shape {
        n_classifiers: 10,
        n_classes: 5,
        n_others: 0,
        n_rows: 4_000,
        gaps: 0.0,
        weighted: false,
        seed: 4,
    };
    let panel = Panel::new(shape);
    let (table, truth) = (panel.predictions(), panel.truths());
    let count = |level, limit| {
        let watch = quiet().with_memory_limit(limit);
        Evidence::count(&table, &truth, &panel.counting(level), &watch)
    };
    let refused = count(Level::Tally, 20_000).expect_err("thousands of patterns");
    let Error::MemoryLimit { what, needed, limit } = &refused else { panic!("{refused}") };
    assert!(what.starts_with("tally of ") && *limit == 20_000 && *needed > 20_000, "{refused}");
    assert!(count(Level::Marginals, 20_000).is_ok(), "marginals do not grow with the rows");
    let refused = count(Level::Marginals, 100).expect_err("a hundred bytes");
    assert_eq!(
        refused.to_string(),
        "confusion of 10 classifiers, 5 answers, 5 classes: expected at most 100 bytes of memory, found a need of \
         about 4000"
    );
    let refused = count(Level::Pairs, 8_000).expect_err("forty-five tables");
    assert!(matches!(refused, Error::MemoryLimit { needed: 9_000, .. }), "{refused}");
    let tally = count(Level::Tally, 1 << 30).expect("a gigabyte is enough");
    let watch = quiet().with_memory_limit(10_000);
    assert!(matches!(tally.merge(&tally, &watch), Err(Error::MemoryLimit { .. })));
    for method in Method::ALL {
        let fit = Model::fit(
            method.combiner().as_ref(),
            &tally,
            &Options::default(),
            &quiet().with_memory_limit(64),
        );
        if matches!(method, Method::Spocc | Method::AdaSpocc | Method::NaiveBayes) {
            assert!(matches!(fit, Err(Error::MemoryLimit { .. })), "{method}");
        }
    }
}

/// Runs some work again and again, cancelled at its first, second, .. report; returns the stages it went through.
fn assert_cancels(what: &str, work: impl Fn(&Watch<'_>) -> Option<Error>) -> Vec<&'static str> {
    let stages = std::sync::Mutex::new(Vec::new());
    let note = |at: spocc::Progress| {
        stages.lock().expect("nobody panicked").push(at.stage);
        assert!(at.done <= at.total, "{what}: {} of {}", at.done, at.total);
        ControlFlow::Continue(())
    };
    assert_eq!(work(&Watch::new(&note)), None, "{what}");
    let stages = stages.into_inner().expect("nobody panicked");
    // Long work reports often: the first report of each stage and a dozen in between will do.
    let step = stages.len() / 12 + 1;
    let is_first = |at: usize| at == 0 || stages[at] != stages[at - 1];
    for stop in (0..stages.len()).filter(|&at| is_first(at) || at % step == 0) {
        let calls = AtomicUsize::new(0);
        let cancel = |_: spocc::Progress| {
            if calls.fetch_add(1, Ordering::SeqCst) == stop {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        assert_eq!(work(&Watch::new(&cancel)), Some(Error::Cancelled), "{what} at {}", stages[stop]);
    }
    stages
}

#[test]
fn every_long_stage_can_be_stopped() {
    let shape = Shape {
        n_classifiers: 5,
        n_classes: 3,
        n_others: 0,
        n_rows: 60,
        gaps: 0.1,
        weighted: false,
        seed: 8,
    };
    let panel = Panel::new(shape);
    let (table, truth, tally) = (panel.predictions(), panel.truths(), panel.tally());
    let mut stages = Vec::new();
    for level in [Level::Marginals, Level::Pairs, Level::Tally] {
        stages.extend(assert_cancels("counting", |watch| {
            Evidence::count(&table, &truth, &panel.counting(level), watch).err()
        }));
    }
    for method in [Method::AdaSpocc, Method::ExpVote, Method::Stacking] {
        let seen = assert_cancels(&method.to_string(), |watch| {
            Model::fit(method.combiner().as_ref(), &tally, &Options::default(), watch).err()
        });
        assert!(!seen.is_empty(), "{method} says how far it is");
        stages.extend(seen);
    }
    let tuned = Spocc { exponent: SpoccExponent::Tuned(Tuning::LeaveOneOut) };
    stages.extend(assert_cancels("spocc", |watch| {
        Model::fit(&tuned, &tally, &Options::default(), watch).err()
    }));
    stages.extend(assert_cancels("dependence", |watch| Dissimilarities::new(&tally, watch).err()));
    let model = Majority.fit(&tally).expect("rows");
    let aligned = model.align(&table).expect("columns");
    stages.extend(assert_cancels("deciding", |watch| aligned.decide_all(watch).err()));
    for expected in ["counting", "tallying", "pairs", "exponents", "severity", "rate", "exponent", "deciding"]
    {
        assert!(stages.contains(&expected), "{expected} is reported");
    }
    assert_eq!(Error::Cancelled.to_string(), "stopped on request");
}

// ---- bad input

#[test]
fn bad_tables_say_where_what_was_expected_and_what_was_found() {
    let message = |result: Result<Predictions, Error>| result.expect_err("a bad table").to_string();
    let mut rows = Predictions::builder(["ann", "bob"]).expect("two names");
    rows.push([Some("cat"), None]).expect("two answers");
    assert_eq!(
        rows.push([Some("cat"); 3]).expect_err("too wide").to_string(),
        "row 2: expected 2 answers, found 3"
    );
    assert_eq!(
        rows.push_symbols(&[]).expect_err("too narrow").to_string(),
        "row 2: expected 2 answers, found 0"
    );
    assert_eq!(rows.finish().n_rows(), 1, "the table is as it was");
    assert_eq!(
        Predictions::builder(["ann", "bob", "ann"]).expect_err("twice").to_string(),
        "classifiers: expected distinct names, found `ann` twice"
    );
    assert_eq!(
        Predictions::builder([""; 0]).expect_err("nobody").to_string(),
        "classifiers: expected at least one, found none"
    );
    let labels = || vec![Label::from("cat"), Label::from("dog")];
    assert_eq!(
        message(Predictions::from_ids(["ann"], labels(), [Some(1), None, Some(2)])),
        "row 3: expected a label id below 2, found 2"
    );
    assert_eq!(
        message(Predictions::from_ids(["ann", "bob"], labels(), [Some(1), None, Some(0)])),
        "row 2: expected 2 answers, found 1"
    );
    assert_eq!(
        message(Predictions::from_ids(["ann"], vec![Label::from("1"), Label::from(1)], [None])),
        "labels: expected distinct names, found `1` twice"
    );
    assert_eq!(
        message(Predictions::from_cells(["ann"], 2, [(2, 0, "cat")])),
        "cells: expected 2 rows, found 3"
    );
    assert_eq!(
        message(Predictions::from_cells(["ann", "bob"], 2, [(0, 5, "cat")])),
        "classifier `number 5`: expected one of ann, bob, found no such column"
    );
    assert_eq!(
        message(Predictions::from_cells(["ann"], 2, [(1, 0, "cat"), (1, 0, "dog")])),
        "row 2: expected one answer of `ann`, found two"
    );
    assert_eq!(
        Label::try_from(2.5).expect_err("a fraction").to_string(),
        "label 2.5: expected a whole number, a text or a boolean"
    );
}

#[test]
fn no_id_stands_for_a_gap_by_accident() {
    let labels = vec![Label::from("cat")];
    let error = Predictions::from_ids(["ann"], labels, [Some(u16::MAX)]).expect_err("no such label");
    assert_eq!(error, Error::LabelId { row: 1, expected: 1, found: 65_535 });
}

#[test]
fn a_symbol_of_another_table_is_refused() {
    let mut other = Predictions::builder(["ann"]).expect("one name");
    let symbol = ["a", "b", "c"].map(|word| other.symbol(word).expect("few labels"))[2];
    let mut rows = Predictions::builder(["ann"]).expect("one name");
    rows.symbol("x").expect("few labels");
    assert!(rows.push_symbols(&[Some(symbol)]).is_err(), "this table knows one label only");
    assert_eq!(rows.finish().n_rows(), 0);
}

#[test]
fn the_last_row_number_there_is_is_past_the_end() {
    let error = Predictions::from_cells(["ann"], 1, [(usize::MAX, 0, "cat")]).expect_err("past the end");
    assert!(matches!(error, Error::RowCount { what: "cells", expected: 1, .. }));
    let evidence = evidence(&["ann"], &[&["cat"]], &["cat"]);
    let model = Majority.fit(&evidence).expect("a row");
    let table = table(&["ann"], &[&["cat"]]);
    let aligned = model.align(&table).expect("the same column");
    assert_eq!(aligned.decide(1).expect_err("one row").to_string(), "row 2: expected a row from 1 to 1");
    assert!(matches!(aligned.decide(usize::MAX), Err(Error::NoSuchRow { .. })));
}

#[test]
fn bad_evidence_says_where_what_was_expected_and_what_was_found() {
    let rows = table(&["ann", "bob"], &[&["cat", "dog"], &["dog", "dog"]]);
    let count = |truths: &[&str], options: &Counting<'_>| {
        Evidence::count(&rows, &truth(truths), options, &quiet()).expect_err("bad rows").to_string()
    };
    assert_eq!(count(&["cat"], &Counting::default()), "truth: expected 2 rows, found 1");
    let short = Counting { weights: Some(&[1.0; 3]), ..Counting::default() };
    assert_eq!(count(&["cat", "dog"], &short), "weights: expected 2 rows, found 3");
    let given = |classes: &[&str]| Counting {
        classes: Some(classes.iter().map(|word| Label::from(*word)).collect()),
        ..Counting::default()
    };
    assert_eq!(
        count(&["cat", "yak"], &given(&["cat", "dog"])),
        "row 2: expected a truth among the classes cat, dog, found `yak`"
    );
    assert_eq!(
        count(&["cat", "dog"], &given(&["dog", "cat", "dog"])),
        "classes: expected distinct names, found `dog` twice"
    );
    let unknown = Evidence::new(&rows, &truth(&["-", "-"])).expect("no labelled rows is no error yet");
    for method in Method::ALL {
        let refused = method.combiner().fit(&unknown).expect_err("nothing to learn from");
        assert_eq!(refused.to_string(), "truth: expected at least one labelled row, found none", "{method}");
    }
    let counted = Evidence::new(&rows, &truth(&["cat", "dog"])).expect("rows");
    let select = |names: &[&str]| counted.select(names, &quiet()).expect_err("bad names").to_string();
    assert_eq!(select(&["ann", "eve"]), "classifier `eve`: expected one of ann, bob, found no such column");
    assert_eq!(select(&["ann", "ann"]), "classifiers: expected distinct names, found `ann` twice");
    assert_eq!(select(&[]), "classifiers: expected at least one, found none");
    let marginals = counted.reduce_to(Level::Marginals, &quiet()).expect("less");
    assert_eq!(
        AdaSpocc::default().fit(&marginals).expect_err("too little").to_string(),
        "adaspocc: expected evidence with a tally, found marginals"
    );
    assert_eq!(
        Dissimilarities::new(&marginals, &quiet()).expect_err("too little").to_string(),
        "dependence: expected evidence with pair counts, found marginals"
    );
    let model = Majority.fit(&counted).expect("rows");
    assert_eq!(
        model.predict(&table(&["ann"], &[&["cat"]])).expect_err("no bob").to_string(),
        "classifier `bob`: expected one of ann, found no such column"
    );
}

#[test]
fn bad_numbers_and_words_are_named() {
    let text = |error: Result<(), Error>| error.expect_err("out of range").to_string();
    for bad in [0.5, -1.0, f64::NAN, f64::NEG_INFINITY] {
        let error = text(Exponent::try_from(bad).map(drop));
        assert_eq!(error, format!("exponent: expected a number from 1 to infinity, found {bad}"));
        let error = text(Discount::try_from(bad - 1.0).map(drop));
        assert_eq!(error, format!("discount: expected a number from 0 to 1, found {}", bad - 1.0));
    }
    assert_eq!(
        text(Possibility::new(vec![0.5, 1.5]).map(drop)),
        "possibility: expected a number from 0 to 1, found 1.5"
    );
    assert!(Possibility::new(vec![f64::NAN]).is_err());
    assert_eq!(
        text(Possibility::from_probabilities(&[0.5, -0.5]).map(drop)),
        "probability: expected a finite number from 0, found -0.5"
    );
    assert_eq!(
        text(Possibility::from_counts(&[u64::MAX, 1]).map(drop)),
        "counts: expected a total below 2^64 units, found more (rescale the weights)"
    );
    assert!(Possibility::from_counts_smoothed(&[u64::MAX]).is_err());
    assert_eq!(
        text(Dissimilarities::from_condensed(3, vec![0.5; 2]).map(drop)),
        "dissimilarities: expected 3 rows, found 2"
    );
    assert_eq!(
        text(Dissimilarities::from_condensed(2, vec![-0.5]).map(drop)),
        "dissimilarity: expected a number from 0 to 1e100, found -0.5"
    );
    assert_eq!(
        text("spock".parse::<Method>().map(drop)),
        "method: expected one of spocc, adaspocc, selection, majority, weighted-vote, exp-vote, naive-bayes, bayes, \
         stacking, found `spock`"
    );
    assert_eq!(
        text("loud".parse::<Missing>().map(drop)),
        "missing: expected one of silent, symbol, found `loud`"
    );
    assert_eq!(
        text("last".parse::<TieBreak>().map(drop)),
        "ties: expected one of first, random, found `last`"
    );
    assert_eq!(
        text("bootstrap".parse::<Tuning>().map(drop)),
        "tuning: expected one of resubstitution, leave-one-out, k-fold, found `bootstrap`"
    );
}

#[test]
fn folds_need_whole_counts() {
    let evidence = weighted(&[0.5, 1.5, 2.5, 0.25, 1.0]).expect("weights");
    for combiner in [
        Box::new(AdaSpocc { tuning: Tuning::KFold(2) }) as Box<dyn Combiner>,
        Box::new(Spocc { exponent: SpoccExponent::Tuned(Tuning::KFold(2)) }),
        Box::new(ExpVote { tuning: Tuning::KFold(2) }),
    ] {
        let refused = combiner.fit(&evidence);
        assert!(matches!(refused, Err(Error::TuningRefused { .. })), "{}", combiner.method());
    }
}

#[test]
fn distances_of_any_size_make_a_tree() {
    for size in [1e-200, 1.0, 1e160, 1e200, f64::MAX] {
        let distances =
            Dissimilarities::from_condensed(4, [1.0, 0.9, 0.8, 0.7, 0.6, 0.5].map(|d| d * size).to_vec());
        // Refusing is as good as a tree; a panic or an endless chain is not.
        if let Ok(distances) = distances {
            assert_eq!(Dendrogram::ward(&distances).merges().len(), 3, "at {size}");
        }
    }
}

#[test]
fn there_is_no_tree_over_nobody() {
    assert_eq!(Dissimilarities::from_condensed(0, Vec::new()), Err(Error::NoClassifiers));
}
