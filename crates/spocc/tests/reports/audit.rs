//! The audit of a panel with known members.

use super::*;

#[test]
fn verdicts_match_how_the_classifiers_were_drawn() {
    let audit = panel(600).audit();
    let verdicts: Vec<String> =
        audit.classifiers.iter().map(|entry| format!("{}: {}", entry.name, entry.verdict)).collect();
    assert_eq!(
        verdicts,
        [
            "good: useful",
            "mediocre: useful",
            "near-copy: copy of mediocre",
            "renamed: copy of mediocre",
            "guesser: guesser",
            "adversary: adversary",
            "constant: constant",
            "no-predictions: no predictions",
            "rare: unproven",
        ]
    );
}

#[test]
fn a_dozen_rows_are_too_few_for_a_guesser_or_a_copy() {
    let audit = panel(12).audit();
    for entry in &audit.classifiers {
        assert_ne!(entry.verdict, Verdict::Guesser, "{}", entry.name);
        assert!(!matches!(entry.verdict, Verdict::CopyOf(_)), "{}", entry.name);
    }
}

/// Verdicts on guessers hold their level even with a row or two per cell.
#[test]
fn pure_guessers_are_rarely_called_useful() {
    for (n_classes, rows) in [(4, 200), (10, 200), (20, 400)] {
        let mut state = 77;
        let names: Vec<String> = (0..n_classes).map(|class| class.to_string()).collect();
        let mut table = Predictions::builder((0..100).map(|k| format!("g{k}"))).expect("distinct names");
        let mut truth = Vec::new();
        for _ in 0..rows {
            let mut any = || Some(names[(random(&mut state) * f64::from(n_classes)) as usize].as_str());
            truth.push(any());
            let answers: Vec<_> = (0..100).map(|_| any()).collect();
            table.push(answers).expect("as wide as the panel");
        }
        let evidence = Evidence::new(&table.finish(), &Truth::new(truth).expect("few labels")).expect("rows");
        let audit = Audit::new(&evidence, None, &Control::default()).expect("rows");
        let useful = audit.classifiers.iter().filter(|entry| entry.verdict == Verdict::Useful).count();
        assert!(useful <= 5, "{useful} of 100 guessers on {n_classes} classes and {rows} rows");
    }
}

#[test]
fn three_equal_answers_do_not_make_a_constant() {
    let rows = (0..30).map(|t| vec![Some(CLASSES[t % 4]), (t < 3).then_some("a")]).collect();
    let truth = (0..30).map(|t| CLASSES[t % 4]).collect();
    let audit = AuditedPanel { names: vec!["good", "new"], rows, truth }.audit();
    assert_eq!(audit.classifiers[1].verdict, Verdict::Unproven);
}

#[test]
fn half_rows_agree_as_whole_rows_do() {
    let panel = panel(40);
    let doubled = |weight: f64, times: usize| {
        let mut table = Predictions::builder(panel.names.iter().copied()).expect("distinct names");
        let mut truth = Vec::new();
        for (row, class) in panel.rows.iter().zip(&panel.truth) {
            for _ in 0..times {
                table.push(row.iter().copied()).expect("as wide as the panel");
                truth.push(Some(*class));
            }
        }
        let weights = vec![weight; truth.len()];
        let options = Counting { weights: Some(&weights), ..Counting::default() };
        let truth = Truth::new(truth).expect("few labels");
        let evidence = Evidence::count(&table.finish(), &truth, &options, &Control::default()).expect("rows");
        Audit::new(&evidence, None, &Control::default()).expect("rows")
    };
    let (whole, halves) = (doubled(1.0, 1), doubled(0.5, 2));
    assert_eq!(whole.panel.krippendorff_alpha, halves.panel.krippendorff_alpha);
    assert_eq!(whole.panel.fleiss_kappa, halves.panel.fleiss_kappa);
    for (a, b) in whole.classifiers.iter().zip(&halves.classifiers) {
        assert_eq!((&a.verdict, a.interval), (&b.verdict, b.interval), "{}", a.name);
        assert!((a.p_value - b.p_value).abs() < 1e-9, "{}", a.name);
    }
}

