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

/// A truth, two answers and a weight.
type WrittenRow = (Option<Label>, [Option<Label>; 2], f64);

/// One of few labels in one of the ways to write it.
fn written(random: &mut Random) -> Label {
    let number = random.below(3);
    match random.below(4) {
        0 => Label::from(number as i64),
        1 => Label::try_from(number as f64).expect("a whole number"),
        2 => Label::from(number.to_string()),
        _ => Label::from(["1.0", "True", "true"][number]),
    }
}

#[test]
fn one_label_written_in_many_ways_comes_back_the_same_in_whatever_pieces() {
    proptest!(config(300), |(n_rows in 1..8usize, seed: u64)| {
        let mut random = Random(seed);
        let some = |random: &mut Random| (random.below(4) > 0).then(|| written(random));
        let rows: Vec<WrittenRow> = (0..n_rows)
            .map(|_| (some(&mut random), [some(&mut random), some(&mut random)], random.below(3) as f64))
            .collect();
        let count = |numbers: &[usize]| {
            let mut table = Predictions::builder(["a", "b"]).expect("two names");
            numbers.iter().for_each(|&t| table.push(rows[t].1.clone()).expect("two answers"));
            let truth = Truth::new(numbers.iter().map(|&t| rows[t].0.clone())).expect("few labels");
            let weights: Vec<f64> = numbers.iter().map(|&t| rows[t].2).collect();
            let counting = Counting { weights: Some(&weights), unlabelled: true, ..Counting::default() };
            Evidence::count(&table.finish(), &truth, &counting, &quiet()).expect("rows")
        };
        let whole = count(&(0..n_rows).collect::<Vec<_>>());
        let order = random.order(n_rows);
        let [one, two] = [0, 1].map(|_| random.below(n_rows + 1));
        let cuts = [0, one.min(two), one.max(two), n_rows];
        let [a, b, c] = [0, 1, 2].map(|at| count(&order[cuts[at]..cuts[at + 1]]));
        let sum = |a: &Evidence, b: &Evidence| a.merge(b, &quiet()).expect("the same panel");
        prop_assert_eq!(sum(&sum(&a, &b), &c).to_bytes(), whole.to_bytes());
        prop_assert_eq!(sum(&a, &sum(&b, &c)).to_bytes(), whole.to_bytes());
        prop_assert_eq!(sum(&sum(&c, &a), &b).to_bytes(), whole.to_bytes());
        // A label that is true of some row is written as some truth of it is.
        for label in whole.labels().classes() {
            let truths = rows.iter().filter(|row| row.2 > 0.0).filter_map(|row| row.0.as_ref());
            let mut writings = truths.filter(|truth| *truth == label).map(Label::written).peekable();
            prop_assert!(writings.peek().is_none() || writings.any(|written| written == label.written()));
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
        "evidence: expected the same classes on both sides, found a given list of classes and classes as they occur"
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
        // With classes as met a label that only the others predicted would stay.
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
                for predicted in &panel.labels {
                    for class in &panel.labels {
                        let count = |evidence: &Evidence| evidence.count_of(k, predicted.as_str(), class.as_str());
                        prop_assert_eq!(count(&selected), count(&counted));
                    }
                }
            }
        }
    });
}
