//! The rows on which a setting is evaluated, each with the possibility distributions that exclude it.
//!
//! In: evidence with its tally, and a [`Tuning`]. Out: cases with a table of distributions and counts of truths.

use crate::{
    data::{LabelMatrix, MISSING, Row},
    error::Error,
    evidence::{Evidence, Splitter, Tally},
    fusion::{Fusion, FusionScratch, FusionTree, surprisal},
    hash, parallel,
    possibility::{Discount, Transform},
    progress::Control,
    tuning::Tuning,
};

/// Cases to decide. A case is a pattern of predictions, the distributions to decide it by, and the count of each truth.
///
/// Resubstitution has a case per pattern; leave-one-out a case per pattern and truth, with distributions that are counted
/// without one row of that truth; k-fold a case per pattern and fold, counted without that fold.
#[derive(Clone, Debug)]
pub(crate) struct ValidationCases<'a> {
    pub(crate) n_classes: usize,
    pub(crate) n_leaves: usize,
    n_labels: usize,
    /// Possibility degrees: a row per distinct distribution.
    pub(crate) degrees: Vec<f64>,
    pub(crate) leaf_of_row: Vec<u32>,
    /// Row of the distribution that holds out one row, by classifier, predicted and true; only for leave-one-out.
    held_out: Vec<u32>,
    patterns: &'a LabelMatrix,
    /// Pattern of each case, and what it holds out: a truth, or a fold.
    cases: Vec<(u32, u32)>,
    starts: Vec<usize>,
    classes: Vec<u16>,
    counts: Vec<u64>,
}

impl<'a> ValidationCases<'a> {
    pub(crate) fn new(
        evidence: &Evidence,
        tally: &'a Tally,
        tuning: Tuning,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let n_cases = match tuning {
            Tuning::Resubstitution => tally.n_patterns(),
            Tuning::LeaveOneOut => tally.n_cells(),
            Tuning::KFold(folds) => {
                let rows = |class: u16, count: u64| count.div_ceil(evidence.row_unit(class));
                tally.cells().map(|(_, class, count)| rows(class, count).min(folds.into()) as usize).sum()
            }
        };
        control.allow(|| format!("tuning on {n_cases} cases"), &[n_cases, 26])?;
        let mut validation = Self {
            n_classes: evidence.n_classes(),
            n_leaves: evidence.n_classifiers(),
            n_labels: evidence.n_labels(),
            degrees: Vec::new(),
            leaf_of_row: Vec::new(),
            held_out: Vec::new(),
            patterns: tally.patterns(),
            cases: Vec::with_capacity(n_cases),
            starts: vec![0],
            classes: Vec::new(),
            counts: Vec::new(),
        };
        match tuning {
            Tuning::Resubstitution => validation.resubstitute(evidence, tally, control)?,
            Tuning::LeaveOneOut => validation.leave_one_out(evidence, tally, control)?,
            Tuning::KFold(folds) => validation.fold(evidence, tally, folds, control)?,
        }
        Ok(validation)
    }

    pub(crate) fn n_cases(&self) -> usize {
        self.cases.len()
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.leaf_of_row.len()
    }

    /// Row of the distribution of a leaf's prediction for a case.
    #[inline]
    fn row(&self, leaf: usize, predicted: u16, holds_out: u32) -> usize {
        let at = leaf * self.n_labels + usize::from(predicted);
        if self.held_out.is_empty() {
            // Each fold has a table of its own.
            return holds_out as usize * self.n_leaves * self.n_labels + at;
        }
        self.held_out[at * self.n_classes + holds_out as usize] as usize
    }

    /// Calls `show(leaf, row)` for every distribution of a case.
    #[inline]
    pub(crate) fn for_each_distribution(&self, case: u32, mut show: impl FnMut(usize, usize)) {
        let (pattern, holds_out) = self.cases[case as usize];
        self.patterns.row(pattern as usize).for_each(|leaf, j| show(leaf, self.row(leaf, j, holds_out)));
    }

