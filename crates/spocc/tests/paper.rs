//! The robustness properties of the paper on exact counts: a guesser is neutral, an adversary is as informative as its
//! rectified version, a copy counts once. Tests of their limits on finite counts follow each property.

mod naive;
mod panels;

use naive::{Validation, Variant};
use panels::{Panel, Random, Shape, config, plain_panels};
use proptest::prelude::*;
use spocc::{
    Control, Decision, Fit, Method, Model,
    dependence::Dissimilarities,
    fusion::{Exponent, t_norm},
    methods::{AdaSpocc, Parameters, Spocc, SpoccExponent},
    possibility::{Discount, Possibility},
    tuning::Tuning,
};

/// Both sides round differently, in the last digits only.
const ROUNDING: f64 = 1e-12;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING
}

fn spocc(exponent: Exponent) -> Spocc {
    Spocc { exponent: SpoccExponent::Fixed(exponent) }
}

/// Decisions on any rows of predictions.
fn decide(model: &Model, panel: &Panel, rows: &[Vec<Option<usize>>]) -> Vec<Decision> {
    let table = panel.table(rows);
    let aligned = model.align(&table).expect("the same columns");
    (0..rows.len()).map(|t| aligned.decide(t).expect("a row")).collect()
}

/// A panel of `n` rows per class with random predictions.
fn balanced(n_classifiers: usize, n_classes: usize, n: usize, seed: u64) -> Panel {
    let mut random = Random(seed);
    let mut rows = Vec::new();
    for t in 0..n * n_classes {
        let class = t % n_classes;
        let predict = |random: &mut Random| {
            if random.unit() < 0.6 { class } else { random.below(n_classes) }
        };
        rows.push(((0..n_classifiers).map(|_| predict(&mut random)).collect(), class));
    }
    Panel::of(n_classes, &rows)
}

/// Every row once for each label of the guesser, with the guesser and without.
fn with_guesser(panel: &Panel) -> (Panel, Panel) {
    let mut with = Panel { rows: Vec::new(), truth: Vec::new(), ..panel.clone() };
    let mut without = with.clone();
    with.names.push("guesser".to_owned());
    for (row, truth) in panel.rows.iter().zip(&panel.truth) {
        for guess in 0..panel.n_classes {
            with.rows.push(row.iter().copied().chain([Some(guess)]).collect());
            without.rows.push(row.clone());
            with.truth.push(*truth);
            without.truth.push(*truth);
        }
    }
    (with, without)
}

// ---- (a) a guesser

#[test]
fn a_guesser_on_balanced_classes_is_neutral_in_spocc() {
    for seed in 0..20 {
        let (with, without) = with_guesser(&balanced(2, 3, 7, seed));
        let (model, alone) = (
            Spocc::default().fit(&with.tally()).expect("rows"),
            Spocc::default().fit(&without.tally()).expect("rows"),
        );
        let rows = without.all_patterns();
        let expected = decide(&alone, &without, &rows);
        for guess in 0..3 {
            let asked: Vec<_> = rows.iter().map(|row| [row.as_slice(), &[Some(guess)]].concat()).collect();
            for (found, expected) in decide(&model, &with, &asked).iter().zip(&expected) {
                assert_eq!((found.class, &found.ties), (expected.class, &expected.ties), "seed {seed}");
                for (a, b) in found.possibility.degrees().iter().zip(expected.possibility.degrees()) {
                    assert!(close(*a, *b), "seed {seed}: {found:?}, expected {expected:?}");
                }
            }
        }
    }
}

#[test]
fn a_guesser_on_balanced_classes_is_neutral_in_adaspocc() {
    for seed in 0..20 {
        let (with, _) = with_guesser(&balanced(3, 3, 5, seed));
        for tuning in [Tuning::Resubstitution, Tuning::LeaveOneOut] {
            let model = AdaSpocc { tuning }.fit(&with.tally()).expect("rows");
            let rows = with.all_patterns();
            let without: Vec<_> = rows.iter().map(|row| [&row[..3], &[None]].concat()).collect();
            for (present, missing) in decide(&model, &with, &rows).iter().zip(decide(&model, &with, &without))
            {
                assert_eq!(
                    (present.class, &present.possibility),
                    (missing.class, &missing.possibility),
                    "seed {seed}"
                );
            }
        }
    }
}

