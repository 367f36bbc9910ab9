//! Small ends; large ends.

use super::*;

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
        let predicted = |word: &str| decide(&model, &["ann"], &[word]).label.to_string();
        match model.method() {
            // These take the classifier's word, which is wrong most often.
            Method::Selection | Method::Majority | Method::WeightedVote | Method::ExpVote => {
                assert_eq!(
                    (predicted("cat"), predicted("dog")),
                    ("cat".into(), "dog".into()),
                    "{}",
                    model.method()
                );
            }
            // Three of three rows, however they are weighed against the frequencies.
            _ => assert_eq!(predicted("cat"), "dog", "{}", model.method()),
        }
    }
    let model = AdaSpocc::default().fit(&evidence).expect("rows");
    let Parameters::AdaSpocc { dendrogram, exponents, discounts, .. } = model.parameters() else {
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
            // Distinguished by one row only, these methods cannot or need not follow it.
            Method::Ladder | Method::Majority | Method::ExpVote | Method::AdaSpocc
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
    assert!(dissimilarities.condensed().iter().all(|d| *d == 1.0), "constants depend on no classifier");
    for model in all_models(&evidence, &Options::default()) {
        let decision = decide(&model, &["ann", "bob", "eve"], &["cat", "dog", "cat"]);
        assert_eq!(
            decision.label.to_string(),
            "dog",
            "{}: no column with a true label says cat",
            model.method()
        );
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
    // `ann` never predicted dog: the row is decided by what `bob` says.
    let both = decide(&model, &["ann", "bob"], &["dog", "cat"]);
    let alone = decide(&model, &["ann", "bob"], &["-", "cat"]);
    assert_eq!((&both.possibility, both.basis), (&alone.possibility, Basis::Panel));
    let nothing = decide(&model, &["ann", "bob"], &["dog", "-"]);
    assert_eq!(
        (nothing.possibility.degrees(), nothing.ties.len(), nothing.margin),
        (&[1.0, 1.0][..], 2, 0.0)
    );
}

#[test]
fn ten_thousand_classifiers_are_counted_and_used() {
    const N: usize = 10_000;
    let shape = Shape {
        n_classifiers: N,
        n_classes: 3,
        n_others: 0,
        n_rows: 12,
        missing_share: 0.0,
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
        // Ten thousand contributions, most of them better than chance, leave no row in doubt.
        if method != Method::Selection {
            assert_eq!(right.count(), 12, "{method}");
        }
    }
    let tally = panel.tally();
    let control = quiet().with_memory_limit(100_000_000);
    let refused =
        Model::fit(&AdaSpocc::default(), &tally, &Options::default(), &control).expect_err("too large");
    assert_eq!(
        refused.to_string(),
        "dependence of 10000 x 10000 classifiers: expected at most 100000000 bytes of memory, found a need of \
         about 800000000"
    );
    let refused = tally.reduce_to(Level::Pairs, &control).expect_err("too large");
    let needed = (N * (N - 1) / 2 * 9 * 8) as u64;
    assert!(
        matches!(refused, Error::MemoryLimit { needed: found, limit: 100_000_000, .. } if found == needed)
    );
}

#[test]
fn a_thousand_classes_are_distinguished() {
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
    let options = Counting {
        level: Level::Marginals,
        classes: Some([0, 1].map(Label::from).to_vec()),
        ..Counting::default()
    };
    let evidence = Evidence::count(&rows, &truth, &options, &quiet()).expect("every id has its label");
    assert_eq!(evidence.labels().all().len(), 65_535);
    let model = Spocc::default().fit(&evidence).expect("rows");
    let decided = model.predict(&rows).expect("the same column");
    assert!(decided.class.iter().zip(0..).all(|(class, t)| *class == t % 2));
    assert!(decided.unseen().is_empty());
}

#[test]
fn evidence_grows_with_the_predictions_and_not_with_the_square_of_the_labels() {
    // Classes in a chain: every table of 20 000 x 20 000 has two cells in a row.
    const L: i64 = 20_000;
    let mut rows = Predictions::builder(["ann", "bob", "cy"]).expect("three names");
    let mut text_bytes = 0;
    for class in 0..L {
        let cells = [class, (class + 1) % L, class / 2];
        rows.push(cells.map(Some)).expect("three answers");
        text_bytes += format!("{},{},{},{class}\n", cells[0], cells[1], cells[2]).len();
    }
    let rows = rows.finish();
    let truth = Truth::new((0..L).map(Some)).expect("few labels");
    let control = quiet().with_memory_limit(1 << 26);
    for level in [Level::Marginals, Level::Tally] {
        let options = Counting { level, ..Counting::default() };
        let counted = Evidence::count(&rows, &truth, &options, &control).expect("a few cells");
        assert_eq!((counted.count_of(1, 8, 7), counted.count_of(1, 8, 8)), (1.0, 0.0));
        let bytes = counted.to_bytes();
        assert!(bytes.len() < 10 * text_bytes, "{level}: {} bytes for a table of {text_bytes}", bytes.len());
        let twice = counted.merge(&Evidence::from_bytes(&bytes).expect("a whole file"), &control);
        assert_eq!(twice.expect("the same panel").count_of(2, 3, 7), 2.0);
        for method in Method::ALL.into_iter().filter(|method| method.combiner().needs() <= level) {
            let fitted = Model::fit(method.combiner().as_ref(), &counted, &Options::default(), &control);
            let has_tables =
                ![Method::Majority, Method::WeightedVote, Method::Selection, Method::ExpVote, Method::Bayes]
                    .contains(&method);
            let is_refused = matches!(fitted, Err(Error::MemoryLimit { .. }));
            assert_eq!(is_refused, has_tables, "{method} has a table of every cell");
        }
    }
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

/// What looks every label up in a list of all of them takes minutes here.
#[test]
fn a_model_of_65_000_classes_is_fitted_saved_and_read() {
    const N: i64 = 65_000;
    let labels: Vec<Label> = (0..N).map(Label::from).collect();
    let rows = Predictions::from_ids(["a", "b"], labels, (0..N as u16).flat_map(|id| [id, id]).collect());
    let truth = Truth::new((0..N).map(Some)).expect("few enough labels");
    let evidence = Evidence::new(&rows.expect("two columns"), &truth).expect("rows");
    assert_eq!(evidence.row_shortages().len(), 1, "every class is true once");
    for model in
        [Majority.fit(&evidence), WeightedVote.fit(&evidence), Method::Selection.combiner().fit(&evidence)]
    {
        let model = model.expect("marginals");
        let read = Model::from_bytes(&model.to_bytes()).expect("our own bytes");
        assert_eq!((read.classes().len(), read.evidence().is_some()), (N as usize, true));
        assert!(read.knows(&Label::from(N - 1)));
    }
}
