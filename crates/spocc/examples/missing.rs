//! Measures what an empty cell should mean: no distribution, an answer, or whichever the evidence speaks for.
//!
//! `cargo run --release -p spocc --example missing -- REPS SEED [DIR]` prints, for each kind of silence, number of
//! labelled rows and method, how often new rows are decided rightly under each choice, and by how much `auto`
//! differs from the two others on the same panels, with half-widths of 95 % intervals. DIR holds crowds as
//! `NAME.label.csv` (item, worker, label) and `NAME.truth.csv` (item, truth).
#![allow(clippy::print_stdout)]

use std::{collections::HashMap, env, error::Error, fs, path::Path};

use spocc::{
    Control, Evidence, Label, Method, Model, Options, Predictions, Truth, data::Missing, evidence::Counting,
};

const METHODS: [Method; 4] = [Method::Ladder, Method::AdaSpocc, Method::NaiveBayes, Method::Stacking];
const N_ROWS: [usize; 3] = [40, 160, 1000];
const N_TEST: usize = 2000;
/// How often classifiers that speak are right.
const SKILLS: [f64; 7] = [0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55];
/// How often each class is true.
const SHARES: [f64; 3] = [0.5, 0.3, 0.2];

/// When a classifier says nothing.
#[derive(Clone, Copy, Debug)]
enum Silence {
    Random,
    Reject,
    ByClass,
    Mixed,
}

/// A small generator of numbers from 0 to 1 (splitmix64).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn class(&mut self) -> usize {
        let at = self.next();
        if at < SHARES[0] { 0 } else { 1 + usize::from(at > SHARES[0] + SHARES[1]) }
    }
}

impl Silence {
    fn chance(self, k: usize, class: usize, is_right: bool) -> f64 {
        match self {
            Self::Random => 0.4,
            Self::Reject if is_right => 0.2,
            Self::Reject => 0.7,
            Self::ByClass => [0.7, 0.3, 0.1][(class + k) % 3],
            Self::Mixed if k.is_multiple_of(2) => Self::Random.chance(k, class, is_right),
            Self::Mixed => Self::ByClass.chance(k, class, is_right),
        }
    }
}

/// Rows that some can learn from and others are judged on.
struct Panel {
    rows: Predictions,
    truth: Vec<Option<String>>,
}

impl Panel {
    fn drawn(silence: Silence, n_rows: usize, draws: &mut Draws) -> Result<Self, spocc::Error> {
        let names = ["x", "y", "z"];
        let mut rows = Predictions::builder((0..SKILLS.len()).map(|k| format!("c{k}")))?;
        let mut truth = Vec::new();
        for _ in 0..n_rows {
            let class = draws.class();
            let mut answer = |k: usize| {
                let other = (class + 1 + usize::from(draws.next() < 0.5)) % 3;
                let said = if draws.next() < SKILLS[k] { class } else { other };
                (draws.next() >= silence.chance(k, class, said == class)).then_some(names[said])
            };
            rows.push((0..SKILLS.len()).map(&mut answer).collect::<Vec<_>>())?;
            truth.push(Some(names[class].to_owned()));
        }
        Ok(Self { rows: rows.finish(), truth })
    }

    fn crowd(dir: &Path, name: &str) -> Result<Self, Box<dyn Error>> {
        let lines = |kind: &str| fs::read_to_string(dir.join(format!("{name}.{kind}.csv")));
        let (mut items, mut workers, mut cells) = (HashMap::new(), Vec::new(), Vec::new());
        let (mut places, mut asked) = (HashMap::new(), std::collections::HashSet::new());
        let labels = lines("label")?;
        let mut names: HashMap<&str, usize> = HashMap::new();
        for line in labels.lines().skip(1) {
            let [item, worker, label] = line.split(',').collect::<Vec<_>>()[..] else { continue };
            let next = items.len();
            let item = *items.entry(item.to_owned()).or_insert(next);
            let worker = *places.entry(worker.to_owned()).or_insert_with(|| {
                workers.push(worker.to_owned());
                workers.len() - 1
            });
            // Who answered twice is believed the first time.
            if asked.insert((item, worker)) {
                let next = names.len();
                cells.push((item, worker, *names.entry(label).or_insert(next)));
            }
        }
        let mut truth = vec![None; items.len()];
        for line in lines("truth")?.lines().skip(1) {
            if let Some((item, label)) = line.split_once(',')
                && let Some(&item) = items.get(item)
            {
                truth[item] = Some(label.to_owned());
            }
        }
        let mut labels = vec![Label::from(""); names.len()];
        names.into_iter().for_each(|(name, at)| labels[at] = name.into());
        Ok(Self { rows: Predictions::from_cells(workers, items.len(), &labels, cells)?, truth })
    }

