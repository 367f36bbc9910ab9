//! Merging: the evidence of two sets of rows adds up to that of both.

use std::collections::HashSet;

use crate::{
    data::Labels,
    error::{Error, list},
    evidence::{Evidence, Unlabelled, tally, unlabelled_sample::PatternHash},
    progress::Control,
};

impl Evidence {
    /// Adds the evidence of other rows of the same panel. The sum is exact, commutative and associative.
    ///
    /// Classifiers and classes are aligned by name. Of two orders of the classifiers the alphabetically first
    /// is kept, so that `a + b` and `b + a` are the same bytes.
    ///
    /// # Errors
    ///
    /// [`Error::DifferentClassifiers`], [`Error::DifferentClasses`], [`Error::DifferentLevels`],
    /// [`Error::Overflow`], [`Error::MemoryLimit`].
    pub fn merge(&self, other: &Self, control: &Control<'_>) -> Result<Self, Error> {
        if self.level() != other.level() {
            let [expected, found] = [self, other].map(|side| side.level().to_string());
            return Err(Error::DifferentLevels { expected, found });
        }
        let order =
            if self.classifiers <= other.classifiers { &self.classifiers } else { &other.classifiers };
        let only = |a: &Self, b: &Self| -> Vec<String> {
            let known: HashSet<&String> = b.classifiers.iter().collect();
            a.classifiers
                .iter()
                .filter(|name| !known.contains(name))
                .map(|name| format!("`{name}`"))
                .collect()
        };
        let different = [only(self, other), only(other, self)].concat();
        if !different.is_empty() {
            let difference = format!("{} on one side only", list(different));
            return Err(Error::DifferentClassifiers { difference });
        }
        let sides = [self, other].map(|side| (&side.labels, &side.class_counts[..]));
        let labels = Labels::union(sides)?;
        let bits = self.fraction_bits.max(other.fraction_bits);
        let mut sum = self.aligned(order, &labels, bits, control)?;
        let part = other.aligned(order, &labels, bits, control)?;
        sum.total().checked_add(part.total()).ok_or(Error::Overflow { what: "merged rows" })?;
        let add =
            |to: &mut [u64], from: &[u64]| to.iter_mut().zip(from).for_each(|(sum, count)| *sum += count);
        add(&mut sum.class_counts, &part.class_counts);
        sum.whole_weights = sum.fraction_bits == 0 && (self.whole_weights || other.whole_weights);
        sum.confusions = sum.confusions.plus(&part.confusions);
        if let (Some(sum), Some(part)) = (&mut sum.pairs, &part.pairs) {
            sum.plus(part);
        }
        if let (Some(tally), Some(part)) = (&sum.tally, &part.tally) {
            let tally = tally.plus(part)?;
            control.allow(|| format!("tally of {} patterns", tally.n_patterns()), &[tally.bytes()])?;
            sum.tally = Some(tally);
        }
        let hash = PatternHash::new(&sum.classifiers, &sum.labels);
        sum.unlabelled = Unlabelled::sum(sum.unlabelled.take(), part.unlabelled, &hash)?;
        Ok(sum)
    }

    /// The same counts with the classifiers in this order, under these labels, in units of 2^-bits rows.
    fn aligned(
        &self,
        order: &[String],
        labels: &Labels,
        bits: u32,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let mut aligned = if self.classifiers == order { self.clone() } else { self.select(order, control)? };
        if !aligned.labels.is_identical(labels) {
            let map = labels.translate(self.labels.all());
            aligned = aligned.relabelled(labels.clone(), &map, control)?;
        }
        if aligned.fraction_bits < bits {
            let factor = 1u64 << (bits - aligned.fraction_bits);
            tally::scale(&mut aligned.class_counts, factor)?;
            aligned
                .class_counts
                .iter()
                .try_fold(0u64, |sum, count| sum.checked_add(*count))
                .ok_or(Error::Overflow { what: "weights" })?;
            aligned.confusions.scale(|_| factor);
            aligned.pairs.as_mut().map_or(Ok(()), |pairs| pairs.scale(factor))?;
            aligned.tally.as_mut().map_or(Ok(()), |tally| tally.scale(factor))?;
            aligned.unlabelled.as_mut().map_or(Ok(()), |rows| rows.scale(factor))?;
            aligned.fraction_bits = bits;
        }
        Ok(aligned)
    }
}
