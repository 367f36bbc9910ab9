//! Empirical growth: exponents of the time in rows, classifiers, classes and the labels of crowds, beside the
//! algorithms' bounds.

use std::time::{Duration, Instant};

use serde::Serialize;
use spocc::{Error, Method, Model, Options, Predictions, Truth, predict::DecisionColumns};
use spocc_bench::{CrowdShape, Ease, PanelShape};

use crate::{
    Failure,
    kernels::{count, fitted_to_first_rows, once_within},
    print,
};

/// The common start of all series. On a hard panel most patterns occur once, so the tally grows with the rows; on an
/// easy one the number of patterns soon saturates.
const BASE: PanelShape = PanelShape { rows: 10_000, classifiers: 10, classes: 5, ease: Ease::Hard };

const ROWS: [usize; 5] = [2_000, 6_000, 20_000, 60_000, 200_000];
// With fewer classifiers the number of patterns would still grow with them.
const CLASSIFIERS: [usize; 5] = [8, 16, 32, 64, 128];
const CLASSES: [u16; 5] = [3, 6, 12, 24, 48];

/// Items of crowds with five labels each, and a worker for every ten items.
const ITEMS: [usize; 5] = [2_000, 6_000, 20_000, 60_000, 200_000];
const LABELS_PER_ITEM: usize = 5;
/// The methods for crowds. Workers with common items are few, so that the ladder examines few pairs: the bound is linear in
/// the labels.
const CROWD_METHODS: [Method; 5] =
    [Method::Ladder, Method::DawidSkene, Method::OneCoin, Method::NaiveBayes, Method::Majority];

/// The time of one method against one size.
#[derive(Serialize)]
struct GrowthSeries {
    task: &'static str,
    method: Method,
    /// `rows`, `classifiers`, `classes` or `labels` (of crowds).
    vary: &'static str,
    sizes: Vec<usize>,
    seconds: Vec<f64>,
    /// Least-squares slope of log time on log size; none with fewer than three points.
    exponent: Option<f64>,
    /// The bound of the exponent.
    bound: f64,
}

/// Bounds of the exponents of rows, classifiers and classes for fitting.
///
/// With n rows, K classifiers and l classes: tables per classifier have l^2 cells; a hard tally has n patterns
/// of K predictions. adaSPOCC and the ladder examine every pair of classifiers that share patterns, and adaSPOCC tunes on
/// K l^2 possibilities of l degrees each. Stacking and the ladder's regression solve for K l inputs and l outputs, at worst
/// by factoring a matrix per output. Dawid-Skene and one-coin read every
/// pattern, of which here none is without a truth.
fn fit_bound(method: Method) -> [f64; 3] {
    match method {
        Method::AdaSpocc => [1.0, 2.0, 3.0],
        Method::ExpVote => [1.0, 1.0, 1.0],
        Method::Bayes => [1.0, 1.0, 0.0],
        Method::DawidSkene | Method::OneCoin => [1.0, 1.0, 2.0],
        Method::Stacking | Method::Ladder => [1.0, 3.0, 4.0],
        // Computed from the marginal counts, whatever the number of rows.
        _ => [0.0, 1.0, 2.0],
    }
}

/// Bounds for predicting: every row has K predictions, each with a cost for l classes.
const PREDICT_BOUND: [f64; 3] = [1.0, 1.0, 1.0];

/// Stacking is fitted to this many times fewer rows: it solves hundreds of regressions.
const STACKING_SHARE: usize = 40;

