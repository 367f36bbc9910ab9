//! Files that are not what they seem: cut short, altered, of another kind, or made by someone who knows the
//! checksum. Each is refused with a named error; what is not refused works. Nothing panics, nothing allocates
//! more than the file is worth.

mod frame;
mod sections;
mod surgery;
mod content;
mod open;
mod refused;
mod sums;
mod version2;
#[path = "../panels/mod.rs"]
mod panels;

use panels::{Panel, Random, Shape, config};
use proptest::{prelude::*, sample::Index};
use sections::Section;
use spocc::{
    Control, Error, Evidence, Fit, Method, Model, Options, Predictions,
    conformal::{ConformalScheme, ConformalSettings, Coverage},
    data::{ClassWeights, Missing},
    decision::TieBreak,
    evidence::{Counting, Level},
};

/// Mark, version, kind, length, checksum.
const HEADER: usize = 28;
const MODEL: u32 = 1;
const EVIDENCE: u32 = 2;

fn small_panel() -> Panel {
    let shape = Shape {
        n_classifiers: 3,
        n_classes: 2,
        n_others: 1,
        n_rows: 12,
        missing_share: 0.2,
        weighted: false,
        seed: 5,
    };
    Panel::new(shape)
}

/// A panel wide and empty enough to be stored sparsely.
fn sparse_panel() -> Panel {
    let shape = Shape {
        n_classifiers: 16,
        n_classes: 3,
        n_others: 0,
        n_rows: 20,
        missing_share: 0.85,
        weighted: true,
        seed: 6,
    };
    Panel { is_closed: true, ..Panel::new(shape) }
}

/// The tally of a panel, and a few of its rows once more, without their truth.
fn all_rows(panel: &Panel) -> Evidence {
    let few = Panel { truth: vec![None; 3], ..panel.part(&[0, 1, 2]) };
    let counting = Counting { unlabelled: true, ..few.counting(Level::Tally) };
    let few = Evidence::count(&few.predictions(), &few.truths(), &counting, &Control::default());
    panel.tally().merge(&few.expect("sound rows"), &Control::default()).expect("the same panel")
}

fn models(panel: &Panel) -> Vec<Model> {
    let evidence = all_rows(panel);
    let symbol = Options { missing: Missing::Answer, ties: TieBreak::Random(3), ..Options::default() };
    let class_weights = ClassWeights::Balanced;
    let weighed = Options { missing: Missing::Auto, class_weights, evaluate: true, ..Options::default() };
    let how = ConformalSettings { scheme: ConformalScheme::Split, per_class: true, seed: 1 };
    let calibrated = Options { calibrate: Some(how), ..Options::default() };
    let mut models = Vec::new();
    for method in Method::ALL {
        for options in [Options::default(), symbol.clone(), weighed.clone(), calibrated.clone()] {
            let model = Model::fit(method.combiner().as_ref(), &evidence, &options, &Control::default());
            // Not every method takes every kind of evidence.
            models.extend(model.ok().into_iter().flat_map(|model| [model.without_evidence(), model]));
        }
    }
    models
}

/// Writes length and checksum anew, as someone would who wants an altered file to be believed.
fn resealed(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let length = (bytes.len() - HEADER) as u64;
    bytes[16..24].copy_from_slice(&length.to_le_bytes());
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[if bytes[8] == 2 { 12 } else { 8 }..24]);
    hasher.update(&bytes[HEADER..]);
    bytes[24..28].copy_from_slice(&hasher.finalize().to_le_bytes());
    bytes
}

fn model_error(bytes: &[u8]) -> Error {
    Model::from_bytes(bytes).expect_err("not a model")
}

fn evidence_error(bytes: &[u8]) -> Error {
    Evidence::from_bytes(bytes).expect_err("not evidence")
}

/// Uses a model that was believed: it must decide every row, shortly and in full, without a panic.
fn exercise_model(model: &Model, panel: &Panel) {
    let names = model.classifiers().to_vec();
    let mut table = Predictions::builder(names.clone()).expect("a model's names are distinct");
    let mut random = Random(1);
    for t in 0..30 {
        let answer =
            |random: &mut Random| (t > 0).then(|| random.below(panel.labels.len() + 1)).filter(|_| t % 3 > 0);
        let row: Vec<Option<String>> =
            (0..names.len()).map(|_| answer(&mut random).map(|j| format!("l{j}"))).collect();
        table.push(row).expect("a whole row");
    }
    let table = table.finish();
    let decided = model.predict(&table).expect("its own columns");
    assert_eq!(decided.labels().len(), table.n_rows());
    let aligned = model.align(&table).expect("its own columns");
    for t in 0..table.n_rows() {
        let decision = aligned.decide(t).expect("a row");
        assert_eq!(decision.possibility.degrees().len(), model.classes().len());
        assert!(!decision.margin.is_nan() && decision.ties.contains(&decision.class));
    }
    let coverage = Coverage::try_from(0.5).expect("a share");
    match model.predict_sets(&table, coverage, 0) {
        Ok(sets) => assert!(sets.iter().all(|set| !set.is_empty()) && sets.len() == table.n_rows()),
        Err(error) => assert!(matches!(error, Error::NotCalibrated | Error::TooFewScores { .. }), "{error}"),
    }
    assert!(model.without_evidence().to_bytes().len() <= model.to_bytes().len());
    let _ = model.parameters();
    if let Some(evidence) = model.evidence() {
        exercise_evidence(evidence);
    }
}

/// Uses evidence that was believed: every method fits it or says why not, and it can be merged and reduced.
fn exercise_evidence(evidence: &Evidence) {
    // A believed file may be large in numbers, never in what it makes us allocate.
    let control = Control::default().with_memory_limit(1 << 26);
    for method in Method::ALL.into_iter().filter(|method| *method != Method::Stacking) {
        for missing in [Missing::Ignore, Missing::Answer] {
            let options = Options { missing, ..Options::default() };
            if let Err(error) = Model::fit(method.combiner().as_ref(), evidence, &options, &control) {
                assert!(error.to_string().contains("expected"), "{error}");
            }
        }
    }
    for level in [Level::Marginals, Level::Pairs, Level::Tally] {
        let reduced = evidence.reduce_to(level, &control).expect("small evidence");
        assert!(reduced.level() <= level.max(evidence.level()));
    }
    match evidence.merge(evidence, &control) {
        Ok(twice) => assert_eq!(twice.n_rows(), 2.0 * evidence.n_rows()),
        Err(error) => assert!(matches!(error, Error::Overflow { .. }), "{error}"),
    }
}

#[test]
fn a_believed_file_still_refuses_rows_it_does_not_fit() {
    let model = models(&small_panel()).pop().expect("at least one");
    let mut rows = Predictions::builder(["somebody"]).expect("one name");
    rows.push([Some("l0")]).expect("one answer");
    let error = model.predict(&rows.finish()).expect_err("other columns");
    assert_eq!(
        error.to_string(),
        "classifier `c0`: expected predictions of every classifier of the model, found only those of somebody"
    );
}
