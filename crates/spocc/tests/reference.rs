//! A naive reference implementation of every fast path: plain loops over rows, written from the method alone, must agree with the
//! engine on random small panels.

mod naive;
mod panels;

use std::{cell::Cell, collections::HashMap};

use naive::{Closeness, Counts, Validation, Variant};
use panels::{Panel, Random, Shape, config, panels, plain_panels};
use proptest::prelude::*;
use spocc::{
    Control, Fit, Model,
    dendrogram::Dendrogram,
    dependence::Dissimilarities,
    evidence::Level,
    methods::{
        AdaSpocc, Bayes, ExpVote, Majority, NaiveBayes, Parameters, Selection, Spocc, SpoccExponent,
        WeightedVote,
    },
    tuning::Tuning,
};

/// Both sides round differently, in the last digits only.
const ROUNDING: f64 = 1e-12;

fn close(found: f64, expected: f64) -> bool {
    found == expected || (found - expected).abs() <= ROUNDING * expected.abs().max(1.0)
}

fn assert_all_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: length");
    for (at, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!(close(*a, *b), "{what} {at}: found {a}, expected {b} (of {found:?} and {expected:?})");
    }
}

/// The panel keeps only labels that occur, as evidence does; class ids stay in order.
fn class_ids(model: &Model, panel: &Panel) -> Vec<usize> {
    let id = |i: usize| model.classes().iter().position(|label| *label == panel.label(i));
    (0..panel.n_classes).map(|i| id(i).expect("the classes are given")).collect()
}

/// A closed list keeps classes that no classifier named, so that ids on both sides are the same.
fn closed(panel: Panel) -> Panel {
    Panel { is_closed: true, ..panel }
}

#[test]
fn evidence_is_what_a_hash_map_of_strings_counts() {
    let check = |panel: Panel| {
        let mut counted: HashMap<(String, String, String), f64> = HashMap::new();
        let mut patterns: HashMap<Vec<Option<usize>>, f64> = HashMap::new();
        let mut total = 0.0;
        let counts = Counts::new(&panel);
        for (t, row) in panel.rows.iter().enumerate() {
            let Some(class) = panel.truth[t] else { continue };
            let weight = counts.weights[t] as f64 / counts.unit as f64;
            total += weight;
            *patterns.entry(row.clone()).or_default() += weight;
            for (name, predicted) in panel.names.iter().zip(row) {
                let Some(j) = predicted else { continue };
                let key = (name.clone(), panel.labels[*j].clone(), panel.labels[class].clone());
                *counted.entry(key).or_default() += weight;
            }
        }
        let evidence = panel.tally();
        assert_eq!(evidence.n_patterns(), Some(patterns.len()));
        assert!(close(evidence.n_rows(), total), "{} rows, expected {total}", evidence.n_rows());
        for (k, name) in panel.names.iter().enumerate() {
            for predicted in &panel.labels {
                for class in &panel.labels[..panel.n_classes] {
                    let expected = counted.get(&(name.clone(), predicted.clone(), class.clone()));
                    let found = evidence.count_of(k, predicted.as_str(), class.as_str());
                    assert!(
                        close(found, expected.copied().unwrap_or(0.0)),
                        "{name} predicted {predicted} for {class}"
                    );
                }
            }
        }
    };
    proptest!(config(300), |(panel in panels(6, 4, 60))| check(panel));
}

#[test]
fn mutual_information_equals_the_plain_formula() {
    proptest!(config(200), |(panel in panels(5, 4, 60))| {
        prop_assume!(panel.has_truth());
        for level in [Level::Pairs, Level::Tally] {
            let found = Dissimilarities::new(&panel.evidence(level), &Control::default()).expect("rows");
            for a in 0..panel.names.len() {
                for b in 0..a {
                    let expected = (-naive::mutual_information(&panel, a, b)).exp();
                    prop_assert!(close(found.get(a, b), expected), "{a} {b}: {} {expected}", found.get(a, b));
                }
            }
        }
    });
}

/// A symmetric matrix and its upper triangle.
fn matrix(n: usize, mut value: impl FnMut() -> f64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut matrix = vec![vec![0.0; n]; n];
    let mut condensed = Vec::new();
    for (a, b) in (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))) {
        let distance = value();
        matrix[a][b] = distance;
        matrix[b][a] = distance;
        condensed.push(distance);
    }
    (matrix, condensed)
}

