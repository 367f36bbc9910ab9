//! Holm's correction of p-values for multiple comparisons.

/// The corrected p-values, in the order given.
///
/// The smallest is multiplied by the number of comparisons, the next by one less, and so on, with a running maximum
/// (Holm 1979).
pub(crate) fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut corrected = vec![1.0; p_values.len()];
    let mut floor: f64 = 0.0;
    for (rank, &place) in order.iter().enumerate() {
        floor = floor.max((p_values[place] * (p_values.len() - rank) as f64).min(1.0));
        corrected[place] = floor;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_is_multiplied_by_the_number_of_comparisons() {
        let corrected = holm(&[0.03, 0.01, 0.04]);
        for (found, expected) in corrected.iter().zip([0.06, 0.03, 0.06]) {
            assert!((found - expected).abs() < 1e-12, "{corrected:?}");
        }
    }

    #[test]
    fn corrected_values_do_not_exceed_one() {
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert_eq!(holm(&[0.02]), [0.02]);
        assert!(holm(&[]).is_empty());
    }
}
