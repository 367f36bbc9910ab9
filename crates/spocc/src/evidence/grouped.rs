//! The tally as a table: every pattern with every truth, and its count.

use crate::{
    data::{LabelMatrix, Predictions, Truth},
    error::Error,
    evidence::{Evidence, Level},
};

/// Distinct rows with their counts, as by SQL's `GROUP BY`. Counting this table with its counts and weights gives the
/// same tally.
///
/// ```
/// use spocc::{Evidence, Predictions, Truth};
/// let mut rows = Predictions::builder(["ann", "bob"])?;
/// for predictions in [["cat", "dog"], ["dog", "dog"], ["cat", "dog"]] {
///     rows.push(predictions.map(Some))?;
/// }
/// let truth = Truth::new(["cat", "dog", "cat"].map(Some))?;
/// let grouped = Evidence::new(&rows.finish(), &truth)?.grouped()?;
/// assert_eq!(grouped.counts, [2, 1]);
/// # Ok::<(), spocc::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GroupedRows {
    /// The patterns, in ascending order; one with several truths occurs once for each, and once more for a fraction of
    /// a row.
    pub predictions: Predictions,
    /// The truth of each.
    pub truth: Truth,
    /// The count of each.
    pub counts: Vec<u64>,
    /// The weight of each of these rows: 1, or the fraction of a row that remains of a sum of weights.
    pub weights: Vec<f64>,
}

impl Evidence {
    /// The distinct rows of a tally.
    ///
    /// # Errors
    ///
    /// [`Error::LevelTooLow`] without a tally.
    pub fn grouped(&self) -> Result<GroupedRows, Error> {
        self.require("a table of patterns", Level::Tally)?;
        let tally = self.tally_for("a table of patterns")?;
        let mut patterns = LabelMatrix::empty(self.n_classifiers());
        let (mut truths, mut counts, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for (row, class, count) in tally.cells() {
            let (whole, rest) = (count / self.unit(), count % self.unit());
            for (rows, weight) in [(whole, 1.0), (1, self.rows_of(rest))] {
                if rows > 0 && weight > 0.0 {
                    patterns.push(row);
                    truths.push(class);
                    counts.push(rows);
                    weights.push(weight);
                }
            }
        }
        let (names, labels) = (self.classifiers.clone(), self.labels.all().to_vec());
        let predictions = match self.labels.normalise() {
            Some(form) => Predictions::of_candidates(names, labels, patterns.settled(), form),
            None => Predictions::from_matrix(names, labels, patterns.settled()),
        };
        let truth = Truth::from_ids(self.labels.classes().to_vec(), truths)?;
        Ok(GroupedRows { predictions, truth, counts, weights })
    }
}