    /// Share of the rows not learned from that are decided rightly, under each choice.
    fn judge(&self, method: Method, learns: &[bool]) -> Result<[f64; 3], spocc::Error> {
        let control = Control::default();
        let gold = self.truth.iter().zip(learns).map(|(truth, &learns)| truth.as_deref().filter(|_| learns));
        let evidence = Evidence::count(&self.rows, &Truth::new(gold)?, &Counting::default(), &control)?;
        let judge = |missing: Missing| {
            let options = Options { missing, ..Options::default() };
            let model = Model::fit(&*method.combiner(), &evidence, &options, &control)?;
            let decided = model.predict(&self.rows)?;
            let judged = self.truth.iter().zip(learns).zip(decided.labels());
            let (mut right, mut rows) = (0.0, 0.0);
            for ((truth, learns), decided) in judged {
                if let (Some(truth), false) = (truth, learns) {
                    rows += 1.0;
                    right += if decided.to_string() == *truth { 1.0 } else { 0.0 };
                }
            }
            Ok(100.0 * right / rows)
        };
        Ok([judge(Missing::Ignore)?, judge(Missing::Answer)?, judge(Missing::Auto)?])
    }
}

/// Mean and half-width of its 95 % interval.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, 1.96 * (variance / n).sqrt())
}

fn print(kind: &str, n_rows: usize, method: Method, shares: &[[f64; 3]]) {
    let of = |missing: usize| mean(&shares.iter().map(|share| share[missing]).collect::<Vec<f64>>()).0;
    let behind = |other: usize| {
        let (by, half) = mean(&shares.iter().map(|share| share[2] - share[other]).collect::<Vec<f64>>());
        format!("{by:+.2} ± {half:.2}")
    };
    let [silent, symbol, auto] = [0, 1, 2].map(of);
    println!(
        "| {kind} | {n_rows} | {method} | {silent:.1} | {symbol:.1} | {auto:.1} | {} | {} |",
        behind(0),
        behind(1)
    );
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let mut number = |default: u64| arguments.next().map_or(Ok(default), |number| number.parse());
    let (reps, seed): (u64, u64) = (number(20)?, number(1)?);
    println!("| silence | rows | method | silent | symbol | auto | auto - silent | auto - symbol |");
    println!("|---|---|---|---|---|---|---|---|");
    for silence in [Silence::Random, Silence::Reject, Silence::ByClass, Silence::Mixed] {
        for n_rows in N_ROWS {
            for method in METHODS {
                let judge = |rep: u64| {
                    let mut draws = Draws((seed << 32) + (rep << 16));
                    let panel = Panel::drawn(silence, n_rows + N_TEST, &mut draws)?;
                    let learns: Vec<bool> = (0..n_rows + N_TEST).map(|t| t < n_rows).collect();
                    panel.judge(method, &learns)
                };
                let shares = (0..reps).map(judge).collect::<Result<Vec<_>, spocc::Error>>()?;
                print(&format!("{silence:?}").to_lowercase(), n_rows, method, &shares);
            }
        }
    }
    let Some(dir) = arguments.next() else { return Ok(()) };
    for name in ["dog", "rte", "zencrowd"] {
        let panel = Panel::crowd(Path::new(&dir), name)?;
        for method in METHODS {
            let judge = |rep: u64| {
                let mut draws = Draws((seed << 32) + (rep << 16));
                let learns: Vec<bool> = panel.truth.iter().map(|_| draws.next() < 0.5).collect();
                panel.judge(method, &learns)
            };
            let shares = (0..reps).map(judge).collect::<Result<Vec<_>, spocc::Error>>()?;
            print(name, panel.truth.len() / 2, method, &shares);
        }
    }
    Ok(())
}