    /// Calls `show(position in cases, row)` for every distribution of some leaves on some cases.
    ///
    /// A dense table is read leaf by leaf, so that the distributions of a leaf stay in cache.
    #[inline]
    pub(crate) fn for_each_distribution_of(
        &self,
        leaves: &Members,
        cases: &[u32],
        mut show: impl FnMut(usize, usize),
    ) {
        if let Some(cells) = self.patterns.dense_cells() {
            for &leaf in &leaves.list {
                for (at, &case) in cases.iter().enumerate() {
                    let (pattern, holds_out) = self.cases[case as usize];
                    let predicted = cells[pattern as usize * self.n_leaves + leaf];
                    if predicted != MISSING {
                        show(at, self.row(leaf, predicted, holds_out));
                    }
                }
            }
            return;
        }
        for (at, &case) in cases.iter().enumerate() {
            self.for_each_distribution(case, |leaf, row| {
                if leaves.is_member[leaf] {
                    show(at, row);
                }
            });
        }
    }

    /// Writes the surprisals of a case under a tree to `out`.
    pub(crate) fn evaluate(
        &self,
        fusion: &Fusion,
        case: u32,
        scratch: &mut FusionScratch,
        out: &mut Vec<f64>,
    ) {
        let (pattern, holds_out) = self.cases[case as usize];
        let row_of = |leaf, j| self.row(leaf, j, holds_out);
        fusion.surprisals(self.patterns.row(pattern as usize), row_of, scratch, out);
    }

    /// The count of `class` as the truth of a case.
    #[inline]
    pub(crate) fn count(&self, case: usize, class: usize) -> u64 {
        let range = self.starts[case]..self.starts[case + 1];
        let at = self.classes[range.clone()].iter().position(|&i| usize::from(i) == class);
        at.map_or(0, |at| self.counts[range.start + at])
    }

    /// A fusion tree over the discounted distributions of these cases.
    pub(crate) fn fusion(&self, tree: FusionTree, discounts: &[Discount]) -> Fusion {
        let leaf_of_row = |row: usize| self.leaf_of_row[row] as usize;
        let mut table = self.degrees.clone();
        for (row, distribution) in table.chunks_mut(self.n_classes.max(1)).enumerate() {
            let discount = discounts[leaf_of_row(row)];
            distribution.iter_mut().for_each(|degree| *degree = surprisal(discount.apply(*degree)));
        }
        Fusion::new(tree, self.n_classes, table, leaf_of_row)
    }

    fn resubstitute(
        &mut self,
        evidence: &Evidence,
        tally: &Tally,
        control: &Control<'_>,
    ) -> Result<(), Error> {
        let s = evidence.n_labels();
        for p in 0..tally.n_patterns() {
            self.push((p as u32, 0), tally.outcomes(p));
        }
        self.leaf_of_row = (0..self.n_leaves * s).map(|row| (row / s) as u32).collect();
        self.fill_degrees(evidence, control, |row, counts| {
            evidence.classes_of_prediction(row / s, (row % s) as u16, counts);
        })
    }

    fn leave_one_out(
        &mut self,
        evidence: &Evidence,
        tally: &Tally,
        control: &Control<'_>,
    ) -> Result<(), Error> {
        let (s, l) = (evidence.n_labels(), self.n_classes);
        control.allow(|| "index of held-out distributions".to_owned(), &[self.n_leaves, s, l, 4])?;
        // One distribution for every (classifier, predicted, true) that occurs.
        let mut row_of = vec![u32::MAX; self.n_leaves * s * l];
        let mut triples: Vec<(u32, u16, u16)> = Vec::new();
        for k in 0..self.n_leaves {
            for cell in evidence.confusion(k) {
                let at = (k * s + usize::from(cell.predicted)) * l + usize::from(cell.truth);
                row_of[at] = triples.len() as u32;
                triples.push((k as u32, cell.predicted, cell.truth));
            }
        }
        for p in 0..tally.n_patterns() {
            for (class, count) in tally.outcomes(p) {
                self.push((p as u32, class.into()), [(class, count)].into_iter());
            }
        }
        self.held_out = row_of;
        self.leaf_of_row = triples.iter().map(|triple| triple.0).collect();
        self.fill_degrees(evidence, control, |row, counts| {
            let (k, j, i) = triples[row];
            evidence.classes_of_prediction(k as usize, j, counts);
            // Subtract the count of one row, or all there is of a row of smaller weight.
            counts[usize::from(i)] -= counts[usize::from(i)].min(evidence.row_unit(i));
        })
    }

