//! Learning curve: the accuracy of the methods after fewer labelled rows, and whether more would help.

use std::fmt;

use serde::Serialize;

use crate::{
    Error, Method,
    audit::clopper_pearson,
    evaluate::{
        accuracy::CorrectCounts,
        comparison::REFERENCES,
        cross_validation::HeldOutTrial,
        evaluator::{Evaluator, TrialResult},
        paired_test::{Difference, PairedCounts},
        split::{WeightedSubset, half, mix},
    },
};

/// The most halvings of the labelled rows.
const MAX_HALVINGS: usize = 4;

/// The fewest labelled rows at a point of the curve.
const MIN_ROWS: u64 = 10;

/// A gain of at most one percentage point is little.
const LITTLE: f64 = 0.01;

/// Accuracy against the number of labelled rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LearningCurve {
    /// Labelled rows, ascending.
    pub n_rows: Vec<u64>,
    /// One curve per method.
    pub methods: Vec<MethodCurve>,
    /// Whether more labelled rows would help; none if only the reference methods were compared.
    pub outlook: Option<Outlook>,
    /// The outlook in a sentence.
    pub summary: Option<String>,
}

/// The curve of one method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodCurve {
    /// The method.
    pub method: Method,
    /// The accuracy after each number of rows; none where the method could not be fitted.
    pub accuracies: Vec<Option<f64>>,
}

/// The gain of the best method, references aside, from the last doubling of the labelled rows or the last two.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outlook {
    /// The method.
    pub method: Method,
    /// Labelled rows before.
    pub from: u64,
    /// Labelled rows after.
    pub to: u64,
    /// The gain in accuracy.
    pub gain: Difference,
    /// The most that a further doubling would gain: the upper end of the interval of the last gain, or the upper end of
    /// the error rate if that is less.
    pub at_most: f64,
    /// The conclusion.
    pub more_rows: MoreRows,
}

/// What more labelled rows would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MoreRows {
    /// The interval of the last gain is above 0.
    Help,
    /// The interval of the last two gains together is above 0.
    MayHelp,
    /// A further doubling would gain at most a point.
    DoLittle,
    /// The interval contains 0 and more than one point.
    Unclear,
}

/// Adds up the trials of a learning curve.
pub(super) struct CurveBuilder {
    /// From all rows to the fewest.
    points: Vec<CurvePoint>,
    /// For every method and trial: all rows against half of them, and against a quarter.
    gains: [Vec<Vec<PairedCounts>>; 2],
}

#[derive(Clone, Default)]
struct CurvePoint {
    n_trials: f64,
    n_training: f64,
    n_held_out: f64,
    /// By method.
    correct: Vec<f64>,
    /// By method.
    refused: Vec<bool>,
}

/// How often `n_rows` training rows can be halved.
pub(super) fn halvings(n_rows: u64) -> usize {
    (1..=MAX_HALVINGS).take_while(|times| n_rows >> times >= MIN_ROWS).count()
}

/// Why there is no curve.
pub(super) fn too_few_rows(n_rows: u64) -> String {
    let (rows, are) = if n_rows == 1 { ("row", "is") } else { ("rows", "are") };
    format!("{n_rows} labelled {rows} to fit to {are} too few to be halved")
}

impl CurveBuilder {
    pub(super) fn new(n_methods: usize, halvings: usize) -> Self {
        let point = CurvePoint {
            correct: vec![0.0; n_methods],
            refused: vec![false; n_methods],
            ..CurvePoint::default()
        };
        let points = if halvings == 0 { Vec::new() } else { vec![point; halvings + 1] };
        Self { points, gains: [(); 2].map(|()| vec![Vec::new(); n_methods]) }
    }

    /// Adds a trial: halves its training rows repeatedly, and fits every method to each half.
    ///
    /// # Errors
    ///
    /// As [`Evaluator::evaluate`].
    pub(super) fn add(
        &mut self,
        evaluator: &mut Evaluator<'_>,
        trial: &HeldOutTrial<'_>,
        salt: u64,
    ) -> Result<(), Error> {
        let mut counts = trial.counts.to_vec();
        for (level, point) in self.points.iter_mut().enumerate() {
            if level == 0 {
                point.add(&counts, trial.result, trial.held_out);
                continue;
            }
            counts = half(&trial.labelled.keys, &counts, mix(salt, level as u64));
            let training = trial.labelled.evidence(&counts, evaluator.control)?;
            let result = evaluator.evaluate(&training, trial.evaluated, None)?;
            point.add(&counts, &result, trial.held_out);
            for (m, gains) in self.gains.get_mut(level - 1).into_iter().flatten().enumerate() {
                gains.push(paired(m, trial.result, &result, trial.held_out));
            }
        }
        Ok(())
    }

