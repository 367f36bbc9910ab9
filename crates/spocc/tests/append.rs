//! Appending a classifier to a fitted model: the earlier parameters of SPOCC and adaSPOCC do not change, and the result is
//! close to that of a full refit.

use spocc::{
    Combiner, Control, Error, Evidence, Fit, Label, Ladder, Model, Options, Predictions, Truth,
    data::Missing,
    evidence::Counting,
    fusion::Exponent,
    methods::{AdaSpocc, Majority, Parameters, Spocc, SpoccExponent},
    tuning::Tuning,
};

const CLASSES: [&str; 3] = ["x", "y", "z"];

/// Predictions of named classifiers, each correct with its own probability.
struct GrowingPanel {
    names: Vec<String>,
    columns: Vec<Vec<Option<&'static str>>>,
    truth: Vec<&'static str>,
}

fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 33) as f64) / (1u64 << 31) as f64
}

fn panel(accuracies: &[f64], rows: usize, seed: u64) -> GrowingPanel {
    let mut state = seed;
    let truth: Vec<&str> = (0..rows).map(|_| CLASSES[(random(&mut state) * 3.0) as usize]).collect();
    let predicted = |state: &mut u64, truth: &'static str, accuracy: f64| {
        if random(state) < accuracy { truth } else { CLASSES[(random(state) * 3.0) as usize] }
    };
    let columns = accuracies
        .iter()
        .map(|&accuracy| truth.iter().map(|&truth| Some(predicted(&mut state, truth, accuracy))).collect())
        .collect();
    GrowingPanel { names: (0..accuracies.len()).map(|k| format!("c{k}")).collect(), columns, truth }
}

impl GrowingPanel {
    fn with(mut self, name: &str, column: Vec<Option<&'static str>>) -> Self {
        self.names.push(name.to_owned());
        self.columns.push(column);
        self
    }

    fn predictions(&self, n: usize) -> Predictions {
        let mut rows = Predictions::builder(self.names[..n].iter().cloned()).expect("distinct names");
        for t in 0..self.truth.len() {
            rows.push(self.columns[..n].iter().map(|column| column[t])).expect("as wide as the panel");
        }
        rows.finish()
    }

    /// Evidence of the first `n` classifiers.
    fn evidence(&self, n: usize) -> Evidence {
        let truth = Truth::new(self.truth.iter().copied().map(Some)).expect("few labels");
        Evidence::new(&self.predictions(n), &truth).expect("rows")
    }

    fn n(&self) -> usize {
        self.names.len()
    }
}

fn ada(model: &Model) -> (Vec<f64>, f64, f64, Vec<f64>) {
    let Parameters::AdaSpocc { exponents, cut, severity, discounts, .. } = model.parameters() else {
        panic!("an adaSPOCC model")
    };
    let numbers = |exponents: Vec<Exponent>| exponents.into_iter().map(f64::from).collect();
    (numbers(exponents), cut, severity, discounts.into_iter().map(f64::from).collect())
}

#[test]
fn spocc_appended_is_spocc_refitted_byte_for_byte() {
    let panel = panel(&[0.8, 0.6, 0.5, 0.7], 300, 1);
    for exponent in [5.0, 1.0, f64::INFINITY] {
        let spocc = Spocc { exponent: SpoccExponent::Fixed(Exponent::try_from(exponent).expect("from 1")) };
        let small = spocc.fit(&panel.evidence(3)).expect("rows");
        let grown = small.append(&panel.evidence(4), &Control::default()).expect("the same rows");
        let refitted = spocc.fit(&panel.evidence(4)).expect("rows");
        assert_eq!(grown.to_bytes(), refitted.to_bytes());
    }
}

#[test]
fn adaspocc_keeps_every_earlier_parameter() {
    for seed in 0..20 {
        let accuracies: Vec<f64> =
            (0..6).map(|k| 0.35 + 0.1 * f64::from((k * 5 + seed as u32) % 6)).collect();
        let panel = panel(&accuracies, 200, seed);
        let small = AdaSpocc { tuning: Tuning::Resubstitution }.fit(&panel.evidence(5)).expect("rows");
        let grown = small.append(&panel.evidence(6), &Control::default()).expect("the same rows");
        let (before, after) = (ada(&small), ada(&grown));
        assert_eq!((before.1, before.2), (after.1, after.2), "cut and severity");
        assert_eq!(before.3, after.3[..5], "discounts");
        assert_eq!(after.0.len(), before.0.len() + 1);
        let mut rest = after.0.clone();
        let added = (0..rest.len()).find(|&at| {
            let mut without = after.0.clone();
            without.remove(at);
            without == before.0
        });
        rest.remove(added.expect("one exponent was added and no other changed"));
        assert_eq!(rest, before.0);
        assert_eq!(grown.classifiers()[5], "c5");
    }
}

