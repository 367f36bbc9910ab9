//! Statistical disclosure control: which counts are so small that they identify single rows, and how to remove them.
//!
//! In: evidence that is to be shared. Out: a report of its small counts, or the same evidence without them.

use crate::{
    error::Error,
    evidence::{Confusions, Evidence, Level, Unlabelled},
    progress::Control,
};

/// The least number of rows that a count should stand for where rows are private: from fewer, others may be derived.
pub const ADVISED_MIN_COUNT: u64 = 5;

/// A report of the counts that are so small that they identify few rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct SmallCounts {
    /// Number of such counts.
    pub n_counts: u64,
    /// Sum of such counts; in marginals a row is counted once per classifier.
    pub n_rows: u64,
}

impl Evidence {
    /// The counts from 1 to below `min_count`: in a tally, of a pattern with a truth or without; in marginals, of a
    /// prediction with a truth.
    ///
    /// # Errors
    ///
    /// [`Error::Weighted`], [`Error::LevelTooLow`] for pair counts.
    pub fn small_counts(&self, min_count: u64) -> Result<SmallCounts, Error> {
        if !self.counts_rows() {
            return Err(Error::Weighted { what: "small counts" });
        }
        if self.level() == Level::Pairs {
            return Err(self.too_low("small counts", Level::Tally));
        }
        let mut small = SmallCounts::default();
        let mut add = |count: u64| {
            if count > 0 && count < min_count {
                small.n_counts += 1;
                small.n_rows += count;
            }
        };
        match &self.tally {
            Some(tally) => tally.cells().for_each(|(_, _, count)| add(count)),
            None => self.confusions.cells().iter().for_each(|cell| add(cell.count)),
        }
        self.unlabelled.iter().flat_map(Unlabelled::rows).for_each(|(_, count)| add(count));
        Ok(small)
    }

    /// The evidence without all that fewer than `min_count` rows share.
    ///
    /// From a tally, rows with a rarer pattern and truth are dropped, and rows without truth with a rarer pattern. From
    /// marginals, rarer classes are dropped, and small counts become missing predictions: so many of them, the smallest
    /// first, that the number of missing predictions of a class is not small either. The names of all classifiers stay.
    ///
    /// # Errors
    ///
    /// [`Error::Weighted`], [`Error::LevelTooLow`] for pair counts, [`Error::NoLabelledRows`] if nothing is left.
    pub fn without_rare(&self, min_count: u64, control: &Control<'_>) -> Result<Self, Error> {
        if !self.counts_rows() {
            return Err(Error::Weighted { what: "dropping rare patterns" });
        }
        let kept = match self.level() {
            Level::Tally => self.tally_without_rare(min_count)?,
            Level::Marginals => self.marginals_without_rare(min_count),
            Level::Pairs => return Err(self.too_low("dropping rare patterns", Level::Tally)),
        };
        if kept.total() == 0 && kept.unlabelled.is_none() {
            return Err(Error::NoLabelledRows);
        }
        kept.without_unseen_labels(control)
    }

    fn tally_without_rare(&self, min_count: u64) -> Result<Self, Error> {
        let tally = self.tally_for("dropping rare patterns")?;
        let unlabelled = self.unlabelled.as_ref().and_then(|rows| rows.at_least(min_count));
        let kept = self.with_tally(tally.keeping(|_, count| if count < min_count { 0 } else { count }));
        Ok(Self { unlabelled, ..kept })
    }

    fn marginals_without_rare(&self, min_count: u64) -> Self {
        let (s, l) = (self.n_labels(), self.n_classes());
        let is_small = |count: u64| count > 0 && count < min_count;
        let mut kept = self.clone();
        kept.class_counts.iter_mut().filter(|count| is_small(**count)).for_each(|count| *count = 0);
        let tables = (0..self.n_classifiers()).map(|k| {
            let mut table = self.dense_confusion(k);
            for (i, &class) in kept.class_counts.iter().enumerate() {
                let mut counts: Vec<u64> = (0..s).map(|j| table[j * l + i]).collect();
                counts.iter_mut().filter(|count| is_small(**count)).for_each(|count| *count = 0);
                hide_counts(&mut counts, class, min_count);
                counts.into_iter().enumerate().for_each(|(j, count)| table[j * l + i] = count);
            }
            Confusions::from_dense(&table, [1, s, l]).expect("one table")
        });
        let tables: Vec<Confusions> = tables.collect();
        kept.confusions = Confusions::collect(tables.iter().map(|table| table.cells().iter().copied()));
        kept
    }
}