    /// The curves of these methods, each given with its number, the best first.
    pub(super) fn finish(&self, ranking: &[(usize, Method)], is_test: bool) -> Option<LearningCurve> {
        let n_rows: Vec<u64> = self.points.iter().rev().map(CurvePoint::n_rows).collect();
        let curve = |&(m, method): &(usize, Method)| MethodCurve {
            method,
            accuracies: self.points.iter().rev().map(|point| point.accuracy(m)).collect(),
        };
        if n_rows.is_empty() {
            return None;
        }
        // The references hardly change with the number of labelled rows.
        let learns =
            |&&(m, method): &&(usize, Method)| !REFERENCES.contains(&method) && !self.points[1].refused[m];
        let outlook = ranking.iter().find(learns).map(|&(m, method)| self.outlook(m, method, is_test));
        let summary = outlook.as_ref().map(ToString::to_string);
        Some(LearningCurve { n_rows, methods: ranking.iter().map(curve).collect(), outlook, summary })
    }

    /// From the last doubling if that is conclusive, else from the last two if they are.
    fn outlook(&self, m: usize, method: Method, is_test: bool) -> Outlook {
        // All trials share the test rows, but every fold has its own.
        let left_to_gain = 1.0 - self.points[0].interval(m, is_test)[0];
        let after = |halvings: usize| {
            let gains = &self.gains[halvings - 1][m];
            let gain =
                if is_test { Difference::on_test(gains, 1) } else { Difference::across_folds(gains, 1, 1) };
            let (from, to) = (self.points[halvings].n_rows(), self.points[0].n_rows());
            let at_most = gain.interval[1].min(left_to_gain).max(0.0);
            Outlook { method, from, to, gain, at_most, more_rows: MoreRows::after(&gain, at_most) }
        };
        let last = after(1);
        if last.more_rows != MoreRows::Unclear || self.points.len() < 3 || self.points[2].refused[m] {
            return last;
        }
        match after(2) {
            two if two.more_rows == MoreRows::Help => Outlook { more_rows: MoreRows::MayHelp, ..two },
            _ => last,
        }
    }
}

impl CurvePoint {
    fn add(&mut self, counts: &[u64], result: &TrialResult, held_out: &WeightedSubset) {
        let trial = CorrectCounts::new(result, held_out);
        self.n_trials += 1.0;
        self.n_training += counts.iter().map(|count| *count as f64).sum::<f64>();
        self.n_held_out += trial.rows();
        self.correct.iter_mut().enumerate().for_each(|(m, correct)| *correct += trial.correct(m));
        result.refused.iter().for_each(|(m, _)| self.refused[*m] = true);
    }

    fn n_rows(&self) -> u64 {
        (self.n_training / self.n_trials.max(1.0)).round() as u64
    }

    /// The 95 % interval of the accuracy. Rows that all trials share count once.
    fn interval(&self, m: usize, is_same_rows: bool) -> [f64; 2] {
        let times = if is_same_rows { self.n_trials.max(1.0) } else { 1.0 };
        clopper_pearson(self.correct[m] / times, self.n_held_out / times)
    }

    fn accuracy(&self, m: usize) -> Option<f64> {
        (!self.refused[m] && self.n_held_out > 0.0).then(|| self.correct[m] / self.n_held_out)
    }
}

/// One method after two fits.
fn paired(m: usize, first: &TrialResult, second: &TrialResult, held_out: &WeightedSubset) -> PairedCounts {
    let mut paired = PairedCounts::default();
    for &(cell, [count, _]) in held_out {
        let (a, b) = (first.correct[cell] >> m & 1, second.correct[cell] >> m & 1);
        paired.rows += count;
        paired.first += if a > b { count } else { 0.0 };
        paired.second += if b > a { count } else { 0.0 };
    }
    paired
}

impl MoreRows {
    fn after(gain: &Difference, at_most: f64) -> Self {
        let is_gain = gain.interval[0] > 0.0 && gain.is_beyond_noise;
        let is_nearly_perfect = at_most < gain.interval[1];
        if at_most <= LITTLE && (is_nearly_perfect || !is_gain) {
            Self::DoLittle
        } else if is_gain {
            Self::Help
        } else {
            Self::Unclear
        }
    }
}

