//! The data of the demo: predictions of eleven classifiers for messages of four classes, drawn with a fixed seed.

use spocc::{Error, Predictions, Truth};

/// The classes of messages.
const CLASSES: [&str; 4] = ["billing", "bug", "praise", "question"];

/// The relative frequency of each class, out of 20.
const FREQUENCIES: [u64; 4] = [6, 6, 3, 5];

/// The classifiers, in the order of the columns.
const CLASSIFIERS: [&str; 11] = [
    "ada", "bea", "vendor-1", "vendor-2", "vendor-3", "vendor-4", "vendor-5", "contrary", "coin", "stuck",
    "seldom",
];

/// Messages with their predictions and true labels.
pub(crate) struct DemoData {
    /// The predictions.
    pub(crate) predictions: Predictions,
    /// The true labels.
    pub(crate) truth: Truth,
}

impl DemoData {
    /// Draws `n_rows` messages.
    ///
    /// # Errors
    ///
    /// Those of the engine, none of which these names and labels cause.
    pub(crate) fn draw(n_rows: usize, seed: u64) -> Result<Self, Error> {
        let mut dice = Dice(seed);
        let mut predictions = Predictions::builder(CLASSIFIERS)?;
        let mut truth = Truth::default();
        for _ in 0..n_rows {
            let class = dice.class();
            truth.push(Some(CLASSES[class]))?;
            predictions
                .push(draw_predictions(class, &mut dice).map(|predicted| predicted.map(|j| CLASSES[j])))?;
        }
        Ok(Self { predictions: predictions.finish(), truth })
    }

    /// The messages as a table; the first has the number `first`.
    pub(crate) fn to_csv(&self, first: usize, with_truth: bool) -> String {
        let truth = if with_truth { ",truth" } else { "" };
        let mut text = format!("item,{}{truth}\n", CLASSIFIERS.join(","));
        for row in 0..self.predictions.n_rows() {
            text.push_str(&(first + row).to_string());
            for k in 0..CLASSIFIERS.len() {
                text.push(',');
                text.extend(self.predictions.get(row, k).map(ToString::to_string));
            }
            if with_truth {
                text.push(',');
                text.extend(self.truth.get(row).map(ToString::to_string));
            }
            text.push('\n');
        }
        text
    }

    /// The numbers and true labels of the messages as a table.
    pub(crate) fn truths_to_csv(&self, first: usize) -> String {
        let truth = |row| self.truth.get(row).map(ToString::to_string).unwrap_or_default();
        let line = |row| format!("{},{}\n", first + row, truth(row));
        format!("item,truth\n{}", (0..self.truth.n_rows()).map(line).collect::<String>())
    }
}

/// The models of the table of open answers, in the order of the columns.
const MODELS: [&str; 6] = ["nova", "orca", "pine", "pine-mini", "quill", "rook"];

/// Answers of six models to word problems whose answers are numbers, written in their own ways; the truth of the first
/// `n_labelled` is known. A frequent wrong answer is the sum in place of the product, and `pine-mini` nearly copies `pine`.
pub(crate) fn answers_to_csv(n_rows: usize, n_labelled: usize, seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut text = format!("problem,{},truth\n", MODELS.join(","));
    for row in 0..n_rows {
        let (a, b) = (12 + dice.below(80), 11 + dice.below(40));
        let mut answer = |percent: usize| {
            let slip = a * b + 10 * (1 + dice.below(9));
            match (dice.chance(percent), dice.chance(50)) {
                (true, _) => a * b,
                (false, true) => a + b,
                (false, false) => slip,
            }
        };
        let [nova, orca, pine, quill, rook] = [88, 74, 55, 60, 30].map(&mut answer);
        let other = answer(55);
        let mini = if dice.chance(96) { pine } else { other };
        let dollars =
            |n: usize| if n < 1000 { format!("${n}") } else { format!("\"${},{:03}\"", n / 1000, n % 1000) };
        let truth = if row < n_labelled { (a * b).to_string() } else { String::new() };
        let cells = [
            nova.to_string(),
            dollars(orca),
            pine.to_string(),
            mini.to_string(),
            format!("{quill}.00"),
            rook.to_string(),
        ];
        let missing = dice.below(40);
        let cells: Vec<&str> =
            cells.iter().enumerate().map(|(k, cell)| if k == missing { "" } else { cell.as_str() }).collect();
        text.extend([&(row + 1).to_string(), ",", &cells.join(","), ",", &truth, "\n"]);
    }
    text
}

/// The predictions of all classifiers for a message of this class.
fn draw_predictions(class: usize, dice: &mut Dice) -> [Option<usize>; 11] {
    // ada separates billing and bug but confuses praise and question; bea is the reverse.
    let either = dice.below(2);
    let ada = dice.mostly([0, 1, 2 + either, 2 + either][class], 90);
    let either = dice.below(2);
    let bea = dice.mostly([either, either, 2, 3][class], 90);
    // The vendors share one poor model and differ from it in few rows.
    let shared = dice.mostly(class, 45);
    let vendors = [(); 5].map(|()| Some(dice.mostly(shared, 97)));
    let contrary = dice.mostly((class + 1) % 4, 88);
    let coin = dice.below(4);
    let stuck = 3;
    let seldom = dice.mostly(class, 90);
    let is_present = dice.chance(12);
    let [first, second, third, fourth, fifth] = vendors;
    let others = [contrary, coin, stuck].map(Some);
    let [contrary, coin, stuck] = others;
    let seldom = is_present.then_some(seldom);
    [Some(ada), Some(bea), first, second, third, fourth, fifth, contrary, coin, stuck, seldom]
}

/// The pseudo-random number generator splitmix64, which gives the same numbers on every machine.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> usize {
        // The bias of the remainder is below 2^-60.
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

    /// The given class with this probability, else a uniform draw among all classes.
    fn mostly(&mut self, class: usize, percent: usize) -> usize {
        let other = self.below(4);
        if self.chance(percent) { class } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        // The first values of the reference implementation for seed 0.
        let mut dice = Dice(0);
        let first = [(); 3].map(|()| dice.next());
        assert_eq!(first, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }

    #[test]
    fn a_seed_gives_the_same_messages_every_time() {
        let (one, two) = (DemoData::draw(50, 1).expect("drawn"), DemoData::draw(50, 1).expect("drawn"));
        for row in 0..50 {
            assert_eq!(one.truth.get(row), two.truth.get(row));
            assert!((0..11).all(|k| one.predictions.get(row, k) == two.predictions.get(row, k)));
        }
    }
}
