//! Mark, version, kind, length and checksum.

use super::*;

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
        8..12 => {
            matches!(error, Error::FutureVersion { .. } | Error::Inconsistent { .. } | Error::Checksum { .. })
        }
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
    assert_eq!(
        error.to_string(),
        "file content: expected a section name of 1 to 32 letters, digits and hyphens, found none"
    );
}

#[test]
fn a_file_of_a_later_version_is_named_so() {
    for bytes in [small_panel().tally().to_bytes(), models(&small_panel())[0].to_bytes()] {
        for version in [4u32, 7, u32::MAX] {
            let mut later = bytes.clone();
            later[8..12].copy_from_slice(&version.to_le_bytes());
            let expected = Error::FutureVersion { newest: 3, found: version };
            assert_eq!((model_error(&later), evidence_error(&later)), (expected.clone(), expected));
        }
    }
    let error = Error::FutureVersion { newest: 3, found: 4 }.to_string();
    assert_eq!(error, "file version: expected at most 3, found 4 (written by a newer spocc)");
}

#[test]
fn a_file_of_an_earlier_version_is_to_be_made_again() {
    let model = Method::AdaSpocc.combiner().fit(&small_panel().tally()).expect("rows");
    let mut first = model.to_bytes();
    first[8..12].copy_from_slice(&1u32.to_le_bytes());
    let message = "expected a file of version 2 or 3, found version 1: make it again";
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
    // A model that calls itself evidence has sections that evidence has not.
    let mut disguised = model;
    disguised[12..16].copy_from_slice(&EVIDENCE.to_le_bytes());
    assert_eq!(evidence_error(&resealed(&disguised)), Error::UnknownSection { name: "Prior".to_owned() });
    disguised[12..16].copy_from_slice(&9u32.to_le_bytes());
    assert_eq!(
        evidence_error(&resealed(&disguised)).to_string(),
        "file content: expected a model or a tally, found content of kind 9"
    );
}
