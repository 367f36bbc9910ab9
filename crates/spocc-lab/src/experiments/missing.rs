//! Missing predictions: accuracy when a missing cell is ignored, counted as an answer, or treated as the engine's
//! `auto` decides.
//!
//! Prints a Markdown table: for each missingness mechanism, number of labelled rows and method, the accuracy on unlabelled
//! rows under each treatment, and the paired differences between `auto` and the other two.

use std::{io::Write, path::Path};

use spocc::{
    Control, Evidence, Method, Model, Options, Predictions, Truth, data::Missing, evidence::Counting,
};

use crate::{
    error::Error,
    label_sets::LabelFiles,
    print::stdout,
    protocol::options,
    random,
    statistics::{deviation, mean},
};

const METHODS: [Method; 4] = [Method::Ladder, Method::AdaSpocc, Method::NaiveBayes, Method::Stacking];
const N_LABELLED: [usize; 3] = [40, 160, 1000];
const N_TEST: usize = 2000;
/// Accuracy of each classifier where it has a prediction.
const ACCURACIES: [f64; 7] = [0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55];
/// Class frequencies.
const FREQUENCIES: [f64; 3] = [0.5, 0.3, 0.2];
/// Crowdsourced datasets, read from `NAME.label.csv` (item, worker, label) and `NAME.truth.csv` (item, truth).
const CROWDS: [&str; 3] = ["dog", "rte", "zencrowd"];
const NORMAL_975: f64 = 1.96;

/// When a prediction is missing.
#[derive(Clone, Copy, Debug)]
enum Mechanism {
    /// 40 % of the time.
    Random,
    /// 20 % of correct and 70 % of wrong predictions.
    Reject,
    /// 70, 30 or 10 %, depending on the true class.
    ByClass,
    /// Alternating classifiers: at random, and by class.
    Mixed,
}

/// A sequence of numbers from 0 to 1 (splitmix64).
struct UniformSequence(u64);

/// Rows with their truths, as far as known.
struct PartialPanel {
    predictions: Predictions,
    truth: Vec<Option<String>>,
}

impl UniformSequence {
    fn next(&mut self) -> f64 {
        let hash = random::mix(self.0);
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (hash >> 11) as f64 / (1u64 << 53) as f64
    }

    fn class(&mut self) -> usize {
        let at = self.next();
        if at < FREQUENCIES[0] { 0 } else { 1 + usize::from(at > FREQUENCIES[0] + FREQUENCIES[1]) }
    }
}

impl Mechanism {
    const ALL: [Self; 4] = [Self::Random, Self::Reject, Self::ByClass, Self::Mixed];

    /// The probability that a prediction of classifier `k` is missing.
    fn probability(self, k: usize, class: usize, is_correct: bool) -> f64 {
        match self {
            Self::Random => 0.4,
            Self::Reject if is_correct => 0.2,
            Self::Reject => 0.7,
            Self::ByClass => [0.7, 0.3, 0.1][(class + k) % 3],
            Self::Mixed if k.is_multiple_of(2) => Self::Random.probability(k, class, is_correct),
            Self::Mixed => Self::ByClass.probability(k, class, is_correct),
        }
    }
}

impl PartialPanel {
    fn simulate(mechanism: Mechanism, n_rows: usize, draws: &mut UniformSequence) -> Result<Self, Error> {
        let names = ["x", "y", "z"];
        let mut predictions = Predictions::builder((0..ACCURACIES.len()).map(|k| format!("c{k}")))?;
        let mut truth = Vec::new();
        for _ in 0..n_rows {
            let class = draws.class();
            let mut predict = |k: usize| {
                let other = (class + 1 + usize::from(draws.next() < 0.5)) % 3;
                let predicted = if draws.next() < ACCURACIES[k] { class } else { other };
                let is_present = draws.next() >= mechanism.probability(k, class, predicted == class);
                is_present.then_some(names[predicted])
            };
            predictions.push((0..ACCURACIES.len()).map(&mut predict).collect::<Vec<_>>())?;
            truth.push(Some(names[class].to_owned()));
        }
        Ok(Self { predictions: predictions.finish(), truth })
    }

    fn read_crowd(dir: &Path, name: &str) -> Result<Self, Error> {
        let [labels, truth] = ["label", "truth"].map(|kind| dir.join(format!("{name}.{kind}.csv")));
        let set = LabelFiles::Crowd { labels, truth }.load(name)?;
        let rows: Vec<usize> = (0..set.rows.len()).collect();
        let class = |class: &Option<u16>| class.map(|class| set.classes[usize::from(class)].to_string());
        Ok(Self { predictions: set.predictions(&rows)?, truth: set.truth.iter().map(class).collect() })
    }

