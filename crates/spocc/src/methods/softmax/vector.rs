//! Vector arithmetic of the solver, written so that the compiler can use vector instructions.

/// Adds a multiple of one chunk of outputs to another.
#[inline]
pub(super) fn add<const N: usize>(factor: f64, from: &[f64; N], to: &mut [f64; N]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

/// The exponentials of numbers that are at most zero, to within two units in the last place, and e^-200 below -200.
///
/// `x = k ln 2 + r`, where adding a large number rounds to k and leaves it in the last bits; then the Taylor series of
/// `e^r`.
#[inline]
pub(super) fn exponentials<const N: usize>(x: [f64; N]) -> [f64; N] {
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const LN_2: [f64; 2] = [0.693_145_751_953_125, 1.428_606_820_309_417_2e-6];
    const TAYLOR: [f64; 13] = {
        // From 1 / 13! to 1 / 1!.
        let mut taylor = [1.0; 13];
        let mut k = 12;
        while k > 0 {
            k -= 1;
            taylor[k] = taylor[k + 1] / (13 - k) as f64;
        }
        taylor
    };
    x.map(|x| {
        let x = if x > -200.0 { x } else { -200.0 };
        let rounded = x * std::f64::consts::LOG2_E + ROUND;
        let k = rounded - ROUND;
        let r = x - k * LN_2[0] - k * LN_2[1];
        let series = TAYLOR.iter().fold(0.0, |sum, term| sum * r + term) * r + 1.0;
        series * f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52)
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_exact_to_two_units_in_the_last_place() {
        let numbers = (0..200_000).map(|i| -f64::from(i) / 1_003.7);
        for x in numbers.chain([-0.0, -1e-300, -std::f64::consts::LN_2]) {
            let [found] = exponentials([x]);
            assert!((found - x.exp()).abs() <= 2.0 * f64::EPSILON * x.exp(), "{x}: {found}");
        }
        let [far, infinite] = exponentials([-1e9, f64::NEG_INFINITY]);
        assert!(far < 1e-80 && infinite < 1e-80 && far > 0.0);
    }
}
