//! The critical-difference diagram: average ranks on an axis, and bars that join methods without a significant difference.

use super::svg::{Anchor, Svg};
use crate::aggregate::is_family;

const WIDTH: f64 = 760.0;
const SIDE: f64 = 170.0;
const AXIS: f64 = 56.0;
const LEVEL: f64 = 20.0;
const BAR: f64 = 9.0;

/// Draws average ranks with a critical difference (Demsar 2006).
pub(super) fn diagram(methods: &[String], ranks: &[f64], difference: f64) -> String {
    let mut order: Vec<usize> = (0..methods.len()).collect();
    order.sort_by(|&a, &b| ranks[a].total_cmp(&ranks[b]));
    let sorted: Vec<f64> = order.iter().map(|&method| ranks[method]).collect();
    let bars = cliques(&sorted, difference);
    let half = methods.len().div_ceil(2);
    let labels = AXIS + 16.0 + BAR * bars.len() as f64 + 12.0;
    let mut svg = Svg::new(WIDTH, labels + LEVEL * half as f64);
    let highest = (methods.len() as f64 - 1.0).max(1.0);
    let right = |rank: f64| SIDE + (rank - 1.0) / highest * (WIDTH - 2.0 * SIDE);

    svg.line((right(1.0), AXIS), (right(1.0 + highest), AXIS), "axis");
    for rank in 1..=methods.len() {
        let x = right(rank as f64);
        svg.line((x, AXIS - 5.0), (x, AXIS), "axis");
        svg.text((x, AXIS - 9.0), Anchor::Middle, "tick", &rank.to_string());
    }
    let (start, end) = (right(1.0), right(1.0 + difference.min(highest)));
    svg.line((start, 20.0), (end, 20.0), "axis");
    svg.line((start, 16.0), (start, 24.0), "axis");
    svg.line((end, 16.0), (end, 24.0), "axis");
    let words = format!("critical difference {difference:.2} ranks");
    svg.text((start, 11.0), Anchor::Start, "tick", &words);

    for (place, &method) in order.iter().enumerate() {
        let is_left = place < half;
        let level = if is_left { place } else { methods.len() - 1 - place };
        let y = labels + LEVEL * level as f64;
        let (rank, class) = (ranks[method], if is_family(&methods[method]) { "family" } else { "other" });
        let (edge, anchor) =
            if is_left { (SIDE - 18.0, Anchor::End) } else { (WIDTH - SIDE + 18.0, Anchor::Start) };
        let x = right(rank);
        svg.path(&[(x, AXIS), (x, y), (edge, y)], false, &format!("stem {class}"), "");
        let name = &methods[method];
        let label = if is_left { format!("{name} {rank:.2}") } else { format!("{rank:.2} {name}") };
        let text = edge + if is_left { -5.0 } else { 5.0 };
        svg.text((text, y + 4.0), anchor, &format!("name {class}"), &label);
    }
    for (place, &(first, last)) in bars.iter().enumerate() {
        let y = AXIS + 12.0 + BAR * place as f64;
        svg.line((right(sorted[first]) - 4.0, y), (right(sorted[last]) + 4.0, y), "clique");
    }
    svg.finish("critical-difference diagram of average ranks")
}

/// Maximal runs of two or more sorted ranks whose range is below the critical difference.
fn cliques(sorted: &[f64], difference: f64) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for first in 0..sorted.len() {
        let last = (first..sorted.len()).rev().find(|&last| sorted[last] - sorted[first] < difference);
        let last = last.unwrap_or(first);
        // A run inside the previous one is not maximal.
        if last > first && runs.last().is_none_or(|run| last > run.1) {
            runs.push((first, last));
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_join_methods_within_the_critical_difference_and_no_bar_contains_another() {
        assert_eq!(cliques(&[1.0, 1.5, 2.5, 4.0], 1.25), [(0, 1), (1, 2)]);
        assert_eq!(cliques(&[1.0, 1.1, 1.2, 4.0], 1.25), [(0, 2)]);
        assert!(cliques(&[1.0, 3.0], 1.25).is_empty());
    }

    #[test]
    fn a_bar_ends_where_the_critical_difference_is_reached() {
        assert_eq!(cliques(&[1.964, 2.0, 2.893, 3.143], 1.25), [(0, 3)]);
        assert_eq!(cliques(&[1.964, 2.0, 2.893, 3.143], 1.16), [(0, 2), (1, 3)]);
    }

    #[test]
    fn every_method_is_labelled_with_its_rank() {
        let methods = ["spocc", "bayes", "stacking"].map(String::from);
        let picture = diagram(&methods, &[1.2, 2.9, 1.9], 1.5);
        for label in [">spocc 1.20<", ">2.90 bayes<", ">stacking 1.90<"] {
            assert!(picture.contains(label), "{label} in {picture}");
        }
        assert_eq!(picture.matches("clique").count(), 2);
    }
}
