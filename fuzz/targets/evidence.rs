//! Tally files: refused, or usable in every way.
#![no_main]

use libfuzzer_sys::{fuzz_crossover, fuzz_mutator, fuzz_target};
use spocc::Evidence;
use spocc_fuzz::{evidence, frame};

fuzz_target!(init: spocc_fuzz::use_this_thread(), |data: &[u8]| {
    if let Ok(found) = Evidence::from_bytes(data) {
        evidence::exercise(&found, crc32fast::hash(data) as usize);
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    frame::mutate(data, size, max_size, seed)
});

fuzz_crossover!(|one: &[u8], other: &[u8], out: &mut [u8], seed: u32| {
    frame::cross(one, other, out, seed)
});
