//! Altered files of version 2.

use std::{cell::Cell, fs, path::PathBuf};

use super::{
    content::{Edit, edit, edits},
    *,
};

/// The files of `testdata/format2` with this ending.
pub(crate) fn files(ending: &str) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/format2");
    let entries = fs::read_dir(folder).expect("the folder is in the repository");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == ending));
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("readable")).collect()
}

fn edited(file: &[u8], edits: &[(Index, Edit)]) -> Vec<u8> {
    let mut payload = file[HEADER..].to_vec();
    edits.iter().for_each(|(index, change)| edit(&mut payload, *index, change));
    resealed(&[&file[..HEADER], &payload].concat())
}

#[test]
fn an_altered_model_of_version_2_is_refused_or_works() {
    let (files, panel, believed) = (files("spocc"), small_panel(), Cell::new(0));
    proptest!(config(1500), |(file: Index, edits in edits())| {
        match Model::from_bytes(&edited(&files[file.index(files.len())], &edits)) {
            Ok(model) => {
                believed.set(believed.get() + 1);
                exercise_model(&model, &panel);
            }
            Err(error) => prop_assert!(error.to_string().contains("expected"), "{}", error),
        }
    });
    assert!(believed.get() >= 10, "only {} altered files were believed and tried", believed.get());
}

#[test]
fn altered_evidence_of_version_2_is_refused_or_works() {
    let (files, believed) = (files("tally"), Cell::new(0));
    proptest!(config(1500), |(file: Index, edits in edits())| {
        match Evidence::from_bytes(&edited(&files[file.index(files.len())], &edits)) {
            Ok(evidence) => {
                believed.set(believed.get() + 1);
                exercise_evidence(&evidence);
            }
            Err(error) => prop_assert!(error.to_string().contains("expected"), "{}", error),
        }
    });
    assert!(believed.get() >= 10, "only {} altered files were believed and tried", believed.get());
}

#[test]
fn a_payload_of_version_2_cut_anywhere_is_refused() {
    for file in files("spocc") {
        for length in HEADER..file.len() {
            let error = model_error(&resealed(&file[..length]));
            assert!(matches!(error, Error::Inconsistent { .. }), "{length} bytes: {error}");
        }
        let error = model_error(&resealed(&[&file[..], &[0]].concat()));
        assert_eq!(
            error.to_string(),
            "file content: expected content of this version, found 1 bytes after the end of the model"
        );
    }
}

#[test]
fn a_file_cannot_change_its_version_unseen() {
    let (model, later) = (files("spocc").swap_remove(0), models(&small_panel())[0].to_bytes());
    for (file, version) in [(model, 3), (later, 2)] {
        let mut other = file.clone();
        other[8] = version;
        assert!(matches!(model_error(&other), Error::Checksum { .. }));
        assert!(matches!(model_error(&resealed(&other)), Error::Inconsistent { .. }));
    }
}
