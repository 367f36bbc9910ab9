//! Open answers: what must hold whatever the answers are called.

use spocc::{
    Control, Error, Evidence, Fit, Ladder, Method, Model, Options,
    conformal::{ConformalScheme, ConformalSettings, Coverage},
    data::{Answers, ClassWeights, Missing, Normalise},
    evaluate::{CompareSettings, compare},
    evidence::{Counting, Level},
    predict::DecisionColumns,
};

/// A number from 0 to below `n` that looks random.
fn draw(seed: u64, a: u64, b: u64, n: u64) -> u64 {
    let mut x = seed ^ a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    for _ in 0..3 {
        x = (x ^ (x >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb);
    }
    (x >> 33) % n
}

type Rows = Vec<(Vec<Option<String>>, Option<String>)>;

/// Rows of classifiers of these accuracies (in %): a wrong answer is one of three of its row. Every tenth cell is missing.
fn panel(n: u64, accuracies: &[u64], seed: u64) -> Rows {
    let row = |t: u64| {
        let answer = |k: u64, accuracy: &u64| {
            let right = draw(seed, t, 2 * k, 100) < *accuracy;
            let value = if right { 0 } else { 1 + draw(seed, t, 2 * k + 1, 3) };
            (draw(seed, t, 1000 + k, 10) > 0).then(|| format!("{}", 100 * t + value))
        };
        let cells = (0..).zip(accuracies).map(|(k, accuracy)| answer(k, accuracy)).collect();
        (cells, Some((100 * t).to_string()))
    };
    (0..n).map(row).collect()
}

const NAMES: [&str; 5] = ["ann", "bob", "cat", "dan", "eve"];

fn table(names: &[&str], rows: &Rows) -> Answers {
    let mut table = Answers::builder(names.iter().copied()).expect("names");
    for (cells, truth) in rows {
        table.push(cells.clone(), truth.clone()).expect("a row");
    }
    table.finish()
}

fn evidence(names: &[&str], rows: &Rows) -> Evidence {
    let table = table(names, rows);
    Evidence::new(table.predictions(), table.truth()).expect("rows")
}

fn usual() -> Rows {
    panel(200, &[90, 75, 75, 60, 20], 7)
}

/// The answers that a model decides for.
fn decided(model: &Model, table: &Answers) -> Vec<Option<String>> {
    let decided = model.predict(table.predictions()).expect("the same classifiers");
    (0..table.n_rows()).map(|row| table.answer(row, decided.class[row]).map(ToString::to_string)).collect()
}

fn accuracy(model: &Model, names: &[&str], rows: &Rows) -> f64 {
    let found = decided(model, &table(names, rows));
    let n_correct = found.iter().zip(rows).filter(|(found, (_, truth))| *found == truth).count();
    n_correct as f64 / rows.len() as f64
}

#[test]
fn the_ladder_is_better_than_a_vote_and_than_the_best_classifier() {
    // One good classifier, two mediocre ones, and three copies of a bad one.
    let mut rows = panel(600, &[80, 70, 70, 30], 3);
    for (cells, _) in &mut rows {
        let bad = cells[3].clone();
        cells.extend([bad.clone(), bad]);
    }
    let names = ["ann", "bob", "cat", "dan", "dan2", "dan3"];
    let test = rows.split_off(100);
    let evidence = evidence(&names, &rows);
    let of = |method: Method| {
        let model = method.combiner().fit(&evidence).expect("a method for open answers");
        accuracy(&model, &names, &test)
    };
    let [ladder, stacking, vote, best] =
        [Method::Ladder, Method::Stacking, Method::Majority, Method::Selection].map(of);
    assert!(ladder > vote + 0.1 && ladder > best + 0.02, "{ladder} {stacking} {vote} {best}");
    assert!(stacking > vote, "{stacking} {vote}");
}

#[test]
fn renaming_the_answers_of_a_row_changes_nothing() {
    let rows = usual();
    let rename = |text: &String| format!("answer {}", text.chars().rev().collect::<String>());
    let renamed: Rows = rows
        .iter()
        .map(|(cells, truth)| {
            (cells.iter().map(|cell| cell.as_ref().map(rename)).collect(), truth.as_ref().map(rename))
        })
        .collect();
    assert_eq!(evidence(&NAMES, &rows).to_bytes(), evidence(&NAMES, &renamed).to_bytes());
}

#[test]
fn the_order_of_rows_and_columns_changes_nothing() {
    let rows = usual();
    let reversed: Rows = rows.iter().rev().cloned().collect();
    assert_eq!(evidence(&NAMES, &rows).to_bytes(), evidence(&NAMES, &reversed).to_bytes());
    let backwards: Rows =
        rows.iter().map(|(cells, truth)| (cells.iter().rev().cloned().collect(), truth.clone())).collect();
    let names: Vec<&str> = NAMES.iter().rev().copied().collect();
    let control = Control::default();
    let selected = evidence(&names, &backwards).select(&NAMES, &control).expect("the same names");
    assert_eq!(evidence(&NAMES, &rows).to_bytes(), selected.to_bytes());
    let models = [(&NAMES[..], &rows), (&names[..], &backwards)].map(|(names, rows)| {
        decided(&Ladder.fit(&evidence(names, rows)).expect("rows"), &table(names, rows))
    });
    assert_eq!(models[0], models[1]);
}

#[test]
fn evidence_of_parts_merges_to_that_of_the_whole() {
    let rows = usual();
    let (first, second) = (rows[..70].to_vec(), rows[70..].to_vec());
    let control = Control::default();
    let merged = evidence(&NAMES, &first).merge(&evidence(&NAMES, &second), &control).expect("one panel");
    let whole = evidence(&NAMES, &rows);
    assert_eq!(merged.to_bytes(), whole.to_bytes());
    let read = Evidence::from_bytes(&whole.to_bytes()).expect("its own bytes");
    assert!(read.is_open() && read.to_bytes() == whole.to_bytes());
    // Fewer classifiers have fewer candidates, numbered as if they had been counted alone.
    let few: Rows = rows.iter().map(|(cells, truth)| (cells[1..4].to_vec(), truth.clone())).collect();
    let selected = whole.select(&NAMES[1..4], &control).expect("known names");
    assert_eq!(selected.to_bytes(), evidence(&NAMES[1..4], &few).to_bytes());
}

#[test]
fn an_exact_copy_counts_once() {
    let rows = usual();
    let copied: Rows = rows
        .iter()
        .map(|(cells, truth)| ([&cells[..], &cells[3..4], &cells[3..4]].concat(), truth.clone()))
        .collect();
    let plain = Ladder.fit(&evidence(&NAMES, &rows)).expect("rows");
    let weights = |model: &Model| {
        let spocc::methods::Parameters::Open { weights, .. } = model.parameters() else { panic!("open") };
        weights
    };
    // Whether the names of the copies come after or before all others.
    for copies in [["fay", "gus"], ["aa", "ab"]] {
        let names = [&NAMES[..], &copies].concat();
        let with_copies = Ladder.fit(&evidence(&names, &copied)).expect("rows");
        assert_eq!(decided(&plain, &table(&NAMES, &rows)), decided(&with_copies, &table(&names, &copied)));
        let (one, three) = (weights(&plain), weights(&with_copies));
        assert!((one[3] - (three[3] + three[5] + three[6])).abs() < 1e-9, "{one:?} {three:?}");
        assert!((one[0] - three[0]).abs() < 1e-9, "{one:?} {three:?}");
    }
}

#[test]
fn a_classifier_that_always_gives_a_fresh_answer_is_neutral() {
    let rows = usual();
    let fresh: Rows = rows
        .iter()
        .enumerate()
        .map(|(t, (cells, truth))| ([&[Some(format!("fresh {t}"))], &cells[..]].concat(), truth.clone()))
        .collect();
    let names = ["a fresh one", "ann", "bob", "cat", "dan", "eve"];
    let plain = Ladder.fit(&evidence(&NAMES, &rows)).expect("rows");
    let with_fresh = Ladder.fit(&evidence(&names, &fresh)).expect("rows");
    let (plain_table, fresh_table) = (table(&NAMES, &rows), table(&names, &fresh));
    let found = decided(&with_fresh, &fresh_table);
    for (row, (expected, found)) in decided(&plain, &plain_table).iter().zip(found).enumerate() {
        assert_eq!(*expected, found, "row {row}");
    }
    let columns = DecisionColumns { probability: true, ..DecisionColumns::default() };
    let none = |model: &Model, table: &Answers| {
        let decided = model.decide_all(table.predictions(), columns, &Control::default()).expect("rows");
        decided.of_row(&decided.probability, 5).expect("probabilities")[0]
    };
    assert_eq!(none(&plain, &plain_table).to_bits(), none(&with_fresh, &fresh_table).to_bits());
}

#[test]
fn probabilities_add_up_over_the_candidates_and_none_of_these() {
    let mut rows = usual();
    // On every eighth row nobody gives the true answer.
    rows.iter_mut().step_by(8).for_each(|(_, truth)| *truth = Some("something else".into()));
    let evidence = evidence(&NAMES, &rows);
    assert_eq!(evidence.answerable_share(), Some(1.0 - 25.0 / 200.0 - unanswerable_share(&rows)));
    let model = Ladder.fit(&evidence).expect("rows");
    let table = table(&NAMES, &rows);
    let decided =
        model.decide_all(table.predictions(), DecisionColumns::ALL, &Control::default()).expect("rows");
    let mut sum_none = 0.0;
    for row in 0..table.n_rows() {
        let shares = decided.of_row(&decided.probability, row).expect("probabilities");
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(shares[table.n_candidates(row) + 1..].iter().all(|share| *share == 0.0));
        let best = (1..=table.n_candidates(row)).map(|j| shares[j]).fold(0.0, f64::max);
        assert_eq!(shares[usize::from(decided.class[row])], best, "the best candidate, never none of these");
        sum_none += shares[0];
        let alone = model.align(table.predictions()).expect("aligned").decide(row).expect("a row");
        assert_eq!(alone.class, usize::from(decided.class[row]));
        assert_eq!(alone.probability.as_deref(), Some(shares));
        assert_eq!(alone.margin, decided.margin.as_ref().expect("margins")[row]);
    }
    let share = sum_none / 200.0;
    let expected = 1.0 - evidence.answerable_share().expect("labelled rows");
    assert!((share - expected).abs() < 0.05, "none of these: {share} on average, {expected} of the rows");
}

/// The share of rows, other than every eighth, whose true answer nobody gives.
fn unanswerable_share(rows: &Rows) -> f64 {
    let lacks = |(at, (cells, truth)): (usize, &(Vec<Option<String>>, Option<String>))| {
        at % 8 != 0 && !cells.contains(truth)
    };
    rows.iter().enumerate().filter(|row| lacks(*row)).count() as f64 / rows.len() as f64
}

#[test]
fn a_model_decides_rows_with_more_candidates_than_it_has_seen() {
    let rows: Rows = panel(60, &[90, 80, 70, 70, 60], 5)
        .into_iter()
        .map(|(cells, truth)| {
            let first = truth.clone();
            let cells = cells.iter().map(|cell| if *cell == first { cell.clone() } else { None }).collect();
            (cells, truth)
        })
        .collect();
    let model = Ladder.fit(&evidence(&NAMES, &rows)).expect("rows");
    assert_eq!(model.classes().len(), 2, "no two different answers were given on a row");
    let new = table(&NAMES, &vec![(["a", "b", "c", "b", "d"].map(|x| Some(x.to_owned())).to_vec(), None)]);
    assert_eq!(decided(&model, &new), [Some("b".to_owned())]);
    for method in [Method::Majority, Method::Selection, Method::WeightedVote, Method::Stacking] {
        let model = method.combiner().fit(&evidence(&NAMES, &rows)).expect("rows");
        assert!(decided(&model, &new)[0].is_some(), "{method}");
    }
}

#[test]
fn rows_without_a_usable_answer_are_left_undecided() {
    let model = Ladder.fit(&evidence(&NAMES, &usual())).expect("rows");
    let new = table(&NAMES, &vec![(vec![None; 5], Some("7".into()))]);
    assert_eq!(decided(&model, &new), [None]);
    let found =
        model.decide_all(new.predictions(), DecisionColumns::ALL, &Control::default()).expect("a row");
    assert_eq!((found.class[0], found.n_prior()), (0, 1));
    assert_eq!(found.of_row(&found.probability, 0).expect("probabilities")[0], 1.0);
}

#[test]
fn prediction_sets_have_their_coverage_and_none_of_these_may_be_a_member() {
    let rows = panel(2000, &[70, 60, 60, 50, 20], 11);
    let (training, test) = rows.split_at(1000);
    let settings = ConformalSettings::new(ConformalScheme::Split);
    let options = Options { calibrate: Some(settings), ..Options::default() };
    let (training, test) = (evidence(&NAMES, &training.to_vec()), table(&NAMES, &test.to_vec()));
    for method in Method::ALL.into_iter().filter(|method| method.capabilities().open_answers) {
        let model = Model::fit(&*method.combiner(), &training, &options, &Control::default()).expect("rows");
        check_coverage(&model, &test);
    }
}

/// The share of sets with the truth is that asked for, within four standard deviations over 250 calibration and 1000 test
/// rows; at the larger coverage, none of these is in some sets.
fn check_coverage(model: &Model, test: &Answers) {
    for coverage in [0.8, 0.95] {
        let mut n_none = 0;
        let sets = model
            .predict_sets(test.predictions(), Coverage::try_from(coverage).expect("a share"), 1)
            .expect("calibrated");
        let mut covered = 0;
        for (row, set) in sets.iter().enumerate() {
            let truth: u16 = test.truth().get(row).expect("a truth").to_string().parse().expect("a number");
            covered += usize::from(set.contains(&truth));
            n_none += usize::from(set.contains(&0));
            assert!(set.iter().all(|class| usize::from(*class) <= test.n_candidates(row)));
        }
        let found = covered as f64 / 1000.0;
        // Without probabilities, scores have few values, so that sets can be larger than needed.
        let tolerance = 4.0 * (coverage * (1.0 - coverage) * (1.0 / 250.0 + 1.0 / 1000.0)).sqrt();
        assert!(found > coverage - tolerance, "{}, {coverage}: {found}", model.method());
        if model.method() == Method::Ladder {
            assert!(found < coverage + tolerance, "{coverage}: {found}");
            assert!(n_none > 0 || coverage < 0.9, "none of these is never in a set");
        }
    }
}

#[test]
fn comparisons_and_held_out_accuracies_accept_open_answers() {
    let evidence = evidence(&NAMES, &usual());
    let settings = CompareSettings { repeats: 1, curve: false, ..CompareSettings::default() };
    let compared = compare(&evidence, None, &settings, &Control::default()).expect("rows");
    let methods: Vec<Method> = compared.methods.iter().map(|result| result.method).collect();
    assert_eq!(methods.len(), 5, "{methods:?}");
    assert!(compared.refused.is_empty(), "{:?}", compared.refused);
    let options = Options { evaluate: true, ..Options::default() };
    let model = Model::fit(&Ladder, &evidence, &options, &Control::default()).expect("rows");
    let measured = model.held_out_accuracy().expect("enough rows").accuracy;
    let ladder = compared.methods.iter().find(|result| result.method == Method::Ladder).expect("compared");
    assert!((measured - ladder.accuracy).abs() < 1e-12, "{measured} {}", ladder.accuracy);
}

#[test]
fn unlabelled_rows_are_used_and_no_truth_is_needed() {
    let mut rows = panel(400, &[90, 85, 85, 30, 30], 13);
    rows[20..].iter_mut().for_each(|(_, truth)| *truth = None);
    let whole = evidence(&NAMES, &rows);
    assert_eq!((whole.n_rows(), whole.n_unlabelled()), (20.0, 380.0));
    let with_unlabelled = Ladder.fit(&whole).expect("rows");
    let labelled_alone = Ladder.fit(&whole.labelled(&Control::default()).expect("rows")).expect("rows");
    assert_ne!(with_unlabelled.parameters(), labelled_alone.parameters());
    let unknown: Rows = rows.iter().map(|(cells, _)| (cells.clone(), None)).collect();
    let model = Ladder.fit(&evidence(&NAMES, &unknown)).expect("unlabelled rows");
    let with_truth = panel(400, &[90, 85, 85, 30, 30], 13);
    let found = accuracy(&model, &NAMES, &with_truth);
    let vote = Method::Majority.combiner().fit(&evidence(&NAMES, &unknown)).expect("rows");
    assert!(found >= accuracy(&vote, &NAMES, &with_truth), "{found}");
}

#[test]
fn models_are_read_as_they_were_written() {
    let evidence = evidence(&NAMES, &usual());
    for method in Method::ALL.into_iter().filter(|method| method.capabilities().open_answers) {
        let model = method.combiner().fit(&evidence).expect("rows");
        let read = Model::from_bytes(&model.to_bytes()).expect("its own bytes");
        assert_eq!(read.to_bytes(), model.to_bytes());
        let new = table(&NAMES, &panel(50, &[80; 5], 2));
        assert_eq!(decided(&read, &new), decided(&model, &new));
        assert!(read.is_open() && read.normalise() == Some(Normalise::None));
    }
}

#[test]
fn requests_that_need_classes_are_refused_in_a_sentence() {
    let rows = usual();
    let open = table(&NAMES, &rows);
    let evidence = evidence(&NAMES, &rows);
    let message = |error: Error| error.to_string();
    let refused = Method::NaiveBayes.combiner().fit(&evidence).map(drop).map_err(message);
    assert_eq!(
        refused,
        Err("open answers: expected a method that treats all answers alike (ladder, selection, majority, \
             weighted-vote or stacking), found naive-bayes"
            .to_owned())
    );
    let count = |counting: Counting<'_>| {
        Evidence::count(open.predictions(), open.truth(), &counting, &Control::default())
            .map(drop)
            .map_err(message)
    };
    let classes = count(Counting { classes: Some(vec!["1".into()]), ..Counting::default() });
    assert_eq!(
        classes,
        Err("open answers: expected no list of classes, since any answer can be true, found one".to_owned())
    );
    let level = count(Counting { level: Level::Marginals, ..Counting::default() });
    assert_eq!(level, Err("open answers: expected a tally, found marginals".to_owned()));
    for options in [
        Options { missing: Missing::Answer, ..Options::default() },
        Options { class_weights: ClassWeights::Balanced, ..Options::default() },
        Options {
            calibrate: Some(ConformalSettings {
                per_class: true,
                ..ConformalSettings::new(ConformalScheme::Split)
            }),
            ..Options::default()
        },
    ] {
        let refused = Model::fit(&Ladder, &evidence, &options, &Control::default()).map(drop);
        assert!(matches!(refused, Err(Error::OpenAnswers { .. })), "{refused:?}");
    }
    let model = Ladder.fit(&evidence).expect("rows");
    let mut closed = spocc::Predictions::builder(NAMES).expect("names");
    closed.push([Some("1"); 5]).expect("a row");
    let refused = model.predict(&closed.finish()).map(drop);
    assert!(matches!(refused, Err(Error::OpenAnswers { .. })), "{refused:?}");
}

