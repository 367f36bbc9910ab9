//! Scores: who was right on how many rows, kept so that any two methods can be compared row by row.

use std::collections::BTreeMap;

use crate::compare::{
    contest::Marks,
    deal::Weighed,
    difference::{Difference, Paired},
};

/// One trial: what the rows count, and what they weigh, on which exactly these methods were right, a bit each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sheet(BTreeMap<u64, [f64; 2]>);

impl Sheet {
    /// The marks of the cells in a part, once for every row.
    pub(super) fn new(marks: &Marks, part: &Weighed) -> Self {
        let mut rows: BTreeMap<u64, [f64; 2]> = BTreeMap::new();
        for (cell, own) in part {
            let sums = rows.entry(marks.right[*cell]).or_default();
            sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
        Self(rows)
    }

    /// What all rows count.
    pub(super) fn rows(&self) -> f64 {
        self.sum(|_| true)[0]
    }

    /// What the rows count on which method `m` was right.
    pub(super) fn right(&self, m: usize) -> f64 {
        self.sum(|who| who >> m & 1 == 1)[0]
    }

    fn paired(&self, a: usize, b: usize) -> Paired {
        let only = |m: usize, other: usize| self.sum(|who| who >> m & 1 == 1 && who >> other & 1 == 0)[0];
        Paired { rows: self.rows(), first: only(a, b), second: only(b, a) }
    }

    fn sum(&self, counts: impl Fn(u64) -> bool) -> [f64; 2] {
        let rows = self.0.iter().filter(|(who, _)| counts(**who));
        rows.fold([0.0; 2], |sum, (_, own)| [sum[0] + own[0], sum[1] + own[1]])
    }
}

/// All trials of a comparison.
pub(super) struct Scores {
    /// One sheet per fold of every repetition, or the one of the test rows.
    sheets: Vec<Sheet>,
    /// How often the folds were drawn anew; none for test rows.
    repeats: Option<usize>,
}

impl Scores {
    /// From folds, `repeats` times all rows, or from test rows.
    pub(super) fn new(sheets: Vec<Sheet>, repeats: Option<usize>) -> Self {
        Self { sheets, repeats }
    }

    /// Share of what the rows count on which method `m` was right, repetitions averaged.
    pub(super) fn accuracy(&self, m: usize) -> f64 {
        self.mean(|sheet| sheet.right(m)) / self.mean(Sheet::rows).max(f64::MIN_POSITIVE)
    }

    /// The same with every class alike.
    pub(super) fn plain_accuracy(&self, m: usize) -> f64 {
        let right = self.mean(|sheet| sheet.sum(|who| who >> m & 1 == 1)[1]);
        right / self.mean(|sheet| sheet.sum(|_| true)[1]).max(f64::MIN_POSITIVE)
    }

    /// Its 95 % interval; judging a row three times does not make three rows of it.
    pub(super) fn interval(&self, m: usize) -> [f64; 2] {
        let (right, rows) = (self.mean(|sheet| sheet.right(m)), self.mean(Sheet::rows));
        spocc::audit::clopper_pearson(right, rows)
    }

    /// How much more often method `a` was right than method `b`, one of its `rivals`.
    pub(super) fn difference(&self, a: usize, b: usize, rivals: usize) -> Difference {
        let paired: Vec<Paired> = self.sheets.iter().map(|sheet| sheet.paired(a, b)).collect();
        match self.repeats {
            Some(repeats) => Difference::across_folds(&paired, repeats, rivals),
            None => Difference::on_test(&paired, rivals),
        }
    }

    fn mean(&self, figure: impl Fn(&Sheet) -> f64) -> f64 {
        self.sheets.iter().map(figure).sum::<f64>() / self.repeats.unwrap_or(1).max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(right: &[u64], counts: &[u64]) -> Sheet {
        let marks = Marks { right: right.to_vec(), refused: Vec::new() };
        let weighed =
            counts.iter().enumerate().map(|(cell, &count)| (cell, [count as f64, 2.0 * count as f64]));
        Sheet::new(&marks, &weighed.collect())
    }

    #[test]
    fn a_sheet_counts_who_was_right_together() {
        // Method 0 is right on 5 + 2 rows, method 1 on 5 + 3; on 4 neither is.
        let sheet = sheet(&[0b11, 0b01, 0b10, 0b00], &[5, 2, 3, 4]);
        assert_eq!((sheet.rows(), sheet.right(0), sheet.right(1)), (14.0, 7.0, 8.0));
        assert_eq!(sheet.paired(0, 1), Paired { rows: 14.0, first: 2.0, second: 3.0 });
    }

    #[test]
    fn repetitions_are_averaged_and_add_no_rows() {
        let once = Scores::new(vec![sheet(&[1, 0], &[8, 2])], Some(1));
        let thrice = Scores::new(vec![sheet(&[1, 0], &[8, 2]); 3], Some(3));
        assert_eq!((once.accuracy(0), thrice.accuracy(0)), (0.8, 0.8));
        assert_eq!(once.interval(0), thrice.interval(0));
        assert_eq!(once.interval(0), spocc::audit::clopper_pearson(8.0, 10.0));
    }

    #[test]
    fn a_difference_has_a_sign_and_no_rows_no_accuracy() {
        let scores = Scores::new(vec![sheet(&[0b11, 0b01, 0b10], &[80, 15, 5])], None);
        assert_eq!(scores.difference(0, 1, 1).by, 0.1);
        assert_eq!(scores.difference(1, 0, 1).by, -0.1);
        assert_eq!(Scores::new(Vec::new(), None).accuracy(0), 0.0);
    }
}
