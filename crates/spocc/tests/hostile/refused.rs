//! Small files written by hand, each sound but for one value. None would end in a panic: only its check refuses it.

use serde::Serialize;

use super::{
    sections::{sections_of, with_sections},
    *,
};

pub(crate) type Content = (&'static str, Vec<u8>);

/// Rows of two classifiers and two labels: (x, x) of x twice, (x, y) of y once, (y, y) of y three times.
const CELLS: [(u16, u16, u64); 5] = [(0, 0, 2), (0, 1, 1), (1, 1, 3), (0, 0, 2), (1, 1, 4)];
const PATTERNS: [u16; 6] = [0, 0, 0, 1, 1, 1];
const DENSE: u32 = 0;
const SPARSE: u32 = 1;
const GIVEN: u32 = 1;

pub(crate) fn section(name: &'static str, value: &(impl Serialize + ?Sized)) -> Content {
    (name, postcard::to_stdvec(value).expect("a value of a known size"))
}

fn panel(classifiers: &[&str], texts: &[[&str; 2]], n_classes: usize, source: u32) -> Content {
    let text = 3u32;
    let labels: Vec<_> = texts.iter().map(|[canonical, written]| (canonical, text, written)).collect();
    section("Panel", &(classifiers.to_vec(), (labels, n_classes, source)))
}

fn two_labels() -> Content {
    panel(&["a", "b"], &[["x", "x"], ["y", "y"]], 2, 0)
}

pub(crate) fn confusions(ends: &[usize], cells: &[(u16, u16, u64)]) -> Content {
    section("Confusion-cells", &(ends.to_vec(), cells.to_vec()))
}

pub(crate) fn tally(name: &'static str, patterns: &[u16], classes: &[u16], counts: &[u64]) -> Content {
    let starts: Vec<usize> = (0..=classes.len()).collect();
    section(name, &((2usize, DENSE, patterns.to_vec()), starts, classes.to_vec(), counts.to_vec()))
}

fn sound_evidence() -> Vec<Content> {
    vec![
        confusions(&[3, 5], &CELLS),
        section("Counts", &(0u32, vec![2u64, 4])),
        two_labels(),
        tally("Tally", &PATTERNS, &[0, 1, 1], &[2, 1, 3]),
        tally("Unlabelled", &PATTERNS[2..4], &[0], &[2]),
        section("Unlabelled-total", &5u64),
    ]
}

fn sound_model() -> Vec<Content> {
    let evidence = sound_evidence().into_iter().map(|(name, content)| Section::new(name, content));
    vec![
        two_labels(),
        section("Prior", &vec![2u64, 4]),
        votes(2),
        settings("majority", 0, &[]),
        ("evidence", Section::join(&evidence.collect::<Vec<_>>())),
    ]
}

/// Votes of equal weight, without a rate.
fn votes(n_classes: usize) -> Content {
    section("Rule-vote", &(n_classes, vec![1.0; 2], None::<f64>))
}

fn settings(method: &str, missing: u32, class_weights: &[f64]) -> Content {
    section("Settings", &(method, missing, vec![false; 2], 0u32, class_weights.to_vec()))
}

/// The file after changes: a section replaces the one of its name or is added, and empty content removes it.
pub(crate) fn changed(sound: &[u8], sections: Vec<Content>, changes: Vec<Content>) -> Vec<u8> {
    let mut sections: std::collections::BTreeMap<_, _> = sections.into_iter().collect();
    sections.extend(changes);
    sections.retain(|_, content| !content.is_empty());
    let sections: Vec<Section> =
        sections.into_iter().map(|(name, content)| Section::new(name, content)).collect();
    with_sections(sound, &sections)
}

fn evidence_with(changes: Vec<Content>) -> Vec<u8> {
    changed(&small_panel().tally().to_bytes(), sound_evidence(), changes)
}

fn model_with(changes: Vec<Content>) -> Vec<u8> {
    let any = Model::fit(
        &spocc::methods::Majority,
        &small_panel().tally(),
        &Options::default(),
        &Control::default(),
    );
    changed(&any.expect("rows").to_bytes(), sound_model(), changes)
}

#[test]
fn evidence_with_one_wrong_value_is_refused() {
    let sound = Evidence::from_bytes(&evidence_with(vec![])).expect("sound");
    assert_eq!((sound.n_rows(), sound.n_unlabelled()), (6.0, 5.0));
    let nothing = |name| (name, Vec::new());
    let marginals = || vec![nothing("Tally"), nothing("Unlabelled"), nothing("Unlabelled-total")];
    let pairs = |counts: [u64; 4]| {
        let pairs = section("Pairs", &(2usize, 2usize, counts.to_vec()));
        marginals().into_iter().chain([pairs]).collect::<Vec<_>>()
    };
    Evidence::from_bytes(&evidence_with(pairs([2, 1, 0, 3]))).expect("sound");
    let with_cell = |at: usize, cell| {
        let mut cells = CELLS;
        cells[at] = cell;
        [marginals(), vec![confusions(&[3, 5], &cells)]].concat()
    };
    let swapped = [CELLS[1], CELLS[0], CELLS[2], CELLS[3], CELLS[4]];
    let cases: Vec<(Vec<Content>, &str)> = vec![
        (vec![section("Counts", &(7u32, vec![2u64, 4]))], "weights of 0 or 30"),
        (vec![section("Counts", &(0u32, vec![2u64, 4, 0]))], "one count per class"),
        (vec![section("Counts", &(0u32, vec![3u64, 4]))], "a tally that adds up"),
        (vec![confusions(&[3, 5], &[&CELLS[..4], &[(1, 1, 3)]].concat())], "a tally that adds up"),
        ([marginals(), vec![confusions(&[6, 5], &CELLS)]].concat(), "one confusion table per classifier"),
        (with_cell(4, (2, 1, 4)), "confusion cells in order"),
        (with_cell(4, (1, 1, 0)), "confusion cells in order"),
        (with_cell(4, (1, 1, 5)), "no more predictions than rows"),
        ([marginals(), vec![confusions(&[3, 5], &swapped)]].concat(), "confusion cells in order"),
        (pairs([3, 0, 0, 3]), "pair counts that fit the marginals"),
        (vec![tally("Tally", &PATTERNS, &[0, 1, 1], &[2, 1, 0])], "sorted, distinct patterns"),
        (vec![tally("Tally", &[0, 1, 0, 0, 1, 1], &[1, 0, 1], &[1, 2, 3])], "sorted, distinct patterns"),
        (vec![tally("Unlabelled", &[0, 5], &[0], &[2])], "a matrix of known labels"),
        (vec![section("Unlabelled-total", &1u64)], "from 1 to below 2^64 unlabelled rows"),
        (vec![nothing("Unlabelled")], "the patterns of unlabelled rows"),
        (vec![panel(&["a", "b"], &[["x", "x"], ["y", "z"]], 2, 0)], "labels that match"),
        (vec![panel(&["a", "b"], &[["y", "y"], ["x", "x"]], 2, 0)], "labels sorted and distinct"),
    ];
    for (changes, expected) in cases {
        let error = evidence_error(&evidence_with(changes)).to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn weights_are_read_and_written_and_do_not_say_how_many_rows_there_are() {
    let rows = evidence_with(vec![]);
    // Sections without content cannot be given as changes.
    let with_weights = |file: &[u8]| {
        let sections = [sections_of(file), vec![Section::new("Weights", [])]].concat();
        with_sections(file, &sections)
    };
    let weighted = Evidence::from_bytes(&with_weights(&rows)).expect("sound");
    let rows = Evidence::from_bytes(&rows).expect("sound");
    assert!(rows.counts_rows() && !weighted.counts_rows());
    assert_eq!(sections_of(&weighted.to_bytes()).pop(), Some(Section::new("Weights", [])));
    assert_eq!(weighted.small_counts(2), Err(Error::Weighted { what: "small counts" }));
    let kept = weighted.without_rare(2, &Control::default()).map(drop);
    assert_eq!(kept, Err(Error::Weighted { what: "dropping rare patterns" }));
    for (one, other) in [(&rows, &weighted), (&weighted, &rows), (&weighted, &weighted)] {
        assert!(!one.merge(other, &Control::default()).expect("the same panel").counts_rows());
    }
    let fractions = evidence_with(vec![section("Counts", &(30u32, vec![2u64, 4]))]);
    Evidence::from_bytes(&fractions).expect("sound");
    let error = evidence_error(&with_weights(&fractions)).to_string();
    assert!(error.contains("expected whole weights, found fractions"), "{error}");
}

#[test]
fn matrices_in_another_form_or_order_are_refused() {
    let names: Vec<String> = (0..16).map(|k| format!("c{k:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let ends: Vec<usize> = (0..16).map(|k| usize::from(k >= 1) + usize::from(k >= 3)).collect();
    let row_of = |columns: [u32; 2]| {
        let matrix = (16usize, SPARSE, vec![0usize, 2], columns.to_vec(), vec![0u16; 2]);
        evidence_with(vec![
            confusions(&ends, &[(0, 0, 1); 2]),
            section("Counts", &(0u32, vec![1u64])),
            panel(&names, &[["x", "x"]], 1, 0),
            section("Tally", &(matrix, vec![0usize, 1], vec![0u16], vec![1u64])),
            ("Unlabelled", Vec::new()),
            ("Unlabelled-total", Vec::new()),
        ])
    };
    Evidence::from_bytes(&row_of([1, 3])).expect("sound");
    assert!(evidence_error(&row_of([3, 1])).to_string().contains("a matrix of known labels"));
    let matrix = (2usize, SPARSE, vec![0usize, 2, 4, 6], vec![0u32, 1, 0, 1, 0, 1], PATTERNS.to_vec());
    let parts = (matrix, vec![0usize, 1, 2, 3], vec![0u16, 1, 1], vec![2u64, 1, 3]);
    let error = evidence_error(&evidence_with(vec![section("Tally", &parts)])).to_string();
    assert!(error.contains("the larger of its two forms"), "{error}");
}

#[test]
fn a_model_with_one_wrong_value_is_refused() {
    let sound = model_with(vec![]);
    assert_eq!(sections_of(&sound).len(), 5);
    exercise_model(&Model::from_bytes(&sound).expect("sound"), &small_panel());
    let rule = |method, rule| vec![settings(method, 0, &[]), ("Rule-vote", Vec::new()), rule];
    let scores = |counts: [u64; 2]| {
        let lists = vec![(vec![0.5, 1.0], counts.to_vec())];
        vec![section("conformal", &((0u32, false, 1u64), lists))]
    };
    Model::from_bytes(&model_with(scores([1, 2]))).expect("sound");
    let accuracy = |low: f64, high: f64| {
        vec![section("held-out-accuracy", &(0u32, 5usize, 6u64, 0.5, None::<f64>, [low, high]))]
    };
    Model::from_bytes(&model_with(accuracy(0.1, 0.9))).expect("sound");
    let ranking = |places: [u32; 2]| rule("selection", section("Rule-ranking", &(2usize, places.to_vec())));
    Model::from_bytes(&model_with(ranking([1, 0]))).expect("sound");
    let likelihoods = |prior: [f64; 2]| {
        rule("naive-bayes", section("Rule-likelihoods", &(2usize, prior.to_vec(), vec![1.0; 8])))
    };
    Model::from_bytes(&model_with(likelihoods([f64::INFINITY, 1.0]))).expect("sound");
    let regression = |classes: [u16; 2], coefficient: f64, intercept: f64| {
        let encoding = (0u32, 2usize, 2usize, 2usize, 1.0, Vec::<f64>::new());
        let fitted = (1.0, encoding, classes.to_vec(), (vec![coefficient; 4], vec![intercept]));
        rule("stacking", section("Rule-regression", &fitted))
    };
    Model::from_bytes(&model_with(regression([0, 1], 1.0, 0.0))).expect("sound");
    let weights = |weight: f64| vec![section("Rule-vote", &(2usize, vec![weight; 2], None::<f64>))];
    Model::from_bytes(&model_with(weights(f64::MAX / 32.0))).expect("sound");
    let possibilities = |children: Vec<u32>| {
        let tree = (vec![(1.0, vec![]), (1.0, children)], vec![0u32, 1]);
        rule("spocc", section("Rule-possibilities", &(2usize, 2usize, tree, vec![1.0; 8])))
    };
    Model::from_bytes(&model_with(possibilities(vec![0]))).expect("sound");
    // A dendrogram of one merge, and possibilities fused by one norm.
    let merged = |exponent: f64| {
        let dendrogram = (2usize, vec![([0usize, 1], 1.0, 2usize)]);
        let tree = (vec![(2.0, Vec::<u32>::new())], vec![0u32, 0]);
        let possibilities = (2usize, 2usize, tree, vec![1.0; 8]);
        let fitted = (0u32, dendrogram, vec![exponent], [0.5, 1.0, 0.5], vec![0.0; 2], possibilities);
        rule("adaspocc", section("Rule-adaspocc", &fitted))
    };
    Model::from_bytes(&model_with(merged(2.0))).expect("sound");
    // The second label is only predicted, but true of rows of the evidence.
    let one_class = vec![
        panel(&["a", "b"], &[["x", "x"], ["y", "y"]], 1, GIVEN),
        section("Prior", &vec![2u64]),
        votes(1),
    ];
    let missing_label = vec![
        panel(&["a", "b"], &[["x", "x"], ["y", "y"], ["\0", "\0"]], 2, GIVEN),
        settings("majority", 2, &[]),
    ];
    let cases: Vec<(Vec<Content>, &str)> = vec![
        (vec![section("Prior", &vec![0u64, 0])], "a count per class"),
        (vec![settings("naive-bayes", 0, &[])], "the rule of the method"),
        (vec![settings("majority", 0, &[1.0])], "no weights or one above 0 per class"),
        (vec![settings("majority", 0, &[1.0, 0.0])], "no weights or one above 0 per class"),
        (vec![settings("majority", 0, &[1.0, f64::INFINITY])], "no weights or one above 0 per class"),
        (vec![panel(&["a", "c"], &[["x", "x"], ["y", "y"]], 2, 0)], "evidence about the model's classifiers"),
        (one_class, "evidence about the model's labels"),
        (missing_label, "a label for missing predictions exactly if"),
        (scores([1, 0]), "counts above 0"),
        (accuracy(0.9, 0.1), "a held-out accuracy with its interval"),
        (ranking([0, 0]), "a ranking of the classifiers"),
        (likelihoods([f64::INFINITY; 2]), "a class that occurs"),
        (regression([1, 0], 1.0, 0.0), "a regression on the predictions"),
        (regression([0, 1], -f64::MAX / 8.0, 0.0), "whose sum over a row is a finite number"),
        (regression([0, 1], 1.0, f64::MAX / 2.0), "whose sum over a row is a finite number"),
        (likelihoods([f64::MAX / 2.0, 1.0]), "whose sum over a row is a finite number"),
        (weights(f64::MAX / 8.0), "whose sum over a row is a finite number"),
        (merged(3.0), "possibilities fused along the dendrogram"),
        (possibilities(vec![0, 0]), "another section `Rule-possibilities`"),
    ];
    for (changes, expected) in cases {
        let error = model_error(&model_with(changes)).to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}
