//! Times copying, counting, fitting and predicting on one panel.

use std::{
    convert::Infallible,
    fmt::Display,
    hint::black_box,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;
use spocc::{
    Control, Error, Evidence, Method, Model, Options, Predictions, Truth,
    evidence::{Counting, Level},
    predict::DecisionColumns,
};
use spocc_bench::{PanelShape, Timing, measure};

use crate::{Failure, bench_method::BenchMethod, print};

/// Rows that every model is fitted to before its predictions are timed.
const FITTED_ROWS: usize = 2_000;

/// The same for stacking: its predictions cost the same, and its fit much less.
const STACKED_ROWS: usize = 200;

/// A fit longer than this many seconds is not repeated together with counting; the two times are added.
const LONG_FIT: f64 = 1.0;

const LEVELS: [(&str, Level); 2] = [("marginals", Level::Marginals), ("tally", Level::Tally)];

/// The tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Task {
    /// From rows to marginals, and to a tally.
    Count,
    /// From rows to decisions, by models fitted to a few rows.
    Predict,
    /// The same with probabilities (methods that give them), and with margins and possibilities as well.
    Decide,
    /// The explanation of one row.
    Explain,
    /// From evidence to a model, and the whole way from rows; that of the ladder also with its held-out accuracy.
    Fit,
}

/// The timing of one task, or the reason for its failure.
#[derive(Serialize)]
pub(crate) struct Measurement {
    pub(crate) task: &'static str,
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) timing: Option<Timing>,
    /// Share of rows predicted correctly, where that was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failed: Option<String>,
}

impl Measurement {
    pub(crate) fn new(task: &'static str, name: &dyn Display, timing: Result<Timing, String>) -> Self {
        let failed = timing.as_ref().err().cloned();
        Self { task, name: name.to_string(), timing: timing.ok(), accuracy: None, failed }
    }
}

/// The reason for a failure.
pub(crate) fn reason(error: &Error) -> String {
    if matches!(error, Error::Cancelled) { "over the limit".to_owned() } else { error.to_string() }
}

