//! Texts and the number of each: short ones are found by a look or two.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::LazyLock,
};

use hashbrown::HashTable;

use crate::table::cells::word_of;

/// Texts that are found at the first look, at most.
const QUICK: usize = 1 << 8;

/// What hashes begin with and are multiplied by: nobody can know which texts collide.
static SECRET: LazyLock<(u64, u64)> = LazyLock::new(|| {
    let random = RandomState::new();
    (random.hash_one(0), random.hash_one(1) | 1)
});

/// Numbers by text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dictionary {
    /// The latest short texts, as numbers, and what they mean; nothing before they are asked for.
    quick: Vec<(u64, u32)>,
    /// Places in `entries`.
    table: HashTable<u32>,
    /// Where each text ends, and its number.
    entries: Vec<(usize, u32)>,
    texts: Vec<u8>,
}

impl Dictionary {
    /// How many texts it has.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// A text, by the order in which they came.
    pub(crate) fn text(&self, at: usize) -> &[u8] {
        text(&self.entries, &self.texts, at)
    }

    /// The texts in the order in which they came.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|at| self.text(at))
    }

    /// The number of a text.
    pub(crate) fn get(&self, wanted: &[u8]) -> Option<u32> {
        let found = |at: &u32| self.text(*at as usize) == wanted;
        self.table.find(hash(wanted), found).map(|&at| self.entries[at as usize].1)
    }

    /// The number of a text of less than eight bytes, given as the number that [`word_of`] makes of it.
    #[inline]
    pub(super) fn get_word(&mut self, word: u64) -> Option<u32> {
        let slot = (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % QUICK;
        match self.quick.get(slot) {
            Some(&(known, number)) if known == word => Some(number),
            _ => self.get_slowly(word, slot),
        }
    }

    #[inline(never)]
    fn get_slowly(&mut self, word: u64, slot: usize) -> Option<u32> {
        let number = self.get(&word.to_le_bytes()[..(word >> 56) as usize])?;
        // No text has the word that all bits make: its length would be 255.
        self.quick.resize(QUICK, (u64::MAX, 0));
        self.quick[slot] = (word, number);
        Some(number)
    }

    /// The number of a text, at the first look if it is short.
    #[cfg(feature = "arrow")]
    #[inline]
    pub(super) fn find(&mut self, text: &[u8]) -> Option<u32> {
        let mut bytes = [0; 8];
        if text.len() >= bytes.len() {
            return self.get(text);
        }
        bytes[..text.len()].copy_from_slice(text);
        self.get_word(word_of(bytes, text.len() as u32))
    }

    /// Gives a new text a number.
    pub(crate) fn insert(&mut self, new: &[u8], number: u32) {
        let at = self.entries.len() as u32;
        self.texts.extend_from_slice(new);
        self.entries.push((self.texts.len(), number));
        let Self { table, entries, texts, .. } = self;
        table.insert_unique(hash(new), at, |&at| hash(text(entries, texts, at as usize)));
    }
}

fn text<'a>(entries: &[(usize, u32)], texts: &'a [u8], at: usize) -> &'a [u8] {
    let start = at.checked_sub(1).map_or(0, |before| entries[before].0);
    &texts[start..entries[at].0]
}

/// Multiplies eight bytes at a time into one number.
fn hash(bytes: &[u8]) -> u64 {
    let (seed, factor) = *SECRET;
    let mix = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word) * u128::from(factor);
        product as u64 ^ (product >> 64) as u64
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(seed, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(hash, word_of(last, rest.len() as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_keeps_its_number() {
        let mut dictionary = Dictionary::default();
        // Some differ in nothing but how many zeros follow.
        let texts: Vec<Vec<u8>> = (0..3000usize)
            .map(|at| [at.to_string().as_bytes(), &b"\0\0\0\0\0\0\0\0\0"[..at % 10]].concat())
            .chain([Vec::new(), b"\0".to_vec()])
            .collect();
        for (text, number) in texts.iter().zip(7..) {
            assert_eq!(dictionary.get(text), None);
            dictionary.insert(text, number);
        }
        for (at, (text, number)) in texts.iter().zip(7..).enumerate() {
            assert_eq!((dictionary.get(text), dictionary.text(at)), (Some(number), text.as_slice()));
            if text.len() < 8 {
                let mut bytes = [b'?'; 8];
                bytes[..text.len()].copy_from_slice(text);
                assert_eq!(dictionary.get_word(word_of(bytes, text.len() as u32)), Some(number));
            }
        }
        assert_eq!((dictionary.len(), dictionary.iter().count()), (3002, 3002));
    }
}
