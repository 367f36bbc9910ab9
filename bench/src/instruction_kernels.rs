//! Kernels for an instruction counter: each runs once, on a fixed input, on one thread.
//!
//! `bench/instructions` switches its counter on inside [`counted_kernel`] only, so that making the input costs
//! nothing.

use std::hint::black_box;

use serde_json::json;
use spocc::{
    Control, Evidence, Fit, Method, Predictions, Truth, dendrogram::Dendrogram, dependence::Dissimilarities,
    evidence::Level, predict::DecisionColumns,
};
use spocc_bench::{Ease, PanelShape};

use crate::{
    Failure,
    bench_method::BenchMethod,
    kernels::{count, fitted_to_first_rows},
    print,
};

/// An instruction counter is fifty times slower than the processor; together these take well under a minute.
const COUNTED: PanelShape = PanelShape { rows: 100_000, classifiers: 10, classes: 5, ease: Ease::Easy };
const FITTED: PanelShape = PanelShape { rows: 10_000, classifiers: 8, classes: 10, ease: Ease::Easy };
const STACKED: PanelShape = PanelShape { rows: 300, classifiers: 5, classes: 3, ease: Ease::Easy };
const PAIRED: PanelShape = PanelShape { rows: 10_000, classifiers: 60, classes: 10, ease: Ease::Hard };

/// Leaves of the dendrogram.
const LEAVES: usize = 400;

const LIMIT: std::time::Duration = std::time::Duration::from_secs(600);

/// Work that runs once.
type Kernel = Box<dyn FnOnce() + Send>;

/// The names of all kernels.
fn names() -> Vec<String> {
    let eased = [
        "marginals",
        "tally",
        "fit-adaspocc",
        "fit-ladder",
        "predict-spocc",
        "predict-adaspocc",
        "predict-naive-bayes",
        "predict-majority",
        "predict-ladder",
        "decide-ladder",
    ];
    let mut names: Vec<String> =
        eased.iter().flat_map(|name| ["easy", "hard"].map(|ease| format!("{name}-{ease}"))).collect();
    names.extend(
        ["predict-copies", "pairs", "dendrogram", "fit-stacking", "fit-stacking-c1"].map(str::to_owned),
    );
    names
}

/// Runs one kernel, or prints all names.
pub(crate) fn run(name: Option<&str>) -> Result<(), Failure> {
    let Some(name) = name else { return print(&names()) };
    if !names().iter().any(|known| known == name) {
        return Err(format!("expected a kernel among {}, found {name}", names().join(", ")).into());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    // The counter follows one thread, so the kernel runs inside a pool of one.
    pool.install(|| -> Result<(), Failure> {
        counted_kernel(kernel(name)?);
        Ok(())
    })?;
    print(&json!({ "task": "count", "name": name }))
}

/// The counted function; `bench/instructions` refers to it by name.
#[inline(never)]
fn counted_kernel(kernel: Kernel) {
    black_box(kernel)();
}

/// Prepares a kernel's input.
fn kernel(name: &str) -> Result<Kernel, Failure> {
    let (task, ease) = match name.rsplit_once('-') {
        Some((task, "easy")) => (task, Ease::Easy),
        Some((task, "hard")) => (task, Ease::Hard),
        _ => (name, Ease::Easy),
    };
    Ok(match task {
        "marginals" => counting(ease, Level::Marginals),
        "tally" => counting(ease, Level::Tally),
        "fit-adaspocc" => fitting(PanelShape { ease, ..FITTED }, BenchMethod::Default(Method::AdaSpocc))?,
        "fit-ladder" => fitting(PanelShape { ease, ..FITTED }, BenchMethod::Default(Method::Ladder))?,
        "decide-ladder" => {
            let shape = PanelShape { ease, ..COUNTED };
            let model = fitted_to_first_rows(shape, Method::Ladder, LIMIT)?;
            let (predictions, _) = shape.panel();
            let columns = DecisionColumns { scores: false, ..DecisionColumns::ALL };
            Box::new(move || drop(black_box(model.decide_all(&predictions, columns, &Control::default()))))
        }
        "fit-stacking" => fitting(STACKED, BenchMethod::Default(Method::Stacking))?,
        "fit-stacking-c1" => fitting(COUNTED, BenchMethod::OneStrength)?,
        "predict-copies" => {
            let (predictions, _) = with_copies(PanelShape { ease: Ease::Hard, ..COUNTED });
            let (few, known) = with_copies(PanelShape { rows: 2_000, ease: Ease::Hard, ..COUNTED });
            let model = Method::AdaSpocc.combiner().fit(&Evidence::new(&few, &known)?)?;
            Box::new(move || drop(black_box(model.predict(&predictions))))
        }
        "pairs" => {
            let evidence = evidence(PAIRED)?;
            Box::new(move || drop(black_box(Dissimilarities::new(&evidence, &Control::default()))))
        }
        "dendrogram" => {
            // Fractional parts of multiples of the golden ratio: distances without ties.
            let distance = |at: usize| (at as f64 * 0.618_033_988_749_895).fract();
            let condensed = (1..=LEAVES * (LEAVES - 1) / 2).map(distance).collect();
            let distances = Dissimilarities::from_condensed(LEAVES, condensed)?;
            Box::new(move || drop(black_box(Dendrogram::ward(&distances))))
        }
        _ => predicting(ease, task.trim_start_matches("predict-").parse()?)?,
    })
}

/// A panel in which most classifiers copy another one on most rows, so that adaSPOCC fuses them along a deep tree;
/// independent classifiers give a flat tree, as in SPOCC.
fn with_copies(shape: PanelShape) -> (Predictions, Truth) {
    let (mut predicted, truths) = shape.ids::<u16>(&(0..shape.rows));
    for (row, predicted) in predicted.chunks_mut(shape.classifiers).enumerate() {
        for (copy, original, own) in [(1, 0, 9), (2, 0, 7), (4, 3, 5), (5, 3, 3), (7, 6, 2)] {
            if row % own > 0 {
                predicted[copy] = predicted[original];
            }
        }
    }
    shape.table(predicted, truths)
}

fn evidence(shape: PanelShape) -> Result<Evidence, Failure> {
    let (predictions, truth) = shape.panel();
    Ok(Evidence::new(&predictions, &truth)?)
}

fn counting(ease: Ease, level: Level) -> Kernel {
    let (predictions, truth) = PanelShape { ease, ..COUNTED }.panel();
    Box::new(move || drop(black_box(count(&predictions, &truth, level, &Control::default()))))
}

fn fitting(shape: PanelShape, method: BenchMethod) -> Result<Kernel, Failure> {
    let evidence = evidence(shape)?;
    Ok(Box::new(move || drop(black_box(method.combiner().fit(&evidence)))))
}

fn predicting(ease: Ease, method: Method) -> Result<Kernel, Failure> {
    let shape = PanelShape { ease, ..COUNTED };
    let model = fitted_to_first_rows(shape, method, LIMIT)?;
    let (predictions, _) = shape.panel();
    Ok(Box::new(move || drop(black_box(model.predict(&predictions)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_kernel() {
        for name in names() {
            assert!(kernel(&name).is_ok(), "{name}");
        }
    }
}
