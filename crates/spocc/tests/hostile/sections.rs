//! Sections that are missing, unknown, repeated, moved, misnamed, or of another length than they say.

use super::*;

/// A section, taken apart here independently of the reader.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Section {
    pub(crate) name: Vec<u8>,
    pub(crate) content: Vec<u8>,
}

impl Section {
    pub(crate) fn new(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Self {
        Self { name: name.as_ref().to_vec(), content: content.as_ref().to_vec() }
    }

    /// The sections of a payload.
    pub(crate) fn split(mut payload: &[u8]) -> Vec<Self> {
        let mut sections = Vec::new();
        while let Some((&length, rest)) = payload.split_first() {
            let (name, rest) = rest.split_at(usize::from(length));
            let (length, rest) = rest.split_first_chunk().expect("a length");
            let (content, rest) = rest.split_at(u64::from_le_bytes(*length) as usize);
            sections.push(Self::new(name, content));
            payload = rest;
        }
        sections
    }

    pub(crate) fn join(sections: &[Self]) -> Vec<u8> {
        sections.iter().flat_map(|section| section.with_length(section.content.len() as u64)).collect()
    }

    /// Its bytes, if it says that it has this length.
    fn with_length(&self, length: u64) -> Vec<u8> {
        [&[self.name.len() as u8][..], &self.name, &length.to_le_bytes(), &self.content].concat()
    }
}

/// The sections of a file.
pub(crate) fn sections_of(file: &[u8]) -> Vec<Section> {
    Section::split(&file[HEADER..])
}

/// The file with other sections.
pub(crate) fn with_sections(file: &[u8], sections: &[Section]) -> Vec<u8> {
    resealed(&[&file[..HEADER], &Section::join(sections)].concat())
}

/// Sections, and a function that makes the file again from others in their place.
pub(crate) type Replaceable<'a> = (Vec<Section>, Box<dyn Fn(&[Section]) -> Vec<u8> + 'a>);

/// The sections of a file and, if it is a model with evidence, those of the evidence.
pub(crate) fn levels(file: &[u8]) -> Vec<Replaceable<'_>> {
    let sections = sections_of(file);
    let mut levels: Vec<Replaceable<'_>> =
        vec![(sections.clone(), Box::new(|sections| with_sections(file, sections)))];
    if let Some(at) = sections.iter().position(|section| section.name == b"evidence") {
        let inner = Section::split(&sections[at].content);
        let remake = move |inner: &[Section]| {
            let mut sections = sections.clone();
            sections[at].content = Section::join(inner);
            with_sections(file, &sections)
        };
        levels.push((inner, Box::new(remake)));
    }
    levels
}

/// A model file with every section that is not of another rule.
fn whole_model() -> Vec<u8> {
    let how = ConformalSettings { scheme: ConformalScheme::Split, per_class: false, seed: 1 };
    let options = Options { calibrate: Some(how), ..Options::default() };
    let evidence = all_rows(&small_panel());
    let ladder = Method::Ladder.combiner();
    Model::fit(ladder.as_ref(), &evidence, &options, &Control::default()).expect("rows").to_bytes()
}

fn names(sections: &[Section]) -> Vec<String> {
    sections.iter().map(|section| String::from_utf8(section.name.clone()).expect("ASCII")).collect()
}

#[test]
fn a_file_has_the_sections_that_it_needs_in_the_order_of_their_names() {
    let model = whole_model();
    let [(outer, _), (inner, _)] = &levels(&model)[..] else { panic!("evidence is in the model") };
    assert_eq!(names(outer), ["Panel", "Prior", "Rule-pool", "Settings", "conformal", "evidence"]);
    assert_eq!(names(inner), ["Confusion", "Counts", "Panel", "Tally", "Unlabelled"]);
    let marginals = small_panel().evidence(Level::Marginals).to_bytes();
    assert_eq!(names(&sections_of(&marginals)), ["Confusion", "Counts", "Panel"]);
    let slim = Model::from_bytes(&model).expect("our own bytes").without_evidence().to_bytes();
    assert_eq!(names(&sections_of(&slim)), ["Panel", "Prior", "Rule-pool", "Settings", "conformal"]);
    // The evidence in a model is the payload of an evidence file.
    let evidence = Model::from_bytes(&model).expect("our own bytes").evidence().expect("whole").to_bytes();
    assert_eq!(sections_of(&evidence), *inner);
    for (sections, remake) in levels(&model) {
        assert_eq!(remake(&sections), model);
    }
}

