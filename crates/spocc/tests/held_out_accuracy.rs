//! The held-out accuracy of a fitted model: the row that a comparison with one repetition has for its method.

mod panels;

use std::{ops::ControlFlow, sync::Mutex};

use panels::{Panel, Shape};
use spocc::{
    Control, Error, Evidence, Fit, Label, Method, Model, Options,
    conformal::{ConformalScheme, ConformalSettings},
    data::ClassWeights,
    decision::TieBreak,
    evaluate::{CompareSettings, HeldOutBy, compare},
    evidence::{Counting, Level},
    methods::{AdaSpocc, Ladder, Majority, NaiveBayes, Spocc, SpoccExponent},
    progress::Progress,
};

fn usual() -> Shape {
    Shape {
        n_classifiers: 5,
        n_classes: 3,
        n_others: 0,
        n_rows: 120,
        missing_share: 0.0,
        weighted: false,
        seed: 1,
    }
}

fn evaluated() -> Options {
    Options { evaluate: true, ..Options::default() }
}

fn fitted(method: Method, evidence: &Evidence, options: &Options) -> Model {
    Model::fit(&*method.combiner(), evidence, options, &Control::default()).expect("rows to fit to")
}

/// What a comparison of all methods with one repetition reports of a method, as a held-out accuracy.
fn assert_as_compared(evidence: &Evidence, options: &Options, case: &str) {
    let settings = CompareSettings {
        repeats: 1,
        options: Options { evaluate: false, ..options.clone() },
        curve: false,
        ..CompareSettings::default()
    };
    let comparison = compare(evidence, None, &settings, &Control::default()).expect("enough rows");
    assert_eq!(comparison.methods.len(), Method::ALL.len(), "{case}: {comparison}");
    for row in &comparison.methods {
        let model = fitted(row.method, evidence, options);
        let found = model.held_out_accuracy().expect("enough rows");
        assert_eq!(
            (found.accuracy, found.weighted_accuracy, found.interval),
            (row.accuracy, row.weighted_accuracy, row.interval),
            "{case}: {}",
            row.method
        );
        assert_eq!((found.by, found.n_rows), (HeldOutBy::Refits, comparison.n_rows), "{case}");
        assert_eq!(model.no_accuracy_reason(), None);
    }
}

#[test]
fn it_equals_the_row_of_a_comparison_with_one_repetition() {
    let weights: ClassWeights = "l0=3.7".parse().expect("a weight");
    let with = |class_weights: ClassWeights| Options { class_weights, ..evaluated() };
    let cases = [
        ("plain", usual(), evaluated()),
        ("missing", Shape { missing_share: 0.3, seed: 2, ..usual() }, evaluated()),
        ("weighted", Shape { weighted: true, seed: 3, ..usual() }, evaluated()),
        ("other labels", Shape { n_others: 2, seed: 4, ..usual() }, evaluated()),
        ("four rows", Shape { n_rows: 4, n_classes: 2, seed: 5, ..usual() }, evaluated()),
        ("balanced", Shape { missing_share: 0.3, seed: 6, ..usual() }, with(ClassWeights::Balanced)),
        ("class weights", Shape { weighted: true, seed: 7, ..usual() }, with(weights)),
        ("random ties", Shape { seed: 8, ..usual() }, Options { ties: TieBreak::Random(7), ..evaluated() }),
    ];
    for (case, shape, options) in cases {
        assert_as_compared(&Panel::new(shape).tally(), &options, case);
    }
}

#[test]
fn it_equals_that_row_with_unlabelled_rows_too() {
    let mut panel = Panel::new(Shape { missing_share: 0.3, n_rows: 200, ..usual() });
    panel.truth.iter_mut().enumerate().filter(|(t, _)| t % 5 > 0).for_each(|(_, truth)| *truth = None);
    let counting = Counting { unlabelled: true, ..panel.counting(Level::Tally) };
    let evidence =
        Evidence::count(&panel.predictions(), &panel.truths(), &counting, &Control::default()).expect("rows");
    assert!(evidence.n_unlabelled() > 100.0);
    assert_as_compared(&evidence, &evaluated(), "unlabelled rows");
    let labelled = evidence.labelled(&Control::default()).expect("less");
    let [alone, both] = [&*labelled, &evidence]
        .map(|rows| fitted(Method::DawidSkene, rows, &evaluated()).held_out_accuracy().cloned());
    assert_ne!(alone, both, "unlabelled rows change the refits");
}