#[test]
fn a_classifier_without_predictions_changes_no_decision() {
    let panel = panel(&[0.8, 0.6, 0.5], 200, 7);
    let panel = panel.with("absent", vec![None; 200]);
    for combiner in [Box::new(Spocc::default()) as Box<dyn Combiner>, Box::new(AdaSpocc::default())] {
        let small = combiner.fit(&panel.evidence(3)).expect("rows");
        let grown = small.append(&panel.evidence(4), &Control::default()).expect("the same rows");
        let decide = |model: &Model| model.predict(&panel.predictions(4)).expect("all columns");
        assert_eq!(decide(&small), decide(&grown));
    }
}

#[test]
fn a_copy_joins_the_cluster_of_its_original() {
    // Three near-copies make a cluster with an exponent; a fourth must join them and inherit it.
    let mut found = 0;
    for seed in 0..30 {
        let base = panel(&[0.6, 0.75, 0.7], 300, seed);
        let noisy = |seed: u64| {
            let mut state = seed ^ 0xabc;
            let spoil = |predicted: Option<&'static str>| {
                if random(&mut state) < 0.03 {
                    Some(CLASSES[(random(&mut state) * 3.0) as usize])
                } else {
                    predicted
                }
            };
            base.columns[0].iter().copied().map(spoil).collect::<Vec<_>>()
        };
        let (a, b, c) = (noisy(seed * 3 + 1), noisy(seed * 3 + 2), noisy(seed * 3 + 3));
        let panel = base.with("copy1", a).with("copy2", b).with("copy3", c);
        let small = AdaSpocc { tuning: Tuning::Resubstitution }.fit(&panel.evidence(5)).expect("rows");
        let grown = small.append(&panel.evidence(6), &Control::default()).expect("the same rows");
        let Parameters::AdaSpocc { dendrogram, exponents, cut, .. } = grown.parameters() else {
            panic!("an adaSPOCC model")
        };
        let joint = (0..dendrogram.merges().len())
            .find(|&q| dendrogram.merges()[q].children.contains(&5))
            .expect("joined");
        let mut family = dendrogram.leaves(6 + joint);
        family.sort_unstable();
        if dendrogram.merges()[joint].height <= cut && family.len() > 2 {
            found += 1;
            assert!(family.iter().all(|leaf| [0, 3, 4, 5].contains(leaf)), "seed {seed}: {family:?}");
            let below =
                dendrogram.merges()[joint].children.into_iter().find(|child| *child > 5).expect("a cluster");
            assert_eq!(exponents[joint], exponents[below - 6], "seed {seed}: the exponent is inherited");
        }
    }
    assert!(found >= 10, "a cluster was joined in {found} of 30 panels");
}

#[test]
fn appending_decides_nearly_as_a_full_refit() {
    let (mut same, mut rows) = (0, 0);
    for seed in 0..20 {
        let panel = panel(&[0.75, 0.65, 0.7, 0.5, 0.6], 300, 100 + seed);
        let small = AdaSpocc::default().fit(&panel.evidence(4)).expect("rows");
        let grown = small.append(&panel.evidence(5), &Control::default()).expect("the same rows");
        let refitted = AdaSpocc::default().fit(&panel.evidence(5)).expect("rows");
        let decide =
            |model: &Model| -> Vec<u16> { model.predict(&panel.predictions(5)).expect("all columns").class };
        same += decide(&grown).iter().zip(decide(&refitted)).filter(|(a, b)| **a == *b).count();
        rows += panel.truth.len();
    }
    let share = same as f64 / f64::from(rows as u32);
    assert!(share > 0.95, "{share} of the rows are decided alike");
}