#[test]
fn a_guesser_on_unbalanced_classes_favours_the_frequent_class() {
    // 30 rows of class 0, 10 of class 1. `mild` predicts 1 on twelve of the former and on all the latter; `clear`
    // predicts 1 on eight of the former.
    let mut rows = Vec::new();
    for t in 0..40 {
        let class = usize::from(t >= 30);
        let (mild, clear) = (usize::from(t >= 18), usize::from(t < 5 || (18..21).contains(&t) || t >= 30));
        rows.push((vec![mild, clear], class));
    }
    let (with, without) = with_guesser(&Panel::of(2, &rows));
    let fit = |panel: &Panel| spocc(Exponent::PRODUCT).fit(&panel.tally()).expect("rows");
    let (both, alone) = (fit(&with), fit(&without));
    let guess = &decide(&both, &with, &[vec![None, None, Some(1)]])[0];
    // 30 and 10 rows with the guess 1, and one more each.
    assert!(close(guess.possibility.degrees()[1], 11.0 / 42.0) && guess.class == 0);
    let before = &decide(&alone, &without, &[vec![Some(1), Some(1)]])[0];
    let after = &decide(&both, &with, &[vec![Some(1), Some(1), Some(1)]])[0];
    assert_eq!((before.class, after.class), (1, 0), "the guesser changes the decision");
}

// ---- (b) an adversary

/// The rows with the predictions of classifier `k` renamed.
fn renamed_predictions(rows: &[Vec<Option<usize>>], k: usize, new: &[usize]) -> Vec<Vec<Option<usize>>> {
    let mut rows = rows.to_vec();
    rows.iter_mut().for_each(|row| row[k] = row[k].map(|j| new[j]));
    rows
}

#[test]
fn an_adversary_equals_its_rectified_version_in_spocc() {
    proptest!(config(150), |(panel in plain_panels(4, 4, 40), k in 0..4usize, seed: u64)| {
        let panel = Panel { is_closed: true, ..panel };
        let k = k % panel.names.len();
        let new = Random(seed).order(panel.n_classes);
        let rectified_panel = Panel { rows: renamed_predictions(&panel.rows, k, &new), ..panel.clone() };
        for x in [1.0, 5.0, f64::INFINITY] {
            let combiner = spocc(Exponent::try_from(x).expect("at least 1"));
            let model = combiner.fit(&panel.tally()).expect("rows");
            let rectified = combiner.fit(&rectified_panel.tally()).expect("rows");
            let rows = panel.all_patterns();
            let asked = renamed_predictions(&rows, k, &new);
            prop_assert_eq!(decide(&model, &panel, &rows), decide(&rectified, &rectified_panel, &asked));
        }
    });
}

#[test]
fn rectification_differs_where_two_labels_mean_one_class() {
    // Label 0 always means class 1, labels 1 and 2 mostly mean class 0: the rectified columns add up.
    let mut rows = vec![(vec![0], 1); 6];
    rows.extend(vec![(vec![1], 0); 5]);
    rows.extend(vec![(vec![1], 1); 4]);
    rows.extend(vec![(vec![2], 0); 3]);
    rows.extend(vec![(vec![2], 2); 2]);
    let panel = Panel::of(3, &rows);
    let new = [1, 0, 0];
    let rectified_panel = Panel { rows: renamed_predictions(&panel.rows, 0, &new), ..panel.clone() };
    let possibility = |panel: &Panel, predicted: usize| {
        let model = Spocc::default().fit(&panel.tally()).expect("rows");
        decide(&model, panel, &[vec![Some(predicted)]])[0].possibility.degrees().to_vec()
    };
    let expected =
        |counts: [u64; 3]| Possibility::from_counts_smoothed(&counts).expect("small").degrees().to_vec();
    let assert_close = |found: Vec<f64>, counts: [u64; 3]| {
        assert!(found.iter().zip(expected(counts)).all(|(a, b)| close(*a, b)), "{found:?} of {counts:?}");
    };
    assert_close(possibility(&panel, 0), [0, 6, 0]);
    assert_close(possibility(&rectified_panel, 1), [0, 6, 0]);
    assert_close(possibility(&panel, 1), [5, 4, 0]);
    assert_close(possibility(&panel, 2), [3, 0, 2]);
    assert_close(possibility(&rectified_panel, 0), [8, 4, 2]);
}

