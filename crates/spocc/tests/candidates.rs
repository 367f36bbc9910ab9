//! Labels that are no candidate classes are never decided, by any method, and count as predictions all the same.

use spocc::{
    Control, Evidence, Label, Method, Model, Options, Predictions, Truth,
    conformal::{ConformalScheme, ConformalSettings, Coverage},
    data::Missing,
};

const CLASSES: [&str; 3] = ["ant", "bee", "cow"];

/// Two good classifiers, a person who says `na` where in doubt, and a column that names the part of the data.
fn panel(n: usize) -> (Predictions, Truth) {
    let mut rows = Predictions::builder(["one", "two", "person", "subset"]).expect("four names");
    let mut truth = Truth::default();
    for t in 0..n {
        let class = t * 7 % 3;
        let off = |every: usize| if t % every == 1 { (class + 1) % 3 } else { class };
        let person = if t.is_multiple_of(4) { "na" } else { CLASSES[off(9)] };
        let subset = ["train", "dev"][t % 2];
        rows.push([CLASSES[off(5)], CLASSES[off(7)], person, subset].map(Some)).expect("four cells");
        truth.push(Some(CLASSES[class])).expect("three classes");
    }
    (rows.finish(), truth)
}

fn evidence(n: usize) -> Evidence {
    let (rows, truth) = panel(n);
    Evidence::new(&rows, &truth).expect("rows")
}

/// Rows on which most columns say `na` or name a subset.
fn hard_rows() -> Predictions {
    let mut rows = Predictions::builder(["one", "two", "person", "subset"]).expect("four names");
    rows.push(["ant", "bee", "na", "train"].map(Some)).expect("four cells");
    rows.push([None, None, Some("na"), Some("train")]).expect("four cells");
    rows.push([None, None, None, Some("dev")]).expect("four cells");
    rows.finish()
}

fn options() -> Options {
    Options { missing: Missing::Auto, ..Options::default() }
}

fn fit(method: Method, evidence: &Evidence, options: &Options) -> Model {
    Model::fit(&*method.combiner(), evidence, options, &Control::default()).expect("rows")
}

#[test]
fn no_method_decides_what_is_no_candidate() {
    let evidence = evidence(60);
    assert_eq!(evidence.labels().classes().len(), 6, "counting keeps every label");
    for method in Method::ALL {
        let model = fit(method, &evidence, &options());
        assert_eq!(model.classes(), CLASSES.map(Label::from), "{method}");
        for table in [panel(60).0, hard_rows()] {
            let decided = model.predict(&table).expect("all columns");
            assert!(decided.labels().all(|label| CLASSES.contains(&label.canonical())), "{method}");
        }
        assert!(model.knows(&Label::from("na")), "{method}: it is a prediction all the same");
    }
}

#[test]
fn what_is_no_candidate_counts_as_a_prediction() {
    // `na` is predicted of every fourth row, on which `one` errs as elsewhere: naive Bayes has a likelihood for it.
    let (rows, truth) = panel(60);
    let closed =
        spocc::evidence::Counting { classes: Some(CLASSES.map(Label::from).to_vec()), ..Default::default() };
    let given = Evidence::count(&rows, &truth, &closed, &Control::default()).expect("rows");
    for method in Method::ALL {
        let found = fit(method, &evidence(60), &options());
        let expected = fit(method, &given, &options());
        for table in [panel(60).0, hard_rows()] {
            let decide = |model: &Model| {
                let aligned = model.align(&table).expect("columns");
                (0..table.n_rows()).map(|row| aligned.decide(row).expect("a row")).collect::<Vec<_>>()
            };
            assert_eq!(decide(&found), decide(&expected), "{method}: as with a given list of classes");
        }
    }
}

#[test]
fn models_keep_counts_that_merge_and_are_read_back() {
    let whole = evidence(60);
    for method in Method::ALL {
        let model = fit(method, &whole, &options());
        let read = Model::from_bytes(&model.to_bytes()).expect("a model");
        assert_eq!(read.classes(), model.classes());
        let kept = read.evidence().expect("not slim");
        assert!(!kept.labels().is_closed(), "{method}: counts are kept as they were");
        kept.merge(&evidence(12), &Control::default()).expect("open labels merge");
    }
}

