//! Names.

use super::*;

/// The panel with its labels called otherwise; ids stay, the order of the names need not.
fn called(panel: &Panel, names: &[String]) -> Panel {
    Panel { labels: names.to_vec(), ..panel.clone() }
}

/// Bytes of a model, but for the names of the labels.
fn decided(combiner: &dyn Combiner, panel: &Panel, options: &Options) -> (Model, Vec<Decision>) {
    let model = fitted(combiner, &panel.tally(), options);
    let table = panel.predictions();
    let aligned = model.align(&table).expect("the same columns");
    let decisions = (0..table.n_rows()).map(|t| aligned.decide(t).expect("a row")).collect();
    (model, decisions)
}

#[test]
fn other_names_in_the_same_order_change_nothing_but_names() {
    proptest!(config(40), |(panel in panels(4, 3, 40))| {
        prop_assume!(panel.has_truth());
        let names: Vec<String> = (0..panel.labels.len()).map(|j| format!("name of {j}")).collect();
        let renamed = called(&panel, &names);
        for combiner in combiners(&panel) {
            for options in choices() {
                let (model, before) = decided(combiner.as_ref(), &panel, &options);
                let (other, after) = decided(combiner.as_ref(), &renamed, &options);
                prop_assert_eq!(model.parameters(), other.parameters());
                for (before, after) in before.iter().zip(&after) {
                    let name = |label: &Label| panel.labels.iter().position(|known| label.to_string() == *known);
                    let id = name(&before.label).expect("a class of the panel");
                    prop_assert_eq!(after.label.to_string(), names[id].clone());
                    prop_assert_eq!(&before.possibility, &after.possibility);
                    prop_assert_eq!((before.class, before.margin), (after.class, after.margin));
                    prop_assert_eq!(&before.ties, &after.ties);
                }
            }
        }
    });
}

/// Complete panels with weights that are no whole numbers, in which ties are rare.
fn untied_panels() -> impl Strategy<Value = Panel> {
    (2..=4usize, 2..=3usize, 25..=50usize, any::<u64>()).prop_map(
        |(n_classifiers, n_classes, n_rows, seed)| {
            let (n_others, missing_share, weighted) = (0, 0.0, true);
            let shape = Shape { n_classifiers, n_classes, n_others, n_rows, missing_share, weighted, seed };
            Panel { is_closed: true, ..Panel::new(shape) }
        },
    )
}

fn tree(panel: &Panel) -> Dendrogram {
    Dendrogram::ward(&Dissimilarities::new(&panel.tally(), &quiet()).expect("a tally"))
}

/// Whether no decision on the way to a fit of adaSPOCC is near a tie, nor any height of the tree.
fn is_untied(panel: &Panel, validation: Validation) -> bool {
    let tree = tree(panel);
    let heights: Vec<f64> = tree.merges().iter().map(|merge| merge.height).collect();
    let dissimilarities = Dissimilarities::new(&panel.tally(), &quiet()).expect("a tally");
    let mut distances = [heights, dissimilarities.condensed().to_vec()].concat();
    distances.sort_by(f64::total_cmp);
    // The first height is the least dissimilarity itself.
    let n_equal = distances.windows(2).filter(|two| two[1] - two[0] < CLEAR).count();
    let found = naive::adaspocc(panel, &tree, validation, Variant::Right);
    n_equal <= 1 && found.closeness.nearest > CLEAR
}

/// Compares two models of one panel on all patterns; `classes` says where each class of the first went.
fn assert_same_decisions(
    (model, panel): (&Model, &Panel),
    (other, counterpart): (&Model, &Panel),
    rows: [&[Vec<Option<usize>>]; 2],
    classes: &[usize],
) {
    let tables = [panel.table(rows[0]), counterpart.table(rows[1])];
    let (first, second) = (
        model.align(&tables[0]).expect("the same columns"),
        other.align(&tables[1]).expect("the same columns"),
    );
    for t in 0..rows[0].len() {
        let (a, b) = (first.decide(t).expect("a row"), second.decide(t).expect("a row"));
        let degrees = (a.possibility.degrees(), b.possibility.degrees());
        for (i, &to) in classes.iter().enumerate() {
            // Votes and probabilities are shares of a sum whose order follows the classes.
            assert!((degrees.0[i] - degrees.1[to]).abs() < CLEAR, "{} row {t}", model.method());
        }
        let mut ties: Vec<usize> = a.ties.iter().map(|&i| classes[i]).collect();
        ties.sort_unstable();
        assert_eq!(ties, b.ties, "{} row {t}", model.method());
        if !a.is_tie() {
            assert_eq!(classes[a.class], b.class, "{} row {t}", model.method());
        }
    }
}

fn tunable(combiner: &dyn Combiner) -> bool {
    matches!(combiner.method(), Method::AdaSpocc | Method::ExpVote) || combiner.needs() == Level::Tally
}

