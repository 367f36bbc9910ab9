//! The pattern table: the truths of exactly this pattern, shrunk towards the pool, `(N(y) + t p(y)) / (N + t)`.
//!
//! Patterns that recur often are decided by their own counts, rare ones by the pool.

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    error::Error,
    evidence::Tally,
    math::{exp, ln},
    methods::ladder::{out_of_fold::OutOfFold, pool::Pool},
};

/// Strengths t of the shrinkage, in pseudo-rows, the strongest first.
const SHRINKAGE_GRID: [f64; 8] = [128.0, 64.0, 32.0, 16.0, 8.0, 4.0, 2.0, 1.0];

/// Held-out log score that a pattern table must gain, in nats.
const MIN_GAIN: f64 = 2.0;

/// The counts of every pattern of the leaves' predictions (a behaviour-knowledge space).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::methods) struct PatternTable {
    /// The strength t.
    pub(in crate::methods) shrinkage: f64,
    /// Counts per row.
    unit: f64,
    tally: Tally,
}

impl PatternTable {
    pub(super) fn new(shrinkage: f64, unit: u64, tally: &Tally) -> Self {
        Self { shrinkage, unit: unit as f64, tally: tally.clone() }
    }

    /// Updates log probabilities by the counts of a pattern; a pattern without counts changes nothing.
    pub(in crate::methods) fn apply(&self, pattern: Row<'_>, logs: &mut [f64]) {
        let Some(p) = self.tally.find(pattern) else { return };
        let rows: f64 = self.tally.outcomes(p).map(|(_, count)| count as f64 / self.unit).sum();
        let share = self.shrinkage / (rows + self.shrinkage);
        logs.iter_mut().for_each(|log| *log += ln(share));
        for (class, count) in self.tally.outcomes(p) {
            let log = &mut logs[usize::from(class)];
            *log = ln(exp(*log) + count as f64 / self.unit / (rows + self.shrinkage));
        }
    }

    pub(in crate::methods) fn check(&self, [n_leaves, s, l]: [usize; 3]) -> Result<(), Error> {
        let is_valid = |number: f64| number >= 1.0 && number.is_finite();
        if !is_valid(self.shrinkage) || !is_valid(self.unit) {
            return Err(Error::Inconsistent {
                expected: "a pattern table with a shrinkage and a unit of at least 1",
                found: format!("{} and {}", self.shrinkage, self.unit),
            });
        }
        self.tally.check(n_leaves, s, l)
    }
}

/// What held-out rows say about the pool and about a pattern table on top of it.
pub(super) struct PatternSelection {
    /// The strength of the table; none if it does not pay.
    pub(super) shrinkage: Option<f64>,
    /// Held-out rows, and those that are decided correctly.
    pub(super) held_out: [f64; 2],
}

/// Chooses the strength of the shrinkage by the log score of held-out rows; a table must gain [`MIN_GAIN`].
pub(super) fn select(held_out: &OutOfFold, pool: &Pool, n_classes: usize) -> PatternSelection {
    let mut logs = vec![0.0; n_classes];
    // Log score and rows decided correctly, without a table and with each.
    let mut sums = [[0.0; 2]; 1 + SHRINKAGE_GRID.len()];
    let mut n_rows = 0.0;
    for case in &held_out.cases {
        pool.log_probabilities(case, &mut logs);
        let others = &case.pattern_rows;
        let truth = usize::from(case.truth);
        let total: f64 = others.iter().sum();
        n_rows += case.rows;
        let probabilities: Vec<f64> = logs.iter().map(|&log| exp(log)).collect();
        for (at, sum) in sums.iter_mut().enumerate() {
            let pooled: Vec<f64> = match at.checked_sub(1) {
                None => probabilities.clone(),
                Some(at) => {
                    let t = SHRINKAGE_GRID[at];
                    let shrunk = |(rows, p): (&f64, &f64)| (rows + t * p) / (total + t);
                    others.iter().zip(&probabilities).map(shrunk).collect()
                }
            };
            sum[0] += case.rows * ln(pooled[truth].max(f64::MIN_POSITIVE));
            let decided = (1..n_classes).fold(0, |best, i| if pooled[i] > pooled[best] { i } else { best });
            sum[1] += if decided == truth { case.rows } else { 0.0 };
        }
    }
    let gain = |at: usize| sums[at][0] - if at == 0 { 0.0 } else { MIN_GAIN * held_out.share };
    let best = (1..sums.len()).fold(0, |best, at| if gain(at) > gain(best) { at } else { best });
    PatternSelection {
        shrinkage: best.checked_sub(1).map(|at| SHRINKAGE_GRID[at]),
        held_out: [n_rows, sums[best][1]],
    }
}
