//! Parameters that are finite, but whose sums over a row are not.

use spocc::{
    audit::Audit,
    methods::{Inputs, Stacking},
    predict::DecisionColumns,
};

use super::{
    sections::{sections_of, with_sections},
    *,
};

const HUGE: [f64; 2] = [1.7e308, -1.7e308];

/// Every file with some numbers in a row replaced by huge ones, of one sign or of both.
fn for_each_altered(file: &[u8], mut visit: impl FnMut(&[u8])) {
    for at in HEADER..file.len() {
        for n in [2, 3, 9] {
            for numbers in [&HUGE[..], &HUGE[..1]] {
                let mut altered = file.to_vec();
                let Some(place) = altered.get_mut(at..at + 8 * n) else { continue };
                let numbers = numbers.iter().cycle().map(|number| number.to_le_bytes());
                place.chunks_exact_mut(8).zip(numbers).for_each(|(to, number)| to.copy_from_slice(&number));
                visit(&resealed(&altered));
            }
        }
    }
}

/// Decides, explains and audits with a model that was believed.
fn exercise(model: &Model, panel: &Panel) {
    exercise_model(&model.without_evidence(), panel);
    let mut rows = Predictions::builder(model.classifiers().to_vec()).expect("a model's names are distinct");
    let n = model.classifiers().len();
    (0..3).for_each(|j| rows.push(vec![Some(format!("l{j}")); n]).expect("a row"));
    let table = rows.finish();
    let columns =
        DecisionColumns { margin: true, probability: true, possibility: true, ..DecisionColumns::default() };
    let decided = model.decide_all(&table, columns, &Control::default()).expect("its own columns");
    assert!(decided.margin.is_some_and(|margins| margins.iter().all(|margin| margin.is_finite())));
    let aligned = model.align(&table).expect("its own columns");
    for row in 0..table.n_rows() {
        let explained = aligned.explain(row).expect("a row");
        assert_eq!(explained.decision.class, usize::from(decided.class[row]));
        assert!(!explained.to_string().is_empty());
    }
    if model.classifiers() == panel.tally().classifiers() {
        let audit = Audit::new(&panel.tally(), Some(model), &Control::default()).expect("its own panel");
        assert!(audit.classifiers.iter().all(|entry| entry.influence.is_some()));
    }
}

/// How many altered files were refused because a sum could overflow; the others are refused as well, or work.
fn refused_sums(file: &[u8], exercise: impl Fn(&Model)) -> u32 {
    let mut refused = 0;
    for_each_altered(file, |bytes| match Model::from_bytes(bytes) {
        Ok(model) => exercise(&model),
        Err(error) => refused += u32::from(error.to_string().contains("sum over a row")),
    });
    refused
}

#[test]
fn sums_that_overflow_are_refused_for_every_method() {
    let panel = small_panel();
    let ordinal = Stacking { inputs: Inputs::Ordinal, ..Stacking::default() };
    let models = Method::ALL.map(|method| method.combiner().fit(&panel.tally()).expect("rows"));
    for model in models.into_iter().chain([ordinal.fit(&panel.tally()).expect("rows")]) {
        let refused = refused_sums(&model.without_evidence().to_bytes(), |model| exercise(model, &panel));
        let has_sums = !matches!(model.method(), Method::Selection | Method::Bayes);
        assert_eq!(refused > 0, has_sums, "{}", model.method());
    }
}

#[test]
fn sums_that_overflow_are_refused_for_open_answers() {
    for model in open::open_models().iter().filter(|model| model.evidence().is_none()) {
        let refused = refused_sums(&model.to_bytes(), open::exercise);
        let has_sums = model.method() != Method::Selection;
        assert_eq!(refused > 0, has_sums, "{}", model.method());
    }
}

#[test]
fn sums_that_overflow_are_refused_in_files_of_version_2() {
    let mut refused = 0;
    for file in version2::files("spocc") {
        let slim = Model::from_bytes(&file).expect("our own bytes").without_evidence();
        if slim.method() == Method::Ladder {
            refused += refused_sums(&slim.to_bytes(), |model| exercise(model, &small_panel()));
        }
    }
    assert!(refused > 0);
}

#[test]
fn a_regression_whose_scores_overflow_is_refused_in_one_line() {
    let panel = small_panel();
    let model = Method::Stacking.combiner().fit(&panel.tally()).expect("rows").without_evidence();
    let spocc::methods::Parameters::Stacking { coefficients, .. } = model.parameters() else {
        panic!("stacking")
    };
    let mut bytes = model.to_bytes();
    for coefficient in coefficients.iter().filter(|coefficient| **coefficient != 0.0) {
        let at = bytes.windows(8).position(|window| window == coefficient.to_le_bytes()).expect("stored");
        bytes[at..at + 8].copy_from_slice(&1e308f64.to_le_bytes());
    }
    let error = model_error(&resealed(&bytes)).to_string();
    assert_eq!(
        error,
        "file content: expected parameters whose sum over a row is a finite number, found terms of up to inf in total"
    );
}

#[test]
fn every_number_of_a_sum_counts_with_either_sign() {
    let panel = small_panel();
    let ladder = Method::Ladder.combiner().fit(&panel.tally()).expect("rows").without_evidence().to_bytes();
    let is_ladder = |model: &&Model| model.method() == Method::Ladder && model.evidence().is_none();
    let open = open::open_models().iter().find(is_ladder).expect("a ladder").to_bytes();
    let most = f64::MAX / 4.0;
    let refuses = |file: &[u8], name: &[u8], at: usize, numbers: &[f64]| {
        let mut sections = sections_of(file);
        let rule = sections.iter_mut().find(|section| section.name == name).expect("its rule");
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        rule.content.splice(at..at + 8 * numbers.len(), bytes);
        let error = model_error(&with_sections(file, &sections)).to_string();
        assert!(error.contains("whose sum over a row is a finite number"), "{at}: {error}");
    };
    // Numbers begin behind the number of labels and the length of the first list.
    refuses(&ladder, b"Rule-pool", 2, &[-most; 2]);
    refuses(&open, b"Rule-open", 2, &[-most; 4]);
    refuses(&open, b"Rule-open", 2 + 4 * 8, &[most]);
}
