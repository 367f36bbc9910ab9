//! Small panels with a known truth, made from a seed: classifiers of mixed skill, some of them copies, adversaries
//! or guessers, with missing cells, weights and answers that are no class where a test asks for them.

// Every test file uses its own part of this module.
#![allow(dead_code)]

use proptest::{
    prelude::*,
    test_runner::{Config, RngSeed},
};
use spocc::{
    Control, Evidence, Label, Predictions, Truth,
    evidence::{Counting, Level},
};

/// A sequence of numbers that depends on its seed alone (`SplitMix64`).
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// A number from 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A shuffled 0..n.
    pub(crate) fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for at in (1..n).rev() {
            order.swap(at, self.below(at + 1));
        }
        order
    }
}

/// What a panel is like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) n_classifiers: usize,
    pub(crate) n_classes: usize,
    /// Answers that are no class; they make the list of classes a given one.
    pub(crate) n_others: usize,
    pub(crate) n_rows: usize,
    /// Share of empty cells, and of rows without a truth.
    pub(crate) missing_share: f64,
    /// Rows with weights that are no whole numbers.
    pub(crate) weighted: bool,
    pub(crate) seed: u64,
}

/// Rows x classifiers of answers, with the truth of every row.
#[derive(Clone)]
pub(crate) struct Panel {
    pub(crate) names: Vec<String>,
    /// First the classes, then other answers.
    pub(crate) labels: Vec<String>,
    pub(crate) n_classes: usize,
    pub(crate) is_closed: bool,
    pub(crate) rows: Vec<Vec<Option<usize>>>,
    pub(crate) truth: Vec<Option<usize>>,
    pub(crate) weights: Option<Vec<f64>>,
}

impl std::fmt::Debug for Panel {
    /// One word per row: the answers, a dot for a missing cell, then the truth.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = |cell: &Option<usize>| cell.map_or(".".to_owned(), |id| id.to_string());
        write!(
            out,
            "{} classes of {} labels (closed: {}):",
            self.n_classes,
            self.labels.len(),
            self.is_closed
        )?;
        for (row, truth) in self.rows.iter().zip(&self.truth) {
            write!(out, " {}={}", row.iter().map(word).collect::<Vec<_>>().join(","), word(truth))?;
        }
        write!(out, "; weights {:?}", self.weights)
    }
}

/// The same cases every time, so that a failure can be met again; `PROPTEST_RNG_SEED` explores others.
pub(crate) fn config(cases: u32) -> Config {
    let given = Config::default();
    let soak: u32 = std::env::var("SPOCC_SOAK").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1);
    let rng_seed = match given.rng_seed {
        RngSeed::Random => RngSeed::Fixed(20_260_101),
        RngSeed::Fixed(chosen) => RngSeed::Fixed(chosen),
    };
    Config {
        cases: cases * soak,
        rng_seed,
        failure_persistence: None,
        max_global_rejects: 20_000 * soak,
        ..given
    }
}

/// Panels of up to `n_classifiers`, `n_classes`, `n_rows`, of every kind.
pub(crate) fn panels(n_classifiers: usize, n_classes: usize, n_rows: usize) -> impl Strategy<Value = Panel> {
    let missing_share = prop_oneof![Just(0.0), Just(0.3), Just(0.9)];
    (1..=n_classifiers, 1..=n_classes, 0..=2usize, 1..=n_rows, missing_share, any::<bool>(), any::<u64>())
        .prop_map(|(n_classifiers, n_classes, n_others, n_rows, missing_share, weighted, seed)| {
            Panel::new(Shape { n_classifiers, n_classes, n_others, n_rows, missing_share, weighted, seed })
        })
}

/// Complete panels of at least two classifiers, with whole counts and every answer a class.
pub(crate) fn plain_panels(
    n_classifiers: usize,
    n_classes: usize,
    n_rows: usize,
) -> impl Strategy<Value = Panel> {
    (2..=n_classifiers, 2..=n_classes, n_rows / 2..=n_rows, any::<u64>()).prop_map(
        |(n_classifiers, n_classes, n_rows, seed)| {
            let (n_others, missing_share, weighted) = (0, 0.0, false);
            Panel::new(Shape { n_classifiers, n_classes, n_others, n_rows, missing_share, weighted, seed })
        },
    )
}

impl Panel {
    pub(crate) fn new(shape: Shape) -> Self {
        let mut random = Random(shape.seed);
        let n_labels = shape.n_classes + shape.n_others;
        let skill: Vec<f64> = (0..shape.n_classifiers).map(|_| 0.1 + 0.85 * random.unit()).collect();
        // About a third of the classifiers mostly repeat an earlier one.
        let copied: Vec<Option<usize>> = (0..shape.n_classifiers)
            .map(|k| (k > 0 && random.below(3) == 0).then(|| random.below(k.max(1))))
            .collect();
        let mut rows = Vec::with_capacity(shape.n_rows);
        let mut truth = Vec::with_capacity(shape.n_rows);
        for _ in 0..shape.n_rows {
            // The larger of two draws: classes are not equally frequent.
            let class = random.below(shape.n_classes).max(random.below(shape.n_classes));
            let mut predicted: Vec<usize> = Vec::with_capacity(shape.n_classifiers);
            for k in 0..shape.n_classifiers {
                let own = if random.unit() < skill[k] { class } else { random.below(n_labels) };
                let repeats = random.unit() < 0.8;
                predicted.push(copied[k].filter(|_| repeats).map_or(own, |other| predicted[other]));
            }
            rows.push(
                predicted.into_iter().map(|j| (random.unit() >= shape.missing_share).then_some(j)).collect(),
            );
            truth.push((random.unit() >= shape.missing_share / 3.0).then_some(class));
        }
        let weights = shape.weighted.then(|| (0..shape.n_rows).map(|_| 0.25 + 3.0 * random.unit()).collect());
        Self {
            names: (0..shape.n_classifiers).map(|k| format!("c{k}")).collect(),
            labels: (0..n_labels).map(|j| format!("l{j}")).collect(),
            n_classes: shape.n_classes,
            is_closed: shape.n_others > 0,
            rows,
            truth,
            weights,
        }
    }