#[test]
fn pairs_that_do_not_fit_leave_the_rest_of_the_audit() {
    let panel = panel(50);
    let small = Control::default().with_memory_limit(300);
    let audit = Audit::new(&panel.evidence(Level::Tally), None, &small).expect("the marginal figures");
    assert!(audit.panel.dendrogram.is_none() && audit.panel.left_out.is_some());
    assert!(audit.to_string().contains("dependence, copies and agreement are left out"));
    assert_eq!(audit.classifiers[0].accuracy, panel.audit().classifiers[0].accuracy);
}

#[test]
fn two_perfect_classifiers_are_not_called_copies() {
    let truth: Vec<&str> = (0..100).map(|t| CLASSES[t % 4]).collect();
    let rows = truth.iter().map(|class| vec![Some(*class); 2]).collect();
    let audit = AuditedPanel { names: vec!["one", "two"], rows, truth }.audit();
    assert!(audit.classifiers.iter().all(|entry| entry.verdict == Verdict::Useful));
    assert_eq!(audit.panel.fleiss_kappa, Some(1.0));
    assert_eq!(audit.panel.krippendorff_alpha, Some(1.0));
    assert_eq!(audit.panel.effective_votes, None, "without errors there is no correlation of errors");
}

#[test]
fn figures_match_their_definitions() {
    let panel = panel(600);
    let audit = panel.audit();
    let adversary = &audit.classifiers[5];
    let right =
        panel.rows.iter().zip(&panel.truth).filter(|(row, truth)| row[5] == Some(**truth)).count() as f64;
    assert_eq!(adversary.accuracy, right / 600.0);
    assert_eq!(adversary.interval, clopper_pearson(right, 600.0));
    assert!(adversary.relabelled_accuracy > 0.85 && adversary.p_value < 1e-10);
    assert_eq!(adversary.degrees_of_freedom, 9);
    // 2 n times the mutual information in nats
    assert!((adversary.g_statistic - 2.0 * 600.0 * adversary.information * 2f64.ln()).abs() < 1e-9);
    assert_eq!(audit.classifiers[7].coverage, 0.0);
    assert_eq!(audit.classifiers[8].coverage, 3.0 / 600.0);
    assert_eq!(audit.n_rows, 600.0);
    let votes = audit.panel.effective_votes.expect("a tally");
    let r = audit.panel.error_correlation.expect("a tally");
    assert!((votes - 9.0 / (1.0 + 8.0 * r)).abs() < 1e-12 && r >= 0.0);
}

#[test]
fn relabelled_accuracy_is_never_below_the_accuracy() {
    let one = |rows: Vec<(&'static str, &'static str, usize)>| {
        let cells: Vec<(&str, &str)> = rows
            .iter()
            .flat_map(|&(predicted, class, n)| std::iter::repeat_n((predicted, class), n))
            .collect();
        let rows = cells.iter().map(|&(predicted, _)| vec![Some(predicted)]).collect();
        let truth = cells.iter().map(|&(_, class)| class).collect();
        let entry = AuditedPanel { names: vec!["k"], rows, truth }.audit().classifiers.remove(0);
        (entry.accuracy, entry.relabelled_accuracy)
    };
    // Always right, with one row of each class: leave-one-out predicted 0 %.
    assert_eq!(one(vec![("a", "a", 1), ("b", "b", 1), ("c", "c", 1)]), (1.0, 1.0));
    // Half right, two classes: leave-one-out predicted 0 %.
    assert_eq!(one(vec![("a", "a", 50), ("a", "b", 50), ("b", "b", 50), ("b", "a", 50)]), (0.5, 0.5));
    assert_eq!(one(vec![("a", "a", 51), ("a", "b", 49), ("b", "b", 51), ("b", "a", 49)]), (0.51, 0.51));
    // A lead of 3 rows in 7 may be chance, one of 6 in 8 is not.
    assert_eq!(one(vec![("a", "a", 2), ("a", "b", 5)]), (2.0 / 7.0, 2.0 / 7.0));
    assert_eq!(one(vec![("a", "a", 1), ("a", "b", 7)]), (1.0 / 8.0, 7.0 / 8.0));
    // A label that is no class stands for the class it goes with.
    assert_eq!(one(vec![("a", "a", 5), ("b", "b", 5), ("no", "b", 5)]), (10.0 / 15.0, 1.0));
}