fn tree(n: usize, condensed: &[f64]) -> Dendrogram {
    Dendrogram::ward(&Dissimilarities::from_condensed(n, condensed.to_vec()).expect("a triangle"))
}

#[test]
fn ward_without_ties_is_the_textbook_and_what_kodama_computes() {
    proptest!(config(200), |(n in 2..25usize, seed: u64)| {
        let mut random = Random(seed);
        let (matrix, condensed) = matrix(n, || 0.05 + 0.95 * random.unit());
        let found = tree(n, &condensed);
        for (a, b) in found.merges().iter().zip(naive::ward_greedy(&matrix)) {
            prop_assert_eq!((a.children, a.size), (b.children, b.size));
            prop_assert!(close(a.height, b.height));
        }
        let mut scratch = condensed.clone();
        let oracle = kodama::linkage(&mut scratch, n, kodama::Method::Ward);
        prop_assert_eq!(oracle.steps().len(), found.merges().len());
        for (a, b) in found.merges().iter().zip(oracle.steps()) {
            prop_assert_eq!((a.children, a.size), ([b.cluster1, b.cluster2], b.size));
            prop_assert!(close(a.height, b.dissimilarity));
        }
    });
}

#[test]
fn ward_with_ties_follows_the_chain_to_the_bit() {
    proptest!(config(300), |(n in 1..20usize, n_values in 1..4usize, seed: u64)| {
        let mut random = Random(seed);
        let values = [1.0, 0.3, 0.7, 0.123_456_789];
        let (matrix, condensed) = matrix(n, || values[random.below(n_values)]);
        let found = tree(n, &condensed);
        let expected = naive::ward_chain(&matrix);
        prop_assert_eq!(found.merges(), expected.as_slice());
        for n_clusters in 1..=n {
            let clusters = found.clusters(n_clusters);
            let mut leaves = clusters.concat();
            leaves.sort_unstable();
            prop_assert_eq!(leaves, (0..n).collect::<Vec<usize>>());
            prop_assert!(clusters.len() <= n_clusters);
        }
    });
}

/// How many fits were compared, and in how many of them an exponent above 1 was found.
#[derive(Default)]
struct Compared {
    fits: Cell<usize>,
    searched: Cell<usize>,
}

impl Compared {
    /// Compares a fit of adaSPOCC with the search that evaluates everything.
    fn adaspocc(&self, panel: &Panel, validation: Validation) {
        if let Some(exponents) = assert_adaspocc(panel, validation) {
            self.fits.set(self.fits.get() + 1);
            self.searched.set(self.searched.get() + usize::from(exponents.iter().any(|x| *x > 1.0)));
        }
    }

    /// A comparison that never happened proves nothing.
    fn assert_at_least(&self, fits: usize, searched: usize) {
        assert!(self.fits.get() >= fits, "only {} fits could be compared", self.fits.get());
        assert!(self.searched.get() >= searched, "only {} fits had exponents to find", self.searched.get());
    }
}

/// The exponents found; `None` if a lead was too small to tell.
fn assert_adaspocc(panel: &Panel, validation: Validation) -> Option<Vec<f64>> {
    let tuning = match validation {
        Validation::Resubstitution => Tuning::Resubstitution,
        Validation::LeaveOneOut => Tuning::LeaveOneOut,
    };
    let evidence = panel.tally();
    let model = AdaSpocc { tuning }.fit(&evidence).expect("labelled rows");
    let Parameters::AdaSpocc { dendrogram, exponents, severity, discounts, .. } = model.parameters() else {
        panic!("an adaSPOCC model")
    };
    let dissimilarities = Dissimilarities::new(&evidence, &Control::default()).expect("a tally");
    let n = panel.names.len();
    let square: Vec<Vec<f64>> = (0..n).map(|a| (0..n).map(|b| dissimilarities.get(a, b)).collect()).collect();
    assert_eq!(dendrogram.merges(), naive::ward_chain(&square));
    let expected = naive::adaspocc(panel, &dendrogram, validation, Variant::Right);
    if expected.closeness.is_doubtful {
        return None;
    }
    let exponents: Vec<f64> = exponents.into_iter().map(f64::from).collect();
    let discounts: Vec<f64> = discounts.into_iter().map(f64::from).collect();
    assert_all_close(&exponents, &expected.exponents, "exponents");
    assert!(close(severity, expected.severity), "severity {severity}, expected {}", expected.severity);
    assert_all_close(&discounts, &expected.discounts, "discounts");
    assert_decisions(panel, &model, &expected, &dendrogram);
    Some(exponents)
}

