//! Whole comparisons.

use super::*;
use crate::{
    Control, Evidence, Label, Method, Options,
    data::ClassWeights,
    evaluate::{
        split::mix,
        test_panels::{drawn, evidence, table},
    },
    evidence::Counting,
};

/// Some of the fast methods.
const QUICK: [Method; 6] = [
    Method::AdaSpocc,
    Method::Selection,
    Method::Majority,
    Method::WeightedVote,
    Method::NaiveBayes,
    Method::Bayes,
];

fn quick() -> CompareSettings {
    CompareSettings { methods: QUICK.to_vec(), ..CompareSettings::default() }
}

fn run(evidence: &Evidence, test: Option<&Evidence>, settings: &CompareSettings) -> Comparison {
    compare(evidence, test, settings, &Control::default()).expect("enough rows")
}

fn of(comparison: &Comparison, method: Method) -> &MethodResult {
    comparison.methods.iter().find(|result| result.method == method).expect("evaluated")
}

#[test]
fn figures_depend_on_the_rows_alone() {
    let rows = drawn::<4, 5>(120, &["x", "y", "z"], [0.8, 0.7, 0.6, 0.2], 1);
    let names = ["a", "b", "c", "d"];
    let usual = run(&evidence(names, &rows), None, &quick());
    let mut shuffled = rows.clone();
    shuffled.sort_by_key(|row| row.iter().fold(3, |hash, label| mix(hash, label.len() as u64)));
    shuffled.reverse();
    shuffled.rotate_left(17);
    assert_eq!(run(&evidence(names, &shuffled), None, &quick()), usual);
    let (one, two) = (evidence(names, &rows[..50]), evidence(names, &rows[50..]));
    let merged = two.merge(&one, &Control::default()).expect("the same panel");
    assert_eq!(run(&merged, None, &quick()), usual);
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    assert_eq!(one_thread.install(|| run(&merged, None, &quick())), usual);
    let other_seed = run(&merged, None, &CompareSettings { seed: 1, ..quick() });
    assert_ne!(other_seed.methods, usual.methods);
}

#[test]
fn a_perfect_classifier_has_accuracy_1() {
    let rows = drawn::<3, 4>(100, &["x", "y"], [1.0, 0.2, 0.2], 1);
    let comparison = run(&evidence(["good", "b", "c"], &rows), None, &quick());
    let selection = of(&comparison, Method::Selection);
    assert_eq!((selection.accuracy, selection.interval[1]), (1.0, 1.0));
    assert_eq!(comparison.best_classifier, Some(BestClassifier { name: "good".into(), accuracy: 1.0 }));
    assert_eq!(comparison.recommendation.recommended, Some(Method::Selection));
    assert!(!comparison.recommendation.beats_best_classifier);
    assert!(of(&comparison, Method::Majority).is_behind());
}

#[test]
fn on_pure_noise_nothing_beats_anything() {
    for seed in 0..5 {
        let rows = drawn::<4, 5>(150, &["x", "y"], [0.0; 4], seed);
        let comparison =
            run(&evidence(["a", "b", "c", "d"], &rows), None, &CompareSettings { curve: false, ..quick() });
        let found = &comparison.recommendation;
        assert!(!found.beats_best_classifier && !found.beats_majority && !found.is_lead_beyond_noise);
        let plain = "No method is significantly better than the best single classifier or the majority vote.";
        assert!(found.lines.iter().any(|line| line == plain), "{comparison}");
    }
}

