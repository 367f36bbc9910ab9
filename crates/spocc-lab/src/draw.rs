//! Random draws: every purpose has a stream of its own, so that no run depends on another or on the order of work.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// A stream of draws for one purpose, named by a path of words and numbers.
pub(crate) fn stream(seed: u64, path: &[u64]) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(path.iter().fold(mix(seed), |hash, &step| mix(hash ^ mix(step))))
}

/// One number of a hash of where it is needed: the same whenever it is asked for.
pub(crate) fn uniform(seed: u64, path: &[u64]) -> f64 {
    let hash = path.iter().fold(mix(seed), |hash, &step| mix(hash ^ mix(step)));
    (hash >> 11) as f64 / (1u64 << 53) as f64
}

/// The finaliser of splitmix64.
pub(crate) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}
