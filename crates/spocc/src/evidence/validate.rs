//! Validation of evidence read from a file: its counts must be those of some rows.

use crate::{
    error::Error,
    evidence::{Evidence, WEIGHT_BITS},
};

impl Evidence {
    /// Refuses counts that no rows can have given.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let wrong = |expected, found: &str| Err(Error::Inconsistent { expected, found: found.to_owned() });
        crate::Predictions::builder(self.classifiers.iter().cloned())?;
        self.labels.check()?;
        if self.fraction_bits != 0 && self.fraction_bits != WEIGHT_BITS {
            return wrong("weights of 0 or 30 binary digits", "others");
        }
        let (k, s, l) = (self.n_classifiers(), self.n_labels(), self.n_classes());
        let size = k.checked_mul(s).and_then(|size| size.checked_mul(l));
        if size != Some(self.confusion.len()) || self.class_counts.len() != l {
            return wrong("one confusion table per classifier", "another size");
        }
        if self.class_counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count)).is_none() {
            return wrong("a total below 2^64", "more");
        }
        for k in 0..k {
            for i in 0..l {
                let answered = (0..s).try_fold(0u64, |sum, j| sum.checked_add(self.row(k, j as u16)[i]));
                if answered.is_none_or(|answered| answered > self.class_counts[i]) {
                    return wrong("no more predictions than rows of a class", "more");
                }
            }
        }
        let predicted_counts = || (0..k).map(|k| self.predicted_counts(k)).collect::<Vec<_>>();
        self.pairs.as_ref().map_or(Ok(()), |pairs| pairs.check(&predicted_counts(), s, self.total()))?;
        if let Some(tally) = &self.tally {
            tally.check(k, s, l)?;
            if self.pairs.is_some() {
                return wrong("pair counts or a tally", "both");
            }
            let mut class_counts = vec![0u128; l];
            let mut confusion = vec![0u128; self.confusion.len()];
            for (row, class, count) in tally.cells() {
                class_counts[usize::from(class)] += u128::from(count);
                row.for_each(|k, j| {
                    confusion[(k * s + usize::from(j)) * l + usize::from(class)] += u128::from(count);
                });
            }
            let same =
                |wide: &[u128], counts: &[u64]| wide.iter().zip(counts).all(|(a, b)| *a == u128::from(*b));
            if !same(&class_counts, &self.class_counts) || !same(&confusion, &self.confusion) {
                return wrong("a tally that adds up to the marginals", "another sum");
            }
        }
        if let Some(rows) = &self.unlabelled {
            if self.tally.is_none() {
                return wrong("rows without truth beside a tally", "no tally");
            }
            rows.check(k, s)?;
        }
        if self.is_open() { self.check_open() } else { Ok(()) }
    }
}
