//! The number of correct decisions at every point of a grid, without evaluating every point on every case.
//!
//! In: validation cases and a family of fusions whose surprisals decrease along the grid. Out: a count per point.

use std::ops::Range;

use crate::{
    decision::first_best,
    error::Error,
    fusion::{Fusion, FusionScratch},
    parallel,
    progress::Control,
    tuning::ValidationCases,
};

/// A family of fusions, one per point of a grid.
///
/// Surprisals must not increase along the grid, for any class. Then a case with the same clear decision at two points has
/// it at all points in between, and a few evaluations are enough for the whole grid.
pub(crate) trait Sweep: Sync {
    /// The data of one point of the grid, made once for all cases.
    type Point: Sync;

    /// Number of points of the grid.
    fn len(&self) -> usize;

    /// Prepares the evaluation of `n_cases` cases at a point.
    fn point(&self, at: usize, n_cases: usize) -> Self::Point;

    /// Surprisal of every class, case after case.
    fn evaluate(&self, point: &Self::Point, cases: &[u32], out: &mut [f64]);

    /// Whether [`floor`](Self::floor) is implemented.
    const HAS_FLOOR: bool = false;

    /// Lower bounds of the surprisals at all points.
    fn floor(&self, cases: &[u32], out: &mut [f64]) {
        let _ = (cases, out);
    }
}

/// A fusion tree for each point of the grid.
pub(crate) struct Trees<'a, F> {
    validation: &'a ValidationCases<'a>,
    n_points: usize,
    make: F,
}

impl<'a, F: Fn(usize) -> Fusion + Sync> Trees<'a, F> {
    pub(crate) fn new(validation: &'a ValidationCases<'a>, n_points: usize, make: F) -> Self {
        Self { validation, n_points, make }
    }
}

impl<F: Fn(usize) -> Fusion + Sync> Sweep for Trees<'_, F> {
    type Point = Fusion;

    fn len(&self) -> usize {
        self.n_points
    }

    fn point(&self, at: usize, _n_cases: usize) -> Fusion {
        (self.make)(at)
    }

    fn evaluate(&self, fusion: &Fusion, cases: &[u32], out: &mut [f64]) {
        let (mut scratch, mut surprisals) = (FusionScratch::default(), Vec::new());
        for (&case, out) in cases.iter().zip(out.chunks_mut(self.validation.n_classes.max(1))) {
            self.validation.evaluate(fusion, case, &mut scratch, &mut surprisals);
            out.copy_from_slice(&surprisals);
        }
    }
}

/// A surprisal that is larger by this factor is larger whatever the rounding.
const CLEAR: f64 = 1.0 + 1e-9;

/// Cases evaluated by one thread at a time, so that their surprisals stay in its cache.
pub(super) const CHUNK: usize = 128;

/// Number of correct rows at each point of the grid; ties go to the first class.
pub(crate) fn sweep<S: Sweep>(
    validation: &ValidationCases<'_>,
    grid: &S,
    stage: &'static str,
    control: &Control<'_>,
) -> Result<Vec<u64>, Error> {
    /// Surprisals in memory for one point.
    const VALUES: usize = 1 << 21;
    let mut bisection =
        Bisection { validation, grid, stage, control, changes: vec![0; grid.len() + 1], done: 0.0 };
    let block = (VALUES / validation.n_classes.max(1)).max(CHUNK) as u32;
    let n = validation.n_cases() as u32;
    let mut start = 0;
    while start < n {
        let end = n.min(start.saturating_add(block));
        bisection.block(start..end)?;
        start = end;
    }
    let mut running = 0u64;
    let add = |change: &u64| {
        running = running.wrapping_add(*change);
        running
    };
    Ok(bisection.changes[..grid.len()].iter().map(add).collect())
}

struct Bisection<'a, S: Sweep> {
    validation: &'a ValidationCases<'a>,
    grid: &'a S,
    stage: &'static str,
    control: &'a Control<'a>,
    /// Differences of the numbers of correct rows from point to point, modulo 2^64.
    changes: Vec<u64>,
    /// Decided cases times points of the grid.
    done: f64,
}

/// Cases that are not yet decided between two points of the grid, with their surprisals at both.
struct UndecidedSpan {
    points: [usize; 2],
    cases: Vec<u32>,
    low: Vec<f64>,
    high: Vec<f64>,
}

/// The evaluation of some cases at the first point.
#[derive(Default)]
struct FirstPoint {
    /// Rows that are correct at all points.
    settled: u64,
    /// Rows that are correct at the first point, of cases that are not settled.
    first: u64,
    /// The cases that are not settled, and their surprisals at the first point.
    cases: Vec<u32>,
    low: Vec<f64>,
}

