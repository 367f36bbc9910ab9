//! Files that are not what they seem: cut short, altered, of another kind, or made by someone who knows the
//! checksum. Each is refused with a named error; what is not refused works. Nothing panics, nothing allocates
//! more than the file is worth.

mod panels;

use std::cell::Cell;

use panels::{Panel, Random, Shape, config};
use proptest::prelude::*;
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
    let weighed = Options { missing: Missing::Auto, class_weights, ..Options::default() };
    let how = ConformalSettings { scheme: ConformalScheme::Split, per_class: true, seed: 1 };
    let calibrated = Options { calibrate: Some(how), ..Options::default() };
    let mut models = Vec::new();
    for method in Method::ALL {
        for options in [Options::default(), symbol.clone(), weighed.clone(), calibrated.clone()] {
            let model = Model::fit(method.combiner().as_ref(), &evidence, &options, &Control::default());
            // Not every method takes every kind of evidence.
            models.extend(model.ok().into_iter().flat_map(|model| [model.slim(), model]));
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
    hasher.update(&bytes[12..24]);
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

#[test]
fn an_untouched_file_resealed_is_still_itself() {
    for model in models(&small_panel()) {
        let bytes = model.to_bytes();
        assert_eq!(resealed(&bytes), bytes);
        assert_eq!(Model::from_bytes(&bytes).expect("our own bytes").to_bytes(), bytes);
    }
    let bytes = small_panel().tally().to_bytes();
    assert_eq!(resealed(&bytes), bytes);
}

#[test]
fn every_truncation_is_refused() {
    for model in models(&small_panel()) {
        let bytes = model.to_bytes();
        for length in 1..bytes.len() {
            assert!(matches!(model_error(&bytes[..length]), Error::Truncated { .. }), "{length} bytes");
        }
    }
    for level in [Level::Marginals, Level::Pairs, Level::Tally] {
        let bytes = small_panel().evidence(level).to_bytes();
        for length in 1..bytes.len() {
            assert!(matches!(evidence_error(&bytes[..length]), Error::Truncated { .. }), "{length} bytes");
        }
    }
    assert_eq!(model_error(&[]), Error::NotOurs { expected: "model" });
    assert_eq!(
        model_error(&[]).to_string(),
        "model file: expected to begin with the mark of one, found other bytes"
    );
    let bytes = small_panel().tally().to_bytes();
    let cut = bytes.len() - 1;
    assert_eq!(
        evidence_error(&bytes[..cut]).to_string(),
        format!("file length: expected {} bytes, found {cut} (cut short)", bytes.len())
    );
}

#[test]
fn every_flipped_bit_is_refused() {
    let model = Method::AdaSpocc.combiner().fit(&small_panel().tally()).expect("rows");
    let (model, evidence) = (model.to_bytes(), small_panel().tally().to_bytes());
    let names = |error: Error, byte: usize| match byte {
        0..8 => matches!(error, Error::NotOurs { .. }),
        8..12 => matches!(error, Error::FutureVersion { .. } | Error::Inconsistent { .. }),
        12..16 => matches!(error, Error::Inconsistent { .. } | Error::Checksum { .. }),
        16..24 => matches!(error, Error::Truncated { .. } | Error::Oversized { .. }),
        _ => matches!(error, Error::Checksum { .. }),
    };
    for byte in 0..model.len() {
        for bit in 0..8 {
            let mut flipped = model.clone();
            flipped[byte] ^= 1 << bit;
            assert!(names(model_error(&flipped), byte), "bit {bit} of byte {byte}");
        }
    }
    for byte in 0..evidence.len() {
        for bit in 0..8 {
            let mut flipped = evidence.clone();
            flipped[byte] ^= 1 << bit;
            assert!(names(evidence_error(&flipped), byte), "bit {bit} of byte {byte}");
        }
    }
}

#[test]
fn what_follows_the_end_is_refused() {
    let mut bytes = small_panel().tally().to_bytes();
    let expected = bytes.len() as u64;
    bytes.extend([0, 1, 2]);
    assert_eq!(evidence_error(&bytes), Error::Oversized { expected, found: expected + 3 });
    // Counted and summed as part of the content, they still belong to nothing.
    let error = evidence_error(&resealed(&bytes));
    assert_eq!(error.to_string(), "file content: expected nothing after the content, found 3 bytes");
}

#[test]
fn a_file_of_a_later_version_is_named_so() {
    for bytes in [small_panel().tally().to_bytes(), models(&small_panel())[0].to_bytes()] {
        for version in [3u32, 7, u32::MAX] {
            let mut later = bytes.clone();
            later[8..12].copy_from_slice(&version.to_le_bytes());
            let expected = Error::FutureVersion { newest: 2, found: version };
            assert_eq!((model_error(&later), evidence_error(&later)), (expected.clone(), expected));
        }
    }
    let error = Error::FutureVersion { newest: 2, found: 3 }.to_string();
    assert_eq!(error, "file version: expected at most 2, found 3 (written by a newer spocc)");
}

#[test]
fn a_file_of_an_earlier_version_is_to_be_made_again() {
    let model = Method::AdaSpocc.combiner().fit(&small_panel().tally()).expect("rows");
    let mut first = model.to_bytes();
    first[8..12].copy_from_slice(&1u32.to_le_bytes());
    let message = "expected a file of version 2, found version 1: make it again";
    assert!(
        model_error(&resealed(&first)).to_string().contains(message),
        "{}",
        model_error(&resealed(&first))
    );
}

#[test]
fn other_files_are_not_ours() {
    let others: [&[u8]; 5] =
        [b"row,ann,bob\n1,cat,dog\n", b"PK\x03\x04", b"\x89PNG\r\n\x1a\n", b"\x00", &[0xff; 4096]];
    for other in others {
        assert_eq!(model_error(other), Error::NotOurs { expected: "model" });
        assert!(matches!(evidence_error(other), Error::NotOurs { .. }));
    }
}

#[test]
fn a_sister_file_is_called_by_its_name() {
    let (model, evidence) = (models(&small_panel())[0].to_bytes(), small_panel().tally().to_bytes());
    assert_eq!((model[12], evidence[12]), (MODEL as u8, EVIDENCE as u8));
    assert_eq!(model_error(&evidence).to_string(), "model file: expected a model, found a tally");
    assert_eq!(evidence_error(&model).to_string(), "tally file: expected a tally, found a model");
    // A model that calls itself evidence is nonsense when read as such.
    let mut disguised = model;
    disguised[12..16].copy_from_slice(&EVIDENCE.to_le_bytes());
    assert!(matches!(evidence_error(&resealed(&disguised)), Error::Inconsistent { .. }));
    disguised[12..16].copy_from_slice(&9u32.to_le_bytes());
    assert_eq!(
        evidence_error(&resealed(&disguised)).to_string(),
        "file content: expected a model or a tally, found content of kind 9"
    );
}

#[test]
fn weights_and_missing_labels_that_no_fit_gives_are_refused() {
    let evidence = small_panel().tally();
    let class = evidence.labels().classes()[0].clone();
    let options = Options {
        missing: Missing::Answer,
        class_weights: ClassWeights::Given(vec![(class, 5.5)]),
        ..Options::default()
    };
    let model = Model::fit(&spocc::methods::NaiveBayes, &evidence, &options, &Control::default())
        .expect("rows")
        .slim();
    let bytes = model.to_bytes();
    let find =
        |what: &[u8]| bytes.windows(what.len()).position(|window| window == what).expect("it is there");
    let weight = find(&5.5f64.to_le_bytes());
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut forged = bytes.clone();
        forged[weight..weight + 8].copy_from_slice(&f64::to_le_bytes(bad));
        let error = model_error(&resealed(&forged)).to_string();
        assert!(error.contains("expected no weights or one above 0 per class"), "{error}");
    }
    // After the choice: all classifiers's a missing cell is an answer.
    let n = model.classifiers().len();
    let all_classifiers: Vec<u8> = [1, n as u8].into_iter().chain(vec![1; n]).collect();
    let mut forged = bytes.clone();
    forged[find(&all_classifiers) + 2] = 0;
    let error = model_error(&resealed(&forged)).to_string();
    assert!(error.contains("expected whose silence is an answer"), "{error}");
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
    assert!(model.slim().to_bytes().len() <= model.to_bytes().len());
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

/// One change of the payload.
#[derive(Clone, Debug)]
enum Edit {
    Set(u8),
    Flip(u8),
    Insert(u8),
    Remove,
    /// A number of ten bytes, the largest there is.
    Huge,
    /// A float that is none.
    NotANumber,
}

fn edits() -> impl Strategy<Value = Vec<(prop::sample::Index, Edit)>> {
    let edit = prop_oneof![
        3 => any::<u8>().prop_map(Edit::Set),
        3 => (0..8u8).prop_map(Edit::Flip),
        1 => any::<u8>().prop_map(Edit::Insert),
        1 => Just(Edit::Remove),
        2 => Just(Edit::Huge),
        1 => Just(Edit::NotANumber),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), edit), 1..4)
}

