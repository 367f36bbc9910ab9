//! Unlabelled rows: counted beside the others, used by the methods that learn from them and by no other.

mod panels;

use std::ops::ControlFlow;

use panels::{Panel, Random, Shape, config, panels};
use proptest::prelude::*;
use spocc::{
    Combiner, Control, Error, Evidence, Fit, Label, Method, Model, Options, Predictions, Truth,
    conformal::{ConformalScheme, ConformalSettings},
    data::{ClassWeights, Missing},
    evidence::{Counting, Level},
    methods::{DawidSkene, Majority, Parameters},
};

/// Shares stand still within 1e-6; what they decide is a little further off.
const CLOSE: f64 = 1e-4;

fn quiet() -> Control<'static> {
    Control::default()
}

fn all(panel: &Panel) -> Evidence {
    let counting = Counting { unlabelled: true, ..panel.counting(Level::Tally) };
    Evidence::count(&panel.predictions(), &panel.truths(), &counting, &quiet()).expect("a sound panel")
}

fn without_truth(panel: &Panel) -> Panel {
    Panel { truth: vec![None; panel.rows.len()], ..panel.clone() }
}

/// Independent workers, each answering a tenth of the rows: one in three knows, the others mostly guess.
fn crowd(n_rows: usize, seed: u64) -> (Panel, Vec<usize>) {
    let (n_workers, n_classes) = (60, 3);
    let mut random = Random(seed);
    let truth: Vec<usize> = (0..n_rows).map(|_| random.below(n_classes)).collect();
    let row = |class: &usize| {
        let predicted = |k: usize, random: &mut Random| {
            let chance = if k.is_multiple_of(3) { 0.95 } else { 0.2 };
            let predicted = if random.unit() < chance { *class } else { random.below(n_classes) };
            (random.unit() < 0.1).then_some(predicted)
        };
        (0..n_workers).map(|k| predicted(k, &mut random)).collect()
    };
    let rows: Vec<Vec<Option<usize>>> = truth.iter().map(row).collect();
    let shape = Shape {
        n_classifiers: n_workers,
        n_classes,
        n_others: 0,
        n_rows: 0,
        missing_share: 0.0,
        weighted: false,
        seed: 0,
    };
    let panel = Panel::new(shape);
    (Panel { is_closed: true, truth: truth.iter().copied().map(Some).collect(), rows, ..panel }, truth)
}

fn accuracy(model: &Model, panel: &Panel, truth: &[usize]) -> f64 {
    let decided = model.predict(&panel.predictions()).expect("the same panel");
    let right = decided.labels().zip(truth).filter(|(label, class)| **label == panel.label(**class)).count();
    right as f64 / truth.len() as f64
}

/// The estimate row by row, as the textbook has it: probabilities, no logarithms, no patterns.
fn by_the_book(panel: &Panel, n_steps: usize) -> Vec<Vec<f64>> {
    let (l, s) = (panel.n_classes, panel.labels.len());
    let normal = |shares: Vec<f64>| {
        let total: f64 = shares.iter().sum();
        shares.iter().map(|share| share / total).collect::<Vec<f64>>()
    };
    let known =
        |t: usize| panel.truth[t].map(|class| (0..l).map(|i| f64::from(u8::from(i == class))).collect());
    let estimate = |shares: &[Option<Vec<f64>>], smoothing: f64| {
        let mut prior = vec![0.0; l];
        let mut table = vec![vec![vec![smoothing; l]; s]; panel.names.len()];
        for (row, shares) in panel.rows.iter().zip(shares) {
            let Some(shares) = shares else { continue };
            for i in 0..l {
                prior[i] += shares[i];
                for (k, predicted) in
                    row.iter().enumerate().filter_map(|(k, predicted)| predicted.map(|j| (k, j)))
                {
                    table[k][predicted][i] += shares[i];
                }
            }
        }
        for answers in &mut table {
            for i in 0..l {
                let total: f64 = answers.iter().map(|row| row[i]).sum();
                answers.iter_mut().for_each(|row| row[i] /= total);
            }
        }
        (normal(prior), table)
    };
    let likely = |t: usize, i: usize, table: &[Vec<Vec<f64>>]| -> f64 {
        panel.rows[t]
            .iter()
            .enumerate()
            .filter_map(|(k, predicted)| predicted.map(|j| table[k][j][i]))
            .product()
    };
    let rows = 0..panel.rows.len();
    let gold: Vec<Option<Vec<f64>>> = rows.clone().map(known).collect();
    let (_, table) = estimate(&gold, 1.0);
    let votes = |t: usize, i: usize| {
        panel.rows[t].iter().filter(|predicted| **predicted == Some(i)).count() as f64 + 1.0
    };
    let begin = |t: usize| normal((0..l).map(|i| votes(t, i) * likely(t, i, &table)).collect());
    let mut shares: Vec<Option<Vec<f64>>> =
        rows.clone().map(|t| known(t).or_else(|| Some(begin(t)))).collect();
    for _ in 0..n_steps {
        let (prior, table) = estimate(&shares, 0.01);
        let next = |t: usize| normal((0..l).map(|i| prior[i] * likely(t, i, &table)).collect());
        shares = rows.clone().map(|t| known(t).or_else(|| Some(next(t)))).collect();
    }
    let (prior, table) = estimate(&shares, 0.01);
    rows.map(|t| normal((0..l).map(|i| prior[i] * likely(t, i, &table)).collect())).collect()
}