    /// A complete panel with whole counts from the rows themselves: answers, then the truth.
    pub(crate) fn of(n_classes: usize, rows: &[(Vec<usize>, usize)]) -> Self {
        Self {
            names: (0..rows.first().map_or(0, |row| row.0.len())).map(|k| format!("c{k}")).collect(),
            labels: (0..n_classes).map(|j| format!("l{j}")).collect(),
            n_classes,
            is_closed: true,
            rows: rows.iter().map(|(predicted, _)| predicted.iter().copied().map(Some).collect()).collect(),
            truth: rows.iter().map(|(_, class)| Some(*class)).collect(),
            weights: None,
        }
    }

    pub(crate) fn label(&self, id: usize) -> Label {
        Label::from(self.labels[id].as_str())
    }

    pub(crate) fn classes(&self) -> Vec<Label> {
        (0..self.n_classes).map(|i| self.label(i)).collect()
    }

    pub(crate) fn predictions(&self) -> Predictions {
        self.table(&self.rows)
    }

    /// A table of other rows about the same panel.
    pub(crate) fn table(&self, rows: &[Vec<Option<usize>>]) -> Predictions {
        let mut table = Predictions::builder(self.names.clone()).expect("names are distinct");
        for row in rows {
            table.push(row.iter().map(|predicted| predicted.map(|j| self.label(j)))).expect("rows are whole");
        }
        table.finish()
    }

    pub(crate) fn truths(&self) -> Truth {
        Truth::new(self.truth.iter().map(|class| class.map(|i| self.label(i)))).expect("few labels")
    }

    pub(crate) fn counting(&self, level: Level) -> Counting<'_> {
        Counting {
            level,
            classes: self.is_closed.then(|| self.classes()),
            counts: None,
            weights: self.weights.as_deref(),
            unlabelled: false,
        }
    }

    pub(crate) fn evidence(&self, level: Level) -> Evidence {
        let (table, truth) = (self.predictions(), self.truths());
        Evidence::count(&table, &truth, &self.counting(level), &Control::default()).expect("a sound panel")
    }

    pub(crate) fn tally(&self) -> Evidence {
        self.evidence(Level::Tally)
    }

    /// The rows with these numbers.
    pub(crate) fn part(&self, rows: &[usize]) -> Self {
        Self {
            rows: rows.iter().map(|&t| self.rows[t].clone()).collect(),
            truth: rows.iter().map(|&t| self.truth[t]).collect(),
            weights: self.weights.as_ref().map(|weights| rows.iter().map(|&t| weights[t]).collect()),
            ..self.clone()
        }
    }

    /// The classifiers with these numbers, in this order.
    pub(crate) fn reordered(&self, order: &[usize]) -> Self {
        Self {
            names: order.iter().map(|&k| self.names[k].clone()).collect(),
            rows: self.rows.iter().map(|row| order.iter().map(|&k| row[k]).collect()).collect(),
            ..self.clone()
        }
    }

    /// Class `i` becomes class `new[i]`, as a truth and as an answer.
    pub(crate) fn renamed(&self, new: &[usize]) -> Self {
        let id = |id: usize| new.get(id).copied().unwrap_or(id);
        Self {
            rows: self
                .rows
                .iter()
                .map(|row| row.iter().map(|predicted| predicted.map(id)).collect())
                .collect(),
            truth: self.truth.iter().map(|class| class.map(id)).collect(),
            ..self.clone()
        }
    }

    pub(crate) fn has_truth(&self) -> bool {
        self.truth.iter().any(Option::is_some)
    }

    /// A row as a model fitted to the panel understands it: labels met in no labelled row are a missing cell.
    pub(crate) fn understood(&self, row: &[Option<usize>]) -> Vec<Option<usize>> {
        let is_met = |j: usize| {
            let predicted = |t: usize| self.truth[t].is_some() && self.rows[t].contains(&Some(j));
            j < self.n_classes || (0..self.rows.len()).any(predicted)
        };
        row.iter().map(|predicted| predicted.filter(|j| is_met(*j))).collect()
    }

    /// Every pattern of answers there can be, for few classifiers.
    pub(crate) fn all_patterns(&self) -> Vec<Vec<Option<usize>>> {
        let n_labels = self.labels.len();
        let n = n_labels.pow(self.names.len() as u32);
        (0..n)
            .map(|p| (0..self.names.len()).map(|k| Some(p / n_labels.pow(k as u32) % n_labels)).collect())
            .collect()
    }
}
