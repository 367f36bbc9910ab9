//! Models and tables in other forms.

use super::*;

#[test]
fn a_model_read_back_is_the_same_and_a_slim_one_decides_alike() {
    proptest!(config(40), |(panel in panels(4, 3, 40))| {
        prop_assume!(panel.has_truth());
        let table = panel.predictions();
        for combiner in combiners(&panel) {
            for options in choices() {
                let model = fitted(combiner.as_ref(), &panel.tally(), &options);
                let decided = model.predict(&table).expect("the same columns");
                for model in [&model, &model.without_evidence()] {
                    let bytes = model.to_bytes();
                    let read = Model::from_bytes(&bytes).expect("our own bytes");
                    prop_assert_eq!(read.to_bytes(), bytes);
                    prop_assert_eq!(read.parameters(), model.parameters());
                    prop_assert_eq!(&read.predict(&table).expect("the same columns"), &decided);
                }
                prop_assert!(model.without_evidence().evidence().is_none());
                prop_assert!(model.without_evidence().to_bytes().len() < model.to_bytes().len());
            }
        }
    });
}

#[test]
fn a_slim_model_gives_the_same_possibilities() {
    proptest!(config(40), |(panel in panels(4, 3, 40))| {
        prop_assume!(panel.has_truth());
        let table = panel.predictions();
        let model = Spocc::default().fit(&panel.tally()).expect("rows");
        let slim = model.without_evidence();
        let (whole, slim) = (model.align(&table).expect("columns"), slim.align(&table).expect("columns"));
        for t in 0..table.n_rows() {
            prop_assert_eq!(whole.decide(t).expect("a row"), slim.decide(t).expect("a row"));
        }
    });
}

#[test]
fn evidence_read_back_is_the_same() {
    proptest!(config(100), |(panel in panels(5, 4, 40))| {
        for level in LEVELS {
            let bytes = panel.evidence(level).to_bytes();
            prop_assert_eq!(Evidence::from_bytes(&bytes).expect("our own bytes").to_bytes(), bytes);
        }
    });
}

/// Wide panels: some rows are full, others have an answer or two, so that both forms of storage are met.
fn wide_panel(seed: u64) -> Panel {
    let shape = Shape {
        n_classifiers: 24,
        n_classes: 3,
        n_others: 1,
        n_rows: 60,
        missing_share: 0.0,
        weighted: false,
        seed,
    };
    let mut panel = Panel::new(shape);
    let mut random = Random(seed);
    for row in panel.rows.iter_mut().skip(10) {
        let answers_row = [random.below(24), random.below(24)];
        row.iter_mut()
            .enumerate()
            .filter(|(k, _)| !answers_row.contains(k))
            .for_each(|(_, cell)| *cell = None);
    }
    panel
}

#[test]
fn a_table_is_the_same_however_it_came_in() {
    proptest!(config(40), |(seed: u64, n_rows in 1..60usize, from in 0..60usize)| {
        let panel = wide_panel(seed);
        let rows: Vec<usize> = (from..60).chain(0..from).take(n_rows).collect();
        let panel = panel.part(&rows);
        let by_row = panel.predictions();
        let labels: Vec<Label> = (0..panel.labels.len()).map(|j| panel.label(j)).collect();
        let mut cells: Vec<(usize, usize, usize)> = Vec::new();
        for (t, row) in panel.rows.iter().enumerate() {
            cells.extend(row.iter().enumerate().filter_map(|(k, j)| j.map(|j| (t, k, j))));
        }
        let order = Random(seed).order(cells.len());
        let cells = order.into_iter().map(|at| cells[at]);
        let names = || panel.names.iter().cloned();
        let by_cell = Predictions::from_cells(names(), n_rows, &labels, cells).expect("distinct cells");
        let ids = panel.rows.iter().flatten().map(|predicted| predicted.map_or(u16::MAX, |j| j as u16));
        let by_id = Predictions::from_ids(names(), labels, ids.collect()).expect("known ids");
        let count = |table: &Predictions, level| {
            Evidence::count(table, &panel.truths(), &panel.counting(level), &quiet()).expect("rows").to_bytes()
        };
        let model = Spocc::default().fit(&panel.tally()).expect("rows");
        let decided = |table: &Predictions| model.predict(table).expect("the same columns");
        for table in [&by_cell, &by_id] {
            for level in LEVELS {
                prop_assert_eq!(count(table, level), count(&by_row, level));
            }
            prop_assert_eq!(decided(table), decided(&by_row));
            prop_assert_eq!(table.bytes(), by_row.bytes());
        }
    });
}

#[test]
fn full_and_nearly_empty_rows_add_up() {
    for seed in 0..10 {
        let panel = wide_panel(seed);
        let full = panel.part(&(0..10).collect::<Vec<usize>>());
        let sparse = panel.part(&(10..60).collect::<Vec<usize>>());
        assert_eq!(full.predictions().bytes(), 10 * 24 * 2, "full rows take two bytes per cell");
        assert!(sparse.predictions().bytes() < 50 * 24 * 2, "empty cells cost nothing");
        for level in LEVELS {
            let sum = merged(&[full.evidence(level), sparse.evidence(level)]);
            assert_eq!(sum.to_bytes(), panel.evidence(level).to_bytes(), "{level}");
        }
        // A table of one form asks a model whose patterns have the other.
        let model = Method::Bayes.combiner().fit(&panel.tally()).expect("rows");
        for part in [&full, &sparse] {
            let decided = model.predict(&part.predictions()).expect("the same columns");
            for (t, class) in decided.class.iter().enumerate() {
                let mut counts = [0.0; 3];
                for (other, class) in panel.rows.iter().zip(&panel.truth) {
                    if *other == part.rows[t] {
                        counts[class.expect("every row has a truth")] -= 1.0;
                    }
                }
                let best =
                    Closeness::default().decide(&counts.iter().map(|c| 100.0 + c).collect::<Vec<f64>>());
                assert_eq!(usize::from(*class), best, "row {t}");
            }
        }
    }
}

