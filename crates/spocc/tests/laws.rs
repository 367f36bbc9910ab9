//! Laws that hold for every input: t-norms, the transform, sums of evidence, and what must not matter (row order,
//! threads, names, the order of the classifiers, how a table came in, whether a model was on disk).

mod naive;
mod panels;

use naive::{Closeness, Judged, Variant};
use panels::{Panel, Random, Shape, config, panels, plain_panels};
use proptest::prelude::*;
use spocc::{
    AdaSpocc, Combiner, Counting, Decision, Dendrogram, Dissimilarities, Error, Evidence, ExpVote, Exponent,
    Fitted, Label, Level, Method, Missing, Model, Options, Possibility, Predictions, Spocc, SpoccExponent,
    TieBreak, Truth, Tuning, Watch, t_norm,
};

/// A t-norm takes a logarithm, a power, a root and an exponential: a few units in the last place each.
const ROUNDING: f64 = 1e-12;

/// Below this relative lead a decision counts as a tie, which renaming or reordering may turn.
const CLEAR: f64 = 1e-9;

const LEVELS: [Level; 3] = [Level::Marginals, Level::Pairs, Level::Tally];

fn quiet() -> Watch<'static> {
    Watch::default()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING
}

// ---- t-norms

fn degree() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 1 => Just(1.0), 1 => Just(1e-300), 8 => 0.0..=1.0f64]
}

fn exponent() -> impl Strategy<Value = Exponent> {
    prop_oneof![1 => Just(1.0), 1 => Just(f64::INFINITY), 1 => 1.0..1e6f64, 6 => 1.0..12.0f64]
        .prop_map(|x| Exponent::try_from(x).expect("at least 1"))
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn a_t_norm_does_not_care_for_order(a in degree(), b in degree(), c in degree(), x in exponent()) {
        let fused = t_norm(&[a, b, c], x);
        for other in [[a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
            prop_assert!(close(fused, t_norm(&other, x)));
        }
    }

    #[test]
    fn a_t_norm_does_not_care_for_grouping(a in degree(), b in degree(), c in degree(), x in exponent()) {
        let left = t_norm(&[t_norm(&[a, b], x), c], x);
        let right = t_norm(&[a, t_norm(&[b, c], x)], x);
        let flat = t_norm(&[a, b, c], x);
        prop_assert!(close(left, right) && close(left, flat), "{left} {right} {flat}");
    }

    #[test]
    fn a_t_norm_grows_with_its_operands(a in degree(), b in degree(), more in degree(), x in exponent()) {
        let (low, high) = (a.min(more), a.max(more));
        prop_assert!(t_norm(&[low, b], x) <= t_norm(&[high, b], x) + ROUNDING);
    }

    #[test]
    fn one_is_neutral_and_zero_absorbs(a in degree(), b in degree(), x in exponent()) {
        prop_assert!(close(t_norm(&[a, 1.0], x), a));
        prop_assert_eq!(t_norm(&[a, 1.0, b], x), t_norm(&[a, b], x));
        prop_assert_eq!(t_norm(&[a, 0.0, b], x), 0.0);
    }

    #[test]
    fn a_t_norm_lies_between_product_and_minimum(a in degree(), b in degree(), c in degree(), x in exponent()) {
        let fused = t_norm(&[a, b, c], x);
        prop_assert!(fused <= a.min(b).min(c) + ROUNDING);
        prop_assert!(fused >= a * b * c - ROUNDING);
        prop_assert!(close(t_norm(&[a, b, c], Exponent::PRODUCT), a * b * c));
        prop_assert!(close(t_norm(&[a, b, c], Exponent::MINIMUM), a.min(b).min(c)));
    }

    #[test]
    fn a_larger_exponent_is_less_strict(a in 0.01..0.99f64, b in 0.01..0.99f64, x in 1.0..8.0f64, more in 0.1..4.0f64) {
        let at = |x: f64| t_norm(&[a, b], Exponent::try_from(x).expect("at least 1"));
        // Neither operand is 0 or 1 and both are of similar size, so the increase is more than rounding.
        let ratio = a.ln() / b.ln();
        if (0.5..2.0).contains(&ratio) {
            prop_assert!(at(x) < at(x + more), "{} {}", at(x), at(x + more));
        }
        prop_assert!(at(x) <= at(x + more) + ROUNDING);
    }

    #[test]
    fn a_t_norm_is_a_norm_of_surprisals(degrees in prop::collection::vec(1e-6..=1.0f64, 0..8), x in 1.0..12.0f64) {
        let sum: f64 = degrees.iter().map(|degree| (-degree.ln()).powf(x)).sum();
        let expected = (-sum.powf(1.0 / x)).exp();
        prop_assert!(close(t_norm(&degrees, Exponent::try_from(x).expect("at least 1")), expected));
    }
}

// ---- the transform

fn counts() -> impl Strategy<Value = Vec<u64>> {
    let count = prop_oneof![3 => 0..6u64, 1 => 0..1000u64, 1 => 0..(1u64 << 40)];
    prop::collection::vec(count, 1..8)
        .prop_filter("something was counted", |counts| counts.iter().any(|c| *c > 0))
}

fn probabilities(counts: &[u64]) -> Vec<f64> {
    let total: u64 = counts.iter().sum();
    counts.iter().map(|count| *count as f64 / total as f64).collect()
}

/// Every subset of the classes, as lists of numbers.
fn subsets(n: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..1usize << n).map(move |set| (0..n).filter(|i| set >> i & 1 == 1).collect())
}

