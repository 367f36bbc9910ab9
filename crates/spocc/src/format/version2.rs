//! Files of version 2: the payload is one value, a model or evidence.
//!
//! What version 2 stores never changes, but the types of this crate may. The structures below are those of version 2 that
//! differ from the types they are converted to; all others are read with the types that version 3 stores. Before such a
//! type changes, its present shape is copied here, with its fields and variants in their order, and converted.

use serde::Deserialize;

use crate::{
    conformal::Calibration,
    data::{Labels, Missing},
    decision::TieBreak,
    error::Error,
    evidence::{Evidence, Pairs, Tally, Unlabelled},
    format::{
        evidence::{dense_confusions, sizes},
        rules,
        sections::{broken, decode},
    },
    methods::Method,
    model::Model,
};

/// The methods by their stored numbers.
const METHODS: [Method; 11] = [
    Method::Spocc,
    Method::AdaSpocc,
    Method::Selection,
    Method::Majority,
    Method::WeightedVote,
    Method::ExpVote,
    Method::NaiveBayes,
    Method::Bayes,
    Method::Stacking,
    Method::DawidSkene,
    Method::Ladder,
];

/// What comes before the rule of a model.
#[derive(Deserialize)]
struct ModelHead {
    method: u32,
    classifiers: Vec<String>,
    labels: Labels,
    missing: Missing,
    missing_is_answer: Vec<bool>,
    ties: TieBreak,
    class_weights: Vec<f64>,
    prior: Vec<u64>,
    rule: u32,
}

/// What comes after the rule of a model.
#[derive(Deserialize)]
struct ModelTail {
    evidence: Option<StoredEvidence>,
    calibration: Option<Calibration>,
}

#[derive(Deserialize)]
struct StoredEvidence {
    classifiers: Vec<String>,
    labels: Labels,
    fraction_bits: u32,
    class_counts: Vec<u64>,
    confusion: Vec<u64>,
    pairs: Option<Pairs>,
    tally: Option<Tally>,
    unlabelled: Option<Tally>,
}

impl TryFrom<StoredEvidence> for Evidence {
    type Error = Error;

    fn try_from(stored: StoredEvidence) -> Result<Self, Error> {
        let size = sizes(&stored.classifiers, &stored.labels);
        Ok(Self {
            classifiers: stored.classifiers,
            labels: stored.labels,
            fraction_bits: stored.fraction_bits,
            whole_weights: false,
            class_counts: stored.class_counts,
            confusions: dense_confusions(&stored.confusion, size)?,
            pairs: stored.pairs,
            tally: stored.tally,
            unlabelled: stored.unlabelled.map(|rows| Unlabelled::stored(rows, None)),
            row_units: Vec::new(),
        })
    }
}

pub(super) fn read_model(payload: &[u8]) -> Result<Model, Error> {
    let (head, rest): (ModelHead, _) =
        postcard::take_from_bytes(payload).map_err(|error| broken("model", &error))?;
    let (rule, rest) = rules::read_version2(head.rule, rest)?;
    let tail: ModelTail = decode("model", rest)?;
    let method = METHODS.get(head.method as usize).ok_or_else(|| Error::Inconsistent {
        expected: "a method of version 2",
        found: format!("number {}", head.method),
    })?;
    Ok(Model {
        method: *method,
        classifiers: head.classifiers,
        labels: head.labels,
        missing: head.missing,
        missing_is_answer: head.missing_is_answer,
        ties: head.ties,
        class_weights: head.class_weights,
        prior: head.prior,
        rule,
        evidence: tail.evidence.map(Evidence::try_from).transpose()?,
        calibration: tail.calibration,
        held_out_accuracy: None,
        min_count: None,
        no_accuracy_reason: None,
    })
}

pub(super) fn read_evidence(payload: &[u8]) -> Result<Evidence, Error> {
    Evidence::try_from(decode::<StoredEvidence>("tally", payload)?)
}
