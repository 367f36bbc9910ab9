//! Line charts: mean accuracy with its interval against the varied quantity, one line per method.

use super::svg::{Anchor, Svg, plain, ticks};
use crate::{
    aggregate::{ResultSet, is_family, points},
    results::Results,
};

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 330.0;
const LEFT: f64 = 40.0;
const RIGHT: f64 = 132.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 38.0;
/// Space that a label needs, vertically and horizontally.
const LABEL: f64 = 13.0;
const TICK: f64 = 22.0;
/// Tick marks within a power of ten.
const ROUND: [f64; 4] = [1.0, 2.0, 3.0, 5.0];

/// The transformation of the horizontal axis.
#[derive(Clone, Copy)]
pub(super) enum AxisScale {
    /// Numbers of classifiers, including 0: ln(1 + x).
    Counts,
    /// Positive values: ln x.
    Powers,
}

/// Position, value, and interval if there is one.
type LinePoint = (f64, f64, Option<[f64; 2]>);

/// A line and its interval band.
struct LineSeries {
    name: String,
    /// The CSS class of its colour.
    class: String,
    points: Vec<LinePoint>,
}

struct LineChart<'a> {
    title: &'a str,
    varied: &'a str,
    measure: &'a str,
    scale: AxisScale,
    series: Vec<LineSeries>,
}

impl AxisScale {
    fn place(self, value: f64) -> f64 {
        match self {
            Self::Counts => (1.0 + value).ln(),
            Self::Powers => value.ln(),
        }
    }
}

/// The accuracy of some methods against the varied quantity of an experiment.
pub(super) fn accuracy(
    all: &ResultSet<'_>,
    results: &Results,
    methods: &[String],
    title: &str,
    varied: &str,
) -> String {
    let points = points(results);
    let scale =
        if points.first().is_some_and(|&first| first > 1.0) { AxisScale::Powers } else { AxisScale::Counts };
    let series = methods.iter().zip(colours(methods)).map(|(method, class)| {
        let summary = |at: &f64| {
            let summary = all.summary_at(results, method, *at)?;
            Some((*at, summary.mean, summary.interval))
        };
        LineSeries { name: method.clone(), class, points: points.iter().filter_map(summary).collect() }
    });
    let series = series.filter(|series| !series.points.is_empty()).collect();
    LineChart { title, varied, measure: "accuracy, %", scale, series }.draw()
}

/// Example 3 of the paper: possibilities of three classes against the exponent.
pub(super) fn example3(curve: &[(f64, [f64; 3])]) -> String {
    let usable = || curve.iter().filter(|(exponent, _)| exponent.is_finite() && *exponent > 0.0);
    let series = |class: usize| LineSeries {
        name: format!("class {}", class + 1),
        class: format!("c{class}"),
        points: usable().map(|(exponent, values)| (*exponent, values[class], None)).collect(),
    };
    LineChart {
        title: "",
        varied: "exponent",
        measure: "possibility",
        scale: AxisScale::Powers,
        series: (0..3).map(series).collect(),
    }
    .draw()
}

/// The style of every method: oranges for the paper's proposals and the ladder, blues and greys with dashes for others.
fn colours(methods: &[String]) -> Vec<String> {
    let (mut family, mut others) = (0, 0);
    let colour = |method: &String| {
        let (letter, count, many) =
            if is_family(method) { ('f', &mut family, 3) } else { ('b', &mut others, 8) };
        *count += 1;
        format!("{letter}{}", (*count - 1) % many)
    };
    methods.iter().map(colour).collect()
}