/// An adversary that is always wrong and a classifier of accuracy 0.6, on two balanced classes.
fn adversary_and_weak() -> Panel {
    let mut rows = Vec::new();
    for t in 0..40 {
        let class = t % 2;
        let weak = if t / 2 % 5 < 3 { class } else { 1 - class };
        rows.push((vec![1 - class, weak], class));
    }
    Panel::of(2, &rows)
}

fn accuracy(model: &Model, panel: &Panel) -> f64 {
    let decided = decide(model, panel, &panel.rows);
    let correct = decided.iter().zip(&panel.truth).filter(|(d, truth)| Some(d.class) == **truth).count();
    correct as f64 / panel.rows.len() as f64
}

#[test]
fn discounting_neutralises_an_adversary_and_severity_zero_undoes_it() {
    let panel = adversary_and_weak();
    let fit = |tuning| {
        let model = AdaSpocc { tuning }.fit(&panel.tally()).expect("rows");
        let Parameters::AdaSpocc { severity, discounts, .. } = model.parameters() else {
            panic!("an adaSPOCC model")
        };
        let discounts: Vec<f64> = discounts.into_iter().map(f64::from).collect();
        (severity, discounts, accuracy(&model, &panel))
    };
    // The authors' grid has no 0: at any severity a classifier without correct predictions has discount 1.
    let (severity, discounts, accuracy_found) = fit(Tuning::Resubstitution);
    assert!(severity > 0.0);
    assert_eq!((discounts, accuracy_found), (vec![1.0, 0.0], 0.6));
    // Ours has: the adversary is as informative as the truth.
    assert_eq!(fit(Tuning::LeaveOneOut), (0.0, vec![0.0, 0.0], 1.0));
    assert_eq!(accuracy(&Spocc::default().fit(&panel.tally()).expect("rows"), &panel), 1.0);
    // A vote counts the adversary as it is: at best a tie, of which the first class gets half.
    assert_eq!(accuracy(&Method::Majority.combiner().fit(&panel.tally()).expect("rows"), &panel), 0.3);
}

// ---- (c) a copy

/// The panel with classifier 0 once more at the end.
fn with_copy(panel: &Panel) -> Panel {
    let mut copied = panel.clone();
    copied.names.push("copy".to_owned());
    copied.rows.iter_mut().for_each(|row| row.push(row[0]));
    copied
}

#[test]
fn a_copy_joined_by_the_minimum_counts_once() {
    proptest!(config(150), |(panel in plain_panels(3, 3, 40))| {
        let panel = Panel { is_closed: true, ..panel };
        let with = with_copy(&panel);
        let combiner = spocc(Exponent::MINIMUM);
        let (model, copied) =
            (combiner.fit(&panel.tally()).expect("rows"), combiner.fit(&with.tally()).expect("rows"));
        let rows = panel.all_patterns();
        let asked: Vec<_> = rows.iter().map(|row| [row.as_slice(), &[row[0]]].concat()).collect();
        for (once, twice) in decide(&model, &panel, &rows).iter().zip(decide(&copied, &with, &asked)) {
            prop_assert_eq!((once.class, &once.possibility, once.margin), (twice.class, &twice.possibility, twice.margin));
        }
    });
}