/// The fitted tree on every row of the panel, evaluated plainly.
fn assert_decisions(panel: &Panel, model: &Model, expected: &naive::NaiveExponents, tree: &Dendrogram) {
    let ids = class_ids(model, panel);
    let counts = Counts::new(panel);
    let table = panel.predictions();
    let aligned = model.align(&table).expect("the same columns");
    let decided = model.predict(&table).expect("the same columns");
    for (t, row) in panel.rows.iter().enumerate() {
        let row = panel.understood(row);
        if row.iter().all(Option::is_none) {
            continue; // no classifier answered: the prior decides
        }
        let leaf = |(k, predicted): (usize, &Option<usize>)| match predicted {
            Some(j) => {
                let d = expected.discounts[k];
                let degrees = naive::possibility(&counts.confusion[k][*j], counts.unit);
                degrees.iter().map(|degree| -((1.0 - d) * degree + d).ln() + 0.0).collect()
            }
            None => vec![0.0; panel.n_classes],
        };
        let leaves: Vec<Vec<f64>> = row.iter().enumerate().map(leaf).collect();
        let surprisals = naive::fuse(tree.merges(), &expected.exponents, &leaves);
        let mut closeness = Closeness::default();
        let class = closeness.decide(&surprisals);
        let decision = aligned.decide(t).expect("a row");
        for (i, &s) in surprisals.iter().enumerate() {
            assert!(close(decision.possibility.degrees()[ids[i]], (-s).exp()), "row {t} class {i}");
        }
        if !closeness.is_doubtful {
            assert_eq!(decision.class, ids[class], "row {t}");
            assert_eq!(usize::from(decided.class[t]), ids[class], "row {t}");
            assert_eq!(decision.is_tie(), decided.is_tie[t], "row {t}");
        }
    }
}

#[test]
fn adaspocc_by_resubstitution_is_the_plain_search() {
    let compared = Compared::default();
    proptest!(config(250), |(panel in plain_panels(5, 3, 40))| {
        compared.adaspocc(&closed(panel), Validation::Resubstitution);
    });
    compared.assert_at_least(240, 30);
}

#[test]
fn adaspocc_without_own_row_is_the_plain_search() {
    let compared = Compared::default();
    proptest!(config(250), |(panel in plain_panels(5, 3, 40))| {
        compared.adaspocc(&closed(panel), Validation::LeaveOneOut);
    });
    compared.assert_at_least(240, 30);
}

#[test]
fn adaspocc_with_missing_cells_weights_and_other_labels_is_the_plain_search() {
    let compared = Compared::default();
    proptest!(config(150), |(panel in panels(5, 3, 40))| {
        let panel = closed(panel);
        prop_assume!(panel.has_truth());
        compared.adaspocc(&panel, Validation::Resubstitution);
        compared.adaspocc(&panel, Validation::LeaveOneOut);
    });
    compared.assert_at_least(280, 5);
}

#[test]
fn larger_panels_are_searched_alike() {
    let compared = Compared::default();
    for seed in 0..12 {
        let shape = Shape {
            n_classifiers: 9,
            n_classes: 3,
            n_others: 0,
            n_rows: 60,
            missing_share: 0.0,
            weighted: false,
            seed,
        };
        compared.adaspocc(&closed(Panel::new(shape)), Validation::Resubstitution);
    }
    compared.assert_at_least(10, 3);
}

#[test]
fn a_tuned_spocc_takes_the_median_of_the_best_exponents() {
    proptest!(config(60), |(panel in plain_panels(5, 3, 40))| {
        let panel = closed(panel);
        for (tuning, validation) in
            [(Tuning::Resubstitution, Validation::Resubstitution), (Tuning::LeaveOneOut, Validation::LeaveOneOut)]
        {
            let model = Spocc { exponent: SpoccExponent::Tuned(tuning) }.fit(&panel.tally()).expect("rows");
            let Parameters::Spocc { exponent } = model.parameters() else { panic!("a SPOCC model") };
            let mut closeness = Closeness::default();
            let grid = naive::exponent_grid();
            let cases = naive::cases(&panel, validation);
            let right: Vec<u64> = grid
                .iter()
                .map(|&x| {
                    let mut right = 0;
                    for case in &cases {
                        let flat = |i: usize| {
                            let degrees: Vec<f64> = case.possibilities.iter().flatten().map(|o| o[i]).collect();
                            let sum: f64 = degrees.iter().map(|d| (-d.ln()).powf(x)).sum();
                            sum.powf(1.0 / x)
                        };
                        let surprisals: Vec<f64> = (0..panel.n_classes).map(flat).collect();
                        let is_right = closeness.decide(&surprisals) == case.truth;
                        right += if is_right { case.weight } else { 0 };
                    }
                    right
                })
                .collect();
            prop_assume!(!closeness.is_doubtful);
            prop_assert!(close(exponent.into(), naive::median_of_best(&grid, &right)));
        }
    });
}

