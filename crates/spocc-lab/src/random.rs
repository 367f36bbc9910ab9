//! Random draws: every purpose has its own stream, so that results do not depend on the order of work.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// A generator for one purpose, selected by a path of numbers.
pub(crate) fn stream(seed: u64, path: &[u64]) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(hash(seed, path))
}

/// A number from 0 to 1 that is a function of the seed and the path.
pub(crate) fn uniform(seed: u64, path: &[u64]) -> f64 {
    (hash(seed, path) >> 11) as f64 / (1u64 << 53) as f64
}

fn hash(seed: u64, path: &[u64]) -> u64 {
    path.iter().fold(mix(seed), |hash, &step| mix(hash ^ mix(step)))
}

/// The finaliser of splitmix64.
pub(crate) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}