fn is_consistent(degrees: &[f64], p: &[f64]) -> bool {
    let opinion = Possibility::new(degrees.to_vec()).expect("degrees from 0 to 1");
    subsets(p.len()).all(|set| opinion.possibility(&set) >= set.iter().map(|&i| p[i]).sum::<f64>() - ROUNDING)
}

fn keeps_preferences(degrees: &[f64], counts: &[u64]) -> bool {
    let n = counts.len();
    (0..n).all(|a| (0..n).all(|b| (counts[a] > counts[b]) == (degrees[a] > degrees[b])))
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn a_transform_peaks_at_one_bounds_probabilities_and_keeps_their_order(counts in counts()) {
        let p = probabilities(&counts);
        let of_counts = Possibility::from_counts(&counts).expect("small counts");
        let degrees = of_counts.degrees();
        prop_assert_eq!(degrees.iter().copied().fold(0.0, f64::max), 1.0);
        prop_assert!(is_consistent(degrees, &p));
        prop_assert!(keeps_preferences(degrees, &counts));
        let of_probabilities = Possibility::from_probabilities(&p).expect("probabilities");
        for (a, b) in degrees.iter().zip(of_probabilities.degrees()) {
            prop_assert!(close(*a, *b));
        }
        let plain: Vec<f64> = naive::possibility(&counts, 0);
        prop_assert_eq!(degrees, plain.as_slice());
    }

    #[test]
    fn no_degree_of_a_transform_could_be_smaller(counts in counts()) {
        let p = probabilities(&counts);
        let degrees = Possibility::from_counts(&counts).expect("small counts").degrees().to_vec();
        for (i, &own) in counts.iter().enumerate() {
            // Preference preservation moves all classes that are as frequent, and keeps the others where they
            // are; a degree of 0 cannot be lowered.
            let step = degrees[i].min(1e-6);
            let lowered: Vec<f64> = (0..counts.len())
                .map(|j| if counts[j] == own { degrees[j] - step } else { degrees[j] })
                .collect();
            // What is lowered must be lowered by more than the tolerance of the test for consistency.
            if step > 10.0 * ROUNDING {
                prop_assert!(!is_consistent(&lowered, &p) || !keeps_preferences(&lowered, &counts));
            }
        }
    }

    #[test]
    fn whatever_is_consistent_and_keeps_preferences_is_no_more_specific(counts in counts(), seed: u64) {
        let p = probabilities(&counts);
        let transform = Possibility::from_counts(&counts).expect("small counts");
        let mut random = Random(seed);
        let mut levels: Vec<u64> = counts.clone();
        levels.sort_unstable();
        levels.dedup();
        let mut values: Vec<f64> = levels.iter().map(|_| random.unit()).collect();
        values.sort_by(f64::total_cmp);
        if let Some(top) = values.last_mut() {
            *top = 1.0;
        }
        let other: Vec<f64> = counts
            .iter()
            .map(|count| values[levels.binary_search(count).expect("every count is a level")])
            .collect();
        if is_consistent(&other, &p) && keeps_preferences(&other, &counts) {
            for (degree, other) in transform.degrees().iter().zip(&other) {
                prop_assert!(*other >= degree - ROUNDING);
            }
        }
    }

    #[test]
    fn necessity_is_what_is_missing_to_the_possibility_of_the_rest(counts in counts()) {
        let opinion = Possibility::from_counts_smoothed(&counts).expect("small counts");
        let n = counts.len();
        for set in subsets(n) {
            let rest: Vec<usize> = (0..n).filter(|i| !set.contains(i)).collect();
            prop_assert_eq!(opinion.necessity(&set), 1.0 - opinion.possibility(&rest));
            prop_assert!(opinion.necessity(&set) <= opinion.possibility(&set));
        }
        prop_assert_eq!(opinion.possibility(&[]), 0.0);
        prop_assert_eq!(opinion.necessity(&(0..n).collect::<Vec<usize>>()), 1.0);
    }
}

