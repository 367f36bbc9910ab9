//! What the fuzz targets share: how files are mutated, and what is done with those that are read.
//!
//! A case fails by a panic, an overflow, a failed assertion, a time limit, or more than [`MEMORY`] bytes.

pub mod evidence;
pub mod frame;
pub mod model;
pub mod table;

use std::alloc::System;

use cap::Cap;

/// The bytes that a case may allocate.
pub const MEMORY: usize = 256 << 20;

/// The memory limit that callers set, below [`MEMORY`].
const LIMIT: u64 = 64 << 20;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, MEMORY);

/// Runs the parallel loops of the engine on the fuzzer's thread: a case is shorter than waking another one.
///
/// # Panics
///
/// If a thread pool exists already.
pub fn use_this_thread() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("no thread pool before this one");
}

fn control() -> spocc::Control<'static> {
    spocc::Control::default().with_memory_limit(LIMIT)
}
