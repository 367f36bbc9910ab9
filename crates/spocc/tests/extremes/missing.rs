//! Missing cells and unseen labels.

use super::*;

#[test]
fn a_row_without_predictions_is_decided_by_the_prior_and_marked() {
    let rows: [&[&str]; 4] = [&["cat", "cat"], &["dog", "-"], &["-", "dog"], &["-", "-"]];
    let evidence = evidence(&["ann", "bob"], &rows, &["cat", "dog", "dog", "dog"]);
    for model in all_models(&evidence, &Options::default()) {
        let decision = decide(&model, &["ann", "bob"], &["-", "-"]);
        assert_eq!((decision.label.to_string().as_str(), decision.basis), ("dog", Basis::Prior));
        // One row in four was a cat: 1/4 against 3/4.
        assert!((decision.margin - 2.0 / 3.0).abs() < 1e-15, "{decision:?}");
        assert_eq!((decision.n_answered, &decision.ties), (0, &vec![1]));
        let decided =
            model.predict(&table(&["ann", "bob"], &[&["-", "-"], &["cat", "cat"]])).expect("columns");
        assert_eq!((decided.n_prior(), decided.basis[1]), (1, Basis::Panel), "{}", model.method());
    }
}

#[test]
fn an_unseen_label_is_missing_and_is_reported() {
    let rows: [&[&str]; 4] = [&["cat", "cat"], &["dog", "dog"], &["cat", "dog"], &["dog", "dog"]];
    let evidence = evidence(&["ann", "bob"], &rows, &["cat", "dog", "cat", "dog"]);
    let names = ["ann", "bob"];
    for model in all_models(&evidence, &Options::default()) {
        let table = table(
            &names,
            &[&["yak", "cat"], &["-", "cat"], &["yak", "emu"], &["cat", "emu"], &["yak", "cat"]],
        );
        let decided = model.predict(&table).expect("columns");
        assert_eq!(decided.class[0], decided.class[1], "{}", model.method());
        assert_eq!((decided.is_tie[0], decided.basis[0]), (decided.is_tie[1], decided.basis[1]));
        assert_eq!(decided.basis[2], Basis::Prior);
        let unseen: Vec<(String, String, usize, usize)> = decided
            .unseen()
            .iter()
            .map(|unseen| {
                (unseen.classifier.clone(), unseen.label.to_string(), unseen.first_row, unseen.n_rows)
            })
            .collect();
        assert_eq!(unseen, [("ann".into(), "yak".into(), 0, 3), ("bob".into(), "emu".into(), 2, 2)]);
        let refused = model.align(&table).expect("columns").strict().expect_err("an unseen label");
        assert_eq!(refused.to_string(), "row 1: expected `ann` to predict a label of the model, found `yak`");
        let known = self::table(&names, &[&["dog", "-"]]);
        assert!(model.align(&known).expect("columns").strict().is_ok());
    }
}

#[test]
fn declining_to_answer_can_be_an_answer() {
    // `bob` missing_is_answer exactly when the truth is dog.
    let rows: [&[&str]; 6] =
        [&["cat", "cat"], &["dog", "cat"], &["cat", "cat"], &["cat", "-"], &["dog", "-"], &["dog", "-"]];
    let evidence = evidence(&["ann", "bob"], &rows, &["cat", "cat", "cat", "dog", "dog", "dog"]);
    let fit = |missing| {
        let options = Options { missing, ..Options::default() };
        Model::fit(&Spocc::default(), &evidence, &options, &quiet()).expect("rows")
    };
    let (ignoring, answering) = (fit(Missing::Ignore), fit(Missing::Answer));
    let predicted = |model: &Model, row: &[&str]| decide(model, &["ann", "bob"], row);
    // ann predicted cat of two cats and a dog.
    assert_eq!(predicted(&ignoring, &["cat", "-"]).label.to_string(), "cat");
    assert_eq!(predicted(&answering, &["cat", "-"]).label.to_string(), "dog");
    assert_eq!(
        (predicted(&answering, &["-", "-"]).basis, predicted(&answering, &["-", "-"]).n_answered),
        (Basis::Panel, 0)
    );
    assert_eq!(predicted(&ignoring, &["-", "-"]).basis, Basis::Prior);
    let classes: Vec<String> = answering.classes().iter().map(ToString::to_string).collect();
    assert_eq!(classes, ["cat", "dog"], "the missing label is never decided");
    assert_eq!((ignoring.missing(), answering.missing()), (Missing::Ignore, Missing::Answer));
}

