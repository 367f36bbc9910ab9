//! Rung 3, the pattern table: what was true when exactly this was said, `(N(y) + t p(y)) / (N + t)`.
//!
//! Patterns that recur speak for themselves, whatever the rungs below make of them; rare ones are left to those.

use serde::{Deserialize, Serialize};

use crate::{
    data::Row,
    error::Error,
    evidence::Tally,
    math::{exp, ln},
};

/// How many rows of the rungs below stand beside those of a pattern, the most first; before them comes no table.
pub(super) const PULLS: [f64; 8] = [128.0, 64.0, 32.0, 16.0, 8.0, 4.0, 2.0, 1.0];

/// The table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Patterns {
    pub(super) pull: f64,
    /// What one row counts.
    unit: f64,
    tally: Tally,
}

impl Patterns {
    pub(super) fn new(pull: f64, unit: u64, tally: &Tally) -> Self {
        Self { pull, unit: unit as f64, tally: tally.clone() }
    }

    /// Mends logarithms of probabilities by what was true of a pattern of the leaves' answers.
    pub(super) fn mend(&self, row: Row<'_>, logs: &mut [f64]) {
        let Some(p) = self.tally.find(row) else { return };
        let rows: f64 = self.tally.outcomes(p).map(|(_, count)| count as f64 / self.unit).sum();
        let share = self.pull / (rows + self.pull);
        logs.iter_mut().for_each(|log| *log += ln(share));
        for (class, count) in self.tally.outcomes(p) {
            let log = &mut logs[usize::from(class)];
            *log = ln(exp(*log) + count as f64 / self.unit / (rows + self.pull));
        }
    }

    pub(super) fn check(&self, [n_leaves, s, l]: [usize; 3]) -> Result<(), Error> {
        let is_number = |number: f64| number >= 1.0 && number.is_finite();
        if !is_number(self.pull) || !is_number(self.unit) {
            return Err(Error::Inconsistent {
                expected: "a table with a pull and a unit from 1",
                found: format!("{} and {}", self.pull, self.unit),
            });
        }
        self.tally.check(n_leaves, s, l)
    }
}