#[test]
fn dawid_skene_is_what_the_textbook_computes_row_by_row() {
    for (n_known, seed) in [(0, 1), (6, 2), (20, 3), (40, 4)] {
        let shape = Shape {
            n_classifiers: 4,
            n_classes: 3,
            n_others: 1,
            n_rows: 40,
            missing_share: 0.2,
            weighted: false,
            seed,
        };
        let mut panel = Panel::new(shape);
        panel.truth.iter_mut().skip(n_known).for_each(|truth| *truth = None);
        let model = DawidSkene.fit(&all(&panel)).expect("answers");
        let table = panel.predictions();
        let aligned = model.align(&table).expect("the same panel");
        for (t, expected) in by_the_book(&panel, 3000).iter().enumerate() {
            let decision = aligned.decide(t).expect("a row");
            if panel.rows[t].iter().all(Option::is_none) {
                continue;
            }
            let most = expected.iter().copied().fold(0.0, f64::max);
            let sure = decision.possibility.degrees();
            let order = |i: &usize| expected[*i] > most * (1.0 - CLOSE);
            assert!((0..3).filter(order).any(|i| i == decision.class), "{t}: {expected:?} {sure:?}");
            let mut sorted = expected.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let margin = 1.0 - sorted[1] / sorted[0];
            assert!(
                (decision.margin - margin).abs() < CLOSE,
                "{t}: {} {margin} {expected:?}",
                decision.margin
            );
        }
    }
}

#[test]
fn dawid_skene_without_truth_beats_the_vote() {
    let (panel, truth) = crowd(600, 1);
    let evidence = all(&without_truth(&panel));
    assert_eq!((evidence.n_rows(), evidence.n_unlabelled()), (0.0, 600.0));
    let [vote, learned] = [Method::Majority, Method::DawidSkene]
        .map(|method| accuracy(&method.combiner().fit(&evidence).expect("answers"), &panel, &truth));
    assert!(learned > vote + 0.02 && learned > 0.85, "{vote} {learned}");
}

#[test]
fn known_truths_relabel_a_panel_of_adversaries() {
    let (panel, truth) = crowd(600, 2);
    let lie = |predicted: &mut Option<usize>| *predicted = predicted.map(|j| (j + 1) % 3);
    let mut liars = panel;
    liars.rows.iter_mut().flatten().for_each(lie);
    let alone = DawidSkene.fit(&all(&without_truth(&liars))).expect("answers");
    assert!(accuracy(&alone, &liars, &truth) < 0.1, "no truth is known");
    liars.truth.iter_mut().skip(200).for_each(|truth| *truth = None);
    let taught = DawidSkene.fit(&all(&liars)).expect("answers");
    assert!(accuracy(&taught, &liars, &truth) > 0.8, "{}", accuracy(&taught, &liars, &truth));
}

#[test]
fn class_weights_leave_rows_without_truth_what_they_count() {
    let (mut panel, _) = crowd(600, 5);
    panel.truth.iter_mut().skip(10).for_each(|truth| *truth = None);
    let evidence = all(&panel);
    // A ratio that is whole, and one that is counted in fractions of a row.
    let [whole, fraction] = [2.0, 2.000_000_1].map(|weight| {
        let class_weights = ClassWeights::Given(vec![(panel.label(0), weight)]);
        let options = Options { class_weights, ..Options::default() };
        let model = Model::fit(&DawidSkene, &evidence, &options, &quiet()).expect("rows");
        let Parameters::NaiveBayes { prior } = model.parameters() else { panic!("likelihoods") };
        prior
    });
    assert!(whole.iter().zip(&fraction).all(|(a, b)| (a - b).abs() < CLOSE), "{whole:?} {fraction:?}");
}