#[test]
fn a_label_that_only_the_new_classifier_predicts_is_never_a_class() {
    let panel = panel(&[0.8, 0.6], 120, 3);
    let refuser = panel.columns[0]
        .iter()
        .enumerate()
        .map(|(t, predicted)| if t % 4 == 0 { Some("refuse") } else { *predicted })
        .collect();
    let panel = panel.with("llm", refuser);
    for missing in [Missing::Ignore, Missing::Answer] {
        let options = Options { missing, ..Options::default() };
        let small = Model::fit(&AdaSpocc::default(), &panel.evidence(2), &options, &Control::default())
            .expect("rows");
        let grown = small.append(&panel.evidence(3), &Control::default()).expect("the same rows");
        assert_eq!(grown.classes(), CLASSES.map(Label::from));
        let read = Model::from_bytes(&grown.to_bytes()).expect("own bytes");
        let decided = read.predict(&panel.predictions(3)).expect("all columns");
        assert!(decided.unseen().is_empty());
        assert!(decided.labels().all(|label| CLASSES.map(Label::from).contains(label)));
        // It can grow again.
        let again = panel.columns[1].clone();
        let names = panel.names.clone();
        let wider = GrowingPanel { names, columns: panel.columns.clone(), truth: panel.truth.clone() }
            .with("late", again);
        grown.append(&wider.evidence(4), &Control::default()).expect("the same rows");
    }
}

#[test]
fn a_ladder_is_appended_with_its_unlabelled_rows() {
    let panel = panel(&[0.8, 0.6, 0.7, 0.75], 200, 7);
    let truth = Truth::new(panel.truth.iter().enumerate().map(|(t, truth)| (t < 60).then_some(*truth)));
    let truth = truth.expect("few labels");
    let evidence = |n: usize, unlabelled: bool| {
        let counting = Counting { unlabelled, ..Counting::default() };
        Evidence::count(&panel.predictions(n), &truth, &counting, &Control::default()).expect("rows")
    };
    let append = |model: &Model, evidence: &Evidence| model.append(evidence, &Control::default());
    let small = Ladder.fit(&evidence(3, true)).expect("rows");
    let grown = append(&small, &evidence(4, true)).expect("the same rows");
    assert_eq!(grown.to_bytes(), Ladder.fit(&evidence(4, true)).expect("rows").to_bytes());
    let refused = append(&small, &evidence(4, false)).expect_err("rows are missing").to_string();
    let expected = "append: expected the rows the model was fitted to, found none of the 140 without truth";
    assert_eq!(refused, expected);
    // A model fitted without unlabelled rows is appended without them.
    let labelled = Ladder.fit(&evidence(3, false)).expect("rows");
    let grown = append(&labelled, &evidence(4, true)).expect("the same rows");
    assert_eq!(grown.to_bytes(), Ladder.fit(&evidence(4, false)).expect("rows").to_bytes());
}

/// Two independent classifiers that together determine the new one: it is near both, and they are far apart.
#[test]
fn a_classifier_near_two_distant_clusters_has_a_finite_distance() {
    let names: Vec<String> = (0..16).map(|class: u32| class.to_string()).collect();
    let name = |class: usize| Some(names[class].as_str());
    let table = |n: usize| {
        let mut rows =
            Predictions::builder(["low", "high", "noise", "late"].into_iter().take(n)).expect("names");
        for t in 0..320 {
            let class = t % 16;
            let predicted = [name(class & 3), name(class >> 2), name(t * 7 % 5), name(class)];
            rows.push(predicted.into_iter().take(n)).expect("as wide as the panel");
        }
        rows.finish()
    };
    let truth = Truth::new((0..320).map(|t| name(t % 16))).expect("few labels");
    let classes: Vec<Label> = names.iter().map(|name| Label::from(name.as_str())).collect();
    let options = Counting { classes: Some(classes), ..Counting::default() };
    let evidence = |n| Evidence::count(&table(n), &truth, &options, &Control::default()).expect("rows");
    let small = AdaSpocc::default().fit(&evidence(3)).expect("rows");
    let grown = small.append(&evidence(4), &Control::default()).expect("the same rows");
    let Parameters::AdaSpocc { dendrogram, .. } = grown.parameters() else { panic!("an adaSPOCC model") };
    assert!(dendrogram.merges().iter().all(|merge| merge.height.is_finite()));
    Model::from_bytes(&grown.to_bytes()).expect("a model that can be read back");
}

