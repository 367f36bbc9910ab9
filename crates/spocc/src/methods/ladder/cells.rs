//! The cells of a tally: a pattern of the leaves' predictions together with a truth.

use crate::evidence::{Evidence, Tally};

/// The labelled rows of one pattern and truth.
#[derive(Clone, Copy)]
pub(in crate::methods) struct PatternCell {
    pub(in crate::methods) pattern: u32,
    pub(in crate::methods) truth: u16,
    /// Number of rows, or the sum of their weights.
    pub(in crate::methods) rows: f64,
}

/// All cells with at least one prediction, and the rows of each class without any.
///
/// Rows without predictions teach nothing but the class frequencies. Their pattern is the last one of a tally, so the
/// cells returned are a prefix of the tally's cells.
pub(in crate::methods) fn pattern_cells(evidence: &Evidence, tally: &Tally) -> (Vec<PatternCell>, Vec<f64>) {
    let (mut cells, mut unanswered) = (Vec::new(), vec![0.0; evidence.n_classes()]);
    for p in 0..tally.n_patterns() {
        let is_answered = tally.pattern(p).n_answered() > 0;
        for (truth, count) in tally.outcomes(p) {
            let rows = evidence.rows_of(count);
            if is_answered {
                cells.push(PatternCell { pattern: p as u32, truth, rows });
            } else {
                unanswered[usize::from(truth)] = rows;
            }
        }
    }
    (cells, unanswered)
}
