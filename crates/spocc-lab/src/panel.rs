//! Panels: the predictions of several classifiers on the same rows, some of them corrupted.

use spocc::{Control, Evidence, Label, Predictions, Truth, evidence::Counting};

use crate::{error::Error, random};

/// Predictions of several classifiers on the same rows, with the true classes.
#[derive(Clone, Debug)]
pub(crate) struct PanelPredictions {
    pub(crate) n_classes: usize,
    /// The true class of each row.
    pub(crate) truth: Vec<u16>,
    /// The identity of each row: a corrupted classifier predicts the same for the same row wherever it appears.
    pub(crate) ids: Vec<u64>,
    /// The predictions of each classifier.
    pub(crate) columns: Vec<Vec<u16>>,
}

/// How a classifier is corrupted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Corruption {
    /// With this probability a prediction is replaced by one of the other classes, uniformly.
    Adversary(f64),
    /// With this probability a prediction is replaced by any class, uniformly.
    Noisy(f64),
    /// Predictions are copied.
    Copy,
}

impl PanelPredictions {
    pub(crate) fn n_rows(&self) -> usize {
        self.truth.len()
    }

    /// Adds a corrupted version of a column; `stream` selects its random draws.
    pub(crate) fn add_corrupted(&mut self, column: usize, corruption: Corruption, seed: u64, stream: u64) {
        let corrupt = |(&predicted, &id): (&u16, &u64)| {
            corrupt(predicted, self.n_classes, corruption, seed, stream, id)
        };
        let corrupted = self.columns[column].iter().zip(&self.ids).map(corrupt).collect();
        self.columns.push(corrupted);
    }

    /// Some of the rows.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let of = |column: &Vec<u16>| rows.iter().map(|&row| column[row]).collect();
        Self {
            n_classes: self.n_classes,
            truth: of(&self.truth),
            ids: rows.iter().map(|&row| self.ids[row]).collect(),
            columns: self.columns.iter().map(of).collect(),
        }
    }

    /// The accuracy of one classifier.
    pub(crate) fn accuracy(&self, column: usize) -> f64 {
        let correct = self.columns[column].iter().zip(&self.truth).filter(|(j, truth)| j == truth);
        correct.count() as f64 / self.n_rows() as f64
    }

    /// CSV for other programs; classifiers have the names that the engine is given.
    pub(crate) fn to_csv(&self) -> String {
        let names = (1..=self.columns.len()).map(|k| format!("c{k}"));
        let head =
            ["row", "truth"].map(ToOwned::to_owned).into_iter().chain(names).collect::<Vec<_>>().join(",");
        let line = |row: usize| {
            let known = [self.ids[row].to_string(), self.truth[row].to_string()];
            let predicted = self.columns.iter().map(|column| column[row].to_string());
            known.into_iter().chain(predicted).collect::<Vec<_>>().join(",")
        };
        let lines = std::iter::once(head).chain((0..self.n_rows()).map(line));
        lines.collect::<Vec<_>>().join("\n") + "\n"
    }

    /// The predictions of the first classifiers, as the engine takes them.
    pub(crate) fn predictions(&self, n_classifiers: usize) -> Result<Predictions, Error> {
        let names = (1..=n_classifiers).map(|k| format!("c{k}"));
        let labels = (0..self.n_classes as i64).map(Label::from).collect();
        let cell = |row: usize| self.columns[..n_classifiers].iter().map(move |column| column[row]);
        Ok(Predictions::from_ids(names, labels, (0..self.n_rows()).flat_map(cell).collect())?)
    }

    /// The evidence of the first classifiers.
    pub(crate) fn evidence(&self, n_classifiers: usize) -> Result<Evidence, Error> {
        let classes = (0..self.n_classes as i64).map(Label::from).collect();
        let truth = Truth::new(self.truth.iter().map(|&class| Some(i64::from(class))))?;
        let counting = Counting { classes: Some(classes), ..Counting::default() };
        Ok(Evidence::count(&self.predictions(n_classifiers)?, &truth, &counting, &Control::default())?)
    }
}

fn corrupt(predicted: u16, n_classes: usize, corruption: Corruption, seed: u64, stream: u64, id: u64) -> u16 {
    let (theta, n_choices) = match corruption {
        Corruption::Adversary(theta) => (theta, n_classes - 1),
        Corruption::Noisy(theta) => (theta, n_classes),
        Corruption::Copy => return predicted,
    };
    if random::uniform(seed, &[stream, id, 0]) >= theta {
        return predicted;
    }
    let drawn = (random::uniform(seed, &[stream, id, 1]) * n_choices as f64) as usize;
    // An adversary's draw is counted from the class after its prediction, so that the prediction is never drawn.
    let shift = if n_choices < n_classes { usize::from(predicted) + 1 } else { 0 };
    ((shift + drawn) % n_classes) as u16
}

#[cfg(test)]
impl PanelPredictions {
    /// One classifier that is always correct.
    pub(crate) fn perfect(n: u64, n_classes: usize) -> Self {
        let truth: Vec<u16> = (0..n).map(|t| (t % n_classes as u64) as u16).collect();
        Self { n_classes, columns: vec![truth.clone()], truth, ids: (0..n).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corrupted_classifier_predicts_the_same_for_the_same_row() {
        let mut all = PanelPredictions::perfect(1000, 3);
        let mut some = all.select(&[7, 500, 7, 3]);
        all.add_corrupted(0, Corruption::Noisy(0.9), 5, 1);
        some.add_corrupted(0, Corruption::Noisy(0.9), 5, 1);
        assert_eq!(some.columns[1], [7, 500, 7, 3].map(|row| all.columns[1][row]));
    }

    #[test]
    fn the_csv_has_a_line_per_row_and_a_column_per_classifier() {
        let mut panel = PanelPredictions::perfect(3, 3);
        panel.add_corrupted(0, Corruption::Copy, 5, 1);
        assert_eq!(panel.to_csv(), "row,truth,c1,c2\n0,0,0,0\n1,1,1,1\n2,2,2,2\n");
    }

    #[test]
    fn corrupted_classifiers_have_the_expected_accuracy() {
        let mut panel = PanelPredictions::perfect(100_000, 5);
        for (stream, corruption, expected) in [
            (1, Corruption::Adversary(0.3), 0.7),
            (2, Corruption::Noisy(0.5), 0.6),
            (3, Corruption::Copy, 1.0),
            (4, Corruption::Adversary(1.0), 0.0),
        ] {
            panel.add_corrupted(0, corruption, 11, stream);
            let accuracy = panel.accuracy(panel.columns.len() - 1);
            assert!((accuracy - expected).abs() < 0.01, "{corruption:?} {accuracy}");
        }
    }

    #[test]
    fn two_corrupted_classifiers_err_independently() {
        let mut panel = PanelPredictions::perfect(50_000, 2);
        panel.add_corrupted(0, Corruption::Adversary(0.5), 3, 1);
        panel.add_corrupted(0, Corruption::Adversary(0.5), 3, 2);
        let both = panel.columns[1].iter().zip(&panel.columns[2]).filter(|(a, b)| a == b).count();
        assert!((both as f64 / 50_000.0 - 0.5).abs() < 0.01);
    }
}
