//! Deciding a whole table at once, by any fast path, gives the same decisions as deciding each row in full.

mod panels;

use panels::{Panel, Random, Shape};
use spocc::{
    Control, Decision, Error, Evidence, Fit, Label, Method, Model, Options, Predictions, Truth,
    data::{IntegerSlice, IntegerTable, Missing, PredictionTable},
    decision::TieBreak,
    evidence::{Counting, Level},
    predict::{DecisionColumns, Decisions},
};

/// Shapes of tables that take every fast path: row keys, four columns at a time, two, one, and sparse rows.
const SHAPES: [(usize, usize, usize, f64); 11] = [
    (3, 3, 300, 0.2),
    (5, 2, 6_000, 0.1),
    (9, 3, 20_000, 0.05),
    (10, 5, 60_000, 0.0),
    (7, 12, 8_000, 0.1),
    (11, 9, 12_000, 0.1),
    (14, 4, 20_000, 0.1),
    (30, 5, 3_000, 0.3),
    (6, 40, 5_000, 0.1),
    (4, 130, 2_000, 0.1),
    (60, 4, 2_000, 0.97),
];

fn panel((n_classifiers, n_classes, n_rows, missing_share): (usize, usize, usize, f64), seed: u64) -> Panel {
    Panel::new(Shape {
        n_classifiers,
        n_classes,
        n_others: seed as usize % 3,
        n_rows,
        missing_share,
        weighted: false,
        seed,
    })
}

/// The same rows with columns shuffled, an additional column, and some labels that the model has not seen.
fn disguised(panel: &Panel, seed: u64) -> Predictions {
    let mut random = Random(seed);
    let order = random.order(panel.names.len());
    let mut names: Vec<String> = order.iter().map(|&k| panel.names[k].clone()).collect();
    names.insert(1, "additional".to_owned());
    let mut rows = Predictions::builder(names).expect("distinct names");
    for row in &panel.rows {
        let mut cells: Vec<Option<String>> =
            order
                .iter()
                .map(|&k| {
                    row[k].map(|id| {
                        if random.below(50) == 0 { "unseen".to_owned() } else { panel.labels[id].clone() }
                    })
                })
                .collect();
        cells.insert(1, Some(panel.labels[random.below(panel.labels.len())].clone()));
        rows.push(cells).expect("as wide as the panel");
    }
    rows.finish()
}

fn assert_alike(model: &Model, table: &Predictions, what: &str) {
    let aligned = model.align(table).expect("all columns");
    let control = Control::default();
    let labels = aligned.decide_all(DecisionColumns::default(), &control).expect("not cancelled");
    let all = aligned.decide_all(DecisionColumns::ALL, &control).expect("not cancelled");
    // Without scores, rows may come from the value kernel.
    let without_scores = DecisionColumns { scores: false, ..DecisionColumns::ALL };
    let values = aligned.decide_all(without_scores, &control).expect("not cancelled");
    assert_eq!(all.probability.is_some(), model.method().capabilities().probabilities, "{what}");
    assert_eq!(labels.unseen(), all.unseen(), "{what}");
    for t in 0..table.n_rows() {
        let decision = aligned.decide(t).expect("a row");
        let expected = (decision.class, decision.is_tie(), decision.basis);
        for found in [&labels, &all, &values] {
            let found = (usize::from(found.class[t]), found.is_tie[t], found.basis[t]);
            assert_eq!(found, expected, "{what}, row {t}: {decision:?}");
        }
        assert_row(&all, t, &decision, what);
        assert_row(&values, t, &decision, what);
    }
    // Any part of the rows and any part of the columns is the same part of the whole.
    let (start, end, l) = (table.n_rows() / 3, table.n_rows() - 1, model.classes().len());
    let part = aligned.decide_rows(start..end, DecisionColumns::ALL, &control).expect("rows");
    assert_eq!(part.class, all.class[start..end], "{what}");
    let (found, whole) = (part.possibility.as_deref(), all.possibility.as_deref());
    assert!(same_bits(found, whole.map(|whole| &whole[start * l..end * l])), "{what}");
    let margin = DecisionColumns { margin: true, ..DecisionColumns::default() };
    let margins = aligned.decide_all(margin, &control).expect("not cancelled");
    assert!(same_bits(margins.margin.as_deref(), all.margin.as_deref()), "{what}");
    assert!(margins.possibility.is_none() && margins.n_answered.is_none());
}

