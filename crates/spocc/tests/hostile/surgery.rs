//! Files put together from sections of others, cut, stretched, renamed and moved at random, with a true checksum.

use std::cell::Cell;

use super::{
    sections::{sections_of, with_sections},
    *,
};

/// One change of a list of sections.
#[derive(Clone, Debug)]
enum Cut {
    Remove,
    Repeat,
    /// The section goes elsewhere.
    Move(Index),
    /// The section of another file, at its place in the order of names or in place of the one of the same name.
    Graft(Index, Index),
    /// The content of another section of the same file.
    Content(Index),
    Rename(String),
    Insert(String, Vec<u8>),
    Truncate(Index),
    Extend(Vec<u8>),
    /// Sections inside the section.
    Nest,
}

fn cuts() -> impl Strategy<Value = Vec<(Index, Cut)>> {
    let index = any::<Index>;
    let bytes = || prop::collection::vec(any::<u8>(), 0..20);
    let name = || {
        prop_oneof![
            "[A-Za-z][a-z-]{0,8}",
            "[a-z]{1,33}",
            prop::sample::select(vec!["Panel", "Tally", "Pairs", "Rule-vote", "conformal", "evidence"])
                .prop_map(str::to_owned),
        ]
    };
    let cut = prop_oneof![
        2 => Just(Cut::Remove),
        1 => Just(Cut::Repeat),
        1 => index().prop_map(Cut::Move),
        6 => (index(), index()).prop_map(|(file, section)| Cut::Graft(file, section)),
        2 => index().prop_map(Cut::Content),
        2 => name().prop_map(Cut::Rename),
        3 => (name(), bytes()).prop_map(|(name, content)| Cut::Insert(name, content)),
        1 => index().prop_map(Cut::Truncate),
        1 => bytes().prop_map(Cut::Extend),
        1 => Just(Cut::Nest),
    ];
    prop::collection::vec((index(), cut), 1..4)
}

fn operate(sections: &mut Vec<Section>, at: usize, cut: Cut, donors: &[Vec<u8>]) {
    match cut {
        Cut::Remove => drop(sections.remove(at)),
        Cut::Repeat => {
            let section = sections[at].clone();
            sections.insert(at, section);
        }
        Cut::Move(to) => {
            let section = sections.remove(at);
            sections.insert(to.index(sections.len() + 1), section);
        }
        Cut::Graft(file, section) => {
            let donor = sections_of(&donors[file.index(donors.len())]);
            let graft = donor[section.index(donor.len())].clone();
            match sections.binary_search_by(|section| section.name.cmp(&graft.name)) {
                Ok(at) => sections[at] = graft,
                Err(at) => sections.insert(at, graft),
            }
        }
        Cut::Content(other) => {
            let other = sections[other.index(sections.len())].content.clone();
            sections[at].content = other;
        }
        Cut::Rename(name) => sections[at].name = name.into_bytes(),
        Cut::Insert(name, content) => sections.insert(at, Section::new(name, content)),
        Cut::Truncate(length) => {
            let length = length.index(sections[at].content.len() + 1);
            sections[at].content.truncate(length);
        }
        Cut::Extend(more) => sections[at].content.extend(more),
        Cut::Nest => sections[at].content = Section::join(&sections[at..=at]),
    }
}

/// A file after the operations. Half of the files have their sections in order, so that the order alone does not refuse
/// all of them; where there is evidence in a model, half of the operations are on its sections.
fn operated(file: &[u8], cuts: &[(Index, Cut)], in_order: bool, inside: bool, donors: &[Vec<u8>]) -> Vec<u8> {
    let mut outer = sections_of(file);
    let evidence = outer.iter().position(|section| section.name == b"evidence").filter(|_| inside);
    let mut sections = match evidence {
        Some(at) => Section::split(&outer[at].content),
        None => outer.clone(),
    };
    for (index, cut) in cuts {
        if !sections.is_empty() {
            let at = index.index(sections.len());
            operate(&mut sections, at, cut.clone(), donors);
        }
    }
    if in_order {
        sections.sort_by(|a, b| a.name.cmp(&b.name));
    }
    match evidence {
        Some(at) => outer[at].content = Section::join(&sections),
        None => outer = sections,
    }
    with_sections(file, &outer)
}

#[test]
fn models_put_together_from_others_are_refused_or_work() {
    let panel = small_panel();
    let files: Vec<Vec<u8>> = models(&panel).iter().map(Model::to_bytes).collect();
    let tallies = [all_rows(&panel), all_rows(&sparse_panel()), panel.evidence(Level::Pairs)];
    let donors = [files.clone(), tallies.iter().map(Evidence::to_bytes).collect()].concat();
    let believed = Cell::new(0);
    proptest!(config(3000), |(file: Index, cuts in cuts(), in_order: bool, inside: bool)| {
        let file = &files[file.index(files.len())];
        match Model::from_bytes(&operated(file, &cuts, in_order, inside, &donors)) {
            Ok(model) => {
                believed.set(believed.get() + 1);
                let bytes = model.to_bytes();
                prop_assert_eq!(&Model::from_bytes(&bytes).expect("our own bytes").to_bytes(), &bytes);
                exercise_model(&model, &panel);
            }
            Err(error) => prop_assert!(error.to_string().contains("expected"), "{}", error),
        }
    });
    assert!(believed.get() >= 100, "only {} files were believed and tried", believed.get());
}

#[test]
fn evidence_put_together_from_others_is_refused_or_works() {
    let files: Vec<Vec<u8>> = [small_panel(), sparse_panel()]
        .iter()
        .flat_map(|panel| [Level::Marginals, Level::Pairs, Level::Tally].map(|level| panel.evidence(level)))
        .chain([all_rows(&small_panel()), all_rows(&sparse_panel())])
        .map(|evidence| evidence.to_bytes())
        .collect();
    let believed = Cell::new(0);
    proptest!(config(3000), |(file: Index, cuts in cuts(), in_order: bool)| {
        let file = &files[file.index(files.len())];
        match Evidence::from_bytes(&operated(file, &cuts, in_order, false, &files)) {
            Ok(evidence) => {
                believed.set(believed.get() + 1);
                let bytes = evidence.to_bytes();
                prop_assert_eq!(&Evidence::from_bytes(&bytes).expect("our own bytes").to_bytes(), &bytes);
                exercise_evidence(&evidence);
            }
            Err(error) => prop_assert!(error.to_string().contains("expected"), "{}", error),
        }
    });
    assert!(believed.get() >= 100, "only {} files were believed and tried", believed.get());
}
