//! Labels: one per line of a text. They are compared, normalised, counted, stored and read.
#![no_main]

use std::cmp::Ordering;

use libfuzzer_sys::fuzz_target;
use spocc::{
    Evidence, Fit as _, Label, Model, Predictions, Truth,
    data::{Answers, Normalise},
    methods::Majority,
};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let labels: Vec<Label> = text.split('\n').take(12).flat_map(readings).collect();
    labels.iter().for_each(|label| compare(label, &labels));
    count(&labels);
});

/// The label of a text, and of the numbers that it can be read as.
fn readings(text: &str) -> Vec<Label> {
    let label = Label::from(text);
    assert_eq!(label.to_string(), text, "a label is printed as it was written");
    let integer = text.parse::<i128>().map(Label::from_integer);
    let number = text.parse::<f64>().ok().and_then(Label::from_number);
    [label].into_iter().chain(integer).chain(number).collect()
}

/// The order of labels is an order, equal labels are the same in every form, and forms are stable.
fn compare(label: &Label, others: &[Label]) {
    for other in others {
        assert_eq!(label.cmp(other), other.cmp(label).reverse());
        assert_eq!(label == other, label.cmp(other) == Ordering::Equal);
        for third in others {
            assert!(label > other || other > third || label <= third, "{label:?} {other:?} {third:?}");
        }
        for form in [Normalise::None, Normalise::Number, Normalise::Text] {
            assert!(label != other || form.apply(label) == form.apply(other));
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
