//! Properties of the ladder: duplicates, renaming, guessers, adversaries, near-copies and very few labelled rows.

use spocc::{
    Combiner, Control, Evidence, Fit, Ladder, Model, Options, Predictions, Truth,
    data::Missing,
    evidence::Counting,
    methods::{Expert, Majority, NaiveBayes, Parameters, Selection},
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

/// The weight of every expert, normalised to a sum of 1.
fn weights(model: &Model) -> Vec<(Expert, f64)> {
    let Parameters::Ladder { experts, .. } = model.parameters() else { panic!("a ladder") };
    let total: f64 = experts.iter().map(|fitted| fitted.weight).sum();
    experts.iter().map(|fitted| (fitted.expert, fitted.weight / total)).collect()
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
fn renaming_the_labels_of_a_classifier_changes_at_most_one_decision_in_a_hundred() {
    // Labels name classes, and the prior that they do makes this a bound: exact invariance would give up the prior.
    for (seed, n_rows) in [(1, 200), (2, 400), (3, 1500)] {
        let mut table = LabelledColumns::new(&[0.75, 0.7, 0.6, 0.7, 0.5], 4, n_rows + 2000, seed);
        for wrong in [1, 3] {
            table.columns[wrong].iter_mut().for_each(|label| *label = (*label + 1) % 4);
        }
        let [known, new] = table.halves(n_rows);
        let before = new.decided(&known.fit(&Ladder));
        let mut n_changed = 0;
        for renamed in 0..5 {
            let [known, new] = [&known, &new].map(|table| {
                let mut table = table.clone();
                table.columns[renamed].iter_mut().for_each(|label| *label = [2, 0, 3, 1][*label]);
                table
            });
            let after = new.decided(&known.fit(&Ladder));
            n_changed += before.iter().zip(&after).filter(|(before, after)| before != after).count();
        }
        let share = n_changed as f64 / (5.0 * before.len() as f64);
        assert!(share <= 0.01, "{n_rows} rows: {share} of the decisions changed");
    }
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
        assert!(before == renamed.iter().map(back).collect::<Vec<_>>(), "{n_rows} rows, other names");
        let [known, new] = [&known, &new].map(|table| {
            let mut table = table.clone();
            table.columns.reverse();
            table
        });
        assert!(before == new.decided(&known.fit(&Ladder)), "{n_rows} rows, other order");
    }
}

#[test]
fn classes_that_look_exchangeable_are_decided_by_one_accuracy_per_classifier() {
    // Errors go to any other class.
    let letters = LabelledColumns::new(&[0.8, 0.7, 0.6, 0.5, 0.4, 0.3], 5, 300, 3);
    let model = letters.fit(&Ladder);
    let experts: Vec<Expert> = weights(&model).iter().map(|weight| weight.0).collect();
    assert!(experts.contains(&Expert::Accuracies) && !experts.contains(&Expert::Confusions), "{experts:?}");
    // Errors of every class go to the next one.
    let mut shifted = letters.clone();
    for column in &mut shifted.columns {
        for (predicted, class) in column.iter_mut().zip(&shifted.truth) {
            *predicted = if *predicted == *class { *class } else { (class + 1) % 5 };
        }
    }
    let experts: Vec<Expert> = weights(&shifted.fit(&Ladder)).iter().map(|weight| weight.0).collect();
    assert!(experts.contains(&Expert::Confusions) && !experts.contains(&Expert::Accuracies), "{experts:?}");
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
fn with_very_few_labelled_rows_it_is_as_accurate_as_the_majority() {
    for n_rows in [1, 2, 5, 20, 60] {
        let [known, new] = LabelledColumns::new(&[0.65; 9], 4, n_rows + 2000, 7).halves(n_rows);
        let [ladder, majority] = [new.accuracy(&known.fit(&Ladder)), new.accuracy(&known.fit(&Majority))];
        // A label that was never true can still be decided.
        assert!(ladder > majority - 0.03, "{n_rows} rows: {ladder} {majority}");
    }
}

#[test]
fn adversaries_are_rectified_from_fifty_labelled_rows_on() {
    // Three accurate classifiers and two that name the next class; a vote of the five is misled by the latter.
    for (seed, n_rows) in [(1, 50), (2, 50), (3, 100), (4, 400)] {
        let mut table = LabelledColumns::new(&[0.7, 0.65, 0.6, 0.85, 0.85], 3, n_rows + 3000, seed);
        for adversary in [3, 4] {
            table.columns[adversary].iter_mut().for_each(|label| *label = (*label + 1) % 3);
        }
        let honest = LabelledColumns { columns: table.columns[..3].to_vec(), truth: table.truth.clone() };
        let [known, new] = table.halves(n_rows);
        let [honest, honest_new] = honest.halves(n_rows);
        let [with, without] = [new.accuracy(&known.fit(&Ladder)), honest_new.accuracy(&honest.fit(&Ladder))];
        assert!(with > without + 0.02, "{n_rows} rows: {with} with adversaries, {without} without");
    }
}

#[test]
fn a_classifier_with_one_right_and_one_wrong_prediction_follows_the_panel() {
    let rows: Vec<(Vec<Option<&str>>, &str, f64)> = (0..60)
        .map(|t| {
            let truth = ["x", "y"][t % 2];
            let other = ["y", "x"][t % 2];
            let predicted = |k: u64| Some(if draw([8, t as u64, k]) < 0.85 { truth } else { other });
            let newcomer = match t {
                10 => Some(truth),
                20 => Some(other),
                _ => None,
            };
            let panel = (0..4).map(predicted);
            (panel.chain([newcomer]).collect(), truth, 1.0)
        })
        .collect();
    let model = Ladder.fit(&evidence(&["a", "b", "c", "d", "new"], &rows)).expect("rows");
    let mut new = Predictions::builder(["a", "b", "c", "d", "new"]).expect("names");
    for label in ["x", "y"] {
        new.push([None, None, None, None, Some(label)]).expect("a row");
    }
    let decided = model.predict(&new.finish()).expect("its columns");
    assert_eq!(decided.labels().map(ToString::to_string).collect::<Vec<_>>(), ["x", "y"]);
    assert_eq!(decided.n_prior(), 0, "its prediction counts");
}

#[test]
fn near_copies_count_about_once() {
    for (seed, n_rows) in [(1, 60), (2, 200)] {
        let skills = [0.5, 0.7, 0.7, 0.7];
        let [known, new] = LabelledColumns::new(&skills, 3, n_rows + 2000, seed).halves(n_rows);
        let near_copies = |table: &LabelledColumns, offset: u64| {
            let mut table = table.clone();
            for copy in 0..40 {
                let near = |(t, &label): (usize, &usize)| {
                    let at = draw([seed + offset, t as u64, 700 + copy]);
                    if at < 0.02 { (at * 150.0) as usize } else { label }
                };
                let column = table.columns[0].iter().enumerate().map(near).collect();
                table.columns.push(column);
            }
            table
        };
        let [burdened, burdened_new] = [near_copies(&known, 0), near_copies(&new, 50)];
        let [before, after] =
            [new.accuracy(&known.fit(&Ladder)), burdened_new.accuracy(&burdened.fit(&Ladder))];
        let majority = burdened_new.accuracy(&burdened.fit(&Majority));
        assert!(
            after > before - 0.04 && after > majority + 0.05,
            "{n_rows} rows: {before} {after} {majority}"
        );
    }
}

#[test]
fn labels_that_name_no_class_carry_information_all_the_same() {
    // Grades from 1 to 3, truths good and bad: no prediction can be right by its name.
    let rows: Vec<(Vec<Option<&str>>, &str, f64)> = (0..80)
        .map(|t| {
            let truth = t % 2;
            let grade = |k: u64| match draw([9, t as u64, k]) {
                at if at < 0.7 => ["1", "3"][truth],
                at if at < 0.9 => "2",
                _ => ["3", "1"][truth],
            };
            ((0..3).map(|k| Some(grade(k))).collect(), ["bad", "good"][truth], 1.0)
        })
        .collect();
    let model = Ladder.fit(&evidence(&["a", "b", "c"], &rows)).expect("rows");
    let mut new = Predictions::builder(["a", "b", "c"]).expect("names");
    new.push([Some("1"), Some("1"), Some("2")]).expect("a row");
    new.push([Some("3"), Some("2"), Some("3")]).expect("a row");
    let decided = model.predict(&new.finish()).expect("its columns");
    assert_eq!(decided.labels().map(ToString::to_string).collect::<Vec<_>>(), ["bad", "good"]);
}

#[test]
fn unlabelled_rows_help_where_labelled_rows_are_few() {
    let (mut with, mut without) = (0.0, 0.0);
    for seed in 0..6 {
        let skills = [0.75, 0.7, 0.6, 0.2, 0.2, 0.1, 0.1];
        let [known, new] = LabelledColumns::new(&skills, 4, 12 + 800, seed).halves(12);
        let all = LabelledColumns {
            columns: (0..skills.len()).map(|k| [&known.columns[k][..], &new.columns[k]].concat()).collect(),
            truth: [&known.truth[..], &new.truth].concat(),
        };
        let truths = (0..all.truth.len()).map(|t| (t < 12).then_some(NAMES[all.truth[t]]));
        let counting = Counting { unlabelled: true, ..Counting::default() };
        let truth = Truth::new(truths).expect("few labels");
        let evidence =
            Evidence::count(&all.predictions(), &truth, &counting, &Control::default()).expect("rows");
        let model = Ladder.fit(&evidence).expect("rows");
        assert!(weights(&model).iter().any(|(expert, _)| *expert == Expert::Unlabelled));
        with += new.accuracy(&model) / 6.0;
        without += new.accuracy(&known.fit(&Ladder)) / 6.0;
    }
    assert!(with > without + 0.005, "{with} {without}");
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
    for (seed, n_rows) in [(1, 25), (2, 25), (3, 30), (4, 400)] {
        let [known, new] = LabelledColumns::new(&[0.65; 9], 4, n_rows + 1000, seed).halves(n_rows);
        let before = new.decided(&known.fit(&Ladder));
        for copied in 0..9 {
            let [known, new] = [&known, &new].map(|table| {
                let mut table = table.with(copied, |label| (label + 1) % 4);
                table.columns.rotate_right(1);
                table
            });
            assert_eq!(before, new.decided(&known.fit(&Ladder)), "{n_rows} rows, {copied}");
        }
    }
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

#[test]
fn a_pattern_table_decides_exactly_its_patterns() {
    // What a prediction of ash means depends on that of birch; no sum over predictions can say that.
    let rows = [
        (Some("x"), Some("x"), "x", 100),
        (Some("x"), Some("y"), "y", 60),
        (Some("y"), Some("x"), "y", 100),
        (Some("y"), Some("y"), "x", 40),
        (None, Some("y"), "x", 200),
    ];
    let mut table = Predictions::builder(["ash", "birch"]).expect("two names");
    let mut truth = Truth::default();
    for (ash, birch, class, n_rows) in rows {
        for _ in 0..n_rows {
            table.push([ash, birch]).expect("a row");
            truth.push(Some(class)).expect("two classes");
        }
    }
    // A label of ash that occurs on an unlabelled row alone.
    table.push([Some("z"), Some("y")]).expect("a row");
    truth.push(None::<&str>).expect("no label");
    let table = table.finish();
    let counting = Counting { unlabelled: true, ..Counting::default() };
    let evidence = Evidence::count(&table, &truth, &counting, &Control::default()).expect("rows");
    let options = Options { missing: Missing::Ignore, ..Options::default() };
    let model = Model::fit(&Ladder, &evidence, &options, &Control::default()).expect("labelled rows");
    assert!(matches!(model.parameters(), Parameters::Ladder { pattern_shrinkage: Some(_), .. }));
    let decided = model.predict(&table).expect("the same rows");
    let labels: Vec<String> = decided.labels().map(ToString::to_string).collect();
    assert_eq!(
        [&labels[0], &labels[120], &labels[200], &labels[280], &labels[400]],
        ["x", "y", "y", "x", "x"]
    );
    let columns = spocc::predict::DecisionColumns { probability: true, ..Default::default() };
    let decided = model.decide_all(&table, columns, &Control::default()).expect("the same rows");
    let probability = |row: usize| decided.of_row(&decided.probability, row).expect("asked for")[0];
    // The new label is not a missing prediction, whose pattern is x on every one of 200 rows.
    assert!(probability(499) - probability(500) > 0.01, "{} {}", probability(499), probability(500));
}

#[test]
fn of_many_patterns_a_sample_is_enough_whatever_the_order_of_columns() {
    // Nearly every one of 40 000 rows has a pattern of its own: one part is held out, and the regression has a sample.
    let skills: Vec<f64> = (0..12).map(|k| 0.3 + 0.04 * f64::from(k)).collect();
    let [training, test] = LabelledColumns::new(&skills, 4, 42_000, 5).halves(40_000);
    let mut reversed = [training.clone(), test.clone()];
    reversed.iter_mut().for_each(|part| part.columns.reverse());
    let decide =
        |training: &LabelledColumns, test: &LabelledColumns, combiner: &dyn Fn(&Evidence) -> Model| {
            let truth = Truth::new(training.truth.iter().map(|&class| Some(class as i64))).expect("classes");
            let evidence = Evidence::new(&training.predictions(), &truth).expect("rows");
            let decided = combiner(&evidence).predict(&test.predictions()).expect("its columns");
            decided.labels().map(ToString::to_string).collect::<Vec<String>>()
        };
    let ladder = |evidence: &Evidence| Ladder.fit(evidence).expect("rows");
    let decided = decide(&training, &test, &ladder);
    assert_eq!(decide(&reversed[0], &reversed[1], &ladder), decided);
    let n_correct = |decided: &[String]| {
        decided.iter().zip(&test.truth).filter(|(label, truth)| **label == truth.to_string()).count()
    };
    // The classifiers are independent given the class, where naive Bayes is optimal.
    let optimal = decide(&training, &test, &|evidence| NaiveBayes.fit(evidence).expect("rows"));
    assert!(
        n_correct(&decided) + 20 >= n_correct(&optimal),
        "{} {}",
        n_correct(&decided),
        n_correct(&optimal)
    );
}
