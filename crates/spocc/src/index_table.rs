//! Indices of distinct values that are stored elsewhere, found by hash, in bounded time whatever the values are.
//!
//! The first hash is fixed, so that the same values take the same time everywhere. Values can be chosen so that their fixed
//! hashes collide: once searches have become long, all values are hashed anew with a random key, as in the standard map.
//! Which index a value has does not depend on hashes.

use std::hash::{BuildHasher, Hash, RandomState};

/// A hash table with open addressing and linear probing.
#[derive(Debug, Default)]
pub(crate) struct IndexTable {
    /// None or a power of two of them, at most half of them in use.
    slots: Vec<Slot>,
    len: usize,
    n_searches: u64,
    /// The effort of all searches and moves: slots passed over, where reading an unequal value counts as many.
    effort: u64,
    /// The random key, once the fixed hash has failed.
    random: Option<RandomState>,
}

/// The upper half of the hash of a value, of which the uppermost bits are the slot that is searched first, and its index.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    index: u32,
}

impl Slot {
    /// No value has this index.
    const EMPTY: Self = Self { hash: 0, index: u32::MAX };

    fn is_empty(self) -> bool {
        self.index == Self::EMPTY.index
    }
}

impl IndexTable {
    const MIN_SLOTS: usize = 16;
    /// Reading another value, which is rarely in cache, takes as long as passing over that many slots.
    const READ: u64 = 64;
    /// Mean effort of a search above which the fixed hash has failed; half full, a table of random hashes has 1.5 at most.
    const MAX_EFFORT: u64 = 8;
    /// Effort above which the mean is known.
    const MIN_EFFORT: u64 = 1 << 12;

    /// The index of the value that equals `value`; if there is none it is inserted with the index `new`, which is below
    /// `u32::MAX`.
    ///
    /// `at` is the value of an index, and `hash` the fixed hash of the value.
    #[inline]
    pub(crate) fn find_or_insert<V: Copy + Eq + Hash>(
        &mut self,
        value: V,
        new: u32,
        hash: impl FnOnce(V) -> u64,
        at: impl Fn(u32) -> V,
    ) -> u32 {
        if 2 * self.len >= self.slots.len() {
            self.grow();
        }
        if self.effort > Self::MAX_EFFORT * self.n_searches + Self::MIN_EFFORT && self.random.is_none() {
            self.randomise(&at);
        }
        let hash = self.random.as_ref().map_or_else(|| hash(value), |random| random.hash_one(value));
        let hash = (hash >> 32) as u32;
        self.n_searches += 1;
        let mut place = self.first_place(hash);
        loop {
            let slot = self.slots[place];
            if slot.is_empty() {
                self.slots[place] = Slot { hash, index: new };
                self.len += 1;
                return new;
            }
            if slot.hash == hash {
                if at(slot.index) == value {
                    return slot.index;
                }
                self.effort += Self::READ;
            }
            self.effort += 1;
            place = (place + 1) & (self.slots.len() - 1);
        }
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }

    #[inline]
    fn first_place(&self, hash: u32) -> usize {
        // The number of slots is a power of two.
        ((u64::from(hash) * self.slots.len() as u64) >> 32) as usize
    }

    fn insert(&mut self, slot: Slot) {
        let mut place = self.first_place(slot.hash);
        while !self.slots[place].is_empty() {
            self.effort += 1;
            place = (place + 1) & (self.slots.len() - 1);
        }
        self.slots[place] = slot;
    }

    #[cold]
    fn grow(&mut self) {
        let n_slots = (2 * self.slots.len()).max(Self::MIN_SLOTS);
        let slots = std::mem::replace(&mut self.slots, vec![Slot::EMPTY; n_slots]);
        slots.into_iter().filter(|slot| !slot.is_empty()).for_each(|slot| self.insert(slot));
    }

    /// Hashes every value with a random key.
    #[cold]
    fn randomise<V: Hash>(&mut self, at: impl Fn(u32) -> V) {
        let random = RandomState::new();
        let slots = vec![Slot::EMPTY; self.slots.len()];
        let slots = std::mem::replace(&mut self.slots, slots);
        for Slot { index, .. } in slots.into_iter().filter(|slot| !slot.is_empty()) {
            self.insert(Slot { hash: (random.hash_one(at(index)) >> 32) as u32, index });
        }
        self.random = Some(random);
    }
}

#[cfg(test)]
impl IndexTable {
    /// Whether searches were short: by the fixed hash, or by the random key that took over in time.
    pub(crate) fn is_fast(&self) -> bool {
        // What the fixed hash may take before it has failed, the last search included, and the mean of a random one.
        let of_fixed = 2 * (Self::MAX_EFFORT * self.n_searches + Self::MIN_EFFORT + Self::READ);
        self.effort <= of_fixed + 2 * self.n_searches
    }

    pub(crate) fn is_random(&self) -> bool {
        self.random.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{draw, mix};

    /// Enters every value, and returns the table and the distinct values.
    fn filled(values: impl Iterator<Item = u64>, hash: impl Fn(u64) -> u64) -> (IndexTable, Vec<u64>) {
        let (mut table, mut known) = (IndexTable::default(), Vec::new());
        let mut indices = std::collections::HashMap::new();
        for value in values {
            let new = known.len() as u32;
            let found = table.find_or_insert(value, new, &hash, |at| known[at as usize]);
            assert_eq!(found, *indices.entry(value).or_insert(new));
            if found == new {
                known.push(value);
            }
        }
        (table, known)
    }

    #[test]
    fn values_keep_their_indices() {
        for n in [1, 20, 3_000, 100_000] {
            let (table, known) = filled((0..4 * n).map(|at| draw(at, n)), |value| mix(1, value));
            assert!(table.is_fast() && !table.is_random(), "{n}");
            assert!(known.len() as u64 > n / 2);
        }
    }

    #[test]
    fn searches_are_short_whatever_the_hashes() {
        const N: u64 = 60_000;
        let hashes: [fn(u64) -> u64; 4] = [
            // All equal; the same first slot; a few slots; the last slot of the table, half of the values elsewhere.
            |_| 7,
            |value| value << 32,
            |value| (value % 5) << 61,
            |value| if value % 2 == 0 { u64::MAX } else { mix(1, value) },
        ];
        for (at, hash) in hashes.into_iter().enumerate() {
            // New values, then values that are known.
            let (table, known) = filled((0..N).chain(N - 9..N).cycle().take(3 * N as usize), hash);
            assert!(table.is_fast() && table.is_random(), "{at}: {} for {}", table.effort, table.n_searches);
            assert_eq!(known.len() as u64, N);
        }
    }
}