#[test]
fn a_copy_joined_by_the_product_counts_twice() {
    let panel = balanced(1, 2, 10, 3);
    let with = with_copy(&panel);
    let degree = |panel: &Panel, x: Exponent, predicted: &[usize]| {
        let model = spocc(x).fit(&panel.tally()).expect("rows");
        let row = predicted.iter().copied().map(Some).collect();
        let degrees = decide(&model, panel, &[row])[0].possibility.degrees().to_vec();
        degrees.into_iter().fold(1.0, f64::min)
    };
    let once = degree(&panel, Exponent::PRODUCT, &[0]);
    assert!(once < 1.0);
    assert!(close(degree(&with, Exponent::PRODUCT, &[0, 0]), once * once));
    // At the paper's 5 it counts 2^(1/5) times, about 1.15.
    let five = Exponent::try_from(5.0).expect("at least 1");
    assert!(close(degree(&with, five, &[0, 0]), once.powf(2f64.powf(0.2))));
    assert!(close(degree(&with, Exponent::MINIMUM, &[0, 0]), once));
}

#[test]
fn two_copies_have_the_dissimilarity_of_their_entropy() {
    // Three quarters of the predictions are 0: the mutual information of two copies is their entropy.
    let rows: Vec<(Vec<usize>, usize)> = (0..40).map(|t| (vec![usize::from(t % 4 == 0); 2], t % 2)).collect();
    let dissimilarities =
        Dissimilarities::new(&Panel::of(2, &rows).tally(), &Control::default()).expect("a tally");
    let entropy = -(0.75f64 * 0.75f64.ln() + 0.25 * 0.25f64.ln());
    assert!(close(dissimilarities.get(0, 1), (-entropy).exp()));
    assert!(dissimilarities.get(0, 1) > 0.5, "far from 0");
}

#[test]
fn a_constant_classifier_depends_on_no_other_not_even_its_copy() {
    let rows: Vec<(Vec<usize>, usize)> = (0..30).map(|t| (vec![1, 1, t % 3], t % 3)).collect();
    let dissimilarities =
        Dissimilarities::new(&Panel::of(3, &rows).tally(), &Control::default()).expect("a tally");
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        assert_eq!(dissimilarities.get(a, b), 1.0, "{a} {b}");
    }
}

#[test]
fn a_constant_classifier_never_quite_excludes_a_class() {
    // All ten rows are of class 0 and so are the predictions; smoothing adds one row of each class.
    let panel = Panel::of(2, &vec![(vec![0], 0); 10]);
    let model = Spocc::default().fit(&panel.tally()).expect("rows");
    let decided = decide(&model, &panel, &[vec![Some(0)], vec![Some(1)]]);
    assert_eq!(decided[0].class, 0);
    assert!(close(decided[0].possibility.degrees()[1], 1.0 / 12.0), "not a Dirac distribution");
    assert_eq!(decided[1].possibility.degrees(), [1.0, 1.0], "a label never predicted is neutral");
}

// ---- the examples of appendix B

#[test]
fn example_1_has_the_measures_of_a_set() {
    let set = Possibility::new(vec![1.0, 1.0, 0.0]).expect("degrees");
    let table: [(&[usize], f64, f64); 7] = [
        (&[0], 0.0, 1.0),
        (&[1], 0.0, 1.0),
        (&[0, 1], 1.0, 1.0),
        (&[2], 0.0, 0.0),
        (&[0, 2], 0.0, 1.0),
        (&[1, 2], 0.0, 1.0),
        (&[0, 1, 2], 1.0, 1.0),
    ];
    for (classes, necessity, possibility) in table {
        assert_eq!(
            (set.necessity(classes), set.possibility(classes)),
            (necessity, possibility),
            "{classes:?}"
        );
    }
}