/// Asserts that row `t` of all columns has the bits of a decision made alone.
fn assert_row(found: &Decisions, t: usize, decision: &Decision, what: &str) {
    let context = || format!("{what}, row {t}: {decision:?}");
    let margin = found.margin.as_ref().map(|margin| margin[t].to_bits());
    assert_eq!(margin, Some(decision.margin.to_bits()), "{}", context());
    let degrees = Some(decision.possibility.degrees());
    assert!(same_bits(found.of_row(&found.possibility, t), degrees), "{}", context());
    let probability = decision.probability.as_deref();
    assert!(same_bits(found.of_row(&found.probability, t), probability), "{}", context());
    let n_answered = found.n_answered.as_ref().map(|n_answered| n_answered[t] as usize);
    assert_eq!(n_answered, Some(decision.n_answered), "{}", context());
    let ties = found.of_row(&found.ties, t).expect("asked for").iter().enumerate();
    let ties = ties.filter(|(_, is_tied)| **is_tied).map(|(class, _)| class);
    assert!(ties.eq(decision.ties.iter().copied()), "{}", context());
}

fn same_bits(found: Option<&[f64]>, expected: Option<&[f64]>) -> bool {
    match (found, expected) {
        (Some(found), Some(expected)) => {
            found.len() == expected.len()
                && found.iter().zip(expected).all(|(found, expected)| found.to_bits() == expected.to_bits())
        }
        (found, expected) => found.is_none() && expected.is_none(),
    }
}

#[test]
fn all_rows_at_once_are_decided_as_one_by_one() {
    for (seed, shape) in (0..).zip(SHAPES) {
        let panel = panel(shape, seed);
        let fitted =
            Panel { rows: panel.rows[..150].to_vec(), truth: panel.truth[..150].to_vec(), ..panel.clone() };
        let evidence = fitted.evidence(Level::Tally);
        for method in Method::ALL {
            // Regressions on many classes are slow.
            if method == Method::Stacking && shape.1 > 3 {
                continue;
            }
            for (missing, ties) in [
                (Missing::Ignore, TieBreak::First),
                (Missing::Answer, TieBreak::Random(7)),
                (Missing::Auto, TieBreak::First),
            ] {
                let options = Options { missing, ties, ..Options::default() };
                let model =
                    Model::fit(&*method.combiner(), &evidence, &options, &Control::default()).expect("rows");
                let what = format!("{method} {missing:?} {shape:?}");
                assert_alike(&model, &panel.predictions(), &what);
                assert_alike(&model, &disguised(&panel, seed), &format!("{what}, disguised"));
            }
        }
    }
}

#[test]
fn near_ties_are_decided_in_full_precision() {
    // Classifiers of equal accuracy that contradict each other on most rows: sums that are equal up to rounding.
    let names = ["a", "b", "c", "d", "e"];
    let mut random = Random(3);
    let mut rows = Predictions::builder(names).expect("names");
    let label = |id: usize| Some(Label::from(["x", "y", "z"][id]));
    let all: Vec<[usize; 5]> = (0..9_000).map(|_| [(); 5].map(|()| random.below(3))).collect();
    all.iter().for_each(|row| rows.push(row.map(label)).expect("five predictions"));
    let table = rows.finish();
    let truth = spocc::Truth::new(all.iter().map(|row| label(row[0]))).expect("few labels");
    let mut symmetric = Predictions::builder(names).expect("names");
    let mut truths = Vec::new();
    for class in 0..3 {
        for shift in [0, 0, 0, 1, 2] {
            symmetric.push([(); 5].map(|()| label((class + shift) % 3))).expect("five predictions");
            truths.push(label(class));
        }
    }
    let symmetric =
        spocc::Evidence::new(&symmetric.finish(), &spocc::Truth::new(truths).expect("few labels"));
    let own = spocc::Evidence::new(&table, &truth).expect("rows");
    let mut ties = 0;
    for evidence in [symmetric.expect("rows"), own] {
        for method in Method::ALL {
            let model = Model::fit(&*method.combiner(), &evidence, &Options::default(), &Control::default())
                .expect("rows");
            assert_alike(&model, &table, &method.to_string());
            ties += model.predict(&table).expect("all columns").n_ties();
        }
    }
    assert!(ties > 10_000, "{ties}");
}