/// Compares decisions on every row of the panel with scores of which the largest wins.
fn assert_scores(panel: &Panel, model: &Model, scores: impl Fn(&[Option<usize>]) -> Vec<f64>, what: &str) {
    let ids = class_ids(model, panel);
    let decided = model.predict(&panel.predictions()).expect("the same columns");
    for (t, row) in panel.rows.iter().enumerate() {
        let scores = scores(row);
        let total: f64 = scores.iter().sum();
        if total == 0.0 {
            continue; // no classifier answered for a class: the prior decides
        }
        let surprisals: Vec<f64> = scores.iter().map(|score| -(score / total).ln() + 0.0).collect();
        let mut closeness = Closeness::default();
        let class = closeness.decide(&surprisals);
        if !closeness.is_doubtful {
            assert_eq!(usize::from(decided.class[t]), ids[class], "{what}, row {t}: {scores:?}");
        }
    }
}

/// Adds a weight for all classifiers's answer, if it is a class.
fn votes(panel: &Panel, weights: &[f64], row: &[Option<usize>]) -> Vec<f64> {
    let mut votes = vec![0.0; panel.n_classes];
    for (predicted, weight) in row.iter().zip(weights) {
        if let Some(j) = predicted.filter(|j| *j < panel.n_classes) {
            votes[j] += weight;
        }
    }
    votes
}

#[test]
fn votes_are_counted_one_by_one() {
    proptest!(config(200), |(panel in panels(6, 4, 60))| {
        let panel = closed(panel);
        prop_assume!(panel.has_truth());
        let evidence = panel.tally();
        let accuracies = Counts::new(&panel).accuracies();
        let equal = vec![1.0; panel.names.len()];
        let majority = Majority.fit(&evidence).expect("rows");
        assert_scores(&panel, &majority, |row| votes(&panel, &equal, row), "majority");
        let weighted = WeightedVote.fit(&evidence).expect("rows");
        let Parameters::Vote { weights, rate: None } = weighted.parameters() else { panic!("a vote") };
        assert_all_close(&weights, &accuracies, "weights");
        assert_scores(&panel, &weighted, |row| votes(&panel, &accuracies, row), "weighted vote");
    });
}

#[test]
fn selection_follows_the_most_accurate_classifier_with_a_prediction() {
    proptest!(config(200), |(panel in panels(6, 4, 60))| {
        let panel = closed(panel);
        prop_assume!(panel.has_truth());
        let accuracies = Counts::new(&panel).accuracies();
        let model = Selection.fit(&panel.tally()).expect("rows");
        assert_scores(&panel, &model, |row| {
            let mut scores = vec![0.0; panel.n_classes];
            let class = |k: usize| row[k].filter(|j| *j < panel.n_classes);
            let mut best: Option<usize> = None;
            for k in (0..row.len()).filter(|&k| class(k).is_some()) {
                best = best.filter(|&best| accuracies[best] >= accuracies[k]).or(Some(k));
            }
            best.and_then(class).into_iter().for_each(|j| scores[j] = 1.0);
            scores
        }, "selection");
    });
}