#[test]
fn a_calibrated_rule_learns_from_rows_without_truth() {
    let (mut panel, truth) = crowd(600, 6);
    panel.truth.iter_mut().skip(20).for_each(|truth| *truth = None);
    let (labelled, all) = (panel.tally(), all(&panel));
    for scheme in [ConformalScheme::Split, ConformalScheme::Cross] {
        let options = Options { calibrate: Some(ConformalSettings::new(scheme)), ..Options::default() };
        let fit = |evidence: &Evidence| {
            Model::fit(&DawidSkene, evidence, &options, &quiet()).expect("whole counts")
        };
        let (few, many) = (fit(&labelled), fit(&all));
        // The five rows that calibrate a split are unlabelled rows to its rule, like the others.
        let [labelled, unlabelled] = match scheme {
            ConformalScheme::Split => [15.0, 585.0],
            _ => [20.0, 580.0],
        };
        let counts = many.evidence().expect("not slim");
        assert_eq!([counts.n_rows(), counts.n_unlabelled()], [labelled, unlabelled], "{scheme}");
        assert_ne!(few.calibration(), many.calibration(), "{scheme}: the scores are those of better rules");
        let [few, many] = [few, many].map(|model| accuracy(&model, &panel, &truth));
        assert!(many > few + 0.1, "{scheme}: {few} {many}");
    }
}

#[test]
fn rows_without_truth_add_up_in_any_order_and_any_parts() {
    proptest!(config(100), |(panel in panels(5, 4, 40), seed: u64)| {
        let mut random = Random(seed);
        let whole = all(&panel);
        let unknown = panel.truth.iter().filter(|truth| truth.is_none()).count();
        if panel.weights.is_none() {
            prop_assert_eq!(whole.n_unlabelled(), unknown as f64);
        }
        let order = random.order(panel.rows.len());
        prop_assert_eq!(all(&panel.part(&order)).to_bytes(), whole.to_bytes());
        let (left, right) = order.split_at(random.below(order.len() + 1));
        let [left, right] = [left, right].map(|rows| all(&panel.part(rows)));
        let sum = |a: &Evidence, b: &Evidence| a.merge(b, &quiet()).expect("the same panel").to_bytes();
        prop_assert_eq!(sum(&left, &right), whole.to_bytes());
        prop_assert_eq!(sum(&right, &left), whole.to_bytes());
        let [known, others] =
            [whole.labelled(&quiet()).expect("small").into_owned(), whole.unlabelled(&quiet()).expect("a tally")];
        prop_assert_eq!(others.n_rows() + known.n_unlabelled(), 0.0);
        prop_assert_eq!(sum(&known, &others), whole.to_bytes());
        prop_assert_eq!(Evidence::from_bytes(&whole.to_bytes()).expect("our own").to_bytes(), whole.to_bytes());
        // Who asks for nothing gets what was there before.
        prop_assert_eq!(known.to_bytes(), panel.tally().to_bytes());
    });
}

#[test]
fn other_methods_never_see_them() {
    let shape = Shape {
        n_classifiers: 4,
        n_classes: 3,
        n_others: 0,
        n_rows: 60,
        missing_share: 0.3,
        weighted: false,
        seed: 4,
    };
    let mut panel = Panel::new(shape);
    let some = all(&panel);
    // An answer that no labelled row has.
    panel.labels.push("unseen".to_owned());
    panel.rows.push(vec![Some(3); 4]);
    panel.truth.push(None);
    let (labelled, all) = (panel.tally(), all(&panel));
    assert!(all.n_unlabelled() > 1.0);
    for missing in [Missing::Ignore, Missing::Answer] {
        let options = Options { missing, ..Options::default() };
        for method in Method::ALL {
            let fit = |evidence: &Evidence| {
                let model = Model::fit(method.combiner().as_ref(), evidence, &options, &quiet());
                // What was learned, whatever counts are kept beside it.
                model.expect("rows").without_evidence().to_bytes()
            };
            let uses = matches!(method, Method::DawidSkene | Method::OneCoin | Method::Ladder);
            assert_eq!(fit(&labelled) == fit(&some), !uses, "{method}, {missing}");
            assert!(uses || fit(&labelled) == fit(&all), "{method}, {missing}");
        }
    }
}