#[test]
fn it_evaluates_the_settings_of_the_method() {
    let evidence = Panel::new(Shape { n_rows: 300, ..usual() }).tally();
    let accuracies = ["1", "inf"].map(|exponent| {
        let combiner = Spocc { exponent: exponent.parse::<SpoccExponent>().expect("a number") };
        let model = Model::fit(&combiner, &evidence, &evaluated(), &Control::default()).expect("rows");
        model.held_out_accuracy().expect("enough rows").accuracy
    });
    assert_ne!(accuracies[0], accuracies[1]);
}

#[test]
fn the_model_is_the_same_with_and_without_it() {
    let evidence = Panel::new(usual()).tally();
    for method in Method::ALL {
        let needed = evidence.reduce_to(method.combiner().needs(), &Control::default()).expect("less");
        let plain = fitted(method, &needed, &Options::default());
        let with = fitted(method, &evidence, &evaluated());
        assert_eq!(plain.held_out_accuracy(), None);
        let level = |model: &Model| model.evidence().map(Evidence::level);
        assert_eq!(level(&with), level(&plain), "{method}");
        let table = Panel::new(usual()).predictions();
        let decided = |model: &Model| model.predict(&table).expect("the same panel").class;
        assert_eq!(decided(&with), decided(&plain), "{method}");
    }
}

#[test]
fn it_is_stored_with_the_model_and_read_again() {
    let evidence = Panel::new(usual()).tally();
    for options in [evaluated(), Options { class_weights: ClassWeights::Balanced, ..evaluated() }] {
        let model = fitted(Method::NaiveBayes, &evidence, &options);
        for model in [model.without_evidence(), model] {
            let read = Model::from_bytes(&model.to_bytes()).expect("our own bytes");
            assert!(read.held_out_accuracy().is_some());
            assert_eq!(read.held_out_accuracy(), model.held_out_accuracy());
            assert_eq!(read.to_bytes(), model.to_bytes());
        }
    }
}

#[test]
fn it_depends_on_the_rows_alone() {
    let panel = Panel::new(Shape { missing_share: 0.3, ..usual() });
    let (first, second): (Vec<usize>, Vec<usize>) = (0..panel.rows.len()).partition(|t| t % 3 == 0);
    let merged = panel.part(&second).tally().merge(&panel.part(&first).tally(), &Control::default());
    let accuracy =
        |evidence: &Evidence| fitted(Method::Ladder, evidence, &evaluated()).held_out_accuracy().cloned();
    assert_eq!(accuracy(&merged.expect("the same panel")), accuracy(&panel.tally()));
}

#[test]
fn a_calibrated_model_has_the_accuracy_of_its_method() {
    let evidence = Panel::new(usual()).tally();
    let accuracy = |calibrate| {
        let options = Options { calibrate, ..evaluated() };
        fitted(Method::NaiveBayes, &evidence, &options).held_out_accuracy().cloned()
    };
    assert_eq!(accuracy(Some(ConformalSettings::new(ConformalScheme::Split))), accuracy(None));
}

