//! What class weights mean: only their ratios matter, and a whole weight is so many rows.

use super::*;

/// Methods that learn from counts alone, so that a row that counts twice is two rows.
fn counting() -> Vec<Box<dyn Combiner>> {
    let strength = spocc::methods::Strength::try_from(1.0).expect("above 0");
    vec![
        Method::Spocc.combiner(),
        Method::Selection.combiner(),
        Method::Majority.combiner(),
        Method::WeightedVote.combiner(),
        Method::NaiveBayes.combiner(),
        Method::Bayes.combiner(),
        Box::new(AdaSpocc { tuning: Tuning::Resubstitution }),
        Box::new(ExpVote { tuning: Tuning::Resubstitution }),
        Box::new(spocc::methods::Stacking {
            strength: spocc::methods::StackingStrength::Fixed(strength),
            ..Default::default()
        }),
    ]
}

/// Weights for the classes that the evidence knows, the first as given, all others 1.
fn first_weighs(evidence: &Evidence, weight: f64, scale: f64) -> Options {
    let weigh = |(i, class): (usize, &Label)| (class.clone(), scale * if i == 0 { weight } else { 1.0 });
    let given = evidence.candidate_classes().iter().enumerate().map(weigh).collect();
    Options { class_weights: ClassWeights::Given(given), ..Options::default() }
}

fn decisions(model: &Model, panel: &Panel) -> Vec<Decision> {
    let table = panel.predictions();
    let aligned = model.align(&table).expect("the same columns");
    (0..table.n_rows()).map(|row| aligned.decide(row).expect("a row that is there")).collect()
}

#[test]
fn a_whole_class_weight_is_so_many_rows_of_the_class() {
    proptest!(config(40), |(panel in panels(4, 3, 40), times in 2..5usize)| {
        let occurring: std::collections::BTreeSet<usize> = panel.truth.iter().flatten().copied().collect();
        prop_assume!(occurring.len() > 1);
        let evidence = panel.tally();
        let first = evidence.candidate_classes()[0].clone();
        prop_assume!(panel.truth.iter().flatten().any(|&i| panel.label(i) == first));
        let is_first = |t: usize| panel.truth[t].is_some_and(|i| panel.label(i) == first);
        let copies = |t: usize| std::iter::repeat_n(t, if is_first(t) { times } else { 1 });
        let repeated = panel.part(&(0..panel.rows.len()).flat_map(copies).collect::<Vec<usize>>());
        for combiner in counting() {
            // `auto` tests missing cells on the rows as counted, which repeated rows are more of.
            let ignore = |options: Options| Options { missing: Missing::Ignore, ..options };
            let weights = ignore(first_weighs(&evidence, times as f64, 1.0));
            let weighted = fitted(combiner.as_ref(), &evidence, &weights);
            let plain = fitted(combiner.as_ref(), &repeated.tally(), &ignore(Options::default()));
            prop_assert_eq!(decisions(&weighted, &panel), decisions(&plain, &panel), "{}", combiner.method());
        }
    });
}

#[test]
fn only_the_ratios_of_class_weights_matter() {
    proptest!(config(30), |(panel in panels(4, 3, 40), weight in 0.1..10.0f64, doublings in -4..5i32)| {
        prop_assume!(panel.has_truth());
        let evidence = panel.tally();
        for combiner in combiners(&panel) {
            let fit = |scale: f64| fitted(combiner.as_ref(), &evidence, &first_weighs(&evidence, weight, scale));
            let (one, other) = (fit(1.0), fit(2f64.powi(doublings)));
            prop_assert_eq!(decisions(&one, &panel), decisions(&other, &panel), "{}", combiner.method());
        }
    });
}

#[test]
fn weights_that_are_all_alike_change_nothing() {
    proptest!(config(30), |(panel in panels(4, 3, 40))| {
        prop_assume!(panel.has_truth());
        let evidence = panel.tally();
        for combiner in combiners(&panel) {
            let alike = fitted(combiner.as_ref(), &evidence, &first_weighs(&evidence, 1.0, 7.0));
            let plain = fitted(combiner.as_ref(), &evidence, &Options::default());
            prop_assert_eq!(alike.parameters(), plain.parameters());
            prop_assert_eq!(decisions(&alike, &panel), decisions(&plain, &panel));
        }
    });
}

#[test]
fn a_heavy_class_wins_rows_without_predictions() {
    let rows = [(vec![0], 0), (vec![0], 0), (vec![0], 0), (vec![1], 1), (vec![0], 1)];
    let evidence = Panel::of(2, &rows).tally();
    let missing = Predictions::builder(["c0"]).and_then(|mut table| {
        table.push([None::<&str>])?;
        Ok(table.finish())
    });
    let missing = missing.expect("one missing cell");
    let decide = |options: &Options| {
        let model = fitted(Method::NaiveBayes.combiner().as_ref(), &evidence, options);
        model.predict(&missing).expect("a column").class[0]
    };
    assert_eq!(decide(&Options::default()), 0);
    let second = ClassWeights::Given(vec![("l1".into(), 2.0)]);
    assert_eq!(decide(&Options { class_weights: second, ..Options::default() }), 1);
}

#[test]
fn auto_is_ignore_where_no_cell_is_missing() {
    proptest!(config(20), |(panel in plain_panels(4, 3, 40))| {
        let evidence = panel.tally();
        for combiner in combiners(&panel) {
            let fit = |missing| fitted(combiner.as_ref(), &evidence, &Options { missing, ..Options::default() });
            prop_assert_eq!(fit(Missing::Auto).to_bytes(), fit(Missing::Ignore).to_bytes());
        }
    });
}