/// The rate of the exponential vote, every row evaluated at every rate; `None` if a lead was too small to tell.
fn rate_of(panel: &Panel, validation: Validation) -> Option<f64> {
    let grid: Vec<f64> = (0..=200).map(|i| 10f64.powf(-1.0 + 3.0 * f64::from(i) / 200.0)).collect();
    let counts = Counts::new(panel);
    let mut closeness = Closeness::default();
    let n = panel.rows.len() as f64;
    let all = counts.accuracies();
    let right: Vec<u64> = grid
        .iter()
        .map(|rate| {
            let mut right = 0;
            for (t, row) in panel.rows.iter().enumerate() {
                let truth = panel.truth[t].expect("complete panels");
                let accuracy = |k: usize| match validation {
                    Validation::Resubstitution => all[k],
                    Validation::LeaveOneOut => {
                        let own = if row[k] == Some(truth) { 1.0 } else { 0.0 };
                        (all[k] * n - own) / (n - 1.0).max(1.0)
                    }
                };
                let weights: Vec<f64> = (0..row.len()).map(|k| (rate * accuracy(k)).exp()).collect();
                let votes = votes(panel, &weights, row);
                // Votes are compared as they are, not by their logarithms; a tie is a tie all the same.
                let most = votes.iter().copied().fold(0.0, f64::max);
                let lag: Vec<f64> = votes.iter().map(|votes| 1.0 + (most - votes) / most).collect();
                right += u64::from(closeness.decide(&lag) == truth);
            }
            right
        })
        .collect();
    (!closeness.is_doubtful).then(|| naive::median_of_best(&grid, &right))
}

#[test]
fn the_rate_of_the_exponential_vote_is_the_median_of_the_best() {
    let compared = Cell::new(0);
    proptest!(config(60), |(panel in plain_panels(5, 3, 40))| {
        let panel = closed(panel);
        for (tuning, validation) in
            [(Tuning::Resubstitution, Validation::Resubstitution), (Tuning::LeaveOneOut, Validation::LeaveOneOut)]
        {
            let model = ExpVote { tuning }.fit(&panel.tally()).expect("rows");
            let Parameters::Vote { weights, rate: Some(rate) } = model.parameters() else { panic!("a fitted rate") };
            let powers: Vec<f64> =
                Counts::new(&panel).accuracies().iter().map(|accuracy| (rate * accuracy).exp()).collect();
            let total: f64 = powers.iter().sum();
            let expected: Vec<f64> = powers.iter().map(|power| power / total).collect();
            assert_all_close(&weights, &expected, "weights");
            assert_scores(&panel, &model, |row| votes(&panel, &expected, row), "exponential vote");
            if let Some(expected) = rate_of(&panel, validation) {
                prop_assert!(close(rate, expected), "{tuning}: rate {rate}, expected {expected}");
                compared.set(compared.get() + 1);
            }
        }
    });
    assert!(compared.get() >= 100, "only {} rates could be compared", compared.get());
}

#[test]
fn naive_bayes_multiplies_the_likelihoods_of_all_predictions() {
    proptest!(config(200), |(panel in plain_panels(5, 4, 60))| {
        let panel = closed(panel);
        let counts = Counts::new(&panel);
        let l = panel.n_classes;
        let model = NaiveBayes.fit(&panel.tally()).expect("rows");
        assert_scores(&panel, &model, |row| {
            let class = |i: usize| {
                let rows = counts.classes[i] as f64;
                let prior = rows / counts.total as f64;
                let predicted = |k: usize| row[k].expect("complete panels");
                let likelihood = |k: usize| (counts.confusion[k][predicted(k)][i] as f64 + 1.0) / (rows + l as f64);
                prior * (0..row.len()).map(likelihood).product::<f64>()
            };
            (0..l).map(class).collect()
        }, "naive Bayes");
    });
}

#[test]
fn bayes_looks_the_pattern_up() {
    proptest!(config(200), |(panel in panels(4, 3, 60))| {
        let panel = closed(panel);
        prop_assume!(panel.has_truth());
        let counts = Counts::new(&panel);
        let model = Bayes.fit(&panel.tally()).expect("rows");
        // The panel's own patterns and some that were never met.
        let mut random = Random(7);
        let mut rows = panel.rows.clone();
        rows.extend((0..20).map(|_| panel.names.iter().map(|_| Some(random.below(panel.labels.len()))).collect()));
        let asked = Panel { truth: vec![None; rows.len()], weights: None, rows, ..panel.clone() };
        assert_scores(&asked, &model, |row| {
            let mut scores = vec![0.0; panel.n_classes];
            let row = &panel.understood(row);
            if row.iter().all(Option::is_none) {
                return scores;
            }
            for t in (0..panel.rows.len()).filter(|&t| panel.rows[t] == *row) {
                panel.truth[t].into_iter().for_each(|i| scores[i] += counts.weights[t] as f64);
            }
            if scores.iter().all(|score| *score == 0.0) {
                scores = counts.classes.iter().map(|&count| count as f64).collect();
            }
            scores
        }, "Bayes");
    });
}