    fn fold(
        &mut self,
        evidence: &Evidence,
        tally: &Tally,
        folds: u16,
        control: &Control<'_>,
    ) -> Result<(), Error> {
        let (s, l, folds) = (evidence.n_labels(), self.n_classes, usize::from(folds));
        let size = self.n_leaves * s * l;
        control.allow(|| format!("confusion of {folds} folds"), &[folds, size, 8])?;
        let mut held_out = vec![0u64; folds * size];
        let mut parts = vec![Vec::new(); folds];
        for p in 0..tally.n_patterns() {
            parts.iter_mut().for_each(Vec::clear);
            for (class, count) in tally.outcomes(p) {
                for (fold, part) in fold_counts(evidence, tally.pattern(p), (class, count), folds) {
                    parts[fold].push((class, part));
                    let cell =
                        |k: usize, j: u16| fold * size + (k * s + usize::from(j)) * l + usize::from(class);
                    tally.pattern(p).for_each(|k, j| held_out[cell(k, j)] += part);
                }
            }
            for (fold, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
                self.push((p as u32, fold as u32), part.iter().copied());
            }
        }
        self.leaf_of_row =
            (0..folds * self.n_leaves * s).map(|row| (row / s % self.n_leaves) as u32).collect();
        let n_leaves = self.n_leaves;
        self.fill_degrees(evidence, control, |row, counts| {
            evidence.classes_of_prediction(row / s % n_leaves, (row % s) as u16, counts);
            let out = &held_out[row * l..(row + 1) * l];
            counts.iter_mut().zip(out).for_each(|(count, out)| *count -= out);
        })
    }

    fn push(&mut self, case: (u32, u32), outcomes: impl Iterator<Item = (u16, u64)>) {
        self.cases.push(case);
        for (class, count) in outcomes {
            self.classes.push(class);
            self.counts.push(count);
        }
        self.starts.push(self.counts.len());
    }

    /// Transforms the counts that `fill(row, counts)` writes for every row of the table.
    fn fill_degrees(
        &mut self,
        evidence: &Evidence,
        control: &Control<'_>,
        fill: impl Fn(usize, &mut [u64]) + Sync,
    ) -> Result<(), Error> {
        let (l, unit, n) = (self.n_classes, evidence.unit(), self.n_rows());
        control.allow(|| format!("{n} possibilities on {l} classes"), &[n, l, 8])?;
        let parts = parallel::map_ranges(n, 4096, |range| {
            let mut degrees = vec![0.0; range.len() * l];
            let mut counts = vec![0u64; l];
            let mut transform = Transform::default();
            for (row, out) in range.zip(degrees.chunks_mut(l.max(1))) {
                fill(row, &mut counts);
                transform.smoothed(&counts, unit, out);
            }
            degrees
        });
        self.degrees = parts.concat();
        Ok(())
    }
}

/// Some of the leaves.
pub(crate) struct Members {
    list: Vec<usize>,
    is_member: Vec<bool>,
}

impl Members {
    pub(crate) fn new(leaves: Vec<usize>, n_leaves: usize) -> Self {
        let mut is_member = vec![false; n_leaves];
        leaves.iter().for_each(|&leaf| is_member[leaf] = true);
        Self { list: leaves, is_member }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}

/// How much of the count of a (pattern, class) is in each of `folds`: rows take turns, beginning with a fold that a hash
/// of pattern and class draws; what is less than a row comes last.
pub(crate) fn fold_counts(
    evidence: &Evidence,
    pattern: Row<'_>,
    (class, count): (u16, u64),
    folds: usize,
) -> impl Iterator<Item = (usize, u64)> {
    let splitter = Splitter::new(folds, hash::mix);
    let start = splitter.part_of(pattern.fixed_hash(0x5eed), class.into());
    splitter.take_turns(start, count, evidence.row_unit(class))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Predictions, Truth};

