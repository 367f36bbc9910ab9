//! Text tables: CSV and the like, plain, gzip or zstd.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spocc_fuzz::table;

fuzz_target!(|data: &[u8]| table::exercise(data));
