//! Scatter plots of the synthetic data and of each classifier's training points (Figures 2 and 3).

use super::svg::{Anchor, Svg, plain, ticks};
use crate::experiments::synthetic::is_in;

/// Half of the plotted range: clusters at 1.5 with unit standard deviation are inside.
const REACH: f64 = 5.0;
const MARGIN: f64 = 22.0;

/// A point and its class.
pub(super) type ClassPoint = (f64, f64, u16);

/// All points of one synthetic dataset.
pub(super) fn dataset(points: &[ClassPoint]) -> String {
    draw(points, 340.0, None, "one synthetic dataset with its optimal frontiers")
}

/// The training points of classifiers 1 to 4.
pub(super) fn subsets(points: &[ClassPoint]) -> Vec<String> {
    let draw_subset = |m: usize| {
        let own: Vec<ClassPoint> = points.iter().copied().filter(|(x, y, _)| is_in(m, *x, *y)).collect();
        let name = format!("training points of classifier {}", m + 1);
        draw(&own, 240.0, Some(&name), &name)
    };
    (0..4).map(draw_subset).collect()
}

fn draw(points: &[ClassPoint], side: f64, name: Option<&str>, label: &str) -> String {
    let right = |x: f64| MARGIN + (x + REACH) / (2.0 * REACH) * (side - 2.0 * MARGIN);
    let down = |y: f64| side - right(y);
    let mut svg = Svg::new(side, side);
    svg.rectangle((MARGIN, MARGIN), (side - 2.0 * MARGIN, side - 2.0 * MARGIN), "frame");
    for tick in ticks(-REACH, REACH, 5) {
        svg.text((right(tick), side - 7.0), Anchor::Middle, "tick", &plain(tick));
        svg.text((MARGIN - 4.0, down(tick) + 4.0), Anchor::End, "tick", &plain(tick));
    }
    for &(x, y, class) in points.iter().filter(|point| point.0.abs() < REACH && point.1.abs() < REACH) {
        let shape = if class == 0 { "dot-first" } else { "dot-second" };
        let hover = format!("class {}, ({x:.2}, {y:.2})", class + 1);
        svg.circle((right(x), down(y)), 3.2, shape, &hover);
    }
    svg.line((right(0.0), MARGIN), (right(0.0), side - MARGIN), "frontier");
    svg.line((MARGIN, down(0.0)), (side - MARGIN, down(0.0)), "frontier");
    if let Some(name) = name {
        svg.text((MARGIN, 15.0), Anchor::Start, "name", name);
    }
    svg.finish(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [ClassPoint; 4] = [(1.0, 1.0, 0), (-1.0, 1.0, 1), (-1.0, -1.0, 0), (1.0, -1.0, 1)];

    #[test]
    fn classes_differ_in_shape_and_both_frontiers_are_drawn() {
        let picture = dataset(&CORNERS);
        assert_eq!(picture.matches("dot-first").count(), 2);
        assert_eq!(picture.matches("dot-second").count(), 2);
        assert_eq!(picture.matches("frontier").count(), 3, "two lines and the label");
        assert_eq!(subsets(&CORNERS).iter().map(|one| one.matches("<circle").count()).sum::<usize>(), 12);
    }
}