#[test]
fn renaming_classes_renames_decisions_without_tuning() {
    proptest!(config(80), |(panel in untied_panels(), seed: u64)| {
        let new = Random(seed).order(panel.n_classes);
        let counterpart = panel.renamed(&new);
        let rows = panel.all_patterns();
        let asked = Panel { rows: rows.clone(), ..panel.clone() }.renamed(&new).rows;
        for method in Method::ALL {
            let combiner = method.combiner();
            if method == Method::Bayes || !tunable(combiner.as_ref()) {
                let model = combiner.fit(&panel.tally()).expect("rows");
                let other = combiner.fit(&counterpart.tally()).expect("rows");
                assert_same_decisions((&model, &panel), (&other, &counterpart), [&rows, &asked], &new);
            }
        }
    });
}

#[test]
fn renaming_classes_renames_decisions_of_adaspocc() {
    proptest!(config(60), |(panel in untied_panels(), seed: u64)| {
        let new = Random(seed).order(panel.n_classes);
        let counterpart = panel.renamed(&new);
        let rows = panel.all_patterns();
        let asked = Panel { rows: rows.clone(), ..panel.clone() }.renamed(&new).rows;
        for (tuning, validation) in
            [(Tuning::Resubstitution, Validation::Resubstitution), (Tuning::LeaveOneOut, Validation::LeaveOneOut)]
        {
            prop_assume!(is_untied(&panel, validation));
            let model = AdaSpocc { tuning }.fit(&panel.tally()).expect("rows");
            let other = AdaSpocc { tuning }.fit(&counterpart.tally()).expect("rows");
            prop_assert_eq!(model.parameters(), other.parameters());
            assert_same_decisions((&model, &panel), (&other, &counterpart), [&rows, &asked], &new);
        }
    });
}

#[test]
fn reordering_classifiers_changes_nothing_without_tuning() {
    proptest!(config(80), |(panel in untied_panels(), seed: u64)| {
        let order = Random(seed).order(panel.names.len());
        let counterpart = panel.reordered(&order);
        let rows = panel.all_patterns();
        let asked = Panel { rows: rows.clone(), ..panel.clone() }.reordered(&order).rows;
        let same: Vec<usize> = (0..panel.n_classes).collect();
        let mut accuracies = naive::Counts::new(&panel).accuracies();
        accuracies.sort_by(f64::total_cmp);
        // Equally accurate classifiers tie for selection.
        prop_assume!(accuracies.windows(2).all(|two| two[1] - two[0] > CLEAR));
        for method in Method::ALL {
            let combiner = method.combiner();
            if method == Method::Bayes || !tunable(combiner.as_ref()) {
                let model = combiner.fit(&panel.tally()).expect("rows");
                let other = combiner.fit(&counterpart.tally()).expect("rows");
                assert_same_decisions((&model, &panel), (&other, &counterpart), [&rows, &asked], &same);
            }
        }
    });
}

#[test]
fn reordering_classifiers_changes_nothing_for_adaspocc() {
    proptest!(config(60), |(panel in untied_panels(), seed: u64)| {
        let order = Random(seed).order(panel.names.len());
        let counterpart = panel.reordered(&order);
        let rows = panel.all_patterns();
        let asked = Panel { rows: rows.clone(), ..panel.clone() }.reordered(&order).rows;
        let same: Vec<usize> = (0..panel.n_classes).collect();
        for (tuning, validation) in
            [(Tuning::Resubstitution, Validation::Resubstitution), (Tuning::LeaveOneOut, Validation::LeaveOneOut)]
        {
            prop_assume!(is_untied(&panel, validation));
            let model = AdaSpocc { tuning }.fit(&panel.tally()).expect("rows");
            let other = AdaSpocc { tuning }.fit(&counterpart.tally()).expect("rows");
            let parameters = |model: &Model| match model.parameters() {
                Parameters::AdaSpocc { exponents, severity, .. } => (exponents, severity),
                other => panic!("an adaSPOCC model, not {other:?}"),
            };
            prop_assert_eq!(parameters(&model).0, parameters(&other).0);
            prop_assert!(close(parameters(&model).1, parameters(&other).1));
            assert_same_decisions((&model, &panel), (&other, &counterpart), [&rows, &asked], &same);
        }
    });
}

#[test]
fn columns_are_found_by_name() {
    proptest!(config(60), |(panel in panels(5, 3, 30), seed: u64)| {
        prop_assume!(panel.has_truth());
        let mut random = Random(seed);
        // A table with its columns in another order and one that is no classifier's.
        let order = random.order(panel.names.len());
        let mut other = panel.reordered(&order);
        other.names.push("unseen".to_owned());
        let mut strange = Random(seed);
        other.rows.iter_mut().for_each(|row| row.push(Some(strange.below(panel.labels.len()))));
        for combiner in combiners(&panel) {
            for options in choices() {
                let model = fitted(combiner.as_ref(), &panel.tally(), &options);
                let decisions = |table: &Predictions| model.predict(table).expect("all columns");
                prop_assert_eq!(decisions(&panel.predictions()), decisions(&other.predictions()));
            }
        }
    });
}
