//! Files of open answers, altered.

use std::cell::Cell;

use spocc::data::{Answers, Normalise};

use super::{
    content::{edited, edits},
    refused::{Content, changed, confusions, section, tally},
    sections::Section,
    *,
};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Rows of four classifiers; every third has no truth.
fn answers(n: usize, normalise: Normalise) -> Answers {
    let mut rows = Answers::builder(NAMES).expect("four names").normalised(normalise);
    let mut random = Random(3);
    for t in 0..n {
        let mut cell = || (random.below(8) > 0).then(|| format!("{}", 10 * t + random.below(4)));
        let cells = [cell(), cell(), cell(), cell()];
        rows.push(cells, (t % 3 > 0).then(|| format!("{}", 10 * t))).expect("a row");
    }
    rows.finish()
}

fn evidence() -> Evidence {
    let rows = answers(40, Normalise::Number);
    Evidence::new(rows.predictions(), rows.truth()).expect("rows")
}

pub(crate) fn open_models() -> Vec<Model> {
    let how = ConformalSettings { scheme: ConformalScheme::Cross, per_class: false, seed: 1 };
    let calibrated = Options { calibrate: Some(how), evaluate: true, ..Options::default() };
    let mut models = Vec::new();
    for method in Method::ALL.into_iter().filter(|method| method.capabilities().open_answers) {
        for options in [Options::default(), calibrated.clone()] {
            let model = Model::fit(method.combiner().as_ref(), &evidence(), &options, &Control::default());
            let model = model.expect("rows");
            models.extend([model.without_evidence(), model]);
        }
    }
    models
}

/// Uses a model that was believed.
pub(crate) fn exercise(model: &Model) {
    let mut rows = Answers::builder(model.classifiers().iter().cloned())
        .expect("a model's names are distinct")
        .normalised(model.normalise().unwrap_or_default());
    let mut random = Random(5);
    for _ in 0..20 {
        let cells: Vec<Option<String>> = model
            .classifiers()
            .iter()
            .map(|_| (random.below(4) > 0).then(|| random.below(6).to_string()))
            .collect();
        rows.push(cells, None).expect("a whole row");
    }
    let rows = rows.finish();
    if !model.is_open() {
        assert!(matches!(model.predict(rows.predictions()), Err(Error::OpenAnswers { .. })));
        return;
    }
    let decided = model.predict(rows.predictions()).expect("its own columns");
    for row in 0..rows.n_rows() {
        assert!(usize::from(decided.class[row]) <= rows.n_candidates(row));
        let explained = rows.explain(model, row, false).expect("a row");
        assert!(!explained.decision.margin.is_nan() && !explained.to_string().is_empty());
    }
    let _ = model.predict_sets(rows.predictions(), Coverage::try_from(0.5).expect("a share"), 0);
    if let Some(evidence) = model.evidence() {
        exercise_evidence(evidence);
        let _ = spocc::audit::Audit::new(evidence, Some(model), &Control::default());
    }
}

#[test]
fn an_altered_model_of_open_answers_is_refused_or_works() {
    let files: Vec<Vec<u8>> = open_models().iter().map(Model::to_bytes).collect();
    let believed = Cell::new(0);
    proptest!(config(1500), |(file: Index, byte: Index, edits in edits())| {
        let bytes = edited(&files[file.index(files.len())], byte, &edits);
        match Model::from_bytes(&bytes) {
            Ok(model) => {
                believed.set(believed.get() + 1);
                exercise(&model);
            }
            Err(error) => prop_assert!(error.to_string().contains("expected"), "{}", error),
        }
    });
    assert!(believed.get() >= 10, "only {} altered files were believed and tried", believed.get());
}

#[test]
fn an_altered_tally_of_open_answers_is_refused_or_works() {
    let file = evidence().to_bytes();
    proptest!(config(1500), |(byte: Index, edits in edits())| {
        match Evidence::from_bytes(&edited(&file, byte, &edits)) {
            Ok(evidence) => {
                exercise_evidence(&evidence);
                if evidence.is_open() {
                    let names: Vec<&String> = evidence.classifiers().iter().take(2).collect();
                    evidence.select(&names, &Control::default()).expect("its own names");
                }
            }
            Err(error) => prop_assert!(error.to_string().contains("expected"), "{}", error),
        }
    });
}

