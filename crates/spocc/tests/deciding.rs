//! Deciding a whole table at once, by whatever shortcut, is deciding each of its rows in full.

mod panels;

use panels::{Panel, Random, Shape};
use spocc::{Evidence, Label, Level, Method, Missing, Model, Options, Predictions, TieBreak, Truth, Watch};

/// Tables whose rows are decided by number, by fours, by pairs, one by one, and as sparse rows.
const SHAPES: [(usize, usize, usize, f64); 9] = [
    (3, 3, 300, 0.2),
    (5, 2, 6_000, 0.1),
    (9, 3, 20_000, 0.05),
    (10, 5, 60_000, 0.0),
    (7, 12, 8_000, 0.1),
    (30, 5, 3_000, 0.3),
    (6, 40, 5_000, 0.1),
    (4, 130, 2_000, 0.1),
    (60, 4, 2_000, 0.97),
];

fn panel((n_classifiers, n_classes, n_rows, gaps): (usize, usize, usize, f64), seed: u64) -> Panel {
    Panel::new(Shape {
        n_classifiers,
        n_classes,
        n_others: seed as usize % 3,
        n_rows,
        gaps,
        weighted: false,
        seed,
    })
}

/// The same rows with columns shuffled, a stranger among them, and now and then a label nobody knows.
fn disguised(panel: &Panel, seed: u64) -> Predictions {
    let mut random = Random(seed);
    let order = random.order(panel.names.len());
    let mut names: Vec<String> = order.iter().map(|&k| panel.names[k].clone()).collect();
    names.insert(1, "stranger".to_owned());
    let mut rows = Predictions::builder(names).expect("distinct names");
    for row in &panel.rows {
        let mut cells: Vec<Option<String>> = order
            .iter()
            .map(|&k| {
                row[k].map(|id| {
                    if random.below(50) == 0 { "unheard".to_owned() } else { panel.labels[id].clone() }
                })
            })
            .collect();
        cells.insert(1, Some(panel.labels[random.below(panel.labels.len())].clone()));
        rows.push(cells).expect("as wide as the panel");
    }
    rows.finish()
}

fn assert_alike(model: &Model, table: &Predictions, what: &str) {
    let aligned = model.align(table).expect("all columns");
    let rulings = aligned.decide_all(&Watch::default()).expect("not cancelled");
    let decisions = aligned.decide_rows(0..table.n_rows()).expect("rows");
    let shares: Option<Vec<Vec<f64>>> =
        decisions.iter().map(|decision| decision.probability.clone()).collect();
    let at_once = aligned.probabilities(0..table.n_rows()).expect("rows");
    assert!(at_once == shares.map(|shares| shares.concat()), "probabilities of {what}");
    for (t, (ruling, decision)) in rulings.rulings().iter().zip(&decisions).enumerate() {
        let found = (usize::from(ruling.class), ruling.is_tie, ruling.basis);
        assert_eq!(
            found,
            (decision.class, decision.is_tie(), decision.basis),
            "{what}, row {t}: {decision:?}"
        );
    }
}

#[test]
fn all_rows_at_once_are_decided_as_one_by_one() {
    for (seed, shape) in (0..).zip(SHAPES) {
        let panel = panel(shape, seed);
        let fitted =
            Panel { rows: panel.rows[..150].to_vec(), truth: panel.truth[..150].to_vec(), ..panel.clone() };
        let evidence = fitted.evidence(Level::Tally);
        for method in Method::ALL {
            // Regressions on many classes take their time.
            if method == Method::Stacking && shape.1 > 3 {
                continue;
            }
            for (missing, ties) in [
                (Missing::Silent, TieBreak::First),
                (Missing::Symbol, TieBreak::Random(7)),
                (Missing::Auto, TieBreak::First),
            ] {
                let options = Options { missing, ties, ..Options::default() };
                let model =
                    Model::fit(&*method.combiner(), &evidence, &options, &Watch::default()).expect("rows");
                let what = format!("{method} {missing:?} {shape:?}");
                assert_alike(&model, &panel.predictions(), &what);
                assert_alike(&model, &disguised(&panel, seed), &format!("{what}, disguised"));
            }
        }
    }
}

#[test]
fn near_ties_are_left_to_the_careful_way() {
    // Three who are equally often right and contradict each other on most rows: sums that differ by nothing.
    let names = ["a", "b", "c", "d", "e"];
    let mut random = Random(3);
    let mut rows = Predictions::builder(names).expect("names");
    let label = |id: usize| Some(Label::from(["x", "y", "z"][id]));
    let all: Vec<[usize; 5]> = (0..9_000).map(|_| [(); 5].map(|()| random.below(3))).collect();
    all.iter().for_each(|row| rows.push(row.map(label)).expect("five answers"));
    let table = rows.finish();
    let truth = spocc::Truth::new(all.iter().map(|row| label(row[0]))).expect("few labels");
    let mut symmetric = Predictions::builder(names).expect("names");
    let mut truths = Vec::new();
    for class in 0..3 {
        for shift in [0, 0, 0, 1, 2] {
            symmetric.push([(); 5].map(|()| label((class + shift) % 3))).expect("five answers");
            truths.push(label(class));
        }
    }
    let symmetric =
        spocc::Evidence::new(&symmetric.finish(), &spocc::Truth::new(truths).expect("few labels"));
    let own = spocc::Evidence::new(&table, &truth).expect("rows");
    let mut ties = 0;
    for evidence in [symmetric.expect("rows"), own] {
        for method in Method::ALL {
            let model = Model::fit(&*method.combiner(), &evidence, &Options::default(), &Watch::default())
                .expect("rows");
            assert_alike(&model, &table, &method.to_string());
            ties += model.predict(&table).expect("all columns").n_ties();
        }
    }
    assert!(ties > 10_000, "{ties}");
}

/// Rows on which nobody speaks, one speaks, or as many classes as you like are equally good.
#[test]
fn silence_and_ties_of_any_number_of_classes_are_left_to_the_careful_way() {
    for n_classes in 2..=130 {
        let n_classifiers = 66.min(n_classes);
        let names = || (0..n_classifiers).map(|k| format!("c{k}"));
        let mut counted = Predictions::builder(names()).expect("distinct names");
        for class in 0..n_classes {
            counted.push(vec![Some(class as i64); n_classifiers]).expect("as wide as the panel");
        }
        let truth = Truth::new((0..n_classes).map(|class| Some(class as i64))).expect("few labels");
        let evidence = Evidence::new(&counted.finish(), &truth).expect("rows");
        let mut table = Predictions::builder(names()).expect("distinct names");
        for t in 0..4 * n_classes {
            let n_speaking = if t % 2 == 0 { 0 } else { n_classifiers - t % 4 / 2 };
            let said = |k: usize| (k < n_speaking).then_some(((t + k) % n_classes) as i64);
            table.push((0..n_classifiers).map(said)).expect("as wide as the panel");
        }
        let table = table.finish();
        for method in [Method::Spocc, Method::Majority, Method::WeightedVote, Method::NaiveBayes] {
            let model = method.combiner().fit(&evidence).expect("fits");
            assert_alike(&model, &table, &format!("{method}, {n_classes} classes"));
        }
    }
}
