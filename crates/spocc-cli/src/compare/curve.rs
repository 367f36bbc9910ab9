//! Learning curve: how often the methods are right after fewer labelled rows, and whether more would help.

use std::fmt;

use serde::Serialize;
use spocc::{Error, Method};

use crate::compare::{
    cells::Cells,
    contest::{Contest, Marks},
    deal::{Part, half, mix},
    difference::{Difference, Paired},
    scores::Sheet,
};

/// Halvings of the labelled rows, if they are enough.
const HALVINGS: usize = 4;

/// Fewer labelled rows than this are no point of a curve.
const FEWEST_ROWS: u64 = 10;

/// A curve whose last doubling surely gained less than this has levelled off.
const NEXT_TO_NOTHING: f64 = 0.01;

/// Accuracy against the number of labelled rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Curve {
    /// Labelled rows, ascending.
    pub(crate) n_rows: Vec<u64>,
    /// One line per method.
    pub(crate) methods: Vec<Line>,
    /// Whether more labelled rows would help; unknown if only votes were measured.
    pub(crate) outlook: Option<Outlook>,
}

/// The curve of one method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Line {
    pub(crate) method: Method,
    /// After each number of rows; none where the method refused them.
    pub(crate) accuracies: Vec<Option<f64>>,
}

/// What the last doubling brought the best method that learns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Outlook {
    pub(crate) method: Method,
    /// Labelled rows before and after.
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) gain: Difference,
    pub(crate) more_rows: MoreRows,
}

/// What more labelled rows would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MoreRows {
    /// The last doubling gained more than noise.
    Help,
    /// It surely gained next to nothing.
    DoLittle,
    /// Neither can be said.
    Unclear,
}

/// Rows learned from and rows judged, with the marks that were given.
pub(super) struct Trial<'a> {
    pub(super) learned: &'a Cells,
    pub(super) counts: &'a [u64],
    pub(super) judged: &'a Cells,
    pub(super) part: &'a Part,
    pub(super) marks: &'a Marks,
}

/// A curve in the making.
pub(super) struct Drawing {
    /// From all rows to the fewest.
    points: Vec<Point>,
    /// For every method and trial: with all rows against half of them.
    gains: Vec<Vec<Paired>>,
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
    format!("{n_rows} labelled rows to learn from are too few to see what fewer would do")
}

impl Drawing {
    pub(super) fn new(n_methods: usize, halvings: usize) -> Self {
        let point =
            Point { right: vec![0.0; n_methods], refused: vec![false; n_methods], ..Point::default() };
        let points = if halvings == 0 { Vec::new() } else { vec![point; halvings + 1] };
        Self { points, gains: vec![Vec::new(); n_methods] }
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
            let training = trial.learned.evidence(&counts, contest.watch)?;
            let marks = contest.hold(&training, trial.judged)?;
            point.add(&counts, &marks, trial.part);
            if level == 1 {
                let gains = self.gains.iter_mut().enumerate();
                gains.for_each(|(m, gains)| gains.push(paired(m, trial.marks, &marks, trial.part)));
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
        let [.., from, to] = n_rows[..] else { return None };
        let learns =
            |&&(m, method): &&(usize, Method)| method != Method::Majority && !self.points[1].refused[m];
        let outlook = ranking.iter().find(learns).map(|&(m, method)| {
            let gain = match is_test {
                true => Difference::on_test(&self.gains[m], 1),
                false => Difference::across_folds(&self.gains[m], 1, 1),
            };
            Outlook { method, from, to, gain, more_rows: MoreRows::after(&gain) }
        });
        Some(Curve { n_rows, methods: ranking.iter().map(line).collect(), outlook })
    }
}

impl Point {
    fn add(&mut self, counts: &[u64], marks: &Marks, part: &Part) {
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

    fn accuracy(&self, m: usize) -> Option<f64> {
        (!self.refused[m] && self.judged > 0.0).then(|| self.right[m] / self.judged)
    }
}

/// One method with two lessons.
fn paired(m: usize, first: &Marks, second: &Marks, part: &Part) -> Paired {
    let mut paired = Paired::default();
    for &(cell, count) in part {
        let (a, b) = (first.right[cell] >> m & 1, second.right[cell] >> m & 1);
        paired.rows += count as f64;
        paired.first += if a > b { count as f64 } else { 0.0 };
        paired.second += if b > a { count as f64 } else { 0.0 };
    }
    paired
}

impl MoreRows {
    fn after(gain: &Difference) -> Self {
        match gain.interval {
            [low, _] if low > 0.0 && gain.is_beyond_noise => Self::Help,
            [_, high] if high < NEXT_TO_NOTHING => Self::DoLittle,
            _ => Self::Unclear,
        }
    }
}

impl fmt::Display for Outlook {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, from, to, gain, more_rows } = self;
        let [low, high] = gain.interval.map(|share| share * 100.0);
        write!(out, "From {from} to {to} labelled rows {method} gained {:.1} points", gain.by * 100.0)?;
        write!(out, " ({low:.1} .. {high:.1}): ")?;
        out.write_str(match more_rows {
            MoreRows::Help => "more labelled rows would help.",
            MoreRows::DoLittle => "it has levelled off.",
            MoreRows::Unclear => "no sure sign that more labelled rows would help.",
        })
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
        let found =
            paired(1, &marks([0b10, 0b11, 0b01]), &marks([0b01, 0b10, 0b11]), &vec![(0, 5), (1, 7), (2, 9)]);
        assert_eq!(found, Paired { rows: 21.0, first: 5.0, second: 9.0 });
    }

    #[test]
    fn what_a_gain_foretells() {
        let after = |first: f64, second: f64, rows: f64| {
            MoreRows::after(&Difference::on_test(&[Paired { rows, first, second }], 1))
        };
        assert_eq!(after(60.0, 20.0, 1000.0), MoreRows::Help);
        assert_eq!(after(21.0, 20.0, 100.0), MoreRows::Unclear);
        assert_eq!(after(2100.0, 2000.0, 100_000.0), MoreRows::DoLittle);
        assert_eq!(after(0.0, 3.0, 1000.0), MoreRows::DoLittle);
    }
}