impl<S: Sweep> Bisection<'_, S> {
    fn block(&mut self, cases: Range<u32>) -> Result<(), Error> {
        let (first, last) = (cases.start, self.grid.len() - 1);
        self.report()?;
        let point = self.grid.point(0, cases.len());
        let parts = parallel::map_ranges(cases.len(), 16 * CHUNK, |range| {
            let cases: Vec<u32> = (first + range.start as u32..first + range.end as u32).collect();
            self.decide_first(&point, &cases)
        });
        let mut open =
            UndecidedSpan { points: [0, last], cases: Vec::new(), low: Vec::new(), high: Vec::new() };
        for part in parts {
            self.change([0, last], part.settled);
            self.change([0, 0], part.first);
            open.cases.extend(part.cases);
            open.low.extend(part.low);
        }
        self.done += (cases.len() - open.cases.len()) as f64 * self.grid.len() as f64;
        if last == 0 {
            return Ok(());
        }
        open.high = self.evaluate(last, &open.cases)?;
        let mut spans = vec![open];
        while let Some(span) = spans.pop() {
            self.divide(&span, &mut spans)?;
        }
        Ok(())
    }

    /// Decides cases at the first point, and those with the same decision down to the floor at all points.
    fn decide_first(&self, point: &S::Point, cases: &[u32]) -> FirstPoint {
        let l = self.validation.n_classes.max(1);
        let mut decided = FirstPoint::default();
        let mut buffers = [vec![0.0; CHUNK * l], vec![0.0; CHUNK * l]];
        for cases in cases.chunks(CHUNK) {
            let [low, floor] = buffers.each_mut().map(|buffer| &mut buffer[..cases.len() * l]);
            low.fill(0.0);
            self.grid.evaluate(point, cases, low);
            if S::HAS_FLOOR && self.grid.len() > 1 {
                floor.fill(0.0);
                self.grid.floor(cases, floor);
            }
            for (&case, (low, floor)) in cases.iter().zip(low.chunks(l).zip(floor.chunks(l))) {
                let class = first_best(low);
                let count = self.validation.count(case as usize, class);
                if self.grid.len() == 1 || S::HAS_FLOOR && is_settled(low, floor, class) {
                    decided.settled += count;
                } else {
                    decided.first += count;
                    decided.cases.push(case);
                    decided.low.extend_from_slice(low);
                }
            }
        }
        decided
    }

    /// Decides the clear cases of a span, and evaluates the others in its middle.
    fn divide(&mut self, span: &UndecidedSpan, spans: &mut Vec<UndecidedSpan>) -> Result<(), Error> {
        let l = self.validation.n_classes.max(1);
        let [from, to] = span.points;
        let (mut cases, mut lows, mut highs) = (Vec::new(), Vec::new(), Vec::new());
        for (&case, (low, high)) in span.cases.iter().zip(span.low.chunks(l).zip(span.high.chunks(l))) {
            if to - from == 1 || is_settled(low, high, first_best(low)) {
                self.decide(case, [from + 1, to], first_best(high));
            } else {
                cases.push(case);
                lows.extend_from_slice(low);
                highs.extend_from_slice(high);
            }
        }
        if !cases.is_empty() {
            let middle = usize::midpoint(from, to);
            let values = self.evaluate(middle, &cases)?;
            spans.push(UndecidedSpan {
                points: [from, middle],
                cases: cases.clone(),
                low: lows,
                high: values.clone(),
            });
            spans.push(UndecidedSpan { points: [middle, to], cases, low: values, high: highs });
        }
        Ok(())
    }

    /// Surprisals of some cases at a point.
    fn evaluate(&self, at: usize, cases: &[u32]) -> Result<Vec<f64>, Error> {
        self.report()?;
        let l = self.validation.n_classes.max(1);
        let mut out = vec![0.0; cases.len() * l];
        if !cases.is_empty() {
            let point = self.grid.point(at, cases.len());
            parallel::fill(&mut out, CHUNK * l, |start, out| {
                let cases = &cases[start / l..start / l + out.len() / l];
                self.grid.evaluate(&point, cases, out);
            });
        }
        Ok(out)
    }

    fn report(&self) -> Result<(), Error> {
        let done = (self.done / self.grid.len() as f64) as usize;
        self.control.report(self.stage, done, self.validation.n_cases())
    }

    fn decide(&mut self, case: u32, [from, to]: [usize; 2], class: usize) {
        self.change([from, to], self.validation.count(case as usize, class));
        self.done += (to + 1 - from) as f64;
    }

    /// Adds `count` correct rows from one point to another.
    fn change(&mut self, [from, to]: [usize; 2], count: u64) {
        self.changes[from] = self.changes[from].wrapping_add(count);
        self.changes[to + 1] = self.changes[to + 1].wrapping_sub(count);
    }
}

/// Whether `class`, the best at the first of two points, is the best at all points between them: its larger surprisal is
/// below the smaller one of every other class, or neither of the two changes.
fn is_settled(low: &[f64], high: &[f64], class: usize) -> bool {
    let limit = low[class] * CLEAR;
    let near = high.iter().filter(|high| **high <= limit).count();
    if near <= usize::from(high[class] <= limit) {
        return true;
    }
    let still = low[class] == high[class];
    let loses = |other: usize| high[other] > limit || (still && low[other] == high[other]);
    first_best(high) == class && (0..low.len()).all(|other| other == class || loses(other))
}