#[test]
fn tiny_tables_are_evaluated_without_significant_differences() {
    for n in 2..8 {
        let rows = drawn::<3, 4>(n, &["x", "y"], [1.0, 0.5, 0.0], 3);
        let comparison = run(&evidence(["a", "b", "c"], &rows), None, &CompareSettings::default());
        assert_eq!(comparison.methods.len(), Method::ALL.len(), "{comparison}");
        assert!(comparison.methods.iter().all(|result| n > 5 || !result.is_behind()), "{comparison}");
        assert!(comparison.curve.is_none() && comparison.to_string().contains("No learning curve"));
    }
    let one = evidence(["a"], &[["x", "x"]]);
    let tested = run(&one, Some(&evidence(["a"], &[["x", "x"], ["z", "z"]])), &CompareSettings::default());
    assert!(tested.methods.iter().all(|result| result.accuracy == 0.5), "an unknown class is never decided");
}

#[test]
fn a_class_with_one_row_is_never_decided_unless_the_classes_were_given() {
    let mut rows = vec![["x", "x"]; 20];
    rows.push(["y", "y"]);
    let open = run(&evidence(["a"], &rows), None, &quick());
    assert_eq!(of(&open, Method::Majority).accuracy, 20.0 / 21.0);
    let (predictions, truth) = table(["a"], &rows);
    let classes = Some(["x", "y"].map(Label::from).to_vec());
    let counting = Counting { classes, ..Counting::default() };
    let given = Evidence::count(&predictions, &truth, &counting, &Control::default()).expect("known truths");
    assert_eq!(of(&run(&given, None, &quick()), Method::Majority).accuracy, 1.0);
}

#[test]
fn a_thousand_million_rows_are_no_more_work_than_four_cells() {
    let (predictions, truth) =
        table(["a", "b"], &[["x", "x", "x"], ["y", "x", "x"], ["y", "y", "y"], ["x", "y", "y"]]);
    let counts = [1_000_000_000, 300_000_000, 1_000_000_000, 200_000_000];
    let counting = Counting { counts: Some(&counts), ..Counting::default() };
    let evidence = Evidence::count(&predictions, &truth, &counting, &Control::default()).expect("counts fit");
    let comparison = run(&evidence, None, &quick());
    assert_eq!(of(&comparison, Method::Selection).accuracy, 1.0);
    let behind = of(&comparison, Method::Majority).behind.expect("not the best");
    assert!(behind.is_beyond_noise && behind.interval[1] - behind.interval[0] < 1e-3, "{behind:?}");
}

#[test]
fn a_rising_curve_shows_that_more_rows_help() {
    // The joint table of four classifiers and eight classes has 4096 patterns.
    let classes = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let names = ["0", "1", "2", "3"];
    let rows = |n: u64, seed: u64| test_panels::evidence(names, &drawn::<4, 5>(n, &classes, [0.5; 4], seed));
    let (evidence, test) = (rows(1600, 1), rows(4000, 2));
    let settings = CompareSettings { methods: vec![Method::Bayes], ..CompareSettings::default() };
    for (test, n_rows) in [(None, [80, 160, 320, 640, 1280]), (Some(&test), [100, 200, 400, 800, 1600])] {
        let comparison = run(&evidence, test, &settings);
        let curve = comparison.curve.as_ref().expect("enough rows");
        assert_eq!(curve.n_rows, n_rows);
        let line = curve.methods.iter().find(|line| line.method == Method::Bayes).expect("evaluated");
        assert!(line.accuracies.is_sorted(), "{comparison}");
        let outlook = curve.outlook.as_ref().expect("one method is no reference");
        assert_eq!((outlook.method, outlook.more_rows), (Method::Bayes, MoreRows::Help), "{comparison}");
    }
}

#[test]
fn references_are_compared_in_any_case_and_no_method_twice() {
    let rows = drawn::<3, 4>(60, &["x", "y"], [0.9, 0.7, 0.7], 1);
    let settings = CompareSettings { methods: vec![Method::NaiveBayes; 2], ..CompareSettings::default() };
    let comparison = run(&evidence(["a", "b", "c"], &rows), None, &settings);
    assert_eq!(comparison.methods.len(), 3);
    let asked = |method| !of(&comparison, method).is_reference;
    assert!(asked(Method::NaiveBayes) && !asked(Method::Selection) && !asked(Method::Majority));
    assert!(comparison.to_string().contains("majority *"));
}