/// Rows without predictions, and rows on which any number of classes are tied.
#[test]
fn missing_rows_and_ties_of_any_number_of_classes_are_decided_in_full_precision() {
    for n_classes in 2..=130 {
        let n_classifiers = 66.min(n_classes);
        let names = || (0..n_classifiers).map(|k| format!("c{k}"));
        let mut counted = Predictions::builder(names()).expect("distinct names");
        for class in 0..n_classes {
            counted.push(vec![Some(class as i64); n_classifiers]).expect("as wide as the panel");
        }
        let truth = Truth::new((0..n_classes).map(|class| Some(class as i64))).expect("few labels");
        let evidence = Evidence::new(&counted.finish(), &truth).expect("rows");
        let mut table = Predictions::builder(names()).expect("distinct names");
        for t in 0..4 * n_classes {
            let n_answered = if t % 2 == 0 { 0 } else { n_classifiers - t % 4 / 2 };
            let predicted = |k: usize| (k < n_answered).then_some(((t + k) % n_classes) as i64);
            table.push((0..n_classifiers).map(predicted)).expect("as wide as the panel");
        }
        let table = table.finish();
        for method in [Method::Spocc, Method::Majority, Method::WeightedVote, Method::NaiveBayes] {
            let model = method.combiner().fit(&evidence).expect("fits");
            assert_alike(&model, &table, &format!("{method}, {n_classes} classes"));
        }
    }
}

/// Predictions as integers, row by row, and the truths.
fn numbers(n_classifiers: usize, n_classes: usize, n_rows: usize) -> (Vec<i64>, Vec<i64>) {
    let mut random = Random(n_rows as u64);
    let truths: Vec<i64> = (0..n_rows).map(|_| random.below(n_classes) as i64).collect();
    let predicted = truths.iter().flat_map(|truth| vec![*truth; n_classifiers]);
    let predicted =
        predicted.map(|truth| if random.below(3) == 0 { random.below(n_classes) as i64 } else { truth });
    (predicted.collect(), truths)
}

#[test]
fn integers_are_counted_and_decided_without_a_copy() {
    for (n_classifiers, n_classes, n_rows) in [(10, 5, 40_000), (3, 2, 700), (6, 30, 3_000), (25, 4, 2_000)] {
        let (predicted, truths) = numbers(n_classifiers, n_classes, n_rows);
        let names: Vec<String> = (0..n_classifiers).map(|k| format!("c{k}")).collect();
        let borrowed =
            IntegerTable::of_rows(names.clone(), predicted.as_slice(), n_classes + 2).expect("whole rows");
        let columns: Vec<Vec<u8>> = (0..n_classifiers)
            .map(|k| predicted.iter().skip(k).step_by(n_classifiers).map(|id| *id as u8).collect())
            .collect();
        let slices = columns.iter().map(|column| IntegerSlice::from(column.as_slice())).collect();
        let columns = IntegerTable::of_columns(names.clone(), slices, n_classes).expect("equal columns");
        let mut held = Predictions::builder(names).expect("distinct names");
        for row in predicted.chunks_exact(n_classifiers) {
            held.push(row.iter().map(|id| Some(*id))).expect("a whole row");
        }
        let held = held.finish();
        let truth = Truth::new(truths.iter().map(|truth| Some(*truth))).expect("labels");
        let some = |(row, truth): (usize, &i64)| (row % 3 > 0).then_some(*truth);
        let partly = Truth::new(truths.iter().enumerate().map(some)).expect("labels");
        let weights: Vec<f64> = (0..n_rows).map(|row| [0.0, 1.0, 2.5][row % 3]).collect();
        let control = Control::default();
        for level in [Level::Marginals, Level::Pairs, Level::Tally] {
            let once = Counting { level, ..Counting::default() };
            let weighted = Counting { weights: Some(&weights), ..once.clone() };
            for (truth, options) in [(&truth, &once), (&partly, &once), (&truth, &weighted)] {
                let expected = Evidence::count(&held, truth, options, &control).expect("rows").to_bytes();
                for table in [&borrowed, &columns] {
                    let counted = Evidence::count(table, truth, options, &control).expect("rows");
                    assert_eq!(counted.to_bytes(), expected, "{n_classifiers} {n_classes} {level}");
                }
            }
        }
        let evidence = Evidence::new(&held, &truth).expect("rows");
        for method in [Method::Spocc, Method::AdaSpocc, Method::NaiveBayes, Method::Majority] {
            let model = method.combiner().fit(&evidence).expect("a model");
            let expected = model.predict(&held).expect("decisions");
            // The first table declares two labels more than the model has, neither of which occurs.
            assert_eq!(
                model.predict(&borrowed).as_ref(),
                Ok(&expected),
                "{method} {n_classifiers} {n_classes}"
            );
            assert_eq!(model.predict(&columns).as_ref(), Ok(&expected), "{method}");
            let all = |table: PredictionTable<'_>| model.decide_all(table, DecisionColumns::ALL, &control);
            assert_eq!(all((&columns).into()), all((&held).into()), "{method}");
        }
    }
}