#[test]
fn in_examples_2_and_3_the_decision_changes_with_the_exponent() {
    let first = Possibility::from_counts(&[10, 15, 75]).expect("small");
    let second = Possibility::from_counts(&[20, 60, 20]).expect("small");
    assert_eq!((first.degrees(), second.degrees()), (&[0.1, 0.25, 1.0][..], &[0.4, 1.0, 0.4][..]));
    let possibilities = [&first, &second, &second];
    let fused = |x: f64| {
        let x = Exponent::try_from(x).expect("at least 1");
        [0, 1, 2].map(|i| t_norm(&possibilities.map(|distribution| distribution.degrees()[i]), x))
    };
    let best = |x: f64| {
        let [a, b, c] = fused(x);
        assert!(a < b && a < c, "the first class never wins");
        if b > c { 1 } else { 2 }
    };
    // Two moderate distributions win by the product, one certain distribution by the minimum; in between it changes once.
    let path: Vec<usize> = (0..=100).map(|i| best(10f64.powf(f64::from(i) / 100.0))).collect();
    assert_eq!((path[0], path[100], best(f64::INFINITY)), (1, 2, 2));
    assert!(path.is_sorted());
    // The t-norm of x fuses the two equal degrees to ln(.4) 2^(1/x), so the change is where that is ln(.25).
    let change = 2f64.ln() / (0.25f64.ln() / 0.4f64.ln()).ln();
    assert_eq!((best(change - 1e-9), best(change + 1e-9)), (1, 2));
}

#[test]
fn indicator_functions_fuse_to_the_intersection() {
    for x in [1.0, 3.0, f64::INFINITY].map(|x| Exponent::try_from(x).expect("at least 1")) {
        let (b, c) = ([1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0]);
        let fused: Vec<f64> = (0..4).map(|i| t_norm(&[b[i], c[i]], x)).collect();
        assert_eq!(fused, [1.0, 0.0, 0.0, 0.0]);
    }
}

// ---- discounting

#[test]
fn a_discount_runs_from_the_distribution_to_neutrality() {
    let distribution = Possibility::from_counts(&[10, 15, 75]).expect("small");
    for d in [0.0, 0.3, 1.0] {
        let discounted = distribution.discounted(Discount::try_from(d).expect("from 0 to 1"));
        for (after, before) in discounted.degrees().iter().zip(distribution.degrees()) {
            assert!(close(*after, (1.0 - d) * before + d));
        }
    }
}

// ---- the search of appendix A, on panels where a small departure changes the result

/// Panels, by seed, on which each departure from the search ends in other exponents.
fn pinned_panel(seed: u64) -> Panel {
    let shape = Shape {
        n_classifiers: 6,
        n_classes: 3,
        n_others: 0,
        n_rows: 40,
        missing_share: 0.0,
        weighted: false,
        seed,
    };
    Panel { is_closed: true, ..Panel::new(shape) }
}

/// The exponents of the engine, of the plain search, and of the plain search with a departure.
fn exponents(seed: u64, variant: Variant) -> [Vec<f64>; 3] {
    let panel = pinned_panel(seed);
    let model = AdaSpocc { tuning: Tuning::Resubstitution }.fit(&panel.tally()).expect("rows");
    let Parameters::AdaSpocc { dendrogram, exponents, .. } = model.parameters() else {
        panic!("an adaSPOCC model")
    };
    let plain = |variant| naive::adaspocc(&panel, &dendrogram, Validation::Resubstitution, variant).exponents;
    [exponents.into_iter().map(f64::from).collect(), plain(Variant::Right), plain(variant)]
}

fn assert_departure_changes_exponents(variant: Variant, seeds: &[u64]) {
    for &seed in seeds {
        let [found, right, departed] = exponents(seed, variant);
        assert!(found.iter().zip(&right).all(|(a, b)| close(*a, *b)), "seed {seed}: {found:?}, {right:?}");
        assert_ne!(right, departed, "seed {seed} no longer shows the departure");
    }
}

#[test]
fn every_later_group_gets_a_strictly_smaller_exponent() {
    assert_departure_changes_exponents(Variant::NotStrict, &[97, 133, 136, 178, 190, 396]);
}

#[test]
fn exponents_start_again_from_one_for_every_number_of_clusters() {
    assert_departure_changes_exponents(Variant::NoReset, &[354]);
}

#[test]
fn nodes_above_the_clusters_are_searched_children_first() {
    assert_departure_changes_exponents(Variant::ParentsFirst, &[25, 152, 176, 245]);
}