#[test]
fn an_exactly_independent_classifier_is_not_useful() {
    let truth: Vec<&str> = (0..400).map(|t| CLASSES[t % 2]).collect();
    let rows = (0..400).map(|t| vec![Some(CLASSES[t % 2]), Some(CLASSES[t / 2 % 2])]).collect();
    let audit = AuditedPanel { names: vec!["good", "coin"], rows, truth }.audit();
    let coin = &audit.classifiers[1];
    assert_eq!((coin.g_statistic, coin.p_value, &coin.verdict), (0.0, 1.0, &Verdict::Guesser));
}

#[test]
fn the_most_accurate_of_a_family_is_its_original_whatever_the_order_of_columns() {
    let mut state = 5;
    let any = |state: &mut u64| CLASSES[(random(state) * 4.0) as usize];
    let (mut rows, mut truth) = (Vec::new(), Vec::new());
    for _ in 0..600 {
        let class = any(&mut state);
        let best = if random(&mut state) < 0.7 { class } else { any(&mut state) };
        let copy = |state: &mut u64| Some(if random(state) < 0.05 { any(state) } else { best });
        let alone = if random(&mut state) < 0.6 { class } else { any(&mut state) };
        rows.push(vec![copy(&mut state), copy(&mut state), Some(best), Some(alone)]);
        truth.push(class);
    }
    let forward = AuditedPanel {
        names: vec!["poor", "worse", "best", "alone"],
        rows: rows.clone(),
        truth: truth.clone(),
    };
    rows.iter_mut().for_each(|row| row.reverse());
    let backward = AuditedPanel { names: vec!["alone", "best", "worse", "poor"], rows, truth };
    for panel in [&forward, &backward] {
        let audit = panel.audit();
        for entry in &audit.classifiers {
            let expected = match entry.name.as_str() {
                "best" | "alone" => Verdict::Useful,
                _ => Verdict::CopyOf("best".to_owned()),
            };
            assert_eq!(entry.verdict, expected, "{}", entry.name);
        }
        assert_eq!(audit.panel.families.len(), 1);
        assert_eq!((audit.panel.families[0][0].as_str(), audit.panel.families[0].len()), ("best", 3));
        assert!(audit.to_string().contains("family of copies: best (the most accurate), "), "{audit}");
    }
}

#[test]
fn dependence_is_1_for_copies_0_for_independence_and_blank_where_it_is_not_known() {
    let (mut rows, mut truth) = (Vec::new(), Vec::new());
    for t in 0..160 {
        let (x, y) = (t % 2, t / 2 % 2);
        let few = (t < 19).then_some(CLASSES[x]);
        rows.push(vec![
            Some(CLASSES[x]),
            Some(CLASSES[x]),
            Some(CLASSES[2 + x]),
            Some(CLASSES[y]),
            Some("a"),
            few,
        ]);
        truth.push(CLASSES[x]);
    }
    let names = vec!["one", "copy", "renamed", "independent", "constant", "few"];
    let audit = AuditedPanel { names, rows, truth }.audit();
    let dependence = audit.panel.dependence.as_ref().expect("a tally");
    assert_eq!(dependence.get(0, 1), Some(1.0));
    assert_eq!(dependence.get(2, 0), Some(1.0));
    assert_eq!(dependence.get(0, 3), Some(0.0));
    assert_eq!(dependence.get(0, 4), None, "a constant has no dependence");
    assert_eq!(dependence.get(0, 5), None, "19 joint rows are too few");
    let dissimilarities = audit.panel.dissimilarities.as_ref().expect("a tally");
    assert!((dissimilarities.get(0, 1) - 0.5).abs() < 1e-12, "the paper's is exp(-ln 2)");
    // Merges: the three copies at 1, the independent one at 0; the others have no known pair.
    let tree = audit.dependence_tree();
    let marks: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next_back()).collect();
    assert_eq!(marks.iter().filter(|mark| **mark == "1.00").count(), 2, "{tree}");
    assert_eq!(marks.iter().filter(|mark| **mark == "0.00").count(), 1, "{tree}");
    assert_eq!(marks.iter().filter(|mark| **mark == "-").count(), 2, "{tree}");
}