#[test]
fn a_report_fits_a_screen() {
    let rows = drawn::<3, 4>(80, &["x", "y"], [0.9, 0.7, 0.3], 1);
    let names = ["a", "b", "c"];
    let test = evidence(names, &drawn::<3, 4>(80, &["x", "y"], [0.9, 0.7, 0.3], 2));
    let mut refusing = run(&evidence(names, &rows), None, &CompareSettings::default());
    let reason =
        "regression on 80 patterns: expected at most 10 bytes of memory, found a need of about 99".to_owned();
    refusing.refused.push(RefusedMethod { method: Method::Stacking, reason });
    for comparison in [run(&evidence(names, &rows), Some(&test), &CompareSettings::default()), refusing] {
        let text = comparison.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.lines().count() <= 50, "{text}");
    }
}

#[test]
fn a_report_is_written_in_the_words_of_its_json() {
    let rows = drawn::<3, 4>(80, &["x", "y"], [0.9, 0.7, 0.3], 1);
    let text = |class_weights: ClassWeights| {
        let options = Options { class_weights, ..Options::default() };
        run(&evidence(["a", "b", "c"], &rows), None, &CompareSettings { options, ..quick() }).to_string()
    };
    let plain = text(ClassWeights::Equal);
    for line in [
        "80 labelled rows, 3 classifiers, 2 classes",
        "Every method is evaluated on held-out rows: 5-fold cross-validation, 3 times.",
        "method          accuracy        95 %  behind the best",
        "behind the best: points, with simultaneous 95 % intervals; ~ within noise",
        "Accuracy among the rows with the largest margins (first repetition):",
        "AURC: area under the risk-coverage curve; lower is better",
        "Accuracy after fitting to so many labelled rows (first repetition):",
    ] {
        assert!(plain.lines().any(|found| found == line), "{line}\n{plain}");
    }
    assert!(plain.contains("best classifier in hindsight: `a`, accuracy 9"), "{plain}");
    let balanced = text(ClassWeights::Balanced);
    assert!(
        balanced.contains("method          accuracy balanced accuracy        95 %  behind the best\n"),
        "{balanced}"
    );
    assert!(balanced.contains("\nBalanced accuracy after fitting to so many"), "{balanced}");
    let weights = "x=2".parse().expect("a weight");
    assert!(text(weights).contains("best classifier in hindsight: `a`, weighted accuracy "));
    for text in [plain, balanced] {
        let old = ["right", "judge", "learn from", "drawn", "clearly", "plain", "liars", "told", "gap"];
        assert!(old.iter().all(|word| !text.contains(word)), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80 && line.trim_end() == line), "{text}");
    }
}

#[test]
fn json_has_shares_and_the_names_of_the_engine() {
    let rows = drawn::<3, 4>(60, &["x", "y"], [0.9, 0.7, 0.7], 1);
    let json =
        serde_json::to_value(run(&evidence(["a", "b", "c"], &rows), None, &quick())).expect("plain values");
    assert_eq!(json["held_out"]["by"], "folds");
    let best = &json["methods"][0];
    assert!(best["accuracy"].as_f64().is_some_and(|share| (0.0..=1.0).contains(&share)));
    assert_eq!(best["risk"]["most_certain"][0]["share"], 1.0);
    assert!(best["risk"]["area"].is_f64());
    assert!(best["fit_seconds"].is_null() && best["predict_seconds_per_million"].is_null());
    assert!(best["behind"].is_null() && json["methods"][1]["behind"]["is_beyond_noise"].is_boolean());
    assert!(json["recommendation"]["beats_majority"].is_boolean());
    assert!(json["recommendation"]["lines"][0].is_string());
    assert_eq!(json["curve"]["n_rows"].as_array().map(Vec::len), Some(3));
}
