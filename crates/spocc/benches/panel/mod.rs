//! The panel every benchmark is run on: a fixed generator and a fixed seed.

use spocc::{Label, Predictions, Truth};

/// Rows, classifiers, classes and how often each classifier is right; a wrong answer is any other class.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) rows: usize,
    pub(crate) classifiers: usize,
    pub(crate) classes: u16,
    pub(crate) accuracy: f64,
}

impl Shape {
    /// `rows x classifiers x classes`, easy (95 % right) or hard (60 %).
    pub(crate) fn name(self) -> String {
        let ease = if self.accuracy > 0.8 { "easy" } else { "hard" };
        format!("{}x{}x{}-{ease}", self.rows, self.classifiers, self.classes)
    }
}

/// Answers and truths; the seed is 1.
pub(crate) fn panel(shape: Shape) -> (Predictions, Truth) {
    let mut state = 1u64;
    let mut uniform = move || {
        // splitmix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let classes = shape.classes;
    let mut truths = Vec::with_capacity(shape.rows);
    let mut answers = Vec::with_capacity(shape.rows * shape.classifiers);
    for _ in 0..shape.rows {
        let truth = (uniform() * f64::from(classes)) as u16;
        truths.push(truth);
        for _ in 0..shape.classifiers {
            let wrong = (truth + 1 + (uniform() * f64::from(classes - 1)) as u16) % classes;
            answers.push(Some(if uniform() < shape.accuracy { truth } else { wrong }));
        }
    }
    let names: Vec<String> = (0..shape.classifiers).map(|k| format!("c{k}")).collect();
    let labels: Vec<Label> = (0..i64::from(classes)).map(Label::from).collect();
    let predictions = Predictions::from_ids(names, labels, answers).expect("answers are classes");
    let truth = Truth::new(truths.into_iter().map(|truth| Some(i64::from(truth)))).expect("few classes");
    (predictions, truth)
}