    /// Accuracy in percent on the rows that are not labelled, under each treatment: ignore, answer, auto.
    fn accuracies(&self, method: Method, is_labelled: &[bool]) -> Result<[f64; 3], Error> {
        let control = Control::default();
        let known = self.truth.iter().zip(is_labelled);
        let known = known.map(|(truth, &is_labelled)| truth.as_deref().filter(|_| is_labelled));
        let evidence =
            Evidence::count(&self.predictions, &Truth::new(known)?, &Counting::default(), &control)?;
        let accuracy = |missing: Missing| -> Result<f64, Error> {
            let options = Options { missing, ..options() };
            let model = Model::fit(&*method.combiner(), &evidence, &options, &control)?;
            let decided = model.predict(&self.predictions)?;
            let (mut correct, mut rows) = (0.0, 0.0);
            for ((truth, is_labelled), decided) in self.truth.iter().zip(is_labelled).zip(decided.labels()) {
                if let (Some(truth), false) = (truth, is_labelled) {
                    rows += 1.0;
                    correct += if decided.to_string() == *truth { 1.0 } else { 0.0 };
                }
            }
            Ok(100.0 * correct / rows)
        };
        Ok([accuracy(Missing::Ignore)?, accuracy(Missing::Answer)?, accuracy(Missing::Auto)?])
    }
}

/// Runs the experiment on simulated panels, and on crowds where a folder is given.
pub(crate) fn run(reps: u32, seed: u64, crowds: Option<&Path>, out: &mut impl Write) -> Result<(), Error> {
    let draws = |rep: u32| UniformSequence((seed << 32) + (u64::from(rep) << 16));
    let head = "| missing | rows | method | ignore | answer | auto | auto - ignore | auto - answer |";
    writeln!(out, "{head}\n|---|---|---|---|---|---|---|---|").map_err(stdout)?;
    for mechanism in Mechanism::ALL {
        for n_labelled in N_LABELLED {
            for method in METHODS {
                let accuracies = |rep: u32| {
                    let panel = PartialPanel::simulate(mechanism, n_labelled + N_TEST, &mut draws(rep))?;
                    let is_labelled: Vec<bool> = (0..n_labelled + N_TEST).map(|t| t < n_labelled).collect();
                    panel.accuracies(method, &is_labelled)
                };
                let accuracies = (0..reps).map(accuracies).collect::<Result<Vec<_>, Error>>()?;
                let name = format!("{mechanism:?}").to_lowercase();
                writeln!(out, "{}", line(&name, n_labelled, method, &accuracies)).map_err(stdout)?;
            }
        }
    }
    for name in CROWDS.iter().filter(|_| crowds.is_some()) {
        let panel = PartialPanel::read_crowd(crowds.unwrap_or(Path::new("")), name)?;
        for method in METHODS {
            let accuracies = |rep: u32| {
                let mut draws = draws(rep);
                let is_labelled: Vec<bool> = panel.truth.iter().map(|_| draws.next() < 0.5).collect();
                panel.accuracies(method, &is_labelled)
            };
            let accuracies = (0..reps).map(accuracies).collect::<Result<Vec<_>, Error>>()?;
            writeln!(out, "{}", line(name, panel.truth.len() / 2, method, &accuracies)).map_err(stdout)?;
        }
    }
    Ok(())
}

/// One row of the table: mean accuracies, and differences with the half-width of their 95 % interval.
fn line(name: &str, n_labelled: usize, method: Method, accuracies: &[[f64; 3]]) -> String {
    let [ignore, answer, auto] =
        [0, 1, 2].map(|at| mean(&accuracies.iter().map(|run| run[at]).collect::<Vec<f64>>()));
    let difference = |other: usize| {
        let differences: Vec<f64> = accuracies.iter().map(|run| run[2] - run[other]).collect();
        let half = NORMAL_975 * deviation(&differences) / (differences.len() as f64).sqrt();
        format!("{:+.2} ± {half:.2}", mean(&differences))
    };
    format!(
        "| {name} | {n_labelled} | {method} | {ignore:.1} | {answer:.1} | {auto:.1} | {} | {} |",
        difference(0),
        difference(1)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictions_are_missing_as_often_as_the_mechanism_says() {
        let panel = PartialPanel::simulate(Mechanism::Random, 4000, &mut UniformSequence(1)).expect("rows");
        let mut n_present = 0;
        (0..4000).for_each(|row| panel.predictions.for_each_prediction(row, |_, _| n_present += 1));
        let share = f64::from(n_present) / (4000.0 * ACCURACIES.len() as f64);
        assert!((share - 0.6).abs() < 0.02, "{share}");
    }

    #[test]
    fn missingness_by_class_is_informative_as_an_answer() {
        let panel =
            PartialPanel::simulate(Mechanism::ByClass, 1160, &mut UniformSequence(1 << 32)).expect("rows");
        let is_labelled: Vec<bool> = (0..1160).map(|t| t < 160).collect();
        let [ignore, answer, auto] = panel.accuracies(Method::NaiveBayes, &is_labelled).expect("fits");
        assert!(answer > ignore + 3.0 && (auto - answer).abs() < 1.0, "{ignore} {answer} {auto}");
    }

    #[test]
    fn the_table_has_means_and_paired_differences() {
        let accuracies = [[80.0, 70.0, 81.0], [82.0, 72.0, 83.0]];
        let expected = "| random | 40 | majority | 81.0 | 71.0 | 82.0 | +1.00 ± 0.00 | +11.00 ± 0.00 |";
        assert_eq!(line("random", 40, Method::Majority, &accuracies), expected);
    }
}