impl LineChart<'_> {
    fn draw(&self) -> String {
        let values = || self.series.iter().flat_map(|series| &series.points);
        let ends = |low: f64, high: f64| if high > low { [low, high] } else { [low - 0.5, low + 0.5] };
        let least = |all: &mut dyn Iterator<Item = f64>| all.fold(f64::INFINITY, f64::min);
        let most = |all: &mut dyn Iterator<Item = f64>| all.fold(f64::NEG_INFINITY, f64::max);
        if values().next().is_none() {
            return String::new();
        }
        let place = |point: &LinePoint| self.scale.place(point.0);
        let [from, to] = ends(least(&mut values().map(place)), most(&mut values().map(place)));
        let around = |point: &LinePoint| point.2.unwrap_or([point.1; 2]);
        let [low, high] = ends(
            least(&mut values().map(|point| around(point)[0])),
            most(&mut values().map(|point| around(point)[1])),
        );
        let pad = (high - low) * 0.04;
        let (low, high) = (low - pad, high + pad);
        let right = |at: f64| LEFT + (self.scale.place(at) - from) / (to - from) * (WIDTH - LEFT - RIGHT);
        let up = |value: f64| HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM);

        let mut svg = Svg::new(WIDTH, HEIGHT);
        for tick in ticks(low, high, 6) {
            svg.line((LEFT, up(tick)), (WIDTH - RIGHT, up(tick)), "rule");
            svg.text((LEFT - 5.0, up(tick) + 4.0), Anchor::End, "tick", &plain(tick));
        }
        for at in self.marks(right) {
            svg.line((right(at), HEIGHT - BOTTOM), (right(at), HEIGHT - BOTTOM + 4.0), "axis");
            svg.text((right(at), HEIGHT - BOTTOM + 16.0), Anchor::Middle, "tick", &plain(at));
        }
        svg.text((LEFT, 14.0), Anchor::Start, "name", self.title);
        svg.text((WIDTH - RIGHT, 14.0), Anchor::End, "tick", self.measure);
        let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
        let varied = format!("{}, logarithmic axis", self.varied);
        svg.text((middle, HEIGHT - 5.0), Anchor::Middle, "tick", &varied);
        for series in &self.series {
            let edge = |side: usize| move |point: &LinePoint| Some((point.0, point.2?[side]));
            let upper = series.points.iter().filter_map(edge(1));
            let lower = series.points.iter().rev().filter_map(edge(0));
            let band: Vec<(f64, f64)> =
                upper.chain(lower).map(|(at, value)| (right(at), up(value))).collect();
            if !band.is_empty() {
                svg.path(&band, true, &format!("band {}", series.class), "");
            }
        }
        for series in &self.series {
            let line: Vec<(f64, f64)> =
                series.points.iter().map(|point| (right(point.0), up(point.1))).collect();
            svg.path(&line, false, &format!("series {}", series.class), &series.name);
            // A line with many points is clearer without marks.
            for (point, &at) in series.points.iter().zip(&line).filter(|_| line.len() <= 16) {
                let (name, place) = (&series.name, plain(point.0));
                let interval = point.2.map(|[from, to]| format!(", interval {from:.2} to {to:.2}"));
                let interval = interval.unwrap_or_default();
                let hover = format!("{name}, {} {place}: {:.2}{interval}", self.varied, point.1);
                svg.circle(at, 2.6, &format!("mark {}", series.class), &hover);
            }
        }
        self.label(&mut svg, up);
        svg.finish(&format!("{} {} against {}", self.title, self.measure, self.varied))
    }

    /// Labels every line at its right end, shifted where labels would overlap.
    fn label(&self, svg: &mut Svg, up: impl Fn(f64) -> f64) {
        let mut order: Vec<&LineSeries> = self.series.iter().collect();
        let end = |series: &LineSeries| series.points.last().map_or(0.0, |point| up(point.1));
        order.sort_by(|a, b| end(a).total_cmp(&end(b)));
        let wanted: Vec<f64> = order.iter().map(|series| end(series)).collect();
        for ((series, y), end) in order.iter().zip(spread(&wanted, TOP, HEIGHT - BOTTOM)).zip(&wanted) {
            let start = (WIDTH - RIGHT + 3.0, *end);
            svg.line(start, (WIDTH - RIGHT + 14.0, y), &format!("leader {}", series.class));
            let at = (WIDTH - RIGHT + 17.0, y + 4.0);
            svg.text(at, Anchor::Start, &format!("label {}", series.class), &series.name);
        }
    }

    /// Tick marks of the horizontal axis: the points, or round values if there are many.
    fn marks(&self, right: impl Fn(f64) -> f64) -> Vec<f64> {
        let points = self.series.iter().flat_map(|series| &series.points);
        let mut all: Vec<f64> = points.map(|point| point.0).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        if all.len() > 16 {
            let (low, high) = (all[0], all[all.len() - 1]);
            let powers = (low.log10().floor() as i32)..=(high.log10().floor() as i32);
            let round = powers.flat_map(|power| ROUND.map(|times| times * 10f64.powi(power)));
            return round.filter(|at| (low..=high).contains(at)).collect();
        }
        let mut kept: Vec<f64> = Vec::new();
        // From the right end, where lines are compared.
        for at in all.into_iter().rev() {
            if kept.last().is_none_or(|last| right(*last) - right(at) >= TICK) {
                kept.push(at);
            }
        }
        kept
    }
}

