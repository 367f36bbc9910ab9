//! Counts up to 2^64 - 1.

use spocc::{
    audit::Audit,
    conformal::{ConformalScheme, ConformalSettings, Coverage},
    evaluate::{CompareSettings, compare},
};

use super::*;

const NAMES: [&str; 3] = ["ann", "bob", "eve"];

/// Eight rows and two without truth, with these counts.
fn counted(counts: &[u64; 10]) -> Result<Evidence, Error> {
    let rows: [&[&str]; 10] = [
        &["cat", "cat", "dog"],
        &["dog", "dog", "dog"],
        &["cat", "dog", "cat"],
        &["dog", "cat", "dog"],
        &["dog", "-", "cat"],
        &["-", "cat", "cat"],
        &["cat", "cat", "cat"],
        &["dog", "dog", "cat"],
        &["dog", "dog", "-"],
        &["cat", "-", "cat"],
    ];
    let truths = ["cat", "dog", "cat", "dog", "dog", "cat", "dog", "dog", "-", "-"];
    let options = Counting { counts: Some(counts), unlabelled: true, ..Counting::default() };
    Evidence::count(&table(&NAMES, &rows), &truth(&truths), &options, &quiet())
}

/// Counts of eight labelled rows that add up to `total`.
fn counts(total: u64, unlabelled: [u64; 2]) -> [u64; 10] {
    let mut counts = [total / 8; 10];
    counts[0] += total % 8;
    counts[8..].copy_from_slice(&unlabelled);
    counts
}

fn all_options() -> Vec<Options> {
    let how = |scheme, per_class| Some(ConformalSettings { scheme, per_class, seed: 1 });
    let calibrated = [ConformalScheme::Split, ConformalScheme::Cross]
        .into_iter()
        .flat_map(|scheme| [how(scheme, false), how(scheme, true)]);
    let weights = "cat=1.5".parse().expect("weights");
    let mut all: Vec<Options> =
        calibrated.map(|calibrate| Options { calibrate, ..Options::default() }).collect();
    all.push(Options { evaluate: true, ..Options::default() });
    all.push(Options { missing: Missing::Answer, ..Options::default() });
    all.push(Options { class_weights: ClassWeights::Balanced, evaluate: true, ..Options::default() });
    all.push(Options { class_weights: weights, ..Options::default() });
    all
}

fn is_one_line(error: &Error) {
    let text = error.to_string();
    assert!(text.contains("expected") && !text.contains('\n'), "{text}");
}

#[test]
fn counts_near_the_end_of_64_bits_are_fitted_saved_and_used_or_refused() {
    let ends = [u64::MAX, u64::MAX - 1, u64::MAX - 7, 1 << 63, (1 << 62) + 1];
    for (total, unlabelled) in ends.into_iter().flat_map(|total| {
        [[0, 0], [1, 0], [u64::MAX - 1, 1], [1 << 62, 1 << 62]].map(|unlabelled| (total, unlabelled))
    }) {
        let evidence = match counted(&counts(total, unlabelled)) {
            Ok(evidence) => evidence,
            Err(error) => {
                is_one_line(&error);
                continue;
            }
        };
        let read = Evidence::from_bytes(&evidence.to_bytes()).expect("our own bytes");
        assert_eq!(read.to_bytes(), evidence.to_bytes());
        for method in Method::ALL {
            for options in all_options() {
                let model = match Model::fit(method.combiner().as_ref(), &evidence, &options, &quiet()) {
                    Ok(model) => model,
                    Err(error) => {
                        is_one_line(&error);
                        continue;
                    }
                };
                let read = Model::from_bytes(&model.to_bytes())
                    .unwrap_or_else(|error| panic!("{method} of {total}: {error}"));
                decide(&read, &NAMES, &["cat", "dog", "-"]);
                if let Some(calibration) = read.calibration() {
                    assert!(calibration.max_coverage() > 0.9 && !calibration.to_string().is_empty());
                    let rows = table(&NAMES, &[&["cat", "dog", "-"]]);
                    let coverage = Coverage::try_from(0.9).expect("a share");
                    assert_eq!(read.predict_sets(&rows, coverage, 0).expect("enough scores").len(), 1);
                }
            }
        }
    }
}

#[test]
fn counts_near_the_end_of_64_bits_are_merged_audited_and_compared_or_refused() {
    for (total, unlabelled) in
        [(u64::MAX, [0, 0]), (u64::MAX, [u64::MAX - 1, 1]), (u64::MAX - 2, [1, 1]), (1 << 63, [1 << 63, 1])]
    {
        let Ok(evidence) = counted(&counts(total, unlabelled)) else { continue };
        for other in [counts(8, [0, 0]), counts(8, [1, 1]), counts(total, unlabelled)] {
            let merged = evidence.merge(&counted(&other).expect("fewer"), &quiet());
            assert!(matches!(merged, Err(Error::Overflow { .. })), "{total} {unlabelled:?} {other:?}");
        }
        let audit = Audit::of_evidence(&evidence, &quiet()).expect("rows");
        assert!(audit.classifiers.iter().all(|entry| entry.accuracy <= 1.0 && entry.coverage <= 1.0));
        assert!(audit.to_string().contains("ann"));
        for level in [Level::Marginals, Level::Pairs] {
            let reduced = evidence.reduce_to(level, &quiet()).expect("small");
            assert_eq!(
                Evidence::from_bytes(&reduced.to_bytes()).expect("our own bytes").n_rows(),
                evidence.n_rows()
            );
        }
        match compare(&evidence, None, &CompareSettings::default(), &quiet()) {
            Ok(comparison) => assert!(!comparison.to_string().is_empty()),
            Err(error) => is_one_line(&error),
        }
        if let Err(error) = evidence.without_rare(3, &quiet()) {
            is_one_line(&error);
        }
    }
}
