//! The panel every measurement is run on: a fixed generator and a fixed seed.

use std::{fmt, ops::Range};

use rayon::prelude::*;
use serde::Serialize;
use spocc::{Label, Predictions, Truth};

/// Where the generator starts.
const SEED: u64 = 1;

/// Rows that one thread makes at a time.
const BLOCK: usize = 1 << 14;

/// How often each classifier is right; a wrong answer is any other class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Ease {
    /// 95 % of the answers are right, so that few patterns of answers make up most rows.
    Easy,
    /// 60 % are, so that most patterns occur once.
    Hard,
}

/// Rows, classifiers, classes and how often each classifier is right.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Shape {
    /// Number of rows.
    pub rows: usize,
    /// Number of classifiers.
    pub classifiers: usize,
    /// Number of classes, equally frequent.
    pub classes: u16,
    /// How often a classifier is right.
    pub ease: Ease,
}

/// How a label id is held.
pub trait Id: Copy + Default + Send {
    /// The id, which is known to fit.
    fn of(id: u16) -> Self;
}

impl Id for u8 {
    fn of(id: u16) -> Self {
        id as u8
    }
}

impl Id for u16 {
    fn of(id: u16) -> Self {
        id
    }
}

impl fmt::Display for Ease {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if *self == Self::Easy { "easy" } else { "hard" })
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}x{}x{}-{}", self.rows, self.classifiers, self.classes, self.ease)
    }
}

impl Shape {
    /// The same panel with other rows; the first ones are the same.
    #[must_use]
    pub fn with_rows(self, rows: usize) -> Self {
        Self { rows, ..self }
    }

    /// Answers, row after row, and the truth of each row of a range.
    pub fn ids<T: Id>(self, rows: &Range<usize>) -> (Vec<T>, Vec<T>) {
        let width = self.classifiers;
        let mut answers = vec![T::default(); rows.len() * width];
        let mut truths = vec![T::default(); rows.len()];
        let blocks = answers.par_chunks_mut(BLOCK * width).zip(truths.par_chunks_mut(BLOCK));
        blocks.enumerate().for_each(|(block, (answers, truths))| {
            // Draws are numbered, so that any row can be made without those before it.
            let mut draws = Draws::from((rows.start + block * BLOCK) as u64 * (1 + 2 * width as u64));
            for (answers, truth) in answers.chunks_mut(width).zip(truths) {
                *truth = T::of(self.row(&mut draws, answers));
            }
        });
        (answers, truths)
    }

    /// Fills in one row's answers and returns its truth.
    fn row<T: Id>(self, draws: &mut Draws, answers: &mut [T]) -> u16 {
        let truth = draws.below(self.classes);
        for answer in answers {
            let other = truth + 1 + draws.below(self.classes - 1);
            let wrong = if other < self.classes { other } else { other - self.classes };
            *answer = T::of(if draws.is_below(self.ease.right_of_2_to_53()) { truth } else { wrong });
        }
        truth
    }

    /// The panel as the engine takes it.
    ///
    /// # Panics
    ///
    /// Without classifiers or with fewer than two classes.
    pub fn panel(self) -> (Predictions, Truth) {
        let (answers, truths) = self.ids::<u16>(&(0..self.rows));
        self.table(answers, truths)
    }

    /// Any answers and truths of this shape as the engine takes them.
    ///
    /// # Panics
    ///
    /// If they are not of this shape.
    pub fn table(self, answers: Vec<u16>, truths: Vec<u16>) -> (Predictions, Truth) {
        let names = (0..self.classifiers).map(|k| format!("c{k}"));
        let labels: Vec<Label> = (0..i64::from(self.classes)).map(Label::from).collect();
        let truth = Truth::from_ids(labels.clone(), truths).expect("truths are classes");
        (Predictions::from_ids(names, labels, answers).expect("answers are classes"), truth)
    }
}

impl Ease {
    /// A draw of 53 bits below this is a right answer: exact, as the accuracies have no more bits.
    fn right_of_2_to_53(self) -> u64 {
        let accuracy: f64 = if self == Self::Easy { 0.95 } else { 0.6 };
        (accuracy * (1u64 << 53) as f64) as u64
    }
}

/// Numbered draws: splitmix64.
pub(crate) struct Draws {
    state: u64,
}

impl Draws {
    /// The draws from number `at` on.
    pub(crate) fn from(at: u64) -> Self {
        Self { state: SEED.wrapping_add(at.wrapping_mul(0x9e37_79b9_7f4a_7c15)) }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) >> 11
    }

    /// A class from 0.
    pub(crate) fn below(&mut self, classes: u16) -> u16 {
        (self.next() as f64 / (1u64 << 53) as f64 * f64::from(classes)) as u16
    }

    /// Any number from 0.
    pub(crate) fn index(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub(crate) fn is_below(&mut self, of_2_to_53: u64) -> bool {
        self.next() < of_2_to_53
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Shape = Shape { rows: 3, classifiers: 4, classes: 5, ease: Ease::Hard };

    /// Figures of different days can be compared only if this never changes.
    #[test]
    fn the_first_rows_are_always_the_same() {
        let (answers, truths) = SMALL.ids::<u8>(&(0..3));
        assert_eq!(truths, [2, 3, 3]);
        assert_eq!(answers, [0, 2, 1, 2, 0, 3, 3, 1, 3, 3, 3, 3]);
    }

    #[test]
    fn any_rows_can_be_made_alone_and_held_in_either_width() {
        let shape = SMALL.with_rows(2 * BLOCK);
        let (all, _) = shape.ids::<u8>(&(0..shape.rows));
        let from = BLOCK + 7;
        let (some, _) = shape.ids::<u16>(&(from..from + 3));
        let same = &all[from * 4..(from + 3) * 4];
        assert!(some.iter().zip(same).all(|(wide, narrow)| *wide == u16::from(*narrow)));
    }

    #[test]
    fn classifiers_are_as_accurate_as_they_should_be() {
        for (ease, accuracy) in [(Ease::Easy, 0.95), (Ease::Hard, 0.6)] {
            let shape = Shape { ease, ..SMALL.with_rows(10_000) };
            let (answers, truths) = shape.ids::<u8>(&(0..shape.rows));
            let right =
                answers.chunks(4).zip(&truths).flat_map(|(row, truth)| row.iter().map(move |j| j == truth));
            let share = right.filter(|right| *right).count() as f64 / answers.len() as f64;
            // Four standard deviations of 40 000 draws.
            assert!((share - accuracy).abs() < 0.01, "{ease}: {share}");
        }
    }
}
