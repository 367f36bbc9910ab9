//! Panels: what classifiers answer to the same rows, some of them spoiled.

use spocc::{Control, Evidence, Label, Predictions, Truth, evidence::Counting};

use crate::{draw, error::Error};

/// Answers of classifiers to the same rows.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    pub(crate) n_classes: usize,
    /// What is true of each row.
    pub(crate) truth: Vec<u16>,
    /// Which row of the world each one is: a spoiled classifier answers the same row alike whenever it is asked.
    pub(crate) ids: Vec<u64>,
    /// What each classifier says of each row.
    pub(crate) columns: Vec<Vec<u16>>,
}

/// How a classifier is spoiled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Corruption {
    /// With this probability the answer becomes another one, all others alike.
    Adversary(f64),
    /// With this probability the answer becomes any one, all alike, perhaps the same.
    Noisy(f64),
    /// The answer stays.
    Copy,
}

impl Answers {
    pub(crate) fn n_rows(&self) -> usize {
        self.truth.len()
    }

    /// Adds a spoiled version of a column; `name` tells its draws from those of others.
    pub(crate) fn add_spoiled(&mut self, column: usize, corruption: Corruption, seed: u64, name: u64) {
        let spoil = |(&answer, &id): (&u16, &u64)| spoil(answer, self.n_classes, corruption, seed, name, id);
        let spoiled = self.columns[column].iter().zip(&self.ids).map(spoil).collect();
        self.columns.push(spoiled);
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

    /// Share of the rows on which a classifier is right.
    pub(crate) fn accuracy(&self, column: usize) -> f64 {
        let right = self.columns[column].iter().zip(&self.truth).filter(|(answer, truth)| answer == truth);
        right.count() as f64 / self.n_rows() as f64
    }

    /// A table for other programs; the classifiers have the names that the engine is given.
    pub(crate) fn to_csv(&self) -> String {
        let names = (1..=self.columns.len()).map(|k| format!("c{k}"));
        let head =
            ["row", "truth"].map(ToOwned::to_owned).into_iter().chain(names).collect::<Vec<_>>().join(",");
        let line = |row: usize| {
            let known = [self.ids[row].to_string(), self.truth[row].to_string()];
            let answers = self.columns.iter().map(|column| column[row].to_string());
            known.into_iter().chain(answers).collect::<Vec<_>>().join(",")
        };
        let lines = std::iter::once(head).chain((0..self.n_rows()).map(line));
        lines.collect::<Vec<_>>().join("\n") + "\n"
    }

    /// The first `width` columns as the engine takes them.
    pub(crate) fn predictions(&self, width: usize) -> Result<Predictions, Error> {
        let names = (1..=width).map(|k| format!("c{k}"));
        let labels = (0..self.n_classes as i64).map(Label::from).collect();
        let cell = |row: usize| self.columns[..width].iter().map(move |column| column[row]);
        Ok(Predictions::from_ids(names, labels, (0..self.n_rows()).flat_map(cell).collect())?)
    }

    /// What the first `width` columns and the truth teach.
    pub(crate) fn evidence(&self, width: usize) -> Result<Evidence, Error> {
        let classes = (0..self.n_classes as i64).map(Label::from).collect();
        let truth = Truth::new(self.truth.iter().map(|&class| Some(i64::from(class))))?;
        let counting = Counting { classes: Some(classes), ..Counting::default() };
        Ok(Evidence::count(&self.predictions(width)?, &truth, &counting, &Control::default())?)
    }
}

fn spoil(answer: u16, n_classes: usize, corruption: Corruption, seed: u64, name: u64, id: u64) -> u16 {
    let (theta, others) = match corruption {
        Corruption::Adversary(theta) => (theta, n_classes - 1),
        Corruption::Noisy(theta) => (theta, n_classes),
        Corruption::Copy => return answer,
    };
    if draw::uniform(seed, &[name, id, 0]) >= theta {
        return answer;
    }
    let drawn = (draw::uniform(seed, &[name, id, 1]) * others as f64) as usize;
    // An adversary's draw counts on from its answer, past itself; anybody else's counts from the first class.
    let shift = if others < n_classes { usize::from(answer) + 1 } else { 0 };
    ((shift + drawn) % n_classes) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(n: u64, n_classes: usize) -> Answers {
        let truth: Vec<u16> = (0..n).map(|t| (t % n_classes as u64) as u16).collect();
        Answers { n_classes, columns: vec![truth.clone()], truth, ids: (0..n).collect() }
    }

    #[test]
    fn a_spoiled_classifier_says_the_same_of_a_row_whenever_it_is_asked() {
        let mut all = answers(1000, 3);
        let mut some = all.select(&[7, 500, 7, 3]);
        all.add_spoiled(0, Corruption::Noisy(0.9), 5, 1);
        some.add_spoiled(0, Corruption::Noisy(0.9), 5, 1);
        assert_eq!(some.columns[1], [7, 500, 7, 3].map(|row| all.columns[1][row]));
    }

    #[test]
    fn a_table_has_a_line_per_row_and_a_column_per_classifier() {
        let mut panel = answers(3, 3);
        panel.add_spoiled(0, Corruption::Copy, 5, 1);
        assert_eq!(panel.to_csv(), "row,truth,c1,c2\n0,0,0,0\n1,1,1,1\n2,2,2,2\n");
    }

    #[test]
    fn adversaries_and_faults_err_as_often_as_they_should() {
        let mut panel = answers(100_000, 5);
        for (name, corruption, expected) in [
            (1, Corruption::Adversary(0.3), 0.7),
            (2, Corruption::Noisy(0.5), 0.6),
            (3, Corruption::Copy, 1.0),
            (4, Corruption::Adversary(1.0), 0.0),
        ] {
            panel.add_spoiled(0, corruption, 11, name);
            let accuracy = panel.accuracy(panel.columns.len() - 1);
            assert!((accuracy - expected).abs() < 0.01, "{corruption:?} {accuracy}");
        }
    }

    #[test]
    fn two_spoiled_classifiers_do_not_err_together() {
        let mut panel = answers(50_000, 2);
        panel.add_spoiled(0, Corruption::Adversary(0.5), 3, 1);
        panel.add_spoiled(0, Corruption::Adversary(0.5), 3, 2);
        let both = panel.columns[1].iter().zip(&panel.columns[2]).filter(|(a, b)| a == b).count();
        assert!((both as f64 / 50_000.0 - 0.5).abs() < 0.01);
    }
}