/// Times work; a run that takes longer than the limit is cancelled.
pub(crate) fn within<T>(
    limit: Duration,
    work: impl Fn(&Control<'_>) -> Result<T, Error>,
) -> Result<Timing, Error> {
    measure(|| once_within(limit, &work))
}

/// Runs work once; it is cancelled after the limit.
pub(crate) fn once_within<T>(
    limit: Duration,
    work: impl Fn(&Control<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let begun = Instant::now();
    let stop = |_| if begun.elapsed() > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    work(&Control::new(&stop))
}

/// Times every task on one panel and prints the results.
pub(crate) fn run(
    shape: PanelShape,
    tasks: &[Task],
    methods: &[BenchMethod],
    limit: Duration,
) -> Result<(), Failure> {
    let threads = rayon::current_num_threads();
    print(&json!({ "task": "panel", "shape": shape, "threads": threads, "label_matrix": cells(shape) * 2 }))?;
    print(&copying(shape))?;
    let (predictions, truth) = shape.panel();
    if tasks.contains(&Task::Count) {
        for (name, level) in LEVELS {
            let timing = within(limit, |control| count(&predictions, &truth, level, control));
            print(&Measurement::new("count", &name, timing.map_err(|error| reason(&error))))?;
        }
    }
    if tasks.contains(&Task::Predict) {
        for method in methods {
            // The time of a regression's predictions does not depend on its strength.
            if let BenchMethod::Default(method) = *method {
                print(&predicting(shape, method, &predictions, &truth, limit))?;
            }
        }
    }
    if tasks.contains(&Task::Decide) {
        for method in methods {
            if let BenchMethod::Default(method) = *method {
                deciding(shape, method, &predictions, limit)?;
            }
        }
    }
    if tasks.contains(&Task::Explain) {
        for method in methods {
            if let BenchMethod::Default(method) = *method {
                print(&explaining(shape, method, &predictions, limit))?;
            }
        }
    }
    if tasks.contains(&Task::Fit) {
        return fitting(&predictions, &truth, methods, limit);
    }
    Ok(())
}

/// Times each method's fit from evidence, and from rows.
fn fitting(
    predictions: &Predictions,
    truth: &Truth,
    methods: &[BenchMethod],
    limit: Duration,
) -> Result<(), Failure> {
    // Methods that need marginals only are timed without a tally.
    let evidences = LEVELS.map(|(_, level)| {
        let begun = Instant::now();
        let evidence = once_within(limit, |control| count(predictions, truth, level, control));
        (evidence, begun.elapsed().as_secs_f64())
    });
    for &method in methods {
        let combiner = method.combiner();
        let needs = combiner.needs();
        let fit = |evidence: &Evidence, control: &Control<'_>| {
            Model::fit(&*combiner, evidence, &Options::default(), control)
        };
        let (evidence, counting) = &evidences[usize::from(needs == Level::Tally)];
        let timing = match evidence {
            Ok(evidence) => within(limit, |control| fit(evidence, control)).map_err(|error| reason(&error)),
            Err(error) => Err(reason(error)),
        };
        print(&Measurement::new("fit", &method, timing.clone()))?;
        let whole = match timing {
            // A long fit is not repeated: the time of counting is added.
            Ok(fit) if fit.wall > LONG_FIT => Ok(fit.after(*counting)),
            Ok(_) => within(limit, |control| fit(&count(predictions, truth, needs, control)?, control))
                .map_err(|error| reason(&error)),
            refused => refused,
        };
        print(&Measurement::new("whole", &method, whole))?;
        if method == BenchMethod::Default(Method::Ladder) {
            let options = Options { evaluate: true, ..Options::default() };
            let evaluated = within(limit, |control| {
                Model::fit(&*combiner, &count(predictions, truth, needs, control)?, &options, control)
            });
            print(&Measurement::new("evaluated", &method, evaluated.map_err(|error| reason(&error))))?;
        }
    }
    Ok(())
}

fn cells(shape: PanelShape) -> usize {
    shape.rows * shape.classifiers
}

/// Copies the label matrix, two bytes per cell as in the engine, into memory that is already mapped.
fn copying(shape: PanelShape) -> Measurement {
    let (from, _) = shape.ids::<u16>(&(0..shape.rows));
    let mut to = vec![1u16; from.len()];
    let piece = from.len().div_ceil(rayon::current_num_threads()).max(1);
    let timing = measure(|| -> Result<(), Infallible> {
        if piece == from.len() {
            to.copy_from_slice(black_box(&from));
        } else {
            to.par_chunks_mut(piece)
                .zip(from.par_chunks(piece))
                .for_each(|(to, from)| to.copy_from_slice(from));
        }
        black_box(&mut to);
        Ok(())
    });
    Measurement::new("memcpy", &"label matrix", timing.map_err(|never| match never {}))
}

/// The evidence of all rows.
pub(crate) fn count(
    predictions: &Predictions,
    truth: &Truth,
    level: Level,
    control: &Control<'_>,
) -> Result<Evidence, Error> {
    Evidence::count(predictions, truth, &Counting { level, ..Counting::default() }, control)
}

/// A model fitted to the first rows of a panel.
pub(crate) fn fitted_to_first_rows(
    shape: PanelShape,
    method: Method,
    limit: Duration,
) -> Result<Model, Error> {
    let (predictions, truth) = shape.with_rows(fitted_rows(shape, method)).panel();
    let combiner = method.combiner();
    once_within(limit, |control| {
        let evidence = count(&predictions, &truth, combiner.needs(), control)?;
        Model::fit(&*combiner, &evidence, &Options::default(), control)
    })
}

/// Rows that a model is fitted to before its predictions are timed.
fn fitted_rows(shape: PanelShape, method: Method) -> usize {
    shape.rows.min(if method == Method::Stacking { STACKED_ROWS } else { FITTED_ROWS })
}

/// Times predictions, and counts which are correct among the rows that the model was not fitted to.
fn predicting(
    shape: PanelShape,
    method: Method,
    predictions: &Predictions,
    truth: &Truth,
    limit: Duration,
) -> Measurement {
    let fitted = fitted_to_first_rows(shape, method, limit);
    let predict = |model: &Model, control: &Control<'_>| {
        model.decide_all(predictions, DecisionColumns::default(), control)
    };
    let timing = match &fitted {
        Ok(model) => within(limit, |control| predict(model, control)),
        Err(error) => Err(error.clone()),
    };
    let decided =
        fitted.ok().filter(|_| timing.is_ok()).and_then(|model| predict(&model, &Control::default()).ok());
    let fresh = fitted_rows(shape, method)..shape.rows;
    let accuracy = decided.filter(|_| !fresh.is_empty()).map(|decided| {
        let pairs = decided.labels().enumerate().skip(fresh.start);
        pairs.filter(|(row, label)| truth.get(*row) == Some(label)).count() as f64 / fresh.len() as f64
    });
    Measurement { accuracy, ..Measurement::new("predict", &method, timing.map_err(|error| reason(&error))) }
}

/// Times the explanation of the first row.
fn explaining(shape: PanelShape, method: Method, predictions: &Predictions, limit: Duration) -> Measurement {
    let timing = fitted_to_first_rows(shape, method, limit).and_then(|model| {
        let aligned = model.align(predictions)?;
        measure(|| aligned.explain(0))
    });
    Measurement::new("explain", &method, timing.map_err(|error| reason(&error)))
}

/// Times decisions with probabilities, where the method gives them, and with margins, possibilities and probabilities.
fn deciding(
    shape: PanelShape,
    method: Method,
    predictions: &Predictions,
    limit: Duration,
) -> Result<(), Failure> {
    let probabilities = DecisionColumns { probability: true, ..DecisionColumns::default() };
    let all = DecisionColumns { margin: true, possibility: true, ..probabilities };
    let model = fitted_to_first_rows(shape, method, limit);
    let mut tasks = vec![("decide", all)];
    if method.capabilities().probabilities {
        tasks.push(("predict_proba", probabilities));
    }
    for (task, columns) in tasks {
        let timing = match &model {
            Ok(model) => within(limit, |control| model.decide_all(predictions, columns, control)),
            Err(error) => Err(error.clone()),
        };
        print(&Measurement::new(task, &method, timing.map_err(|error| reason(&error))))?;
    }
    Ok(())
}
