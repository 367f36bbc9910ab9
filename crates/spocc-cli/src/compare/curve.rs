//! Learning curve: the accuracy of the methods after fewer labelled rows, and whether more would help.

use std::fmt;

use serde::Serialize;
use spocc::{Error, Method};

use crate::compare::{
    REFERENCES,
    contest::{Contest, Marks},
    deal::{Weighed, half, mix},
    difference::{Difference, Paired},
    measure::Trial,
    scores::Sheet,
};

/// Halvings of the labelled rows, if they are enough.
const HALVINGS: usize = 4;

/// Fewer labelled rows than this are no point of a curve.
const FEWEST_ROWS: u64 = 10;

/// A gain of at most this much is little: one point.
const LITTLE: f64 = 0.01;

/// Accuracy against the number of labelled rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Curve {
    /// Labelled rows, ascending.
    pub(crate) n_rows: Vec<u64>,
    /// One line per method.
    pub(crate) methods: Vec<Line>,
    /// Whether more labelled rows would help; unknown if only the references were measured.
    pub(crate) outlook: Option<Outlook>,
    /// The outlook in a sentence.
    pub(crate) summary: Option<String>,
}

/// The curve of one method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Line {
    pub(crate) method: Method,
    /// After each number of rows; none where the method refused them.
    pub(crate) accuracies: Vec<Option<f64>>,
}

/// What the last doubling, or the last two, brought the best method but the references.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Outlook {
    pub(crate) method: Method,
    /// Labelled rows before and after.
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) gain: Difference,
    /// The most that a further doubling would gain: the upper end of the interval of the last gain, or what is left
    /// to gain if that is less.
    pub(crate) at_most: f64,
    pub(crate) more_rows: MoreRows,
}

/// What more labelled rows would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MoreRows {
    /// The interval of the last gain is above 0.
    Help,
    /// That of the last two doublings together is.
    MayHelp,
    /// A further doubling would gain at most a point.
    DoLittle,
    /// The interval holds 0 and more than a point.
    Unclear,
}

/// A curve in the making.
pub(super) struct Drawing {
    /// From all rows to the fewest.
    points: Vec<Point>,
    /// For every method and trial: with all rows against half of them, and against a quarter.
    gains: [Vec<Vec<Paired>>; 2],
}

#[derive(Clone, Default)]
struct Point {
    trials: f64,
    learned: f64,
    judged: f64,
    right: Vec<f64>,
    refused: Vec<bool>,
}

/// How often `n_rows` labelled rows can be halved.
pub(super) fn halvings(n_rows: u64) -> usize {
    (1..=HALVINGS).take_while(|times| n_rows >> times >= FEWEST_ROWS).count()
}

/// Why there is no curve.
pub(super) fn too_few_rows(n_rows: u64) -> String {
    let (rows, are) = if n_rows == 1 { ("row", "is") } else { ("rows", "are") };
    format!("{n_rows} labelled {rows} to fit to {are} too few to be halved")
}

impl Drawing {
    pub(super) fn new(n_methods: usize, halvings: usize) -> Self {
        let point =
            Point { right: vec![0.0; n_methods], refused: vec![false; n_methods], ..Point::default() };
        let points = if halvings == 0 { Vec::new() } else { vec![point; halvings + 1] };
        Self { points, gains: [(); 2].map(|()| vec![Vec::new(); n_methods]) }
    }

    /// Adds a trial: halves its labelled rows again and again, and lets everyone learn from what is left.
    ///
    /// # Errors
    ///
    /// As [`Contest::hold`].
    pub(super) fn add(
        &mut self,
        contest: &mut Contest<'_>,
        trial: &Trial<'_>,
        salt: u64,
    ) -> Result<(), Error> {
        let mut counts = trial.counts.to_vec();
        for (level, point) in self.points.iter_mut().enumerate() {
            if level == 0 {
                point.add(&counts, trial.marks, trial.part);
                continue;
            }
            counts = half(&trial.learned.keys, &counts, mix(salt, level as u64));
            let training = trial.learned.evidence(&counts, contest.control)?;
            let marks = contest.hold(&training, trial.judged, None)?;
            point.add(&counts, &marks, trial.part);
            for (m, gains) in self.gains.get_mut(level - 1).into_iter().flatten().enumerate() {
                gains.push(paired(m, trial.marks, &marks, trial.part));
            }
        }
        Ok(())
    }