#[test]
fn how_a_label_is_written_in_rows_without_truth_does_not_matter() {
    // Where labelled rows alone are counted, these two tables are the same evidence.
    let count = |answers: &[(&str, Option<&str>)]| {
        let mut rows = Predictions::builder(["ann"]).expect("one name");
        answers.iter().for_each(|(predicted, _)| rows.push([Some(*predicted)]).expect("one answer"));
        let truth = Truth::new(answers.iter().map(|(_, truth)| *truth)).expect("few labels");
        let counting = Counting { unlabelled: false, ..Counting::default() };
        Evidence::count(&rows.finish(), &truth, &counting, &quiet()).expect("rows").to_bytes()
    };
    let labelled = ("1.0", Some("1.0"));
    assert_eq!(count(&[labelled, ("1", None)]), count(&[labelled]));
}

/// One label, written as an integer, as a text, or as a data frame with missing cells writes it.
fn written(id: usize, random: &mut Random) -> Label {
    match random.below(3) {
        0 => Label::from(i64::try_from(id).expect("a small number")),
        1 => Label::from(id.to_string()),
        _ => Label::from(format!("{id}.0")),
    }
}

#[test]
fn one_label_written_in_many_ways_is_one_label() {
    proptest!(config(100), |(panel in panels(4, 3, 40), n_parts in 1..4usize, seed: u64)| {
        // With weights and missing cells as they come, and classes as met: no classifier says how a class is written.
        let panel = Panel { is_closed: false, ..panel };
        let mut random = Random(seed);
        let cells: Vec<Vec<Option<Label>>> = panel
            .rows
            .iter()
            .map(|row| row.iter().map(|predicted| predicted.map(|j| written(j, &mut random))).collect())
            .collect();
        let truths: Vec<Option<Label>> =
            panel.truth.iter().map(|class| class.map(|i| written(i, &mut random))).collect();
        let count = |rows: &[usize], level: Level| {
            let mut table = Predictions::builder(panel.names.clone()).expect("distinct names");
            rows.iter().for_each(|&t| table.push(cells[t].clone()).expect("a whole row"));
            let truth = Truth::new(rows.iter().map(|&t| truths[t].clone())).expect("few labels");
            let part = panel.part(rows);
            Evidence::count(&table.finish(), &truth, &part.counting(level), &quiet()).expect("a sound panel")
        };
        let plain = Panel { labels: (0..panel.labels.len()).map(|j| j.to_string()).collect(), ..panel.clone() };
        for level in LEVELS {
            let order = random.order(panel.rows.len());
            let whole = count(&(0..panel.rows.len()).collect::<Vec<usize>>(), level);
            prop_assert_eq!(count(&order, level).to_bytes(), whole.to_bytes(), "another order, {}", level);
            let chunks = order.chunks(order.len().div_ceil(n_parts).max(1));
            let parts: Vec<Evidence> = chunks.map(|rows| count(rows, level)).collect();
            prop_assert_eq!(merged(&parts).to_bytes(), whole.to_bytes(), "{} parts, {}", n_parts, level);
            // Names apart, it is what one writing gives.
            let expected = plain.evidence(level);
            prop_assert_eq!(whole.n_patterns(), expected.n_patterns());
            let (found, expected_labels) = (whole.labels(), expected.labels());
            prop_assert_eq!(found.all(), expected_labels.all());
            for k in 0..panel.names.len() {
                for predicted in &plain.labels {
                    for class in &plain.labels {
                        let of = |evidence: &Evidence| evidence.count_of(k, predicted.as_str(), class.as_str());
                        prop_assert_eq!(of(&whole), of(&expected));
                    }
                }
            }
        }
        if panel.has_truth() {
            let mut table = Predictions::builder(panel.names.clone()).expect("distinct names");
            cells.iter().for_each(|row| table.push(row.clone()).expect("a whole row"));
            let table = table.finish();
            for method in [Method::Spocc, Method::AdaSpocc, Method::Bayes, Method::NaiveBayes] {
                let model = method.combiner().fit(&plain.tally()).expect("rows");
                let decided = |table: &Predictions| model.predict(table).expect("columns");
                prop_assert_eq!(decided(&table), decided(&plain.predictions()), "{}", method);
            }
        }
    });
}

#[test]
fn random_ties_do_not_follow_the_order_of_the_rows() {
    proptest!(config(60), |(panel in panels(4, 3, 40), seed: u64, ties: u64)| {
        prop_assume!(panel.has_truth());
        let options = Options { ties: TieBreak::Random(ties), ..Options::default() };
        let order = Random(seed).order(panel.rows.len());
        let shuffled = panel.part(&order).predictions();
        for method in [Method::Spocc, Method::Majority, Method::NaiveBayes] {
            let model = fitted(method.combiner().as_ref(), &panel.tally(), &options);
            let before = model.predict(&panel.predictions()).expect("the same columns");
            let after = model.predict(&shuffled).expect("the same columns");
            for (at, &t) in order.iter().enumerate() {
                prop_assert_eq!((after.class[at], after.is_tie[at]), (before.class[t], before.is_tie[t]));
                prop_assert_eq!(after.basis[at], before.basis[t]);
            }
        }
    });
}
