//! T-norms.

use super::*;

fn degree() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 1 => Just(1.0), 1 => Just(1e-300), 8 => 0.0..=1.0f64]
}

fn exponent() -> impl Strategy<Value = Exponent> {
    prop_oneof![1 => Just(1.0), 1 => Just(f64::INFINITY), 1 => 1.0..1e6f64, 6 => 1.0..12.0f64]
        .prop_map(|x| Exponent::try_from(x).expect("at least 1"))
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn a_t_norm_does_not_care_for_order(a in degree(), b in degree(), c in degree(), x in exponent()) {
        let fused = t_norm(&[a, b, c], x);
        for other in [[a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
            prop_assert!(close(fused, t_norm(&other, x)));
        }
    }

    #[test]
    fn a_t_norm_does_not_care_for_grouping(a in degree(), b in degree(), c in degree(), x in exponent()) {
        let left = t_norm(&[t_norm(&[a, b], x), c], x);
        let right = t_norm(&[a, t_norm(&[b, c], x)], x);
        let flat = t_norm(&[a, b, c], x);
        prop_assert!(close(left, right) && close(left, flat), "{left} {right} {flat}");
    }

    #[test]
    fn a_t_norm_grows_with_its_operands(a in degree(), b in degree(), more in degree(), x in exponent()) {
        let (low, high) = (a.min(more), a.max(more));
        prop_assert!(t_norm(&[low, b], x) <= t_norm(&[high, b], x) + ROUNDING);
    }

    #[test]
    fn one_is_neutral_and_zero_absorbs(a in degree(), b in degree(), x in exponent()) {
        prop_assert!(close(t_norm(&[a, 1.0], x), a));
        prop_assert_eq!(t_norm(&[a, 1.0, b], x), t_norm(&[a, b], x));
        prop_assert_eq!(t_norm(&[a, 0.0, b], x), 0.0);
    }

    #[test]
    fn a_t_norm_lies_between_product_and_minimum(a in degree(), b in degree(), c in degree(), x in exponent()) {
        let fused = t_norm(&[a, b, c], x);
        prop_assert!(fused <= a.min(b).min(c) + ROUNDING);
        prop_assert!(fused >= a * b * c - ROUNDING);
        prop_assert!(close(t_norm(&[a, b, c], Exponent::PRODUCT), a * b * c));
        prop_assert!(close(t_norm(&[a, b, c], Exponent::MINIMUM), a.min(b).min(c)));
    }

    #[test]
    fn a_larger_exponent_is_less_strict(a in 0.01..0.99f64, b in 0.01..0.99f64, x in 1.0..8.0f64, more in 0.1..4.0f64) {
        let at = |x: f64| t_norm(&[a, b], Exponent::try_from(x).expect("at least 1"));
        // Neither operand is 0 or 1 and both are of similar size, so the increase is more than rounding.
        let ratio = a.ln() / b.ln();
        if (0.5..2.0).contains(&ratio) {
            prop_assert!(at(x) < at(x + more), "{} {}", at(x), at(x + more));
        }
        prop_assert!(at(x) <= at(x + more) + ROUNDING);
    }

    #[test]
    fn a_t_norm_is_a_norm_of_surprisals(degrees in prop::collection::vec(1e-6..=1.0f64, 0..8), x in 1.0..12.0f64) {
        let sum: f64 = degrees.iter().map(|degree| (-degree.ln()).powf(x)).sum();
        let expected = (-sum.powf(1.0 / x)).exp();
        prop_assert!(close(t_norm(&degrees, Exponent::try_from(x).expect("at least 1")), expected));
    }
}
