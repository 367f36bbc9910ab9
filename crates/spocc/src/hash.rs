//! One fixed 64-bit hash for folds, ties and the tally: no state from the process, the same on every machine.

/// Mixes a word into a hash (multiply and fold, as in wyhash).
#[inline]
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ 0x9e37_79b9_7f4a_7c15) * u128::from(word ^ 0xd6e8_feb8_6659_fd93);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Hash of a sequence of ids.
#[inline]
pub(crate) fn ids(seed: u64, ids: &[u16]) -> u64 {
    let mut chunks = ids.chunks_exact(4);
    let mut hash = mix(seed, ids.len() as u64);
    for four in &mut chunks {
        let word = four.iter().fold(0u64, |word, id| (word << 16) | u64::from(*id));
        hash = mix(hash, word);
    }
    let word = chunks.remainder().iter().fold(1u64, |word, id| (word << 16) | u64::from(*id));
    mix(hash, word)
}

/// A number below `n` drawn by a hash.
pub(crate) fn draw(hash: u64, n: u64) -> u64 {
    // One more round of mixing spreads the hash over its low bits.
    mix(hash, 0x71e5) % n
}
