//! What margins and explanations say of decisions, and reports as JSON.

use super::*;

#[test]
fn the_margin_is_one_less_the_runner_up_over_the_best_on_the_scale_of_the_method() {
    let panel = panel(300);
    let (table, evidence) = (panel.predictions(), panel.evidence(Level::Tally));
    for method in Method::ALL {
        let model = method.combiner().fit(&evidence).expect("rows");
        let aligned = model.align(&table).expect("all columns");
        for decision in (0..300).map(|row| aligned.decide(row).expect("a row")) {
            let scale =
                decision.probability.clone().unwrap_or_else(|| decision.possibility.degrees().to_vec());
            let mut sorted = scale.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let expected = if decision.is_tie() { 0.0 } else { 1.0 - sorted[1] / sorted[0] };
            let votes = matches!(method, Method::Majority | Method::WeightedVote | Method::ExpVote);
            assert!(votes || (decision.margin - expected).abs() < 1e-9, "{method}: {decision:?}");
        }
    }
}

#[test]
fn margins_of_votes_are_those_of_their_shares() {
    // Two classes: 3 votes against 2 leave 1/3, where the transformed share left 0.6.
    let names = vec!["1", "2", "3", "4", "5"];
    let rows: Vec<Vec<Option<&'static str>>> = vec![
        vec![Some("a"), Some("a"), Some("a"), Some("b"), Some("b")],
        vec![Some("a"), Some("a"), Some("b"), Some("b"), None],
        vec![Some("b"); 5],
    ];
    let panel = AuditedPanel { names, rows, truth: vec!["a", "b", "b"] };
    let model = Majority.fit(&panel.evidence(Level::Tally)).expect("rows");
    let table = panel.predictions();
    let aligned = model.align(&table).expect("all columns");
    let margins = [0, 1, 2].map(|row| aligned.decide(row).expect("a row").margin);
    assert!((margins[0] - 1.0 / 3.0).abs() < 1e-12 && margins[1..] == [0.0, 1.0], "{margins:?}");
}

fn explained(model: &Model, table: &Predictions, row: usize) -> spocc::explain::Explanation {
    model.align(table).expect("all columns").explain(row).expect("a row")
}

#[test]
fn flips_are_all_the_answers_that_flip() {
    let panel = panel(150);
    let table = panel.predictions();
    for method in [Method::AdaSpocc, Method::Spocc, Method::NaiveBayes, Method::Majority] {
        let model = method.combiner().fit(&panel.evidence(Level::Tally)).expect("rows");
        for row in 0..10 {
            let explanation = explained(&model, &table, row);
            let mut flips = Vec::new();
            for k in 0..panel.names.len() {
                for instead in CLASSES
                    .map(Some)
                    .into_iter()
                    .chain([None])
                    .filter(|instead| *instead != panel.rows[row][k])
                {
                    let mut changed = panel.rows[row].clone();
                    changed[k] = instead;
                    let single =
                        AuditedPanel { names: panel.names.clone(), rows: vec![changed], truth: vec!["a"] };
                    let becomes =
                        model.align(&single.predictions()).expect("all columns").decide(0).expect("a row");
                    if becomes.class != explanation.decision.class {
                        flips.push((panel.names[k].to_owned(), instead.map(Label::from), becomes.label));
                    }
                }
            }
            let found: Vec<_> = explanation
                .flips
                .iter()
                .flatten()
                .map(|flip| (flip.classifier.clone(), flip.instead.clone(), flip.becomes.clone()))
                .collect();
            assert_eq!(found, flips, "{method} row {row}");
        }
    }
}