/// Moves ascending positions apart until labels do not overlap, within two ends.
fn spread(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut places = wanted.to_vec();
    let mut least = top;
    for place in &mut places {
        *place = place.max(least);
        least = *place + LABEL;
    }
    let mut most = bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - LABEL;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::simulated;

    #[test]
    fn labels_do_not_overlap_and_keep_their_order() {
        let places = spread(&[100.0, 101.0, 102.0, 299.0], 20.0, 300.0);
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= LABEL - 1e-9), "{places:?}");
        assert_eq!(places[3], 299.0);
        let low = spread(&[295.0, 296.0, 300.0], 20.0, 300.0);
        assert_eq!(low, [274.0, 287.0, 300.0]);
    }

    #[test]
    fn the_papers_proposals_and_other_methods_have_different_colours() {
        let methods = ["spocc", "adaspocc", "bayes", "stacking"].map(String::from);
        assert_eq!(colours(&methods), ["f0", "f1", "b0", "b1"]);
    }

    #[test]
    fn every_method_has_a_line_a_band_and_a_label() {
        let results = [simulated::experiment("robustness-wine-copies", 2, &[0.0, 10.0, 100.0], 5)];
        let all = ResultSet::new(&results);
        let picture = accuracy(&all, &results[0], &all.methods, "wine", "copies");
        let n_methods = all.methods.len();
        for class in ["series ", "band ", "label "] {
            assert_eq!(picture.matches(&format!("class=\"{class}")).count(), n_methods, "{class}");
        }
        assert!(picture.contains(">100</text>") && !picture.contains("NaN"), "{picture}");
    }

    #[test]
    fn two_repetitions_have_lines_but_no_bands() {
        let results = [simulated::experiment("robustness-wine-copies", 2, &[0.0, 10.0], 2)];
        let all = ResultSet::new(&results);
        let picture = accuracy(&all, &results[0], &all.methods, "wine", "copies");
        assert!(picture.contains("class=\"series ") && !picture.contains("class=\"band "), "{picture}");
    }

    #[test]
    fn the_example_is_drawn_for_finite_exponents() {
        let curve = [(0.1, [0.5, 0.2, 1.0]), (1.0, [0.4, 0.3, 0.9]), (f64::INFINITY, [0.1, 0.2, 0.3])];
        let picture = example3(&curve);
        assert!(picture.contains("logarithmic axis"), "{picture}");
        assert_eq!(picture.matches("class=\"series ").count(), 3);
        assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
        let marked = example3(&crate::experiments::example3::curve());
        assert!(["1", "2", "3", "5", "10"].iter().all(|mark| marked.contains(&format!(">{mark}</text>"))));
    }
}
