//! Which patterns of unlabelled rows are kept where there are too many: those with the smallest hashes.
//!
//! A pattern among the k smallest hashes of a union is among the k smallest of every part in which it occurs. So the
//! counts of the patterns that are kept are exact, and adding samples, then truncating, gives the sample of all rows, in
//! whatever order and parts they come.

use crate::{
    data::{Labels, Row},
    evidence::Tally,
    hash,
};

/// The largest number of distinct patterns of unlabelled rows that is kept.
pub(crate) const MAX_PATTERNS: usize = 1 << 16;

/// Hashes patterns by the names of the classifiers and the texts of the labels: neither ids nor the order of the columns
/// matter, and missing predictions are left out.
pub(super) struct PatternHash {
    classifiers: Vec<u64>,
    labels: Vec<u64>,
    /// Of a row without predictions.
    panel: u64,
}

impl PatternHash {
    pub(super) fn new(classifiers: &[String], labels: &Labels) -> Self {
        let classifiers: Vec<u64> = classifiers.iter().map(|name| hash::text(0xc1a5, name)).collect();
        let panel = classifiers.iter().fold(0u64, |sum, name| sum.wrapping_add(hash::mix(*name, 0x5a3d)));
        let labels = labels.all().iter().map(|label| hash::text(0x1abe1, label.canonical())).collect();
        Self { classifiers, labels, panel }
    }

    fn of(&self, row: Row<'_>) -> u64 {
        // A sum, so that the order of the columns does not matter.
        let mut sum = self.panel;
        row.for_each(|k, j| {
            let cell = hash::mix(self.classifiers[k], self.labels[usize::from(j)]);
            sum = sum.wrapping_add(hash::mix(cell, 0x5a3f));
        });
        hash::mix(sum, 0x5a3e)
    }
}

/// The tally of the patterns with the smallest hashes, [`max_patterns`] of them; more only if hashes are equal.
pub(super) fn sample(tally: Tally, hash: &PatternHash) -> Tally {
    let most = max_patterns();
    if tally.n_patterns() <= most {
        return tally;
    }
    let hashes: Vec<u64> = tally.patterns().rows().map(|row| hash.of(row)).collect();
    let largest_kept = *hashes.clone().select_nth_unstable(most - 1).1;
    // Every pattern has one cell, that of no truth.
    tally.keeping(|cell, count| if hashes[cell] <= largest_kept { count } else { 0 })
}

