//! The transform.

use super::*;

fn counts() -> impl Strategy<Value = Vec<u64>> {
    let count = prop_oneof![3 => 0..6u64, 1 => 0..1000u64, 1 => 0..(1u64 << 40)];
    prop::collection::vec(count, 1..8)
        .prop_filter("something was counted", |counts| counts.iter().any(|c| *c > 0))
}

fn probabilities(counts: &[u64]) -> Vec<f64> {
    let total: u64 = counts.iter().sum();
    counts.iter().map(|count| *count as f64 / total as f64).collect()
}

/// Every subset of the classes, as lists of numbers.
fn subsets(n: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..1usize << n).map(move |set| (0..n).filter(|i| set >> i & 1 == 1).collect())
}

fn is_consistent(degrees: &[f64], p: &[f64]) -> bool {
    let distribution = Possibility::new(degrees.to_vec()).expect("degrees from 0 to 1");
    subsets(p.len())
        .all(|set| distribution.possibility(&set) >= set.iter().map(|&i| p[i]).sum::<f64>() - ROUNDING)
}

fn keeps_preferences(degrees: &[f64], counts: &[u64]) -> bool {
    let n = counts.len();
    (0..n).all(|a| (0..n).all(|b| (counts[a] > counts[b]) == (degrees[a] > degrees[b])))
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn a_transform_peaks_at_one_bounds_probabilities_and_keeps_their_order(counts in counts()) {
        let p = probabilities(&counts);
        let of_counts = Possibility::from_counts(&counts).expect("small counts");
        let degrees = of_counts.degrees();
        prop_assert_eq!(degrees.iter().copied().fold(0.0, f64::max), 1.0);
        prop_assert!(is_consistent(degrees, &p));
        prop_assert!(keeps_preferences(degrees, &counts));
        let of_probabilities = Possibility::from_probabilities(&p).expect("probabilities");
        for (a, b) in degrees.iter().zip(of_probabilities.degrees()) {
            prop_assert!(close(*a, *b));
        }
        let plain: Vec<f64> = naive::possibility(&counts, 0);
        prop_assert_eq!(degrees, plain.as_slice());
    }

    #[test]
    fn no_degree_of_a_transform_could_be_smaller(counts in counts()) {
        let p = probabilities(&counts);
        let degrees = Possibility::from_counts(&counts).expect("small counts").degrees().to_vec();
        for (i, &own) in counts.iter().enumerate() {
            // Preference preservation moves all classes that are as frequent, and keeps the others where they
            // are; a degree of 0 cannot be lowered.
            let step = degrees[i].min(1e-6);
            let lowered: Vec<f64> = (0..counts.len())
                .map(|j| if counts[j] == own { degrees[j] - step } else { degrees[j] })
                .collect();
            // What is lowered must be lowered by more than the tolerance of the test for consistency.
            if step > 10.0 * ROUNDING {
                prop_assert!(!is_consistent(&lowered, &p) || !keeps_preferences(&lowered, &counts));
            }
        }
    }

    #[test]
    fn whatever_is_consistent_and_keeps_preferences_is_no_more_specific(counts in counts(), seed: u64) {
        let p = probabilities(&counts);
        let transform = Possibility::from_counts(&counts).expect("small counts");
        let mut random = Random(seed);
        let mut levels: Vec<u64> = counts.clone();
        levels.sort_unstable();
        levels.dedup();
        let mut values: Vec<f64> = levels.iter().map(|_| random.unit()).collect();
        values.sort_by(f64::total_cmp);
        if let Some(top) = values.last_mut() {
            *top = 1.0;
        }
        let other: Vec<f64> = counts
            .iter()
            .map(|count| values[levels.binary_search(count).expect("every count is a level")])
            .collect();
        if is_consistent(&other, &p) && keeps_preferences(&other, &counts) {
            for (degree, other) in transform.degrees().iter().zip(&other) {
                prop_assert!(*other >= degree - ROUNDING);
            }
        }
    }

    #[test]
    fn necessity_is_what_is_missing_to_the_possibility_of_the_rest(counts in counts()) {
        let distribution = Possibility::from_counts_smoothed(&counts).expect("small counts");
        let n = counts.len();
        for set in subsets(n) {
            let rest: Vec<usize> = (0..n).filter(|i| !set.contains(i)).collect();
            prop_assert_eq!(distribution.necessity(&set), 1.0 - distribution.possibility(&rest));
            prop_assert!(distribution.necessity(&set) <= distribution.possibility(&set));
        }
        prop_assert_eq!(distribution.possibility(&[]), 0.0);
        prop_assert_eq!(distribution.necessity(&(0..n).collect::<Vec<usize>>()), 1.0);
    }
}
