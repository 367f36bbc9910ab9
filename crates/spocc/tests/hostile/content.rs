//! Altered content, in sections of the right length.

use std::cell::Cell;

use super::{sections::levels, *};

#[test]
fn weights_and_missing_labels_that_no_fit_gives_are_refused() {
    let evidence = small_panel().tally();
    let class = evidence.labels().classes()[0].clone();
    let options = Options {
        missing: Missing::Answer,
        class_weights: ClassWeights::Given(vec![(class, 5.5)]),
        ..Options::default()
    };
    let model = Model::fit(&spocc::methods::NaiveBayes, &evidence, &options, &Control::default())
        .expect("rows")
        .without_evidence();
    let bytes = model.to_bytes();
    let find =
        |what: &[u8]| bytes.windows(what.len()).position(|window| window == what).expect("it is there");
    let weight = find(&5.5f64.to_le_bytes());
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut forged = bytes.clone();
        forged[weight..weight + 8].copy_from_slice(&f64::to_le_bytes(bad));
        let error = model_error(&resealed(&forged)).to_string();
        assert!(error.contains("expected no weights or one above 0 per class"), "{error}");
    }
    // After the choice: a missing cell of every classifier is an answer.
    let n = model.classifiers().len();
    let all_classifiers: Vec<u8> = [1, n as u8].into_iter().chain(vec![1; n]).collect();
    let mut forged = bytes.clone();
    forged[find(&all_classifiers) + 2] = 0;
    let error = model_error(&resealed(&forged)).to_string();
    assert!(error.contains("expected a label for missing predictions exactly if"), "{error}");
}

/// One change of bytes.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Set(u8),
    Flip(u8),
    Insert(u8),
    Remove,
    /// A number of ten bytes, the largest there is.
    Huge,
    /// A float that is none.
    NotANumber,
}

pub(crate) fn edits() -> impl Strategy<Value = Vec<(Index, Edit)>> {
    let edit = prop_oneof![
        3 => any::<u8>().prop_map(Edit::Set),
        3 => (0..8u8).prop_map(Edit::Flip),
        1 => any::<u8>().prop_map(Edit::Insert),
        1 => Just(Edit::Remove),
        2 => Just(Edit::Huge),
        1 => Just(Edit::NotANumber),
    ];
    prop::collection::vec((any::<Index>(), edit), 1..4)
}

/// Changes bytes at a place that depends on how many there are; at least one stays.
pub(crate) fn edit(bytes: &mut Vec<u8>, index: Index, edit: &Edit) {
    let at = index.index(bytes.len());
    match edit {
        Edit::Set(value) => bytes[at] = *value,
        Edit::Flip(bit) => bytes[at] ^= 1 << bit,
        Edit::Insert(value) => bytes.insert(at, *value),
        Edit::Remove => drop(bytes.remove(at)),
        Edit::Huge => drop(bytes.splice(at..=at, [0xff; 9].into_iter().chain([1]))),
        Edit::NotANumber => {
            let end = (at + 8).min(bytes.len());
            bytes.splice(at..end, f64::NAN.to_le_bytes());
        }
    }
    if bytes.is_empty() {
        bytes.push(0);
    }
}

/// The contents of all sections, each with its level and its place there.
fn contents(file: &[u8]) -> Vec<([usize; 2], Vec<u8>)> {
    let mut contents = Vec::new();
    for (level, (sections, _)) in levels(file).into_iter().enumerate() {
        let sections = sections.into_iter().enumerate().filter(|(_, section)| section.name != b"evidence");
        contents.extend(sections.map(|(at, section)| ([level, at], section.content)));
    }
    contents
}

fn with_content(file: &[u8], [level, at]: [usize; 2], content: Vec<u8>) -> Vec<u8> {
    let (mut sections, remake) = levels(file).swap_remove(level);
    sections[at].content = content;
    remake(&sections)
}

/// The file with edits of one section; of a large section more often.
pub(crate) fn edited(file: &[u8], byte: Index, edits: &[(Index, Edit)]) -> Vec<u8> {
    let contents = contents(file);
    let sections = contents.iter().flat_map(|section| std::iter::repeat_n(section, section.1.len()));
    let sections: Vec<&([usize; 2], Vec<u8>)> = sections.collect();
    let (place, mut content) = sections[byte.index(sections.len())].clone();
    edits.iter().for_each(|(index, change)| edit(&mut content, *index, change));
    with_content(file, place, content)
}