#[test]
fn above_five_thousand_rows_one_fold_is_held_out() {
    for (n_rows, by, n_held_out) in [(5000, HeldOutBy::Refits, 5000), (5001, HeldOutBy::OneFold, 1001)] {
        let evidence = Panel::new(Shape { n_rows, ..usual() }).tally();
        let fits = Mutex::new(0);
        let count = |at: Progress| {
            if at.stage == "evaluating" {
                *fits.lock().expect("no thread panicked") = at.total;
            }
            ControlFlow::Continue(())
        };
        let model = Model::fit(&NaiveBayes, &evidence, &evaluated(), &Control::new(&count)).expect("rows");
        let found = model.held_out_accuracy().expect("enough rows");
        assert_eq!((found.by, found.folds, found.n_rows), (by, 5, n_held_out));
        assert_eq!(*fits.lock().expect("no thread panicked"), if n_rows == 5000 { 5 } else { 1 });
        // The figure of one fold is that of all within their intervals.
        let all = compare(
            &evidence,
            None,
            &CompareSettings {
                repeats: 1,
                curve: false,
                methods: vec![Method::NaiveBayes],
                ..CompareSettings::default()
            },
            &Control::default(),
        );
        let all = all.expect("enough rows");
        let row = all.methods.iter().find(|row| row.method == Method::NaiveBayes).expect("evaluated");
        let [low, high] = found.interval;
        assert!((low..=high).contains(&row.accuracy), "{found} {}", row.accuracy);
        let width = |[low, high]: [f64; 2]| high - low;
        assert_eq!(width(found.interval) > 1.8 * width(row.interval), by == HeldOutBy::OneFold, "{found}");
    }
}

/// Why there is no accuracy.
fn reason(evidence: &Evidence, method: Method) -> String {
    let model = fitted(method, evidence, &evaluated());
    assert_eq!(model.held_out_accuracy(), None);
    model.no_accuracy_reason().expect("it was asked for").to_owned()
}

#[test]
fn where_there_is_none_the_model_says_why() {
    let panel = Panel::new(usual());
    let marginals = panel.evidence(Level::Marginals);
    let why = "marginals cannot be split into training rows and held-out rows";
    assert_eq!(reason(&marginals, Method::Majority), why);
    let one = Panel::new(Shape { n_rows: 1, ..usual() }).tally();
    let why = "labelled rows to fit to and to evaluate on: expected at least 2, found 1";
    assert_eq!(reason(&one, Method::Ladder), why);
    let counting = Counting { unlabelled: true, ..Counting::default() };
    let unknown = spocc::Truth::new(vec![None::<Label>; panel.rows.len()]).expect("no label");
    let unlabelled = Evidence::count(&panel.predictions(), &unknown, &counting, &Control::default());
    assert_eq!(reason(&unlabelled.expect("rows"), Method::DawidSkene), "no row has a truth");
    let not_asked = NaiveBayes.fit(&marginals).expect("rows");
    assert_eq!((not_asked.held_out_accuracy(), not_asked.no_accuracy_reason()), (None, None));
}

#[test]
fn it_is_cancelled_between_the_refits() {
    let evidence = Panel::new(usual()).tally();
    let stop = |at: Progress| {
        let is_half_way = at.stage == "evaluating" && at.done >= 2;
        if is_half_way { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let cancelled = Model::fit(&Majority, &evidence, &evaluated(), &Control::new(&stop));
    assert_eq!(cancelled.err(), Some(Error::Cancelled));
}

#[test]
fn an_appended_model_has_no_accuracy_of_the_smaller_panel() {
    let panel = Panel::new(usual());
    let smaller = panel.reordered(&[0, 1, 2, 3]).tally();
    for combiner in [&Ladder as &dyn spocc::Combiner, &AdaSpocc::default()] {
        let model = Model::fit(combiner, &smaller, &evaluated(), &Control::default()).expect("rows");
        assert!(
            model.held_out_accuracy().is_some() && model.without_evidence().held_out_accuracy().is_some()
        );
        let grown = model.append(&panel.tally(), &Control::default()).expect("one more column");
        assert_eq!(grown.held_out_accuracy(), None);
    }
}

#[test]
fn calibrating_and_evaluating_need_a_tally() {
    let calibrate = Some(ConformalSettings::new(ConformalScheme::Split));
    assert_eq!(Options::default().needs(&Majority), Level::Marginals);
    assert_eq!(evaluated().needs(&Majority), Level::Tally);
    assert_eq!(Options { calibrate, ..Options::default() }.needs(&Majority), Level::Tally);
}
