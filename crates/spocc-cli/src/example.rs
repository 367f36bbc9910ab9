//! The panel of the demo: eleven judges sort messages into four classes, drawn from a fixed seed.

use spocc::{Error, Predictions, Truth};

/// What a message can be.
const CLASSES: [&str; 4] = ["billing", "bug", "praise", "question"];

/// Of 20 messages, how many are of each class.
const FREQUENCIES: [u64; 4] = [6, 6, 3, 5];

/// The panel, in the order of the columns.
const JUDGES: [&str; 11] =
    ["ada", "bea", "desk-1", "desk-2", "desk-3", "desk-4", "desk-5", "contrary", "coin", "stuck", "seldom"];

/// Messages that everyone has judged and whose truth is known.
pub(crate) struct Example {
    /// What the judges said.
    pub(crate) answers: Predictions,
    /// What was true.
    pub(crate) truth: Truth,
}

impl Example {
    /// Draws so many messages; another seed draws others.
    ///
    /// # Errors
    ///
    /// None that these names and labels could cause; the engine checks them all the same.
    pub(crate) fn draw(n_rows: usize, seed: u64) -> Result<Self, Error> {
        let mut dice = Dice(seed);
        let mut answers = Predictions::builder(JUDGES)?;
        let mut truth = Truth::default();
        for _ in 0..n_rows {
            let class = dice.class();
            truth.push(Some(CLASSES[class]))?;
            answers.push(judge(class, &mut dice).map(|answer| answer.map(|said| CLASSES[said])))?;
        }
        Ok(Self { answers: answers.finish(), truth })
    }
}

impl Example {
    /// The messages as a table; the first has this number.
    pub(crate) fn to_csv(&self, first: usize, with_truth: bool) -> String {
        let truth = if with_truth { ",truth" } else { "" };
        let mut text = format!("item,{}{truth}\n", JUDGES.join(","));
        for row in 0..self.answers.n_rows() {
            text.push_str(&(first + row).to_string());
            for k in 0..JUDGES.len() {
                text.push(',');
                text.extend(self.answers.get(row, k).map(ToString::to_string));
            }
            if with_truth {
                text.push(',');
                text.extend(self.truth.get(row).map(ToString::to_string));
            }
            text.push('\n');
        }
        text
    }

    /// Only their numbers and truths.
    pub(crate) fn truths_to_csv(&self, first: usize) -> String {
        let truth = |row| self.truth.get(row).map(ToString::to_string).unwrap_or_default();
        let line = |row| format!("{},{}\n", first + row, truth(row));
        format!("item,truth\n{}", (0..self.truth.n_rows()).map(line).collect::<String>())
    }
}

/// What every judge says of a message of this class.
fn judge(class: usize, dice: &mut Dice) -> [Option<usize>; 11] {
    // Each of the good ones knows half of the trade: ada tells bills from bugs, bea praise from questions.
    let either = dice.below(2);
    let ada = dice.mostly([0, 1, 2 + either, 2 + either][class], 90);
    let either = dice.below(2);
    let bea = dice.mostly([either, either, 2, 3][class], 90);
    let manual = dice.mostly(class, 45);
    let desks = [(); 5].map(|()| Some(dice.mostly(manual, 97)));
    let contrary = dice.mostly((class + 1) % 4, 88);
    let coin = dice.below(4);
    let stuck = 3;
    let seldom = dice.mostly(class, 90);
    let speaks = dice.chance(12);
    let [first, second, third, fourth, fifth] = desks;
    let others = [contrary, coin, stuck].map(Some);
    let [contrary, coin, stuck] = others;
    let seldom = speaks.then_some(seldom);
    [Some(ada), Some(bea), first, second, third, fourth, fifth, contrary, coin, stuck, seldom]
}

/// A small generator of pseudo-random numbers (splitmix64): the same seed, the same demo, on every machine.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> usize {
        // The remainder favours no small number by more than one in 2^60.
        (self.next() % n) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn class(&mut self) -> usize {
        let drawn = self.below(FREQUENCIES.iter().sum()) as u64;
        let mut sum = 0;
        FREQUENCIES
            .iter()
            .take_while(|&&frequency| {
                sum += frequency;
                sum <= drawn
            })
            .count()
    }

    /// This class so often, else any class.
    fn mostly(&mut self, class: usize, percent: usize) -> usize {
        let other = self.below(4);
        if self.chance(percent) { class } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dice_are_splitmix64() {
        // The first values of the reference implementation for seed 0.
        let mut dice = Dice(0);
        let first = [(); 3].map(|()| dice.next());
        assert_eq!(first, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }

    #[test]
    fn a_seed_draws_the_same_messages_every_time() {
        let (one, two) = (Example::draw(50, 1).expect("drawn"), Example::draw(50, 1).expect("drawn"));
        for row in 0..50 {
            assert_eq!(one.truth.get(row), two.truth.get(row));
            assert!((0..11).all(|k| one.answers.get(row, k) == two.answers.get(row, k)));
        }
    }
}
