//! Confusion and class counts of the leaves, in rows.

use crate::{data::Row, evidence::Evidence};

/// Confusion and class counts of the leaves; rows whose class is estimated count with their class probabilities.
#[derive(Clone, Debug)]
pub(super) struct LeafCounts {
    pub(super) n_labels: usize,
    /// Rows of each class.
    pub(super) classes: Vec<f64>,
    /// Rows by leaf, predicted label and class.
    pub(super) confusions: Vec<f64>,
}

impl LeafCounts {
    /// The labelled rows of the evidence.
    pub(super) fn of(evidence: &Evidence, classifiers: &[usize]) -> Self {
        let (s, l) = (evidence.n_labels(), evidence.n_classes());
        let classes: Vec<f64> =
            evidence.class_counts().iter().map(|&count| evidence.rows_of(count)).collect();
        let mut confusions = vec![0.0; classifiers.len() * s * l];
        for (leaf, &k) in classifiers.iter().enumerate() {
            for cell in evidence.confusion(k) {
                let at = (leaf * s + usize::from(cell.predicted)) * l + usize::from(cell.truth);
                confusions[at] = evidence.rows_of(cell.count);
            }
        }
        Self { n_labels: s, classes, confusions }
    }

    /// The labelled rows of the evidence, each counted once whatever the weight of its class.
    pub(super) fn without_class_weights(evidence: &Evidence, classifiers: &[usize]) -> Self {
        let mut counts = Self::of(evidence, classifiers);
        let scale = |class: usize| evidence.unit() as f64 / evidence.row_unit(class as u16) as f64;
        let scales: Vec<f64> = (0..counts.n_classes()).map(scale).collect();
        for counts in [&mut counts.classes, &mut counts.confusions] {
            counts.iter_mut().enumerate().for_each(|(at, rows)| *rows *= scales[at % scales.len()]);
        }
        counts
    }

    /// Rows without any prediction, by class.
    pub(super) fn empty(n_leaves: usize, n_labels: usize, unanswered: &[f64]) -> Self {
        let confusions = vec![0.0; n_leaves * n_labels * unanswered.len()];
        Self { n_labels, classes: unanswered.to_vec(), confusions }
    }

    pub(super) fn n_classes(&self) -> usize {
        self.classes.len()
    }

    pub(super) fn n_leaves(&self) -> usize {
        self.confusions.len() / (self.n_labels * self.n_classes()).max(1)
    }

    /// The confusion of a leaf: rows by predicted label and class.
    pub(super) fn confusion(&self, leaf: usize) -> &[f64] {
        let size = self.n_labels * self.n_classes();
        &self.confusions[leaf * size..(leaf + 1) * size]
    }

    /// Rows on which a leaf has a prediction.
    pub(super) fn n_answered(&self, leaf: usize) -> f64 {
        self.confusion(leaf).iter().sum()
    }

    /// Rows on which a leaf predicts the true class.
    pub(super) fn correct(&self, leaf: usize) -> f64 {
        let l = self.n_classes();
        self.confusion(leaf).iter().step_by(l + 1).take(l).sum()
    }

    /// Adds rows of one class.
    pub(super) fn add_class(&mut self, row: Row<'_>, class: u16, rows: f64) {
        let (s, l) = (self.n_labels, self.n_classes());
        self.classes[usize::from(class)] += rows;
        row.for_each(|leaf, j| {
            self.confusions[(leaf * s + usize::from(j)) * l + usize::from(class)] += rows;
        });
    }

    /// Adds rows with an expected number per class.
    pub(super) fn add_expected(&mut self, row: Row<'_>, expected: &[f64]) {
        let (s, l) = (self.n_labels, self.n_classes());
        let add = |to: &mut [f64]| to.iter_mut().zip(expected).for_each(|(sum, rows)| *sum += rows);
        add(&mut self.classes);
        row.for_each(|leaf, j| add(&mut self.confusions[(leaf * s + usize::from(j)) * l..][..l]));
    }

    /// Averages the counts over all ways of exchanging the classes: one accuracy per leaf, and equal class frequencies.
    pub(super) fn average_over_classes(&mut self) {
        let (s, l) = (self.n_labels, self.n_classes());
        let mean = self.classes.iter().sum::<f64>() / l.max(1) as f64;
        self.classes.fill(mean);
        for leaf in 0..self.n_leaves() {
            let (answered, correct) = (self.n_answered(leaf), self.correct(leaf));
            let right = correct / l as f64;
            let wrong = (answered - correct).max(0.0) / (l * (s - 1)).max(1) as f64;
            for at in 0..s * l {
                self.confusions[leaf * s * l + at] = if at / l == at % l { right } else { wrong };
            }
        }
    }

    /// Logarithms of the class frequencies, with half a pseudo-row per class.
    pub(super) fn log_prior(&self) -> Vec<f64> {
        let total = self.classes.iter().sum::<f64>() + 0.5 * self.n_classes() as f64;
        self.classes.iter().map(|rows| crate::math::ln((rows + 0.5) / total)).collect()
    }
}
