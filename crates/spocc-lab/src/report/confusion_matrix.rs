//! Confusion matrices as heat maps, true class in rows (Figure 7 and Appendix C of the paper).

use super::svg::{Anchor, Svg};
use crate::{aggregate::is_family, results::RunOutcome};

const SIDE: f64 = 240.0;
const LEFT: f64 = 38.0;
const TOP: f64 = 24.0;
const RIGHT: f64 = 44.0;
const BOTTOM: f64 = 34.0;
/// Cells show their figure up to this number of classes.
const MAX_FIGURES: usize = 4;

/// A heat map for every method with outcomes.
pub(super) fn heat_maps(outcomes: &[&RunOutcome], methods: &[String], n_classes: usize) -> Vec<String> {
    let map = |method: &String| Some(heat_map(method, &normalised(outcomes, method, n_classes)?));
    methods.iter().filter_map(map).collect()
}

/// Shares of decided classes by true class, averaged over outcomes; nothing if the method has none.
fn normalised(outcomes: &[&RunOutcome], method: &str, n_classes: usize) -> Option<Vec<Vec<f64>>> {
    let mut sums = vec![vec![0.0; n_classes]; n_classes];
    let mut seen = vec![0.0_f64; n_classes];
    let matrices = outcomes.iter().filter_map(|outcome| outcome.confusion.get(method));
    for matrix in matrices.filter(|matrix| matrix.len() == n_classes * n_classes) {
        for (class, row) in matrix.chunks_exact(n_classes).enumerate() {
            let total: u64 = row.iter().sum();
            // An outcome without test rows of a class does not count for that class.
            if total > 0 {
                seen[class] += 1.0;
                let shares = row.iter().map(|&count| count as f64 / total as f64);
                sums[class].iter_mut().zip(shares).for_each(|(sum, share)| *sum += share);
            }
        }
    }
    for (row, seen) in sums.iter_mut().zip(&seen) {
        row.iter_mut().for_each(|sum| *sum /= seen.max(1.0));
    }
    seen.iter().any(|&seen| seen > 0.0).then_some(sums)
}

fn heat_map(method: &str, shares: &[Vec<f64>]) -> String {
    let n_classes = shares.len();
    let cell = SIDE / n_classes as f64;
    let (width, height) = (LEFT + SIDE + RIGHT, TOP + SIDE + BOTTOM);
    let size = if n_classes > 12 { "small" } else { "tick" };
    let mut svg = Svg::new(width, height);
    let class = if is_family(method) { "name family" } else { "name other" };
    svg.text((LEFT, 14.0), Anchor::Start, class, method);
    svg.text((width - 2.0, 14.0), Anchor::End, "tick", "recall, %");
    svg.rectangle((LEFT, TOP), (SIDE, SIDE), "frame");
    for (truth, row) in shares.iter().enumerate() {
        let (start, middle) = (TOP + cell * truth as f64, TOP + cell * (truth as f64 + 0.5) + 4.0);
        svg.text((LEFT - 5.0, middle), Anchor::End, size, &(truth + 1).to_string());
        let recall = format!("{:.1}", 100.0 * row[truth]);
        svg.text((LEFT + SIDE + 6.0, middle), Anchor::Start, size, &recall);
        for (decided, &share) in row.iter().enumerate() {
            let hover = format!(
                "{method}: true class {}, decided {}: {:.1} %",
                truth + 1,
                decided + 1,
                100.0 * share
            );
            let left = LEFT + cell * decided as f64;
            // Thousands of squares whose share rounds to zero would be invisible.
            if share >= 0.0005 {
                svg.heat((left, start), cell, share, &hover);
            }
            if n_classes <= MAX_FIGURES {
                let class = if share > 0.6 { "on-heat" } else { "figure" };
                let text = format!("{:.1}", 100.0 * share);
                svg.text((left + cell / 2.0, middle), Anchor::Middle, class, &text);
            }
        }
        // With many classes every other label is omitted, or they would overlap.
        if n_classes > 12 && truth % 2 == 1 {
            continue;
        }
        let below = (LEFT + cell * (truth as f64 + 0.5), TOP + SIDE + 12.0);
        svg.text(below, Anchor::Middle, size, &(truth + 1).to_string());
    }
    svg.upwards((10.0, TOP + SIDE / 2.0), "tick", "true class");
    svg.text((LEFT + SIDE / 2.0, height - 6.0), Anchor::Middle, "tick", "decided class");
    svg.finish(&format!("confusion matrix of {method}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn outcome(matrix: [u64; 4]) -> RunOutcome {
        RunOutcome { confusion: BTreeMap::from([("spocc".into(), matrix.to_vec())]), ..RunOutcome::default() }
    }

    #[test]
    fn rows_are_normalised_before_they_are_averaged() {
        let (first, second) = (outcome([1, 1, 0, 10]), outcome([100, 0, 0, 0]));
        let shares = normalised(&[&first, &second], "spocc", 2).expect("two matrices");
        assert_eq!(shares, [[0.75, 0.25], [0.0, 1.0]], "the class that is absent once is averaged over one");
        assert_eq!(normalised(&[&first], "bayes", 2), None);
    }

    #[test]
    fn two_classes_show_their_figures_and_empty_cells_are_not_drawn() {
        let first = outcome([3, 1, 0, 10]);
        let maps = heat_maps(&[&first], &["spocc".into(), "bayes".into()], 2);
        assert_eq!(maps.len(), 1);
        assert!(maps[0].contains(">75.0<") && maps[0].contains(">25.0<"), "{}", maps[0]);
        assert_eq!(maps[0].matches(r#"class="heat""#).count(), 3);
    }
}
