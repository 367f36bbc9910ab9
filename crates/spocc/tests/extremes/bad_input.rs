//! Bad input.

use super::*;

#[test]
fn errors_of_tables_name_the_place_the_expected_and_the_found_value() {
    let message = |result: Result<Predictions, Error>| result.expect_err("a bad table").to_string();
    let mut rows = Predictions::builder(["ann", "bob"]).expect("two names");
    rows.push([Some("cat"), None]).expect("two answers");
    assert_eq!(
        rows.push([Some("cat"); 3]).expect_err("too wide").to_string(),
        "row 2: expected 2 predictions, found 3"
    );
    assert_eq!(
        rows.push([None::<&str>; 0]).expect_err("too narrow").to_string(),
        "row 2: expected 2 predictions, found 0"
    );
    assert_eq!(rows.finish().n_rows(), 1, "the table is as it was");
    assert_eq!(
        Predictions::builder(["ann", "bob", "ann"]).expect_err("twice").to_string(),
        "classifiers: expected distinct names, found `ann` twice"
    );
    assert_eq!(
        Predictions::builder([""; 0]).expect_err("no classifiers").to_string(),
        "classifiers: expected at least one, found none"
    );
    let labels = || vec![Label::from("cat"), Label::from("dog")];
    assert_eq!(
        message(Predictions::from_ids(["ann"], labels(), vec![1, u16::MAX, 2])),
        "row 3: expected a label id below 2, found 2"
    );
    assert_eq!(
        message(Predictions::from_ids(["ann", "bob"], labels(), vec![1, u16::MAX, 0])),
        "row 2: expected 2 predictions, found 1"
    );
    assert_eq!(
        message(Predictions::from_ids(["ann"], vec![Label::from("1"), Label::from("1")], vec![u16::MAX])),
        "labels: expected distinct names, found `1` twice"
    );
    assert_eq!(
        message(Predictions::from_cells(["ann"], 2, &labels(), [(2, 0, 0)])),
        "cells: expected 2 rows, found 3"
    );
    assert_eq!(
        message(Predictions::from_cells(["ann", "bob"], 2, &labels(), [(0, 5, 0)])),
        "classifier `number 5`: expected one of ann, bob, found no such name"
    );
    assert_eq!(
        message(Predictions::from_cells(["ann"], 2, &labels(), [(1, 0, 0), (1, 0, 1)])),
        "row 2: expected one prediction of `ann`, found two"
    );
    assert_eq!(
        Label::try_from(2.5).expect_err("a fraction").to_string(),
        "label 2.5: expected a whole number, a text or a boolean"
    );
}

#[test]
fn a_symbol_of_another_table_is_refused() {
    let mut other = Predictions::builder(["ann"]).expect("one name");
    let symbol = ["a", "b", "c"].map(|word| other.symbol(word).expect("few labels"))[2];
    let mut rows = Predictions::builder(["ann"]).expect("one name");
    rows.symbol("x").expect("few labels");
    assert!(rows.push_rows(&[0], &[Some(symbol)]).is_err(), "this table has one label only");
    assert_eq!(rows.finish().n_rows(), 0);
}

#[test]
fn the_last_row_number_there_is_is_past_the_end() {
    let error =
        Predictions::from_cells(["ann"], 1, &["cat".into()], [(usize::MAX, 0, 0)]).expect_err("past the end");
    assert!(matches!(error, Error::RowCount { what: "cells", expected: 1, .. }));
    let evidence = evidence(&["ann"], &[&["cat"]], &["cat"]);
    let model = Majority.fit(&evidence).expect("a row");
    let table = table(&["ann"], &[&["cat"]]);
    let aligned = model.align(&table).expect("the same column");
    assert_eq!(aligned.decide(1).expect_err("one row").to_string(), "row 2: expected a row from 1 to 1");
    assert!(matches!(aligned.decide(usize::MAX), Err(Error::NoSuchRow { .. })));
}

#[test]
fn errors_of_evidence_name_the_place_the_expected_and_the_found_value() {
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
    for method in Method::ALL.into_iter().filter(|method| method.needs_truth()) {
        let refused = method.combiner().fit(&unknown).expect_err("nothing to learn from");
        assert_eq!(refused.to_string(), "truth: expected at least one labelled row, found none", "{method}");
    }
    let counted = Evidence::new(&rows, &truth(&["cat", "dog"])).expect("rows");
    let select = |names: &[&str]| counted.select(names, &quiet()).expect_err("bad names").to_string();
    assert_eq!(select(&["ann", "eve"]), "classifier `eve`: expected one of ann, bob, found no such name");
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
        "classifier `bob`: expected predictions of every classifier of the model, found only those of ann"
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
        "counts: expected a total below 2^64, found more (scale them down)"
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
        "method: expected one of ladder, spocc, adaspocc, selection, majority, weighted-vote, exp-vote, naive-bayes, bayes, \
         stacking, dawid-skene, one-coin, found `spock`"
    );
    assert_eq!(
        text("loud".parse::<Missing>().map(drop)),
        "missing: expected one of ignore, answer, auto, found `loud`"
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
fn folds_take_weights_and_are_at_least_two() {
    let evidence = weighted(&[0.5, 1.5, 2.5, 0.25, 1.0]).expect("weights");
    for folds in [0, 1] {
        let refused = AdaSpocc { tuning: Tuning::KFold(folds) }.fit(&evidence);
        assert!(matches!(refused, Err(Error::OutOfRange { what: "folds", .. })), "{folds}");
    }
    for combiner in [
        Box::new(AdaSpocc { tuning: Tuning::KFold(2) }) as Box<dyn Combiner>,
        Box::new(Spocc { exponent: SpoccExponent::Tuned(Tuning::KFold(2)) }),
        Box::new(ExpVote { tuning: Tuning::KFold(2) }),
    ] {
        let model = combiner.fit(&evidence).expect("weights are rows and parts of rows");
        assert_eq!(decide(&model, &["ann"], &["dog"]).label.to_string(), "dog", "{}", combiner.method());
    }
}

#[test]
fn class_weights_are_refused_by_name() {
    let evidence = weighted(&[1.0; 6]).expect("rows");
    let refusal = |given: &[(&str, f64)]| {
        let given = given.iter().map(|&(class, weight)| (class.into(), weight)).collect();
        let options = Options { class_weights: ClassWeights::Given(given), ..Options::default() };
        Model::fit(&Majority, &evidence, &options, &quiet()).expect_err("bad weights").to_string()
    };
    assert_eq!(refusal(&[("cow", 2.0)]), "class weights: expected one of cat, dog, found `cow`");
    assert_eq!(
        refusal(&[("cat", 2.0), ("cat", 2.0)]),
        "class weights: expected distinct names, found `cat` twice"
    );
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-7, 1e7] {
        assert_eq!(
            refusal(&[("dog", bad)]),
            format!("weight of class `dog`: expected a number from 0.000001 to 1000000, found {bad}")
        );
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
fn a_tree_without_leaves_is_refused() {
    assert_eq!(Dissimilarities::from_condensed(0, Vec::new()), Err(Error::NoClassifiers));
}