// ---- sums of evidence

fn merged(parts: &[Evidence]) -> Evidence {
    let (first, rest) = parts.split_first().expect("at least one part");
    rest.iter().fold(first.clone(), |sum, part| sum.merge(part, &quiet()).expect("the same panel"))
}

/// The evidence of the rows of each part.
fn parts(panel: &Panel, n_parts: usize, level: Level, random: &mut Random) -> Vec<Evidence> {
    let mut numbers = vec![Vec::new(); n_parts];
    for t in random.order(panel.rows.len()) {
        numbers[random.below(n_parts)].push(t);
    }
    numbers.iter().map(|rows| panel.part(rows).evidence(level)).collect()
}

#[test]
fn any_partition_in_any_order_adds_up_to_the_whole() {
    proptest!(config(150), |(panel in panels(5, 4, 40), n_parts in 1..5usize, seed: u64)| {
        let mut random = Random(seed);
        for level in LEVELS {
            let whole = panel.evidence(level).to_bytes();
            let shuffled = panel.part(&random.order(panel.rows.len())).evidence(level);
            prop_assert_eq!(&shuffled.to_bytes(), &whole, "rows in another order, {}", level);
            let parts = parts(&panel, n_parts, level, &mut random);
            let order = random.order(parts.len());
            let parts: Vec<Evidence> = order.into_iter().map(|at| parts[at].clone()).collect();
            prop_assert_eq!(&merged(&parts).to_bytes(), &whole, "{} parts, {}", n_parts, level);
        }
    });
}

#[test]
fn merging_is_associative_and_commutative_and_nothing_is_its_zero() {
    proptest!(config(150), |(panel in panels(5, 4, 40), seed: u64)| {
        let mut random = Random(seed);
        let classes = panel.classes();
        let classes = panel.is_closed.then_some(classes.as_slice());
        for level in LEVELS {
            let parts = parts(&panel, 3, level, &mut random);
            let [a, b, c] = [&parts[0], &parts[1], &parts[2]];
            let sum = |a: &Evidence, b: &Evidence| a.merge(b, &quiet()).expect("the same panel");
            prop_assert_eq!(sum(a, b).to_bytes(), sum(b, a).to_bytes());
            prop_assert_eq!(sum(&sum(a, b), c).to_bytes(), sum(a, &sum(b, c)).to_bytes());
            let nothing = Evidence::empty(panel.names.clone(), classes, level).expect("distinct names");
            prop_assert_eq!(sum(a, &nothing).to_bytes(), a.to_bytes());
            prop_assert_eq!(sum(&nothing, a).to_bytes(), a.to_bytes());
        }
    });
}

