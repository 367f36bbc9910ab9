//! What is done with a model that was read.

use std::sync::LazyLock;

use spocc::{
    Evidence, Label, Model, Predictions, Truth, audit::Audit, conformal::Coverage, data::Answers,
    predict::DecisionColumns,
};

use crate::{control, evidence};

/// The rows of the models in `testdata/format3`, for which a mutated model may still have the evidence.
const ROWS: &str = include_str!("../../testdata/format2/gold.csv");

/// Those rows with one more classifier.
static GROWN: LazyLock<Evidence> = LazyLock::new(|| {
    let mut rows = Predictions::builder(["a", "b", "c", "d", "e", "f"]).expect("six names");
    let mut truth = Truth::default();
    for line in ROWS.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let predicted = cells[1..6].iter().chain([&cells[1]]);
        rows.push(predicted.map(|cell| (!cell.is_empty()).then_some(*cell))).expect("six predictions");
        truth.push(Some(cells[7])).expect("few labels");
    }
    Evidence::new(&rows.finish(), &truth).expect("rows")
});

/// Writes a model, decides and explains rows with it; appends to it, audits it or uses its evidence as `choice` says, since
/// each of these takes longer than all else.
///
/// # Panics
///
/// If it contradicts itself: the case has failed.
pub fn exercise(model: &Model, choice: usize) {
    let bytes = model.to_bytes();
    let again = Model::from_bytes(&bytes).expect("a model that was read can be read again");
    assert_eq!(again.to_bytes(), bytes, "reading and writing changes nothing");
    assert!(model.without_evidence().to_bytes().len() <= bytes.len());
    let _ = model.parameters();
    if model.is_open() {
        let rows = answers(model);
        decide(model, rows.predictions());
        let _ = rows.explain(model, 1, false).expect("a row of its own columns");
        assert!(model.predict(&predictions(model)).is_err(), "classes are no open answers");
    } else {
        decide(model, &predictions(model));
    }
    match (choice % 8, model.evidence()) {
        (0, _) => drop(model.append(&GROWN, &control())),
        (1, Some(counts)) => drop(Audit::new(counts, Some(model), &control())),
        (2, Some(counts)) => evidence::exercise(counts, choice / 8),
        _ => {}
    }
}

/// A few rows: none, one or all of the labels and labels that the model does not know.
fn predictions(model: &Model) -> Predictions {
    let n = model.classifiers().len();
    let labels: Vec<Label> = model.classes().iter().take(5).cloned().chain(["unseen".into()]).collect();
    let mut rows = Predictions::builder(model.classifiers().to_vec()).expect("a model's names are distinct");
    for row in 0..8 {
        let cell =
            |k: usize| (row > 0 && (row + k) % 4 > 0).then(|| labels[(row * k + row) % labels.len()].clone());
        rows.push((0..n).map(cell)).expect("a whole row");
    }
    rows.finish()
}

fn answers(model: &Model) -> Answers {
    let n = model.classifiers().len();
    let rows = Answers::builder(model.classifiers().to_vec()).expect("a model's names are distinct");
    let mut rows = rows.normalised(model.normalise().unwrap_or_default());
    for row in 0..8 {
        let cell = |k: usize| (row > 0 && (row + k) % 4 > 0).then(|| (row * k % 7).to_string());
        rows.push((0..n).map(cell), None).expect("a whole row");
    }
    rows.finish()
}

fn decide(model: &Model, table: &Predictions) {
    let all = model.decide_all(table, DecisionColumns::ALL, &control()).expect("its own columns");
    assert_eq!(all.labels().len(), table.n_rows());
    let few = model.predict(table).expect("its own columns");
    assert_eq!(few.class, all.class, "the columns asked for change no decision");
    let aligned = model.align(table).expect("its own columns");
    for row in 0..table.n_rows() {
        let decision = aligned.decide(row).expect("a row");
        assert!(!decision.margin.is_nan() && decision.ties.contains(&decision.class));
        assert!(decision.probability.iter().flatten().all(|share| (0.0..=1.0).contains(share)));
    }
    for row in [0, table.n_rows() - 1] {
        let _ = aligned.explain(row).expect("a row");
    }
    let coverage = Coverage::try_from(0.5).expect("a share");
    if let Ok(sets) = model.predict_sets(table, coverage, 0) {
        assert!(sets.iter().all(|set| !set.is_empty()) && sets.len() == table.n_rows());
    }
}
