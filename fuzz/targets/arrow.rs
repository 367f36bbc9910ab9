//! Arrow files and streams.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use spocc_fuzz::table;

fuzz_target!(|data: &[u8]| table::exercise(data));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, _seed: u32| {
    let is_file = data[..size].starts_with(b"ARROW1");
    let marks: (usize, &[u8]) = if is_file { (8, b"ARROW1") } else { (4, b"") };
    table::mutate(data, size, max_size, marks)
});
