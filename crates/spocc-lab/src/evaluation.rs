//! Evaluation: every method of the engine is fitted to the same validation rows and applied to the same test rows.

use std::{collections::BTreeMap, panic, thread, time::Instant};

use spocc::{Control, Method, Model, Predictions};

use crate::{
    error::Error,
    panel::PanelPredictions,
    protocol::{self, Protocol},
};

/// Probabilities are floored at this value in the log-loss.
const MIN_PROBABILITY: f64 = 1e-9;

/// Every method, fitted to the same rows.
pub(crate) struct FittedMethods {
    models: Vec<Model>,
    n_classifiers: usize,
    /// Fit time of each method in seconds, on one core.
    pub(crate) fit_seconds: BTreeMap<String, f64>,
}

/// Rows with equal predictions: the first of them, and the count of each true class.
struct DistinctRow {
    row: usize,
    truths: Vec<u64>,
}

impl FittedMethods {
    /// Fits every method to the first `n_classifiers` classifiers.
    pub(crate) fn new(
        protocol: Protocol,
        validation: &PanelPredictions,
        n_classifiers: usize,
    ) -> Result<Self, Error> {
        let evidence = validation.evidence(n_classifiers)?;
        let (control, options) = (Control::default(), protocol::options());
        let fit = |method: Method| {
            let begun = Instant::now();
            let model = Model::fit(&*protocol.combiner(method), &evidence, &options, &control)?;
            Ok((model, (method.to_string(), begun.elapsed().as_secs_f64())))
        };
        let fitted = on_one_core(|| Method::ALL.into_iter().map(fit).collect::<Result<Vec<_>, Error>>())?;
        let (models, fit_seconds) = fitted?.into_iter().unzip();
        Ok(Self { models, n_classifiers, fit_seconds })
    }

    /// Adds the decisions of every method on the test rows to its confusion counts.
    pub(crate) fn count_confusion(
        &self,
        test: &PanelPredictions,
        confusion: &mut BTreeMap<String, Vec<u64>>,
    ) -> Result<(), Error> {
        let predictions = test.predictions(self.n_classifiers)?;
        let l = test.n_classes;
        for model in &self.models {
            let counts = confusion.entry(model.method().to_string()).or_insert_with(|| vec![0; l * l]);
            for (class, &truth) in model.predict(&predictions)?.class.iter().zip(&test.truth) {
                counts[usize::from(truth) * l + usize::from(*class)] += 1;
            }
        }
        Ok(())
    }

    /// The mean of `-ln p(truth)` over the test rows, for every method that gives probabilities.
    pub(crate) fn log_loss(&self, test: &PanelPredictions) -> Result<BTreeMap<String, f64>, Error> {
        let predictions = test.predictions(self.n_classifiers)?;
        let rows = distinct_rows(test, self.n_classifiers);
        let mut losses = BTreeMap::new();
        for model in &self.models {
            if let Some(sum) = total_loss(model, &predictions, &rows)? {
                losses.insert(model.method().to_string(), sum / test.n_rows() as f64);
            }
        }
        Ok(losses)
    }
}

/// Runs work in a thread pool of its own with one thread.
///
/// In the common pool a worker that waits for its own tasks runs those of others, and the measured time includes them.
fn on_one_core<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|error| Error::Threads { threads: 1, error: error.to_string() })?;
    let done = thread::scope(|scope| scope.spawn(|| pool.install(work)).join());
    Ok(done.unwrap_or_else(|panicked| panic::resume_unwind(panicked)))
}

/// Groups equal rows: they have equal probabilities, which are slow to compute.
fn distinct_rows(test: &PanelPredictions, n_classifiers: usize) -> Vec<DistinctRow> {
    let mut rows: BTreeMap<Vec<u16>, DistinctRow> = BTreeMap::new();
    for (row, &truth) in test.truth.iter().enumerate() {
        let predicted = test.columns[..n_classifiers].iter().map(|column| column[row]).collect();
        let distinct =
            rows.entry(predicted).or_insert_with(|| DistinctRow { row, truths: vec![0; test.n_classes] });
        distinct.truths[usize::from(truth)] += 1;
    }
    rows.into_values().collect()
}

/// Nothing if the method gives no probabilities.
fn total_loss(model: &Model, predictions: &Predictions, rows: &[DistinctRow]) -> Result<Option<f64>, Error> {
    let aligned = model.align(predictions)?;
    let mut sum = 0.0;
    for DistinctRow { row, truths } in rows {
        let Some(probability) = aligned.decide(*row)?.probability else { return Ok(None) };
        for (p, &count) in probability.iter().zip(truths) {
            sum -= count as f64 * p.max(MIN_PROBABILITY).ln();
        }
    }
    Ok(Some(sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_fitted_and_learns_from_a_perfect_classifier() {
        let panel = PanelPredictions::perfect(60, 3);
        let methods = FittedMethods::new(Protocol::Honest, &panel, 1).expect("fits");
        let mut confusion = BTreeMap::new();
        methods.count_confusion(&panel, &mut confusion).expect("decides");
        assert_eq!(confusion.len(), Method::ALL.len());
        for (method, counts) in &confusion {
            assert_eq!(counts, &[20, 0, 0, 0, 20, 0, 0, 0, 20], "{method}");
        }
        assert!(confusion.keys().eq(methods.fit_seconds.keys()));
        assert!(methods.fit_seconds.values().all(|seconds| (0.0..60.0).contains(seconds)));
    }

    #[test]
    fn the_log_loss_is_that_computed_by_hand() {
        // Of 40 rows predicted 0, 30 are; of 40 predicted 1, all are: the joint table has these shares as probabilities.
        let columns = vec![(0..80).map(|t| u16::from(t >= 40)).collect()];
        let truth = (0..80).map(|t| u16::from(t >= 30)).collect();
        let validation = PanelPredictions { n_classes: 2, truth, ids: (0..80).collect(), columns };
        let methods = FittedMethods::new(Protocol::Honest, &validation, 1).expect("fits");
        // Predicted 0 and is 0; predicted 0 and is 1, twice; predicted 1 and is 0, which has no count.
        let test = validation.select(&[0, 35, 36, 70]);
        let test = PanelPredictions { truth: vec![0, 1, 1, 0], ..test };
        let losses = methods.log_loss(&test).expect("decides");
        let expected = -(0.75f64.ln() + 2.0 * 0.25f64.ln() + MIN_PROBABILITY.ln()) / 4.0;
        assert!((losses["bayes"] - expected).abs() < 1e-9, "{losses:?} {expected}");
        let given: Vec<&String> = losses.keys().collect();
        assert_eq!(given, ["bayes", "dawid-skene", "ladder", "naive-bayes", "one-coin", "stacking"]);
    }

    #[test]
    fn work_on_one_core_has_one_thread() {
        assert_eq!(on_one_core(rayon::current_num_threads).expect("a thread"), 1);
    }
}