#[test]
fn an_explanation_names_the_answers_and_its_contributions_add_up() {
    let model = Ladder.fit(&evidence(&NAMES, &usual())).expect("rows");
    let cells = ["72", "72", "75", "72", "99"].map(|x| Some(x.to_owned())).to_vec();
    let new = table(&NAMES, &vec![(cells, None)]);
    let explained = new.explain(&model, 0, false).expect("a row");
    let classes: Vec<String> = explained.classes.iter().map(ToString::to_string).collect();
    assert_eq!(classes, ["none of these", "72", "75", "99"]);
    assert_eq!(explained.decision.label.to_string(), "72");
    assert_eq!(explained.decision.probability.as_ref().map(Vec::len), Some(4));
    let predictions: Vec<&str> =
        explained.contributions.iter().filter_map(|row| row.prediction.as_deref()).collect();
    assert_eq!(predictions, ["72", "72", "75", "72", "99"]);
    let shares = explained.decision.probability.clone().expect("probabilities");
    let next = explained.runner_up.expect("several candidates");
    let odds = (shares[1] / shares[next]).ln();
    let sum: f64 = explained.contributions.iter().filter_map(|row| row.contribution).sum();
    let none = if next == 0 {
        let spocc::methods::Parameters::Open { none, .. } = model.parameters() else { panic!("open") };
        none
    } else {
        0.0
    };
    assert!((odds - (sum - none)).abs() < 1e-9, "{odds} {sum} {none}");
    let text = explained.to_string();
    assert!(text.contains("decided: 72"), "{text}");
    // On a row of two classifiers the more accurate one decides, so that its other answer changes the decision.
    let two = table(
        &NAMES,
        &vec![(["5", "6", "", "", ""].map(|x| (!x.is_empty()).then(|| x.to_owned())).to_vec(), None)],
    );
    let flips = two.explain(&model, 0, false).expect("a row").flips.expect("few labels");
    let found = flips.iter().find(|flip| flip.classifier == "ann" && flip.instead.is_some()).expect("a flip");
    assert_eq!(
        (found.instead.as_ref().map(ToString::to_string).as_deref(), found.becomes.to_string().as_str()),
        (Some("6"), "6")
    );
}

