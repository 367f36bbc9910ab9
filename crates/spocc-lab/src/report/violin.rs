//! Violin plots: the distribution of accuracies at every point of an experiment (Figures 4, 5, 6, 8 and 9).

use super::svg::{Anchor, Svg, plain, ticks};
use crate::{
    aggregate::{accuracy, is_family, points},
    results::Results,
    statistics::{deviation, mean, quantile},
};

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 34.0;
const RIGHT: f64 = 6.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 36.0;
/// Steps of a violin's outline.
const STEPS: usize = 28;

/// References drawn as lines, and their descriptions.
const REFERENCES: [(&str, &str); 2] = [("best-base", "best base classifier"), ("optimal", "optimal rule")];

/// One picture per method, all on one scale.
pub(super) fn violins(results: &Results, methods: &[String], varied: &str) -> Vec<String> {
    let all: Vec<f64> = results
        .outcomes
        .iter()
        .flat_map(|outcome| methods.iter().filter_map(move |method| accuracy(outcome, method)))
        .collect();
    let known: Vec<f64> =
        REFERENCES.iter().flat_map(|(name, _)| means(results, name)).map(|(_, mean)| mean).collect();
    let values = || all.iter().chain(&known).copied();
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if all.is_empty() {
        return Vec::new();
    }
    let pad = ((high - low) * 0.04).max(0.5);
    let range = [(low - pad).max(0.0), (high + pad).min(100.0)];
    let shown = |method: &&String| results.outcomes.iter().any(|outcome| accuracy(outcome, method).is_some());
    methods.iter().filter(shown).map(|method| row(results, method, varied, range)).collect()
}

fn row(results: &Results, method: &str, varied: &str, [low, high]: [f64; 2]) -> String {
    let points = points(results);
    let class = if is_family(method) { "family" } else { "other" };
    let up = |value: f64| HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM);
    let step = (WIDTH - LEFT - RIGHT) / points.len() as f64;
    let mut svg = Svg::new(WIDTH, HEIGHT);
    for tick in ticks(low, high, 6) {
        svg.line((LEFT, up(tick)), (WIDTH - RIGHT, up(tick)), "rule");
        svg.text((LEFT - 5.0, up(tick) + 4.0), Anchor::End, "tick", &plain(tick));
    }
    svg.text((LEFT, 14.0), Anchor::Start, &format!("name {class}"), method);
    svg.text((WIDTH - RIGHT, 14.0), Anchor::End, "tick", "accuracy, %");
    for (name, words) in REFERENCES {
        let means = means(results, name);
        let [least, most] = [f64::min, f64::max].map(|pick| means.iter().map(|known| known.1).reduce(pick));
        let (Some(least), Some(most)) = (least, most) else { continue };
        let level = |(place, mean): &(usize, f64)| {
            [0.0, 1.0].map(|side| (LEFT + step * (*place as f64 + side), up(*mean)))
        };
        let steps: Vec<(f64, f64)> = means.iter().flat_map(level).collect();
        let range =
            if most - least < 0.05 { format!("{least:.1}") } else { format!("{least:.1} to {most:.1}") };
        svg.path(&steps, false, &format!("known {name}"), &format!("{words}, mean {range} %"));
    }
    for (place, &at) in points.iter().enumerate() {
        let middle = LEFT + step * (place as f64 + 0.5);
        svg.text((middle, HEIGHT - BOTTOM + 14.0), Anchor::Middle, "tick", &plain(at));
        let here = results.outcomes.iter().filter(|outcome| outcome.at == at);
        let mut values: Vec<f64> = here.filter_map(|outcome| accuracy(outcome, method)).collect();
        if values.is_empty() {
            continue;
        }
        values.sort_by(f64::total_cmp);
        let [quarter, median, three_quarters] = [0.25, 0.5, 0.75].map(|share| quantile(&values, share));
        let hover = format!(
            "{method}, {varied} {}: median {median:.1} %, half of {} runs between {quarter:.1} and {three_quarters:.1}, all between {:.1} and {:.1}",
            plain(at),
            values.len(),
            values[0],
            values[values.len() - 1],
        );
        let outline: Vec<(f64, f64)> = outline(&values)
            .into_iter()
            .map(|(side, value)| (middle + side * step * 0.44, up(value)))
            .collect();
        svg.path(&outline, true, &format!("violin {class}"), &hover);
        svg.line((middle, up(quarter)), (middle, up(three_quarters)), "quartiles");
        svg.line((middle - step * 0.2, up(median)), (middle + step * 0.2, up(median)), "median");
    }
    svg.text((f64::midpoint(LEFT, WIDTH - RIGHT), HEIGHT - 4.0), Anchor::Middle, "tick", varied);
    svg.finish(&format!("accuracy of {method} against {varied}"))
}

