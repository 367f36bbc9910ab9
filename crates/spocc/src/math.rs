//! Elementary functions that give the same bits on every machine.
//!
//! Those of the standard library call the system's, which may differ in the last digit from machine to machine, so that
//! the same evidence would give different model files. `clippy.toml` forbids them.

pub(crate) use libm::{exp, lgamma as ln_gamma, log as ln, log1p as ln_1p, log2, pow};

/// The exponentials of numbers that are at most zero, to within two units in the last place, and 0 from -708 down. Every
/// step is a loop over all of them, which the compiler turns into vector instructions.
///
/// `x = k ln 2 + r`, where adding a large number rounds to k and leaves it in the last bits; then the Taylor series of
/// `e^r`.
#[inline(always)]
pub(crate) fn exponentials<const N: usize>(numbers: &mut [f64; N]) {
    const LEAST: f64 = -708.0;
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
    let (mut rounded, mut rest, mut series) = ([0.0; N], [0.0; N], [0.0; N]);
    for i in 0..N {
        let x = if numbers[i] > LEAST { numbers[i] } else { LEAST };
        rounded[i] = x * std::f64::consts::LOG2_E + ROUND;
        let k = rounded[i] - ROUND;
        rest[i] = x - k * LN_2[0] - k * LN_2[1];
    }
    for term in TAYLOR {
        for i in 0..N {
            series[i] = series[i] * rest[i] + term;
        }
    }
    for i in 0..N {
        let power = f64::from_bits(rounded[i].to_bits().wrapping_add(1023) << 52);
        let exponential = (series[i] * rest[i] + 1.0) * power;
        numbers[i] = if numbers[i] > LEAST { exponential } else { 0.0 };
    }
}

/// Replaces numbers that are at most zero by their [`exponentials`].
pub(crate) fn exponentiate(numbers: &mut [f64]) {
    const TOGETHER: usize = 8;
    let (chunks, rest) = numbers.as_chunks_mut::<TOGETHER>();
    chunks.iter_mut().for_each(exponentials);
    if !rest.is_empty() {
        let mut chunk = [0.0; TOGETHER];
        chunk[..rest.len()].copy_from_slice(rest);
        exponentials(&mut chunk);
        rest.copy_from_slice(&chunk[..rest.len()]);
    }
}

/// Subtracts the logarithm of the sum of exponentials, so that scores become logarithms of probabilities.
pub(crate) fn log_normalise(scores: &mut [f64]) {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = scores.iter().map(|score| exp(score - best)).sum();
    let log = best + ln(sum);
    scores.iter_mut().for_each(|score| *score -= log);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_exact_to_two_units_in_the_last_place() {
        let numbers = (0..700_000).map(|i| -f64::from(i) / 1_003.7);
        for x in numbers.chain([-0.0, -1e-300, -std::f64::consts::LN_2, -707.99]) {
            let mut found = [x];
            exponentials(&mut found);
            let [found] = found;
            assert!((found - x.exp()).abs() <= 2.0 * f64::EPSILON * x.exp(), "{x}: {found}");
        }
        let mut ends = [-0.0, -708.1, f64::NEG_INFINITY];
        exponentials(&mut ends);
        assert_eq!(ends, [1.0, 0.0, 0.0]);
    }

    #[test]
    fn a_number_has_the_same_exponential_in_any_company() {
        let numbers: Vec<f64> = (0..13).map(|i| -f64::from(i) * 1.7).collect();
        let mut together = numbers.clone();
        exponentiate(&mut together);
        for (together, number) in together.iter().zip(numbers) {
            let mut alone = [number];
            exponentials(&mut alone);
            assert_eq!(alone, [*together]);
        }
    }
}
