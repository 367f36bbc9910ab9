//! A comparison as text, 80 columns wide.

use std::fmt;

use spocc::{ClassWeights, Method};

use crate::compare::{Comparison, Entry, Judged, curve::Curve, risk::Risk};

const WIDTH: usize = 80;

/// Lines of a curve that are shown; majority comes on top.
const CURVES: usize = 4;

impl fmt::Display for Comparison {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_head(out)?;
        self.write_methods(out)?;
        self.verdict.lines.iter().try_for_each(|line| paragraph(out, line))?;
        self.write_risks(out)?;
        match (&self.curve, &self.curve_left_out) {
            (Some(curve), _) => self.write_curve(out, curve),
            (None, Some(reason)) => paragraph(out, &format!("No learning curve: {reason}.")),
            (None, None) => Ok(()),
        }
    }
}

impl Comparison {
    fn write_head(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, judges) = (several(self.n_rows, "labelled row"), self.n_classifiers as u64);
        let classes =
            if self.n_classes == 1 { "1 class".to_owned() } else { format!("{} classes", self.n_classes) };
        writeln!(out, "{rows}, {}, {classes}", several(judges, "classifier"))?;
        let how = match self.judged {
            Judged::Folds { folds, repeats: 1, .. } => format!("{folds} folds"),
            Judged::Folds { folds, repeats, .. } => format!("{folds} folds, drawn {repeats} times"),
            Judged::Test { n_rows } => several(n_rows, "test row"),
        };
        paragraph(out, &format!("Every method is judged on rows it did not learn from: {how}."))?;
        writeln!(out)
    }

    fn write_methods(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (weighed, last) = match self.class_weights {
            ClassWeights::Equal => ("right", ""),
            ClassWeights::Balanced => ("balanced", "       right"),
            _ => ("weighted", "       right"),
        };
        writeln!(out, "method         {weighed:>8}        95 %    behind the best{last}")?;
        self.methods.iter().try_for_each(|entry| write_entry(out, entry))?;
        for refusal in &self.refused {
            paragraph(out, &format!("{:<15}  refused: {}", refusal.method.to_string(), refusal.reason))?;
        }
        let notes = [
            (self.methods.len() > 1, "behind: points, 95 % for all methods together"),
            (self.methods.iter().skip(1).any(|entry| !entry.is_behind()), "~ within noise"),
            (self.methods.iter().any(|entry| entry.is_reference), "* reference"),
            (
                self.class_weights == ClassWeights::Balanced,
                "balanced: mean over the classes of the share right",
            ),
        ];
        let notes: Vec<&str> = notes.into_iter().filter(|(is_met, _)| *is_met).map(|note| note.1).collect();
        paragraph(out, &notes.join("; "))?;
        if let Some(best) = &self.best_classifier {
            let share = best.accuracy * 100.0;
            let line = format!("best classifier in hindsight: `{}`, right on {share:.1} %", best.name);
            paragraph(out, &line)?;
        }
        writeln!(out)
    }

    /// What the curves are drawn from, where that is less than all draws.
    fn round(&self) -> &'static str {
        if matches!(self.judged, Judged::Folds { repeats: 2.., .. }) { " (first draw)" } else { "" }
    }

    fn write_risks(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let risks = self.methods.iter().enumerate().filter(|(at, entry)| is_shown(*at, entry.method));
        let risks: Vec<(Method, &Risk)> =
            risks.filter_map(|(_, entry)| entry.risk.as_ref().map(|risk| (entry.method, risk))).collect();
        let Some((_, first)) = risks.first() else { return Ok(()) };
        writeln!(out, "\nRight among the rows decided with the largest margins{}:\n", self.round())?;
        write!(out, "{:15}", "method")?;
        let head = |share: f64| format!("{:.0} %", share * 100.0);
        first.most_certain.iter().try_for_each(|selected| write!(out, "{:>10}", head(selected.share)))?;
        writeln!(out, "{:>11}", "AURC")?;
        for (method, risk) in risks {
            write!(out, "{:15}", method.to_string())?;
            let mut accuracies = risk.most_certain.iter().map(|selected| percent(selected.accuracy));
            accuracies.try_for_each(|accuracy| write!(out, "{accuracy:>10}"))?;
            writeln!(out, "{:>11.4}", risk.area)?;
        }
        paragraph(out, "AURC: area under the curve of errors against rows kept; less is better")
    }

    fn write_curve(&self, out: &mut fmt::Formatter<'_>, curve: &Curve) -> fmt::Result {
        writeln!(out, "\nRight after learning from so many labelled rows{}:\n", self.round())?;
        write!(out, "{:15}", "method")?;
        curve.n_rows.iter().try_for_each(|n| write!(out, "{:>11}", short(*n)))?;
        for (at, line) in curve.methods.iter().enumerate() {
            if is_shown(at, line.method) {
                write!(out, "\n{:15}", line.method.to_string())?;
                let share = |share: &Option<f64>| share.map_or_else(|| "-".to_owned(), percent);
                line.accuracies.iter().try_for_each(|accuracy| write!(out, "{:>11}", share(accuracy)))?;
            }
        }
        writeln!(out, "\n")?;
        curve.summary.iter().try_for_each(|line| paragraph(out, line))
    }
}

/// Whether a curve has room for a method.
fn is_shown(at: usize, method: Method) -> bool {
    at < CURVES || method == Method::Majority
}

fn write_entry(out: &mut fmt::Formatter<'_>, entry: &Entry) -> fmt::Result {
    let name = format!("{}{}", entry.method, if entry.is_reference { " *" } else { "" });
    let [low, high] = entry.interval.map(|share| share * 100.0);
    let behind = entry.behind.map_or_else(String::new, |behind| {
        let [by, low, high] = behind.points();
        let mark = if behind.is_beyond_noise { ' ' } else { '~' };
        format!("{mark} {by:>4.1} ({low:.1} .. {high:.1})")
    });
    let (ranked, last) = match entry.weighted_accuracy {
        Some(weighted) => (weighted, percent(entry.accuracy)),
        None => (entry.accuracy, String::new()),
    };
    let interval = format!("{low:.1}-{high:.1}");
    let line = format!("{name:<15} {:>7}  {interval:>10}  {behind:<24} {last:>6}", percent(ranked));
    writeln!(out, "{}", line.trim_end())
}

fn percent(share: f64) -> String {
    // Adding zero turns -0.0 into 0.0.
    format!("{:.1} %", share * 100.0 + 0.0)
}

fn several(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A number that fits a column.
fn short(n: u64) -> String {
    if n < 100_000_000 { n.to_string() } else { format!("{:.1e}", n as f64) }
}

/// Writes a text in lines that fit; a word is never cut.
fn paragraph(out: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(out, "{line}")?;
            line.replace_range(.., "  ");
        } else if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(out, "{line}")
}

#[cfg(test)]
mod tests {
    use std::fmt::Display;

    use super::*;

    #[test]
    fn long_numbers_are_shortened() {
        assert_eq!([99_999_999, 1_600_000_000].map(short), ["99999999", "1.6e9"]);
    }

    struct Text(&'static str);

    impl Display for Text {
        fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            paragraph(out, self.0)
        }
    }

    #[test]
    fn paragraphs_are_wrapped_between_words() {
        let text = Text(
            "bayes            refused: this reason is long enough to need one more line than it was given",
        );
        let lines: Vec<String> = text.to_string().lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("bayes            refused") && lines[0].len() <= WIDTH);
        assert!(lines[1].starts_with("  ") && lines[1].ends_with("given"));
    }
}
