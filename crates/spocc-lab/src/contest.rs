//! Contests: every method of the engine learns from the same rows and decides the same others.

use std::{collections::BTreeMap, panic, thread, time::Instant};

use spocc::{Control, Method, Model, Options, Predictions};

use crate::{error::Error, panel::Answers, setting::Setting};

/// A truth that a method thought all but impossible costs no more than one of this probability.
const LEAST_PROBABILITY: f64 = 1e-9;

/// Every method, fitted to the same rows.
pub(crate) struct Contest {
    models: Vec<Model>,
    width: usize,
    /// Seconds that each method took to learn, on one core.
    pub(crate) fit_seconds: BTreeMap<String, f64>,
}

/// Rows with the same answers: one of them, and how often each class is true.
struct Pattern {
    row: usize,
    truths: Vec<u64>,
}

impl Contest {
    /// Fits every method to the first `width` classifiers.
    pub(crate) fn new(setting: Setting, validation: &Answers, width: usize) -> Result<Self, Error> {
        let evidence = validation.evidence(width)?;
        let (control, options) = (Control::default(), Options::default());
        let fit = |method: Method| {
            let begun = Instant::now();
            let model = Model::fit(&*setting.combiner(method), &evidence, &options, &control)?;
            Ok((model, (method.to_string(), begun.elapsed().as_secs_f64())))
        };
        let fitted = alone(|| Method::ALL.into_iter().map(fit).collect::<Result<Vec<_>, Error>>())?;
        let (models, fit_seconds) = fitted?.into_iter().unzip();
        Ok(Self { models, width, fit_seconds })
    }

    /// Adds what every method decides of some rows to the confusion counts of each.
    pub(crate) fn judge(
        &self,
        test: &Answers,
        confusion: &mut BTreeMap<String, Vec<u64>>,
    ) -> Result<(), Error> {
        let predictions = test.predictions(self.width)?;
        let l = test.n_classes;
        for model in &self.models {
            let counts = confusion.entry(model.method().to_string()).or_insert_with(|| vec![0; l * l]);
            for (class, &truth) in model.predict(&predictions)?.class.iter().zip(&test.truth) {
                counts[usize::from(truth) * l + usize::from(*class)] += 1;
            }
        }
        Ok(())
    }

    /// The mean of `-ln p(truth)` over some rows, for every method that gives probabilities.
    pub(crate) fn log_loss(&self, test: &Answers) -> Result<BTreeMap<String, f64>, Error> {
        let predictions = test.predictions(self.width)?;
        let patterns = patterns(test, self.width);
        let mut losses = BTreeMap::new();
        for model in &self.models {
            if let Some(sum) = total_loss(model, &predictions, &patterns)? {
                losses.insert(model.method().to_string(), sum / test.n_rows() as f64);
            }
        }
        Ok(losses)
    }
}

/// Works on one core and lends it to nobody meanwhile.
///
/// A worker of the common pool that waits for a part of its work does parts of others, and the clock runs on.
fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|error| Error::Threads { threads: 1, error: error.to_string() })?;
    let worked = thread::scope(|scope| scope.spawn(|| pool.install(work)).join());
    Ok(worked.unwrap_or_else(|panicked| panic::resume_unwind(panicked)))
}

/// Rows in full are decided slowly, and equal ones alike: one of each is enough.
fn patterns(test: &Answers, width: usize) -> Vec<Pattern> {
    let mut patterns: BTreeMap<Vec<u16>, Pattern> = BTreeMap::new();
    for (row, &truth) in test.truth.iter().enumerate() {
        let answers = test.columns[..width].iter().map(|column| column[row]).collect();
        let pattern =
            patterns.entry(answers).or_insert_with(|| Pattern { row, truths: vec![0; test.n_classes] });
        pattern.truths[usize::from(truth)] += 1;
    }
    patterns.into_values().collect()
}

/// Nothing if the method gives no probabilities.
fn total_loss(model: &Model, predictions: &Predictions, patterns: &[Pattern]) -> Result<Option<f64>, Error> {
    let aligned = model.align(predictions)?;
    let mut sum = 0.0;
    for Pattern { row, truths } in patterns {
        let Some(probability) = aligned.decide(*row)?.probability else { return Ok(None) };
        for (p, &count) in probability.iter().zip(truths) {
            sum -= count as f64 * p.max(LEAST_PROBABILITY).ln();
        }
    }
    Ok(Some(sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(n: u64, n_classes: usize) -> Answers {
        let truth: Vec<u16> = (0..n).map(|t| (t % n_classes as u64) as u16).collect();
        Answers { n_classes, columns: vec![truth.clone()], truth, ids: (0..n).collect() }
    }

    #[test]
    fn every_method_takes_part_and_learns_from_a_perfect_classifier() {
        let panel = answers(60, 3);
        let contest = Contest::new(Setting::Honest, &panel, 1).expect("fits");
        let mut confusion = BTreeMap::new();
        contest.judge(&panel, &mut confusion).expect("decides");
        assert_eq!(confusion.len(), Method::ALL.len());
        for (method, counts) in &confusion {
            assert_eq!(counts, &[20, 0, 0, 0, 20, 0, 0, 0, 20], "{method}");
        }
        assert!(confusion.keys().eq(contest.fit_seconds.keys()));
        assert!(contest.fit_seconds.values().all(|seconds| (0.0..60.0).contains(seconds)));
    }

    #[test]
    fn the_log_loss_is_that_on_paper() {
        // Of 40 rows called 0, 30 are; of 40 called 1, all are: the joint table has these shares as probabilities.
        let columns = vec![(0..80).map(|t| u16::from(t >= 40)).collect()];
        let truth = (0..80).map(|t| u16::from(t >= 30)).collect();
        let validation = Answers { n_classes: 2, truth, ids: (0..80).collect(), columns };
        let contest = Contest::new(Setting::Honest, &validation, 1).expect("fits");
        // Called 0 and is 0, called 0 and is 1 twice, called 1 and is 0, which never was.
        let test = validation.select(&[0, 35, 36, 70]);
        let test = Answers { truth: vec![0, 1, 1, 0], ..test };
        let losses = contest.log_loss(&test).expect("decides");
        let expected = -(0.75f64.ln() + 2.0 * 0.25f64.ln() + LEAST_PROBABILITY.ln()) / 4.0;
        assert!((losses["bayes"] - expected).abs() < 1e-9, "{losses:?} {expected}");
        let given: Vec<&String> = losses.keys().collect();
        assert_eq!(given, ["bayes", "dawid-skene", "ladder", "naive-bayes", "stacking"]);
    }

    #[test]
    fn work_done_alone_has_one_core() {
        assert_eq!(alone(rayon::current_num_threads).expect("a thread"), 1);
    }
}
