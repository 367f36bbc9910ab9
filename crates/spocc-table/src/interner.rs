//! Texts and the number of each. A text of less than eight bytes is its own hash key, so that most lookups compare
//! two integers and touch one cache line.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::LazyLock,
};

use hashbrown::HashTable;

use crate::text_cells::short_key;

/// Slots of the cache of short texts.
const CACHE_SLOTS: usize = 1 << 10;

/// Random start and factor of the hash, so that no file can be made of texts that collide.
static SEED: LazyLock<(u64, u64)> = LazyLock::new(|| {
    let random = RandomState::new();
    (random.hash_one(0), random.hash_one(1) | 1)
});

/// A map from texts to numbers that stores each text once.
#[derive(Clone, Debug, Default)]
pub struct TextInterner {
    /// Direct-mapped cache of short texts and their numbers; empty until the first lookup.
    cache: Vec<(u64, u32)>,
    table: HashTable<InternedText>,
    texts: Vec<u8>,
    /// The end of each text in `texts`.
    ends: Vec<usize>,
}

/// An entry of the hash table. It holds the key, so that a lookup rarely reads the text itself.
#[derive(Clone, Copy, Debug)]
struct InternedText {
    key: u64,
    /// Index of the text, in order of insertion.
    index: u32,
    number: u32,
}

impl TextInterner {
    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes that the texts take in memory.
    pub fn n_bytes(&self) -> usize {
        let entry = size_of::<InternedText>() + 1;
        self.texts.capacity() + self.ends.capacity() * size_of::<usize>() + self.table.capacity() * entry
    }

    /// A text by its index in order of insertion.
    pub fn text(&self, index: usize) -> &[u8] {
        &self.texts[index.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[index]]
    }

    /// The texts in order of insertion.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.text(index))
    }

    /// The number of a text.
    pub fn get(&self, wanted: &[u8]) -> Option<u32> {
        match key_of(wanted) {
            word if word & LONG == 0 => self.get_entry(word),
            key => {
                let found =
                    |entry: &InternedText| entry.key == key && self.text(entry.index as usize) == wanted;
                self.table.find(mix(SEED.0, key), found).map(|entry| entry.number)
            }
        }
    }

    /// The number of a text of less than eight bytes, given as the key that [`short_key`] makes of it.
    #[inline]
    pub(super) fn get_short(&mut self, word: u64) -> Option<u32> {
        let slot = (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize % CACHE_SLOTS;
        match self.cache.get(slot) {
            Some(&(known, number)) if known == word => Some(number),
            _ => self.get_uncached(word, slot),
        }
    }

    #[inline(never)]
    fn get_uncached(&mut self, word: u64, slot: usize) -> Option<u32> {
        let number = self.get_entry(word)?;
        // No short text has the key `u64::MAX`: its length would be 255.
        self.cache.resize(CACHE_SLOTS, (u64::MAX, 0));
        self.cache[slot] = (word, number);
        Some(number)
    }

    #[inline]
    fn get_entry(&self, word: u64) -> Option<u32> {
        self.table.find(mix(SEED.0, word), |entry| entry.key == word).map(|entry| entry.number)
    }

    /// The number of a text, through the cache if it is short.
    #[inline]
    pub fn find(&mut self, text: &[u8]) -> Option<u32> {
        match key_of(text) {
            word if word & LONG == 0 => self.get_short(word),
            _ => self.get(text),
        }
    }

    /// Inserts a new text with a number.
    pub fn insert(&mut self, new: &[u8], number: u32) {
        let (key, index) = (key_of(new), self.ends.len() as u32);
        self.texts.extend_from_slice(new);
        self.ends.push(self.texts.len());
        let hash = |entry: &InternedText| mix(SEED.0, entry.key);
        self.table.insert_unique(mix(SEED.0, key), InternedText { key, index, number }, hash);
    }
}

/// Set in keys that are hashes of a long text.
const LONG: u64 = 1 << 63;

/// The key of a text: the text itself if it is short, else a hash.
fn key_of(text: &[u8]) -> u64 {
    let (words, rest) = text.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let last = short_key(last, rest.len() as u32);
    if words.is_empty() {
        return last;
    }
    let hash = words.iter().fold(SEED.0, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    mix(hash, last) | LONG
}

/// Multiplies a word into a hash and folds the product.
#[inline]
fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word) * u128::from(SEED.1);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_keeps_its_number() {
        let mut interner = TextInterner::default();
        // Some differ in nothing but how many zeros follow.
        let texts: Vec<Vec<u8>> = (0..3000usize)
            .map(|at| [at.to_string().as_bytes(), &b"\0\0\0\0\0\0\0\0\0"[..at % 10]].concat())
            .chain([Vec::new(), b"\0".to_vec()])
            .collect();
        for (text, number) in texts.iter().zip(7..) {
            assert_eq!(interner.get(text), None);
            interner.insert(text, number);
        }
        for (at, (text, number)) in texts.iter().zip(7..).enumerate() {
            assert_eq!((interner.get(text), interner.text(at)), (Some(number), text.as_slice()));
            if text.len() < 8 {
                let mut bytes = [b'?'; 8];
                bytes[..text.len()].copy_from_slice(text);
                assert_eq!(interner.get_short(short_key(bytes, text.len() as u32)), Some(number));
            }
        }
        assert_eq!((interner.len(), interner.iter().count()), (3002, 3002));
    }
}