    fn evidence() -> Evidence {
        let mut rows = Predictions::builder(["a", "b"]).expect("two names");
        let predictions = [["x", "x"], ["x", "y"], ["x", "x"], ["y", "y"], ["x", "x"]];
        predictions.iter().for_each(|row| rows.push(row.map(Some)).expect("two predictions"));
        let truth = Truth::new(["x", "x", "x", "y", "y"].map(Some)).expect("few labels");
        Evidence::new(&rows.finish(), &truth).expect("rows")
    }

    fn validation(evidence: &Evidence, tuning: Tuning) -> ValidationCases<'_> {
        ValidationCases::new(evidence, evidence.tally().expect("a tally"), tuning, &Control::default())
            .expect("fits")
    }

    /// The distribution of the first leaf on a case.
    fn first_distribution<'a>(validation: &'a ValidationCases<'_>, case: usize) -> &'a [f64] {
        let mut first = None;
        validation.for_each_distribution(case as u32, |_, row| first = first.or(Some(row)));
        let row = first.expect("a prediction");
        &validation.degrees[row * 2..row * 2 + 2]
    }

    #[test]
    fn every_row_is_evaluated_once() {
        for tuning in [Tuning::Resubstitution, Tuning::LeaveOneOut, Tuning::KFold(3)] {
            let evidence = evidence();
            let validation = validation(&evidence, tuning);
            let total: u64 = (0..validation.n_cases())
                .map(|case| validation.count(case, 0) + validation.count(case, 1))
                .sum();
            assert_eq!(total, 5, "{tuning}");
        }
    }

    #[test]
    fn a_held_out_row_does_not_count_in_its_own_distributions() {
        let evidence = evidence();
        let validation = validation(&evidence, Tuning::LeaveOneOut);
        // Pattern (y, y) with truth y: without that row `a` never predicts y, so that every class is possible.
        let case = (0..validation.n_cases()).last().expect("cases");
        assert_eq!(validation.count(case, 1), 1);
        assert_eq!(first_distribution(&validation, case), [1.0, 1.0]);
        // Pattern (x, x) with truth y: `a` predicts x four times; without this row it is always correct.
        let case = (0..validation.n_cases()).find(|&case| validation.count(case, 1) == 1).expect("one such");
        assert_eq!(first_distribution(&validation, case), [1.0, 1.0 / 5.0]);
    }

    #[test]
    fn whole_rows_have_the_same_folds_beside_fractions_and_a_fraction_comes_last() {
        let whole = evidence();
        let mut weighted = evidence();
        weighted = weighted.with_class_weights(&[1.5, 1.0]).expect("few rows");
        let (pattern, unit) = (Row::Dense(&[0, 1]), weighted.row_unit(0));
        for rows in [1, 3, 4, 11] {
            let parts: Vec<(usize, u64)> = fold_counts(&whole, pattern, (0, rows), 4).collect();
            let scaled: Vec<(usize, u64)> = fold_counts(&weighted, pattern, (0, rows * unit), 4).collect();
            assert!(
                scaled.iter().eq(&parts.iter().map(|(fold, part)| (*fold, part * unit)).collect::<Vec<_>>())
            );
            let next: Vec<(usize, u64)> = fold_counts(&whole, pattern, (0, rows + 1), 4).collect();
            let rest: Vec<(usize, u64)> =
                fold_counts(&weighted, pattern, (0, rows * unit + unit / 3), 4).collect();
            let rounded: Vec<(usize, u64)> =
                rest.iter().map(|(fold, part)| (*fold, part.div_ceil(unit))).collect();
            assert_eq!(rounded, next);
        }
    }

    #[test]
    fn folds_share_large_counts_evenly() {
        let evidence = evidence();
        let pattern = Row::Dense(&[0, 0]);
        let parts: Vec<(usize, u64)> = fold_counts(&evidence, pattern, (0, 10_000_000_001), 4).collect();
        assert_eq!(parts.iter().map(|part| part.1).sum::<u64>(), 10_000_000_001);
        assert!(parts.iter().all(|part| part.1.abs_diff(2_500_000_000) <= 1));
    }
}