fn edited(bytes: &[u8], edits: &[(prop::sample::Index, Edit)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (index, edit) in edits {
        let at = HEADER + index.index(bytes.len() - HEADER);
        match edit {
            Edit::Set(value) => bytes[at] = *value,
            Edit::Flip(bit) => bytes[at] ^= 1 << bit,
            Edit::Insert(value) => bytes.insert(at, *value),
            Edit::Remove => drop(bytes.remove(at)),
            Edit::Huge => drop(bytes.splice(at..=at, [0xff; 9].into_iter().chain([1]))),
            Edit::NotANumber => {
                let end = (at + 8).min(bytes.len());
                bytes.splice(at..end, f64::NAN.to_le_bytes());
            }
        }
        if bytes.len() == HEADER {
            bytes.push(0);
        }
    }
    resealed(&bytes)
}

#[test]
fn an_altered_model_with_a_true_checksum_is_refused_or_works() {
    for panel in [small_panel(), sparse_panel()] {
        let files: Vec<Vec<u8>> = models(&panel).iter().map(Model::to_bytes).collect();
        let believed = Cell::new(0);
        proptest!(config(1500), |(file: prop::sample::Index, edits in edits())| {
            let bytes = edited(&files[file.index(files.len())], &edits);
            match Model::from_bytes(&bytes) {
                Ok(model) => {
                    believed.set(believed.get() + 1);
                    exercise_model(&model, &panel);
                }
                Err(error) => prop_assert!(error.to_string().contains("expected"), "{}", error),
            }
        });
        assert!(believed.get() >= 10, "only {} altered files were believed and tried", believed.get());
    }
}

#[test]
fn altered_evidence_with_a_true_checksum_is_refused_or_works() {
    for panel in [small_panel(), sparse_panel()] {
        let levels = [Level::Marginals, Level::Pairs, Level::Tally].map(|level| panel.evidence(level));
        let files: Vec<Vec<u8>> = levels.iter().chain([&all_rows(&panel)]).map(Evidence::to_bytes).collect();
        let believed = Cell::new(0);
        proptest!(config(1500), |(file: prop::sample::Index, edits in edits())| {
            let bytes = edited(&files[file.index(files.len())], &edits);
            match Evidence::from_bytes(&bytes) {
                Ok(evidence) => {
                    believed.set(believed.get() + 1);
                    exercise_evidence(&evidence);
                }
                Err(error) => prop_assert!(error.to_string().contains("expected"), "{}", error),
            }
        });
        assert!(believed.get() >= 10, "only {} altered files were believed and tried", believed.get());
    }
}

/// Every byte of the payload set to a few values that matter: small counts, borders of numbers, enum tags.
#[test]
fn every_single_altered_byte_with_a_true_checksum_is_refused_or_works() {
    let panel = small_panel();
    for model in models(&panel) {
        let bytes = model.to_bytes();
        for at in HEADER..bytes.len() {
            for value in [0, 1, 2, 0x7f, 0x80, 0xff] {
                let mut altered = bytes.clone();
                altered[at] = value;
                if let Ok(read) = Model::from_bytes(&resealed(&altered)) {
                    exercise_model(&read.slim(), &panel);
                }
            }
        }
    }
}

/// Every byte of a model replaced by a huge number: whatever it stood for, a length, a size, a child, nothing is
/// allocated or added up before it was checked.
#[test]
fn huge_numbers_are_refused_before_room_is_made_for_them() {
    let panel = small_panel();
    for model in models(&panel) {
        let bytes = model.to_bytes();
        let mut refused = 0;
        for at in HEADER..bytes.len() {
            for size in [1u64 << 40, 1 << 60, u64::MAX] {
                let mut altered = bytes[..at].to_vec();
                altered.extend(varint(size));
                altered.extend(&bytes[at + 1..]);
                match Model::from_bytes(&resealed(&altered)) {
                    Ok(model) => exercise_model(&model.slim(), &panel),
                    Err(_) => refused += 1,
                }
            }
        }
        assert!(refused > 0, "{}", model.method());
    }
}

/// Puts `to` where the file has the number `from`.
fn with_number(bytes: &[u8], from: f64, to: f64) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut at = HEADER;
    while at + 8 <= bytes.len() {
        if bytes[at..at + 8] == from.to_le_bytes() {
            bytes[at..at + 8].copy_from_slice(&to.to_le_bytes());
            at += 7;
        }
        at += 1;
    }
    resealed(&bytes)
}