fn max_patterns() -> usize {
    #[cfg(test)]
    if let Some(few) = tests::FEW.get() {
        return few;
    }
    MAX_PATTERNS
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{
        Control, Evidence, Label, Predictions, Truth,
        evidence::{Counting, Unlabelled},
    };

    thread_local! {
        /// A smaller limit, so that tests need few rows.
        pub(super) static FEW: Cell<Option<usize>> = const { Cell::new(None) };
    }

    /// Runs with a smaller limit.
    pub(crate) fn with_at_most<T>(few: usize, run: impl FnOnce() -> T) -> T {
        let before = FEW.replace(Some(few));
        let result = run();
        FEW.set(before);
        result
    }

    fn quiet() -> Control<'static> {
        Control::default()
    }

    const NAMES: [&str; 4] = ["ann", "bob", "eve", "zed"];

    /// A truth, the predictions of four classifiers, and a weight.
    type Drawn = (Option<Label>, [Option<Label>; 4], f64);

    /// Rows of few labels, written in several ways; some without truth, some without predictions, some weights 0.
    fn drawn(n_rows: u64, seed: u64) -> Vec<Drawn> {
        let number =
            |row: u64, place: u64, below: u64| hash::draw(hash::mix(hash::mix(seed, row), place), below);
        let written = |row: u64, place: u64| match (number(row, place, 4), number(row, 10 + place, 3)) {
            (label, 0) => Label::from(label as i64),
            (label, 1) => Label::from(label.to_string()),
            (label, _) => Label::from(["0", "1.0", "2.00", "x"][label as usize]),
        };
        let some = |row: u64, place: u64| (number(row, 20 + place, 5) > 0).then(|| written(row, place));
        let row = |row: u64| {
            let truth = (number(row, 30, 3) == 0).then(|| written(row, 9));
            (truth, [0, 1, 2, 3].map(|place| some(row, place)), number(row, 31, 6) as f64 / 2.0)
        };
        (0..n_rows).map(row).collect()
    }

    /// The evidence of these rows, with the columns in this order.
    fn counted(rows: &[Drawn], order: [usize; 4], is_weighted: bool) -> Evidence {
        let mut table = Predictions::builder(order.map(|k| NAMES[k])).expect("four names");
        let mut truth = Truth::default();
        for (class, predicted, _) in rows {
            table.push(order.map(|k| predicted[k].clone())).expect("four predictions");
            truth.push(class.clone()).expect("few labels");
        }
        let weights: Vec<f64> = rows.iter().map(|row| row.2).collect();
        let counting = Counting { weights: is_weighted.then_some(&weights[..]), ..Counting::default() };
        Evidence::count(&table.finish(), &truth, &counting, &quiet()).expect("rows")
    }

    fn sum(a: &Evidence, b: &Evidence) -> Evidence {
        a.merge(b, &quiet()).expect("the same panel")
    }

    #[test]
    fn samples_of_any_parts_in_any_order_add_up_to_the_sample_of_the_whole() {
        for (seed, few) in (0..60).map(|seed| (seed, [1, 3, 10, 40][seed as usize % 4])) {
            with_at_most(few, || {
                let is_weighted = seed % 3 == 0;
                let mut rows = drawn(120, seed);
                let whole = counted(&rows, [0, 1, 2, 3], is_weighted);
                assert!(whole.unlabelled_rows().is_some_and(Unlabelled::is_sample), "{seed}");
                assert_eq!(whole.n_unlabelled_patterns(), few);
                rows.sort_by_key(|row| hash::draw(row.1.len() as u64 + row.2.to_bits(), seed + 2));
                rows.reverse();
                assert_eq!(counted(&rows, [0, 1, 2, 3], is_weighted).to_bytes(), whole.to_bytes(), "rows");
                let cuts = [0, hash::draw(seed, 60) as usize, 60 + hash::draw(seed, 61) as usize, 120];
                // Of two orders of the columns the alphabetically first is kept.
                let orders = [[0, 1, 2, 3], [2, 0, 3, 1], [3, 2, 1, 0]];
                let [a, b, c] =
                    [0, 1, 2].map(|at| counted(&rows[cuts[at]..cuts[at + 1]], orders[at], is_weighted));
                assert_eq!(sum(&sum(&a, &b), &c).to_bytes(), whole.to_bytes(), "{seed}");
                assert_eq!(sum(&a, &sum(&b, &c)).to_bytes(), whole.to_bytes(), "{seed}");
                assert_eq!(sum(&sum(&c, &b), &a).to_bytes(), whole.to_bytes(), "{seed}");
            });
        }
    }

    #[test]
    fn a_sample_has_the_counts_of_all_rows_and_their_number() {
        let rows = drawn(200, 7);
        let all = counted(&rows, [0, 1, 2, 3], false);
        let few = with_at_most(9, || counted(&rows, [0, 1, 2, 3], false));
        assert_eq!(few.n_unlabelled(), all.n_unlabelled());
        assert!(all.n_unlabelled_patterns() > 100);
        let (few, all) = (few.unlabelled_rows().expect("rows"), all.unlabelled_rows().expect("rows"));
        assert_eq!(few.patterns().n_rows(), 9);
        for (row, count) in few.rows() {
            // The labels are those of all rows, so that ids agree.
            assert!(all.rows().any(|(other, n)| other.cmp(row).is_eq() && n == count), "{count}");
        }
    }

    #[test]
    fn a_number_of_rows_below_that_of_the_patterns_is_refused() {
        let evidence = with_at_most(4, || counted(&drawn(90, 1), [0, 1, 2, 3], false));
        let (patterns, total) = evidence.unlabelled_rows().expect("rows").to_store();
        let kept: u64 = patterns.counts().sum();
        assert!(total.is_some_and(|total| total > kept));
        let check = |total| Unlabelled::stored(patterns.clone(), Some(total)).check(4, evidence.n_labels());
        assert_eq!([kept, kept + 1, u64::MAX].map(check), [Ok(()), Ok(()), Ok(())]);
        assert!([0, kept - 1].map(check).iter().all(Result::is_err));
    }

    #[test]
    fn labelled_and_unlabelled_rows_of_a_sample_add_up_to_the_whole() {
        for seed in 0..20 {
            with_at_most(2, || {
                let whole = counted(&drawn(40, seed), [0, 1, 2, 3], false);
                let labelled = whole.labelled(&quiet()).expect("small");
                let unlabelled = whole.unlabelled(&quiet()).expect("a tally");
                assert_eq!(sum(&labelled, &unlabelled).to_bytes(), whole.to_bytes(), "{seed}");
            });
        }
    }

    #[test]
    fn every_pattern_is_as_likely_to_be_kept() {
        // Of 64 patterns of three labels and missing predictions 16 are kept; over 400 panels each 100 times, give or
        // take sqrt(400 * 1/4 * 3/4) = 8.7.
        let mut kept = [0u32; 64];
        for panel in 0..400 {
            let cells: Vec<u16> = (0..64u16).flat_map(|p| [p / 16, p / 4 % 4, p % 4]).collect();
            let mut table = Predictions::builder([0, 1, 2].map(|k| format!("{panel}-{k}"))).expect("names");
            for row in cells.chunks(3) {
                table
                    .push([0, 1, 2].map(|k| (row[k] > 0).then(|| Label::from(i64::from(row[k])))))
                    .expect("3");
            }
            let truth = Truth::new(vec![None::<&str>; 64]).expect("no labels");
            let evidence = with_at_most(16, || Evidence::new(&table.finish(), &truth)).expect("rows");
            for (row, _) in evidence.unlabelled_rows().expect("rows").rows() {
                let place = |j: u16| if j == crate::data::MISSING { 0 } else { usize::from(j) + 1 };
                let dense = row.to_dense(3);
                kept[place(dense[0]) * 16 + place(dense[1]) * 4 + place(dense[2])] += 1;
            }
        }
        assert!(kept.iter().all(|&times| (60..=140).contains(&times)), "{kept:?}");
    }
}
