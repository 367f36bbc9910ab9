//! What is done with evidence that was read.

use spocc::{Error, Evidence, Method, Model, Options, audit::Audit, data::Missing, evidence::Level};

use crate::control;

/// Writes, merges and reduces evidence; audits or fits it as `choice` says, since each of these takes longer than all else.
///
/// # Panics
///
/// If it contradicts itself: the case has failed.
pub fn exercise(evidence: &Evidence, choice: usize) {
    let control = control();
    let bytes = evidence.to_bytes();
    let again = Evidence::from_bytes(&bytes).expect("evidence that was read can be read again");
    assert_eq!(again.to_bytes(), bytes, "reading and writing changes nothing");
    let level = [Level::Marginals, Level::Pairs, Level::Tally][choice % 3];
    if let Ok(reduced) = evidence.reduce_to(level, &control) {
        assert!(reduced.level() <= level.max(evidence.level()));
    }
    match evidence.merge(evidence, &control) {
        Ok(twice) => assert_eq!(twice.n_rows(), 2.0 * evidence.n_rows()),
        Err(error) => {
            assert!(matches!(error, Error::Overflow { .. } | Error::MemoryLimit { .. }), "{error}");
        }
    }
    let _ = evidence.small_counts(3);
    let _ = evidence.without_rare(2, &control);
    let _ = evidence.row_shortages();
    match choice % 8 {
        0 => drop(Audit::of_evidence(evidence, &control)),
        1 | 2 => fit(evidence, choice / 8),
        _ => {}
    }
}

/// Fits evidence; `choice` says with which method and options.
fn fit(evidence: &Evidence, choice: usize) {
    let missing = [Missing::Ignore, Missing::Answer, Missing::Auto][choice % 3];
    let options = Options { missing, ..Options::default() };
    let method = Method::ALL[choice / 3 % Method::ALL.len()];
    if let Ok(model) = Model::fit(method.combiner().as_ref(), evidence, &options, &control()) {
        let bytes = model.to_bytes();
        let again = Model::from_bytes(&bytes).expect("a fitted model can be read");
        assert_eq!(again.to_bytes(), bytes, "reading and writing changes nothing");
    }
}
