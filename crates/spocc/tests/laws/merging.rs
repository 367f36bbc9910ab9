//! Sums of evidence.

use super::*;

pub(crate) fn merged(parts: &[Evidence]) -> Evidence {
    let (first, rest) = parts.split_first().expect("at least one part");
    rest.iter().fold(first.clone(), |sum, part| sum.merge(part, &quiet()).expect("the same panel"))
}

/// The evidence of the rows of each part.
pub(crate) fn parts(panel: &Panel, n_parts: usize, level: Level, random: &mut Random) -> Vec<Evidence> {
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
        let options = Counting { level, classes, ..Counting::default() };
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