impl fmt::Display for Outlook {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, from, to, gain, at_most, more_rows } = self;
        let [by, low, high] = gain.points();
        let gained =
            format_args!("from {from} to {to} rows {method} gained {by:.1} points ({low:.1} .. {high:.1})");
        match more_rows {
            MoreRows::Help => write!(out, "More labelled rows would probably help: {gained}."),
            MoreRows::MayHelp => write!(out, "More labelled rows may help: {gained}."),
            MoreRows::DoLittle => {
                // Rounded up, so that it is never 0.0.
                let at_most = (at_most * 1000.0).ceil().max(1.0) / 10.0;
                write!(
                    out,
                    "More labelled rows would gain {method} at most about {at_most:.1} points per doubling."
                )
            }
            MoreRows::Unclear => write!(
                out,
                "The curve of {method} is too noisy at {to} rows to show whether more would help \
                 (from {from} to {to}: {by:+.1} points, {low:.1} .. {high:.1})."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_halved_down_to_ten() {
        assert_eq!([19, 20, 79, 80, 159, 160, 1 << 40].map(halvings), [0, 1, 2, 3, 3, 4, 4]);
    }

    #[test]
    fn a_gain_is_counted_row_by_row() {
        let result = |correct: [u64; 3]| TrialResult { correct: correct.to_vec(), refused: Vec::new() };
        let found = paired(
            1,
            &result([0b10, 0b11, 0b01]),
            &result([0b01, 0b10, 0b11]),
            &[(0, 5.0), (1, 7.0), (2, 9.0)].map(|(cell, count)| (cell, [count; 2])).to_vec(),
        );
        assert_eq!(found, PairedCounts { rows: 21.0, first: 5.0, second: 9.0 });
    }

    #[test]
    fn conclusions_from_a_gain() {
        let after = |first: f64, second: f64, rows: f64| {
            let gain = Difference::on_test(&[PairedCounts { rows, first, second }], 1);
            MoreRows::after(&gain, gain.interval[1])
        };
        assert_eq!(after(60.0, 20.0, 1000.0), MoreRows::Help);
        assert_eq!(after(21.0, 20.0, 100.0), MoreRows::Unclear);
        assert_eq!(after(2000.0, 2000.0, 100_000.0), MoreRows::DoLittle);
        // A small gain that is certain: a further one would help as little, but would help.
        assert_eq!(after(2400.0, 2000.0, 100_000.0), MoreRows::Help);
    }

    /// The curve of one method whose accuracy on 1000 rows rises by these gains, the last doubling first.
    fn builder(gains: [f64; 2]) -> CurveBuilder {
        let mut builder = CurveBuilder::new(1, 2);
        builder.points.iter_mut().zip([400.0, 200.0, 100.0]).for_each(|(point, n)| {
            (point.n_trials, point.n_training, point.n_held_out) = (1.0, n, 1000.0);
        });
        let paired = |gain: f64| PairedCounts { rows: 1000.0, first: 50.0 + gain, second: 50.0 };
        builder.gains[0][0].push(paired(gains[0]));
        builder.gains[1][0].push(paired(gains[0] + gains[1]));
        builder
    }

    #[test]
    fn where_one_doubling_is_inconclusive_two_may_be_conclusive() {
        let outlook = |gains| builder(gains).outlook(0, Method::Spocc, true);
        let found = |gains| (outlook(gains).from, outlook(gains).more_rows);
        assert_eq!(found([60.0, 60.0]), (200, MoreRows::Help));
        assert_eq!(found([10.0, 60.0]), (100, MoreRows::MayHelp));
        assert_eq!(found([10.0, 0.0]), (200, MoreRows::Unclear));
    }

    #[test]
    fn an_outlook_has_a_sentence() {
        let summary = |builder: CurveBuilder| {
            builder.finish(&[(0, Method::Spocc)], true).and_then(|curve| curve.summary).expect("a curve")
        };
        assert_eq!(
            summary(builder([60.0, 60.0])),
            "More labelled rows would probably help: from 200 to 400 rows spocc gained 6.0 points (3.5 .. 8.4)."
        );
        assert_eq!(
            summary(builder([10.0, 60.0])),
            "More labelled rows may help: from 100 to 400 rows spocc gained 7.0 points (4.5 .. 9.5)."
        );
        assert_eq!(
            summary(builder([10.0, 0.0])),
            "The curve of spocc is too noisy at 400 rows to show whether more would help \
             (from 200 to 400: +1.0 points, -1.1 .. 3.1)."
        );
        let mut flat = builder([0.0, 0.0]);
        let gain = |first| PairedCounts { rows: 100_000.0, first, second: 2000.0 };
        flat.gains.iter_mut().for_each(|gains| gains[0] = vec![gain(2040.0)]);
        assert_eq!(
            summary(flat),
            "More labelled rows would gain spocc at most about 0.2 points per doubling."
        );
    }

    #[test]
    fn little_can_be_gained_where_many_rows_have_hardly_an_error() {
        // No error on 1000 rows: the error rate is below 0.37 %, whatever the last doubling gained.
        let mut perfect = builder([60.0, 60.0]);
        perfect.points[0].correct[0] = 1000.0;
        let outlook = perfect.outlook(0, Method::Spocc, true);
        assert_eq!((outlook.more_rows, (outlook.at_most * 1e4).round()), (MoreRows::DoLittle, 37.0));
        // No error on 30 rows: the error rate may be as high as 12 %.
        let mut few = builder([0.0, 0.0]);
        few.points.iter_mut().for_each(|point| (point.n_held_out, point.correct[0]) = (30.0, 30.0));
        few.gains
            .iter_mut()
            .for_each(|gains| gains[0] = vec![PairedCounts { rows: 30.0, first: 0.0, second: 0.0 }]);
        assert_eq!(few.outlook(0, Method::Spocc, true).more_rows, MoreRows::Unclear);
    }

    #[test]
    fn references_have_no_outlook_and_without_halvings_there_is_no_curve() {
        let curve = builder([60.0, 60.0]).finish(&[(0, Method::Majority)], true).expect("points");
        assert!(curve.outlook.is_none() && curve.n_rows == [100, 200, 400]);
        assert!(CurveBuilder::new(1, 0).finish(&[(0, Method::Spocc)], true).is_none());
    }
}
