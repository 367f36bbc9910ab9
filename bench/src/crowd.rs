//! A sparse crowd: many items, many workers, a few labels per item.

use serde::Serialize;
use spocc::{Label, Predictions, Truth};

use crate::panel::NumberedDraws;

/// Items by workers with a fixed number of labels per item, 80 % of them correct; the seed is 1.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CrowdShape {
    /// Number of items.
    pub items: usize,
    /// Number of workers.
    pub workers: usize,
    /// Labels per item, from different workers.
    pub answers: usize,
    /// Number of classes, equally frequent.
    pub classes: u16,
}

impl CrowdShape {
    /// The crowd as the engine takes it, with all truths.
    ///
    /// # Panics
    ///
    /// Without workers, with fewer than two classes, or with more labels per item than workers.
    pub fn panel(self) -> (Predictions, Truth) {
        let mut draws = NumberedDraws::from(0);
        let mut truths = Vec::with_capacity(self.items);
        let mut cells = Vec::with_capacity(self.items * self.answers);
        let correct = (1u64 << 53) / 5 * 4;
        for item in 0..self.items {
            let truth = draws.below(self.classes);
            truths.push(truth);
            // Equal steps around the circle of workers select distinct ones.
            let (first, step) = (draws.index(self.workers), 1 + draws.index(self.workers / self.answers));
            for label in 0..self.answers {
                let wrong = (truth + 1 + draws.below(self.classes - 1)) % self.classes;
                let predicted = if draws.is_below(correct) { truth } else { wrong };
                cells.push((item, (first + label * step) % self.workers, predicted as usize));
            }
        }
        let names = (0..self.workers).map(|k| format!("w{k}"));
        let labels: Vec<Label> = (0..i64::from(self.classes)).map(Label::from).collect();
        let predictions =
            Predictions::from_cells(names, self.items, &labels, cells).expect("distinct workers");
        let truth = Truth::new(truths.into_iter().map(|truth| Some(i64::from(truth)))).expect("few classes");
        (predictions, truth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_has_its_labels() {
        let crowd = CrowdShape { items: 50, workers: 7, answers: 3, classes: 2 };
        let (predictions, truth) = crowd.panel();
        assert_eq!((predictions.n_rows(), predictions.n_classifiers(), truth.n_known()), (50, 7, 50));
        for item in 0..50 {
            let mut found = 0;
            predictions.for_each_prediction(item, |_, _| found += 1);
            assert_eq!(found, 3);
        }
    }
}
