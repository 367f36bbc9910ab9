//! Mutations of model and tally files that keep length, checksum and sections true, so that they reach the content.
//!
//! The frame is that of `docs/model-format.md`: a header of 28 bytes, then sections, and sections in the section
//! `evidence` of a model.

use libfuzzer_sys::fuzzer_mutate;

/// Mark, version, kind, length, checksum.
const HEADER: usize = 28;

/// Bytes by which one mutation may lengthen a section.
const GROWTH: usize = 64;

/// Numbers at the ends of their ranges: the largest of ten bytes, not a number, infinities, negative zero.
const NUMBERS: [&[u8]; 6] = [
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
    &[0, 0, 0, 0, 0, 0, 0xf8, 0x7f],
    &[0, 0, 0, 0, 0, 0, 0xf0, 0x7f],
    &[0, 0, 0, 0, 0, 0, 0xf0, 0xff],
    &[0, 0, 0, 0, 0, 0, 0, 0x80],
    &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xef, 0x7f],
];

#[derive(Clone)]
struct Section {
    name: Vec<u8>,
    content: Vec<u8>,
}

/// The sections of a payload, if it is made of these.
fn split(mut payload: &[u8]) -> Option<Vec<Section>> {
    let mut sections = Vec::new();
    while let Some((&length, rest)) = payload.split_first() {
        let (name, rest) = rest.split_at_checked(length.into())?;
        let (length, rest) = rest.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (content, rest) = rest.split_at_checked(length)?;
        sections.push(Section { name: name.to_vec(), content: content.to_vec() });
        payload = rest;
    }
    Some(sections)
}

fn join(sections: &[Section]) -> Vec<u8> {
    let mut payload = Vec::new();
    for Section { name, content } in sections {
        payload.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
        payload.extend(name);
        payload.extend((content.len() as u64).to_le_bytes());
        payload.extend(content);
    }
    payload
}

/// A small generator, since a mutation must follow from its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// Mutates a file in place and returns its length: mostly the content of one section, sometimes the list of sections,
/// seldom any byte.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = Random(seed.into());
    let sections = data[..size].get(HEADER..).and_then(split).filter(|found| !found.is_empty());
    let (Some(mut sections), false) = (sections, random.below(32) == 0) else {
        let size = fuzzer_mutate(data, size, max_size);
        // Version 2 has no sections.
        let is_sealed = random.below(8) > 0;
        return if is_sealed { seal(data, size) } else { size };
    };
    mutate_sections(&mut sections, &mut random);
    replace(data, &join(&sections), size, max_size)
}

/// A file with a section of another one, in place of that of the same name or at the place of its name.
pub fn cross(one: &[u8], other: &[u8], out: &mut [u8], seed: u32) -> usize {
    let mut random = Random(seed.into());
    let size = one.len().min(out.len());
    out[..size].copy_from_slice(&one[..size]);
    let sections = |file: &[u8]| file.get(HEADER..).and_then(split).filter(|found| !found.is_empty());
    let (Some(mut kept), Some(donor)) = (sections(one), sections(other)) else { return size };
    for _ in 0..=random.below(2) {
        let graft = donor[random.below(donor.len())].clone();
        match kept.binary_search_by(|section| section.name.cmp(&graft.name)) {
            Ok(at) => kept[at] = graft,
            Err(at) => kept.insert(at, graft),
        }
    }
    let max_size = out.len();
    replace(out, &join(&kept), size, max_size)
}

fn mutate_sections(sections: &mut Vec<Section>, random: &mut Random) {
    let at = random.below(sections.len());
    match random.below(40) {
        0 => drop(sections.remove(at)),
        1 => sections.swap(at, 0),
        2 => sections[at].content = sections[0].content.clone(),
        3 => mutate_bytes(&mut sections[at].name),
        _ => {
            let section = &mut sections[at];
            let inner = (section.name == b"evidence").then(|| split(&section.content)).flatten();
            match inner.filter(|inner| !inner.is_empty()) {
                Some(mut inner) => {
                    mutate_sections(&mut inner, random);
                    section.content = join(&inner);
                }
                None if random.below(8) == 0 => insert_number(&mut section.content, random),
                None => mutate_bytes(&mut section.content),
            }
        }
    }
}

fn mutate_bytes(bytes: &mut Vec<u8>) {
    let (size, room) = (bytes.len(), bytes.len() + GROWTH);
    bytes.resize(room, 0);
    let size = fuzzer_mutate(bytes, size, room);
    bytes.truncate(size);
}

/// Overwrites bytes with a number at the end of its range.
fn insert_number(bytes: &mut Vec<u8>, random: &mut Random) {
    let number = NUMBERS[random.below(NUMBERS.len())];
    let at = random.below(bytes.len());
    let replaced = if number.len() == 8 { 8 } else { 1 };
    let end = (at + replaced).min(bytes.len());
    bytes.splice(at..end, number.iter().copied());
}

/// Puts a payload behind the header, if it fits.
fn replace(data: &mut [u8], payload: &[u8], size: usize, max_size: usize) -> usize {
    let new_size = HEADER + payload.len();
    if new_size > max_size.min(data.len()) {
        return seal(data, size);
    }
    data[HEADER..new_size].copy_from_slice(payload);
    seal(data, new_size)
}

/// Writes length and checksum of a file anew.
fn seal(data: &mut [u8], size: usize) -> usize {
    if size >= HEADER {
        data[16..24].copy_from_slice(&((size - HEADER) as u64).to_le_bytes());
        let mut hasher = crc32fast::Hasher::new();
        // The checksum of version 2 begins with the kind.
        hasher.update(&data[if data[8] == 2 { 12 } else { 8 }..24]);
        hasher.update(&data[HEADER..size]);
        data[24..HEADER].copy_from_slice(&hasher.finalize().to_le_bytes());
    }
    size
}