/// Hides further counts of one class, the smallest first, until the sum of the hidden counts is not small, and not the
/// largest that so many small counts can have, which would disclose each of them.
fn hide_counts(counts: &mut [u64], class: u64, min_count: u64) {
    let mut hidden = class.saturating_sub(counts.iter().sum());
    let mut order: Vec<usize> = (0..counts.len()).filter(|&j| counts[j] > 0).collect();
    order.sort_by_key(|&j| counts[j]);
    let n_hidden = (counts.len() - order.len()) as u64;
    for (n_hidden, j) in (n_hidden..).zip(order) {
        let is_small = hidden > 0 && hidden < min_count;
        let is_full = hidden > 0 && hidden == n_hidden * min_count.saturating_sub(1);
        if class > 0 && !is_small && !is_full {
            break;
        }
        hidden += counts[j];
        counts[j] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Label, Predictions, Truth, evidence::Counting};

    fn evidence(level: Level) -> Evidence {
        let mut rows = Predictions::builder(["a", "b"]).expect("two names");
        let (mut truth, mut counts) = (Truth::default(), Vec::new());
        for (a, b, class, count) in [
            ("x", "x", "x", 6),
            ("x", "y", "x", 2),
            ("y", "y", "x", 1),
            ("y", "y", "y", 5),
            ("y", "z", "y", 1),
            ("x", "x", "z", 2),
        ] {
            rows.push([Some(a), Some(b)]).expect("two answers");
            truth.push(Some(class)).expect("few labels");
            counts.push(count);
        }
        let options = Counting { level, counts: Some(&counts), ..Counting::default() };
        Evidence::count(&rows.finish(), &truth, &options, &Control::default()).expect("rows")
    }

    #[test]
    fn rows_of_rare_patterns_are_dropped_from_every_count() {
        let whole = evidence(Level::Tally);
        assert_eq!(whole.small_counts(2).expect("whole counts"), SmallCounts { n_counts: 2, n_rows: 2 });
        let kept = whole.without_rare(3, &Control::default()).expect("two patterns stay");
        assert_eq!((kept.n_rows(), kept.n_patterns()), (11.0, Some(2)));
        assert_eq!(kept.small_counts(3).expect("whole counts"), SmallCounts::default());
        assert_eq!(kept.labels().all(), ["x", "y"].map(Label::from), "z does not occur any more");
        kept.check().expect("a tally that adds up");
        let none = whole.without_rare(7, &Control::default());
        assert_eq!(none.err(), Some(Error::NoLabelledRows));
    }

    #[test]
    fn rare_patterns_without_truth_are_reported_and_dropped() {
        let mut rows = Predictions::builder(["a"]).expect("one name");
        ["x", "x", "y"].iter().for_each(|label| rows.push([Some(*label)]).expect("one answer"));
        let truth =
            Truth::new([Some("x"), None, None].map(|class| class.map(Label::from))).expect("few labels");
        let counting = Counting { counts: Some(&[6, 4, 2]), unlabelled: true, ..Counting::default() };
        let whole = Evidence::count(&rows.finish(), &truth, &counting, &Control::default()).expect("rows");
        assert_eq!(whole.small_counts(3).expect("whole counts"), SmallCounts { n_counts: 1, n_rows: 2 });
        let kept = whole.without_rare(3, &Control::default()).expect("two patterns stay");
        assert_eq!((kept.n_rows(), kept.n_unlabelled()), (6.0, 4.0));
        assert_eq!(kept.small_counts(3).expect("whole counts"), SmallCounts::default());
    }

    #[test]
    fn the_sum_of_hidden_counts_does_not_disclose_each_of_them() {
        // Two hidden counts below 2 with a sum of 2 are 1 and 1, so that a third one is hidden, too.
        let mut counts = [8, 0, 0, 5];
        hide_counts(&mut counts, 15, 2);
        assert_eq!(counts, [8, 0, 0, 0]);
        // Two hidden counts below 5 with a sum of 3 may be 0 and 3 or 1 and 2, but 3 is small.
        let mut counts = [8, 0, 0, 6];
        hide_counts(&mut counts, 17, 5);
        assert_eq!(counts, [8, 0, 0, 0]);
        let mut counts = [8, 0, 0, 6];
        hide_counts(&mut counts, 20, 5);
        assert_eq!(counts, [8, 0, 0, 6], "6 are hidden, which is not small");
    }

    #[test]
    fn no_count_of_predictions_or_of_missing_cells_is_small() {
        for min_count in 1..=9 {
            let Ok(kept) = evidence(Level::Marginals).without_rare(min_count, &Control::default()) else {
                continue;
            };
            kept.check().expect("marginals of some rows");
            let is_small = |count: u64| count > 0 && count < min_count;
            for k in 0..2 {
                let table = kept.dense_confusion(k);
                for i in 0..kept.n_classes() {
                    let counts: Vec<u64> = table.iter().skip(i).step_by(kept.n_classes()).copied().collect();
                    let missing = kept.class_counts()[i] - counts.iter().sum::<u64>();
                    assert!(!counts.into_iter().chain([missing]).any(is_small), "{min_count}: {k} {i}");
                }
            }
        }
        let all =
            evidence(Level::Marginals).without_rare(1, &Control::default()).expect("nothing is below 1");
        assert!(all.has_counts_of(&evidence(Level::Marginals)));
    }

    #[test]
    fn a_grouped_table_counts_to_the_same_tally() {
        let whole = evidence(Level::Tally);
        let grouped = whole.grouped().expect("a tally");
        assert_eq!(grouped.counts.iter().sum::<u64>(), 17);
        let options = Counting { counts: Some(&grouped.counts), ..Counting::default() };
        let again = Evidence::count(&grouped.predictions, &grouped.truth, &options, &Control::default());
        assert_eq!(again.expect("rows").to_bytes(), whole.to_bytes());
        assert!(matches!(evidence(Level::Marginals).grouped(), Err(Error::LevelTooLow { .. })));
    }
}