#[test]
fn the_last_join_is_the_decision_and_contributions_add_up_for_a_product() {
    let panel = panel(300);
    let table = panel.predictions();
    let evidence = panel.evidence(Level::Tally);
    let ada = AdaSpocc::default().fit(&evidence).expect("rows");
    let explanation = explained(&ada, &table, 3);
    let last = explanation.joins.last().expect("several predictions");
    for (joined, decided) in last.possibility.iter().zip(explanation.decision.possibility.degrees()) {
        assert!((joined - decided).abs() <= 1e-12 * decided);
    }
    // At exponent 1 surprisals add up, so the contribution of each classifier is exactly its share of the lead.
    let product = spocc::methods::SpoccExponent::Fixed(spocc::fusion::Exponent::PRODUCT);
    let model = Spocc { exponent: product }.fit(&evidence).expect("rows");
    for row in 0..20 {
        let explanation = explained(&model, &table, row);
        let sum: f64 = explanation.contributions.iter().filter_map(|row| row.contribution).sum();
        let degrees = explanation.decision.possibility.degrees();
        let next = explanation.runner_up.expect("four classes");
        let lead = (degrees[explanation.decision.class] / degrees[next]).ln();
        assert!((sum - lead).abs() < 1e-9, "row {row}: {sum} {lead}");
    }
}

#[test]
fn a_row_without_predictions_is_explained_by_the_prior() {
    let panel = panel(100);
    let model = Majority.fit(&panel.evidence(Level::Tally)).expect("rows");
    let unanswered = AuditedPanel { names: panel.names.clone(), rows: vec![vec![None; 9]], truth: vec!["a"] };
    let explanation = explained(&model, &unanswered.predictions(), 0);
    assert_eq!(explanation.decision.basis, Basis::Prior);
    assert!(explanation.to_string().contains("the most frequent class: no prediction"));
    let rows = &explanation.contributions;
    assert!(rows.iter().all(|row| row.prediction.is_none() && row.contribution.is_none()));
}

#[test]
fn explanations_are_text_for_a_person() {
    let panel = panel(300);
    let model = AdaSpocc::default().fit(&panel.evidence(Level::Tally)).expect("rows");
    let text = explained(&model, &panel.predictions(), 0).to_string();
    assert!(text.starts_with("decided: "), "{text}");
    for name in &panel.names {
        assert!(text.contains(name), "{name} is missing:\n{text}");
    }
    assert!(text.contains("exponent") && text.contains("change the decision"), "{text}");
    assert!(text.lines().all(|line| line == line.trim_end()), "{text}");
}

fn json<T: serde::Serialize>(report: &T) -> serde_json::Value {
    serde_json::to_value(report).expect("reports are plain data")
}

#[test]
fn reports_are_json_in_the_words_of_every_face() {
    let mut rows = Predictions::builder(["a", "b", "c"]).expect("three names");
    let mut truth = Truth::default();
    for t in 0..60i64 {
        let poor = if t % 5 == 0 { 1 - t % 2 } else { t % 2 };
        rows.push([Some(poor), Some(poor), (t % 3 > 0).then_some(1 - t % 2)]).expect("three answers");
        truth.push(Some(t % 2)).expect("two labels");
    }
    let rows = rows.finish();
    let evidence = Evidence::new(&rows, &truth).expect("rows");
    let model = Spocc { exponent: SpoccExponent::Fixed(Exponent::MINIMUM) }.fit(&evidence).expect("rows");

    let audit = json(&Audit::new(&evidence, Some(&model), &Control::default()).expect("rows"));
    assert_eq!(audit["classes"][1], serde_json::json!({"label": 1, "n_rows": 30}));
    assert_eq!(
        (&audit["classifiers"][1]["verdict"], &audit["classifiers"][1]["original"]),
        (&"copy-of".into(), &"a".into())
    );
    assert_eq!(audit["classifiers"][0]["verdict"], "useful");

    let explained = json(&model.align(&rows).expect("same names").explain(2).expect("a row"));
    assert_eq!(explained["decision"]["label"], 0);
    assert_eq!(explained["decision"]["basis"], "panel");
    assert_eq!(explained["joins"][0]["exponent"], "inf");
    assert_eq!(json(&model.parameters()), serde_json::json!({"exponent": "inf"}));
    for method in Method::ALL {
        assert_eq!(json(&method), method.to_string());
    }
}