#[test]
fn a_vote_needs_no_truth_and_other_methods_require_it() {
    let mut rows = Predictions::builder(["ann", "bob", "eve"]).expect("three names");
    for answers in [["cat", "cat", "dog"], ["dog", "dog", "dog"]] {
        rows.push(answers.map(Some)).expect("three answers");
    }
    rows.push([None::<&str>; 3]).expect("three gaps");
    let rows = rows.finish();
    let unknown = Truth::new([None::<&str>; 3]).expect("no labels");
    let counting = Counting { unlabelled: true, ..Counting::default() };
    let evidence = Evidence::count(&rows, &unknown, &counting, &quiet()).expect("rows");
    for method in Method::ALL {
        match method.combiner().fit(&evidence) {
            Ok(model) => {
                let decided = model.predict(&rows).expect("the same rows");
                let labels: Vec<String> = decided.labels().map(ToString::to_string).collect();
                // Of a row of a missing cell, the first of the classes decided equally often.
                assert_eq!(labels, ["cat", "dog", "cat"], "{method}");
                let again = Model::from_bytes(&model.to_bytes()).expect("our own bytes");
                assert_eq!(again.to_bytes(), model.to_bytes());
            }
            Err(error) => {
                assert_eq!(error, Error::NoLabelledRows, "{method}");
                assert!(method.needs_truth(), "{method}");
            }
        }
    }
    let unanswered = Evidence::count(
        &{
            let mut rows = Predictions::builder(["ann"]).expect("a name");
            rows.push([None::<&str>]).expect("a gap");
            rows.finish()
        },
        &Truth::new([None::<&str>]).expect("no labels"),
        &counting,
        &quiet(),
    )
    .expect("a row");
    for missing in [Missing::Ignore, Missing::Answer] {
        let options = Options { missing, ..Options::default() };
        for combiner in [&Majority as &dyn Combiner, &DawidSkene] {
            let refused = Model::fit(combiner, &unanswered, &options, &quiet()).expect_err("no predictions");
            assert_eq!(refused, Error::NoLabelledRows);
        }
    }
}

#[test]
fn what_few_rows_share_is_kept_back_with_or_without_truth() {
    let mut rows = Predictions::builder(["ann", "bob"]).expect("two names");
    rows.push([Some("cat"), Some("cat")]).expect("two answers");
    rows.push([Some("cat"), Some("dog")]).expect("two answers");
    let rows = rows.finish();
    let count = |counts: &[u64]| {
        let counting = Counting { unlabelled: true, counts: Some(counts), ..Counting::default() };
        Evidence::count(&rows, &Truth::new([None::<&str>; 2]).expect("no labels"), &counting, &quiet())
            .expect("rows")
    };
    let evidence = count(&[7, 3]);
    let small = evidence.small_counts(5).expect("whole counts");
    assert_eq!((small.n_counts, small.n_rows), (1, 3));
    let kept = evidence.without_rare(5, &quiet()).expect("one pattern");
    assert_eq!(kept.n_unlabelled(), 7.0);
    assert_eq!(kept.labels().all(), [Label::from("cat")]);
    assert_eq!(evidence.without_rare(8, &quiet()).expect_err("nothing is left"), Error::NoLabelledRows);
    assert!(evidence.merge(&count(&[u64::MAX - 9, 0]), &quiet()).is_err(), "2^64 rows");
    assert_eq!(evidence.reduce_to(Level::Marginals, &quiet()).expect("less").n_unlabelled(), 0.0);
}