/// The means of a reference: the index of every point that has one, and its mean there.
fn means(results: &Results, name: &str) -> Vec<(usize, f64)> {
    let here = |at: f64| results.outcomes.iter().filter(move |outcome| outcome.at == at);
    let values = |at: f64| here(at).filter_map(|outcome| accuracy(outcome, name)).collect::<Vec<f64>>();
    let places = points(results).into_iter().map(values).enumerate();
    places.filter(|(_, values)| !values.is_empty()).map(|(place, values)| (place, mean(&values))).collect()
}

/// The outline of a violin: half-widths from -1 to 1, up the right side and down the left.
fn outline(sorted: &[f64]) -> Vec<(f64, f64)> {
    let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
    let width = bandwidth(sorted);
    let heights = (0..=STEPS).map(|step| low + (high - low) * step as f64 / STEPS as f64);
    let density = |at: f64| sorted.iter().map(|value| (-0.5 * ((at - value) / width).powi(2)).exp()).sum();
    let sides: Vec<(f64, f64)> = heights.map(|height| (density(height), height)).collect();
    let widest = sides.iter().map(|side: &(f64, f64)| side.0).fold(0.0, f64::max);
    let right = sides.iter().map(|&(side, height)| (side / widest, height));
    let left = sides.iter().rev().map(|&(side, height)| (-side / widest, height));
    right.chain(left).collect()
}

/// Silverman's bandwidth, at least a twentieth of a percentage point.
fn bandwidth(sorted: &[f64]) -> f64 {
    let spread = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.34;
    let deviation = deviation(sorted);
    let scale = if spread > 0.0 { deviation.min(spread) } else { deviation };
    (0.9 * scale * (sorted.len() as f64).powf(-0.2)).max(0.05)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::simulated;

    #[test]
    fn a_violin_is_widest_where_values_are_dense_and_ends_at_the_extreme_values() {
        let sorted = [70.0, 80.0, 80.1, 80.2, 80.3, 90.0];
        let outline = outline(&sorted);
        let widest = outline.iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("an outline");
        assert!((widest.1 - 80.15).abs() < 0.5, "{widest:?}");
        assert_eq!(widest.0, 1.0);
        assert_eq!(outline[0].1, 70.0);
        assert_eq!(outline[STEPS].1, 90.0);
    }

    #[test]
    fn equal_values_give_a_finite_flat_violin() {
        assert!(outline(&[50.0; 7]).iter().all(|(side, height)| side.is_finite() && *height == 50.0));
    }

    #[test]
    fn every_method_has_a_picture_with_a_violin_per_point() {
        let results = simulated::experiment("synthetic-faults", 2, &[0.0, 1.0, 2.0], 8);
        let rows = violins(&results, &["spocc".into(), "bayes".into(), "absent".into()], "faults");
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].matches("violin family").count(), 3);
        assert_eq!(rows[1].matches("violin other").count(), 3);
        assert!(rows[0].contains("<title>optimal rule, mean 87.5\u{a0}%</title>"), "{}", rows[0]);
        assert!(rows[0].contains("<title>best base classifier, mean "), "{}", rows[0]);
    }
}
