//! The commands, one file each.

mod demo;
mod fit;
mod predict;

pub(crate) use demo::demo;
pub(crate) use fit::fit;
pub(crate) use predict::predict;

/// Lets the engine use so many threads.
fn limit_threads(threads: Option<u16>) {
    if let Some(threads) = threads {
        // Fails only if threads run already, and nothing has been computed yet.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global();
    }
}
