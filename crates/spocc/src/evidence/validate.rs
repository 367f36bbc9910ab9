//! Validation of evidence read from a file: its counts must be those of some rows.

use crate::{
    error::Error,
    evidence::{Confusions, Evidence, WEIGHT_BITS},
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
        if self.fraction_bits != 0 && self.whole_weights {
            return wrong("whole weights", "fractions");
        }
        let (k, s, l) = (self.n_classifiers(), self.n_labels(), self.n_classes());
        if self.class_counts.len() != l {
            return wrong("one count per class", "another number");
        }
        if self.class_counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count)).is_none() {
            return wrong("a total below 2^64", "more");
        }
        self.confusions.check([k, s], &self.class_counts)?;
        let predicted_counts = || (0..k).map(|k| self.predicted_counts(k)).collect::<Vec<_>>();
        self.pairs.as_ref().map_or(Ok(()), |pairs| pairs.check(&predicted_counts(), s, self.total()))?;
        if let Some(tally) = &self.tally {
            tally.check(k, s, l)?;
            if self.pairs.is_some() {
                return wrong("pair counts or a tally", "both");
            }
            let mut class_counts = vec![0u128; l];
            tally.cells().for_each(|(_, class, count)| class_counts[usize::from(class)] += u128::from(count));
            let same = class_counts.iter().zip(&self.class_counts).all(|(a, b)| *a == u128::from(*b));
            // With the same class counts no sum over rows overflows.
            if !same || Confusions::of(k, tally.cells()) != self.confusions {
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