#[test]
fn an_altered_model_with_a_true_checksum_is_refused_or_works() {
    for panel in [small_panel(), sparse_panel()] {
        let files: Vec<Vec<u8>> = models(&panel).iter().map(Model::to_bytes).collect();
        let believed = Cell::new(0);
        proptest!(config(1500), |(file: Index, byte: Index, edits in edits())| {
            let bytes = edited(&files[file.index(files.len())], byte, &edits);
            match Model::from_bytes(&bytes) {
                Ok(model) => {
                    believed.set(believed.get() + 1);
                    exercise_model(&model, &panel);
                }
                Err(error) => prop_assert!(error.to_string().contains("expected"), "{}", error),
            }
        });
        assert!(believed.get() >= 10, "only {} altered files were believed and tried", believed.get());
    }
}

#[test]
fn altered_evidence_with_a_true_checksum_is_refused_or_works() {
    for panel in [small_panel(), sparse_panel()] {
        let levels = [Level::Marginals, Level::Pairs, Level::Tally].map(|level| panel.evidence(level));
        let files: Vec<Vec<u8>> = levels.iter().chain([&all_rows(&panel)]).map(Evidence::to_bytes).collect();
        let believed = Cell::new(0);
        proptest!(config(1500), |(file: Index, byte: Index, edits in edits())| {
            let bytes = edited(&files[file.index(files.len())], byte, &edits);
            match Evidence::from_bytes(&bytes) {
                Ok(evidence) => {
                    believed.set(believed.get() + 1);
                    exercise_evidence(&evidence);
                }
                Err(error) => prop_assert!(error.to_string().contains("expected"), "{}", error),
            }
        });
        assert!(believed.get() >= 10, "only {} altered files were believed and tried", believed.get());
    }
}

/// Every byte of the payload set to a few values that matter: small counts, borders of numbers, enum tags.
#[test]
fn every_single_altered_byte_with_a_true_checksum_is_refused_or_works() {
    let panel = small_panel();
    for model in models(&panel) {
        let bytes = model.to_bytes();
        for at in HEADER..bytes.len() {
            for value in [0, 1, 2, 0x7f, 0x80, 0xff] {
                let mut altered = bytes.clone();
                altered[at] = value;
                if let Ok(read) = Model::from_bytes(&resealed(&altered)) {
                    exercise_model(&read.without_evidence(), &panel);
                }
            }
        }
    }
}

/// Every byte of a section replaced by a huge number: whatever it stood for, a length, a size, a child, nothing is
/// allocated or added up before it was checked.
#[test]
fn huge_numbers_are_refused_before_room_is_made_for_them() {
    let panel = small_panel();
    for model in models(&panel) {
        let bytes = model.to_bytes();
        let mut refused = 0;
        for (place, content) in contents(&bytes) {
            for at in 0..content.len() {
                for size in [1u64 << 40, 1 << 60, u64::MAX] {
                    let altered = [&content[..at], &varint(size), &content[at + 1..]].concat();
                    match Model::from_bytes(&with_content(&bytes, place, altered)) {
                        Ok(model) => exercise_model(&model.without_evidence(), &panel),
                        Err(_) => refused += 1,
                    }
                }
            }
        }
        assert!(refused > 0, "{}", model.method());
    }
}

/// Puts `to` where the file has the number `from`.
fn with_number(bytes: &[u8], from: f64, to: f64) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut at = HEADER;
    while at + 8 <= bytes.len() {
        if bytes[at..at + 8] == from.to_le_bytes() {
            bytes[at..at + 8].copy_from_slice(&to.to_le_bytes());
            at += 7;
        }
        at += 1;
    }
    resealed(&bytes)
}

fn fitted(method: Method, panel: &Panel) -> Model {
    method.combiner().fit(&panel.tally()).expect("labelled rows").without_evidence()
}

#[test]
fn votes_that_add_up_to_more_than_a_number_holds_are_refused_or_work() {
    let panel = small_panel();
    let bytes = with_number(&fitted(Method::Majority, &panel).to_bytes(), 1.0, f64::MAX);
    if let Ok(model) = Model::from_bytes(&bytes) {
        exercise_model(&model, &panel);
    }
}

#[test]
fn a_naive_bayes_in_which_no_class_is_ever_true_is_refused_or_works() {
    let panel = small_panel();
    let mut bytes = fitted(Method::NaiveBayes, &panel).to_bytes();
    for share in class_shares(&panel) {
        let altered = with_number(&bytes, -share.ln(), f64::INFINITY);
        assert_ne!(altered, bytes, "the file has the surprisal of a share of {share}");
        bytes = altered;
    }
    if let Ok(model) = Model::from_bytes(&bytes) {
        exercise_model(&model, &panel);
    }
}

/// Share of the labelled rows that each class has.
fn class_shares(panel: &Panel) -> Vec<f64> {
    let known = panel.truth.iter().flatten().count() as f64;
    let rows = |i: usize| panel.truth.iter().filter(|truth| **truth == Some(i)).count() as f64;
    (0..panel.n_classes).map(|i| rows(i) / known).collect()
}

/// A number as a file has it: seven bits to a byte, the lowest first.
fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}