#[test]
fn an_appended_classifier_gives_the_model_of_the_whole_panel() {
    let rows = usual();
    let few: Rows = rows.iter().map(|(cells, truth)| (cells[1..].to_vec(), truth.clone())).collect();
    let model = Ladder.fit(&evidence(&NAMES[1..], &few)).expect("rows");
    let control = Control::default();
    let grown = model.append(&evidence(&NAMES, &rows), &control).expect("the same rows");
    let names: Vec<&str> = NAMES[1..].iter().chain(&NAMES[..1]).copied().collect();
    let whole = evidence(&NAMES, &rows).select(&names, &control).expect("known names");
    assert_eq!(grown.to_bytes(), Ladder.fit(&whole).expect("rows").to_bytes());
}

#[test]
fn good_classifiers_that_agree_on_easy_rows_are_not_copies() {
    // Three classifiers are right on all 30 labelled rows, a fourth is wrong on one row in five.
    let mut rows = panel(30, &[100, 100, 100, 80], 21);
    rows.iter_mut().for_each(|(cells, truth)| cells[..3].iter_mut().for_each(|cell| *cell = truth.clone()));
    let names = ["ann", "bob", "cat", "dan"];
    let model = Ladder.fit(&evidence(&names, &rows)).expect("rows");
    let spocc::methods::Parameters::Open { leaves, .. } = model.parameters() else { panic!("open") };
    assert_eq!(leaves.len(), 4, "{leaves:?}");
}

