//! Whether classes look exchangeable, as the letters of multiple-choice questions do: an error on a row of one class is as
//! much evidence about a classifier as an error on any other row.

use crate::{evidence::Evidence, math::ln_gamma};

/// Classes below which one accuracy per classifier is hardly simpler than its confusions.
const MIN_CLASSES: usize = 4;
/// Log Bayes factor from which the classes look exchangeable.
const MIN_LOG_FACTOR: f64 = 1.0;
/// Share of the predictions that must be classes.
const MIN_CLASS_SHARE: f64 = 0.9;
/// Pseudo-rows with which the confusions of each class are spread around those of exchangeable classes: so many that
/// there is no difference between classes, and the numbers tried of classes that differ.
const EXCHANGEABLE: f64 = 1000.0;
const DIFFERENT: [f64; 6] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0];

impl Evidence {
    /// Whether classes look exchangeable; none with too few classes, or where predictions do not name classes.
    pub(crate) fn classes_are_exchangeable(&self) -> Option<bool> {
        let n_true = self.class_counts().iter().filter(|count| **count > 0).count();
        let cells = self.confusions().cells().iter();
        let of_classes = cells.clone().filter(|cell| usize::from(cell.predicted) < self.n_classes());
        let [all, of_classes] = [
            cells.map(|cell| cell.count as f64).sum::<f64>(),
            of_classes.map(|cell| cell.count as f64).sum(),
        ];
        if self.is_open() || n_true < MIN_CLASSES || of_classes < MIN_CLASS_SHARE * all {
            return None;
        }
        let means: Vec<ExchangeableErrors> =
            (0..self.n_classifiers()).map(|k| ExchangeableErrors::of(self, k)).collect();
        let log_likelihood = |concentration: f64| -> f64 {
            means.iter().map(|means| means.log_likelihood(concentration)).sum()
        };
        let different = DIFFERENT.map(log_likelihood).into_iter().fold(f64::NEG_INFINITY, f64::max);
        Some(log_likelihood(EXCHANGEABLE) - different >= MIN_LOG_FACTOR)
    }
}

/// The confusions of a classifier if classes are exchangeable: one accuracy, and errors that are spread over the other
/// labels as often as it predicts these wrongly.
struct ExchangeableErrors {
    accuracy: f64,
    /// Share of each label among its wrong predictions.
    shares: Vec<f64>,
    /// (predicted, true, rows) where there are rows.
    cells: Vec<(usize, usize, f64)>,
    /// Rows of each class.
    rows: Vec<f64>,
}

impl ExchangeableErrors {
    fn of(evidence: &Evidence, k: usize) -> Self {
        let (s, l) = (evidence.n_labels(), evidence.n_classes());
        let (mut cells, mut rows, mut wrong) = (Vec::new(), vec![0.0; l], vec![0.0; s]);
        for cell in evidence.confusion(k) {
            let (j, i) = (usize::from(cell.predicted), usize::from(cell.truth));
            let count = evidence.rows_of(cell.count);
            cells.push((j, i, count));
            rows[i] += count;
            wrong[j] += if i == j { 0.0 } else { count };
        }
        let (all, n_wrong): (f64, f64) = (rows.iter().sum(), wrong.iter().sum());
        Self {
            accuracy: (all - n_wrong + 1.0) / (all + 2.0),
            shares: wrong.iter().map(|rows| (rows + 1.0) / (n_wrong + s as f64)).collect(),
            cells,
            rows,
        }
    }

    /// Of a Dirichlet prior per class with so many pseudo-rows.
    fn log_likelihood(&self, concentration: f64) -> f64 {
        let of_class = |rows: &f64| ln_gamma(concentration) - ln_gamma(concentration + rows);
        let of_cell = |&(j, i, rows): &(usize, usize, f64)| {
            let mean = if i == j {
                self.accuracy
            } else {
                (1.0 - self.accuracy) * self.shares[j] / (1.0 - self.shares[i])
            };
            ln_gamma(concentration * mean + rows) - ln_gamma(concentration * mean)
        };
        self.rows.iter().map(of_class).sum::<f64>() + self.cells.iter().map(of_cell).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Predictions, Truth, hash};

    /// Rows of three classifiers and five classes: right on 6 rows in 10, else by `wrong(truth, draw)`.
    fn panel(n: u64, wrong: impl Fn(u64, u64) -> u64) -> Evidence {
        let mut rows = Predictions::builder(["a", "b", "c"]).expect("three names");
        let mut truth = Truth::default();
        for t in 0..n {
            let class = hash::draw(hash::mix(t, 1), 5);
            let predict = |k: u64| {
                let draw = hash::mix(hash::mix(t, 2), k);
                if hash::draw(draw, 10) < 6 { class } else { wrong(class, hash::draw(hash::mix(draw, 3), 4)) }
            };
            rows.push([0, 1, 2].map(|k| Some(predict(k) as i64))).expect("a row");
            truth.push(Some(class as i64)).expect("five labels");
        }
        Evidence::new(&rows.finish(), &truth).expect("rows")
    }

    #[test]
    fn letters_are_exchangeable_and_classes_with_confusions_of_their_own_are_not() {
        // Any other class, equally often.
        let letters = |class: u64, draw: u64| (class + 1 + draw) % 5;
        assert_eq!(panel(400, letters).classes_are_exchangeable(), Some(true));
        // Always the same other class.
        assert_eq!(panel(400, |class, _| (class + 1) % 5).classes_are_exchangeable(), Some(false));
        assert_eq!(panel(400, |class, _| u64::from(class == 0)).classes_are_exchangeable(), Some(false));
    }
}
