//! Stage 3, the pattern table: the truths of exactly this pattern, shrunk towards stage 2, `(N(y) + t p(y)) / (N + t)`.
//!
//! Patterns that recur often are decided by their own counts, rare ones by the stages below.

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    error::Error,
    evidence::Tally,
    math::{exp, ln},
};

/// Strengths t of the shrinkage, in pseudo-rows, the strongest first. Model selection tries no table before them.
pub(super) const SHRINKAGE_GRID: [f64; 8] = [128.0, 64.0, 32.0, 16.0, 8.0, 4.0, 2.0, 1.0];

/// The counts of every pattern of the leaves' predictions (a behaviour-knowledge space).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PatternTable {
    /// The strength t.
    pub(super) shrinkage: f64,
    /// Counts per row.
    unit: f64,
    tally: Tally,
}

impl PatternTable {
    pub(super) fn new(shrinkage: f64, unit: u64, tally: &Tally) -> Self {
        Self { shrinkage, unit: unit as f64, tally: tally.clone() }
    }

    /// Updates log probabilities by the counts of a pattern; a pattern without counts changes nothing.
    pub(super) fn apply(&self, pattern: Row<'_>, logs: &mut [f64]) {
        let Some(p) = self.tally.find(pattern) else { return };
        let rows: f64 = self.tally.outcomes(p).map(|(_, count)| count as f64 / self.unit).sum();
        let share = self.shrinkage / (rows + self.shrinkage);
        logs.iter_mut().for_each(|log| *log += ln(share));
        for (class, count) in self.tally.outcomes(p) {
            let log = &mut logs[usize::from(class)];
            *log = ln(exp(*log) + count as f64 / self.unit / (rows + self.shrinkage));
        }
    }

    pub(super) fn check(&self, [n_leaves, s, l]: [usize; 3]) -> Result<(), Error> {
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
