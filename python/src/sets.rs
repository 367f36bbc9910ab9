//! Conformal prediction sets of the rows of a table, in parts that fit into memory.

use spocc::{conformal::Coverage, predict::AlignedTable};

use crate::{error::BindingError, row_ids::RowDraws, runtime::Interrupt};

/// Scores held at a time.
const SCORES: usize = 1 << 19;

/// Calls `each` with the number of every row and the classes in its set.
pub(crate) fn for_each_set(
    aligned: &AlignedTable<'_>,
    (n_rows, n_classes): (usize, usize),
    coverage: Coverage,
    draws: &RowDraws,
    interrupt: &Interrupt,
    mut each: impl FnMut(usize, &[u16]),
) -> Result<(), BindingError> {
    let step = (SCORES / n_classes.max(1)).max(1);
    for first in (0..n_rows).step_by(step) {
        interrupt.check()?;
        let rows = first..(first + step).min(n_rows);
        let sets = aligned.sets(rows.clone(), coverage, |row| draws.of(row))?;
        rows.zip(sets.iter()).for_each(|(row, set)| each(row, set));
    }
    Ok(())
}
