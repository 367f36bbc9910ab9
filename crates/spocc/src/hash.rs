//! A fixed 64-bit hash for folds, ties and tallies, without state: the same on every machine.

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

/// Hash of a text.
pub(crate) fn text(seed: u64, text: &str) -> u64 {
    text.as_bytes().chunks(8).fold(mix(seed, text.len() as u64), |hash, chunk| {
        mix(hash, chunk.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)))
    })
}

/// A number from 0 to below 1 drawn by a hash.
pub(crate) fn unit(hash: u64) -> f64 {
    (mix(hash, 0x0017) >> 11) as f64 / (1u64 << 53) as f64
}

/// A number below `n` drawn by a hash.
pub(crate) fn draw(hash: u64, n: u64) -> u64 {
    // One more round of mixing spreads the hash over its low bits.
    mix(hash, 0x71e5) % n
}