#[test]
fn merging_finds_classifiers_and_classes_by_name() {
    proptest!(config(100), |(panel in panels(5, 4, 40), seed: u64)| {
        let mut random = Random(seed);
        let order = random.order(panel.names.len());
        let half = panel.rows.len() / 2;
        let (first, second): (Vec<usize>, Vec<usize>) = (0..panel.rows.len()).partition(|&t| t < half);
        for level in LEVELS {
            let left = panel.part(&first).evidence(level);
            let right = panel.part(&second).reordered(&order).evidence(level);
            let sum = left.merge(&right, &quiet()).expect("the same panel");
            let other = right.merge(&left, &quiet()).expect("the same panel");
            prop_assert_eq!(sum.to_bytes(), other.to_bytes());
            // The whole in whichever order of the classifiers was kept.
            let kept: Vec<usize> = sum
                .classifiers()
                .iter()
                .map(|name| panel.names.iter().position(|known| known == name).expect("a known name"))
                .collect();
            prop_assert_eq!(sum.to_bytes(), panel.reordered(&kept).evidence(level).to_bytes());
        }
    });
}

#[test]
fn evidence_about_something_else_is_refused_by_name() {
    let panel = |names: [&str; 2], labels: [&str; 2], is_closed: bool, level: Level| {
        let mut rows = Predictions::builder(names).expect("two names");
        rows.push(labels.map(Some)).expect("two answers");
        let truth = Truth::new([Some(labels[0])]).expect("one label");
        let classes = is_closed.then(|| labels.map(Label::from).to_vec());
        let options = Counting { level, classes, weights: None };
        Evidence::count(&rows.finish(), &truth, &options, &quiet()).expect("a row")
    };
    let ours = panel(["ann", "bob"], ["cat", "dog"], false, Level::Tally);
    let refusal = |other: &Evidence| ours.merge(other, &quiet()).expect_err("something else").to_string();
    assert_eq!(
        refusal(&panel(["ann", "eve"], ["cat", "dog"], false, Level::Tally)),
        "evidence: expected the same classifiers on both sides, found `bob`, `eve` on one side only"
    );
    assert_eq!(
        refusal(&panel(["ann", "bob"], ["cat", "dog"], true, Level::Tally)),
        "evidence: expected the same classes on both sides, found a given list of classes and classes as met"
    );
    assert_eq!(
        refusal(&panel(["ann", "bob"], ["cat", "dog"], false, Level::Pairs)),
        "evidence: expected a tally on both sides, found pair counts (reduce the richer one first)"
    );
    let closed = panel(["ann", "bob"], ["cat", "dog"], true, Level::Tally);
    let others = panel(["ann", "bob"], ["cat", "cow"], true, Level::Tally);
    assert_eq!(
        closed.merge(&others, &quiet()).expect_err("other classes").to_string(),
        "evidence: expected the same classes on both sides, found cat, dog and cat, cow"
    );
    // Classes as met are joined, not refused.
    let grown = ours.merge(&panel(["ann", "bob"], ["cow", "dog"], false, Level::Tally), &quiet());
    let classes: Vec<String> =
        grown.expect("open classes").labels().classes().iter().map(ToString::to_string).collect();
    assert_eq!(classes, ["cat", "cow", "dog"]);
}

#[test]
fn less_of_a_tally_is_what_counting_less_gives() {
    proptest!(config(150), |(panel in panels(5, 4, 40))| {
        for level in LEVELS {
            let counted = panel.evidence(level);
            for lower in LEVELS.into_iter().filter(|lower| *lower <= level) {
                let reduced = counted.reduce_to(lower, &quiet()).expect("it fits");
                prop_assert_eq!(reduced.to_bytes(), panel.evidence(lower).to_bytes(), "{} of {}", lower, level);
            }
        }
    });
}

#[test]
fn choosing_classifiers_is_what_counting_them_gives() {
    proptest!(config(100), |(panel in panels(5, 3, 40), seed: u64)| {
        // With classes as met a label that only the others said would stay.
        let panel = Panel { is_closed: true, ..panel };
        let mut random = Random(seed);
        let mut order = random.order(panel.names.len());
        order.truncate(1 + random.below(panel.names.len()));
        let chosen = panel.reordered(&order);
        for level in LEVELS {
            let selected = panel.evidence(level).select(&chosen.names, &quiet()).expect("known names");
            let counted = chosen.evidence(level);
            prop_assert_eq!(selected.classifiers(), counted.classifiers());
            prop_assert_eq!(selected.n_patterns(), counted.n_patterns());
            for k in 0..order.len() {
                for said in &panel.labels {
                    for class in &panel.labels {
                        let count = |evidence: &Evidence| evidence.count_of(k, said.as_str(), class.as_str());
                        prop_assert_eq!(count(&selected), count(&counted));
                    }
                }
            }
        }
    });
}