#[test]
fn an_unknown_section_with_a_capital_is_refused_and_named() {
    let model = whole_model();
    for (sections, remake) in levels(&model) {
        let mut more = sections.clone();
        more.insert(3, Section::new("Signature", "of a later spocc"));
        more.sort_by(|a, b| a.name.cmp(&b.name));
        let error = model_error(&remake(&more));
        assert_eq!(error, Error::UnknownSection { name: "Signature".to_owned() });
        assert_eq!(
            error.to_string(),
            "file section `Signature`: expected one that this spocc knows, found one that it must not skip (written by \
             a newer spocc)"
        );
    }
    // A rule of a later method is such a section, in place of a rule that is known.
    let mut sections = sections_of(&model);
    sections[2].name = b"Rule-later".to_vec();
    let error = model_error(&with_sections(&model, &sections));
    assert_eq!(error, Error::UnknownSection { name: "Rule-later".to_owned() });
}

#[test]
fn any_other_unknown_section_is_skipped_and_not_written_again() {
    let model = whole_model();
    let longest = "z".repeat(32);
    for (sections, remake) in levels(&model) {
        for name in ["a", "conformal-2", "versions", "z9", &longest] {
            let mut more = sections.clone();
            more.push(Section::new(name, "\x03of a later spocc"));
            more.sort_by(|a, b| a.name.cmp(&b.name));
            let file = remake(&more);
            assert!(file.len() > model.len());
            assert_eq!(Model::from_bytes(&file).expect("only skipped").to_bytes(), model, "{name}");
        }
    }
    let tally = all_rows(&small_panel()).to_bytes();
    let mut more = sections_of(&tally);
    more.push(Section::new("versions", []));
    let read = Evidence::from_bytes(&with_sections(&tally, &more)).expect("only skipped");
    assert_eq!(read.to_bytes(), tally);
}

#[test]
fn very_many_unknown_sections_are_skipped() {
    let model = whole_model();
    let mut sections = sections_of(&model);
    sections.extend((0..200_000).map(|number| Section::new(format!("x{number:06}"), [])));
    let read = Model::from_bytes(&with_sections(&model, &sections)).expect("only skipped");
    assert_eq!(read.to_bytes(), model);
}

#[test]
fn sections_in_sections_are_not_descended_into() {
    let model = whole_model();
    let empty = Section::new("evidence", []);
    let size = empty.with_length(0).len() as u64;
    let deep: Vec<u8> = (0..100_000).rev().flat_map(|depth| empty.with_length(depth * size)).collect();
    // In evidence it is an unknown section like any other; as the evidence itself it lacks all that evidence needs.
    let [_, (inner, remake)] = &levels(&model)[..] else { panic!("evidence is in the model") };
    let more = [&inner[..], &[Section::new("evidence", &deep)]].concat();
    assert_eq!(Model::from_bytes(&remake(&more)).expect("only skipped").to_bytes(), model);
    let error = model_error(&remake(&Section::split(&deep)));
    assert_eq!(error.to_string(), "file content: expected every section it needs, found no `Panel`");
}

#[test]
fn a_missing_section_is_named_unless_it_may_be_absent() {
    let model = whole_model();
    for (level, (sections, remake)) in levels(&model).into_iter().enumerate() {
        for at in 0..sections.len() {
            let mut fewer = sections.clone();
            let name = String::from_utf8(fewer.remove(at).name).expect("ASCII");
            match (level, name.as_str(), Model::from_bytes(&remake(&fewer))) {
                (0, "evidence", Ok(read)) => assert!(read.evidence().is_none()),
                (0, "conformal", Ok(read)) => assert!(read.calibration().is_none()),
                (1, "Unlabelled", Ok(read)) => {
                    assert_eq!(read.evidence().map(Evidence::n_unlabelled), Some(0.0));
                }
                (_, _, Ok(_)) => panic!("{name} was not missed"),
                (0, "Rule-pool", Err(error)) => {
                    assert_eq!(error.to_string(), "file content: expected one section with a rule, found 0");
                }
                (1, "Tally", Err(error)) => {
                    let expected = "expected rows without truth beside a tally, found no tally";
                    assert_eq!(error.to_string(), format!("file content: {expected}"));
                }
                (_, _, Err(error)) => assert_eq!(
                    error.to_string(),
                    format!("file content: expected every section it needs, found no `{name}`")
                ),
            }
        }
    }
    assert!(matches!(model_error(&with_sections(&model, &[])), Error::Inconsistent { .. }));
}

