//! What the ladder promises: copies, other names, guessers and hardly any evidence.

use spocc::{
    Combiner, Control, Evidence, Fit, Ladder, Method, Model, Predictions, Truth,
    evidence::Counting,
    methods::{Majority, Parameters, Selection},
};

/// Rows of answers with their truths.
#[derive(Clone)]
struct Table {
    columns: Vec<Vec<usize>>,
    truth: Vec<usize>,
}

const NAMES: [&str; 5] = ["ash", "birch", "cedar", "elm", "fir"];

/// A number from 0 to 1 that depends on nothing but its address.
fn draw(address: [u64; 3]) -> f64 {
    let mut z = address.iter().fold(0x1234_5678_u64, |hash, word| {
        (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

impl Table {
    /// Classifiers of these skills on `n` classes, the first of which are the more frequent.
    fn new(skills: &[f64], n_classes: usize, n_rows: usize, seed: u64) -> Self {
        let class = |t: usize| {
            let at = draw([seed, t as u64, 999]);
            ((at * at * n_classes as f64) as usize).min(n_classes - 1)
        };
        let truth: Vec<usize> = (0..n_rows).map(class).collect();
        let answer = |k: usize, t: usize, skill: f64| {
            let [is_right, other] = [0, 1].map(|purpose| draw([seed, t as u64, 10 * k as u64 + purpose]));
            if is_right < skill { truth[t] } else { (other * n_classes as f64) as usize % n_classes }
        };
        let column = |(k, &skill): (usize, &f64)| (0..n_rows).map(|t| answer(k, t, skill)).collect();
        Self { columns: skills.iter().enumerate().map(column).collect(), truth }
    }

    fn halves(&self, n_first: usize) -> [Self; 2] {
        let part = |range: std::ops::Range<usize>| Self {
            columns: self.columns.iter().map(|column| column[range.clone()].to_vec()).collect(),
            truth: self.truth[range].to_vec(),
        };
        [part(0..n_first), part(n_first..self.truth.len())]
    }

    /// With one more column, a function of the answers of column `k`.
    fn with(&self, k: usize, says: impl Fn(usize) -> usize) -> Self {
        let mut table = self.clone();
        table.columns.push(self.columns[k].iter().map(|&answer| says(answer)).collect());
        table
    }

    fn predictions(&self) -> Predictions {
        let names = (0..self.columns.len()).map(|k| format!("c{k}"));
        let mut rows = Predictions::builder(names).expect("names");
        for t in 0..self.truth.len() {
            rows.push(self.columns.iter().map(|column| Some(NAMES[column[t]]))).expect("answers");
        }
        rows.finish()
    }

    fn fit(&self, combiner: &dyn Combiner) -> Model {
        let truth = Truth::new(self.truth.iter().map(|&class| Some(NAMES[class]))).expect("few labels");
        combiner.fit(&Evidence::new(&self.predictions(), &truth).expect("rows")).expect("fits")
    }

    /// What a model decides of every row.
    fn decided(&self, model: &Model) -> Vec<String> {
        model.predict(&self.predictions()).expect("its columns").labels().map(ToString::to_string).collect()
    }

    fn accuracy(&self, model: &Model) -> f64 {
        let right = self
            .decided(model)
            .iter()
            .zip(&self.truth)
            .filter(|(said, class)| **said == NAMES[**class])
            .count();
        right as f64 / self.truth.len() as f64
    }
}

fn fallback(model: &Model) -> Option<Method> {
    let Parameters::Ladder { fallback, .. } = model.parameters() else { panic!("a ladder") };
    fallback
}

/// Who climbs how high.
fn heights(model: &Model) -> (Option<f64>, Option<f64>) {
    let Parameters::Ladder { penalty, pattern_shrinkage, .. } = model.parameters() else {
        panic!("a ladder")
    };
    (penalty, pattern_shrinkage)
}

#[test]
fn a_copy_changes_no_decision_whatever_it_calls_its_answers() {
    for (seed, n_rows) in [(2, 30), (3, 120), (4, 400), (5, 1500)] {
        let [known, new] = Table::new(&[0.8, 0.7, 0.6, 0.3, 0.5], 4, n_rows + 1000, seed).halves(n_rows);
        let before = new.decided(&known.fit(&Ladder));
        for copied in 0..5 {
            for shift in 0..4 {
                let says = |answer: usize| (answer + shift) % 4;
                let [known, new] = [&known, &new].map(|table| table.with(copied, says).with(copied, says));
                assert_eq!(before, new.decided(&known.fit(&Ladder)), "{n_rows} rows, {copied} + {shift}");
            }
        }
    }
}

#[test]
fn what_answers_are_called_changes_no_decision() {
    let mut climbed = Vec::new();
    for (seed, n_rows) in [(1, 150), (2, 400), (3, 1500), (4, 5000)] {
        // Two of them are reliably wrong, so that no vote is a rival.
        let mut table = Table::new(&[0.75, 0.7, 0.6, 0.7, 0.5], 4, n_rows + 1000, seed);
        for wrong in [1, 3] {
            table.columns[wrong].iter_mut().for_each(|answer| *answer = (*answer + 1) % 4);
        }
        let [known, new] = table.halves(n_rows);
        let model = known.fit(&Ladder);
        assert_eq!(fallback(&model), None);
        climbed.push(heights(&model));
        for renamed in 0..5 {
            let [known, new] = [&known, &new].map(|table| {
                let mut table = table.clone();
                table.columns[renamed].iter_mut().for_each(|answer| *answer = [2, 0, 3, 1][*answer]);
                table
            });
            assert_eq!(
                new.decided(&model_of(&known)),
                new_decided(&model, renamed, &new),
                "{n_rows} rows, {renamed}"
            );
        }
    }
    // The law holds on every rung.
    assert!(climbed.iter().any(|(penalty, _)| penalty.is_some()), "{climbed:?}");
}

#[test]
fn neither_the_names_of_classes_nor_the_order_of_columns_change_a_decision() {
    for (seed, n_rows) in [(1, 25), (2, 150), (3, 400), (4, 1500)] {
        let [known, new] = Table::new(&[0.8, 0.7, 0.65, 0.55, 0.3], 4, n_rows + 1000, seed).halves(n_rows);
        let before = new.decided(&known.fit(&Ladder));
        // Classes come in the order of their names, so this turns that order round.
        let called = |table: &Table| {
            let call = |column: &Vec<usize>| column.iter().map(|class| 3 - class).collect();
            Table { columns: table.columns.iter().map(call).collect(), truth: call(&table.truth) }
        };
        let renamed: Vec<String> = called(&new).decided(&called(&known).fit(&Ladder));
        let back = |name: &String| NAMES[3 - NAMES.iter().position(|known| known == name).expect("a class")];
        assert_eq!(before, renamed.iter().map(back).collect::<Vec<_>>(), "{n_rows} rows, other names");
        let [known, new] = [&known, &new].map(|table| {
            let mut table = table.clone();
            table.columns.reverse();
            table
        });
        assert_eq!(before, new.decided(&known.fit(&Ladder)), "{n_rows} rows, other order");
    }
}

fn model_of(table: &Table) -> Model {
    table.fit(&Ladder)
}

/// What the model before the renaming decides of the rows after it, translated back.
fn new_decided(model: &Model, renamed: usize, table: &Table) -> Vec<String> {
    let mut table = table.clone();
    table.columns[renamed].iter_mut().for_each(|answer| *answer = [1, 3, 0, 2][*answer]);
    table.decided(model)
}

#[test]
fn a_hundred_guessers_cost_less_than_a_point() {
    for (seed, n_rows) in [(1, 300), (2, 300), (3, 1000)] {
        let skills = [0.8, 0.75, 0.7, 0.65, 0.6];
        let [known, new] = Table::new(&skills, 4, n_rows + 4000, seed).halves(n_rows);
        let guessers = [&skills[..], &[0.0; 100]].concat();
        let [burdened, burdened_new] = Table::new(&guessers, 4, n_rows + 4000, seed).halves(n_rows);
        let [before, after] =
            [new.accuracy(&known.fit(&Ladder)), burdened_new.accuracy(&burdened.fit(&Ladder))];
        assert!(before > 0.85 && after > before - 0.01, "{before} {after}");
    }
}

#[test]
fn with_hardly_any_rows_it_rests_on_the_majority() {
    for n_rows in [1, 2, 5] {
        let [known, new] = Table::new(&[0.65; 9], 4, n_rows + 2000, 7).halves(n_rows);
        let model = known.fit(&Ladder);
        assert_eq!(fallback(&model), Some(Method::Majority), "{n_rows} rows");
        // Classes that were never true are still answers, so that they can be decided.
        assert_eq!(new.decided(&model), new.decided(&known.fit(&Majority)), "{n_rows} rows");
    }
    for n_rows in [20, 60] {
        let [known, new] = Table::new(&[0.65; 9], 4, n_rows + 2000, 7).halves(n_rows);
        let [ladder, majority] = [new.accuracy(&known.fit(&Ladder)), new.accuracy(&known.fit(&Majority))];
        assert!(ladder > majority - 0.03, "{n_rows} rows: {ladder} {majority}");
    }
}

#[test]
fn it_is_no_worse_than_the_best_one_alone() {
    for (seed, n_rows) in [(1, 60), (2, 200), (3, 1000)] {
        // One who knows, and eight who agree on what is wrong.
        let table = Table::new(&[0.9], 3, n_rows + 2000, seed);
        let wrong = |table: Table, k: usize| {
            let mut table = table;
            let n = table.truth.len();
            let says = |t: usize| match draw([seed, t as u64, 500 + k as u64]) {
                at if at < 0.1 => (at * 30.0) as usize,
                _ => (table.truth[t] + 1 + (t % 7) / 6) % 3,
            };
            let column = (0..n).map(says).collect();
            table.columns.push(column);
            table
        };
        let [known, new] = (0..8).fold(table, wrong).halves(n_rows);
        let [ladder, best] = [new.accuracy(&known.fit(&Ladder)), new.accuracy(&known.fit(&Selection))];
        assert!(ladder >= best - 0.005, "{n_rows} rows: {ladder} {best}");
    }
}

#[test]
fn a_classifier_more_is_the_ladder_of_all() {
    let skills = [0.7, 0.65, 0.6, 0.55];
    let table = Table::new(&skills, 3, 200, 11);
    let fewer = Table { columns: table.columns[..3].to_vec(), ..table.clone() };
    let truth = Truth::new(table.truth.iter().map(|&class| Some(NAMES[class]))).expect("few labels");
    let evidence = Evidence::new(&table.predictions(), &truth).expect("rows");
    let grown = fewer.fit(&Ladder).append(&evidence, &spocc::Control::default()).expect("one more");
    assert_eq!(grown.to_bytes(), table.fit(&Ladder).to_bytes());
}

#[test]
fn where_a_renamed_copy_stands_changes_no_decision() {
    let mut fallbacks = Vec::new();
    for (seed, n_rows) in [(1, 25), (2, 25), (3, 30), (7, 25), (4, 400)] {
        let [known, new] = Table::new(&[0.65; 9], 4, n_rows + 1000, seed).halves(n_rows);
        let model = known.fit(&Ladder);
        fallbacks.push(fallback(&model));
        for copied in 0..9 {
            let [known, new] = [&known, &new].map(|table| {
                let mut table = table.with(copied, |answer| (answer + 1) % 4);
                table.columns.rotate_right(1);
                table
            });
            let after = known.fit(&Ladder);
            assert_eq!(fallback(&model), fallback(&after));
            let before = Table { columns: new.columns[1..].to_vec(), truth: new.truth.clone() };
            assert_eq!(before.decided(&model), new.decided(&after), "{n_rows} rows, {copied}");
        }
    }
    assert!(fallbacks.contains(&Some(Method::Majority)) && fallbacks.contains(&None), "{fallbacks:?}");
}

/// Evidence of rows of answers, some of them gaps, each of so much weight.
fn evidence(names: &[&str], rows: &[(Vec<Option<&str>>, &str, f64)]) -> Evidence {
    let mut answers = Predictions::builder(names.iter().copied()).expect("names");
    rows.iter().for_each(|row| answers.push(row.0.iter().copied()).expect("answers"));
    let truth = Truth::new(rows.iter().map(|row| Some(row.1))).expect("labels");
    let weights: Vec<f64> = rows.iter().map(|row| row.2).collect();
    let counting = Counting { weights: Some(&weights), ..Counting::default() };
    Evidence::count(&answers.finish(), &truth, &counting, &Control::default()).expect("rows")
}

#[test]
fn two_who_share_the_rows_between_them_are_no_copies() {
    let spam = (vec![Some("spam"), None], "spam", 1.0);
    let ham = (vec![None, Some("ham")], "ham", 1.0);
    let rows = [vec![spam; 30], vec![ham; 30]].concat();
    let model = Ladder.fit(&evidence(&["says spam", "says ham"], &rows)).expect("rows");
    let mut new = Predictions::builder(["says spam", "says ham"]).expect("names");
    new.push([Some("spam"), None]).expect("answers");
    new.push([None, Some("ham")]).expect("answers");
    let decided = model.predict(&new.finish()).expect("its columns");
    assert_eq!(decided.labels().map(ToString::to_string).collect::<Vec<_>>(), ["spam", "ham"]);
    assert_eq!(decided.n_prior(), 0, "both are heard");
}

#[test]
fn copies_are_known_by_their_rows_whatever_these_weigh() {
    let answers = |t: u64| ["x", "y"][usize::from(draw([5, t, 0]) < 0.5)];
    let rows: Vec<(Vec<Option<&str>>, &str, f64)> = (0..400)
        .map(|t| {
            let noise = (1..12).map(|k| Some(["x", "y"][usize::from(draw([5, t, k]) < 0.5)]));
            let copied = [Some(answers(t)), Some(answers(t))];
            let truth = if draw([5, t, 99]) < 0.8 { answers(t) } else { "x" };
            (copied.into_iter().chain(noise).collect(), truth, 0.5)
        })
        .collect();
    let names: Vec<String> = (0..13).map(|k| format!("c{k}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let model = Ladder.fit(&evidence(&names, &rows)).expect("rows");
    let Parameters::Ladder { leaves, .. } = model.parameters() else { panic!("a ladder") };
    assert!(leaves.contains(&vec![0, 1]), "{leaves:?}");
}