// ---- fitting

/// Every method with its default settings, and those that have a choice of tuning with every choice that the
/// panel allows: folds need whole counts.
fn combiners(panel: &Panel) -> Vec<Box<dyn Combiner>> {
    let mut all: Vec<Box<dyn Combiner>> =
        Method::ALL.into_iter().filter(|method| *method != Method::Stacking).map(Method::combiner).collect();
    let folds = panel.weights.is_none().then_some(Tuning::KFold(3));
    for tuning in [Tuning::Resubstitution, Tuning::LeaveOneOut].into_iter().chain(folds) {
        all.push(Box::new(AdaSpocc { tuning }));
        all.push(Box::new(ExpVote { tuning }));
        all.push(Box::new(Spocc { exponent: SpoccExponent::Tuned(tuning) }));
    }
    all
}

fn fitted(combiner: &dyn Combiner, evidence: &Evidence, options: &Options) -> Model {
    Model::fit(combiner, evidence, options, &quiet()).expect("labelled rows")
}

fn choices() -> [Options; 2] {
    let random = Options { missing: Missing::Symbol, ties: TieBreak::Random(7) };
    [Options::default(), random]
}

#[test]
fn fitting_a_merge_is_fitting_the_whole() {
    proptest!(config(40), |(panel in panels(4, 3, 40), n_parts in 2..4usize, seed: u64)| {
        prop_assume!(panel.has_truth());
        let whole = panel.tally();
        let sum = merged(&parts(&panel, n_parts, Level::Tally, &mut Random(seed)));
        for combiner in combiners(&panel) {
            for options in choices() {
                let model = fitted(combiner.as_ref(), &whole, &options);
                let other = fitted(combiner.as_ref(), &sum, &options);
                prop_assert_eq!(model.to_bytes(), other.to_bytes(), "{}", combiner.method());
            }
        }
    });
}

#[test]
fn stacking_a_merge_is_stacking_the_whole() {
    proptest!(config(4), |(panel in plain_panels(3, 3, 40), seed: u64)| {
        let sum = merged(&parts(&panel, 3, Level::Tally, &mut Random(seed)));
        let stacking = Method::Stacking.combiner();
        let model = fitted(stacking.as_ref(), &panel.tally(), &Options::default());
        prop_assert_eq!(model.to_bytes(), fitted(stacking.as_ref(), &sum, &Options::default()).to_bytes());
    });
}

#[test]
fn a_method_needs_no_more_evidence_than_it_says() {
    proptest!(config(30), |(panel in panels(4, 3, 40))| {
        prop_assume!(panel.has_truth());
        for combiner in combiners(&panel) {
            let enough = panel.evidence(combiner.needs());
            let decided = |evidence: &Evidence| {
                let model = fitted(combiner.as_ref(), evidence, &Options::default());
                model.predict(&panel.predictions()).expect("the same columns")
            };
            prop_assert_eq!(decided(&enough), decided(&panel.tally()), "{}", combiner.method());
            for level in LEVELS.into_iter().filter(|level| *level < combiner.needs()) {
                let refused = combiner.fit(&panel.evidence(level)).expect_err("too little");
                let expected = Error::LevelTooLow {
                    what: combiner.method().to_string(),
                    needs: combiner.needs(),
                    found: level,
                };
                prop_assert_eq!(refused, expected);
            }
        }
    });
}

// ---- threads

