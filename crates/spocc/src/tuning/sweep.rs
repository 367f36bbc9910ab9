//! How many rows each value of a grid decides rightly, without trying every value on every row.

use std::sync::OnceLock;

use crate::{
    decision::first_best,
    error::Error,
    fusion::{Fusion, Work},
    parallel,
    tuning::Trials,
    watch::Watch,
};

/// Something to be tried on every case at every point of a grid.
///
/// The surprisals it gives must not increase along the grid, for any class: then a case that is clear-cut
/// between two points is decided for all points in between, and a few evaluations do for the whole grid.
pub(crate) trait Sweep: Sync {
    /// Buffers of one thread.
    type State;

    /// Fresh buffers.
    fn state(&self) -> Self::State;

    /// Number of points of the grid.
    fn len(&self) -> usize;

    /// Prepares a case; evaluations follow.
    fn start(&self, case: usize, state: &mut Self::State);

    /// Surprisal of every class at a point of the grid.
    fn evaluate(&self, case: usize, at: usize, state: &mut Self::State, out: &mut [f64]);

    /// Surprisals below those of the whole grid, if they are cheap; says whether it gave any.
    fn floor(&self, case: usize, state: &mut Self::State, out: &mut [f64]) -> bool {
        let _ = (case, state, out);
        false
    }
}

/// A whole tree for each point of the grid, made when first asked for.
pub(crate) struct Trees<'a, F> {
    trials: &'a Trials,
    make: F,
    made: Vec<OnceLock<Fusion>>,
}

impl<'a, F: Fn(usize) -> Fusion + Sync> Trees<'a, F> {
    pub(crate) fn new(trials: &'a Trials, n_points: usize, make: F) -> Self {
        Self { trials, make, made: (0..n_points).map(|_| OnceLock::new()).collect() }
    }
}

impl<F: Fn(usize) -> Fusion + Sync> Sweep for Trees<'_, F> {
    type State = Work;

    fn state(&self) -> Work {
        Work::default()
    }

    fn len(&self) -> usize {
        self.made.len()
    }

    fn start(&self, _case: usize, _work: &mut Work) {}

    fn evaluate(&self, case: usize, at: usize, work: &mut Work, out: &mut [f64]) {
        let fusion = self.made[at].get_or_init(|| (self.make)(at));
        fusion.evaluate(self.trials.opinions(case), work);
        out.copy_from_slice(&work.out);
    }
}

/// What is this much larger is larger, whatever the rounding.
const CLEAR: f64 = 1.0 + 1e-9;

/// Number of rows decided rightly at each point of the grid; ties go to the first class.
pub(crate) fn sweep<S: Sweep>(
    trials: &Trials,
    grid: &S,
    stage: &'static str,
    watch: &Watch<'_>,
) -> Result<Vec<u64>, Error> {
    const BLOCK: usize = 1 << 18;
    let points = grid.len();
    let mut right = vec![0u64; points];
    for start in (0..trials.n_cases()).step_by(BLOCK) {
        watch.report(stage, start, trials.n_cases())?;
        let n = BLOCK.min(trials.n_cases() - start);
        let parts = parallel::map_ranges(n, n.div_ceil(4 * parallel::threads()).max(256), |range| {
            let mut bisection = Bisection {
                trials,
                grid,
                state: grid.state(),
                changes: vec![0; points + 1],
                spare: Vec::new(),
            };
            range.for_each(|case| bisection.case(start + case));
            bisection.changes
        });
        for changes in parts {
            let mut running = 0u64;
            for (right, change) in right.iter_mut().zip(changes) {
                running = running.wrapping_add(change);
                *right += running;
            }
        }
    }
    Ok(right)
}

struct Bisection<'a, S: Sweep> {
    trials: &'a Trials,
    grid: &'a S,
    state: S::State,
    /// Differences of the numbers of right rows from point to point, modulo 2^64.
    changes: Vec<u64>,
    spare: Vec<Vec<f64>>,
}

impl<S: Sweep> Bisection<'_, S> {
    fn case(&mut self, case: usize) {
        let last = self.grid.len() - 1;
        self.grid.start(case, &mut self.state);
        let mut low = self.buffer();
        self.grid.evaluate(case, 0, &mut self.state, &mut low);
        let first = first_best(&low);
        self.decide(case, 0, 0, first);
        let mut high = self.buffer();
        if last > 0 && self.grid.floor(case, &mut self.state, &mut high) && is_settled(&low, &high, first) {
            self.decide(case, 1, last, first);
        } else if last > 0 {
            self.grid.evaluate(case, last, &mut self.state, &mut high);
            self.between(case, (0, &low), (last, &high));
        }
        self.spare.extend([low, high]);
    }

    /// Decides every point after `low` up to and including `high`.
    fn between(&mut self, case: usize, low: (usize, &[f64]), high: (usize, &[f64])) {
        let class = first_best(high.1);
        if high.0 - low.0 == 1 || (class == first_best(low.1) && is_settled(low.1, high.1, class)) {
            return self.decide(case, low.0 + 1, high.0, class);
        }
        let middle = usize::midpoint(low.0, high.0);
        let mut values = self.buffer();
        self.grid.evaluate(case, middle, &mut self.state, &mut values);
        self.between(case, low, (middle, &values));
        self.between(case, (middle, &values), high);
        self.spare.push(values);
    }

    fn decide(&mut self, case: usize, from: usize, to: usize, class: usize) {
        let count = self.trials.count(case, class);
        self.changes[from] = self.changes[from].wrapping_add(count);
        self.changes[to + 1] = self.changes[to + 1].wrapping_sub(count);
    }

    fn buffer(&mut self) -> Vec<f64> {
        self.spare.pop().unwrap_or_else(|| vec![0.0; self.trials.n_classes])
    }
}

/// Whether `class` wins everywhere between two points: even its larger surprisal is below the smaller one of
/// every other class, or neither of the two moves.
fn is_settled(low: &[f64], high: &[f64], class: usize) -> bool {
    let still = low[class] == high[class];
    let limit = low[class] * CLEAR;
    let loses = |other: usize| high[other] > limit || (still && low[other] == high[other]);
    first_best(high) == class && (0..low.len()).all(|other| other == class || loses(other))
}