fn fitted(method: Method, panel: &Panel) -> Model {
    method.combiner().fit(&panel.tally()).expect("labelled rows").slim()
}

#[test]
fn votes_that_add_up_to_more_than_a_number_holds_are_refused_or_work() {
    let panel = small_panel();
    let bytes = with_number(&fitted(Method::Majority, &panel).to_bytes(), 1.0, f64::MAX);
    if let Ok(model) = Model::from_bytes(&bytes) {
        exercise_model(&model, &panel);
    }
}

#[test]
fn a_naive_bayes_in_which_no_class_is_ever_true_is_refused_or_works() {
    let panel = small_panel();
    let mut bytes = fitted(Method::NaiveBayes, &panel).to_bytes();
    for share in class_shares(&panel) {
        let altered = with_number(&bytes, -share.ln(), f64::INFINITY);
        assert_ne!(altered, bytes, "the file has the surprisal of a share of {share}");
        bytes = altered;
    }
    if let Ok(model) = Model::from_bytes(&bytes) {
        exercise_model(&model, &panel);
    }
}

/// Share of the labelled rows that each class has.
fn class_shares(panel: &Panel) -> Vec<f64> {
    let known = panel.truth.iter().flatten().count() as f64;
    let rows = |i: usize| panel.truth.iter().filter(|truth| **truth == Some(i)).count() as f64;
    (0..panel.n_classes).map(|i| rows(i) / known).collect()
}

/// A number as a file has it: seven bits to a byte, the lowest first.
fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
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