#[test]
fn the_number_of_threads_does_not_matter() {
    let pools = [1, 2, 3].map(|threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be had")
    });
    // Rows enough for every stage to be cut into pieces.
    for (seed, gaps) in [(1, 0.0), (2, 0.4)] {
        let shape = Shape {
            n_classifiers: 6,
            n_classes: 4,
            n_others: 1,
            n_rows: 3_000,
            gaps,
            weighted: seed == 2,
            seed,
        };
        let panel = Panel::new(shape);
        for level in LEVELS {
            let bytes = pools.each_ref().map(|pool| pool.install(|| panel.evidence(level).to_bytes()));
            assert!(bytes.iter().all(|other| *other == bytes[0]), "{level}");
        }
        let (evidence, table) = (panel.tally(), panel.predictions());
        let results = pools.each_ref().map(|pool| {
            pool.install(|| {
                let decide = |combiner: Box<dyn Combiner>| {
                    let model = combiner.fit(&evidence).expect("labelled rows");
                    (model.method(), model.to_bytes(), model.predict(&table).expect("the same columns"))
                };
                combiners(&panel).into_iter().map(decide).collect::<Vec<_>>()
            })
        });
        for other in &results[1..] {
            for (a, b) in other.iter().zip(&results[0]) {
                assert!(a == b, "{}", a.0);
            }
        }
    }
}

// ---- names

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
                prop_assert_eq!(model.fitted(), other.fitted());
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
            let (n_others, gaps, weighted) = (0, 0.0, true);
            let shape = Shape { n_classifiers, n_classes, n_others, n_rows, gaps, weighted, seed };
            Panel { is_closed: true, ..Panel::new(shape) }
        },
    )
}

fn tree(panel: &Panel) -> Dendrogram {
    Dendrogram::ward(&Dissimilarities::new(&panel.tally(), &quiet()).expect("a tally"))
}

/// Whether no decision on the way to a fit of adaSPOCC is near a tie, nor any height of the tree.
fn is_untied(panel: &Panel, judged: Judged) -> bool {
    let tree = tree(panel);
    let heights: Vec<f64> = tree.merges().iter().map(|merge| merge.height).collect();
    let dissimilarities = Dissimilarities::new(&panel.tally(), &quiet()).expect("a tally");
    let mut distances = [heights, dissimilarities.condensed().to_vec()].concat();
    distances.sort_by(f64::total_cmp);
    // The first height is the least dissimilarity itself.
    let n_equal = distances.windows(2).filter(|two| two[1] - two[0] < CLEAR).count();
    let found = naive::adaspocc(panel, &tree, judged, Variant::Right);
    n_equal <= 1 && found.closeness.nearest > CLEAR
}

/// Compares two models of one panel on all patterns; `classes` says where each class of the first went.
fn assert_same_decisions(
    (model, panel): (&Model, &Panel),
    (other, twin): (&Model, &Panel),
    rows: [&[Vec<Option<usize>>]; 2],
    classes: &[usize],
) {
    let tables = [panel.table(rows[0]), twin.table(rows[1])];
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
        let twin = panel.renamed(&new);
        let rows = panel.all_patterns();
        let asked = Panel { rows: rows.clone(), ..panel.clone() }.renamed(&new).rows;
        for method in Method::ALL {
            let combiner = method.combiner();
            if method == Method::Bayes || !tunable(combiner.as_ref()) {
                let model = combiner.fit(&panel.tally()).expect("rows");
                let other = combiner.fit(&twin.tally()).expect("rows");
                assert_same_decisions((&model, &panel), (&other, &twin), [&rows, &asked], &new);
            }
        }
    });
}

#[test]
fn renaming_classes_renames_decisions_of_adaspocc() {
    proptest!(config(60), |(panel in untied_panels(), seed: u64)| {
        let new = Random(seed).order(panel.n_classes);
        let twin = panel.renamed(&new);
        let rows = panel.all_patterns();
        let asked = Panel { rows: rows.clone(), ..panel.clone() }.renamed(&new).rows;
        for (tuning, judged) in
            [(Tuning::Resubstitution, Judged::OnItself), (Tuning::LeaveOneOut, Judged::WithoutOwnRow)]
        {
            prop_assume!(is_untied(&panel, judged));
            let model = AdaSpocc { tuning }.fit(&panel.tally()).expect("rows");
            let other = AdaSpocc { tuning }.fit(&twin.tally()).expect("rows");
            prop_assert_eq!(model.fitted(), other.fitted());
            assert_same_decisions((&model, &panel), (&other, &twin), [&rows, &asked], &new);
        }
    });
}

