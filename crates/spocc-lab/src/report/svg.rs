//! A small SVG writer with hover texts, and with colours from the style sheet of the page.

use std::fmt::Write;

/// A picture being drawn.
pub(super) struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// The alignment of a text at its point.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let ((x1, y1), (x2, y2)) = (both(from), both(to));
        self.add(format_args!(r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" class="{class}"/>"#));
    }

    pub(super) fn rectangle(&mut self, corner: (f64, f64), size: (f64, f64), class: &str) {
        let ((x, y), (width, height)) = (both(corner), both(size));
        self.add(format_args!(
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" class="{class}"/>"#
        ));
    }

    /// A square of a heat map; its opacity is the share.
    pub(super) fn heat(&mut self, corner: (f64, f64), size: f64, share: f64, hover: &str) {
        let ((x, y), size, hover) = (both(corner), short(size), escape(hover));
        self.add(format_args!(
            r#"<rect x="{x}" y="{y}" width="{size}" height="{size}" class="heat" fill-opacity="{share:.3}"><title>{hover}</title></rect>"#
        ));
    }

    pub(super) fn circle(&mut self, centre: (f64, f64), radius: f64, class: &str, hover: &str) {
        let ((x, y), radius) = (both(centre), short(radius));
        let hover = title(hover);
        self.add(format_args!(r#"<circle cx="{x}" cy="{y}" r="{radius}" class="{class}">{hover}</circle>"#));
    }

    /// A line through points, or a filled shape, depending on the CSS class.
    pub(super) fn path(&mut self, points: &[(f64, f64)], is_closed: bool, class: &str, hover: &str) {
        let mut steps = String::new();
        for (place, &point) in points.iter().enumerate() {
            let (x, y) = both(point);
            let letter = if place == 0 { "M" } else { "L" };
            steps.extend([letter, &x, " ", &y]);
        }
        let end = if is_closed { "Z" } else { "" };
        let hover = title(hover);
        self.add(format_args!(r#"<path d="{steps}{end}" class="{class}">{hover}</path>"#));
    }

    pub(super) fn text(&mut self, at: (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let ((x, y), text) = (both(at), escape(text));
        let anchor = anchor.word();
        self.add(format_args!(
            r#"<text x="{x}" y="{y}" text-anchor="{anchor}" class="{class}">{text}</text>"#
        ));
    }

    /// A text that runs upwards, for vertical axes.
    pub(super) fn upwards(&mut self, at: (f64, f64), class: &str, text: &str) {
        let ((x, y), text) = (both(at), escape(text));
        self.add(format_args!(
            r#"<text transform="translate({x} {y}) rotate(-90)" text-anchor="middle" class="{class}">{text}</text>"#
        ));
    }

    /// The finished picture with its accessible label.
    pub(super) fn finish(self, label: &str) -> String {
        let ((width, height), label) = (both((self.width, self.height)), escape(label));
        let body = self.body;
        format!(r#"<svg viewBox="0 0 {width} {height}" role="img" aria-label="{label}">{body}</svg>"#)
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        self.body.write_fmt(element).expect("writing to a string cannot fail");
        self.body.push('\n');
    }
}

impl Anchor {
    fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// Escapes a text for HTML and SVG; the space before a percent sign becomes unbreakable.
pub(super) fn escape(text: &str) -> String {
    text.replace(" %", "\u{a0}%")
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn title(hover: &str) -> String {
    if hover.is_empty() { String::new() } else { format!("<title>{}</title>", escape(hover)) }
}

fn both((x, y): (f64, f64)) -> (String, String) {
    (short(x), short(y))
}

/// A coordinate to a tenth of a pixel.
fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".into() } else { text.into() }
}

/// Round values between two ends, about `about` of them.
pub(super) fn ticks(low: f64, high: f64, about: usize) -> Vec<f64> {
    let rough = (high - low) / about.max(1) as f64;
    if !rough.is_finite() || rough <= 0.0 {
        return vec![low];
    }
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].iter().map(|times| times * power).find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|place| place as f64 * step).collect()
}

/// A figure with up to three decimals, without trailing zeros.
pub(super) fn plain(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(61.0, 89.0, 5), [70.0, 80.0]);
        assert_eq!(ticks(0.0, 1.0, 5), [0.0, 0.2, 0.4, 0.600_000_000_000_000_1, 0.8, 1.0]);
        assert_eq!(ticks(3.0, 3.0, 5), [3.0]);
    }

    #[test]
    fn figures_have_no_trailing_zeros() {
        assert_eq!([plain(0.05), plain(10.0), plain(0.0)], ["0.05", "10", "0"]);
        assert_eq!([short(-0.01), short(2.0), short(2.26)], ["0", "2", "2.3"]);
    }

    #[test]
    fn texts_are_escaped() {
        let mut svg = Svg::new(10.0, 10.0);
        svg.text((0.0, 0.0), Anchor::Start, "tick", "<b>&\"");
        let picture = svg.finish("a \"picture\"");
        assert!(picture.contains(">&lt;b&gt;&amp;&quot;</text>"), "{picture}");
        assert!(picture.contains(r#"aria-label="a &quot;picture&quot;""#), "{picture}");
    }
}