#[test]
fn a_number_above_the_labels_stops_counting_and_deciding() {
    let (mut predicted, truths) = numbers(4, 3, 50_000);
    let names = ["a", "b", "c", "d"];
    let truth = Truth::new(truths.iter().map(|truth| Some(*truth))).expect("labels");
    let table = IntegerTable::of_rows(names, predicted.as_slice(), 3).expect("whole rows");
    let evidence =
        Evidence::count(&table, &truth, &Counting::default(), &Control::default()).expect("labels");
    let model = Method::Spocc.combiner().fit(&evidence).expect("a model");
    predicted[4 * 31_000 + 2] = 3;
    predicted[4 * 49_000] = -7;
    let table = IntegerTable::of_rows(names, predicted.as_slice(), 3).expect("whole rows");
    let expected = Error::LabelId { row: 31_001, expected: 3, found: 3 };
    for level in [Level::Marginals, Level::Pairs, Level::Tally] {
        let options = Counting { level, ..Counting::default() };
        let counted = Evidence::count(&table, &truth, &options, &Control::default());
        assert_eq!(counted.map(|_| ()), Err(expected.clone()), "{level}");
    }
    assert_eq!(model.predict(&table).map(|_| ()), Err(expected));
}

/// The rows without the columns of some classifiers, or with a label in them that no model has seen.
fn without(panel: &Panel, left: &[usize], keeps_columns: bool) -> Predictions {
    let kept: Vec<usize> = (0..panel.names.len()).filter(|k| keeps_columns || !left.contains(k)).collect();
    let mut rows =
        Predictions::builder(kept.iter().map(|&k| panel.names[k].clone())).expect("distinct names");
    for row in &panel.rows {
        let cell = |&k: &usize| {
            if left.contains(&k) {
                Some("unseen".to_owned())
            } else {
                row[k].map(|id| panel.labels[id].clone())
            }
        };
        rows.push(kept.iter().map(cell)).expect("as wide as the names");
    }
    rows.finish()
}

#[test]
fn a_classifier_without_a_column_is_missing_on_every_row() {
    for (seed, shape) in (0..).zip([(5, 2, 6_000, 0.1), (9, 3, 400, 0.05), (60, 4, 500, 0.97)]) {
        let panel = panel(shape, seed);
        let left = [1, 3];
        let (table, reference) = (without(&panel, &left, false), without(&panel, &left, true));
        for method in Method::ALL {
            for missing in [Missing::Ignore, Missing::Answer] {
                let options = Options { missing, ..Options::default() };
                let model = Model::fit(&*method.combiner(), &panel.tally(), &options, &Control::default())
                    .expect("rows");
                assert!(matches!(model.align(&table), Err(Error::MissingClassifier { .. })));
                let aligned = model.align_present(&table).expect("some columns");
                let names: Vec<&str> = aligned.absent().collect();
                assert_eq!(names, left.map(|k| panel.names[k].as_str()));
                // A label that the model has not seen counts as a missing prediction.
                let reference = model.align(&reference).expect("all columns");
                let control = Control::default();
                let (decided, expected) = (
                    aligned.decide_all(DecisionColumns::ALL, &control),
                    reference.decide_all(DecisionColumns::ALL, &control),
                );
                let (decided, expected) = (decided.expect("rows"), expected.expect("rows"));
                assert_eq!(decided.class, expected.class, "{method} {missing}");
                assert_eq!((decided.is_tie, decided.basis), (expected.is_tie, expected.basis));
                assert_eq!((decided.possibility, decided.margin), (expected.possibility, expected.margin));
                assert_eq!(decided.n_answered, expected.n_answered, "{method} {missing}");
                assert_eq!(aligned.decide(7), reference.decide(7), "{method} {missing}");
                assert_eq!(aligned.explain(7).expect("a row").decision, reference.decide(7).expect("a row"));
            }
        }
        let other = Predictions::builder(["other"]).expect("one name").finish();
        let model = Method::Majority.combiner().fit(&panel.tally()).expect("rows");
        assert!(matches!(model.align_present(&other), Err(Error::MissingClassifier { .. })));
    }
}