#[test]
fn two_rules_are_refused() {
    let mut sections = sections_of(&whole_model());
    let vote =
        sections_of(&Method::Majority.combiner().fit(&small_panel().tally()).expect("rows").to_bytes());
    sections.insert(3, vote.into_iter().find(|section| section.name == b"Rule-vote").expect("a rule"));
    let error = model_error(&with_sections(&whole_model(), &sections));
    assert_eq!(error.to_string(), "file content: expected one section with a rule, found 2");
}

#[test]
fn a_method_of_a_later_spocc_is_named() {
    let model = whole_model();
    let mut sections = sections_of(&model);
    let settings = &mut sections[3].content;
    assert_eq!(settings[..7], *b"\x06ladder");
    settings[1..7].copy_from_slice(b"mace-2");
    let error = model_error(&with_sections(&model, &sections)).to_string();
    let expected = "expected a method that this spocc knows, found `mace-2` (written by a newer spocc)";
    assert_eq!(error, format!("file content: {expected}"));
}

#[test]
fn repeated_and_reordered_sections_are_refused() {
    let model = whole_model();
    for (sections, remake) in levels(&model) {
        for at in 0..sections.len() {
            let mut twice = sections.clone();
            twice.insert(at, sections[at].clone());
            let name = String::from_utf8(sections[at].name.clone()).expect("ASCII");
            assert_eq!(
                model_error(&remake(&twice)).to_string(),
                format!(
                    "file content: expected sections with ascending names, found `{name}` after `{name}`"
                )
            );
            for other in at + 1..sections.len() {
                let mut swapped = sections.clone();
                swapped.swap(at, other);
                let error = model_error(&remake(&swapped)).to_string();
                assert!(error.contains("sections with ascending names"), "{error}");
            }
        }
    }
}

#[test]
fn names_that_are_none_are_refused() {
    let model = whole_model();
    let long = "x".repeat(33);
    let longest = "x".repeat(255);
    let bad: [&[u8]; 9] = [
        b"",
        long.as_bytes(),
        longest.as_bytes(),
        b"9lives",
        b"-x",
        b"two words",
        b"x\0",
        b"caf\xc3\xa9",
        b"\xff\xfe",
    ];
    for (sections, remake) in levels(&model) {
        for name in bad {
            for at in 0..=sections.len() {
                let mut more = sections.clone();
                more.insert(at, Section::new(name, "x"));
                let error = model_error(&remake(&more)).to_string();
                let expected = "file content: expected a section name of 1 to 32 letters, digits and hyphens";
                assert!(error.starts_with(expected) && error.len() < 250 && error.is_ascii(), "{error}");
            }
        }
    }
}

#[test]
fn every_other_length_of_a_section_is_refused() {
    let model = whole_model();
    let (panel, far) = (small_panel(), [1 << 20, 1 << 32, 1 << 63, u64::MAX - 8, u64::MAX]);
    for file in [model, all_rows(&panel).to_bytes(), all_rows(&sparse_panel()).to_bytes()] {
        let sections = sections_of(&file);
        for (at, section) in sections.iter().enumerate() {
            let own = section.content.len() as u64;
            for length in (0..2 * file.len() as u64).chain(far).filter(|length| *length != own) {
                let [before, after] = [&sections[..at], &sections[at + 1..]].map(Section::join);
                let bytes = [&file[..HEADER], &before, &section.with_length(length), &after].concat();
                let bytes = resealed(&bytes);
                let refused = Model::from_bytes(&bytes).is_err() && Evidence::from_bytes(&bytes).is_err();
                assert!(refused, "section {at} of {own} bytes as one of {length}");
            }
        }
    }
    let tally = sections_of(&all_rows(&panel).to_bytes());
    let bytes = [&all_rows(&panel).to_bytes()[..HEADER], &tally[0].with_length(u64::MAX)].concat();
    let error = evidence_error(&resealed(&bytes)).to_string();
    let found = format!("`Confusion` of {} bytes where {} are left", u64::MAX, tally[0].content.len());
    assert_eq!(error, format!("file content: expected sections that end where the file does, found {found}"));
}

/// A payload cut at any byte, with length and checksum that agree, is whole only after a section that may be the last.
#[test]
fn a_payload_cut_anywhere_is_refused_unless_what_is_left_is_whole() {
    let model = whole_model();
    let mut whole = Vec::new();
    for length in 0..model.len() - HEADER {
        match Model::from_bytes(&resealed(&model[..HEADER + length])) {
            Ok(read) => whole.push((read.calibration().is_some(), read.evidence().is_some())),
            Err(error) => assert!(matches!(error, Error::Inconsistent { .. }), "{error}"),
        }
    }
    assert_eq!(whole, [(false, false), (true, false)], "after `Settings` and after `conformal`");
}