#[test]
fn reordering_classifiers_changes_nothing_without_tuning() {
    proptest!(config(80), |(panel in untied_panels(), seed: u64)| {
        let order = Random(seed).order(panel.names.len());
        let twin = panel.reordered(&order);
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
                let other = combiner.fit(&twin.tally()).expect("rows");
                assert_same_decisions((&model, &panel), (&other, &twin), [&rows, &asked], &same);
            }
        }
    });
}

#[test]
fn reordering_classifiers_changes_nothing_for_adaspocc() {
    proptest!(config(60), |(panel in untied_panels(), seed: u64)| {
        let order = Random(seed).order(panel.names.len());
        let twin = panel.reordered(&order);
        let rows = panel.all_patterns();
        let asked = Panel { rows: rows.clone(), ..panel.clone() }.reordered(&order).rows;
        let same: Vec<usize> = (0..panel.n_classes).collect();
        for (tuning, judged) in
            [(Tuning::Resubstitution, Judged::OnItself), (Tuning::LeaveOneOut, Judged::WithoutOwnRow)]
        {
            prop_assume!(is_untied(&panel, judged));
            let model = AdaSpocc { tuning }.fit(&panel.tally()).expect("rows");
            let other = AdaSpocc { tuning }.fit(&twin.tally()).expect("rows");
            let parameters = |model: &Model| match model.fitted() {
                Fitted::AdaSpocc { exponents, severity, .. } => (exponents, severity),
                other => panic!("an adaSPOCC model, not {other:?}"),
            };
            prop_assert_eq!(parameters(&model).0, parameters(&other).0);
            prop_assert!(close(parameters(&model).1, parameters(&other).1));
            assert_same_decisions((&model, &panel), (&other, &twin), [&rows, &asked], &same);
        }
    });
}

#[test]
fn columns_are_found_by_name() {
    proptest!(config(60), |(panel in panels(5, 3, 30), seed: u64)| {
        prop_assume!(panel.has_truth());
        let mut random = Random(seed);
        // A table with its columns in another order and one that is nobody's.
        let order = random.order(panel.names.len());
        let mut other = panel.reordered(&order);
        other.names.push("stranger".to_owned());
        let mut strange = Random(seed);
        other.rows.iter_mut().for_each(|row| row.push(Some(strange.below(panel.labels.len()))));
        for combiner in combiners(&panel) {
            for options in choices() {
                let model = fitted(combiner.as_ref(), &panel.tally(), &options);
                let rulings = |table: &Predictions| model.predict(table).expect("all columns").rulings().to_vec();
                prop_assert_eq!(rulings(&panel.predictions()), rulings(&other.predictions()));
            }
        }
    });
}

// ---- models and tables in other forms

