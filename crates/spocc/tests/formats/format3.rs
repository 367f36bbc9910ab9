//! Files of version 3.
//!
//! `SPOCC_BLESS=format3 cargo test -p spocc --test formats` writes them. Once a spocc that writes version 3 is released,
//! they never change.

use std::sync::Once;

use spocc::{
    Method, Options,
    conformal::{ConformalScheme, ConformalSettings},
    data::{ClassWeights, Missing},
    decision::TieBreak,
};

use super::*;

/// A model of every method and one of every thing that a model file can have, by the names of their files.
fn models() -> Vec<(String, Model)> {
    let rows = counted(&Counting::default());
    let fit = |method: Method, evidence: &Evidence, options: &Options| {
        Model::fit(method.combiner().as_ref(), evidence, options, &Control::default()).expect("rows")
    };
    let plain = Options::default();
    let conformal = |scheme, per_class| {
        let settings = ConformalSettings { scheme, per_class, seed: 1 };
        Options { calibrate: Some(settings), ..Options::default() }
    };
    let (split, cross) = (conformal(ConformalScheme::Split, false), conformal(ConformalScheme::Cross, true));
    let balanced = Options { class_weights: ClassWeights::Balanced, ..Options::default() };
    let answers = Options { missing: Missing::Answer, ..Options::default() };
    let evaluated = Options { class_weights: ClassWeights::Balanced, evaluate: true, ..Options::default() };
    let random = Options { ties: TieBreak::Random(7), ..Options::default() };
    let [(_, classes), .., (_, weighted)] = evidence();
    let (ladder, bayes) = (Method::Ladder, Method::NaiveBayes);
    let mut models = vec![
        ("adaspocc.conformal", fit(Method::AdaSpocc, &rows, &split)),
        ("bayes.conformal.slim", fit(Method::Bayes, &rows, &split).slim(5).expect("rows of weight 1")),
        ("adaspocc.weighted", fit(Method::AdaSpocc, &weighted, &plain)),
        ("dawid-skene.unlabelled", fit(Method::DawidSkene, &with_unlabelled(&rows), &plain)),
        ("ladder.class-weight", fit(ladder, &rows, &balanced)),
        ("ladder.conformal", fit(ladder, &rows, &split)),
        ("ladder.conformal-cross-per-class", fit(ladder, &rows, &cross)),
        ("ladder.open", fit(ladder, &open_answers(), &plain)),
        ("ladder.slim", fit(ladder, &rows, &plain).without_evidence()),
        ("ladder.unlabelled", fit(ladder, &with_unlabelled(&rows), &plain)),
        ("majority.conformal.slim", fit(Method::Majority, &rows, &split).without_evidence()),
        ("majority.open", fit(Method::Majority, &open_answers(), &plain)),
        ("majority.random", fit(Method::Majority, &rows, &random)),
        ("naive-bayes.evaluated", fit(bayes, &rows, &evaluated)),
        ("naive-bayes.missing-answer", fit(bayes, &rows, &answers)),
        ("spocc.classes", fit(Method::Spocc, &classes, &plain)),
    ];
    models.extend(Method::ALL.map(|method| (method.capabilities().word, fit(method, &rows, &plain))));
    models.sort_by_key(|model| model.0);
    models.into_iter().map(|(name, model)| (name.to_owned(), model)).collect()
}

/// The evidence with the new rows, which have no truth.
fn with_unlabelled(labelled: &Evidence) -> Evidence {
    let rows = new_rows();
    let truth = Truth::new(rows.iter().map(|_| None::<&str>)).expect("no label");
    let counting = Counting { unlabelled: true, ..Counting::default() };
    let unlabelled = Evidence::count(&predictions(&rows), &truth, &counting, &Control::default());
    labelled.merge(&unlabelled.expect("rows"), &Control::default()).expect("the same classifiers")
}

/// The evidence of the labelled rows as open answers.
fn open_answers() -> Evidence {
    let rows = answers(&gold());
    Evidence::new(rows.predictions(), rows.truth()).expect("rows")
}

