//! The generator of benchmark panels, with a fixed seed.

use std::{fmt, ops::Range};

use rayon::prelude::*;
use serde::Serialize;
use spocc::{Label, Predictions, Truth};

/// The seed of the generator.
const SEED: u64 = 1;

/// Rows that one thread generates at a time.
const BLOCK: usize = 1 << 14;

/// The accuracy of every classifier; errors are uniform over the other classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Ease {
    /// Accuracy 95 %: a few patterns of predictions make up most rows.
    Easy,
    /// Accuracy 60 %: most patterns occur once.
    Hard,
}

/// Rows, classifiers, classes and the accuracy of the classifiers.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PanelShape {
    /// Number of rows.
    pub rows: usize,
    /// Number of classifiers.
    pub classifiers: usize,
    /// Number of classes, equally frequent.
    pub classes: u16,
    /// The accuracy of the classifiers.
    pub ease: Ease,
}

/// The integer type of a label id.
pub trait BenchLabelId: Copy + Default + Send {
    /// Converts an id that fits.
    fn of(id: u16) -> Self;
}

impl BenchLabelId for u8 {
    fn of(id: u16) -> Self {
        id as u8
    }
}

impl BenchLabelId for u16 {
    fn of(id: u16) -> Self {
        id
    }
}

impl fmt::Display for Ease {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if *self == Self::Easy { "easy" } else { "hard" })
    }
}

impl fmt::Display for PanelShape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}x{}x{}-{}", self.rows, self.classifiers, self.classes, self.ease)
    }
}

impl PanelShape {
    /// The panel with another number of rows; the common first rows are equal.
    #[must_use]
    pub fn with_rows(self, rows: usize) -> Self {
        Self { rows, ..self }
    }

    /// The predictions, row by row, and the truths of a range of rows.
    pub fn ids<T: BenchLabelId>(self, rows: &Range<usize>) -> (Vec<T>, Vec<T>) {
        let width = self.classifiers;
        let mut predicted = vec![T::default(); rows.len() * width];
        let mut truths = vec![T::default(); rows.len()];
        let blocks = predicted.par_chunks_mut(BLOCK * width).zip(truths.par_chunks_mut(BLOCK));
        blocks.enumerate().for_each(|(block, (predicted, truths))| {
            // Draws are numbered, so that any row can be generated without the previous ones.
            let mut draws = NumberedDraws::from((rows.start + block * BLOCK) as u64 * (1 + 2 * width as u64));
            for (predicted, truth) in predicted.chunks_mut(width).zip(truths) {
                *truth = T::of(self.row(&mut draws, predicted));
            }
        });
        (predicted, truths)
    }

    /// Fills in one row's predictions and returns its truth.
    fn row<T: BenchLabelId>(self, draws: &mut NumberedDraws, predicted: &mut [T]) -> u16 {
        let truth = draws.below(self.classes);
        for cell in predicted {
            let other = truth + 1 + draws.below(self.classes - 1);
            let wrong = if other < self.classes { other } else { other - self.classes };
            *cell = T::of(if draws.is_below(self.ease.threshold()) { truth } else { wrong });
        }
        truth
    }

    /// The panel as the engine takes it.
    ///
    /// # Panics
    ///
    /// Without classifiers or with fewer than two classes.
    pub fn panel(self) -> (Predictions, Truth) {
        let (predicted, truths) = self.ids::<u16>(&(0..self.rows));
        self.table(predicted, truths)
    }

    /// Any predictions and truths of this shape as the engine takes them.
    ///
    /// # Panics
    ///
    /// If they are not of this shape.
    pub fn table(self, predicted: Vec<u16>, truths: Vec<u16>) -> (Predictions, Truth) {
        let names = (0..self.classifiers).map(|k| format!("c{k}"));
        let labels: Vec<Label> = (0..i64::from(self.classes)).map(Label::from).collect();
        let truth = Truth::from_ids(labels.clone(), truths).expect("truths are classes");
        (Predictions::from_ids(names, labels, predicted).expect("predictions are classes"), truth)
    }
}

impl Ease {
    /// A draw of 53 bits below this value is a correct prediction; exact, as the accuracies have no more bits.
    fn threshold(self) -> u64 {
        let accuracy: f64 = if self == Self::Easy { 0.95 } else { 0.6 };
        (accuracy * (1u64 << 53) as f64) as u64
    }
}

/// Numbered random draws (splitmix64).
pub(crate) struct NumberedDraws {
    state: u64,
}

impl NumberedDraws {
    /// The draws starting at number `at`.
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

    /// A class below `classes`.
    pub(crate) fn below(&mut self, classes: u16) -> u16 {
        (self.next() as f64 / (1u64 << 53) as f64 * f64::from(classes)) as u16
    }

    /// A number below `n`.
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

    const SMALL: PanelShape = PanelShape { rows: 3, classifiers: 4, classes: 5, ease: Ease::Hard };

    /// Timings of different dates are comparable only if this never changes.
    #[test]
    fn the_first_rows_are_always_the_same() {
        let (predicted, truths) = SMALL.ids::<u8>(&(0..3));
        assert_eq!(truths, [2, 3, 3]);
        assert_eq!(predicted, [0, 2, 1, 2, 0, 3, 3, 1, 3, 3, 3, 3]);
    }

    #[test]
    fn any_rows_can_be_generated_alone_and_in_either_width() {
        let shape = SMALL.with_rows(2 * BLOCK);
        let (all, _) = shape.ids::<u8>(&(0..shape.rows));
        let from = BLOCK + 7;
        let (some, _) = shape.ids::<u16>(&(from..from + 3));
        let same = &all[from * 4..(from + 3) * 4];
        assert!(some.iter().zip(same).all(|(wide, narrow)| *wide == u16::from(*narrow)));
    }

    #[test]
    fn classifiers_have_the_accuracy_of_their_ease() {
        for (ease, accuracy) in [(Ease::Easy, 0.95), (Ease::Hard, 0.6)] {
            let shape = PanelShape { ease, ..SMALL.with_rows(10_000) };
            let (predicted, truths) = shape.ids::<u8>(&(0..shape.rows));
            let correct =
                predicted.chunks(4).zip(&truths).flat_map(|(row, truth)| row.iter().map(move |j| j == truth));
            let share = correct.filter(|correct| *correct).count() as f64 / predicted.len() as f64;
            // Four standard deviations of 40 000 draws.
            assert!((share - accuracy).abs() < 0.01, "{ease}: {share}");
        }
    }
}