#[test]
fn the_names_of_classifiers_change_nothing_and_a_fresh_answer_is_neutral_beside_two() {
    let rows: Rows = panel(120, &[85, 60], 17)
        .into_iter()
        .enumerate()
        .map(|(t, (cells, truth))| ([&cells[..], &[Some(format!("fresh {t}"))]].concat(), truth))
        .collect();
    let plain: Rows = rows.iter().map(|(cells, truth)| (cells[..2].to_vec(), truth.clone())).collect();
    let weights = |names: &[&str], rows: &Rows| {
        let model = Ladder.fit(&evidence(names, rows)).expect("rows");
        let spocc::methods::Parameters::Open { weights, none, .. } = model.parameters() else {
            panic!("open")
        };
        [weights[0], weights[1], none]
    };
    let expected = weights(&["a", "b"], &plain);
    for (names, rows) in [(&["b", "a"][..], &plain), (&["a", "b", "c"], &rows), (&["b", "c", "a"], &rows)] {
        let found = weights(names, rows);
        let differ = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-9;
        assert!(!expected.iter().zip(&found).any(differ), "{names:?}: {expected:?} {found:?}");
    }
}

#[test]
fn truths_of_another_table_are_refused() {
    let one = table(&["a", "b"], &vec![(vec![Some("1".into()), Some("1".into())], None)]);
    let other = table(&["a", "b"], &vec![(vec![Some("1".into()), Some("2".into())], Some("2".into()))]);
    let refused = Evidence::new(one.predictions(), other.truth()).map(drop);
    assert!(matches!(refused, Err(Error::TruthNotAClass { row: 1, .. })), "{refused:?}");
}

#[test]
fn one_classifier_alone_decides_for_its_answers() {
    let rows = panel(40, &[70], 1);
    let model = Ladder.fit(&evidence(&["ann"], &rows)).expect("rows");
    let expected: Vec<Option<String>> = rows.iter().map(|(cells, _)| cells[0].clone()).collect();
    assert_eq!(decided(&model, &table(&["ann"], &rows)), expected);
}