    /// The curves of these methods, the best first, each with the number of its bit.
    pub(super) fn finish(&self, ranking: &[(usize, Method)], is_test: bool) -> Option<Curve> {
        let n_rows: Vec<u64> = self.points.iter().rev().map(Point::n_rows).collect();
        let line = |&(m, method): &(usize, Method)| Line {
            method,
            accuracies: self.points.iter().rev().map(|point| point.accuracy(m)).collect(),
        };
        if n_rows.is_empty() {
            return None;
        }
        // Votes learn nothing, and who is best is soon known: neither tells what labels are worth.
        let learns =
            |&&(m, method): &&(usize, Method)| !REFERENCES.contains(&method) && !self.points[1].refused[m];
        let outlook = ranking.iter().find(learns).map(|&(m, method)| self.outlook(m, method, is_test));
        let summary = outlook.as_ref().map(ToString::to_string);
        Some(Curve { n_rows, methods: ranking.iter().map(line).collect(), outlook, summary })
    }

    /// The last doubling if it tells something, else the last two if they do.
    fn outlook(&self, m: usize, method: Method, is_test: bool) -> Outlook {
        // Every trial is evaluated on the same test rows, but every fold on rows of its own.
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

impl Point {
    fn add(&mut self, counts: &[u64], marks: &Marks, part: &Weighed) {
        let sheet = Sheet::new(marks, part);
        self.trials += 1.0;
        self.learned += counts.iter().map(|count| *count as f64).sum::<f64>();
        self.judged += sheet.rows();
        self.right.iter_mut().enumerate().for_each(|(m, right)| *right += sheet.right(m));
        marks.refused.iter().for_each(|(m, _)| self.refused[*m] = true);
    }

    fn n_rows(&self) -> u64 {
        (self.learned / self.trials.max(1.0)).round() as u64
    }

    /// The 95 % interval of the accuracy; rows that are the same in all trials count once.
    fn interval(&self, m: usize, is_same_rows: bool) -> [f64; 2] {
        let times = if is_same_rows { self.trials.max(1.0) } else { 1.0 };
        spocc::audit::clopper_pearson(self.right[m] / times, self.judged / times)
    }

    fn accuracy(&self, m: usize) -> Option<f64> {
        (!self.refused[m] && self.judged > 0.0).then(|| self.right[m] / self.judged)
    }
}

/// One method with two lessons.
fn paired(m: usize, first: &Marks, second: &Marks, part: &Weighed) -> Paired {
    let mut paired = Paired::default();
    for &(cell, [count, _]) in part {
        let (a, b) = (first.right[cell] >> m & 1, second.right[cell] >> m & 1);
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
                "The curve of {method} is too noisy to tell at {to} rows whether more would help \
                 (from {from} to {to}: {by:+.1} points, {low:.1} .. {high:.1})."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_halved_while_ten_are_left() {
        assert_eq!([19, 20, 79, 80, 159, 160, 1 << 40].map(halvings), [0, 1, 2, 3, 3, 4, 4]);
    }

    #[test]
    fn a_gain_is_counted_row_by_row() {
        let marks = |right: [u64; 3]| Marks { right: right.to_vec(), refused: Vec::new() };
        let found = paired(
            1,
            &marks([0b10, 0b11, 0b01]),
            &marks([0b01, 0b10, 0b11]),
            &[(0, 5.0), (1, 7.0), (2, 9.0)].map(|(cell, count)| (cell, [count; 2])).to_vec(),
        );
        assert_eq!(found, Paired { rows: 21.0, first: 5.0, second: 9.0 });
    }

    #[test]
    fn what_a_gain_foretells() {
        let after = |first: f64, second: f64, rows: f64| {
            let gain = Difference::on_test(&[Paired { rows, first, second }], 1);
            MoreRows::after(&gain, gain.interval[1])
        };
        assert_eq!(after(60.0, 20.0, 1000.0), MoreRows::Help);
        assert_eq!(after(21.0, 20.0, 100.0), MoreRows::Unclear);
        assert_eq!(after(2000.0, 2000.0, 100_000.0), MoreRows::DoLittle);
        // A small gain that is certain: a further one would help as little, but would help.
        assert_eq!(after(2400.0, 2000.0, 100_000.0), MoreRows::Help);
    }

    /// A drawing of one method whose accuracy on 1000 rows rises by these gains, the last doubling first.
    fn drawing(gains: [f64; 2]) -> Drawing {
        let mut drawing = Drawing::new(1, 2);
        drawing.points.iter_mut().zip([400.0, 200.0, 100.0]).for_each(|(point, n)| {
            (point.trials, point.learned, point.judged) = (1.0, n, 1000.0);
        });
        let paired = |gain: f64| Paired { rows: 1000.0, first: 50.0 + gain, second: 50.0 };
        drawing.gains[0][0].push(paired(gains[0]));
        drawing.gains[1][0].push(paired(gains[0] + gains[1]));
        drawing
    }

    #[test]
    fn where_one_doubling_does_not_tell_two_may() {
        let outlook = |gains| drawing(gains).outlook(0, Method::Spocc, true);
        let found = |gains| (outlook(gains).from, outlook(gains).more_rows);
        assert_eq!(found([60.0, 60.0]), (200, MoreRows::Help));
        assert_eq!(found([10.0, 60.0]), (100, MoreRows::MayHelp));
        assert_eq!(found([10.0, 0.0]), (200, MoreRows::Unclear));
    }

    #[test]
    fn an_outlook_says_what_is_known() {
        let summary = |drawing: Drawing| {
            drawing.finish(&[(0, Method::Spocc)], true).and_then(|curve| curve.summary).expect("a curve")
        };
        assert_eq!(
            summary(drawing([60.0, 60.0])),
            "More labelled rows would probably help: from 200 to 400 rows spocc gained 6.0 points (3.5 .. 8.4)."
        );
        assert_eq!(
            summary(drawing([10.0, 60.0])),
            "More labelled rows may help: from 100 to 400 rows spocc gained 7.0 points (4.5 .. 9.5)."
        );
        assert_eq!(
            summary(drawing([10.0, 0.0])),
            "The curve of spocc is too noisy to tell at 400 rows whether more would help \
             (from 200 to 400: +1.0 points, -1.1 .. 3.1)."
        );
        let mut flat = drawing([0.0, 0.0]);
        let gain = |first| Paired { rows: 100_000.0, first, second: 2000.0 };
        flat.gains.iter_mut().for_each(|gains| gains[0] = vec![gain(2040.0)]);
        assert_eq!(
            summary(flat),
            "More labelled rows would gain spocc at most about 0.2 points per doubling."
        );
    }

    #[test]
    fn little_is_left_to_gain_where_many_rows_show_hardly_an_error() {
        // No error on 1000 rows: the error rate is below 0.37 %, whatever the last doubling gained.
        let mut perfect = drawing([60.0, 60.0]);
        perfect.points[0].right[0] = 1000.0;
        let outlook = perfect.outlook(0, Method::Spocc, true);
        assert_eq!((outlook.more_rows, (outlook.at_most * 1e4).round()), (MoreRows::DoLittle, 37.0));
        // No error on 30 rows: the error rate may be as high as 12 %.
        let mut few = drawing([0.0, 0.0]);
        few.points.iter_mut().for_each(|point| (point.judged, point.right[0]) = (30.0, 30.0));
        few.gains
            .iter_mut()
            .for_each(|gains| gains[0] = vec![Paired { rows: 30.0, first: 0.0, second: 0.0 }]);
        assert_eq!(few.outlook(0, Method::Spocc, true).more_rows, MoreRows::Unclear);
    }

    #[test]
    fn references_have_no_outlook_and_no_halving_is_no_curve() {
        let curve = drawing([60.0, 60.0]).finish(&[(0, Method::Majority)], true).expect("points");
        assert!(curve.outlook.is_none() && curve.n_rows == [100, 200, 400]);
        assert!(Drawing::new(1, 0).finish(&[(0, Method::Spocc)], true).is_none());
    }
}