#[test]
fn whoever_watches_can_stop_the_estimate_and_bound_its_memory() {
    let (panel, _) = crowd(100, 3);
    let evidence = all(&without_truth(&panel));
    let stop = |at: spocc::progress::Progress| {
        if at.stage == "estimating" && at.done > 1 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let fit =
        |control: &Control<'_>| Model::fit(&DawidSkene, &evidence, &Options::default(), control).map(|_| ());
    assert_eq!(fit(&Control::new(&stop)), Err(Error::Cancelled));
    let poor = fit(&quiet().with_memory_limit(1000));
    assert!(matches!(poor, Err(Error::MemoryLimit { .. })), "{poor:?}");
}

/// Rows of `n` binary classifiers, the first of which is the truth but for a few rows; all of them distinct.
fn distinct_rows(n_rows: usize, n_known: usize) -> (Predictions, Truth) {
    let mut rows = Predictions::builder((0..18).map(|k| format!("c{k}"))).expect("distinct names");
    let mut truth = Truth::default();
    for t in 0..n_rows {
        let bit = |k: usize| Some(if t >> k & 1 == 0 { "no" } else { "yes" });
        rows.push((0..18).map(bit)).expect("18 predictions");
        truth.push(bit(0).filter(|_| t % n_rows.div_ceil(n_known) == 0)).expect("two labels");
    }
    (rows.finish(), truth)
}

#[test]
fn at_most_65_536_patterns_are_kept_of_any_number_of_rows_in_any_parts() {
    const MOST: usize = 65_536;
    let (n_rows, n_known) = (150_000, 50);
    let (rows, truth) = distinct_rows(n_rows, n_known);
    let whole = Evidence::new(&rows, &truth).expect("rows");
    assert_eq!([whole.n_rows(), whole.n_unlabelled()], [n_known as f64, (n_rows - n_known) as f64]);
    assert!(whole.samples_unlabelled());
    assert_eq!(whole.n_unlabelled_patterns(), MOST);
    let part = |from: usize, to: usize| {
        let counts: Vec<u64> = (0..n_rows).map(|t| u64::from((from..to).contains(&t))).collect();
        let counting = Counting { counts: Some(&counts), ..Counting::default() };
        Evidence::count(&rows, &truth, &counting, &quiet()).expect("rows")
    };
    let [a, b, c] = [part(0, 40_000), part(40_000, 120_000), part(120_000, n_rows)];
    assert!(!a.samples_unlabelled() && b.samples_unlabelled());
    let sum = |a: &Evidence, b: &Evidence| a.merge(b, &quiet()).expect("the same panel");
    assert_eq!(sum(&sum(&a, &b), &c).to_bytes(), whole.to_bytes());
    assert_eq!(sum(&sum(&b, &c), &a).to_bytes(), whole.to_bytes());
    let again = Evidence::from_bytes(&whole.to_bytes()).expect("our own");
    assert_eq!(again.n_unlabelled(), whole.n_unlabelled());
    assert_eq!(again.to_bytes(), whole.to_bytes());
    let one = Evidence::new(&distinct_rows(MOST, 1).0, &Truth::new(vec![None::<&str>; MOST]).expect("rows"));
    assert!(!one.expect("rows").samples_unlabelled(), "as many patterns as are kept");
}

#[test]
fn split_conformal_sets_cover_the_unlabelled_rows_of_the_fit() {
    // A sparse crowd, of which a rule has very confident probabilities on the rows that it has seen. Per draw 12 training
    // and 4 calibration rows, and 24 unlabelled rows, for which the sets are made.
    const COVERAGE: f64 = 0.75;
    const N_WORKERS: usize = 20;
    let shape = Shape {
        n_classifiers: N_WORKERS,
        n_classes: 3,
        n_others: 0,
        n_rows: 0,
        missing_share: 0.0,
        weighted: false,
        seed: 0,
    };
    for method in [Method::DawidSkene, Method::OneCoin, Method::Ladder] {
        let covered: Vec<f64> = (0..600)
            .map(|draw| {
                let mut random = Random(draw);
                let truth: Vec<usize> = (0..40).map(|_| random.below(3)).collect();
                let mut predicted = |class: usize| {
                    let label = if random.unit() < 0.3 { class } else { random.below(3) };
                    (random.unit() < 0.15).then_some(label)
                };
                let rows = truth.iter().map(|class| (0..N_WORKERS).map(|_| predicted(*class)).collect());
                let rows: Vec<Vec<Option<usize>>> = rows.collect();
                let known = truth.iter().enumerate().map(|(t, class)| (t < 16).then_some(*class)).collect();
                let panel = Panel { is_closed: true, rows, truth: known, ..Panel::new(shape) };
                let settings =
                    ConformalSettings { seed: draw, ..ConformalSettings::new(ConformalScheme::Split) };
                let options = Options { calibrate: Some(settings), ..Options::default() };
                let model = Model::fit(method.combiner().as_ref(), &all(&panel), &options, &quiet());
                let coverage = COVERAGE.try_into().expect("a share");
                let sets = model.expect("rows").predict_sets(&panel.predictions(), coverage, draw);
                let sets = sets.expect("enough scores");
                let is_covered =
                    |t: &usize| sets.get(*t).is_some_and(|set| set.contains(&(truth[*t] as u16)));
                (16..40).filter(is_covered).count() as f64 / 24.0
            })
            .collect();
        let mean = |of: &dyn Fn(f64) -> f64| covered.iter().map(|x| of(*x)).sum::<f64>() / 600.0;
        let (share, squares) = (mean(&|x| x), mean(&|x| x * x));
        let standard_error = ((squares - share * share) / 600.0).sqrt();
        assert!(share > COVERAGE - 4.0 * standard_error, "{method}: {share}, {standard_error}");
    }
}
