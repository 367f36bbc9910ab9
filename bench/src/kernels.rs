//! One panel, every kernel: copying, counting, fitting, predicting.

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
use spocc_bench::{Shape, Timing, measure};

use crate::{Failure, print, settings::Setting};

/// Rows that every model is fitted to before it predicts, however many it decides.
const FITTED_ROWS: usize = 2_000;

/// Of these, stacking gets the first: predicting costs it the same, and fitting much less.
const STACKED_ROWS: usize = 200;

/// Seconds from which a fit is not repeated to measure it together with counting.
const LONG_FIT: f64 = 1.0;

const LEVELS: [(&str, Level); 2] = [("marginals", Level::Marginals), ("tally", Level::Tally)];

/// What can be timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Task {
    /// From rows to marginals, and to a tally.
    Count,
    /// From rows to decisions, by models fitted to a few rows.
    Predict,
    /// From evidence to a model, and the whole way from rows.
    Fit,
}

/// What one task took, or why it was not done.
#[derive(Serialize)]
pub(crate) struct Measured {
    pub(crate) task: &'static str,
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) timing: Option<Timing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failed: Option<String>,
}

impl Measured {
    pub(crate) fn new(task: &'static str, name: &dyn Display, timing: Result<Timing, String>) -> Self {
        let failed = timing.as_ref().err().cloned();
        Self { task, name: name.to_string(), timing: timing.ok(), failed }
    }
}

/// Why a task was not done.
pub(crate) fn reason(error: &Error) -> String {
    if matches!(error, Error::Cancelled) { "over the limit".to_owned() } else { error.to_string() }
}

/// Measures work that is cancelled once a single run has taken longer than the limit.
pub(crate) fn within<T>(
    limit: Duration,
    work: impl Fn(&Control<'_>) -> Result<T, Error>,
) -> Result<Timing, Error> {
    measure(|| once_within(limit, &work))
}

/// Runs work once, cancelled when it has taken longer than the limit.
pub(crate) fn once_within<T>(
    limit: Duration,
    work: impl Fn(&Control<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let begun = Instant::now();
    let stop = |_| if begun.elapsed() > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    work(&Control::new(&stop))
}

/// Prints what every kernel takes on one panel.
pub(crate) fn run(
    shape: Shape,
    tasks: &[Task],
    settings: &[Setting],
    limit: Duration,
) -> Result<(), Failure> {
    let threads = rayon::current_num_threads();
    print(&json!({ "task": "panel", "shape": shape, "threads": threads, "label_matrix": cells(shape) * 2 }))?;
    print(&copying(shape))?;
    let (predictions, truth) = shape.panel();
    if tasks.contains(&Task::Count) {
        for (name, level) in LEVELS {
            let timing = within(limit, |control| count(&predictions, &truth, level, control));
            print(&Measured::new("count", &name, timing.map_err(|error| reason(&error))))?;
        }
    }
    if tasks.contains(&Task::Predict) {
        for setting in settings {
            // A regression decides as fast whatever its strength.
            if let Setting::Default(method) = *setting {
                print(&predicting(shape, method, &predictions, limit))?;
            }
        }
    }
    if tasks.contains(&Task::Fit) {
        return fitting(&predictions, &truth, settings, limit);
    }
    Ok(())
}

/// Prints what each method takes from evidence, and from rows.
fn fitting(
    predictions: &Predictions,
    truth: &Truth,
    settings: &[Setting],
    limit: Duration,
) -> Result<(), Failure> {
    // Methods that need less than the tally must not pay for carrying it.
    let evidences = LEVELS.map(|(_, level)| {
        let begun = Instant::now();
        let evidence = once_within(limit, |control| count(predictions, truth, level, control));
        (evidence, begun.elapsed().as_secs_f64())
    });
    for &setting in settings {
        let combiner = setting.combiner();
        let needs = combiner.needs();
        let fit = |evidence: &Evidence, control: &Control<'_>| {
            Model::fit(&*combiner, evidence, &Options::default(), control)
        };
        let (evidence, counting) = &evidences[usize::from(needs == Level::Tally)];
        let timing = match evidence {
            Ok(evidence) => within(limit, |control| fit(evidence, control)).map_err(|error| reason(&error)),
            Err(error) => Err(reason(error)),
        };
        print(&Measured::new("fit", &setting, timing.clone()))?;
        let whole = match timing {
            // Long work is not done twice: what counting took is added to it.
            Ok(fit) if fit.wall > LONG_FIT => Ok(fit.after(*counting)),
            Ok(_) => within(limit, |control| fit(&count(predictions, truth, needs, control)?, control))
                .map_err(|error| reason(&error)),
            refused => refused,
        };
        print(&Measured::new("whole", &setting, whole))?;
    }
    Ok(())
}

fn cells(shape: Shape) -> usize {
    shape.rows * shape.classifiers
}

/// Copies the label matrix as the engine holds it, two bytes a cell, into memory already touched.
fn copying(shape: Shape) -> Measured {
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
    Measured::new("memcpy", &"label matrix", timing.map_err(|never| match never {}))
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

/// A model to predict with, fitted to the first rows of a panel.
pub(crate) fn fitted_to_first_rows(shape: Shape, method: Method, limit: Duration) -> Result<Model, Error> {
    let rows = if method == Method::Stacking { STACKED_ROWS } else { FITTED_ROWS };
    let (predictions, truth) = shape.with_rows(rows.min(shape.rows)).panel();
    let combiner = method.combiner();
    once_within(limit, |control| {
        let evidence = count(&predictions, &truth, combiner.needs(), control)?;
        Model::fit(&*combiner, &evidence, &Options::default(), control)
    })
}

fn predicting(shape: Shape, method: Method, predictions: &Predictions, limit: Duration) -> Measured {
    let timing = fitted_to_first_rows(shape, method, limit).and_then(|model| {
        within(limit, |control| model.decide_all(predictions, DecisionColumns::default(), control))
    });
    Measured::new("predict", &method, timing.map_err(|error| reason(&error)))
}
