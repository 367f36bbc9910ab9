//! Parquet files.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use spocc_fuzz::table;

fuzz_target!(|data: &[u8]| table::exercise(data));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, _seed: u32| {
    table::mutate(data, size, max_size, (4, b"PAR1"))
});
