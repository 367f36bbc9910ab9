//! Files of version 2, written by spocc 0.1.0.

use super::*;

fn model(name: &str) -> Model {
    let bytes = bytes(&format!("format2/{name}.spocc"));
    assert_eq!(version(&bytes), 2, "{name}");
    Model::from_bytes(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn models_decide_as_they_did() {
    let models = names("format2", ".spocc");
    let expected = "a model of each of eleven methods, slim, with conformal scores; and six more";
    assert_eq!(models.len(), 39, "{expected}");
    for name in &models {
        let model = model(name);
        let expected = cells(&format!("format2/{name}.csv"));
        let column = |at: usize| expected.iter().map(|row| row[at].clone()).collect::<Vec<String>>();
        assert_eq!(decisions(&model), column(1), "{name}");
        assert_eq!(name.contains(".conformal"), model.calibration().is_some(), "{name}");
        assert_eq!(model.evidence().is_none(), name.contains(".slim"), "{name}");
        if let Some(found) = sets(&model) {
            assert_eq!(found, column(2), "{name}");
        }
    }
}

#[test]
fn models_are_the_same_once_they_are_written_anew() {
    for name in names("format2", ".spocc") {
        let model = model(&name);
        let anew = model.to_bytes();
        assert_eq!(version(&anew), 3, "{name}");
        let read = Model::from_bytes(&anew).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(read.to_bytes() == anew, "{name}");
        assert_eq!(read.parameters(), model.parameters(), "{name}");
        assert_eq!((decisions(&read), sets(&read)), (decisions(&model), sets(&model)), "{name}");
    }
}

#[test]
fn evidence_equals_that_of_the_same_rows() {
    let counted = evidence();
    assert_eq!(names("format2", ".tally"), counted.each_ref().map(|(name, _)| *name));
    for (name, counted) in counted {
        let bytes = bytes(&format!("format2/{name}.tally"));
        let read = Evidence::from_bytes(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((version(&bytes), read.level()), (2, counted.level()), "{name}");
        assert!(read.to_bytes() == counted.to_bytes(), "{name}");
    }
}

#[test]
fn unlabelled_rows_are_read() {
    let model = model("ladder.unlabelled");
    let evidence = model.evidence().expect("a whole model");
    assert_eq!((evidence.n_rows(), evidence.n_unlabelled()), (60.0, 40.0));
}