#[test]
fn patterns_that_no_rows_can_have_are_refused() {
    let mut rows = Answers::builder(["a", "b"]).expect("two names");
    rows.push([Some("x"), Some("y")], Some("y")).expect("a row");
    let rows = rows.finish();
    let file = Evidence::new(rows.predictions(), rows.truth()).expect("rows").to_bytes();
    let panel = sections::sections_of(&file).into_iter().find(|section| section.name == b"Panel");
    // Three rows with candidate 2 as the truth, and two without truth.
    let with = |patterns: [u16; 2], unlabelled: [u16; 2], changes: Vec<Content>| {
        let cells = patterns.map(|predicted| (predicted, 2, 3));
        let sections = vec![
            confusions(&[1, 2], &cells),
            section("Counts", &(0u32, vec![0u64, 0, 3])),
            ("Panel", panel.clone().expect("a panel").content),
            tally("Tally", &patterns, &[2], &[3]),
            tally("Unlabelled", &unlabelled, &[0], &[2]),
        ];
        changed(&file, sections, changes)
    };
    Evidence::from_bytes(&with([1, 2], [1, 2], vec![])).expect("sound");
    let no_patterns = vec![("Tally", vec![]), ("Unlabelled", vec![])];
    for (bytes, found) in [
        (with([2, 1], [1, 2], vec![]), "another order"),
        (with([1, 2], [2, 1], vec![]), "another order"),
        (with([1, 1], [1, 2], vec![]), "a truth that is no candidate of its row"),
        (with([1, 2], [1, 2], no_patterns), "no patterns"),
    ] {
        let error = evidence_error(&bytes).to_string();
        let expected = format!("expected candidates in the order of the classifiers, found {found}");
        assert!(error.ends_with(&expected), "{found}: {error}");
    }
}

/// The model of a method, calibrated and without its evidence.
fn calibrated(method: Method) -> Model {
    let is_meant = |model: &Model| model.method() == method && model.calibration().is_some();
    open_models().into_iter().find(is_meant).expect("a calibrated model").without_evidence()
}

/// What is said of that model with these sections in place of those of the same names or of the rule.
fn forged(method: Method, changes: Vec<Content>) -> String {
    let slim = calibrated(method).to_bytes();
    let mut sections = sections::sections_of(&slim);
    for (name, content) in changes {
        let change = Section::new(name, content);
        let is_rule = |name: &[u8]| name.starts_with(b"Rule-");
        sections.retain(|section| {
            section.name != change.name && !(is_rule(&section.name) && is_rule(&change.name))
        });
        sections.push(change);
    }
    sections.sort_by(|a, b| a.name.cmp(&b.name));
    match Model::from_bytes(&sections::with_sections(&slim, &sections)) {
        Ok(_) => "believed".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn rules_and_parts_that_are_not_those_of_open_answers_are_refused() {
    assert_eq!(forged(Method::Majority, vec![]), "believed");
    let n_labels = calibrated(Method::Majority).classes().len();
    let likelihoods = (n_labels, vec![1.0; n_labels], vec![1.0; NAMES.len() * n_labels * n_labels]);
    let settings = ("naive-bayes", 0u32, vec![false; NAMES.len()], 0u32, Vec::<f64>::new());
    let changes = vec![section("Rule-likelihoods", &likelihoods), section("Settings", &settings)];
    let refused = forged(Method::Majority, changes);
    assert!(refused.contains("a rule over open answers exactly if these are open"), "{refused}");

    let panel = sections::sections_of(&calibrated(Method::Ladder).to_bytes()).remove(0);
    // Classes that the user gave, in place of candidates compared as numbers.
    let given = [&panel.content[..panel.content.len() - 2], &[1]].concat();
    let refused = forged(Method::Ladder, vec![("Panel", given)]);
    assert!(refused.contains("a rule over open answers exactly if these are open"), "{refused}");

    let n_labels = calibrated(Method::Ladder).classes().len();
    let lists = vec![(vec![0.5, 1.0], vec![1u64, 2]); n_labels];
    let refused = forged(Method::Ladder, vec![section("conformal", &((0u32, true, 1u64), lists))]);
    assert!(refused.contains("one list of scores for open answers"), "{refused}");

    let rows = answers(40, Normalise::None);
    let evidence = Evidence::new(rows.predictions(), rows.truth()).expect("rows");
    let evidence = Section::join(&sections::sections_of(&evidence.to_bytes()));
    let refused = forged(Method::Ladder, vec![("evidence", evidence)]);
    assert!(refused.contains("evidence of open answers exactly if"), "{refused}");
}