/// The exponent of a new branch is the best of its grid, with all other parameters kept.
#[test]
fn a_new_branch_gets_the_best_exponent_of_its_grid() {
    let mut searched = 0;
    for seed in 0..60 {
        let panel = panel(&[0.7, 0.6, 0.65, 0.8], 150, 300 + seed);
        let tuning = Tuning::Resubstitution;
        let small = AdaSpocc { tuning }.fit(&panel.evidence(3)).expect("rows");
        let grown = small.append(&panel.evidence(4), &Control::default()).expect("the same rows");
        let Parameters::AdaSpocc { dendrogram, exponents, .. } = grown.parameters() else {
            panic!("an adaSPOCC model")
        };
        // The last merge joins the new classifier, leaf 3, to the old root.
        if dendrogram.merges()[2].children[0] != 3 {
            continue;
        }
        searched += 1;
        let old_root = f64::from(exponents[1]);
        assert!(f64::from(exponents[2]) <= old_root, "no exponent exceeds that of a merge below it");
        let correct = |model: &Model| {
            let decided = model.predict(&panel.predictions(4)).expect("all columns");
            decided.labels().zip(&panel.truth).filter(|(label, truth)| label.canonical() == **truth).count()
        };
        // The product of the old panel and the new classifier is on every grid, so the choice is no worse than it.
        let with_all = correct(&grown);
        let mut product = 0;
        let table = panel.predictions(4);
        let aligned = small.align(&table).expect("all columns");
        let Parameters::AdaSpocc { discounts, .. } = grown.parameters() else { panic!("an adaSPOCC model") };
        for (t, decision) in (0..150).map(|t| (t, aligned.decide(t).expect("a row"))) {
            let predicted = panel.columns[3][t].expect("complete");
            let counts: Vec<u64> =
                CLASSES.iter().map(|truth| panel.evidence(4).count_of(3, predicted, *truth) as u64).collect();
            let own = spocc::possibility::Possibility::from_counts_smoothed(&counts)
                .expect("small")
                .discounted(discounts[3]);
            let fused: Vec<f64> =
                decision.possibility.degrees().iter().zip(own.degrees()).map(|(a, b)| a * b).collect();
            let best = (0..3).rev().max_by(|&a, &b| fused[a].total_cmp(&fused[b])).expect("classes");
            product += usize::from(CLASSES[best] == panel.truth[t]);
        }
        assert!(with_all + 1 >= product, "seed {seed}: {with_all} correct, {product} at exponent 1");
    }
    assert!(searched >= 3, "a new branch was made in {searched} of 60 panels");
}

#[test]
fn other_rows_and_other_models_are_refused() {
    let rows = panel(&[0.8, 0.6, 0.7], 100, 5);
    let others = panel(&[0.8, 0.6, 0.7], 100, 6);
    let model = AdaSpocc::default().fit(&rows.evidence(2)).expect("rows");
    let refused = |model: &Model, evidence: &Evidence| {
        model.append(evidence, &Control::default()).expect_err("refused")
    };
    let message = |error: Error| error.to_string();
    let other_rows = message(refused(&model, &others.evidence(3)));
    assert_eq!(other_rows, "append: expected the rows the model was fitted to, found rows with other counts");
    let none_new = message(refused(&model, &rows.evidence(2)));
    assert_eq!(none_new, "append: expected exactly one new classifier, found none");
    let slim = message(refused(&model.without_evidence(), &rows.evidence(3)));
    assert_eq!(slim, "append: expected a model that holds its evidence, found one without");
    let majority = Majority.fit(&rows.evidence(2)).expect("rows");
    assert_eq!(
        message(refused(&majority, &rows.evidence(3))),
        "append: expected a spocc, adaspocc or ladder model, found majority"
    );
    let without_c1 = rows.evidence(3).select(&["c0", "c2"], &Control::default()).expect("known names");
    assert_eq!(
        message(refused(&model, &without_c1)),
        "classifier `c1`: expected predictions of every classifier of the model, found only those of c0, c2"
    );
    let marginals = Counting { level: spocc::evidence::Level::Marginals, ..Counting::default() };
    let truth = Truth::new(rows.truth.iter().copied().map(Some)).expect("few labels");
    let shallow =
        Evidence::count(&rows.predictions(3), &truth, &marginals, &Control::default()).expect("rows");
    assert!(matches!(refused(&model, &shallow), Error::LevelTooLow { .. }));
    assert_eq!(rows.n(), 3);
}
