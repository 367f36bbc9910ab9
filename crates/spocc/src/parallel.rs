//! Parallel loops over ranges. The pieces and their order do not depend on the number of threads.

use std::ops::Range;

/// Applies `work` to consecutive ranges of at most `step` and returns the results in order.
pub(crate) fn map_ranges<T: Send>(n: usize, step: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let step = step.max(1);
    let range = |piece: usize| piece * step..((piece + 1) * step).min(n);
    map(n.div_ceil(step), |piece| work(range(piece)))
}

/// Applies `work` to 0..n and returns the results in order.
#[cfg(feature = "parallel")]
pub(crate) fn map<T: Send>(n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    use rayon::prelude::*;
    if n <= 1 {
        return (0..n).map(work).collect();
    }
    (0..n).into_par_iter().map(&work).collect()
}

/// Applies `work` to 0..n and returns the results in order.
#[cfg(not(feature = "parallel"))]
pub(crate) fn map<T: Send>(n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    (0..n).map(work).collect()
}

/// Calls `work(start, piece)` to fill pieces of at most `step` elements; a single piece on the calling thread.
#[cfg(feature = "parallel")]
pub(crate) fn fill<T: Send>(all: &mut [T], step: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    use rayon::prelude::*;
    if all.len() <= step {
        return all.chunks_mut(step).for_each(|piece| work(0, piece));
    }
    all.par_chunks_mut(step).enumerate().for_each(|(at, piece)| work(at * step, piece));
}

/// Calls `work(start, piece)` to fill pieces of at most `step` elements.
#[cfg(not(feature = "parallel"))]
pub(crate) fn fill<T: Send>(all: &mut [T], step: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    all.chunks_mut(step).enumerate().for_each(|(at, piece)| work(at * step, piece));
}

/// Number of pieces for work that needs a large table per piece.
#[cfg(feature = "parallel")]
pub(crate) fn threads() -> usize {
    rayon::current_num_threads()
}

/// Number of pieces for work that needs a large table per piece.
#[cfg(not(feature = "parallel"))]
pub(crate) fn threads() -> usize {
    1
}
