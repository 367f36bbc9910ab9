//! How many rows each value of a grid decides rightly, without trying every value on every row.

use std::ops::Range;

use crate::{
    decision::first_best,
    error::Error,
    fusion::{Fusion, FusionScratch},
    parallel,
    progress::Control,
    tuning::ValidationCases,
};

/// Something to be tried on every case at every point of a grid.
///
/// The surprisals it gives must not increase along the grid, for any class: then a case that is clear-cut
/// between two points is decided for all points in between, and a few evaluations do for the whole grid.
pub(crate) trait Sweep: Sync {
    /// What is needed at one point of the grid, made once for all cases.
    type Point: Sync;

    /// Number of points of the grid.
    fn len(&self) -> usize;

    /// Makes ready for evaluating so many cases at a point.
    fn point(&self, at: usize, n_cases: usize) -> Self::Point;

    /// Surprisal of every class, case after case.
    fn evaluate(&self, point: &Self::Point, cases: &[u32], out: &mut [f64]);

    /// Whether [`floor`](Self::floor) knows any.
    const HAS_FLOOR: bool = false;

    /// Surprisals below those of the whole grid.
    fn floor(&self, cases: &[u32], out: &mut [f64]) {
        let _ = (cases, out);
    }
}

/// A whole tree for each point of the grid.
pub(crate) struct Trees<'a, F> {
    trials: &'a ValidationCases<'a>,
    n_points: usize,
    make: F,
}

impl<'a, F: Fn(usize) -> Fusion + Sync> Trees<'a, F> {
    pub(crate) fn new(trials: &'a ValidationCases<'a>, n_points: usize, make: F) -> Self {
        Self { trials, n_points, make }
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
        for (&case, out) in cases.iter().zip(out.chunks_mut(self.trials.n_classes.max(1))) {
            self.trials.evaluate(fusion, case, &mut scratch, &mut surprisals);
            out.copy_from_slice(&surprisals);
        }
    }
}

/// What is this much larger is larger, whatever the rounding.
const CLEAR: f64 = 1.0 + 1e-9;

/// Cases evaluated by one thread at a time: their surprisals stay in its cache.
pub(super) const CHUNK: usize = 128;

/// Number of rows decided rightly at each point of the grid; ties go to the first class.
pub(crate) fn sweep<S: Sweep>(
    trials: &ValidationCases<'_>,
    grid: &S,
    stage: &'static str,
    control: &Control<'_>,
) -> Result<Vec<u64>, Error> {
    /// Surprisals held for one point.
    const VALUES: usize = 1 << 21;
    let mut bisection =
        Bisection { trials, grid, stage, control, changes: vec![0; grid.len() + 1], done: 0.0 };
    let block = (VALUES / trials.n_classes.max(1)).max(CHUNK) as u32;
    let n = trials.n_cases() as u32;
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
    trials: &'a ValidationCases<'a>,
    grid: &'a S,
    stage: &'static str,
    control: &'a Control<'a>,
    /// Differences of the numbers of right rows from point to point, modulo 2^64.
    changes: Vec<u64>,
    /// Cases decided, each in shares of the grid.
    done: f64,
}

/// Cases not yet decided between two points of the grid, with their surprisals at both.
struct Span {
    points: [usize; 2],
    cases: Vec<u32>,
    low: Vec<f64>,
    high: Vec<f64>,
}

/// What the first point says of some cases.
#[derive(Default)]
struct Opened {
    /// Rows decided rightly at all points.
    settled: u64,
    /// Rows decided rightly at the first point, of cases that are not settled.
    first: u64,
    /// These cases, and their surprisals there.
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
            self.open(&point, &cases)
        });
        let mut open = Span { points: [0, last], cases: Vec::new(), low: Vec::new(), high: Vec::new() };
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

    /// Decides cases at the first point, and those that stay as they are down to the floor at all points.
    fn open(&self, point: &S::Point, cases: &[u32]) -> Opened {
        let l = self.trials.n_classes.max(1);
        let mut opened = Opened::default();
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
                let count = self.trials.count(case as usize, class);
                if self.grid.len() == 1 || S::HAS_FLOOR && is_settled(low, floor, class) {
                    opened.settled += count;
                } else {
                    opened.first += count;
                    opened.cases.push(case);
                    opened.low.extend_from_slice(low);
                }
            }
        }
        opened
    }

    /// Decides the cases of a span that are clear-cut, and evaluates the others in its middle.
    fn divide(&mut self, span: &Span, spans: &mut Vec<Span>) -> Result<(), Error> {
        let l = self.trials.n_classes.max(1);
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
            spans.push(Span {
                points: [from, middle],
                cases: cases.clone(),
                low: lows,
                high: values.clone(),
            });
            spans.push(Span { points: [middle, to], cases, low: values, high: highs });
        }
        Ok(())
    }

    /// Surprisals of some cases at a point.
    fn evaluate(&self, at: usize, cases: &[u32]) -> Result<Vec<f64>, Error> {
        self.report()?;
        let l = self.trials.n_classes.max(1);
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
        self.control.report(self.stage, done, self.trials.n_cases())
    }

    fn decide(&mut self, case: u32, [from, to]: [usize; 2], class: usize) {
        self.change([from, to], self.trials.count(case as usize, class));
        self.done += (to + 1 - from) as f64;
    }

    /// So many more rows are decided rightly from one point to another.
    fn change(&mut self, [from, to]: [usize; 2], count: u64) {
        self.changes[from] = self.changes[from].wrapping_add(count);
        self.changes[to + 1] = self.changes[to + 1].wrapping_sub(count);
    }
}

/// Whether `class`, the best at the first of two points, wins everywhere between them: even its larger surprisal
/// is below the smaller one of every other class, or neither of the two moves.
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
