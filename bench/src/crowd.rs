//! A crowd: many items, many workers, a few answers to each item.

use serde::Serialize;
use spocc::{Label, Predictions, Truth};

use crate::panel::Draws;

/// Items x workers with a fixed number of answers per item, 80 % of them right; the seed is 1.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Crowd {
    /// Number of items.
    pub items: usize,
    /// Number of workers.
    pub workers: usize,
    /// Answers to each item, all by different workers.
    pub answers: usize,
    /// Number of classes, equally frequent.
    pub classes: u16,
}

impl Crowd {
    /// The crowd as the engine takes it; every truth is known.
    ///
    /// # Panics
    ///
    /// Without workers, with fewer than two classes, or with more answers to an item than workers.
    pub fn panel(self) -> (Predictions, Truth) {
        let mut draws = Draws::from(0);
        let mut truths = Vec::with_capacity(self.items);
        let mut cells = Vec::with_capacity(self.items * self.answers);
        let right = (1u64 << 53) / 5 * 4;
        for item in 0..self.items {
            let truth = draws.below(self.classes);
            truths.push(truth);
            // Equal steps around the circle of workers never meet the same one twice.
            let (first, step) = (draws.index(self.workers), 1 + draws.index(self.workers / self.answers));
            for answer in 0..self.answers {
                let wrong = (truth + 1 + draws.below(self.classes - 1)) % self.classes;
                let said = if draws.is_below(right) { truth } else { wrong };
                cells.push((item, (first + answer * step) % self.workers, said as usize));
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
    fn every_item_has_its_answers() {
        let crowd = Crowd { items: 50, workers: 7, answers: 3, classes: 2 };
        let (predictions, truth) = crowd.panel();
        assert_eq!((predictions.n_rows(), predictions.n_classifiers(), truth.n_known()), (50, 7, 50));
        for item in 0..50 {
            let mut found = 0;
            predictions.for_each_prediction(item, |_, _| found += 1);
            assert_eq!(found, 3);
        }
    }
}
