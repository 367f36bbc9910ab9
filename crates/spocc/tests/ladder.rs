//! Properties of the ladder: duplicates, renaming, guessers and very few labelled rows.

use spocc::{
    Combiner, Control, Evidence, Fit, Ladder, Method, Model, Predictions, Truth,
    evidence::Counting,
    methods::{Majority, Parameters, Selection},
};

/// Predictions by classifier, with the truths.
#[derive(Clone)]
struct LabelledColumns {
    columns: Vec<Vec<usize>>,
    truth: Vec<usize>,
}

const NAMES: [&str; 5] = ["ash", "birch", "cedar", "elm", "fir"];

/// A pseudo-random number from 0 to 1, a function of its address alone.
fn draw(address: [u64; 3]) -> f64 {
    let mut z = address.iter().fold(0x1234_5678_u64, |hash, word| {
        (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

impl LabelledColumns {
    /// Classifiers of these skills on classes of decreasing frequency.
    fn new(skills: &[f64], n_classes: usize, n_rows: usize, seed: u64) -> Self {
        let class = |t: usize| {
            let at = draw([seed, t as u64, 999]);
            ((at * at * n_classes as f64) as usize).min(n_classes - 1)
        };
        let truth: Vec<usize> = (0..n_rows).map(class).collect();
        let predicted = |k: usize, t: usize, skill: f64| {
            let [is_correct, other] = [0, 1].map(|purpose| draw([seed, t as u64, 10 * k as u64 + purpose]));
            if is_correct < skill { truth[t] } else { (other * n_classes as f64) as usize % n_classes }
        };
        let column = |(k, &skill): (usize, &f64)| (0..n_rows).map(|t| predicted(k, t, skill)).collect();
        Self { columns: skills.iter().enumerate().map(column).collect(), truth }
    }

    fn halves(&self, n_first: usize) -> [Self; 2] {
        let part = |range: std::ops::Range<usize>| Self {
            columns: self.columns.iter().map(|column| column[range.clone()].to_vec()).collect(),
            truth: self.truth[range].to_vec(),
        };
        [part(0..n_first), part(n_first..self.truth.len())]
    }

    /// With one more column, a function of the predictions of column `k`.
    fn with(&self, k: usize, label: impl Fn(usize) -> usize) -> Self {
        let mut table = self.clone();
        table.columns.push(self.columns[k].iter().map(|&predicted| label(predicted)).collect());
        table
    }

    fn predictions(&self) -> Predictions {
        let names = (0..self.columns.len()).map(|k| format!("c{k}"));
        let mut rows = Predictions::builder(names).expect("names");
        for t in 0..self.truth.len() {
            rows.push(self.columns.iter().map(|column| Some(NAMES[column[t]]))).expect("a row");
        }
        rows.finish()
    }

    fn fit(&self, combiner: &dyn Combiner) -> Model {
        let truth = Truth::new(self.truth.iter().map(|&class| Some(NAMES[class]))).expect("few labels");
        combiner.fit(&Evidence::new(&self.predictions(), &truth).expect("rows")).expect("fits")
    }

    /// The decisions of a model on all rows.
    fn decided(&self, model: &Model) -> Vec<String> {
        model.predict(&self.predictions()).expect("its columns").labels().map(ToString::to_string).collect()
    }

    fn accuracy(&self, model: &Model) -> f64 {
        let correct = self
            .decided(model)
            .iter()
            .zip(&self.truth)
            .filter(|(decided, class)| **decided == NAMES[**class])
            .count();
        correct as f64 / self.truth.len() as f64
    }
}

fn fallback(model: &Model) -> Option<Method> {
    let Parameters::Ladder { fallback, .. } = model.parameters() else { panic!("a ladder") };
    fallback
}

/// The penalty of the residual and the shrinkage of the pattern table, none where the stage is not used.
fn stages(model: &Model) -> (Option<f64>, Option<f64>) {
    let Parameters::Ladder { penalty, pattern_shrinkage, .. } = model.parameters() else {
        panic!("a ladder")
    };
    (penalty, pattern_shrinkage)
}

#[test]
fn a_duplicate_changes_no_decision_whatever_its_labels_are_called() {
    for (seed, n_rows) in [(2, 30), (3, 120), (4, 400), (5, 1500)] {
        let [known, new] =
            LabelledColumns::new(&[0.8, 0.7, 0.6, 0.3, 0.5], 4, n_rows + 1000, seed).halves(n_rows);
        let before = new.decided(&known.fit(&Ladder));
        for copied in 0..5 {
            for shift in 0..4 {
                let renamed = |label: usize| (label + shift) % 4;
                let [known, new] =
                    [&known, &new].map(|table| table.with(copied, renamed).with(copied, renamed));
                assert_eq!(before, new.decided(&known.fit(&Ladder)), "{n_rows} rows, {copied} + {shift}");
            }
        }
    }
}

#[test]
fn renaming_the_labels_of_a_classifier_changes_no_decision() {
    let mut selected = Vec::new();
    for (seed, n_rows) in [(1, 150), (2, 400), (3, 1500), (4, 5000)] {
        // Two of them are reliably wrong, so that no vote is competitive.
        let mut table = LabelledColumns::new(&[0.75, 0.7, 0.6, 0.7, 0.5], 4, n_rows + 1000, seed);
        for wrong in [1, 3] {
            table.columns[wrong].iter_mut().for_each(|label| *label = (*label + 1) % 4);
        }
        let [known, new] = table.halves(n_rows);
        let model = known.fit(&Ladder);
        assert_eq!(fallback(&model), None);
        selected.push(stages(&model));
        for renamed in 0..5 {
            let [known, new] = [&known, &new].map(|table| {
                let mut table = table.clone();
                table.columns[renamed].iter_mut().for_each(|label| *label = [2, 0, 3, 1][*label]);
                table
            });
            assert_eq!(
                new.decided(&model_of(&known)),
                new_decided(&model, renamed, &new),
                "{n_rows} rows, {renamed}"
            );
        }
    }
    // The residual is used in at least one case.
    assert!(selected.iter().any(|(penalty, _)| penalty.is_some()), "{selected:?}");
}

#[test]
fn neither_the_names_of_classes_nor_the_order_of_columns_change_a_decision() {
    for (seed, n_rows) in [(1, 25), (2, 150), (3, 400), (4, 1500)] {
        let [known, new] =
            LabelledColumns::new(&[0.8, 0.7, 0.65, 0.55, 0.3], 4, n_rows + 1000, seed).halves(n_rows);
        let before = new.decided(&known.fit(&Ladder));
        // Classes are ordered by name, so this reverses their order.
        let called = |table: &LabelledColumns| {
            let call = |column: &Vec<usize>| column.iter().map(|class| 3 - class).collect();
            LabelledColumns { columns: table.columns.iter().map(call).collect(), truth: call(&table.truth) }
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

fn model_of(table: &LabelledColumns) -> Model {
    table.fit(&Ladder)
}

/// The decisions of the model before the renaming on the rows after it, translated back.
fn new_decided(model: &Model, renamed: usize, table: &LabelledColumns) -> Vec<String> {
    let mut table = table.clone();
    table.columns[renamed].iter_mut().for_each(|label| *label = [1, 3, 0, 2][*label]);
    table.decided(model)
}

#[test]
fn a_hundred_guessers_cost_less_than_a_point() {
    for (seed, n_rows) in [(1, 300), (2, 300), (3, 1000)] {
        let skills = [0.8, 0.75, 0.7, 0.65, 0.6];
        let [known, new] = LabelledColumns::new(&skills, 4, n_rows + 4000, seed).halves(n_rows);
        let guessers = [&skills[..], &[0.0; 100]].concat();
        let [burdened, burdened_new] = LabelledColumns::new(&guessers, 4, n_rows + 4000, seed).halves(n_rows);
        let [before, after] =
            [new.accuracy(&known.fit(&Ladder)), burdened_new.accuracy(&burdened.fit(&Ladder))];
        assert!(before > 0.85 && after > before - 0.01, "{before} {after}");
    }
}

#[test]
fn with_five_labelled_rows_or_fewer_the_majority_decides() {
    for n_rows in [1, 2, 5] {
        let [known, new] = LabelledColumns::new(&[0.65; 9], 4, n_rows + 2000, 7).halves(n_rows);
        let model = known.fit(&Ladder);
        assert_eq!(fallback(&model), Some(Method::Majority), "{n_rows} rows");
        // Labels that were never true can still be decided.
        assert_eq!(new.decided(&model), new.decided(&known.fit(&Majority)), "{n_rows} rows");
    }
    for n_rows in [20, 60] {
        let [known, new] = LabelledColumns::new(&[0.65; 9], 4, n_rows + 2000, 7).halves(n_rows);
        let [ladder, majority] = [new.accuracy(&known.fit(&Ladder)), new.accuracy(&known.fit(&Majority))];
        assert!(ladder > majority - 0.03, "{n_rows} rows: {ladder} {majority}");
    }
}

#[test]
fn it_is_no_worse_than_the_best_classifier_alone() {
    for (seed, n_rows) in [(1, 60), (2, 200), (3, 1000)] {
        // One accurate classifier, and eight that agree on wrong labels.
        let table = LabelledColumns::new(&[0.9], 3, n_rows + 2000, seed);
        let wrong = |table: LabelledColumns, k: usize| {
            let mut table = table;
            let n = table.truth.len();
            let predicted = |t: usize| match draw([seed, t as u64, 500 + k as u64]) {
                at if at < 0.1 => (at * 30.0) as usize,
                _ => (table.truth[t] + 1 + (t % 7) / 6) % 3,
            };
            let column = (0..n).map(predicted).collect();
            table.columns.push(column);
            table
        };
        let [known, new] = (0..8).fold(table, wrong).halves(n_rows);
        let [ladder, best] = [new.accuracy(&known.fit(&Ladder)), new.accuracy(&known.fit(&Selection))];
        assert!(ladder >= best - 0.005, "{n_rows} rows: {ladder} {best}");
    }
}

#[test]
fn appending_a_classifier_refits_the_ladder() {
    let skills = [0.7, 0.65, 0.6, 0.55];
    let table = LabelledColumns::new(&skills, 3, 200, 11);
    let fewer = LabelledColumns { columns: table.columns[..3].to_vec(), ..table.clone() };
    let truth = Truth::new(table.truth.iter().map(|&class| Some(NAMES[class]))).expect("few labels");
    let evidence = Evidence::new(&table.predictions(), &truth).expect("rows");
    let grown = fewer.fit(&Ladder).append(&evidence, &spocc::Control::default()).expect("one more");
    assert_eq!(grown.to_bytes(), table.fit(&Ladder).to_bytes());
}

#[test]
fn the_position_of_a_renamed_duplicate_changes_no_decision() {
    let mut fallbacks = Vec::new();
    for (seed, n_rows) in [(1, 25), (2, 25), (3, 30), (7, 25), (4, 400)] {
        let [known, new] = LabelledColumns::new(&[0.65; 9], 4, n_rows + 1000, seed).halves(n_rows);
        let model = known.fit(&Ladder);
        fallbacks.push(fallback(&model));
        for copied in 0..9 {
            let [known, new] = [&known, &new].map(|table| {
                let mut table = table.with(copied, |label| (label + 1) % 4);
                table.columns.rotate_right(1);
                table
            });
            let after = known.fit(&Ladder);
            assert_eq!(fallback(&model), fallback(&after));
            let before = LabelledColumns { columns: new.columns[1..].to_vec(), truth: new.truth.clone() };
            assert_eq!(before.decided(&model), new.decided(&after), "{n_rows} rows, {copied}");
        }
    }
    assert!(fallbacks.contains(&Some(Method::Majority)) && fallbacks.contains(&None), "{fallbacks:?}");
}

/// Evidence of weighted rows, some predictions missing.
fn evidence(names: &[&str], rows: &[(Vec<Option<&str>>, &str, f64)]) -> Evidence {
    let mut predictions = Predictions::builder(names.iter().copied()).expect("names");
    rows.iter().for_each(|row| predictions.push(row.0.iter().copied()).expect("a row"));
    let truth = Truth::new(rows.iter().map(|row| Some(row.1))).expect("labels");
    let weights: Vec<f64> = rows.iter().map(|row| row.2).collect();
    let counting = Counting { weights: Some(&weights), ..Counting::default() };
    Evidence::count(&predictions.finish(), &truth, &counting, &Control::default()).expect("rows")
}

#[test]
fn classifiers_with_predictions_on_disjoint_rows_are_no_duplicates() {
    let spam = (vec![Some("spam"), None], "spam", 1.0);
    let ham = (vec![None, Some("ham")], "ham", 1.0);
    let rows = [vec![spam; 30], vec![ham; 30]].concat();
    let model = Ladder.fit(&evidence(&["predicts spam", "predicts ham"], &rows)).expect("rows");
    let mut new = Predictions::builder(["predicts spam", "predicts ham"]).expect("names");
    new.push([Some("spam"), None]).expect("a row");
    new.push([None, Some("ham")]).expect("a row");
    let decided = model.predict(&new.finish()).expect("its columns");
    assert_eq!(decided.labels().map(ToString::to_string).collect::<Vec<_>>(), ["spam", "ham"]);
    assert_eq!(decided.n_prior(), 0, "both predictions count");
}

#[test]
fn duplicates_are_found_by_their_rows_whatever_the_weights() {
    let first = |t: u64| ["x", "y"][usize::from(draw([5, t, 0]) < 0.5)];
    let rows: Vec<(Vec<Option<&str>>, &str, f64)> = (0..400)
        .map(|t| {
            let noise = (1..12).map(|k| Some(["x", "y"][usize::from(draw([5, t, k]) < 0.5)]));
            let copied = [Some(first(t)), Some(first(t))];
            let truth = if draw([5, t, 99]) < 0.8 { first(t) } else { "x" };
            (copied.into_iter().chain(noise).collect(), truth, 0.5)
        })
        .collect();
    let names: Vec<String> = (0..13).map(|k| format!("c{k}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let model = Ladder.fit(&evidence(&names, &rows)).expect("rows");
    let Parameters::Ladder { leaves, .. } = model.parameters() else { panic!("a ladder") };
    assert!(leaves.contains(&vec![0, 1]), "{leaves:?}");
}