#[test]
fn candidates_depend_on_the_merged_rows() {
    let quiet = Control::default();
    // Nine rows with `na` leave it possible, eighteen do not.
    let half = evidence(36);
    assert!(half.candidate_classes().contains(&Label::from("na")));
    let sum = half.merge(&half, &quiet).expect("the same panel");
    assert_eq!(sum.candidate_classes(), CLASSES.map(Label::from));
}

#[test]
fn conformal_sets_hold_candidates_only() {
    let evidence = evidence(240);
    for (scheme, per_class) in [(ConformalScheme::Split, false), (ConformalScheme::Cross, true)] {
        for method in Method::ALL {
            let calibrate = Some(ConformalSettings { per_class, ..ConformalSettings::new(scheme) });
            let model = fit(method, &evidence, &Options { calibrate, ..options() });
            assert_eq!(model.classes().len(), 3, "{method}");
            let coverage = Coverage::try_from(0.8).expect("a coverage");
            let sets = model.predict_sets(&panel(240).0, coverage, 0).expect("scores enough");
            assert!(sets.iter().flatten().all(|class| *class < 3), "{method}");
        }
    }
}

#[test]
fn a_model_grows_without_new_classes() {
    let (rows, truth) = panel(60);
    let mut old = Predictions::builder(["one", "two", "subset"]).expect("three names");
    for row in 0..60 {
        old.push([0, 1, 3].map(|k| rows.get(row, k).cloned())).expect("three cells");
    }
    let old = Evidence::new(&old.finish(), &truth).expect("rows");
    for method in [Method::Spocc, Method::AdaSpocc, Method::Ladder] {
        let model = fit(method, &old, &options());
        assert_eq!(model.classes(), CLASSES.map(Label::from), "{method}");
        let grown = model.append(&evidence(60), &Control::default()).expect("one more column");
        assert_eq!(grown.classes(), CLASSES.map(Label::from), "{method}");
        assert!(grown.knows(&Label::from("na")), "{method}");
        let read = Model::from_bytes(&grown.to_bytes()).expect("a model");
        let decided = read.predict(&rows).expect("all columns");
        assert!(decided.labels().all(|label| CLASSES.contains(&label.canonical())), "{method}");
    }
}

#[test]
fn a_weight_of_a_label_that_is_no_candidate_is_refused() {
    let weights = spocc::data::ClassWeights::Given(vec![(Label::from("na"), 5.0)]);
    let options = Options { class_weights: weights, ..options() };
    let refused = Model::fit(&spocc::methods::NaiveBayes, &evidence(60), &options, &Control::default()).err();
    let message = "class weights: expected one of ant, bee, cow, found `na`";
    assert_eq!(refused.map(|error| error.to_string()).as_deref(), Some(message));
}

#[test]
fn split_conformal_keeps_the_kind_of_the_labels() {
    // One truth is a number, the others are texts: a part without that row must not make a text of it.
    let mut rows = Predictions::builder(["one", "two"]).expect("two names");
    let mut truth = Truth::default();
    for t in 0..61i64 {
        let class = if t == 60 { Label::from(1) } else { Label::from("b") };
        let predicted = if t % 5 == 0 { Label::from(1) } else { Label::from("b") };
        rows.push([Some(predicted.clone()), Some(predicted)]).expect("two cells");
        truth.push(Some(class)).expect("two classes");
    }
    let evidence = Evidence::new(&rows.finish(), &truth).expect("rows");
    for seed in 0..8 {
        let calibrate = Some(ConformalSettings { seed, ..ConformalSettings::new(ConformalScheme::Split) });
        let model = fit(Method::NaiveBayes, &evidence, &Options { calibrate, ..options() });
        let written: Vec<&spocc::data::Written> = model.classes().iter().map(Label::written).collect();
        assert_eq!(written[0], &spocc::data::Written::Integer, "seed {seed}");
    }
}
