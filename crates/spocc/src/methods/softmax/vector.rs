//! Vector arithmetic of the solver, written so that the compiler can use vector instructions.

/// Adds a multiple of one chunk of outputs to another.
#[inline]
pub(super) fn add<const N: usize>(factor: f64, from: &[f64; N], to: &mut [f64; N]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

/// Adds a multiple of one vector to another.
pub(super) fn axpy(factor: f64, from: &[f64], to: &mut [f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

/// The inner product, in four interleaved sums.
pub(super) fn dot(left: &[f64], right: &[f64]) -> f64 {
    let (lefts, left_rest) = left.as_chunks::<4>();
    let (rights, right_rest) = right.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (left, right) in lefts.iter().zip(rights) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }
    let rest: f64 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f64>() + rest
}