fn evidence_files() -> Vec<(&'static str, Evidence)> {
    let mut files = evidence().to_vec();
    files.push(("open", open_answers()));
    files.push(("unlabelled", with_unlabelled(&counted(&Counting::default()))));
    files.sort_by_key(|file| file.0);
    files
}

/// What the models decide: a column per model, and one of sets for each that has conformal scores.
fn decided(models: &[(String, Model)]) -> String {
    let mut columns = vec![("item".to_owned(), new_rows().iter().map(|row| row[0].clone()).collect())];
    for (name, model) in models {
        columns.push((name.clone(), decisions(model)));
        columns.extend(sets(model).map(|sets| (format!("{name} sets"), sets)));
    }
    let line = |cells: Vec<&str>| cells.join(",") + "\n";
    let header = line(columns.iter().map(|column| column.0.as_str()).collect());
    let rows =
        (0..new_rows().len()).map(|row| line(columns.iter().map(|column| column.1[row].as_str()).collect()));
    header + &rows.collect::<String>()
}

/// Writes the files, once, if that is what the tests were started for.
fn write_files() {
    static WRITTEN: Once = Once::new();
    if std::env::var_os("SPOCC_BLESS").is_none_or(|what| what != "format3") {
        return;
    }
    WRITTEN.call_once(|| {
        let file = |name: &str| file(&format!("format3/{name}"));
        for ending in [".spocc", ".tally"] {
            let old = names("format3", ending).into_iter().map(|name| file(&(name + ending)));
            old.for_each(|old| fs::remove_file(old).expect("a file that was listed"));
        }
        let write = |name: &str, bytes: &[u8]| fs::write(file(name), bytes).expect("a folder");
        let models = models();
        models.iter().for_each(|(name, model)| write(&format!("{name}.spocc"), &model.to_bytes()));
        evidence_files()
            .iter()
            .for_each(|(name, counts)| write(&format!("{name}.tally"), &counts.to_bytes()));
        write("decisions.csv", decided(&models).as_bytes());
    });
}

#[test]
fn models_are_read_and_written_and_decide_as_they_did() {
    write_files();
    let mut models = Vec::new();
    for name in names("format3", ".spocc") {
        let bytes = bytes(&format!("format3/{name}.spocc"));
        let model = Model::from_bytes(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((version(&bytes), model.to_bytes() == bytes), (3, true), "{name}");
        assert_eq!(model.evidence().is_none(), name.contains(".slim"), "{name}");
        assert_eq!(model.calibration().is_some(), name.contains(".conformal"), "{name}");
        assert_eq!(model.held_out_accuracy().is_some(), name.contains(".evaluated"), "{name}");
        models.push((name, model));
    }
    assert!(models.len() >= 24, "a model of each of eleven methods, and thirteen more");
    let expected = String::from_utf8(bytes("format3/decisions.csv")).expect("UTF-8");
    assert_eq!(decided(&models), expected);
}

#[test]
fn evidence_equals_that_of_the_same_rows() {
    write_files();
    let counted = evidence_files();
    assert_eq!(names("format3", ".tally"), counted.iter().map(|file| file.0).collect::<Vec<&str>>());
    for (name, counted) in counted {
        let bytes = bytes(&format!("format3/{name}.tally"));
        let read = Evidence::from_bytes(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(read.level(), counted.level(), "{name}");
        assert!(bytes == counted.to_bytes() && bytes == read.to_bytes(), "{name}");
    }
}

#[test]
fn the_example_of_the_documentation_is_true() {
    let (page, file) = (include_str!("../../../../docs/model-format.md"), bytes("format3/marginals.tally"));
    let lines = page.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let mut at = 28;
    for line in lines.lines() {
        let hex = line.split_whitespace().map_while(|pair| u8::from_str_radix(pair, 16).ok());
        let shown: Vec<u8> = hex.collect();
        assert_eq!(file[at..at + shown.len()], shown, "{line}");
        let length = usize::from(shown[0]);
        at += 1 + length + 8 + usize::from(shown[1 + length]);
    }
    assert_eq!(at, file.len(), "three sections, to the end of the file");
}
