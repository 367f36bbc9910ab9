//! The real files, where the environment variable `SPOCC_DATA` names the folder that holds them.

use std::{env, path::PathBuf};

use super::*;

/// The folder of the real files; without one the test that asks says so and has nothing to check.
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
fn data(test: &str) -> Option<PathBuf> {
    let dir = env::var_os("SPOCC_DATA").map(PathBuf::from);
    if dir.is_none() {
        println!("{test}: skipped, SPOCC_DATA does not name a folder of datasets");
    }
    dir
}

fn counts(dataset: &Dataset) -> Vec<usize> {
    let mut counts = vec![0; dataset.n_classes];
    dataset.classes.iter().for_each(|&class| counts[usize::from(class)] += 1);
    counts
}

#[test]
fn an_unknown_dataset_is_refused_with_the_nearest() {
    let refusal = load("MNITS", "nowhere".as_ref()).err().unwrap().to_string();
    let expected = format!("dataset \"MNITS\": expected one of {}; did you mean mnist?", NAMES.join(", "));
    assert_eq!(refusal, expected);
}

#[test]
fn a_missing_file_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    for listing in describe(dir.path()) {
        let refusal = load(listing.name, dir.path()).err().unwrap().to_string();
        let path = dir.path().join(listing.files[0]);
        let expected = format!("{}: expected the file of {};", path.display(), listing.name);
        assert!(refusal.starts_with(&expected), "{refusal}");
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "a skipped dataset is named")]
fn every_dataset_that_is_present_loads_as_documented() {
    let Some(dir) = data("every_dataset_that_is_present_loads_as_documented") else { return };
    for listing in describe(&dir) {
        if listing.state == State::Absent {
            println!("{}: skipped, its files are not there", listing.name);
            continue;
        }
        let dataset = load(listing.name, &dir).unwrap();
        let is_subset = listing.state == State::Subset;
        assert_eq!((dataset.name, dataset.is_subset), (listing.name, is_subset));
        let n_rows = if is_subset { 2200 } else { listing.rows };
        assert_eq!(dataset.rows.dim(), (n_rows, listing.features), "{}", listing.name);
        assert_eq!((dataset.classes.len(), dataset.n_classes), (n_rows, listing.classes));
        assert!(dataset.rows.iter().all(|value| value.is_finite()), "{}", listing.name);
        assert!(counts(&dataset).iter().all(|&count| count > 0), "{}", listing.name);
    }
}

#[test]
fn classes_are_merged_and_features_scaled_as_in_the_paper() {
    let Some(dir) = data("classes_are_merged_and_features_scaled_as_in_the_paper") else { return };
    assert_eq!(counts(&load("wine", &dir).unwrap()), [2384, 4113]);
    assert_eq!(counts(&load("avila", &dir).unwrap()), [5841, 4589]);
    assert_eq!(counts(&load("satellite", &dir).unwrap()), [1533, 703, 1358, 626, 707, 1508]);
    let spam = load("spam", &dir).unwrap();
    assert_eq!(counts(&spam), [2788, 1813]);
    for feature in spam.rows.columns() {
        assert!(feature.mean().unwrap().abs() < 1e-12);
        assert!((feature.var(0.0) - 1.0).abs() < 1e-12);
    }
    let mnist = load("mnist", &dir).unwrap();
    assert_eq!(counts(&mnist), [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]);
    assert_eq!(mnist.rows.iter().copied().fold(0.0, f64::max), 1.0);
}
