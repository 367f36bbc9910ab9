//! Labels: one per line of a text. They are compared, normalised, counted, stored and read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spocc::{
    Evidence, Fit as _, Label, Model, Predictions, Truth,
    data::{Answers, Normalise},
    methods::Majority,
};

const FORMS: [Normalise; 3] = [Normalise::None, Normalise::Number, Normalise::Text];

fuzz_target!(init: spocc_fuzz::use_this_thread(), |data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let labels: Vec<Label> = text.split('\n').take(12).flat_map(readings).collect();
    count(&labels);
    compare(labels);
});

/// The label of a text, and of the numbers that it can be read as.
fn readings(text: &str) -> Vec<Label> {
    let label = Label::from(text);
    assert_eq!(label.to_string(), text, "a label is printed as it was written");
    let integer = text.parse::<i128>().map(Label::from_integer);
    let number = text.parse::<f64>().ok().and_then(Label::from_number);
    [label].into_iter().chain(integer).chain(number).collect()
}

/// The order of labels is an order, equal labels are the same in every form.
fn compare(mut labels: Vec<Label>) {
    labels.sort();
    let mut rank = 0;
    let step = |pair: &[Label]| {
        rank += usize::from(pair[0] != pair[1]);
        rank
    };
    let ranks: Vec<usize> = [0].into_iter().chain(labels.windows(2).map(step)).collect();
    let forms = labels.iter().map(|label| FORMS.map(|form| form.apply(label)));
    let forms: Vec<_> = forms.collect();
    // What agrees with numbers in every pair is transitive, as their order is.
    for (a, label) in labels.iter().enumerate() {
        for (b, other) in labels.iter().enumerate() {
            assert_eq!(label.cmp(other), ranks[a].cmp(&ranks[b]), "{label:?} {other:?}");
            assert_eq!(label == other, ranks[a] == ranks[b], "{label:?} {other:?}");
            assert!(label != other || forms[a] == forms[b], "{label:?} {other:?}");
        }
    }
}

fn count(labels: &[Label]) {
    let mut rows = Predictions::builder(["a", "b"]).expect("two names");
    let mut open = Answers::builder(["a", "b"]).expect("two names").normalised(Normalise::Number);
    for (label, next) in labels.iter().zip(labels.iter().skip(1)) {
        rows.push([Some(label.clone()), Some(next.clone())]).expect("a whole row");
        open.push([Some(label.clone()), Some(next.clone())], Some(next.clone())).expect("a whole row");
    }
    let truth = Truth::new(labels.iter().skip(1).cloned().map(Some)).expect("few labels");
    let (rows, open) = (rows.finish(), open.finish());
    for (rows, truth) in [(&rows, &truth), (open.predictions(), open.truth())] {
        let evidence = Evidence::new(rows, truth).expect("rows and truths of equal number");
        let bytes = evidence.to_bytes();
        let again = Evidence::from_bytes(&bytes).expect("evidence that was written can be read");
        assert_eq!(again.to_bytes(), bytes, "reading and writing changes nothing");
        if let Ok(model) = Majority.fit(&evidence) {
            let again = Model::from_bytes(&model.to_bytes()).expect("a model that was written can be read");
            let [one, other] =
                [&model, &again].map(|model| model.predict(rows).expect("its own columns").class);
            assert_eq!(one, other, "a model that was read decides alike");
        }
    }
}
