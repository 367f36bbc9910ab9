//! Texts and the number of each: short ones are found by a look or two.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::LazyLock,
};

use hashbrown::HashTable;

use crate::cells::word_of;

/// Texts that are found at the first look, at most.
const QUICK: usize = 1 << 10;

/// What hashes begin with and are multiplied by: nobody can know which texts collide.
static SECRET: LazyLock<(u64, u64)> = LazyLock::new(|| {
    let random = RandomState::new();
    (random.hash_one(0), random.hash_one(1) | 1)
});

/// Numbers by text.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    /// The latest short texts, as words, and their numbers; nothing before they are asked for.
    quick: Vec<(u64, u32)>,
    table: HashTable<Entry>,
    texts: Vec<u8>,
    /// Where each text ends.
    ends: Vec<usize>,
}

/// A text that has a number. What is needed to find it is all here: elsewhere is far away in a large dictionary.
#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    /// The how-manieth text it is.
    at: u32,
    number: u32,
}

impl Dictionary {
    /// How many texts it has.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// A text, by the order in which they came.
    pub fn text(&self, at: usize) -> &[u8] {
        &self.texts[at.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[at]]
    }

    /// The texts in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|at| self.text(at))
    }

    /// The number of a text.
    pub fn get(&self, wanted: &[u8]) -> Option<u32> {
        match key_of(wanted) {
            word if word & LONG == 0 => self.get_entry(word),
            key => {
                let found = |entry: &Entry| entry.key == key && self.text(entry.at as usize) == wanted;
                self.table.find(mix(SECRET.0, key), found).map(|entry| entry.number)
            }
        }
    }

    /// The number of a text of less than eight bytes, given as the word that [`word_of`] makes of it.
    #[inline]
    pub(super) fn get_word(&mut self, word: u64) -> Option<u32> {
        let slot = (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize % QUICK;
        match self.quick.get(slot) {
            Some(&(known, number)) if known == word => Some(number),
            _ => self.get_slowly(word, slot),
        }
    }

    #[inline(never)]
    fn get_slowly(&mut self, word: u64, slot: usize) -> Option<u32> {
        let number = self.get_entry(word)?;
        // No text has the word that all bits make: its length would be 255.
        self.quick.resize(QUICK, (u64::MAX, 0));
        self.quick[slot] = (word, number);
        Some(number)
    }

    #[inline]
    fn get_entry(&self, word: u64) -> Option<u32> {
        self.table.find(mix(SECRET.0, word), |entry| entry.key == word).map(|entry| entry.number)
    }

    /// The number of a text, at the first look if it is short.
    #[cfg(feature = "arrow")]
    #[inline]
    pub(super) fn find(&mut self, text: &[u8]) -> Option<u32> {
        match key_of(text) {
            word if word & LONG == 0 => self.get_word(word),
            _ => self.get(text),
        }
    }

    /// Gives a new text a number.
    pub fn insert(&mut self, new: &[u8], number: u32) {
        let (key, at) = (key_of(new), self.ends.len() as u32);
        self.texts.extend_from_slice(new);
        self.ends.push(self.texts.len());
        let hash = |entry: &Entry| mix(SECRET.0, entry.key);
        self.table.insert_unique(mix(SECRET.0, key), Entry { key, at, number }, hash);
    }
}

/// Set in keys of texts that are not in them whole.
const LONG: u64 = 1 << 63;

/// A short text as a word, a long one as a hash.
fn key_of(text: &[u8]) -> u64 {
    let (words, rest) = text.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let last = word_of(last, rest.len() as u32);
    if words.is_empty() {
        return last;
    }
    let hash = words.iter().fold(SECRET.0, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    mix(hash, last) | LONG
}

/// Multiplies a word into a hash.
#[inline]
fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word) * u128::from(SECRET.1);
    product as u64 ^ (product >> 64) as u64
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