#[test]
fn a_model_read_back_is_the_same_and_a_slim_one_decides_alike() {
    proptest!(config(40), |(panel in panels(4, 3, 40))| {
        prop_assume!(panel.has_truth());
        let table = panel.predictions();
        for combiner in combiners(&panel) {
            for options in choices() {
                let model = fitted(combiner.as_ref(), &panel.tally(), &options);
                let decided = model.predict(&table).expect("the same columns");
                for model in [&model, &model.slim()] {
                    let bytes = model.to_bytes();
                    let read = Model::from_bytes(&bytes).expect("our own bytes");
                    prop_assert_eq!(read.to_bytes(), bytes);
                    prop_assert_eq!(read.fitted(), model.fitted());
                    prop_assert_eq!(&read.predict(&table).expect("the same columns"), &decided);
                }
                prop_assert!(model.slim().evidence().is_none());
                prop_assert!(model.slim().to_bytes().len() < model.to_bytes().len());
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
        let slim = model.slim();
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
    let shape =
        Shape { n_classifiers: 24, n_classes: 3, n_others: 1, n_rows: 60, gaps: 0.0, weighted: false, seed };
    let mut panel = Panel::new(shape);
    let mut random = Random(seed);
    for row in panel.rows.iter_mut().skip(10) {
        let speaks = [random.below(24), random.below(24)];
        row.iter_mut().enumerate().filter(|(k, _)| !speaks.contains(k)).for_each(|(_, cell)| *cell = None);
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
        let mut cells: Vec<(usize, usize, Label)> = Vec::new();
        for (t, row) in panel.rows.iter().enumerate() {
            cells.extend(row.iter().enumerate().filter_map(|(k, j)| j.map(|j| (t, k, panel.label(j)))));
        }
        let order = Random(seed).order(cells.len());
        let cells = order.into_iter().map(|at| cells[at].clone());
        let by_cell = Predictions::from_cells(panel.names.clone(), n_rows, cells).expect("distinct cells");
        let labels: Vec<Label> = (0..panel.labels.len()).map(|j| panel.label(j)).collect();
        let ids = panel.rows.iter().flatten().map(|said| said.map(|j| j as u16));
        let by_id = Predictions::from_ids(panel.names.clone(), labels, ids).expect("known ids");
        let count = |table: &Predictions, level| {
            Evidence::count(table, &panel.truths(), &panel.counting(level), &quiet()).expect("rows").to_bytes()
        };
        let model = Spocc::default().fit(&panel.tally()).expect("rows");
        let decided = |table: &Predictions| model.predict(table).expect("the same columns").rulings().to_vec();
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
            for (t, ruling) in decided.rulings().iter().enumerate() {
                let mut counts = [0.0; 3];
                for (other, class) in panel.rows.iter().zip(&panel.truth) {
                    if *other == part.rows[t] {
                        counts[class.expect("every row has a truth")] -= 1.0;
                    }
                }
                let best =
                    Closeness::default().decide(&counts.iter().map(|c| 100.0 + c).collect::<Vec<f64>>());
                assert_eq!(usize::from(ruling.class), best, "row {t}");
            }
        }
    }
}

#[test]
fn how_a_label_is_written_in_rows_without_truth_does_not_matter() {
    // Evidence depends on labelled rows alone, so these two tables are the same evidence.
    let count = |answers: &[(&str, Option<&str>)]| {
        let mut rows = Predictions::builder(["ann"]).expect("one name");
        answers.iter().for_each(|(said, _)| rows.push([Some(*said)]).expect("one answer"));
        let truth = Truth::new(answers.iter().map(|(_, truth)| *truth)).expect("few labels");
        Evidence::new(&rows.finish(), &truth).expect("rows").to_bytes()
    };
    let labelled = ("1.0", Some("1.0"));
    assert_eq!(count(&[labelled, ("1", None)]), count(&[labelled]));
}

/// One label, written as an integer, as a text, or as a data frame with gaps writes it.
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
        // With weights and gaps as they come, and classes as met: nobody says how a class is written.
        let panel = Panel { is_closed: false, ..panel };
        let mut random = Random(seed);
        let cells: Vec<Vec<Option<Label>>> = panel
            .rows
            .iter()
            .map(|row| row.iter().map(|said| said.map(|j| written(j, &mut random))).collect())
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
            prop_assert_eq!(whole.labels().all(), expected.labels().all());
            for k in 0..panel.names.len() {
                for said in &plain.labels {
                    for class in &plain.labels {
                        let of = |evidence: &Evidence| evidence.count_of(k, said.as_str(), class.as_str());
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
                let decided = |table: &Predictions| model.predict(table).expect("columns").rulings().to_vec();
                prop_assert_eq!(decided(&table), decided(&plain.predictions()), "{}", method);
            }
        }
    });
}

#[test]
fn random_ties_do_not_follow_the_order_of_the_rows() {
    proptest!(config(60), |(panel in panels(4, 3, 40), seed: u64, ties: u64)| {
        prop_assume!(panel.has_truth());
        let options = Options { missing: Missing::Silent, ties: TieBreak::Random(ties) };
        let order = Random(seed).order(panel.rows.len());
        let shuffled = panel.part(&order).predictions();
        for method in [Method::Spocc, Method::Majority, Method::NaiveBayes] {
            let model = fitted(method.combiner().as_ref(), &panel.tally(), &options);
            let before = model.predict(&panel.predictions()).expect("the same columns");
            let after = model.predict(&shuffled).expect("the same columns");
            for (at, &t) in order.iter().enumerate() {
                prop_assert_eq!(after.rulings()[at], before.rulings()[t]);
            }
        }
    });
}
