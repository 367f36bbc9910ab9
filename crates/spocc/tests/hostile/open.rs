//! Files of open answers, altered.

use std::cell::Cell;

use spocc::data::{Answers, Normalise};

use super::{
    content::{edited, edits},
    *,
};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Rows of four classifiers; every third has no truth.
fn answers(n: usize) -> Answers {
    let mut rows = Answers::builder(NAMES).expect("four names").normalised(Normalise::Number);
    let mut random = Random(3);
    for t in 0..n {
        let mut cell = || (random.below(8) > 0).then(|| format!("{}", 10 * t + random.below(4)));
        let cells = [cell(), cell(), cell(), cell()];
        rows.push(cells, (t % 3 > 0).then(|| format!("{}", 10 * t))).expect("a row");
    }
    rows.finish()
}

fn evidence() -> Evidence {
    let rows = answers(40);
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
    for _ in 0..3 {
        rows.push([Some("x"), Some("y")], Some("y")).expect("a row");
    }
    let rows = rows.finish();
    let file = Evidence::new(rows.predictions(), rows.truth()).expect("rows").to_bytes();
    // The one pattern is `1, 2`; as `2, 1` it is no numbering in the order of the names.
    let contents = sections::levels(&file).swap_remove(0).0;
    let tally = contents.iter().find(|section| section.name == b"Tally").expect("a tally");
    let at = tally.content.windows(2).position(|two| two == [1, 2]).expect("the pattern");
    let swap = |bytes: &mut Vec<u8>| bytes[at..at + 2].copy_from_slice(&[2, 1]);
    let mut changed = tally.content.clone();
    swap(&mut changed);
    let forged: Vec<u8> = replace_section(&file, b"Tally", &changed);
    let error = evidence_error(&forged).to_string();
    assert!(error.contains("expected"), "{error}");
}

/// The file with other content of one section.
fn replace_section(file: &[u8], name: &[u8], content: &[u8]) -> Vec<u8> {
    let (mut sections, remake) = sections::levels(file).swap_remove(0);
    for section in &mut sections {
        if section.name == name {
            section.content = content.to_vec();
        }
    }
    remake(&sections)
}