#[test]
fn a_table_is_audited_as_the_model_that_is_fitted_to_it_by_default() {
    let panel = panel(300);
    let evidence = panel.evidence(Level::Tally);
    let options = Options { missing: Missing::Auto, ..Options::default() };
    let model = Model::fit(&Ladder, &evidence, &options, &Control::default()).expect("rows");
    let of_table = Audit::of_evidence(&evidence, &Control::default()).expect("rows");
    assert_eq!(of_table, Audit::new(&evidence, Some(&model), &Control::default()).expect("rows"));
    assert_eq!(of_table.influence_on, Some(Method::Ladder));
    assert!(of_table.to_string().contains("influence: share of decisions by ladder that change without it"));
    let majority = Majority.fit(&evidence).expect("rows");
    let of_majority = Audit::new(&evidence, Some(&majority), &Control::default()).expect("rows");
    assert!(of_majority.to_string().contains("influence: share of decisions by majority"));
}

#[test]
fn copies_count_as_one_voice() {
    let mut state = 9;
    let (mut rows, mut truth) = (Vec::new(), Vec::new());
    for _ in 0..400 {
        let class = CLASSES[(random(&mut state) * 4.0) as usize];
        let predicted =
            if random(&mut state) < 0.6 { class } else { CLASSES[(random(&mut state) * 4.0) as usize] };
        rows.push(vec![Some(predicted); 5]);
        truth.push(class);
    }
    let audit = AuditedPanel { names: vec!["1", "2", "3", "4", "5"], rows, truth }.audit();
    assert!((audit.panel.effective_votes.expect("a tally") - 1.0).abs() < 1e-12);
}

#[test]
fn a_lower_level_omits_figures_and_changes_none() {
    let panel = panel(300);
    let full = panel.audit();
    for level in [Level::Marginals, Level::Pairs] {
        let audit = Audit::new(&panel.evidence(level), None, &Control::default()).expect("rows");
        assert_eq!(audit.panel.dendrogram.is_some(), level == Level::Pairs);
        assert!(audit.panel.fleiss_kappa.is_none() && audit.panel.effective_votes.is_none());
        assert!(
            audit.to_string().contains("are left out: they need a tally, and these counts are"),
            "{audit}"
        );
        for (a, b) in audit.classifiers.iter().zip(&full.classifiers) {
            assert_eq!((a.accuracy, a.interval, a.information), (b.accuracy, b.interval, b.information));
        }
    }
    let pairs = Audit::new(&panel.evidence(Level::Pairs), None, &Control::default()).expect("rows");
    assert_eq!(pairs.panel.dissimilarities, full.panel.dissimilarities);
}

#[test]
fn influence_is_the_share_of_decisions_that_change() {
    let panel = panel(200);
    let evidence = panel.evidence(Level::Tally);
    for method in Method::ALL {
        let model = method.combiner().fit(&evidence).expect("rows");
        let audit = Audit::new(&evidence, Some(&model), &Control::default()).expect("rows");
        let decide = |table: &Predictions| -> Vec<u16> { model.predict(table).expect("all columns").class };
        let before = decide(&panel.predictions());
        for (k, entry) in audit.classifiers.iter().enumerate() {
            let mut muted = AuditedPanel {
                names: panel.names.clone(),
                rows: panel.rows.clone(),
                truth: panel.truth.clone(),
            };
            muted.rows.iter_mut().for_each(|row| row[k] = None);
            let changed = decide(&muted.predictions()).iter().zip(&before).filter(|(a, b)| a != b).count();
            assert_eq!(entry.influence, Some(changed as f64 / 200.0), "{method} {}", entry.name);
        }
    }
}
