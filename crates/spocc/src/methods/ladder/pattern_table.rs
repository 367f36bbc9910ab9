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
    pub(in crate::methods) tally: Tally,
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

/// The strength of the shrinkage with the best log score on held-out rows; none unless a table gains [`MIN_GAIN`].
pub(super) fn select(held_out: &OutOfFold, pool: &Pool, n_classes: usize) -> Option<f64> {
    let mut logs = vec![0.0; n_classes];
    let mut gains = [0.0; SHRINKAGE_GRID.len()];
    for case in &held_out.cases {
        let (truth, total) = (usize::from(case.truth), case.pattern_rows.iter().sum::<f64>());
        if total == 0.0 {
            continue;
        }
        pool.log_probabilities(case, &mut logs);
        let (probability, rows) = (exp(logs[truth]), case.pattern_rows[truth]);
        for (gain, t) in gains.iter_mut().zip(SHRINKAGE_GRID) {
            *gain += case.rows * (ln((rows + t * probability) / (total + t)) - logs[truth]);
        }
    }
    // Of equal ones the first, which is shrunk most.
    let best = (1..gains.len()).fold(0, |best, at| if gains[at] > gains[best] { at } else { best });
    (gains[best] > MIN_GAIN * held_out.share).then(|| SHRINKAGE_GRID[best])
}
