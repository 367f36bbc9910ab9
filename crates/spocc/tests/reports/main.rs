//! The audit of a panel with known members, and the explanation of a decision.

mod audit;
mod explanations;

use spocc::{
    Control, Evidence, Fit, Label, Ladder, Method, Model, Options, Predictions, Truth,
    audit::{Audit, Verdict, clopper_pearson},
    data::Missing,
    decision::Basis,
    evidence::{Counting, Level},
    fusion::Exponent,
    methods::{AdaSpocc, Majority, Spocc, SpoccExponent},
};

const CLASSES: [&str; 4] = ["a", "b", "c", "d"];

fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 33) as f64) / (1u64 << 31) as f64
}

/// Rows of a panel that has one of every kind.
struct AuditedPanel {
    names: Vec<&'static str>,
    rows: Vec<Vec<Option<&'static str>>>,
    truth: Vec<&'static str>,
}

fn panel(n: usize) -> AuditedPanel {
    let mut state = 42;
    let names = vec![
        "good",
        "mediocre",
        "near-copy",
        "renamed",
        "guesser",
        "adversary",
        "constant",
        "no-predictions",
        "rare",
    ];
    let (mut rows, mut truth) = (Vec::new(), Vec::new());
    for t in 0..n {
        let class = (random(&mut state) * 4.0) as usize;
        let any = |state: &mut u64| (random(state) * 4.0) as usize;
        let right =
            |state: &mut u64, accuracy: f64| if random(state) < accuracy { class } else { any(state) };
        let mediocre = right(&mut state, 0.5);
        let near = if random(&mut state) < 0.02 { any(&mut state) } else { mediocre };
        let predicted = [
            Some(right(&mut state, 0.85)),
            Some(mediocre),
            Some(near),
            Some((mediocre + 1) % 4),
            Some(any(&mut state)),
            Some((right(&mut state, 0.9) + 1) % 4),
            Some(2),
            None,
            (t < 3).then(|| right(&mut state, 0.9)),
        ];
        rows.push(predicted.into_iter().map(|predicted| predicted.map(|class| CLASSES[class])).collect());
        truth.push(CLASSES[class]);
    }
    AuditedPanel { names, rows, truth }
}

impl AuditedPanel {
    fn predictions(&self) -> Predictions {
        let mut rows = Predictions::builder(self.names.iter().copied()).expect("distinct names");
        self.rows.iter().for_each(|row| rows.push(row.iter().copied()).expect("as wide as the panel"));
        rows.finish()
    }

    fn evidence(&self, level: Level) -> Evidence {
        let truth = Truth::new(self.truth.iter().copied().map(Some)).expect("few labels");
        let options = Counting { level, ..Counting::default() };
        Evidence::count(&self.predictions(), &truth, &options, &Control::default()).expect("rows")
    }

    fn audit(&self) -> Audit {
        Audit::new(&self.evidence(Level::Tally), None, &Control::default()).expect("rows")
    }
}