#[test]
fn a_text_that_looks_like_the_missing_label_is_a_text() {
    // Whatever stands for a missing cell inside, a user's label of any bytes keeps its counts: two panels that differ
    // in the name of a label alone, of the same place in the order, are decided alike.
    let options = Options { missing: Missing::Answer, ..Options::default() };
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

#[test]
fn a_prior_of_equals_is_a_tie() {
    let evidence = evidence(&["a"], &[&["x"], &["y"]], &["x", "y"]);
    let first = Majority.fit(&evidence).expect("rows");
    let decision = decide(&first, &["a"], &["-"]);
    assert_eq!((decision.basis, decision.ties.as_slice(), decision.margin), (Basis::Prior, &[0, 1][..], 0.0));
    let drawn: Vec<usize> = (0..20)
        .map(|seed| {
            let options = Options { ties: TieBreak::Random(seed), ..Options::default() };
            let model = Model::fit(&Majority, &evidence, &options, &quiet()).expect("rows");
            let full = decide(&model, &["a"], &["-"]);
            let short = model.predict(&table(&["a"], &[&["-"]])).expect("a column");
            assert_eq!(
                (full.class, true, Basis::Prior),
                (usize::from(short.class[0]), short.is_tie[0], short.basis[0])
            );
            full.class
        })
        .collect();
    assert!(drawn.contains(&0) && drawn.contains(&1));
}

#[test]
fn missing_cells_as_answers_decide_a_row_that_no_classifier_answered() {
    let evidence = evidence(&["a", "b"], &[&["x", "-"], &["y", "y"], &["-", "-"]], &["x", "y", "y"]);
    let options = Options { missing: Missing::Answer, ..Options::default() };
    let model = Model::fit(&Spocc::default(), &evidence, &options, &quiet()).expect("rows");
    let decision = decide(&model, &["a", "b"], &["-", "-"]);
    assert_eq!((decision.n_answered, decision.basis), (0, Basis::Panel));
    assert_eq!(decide(&model, &["a", "b"], &["x", "-"]).n_answered, 1);
    // And it shows in the explanation.
    let explained = |model: &Model| {
        let rows = table(&["a", "b"], &[&["x", "-"]]);
        model.align(&rows).and_then(|rows| rows.explain(0)).expect("a row").to_string()
    };
    let line =
        |text: &str| text.lines().find(|line| line.starts_with("b ")).expect("a line for b").to_owned();
    assert_eq!(line(&explained(&model)).split_whitespace().count(), 5, "{}", explained(&model));
    let ignoring = Model::fit(&Spocc::default(), &evidence, &Options::default(), &quiet()).expect("rows");
    assert_eq!(line(&explained(&ignoring)).split_whitespace().count(), 2, "{}", explained(&ignoring));
}

#[test]
fn missing_cells_as_answers_equal_a_label_in_their_place() {
    // Thirty workers who are mostly not asked, and two who decline cows: few enough answers to be stored sparsely.
    let mut random = Random(5);
    let names: Vec<String> = (0..32).map(|k| format!("w{k}")).collect();
    let (mut missing_share, mut words, mut truths) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..200 {
        let truth = ["cat", "cow", "dog"][random.below(3)];
        let mut row: Vec<&str> = Vec::new();
        for k in 0..names.len() {
            let predicted = if random.unit() < 0.7 { truth } else { ["cat", "cow", "dog"][random.below(3)] };
            let answers_row =
                if k < 2 { truth != "cow" && random.unit() < 0.9 } else { random.unit() < 0.05 };
            row.push(if answers_row { predicted } else { "-" });
        }
        let worded = |(k, predicted): (usize, &&'static str)| {
            if k < 2 && *predicted == "-" { "refuse" } else { *predicted }
        };
        words.push(row.iter().enumerate().map(worded).collect::<Vec<&str>>());
        missing_share.push(row);
        truths.push(truth);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let tables = [&missing_share, &words].map(|rows| {
        let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
        table(&names, &rows)
    });
    let classes = Some(["cat", "cow", "dog"].map(Label::from).to_vec());
    let counting = Counting { classes, ..Counting::default() };
    let decide = |table: &Predictions, method: Method, missing: Missing| {
        let evidence = Evidence::count(table, &truth(&truths), &counting, &quiet()).expect("rows");
        let options = Options { missing, ..Options::default() };
        let model = Model::fit(method.combiner().as_ref(), &evidence, &options, &quiet()).expect("rows");
        let read = Model::from_bytes(&model.to_bytes()).expect("our own bytes");
        let labels = read.predict(table).expect("the same columns");
        let margin = spocc::predict::DecisionColumns { margin: true, ..Default::default() };
        let full = read.decide_all(table, margin, &quiet()).expect("rows");
        assert_eq!((&labels.class, &labels.is_tie, &labels.basis), (&full.class, &full.is_tie, &full.basis));
        (model.missing_is_answer().to_vec(), labels, full.margin)
    };
    for method in [Method::NaiveBayes, Method::Stacking] {
        let (missing_is_answer, labels, margins) = decide(&tables[0], method, Missing::Auto);
        assert_eq!(missing_is_answer.iter().filter(|missing_is_answer| **missing_is_answer).count(), 2);
        assert!(missing_is_answer[0] && missing_is_answer[1]);
        let worded = decide(&tables[1], method, Missing::Ignore);
        assert_eq!((labels, margins), (worded.1, worded.2), "{method}");
    }
    let (missing_is_answer, ..) = decide(&tables[0], Method::AdaSpocc, Missing::Auto);
    assert!(!missing_is_answer.contains(&true), "possibilities gain nothing from missing cells");
}