/// Prints a series for every method, task and size.
pub(crate) fn run(methods: &[Method], limit: Duration) -> Result<(), Failure> {
    let rows = ROWS.map(|rows| (rows, PanelShape { rows, ..BASE }));
    let classifiers = CLASSIFIERS.map(|classifiers| (classifiers, PanelShape { classifiers, ..BASE }));
    let classes = CLASSES.map(|classes| (usize::from(classes), PanelShape { classes, ..BASE }));
    for &method in methods {
        for (at, (vary, shapes)) in
            [("rows", rows), ("classifiers", classifiers), ("classes", classes)].into_iter().enumerate()
        {
            let bounds = [("fit", fit_bound(method)[at]), ("predict", PREDICT_BOUND[at])];
            for (task, bound) in bounds {
                let time = if task == "fit" { fitting } else { predicting };
                let is_slow = task == "fit" && method == Method::Stacking;
                let share = if is_slow { STACKING_SHARE } else { 1 };
                let fewer = |(size, shape): (usize, PanelShape)| {
                    let size = if vary == "rows" { size / share } else { size };
                    (size, shape.with_rows(shape.rows / share))
                };
                let points = shapes.map(fewer).into_iter().map_while(|(size, shape)| {
                    time(shape, method, limit).ok().map(|seconds| (size, seconds))
                });
                print(&series(task, method, vary, points, bound))?;
            }
        }
    }
    for method in CROWD_METHODS.into_iter().filter(|method| methods.contains(method)) {
        let points = ITEMS.into_iter().map_while(|items| {
            fitting_crowd(items, method, limit).ok().map(|seconds| (items * LABELS_PER_ITEM, seconds))
        });
        print(&series("fit", method, "labels", points, 1.0))?;
    }
    Ok(())
}

/// A series of (size, seconds).
fn series(
    task: &'static str,
    method: Method,
    vary: &'static str,
    points: impl Iterator<Item = (usize, f64)>,
    bound: f64,
) -> GrowthSeries {
    let (sizes, seconds): (Vec<usize>, Vec<f64>) = points.unzip();
    let exponent = (sizes.len() >= 3).then(|| slope(&sizes, &seconds));
    GrowthSeries { task, method, vary, sizes, seconds, exponent, bound }
}

/// Least-squares slope of log seconds on log sizes.
fn slope(sizes: &[usize], seconds: &[f64]) -> f64 {
    let xs: Vec<f64> = sizes.iter().map(|size| (*size as f64).ln()).collect();
    let ys: Vec<f64> = seconds.iter().map(|seconds| seconds.ln()).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (x, y) = (mean(&xs), mean(&ys));
    let covariance: f64 = xs.iter().zip(&ys).map(|(a, b)| (a - x) * (b - y)).sum();
    covariance / xs.iter().map(|a| (a - x).powi(2)).sum::<f64>()
}

/// Seconds to fit a panel's evidence.
fn fitting(shape: PanelShape, method: Method, limit: Duration) -> Result<f64, Error> {
    let (predictions, truth) = shape.panel();
    fitting_rows(&predictions, &truth, method, limit)
}

/// Seconds to fit a crowd's evidence.
fn fitting_crowd(items: usize, method: Method, limit: Duration) -> Result<f64, Error> {
    let crowd = CrowdShape { items, workers: items / 10, answers: LABELS_PER_ITEM, classes: 4 };
    let (predictions, truth) = crowd.panel();
    fitting_rows(&predictions, &truth, method, limit)
}

fn fitting_rows(
    predictions: &Predictions,
    truth: &Truth,
    method: Method,
    limit: Duration,
) -> Result<f64, Error> {
    let combiner = method.combiner();
    let evidence = count(predictions, truth, combiner.needs(), &spocc::Control::default())?;
    shortest(|| once_within(limit, |control| Model::fit(&*combiner, &evidence, &Options::default(), control)))
}

/// Seconds to predict a panel's rows.
fn predicting(shape: PanelShape, method: Method, limit: Duration) -> Result<f64, Error> {
    let (predictions, _) = shape.panel();
    let model = fitted_to_first_rows(shape, method, 10 * limit)?;
    shortest(|| {
        once_within(limit, |control| model.decide_all(&predictions, DecisionColumns::default(), control))
    })
}

/// The shortest of a few runs; a slope over several sizes tolerates some noise.
fn shortest<T>(work: impl Fn() -> Result<T, Error>) -> Result<f64, Error> {
    let begun = Instant::now();
    let (mut best, mut runs) = (f64::INFINITY, 0);
    while runs == 0 || begun.elapsed() < Duration::from_millis(60) && runs < 200 {
        let start = Instant::now();
        let made = work();
        best = best.min(start.elapsed().as_secs_f64());
        runs += 1;
        drop(made?);
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_a_power_is_its_exponent() {
        let sizes = [1, 2, 4, 8];
        let seconds = sizes.map(|size: usize| 3.0 * (size as f64).powf(1.7));
        assert!((slope(&sizes, &seconds) - 1.7).abs() < 1e-12);
    }
}
